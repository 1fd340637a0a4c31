#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""contract.py refuses what breaks programs that know an earlier contract, and passes what is added and recorded.

    test_contract.py PROTOC_C
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HOUSE = pathlib.Path(__file__).resolve().parent
PROTOC = "protoc-c"
CONTRACT = """syntax = "proto3";
package p;
option go_package = "p";
message Inner { double x = 1; }
message Outer {
  string name = 1;
  repeated double q = 2;
  Inner inner = 3;
  oneof way { double mass = 4; double density = 5; }
  uint64 count = 6;
  reserved 10 to 12;
}
enum Kind { KIND_UNSPECIFIED = 0; KIND_ONE = 1; KIND_TWO = 2; }
"""


class Contract(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.snapshot = self.directory / "contract.txt"
        self.assertEqual(self.run_on(CONTRACT, "--freeze")[0], 0)

    def run_on(self, text, *options):
        (self.directory / "a.proto").write_text(text, encoding="utf-8")
        subprocess.run([PROTOC, f"--descriptor_set_out={self.directory}/set", "--include_source_info",
                        f"-I{self.directory}", self.directory / "a.proto"], check=True)
        run = subprocess.run([sys.executable, "-B", HOUSE / "contract.py", self.directory / "set", self.snapshot,
                              *options], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr

    def changed(self, *changes):
        text = CONTRACT
        for old, new in changes:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        return text

    def refuses(self, expected, *changes):
        frozen = self.snapshot.read_text(encoding="utf-8")
        for options in ([], ["--record"]):
            code, said = self.run_on(self.changed(*changes), *options)
            self.assertEqual(code, 1, said)
            self.assertIn(expected, said)
        self.assertEqual(self.snapshot.read_text(encoding="utf-8"), frozen)

    def test_passes_what_is_unchanged(self):
        self.assertEqual(self.run_on(CONTRACT)[0], 0)

    def test_refuses_a_removed_field_even_when_its_number_is_reserved(self):
        self.refuses("field count = 6 of p.Outer: is removed", ("  uint64 count = 6;\n", ""))
        self.refuses("field count = 6 of p.Outer: is removed", ("  uint64 count = 6;\n", "  reserved 6;\n"))

    def test_refuses_a_renumbered_field(self):
        self.refuses("field count = 6 of p.Outer: has the number 7 now", ("count = 6", "count = 7"))

    def test_refuses_a_renamed_field(self):
        self.refuses("p.Outer, field 6: was count and is number now", ("count = 6", "number = 6"))

    def test_refuses_another_type_or_label(self):
        self.refuses("its type was uint64 and is int64 now", ("uint64 count", "int64 count"))
        self.refuses("its type was p.Inner and is bytes now", ("Inner inner", "bytes inner"))
        self.refuses("its label was singular and is repeated now", ("uint64 count", "repeated uint64 count"))
        self.refuses("its label was repeated and is singular now", ("repeated double q", "double q"))

    def test_refuses_a_field_that_enters_or_leaves_a_oneof(self):
        self.refuses("its oneof was oneof:way and is - now", (" double density = 5; }", " }\n  double density = 5;"))
        self.refuses("its oneof was - and is oneof:way now",
                     ("  uint64 count = 6;\n", ""), ("density = 5; }", "density = 5; uint64 count = 6; }"))

    def test_refuses_a_removed_message(self):
        self.refuses("message p.Inner: is removed", ("message Inner", "message Other"), ("Inner inner", "Other inner"))

    def test_refuses_other_values_of_an_enumeration(self):
        self.refuses("value KIND_TWO = 2 of p.Kind: is removed", (" KIND_TWO = 2;", ""))
        self.refuses("value KIND_TWO = 2 of p.Kind: has the number 3 now", ("KIND_TWO = 2", "KIND_TWO = 3"))
        self.refuses("value p.Kind 2: was KIND_TWO and is KIND_SECOND now", ("KIND_TWO = 2", "KIND_SECOND = 2"))

    def test_refuses_a_reserved_number_that_is_free_again(self):
        self.refuses("p.Outer: number 12 is neither reserved nor a field", ("10 to 12", "10 to 11"))

    def test_refuses_other_options_of_languages(self):
        self.refuses("option go_package: was p and is q now", ('go_package = "p"', 'go_package = "q"'))

    def test_passes_additions_once_they_are_recorded(self):
        added = self.changed(("  uint64 count = 6;", "  uint64 count = 6;\n  bool late = 10;"),
                             ("10 to 12", "11 to 12"),
                             ("KIND_TWO = 2;", "KIND_TWO = 2; KIND_THREE = 3;"),
                             ("double density = 5; }", "double density = 5; Inner body = 7; }"))
        code, said = self.run_on(added)
        self.assertEqual(code, 1)
        self.assertIn("not recorded: field p.Outer 10 late", said)
        self.assertIn("promises, 0 broken", said)
        self.assertEqual(self.run_on(added, "--record")[0], 0)
        self.assertEqual(self.run_on(added)[0], 0)
        self.assertEqual(self.run_on(CONTRACT)[0], 1)


if __name__ == "__main__":
    PROTOC = sys.argv.pop(1)
    unittest.main()
