#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""style.py refuses bodies without braces, comparisons with NULL and large functions, and nothing else."""
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

    def large(self, text, public=()):
        return [what for _, what in style.large_functions(text, public)]

    def test_refuses_a_long_function(self):
        body = "    a();\n" * (style.LINES - 2)
        self.assertEqual(self.large(f"void f(void) {{\n{body}}}\n"), [])
        self.assertEqual(self.large(f"int g;\n\nvoid f(int a,\n       int b) {{\n{body}}}\n"),
                         ["f has 61 lines; split it at 60"])

    def test_refuses_many_parameters(self):
        eight, nine = ", ".join(["int a"] * 8), ", ".join(["int a"] * 9)
        wrong = "has 9 parameters; pass a structure for more than 8"
        self.assertEqual(self.large(f"void f({eight}) {{\n}}\n"), [])
        self.assertEqual(self.large(f"static void f({nine}) {{\n}}\n"), [f"f {wrong}"])
        self.assertEqual(self.large(f"void KERNEL(f)({nine}) {{\n}}\n"), [f"KERNEL(f) {wrong}"])
        self.assertEqual(self.large(f"void f({nine}) {{\n}}\n", {"f"}), [])

    def test_counts_parameters_of_the_function_alone(self):
        attribute = "__attribute__((format(printf, 6, 0))) "
        self.assertEqual(self.large(f"{attribute}void f({', '.join(['int a'] * 8)}) {{\n}}\n"), [])
        self.assertEqual(self.large("void f(int a, void (*g)(int, int, int, int, int, int, int, int)) {\n}\n"), [])


if __name__ == "__main__":
    unittest.main()
