#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""documents.py refuses links and paths that lead nowhere."""
import pathlib
import tempfile
import unittest

import documents


class Documents(unittest.TestCase):
    def findings(self, text):
        """Names that a document refers to in vain."""
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "lib" / "src").mkdir(parents=True)
            (root / "lib" / "src" / "a.c").write_text("")
            document = root / "README.md"
            document.write_text(text)
            lines = [*documents.broken_links(document), *documents.missing_paths(root, document)]
            return [line.split(": ", 1)[1] for line in lines]

    def test_refuses_a_path_that_does_not_exist(self):
        self.assertEqual(self.findings("1. `lib/src/b.c`: the file."), ["lib/src/b.c does not exist"])
        self.assertEqual(self.findings("`lib/nowhere/NAME.c`"), ["lib/nowhere/NAME.c does not exist"])

    def test_refuses_a_link_that_leads_nowhere(self):
        self.assertEqual(self.findings("[text](lib/src/b.c)"), ["lib/src/b.c does not exist"])

    def test_accepts_what_exists(self):
        text = "`lib/src/a.c --help`, `lib/src/NAME.c`, `m/s`, `/lib/b.c`, [a](lib/src/a.c#part)"
        self.assertEqual(self.findings(text), [])


if __name__ == "__main__":
    unittest.main()
