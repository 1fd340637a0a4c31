"""A client of the rosbridge protocol in Python's own library: services by a blocking call, from any thread."""
import base64
import itertools
import json
import os
import socket
import struct
import threading
from urllib.parse import urlsplit


class Failed(Exception):
    """The service answered that it failed, with the reason."""


class RosbridgeClient:
    """One connection, by ws://host:port; each call waits for its answer."""

    def __init__(self, url, timeout=10.0):
        address = urlsplit(url)
        self.lock, self.count, self.pending = threading.Lock(), itertools.count(1), b""
        self.socket = socket.create_connection((address.hostname, address.port or 9090), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {address.path or '/'} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.pending:
            self._fill()
        head, self.pending = self.pending.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.split(b"\r\n")[0].decode())

    def close(self):
        self.socket.close()

    def call(self, service, args):
        """The values of the response; Failed with the reason."""
        with self.lock:
            identity = f"call:{next(self.count)}"
            self._send(1, json.dumps({"op": "call_service", "id": identity, "service": service, "args": args}).encode())
            while True:
                answer = self._receive()
                if answer.get("op") == "service_response" and answer.get("id") == identity:
                    break
        if not answer["result"]:
            raise Failed(answer["values"])
        return answer["values"]

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
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
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
