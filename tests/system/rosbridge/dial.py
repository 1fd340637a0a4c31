#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The other direction: the gateway dials a rosbridge server and offers services and topics to the nodes there.

The server here keeps to the protocol's words: it takes advertise, advertise_service, subscribe, publish and
service_response, and sends call_service and publish.
"""
import itertools
import json
import socket
import unittest

import fixture
import websocket

TWO_LINK = {"model": "two_link"}
PANDA = {"model": "panda"}


class Server:
    """A rosbridge server with one connection at a time."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(fixture.WAIT)
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}"
        self.count = itertools.count()
        self.socket = None

    def close(self):
        if self.socket:
            self.socket.close()
        self.listener.close()

    def accept(self):
        """Takes the next connection and what it offers first: until the last of its topics."""
        self.socket = websocket.accept(self.listener)
        self.services, self.topics, self.subscriptions = {}, {}, {}
        while "/diagnostics" not in self.topics or "/dynamics/models" not in self.topics:
            self.take(self.receive())

    def receive(self):
        return json.loads(self.socket.receive())

    def take(self, message):
        if message["op"] == "advertise_service":
            self.services[message["service"]] = message["type"]
        elif message["op"] == "subscribe":
            self.subscriptions[message["topic"]] = message["type"]
        elif message["op"] == "advertise":
            self.topics[message["topic"]] = message["type"]
        elif message["op"] == "unadvertise":
            del self.topics[message["topic"]]
        elif message["op"] == "publish":
            assert message["topic"] in self.topics, message

    def send(self, op, **members):
        self.socket.send(json.dumps({"op": op, **members}))

    def call(self, service, args):
        """A node's call."""
        identity = f"service_request:{service}:{next(self.count)}"
        self.send("call_service", id=identity, service=service, args=args)
        while True:
            message = self.receive()
            self.take(message)
            if message["op"] == "service_response" and message["id"] == identity:
                return message

    def wait_for_topic(self, name):
        while name not in self.topics:
            self.take(self.receive())

    def next_message(self, topic):
        while True:
            message = self.receive()
            self.take(message)
            if message["op"] == "publish" and message["topic"] == topic:
                return message["msg"]


class Dial(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = fixture.Daemon()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0

    def start(self, **keys):
        server = Server()
        self.addCleanup(server.close)
        self.gateway = gateway = fixture.Gateway(self.daemon, dial__url=server.url, dial__interval=0.2, **keys)
        self.addCleanup(lambda: self.assertEqual(gateway.stop(), 0))
        server.accept()
        return server

    def test_nodes_of_ros_2_call_every_method(self):
        server = self.start()
        self.assertEqual(server.services["/dynamics/inverse_dynamics"], "dynamics_msgs/srv/InverseDynamics")
        self.assertGreater(len(server.services), 30)
        self.assertEqual(server.services["/dynamics/check_health"], "std_srvs/srv/Trigger")
        fixture.wait_for(lambda: server.call("/dynamics/check_health", {})["values"]["success"], "the daemon serves")
        self.assertEqual(server.topics["/diagnostics"], "diagnostic_msgs/msg/DiagnosticArray")
        args = {"query": PANDA, "q": [0.1 * i for i in range(7)]}
        answer = server.call("/dynamics/gravity", args)
        self.assertTrue(answer["result"])
        self.assertEqual(answer["values"]["g"], self.daemon.call("gravity", args)["g"])
        refused = server.call("/dynamics/gravity", {"query": PANDA, "q": [None]})
        self.assertEqual((refused["result"], refused["values"]), (False, "args.q[0]: null is not a number"))

    def test_a_server_that_answers_no_ping_is_reported_and_dialled_again(self):
        server = self.start(limits__ping_interval=1, limits__ping_timeout=1)
        frames = [server.socket._frame()]
        while frames[-1][0] != websocket.CLOSE:
            frames.append(server.socket._frame())
        self.assertIn(websocket.PING, [opcode for opcode, _, _ in frames])
        self.assertEqual(int.from_bytes(frames[-1][2][:2], "big"), 1011)
        self.assertIn(b"a ping was not answered", frames[-1][2])
        server.socket.close()
        server.accept()
        fixture.wait_for(lambda: server.call("/dynamics/check_health", {})["values"]["success"], "the daemon serves")

    def test_text_of_the_server_is_logged_with_escapes(self):
        server = self.start()
        server.send("status", level="error", msg="a\x1b[2J\nforged\u009b\u202e\u2028b")
        shown = b"a\\x1b[2J\\x0aforged\\u009b\\u202e\\u2028b"
        fixture.wait_for(lambda: shown in self.gateway.log.read_bytes(), "the status is logged")
        text = self.gateway.log.read_text(encoding="utf-8")
        self.assertEqual([c for c in text if not c.isprintable() and c != "\n"], [])

    def test_a_node_sends_all_fields_of_a_request(self):
        """ROS has no absent fields: what is not set arrives as zeros, empty texts and empty sequences."""
        server = self.start()
        query = {**TWO_LINK, "joint_names": [], "gravity": [], "payloads": [], "external_forces": []}
        args = {"query": [query], "q": [0.1, 0.2], "v": [], "a": [], "joint_state": []}
        answer = server.call("/dynamics/inverse_dynamics", args)
        self.assertTrue(answer["result"], answer)
        expected = self.daemon.call("inverse_dynamics", {"query": TWO_LINK, "q": [0.1, 0.2]})
        self.assertEqual(answer["values"]["tau"], expected["tau"])

    def test_nodes_of_ros_1_get_its_spelling(self):
        server = self.start(ros__version=1)
        self.assertEqual(server.services["/dynamics/inverse_dynamics"], "dynamics_msgs/InverseDynamics")
        self.assertEqual(server.topics["/diagnostics"], "diagnostic_msgs/DiagnosticArray")
        self.assertEqual(set(server.next_message("/diagnostics")["header"]["stamp"]), {"secs", "nsecs"})

    def test_simulations_are_topics_there(self):
        server = self.start()
        made = server.call("/dynamics/create_simulation", {"name": "dialled", "query": {"model": "two_link"},
            "pace": "PACE_CLOCK"})
        topic = "/dynamics/simulations/dialled/joint_states"
        server.wait_for_topic(topic)
        self.assertEqual(server.topics[topic], "sensor_msgs/msg/JointState")
        self.assertEqual(server.next_message(topic)["name"], ["joint1", "joint2"])
        server.call("/dynamics/delete_simulation", {"simulation": "dialled", "token": made["values"]["token"]})
        while topic in server.topics:
            server.take(server.receive())

    def test_nodes_push_trajectories_and_get_torques(self):
        server = self.start()
        made = server.call("/dynamics/open_stream", {
            "name": "dialled", "query": TWO_LINK, "feedforward": {}})["values"]
        effort, trajectory = (f"/dynamics/streams/dialled/{each}" for each in ("effort", "joint_trajectory"))
        server.wait_for_topic(effort)
        while trajectory not in server.subscriptions:
            server.take(server.receive())
        self.assertEqual(server.subscriptions[trajectory], "trajectory_msgs/msg/JointTrajectory")
        message = {"header": {"frame_id": str(made["key"])}, "joint_names": ["joint2", "joint1"],
                   "points": [{"positions": [0.5, 0.25], "time_from_start": {"sec": 3, "nanosec": 0}}]}

        def is_watched():
            status = server.call("/dynamics/get_stream", {"stream": "dialled"})["values"]["stream"]
            return status["watchers"] > 0

        def is_taken():
            server.send("publish", topic=trajectory, msg=message)
            status = server.call("/dynamics/get_stream", {"stream": "dialled"})["values"]["stream"]
            return int(status["counters"]["accepted"]) > 0

        fixture.wait_for(is_watched, "the stream is watched")
        fixture.wait_for(is_taken, "the joints are known and the points taken")
        server.send("publish", topic=trajectory, msg=message)
        state = server.next_message(effort)
        self.assertEqual((state["header"]["stamp"], state["name"]), ({"sec": 3, "nanosec": 0}, ["joint1", "joint2"]))
        expected = self.daemon.call("inverse_dynamics", {"query": TWO_LINK, "q": [0.25, 0.5]})["tau"]
        self.assertEqual(state["effort"], expected)
        server.call("/dynamics/close_stream", {"stream": "dialled", "key": made["key"]})

    def test_a_lost_server_is_dialled_again(self):
        server = self.start()
        server.socket.close()
        server.accept()
        self.assertTrue(server.call("/dynamics/list_models", {})["result"])


if __name__ == "__main__":
    unittest.main()
