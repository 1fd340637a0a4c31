#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the reasons of errors in server/methods/reason.h with their description in status.proto.

Usage: reasons.py DIRECTORY. Each token must be described under the comment line of its code, and no other.
"""
import pathlib
import re
import sys


def listed(root):
    """Returns {token: (code, is tried again)} of the daemon's list."""
    text = (root / "server/methods/reason.h").read_text()
    rows = re.findall(r"X\((\w+), (\w+), ([\d.]+)\)", text)
    return {token: (code, float(seconds) > 0) for token, code, seconds in rows}


def described(root):
    """Returns {token: (code, is tried again)} of the comment."""
    tokens = {}
    code = None
    for line in (root / "proto/dynamics/v1/status.proto").read_text().splitlines():
        heading = re.fullmatch(r"//   CODE_(\w+)(.*)", line)
        row = re.fullmatch(r"//     ([A-Z][A-Z_]+(?:, [A-Z_]+)*),?(?: +.*)?", line)
        if heading:
            code = (heading.group(1), heading.group(2).endswith("try again."))
        elif row and code:
            tokens.update((token, code) for token in re.findall(r"[A-Z_]+", row.group(1)))
    return tokens


def main(root):
    known, documented = listed(root), described(root)
    wrong = sorted(token for token in known.keys() | documented.keys() if known.get(token) != documented.get(token))
    for token in wrong:
        print(f"{token}: {known.get(token)} in reason.h, {documented.get(token)} in status.proto")
    print(f"{len(known)} reasons, {len(wrong)} of them not as described")
    return 1 if wrong or not known else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
