#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""licence.py refuses a source, CMake file or script that does not name its licence where it belongs, and no other."""
import pathlib
import tempfile
import unittest

import licence


class Licence(unittest.TestCase):
    def found(self, path, text):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
            return licence.check(root)[0]

    def test_refuses_files_without_it(self):
        for path in ["lib/src/a.c", "lib/a.h", "lib/compile/a.cpp", "lib/CMakeLists.txt", "CMakeLists.txt",
                     "proto/a.proto", "clients/a.mjs", "deploy/cmake/a.cmake", "tests/house/a.py"]:
            for text in ["", "text\n", licence.TEXT + "\n", "\n" + licence.BLOCK + "\n" + licence.HASH + "\n"]:
                with self.subTest(path=path, text=text):
                    self.assertEqual(len(self.found(path, text)), 1)

    def test_passes_files_with_it(self):
        for path, line in [("lib/a.c", licence.BLOCK), ("lib/a.h", licence.BLOCK), ("proto/a.proto", licence.LINE),
                           ("clients/a.mjs", licence.LINE), ("CMakeLists.txt", licence.HASH),
                           ("tests/house/a.py", licence.HASH)]:
            with self.subTest(path=path):
                self.assertEqual(self.found(path, line + "\ntext\n"), [])

    def test_follows_the_interpreter_in_scripts(self):
        self.assertEqual(self.found("tests/run", "#!/bin/sh\n" + licence.HASH + "\n"), [])
        self.assertEqual(len(self.found("tests/run", "#!/bin/sh\ntrue\n")), 1)
        self.assertEqual(len(self.found("tests/a.py", "#!/usr/bin/env python3\n\n" + licence.HASH + "\n")), 1)

    def test_leaves_other_files_alone(self):
        for path in ["tests/data/a.c", "deploy/a.conf", "README.md", "clients/rosbridge/examples/node_modules/a.js",
                     "CMakePresets.json", "build/a.c"]:
            with self.subTest(path=path):
                self.assertEqual(self.found(path, "text"), [])


if __name__ == "__main__":
    unittest.main()
