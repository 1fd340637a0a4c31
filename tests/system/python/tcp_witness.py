# SPDX-License-Identifier: BSD-2-Clause
"""A relay between a client and the daemon that notes the methods of the requests that pass."""
import socket
import struct
import threading

from descriptors import parse


class Witness:
    """Relay for one address "tcp://127.0.0.1:PORT". `seen` has the field numbers of all requests."""

    def __init__(self, url):
        self.port = int(url.rsplit(":", 1)[1])
        self.seen = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            threading.Thread(target=self._requests, args=(near, far), daemon=True).start()
            threading.Thread(target=self._bytes, args=(far, near), daemon=True).start()

    @staticmethod
    def _bytes(source, sink):
        """Passes on whatever arrives."""
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
        except OSError:
            pass
        finally:
            sink.close()

    def _requests(self, near, far):
        """Passes on the greeting and the requests: eight bytes of length, four of the REQ protocol, the message."""
        try:
            with near.makefile("rb") as source:
                far.sendall(source.read(8))
                while head := source.read(8):
                    body = source.read(struct.unpack(">Q", head)[0])
                    self.seen.update(parse(body[4:]))
                    far.sendall(head + body)
        except OSError:
            pass
        finally:
            far.close()

    def close(self):
        """Takes no more connections."""
        self.listener.close()
