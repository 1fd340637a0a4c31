#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The protocol by hand: every operation, and an answer to everything, also to what is wrong."""
import json
import math
import struct
import unittest
import zlib

import fixture
import cbor

TWO_LINK = {"model": "two_link"}
PANDA = {"model": "panda"}

ID = "/dynamics/inverse_dynamics"


class Services(fixture.Case):
    def test_arguments_by_name_by_place_and_as_typed_arrays(self):
        named = self.client.values(ID, {"query": TWO_LINK, "q": [0.1, 0.2], "v": [1, 2], "a": [3, 4]})
        listed = self.client.values(ID, [TWO_LINK, [0.1, 0.2], [1, 2], [3, 4]])
        indexed = self.client.values(ID, {"query": TWO_LINK, "q": {"0": 0.1, "1": 0.2}, "v": {"1": 2, "0": 1},
            "a": [3, 4]})
        self.assertEqual(named, listed)
        self.assertEqual(named, indexed)

    def test_joint_state_in_any_order(self):
        ordered = self.client.values("/dynamics/bias_forces", {"query": TWO_LINK, "q": [0.1, 0.2], "v": [1, 2]})["h"]
        state = {"header": {"stamp": {"secs": 1, "nsecs": 2}, "frame_id": ""}, "name": ["joint2", "joint1"],
                 "position": [0.2, 0.1], "velocity": [2, 1], "effort": []}
        for args in ({"query": TWO_LINK, "joint_state": state}, {"query": TWO_LINK, **state}):
            swapped = self.client.values("/dynamics/bias_forces", args)["h"]
            self.assertEqual(swapped, ordered[::-1])
        other = {"name": ["joint1", "joint2"], "position": [0.1, 0.2], "velocity": [1, 2]}
        both = self.client.values("/dynamics/bias_forces", {"query": TWO_LINK, "joint_state": [state, other]})
        self.assertEqual(both["h"], ordered[::-1] * 2)

    def test_missing_velocity_and_effort_of_joint_state_are_zero(self):
        state = {"name": ["joint1", "joint2"], "position": [0.1, 0.2]}
        at_rest = self.client.values("/dynamics/forward_dynamics", {"query": TWO_LINK, "q": [0.1, 0.2]})["a"]
        self.assertEqual(self.client.values("/dynamics/forward_dynamics", {"query": TWO_LINK, **state})["a"], at_rest)
        effort = {**state, "velocity": [], "effort": [5, 6]}
        driven = self.client.values("/dynamics/forward_dynamics", {"query": TWO_LINK, "q": [0.1, 0.2], "tau": [5, 6]})
        self.assertEqual(self.client.values("/dynamics/forward_dynamics", {"query": TWO_LINK, **effort}), driven)

    def test_messages_may_be_lists_of_at_most_one(self):
        ask = lambda **parts: self.client.values("/dynamics/gravity", {"query": {**TWO_LINK, **parts}, "q": [0, 0]})
        free = ask(gravity={"x": 0, "y": 0, "z": -1.6})
        self.assertEqual(free, ask(gravity=[{"x": 0, "y": 0, "z": -1.6}]))
        earth = ask()
        self.assertNotEqual(free, earth)
        for absent in ([], None):
            self.assertEqual(earth, ask(gravity=absent))
        listed = self.client.values("/dynamics/gravity", {"query": [TWO_LINK], "q": [0, 0]})
        self.assertEqual(earth, listed)

    def test_every_method_is_a_service(self):
        services = self.client.values("/rosapi/services")["services"]
        listed = self.daemon.control("call", "no_such_method").stderr.split()
        methods = [word for word in listed[listed.index("are:") + 1:]]
        self.assertGreater(len(methods), 30)
        for method in methods:
            self.assertIn("/dynamics/" + method, services)
            answer = self.client.call("/dynamics/" + method, {})
            self.assertIn(answer["result"], (True, False))

    def test_base_parameters(self):
        found = self.client.values("/dynamics/find_base_parameters", {"query": TWO_LINK})
        rows = found["base_parameters"]
        self.assertEqual([row["column"] for row in rows], [1, 3, 6, 11, 13, 16])
        for row in rows:
            made = sum(f * found["values"][c] for f, c in zip(row["factors"], row["columns"]))
            self.assertAlmostEqual(row["value"], made, places=12)
        across = self.client.values("/dynamics/find_base_parameters", {"query": {**TWO_LINK, "gravity": {"y": 9.81}}})
        self.assertEqual(len(across["base_parameters"]), 4)

    def refusal(self, method, args):
        answer = self.client.call(f"/dynamics/{method}", args)
        self.assertFalse(answer["result"])
        return answer["values"]

    def test_json_follows_its_rules(self):
        """deploy/doc/ros.md, "Messages as JSON"."""
        step = {"simulation": "none"}
        for token in (5, 5.0, "5", "18446744073709551615"):
            self.assertIn("args.simulation: there is no", self.refusal("step_simulation", {**step, "token": token}))
        for token in ("18446744073709551616", "-1", "5.5", 5.5, None):
            self.assertIn("args.token: ", self.refusal("step_simulation", {**step, "token": token}))
        for word in ("BASE_FLOATING", "floating", "Floating", 2, ""):
            self.assertNotIn("args.base_type", self.refusal("load_model", {"base_type": word}))
        self.assertIn('args.base_type: pass one of', self.refusal("load_model", {"base_type": "wobbly"}))
        parts = [{"mesh": {"stl": "AAAA"}, "mass": 1}], [{"mesh": {"stl": [0, 0, 0]}, "mass": 1}]
        same = {self.refusal("compute_inertia", {"parts": part}) for part in parts}
        self.assertEqual(len(same), 1, same)
        self.assertIn("stl[0]: 256 is not from 0 to 255",
                      self.refusal("compute_inertia", {"parts": [{"mesh": {"stl": [256]}}]}))
        two = [{"sphere": {"radius": 1}, "box": {"size": {}}, "mass": 1}]
        self.assertIn("args.parts[0].box: ", self.refusal("compute_inertia", {"parts": two}))
        for value in (None, "NaN", "Infinity"):
            self.assertIn("is not a number", self.refusal("gravity", {"q": [value]}))
        marked = self.client.values("/dynamics/forward_dynamics", {
            "query": {"model": "two_link", "on_error": "mark"}, "q": [0, 1], "v": [1e200, 1e200]})
        self.assertEqual(marked["a"], [None, None])
        self.assertIn('has no field "jointNames"', self.refusal("gravity", {"jointNames": []}))
        self.assertEqual(self.client.values("/dynamics/compute_inertia", {"parts": {"0": {
            "sphere": [{"radius": 1}], "mass": [1], "pose": None}}})["principal_moments"], [0.4, 0.4, 0.4])

    def test_refusals_name_the_argument(self):
        q = [0.1, 0.2]
        for args, reason in (
            ({"query": TWO_LINK, "q": [0.1, 0.2, None]}, "args.q[2]: null is not a number"),
            ({"query": TWO_LINK, "q": [0.1, "x"]}, 'args.q[1]: "x" is not a number'),
            ({"query": TWO_LINK, "q": {"0": 1, "2": 3}}, "args.q: an array is needed"),
            ({"query": TWO_LINK, "q": "x"}, 'args.q: "x" is not an array'),
            ({"query": TWO_LINK, "q": [1]}, "args.q: "),
            ({"query": {"model": 7}, "q": q}, "args.query.model: 7 is not a string"),
            ({"query": {"model": "none"}, "q": q}, "args.query.model: there is no model"),
            ({"query": TWO_LINK, "p": q}, 'args: InverseDynamicsRequest has no field "p"'),
            ({"query": {**TWO_LINK, "gravity": [{}, {}]}, "q": q}, "args.query.gravity: at most one is allowed, not 2"),
            ({"query": {"model": "two_link", "external_forces": [{"reference_frame": "TOOL"}]}, "q": q},
                "args.query.external_forces[0].reference_frame: pass one of"),
            ({"query": TWO_LINK, "joint_state": 7}, "args.joint_state: a sensor_msgs/JointState is needed"),
            ({"query": TWO_LINK, "joint_state": {"name": [], "position": []}}, "args.joint_state.name: "),
            ({"query": TWO_LINK, "joint_state": {"name": ["joint1", 2], "position": q}},
                "args.joint_state.name[1]: "),
            ({"query": TWO_LINK, "joint_state": {"name": ["joint1", "joint2"], "position": [1]}},
             "args.joint_state.position: 1 values for 2 names"),
            ({"query": TWO_LINK, "joint_state": {"name": ["joint1", "joint2"], "position": [1, None]}},
             "args.joint_state.position[1]: null is not a number"),
            ({"query": TWO_LINK, "joint_state": [{"name": ["joint1"], "position": [1]}, {"name": ["x"],
                "position": [1]}]},
             'args.joint_state[1].name[0]: the first state has no joint "x"'),
            ({"query": TWO_LINK, "q": q, "joint_state": {"name": ["joint1", "joint2"], "position": q}},
             "args: send either joint_state or q"),
            (list(range(20)), "args: 20 arguments, but"),
            (7, "args: an object or an array is needed"),
        ):
            with self.subTest(args=args):
                self.assertTrue(self.client.refusal(ID, args).startswith(reason), self.client.refusal(ID, args))

    def test_calls_that_are_wrong_are_answered(self):
        self.assertIn("NOT_FOUND", self.client.refusal("/no/such/service"))
        self.assertIn("NOT_FOUND", self.client.refusal("/dynamics/no_such_method"))
        self.assertIn("INVALID_ARGUMENT", self.client.refusal(""))
        self.assertIn("INVALID_ARGUMENT", self.client.refusal(7))
        self.assertIn("timeout", self.client.refusal(ID, {}, timeout="soon"))
        self.assertIn("one of none, png, cbor and cbor-raw", self.client.refusal(ID, {}, compression="zip"))
        self.assertIn("args.topic", self.client.refusal("/rosapi/topic_type", {}))

    def test_a_call_past_its_time_fails(self):
        slow = {"query": PANDA, "q": [0.1] * 7 * 100000}
        reason = self.client.refusal("/dynamics/mass_matrix", slow, timeout=1e-3)
        self.assertRegex(reason, "DEADLINE_EXCEEDED|TIMEOUT")

    def test_numbers_are_those_of_the_c_client(self):
        q = [math.sin(i) for i in range(70)]
        args = {"query": PANDA, "q": q, "v": [math.cos(i) for i in range(70)], "a": [i / 7 for i in range(70)]}
        exact = self.daemon.call("inverse_dynamics", args)["tau"]
        self.assertEqual(self.client.values(ID, args)["tau"], exact)
        answer = cbor.decode(self.client.call(ID, args, compression="cbor"))
        self.assertEqual([struct.pack("<d", x) for x in answer["values"]["tau"]], [struct.pack("<d", x) for x in exact])
        self.client.socket.send(cbor.encode({"op": "call_service", "id": "c", "service": ID, "args": args}))
        self.assertEqual(self.client.receive("service_response")["values"]["tau"], exact)

    def test_png_and_fragments_of_answers(self):
        args = {"query": PANDA, "q": [0.1] * 700}
        plain = self.client.values("/dynamics/gravity", args)
        self.client.send("call_service", id="p", service="/dynamics/gravity", args=args, compression="png")
        answer = json.loads(cbor.png_text(self.client.receive("png")["data"]))
        self.assertEqual(answer["values"], plain)
        self.client.send("call_service", id="f", service="/dynamics/gravity", args=args, fragment_size=1000)
        pieces = [self.client.receive("fragment")]
        while len(pieces) < pieces[0]["total"]:
            pieces.append(self.client.receive("fragment"))
        self.assertEqual([piece["num"] for piece in pieces], list(range(len(pieces))))
        self.assertEqual(json.loads("".join(piece["data"] for piece in pieces))["values"], plain)

    def test_many_calls_of_one_connection_are_in_work_at_once(self):
        for number in range(500):
            self.client.send("call_service", id=number, service=ID, args={"query": TWO_LINK, "q": [number, 0]})
        answers = {}
        while len(answers) < 500:
            answer = self.client.receive("service_response")
            self.assertTrue(answer["result"], answer)
            answers[answer["id"]] = answer["values"]["tau"]
        self.assertEqual(answers[3], self.client.values(ID, {"query": TWO_LINK, "q": [3, 0]})["tau"])


class BadMessages(fixture.Case):
    keys = {"limits__message_bytes": 100000, "limits__partial_messages": 2, "limits__fragments": 10,
            "limits__fragment_time": 0.5, "limits__subscriptions": 3, "limits__advertisements": 3}

    def test_what_is_no_message_gets_a_status(self):
        for message, reason in (
            ("{", "not JSON: line 1"),
            ("", "not JSON"),
            ('{"op": "publish", "op": "x"}', "not JSON"),
            ('{"op": "publish", "x": NaN}', "not JSON"),
            ("[" * 5000, "not JSON"),
            (b"", "CBOR, byte 0"),
            (b"\xff", "CBOR, byte 0"),
            (b"\xa1\x61", "CBOR, byte 1"),
            (b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "CBOR"),
            (b"\x81" * 200, "CBOR"),
            (b"\xa1\x01\x02", "CBOR"),
            (cbor.encode({"op": "a\0"}), "CBOR"),
            (b"\xd8\x56\x43abc", "CBOR"),
            (cbor.encode({"op": "nothing"}) + b"x", "CBOR"),
            ("7", "a message is an object"),
            ("{}", "op: a string is needed"),
            ({"op": "dance", "id": "d"}, 'op: there is no operation "dance"'),
            ({"op": "auth", "mac": "x"}, "auth: send the token"),
            ({"op": "set_level", "level": "loud"}, "set_level: level"),
            ({"op": "advertise", "topic": "/a"}, "advertise: type"),
            ({"op": "advertise", "topic": "a b", "type": "std_msgs/String"}, "advertise: topic"),
            ({"op": "advertise", "topic": "/diagnostics", "type": "diagnostic_msgs/DiagnosticArray"},
                "advertise: /diagnostics"),
            ({"op": "unadvertise", "topic": "/a"}, "unadvertise: /a"),
            ({"op": "publish", "topic": "/a", "msg": {}}, "publish: /a: nobody advertises"),
            ({"op": "publish", "topic": "/diagnostics", "msg": {}}, "publish: /diagnostics: the daemon"),
            ({"op": "subscribe"}, "subscribe: topic"),
            ({"op": "subscribe", "topic": "/a", "throttle_rate": "x"}, "subscribe: throttle_rate"),
            ({"op": "subscribe", "topic": "/a", "queue_length": -1}, "subscribe: queue_length"),
            ({"op": "subscribe", "topic": "/a", "compression": "zip"}, "subscribe: compression"),
            ({"op": "subscribe", "topic": "/a", "type": "x/Y", "compression": "cbor-raw"}, "subscribe: /a: cbor-raw"),
            ({"op": "subscribe", "topic": "/diagnostics", "type": "std_msgs/String"},
                "subscribe: /diagnostics: it has another"),
            ({"op": "unsubscribe", "topic": "/a"}, "unsubscribe: /a"),
            ({"op": "service_response", "id": "x", "service": "/s", "result": True}, "service_response: id"),
            ({"op": "advertise_service", "service": "/dynamics/x", "type": "a/B"}, "advertise_service: /dynamics/x"),
            ({"op": "unadvertise_service", "service": "/x"}, "unadvertise_service: /x"),
            ({"op": "cancel_action_goal", "id": "x", "action": "/x"}, "cancel_action_goal: id"),
            ({"op": "action_feedback", "id": "x"}, "action_feedback: id"),
            ({"op": "action_result", "id": "x"}, "action_result: id"),
            ({"op": "png", "data": "!"}, "png: data: it is not base64"),
            ({"op": "png", "data": "QUJD"}, "png: data: it is not a PNG"),
            ({"op": "png"}, "png: data"),
            ({"op": "fragment", "id": "x", "data": "a", "num": 0}, "fragment: id and data"),
            ({"op": "fragment", "id": "x", "data": "a", "num": 2, "total": 2}, "fragment: fragment 2 of 2"),
            ({"op": "fragment", "id": "x", "data": "a", "num": 0, "total": 11}, "fragment: fragment 0 of 11"),
            ({"op": "fragment", "id": "x", "data": "{", "num": 0, "total": 1}, "not JSON"),
        ):
            with self.subTest(message=message):
                reply = self.client.status(message)
                self.assertTrue(reply.startswith(reason), reply)
        self.client.synchronize()

    def test_a_status_has_the_id_of_its_message(self):
        self.client.send("dance", id="here")
        self.assertEqual(self.client.receive()["id"], "here")

    def test_levels_of_status(self):
        self.client.send("set_level", level="none")
        self.client.send("dance")
        self.client.synchronize()

    def test_too_large_a_message_ends_the_connection_with_a_reason(self):
        self.client.socket.send("x" * 100001)
        self.assertIn("larger than 100000 bytes", self.client.receive()["msg"])
        with self.assertRaises(fixture.websocket.Closed):
            self.client.receive()
        self.gateway.connect().synchronize()

    def test_fragments_are_put_together_in_any_order(self):
        text = json.dumps({"op": "call_service", "id": "f", "service": "/rosapi/get_time"})
        half = len(text) // 2
        self.client.send("fragment", id="m", num=1, total=2, data=text[half:])
        self.client.send("fragment", id="m", num=0, total=2, data=text[:half])
        self.assertEqual(self.client.receive()["id"], "f")

    def test_fragments_are_bounded(self):
        for number in range(2):
            self.client.send("fragment", id=f"m{number}", num=0, total=2, data="x")
        self.assertIn("too many messages", self.client.status(json.dumps(
            {"op": "fragment", "id": "m2", "num": 0, "total": 2, "data": "x"})))
        self.assertIn("came twice", self.client.status(json.dumps(
            {"op": "fragment", "id": "m0", "num": 0, "total": 2, "data": "x"})))
        self.assertIn("did not become complete", self.client.receive("status")["msg"])
        self.client.send("fragment", id="big", num=0, total=3, data="x" * 60000)
        self.assertIn("what is incomplete is larger than allowed", self.client.status(json.dumps(
            {"op": "fragment", "id": "big", "num": 1, "total": 3, "data": "x" * 60000})))

    def test_images_that_hold_too_much_are_refused(self):
        rows = b"".join(b"\0" + bytes(3000) for _ in range(1000))
        chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(
            kind + data))
        image = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1000, 1000, 8, 2, 0, 0, 0)) +
                 chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
        self.assertIn("more bytes than a message", self.client.status({"op": "png", "data": cbor.base64_text(image)}))

    def test_subscriptions_and_advertisements_are_bounded(self):
        for number in range(3):
            self.client.send("subscribe", topic=f"/s{number}")
            self.client.send("advertise", topic=f"/s{number}", type="std_msgs/String")
        self.assertIn("as are allowed", self.client.status({"op": "subscribe", "topic": "/s3"}))
        self.assertIn("as are allowed", self.client.status({"op": "advertise", "topic": "/s3",
            "type": "std_msgs/String"}))
        self.assertIn("as are allowed", self.client.status({"op": "advertise_service", "service": "/s3",
            "type": "a/B"}))


if __name__ == "__main__":
    unittest.main()
