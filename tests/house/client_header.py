#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses declarations of the C client that do not follow the rules of its header.

    client_header.py HEADER PROTO...

The rules are:

    - The arguments of a function that can fail are: the client or its stream or watch, inputs, the timeout, outputs,
      and the error.
    - Integers are size_t, uint64_t or int64_t. The numbers of WIRE_WIDTH have the 32 bits of the protocol.
    - A boolean has the name of a boolean field of the protocol, or begins with a word of PREDICATES.
    - The name of an enumerator begins with the name of its type. Statuses, which every call returns, are the exception.

Prints each declaration that breaks a rule, and exits with 1 if there is one.
"""
import re
import sys

FUNCTION = re.compile(r"DYN_CLIENT_EXPORT\s+dyn_client_status\s+(\w+)\(([^)]*)\);")
ENUMERATION = re.compile(r"typedef enum (\w+) \{(.*?)\}", re.S)
INTEGER = re.compile(r"\b(u?int(?:8|16|32)_t|unsigned|short|int|long)\b[^;]*?\b(\w+)(?:\[\w+\])?[;,)]")
BOOLEAN = re.compile(r"^\s+bool ([\w, ]+);", re.M)
FIELD = re.compile(r"^\s+bool (\w+) = \d+;", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
WIRE_WIDTH = {"min_revision", "revision", "process_id"}
BYTES = {"bytes"}
PREDICATES = ("is_", "has_", "with_", "use_")
WITHOUT_TYPE_NAME = {"dyn_client_status"}
HANDLE, INPUT, TIMEOUT, OUTPUT, ERROR = range(5)
KINDS = ["handle", "input", "timeout", "output", "error"]


def kind_of(argument):
    """The kind of an argument by its type and name: outputs are the pointers to objects that are not const."""
    if re.fullmatch(r"dyn_client(_stream|_subscription|_watch|_job)? \*\w+", argument):
        return HANDLE
    if argument == "double timeout":
        return TIMEOUT
    if argument == "dyn_client_error *error":
        return ERROR
    pointee = re.sub(r"\bconst \*const\b", "const", argument)
    return OUTPUT if "*" in argument and not pointee.startswith("const ") or "**" in argument else INPUT


def faults(text, fields=frozenset()):
    """A sentence for each declaration that breaks a rule. `fields` are the names of the protocol's booleans."""
    text = COMMENT.sub("", text)
    for name, arguments in FUNCTION.findall(text):
        kinds = [kind_of(" ".join(argument.split())) for argument in arguments.split(",")]
        if kinds != sorted(kinds) or kinds[-1] != ERROR:
            yield f"{name}: {', '.join(KINDS[kind] for kind in kinds)}"
    for name, enumerators in ENUMERATION.findall(text):
        for enumerator in re.findall(r"(?:^|,)\s*([A-Za-z]\w*)", enumerators):
            if name not in WITHOUT_TYPE_NAME and not enumerator.startswith(name.upper() + "_"):
                yield f"{enumerator}: it lacks the name of {name}"

    for integer, name in INTEGER.findall(text):
        if name not in WIRE_WIDTH | BYTES:
            yield f"{name}: {integer} is neither size_t nor uint64_t"
    for names in BOOLEAN.findall(text):
        for name in names.split(", "):
            if name not in fields and not name.startswith(PREDICATES):
                yield f"{name}: it is no boolean of the protocol and begins with none of {', '.join(PREDICATES)}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    fields = set()
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            fields.update(FIELD.findall(file.read()))
    found = list(faults(text, fields))
    for fault in found:
        print(fault)
    count = len(FUNCTION.findall(text))
    print(f"{count} functions, {len(found)} declarations against the rules")
    return 1 if found or count == 0 or not fields else 0


if __name__ == "__main__":
    sys.exit(main())
