#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses comments that begin with What, Who, Whether, That or "The same": a comment names a thing or an action first.

    comments.py ROOT

reads the C, C++ and proto sources of lib, server, clients, proto and tests, prints each such comment as
file:line: text, and exits with 1 if there is one.
"""
import pathlib
import re
import sys

TOP = ["lib", "server", "clients", "proto", "tests"]
KINDS = {".c", ".h", ".cpp", ".inc", ".proto"}
# The first line of a comment: after its opening, or the line after an opening that stands alone.
OPENING = re.compile(r"^\s*(?:/\*\*?|//)\s*(.*)$")
REFUSED = re.compile(r"(What|Who|Whether|That|The same)\b")


def first_lines(text):
    """Number and text of each line that begins a comment."""
    opened = in_slashes = False
    for number, line in enumerate(text.split("\n"), 1):
        match = OPENING.match(line)
        slashes = line.lstrip().startswith("//")
        if opened:
            yield number, line.strip().lstrip("* ")
            opened = False
        elif match and not (slashes and in_slashes):
            if match.group(1) in ("", "*"):
                opened = True
            else:
                yield number, match.group(1)
        in_slashes = slashes


def check(root):
    for top in TOP:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in KINDS and path.is_file() and "node_modules" not in path.parts:
                for number, text in first_lines(path.read_text(encoding="utf-8")):
                    if REFUSED.match(text):
                        yield f"{path.relative_to(root)}:{number}: {text}"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(check(root))
    print("\n".join(found + [f"{len(found)} comments that begin with a clause"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
