#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""style.py refuses bodies without braces and comparisons with NULL, and nothing else."""
import unittest

import style


class Style(unittest.TestCase):
    def found(self, text):
        return [what for _, what in style.faults(text)]

    def test_refuses_a_body_without_braces(self):
        for text, what in [("if (a) b();", "if"), ("for (;;) b();", "for"), ("while (f(a))\n    b();", "while"),
                           ("if (a) {\n} else\n    b();", "else")]:
            with self.subTest(text=text):
                self.assertEqual(self.found(text), [f"{what} without braces"])

    def test_passes_braces_and_chains(self):
        for text in ["if (a) {\n} else if (b) {\n} else {\n}", "do {\n} while (f(a));", "for (;;) {\n}",
                     "#if (A)\n#else\n", '/* if (a) b */ char *s = "if (a) b";']:
            with self.subTest(text=text):
                self.assertEqual(self.found(text), [])

    def test_refuses_a_comparison_with_null_in_a_condition(self):
        for text in ["if (p == NULL) {\n}", "if (p != NULL) {\n}", "q = p != NULL ? 1 : 2;", "a = p != NULL && b;",
                     "a = p != NULL ||\n b;", "return p == NULL;"]:
            with self.subTest(text=text):
                self.assertEqual(len(self.found(text)), 1)

    def test_passes_truth_values(self):
        for text in ["return p != NULL;", "bool is = p != NULL;", "f(p != NULL, 2);", "a = (p != NULL) == b;",
                     "ck_assert((p == NULL) == is);"]:
            with self.subTest(text=text):
                self.assertEqual(self.found(text), [])


if __name__ == "__main__":
    unittest.main()
