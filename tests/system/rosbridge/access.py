#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Access of clients to the gateway: origins, token, TLS, limits, slow readers, silence."""
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import fixture
import websocket

TWO_LINK = {"model": "two_link"}
PANDA = {"model": "panda"}

# TLS, and a token of which the test writes the hash.
SECURE = """request = tls+tcp://127.0.0.1:0
events = tls+tcp://127.0.0.1:0
[tls]
certificate_file = {directory}/certificate.pem
key_file = {directory}/key.pem
[access]
tokens = {directory}/tokens
"""


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = fixture.Daemon()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0

    def gateway(self, **keys):
        started = fixture.Gateway(self.daemon, **keys)
        self.addCleanup(lambda: self.assertEqual(started.stop(), 0))
        return started

    def client(self, gateway, **options):
        opened = gateway.connect(**options)
        self.addCleanup(opened.close)
        return opened

    def refused(self, gateway, status, **options):
        """The handshake is answered with this status of HTTP."""
        with self.assertRaises(websocket.Refused) as raised:
            gateway.connect(**options)
        self.assertEqual(raised.exception.status, status)

    def closed(self, client, code, reason):
        """The connection ends with a close frame of this code and reason; what comes before it is left out."""
        with self.assertRaises(websocket.Closed) as raised:
            while True:
                client.receive()
        self.assertEqual(raised.exception.code, code, raised.exception)
        self.assertIn(reason, raised.exception.reason)

    def test_pages_of_other_origins_are_refused(self):
        gateway = self.gateway()
        for origin in ("http://localhost", "http://localhost:8080", "http://127.0.0.1:1"):
            self.client(gateway, headers={"Origin": origin}).synchronize()
        for origin in ("http://evil.example", "http://localhost.evil.example", "http://localhost:1.evil.example",
                       "https://localhost", "null"):
            self.refused(gateway, 403, headers={"Origin": origin})
        other = self.gateway(server__origins="https://robots.example:444 null")
        self.client(other, headers={"Origin": "https://robots.example:444"}).synchronize()
        self.client(other, headers={"Origin": "null"}).synchronize()
        self.refused(other, 403, headers={"Origin": "https://robots.example"})

    def test_an_empty_origin_is_refused(self):
        """A missing header means that no browser asks; an empty one is a page of no origin that is listed."""
        gateway = self.gateway()
        self.client(gateway).synchronize()
        for origin in ("", " "):
            self.refused(gateway, 403, headers={"Origin": origin})
        with_files = self.gateway(server__origins="null")
        self.client(with_files, headers={"Origin": "null"}).synchronize()
        self.refused(with_files, 403, headers={"Origin": ""})
        with_all = self.gateway(server__origins="*")
        self.client(with_all, headers={"Origin": ""}).synchronize()

    def test_it_listens_on_the_loopback_interface_alone(self):
        gateway = self.gateway()
        listeners = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()
                     if line.split()[1].endswith(f":{gateway.port:04X}") and line.split()[3] == "0A"]
        self.assertEqual(listeners, [f"0100007F:{gateway.port:04X}"])

    def test_a_token_is_asked_for(self):
        file = pathlib.Path(self.daemon.directory, "token")
        file.write_text("0123456789abcdefgh\n")
        gateway = self.gateway(server__token_file=file)
        self.client(gateway, path="/?token=0123456789abcdefgh").synchronize()
        self.client(gateway, headers={"Authorization": "Bearer 0123456789abcdefgh"}).synchronize()
        for options in ({}, {"path": "/?token=0123456789abcdefg"}, {"path": "/?token="},
                        {"headers": {"Authorization": "0123456789abcdefgh"}},
                        {"headers": {"Authorization": "Bearer "}},
                        {"headers": {"Authorization": "Bearer 0123456789abcdefgh0"}}):
            self.refused(gateway, 401, **options)

    def test_a_page_without_the_token_is_reported_by_a_close_frame(self):
        """Browsers do not show a page the status of HTTP."""
        file = pathlib.Path(self.daemon.directory, "token")
        file.write_text("0123456789abcdefgh\n")
        gateway = self.gateway(server__token_file=file)
        page = {"Origin": "http://localhost"}
        self.client(gateway, path="/?token=0123456789abcdefgh", headers=page).synchronize()
        late = self.client(gateway, path="/?token=wrong", headers=page)
        late.send("call_service", service="/dynamics/list_models")
        self.closed(late, 1008, "a token is needed")
        self.refused(gateway, 403, path="/?token=0123456789abcdefgh", headers={"Origin": "http://evil.example"})

    def test_tls(self):
        key, certificate = (pathlib.Path(self.daemon.directory, name) for name in ("key.pem", "certificate.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                       check=True, capture_output=True)
        gateway = self.gateway(server__certificate=certificate, server__key=key)
        context = ssl.create_default_context(cafile=certificate)
        wrap = lambda sock: context.wrap_socket(sock, server_hostname="localhost")
        self.client(gateway, wrap=wrap).synchronize()
        with self.assertRaises((websocket.Closed, websocket.Refused, OSError)):
            gateway.connect()

    def test_the_daemon_is_reached_over_tls_with_a_token(self):
        class Secure(fixture.Daemon):
            """Makes the files before the daemon starts."""

            def __init__(self):
                super().__init__(keeps_state=True, configuration=SECURE)

            def prepare(self):
                key, certificate = (pathlib.Path(self.directory, name) for name in ("key.pem", "certificate.pem"))
                subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
                                certificate, "-days", "2", "-subj", "/CN=localhost"], check=True, capture_output=True)
                key.chmod(0o600)
                pathlib.Path(self.directory, "token").write_text("gate-way-token\n")
                digest = hashlib.sha256(b"gate-way-token").hexdigest()
                tokens = pathlib.Path(self.directory, "tokens")
                tokens.write_text(f"gateway reader {digest}\n")
                tokens.chmod(0o600)

        daemon = Secure()
        self.addCleanup(daemon.stop)
        endpoints = json.loads(daemon.control("info", "--json").stdout)["endpoints"]
        address = {each["kind"]: each["address"] for each in endpoints if each["address"].startswith("tls+tcp:")}
        settings = f"?ca={daemon.directory}/certificate.pem&name=localhost"
        gateway = fixture.Gateway(daemon, daemon__request=address["request"] + settings,
                                  daemon__events=address["events"], daemon__token_file=f"{daemon.directory}/token")
        self.addCleanup(lambda: self.assertEqual(gateway.stop(), 0))
        client = self.client(gateway)
        self.assertEqual(client.values("/dynamics/get_server_info")["caller"], "token:gateway")
        self.assertIn("load_model needs the role user, and token:gateway has reader",
                      str(client.refusal("/dynamics/load_model", {"description": {"name": "new"}})))
        client.send("subscribe", topic="/dynamics/models")
        client.synchronize()
        time.sleep(1)
        self.assertEqual(daemon.control("unload", "two_link").returncode, 0)
        event = client.receive("publish")
        self.assertEqual(event["topic"], "/dynamics/models")

    def test_connections_are_bounded(self):
        gateway = self.gateway(limits__connections=2)
        first = self.client(gateway)
        second = self.client(gateway)
        second.synchronize()
        self.refused(gateway, 503)
        self.closed(self.client(gateway, headers={"Origin": "http://localhost"}), 1013, "limits.connections")
        second.synchronize()
        first.close()
        fixture.wait_for(lambda: self.try_connect(gateway), "a connection is free again")

    def try_connect(self, gateway):
        try:
            gateway.connect().close()
            return True
        except (websocket.Refused, websocket.Closed):
            return False

    def test_a_slow_reader_loses_the_oldest_data_and_is_notified_how_much(self):
        gateway = self.gateway(limits__data_bytes=65536)
        writer, slow, other = self.client(gateway), self.client(gateway, buffer_size=4096), self.client(gateway)
        writer.send("advertise", topic="/big", type="std_msgs/String")
        slow.send("subscribe", topic="/big")
        slow.synchronize()
        count = 2000
        began = time.monotonic()
        for number in range(count):
            writer.send("publish", topic="/big", msg={"data": f"{number}:" + "x" * 8000})
            if number % 100 == 0:
                other.synchronize()
        writer.synchronize()
        self.assertLess(time.monotonic() - began, fixture.WAIT)
        numbers, lost, episodes = [], 0, 0
        while len(numbers) + lost < count:
            message = slow.receive()
            if message["op"] == "status":
                self.assertEqual(message["level"], "warning")
                lost, episodes = lost + int(message["msg"].split()[0]), episodes + 1
            else:
                numbers.append(int(message["msg"]["data"].split(":")[0]))
        self.assertEqual(numbers, sorted(numbers))
        self.assertEqual(numbers[-1], count - 1)
        self.assertGreater(lost, count / 2)
        self.assertLess(episodes, count / 100)

    def test_who_does_not_read_answers_is_cut(self):
        for limits, listens in (({"limits__control_bytes": 65536}, False), ({"limits__control_messages": 16}, True)):
            gateway = self.gateway(**limits)
            deaf, other = self.client(gateway, buffer_size=4096), self.client(gateway)
            try:
                for _ in range(400):
                    deaf.send("call_service", service="/dynamics/mass_matrix", args={"query": PANDA,
                        "q": [0.1] * 700})
            except OSError:
                pass
            metrics = lambda: urllib.request.urlopen(f"http://127.0.0.1:{gateway.port}/metrics").read().decode()
            fixture.wait_for(lambda: "dynamics_rosbridge_connections_cut_total 1\n" in metrics(),
                             "the deaf client is cut")
            if listens:
                self.closed(deaf, 1008, "answers pile up unread")
            fixture.wait_for(lambda: "dynamics_rosbridge_connections 1\n" in metrics(), "the deaf client is gone")
            other.synchronize()

    def test_a_hundred_clients_are_served_beside_one_that_does_not_read(self):
        gateway = self.gateway()
        deaf = self.client(gateway, buffer_size=4096)
        for _ in range(500):
            deaf.send("call_service", service="/dynamics/mass_matrix", args={"query": PANDA, "q": [0.1] * 70})
        clients = [self.client(gateway) for _ in range(100)]
        for number in range(5):
            for at, client in enumerate(clients):
                client.send("call_service", id=number, service="/dynamics/gravity",
                            args={"query": TWO_LINK, "q": [at, number]})
            for at, client in enumerate(clients):
                answer = client.receive("service_response")
                self.assertEqual((answer["id"], answer["result"]), (number, True))
                if at % 33 == 0:
                    exact = self.daemon.call("gravity", {"query": TWO_LINK, "q": [at, number]})["g"]
                    self.assertEqual(answer["values"]["g"], exact)

    def test_silence_is_pinged_and_ended(self):
        gateway = self.gateway(limits__ping_interval=1, limits__ping_timeout=1)
        began = time.monotonic()
        silent = self.client(gateway)
        opcode, _, payload = silent.socket._frame()
        self.assertEqual((opcode, payload), (websocket.PING, b"ping"))
        opcode, _, payload = silent.socket._frame()
        self.assertEqual((opcode, int.from_bytes(payload[:2], "big")), (websocket.CLOSE, 1011))
        self.assertEqual(payload[2:], b"a ping was not answered within 1 s (limits.ping_timeout)")
        self.assertGreaterEqual(time.monotonic() - began, 2)
        self.client(gateway).synchronize()

    def test_a_silent_reader_that_answers_pings_stays_connected(self):
        gateway = self.gateway(limits__ping_interval=1, limits__ping_timeout=1)
        reader = self.client(gateway)
        for _ in range(3):
            opcode, _, payload = reader.socket._frame()
            self.assertEqual(opcode, websocket.PING)
            reader.socket.send_frame(websocket.PONG, payload)
        reader.synchronize()

    def test_who_talks_is_not_pinged(self):
        """A ping follows a second of silence alone, also that of a machine which stood still."""
        gateway = self.gateway(limits__ping_interval=1, limits__ping_timeout=1)
        began = last = time.monotonic()
        talker = self.client(gateway)
        while last - began < 2.5:
            talker.send("call_service", service="/rosapi/get_time")
            opcode, _, _ = talker.socket._frame()
            now = time.monotonic()
            self.assertTrue(opcode == websocket.TEXT or now - last > 0.9, (opcode, now - last))
            last = now
            time.sleep(0.2)

    def test_idle_connections_are_ended(self):
        gateway = self.gateway(limits__idle_time=0.5)
        idle, reader = self.client(gateway), self.client(gateway)
        reader.send("subscribe", topic="/anything")
        self.closed(idle, 1000, "idle for 0.5 s")
        reader.synchronize()

    def test_too_large_a_message_is_reported_and_ends_the_connection(self):
        gateway = self.gateway(limits__message_bytes=100000)
        for size in (100001, 500000):
            client = self.client(gateway)
            client.socket.send("x" * size)
            self.assertIn("larger than 100000 bytes", client.receive("status")["msg"])
            self.closed(client, 1009, "larger than 100000 bytes")

    def test_it_stops_with_an_answer_to_all_also_when_the_daemon_is_silent(self):
        daemon = fixture.Daemon()
        self.addCleanup(daemon.stop)
        gateway = fixture.Gateway(daemon)
        self.addCleanup(gateway.stop)
        client = self.client(gateway)
        client.values("/dynamics/list_models")
        daemon.freeze()
        self.addCleanup(daemon.process.send_signal, signal.SIGCONT)
        for number in range(40):
            client.send("call_service", id=number, service="/dynamics/list_models")
        client.send("send_action_goal", id="goal", action="/dynamics/list_models")
        client.synchronize()
        time.sleep(0.5)
        began = time.monotonic()
        gateway.process.terminate()
        answers = [client.receive() for _ in range(41)]
        self.assertEqual({str(answer["id"]) for answer in answers}, {str(number) for number in range(40)} | {"goal"})
        for answer in answers:
            self.assertEqual((answer["result"], answer["values"]), (False, "the gateway stops (UNAVAILABLE)"))
        self.closed(client, 1001, "the gateway stops")
        self.assertEqual(gateway.process.wait(fixture.WAIT), 0)
        self.assertLess(time.monotonic() - began, 3)

    def test_calls_are_bounded(self):
        gateway = self.gateway(limits__calls=2, daemon__threads=1)
        client = self.client(gateway)
        for number in range(50):
            client.send("call_service", id=number, service="/dynamics/mass_matrix", args={"query": PANDA,
                "q": [0.1] * 7000})
        answers = [client.receive("service_response") for _ in range(50)]
        refused = [answer for answer in answers if not answer["result"]]
        self.assertGreater(len(refused), 0)
        self.assertLess(len(refused), 50)
        self.assertTrue(all("RESOURCE_EXHAUSTED" in answer["values"] for answer in refused))

    def test_half_handshakes_and_garbage_leave_it_well(self):
        gateway = self.gateway()
        for data in (b"", b"GET / HTTP/1.1\r\n", b"\0" * 1000, b"GET " + b"x" * 70000, b"\x16\x03\x01\x02\x00"):
            with socket.create_connection(("127.0.0.1", gateway.port)) as sock:
                sock.sendall(data)
        for frame in (b"\xff\xff", b"\x81\x05hello", b"\x83\x80abcd", b"\x89\xff" + b"\xff" * 12):
            raw = gateway.connect()
            raw.socket.sock.sendall(frame)
            raw.close()
        self.client(gateway).synchronize()

    def test_plain_http(self):
        gateway = self.gateway()
        get = lambda path: urllib.request.urlopen(f"http://127.0.0.1:{gateway.port}{path}").read().decode()
        fixture.wait_for(lambda: "dynamics_rosbridge_daemon_reached 1\n" in get("/metrics"), "the daemon is reached")
        self.assertEqual(get("/healthz"), "ok\n")
        self.assertIn("dynamics_rosbridge_connections 0\n", get("/metrics"))
        for file in ("alerts.yml", "dashboard.json"):
            text = (pathlib.Path(os.environ["ROBOTS"]).parent / "monitoring" / file).read_text(encoding="utf-8")
            names = set(re.findall(r"dynamics_rosbridge_[a-z_]+", text))
            self.assertLessEqual(names, set(re.findall(r"^([a-z_]+) ", get("/metrics"), re.MULTILINE)))
            self.assertTrue(names)
        with self.assertRaises(urllib.error.HTTPError):
            get("/etc/passwd")

    def test_health_is_that_of_the_daemon(self):
        daemon = fixture.Daemon()
        gateway = fixture.Gateway(daemon)

        def health():
            try:
                return 200, urllib.request.urlopen(f"http://127.0.0.1:{gateway.port}/healthz").read().decode()
            except urllib.error.HTTPError as error:
                return error.code, error.read().decode()

        fixture.wait_for(lambda: health() == (200, "ok\n"), "the daemon is reached")
        for stop, proceed in ((signal.SIGSTOP, signal.SIGCONT), (signal.SIGKILL, None)):
            daemon.process.send_signal(stop)
            fixture.wait_for(lambda: health()[0] == 503, "the daemon is missed")
            self.assertRegex(health()[1], r"^the daemon does not serve: .+\n$")
            page = urllib.request.urlopen(f"http://127.0.0.1:{gateway.port}/metrics").read().decode()
            self.assertIn("dynamics_rosbridge_daemon_reached 0\n", page)
            if proceed:
                daemon.process.send_signal(proceed)
                fixture.wait_for(lambda: health()[0] == 200, "the daemon is reached again")
        daemon.process.wait()
        self.assertEqual(gateway.stop(), 0)

    def test_without_the_daemon_calls_fail_with_a_reason(self):
        daemon = fixture.Daemon()
        gateway = fixture.Gateway(daemon)
        client = gateway.connect()
        client.values("/dynamics/list_models")
        daemon.process.kill()
        daemon.process.wait()
        self.assertRegex(client.refusal("/dynamics/list_models", timeout=3), "UNREACHABLE|TIMEOUT")
        client.close()
        self.assertEqual(gateway.stop(), 0)


if __name__ == "__main__":
    unittest.main()
