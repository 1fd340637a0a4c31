#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses shared libraries whose names do not change with their interface.

    soname.py VERSION LIBRARY...

The SONAME of each LIBRARY ends in MAJOR.MINOR of VERSION before 1.0, and in MAJOR from then on. Prints each one that
does not, and exits with 1 if there is one.
"""
import pathlib
import re
import subprocess
import sys


def expected_soname(version, library):
    """The name of a library, with as much of the version as its interface depends on."""
    major, minor, _ = version.split(".")
    stem = re.sub(r"\.so.*", ".so", pathlib.Path(library).name)
    return f"{stem}.{major}.{minor}" if major == "0" else f"{stem}.{major}"


def main():
    version, *libraries = sys.argv[1:]
    failed = not libraries
    for library in libraries:
        table = subprocess.run(["readelf", "-d", "-W", library], check=True, capture_output=True, text=True).stdout
        found = re.search(r"\(SONAME\).*\[(.*)\]", table)
        name, expected = found.group(1) if found else "none", expected_soname(version, library)
        if name != expected:
            print(f"{library}: its SONAME is {name}, not {expected}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
