#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Topics, services and actions: of the daemon, and of clients among themselves."""
import json
import time
import unittest

import cbor
import fixture

TWO_LINK = {"model": "two_link"}
PANDA = {"model": "panda"}

STATE = {"header": {"stamp": {"secs": 5, "nsecs": 6}, "frame_id": "w"}, "name": ["a"], "position": [1.5]}


class Topics(fixture.Case):
    def pair(self):
        other = self.gateway.connect()
        self.addCleanup(other.close)
        return self.client, other

    def test_messages_are_checked_completed_and_passed_on_in_each_spelling_of_times(self):
        writer, reader = self.pair()
        writer.send("advertise", topic="/states", type="sensor_msgs/JointState")
        reader.send("subscribe", topic="states", type="sensor_msgs/msg/JointState")
        writer.send("subscribe", topic="/states", type="sensor_msgs/JointState", id="own")
        writer.synchronize()
        reader.synchronize()
        writer.send("publish", topic="/states", msg={**STATE, "header": {**STATE["header"], "seq": 7}})
        whole = {**STATE, "velocity": [], "effort": []}
        self.assertEqual(writer.receive("publish")["msg"], whole)
        whole["header"] = {"stamp": {"sec": 5, "nanosec": 6}, "frame_id": "w"}
        self.assertEqual(reader.receive("publish"), {"op": "publish", "topic": "states", "msg": whole})
        for message, reason in (({"position": [None]}, "msg.position[0]: null is not a float64"),
                                ({"positions": []}, 'has no field "positions"'),
                                ({"header": {"stamp": 7}}, "msg.header.stamp: a time"), (7, "msg: a sensor_msgs")):
            response = writer.status({"op": "publish", "topic": "/states", "msg": message})
            self.assertIn(reason, response)
        writer.send("publish", topic="/states", msg={"header": {"stamp": "now"}, "position": {"0": 1.0, "1": 2.0}})
        now = reader.receive("publish")["msg"]
        self.assertEqual(now["position"], [1.0, 2.0])
        self.assertLess(abs(now["header"]["stamp"]["sec"] - time.time()), 60)

    def test_latching_topics_give_late_subscribers_the_last_message(self):
        writer, reader = self.pair()
        writer.send("advertise", topic="/latched", type="std_msgs/String", latch=True)
        for word in ("first", "last"):
            writer.send("publish", topic="/latched", msg={"data": word})
        writer.synchronize()
        reader.send("subscribe", topic="/latched")
        self.assertEqual(reader.receive("publish")["msg"], {"data": "last"})
        health = self.gateway.connect()
        health.send("subscribe", topic="/diagnostics", type="diagnostic_msgs/DiagnosticArray")
        while health.receive("publish")["msg"]["status"][0]["level"] != 0:
            pass
        health.close()

    def test_throttle_queue_and_unsubscribe(self):
        writer, reader = self.pair()
        writer.send("advertise", topic="/fast", type="std_msgs/Int32")
        reader.send("subscribe", topic="/fast", throttle_rate=200, queue_length=3, id="slow")
        reader.synchronize()
        for number in range(20):
            writer.send("publish", topic="/fast", msg={"data": number})
        began = time.monotonic()
        got = [reader.receive("publish")["msg"]["data"] for _ in range(4)]
        self.assertEqual(got, [0, 17, 18, 19])
        self.assertGreater(time.monotonic() - began, 0.55)
        reader.send("subscribe", topic="/fast", id="quick")
        reader.synchronize()
        for number in range(3):
            writer.send("publish", topic="/fast", msg={"data": number})
        self.assertEqual([reader.receive("publish")["msg"]["data"] for _ in range(3)], [0, 1, 2])
        reader.send("unsubscribe", topic="/fast", id="quick")
        self.assertIn("no subscription of that id", reader.status({"op": "unsubscribe", "topic": "/fast",
            "id": "none"}))
        reader.send("unsubscribe", topic="/fast")
        reader.synchronize()
        writer.send("publish", topic="/fast", msg={"data": 1})
        writer.synchronize()
        reader.synchronize()

    def test_encodings_of_topics(self):
        for compression in ("cbor", "png", "cbor-raw"):
            writer, reader = self.gateway.connect(), self.gateway.connect()
            writer.send("advertise", topic="/encoded", type="sensor_msgs/JointState")
            reader.send("subscribe", topic="/encoded", type="sensor_msgs/JointState", compression=compression)
            reader.synchronize()
            writer.send("publish", topic="/encoded", msg=STATE)
            message = reader.receive()
            if compression == "png":
                message = json.loads(cbor.png_text(message["data"]))
            else:
                message = cbor.decode(message)
            if compression == "cbor-raw":
                expected = (b"\0\0\0\0\5\0\0\0\6\0\0\0\1\0\0\0w\1\0\0\0\1\0\0\0a\1\0\0\0\0\0\0\0\0\0\xf8\x3f" + bytes(
                    8))
                self.assertEqual(message["msg"]["bytes"], expected)
            else:
                self.assertEqual(message["msg"]["position"], [1.5])
            writer.close()
            reader.close()
        reader = self.gateway.connect()
        reader.send("subscribe", topic="/diagnostics", fragment_size=150)
        pieces = [reader.receive("fragment")]
        while len(pieces) < pieces[0]["total"]:
            pieces.append(reader.receive("fragment"))
        self.assertEqual(json.loads("".join(piece["data"] for piece in pieces))["topic"], "/diagnostics")
        reader.close()

    def test_events_of_the_daemon(self):
        self.client.send("subscribe", topic="/dynamics/models", type="dynamics_msgs/ModelEvent")
        self.client.synchronize()
        time.sleep(0.5)
        self.assertEqual(self.daemon.control("unload", "quadruped").returncode, 0)
        response = self.client.receive("publish")["msg"]
        self.assertEqual((response["change"], response["model"]["name"]), ("CHANGE_UNLOADED", "quadruped"))

    def test_a_simulation_is_a_topic_while_it_lives(self):
        self.client.send("subscribe", topic="/dynamics/simulations/arm/joint_states", type="sensor_msgs/JointState")
        made = self.client.values("/dynamics/create_simulation", {
            "name": "arm", "query": {**TWO_LINK, "joint_names": ["joint2", "joint1"]}, "pace": "PACE_CLOCK", "q": [0.5,
                0.25]})
        state = self.client.receive("publish")["msg"]
        self.assertEqual(state["name"], ["joint2", "joint1"])
        self.assertEqual((len(state["position"]), len(state["velocity"]), len(state["effort"])), (2, 2, 2))
        later = self.client.receive("publish")["msg"]
        self.assertGreater(later["header"]["stamp"]["secs"] + 1e-9 * later["header"]["stamp"]["nsecs"],
                           state["header"]["stamp"]["secs"] + 1e-9 * state["header"]["stamp"]["nsecs"])
        self.assertIn("/dynamics/simulations/arm/events", self.client.values("/rosapi/topics")["topics"])
        self.client.values("/dynamics/delete_simulation", {"simulation": "arm", "token": made["token"]})
        fixture.wait_for(lambda: "/dynamics/simulations/arm/state" not in self.client.values(
            "/rosapi/topics")["topics"],
                         "the topics of the simulation end")

    def test_a_simulation_is_driven_by_joint_states(self):
        made = self.client.values("/dynamics/create_simulation", {"name": "driven", "query": {"model": "two_link"},
            "pace": "PACE_LOCKSTEP"})
        topic, token = "/dynamics/simulations/driven/command", str(made["token"])
        fixture.wait_for(lambda: topic in self.client.values("/rosapi/topics")["topics"], "the topic is there")
        self.client.send("advertise", topic=topic, type="sensor_msgs/JointState")
        message = {"header": {"frame_id": token}, "name": ["joint2", "joint1"], "effort": [3.5, -7.25]}

        def driven():
            self.client.send("publish", topic=topic, msg=message)
            step = self.client.values("/dynamics/step_simulation", {"simulation": "driven", "token": made["token"]})
            return step["state"]["tau"] == [-7.25, 3.5]

        fixture.wait_for(driven, "the forces act")
        for wrong, reason in (({"name": ["joint1"]}, 'msg.name: "joint2" is missing; name each of 2 coordinates'),
                              ({"name": ["a", "b"]}, '"a" is no joint'),
                              ({"name": ["joint1", "joint1"]}, "named twice")):
            self.assertIn(reason, self.client.status({"op": "publish", "topic": topic, "msg": {**message, **wrong}}))
        other = {**message, "header": {"frame_id": "1"}}
        self.assertIn("PERMISSION_DENIED", self.client.status({"op": "publish", "topic": topic, "msg": other}))
        self.client.values("/dynamics/delete_simulation", {"simulation": "driven", "token": made["token"]})

    @property
    def stream(self):
        """Another one for each test: the gateway learns by events when one has been closed."""
        return "plan_" + self._testMethodName

    def open_stream(self, topics, **options):
        """A stream whose topics are watched, if they are some; its key, and its topic for trajectories."""
        made = self.client.values("/dynamics/open_stream", {"name": self.stream, **options})
        self.addCleanup(self.client.call, "/dynamics/close_stream", {"stream": self.stream, "key": made["key"]})
        for topic, kind in topics.items():
            self.client.send("subscribe", topic=f"/dynamics/streams/{self.stream}/{topic}", type=kind)
        if topics:
            self.await_watcher()
        trajectory = f"/dynamics/streams/{self.stream}/joint_trajectory"
        fixture.wait_for(lambda: trajectory in self.client.values("/rosapi/topics")["topics"], "the topic is there")
        self.client.send("advertise", topic=trajectory, type="trajectory_msgs/JointTrajectory")
        return str(made["key"]), trajectory

    def await_watcher(self):
        fixture.wait_for(lambda: self.client.values("/dynamics/get_stream", {"stream": self.stream})["stream"][
            "watchers"] > 0, "the stream is watched")

    def fill(self, topic, message):
        """Publishes until the gateway knows the joints, which it asks for when a topic is used first."""
        def is_known():
            self.client.send("publish", topic=topic, msg={**message, "joint_names": []})
            return "is missing" in self.client.receive("status")["msg"]

        fixture.wait_for(is_known, "the joints are known")
        self.client.send("publish", topic=topic, msg=message)

    def test_a_trajectory_becomes_torques(self):
        names = ["wrist_3_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "shoulder_pan_joint",
                 "shoulder_lift_joint"]
        key, topic = self.open_stream({"effort": "sensor_msgs/JointState", "torques": "dynamics_msgs/StreamTorques"},
                                      feedforward={}, query={"model": "ur5", "joint_names": names})
        mixed = [names[i] for i in (3, 0, 5, 1, 4, 2)]
        points = [{"time_from_start": {"secs": i, "nsecs": 250000000}, **{
            part: [0.3 * k - 0.2 * i + j for k in range(6)]
            for j, part in enumerate(("positions", "velocities", "accelerations"))}} for i in range(3)]
        expected = self.client.values("/dynamics/inverse_dynamics", {
            "query": {"model": "ur5", "joint_names": mixed}, **{short: sum((point[part] for point in points), [])
            for short, part in (("q", "positions"), ("v", "velocities"), ("a", "accelerations"))}})["tau"]
        self.fill(topic, {"header": {"frame_id": key}, "joint_names": mixed, "points": points})
        for i in range(3):
            state = self.client.receive("publish")["msg"]
            self.assertEqual(state["header"]["stamp"], {"secs": i, "nsecs": 250000000})
            self.assertEqual((state["name"], state["position"]), (names, []))
            effort = dict(zip(state["name"], state["effort"]))
            self.assertEqual([effort[name] for name in mixed], expected[6 * i:6 * i + 6])
        torques = self.client.receive("publish")["msg"]
        self.assertEqual((torques["stream"], torques["time"]), (self.stream, [0.25, 1.25, 2.25]))
        self.assertEqual([int(number) for number in torques["point_number"]], [1, 2, 3])

    def test_bad_trajectories_are_answered(self):
        key, topic = self.open_stream({}, feedforward={}, query=TWO_LINK, capacity=4)
        reader = self.gateway.connect()
        self.addCleanup(reader.close)
        reader.send("subscribe", topic=f"/dynamics/streams/{self.stream}/events", type="dynamics_msgs/StreamEvent")
        self.await_watcher()
        point = {"positions": [1, 2]}
        good = {"header": {"frame_id": key}, "joint_names": ["joint2", "joint1"], "points": [point]}
        self.fill(topic, good)
        for wrong, reason in (
                ({"joint_names": ["joint1"]}, 'msg.joint_names: "joint2" is missing; name each of 2 coordinates'),
                ({"joint_names": ["joint1", "b"]}, '"joint2" is missing; name each of 2 coordinates; "b" is no joint'),
                ({"joint_names": ["joint1", "joint1"]}, "msg.joint_names[1]: \"joint1\" is named twice"),
                ({"header": {"frame_id": "base"}}, "msg.header.frame_id: send the key"),
                ({"header": {"frame_id": "1"}}, "msg.header.frame_id: the points did not arrive"),
                ({"points": []}, "msg.points: send one point or more"),
                ({"points": [point, {"positions": [1]}]}, "msg.points[1].positions: 1 values; send 2"),
                ({"points": [point, {**point, "effort": [1, 2]}]}, "msg.points[1].effort: 2 values; send 0"),
                ({"points": [{"positions": [1, None]}]}, "msg.points[0].positions[1]: null is not a float64"),
                ({"points": [point] * 5}, "msg.points: 5 points, but the stream takes 4 more for now"),
                ({"points": [{"velocities": [1, 2]}]}, "0 of 1 points were taken, 1 refused")):
            self.client.send("publish", topic=topic, msg={**good, **wrong})
            self.assertIn(reason, self.client.receive("status")["msg"])
        response = reader.receive("publish")["msg"]
        while response["kind"] != "KIND_REFUSED":
            response = reader.receive("publish")["msg"]
        self.assertIn("q is empty", response["message"])
        counters = self.client.values("/dynamics/get_stream", {"stream": self.stream})["stream"]["counters"]
        self.assertEqual((int(counters["accepted"]), int(counters["refused"])), (1, 1))

    def test_a_trajectory_drives_a_simulation(self):
        made = self.client.values("/dynamics/create_simulation", {"name": "fed", "query": {"model": "two_link"},
            "pace": "PACE_LOCKSTEP"})
        key, topic = self.open_stream({}, simulation_input={"simulation": "fed", "token": made["token"]})
        points = [{"effort": [5.5, -1.25]}, {"effort": [2.0, 8.0], "time_from_start": {"sec": 0, "nanosec": 2000000}}]
        self.fill(topic, {"header": {"frame_id": key}, "joint_names": ["joint2", "joint1"], "points": points})
        fixture.wait_for(lambda: int(self.client.values("/dynamics/get_stream", {"stream": self.stream})["stream"][
            "counters"]["accepted"]) == 2, "the points are there")
        forces = [self.client.values("/dynamics/step_simulation", {"simulation": "fed", "token": made["token"]})[
            "state"]["tau"] for _ in range(4)]
        self.assertEqual(forces[0], [-1.25, 5.5])
        self.assertEqual(forces[-1], [8.0, 2.0])
        self.client.values("/dynamics/delete_simulation", {"simulation": "fed", "token": made["token"]})

    def test_wrenches_act_on_a_simulation(self):
        made = self.client.values("/dynamics/create_simulation", {"name": "pushed", "query": {"model": "ur5"},
            "pace": "PACE_LOCKSTEP"})
        topic, token = "/dynamics/simulations/pushed/wrench", made["token"]
        fixture.wait_for(lambda: topic in self.client.values("/rosapi/topics")["topics"], "the topic is there")

        def push(link, force, torque=(0, 0, 0)):
            self.client.send("publish", topic=topic, msg={"header": {"frame_id": f"{token}/{link}"}, "wrench": {
                "force": dict(zip("xyz", force)), "torque": dict(zip("xyz", torque))}})

        def acting():
            state = self.client.values("/dynamics/get_simulation_state", {"simulation": "pushed"})
            return {each["link"]: (each["reference_frame"], each["force"], each["torque"])
                    for each in state["external_forces"]}

        push("wrist_3_link", (1, 2, 3), (0.5, -0.25, 4))
        push("forearm_link", (-40, 0, 7))
        both = {"wrist_3_link": ("REFERENCE_FRAME_LOCAL", [1, 2, 3], [0.5, -0.25, 4]),
                "forearm_link": ("REFERENCE_FRAME_LOCAL", [-40, 0, 7], [0, 0, 0])}
        fixture.wait_for(lambda: acting() == both, "both wrenches act")
        before = self.client.values("/dynamics/get_simulation_state", {"simulation": "pushed"})["state"]
        forces = [{"link": link, "reference_frame": frame, "force": force, "torque": torque}
                  for link, (frame, force, torque) in both.items()]
        after = self.client.values("/dynamics/step_simulation", {"simulation": "pushed", "token": token})["state"]
        step = after["time"] - before["time"]
        for external, is_equal in ((forces, True), ([], False)):
            a = self.client.values("/dynamics/forward_dynamics", {
                "query": {"model": "ur5", "external_forces": external}, "q": before["q"]})["a"]
            gaps = [abs(v - step * each) for v, each in zip(after["v"], a)]
            self.assertEqual(max(gaps) < 1e-9 * max(map(abs, after["v"])), is_equal, gaps)
        push("forearm_link", (0, 0, 0))
        push("wrist_3_link", (0, 0, 1))
        fixture.wait_for(lambda: acting() == {"wrist_3_link": ("REFERENCE_FRAME_LOCAL", [0, 0, 1], [0, 0, 0])},
                         "one wrench has ended")
        for frame, reason in (("wrist_3_link", "msg.header.frame_id: send TOKEN/LINK"),
                              (f"{token}/", "msg.header.frame_id: send TOKEN/LINK"),
                              (f"{token}/tail", "the wrench on tail: msg.header.frame_id: "),
                              ("1/wrist_3_link", "the wrench on wrist_3_link: msg.header.frame_id: ")):
            message = {"header": {"frame_id": frame}, "wrench": {"force": {"x": 1}}}
            self.assertIn(reason, self.client.status({"op": "publish", "topic": topic, "msg": message}))
        wrong = {"header": {"frame_id": f"{token}/tail"}, "wrench": {"force": {"x": None}}}
        self.assertIn("msg.wrench.force.x: null", self.client.status({"op": "publish", "topic": topic, "msg": wrong}))
        self.client.values("/dynamics/delete_simulation", {"simulation": "pushed", "token": token})

    def test_services_of_clients(self):
        server, caller = self.pair()
        server.send("advertise_service", service="/add", type="a/Add")
        server.synchronize()
        self.assertIn("/add", caller.values("/rosapi/services")["services"])
        self.assertEqual(caller.values("/rosapi/service_type", {"service": "add"}), {"type": "a/srv/Add"})
        self.assertIn("another client", caller.status({"op": "advertise_service", "service": "/add", "type": "a/Add"}))
        caller.send("call_service", id=["any", 1], service="add", args={"a": 1})
        asked = server.receive("call_service")
        self.assertEqual((asked["service"], asked["args"]), ("/add", {"a": 1}))
        server.send("service_response", id=asked["id"], service="/add", values={"sum": 3}, result=True)
        self.assertEqual(caller.receive(), {"op": "service_response", "id": ["any", 1], "service": "add",
                                            "values": {"sum": 3}, "result": True})
        self.assertIn("DEADLINE_EXCEEDED", caller.refusal("/add", {}, timeout=0.2))
        server.receive("call_service")
        caller.send("call_service", id="x", service="/add")
        server.receive("call_service")
        server.send("unadvertise_service", service="/add")
        self.assertIn("UNAVAILABLE", caller.receive("service_response")["values"])
        self.assertIn("NOT_FOUND", caller.refusal("/add"))

    def test_a_provider_that_goes_fails_its_calls(self):
        server, caller = self.gateway.connect(), self.client
        server.send("advertise_service", service="/gone", type="a/Gone")
        server.synchronize()
        caller.send("call_service", id="g", service="/gone")
        server.receive("call_service")
        server.close()
        self.assertIn("has gone", caller.receive("service_response")["values"])

    def test_actions_of_clients(self):
        server, caller = self.pair()
        server.send("advertise_action", action="/walk", type="a/Walk")
        server.synchronize()
        caller.send("send_action_goal", id="g", action="/walk", action_type="a/Walk", args={"m": 2}, feedback=True)
        goal = server.receive("send_action_goal")
        self.assertEqual((goal["args"], goal["feedback"]), ({"m": 2}, True))
        server.send("action_feedback", id=goal["id"], action="/walk", values={"done": 1})
        self.assertEqual(caller.receive(), {"op": "action_feedback", "id": "g", "action": "/walk",
            "values": {"done": 1}})
        caller.send("cancel_action_goal", id="g", action="/walk")
        self.assertEqual(server.receive("cancel_action_goal")["id"], goal["id"])
        server.send("action_result", id=goal["id"], action="/walk", values={"m": 1}, status=5, result=True)
        self.assertEqual(caller.receive(), {"op": "action_result", "id": "g", "action": "/walk", "values": {"m": 1},
                                            "status": 5, "result": True})

    def test_methods_are_actions(self):
        goal = {"query": TWO_LINK, "q": [0.1, 0.2]}
        self.client.send("send_action_goal", id="g", action="/dynamics/gravity", action_type="dynamics_msgs/Gravity",
                         args=goal, feedback=True)
        result = self.client.receive("action_result")
        self.assertEqual((result["id"], result["status"], result["result"]), ("g", 4, True))
        self.assertEqual(result["values"], self.client.values("/dynamics/gravity", goal))
        self.client.send("send_action_goal", id="h", action="/dynamics/gravity", 
                         args={"query": {"model": "none"}, "q": [1]})
        result = self.client.receive("action_result")
        self.assertEqual((result["status"], result["result"]), (6, False))
        self.assertIn("args.query.model", result["values"])
        self.client.send("send_action_goal", id="i", action="/no/such", args={})
        self.assertEqual(self.client.receive("action_result")["status"], 6)

    def test_a_long_goal_has_feedback_and_is_cancelled(self):
        goal = {"query": PANDA, "q": [0.1] * 7 * 50, "steps": 200000, "only_last": True}
        self.client.send("send_action_goal", id="long", action="/dynamics/rollout", args=goal, feedback=True)
        feedback = [self.client.receive("action_feedback") for _ in range(2)]
        self.assertEqual((feedback[0]["id"], feedback[0]["action"]), ("long", "/dynamics/rollout"))
        self.assertLess(feedback[0]["values"]["fraction"], feedback[1]["values"]["fraction"])
        self.client.send("cancel_action_goal", id="long", action="/dynamics/rollout")
        result = self.client.receive("action_result")
        self.assertEqual((result["id"], result["status"], result["result"]), ("long", 5, False))
        self.assertIn("CANCELLED", result["values"])

    def test_health_is_a_trigger(self):
        self.client.await_health()
        self.assertEqual(self.client.values("/dynamics/check_health"), {"success": True, "message": "serving"})
        self.assertEqual(self.client.values("/rosapi/services_for_type", {"type": "std_srvs/Trigger"}),
                         {"services": ["/dynamics/check_health"]})
        answer = cbor.decode(self.client.call("/dynamics/check_health", compression="cbor"))
        self.assertTrue(answer["values"]["success"])

    def test_health_of_a_daemon_that_is_gone(self):
        daemon = fixture.Daemon()
        self.addCleanup(daemon.stop)
        gateway = fixture.Gateway(daemon)
        self.addCleanup(gateway.stop)
        client = gateway.connect()
        self.addCleanup(client.close)
        client.await_health()
        daemon.process.terminate()
        daemon.process.wait()
        response = client.call("/dynamics/check_health", timeout=0.5)
        self.assertEqual((response["result"], response["values"]["success"]), (True, False))
        self.assertRegex(response["values"]["message"], "TIMEOUT|UNREACHABLE|timeout|unreachable")

    def test_rosapi_lists_services_topics_and_types(self):
        values = self.client.values
        self.assertIn("/rosapi/topics", values("rosapi/services")["services"])
        self.assertEqual(values("/rosapi/service_type", {"service": "/dynamics/gravity"})["type"],
            "dynamics_msgs/srv/Gravity")
        self.assertEqual(values("/rosapi/topic_type", {"topic": "/diagnostics"})["type"],
            "diagnostic_msgs/msg/DiagnosticArray")
        self.assertEqual(values("/rosapi/services_for_type", {"type": "dynamics_msgs/Gravity"}),
            {"services": ["/dynamics/gravity"]})
        self.assertEqual(values("/rosapi/service_node", {"service": "/dynamics/gravity"}), {"node": "/dynamicsd"})
        self.assertIn("/dynamics/mass_matrix", values("/rosapi/action_servers")["action_servers"])
        self.assertIn("/diagnostics", values("/rosapi/node_details", {"node": "/dynamicsd"})["publishing"])
        details = values("/rosapi/message_details", {"type": "sensor_msgs/JointState"})["typedefs"]
        self.assertEqual(details[0]["fieldnames"], ["header", "name", "position", "velocity", "effort"])
        self.assertEqual([each["type"] for each in details][1:], ["std_msgs/msg/Header", "builtin_interfaces/msg/Time"])
        request = values("/rosapi/service_request_details",
            {"type": "dynamics_msgs/srv/InverseDynamics"})["typedefs"][0]
        self.assertEqual(request["fieldnames"][0], "query")
        self.assertEqual(request["fieldnames"][-2:], ["joint_state", "ignore_extra_joints"])
        reply = values("/rosapi/service_response_details", {"type": "dynamics_msgs/InverseDynamics"})["typedefs"][0]
        self.assertEqual(reply["fieldnames"], ["samples", "tau", "passive_forces", "agreement"])
        self.assertEqual(reply["fieldtypes"], ["uint64", "float64", "dynamics_msgs/msg/PassiveForces",
                                               "dynamics_msgs/msg/MotionAgreement"])
        raw = values("/rosapi/topics_and_raw_types")
        text = raw["typedefs_full_text"][raw["topics"].index("/diagnostics")]
        self.assertTrue(text.startswith("std_msgs/Header header\ndiagnostic_msgs/DiagnosticStatus[] status\n"), text)
        self.assertIn("MSG: diagnostic_msgs/KeyValue\nstring key\nstring value\n", text)


if __name__ == "__main__":
    unittest.main()
