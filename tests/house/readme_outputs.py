#!/usr/bin/env python3
"""Runs what README shows in blocks marked `console` and compares what comes out with what stands there.

    readme_outputs.py README

A line "$ COMMAND" is run by the shell; the lines up to the next one are its output, standard error included.
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
    return [line.rstrip() for line in text.strip().split("\n")]


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    steps = list(sessions(text))
    wrong = 0
    for command, shown in steps:
        result = subprocess.run(command, shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if stripped(result.stdout) != stripped(shown):
            wrong += 1
            print(f"$ {command}\nprints\n{result.stdout}\nREADME shows\n{shown}")
    print(f"{len(steps)} commands, {wrong} with another output than README shows")
    sys.exit(1 if wrong or not steps else 0)


if __name__ == "__main__":
    main()
