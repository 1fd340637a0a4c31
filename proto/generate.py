#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes what follows from the wire contract, and checks its rules.

    generate.py SET --server DIRECTORY      methods/methods.h and methods/methods.c of the server
    generate.py SET --client DIRECTORY MIRRORS
                                            requests.h, method_properties.h and mirrors.c of the C client, by
                                            clients/c/mirrors.txt
    generate.py SET --wire-doc FILE         deploy/doc/wire.md
    generate.py SET --check-wire-doc FILE   compares the file with what would be written

SET is the descriptor set that `protoc-c --descriptor_set_out --include_source_info` writes. Exits with 1, and a
sentence for each finding, where the contract breaks one of its own rules.
"""
import argparse
import pathlib
import sys

import client
import descriptors
import methods
import wire_doc


# Every file has these options, since all are one package.
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


def write_server(directory, table):
    write(directory / "methods" / "methods.h", methods.server_header(table))
    write(directory / "methods" / "methods.c", methods.server_table(table))


def write_client(directory, mirrors, table, enums):
    checks, wrong = client.mirror_checks(enums, client.read_mirrors(mirrors))
    if wrong:
        sys.exit("\n".join(wrong))
    write(directory / "requests.h", client.requests_header(table))
    write(directory / "method_properties.h", client.method_properties_header(table))
    write(directory / "mirrors.c", checks)


def document(files, table, messages):
    """The text of wire.md; ends the program where a comment lacks something."""
    enums = descriptors.enums_of(files)
    wrong = list(wire_doc.findings(files, messages, enums))
    if wrong:
        sys.exit("\n".join(wrong))
    return wire_doc.text(files, table, messages, enums)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", help="descriptor set of all files, with their comments")
    parser.add_argument("--server", metavar="DIRECTORY", type=pathlib.Path)
    parser.add_argument("--client", metavar=("DIRECTORY", "MIRRORS"), type=pathlib.Path, nargs=2)
    parser.add_argument("--wire-doc", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--check-wire-doc", metavar="FILE", type=pathlib.Path)
    given = parser.parse_args()
    files = descriptors.read(given.set)
    messages = descriptors.messages_of(files)
    table, wrong = methods.read_methods(messages)
    wrong += lacking_options(files)
    if wrong:
        sys.exit("\n".join(wrong))
    if given.server:
        write_server(given.server, table)
    if given.client:
        write_client(*given.client, table, descriptors.enums_of(files))
    if given.wire_doc:
        write(given.wire_doc, document(files, table, messages))
    checked = given.check_wire_doc
    if checked and checked.read_text(encoding="utf-8") != document(files, table, messages):
        sys.exit(f"{checked} does not match the comments of the contract; write it again: "
                 "cmake --build --preset release --target wire_doc")


if __name__ == "__main__":
    main()
