# SPDX-License-Identifier: BSD-2-Clause
"""A client of the rosbridge protocol that needs Python alone. Methods may be called from any thread.

    with RosbridgeClient("ws://127.0.0.1:9090") as client:
        state = {"name": ["joint2", "joint1"], "position": [0.2, 0.1]}
        client.call("/dynamics/inverse_dynamics", {"query": {"model": "two_link"}, "joint_state": state})["tau"]
        client.subscribe("/diagnostics", "diagnostic_msgs/DiagnosticArray", print)

A gateway with a token: ws://host:port/?token=TOKEN. There is no TLS.
"""
import base64
import concurrent.futures
import itertools
import json
import os
import socket
import struct
import threading
from urllib.parse import urlsplit


class Failed(Exception):
    """The service or the action answered that it failed, with the reason."""


class Goal:
    """A goal in progress: `result` is a future of its values."""

    def __init__(self, client, identity, action, on_feedback):
        self.client, self.identity, self.action, self.on_feedback = client, identity, action, on_feedback
        self.result = concurrent.futures.Future()

    def cancel(self):
        self.client.send("cancel_action_goal", id=self.identity, action=self.action)


class RosbridgeClient:
    """One connection, by ws://host:port. A thread reads it and dispatches its messages.

    `on_status` is called with the text of each status of the gateway, which reports errors of other messages.
    """

    def __init__(self, url, timeout=10.0, on_status=lambda text: None):
        address = urlsplit(url)
        self.on_status = on_status
        self.pending, self.count, self.lock = b"", itertools.count(1), threading.Lock()
        self.answers, self.goals, self.callbacks, self.is_open = {}, {}, {}, True
        self.socket = socket.create_connection((address.hostname, address.port or 9090), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        path = (address.path or "/") + (f"?{address.query}" if address.query else "")
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.pending:
            self._fill()
        head, self.pending = self.pending.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.split(b"\r\n")[0].decode())
        self.socket.settimeout(None)
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the connection. Calls and goals in progress fail with ConnectionError."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
        except OSError:
            pass  # the connection is lost already
        self.socket.close()

    def send(self, op, **members):
        """Sends one operation; ConnectionError where the connection is lost, ValueError for NaN and infinity."""
        if not self.is_open:
            raise ConnectionError("the gateway closed the connection")
        self._send(1, json.dumps({"op": op, **members}, allow_nan=False).encode())

    def call(self, service, args, timeout=60.0):
        """The values of the response; Failed with the reason."""
        identity, answer = f"call:{next(self.count)}", concurrent.futures.Future()
        self.answers[identity] = answer
        self.send("call_service", id=identity, service=service, args=args)
        return answer.result(timeout)

    def start(self, action, kind, args, on_feedback):
        """Sends a goal; `on_feedback` is called with values from the thread that reads."""
        goal = Goal(self, f"goal:{next(self.count)}", action, on_feedback)
        self.goals[goal.identity] = goal
        self.send("send_action_goal", id=goal.identity, action=action, action_type=kind, args=args, feedback=True)
        return goal

    def subscribe(self, topic, kind, callback):
        """`callback` is called with each message from the thread that reads."""
        self.callbacks[topic] = callback
        self.send("subscribe", topic=topic, type=kind)

    def unsubscribe(self, topic):
        del self.callbacks[topic]
        self.send("unsubscribe", topic=topic)

    def _fill(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the gateway closed the connection")
        self.pending += piece

    def _take(self, size):
        while len(self.pending) < size:
            self._fill()
        taken, self.pending = self.pending[:size], self.pending[size:]
        return taken

    def _send(self, opcode, payload):
        size, mask = len(payload), os.urandom(4)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 65536 else \
            b"\xff" + struct.pack(">Q", size)
        repeated = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
        with self.lock:
            self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def _receive(self):
        """The next message. Answers pings."""
        whole = b""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            if size >= 126:
                size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
            payload, opcode = self._take(size), first & 0x0F
            if opcode == 9:
                self._send(10, payload)
            elif opcode == 8:
                raise ConnectionError("the gateway closed the connection")
            elif opcode in (0, 1):
                whole += payload
                if first & 0x80:
                    return json.loads(whole)

    def _hand_out(self, message):
        identity = message.get("id")
        if message["op"] == "publish" and message["topic"] in self.callbacks:
            self.callbacks[message["topic"]](message["msg"])
        elif message["op"] == "action_feedback" and identity in self.goals:
            self.goals[identity].on_feedback(message["values"])
        elif message["op"] == "status":
            self.on_status(message["msg"])
        elif message["op"] in ("service_response", "action_result"):
            goal = self.goals.pop(identity, None)
            answer = goal.result if goal else self.answers.pop(identity, None)
            if answer and message["result"]:
                answer.set_result(message["values"])
            elif answer:
                answer.set_exception(Failed(message["values"]))

    def _read(self):
        lost = ConnectionError("the connection to the gateway is lost")
        try:
            while True:
                self._hand_out(self._receive())
        except OSError as error:
            lost = ConnectionError(str(error))
        finally:
            self.is_open = False
            for answer in [*self.answers.values(), *(goal.result for goal in self.goals.values())]:
                answer.set_exception(lost)
