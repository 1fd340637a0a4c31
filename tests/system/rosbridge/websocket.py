# SPDX-License-Identifier: BSD-2-Clause
"""WebSockets (RFC 6455) as the tests need them: the client's and the server's end, one message at a time."""
import base64
import hashlib
import os
import socket
import struct
import time

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Closed(Exception):
    """The other end closed the connection; `code` is its reason, or None."""

    def __init__(self, code=None, reason=""):
        super().__init__(f"closed: {code} {reason}")
        self.code, self.reason = code, reason


class Refused(Exception):
    """The server answered the handshake with another status than 101."""

    def __init__(self, status):
        super().__init__(status)
        self.status = int(status.split()[1]) if len(status.split()) > 1 else 0


class WebSocket:
    """One end of a connection."""

    def __init__(self, sock, masks):
        self.sock, self.masks, self.pending = sock, masks, b""

    def close(self):
        self.sock.close()

    def _read(self, size):
        pieces, length = [self.pending], len(self.pending)
        while length < size:
            pieces.append(self.sock.recv(1 << 20))
            length += len(pieces[-1])
            if not pieces[-1]:
                raise Closed()
        whole = b"".join(pieces)
        self.pending = whole[size:]
        return whole[:size]

    def send_frame(self, opcode, payload, final=True):
        head = bytes([opcode | (0x80 if final else 0)])
        mask_bit = 0x80 if self.masks else 0
        if len(payload) < 126:
            head += bytes([mask_bit | len(payload)])
        elif len(payload) < 1 << 16:
            head += bytes([mask_bit | 126]) + struct.pack(">H", len(payload))
        else:
            head += bytes([mask_bit | 127]) + struct.pack(">Q", len(payload))
        if self.masks:
            key = os.urandom(4)
            repeated = (key * (len(payload) // 4 + 1))[: len(payload)]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(payload), "big")
            head += key
        self.sock.sendall(head + payload)

    def send(self, message):
        if isinstance(message, str):
            self.send_frame(TEXT, message.encode())
        else:
            self.send_frame(BINARY, message)

    def _frame(self):
        first, second = self._read(2)
        size = second & 0x7F
        if size == 126:
            size = struct.unpack(">H", self._read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self._read(8))[0]
        key = self._read(4) if second & 0x80 else None
        payload = self._read(size)
        if key:
            repeated = (key * (size // 4 + 1))[:size]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
        return first & 0x0F, bool(first & 0x80), payload

    def receive(self):
        """The next message: str or bytes. Answers pings, but does not wait for ever."""
        parts, kind = [], None
        until = time.monotonic() + self.sock.gettimeout()
        while time.monotonic() < until:
            opcode, final, payload = self._frame()
            if opcode == PING:
                self.send_frame(PONG, payload)
            elif opcode == CLOSE:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None
                raise Closed(code, payload[2:].decode(errors="replace"))
            elif opcode != PONG:
                kind = kind or opcode
                parts.append(payload)
                if final:
                    whole = b"".join(parts)
                    return whole.decode() if kind == TEXT else whole
        raise TimeoutError("only pings came")


def _head(sock):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(4096)
        if not piece:
            raise Closed()
        data += piece
    head, rest = data.split(b"\r\n\r\n", 1)
    return head.decode(), rest


def connect(port, path="/", headers=None, wrap=None, timeout=20, buffer_size=None):
    """A client's end. `wrap` turns the socket into one with TLS."""
    sock = socket.socket()
    if buffer_size:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_size)
    sock.settimeout(timeout)
    sock.connect(("127.0.0.1", port))
    if wrap:
        sock = wrap(sock)
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
             f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}", "Sec-WebSocket-Version: 13"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    sock.sendall("\r\n".join(lines + ["", ""]).encode())
    try:
        head, rest = _head(sock)
    except Closed:
        sock.close()
        raise
    if " 101 " not in head.split("\r\n")[0]:
        sock.close()
        raise Refused(head.split("\r\n")[0])
    opened = WebSocket(sock, masks=True)
    opened.pending = rest
    return opened


def accept(listener):
    """A server's end of the next connection."""
    sock, _ = listener.accept()
    sock.settimeout(20)
    head, rest = _head(sock)
    key = next(line.split(":", 1)[1].strip() for line in head.split("\r\n") if line.lower().startswith(
        "sec-websocket-key"))
    answer = base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()
    sock.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  f"Sec-WebSocket-Accept: {answer}\r\n\r\n").encode())
    opened = WebSocket(sock, masks=False)
    opened.pending = rest
    return opened
