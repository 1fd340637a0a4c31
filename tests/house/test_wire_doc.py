#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""proto/generate.py refuses a field without comment, unit or default, and a wire.md that differs from the comments.

    test_wire_doc.py PROTOC_C
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
PROTOC = "protoc-c"
PLACE = "message CancelRequest {\n"


class WireDoc(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(PROTO / "dynamics", self.directory / "dynamics")
        self.document = self.directory / "wire.md"

    def generate(self, option, field=""):
        """Adds a field to a request; returns the generator's exit code and what it says."""
        file = self.directory / "dynamics" / "v1" / "rollout.proto"
        text = (PROTO / "dynamics" / "v1" / "rollout.proto").read_text(encoding="utf-8")
        self.assertEqual(text.count(PLACE), 1)
        file.write_text(text.replace(PLACE, PLACE + field), encoding="utf-8")
        subprocess.run([PROTOC, f"--descriptor_set_out={self.directory}/set", "--include_imports",
                        "--include_source_info", f"-I{self.directory}",
                        *sorted(self.directory.glob("dynamics/v1/*.proto"))], check=True)
        run = subprocess.run([sys.executable, "-B", PROTO / "generate.py", self.directory / "set", option,
                              self.document], capture_output=True, text=True, check=False)
        return run.returncode, run.stderr

    def refuses(self, reason, field):
        code, said = self.generate("--wire-doc", field)
        self.assertEqual((code, said), (1, f"dynamics.v1.CancelRequest.extra: {reason}\n"))

    def test_refuses_a_field_without_comment(self):
        self.refuses("there is no comment", "  bool extra = 9;\n\n")

    def test_refuses_a_number_without_unit(self):
        self.refuses("the comment names no unit", "  // Length of it. 0: 1.\n  double extra = 9;\n\n")

    def test_refuses_a_field_without_default(self):
        self.refuses("the comment states neither a default nor that the field is required",
                     "  // Number of it.\n  uint32 extra = 9;\n\n")

    def test_shows_a_default_with_a_dotted_name(self):
        field = "  // Lease. 0: Limits.lease_time. Unit: s.\n  double extra = 9;\n"
        self.assertEqual(self.generate("--wire-doc", field), (0, ""))
        self.assertIn("| 9 | `extra` | double | s | Limits.lease_time |", self.document.read_text(encoding="utf-8"))

    def test_refuses_a_document_of_other_comments(self):
        field = "  // Length of it, rad or m. 0: 1. CODE_INTERNAL if it is longer.\n  double extra = 9;\n\n"
        self.assertEqual(self.generate("--wire-doc", field), (0, ""))
        self.assertIn("| 9 | `extra` | double | rad or m | 1 | Length of it, rad or m. 0: 1. "
                      "| CODE_INTERNAL if it is longer. |\n", self.document.read_text(encoding="utf-8"))
        self.assertEqual(self.generate("--check-wire-doc", field), (0, ""))
        code, said = self.generate("--check-wire-doc", field.replace("Length", "Width"))
        self.assertEqual(code, 1)
        self.assertIn("does not match the comments of the contract", said)


if __name__ == "__main__":
    PROTOC = sys.argv.pop(1)
    unittest.main()
