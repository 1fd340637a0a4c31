#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The real roslib 2.1 under Node, against a real daemon."""
import shutil
import subprocess
import sys

import fixture
import packages

SCENARIO = ["services.mjs", "scenario.mjs", "roslib.mjs"]


def main():
    directory, node = packages.install(packages.EXAMPLES), packages.node()
    for name in SCENARIO:
        shutil.copy(packages.HERE / name, directory)
    daemon = fixture.Daemon(keeps_state=True)
    gateway = fixture.Gateway(daemon)
    done = subprocess.run([node, directory / "roslib.mjs", f"ws://127.0.0.1:{gateway.port}"], check=False, timeout=110)
    codes = gateway.stop(), daemon.stop()
    sys.exit(done.returncode or any(codes))


if __name__ == "__main__":
    main()
