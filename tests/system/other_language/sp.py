# SPDX-License-Identifier: BSD-2-Clause
"""The SP protocol of nng over plain sockets, as far as a client of dynamicsd needs it.

Both sides greet with the bytes 0 'S' 'P' 0, the number of their protocol in 16 bits and two zero bytes, big-endian. A
message is its length in 64 bits and its bytes; over ipc a byte 1 precedes the length. A message of REQ begins with a
number of 32 bits whose highest bit is set; the message of REP returns it.
"""
import itertools
import select
import socket
import struct

REQ, REP, PUB, SUB, PUSH, PULL = 0x30, 0x31, 0x20, 0x21, 0x50, 0x51
PARTNERS = {REQ: REP, SUB: PUB, PUSH: PULL}
WAIT = 60  # seconds; programs under sanitizers are slow


def plain_socket(url):
    """A connected socket for "ipc:///path" or "tcp://host:port"."""
    scheme, _, rest = url.partition("://")
    if scheme == "ipc":
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(WAIT)
        try:
            connection.connect(rest)
        except OSError:
            connection.close()
            raise
        return connection
    host, _, port = rest.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), WAIT)


class Peer:
    """One connection that speaks one protocol."""

    def __init__(self, url, protocol):
        self.is_ipc = url.startswith("ipc:")
        self.connection = plain_socket(url)
        self.connection.sendall(b"\0SP\0" + struct.pack(">HH", protocol, 0))
        greeting = self.read(8)
        if greeting != b"\0SP\0" + struct.pack(">HH", PARTNERS[protocol], 0):
            raise ConnectionError(f"{url} greets with {greeting!r}")

    def read(self, size):
        data = b""
        while len(data) < size:
            part = self.connection.recv(size - len(data))
            if not part:
                raise ConnectionError("the daemon has closed the connection")
            data += part
        return data

    def send(self, body):
        self.connection.sendall((b"\1" if self.is_ipc else b"") + struct.pack(">Q", len(body)) + body)

    def receive(self):
        if self.is_ipc and self.read(1) != b"\1":
            raise ConnectionError("a message over ipc begins with the byte 1")
        return self.read(struct.unpack(">Q", self.read(8))[0])

    def close(self):
        self.connection.close()


class Requester(Peer):
    """A REQ socket: one question, one answer."""

    def __init__(self, url):
        super().__init__(url, REQ)
        self.numbers = itertools.count(0x80000001)

    def ask(self, body):
        number = struct.pack(">I", next(self.numbers))
        self.send(number + body)
        answer = self.receive()
        if answer[:4] != number:
            raise ConnectionError(f"the answer {answer[:4]!r} is to another question than {number!r}")
        return answer[4:]


class Subscriber(Peer):
    """A SUB socket, which receives all topics of its endpoint. The publisher adds it soon after the greetings."""

    def __init__(self, url):
        super().__init__(url, SUB)

    def hears(self, seconds):
        """Returns True if an event arrives within a time."""
        return bool(select.select([self.connection], [], [], seconds)[0])

    def next(self):
        """The topic and the body of the next event."""
        topic, _, body = self.receive().partition(b"\0")
        return topic.decode("ascii"), body


class Pusher(Peer):
    """A PUSH socket."""

    def __init__(self, url):
        super().__init__(url, PUSH)
