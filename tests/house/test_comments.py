#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""comments.py refuses comments that are no whole sentences, and no other."""
import unittest

import comments


class Comments(unittest.TestCase):
    def rules(self, source, kind=".c"):
        return [rule for _, rule, _ in comments.faults(source, kind)]

    def test_refuses_a_clause_at_the_beginning(self):
        for text in ["What it computes.", "Who is silent.", "Whether it is.", "That of a body.", "The same for one.",
                     "Same, with a name.", "And back."]:
            with self.subTest(text=text):
                self.assertEqual(self.rules(f"/* {text} */\nint a;\n"), ["begins with a clause"])
                self.assertEqual(self.rules(f"/*\n * {text}\n */\n"), ["begins with a clause"])
                self.assertEqual(self.rules(f"    // {text}\n"), ["begins with a clause"])

    def test_refuses_lower_case_at_the_beginning(self):
        self.assertEqual(self.rules("/* returns the mass. */\nint mass(void);\n"), ["begins in lower case"])
        self.assertEqual(self.rules("/* of a body. */\nint of;\n"), ["begins in lower case"])

    def test_refuses_a_missing_full_stop(self):
        self.assertEqual(self.rules("/* Returns the mass */\n"), ["ends without a full stop"])
        self.assertEqual(self.rules("// Returns the mass\n// of a body\nint a;\n"), ["ends without a full stop"])
        self.assertEqual(self.rules("/* Returns the mass,\n * of a body */\n"), ["ends without a full stop"])

    def test_reads_comments_of_scripts(self):
        for kind in [".py", ".cmake", "#"]:
            with self.subTest(kind=kind):
                self.assertEqual(self.rules("#!/bin/sh\n# What it\n# computes.\n", kind), ["begins with a clause"])
                self.assertEqual(self.rules("# reads a file.\n", kind), ["begins in lower case"])
                self.assertEqual(self.rules("x = 1\n# Reads a file\n", kind), ["ends without a full stop"])
                self.assertEqual(self.rules("# fail TEXT prints it.\nfail\n", kind), [])
                self.assertEqual(self.rules("# Reads a file.\n# shellcheck disable=SC2086\n", kind), [])
                self.assertEqual(self.rules("# SPDX-License-Identifier: MIT\n# reads it.\n", kind),
                                 ["begins in lower case"])
        self.assertEqual(self.rules("// What it computes.\n", ".mjs"), ["begins with a clause"])

    def test_reads_docstrings(self):
        self.assertEqual(self.rules('"""What it computes."""\n', ".py"), ["begins with a clause"])
        self.assertEqual(self.rules('def f():\n    """Reads a file"""\n', ".py"), ["ends without a full stop"])
        self.assertEqual(self.rules('def f():\n    """Reads a\n    file"""\n', ".py"), ["ends without a full stop"])
        self.assertEqual(self.rules('def f():\n    """Reads a file."""\n', ".py"), [])
        self.assertEqual(self.rules('def f():\n    """Adds.\n\n    >>> f()\n    2\n    """\n', ".py"), [])
        self.assertEqual(self.rules('def f():\n    """Adds\n\n    >>> f()\n    2\n    """\n', ".py"),
                         ["ends without a full stop"])
        self.assertEqual(self.rules('def f():\n    """Adds.\n\n    >>> f()\n    2\n\n    No stop\n    """\n', ".py"),
                         ["ends without a full stop"])
        self.assertEqual(self.rules('"""Reads a file:\n\n    read.py FILE\n"""\n', ".py"), [])

    def test_names_the_line(self):
        found = list(comments.faults("int a;\n\n/* No stop */\n"))
        self.assertEqual(found, [(3, "ends without a full stop", "No stop")])

    def test_passes_sentences(self):
        for source in ["/* Returns the mass. */\n", "// Mass of a body\n// in kg.\nint a;\n", "/* Returns \"a.\" */\n",
                       "/* Is it so? */\n", "/* Source: Featherstone (2008). */\n"]:
            with self.subTest(source=source):
                self.assertEqual(self.rules(source), [])

    def test_passes_formulas_names_and_examples(self):
        for source in ["/* tau = M a + h */\n", "/* R' v */\n", "// Forces.\n//\n// tau = M a + h\n",
                       "// kg/m^3\n", "/* q is n x nq. */\nint q;\n",
                       "/* nng ends the process. */\n", "/* base_link carries it. */\n", "/* {\"box\": {..}} */\n",
                       "/*\n * Prints the torques.\n *\n *     torques URL MODEL\n */\n",
                       "/* ---- watching ------ */\n", "/* clang-format off */\n"]:
            with self.subTest(source=source):
                self.assertEqual(self.rules(source), [])

    def test_leaves_comments_beside_code_and_strings_alone(self):
        for source in ["int a; /* of a body */\n", "int b; // same as a\n", "    /* revolute */ {AXIS_WZ},\n",
                       "const char *text = \"/* the same */\";\n", "const char *url = \"http://x\"; // of a page\n"]:
            with self.subTest(source=source):
                self.assertEqual(self.rules(source), [])


if __name__ == "__main__":
    unittest.main()
