#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Requires that the operations of formulations, as the daemon counts them, grow by the powers of n of the literature.

    growth_of_formulations.py BIN

BIN has dynamicsd and dynamicsctl. Measures with tests/bench/formulations.py, and reads the plot that it draws.
"""
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import formulations

# Powers between n = 16 and n = 32, where lower terms still count.
POWERS = {("newton_euler", "inverse_dynamics"): (0.95, 1.05), ("screws", "forward_dynamics"): (0.95, 1.1),
          ("walker_orin", "mass_matrix"): (1.5, 2.05), ("generalized_dalembert", "inverse_dynamics"): (2.2, 3.05),
          ("lie_group", "mass_matrix"): (2.8, 3.05), ("lagrange_euler", "inverse_dynamics"): (3.2, 4.05)}


class Growth(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as directory, formulations.Daemon(sys.argv[1], directory) as daemon:
            self.found = formulations.measure(daemon, [8, 16, 32])

    def test_operations_grow_as_in_the_literature(self):
        if not any(measure == "operations" for _, _, measure in self.found):
            self.skipTest("the daemon counts no operations")
        for (name, result), (least, most) in POWERS.items():
            power = formulations.growth(self.found[name, result, "operations"])
            self.assertTrue(least <= power <= most, f"{name}, {result}: n^{power:.2f}")

    def test_plot_has_a_curve_for_each_result(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "plot.svg")
            formulations.draw(self.found, path)
            root = xml.etree.ElementTree.parse(path).getroot()
        curves = [shape for shape in root.iter() if shape.get("stroke-width")]
        self.assertEqual(len(curves), len(self.found))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
