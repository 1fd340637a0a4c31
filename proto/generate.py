#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes what follows from the wire contract.

    generate.py SET --server DIRECTORY      methods/methods.h and methods/methods.c of the server

SET is the descriptor set that `protoc-c --descriptor_set_out --include_source_info` writes. Exits with 1, and a
sentence for each finding, where the contract breaks one of its own rules.
"""
import argparse
import pathlib
import sys

import descriptors
import methods


# The same in every file, since all are one package.
OPTIONS = {"csharp_namespace": "Dynamics.V1", "go_package": "dynamics/v1;dynamicsv1", "java_multiple_files": True,
           "java_package": "dynamics.v1"}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def lacking_options(files):
    """A sentence for each file with other options of languages than the package has."""
    for file in files:
        for name in descriptors.OPTIONS.values():
            if file.options.get(name) != OPTIONS[name]:
                yield f"{file.name}: option {name} must be {OPTIONS[name]}, as in the other files"


def main():
    parser = argparse.ArgumentParser(description="Writes what follows from the wire contract.")
    parser.add_argument("set", help="descriptor set of all files, with their comments")
    parser.add_argument("--server", metavar="DIRECTORY", type=pathlib.Path, required=True)
    given = parser.parse_args()
    files = descriptors.read(given.set)
    table, wrong = methods.read_methods(descriptors.messages_of(files))
    wrong += lacking_options(files)
    if wrong:
        sys.exit("\n".join(wrong))
    write(given.server / "methods" / "methods.h", methods.server_header(table))
    write(given.server / "methods" / "methods.c", methods.server_table(table))


if __name__ == "__main__":
    main()
