#!/usr/bin/env python3
"""The real roslib 2.1 under Node, against a real daemon."""
import pathlib
import shutil
import subprocess
import sys

import fixture
import packages


def main():
    directory = packages.install()
    daemon = fixture.Daemon()
    gateway = fixture.Gateway(daemon)
    node = shutil.which("node")
    done = subprocess.run([node, directory / "roslib.mjs", f"ws://127.0.0.1:{gateway.port}"], check=False, timeout=250)
    codes = gateway.stop(), daemon.stop()
    sys.exit(done.returncode or any(codes))


if __name__ == "__main__":
    main()
