#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the commands of blocks marked `console` in documents and compares their output with what the documents show.

    readme_outputs.py DOCUMENT...

All documents use one daemon, in the given order. A line "$ COMMAND" is run by the shell. The lines up to the
next one are its output, standard error included. The numbers of requests are random: "request N" matches any.
"""
import pathlib
import re
import subprocess
import sys


def sessions(text):
    """Pairs of a command and the output shown for it."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, flags=re.S | re.M):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = step.partition("\n")
            yield command, output


def stripped(text):
    return [re.sub(r"\brequest \d+\b", "request N", line.rstrip()) for line in text.strip().split("\n")]


def main():
    texts = [(path, pathlib.Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:]]
    steps = [(path, command, shown) for path, text in texts for command, shown in sessions(text)]
    wrong = 0
    for path, command, shown in steps:
        result = subprocess.run(command, shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if stripped(result.stdout) != stripped(shown):
            wrong += 1
            print(f"$ {command}\nprints\n{result.stdout}\n{path} shows\n{shown}")
    print(f"{len(steps)} commands, {wrong} with another output than the documents show")
    sys.exit(1 if wrong or not steps else 0)


if __name__ == "__main__":
    main()
