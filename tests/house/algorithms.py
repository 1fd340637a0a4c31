#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses an algorithm of the public headers that the tests' table of algorithms lacks.

    algorithms.py ROOT

Algorithms of that table (tests/support/algorithms.c) are measured, and checked for bits and allocations. An algorithm
is a function of a model, a workspace and n samples. Prints those that are missing, and exits with 1 if there are any.
"""
import pathlib
import re
import sys

ALGORITHM = re.compile(
    r"DYN_API dyn_status (dyn_\w+)\(\s*const dyn_model \*model,\s*dyn_workspace \*workspace,\s*size_t n\b")

# Samples of these belong together, so that one alone is no smaller case of many.
TIME_SERIES = {"dyn_inverse_dynamics_trajectory"}

# These need a model with constraints. property.closed_loops checks their bits, property.allocation their allocations.
CONSTRAINED = {"dyn_constraint_rows", "dyn_constrained_forward_dynamics", "dyn_constrained_inverse_dynamics",
               "dyn_constrained_forward_dynamics_derivatives", "dyn_constrained_forward_dynamics_along",
               "dyn_assemble", "dyn_constraint_space_quantities", "dyn_constraint_project",
               "dyn_constraint_wrenches", "dyn_impact", "dyn_hybrid_forces"}

# These allocate memory. property.task_control checks their bits.
ALLOCATING = {"dyn_task_torques_for"}


def main(root):
    table = (root / "tests/support/algorithms.c").read_text()
    headers = sorted((root / "lib/include/dynamics").glob("*.h"))
    algorithms = {name: header for header in headers for name in ALGORITHM.findall(header.read_text())}
    others = TIME_SERIES | CONSTRAINED | ALLOCATING
    missing = [name for name in algorithms if name not in others and f" {name}(" not in table]
    for name in missing:
        print(f"{algorithms[name].relative_to(root)}: {name} has no row in tests/support/algorithms.c")
    if len(algorithms) < 20:
        print(f"only {len(algorithms)} algorithms found: has their form changed?")
        return 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
