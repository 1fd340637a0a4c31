#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks of deploy/progress: it understands make and ninja, and stores everything in the log."""

import pathlib
import subprocess
import tempfile
import unittest

PROGRESS = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "progress"

MAKE = """[  3%] Building C object lib/CMakeFiles/dynamics.dir/src/kernels/rnea.c.o
a.c:1: warning: something
[  7%] Building C object lib/CMakeFiles/dynamics.dir/src/kernels/crba.c.o
[ 13%] Linking C shared library ../lib/libdynamics.so
[100%] Built target dynamicsd
"""

NINJA = """[1/40] Building C object lib/CMakeFiles/dynamics.dir/src/kernels/rnea.c.o
[20/40] Linking C executable bin/dynamicsd
[40/40] Linking C executable bin/dynamicsctl
"""


def run(output):
    """Returns the lines that are shown for a build's output, and the log."""
    with tempfile.NamedTemporaryFile("r") as log:
        done = subprocess.run([PROGRESS, log.name], input=output, capture_output=True, text=True, check=True)
        return done.stdout.splitlines(), log.read()


class Progress(unittest.TestCase):
    def test_percent_of_make(self):
        shown, log = run(MAKE)
        self.assertEqual(shown, ["     3 %  compiling rnea.c", "    13 %  linking libdynamics.so",
                                 "   100 %  Built target dynamicsd"])
        self.assertEqual(log, MAKE)

    def test_percent_of_ninja(self):
        shown, log = run(NINJA)
        self.assertEqual(shown, ["     2 %  compiling rnea.c", "    50 %  linking dynamicsd",
                                 "   100 %  linking dynamicsctl"])
        self.assertEqual(log, NINJA)

    def test_other_output_is_logged_only(self):
        self.assertEqual(run("[not a step]\nerror: no rule\n"), ([], "[not a step]\nerror: no rule\n"))


if __name__ == "__main__":
    unittest.main()
