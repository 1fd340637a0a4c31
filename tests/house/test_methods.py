#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""proto/generate.py refuses an envelope in which a method lacks its role, its result or its messages, and an
enumeration of which the C client does not say how it mirrors it.

    test_methods.py PROTOC_C
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
PROTOC = "protoc-c"


class Methods(unittest.TestCase):
    def generate(self, *changes):
        """The generator's answer to the contract after changes (old, new) of the envelope: exit code and text."""
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            shutil.copytree(PROTO / "dynamics", directory / "dynamics")
            envelope = directory / "dynamics" / "v1" / "envelope.proto"
            text = envelope.read_text(encoding="utf-8")
            for old, new in changes:
                self.assertEqual(text.count(old), 1, f"envelope.proto has {text.count(old)} of {old}")
                text = text.replace(old, new)
            envelope.write_text(text, encoding="utf-8")
            subprocess.run([PROTOC, f"--descriptor_set_out={directory}/set", "--include_imports",
                            "--include_source_info", f"-I{directory}", envelope], check=True)
            run = subprocess.run([sys.executable, "-B", PROTO / "generate.py", f"{directory}/set", "--server",
                                  directory / "server"], capture_output=True, text=True, check=False)
            written = directory / "server" / "methods" / "methods.c"
            return run.returncode, run.stderr + (written.read_text(encoding="utf-8") if written.exists() else "")

    def mirrored(self, old, new):
        """The generator's answer to a change of clients/c/mirrors.txt."""
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            text = (PROTO.parent / "clients" / "c" / "mirrors.txt").read_text(encoding="utf-8")
            self.assertEqual(text.count(old), 1, old)
            (directory / "mirrors.txt").write_text(text.replace(old, new), encoding="utf-8")
            subprocess.run([PROTOC, f"--descriptor_set_out={directory}/set", "--include_imports",
                            "--include_source_info", f"-I{PROTO}", *sorted(PROTO.glob("dynamics/v1/*.proto"))],
                           check=True)
            run = subprocess.run([sys.executable, "-B", PROTO / "generate.py", f"{directory}/set", "--client",
                                  directory, directory / "mirrors.txt"], capture_output=True, text=True, check=False)
            written = directory / "mirrors.c"
            return run.stderr + (written.read_text(encoding="utf-8") if written.exists() else "")

    def test_checks_each_value_that_the_client_mirrors(self):
        text = self.mirrored("Rates  ", "Rates  ")
        self.assertIn("_Static_assert((int)DYN_CLIENT_RATES_CENTRAL == "
                      '(int)DYNAMICS__V1__RATES__RATES_CENTRAL, "RATES_CENTRAL");', text)
        self.assertIn("(int)DYN_CLIENT_COMPILATION_WAITS == ", text)
        self.assertNotIn("ROLLOUT_RESULT", text)

    def test_refuses_an_enumeration_of_which_nothing_is_said(self):
        self.assertEqual("clients/c/mirrors.txt: Rates has no row\n"
                         "clients/c/mirrors.txt: there is no enumeration Ratio\n",
                         self.mirrored("Rates  ", "Ratio  "))

    def refuses(self, expected, *changes):
        code, text = self.generate(*changes)
        self.assertEqual(code, 1, text)
        self.assertIn(expected, text)

    def test_writes_a_row_for_each_method(self):
        code, text = self.generate()
        self.assertEqual(code, 0, text)
        self.assertIn('[97] = {.name = "step_simulation"', text)
        self.assertIn(".prepare = method_prepare_load_model", text)
        self.assertIn("c->reply.step_simulation = reply;", text)

    def test_refuses_a_method_without_role(self):
        self.refuses("Request.explain: the comment behind it must begin with one of reader, user",
                     ("explain = 57;  // reader\n", "explain = 57;\n"))
        self.refuses('not "reads"', ("explain = 57;  // reader\n", "explain = 57;  // reads\n"))

    def test_refuses_an_unknown_property(self):
        self.refuses('Request.explain: "fast" is no property; there are slow, changes state',
                     ("explain = 57;  // reader\n", "explain = 57;  // reader; slow, fast\n"))

    def test_refuses_a_method_without_result(self):
        self.refuses("Request.kinematics: Reply.result needs kinematics = 64",
                     ("    KinematicsReply kinematics = 64;\n", ""))
        self.refuses("Request.kinematics: Reply.result needs kinematics = 64",
                     ("KinematicsReply kinematics = 64;", "KinematicsReply kinematics = 65;"))

    def test_refuses_a_result_without_method(self):
        self.refuses("Reply.explain: Request.method has no such member",
                     ("    ExplainRequest explain = 57;  // reader\n", ""))

    def test_refuses_messages_of_another_name(self):
        self.refuses("its messages must be dynamics.v1.KinematicsRequest and dynamics.v1.KinematicsReply",
                     ("    KinematicsReply kinematics = 64;", "    GravityReply kinematics = 64;"))

    def test_refuses_a_job_that_lacks_a_method_or_has_another_one(self):
        self.refuses("StartJobRequest.method explain: it needs dynamics.v1.ExplainRequest under the number 57",
                     ("explain = 57;  // reader\n", "explain = 57;  // reader; as job\n"))
        self.refuses("GetJobResultReply.result kinematics: it needs no such member",
                     ("kinematics = 64;  // reader; as job\n", "kinematics = 64;  // reader\n"))


if __name__ == "__main__":
    PROTOC = sys.argv.pop(1)
    unittest.main()
