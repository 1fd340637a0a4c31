#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""columns.py refuses a line of more than 120 columns wherever one is written by hand, and no other."""
import pathlib
import tempfile
import unittest

import columns

LONG = "/* " + "word " * 23 + "*/xxxx"  # 124 columns


class Columns(unittest.TestCase):
    def found(self, path, text):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
            return columns.check(root)[0]

    def test_refuses_a_long_line(self):
        for path in ["lib/src/a.c", "lib/CMakeLists.txt", "CMakeLists.txt", "CMakePresets.json", "proto/a.proto",
                     "tests/run", ".ci/run", "deploy/a.conf", "clients/rosbridge/ros/a.py"]:
            with self.subTest(path=path):
                self.assertEqual(self.found(path, "\n" + LONG + "\n"), [f"{path}:2: 124 columns; break it at 120"])

    def test_counts_characters(self):
        self.assertEqual(self.found("lib/a.c", "é " * 60), [])
        self.assertEqual(len(self.found("lib/a.c", "é " * 60 + "é")), 1)

    def test_passes_one_word(self):
        self.assertEqual(self.found("lib/a.c", " * https://example.org/" + "x" * 120), [])
        self.assertEqual(self.found("deploy/a.conf", "# https://example.org/" + "x" * 120), [])

    def test_leaves_data_and_text_alone(self):
        for path in ["tests/data/requests/a.request", "README.md", "tests/bench/plot.svg",
                     "clients/rosbridge/examples/node_modules/a.js", "build/a.c"]:
            with self.subTest(path=path):
                self.assertEqual(self.found(path, LONG), [])


if __name__ == "__main__":
    unittest.main()
