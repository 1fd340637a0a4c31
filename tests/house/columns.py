#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses lines of more than 120 columns in sources, CMake, scripts, configuration and the wire contract.

    columns.py ROOT

prints each such line as file:line: columns, and exits with 1 if there is one. A line of one word cannot be broken: it
passes, as do test data, pictures, the expressions of the dashboard, and what is written in Markdown, whose tables and
commands are one line each.
"""
import pathlib
import sys

COLUMNS = 120
TOP = [".ci", "CMakeLists.txt", "CMakePresets.json", "clients", "deploy", "lib", "proto", "server", "tests"]
LEFT_OUT = ["tests/data/", "deploy/monitoring/dashboard.json"]
GENERATED = {"node_modules", "__pycache__"}
OTHER_KINDS = {".md", ".svg"}
COMMENT_MARKS = " \t#/*"


def files_of(root):
    for top in TOP:
        for path in [root / top, *sorted((root / top).rglob("*"))]:
            if path.is_file() and not GENERATED.intersection(path.parts):
                yield path


def is_too_long(line):
    return len(line) > COLUMNS and len(line.lstrip(COMMENT_MARKS).split()) > 1


def check(root):
    """Lines that are too long, as text, and the number of files read."""
    found, files = [], 0
    for path in files_of(root):
        name = path.relative_to(root).as_posix()
        if path.suffix in OTHER_KINDS or any(name.startswith(left) for left in LEFT_OUT):
            continue
        files += 1
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
            if is_too_long(line):
                found.append(f"{name}:{number}: {len(line)} columns; break it at {COLUMNS}")
    return found, files


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: columns.py ROOT")
    found, files = check(pathlib.Path(sys.argv[1]))
    for line in found:
        print(line)
    print(f"{files} files, {len(found)} lines of more than {COLUMNS} columns")
    sys.exit(1 if found or files == 0 else 0)


if __name__ == "__main__":
    main()
