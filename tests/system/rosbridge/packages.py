"""roslib from the npm registry, as package-lock.json names it, in the build directory: it is fetched once."""
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
SOURCES = ["package.json", "package-lock.json", "scenario.mjs", "roslib.mjs"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def install():
    """The directory with the scenario and node_modules; the test is skipped where there can be none."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        skip("node and npm are not installed")
    version = subprocess.run([node, "--version"], text=True, capture_output=True, check=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < 20:
        skip(f"roslib 2.1 needs Node 20, this is {version}")
    directory = pathlib.Path(os.environ.get("WORK", HERE), "roslib")
    directory.mkdir(parents=True, exist_ok=True)
    lock = directory / "package-lock.json"
    is_fresh = lock.exists() and filecmp.cmp(lock, HERE / lock.name, shallow=False) and (
        directory / "node_modules/roslib").exists()
    if not is_fresh:
        for name in SOURCES[:2]:
            shutil.copy(HERE / name, directory)
        done = subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=directory, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            lock.unlink()
            skip(f"npm cannot install roslib: {done.stderr.strip()[-200:]}")
    for name in SOURCES[2:]:
        shutil.copy(HERE / name, directory)
    return directory
