#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses declarations of libdynamics that do not follow the rules of its headers.

    library_headers.py HEADER...

The rules are:

    - The arguments of a function that can fail are: objects (a model, a workspace, a builder, ...), inputs, outputs,
      and the error.
    - The name of an enumerator begins with the name of its type. Statuses, which every call returns, are the exception.

Prints each declaration that breaks a rule, and exits with 1 if there is one.
"""
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"DYN_API\s+dyn_status\s+(\w+)\(([^;]*)\);")
ENUMERATION = re.compile(r"typedef enum (\w+) \{(.*?)\}", re.S)
OBJECT_ARGUMENT = re.compile(r"(const )?dyn_(model|workspace|builder|simulator|compiled|formulation) \*\2"
                             r"|dyn_flexible_chain \*chain|const dyn_base_parameters \*grouping")
OBJECT, INPUT, OUTPUT, ERROR = range(4)
KINDS = ["object", "input", "output", "error"]
WITHOUT_TYPE_NAME = {"dyn_status"}


def kind_of(argument):
    """The kind of an argument, which its type and name show: outputs are the other pointers to what is not const, with
    the capacity of an array."""
    if re.fullmatch(r"dyn_error \*error", argument):
        return ERROR
    if OBJECT_ARGUMENT.fullmatch(argument):
        return OBJECT
    is_pointer = "*" in argument or "[" in argument
    return OUTPUT if is_pointer and not argument.startswith("const ") or "**" in argument \
        or argument == "size_t capacity" else INPUT


def faults(text):
    """A sentence for each declaration that breaks a rule."""
    text = COMMENT.sub("", text)
    for name, arguments in FUNCTION.findall(text):
        kinds = [kind_of(" ".join(argument.split())) for argument in arguments.split(",")]
        if kinds != sorted(kinds) or ERROR in kinds[:-1]:
            yield f"{name}: {', '.join(KINDS[kind] for kind in kinds)}"
    for name, members in ENUMERATION.findall(text):
        for member in re.findall(r"\w+", re.sub(r"=[^,]*", "", members)):
            if name not in WITHOUT_TYPE_NAME and not member.startswith(f"{name.upper()}_"):
                yield f"{name}: {member} does not begin with {name.upper()}_"


def main():
    count = failed = 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        count += len(FUNCTION.findall(COMMENT.sub("", text)))
        for fault in faults(text):
            print(f"{path}: {fault}")
            failed += 1
    print(f"{count} functions, {failed} faults")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
