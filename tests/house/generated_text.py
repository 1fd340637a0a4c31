#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses code of the model compiler that could write a name from outside without escaping it.

    generated_text.py ROOT

Names of robots, links and joints appear in generated text only as escaped(...) or identifier(...) of
lib/compile/escape.h. Where lib/compile reads a name of a model, one of the two is called in the same line. A line that
throws writes a message to the terminal and no generated text.
"""
import pathlib
import re
import sys

# A name that is read of a model: dyn_model_name(m), dyn_model_link(m, i)->name, joint->name, links[i].name.
NAME = re.compile(r"dyn_model_name\(|dyn_builder_name\(|(?:->|\blinks?\[[^]]*\]\.|\bjoints?\[[^]]*\]\.)"
                  r"(?:name|parent_joint|parent_link|child_link)\b")
HARMLESS = re.compile(r"\b(?:escaped|identifier)\(|\bthrow\b")


def check(lines):
    """Numbers of the lines that are refused."""
    return [number for number, line in enumerate(lines, 1)
            if NAME.search(line) and not HARMLESS.search(line)]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: generated_text.py ROOT")
    found = files = 0
    for path in sorted(pathlib.Path(sys.argv[1], "lib/compile").glob("*.cpp")):
        files += 1
        for number in check(path.read_text(encoding="utf-8").split("\n")):
            found += 1
            print(f"lib/compile/{path.name}:{number}: a name from outside is read without escaped() or identifier()")
    for line, is_refused in (("out << joint->name;", True), ("out << escaped(joint->name);", False)):
        if bool(check([line])) != is_refused:
            sys.exit(f"this check is wrong about {line}")
    print(f"{files} files, {found} names that are not escaped")
    sys.exit(1 if found or files == 0 else 0)


if __name__ == "__main__":
    main()
