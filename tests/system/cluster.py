#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""deploy/cluster: it starts daemons at a NATS server, computes a batch with all of them, and leaves nothing behind.

Usage: cluster.py SCRIPT. The environment names the directory of the programs, DYNAMICS_BIN.
"""
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

WAIT = 60
SCRIPT = sys.argv.pop()


def directories():
    return set(pathlib.Path("/tmp").glob("dynamicsd-cluster-*"))


def processes(directory):
    """The command lines of the processes that work in the directory."""
    lines = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_bytes())
        except OSError:
            pass  # It has ended.
    return [line for line in lines if str(directory).encode() in line]


class Cluster(unittest.TestCase):
    def setUp(self):
        self.before = directories()

    def test_a_batch_is_shared_by_all_daemons(self):
        done = subprocess.run([SCRIPT, "3"], text=True, capture_output=True, check=False, timeout=4 * WAIT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ur5: loaded, 8 links", done.stdout)
        self.assertIn("a batch of 20000 states: 3 daemons and one return the same bits", done.stdout)
        counts = dict(re.findall(r"(replica-\d): (\d+) requests", done.stdout))
        self.assertEqual(sorted(counts), ["replica-1", "replica-2", "replica-3"])
        self.assertGreater(min(map(int, counts.values())), 0, counts)
        self.assertEqual(directories(), self.before)

    def test_a_signal_ends_the_daemons_and_the_server(self):
        script = subprocess.Popen([SCRIPT, "2"], text=True, stdout=subprocess.PIPE)
        while "daemons, each" not in script.stdout.readline():
            self.assertIsNone(script.poll())
        directory, = directories() - self.before
        self.assertEqual(len([line for line in processes(directory) if b"dynamicsd\0" in line]), 2)
        script.send_signal(signal.SIGTERM)
        script.communicate(timeout=WAIT)
        self.assertEqual(script.returncode, 1)
        self.assertEqual(directories(), self.before)
        until = time.monotonic() + WAIT
        while processes(directory) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(processes(directory), [])

    def test_a_wrong_count_is_refused(self):
        for count in ("0", "17", "many"):
            done = subprocess.run([SCRIPT, count], text=True, capture_output=True, check=False, timeout=WAIT)
            self.assertEqual(done.returncode, 2)
            self.assertIn("COUNT from 1 to 16", done.stderr)


if __name__ == "__main__":
    unittest.main()
