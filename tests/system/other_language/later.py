#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Fields of a later contract are refused in pushed chunks and in files of the daemon, and not ignored.

The files are written by the daemon and changed here by recording.proto alone: a message gets the field 2047, which no
revision of the contract has.
"""
import importlib
import struct
import tempfile
import time
import unittest
import zlib

import client as support
import sp

ENVELOPE = STREAM = RECORDING = None
LATER = b"\xfa\x7f\x01x"  # field 2047 with one byte
STATES = {"q": [0.3, -0.7] * 3, "v": [0.1] * 6}


def setUpModule():
    global ENVELOPE, STREAM, RECORDING
    work = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    ENVELOPE, _, STREAM = support.compile_contract(work)
    RECORDING = importlib.import_module("dynamics.v1.recording_pb2")


def with_later_field(message):
    """Returns a copy of the message with the field 2047."""
    changed = type(message)()
    changed.ParseFromString(message.SerializeToString() + LATER)
    return changed


def varint(number):
    head = b""
    while number >= 0x80:
        head, number = head + bytes([number & 0x7f | 0x80]), number >> 7
    return head + bytes([number])


def delimited(data):
    """The messages of a recording."""
    at, found = 0, []
    while at < len(data):
        size = shift = 0
        while True:
            size |= (data[at] & 0x7f) << shift
            shift, at = shift + 7, at + 1
            if not data[at - 1] & 0x80:
                break
        found.append(data[at:at + size])
        at += size
    return found


def records(data):
    """The records of a snapshot or a kept model."""
    at, found = 0, []
    while at < len(data):
        size, check = struct.unpack_from("<II", data, at)
        found.append(data[at + 8:at + 8 + size])
        assert zlib.crc32(data[at:at + 4] + found[-1]) == check
        at += 8 + size
    return found


def record(message):
    body = message.SerializeToString()
    size = struct.pack("<I", len(body))
    return size + struct.pack("<I", zlib.crc32(size + body)) + body


class Later(unittest.TestCase):
    """One daemon for each test."""

    def setUp(self):
        self.daemon = support.Daemon()
        self.addCleanup(self.daemon.stop)
        self.connect()

    def connect(self):
        self.client = support.Client(ENVELOPE, self.daemon.request)
        self.addCleanup(self.client.close)
        self.call = self.client.call

    def refused(self, method, **fields):
        """The message of a refusal for the field."""
        with self.assertRaises(support.Refused) as caught:
            self.call(method, **fields)
        self.assertEqual((caught.exception.code, caught.exception.status.reason),
                         ("CODE_UNIMPLEMENTED", "UNKNOWN_FIELD"), caught.exception.message)
        self.assertIn("2047", caught.exception.message)
        return caught.exception.message

    def test_chunk_is_refused_and_counted(self):
        opened = self.call("open_stream", name="plan", query={"model": "two_link"}, feedforward={})
        pusher = sp.Pusher(next(one for one in opened.ingest if one.startswith("ipc")))
        self.addCleanup(pusher.close)
        chunk = STREAM.StreamChunk(key=opened.key, point_number=1, time=[0, 0.1, 0.2], **STATES)
        pusher.send(with_later_field(chunk).SerializeToString())
        pusher.send(chunk.SerializeToString())
        counters = self.call("get_stream", stream="plan").stream.counters
        while counters.chunks < 2:
            counters = self.call("get_stream", stream="plan").stream.counters
        self.assertEqual((counters.refused, counters.accepted), (1, 3))

    def record(self):
        """A recording of three steps, and its path."""
        made = self.call("create_simulation", name="one", query={"model": "two_link"})
        owned = {"simulation": "one", "token": made.token}
        self.call("record_simulation", **owned, recording="run")
        self.call("step_simulation", **owned, steps=3)
        self.call("stop_recording", **owned)
        return self.daemon.directory / "state" / "recordings" / "run.recording"

    def test_recording_is_not_replayed(self):
        path = self.record()
        parts = delimited(path.read_bytes())
        header = RECORDING.RecordingHeader.FromString(parts[0])
        entry = next(part for part in parts[1:] if RECORDING.RecordingEntry.FromString(part).HasField("state"))
        header.start.options.query.MergeFrom(with_later_field(header.start.options.query))
        later = RECORDING.RecordingEntry.FromString(entry)
        later.state.MergeFrom(with_later_field(later.state))
        for place, old, new in (("start.options.query", parts[0], header), ("state", entry, later)):
            with self.subTest(place):
                changed = [new.SerializeToString() if part is old else part for part in parts]
                path.write_bytes(b"".join(varint(len(part)) + part for part in changed))
                self.assertIn(place, self.refused("replay_simulation", recording="run"))
        path.write_bytes(b"".join(varint(len(part)) + part for part in parts))
        self.assertEqual(self.call("replay_simulation", recording="run").equal_steps, 3)

    def state_message(self):
        """The shortfall of the component "state", which the daemon examines from time to time."""
        state, = self.call("get_health", component="state").components
        return state.message

    def test_simulations_are_not_restored_and_their_file_stays(self):
        self.call("create_simulation", name="one", query={"model": "two_link"})
        self.client.close()
        self.daemon.end()
        path, = (self.daemon.directory / "state").glob("simulations.*.snapshot")
        parts = [RECORDING.StateRecord.FromString(part) for part in records(path.read_bytes())]
        for part in parts:
            if part.HasField("simulation"):
                part.simulation.MergeFrom(with_later_field(part.simulation))
        later = b"".join(record(part) for part in parts)
        path.write_bytes(later)
        self.daemon.begin()
        self.connect()
        self.assertEqual(len(self.call("list_simulations").simulations), 0)
        until = time.monotonic() + sp.WAIT
        while time.monotonic() < until and not self.state_message():
            time.sleep(0.02)
        self.assertIn("2047", self.state_message())
        self.refused("restore_simulations")
        with self.assertRaises(support.Refused):
            self.call("save_simulations")
        self.assertEqual(path.read_bytes(), later)

    def test_kept_model_is_left_out(self):
        model = "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='continuous'>" \
                "<parent link='a'/><child link='b'/></joint></robot>"
        self.call("load_model", name="mine", urdf=model, keep=True)
        self.client.close()
        self.daemon.end()
        path, = (self.daemon.directory / "state" / "models").glob("*.model")
        kept, = (RECORDING.KeptModel.FromString(part) for part in records(path.read_bytes()))
        kept.request.MergeFrom(with_later_field(kept.request))
        path.write_bytes(record(kept))
        self.daemon.begin()
        self.connect()
        self.assertNotIn("mine", [one.name for one in self.call("list_models").models])
        self.assertIn("field 2047", (self.daemon.directory / "log").read_text())
        self.assertTrue(path.exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
