#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The daemon's pages for monitoring programs, read by another HTTP client, count what another client has sent."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import client as support
import sp

SETTINGS = {"observe": {"listen": "tcp://127.0.0.1:0"}, "limits": {"request_time": 300, "samples": 5000},
            "server": {"drain_time": 300}}
NUMBER = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def parse(text):
    """The numbers of a page: {name: {labels as a sorted tuple: value}}. Refuses what Prometheus would refuse."""
    numbers, described, family = {}, {}, None
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in described, f"{family} is described twice"
            described[family] = kind
        elif not line.startswith("# HELP "):
            name, labels, value = NUMBER.match(line).groups()
            base = re.sub("_(bucket|sum|count)$", "", name) if described[family] == "histogram" else name
            assert base == family, f"{name} stands among the numbers of {family}"
            key = tuple(sorted(LABEL.findall(labels or "")))
            assert key not in numbers.setdefault(name, {}), f"{name}{key} is written twice"
            numbers[name][key] = float(value)
    return numbers


class Observation(unittest.TestCase):
    """One daemon for each test, so that its counts begin at 0."""

    @classmethod
    def setUpClass(cls):
        cls.envelope, _, _ = support.compile_contract(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def setUp(self):
        self.daemon = support.Daemon(SETTINGS)
        self.addCleanup(self.daemon.stop)
        self.client = support.Client(self.envelope, self.daemon.request)
        self.addCleanup(self.client.close)
        log = self.wait_for_start(self.daemon)
        self.url = re.search(r"metrics at (http://127\.0\.0\.1:\d+)/metrics", log).group(1)
        self.port = int(self.url.rpartition(":")[2])

    def wait_for_start(self, daemon):
        """The daemon's log, once it is ready."""
        self.wait_for(True, lambda: "is ready" in (daemon.directory / "log").read_text())
        return (daemon.directory / "log").read_text()

    def page(self, path):
        """Status and text of a page."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=sp.WAIT) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def numbers(self):
        status, text = self.page("/metrics")
        self.assertEqual(status, 200)
        return parse(text)

    def value(self, name, **labels):
        return self.numbers()[name][tuple(sorted(labels.items()))]

    def wait_for(self, expected, read):
        until = time.monotonic() + sp.WAIT
        while (last := read()) != expected and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual(last, expected)

    def test_limits_of_fast_channels_are_stated(self):
        stated = self.client.call("get_server_info").limits
        for name in ("fast_channels", "fast_peer_channels", "fast_channel_bytes"):
            self.assertGreater(getattr(stated, name), 0)
            self.assertEqual(self.value("dynamicsd_limit", limit=name), getattr(stated, name))

    def test_requests_are_counted_by_method_and_code(self):
        sent, received = 0, 0
        for states in (1, 3, 2000):
            request = self.client.make("inverse_dynamics", {"query": {"model": "two_link"}, "q": [0.1] * 2 * states})
            self.client.send(request)
            sent += request.ByteSize()
            received += self.client.reply.ByteSize()
        with self.assertRaises(support.Refused):
            self.client.call("inverse_dynamics", query={"model": "nothing"}, q=[0, 0])
        with self.assertRaises(support.Refused):
            self.client.call("inverse_dynamics", query={"model": "two_link"}, q=[0] * 2 * 5001)
        numbers = self.numbers()
        totals, method = numbers["dynamicsd_requests_total"], ("method", "inverse_dynamics")
        counted = {dict(key)["code"]: value for key, value in totals.items() if method in key}
        self.assertEqual(counted, {"OK": 3, "NOT_FOUND": 1, "RESOURCE_EXHAUSTED": 1})
        self.assertEqual({dict(key)["role"] for key in totals if method in key}, {"reader"})
        self.assertEqual(numbers["dynamicsd_request_samples_total"][(method,)], 2004)
        self.assertGreaterEqual(numbers["dynamicsd_request_bytes_total"][(method,)], sent + 2 * 5001)
        self.assertGreaterEqual(numbers["dynamicsd_reply_bytes_total"][(method,)], received)
        self.assertEqual(sum(value for key, value in totals.items() if method not in key), 0)

    def test_bytes_are_those_of_the_messages(self):
        request = self.client.make("inverse_dynamics", {"query": {"model": "two_link"}, "q": [0.1, 0.2]})
        self.client.send(request)
        self.assertEqual(self.value("dynamicsd_request_bytes_total", method="inverse_dynamics"), request.ByteSize())
        self.assertEqual(self.value("dynamicsd_reply_bytes_total", method="inverse_dynamics"),
                         self.client.reply.ByteSize())

    def test_times_form_a_histogram(self):
        began = time.monotonic()
        for _ in range(20):
            self.client.call("mass_matrix", query={"model": "ur5"}, q=[0.1] * 6)
        self.client.call("evaluate", query={"model": "ur5"}, q=[0.1] * 6 * 5000,
                         quantities=[{"quantity": "QUANTITY_MASS_MATRIX"}])
        passed = time.monotonic() - began
        numbers = self.numbers()
        for method, count in (("mass_matrix", 20), ("evaluate", 1)):
            buckets = [(float(dict(key)["le"]), value)
                       for key, value in numbers["dynamicsd_request_seconds_bucket"].items()
                       if ("method", method) in key]
            self.assertEqual(buckets, sorted(buckets))
            self.assertEqual([value for _, value in buckets], sorted(value for _, value in buckets))
            self.assertEqual(buckets[-1], (float("inf"), count))
            self.assertEqual(numbers["dynamicsd_request_seconds_count"][(("method", method),)], count)
            total = numbers["dynamicsd_request_seconds_sum"][(("method", method),)]
            self.assertTrue(0 < total < passed, f"{count} of {method} took {total} of {passed} s")
        self.assertNotIn((("method", "jacobian"),), numbers["dynamicsd_request_seconds_count"])

    def test_malformed_requests_count_without_a_method(self):
        self.client.requester.ask(b"\xff\xff\xff")
        self.client.requester.ask(b"")
        self.assertEqual(self.value("dynamicsd_requests_total", method="none", role="none", code="INVALID_ARGUMENT"), 2)

    def test_objects_are_counted(self):
        self.client.call("get_health")
        numbers = self.numbers()
        models = numbers["dynamicsd_models"][()]
        self.assertEqual(sum(numbers["dynamicsd_model_compilations"].values()), models)
        # The connection that found the daemon ready may be open still.
        self.wait_for(1, lambda: self.value("dynamicsd_connections"))
        self.client.call("create_simulation", name="one", query={"model": "two_link"})
        self.client.call("watch_simulation", simulation="one")
        self.client.call("open_stream", name="two", query={"model": "two_link"}, feedforward={})
        self.client.call("start_job", job="three", inverse_dynamics={"query": {"model": "two_link"}, "q": [0, 0]})
        numbers = self.numbers()
        for name in ("simulations", "streams", "topics", "jobs"):
            self.assertEqual(numbers[f"dynamicsd_{name}"][()], 1, name)
        other = support.Client(self.envelope, self.daemon.request)
        other.call("get_health")
        self.wait_for(2, lambda: self.value("dynamicsd_connections"))
        # Both are of the daemon's own user.
        by_role = "dynamicsd_connections_by_role"
        self.wait_for(2, lambda: self.value(by_role, role="administrator"))
        self.assertEqual(sum(self.numbers()[by_role].values()), 2)
        other.close()
        self.wait_for(1, lambda: self.value("dynamicsd_connections"))
        self.wait_for(1, lambda: self.value(by_role, role="administrator"))
        self.client.call("unload_model", model="two_link")
        self.assertEqual(self.value("dynamicsd_models"), models - 1)

    def test_overruns_are_counted(self):
        made = self.client.call("create_simulation", name="fast", query={"model": "quadruped"},
                                stepping={"step_length": 1e-5}, pace="PACE_CLOCK", rate=1000)
        self.wait_for(True, lambda: self.value("dynamicsd_simulation_overruns_total") > 0)
        before = self.value("dynamicsd_simulation_overruns_total")
        self.client.call("delete_simulation", simulation="fast", token=made.token)
        self.assertGreaterEqual(self.value("dynamicsd_simulation_overruns_total"), before)

    def test_process_is_measured(self):
        numbers = self.numbers()
        status = dict(line.split(":", 1) for line in
                      open(f"/proc/{self.daemon.process.pid}/status", encoding="ascii").read().splitlines())
        resident = int(status["VmRSS"].split()[0]) * 1024
        self.assertTrue(0.5 < numbers["process_resident_memory_bytes"][()] / resident < 2)
        # The self-probe opens and closes both ends of up to six connections, which a busy machine delays.
        directory = f"/proc/{self.daemon.process.pid}/fd"
        self.wait_for(True, lambda: abs(self.numbers()["process_open_fds"][()] - len(os.listdir(directory))) < 16)
        self.assertLess(abs(time.time() - numbers["process_start_time_seconds"][()]), 60)

    def test_health_is_that_of_the_protocol(self):
        self.wait_for(200, lambda: self.page("/readyz")[0])
        status, text = self.page("/healthz")
        self.assertEqual(status, 200)
        names = [component.name for component in self.client.call("get_health").components]
        self.assertEqual([line.rpartition(": ")[0] for line in text.splitlines()], names)
        numbers = self.numbers()["dynamicsd_component_state"]
        for name in names:
            self.assertEqual(numbers[(("component", name), ("state", "serving"))], 1, name)
            self.assertEqual(sum(value for key, value in numbers.items() if ("component", name) in key), 1)

    def test_a_stopping_daemon_is_well_but_not_ready(self):
        self.wait_for(200, lambda: self.page("/readyz")[0])
        slow = support.Client(self.envelope, self.daemon.request)
        self.addCleanup(slow.close)
        rollout = {"query": {"model": "quadruped"}, "q": [0] * 12, "stepping": {"step_length": 1e-6}, "only_last": True}
        # As many steps as take three seconds here: sanitizers are slow.
        began, few = time.monotonic(), 20000
        slow.call("rollout", **rollout, steps=few)
        steps = min(int(3 * few / (time.monotonic() - began)), 3000000)
        request = slow.make("rollout", {**rollout, "steps": steps})
        slow.requester.send(struct.pack(">I", 0x80000001) + request.SerializeToString())
        # The daemon's own probe is under way for an instant only.
        self.wait_for(True, lambda: all(self.value("dynamicsd_requests_under_way") > 0 for _ in range(20)))
        self.daemon.process.terminate()
        self.wait_for(503, lambda: self.page("/readyz")[0])
        self.assertIn("the daemon is stopping", self.page("/readyz")[1])
        self.assertEqual(self.page("/healthz")[0], 200)
        reply = self.envelope.Reply.FromString(slow.requester.receive()[4:])
        self.assertEqual(reply.status.code, 0, reply.status.message)

    def test_other_paths_and_methods_are_refused(self):
        self.assertEqual(self.page("/")[0], 200)
        self.assertEqual(self.page("/metrics?a=b")[0], 200)
        for path in ("/metrics/", "/etc/passwd", "/../metrics", "/%2e"):
            self.assertEqual(self.page(path)[0], 404, path)
        for method, status in (("POST", 405), ("DELETE", 405), ("HEAD", 200)):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=sp.WAIT)
            connection.request(method, "/metrics")
            answer = connection.getresponse()
            self.assertEqual(answer.status, status)
            self.assertEqual(method == "HEAD", answer.read() == b"")
            connection.close()

    def test_hostile_clients_do_not_hold_up_others(self):
        for data in (b"", b"\0" * 100, b"GET\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n", b"GET / HTTP/9\r\n\r\n",
                     b"GET /" + b"x" * 9000, b"\x16\x03\x01\r\n\r\n", b"GET /metrics HTTP/1.1\r\n\r\n" * 50):
            with socket.create_connection(("127.0.0.1", self.port), timeout=sp.WAIT) as sock:
                sock.sendall(data)
        idle = [socket.create_connection(("127.0.0.1", self.port), timeout=sp.WAIT) for _ in range(200)]
        for sock in idle:
            sock.send(b"GET /metrics HT")
        began = time.monotonic()
        self.assertEqual(self.page("/metrics")[0], 200)
        self.assertLess(time.monotonic() - began, 5)
        self.assertLess(self.value("process_open_fds"), 100)
        for sock in idle:
            sock.close()
        self.client.call("get_health")

    def test_slow_clients_are_disconnected(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as sock:
            sock.send(b"GET /metrics")
            self.assertEqual(sock.recv(1), b"")

    def audit(self):
        """The fields of the audit's lines so far: dictionaries, in their order."""
        fields = re.compile(r'([a-z_]+)=(?:"((?:[^"\\]|\\.)*)"|(\S+))')
        lines = (self.daemon.directory / "log").read_text().splitlines()
        return [{name: quoted or plain for name, quoted, plain in fields.findall(line)}
                for line in lines if " audit method=" in line]

    def test_changes_are_audited(self):
        urdf, other = ((pathlib.Path(os.environ["ROBOTS"]) / f"{name}.urdf").read_text(encoding="utf-8")
                       for name in ("two_link", "ur5"))
        self.client.call("load_model", name="mine", urdf=urdf)
        self.client.call("load_model", name="mine", urdf=urdf)
        self.client.call("load_model", name="mine", urdf=other, replace=True)
        made = self.client.call("create_simulation", query={"model": "mine"})
        owned = {"simulation": made.simulation.name, "token": made.token}
        for _ in range(20):
            self.client.call("step_simulation", **owned, steps=1)
        for _ in range(3):
            with self.assertRaises(support.Refused):
                self.client.call("step_simulation", simulation=owned["simulation"], token=made.token + 1, steps=1)
        self.client.call("delete_simulation", **owned)
        self.client.call("unload_model", model="mine")
        with self.assertRaises(support.Refused):
            self.client.call("unload_model", model="mine")
        self.client.call("inverse_dynamics", query={"model": "ur5"}, q=[0] * 6)
        self.daemon.process.send_signal(signal.SIGHUP)
        self.wait_for(True, lambda: self.audit()[-1]["method"] == "reload")
        lines = self.audit()
        peer = f"uid {os.getuid()} pid {os.getpid()}"
        self.assertEqual({line["peer"] for line in lines[:-1]}, {peer})
        self.assertEqual([(line["method"], line["object"], line["outcome"], line.get("code")) for line in lines], [
            ("load_model", "mine", "loaded", "OK"), ("load_model", "mine", "present", "OK"),
            ("load_model", "mine", "replaced", "OK"), ("create_simulation", owned["simulation"], "done", "OK"),
            ("step_simulation", owned["simulation"], "done", "OK"),
            ("step_simulation", owned["simulation"], "denied", "PERMISSION_DENIED"),
            ("delete_simulation", owned["simulation"], "done", "OK"), ("unload_model", "mine", "unloaded", "OK"),
            ("unload_model", "mine", "refused", "NOT_FOUND"),
            ("reload", str(self.daemon.directory / "dynamicsd.conf"), "done", None)])
        self.client.close()
        self.daemon.end()
        more = {line["outcome"]: int(line["more"]) for line in self.audit() if "more" in line}
        self.assertEqual(more, {"done": 19, "denied": 2})
        self.daemon.begin()

    def test_a_repeated_request_is_audited_once(self):
        request = self.client.make("unload_model", {"model": "two_link"})
        for _ in range(3):
            self.client.requester.ask(request.SerializeToString())
        self.assertEqual([(line["method"], line["outcome"]) for line in self.audit()], [("unload_model", "unloaded")])

    def test_promtool_accepts_the_page(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool (Debian: prometheus) is not installed")
        self.client.call("get_health")
        subprocess.run(["promtool", "check", "metrics"], input=self.page("/metrics")[1], text=True, check=True)

    def expressions(self):
        """The expressions of the alerts and of the dashboard."""
        monitoring = pathlib.Path(os.environ["ROBOTS"]).parent / "monitoring"
        rules = (monitoring / "alerts.yml").read_text(encoding="utf-8")
        dashboard = json.loads((monitoring / "dashboard.json").read_text(encoding="utf-8"))
        found = re.findall(r"expr: (.*(?:\n {10}.*)*)", rules)
        found += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        self.assertGreater(len(found), 40)
        return found

    def test_alerts_and_the_dashboard_name_numbers_of_the_page(self):
        self.client.call("get_health")
        numbers = self.numbers()
        labels = {name: {label for key in values for label, _ in key} for name, values in numbers.items()}
        for expression in self.expressions():
            for name, matchers in re.findall(r"\b((?:dynamicsd|process)_[a-z_]+)(?:\{(.*?)\})?", expression):
                self.assertIn(name, numbers, expression)
                self.assertLessEqual(set(re.findall(r"([a-z_]+)[!=]~?=?\"", matchers)),
                                     labels[name] | {"instance", "job"}, expression)

    def test_alerts_fire(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool (Debian: prometheus) is not installed")
        monitoring = pathlib.Path(os.environ["ROBOTS"]).parent / "monitoring"
        for arguments in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"],
                          ["check", "config", "prometheus.yml"]):
            done = subprocess.run(["promtool", *arguments], cwd=monitoring, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_start_does_not_change(self):
        before = self.value("process_start_time_seconds")
        time.sleep(0.05)
        self.assertEqual(self.value("process_start_time_seconds"), before)

    def test_without_an_address_nothing_listens(self):
        daemon = support.Daemon()
        self.addCleanup(daemon.stop)
        self.assertNotIn("/metrics", self.wait_for_start(daemon))


if __name__ == "__main__":
    unittest.main(verbosity=2)
