#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses sources, CMake files and scripts that do not name their licence.

    licence.py ROOT

The first line of a file, or the second one after #!, is the comment "SPDX-License-Identifier: BSD-2-Clause" in the form
of its language. Prints each file without it, and exits with 1 if there is one.
"""
import pathlib
import sys

import columns

TEXT = "SPDX-License-Identifier: BSD-2-Clause"
BLOCK, LINE, HASH = f"/* {TEXT} */", f"// {TEXT}", f"# {TEXT}"
BY_SUFFIX = {".c": BLOCK, ".h": BLOCK, ".cpp": BLOCK, ".proto": LINE, ".js": LINE, ".mjs": LINE,
             ".py": HASH, ".sh": HASH, ".cmake": HASH}


def expected_line(path, lines):
    """The line that names the licence of a file, or None for a kind of file that need not name it."""
    if path.name == "CMakeLists.txt" or lines[0].startswith("#!"):
        return HASH
    return BY_SUFFIX.get(path.suffix)


def check(root):
    """Files without the line, as text, and the number of files that need it."""
    found, files = [], 0
    for path in columns.files_of(root):
        name = path.relative_to(root).as_posix()
        if any(name.startswith(left) for left in columns.LEFT_OUT):
            continue
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n", 2)
        expected = expected_line(path, lines)
        if expected is None:
            continue
        files += 1
        number = 2 if lines[0].startswith("#!") else 1
        if lines[number - 1:number] != [expected]:
            found.append(f"{name}:{number}: the licence is missing; let this line be: {expected}")
    return found, files


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: licence.py ROOT")
    found, files = check(pathlib.Path(sys.argv[1]))
    for line in found:
        print(line)
    print(f"{files} files, {len(found)} without a licence")
    sys.exit(1 if found or files == 0 else 0)


if __name__ == "__main__":
    main()
