#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses C code that leaves the style that clang-format cannot hold.

    style.py ROOT

The body of each if, else, for and while has braces. A pointer is tested by itself, `if (p)` or `!p`; `p != NULL` makes
a truth value that is stored, returned, passed or compared. A function of lib, server or clients has at most LINES
lines, and at most PARAMETERS parameters unless a public header declares it. Prints each place as file:line and exits
with 1 if there is one.
"""
import pathlib
import re
import sys

ROOMS = ["lib", "server", "clients", "tests", "proto"]
LEFT_OUT = ["tests/data/"]
# Rooms of which functions are measured, and the headers of functions with any number of parameters.
MEASURED = ("lib/", "server/", "clients/")
PUBLIC = ["lib/include", "clients/c/include"]
LINES, PARAMETERS = 60, 8
QUOTED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
HEAD = re.compile(r"(?<!#)\b(if|for|while|switch) \(")
ELSE = re.compile(r"(?<!#)\belse\b(?!\s*(?:if\b|\{))")
NULL_TEST = re.compile(r"\s== NULL(?!\) [!=]=)|\s!= NULL(?= (?:&&|\|\||\?)|\) \{|$)", re.MULTILINE)
FUNCTION = re.compile(r"^(?!typedef\b)[A-Za-z_][^;{}#]*?\) \{\n.*?^\}", re.MULTILINE | re.DOTALL)


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


def signature(head):
    """Name and number of parameters of the function whose definition begins with `head`."""
    end = head.rindex(")")
    depth, place, parameters = 0, end, 1
    while True:
        depth += {")": 1, "(": -1}.get(head[place], 0)
        parameters += head[place] == "," and depth == 1
        if depth == 0:
            break
        place -= 1
    return re.search(r"(KERNEL\(\w+\)|operator\W+|\w+)\s*$", head[:place]).group(1), parameters


def large_functions(text, public):
    """Pairs of a place and what is wrong there, for functions that are long or have many parameters."""
    code = QUOTED.sub(blank, text)
    for function in FUNCTION.finditer(code):
        lines = function.group().count("\n") + 1
        name, parameters = signature(function.group()[:function.group().index("{")])
        if lines > LINES:
            yield function.start(), f"{name} has {lines} lines; split it at {LINES}"
        if parameters > PARAMETERS and name not in public:
            yield function.start(), f"{name} has {parameters} parameters; pass a structure for more than {PARAMETERS}"


def public_names(root):
    """Names that the public headers contain."""
    headers = [path for directory in PUBLIC for path in (root / directory).rglob("*.h")]
    return {name for path in headers for name in re.findall(r"\w+", path.read_text(encoding="utf-8"))}


def check(root):
    """Descriptions of all faults, and the number of files read."""
    found, files, public = [], 0, public_names(root)
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.[ch]")):
            name = path.relative_to(root).as_posix()
            if any(name.startswith(left) for left in LEFT_OUT) or "node_modules" in path.parts:
                continue
            files += 1
            text = path.read_text(encoding="utf-8")
            wrong = list(faults(text)) + (list(large_functions(text, public)) if name.startswith(MEASURED) else [])
            found += [f"{name}:{text.count(chr(10), 0, place) + 1}: {what}" for place, what in wrong]
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
