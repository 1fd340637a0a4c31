#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses C code that leaves the style that clang-format cannot hold.

    style.py ROOT

The body of each if, else, for and while has braces. A pointer is tested by itself, `if (p)` or `!p`; `p != NULL` makes
a truth value that is stored, returned, passed or compared. Prints each place as file:line and exits with 1 if there is
one.
"""
import pathlib
import re
import sys

ROOMS = ["lib", "server", "clients", "tests", "proto"]
LEFT_OUT = ["tests/data/"]
QUOTED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
HEAD = re.compile(r"(?<!#)\b(if|for|while|switch) \(")
ELSE = re.compile(r"(?<!#)\belse\b(?!\s*(?:if\b|\{))")
NULL_TEST = re.compile(r"\s== NULL(?!\) [!=]=)|\s!= NULL(?= (?:&&|\|\||\?)|\) \{|$)", re.MULTILINE)


def blank(match):
    """Spaces instead of a comment or a literal, so that places stay."""
    return re.sub(r"[^\n]", " ", match.group())


def end_of_parentheses(code, start):
    """The place behind the parenthesis that closes the one at `start`."""
    depth = 0
    for place in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return len(code)


def faults(text):
    """Pairs of a place in the text and what is wrong there."""
    code = QUOTED.sub(blank, text)
    for head in HEAD.finditer(code):
        end = end_of_parentheses(code, head.end() - 1)
        following = code[end:].lstrip()[:1]
        ends_a_do = head.group(1) == "while" and following == ";" and code[:head.start()].rstrip().endswith("}")
        if following != "{" and not ends_a_do:
            yield head.start(), f"{head.group(1)} without braces"
    for found in ELSE.finditer(code):
        yield found.start(), "else without braces"
    for found in NULL_TEST.finditer(code):
        yield found.start() + 1, "comparison with NULL; test the pointer itself"


def check(root):
    """Descriptions of all faults, and the number of files read."""
    found, files = [], 0
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.[ch]")):
            name = path.relative_to(root).as_posix()
            if any(name.startswith(left) for left in LEFT_OUT) or "node_modules" in path.parts:
                continue
            files += 1
            text = path.read_text(encoding="utf-8")
            found += [f"{name}:{text.count(chr(10), 0, place) + 1}: {what}" for place, what in faults(text)]
    return found, files


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: style.py ROOT")
    found, files = check(pathlib.Path(sys.argv[1]))
    for line in found:
        print(line)
    print(f"{files} files, {len(found)} places out of style")
    sys.exit(1 if found or files == 0 else 0)


if __name__ == "__main__":
    main()
