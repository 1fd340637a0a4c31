#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses functions of the C client whose arguments are not in the header's order.

    client_header.py HEADER

prints each function of HEADER that can fail and whose arguments are in another order than: the client or its stream or
watch, inputs, the timeout, outputs, the error. Exits with 1 if there is one.
"""
import re
import sys

FUNCTION = re.compile(r"DYN_CLIENT_EXPORT\s+dyn_client_status\s+(\w+)\(([^)]*)\);")
HANDLE, INPUT, TIMEOUT, OUTPUT, ERROR = range(5)
KINDS = ["handle", "input", "timeout", "output", "error"]


def kind_of(argument):
    """The kind of an argument by its type and name: outputs are the pointers to objects that are not const."""
    if re.fullmatch(r"dyn_client(_stream|_watch|_job)? \*\w+", argument):
        return HANDLE
    if argument == "double timeout":
        return TIMEOUT
    if argument == "dyn_client_error *error":
        return ERROR
    pointee = re.sub(r"\bconst \*const\b", "const", argument)
    return OUTPUT if "*" in argument and not pointee.startswith("const ") or "**" in argument else INPUT


def faults(text):
    """A sentence for each function that breaks the order."""
    for name, arguments in FUNCTION.findall(text):
        kinds = [kind_of(" ".join(argument.split())) for argument in arguments.split(",")]
        if kinds != sorted(kinds) or kinds[-1] != ERROR:
            yield f"{name}: {', '.join(KINDS[kind] for kind in kinds)}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    found = list(faults(text))
    for fault in found:
        print(fault)
    count = len(FUNCTION.findall(text))
    print(f"{count} functions, {len(found)} in another order")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
