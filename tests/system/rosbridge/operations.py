#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The operations of the protocol in every form that clients send: images, fragments, levels, spellings, times."""
import json
import struct
import time
import unittest
import zlib

import cbor
import fixture

TIME = json.dumps({"op": "call_service", "id": "é€😀", "service": "/rosapi/get_time"}, ensure_ascii=False)


def to_png(text):
    """Base64 of an RGB image whose bytes are the text, filled up with line breaks, in rows of 12 pixels."""
    data = text.encode()
    data += b"\n" * (-len(data) % 36)
    rows = b"".join(b"\0" + data[at:at + 36] for at in range(0, len(data), 36))
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", 12, len(data) // 36, 8, 2, 0, 0, 0)
    return cbor.base64_text(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) +
                            chunk(b"IEND", b""))


class Operations(fixture.Case):
    def other(self):
        opened = self.gateway.connect()
        self.addCleanup(opened.close)
        return opened

    def test_messages_come_in_images_and_fragments(self):
        self.client.send("png", data=to_png(TIME))
        self.assertEqual(self.client.receive()["id"], "é€😀")
        image = json.dumps({"op": "png", "data": to_png(TIME)})
        for size in (1, 7, 100):
            pieces = [image[at:at + size] for at in range(0, len(image), size)]
            for number in reversed(range(len(pieces))):
                self.client.send("fragment", id=f"f{size}", num=number, total=len(pieces), data=pieces[number])
            self.assertEqual(self.client.receive()["id"], "é€😀")
        for number, letter in enumerate(TIME):
            self.client.send("fragment", id="letters", num=number, total=len(TIME), data=letter)
        self.assertEqual(self.client.receive()["id"], "é€😀")

    def test_images_in_images_end_somewhere(self):
        text = TIME
        for depth in range(5):
            text = json.dumps({"op": "png", "data": to_png(text)})
            if depth < 2:
                self.client.socket.send(text)
                self.assertEqual(self.client.receive()["id"], "é€😀")
        self.assertIn("nested deeper than 3", self.client.status(text))

    def test_fragments_of_answers_break_between_letters(self):
        server = self.other()
        server.send("advertise", topic="/letters", type="std_msgs/String")
        self.client.send("subscribe", topic="/letters", fragment_size=1)
        self.client.synchronize()
        text = "é€😀" * 200
        server.socket.send(json.dumps({"op": "publish", "topic": "/letters", "msg": {"data": text}}))
        pieces = [self.client.receive("fragment")]
        while len(pieces) < pieces[0]["total"]:
            pieces.append(self.client.receive("fragment"))
        self.assertTrue(all(len(piece["data"].encode()) <= 128 for piece in pieces))
        whole = json.loads("".join(piece["data"] for piece in sorted(pieces, key=lambda each: each["num"])))
        self.assertEqual(whole["msg"]["data"], text)

    def test_levels_of_status(self):
        self.client.send("advertise", topic="/fast", type="std_msgs/String")
        for level, is_reported in (("error", True), ("none", False), ("info", True), ("warning", True)):
            self.client.send("set_level", level=level)
            self.client.send("dance", id=level)
            if is_reported:
                reply = self.client.receive()
                self.assertEqual((reply["op"], reply["level"], reply["id"]), ("status", "error", level))
            self.client.synchronize()
        self.client.send("status", level="info", msg="from a client")
        self.client.synchronize()

    def test_text_that_is_cut_within_a_letter_is_reported_all_the_same(self):
        reply = self.client.status({"op": "é" * 100})
        self.assertTrue(reply.startswith('op: there is no operation "'), reply)
        reply = self.client.status({"op": "subscribe", "topic": "x" + "€" * 100})
        self.assertIn("is no name of ROS", reply)
        self.assertIn("NOT_FOUND", self.client.refusal("/none"))
        self.assertIn("a name such as", self.client.refusal("€" * 300))
        self.client.socket.send_frame(1, b'{"op": "\xff\xfe"}')
        self.assertIn("not JSON", self.client.receive()["msg"])
        self.client.synchronize()

    def test_ids_of_any_kind_come_back(self):
        for identity in (7, "x", 1.5, None, ["a", 1], {"b": [2]}, ""):
            self.client.send("call_service", id=identity, service="/rosapi/get_time")
            self.assertEqual(self.client.receive()["id"], identity)
        self.client.send("call_service", service="/rosapi/get_time")
        self.assertNotIn("id", self.client.receive())

    def test_types_have_two_spellings(self):
        server = self.other()
        server.send("advertise", topic="/spelled", type="std_msgs/msg/String")
        server.synchronize()
        for wanted in ("std_msgs/String", "std_msgs/msg/String", ""):
            self.client.send("subscribe", topic="/spelled", type=wanted, id=wanted)
            self.client.synchronize()
        for wrong in ("std_msgs/Int32", "std_msgs/msg/Int32"):
            self.assertIn("it has another type", self.client.status({"op": "subscribe", "topic": "/spelled",
                "type": wrong}))
        for wrong in ("std msgs/String", "a/" + "B" * 300, "é/É"):
            for op, member in (("advertise", "topic"), ("subscribe", "topic"), ("advertise_service", "service")):
                self.assertIn("is no type of ROS", self.client.status({"op": op, member: "/t", "type": wrong}))
        for kind in ("sensor_msgs/JointState", "sensor_msgs/msg/JointState"):
            details = self.client.values("/rosapi/message_details", {"type": kind})["typedefs"]
            self.assertEqual(details[0]["type"], "sensor_msgs/msg/JointState")
        for kind in ("dynamics_msgs/Gravity", "dynamics_msgs/srv/Gravity"):
            self.assertEqual(self.client.values("/rosapi/services_for_type", {"type": kind}),
                             {"services": ["/dynamics/gravity"]})

    def test_times_have_two_spellings(self):
        first, second = self.other(), self.other()
        self.client.send("advertise", topic="/timed", type="geometry_msgs/WrenchStamped")
        first.send("subscribe", topic="/timed", type="geometry_msgs/WrenchStamped")
        second.send("subscribe", topic="/timed", type="geometry_msgs/msg/WrenchStamped")
        first.synchronize()
        second.synchronize()
        for stamp in ({"secs": 5, "nsecs": 6}, {"sec": 5, "nanosec": 6}, {"sec": 5, "nsecs": 6}):
            self.client.send("publish", topic="/timed", msg={"header": {"stamp": stamp}})
            self.assertEqual(first.receive("publish")["msg"]["header"]["stamp"], {"secs": 5, "nsecs": 6})
            self.assertEqual(second.receive("publish")["msg"]["header"]["stamp"], {"sec": 5, "nanosec": 6})
        for message in ({}, {"header": {}}, {"header": {"stamp": "now"}}):
            self.client.send("publish", topic="/timed", msg=message)
            self.assertLess(abs(first.receive("publish")["msg"]["header"]["stamp"]["secs"] - time.time()), 60)
        for stamp in (7, "then", None, {"sec": "x"}, [1, 2]):
            self.assertIn("msg.header.stamp: a time", self.client.status({"op": "publish", "topic": "/timed",
                "msg": {"header": {"stamp": stamp}}}))

    def test_cbor_raw_is_the_serialization_of_the_readers_ros(self):
        first, second = self.other(), self.other()
        self.client.send("advertise", topic="/raw", type="sensor_msgs/JointState")
        first.send("subscribe", topic="/raw", type="sensor_msgs/JointState", compression="cbor-raw")
        second.send("subscribe", topic="/raw", type="sensor_msgs/msg/JointState", compression="cbor-raw")
        first.synchronize()
        second.synchronize()
        self.client.send("publish", topic="/raw", msg={"header": {"stamp": {"sec": 5, "nanosec": 6}, "frame_id": "w"},
                                                       "name": ["a", "bc"], "position": [1.5]})
        ros1 = (struct.pack("<4I", 0, 5, 6, 1) + b"w" + struct.pack("<I", 2) + struct.pack("<I", 1) + b"a" +
                struct.pack("<I", 2) + b"bc" + struct.pack("<Id", 1, 1.5) + struct.pack("<2I", 0, 0))
        # CDR, little-endian: strings with a zero byte at the end, each number at a multiple of its size.
        cdr = (struct.pack("<iII", 5, 6, 2) + b"w\0" + b"\0\0" + struct.pack("<I", 2) + struct.pack("<I", 2) + b"a\0" +
               b"\0\0" + struct.pack("<I", 3) + b"bc\0" + b"\0" + struct.pack("<I", 1) +
               struct.pack("<d", 1.5) + struct.pack("<2I", 0, 0))
        for reader, expected in ((first, ros1), (second, b"\0\1\0\0" + cdr)):
            reply = cbor.decode(reader.receive())
            self.assertEqual(reply["msg"]["bytes"], expected)
            self.assertLess(abs(reply["msg"]["secs"] - time.time()), 60)

    def test_throttle_without_a_queue_drops_what_comes_between(self):
        reader = self.other()
        self.client.send("advertise", topic="/between", type="std_msgs/Int32")
        reader.send("subscribe", topic="/between", throttle_rate=400)
        reader.synchronize()
        for number in range(5):
            self.client.send("publish", topic="/between", msg={"data": number})
        self.client.synchronize()
        time.sleep(0.6)
        self.client.send("publish", topic="/between", msg={"data": 9})
        self.assertEqual([reader.receive("publish")["msg"]["data"] for _ in range(2)], [0, 9])

    def test_answers_of_clients_are_passed_on_as_they_are(self):
        server = self.other()
        server.send("advertise_service", service="/passed", type="a/srv/Passed")
        server.synchronize()
        for args, answer in (([1, "x", None], {"values": "no", "result": False}), (None, {"result": True}),
                             ({"a": {"b": []}}, {"values": [], "result": True}), ({}, {"values": {}})):
            self.client.send("call_service", id="p", service="/passed", **({} if args is None else {"args": args}))
            asked = server.receive("call_service")
            self.assertEqual(asked.get("args"), args)
            server.send("service_response", id=asked["id"], service="/passed", **answer)
            reply = self.client.receive("service_response")
            self.assertEqual((reply["id"], reply["result"]), ("p", answer.get("result", False)))
            self.assertEqual(reply.get("values"), answer.get("values"))

    def test_a_service_that_ends_leaves_the_action_of_its_name(self):
        server = self.other()
        server.send("advertise_service", service="/both", type="a/Both")
        server.send("advertise_action", action="/both", type="a/Both")
        server.synchronize()
        self.client.send("send_action_goal", id="g", action="/both", args={})
        goal = server.receive("send_action_goal")
        server.send("unadvertise_service", service="/both")
        server.send("action_result", id=goal["id"], action="/both", values={}, status=4, result=True)
        self.assertEqual(self.client.receive("action_result")["status"], 4)
        self.client.send("send_action_goal", id="h", action="/both", args={})
        server.receive("send_action_goal")
        server.send("unadvertise_action", action="/both")
        answer = self.client.receive("action_result")
        self.assertEqual((answer["id"], answer["status"], answer["result"]), ("h", 6, False))
        self.assertIn("UNAVAILABLE", answer["values"])

    def test_a_goal_that_nobody_waits_for_is_cancelled_at_its_provider(self):
        server, asking = self.other(), self.other()
        server.send("advertise_action", action="/walk", type="a/Walk")
        server.synchronize()
        self.client.send("send_action_goal", id="late", action="/walk", args={}, timeout=0.2)
        goal = server.receive("send_action_goal")
        self.assertIn("DEADLINE_EXCEEDED", self.client.receive("action_result")["values"])
        self.assertEqual(server.receive("cancel_action_goal")["id"], goal["id"])
        asking.send("send_action_goal", id="gone", action="/walk", args={})
        goal = server.receive("send_action_goal")
        asking.close()
        self.assertEqual(server.receive("cancel_action_goal"),
                         {"op": "cancel_action_goal", "id": goal["id"], "action": "/walk"})


if __name__ == "__main__":
    unittest.main()
