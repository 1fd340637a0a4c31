#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients before roslib 2 under Node, against a real daemon: roslib 1; Foxglove's fork, with its own readers."""
import shutil
import subprocess
import sys

import fixture
import packages


def main():
    directory, node = packages.install(packages.HERE / "older_clients"), packages.node()
    for name in ("services.mjs", "scenario.mjs"):
        shutil.copy(packages.HERE / name, directory)
    for script, version in (("roslib.mjs", 2), ("foxglove.mjs", 1), ("foxglove.mjs", 2)):
        daemon = fixture.Daemon(keeps_state=True)
        gateway = fixture.Gateway(daemon, ros__version=version)
        print(f"{script}, ROS {version}", flush=True)
        done = subprocess.run([node, directory / script, f"ws://127.0.0.1:{gateway.port}", str(version)], check=False,
                              timeout=110)
        codes = gateway.stop(), daemon.stop()
        if done.returncode or any(codes):
            sys.exit(1)


if __name__ == "__main__":
    main()
