#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares deploy/doc/operation-counts.md with the operations that property_formulation_counts counts.

    operation_counts.py PROGRAM DOCUMENT [--write]

With --write, writes the document instead. Exits with 77 where the library counts no operations.
"""
import os
import pathlib
import re
import subprocess
import sys

NUMBERS = r"(\d+) +(\d+) x +(\d+) \+  published"
HEADING = """# Operations of the formulations for n joints

Multiplications / additions for a chain of n revolute joints with any axes and placements, beside the published ones.
[formulations.md](formulations.md#operations) has the polynomials, their sources, and the reasons for the differences.
The test `property.operation_counts` compares this document with the counts; `tests/property/operation_counts.py` with
`--write` writes it.

The columns of forward dynamics count multiplications and additions together, here and as published: by `screws`, and by
`spatial_operator_algebra`, the method of Rodriguez. The published polynomials of these columns hold for chains of
several joints: for one joint they give 27 and -26. All differences of `newton_euler` and `generalized_dalembert` are
those of the polynomials, so that their sign changes with n: recursions here begin with full vectors at every joint, but
skip the terms of the base.

"""
STEPS = """
## Steps

Steps of each formulation, how often they run, and their multiplications and additions in one run. The test
`property.formulation_counts` requires that they add up to the counts above for all n. The sources state polynomials
only; the test writes these as sums of loops too. Links are s, and joints are i, k and m: "i <= s" runs n (n + 1) / 2
times, and "i <= k <= s" n (n + 1) (n + 2) / 6 times. [formulations.md](formulations.md#operations) explains the
differences.

"""
COLUMNS = ["n", "lagrange_euler", "published", "newton_euler", "published", "generalized_dalembert", "published",
           "screws, forward", "published", "spatial_operator_algebra, forward", "published"]


def output(program):
    return subprocess.run([program], env={**os.environ, "CK_FORK": "no"}, capture_output=True, text=True,
                          check=True).stdout


def counts(text):
    """Cells of the table by column and n."""
    rows = {}
    for name, n, times, plus, times_published, plus_published in re.findall(
            r"^(\w+) +" + NUMBERS + r" +(\d+) x +(\d+) \+$", text, re.MULTILINE):
        rows.setdefault(int(n), {})[name] = [f"{times} / {plus}", f"{times_published} / {plus_published}"]
    together = r"^(\w+) +(\d+) +(\d+) x +(\d+) \+  published, both together: (-?\d+)$"
    for name, n, times, plus, published in re.findall(together, text, re.MULTILINE):
        rows[int(n)][name] = [str(int(times) + int(plus)), published]
    return rows


def table_of_counts(rows):
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for n, row in sorted(rows.items()):
        cells = [cell for name in ("lagrange_euler", "newton_euler", "generalized_dalembert", "screws",
                                    "spatial_operator_algebra")
                 for cell in row[name]]
        lines.append("| " + " | ".join([str(n), *cells]) + " |")
    return "\n".join(lines) + "\n"


def tables_of_steps(text):
    """Tables of the steps, a heading for each formulation."""
    tables = {}
    for name, row in re.findall(r"^step of (\w+): (.+)$", text, re.MULTILINE):
        tables.setdefault(name, []).append(f"| {row} |")
    head = ["", "| of | step | runs | multiplications | additions |", "|---|---|---|---|---|"]
    return "\n".join("\n".join([f"### {name}", *head, *rows, ""]) for name, rows in tables.items())


def main():
    text, path = output(sys.argv[1]), pathlib.Path(sys.argv[2])
    rows = counts(text)
    if not rows:
        return 77
    document = HEADING + table_of_counts(rows) + STEPS + tables_of_steps(text)
    if "--write" in sys.argv:
        path.write_text(document, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != document:
        print(f"{path} differs from the counts; write it by {pathlib.Path(__file__).name} --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
