#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The installed Python module rosbridge_client, and its example in deploy/doc/ros.md."""
import pathlib
import queue
import re
import subprocess
import sys
import unittest

import fixture

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODULES = ROOT / "clients/rosbridge/ros"
sys.path.insert(0, str(MODULES))
from rosbridge_client import Failed, RosbridgeClient  # noqa: E402


class PythonClient(fixture.Case):
    def connect(self, **options):
        client = RosbridgeClient(f"ws://127.0.0.1:{self.gateway.port}", **options)
        self.addCleanup(client.close)
        return client

    def test_the_example_of_the_document_runs(self):
        example = re.search(r"^```python\n(.*?)^```$", (ROOT / "deploy/doc/ros.md").read_text(), re.S | re.M)[1]
        self.assertIn(":9090", example)
        done = subprocess.run([sys.executable, "-c", example.replace(":9090", f":{self.gateway.port}")], text=True,
                              capture_output=True, check=False, cwd=MODULES, timeout=fixture.WAIT)
        tau = self.daemon.call("inverse_dynamics", {"query": {"model": "two_link"}, "q": [0.1, 0.2]})["tau"]
        lines = done.stdout.splitlines()
        self.assertEqual((done.returncode, done.stderr, lines[0]), (0, "", str(tau[::-1])))
        self.assertRegex(lines[1], '^args.query.model: there is no model "two_links"; did you mean "two_link"')

    def test_topics_reach_the_callback_until_they_are_left(self):
        client, heard = self.connect(), queue.Queue()
        client.subscribe("/diagnostics", "diagnostic_msgs/DiagnosticArray", heard.put)
        self.assertIn("status", heard.get(timeout=fixture.WAIT))
        client.unsubscribe("/diagnostics")
        client.call("/rosapi/get_time", {})

    def test_goals_have_feedback_and_are_cancelled(self):
        client, progress = self.connect(), queue.Queue()
        goal = client.start("/dynamics/rollout", "dynamics_msgs/Rollout", {
            "query": {"model": "panda"}, "q": [0.1] * 7 * 50, "steps": 200000, "only_last": True}, progress.put)
        self.assertIn("fraction", progress.get(timeout=fixture.WAIT))
        goal.cancel()
        self.assertRegex(str(goal.result.exception(fixture.WAIT)), "CANCELLED")

    def test_errors_of_messages_reach_on_status(self):
        errors = queue.Queue()
        self.connect(on_status=errors.put).send("publish", topic="/nobody", msg={})
        self.assertIn("/nobody", errors.get(timeout=fixture.WAIT))

    def test_calls_after_the_end_fail_at_once(self):
        client = self.connect()
        client.close()
        with self.assertRaises(OSError):
            client.call("/rosapi/get_time", {})
        with self.assertRaises(Failed):
            self.connect().call("/dynamics/gravity", {"query": {"model": "none"}, "q": [1]})


if __name__ == "__main__":
    unittest.main()
