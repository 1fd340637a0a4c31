#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the documents of the project: relative links lead to files, paths in back quotes exist, and README is no
longer than 300 lines. A path is a word whose first part is a directory of the project; in place of a part in capitals,
such as NAME.c, the directory above must exist.

    documents.py ROOT
"""
import pathlib
import re
import sys

README_LINES = 300
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


QUOTED = re.compile(r"`([^`\s]+)[^`]*`")
PLACEHOLDER = re.compile(r"[A-Z]+(\.\w+)?$")


def documents(root):
    return [root / "README.md", *sorted((root / "deploy" / "doc").glob("*.md")),
            *sorted((root / ".github").glob("*.md"))]


def broken_links(path):
    """Links of a document that lead nowhere, as lines."""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        for target in LINK.findall(line):
            if "://" not in target and not (path.parent / target).exists():
                yield f"{path}:{number}: {target} does not exist"


def missing_paths(root, path):
    """Paths in back quotes that do not exist, as lines."""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        for name in QUOTED.findall(line):
            target = root / (name.rsplit("/", 1)[0] if PLACEHOLDER.match(name.rsplit("/", 1)[-1]) else name)
            if "/" in name[1:] and name[0] != "/" and (root / name.split("/")[0]).is_dir() and not target.exists():
                yield f"{path}:{number}: {name} does not exist"


def main():
    root = pathlib.Path(sys.argv[1])
    files = documents(root)
    found = [line for path in files for line in [*broken_links(path), *missing_paths(root, path)]]
    lines = len((root / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > README_LINES:
        found.append(f"README.md has {lines} lines; move text to deploy/doc so that it has at most {README_LINES}")
    print("\n".join(found + [f"{len(files)} documents, {len(found)} findings"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
