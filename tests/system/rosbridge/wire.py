#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients that neither Debian nor the npm registry has, by the messages that they send: roslibpy and ROS#."""
import json
import unittest

import fixture

ROBOT = {"query": {"model": "two_link"}, "q": [0.1, 0.2]}
HEADER = {"seq": 3, "stamp": {"secs": 1, "nsecs": 2}, "frame_id": ""}
STATE = {"header": HEADER, "name": ["joint2", "joint1"], "position": [0.2, 0.1], "velocity": [], "effort": []}


class Roslibpy(fixture.Case):
    """roslibpy numbers everything from one counter, and knows answers by id and topics by the name that it gave."""

    def test_services_are_called(self):
        torques = self.daemon.call("gravity", ROBOT)["g"]
        self.client.send("call_service", id="call_service:/dynamics/gravity:1", service="/dynamics/gravity", args=ROBOT)
        answer = self.client.receive("service_response")
        self.assertEqual((answer["id"], answer["result"]), ("call_service:/dynamics/gravity:1", True))
        self.assertEqual(answer["values"]["g"], torques)
        self.client.send("call_service", id="call_service:/rosapi/topics:2", service="/rosapi/topics", args={})
        self.assertIn("/diagnostics", self.client.receive("service_response")["values"]["topics"])
        for name, values in (("get_param", "successful"), ("has_param", "exists"), ("delete_param", "successful")):
            answer = self.client.call(f"/rosapi/{name}", {"name": "run_id"})
            self.assertIs(answer["values"][values], False)

    def test_topics_keep_their_names(self):
        for name in ("states", "/states"):
            self.client.send("subscribe", id=f"subscribe:{name}:3", type="sensor_msgs/JointState", topic=name,
                             compression="none", throttle_rate=0, queue_length=0)
            self.client.send("advertise", id=f"advertise:{name}:4", type="sensor_msgs/JointState", topic=name,
                             latch=False, queue_size=100)
            self.client.send("publish", id=f"publish:{name}:5", topic=name, msg=STATE, latch=False)
            got = self.client.receive("publish")
            self.assertEqual(got["topic"], name)
            self.assertEqual((got["msg"]["position"], got["msg"]["header"]["stamp"]), ([0.2, 0.1], HEADER["stamp"]))
            self.client.send("unsubscribe", id=f"subscribe:{name}:3", topic=name)
            self.client.send("unadvertise", id=f"advertise:{name}:4", topic=name)
            self.client.synchronize()

    def test_both_names_of_a_topic_at_once(self):
        other = self.gateway.connect()
        self.addCleanup(other.close)
        for client, name in ((self.client, "both"), (other, "/both")):
            for compression in ("none", "cbor"):
                client.send("subscribe", topic=name, type="std_msgs/String", compression=compression)
            client.synchronize()
        self.client.send("advertise", topic="both", type="std_msgs/String")
        self.client.send("publish", topic="both", msg={"data": "x"})
        for client, name in ((self.client, b"both"), (other, b"/both")):
            message = client.receive()
            self.assertIn(b"etopic" + bytes([0x60 + len(name)]) + name, message)

    def test_services_are_offered(self):
        other = self.gateway.connect()
        self.addCleanup(other.close)
        self.client.send("advertise_service", type="rospy_tutorials/AddTwoInts", service="add")
        self.client.synchronize()
        other.send("call_service", id="call_service:/add:1", service="/add", args={"a": 1, "b": 2})
        asked = self.client.receive("call_service")
        self.assertEqual((asked["service"], asked["args"]), ("add", {"a": 1, "b": 2}))
        self.client.send("service_response", service="add", values={"sum": 3}, result=True, id=asked["id"])
        answer = other.receive("service_response")
        self.assertEqual((answer["service"], answer["values"]), ("/add", {"sum": 3}))
        self.client.send("unadvertise_service", service="add")
        self.client.synchronize()
        self.assertIn("add", other.refusal("/add"))

    def test_actions_are_run_and_cancelled(self):
        self.client.send("send_action_goal", id="send_action_goal:/dynamics/rollout:7", action="/dynamics/rollout",
                         action_type="dynamics_msgs/action/Rollout", args={**ROBOT, "steps": 5}, feedback=True)
        answer = self.client.receive("action_result")
        self.assertEqual((answer["id"], answer["result"], answer["status"]), ("send_action_goal:/dynamics/rollout:7",
                                                                              True, 4))
        self.client.send("send_action_goal", id="send_action_goal:/dynamics/rollout:8", action="/dynamics/rollout",
                         action_type="dynamics_msgs/action/Rollout", feedback=True,
                         args={"query": {"model": "panda"}, "q": [0.1] * 350, "steps": 200000, "only_last": True})
        self.client.receive("action_feedback")
        self.client.send("cancel_action_goal", id="send_action_goal:/dynamics/rollout:8", action="/dynamics/rollout")
        answer = self.client.receive("action_result")
        self.assertEqual((answer["result"], answer["status"]), (False, 5))


class RosSharp(fixture.Case):
    """ROS# sends JSON in binary frames of at most 1024 bytes, a null where an id may be absent, and numbers for all."""

    def send_object(self, **members):
        data = json.dumps(members).encode()
        pieces = [data[at: at + 1024] for at in range(0, len(data), 1024)]
        for i, piece in enumerate(pieces):
            self.client.socket.send_frame(2 if i == 0 else 0, piece, final=i == len(pieces) - 1)

    def test_services_are_called(self):
        self.send_object(service="/dynamics/gravity", args=ROBOT, fragment_size=2**31 - 1, compression="none",
                         op="call_service", id="/dynamics/gravity:0")
        answer = self.client.receive("service_response")
        self.assertEqual((answer["id"], answer["values"]["g"]), ("/dynamics/gravity:0", self.daemon.call(
            "gravity", ROBOT)["g"]))
        self.send_object(service="/dynamics/gravity", args={**ROBOT, "q": [0.1] * 2000}, op="call_service", id="long",
                         fragment_size=2**31 - 1, compression="none")
        self.assertEqual(len(self.client.receive("service_response")["values"]["g"]), 2000)

    def test_topics_and_services_of_its_own(self):
        self.send_object(topic="states", type="sensor_msgs/JointState", throttle_rate=0, queue_length=1,
                         fragment_size=2**31 - 1, compression="none", op="subscribe", id="states:0")
        self.send_object(topic="states", type="sensor_msgs/JointState", op="advertise", id="states")
        self.send_object(topic="states", msg=STATE, op="publish", id="states")
        self.assertEqual(self.client.receive("publish")["topic"], "states")
        self.send_object(type="std_srvs/Trigger", service="here", op="advertise_service", id=None)
        self.client.synchronize()
        other = self.gateway.connect()
        self.addCleanup(other.close)
        other.send("call_service", id="x", service="/here")
        asked = self.client.receive("call_service")
        self.send_object(service="here", values={"success": True, "message": ""}, result=True, op="service_response",
                         id=asked["id"])
        self.assertTrue(other.receive("service_response")["values"]["success"])
        for members in ({"service": "here", "op": "unadvertise_service", "id": None},
                        {"topic": "states", "op": "unsubscribe", "id": "states:0"},
                        {"topic": "states", "op": "unadvertise", "id": "states"}):
            self.send_object(**members)
        self.client.synchronize()

    def test_bad_text_in_a_binary_frame_is_bad_json(self):
        self.assertTrue(self.client.status(b"{").startswith("not JSON: line 1"))
        self.assertTrue(self.client.status(b'{"op": NaN}').startswith("not JSON"))


if __name__ == "__main__":
    unittest.main()
