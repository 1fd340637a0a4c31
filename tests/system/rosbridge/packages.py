# SPDX-License-Identifier: BSD-2-Clause
"""Packages of the npm registry, as a package-lock.json names them, in the build directory: each is fetched once."""
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parents[2] / "clients/rosbridge/examples"
OLDEST_NODE = 20  # that roslib 2.1 runs under


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def install(source):
    """A directory with the files of `source` and node_modules; the test is skipped where there can be none."""
    npm = shutil.which("npm")
    if not npm:
        skip("npm is not installed")
    directory = pathlib.Path(os.environ.get("WORK", HERE), "npm", source.name)
    directory.mkdir(parents=True, exist_ok=True)
    lock, fetched = source / "package-lock.json", directory / "fetched"
    is_fresh = fetched.exists() and filecmp.cmp(lock, fetched, shallow=False)
    for file in source.glob("*.*"):
        shutil.copy(file, directory)
    if not is_fresh:
        done = subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1"],
                              cwd=directory, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            skip(f"npm cannot install the packages of {source.name}: {done.stderr.strip()[-200:]}")
        shutil.copy(lock, fetched)
    return directory


def node():
    """A Node that is new enough for roslib: the system's, or one of the registry."""
    found = shutil.which("node")
    if found:
        version = subprocess.run([found, "--version"], text=True, capture_output=True, check=True).stdout.strip()
        if int(version.lstrip("v").split(".")[0]) >= OLDEST_NODE:
            return found
    fetched = sorted(install(HERE / "node").glob("node_modules/node-*/bin/node"))
    if not fetched:
        skip(f"there is no Node {OLDEST_NODE} for this machine")
    return fetched[0]
