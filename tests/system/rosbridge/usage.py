#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The command line and the configuration: their help and their errors."""
import configparser
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["DYNAMICS_ROSBRIDGE"]
EXAMPLE = pathlib.Path(__file__).parents[3] / "deploy/rosbridge.conf"


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], text=True, capture_output=True, check=False, timeout=60)


class Usage(unittest.TestCase):
    def test_help_and_example_state_the_same_keys_and_defaults(self):
        shown = run("--help")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        reply, section = {}, None
        for line in shown.stdout.split("\nConfiguration\n")[1].split("\nSignals\n")[0].splitlines():
            if heading := re.fullmatch(r"  \[(\w+)\]", line):
                section = heading[1]
            elif key := re.fullmatch(r"  (\w+) =(.*)", line):
                reply[section, key[1]] = key[2].strip()
        example = configparser.ConfigParser(interpolation=None)
        example.read(EXAMPLE)
        self.assertGreater(len(reply), 30)
        self.assertEqual(reply, {(name, key): value for name in example.sections()
                                for key, value in example[name].items()})

    def test_help_is_readable(self):
        shown = run("--help").stdout
        self.assertEqual([line for line in shown.splitlines() if len(line) > 120 or line != line.rstrip()], [])
        for part in ("Options", "Services", "Topics", "Actions", "Answers", "Access", "Configuration", "Signals",
                     "Exit status", "Files", "Examples", "1008", "/dynamics/check_health", "/diagnostics"):
            self.assertIn(part, shown)

    def test_command_lines_that_are_wrong_are_reported(self):
        for arguments, reason in (
                (["--nonsense"], "Try dynamics-rosbridge --help"), (["here"], 'unexpected argument "here"'),
                (["--set", "limits"], "pass SECTION.KEY=VALUE"),
                (["--set", "limits.nothing=1"], 'unknown key "nothing" in [limits]'),
                (["--set", "server.calls=1"], 'the key "calls" belongs to the section [limits], not to [server]'),
                (["--set", "limits.calls=many"], "calls = many: set a whole number from 1 to 100000"),
                (["--set", "limits.calls=1.5"], "calls = 1.5: set a whole number"),
                (["--set", "limits.call_time=0"], "call_time = 0: set a time in seconds from 0.01 to 86400"),
                (["--endpoint", "dynamicsd.sock"],
                 "request = dynamicsd.sock: set ipc:///absolute/path, tcp://host:port, tls+tcp://host:port?ca=FILE or "
                 "nats://host:port"),
                (["--events", "tcp://localhost"], "events = tcp://localhost: set ipc:///"),
                (["--set", "limits.ping_interval=nan"], "ping_interval = nan: set a time"),
                (["--set", "limits.ping_timeout=60000"],
                 "ping_timeout = 60000: set a time in seconds from 1 to 30000"),
                (["--set", "log.verbose=maybe"], "verbose = maybe: set yes or no"),
                (["--set", "server.key=cert.pem"], "key = cert.pem: set an absolute path"),
                (["--set", "server.key=/k.pem"], "set both certificate and key"),
                (["--set", "server.origins=evil"], 'origins: "evil": set'),
                (["--set", "server.origins=nul"], 'origins: "nul": set'),
                (["--set", "server.origins=null httpx://a"], 'origins: "httpx://a": set'),
                (["--set", "server.origins=http://"], 'origins: "http://": set'),
                (["--set", "server.token_file=/no/such"], "token_file: the first line of /no/such"),
                (["--set", "server.address="], "there is nothing to do"),
                (["--dial", "http://x"], "url = http://x: set ws://"), (["--port", "70000"], "port = 70000"),
                (["--config", "/no/such"], "/no/such cannot be read")):
            done = run("--check-config", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(reason, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_file_that_is_wrong_is_reported_by_its_line(self):
        for text, reason in (("[limits]\ncalls = 0\n", ":2: calls = 0: set"), ("[limits]\n\nnonsense\n", ":3: "),
                             ("[odd]\nx = 1\n", ':2: unknown key "x" in [odd]')):
            with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
                file.write(text)
                file.flush()
                done = run("--check-config", "--config", file.name)
                self.assertEqual(done.returncode, 2)
                self.assertIn(file.name + reason, done.stderr)

    def test_what_cannot_be_listened_to_ends_it(self):
        done = run("--endpoint", "ipc:///nowhere", "--events", "nonsense", "--port", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("events = nonsense: set ipc:///absolute/path, tcp://host:port or tls+tcp://host:port?ca=FILE",
                      done.stderr)
        done = run("--port", "0", "--set", "server.address=192.0.2.1", "--events", "ipc:///tmp/nowhere")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot listen at 192.0.2.1", done.stderr)


if __name__ == "__main__":
    unittest.main()
