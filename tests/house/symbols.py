#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses a shared library that lacks a function which an earlier version of the same name has exported.

    symbols.py FILE LIBRARY [VERSION]

FILE is the symbols file of the library's package (deb-symbols(5)), in which each function has the version that began to
export it. Prints each function of FILE that LIBRARY does not export, and exits with 1 if there is one. With VERSION,
adds the functions that FILE lacks, as new in that version; nothing is removed.
"""
import pathlib
import subprocess
import sys


def exported(library):
    """The names that a library exports."""
    table = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in table.splitlines()}


def main():
    file, library, *version = sys.argv[1:]
    path = pathlib.Path(file)
    heading, *lines = path.read_text(encoding="utf-8").splitlines()
    listed = {line.split()[0].removesuffix("@Base") for line in lines}
    names = exported(library)
    if version:
        lines += [f" {name}@Base {version[0]}" for name in names - listed]
        path.write_text("\n".join([heading, *sorted(lines)]) + "\n", encoding="utf-8")
        return 0
    gone = sorted(listed - names)
    for name in gone:
        print(f"{library} does not export {name} any more: a program that uses it would fail")
    print(f"{len(names)} functions, {len(listed)} listed, {len(gone)} gone")
    return 1 if gone or not listed else 0


if __name__ == "__main__":
    sys.exit(main())
