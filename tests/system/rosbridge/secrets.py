#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Events of the daemon reveal nothing about the gateway that would let a subscriber act in its name."""
import re
import socket
import struct
import unittest

import fixture

REQ, SUB = 0x30, 0x21
CREATE_SIMULATION, DELETE_SIMULATION, CANCEL = 96, 104, 84
PATIENCE = 20


def varint(value):
    written = b""
    while value > 0x7f:
        written += bytes([value & 0x7f | 0x80])
        value >>= 7
    return written + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def fields(content):
    """The fields of a serialized message, as (number, value) with the bytes of what is no varint."""
    at = 0

    def read():
        nonlocal at
        value = shift = 0
        while True:
            byte = content[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(content):
        key = read()
        if key & 7 == 0:
            yield key >> 3, read()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or read()
            yield key >> 3, content[at:at + size]
            at += size


class Connection:
    """nng's protocol over a unix socket, by hand."""

    def __init__(self, address, protocol):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address.removeprefix("ipc://"))
        self.socket.sendall(struct.pack(">2sBBHH", b"\0S", ord("P"), 0, protocol, 0))
        self.read(8)

    def read(self, size):
        content = b""
        while len(content) < size:
            piece = self.socket.recv(size - len(content))
            assert piece, "the daemon closed the connection"
            content += piece
        return content

    def send(self, content):
        self.socket.sendall(struct.pack(">BQ", 1, len(content)) + content)

    def receive(self):
        return self.read(struct.unpack(">BQ", self.read(9))[1])

    def ask(self, request):
        """The fields of the reply to a request."""
        self.send(struct.pack(">I", 0x80000001) + request)
        return dict(fields(self.receive()[4:]))


class Secrets(fixture.Case):
    def setUp(self):
        super().setUp()
        self.events = Connection(self.daemon.events, SUB)
        self.attacker = Connection(self.daemon.request, REQ)
        self.addCleanup(self.events.socket.close)
        self.addCleanup(self.attacker.socket.close)

    def start_goal(self):
        """A long goal that has reported progress."""
        self.client.send("send_action_goal", id="goal", action="/dynamics/rollout", feedback=True,
                         args={"query": {"model": "panda"}, "q": [0.1] * 350, "steps": 1000000, "only_last": True})
        self.client.receive("action_feedback")

    def end_goal(self):
        self.client.send("cancel_action_goal", id="goal", action="/dynamics/rollout")
        self.assertEqual(self.client.receive("action_result")["status"], 5)

    def published_numbers(self):
        """Each number in the topics and contents of some events of progress."""
        found = set()
        for _ in range(3):
            topic, content = self.events.receive().split(b"\0", 1)
            found.update(int(digits) for digits in re.findall(rb"\d+", topic))
            for field, value in fields(content):
                if field == 17:
                    found.update(each for _, each in fields(value) if isinstance(each, int))
        return found

    def test_numbers_in_events_repeat_no_request(self):
        """The reply to a recent request holds a token."""
        made = self.client.values("/dynamics/create_simulation", {"name": "secret", "query": {"model": "two_link"}})
        self.start_goal()
        numbers = self.published_numbers()
        self.end_goal()
        for client in numbers:
            for identity in range(1, 65):
                reply = self.attacker.ask(number(1, identity) + number(2, client) + message(DELETE_SIMULATION, b""))
                self.assertNotIn(CREATE_SIMULATION, reply)
        self.client.values("/dynamics/delete_simulation", {"simulation": "secret", "token": made["token"]})

    def test_numbers_in_events_cancel_no_request(self):
        self.start_goal()
        numbers = self.published_numbers()
        for client in numbers:
            for identity in range(1, 65):
                target = number(1, client) + number(2, identity)
                reply = self.attacker.ask(number(1, identity) + message(CANCEL, target))
                self.assertEqual(dict(fields(reply[CANCEL])).get(1, 0), 0, "a foreign request was cancelled")
        self.assertEqual(len(numbers), 1, "events carry the number of the progress and no other")
        self.client.receive("action_feedback")
        self.end_goal()

    def test_number_of_progress_is_another_for_each_goal(self):
        seen = set()
        for _ in range(3):
            self.start_goal()
            numbers = self.published_numbers()
            self.end_goal()
            self.assertTrue(all(each > 1 << 32 for each in numbers), numbers)
            self.assertFalse(numbers <= seen)
            seen |= numbers


if __name__ == "__main__":
    unittest.main()
