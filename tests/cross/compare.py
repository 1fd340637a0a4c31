#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the numbers of two processors: compare.py HERE THERE.

Results are compared line by line, by the largest difference in a line relative to its largest number. Ellipsoids are
left out: where two axes are nearly as long, or a robot nearly singular, rounding chooses.
"""
import sys

BOUND = 1e-11
LEFT_OUT = ("manipulability", "mass ellipsoids", "torque ellipsoid")


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = (line.rpartition(":") for line in file if line.startswith("tree "))
        return {name: [float(x) for x in numbers.split()] for name, _, numbers in lines
                if name.split(", ")[1] not in LEFT_OUT}


def difference(x, y):
    largest = max((abs(a) for a in x), default=0)
    return max((abs(a - b) for a, b in zip(x, y)), default=0) / max(largest, 1e-3)


def main():
    here, there = read(sys.argv[1]), read(sys.argv[2])
    if not here or here.keys() != there.keys():
        sys.exit("the two do not have the same results")
    off = {}
    for name, x in here.items():
        if len(x) != len(there[name]):
            sys.exit(f"{name}: {len(x)} numbers here, {len(there[name])} there")
        off[name] = difference(x, there[name])
    worst = max(off, key=off.get)
    print(f"{len(off)} results, {sum(map(len, here.values()))} numbers; the worst, {worst}: {off[worst]:.1e}")
    if not off[worst] <= BOUND:
        sys.exit(f"{worst}: off by {off[worst]:g}")


main()
