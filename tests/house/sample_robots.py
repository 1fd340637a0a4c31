#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The sample robots load without a warning and have the masses and torques that can be worked out by hand.

Asks the daemon at DYNAMICSD_ENDPOINT.
"""
import json
import math
import subprocess
import unittest

GRAVITY = 9.81


def ask(*arguments):
    result = subprocess.run(["dynamicsctl", *arguments, "--json"], text=True, capture_output=True, check=True)
    return json.loads(result.stdout)


class SampleRobots(unittest.TestCase):
    def test_all_load_without_a_warning(self):
        for name in ("ur5", "panda", "two_link", "quadruped"):
            description = ask("describe", name)
            warnings = [entry for entry in description["report"] if entry["severity"] != "note"]
            self.assertEqual(warnings, [], name)

    def test_ur5_stretched_out(self):
        # Links whose weight the shoulder and the elbow carry: mass, distance of its centre from the shoulder.
        upper_arm, forearm, wrist = (8.393, 0.2125), (2.33, 0.425 + 0.24225), (2 * 1.219 + 0.1879, 0.425 + 0.39225)
        shoulder = GRAVITY * sum(mass * arm for mass, arm in (upper_arm, forearm, wrist))
        elbow = GRAVITY * sum(mass * (arm - 0.425) for mass, arm in (forearm, wrist))
        g = ask("gravity", "ur5", "--state", "zero")["g"]
        for value, expected in zip(g, [0, -shoulder, -elbow, 0, 0, 0]):
            self.assertAlmostEqual(value, expected, places=10)

    def test_ur5_flange_is_where_the_maker_says(self):
        # From the Denavit-Hartenberg parameters at zero: x = a2 + a3, y = -(d4 + d6), z = d1 - d5.
        position = ask("fk", "ur5", "--frame", "tool0", "--state", "zero")["position"]
        for value, expected in zip(position, [-0.425 - 0.39225, -0.10915 - 0.0823, 0.089159 - 0.09465]):
            self.assertAlmostEqual(value, expected, places=12)

    def test_panda_flange_is_where_the_maker_says(self):
        # All joints zero: a4 and a5 cancel, x = a7, z = d1 + d3 + d5 - flange.
        position = ask("fk", "panda", "--frame", "panda_link8", "--state", "zero")["position"]
        for value, expected in zip(position, [0.088, 0, 0.333 + 0.316 + 0.384 - 0.107]):
            self.assertAlmostEqual(value, expected, places=12)

    def test_two_link_arm_is_the_book_s(self):
        # Equations 8.9 to 8.10 with unit masses and lengths.
        q1, q2 = 0.3, 0.9
        m = ask("mass", "two_link", "--q", f"{q1},{q2}")["mass_matrix"]
        c = math.cos(q2)
        for row, expected in zip(m, [[3 + 2 * c, 1 + c], [1 + c, 1]]):
            for value, entry in zip(row, expected):
                self.assertAlmostEqual(value, entry, places=12)
        g = ask("gravity", "two_link", "--q", f"{q1},{q2}")["g"]
        g2 = GRAVITY * math.cos(q1 + q2)
        for value, expected in zip(g, [2 * GRAVITY * math.cos(q1) + g2, g2]):
            self.assertAlmostEqual(value, expected, places=12)

    def test_quadruped_weighs_what_its_parts_do(self):
        model = ask("describe", "quadruped")["model"]
        self.assertAlmostEqual(model["mass"], 1.16115091 + 4 * (2 * 0.14853845 + 0.03070001 + 0.00693606), places=12)
        self.assertEqual((model["nq"], model["nv"]), (7 + 12, 6 + 12))


if __name__ == "__main__":
    unittest.main()
