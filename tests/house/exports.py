#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses symbols that a shared library exports beside its own functions.

    exports.py PREFIX LIBRARY

prints each symbol of LIBRARY's dynamic table that LIBRARY defines and that does not begin with PREFIX, and exits with 1
if there is one. A program that loads the library then keeps its own functions of every other name.
"""
import subprocess
import sys


def main():
    prefix, library = sys.argv[1:]
    table = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    names = [line.split()[-1] for line in table.splitlines()]
    foreign = [name for name in names if not name.startswith(prefix)]
    for name in foreign:
        print(f"{library} exports {name}")
    print(f"{len(names)} symbols, {len(foreign)} foreign")
    return 1 if foreign or not names else 0


if __name__ == "__main__":
    sys.exit(main())
