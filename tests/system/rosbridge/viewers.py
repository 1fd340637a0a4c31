#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Topics that viewers of ROS read: /tf, /tf_static, /robot_description, /rosout, and rates of states."""
import math
import time
import unittest
import xml.etree.ElementTree

import fixture
import inputs

TF = "tf2_msgs/msg/TFMessage"


def rotate(q, p):
    """Turns a vector by a quaternion x y z w."""
    x, y, z, w = q
    cross = lambda a, b: [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    once = [2 * each for each in cross((x, y, z), p)]
    return [a + w * b + c for a, b, c in zip(p, once, cross((x, y, z), once))]


def multiply(a, b):
    """The product of two quaternions x y z w."""
    return [a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
            a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
            a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
            a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]]


def poses_in_world(transforms):
    """(position, quaternion) of each frame, composed from the world to the leaves."""
    parents = {each["child_frame_id"]: (each["header"]["frame_id"], each["transform"]) for each in transforms}
    assert len(parents) == len(transforms), "a frame has two parents"

    def pose(frame):
        if frame == "world":
            return [0, 0, 0], [0, 0, 0, 1]
        parent, transform = parents[frame]
        position, quaternion = pose(parent)
        moved = rotate(quaternion, [transform["translation"][axis] for axis in "xyz"])
        return ([a + b for a, b in zip(position, moved)],
                multiply(quaternion, [transform["rotation"][axis] for axis in "xyzw"]))

    return {frame: pose(frame) for frame in parents}


class Viewers(fixture.Case):
    def simulate(self, name, **options):
        made = self.client.values("/dynamics/create_simulation", {"name": name, **options})
        end = lambda: self.client.call("/dynamics/delete_simulation", {"simulation": name, "token": made["token"]})
        topic = f"/dynamics/simulations/{name.replace('-', '_')}/state"
        has_topics = lambda: topic in self.client.values("/rosapi/topics")["topics"]
        self.addCleanup(fixture.wait_for, lambda: not has_topics(), "the topics end")
        self.addCleanup(end)
        fixture.wait_for(has_topics, "the simulation has topics")
        return made["token"], end

    def reader(self, *topics, **options):
        reader = self.gateway.connect()
        self.addCleanup(reader.close)
        for topic in topics:
            reader.send("subscribe", topic=topic, **options)
        return reader

    def await_frames(self, transforms, reader, name, model):
        """Checks each pose against the daemon's own, for the state in which the simulation stands."""
        state = self.client.values("/dynamics/get_simulation_state", {"simulation": name})["state"]
        is_current = False
        while not is_current or "fixed" not in transforms:
            message = reader.receive("publish")
            if message["topic"] == "/tf_static":
                transforms["fixed"] = message["msg"]["transforms"]
                continue
            transforms["moving"] = message["msg"]["transforms"]
            stamp = message["msg"]["transforms"][0]["header"]["stamp"]
            is_current = abs(stamp["sec"] + 1e-9 * stamp["nanosec"] - state["time"]) < 1e-6
        found = poses_in_world(transforms["fixed"] + transforms["moving"])
        links = [each["name"] for each in self.client.values("/dynamics/describe_model", {"model": model})["links"]]
        self.assertEqual(set(found), set(links))
        own = self.client.values("/dynamics/kinematics", {"query": {"model": model}, "q": state["q"], "frames": links,
                                                          "reference_frame": "REFERENCE_FRAME_WORLD"})["frames"]
        for each in own:
            position, quaternion = found[each["frame"]]
            sign = math.copysign(1, sum(a * b for a, b in zip(quaternion, each["quaternion"])))
            for a, b in zip(position + [sign * x for x in quaternion], each["position"] + each["quaternion"]):
                self.assertLess(abs(a - b), 1e-12, each["frame"])

    def follow(self, name, model, q):
        token, _ = self.simulate(name, query={"model": model}, q=q, pace="PACE_LOCKSTEP")
        reader = self.reader("/tf", "/tf_static", type=TF)
        transforms = {}
        self.await_frames(transforms, reader, name, model)
        for _ in range(3):
            self.client.values("/dynamics/step_simulation", {"simulation": name, "token": token, "steps": 30})
            self.await_frames(transforms, reader, name, model)

    def test_transforms_of_an_arm_are_those_of_the_simulation(self):
        self.follow("panda-arm", "panda", [0.1, -0.4, 0.3, -1.5, 0.2, 1.1, 0.7])

    def test_transforms_of_joints_of_every_kind_on_a_floating_base(self):
        self.client.values("/dynamics/load_model", {"description": inputs.describe()})
        self.addCleanup(self.client.call, "/dynamics/unload_model", {"model": "chain"})
        model = self.client.values("/dynamics/describe_model", {"model": "chain"})
        plain = ("planar", "cylindrical", "universal", "revolute")
        q = [0.125 if name.startswith(plain) else x for name, x in zip(model["q_names"], model["zero_q"])]
        q[:7] = [0.5, -0.25, 1.5, 0.5, -0.5, 0.5, 0.5]
        self.follow("zoo", "chain", q)

    def test_the_description_is_the_models_urdf(self):
        _, end = self.simulate("described", query={"model": "ur5"}, pace="PACE_LOCKSTEP")
        text = self.reader("/robot_description", type="std_msgs/msg/String").receive("publish")["msg"]["data"]
        robot = xml.etree.ElementTree.fromstring(text)
        links = [each["name"] for each in self.client.values("/dynamics/describe_model", {"model": "ur5"})["links"]]
        self.assertEqual((robot.tag, [each.get("name") for each in robot.findall("link")]), ("robot", links))
        again = self.reader("/robot_description", type="std_msgs/msg/String").receive("publish")["msg"]["data"]
        self.assertEqual(again, text)
        self.simulate("next", query={"model": "two_link"}, pace="PACE_LOCKSTEP")
        reader = self.reader("/robot_description")
        self.assertIn('name="ur5"', reader.receive("publish")["msg"]["data"].splitlines()[1])
        end()
        self.assertIn('name="two_link"', reader.receive("publish")["msg"]["data"].splitlines()[1])

    def test_a_model_that_urdf_cannot_state_is_reported(self):
        self.client.values("/dynamics/load_model", {"description": inputs.describe()})
        self.addCleanup(self.client.call, "/dynamics/unload_model", {"model": "chain"})
        self.simulate("odd", query={"model": "chain"}, pace="PACE_LOCKSTEP")
        reader, log = self.reader("/robot_description"), self.reader("/rosout")
        status = reader.receive("status")
        self.assertEqual(status["level"], "warning")
        self.assertRegex(status["msg"], "^subscribe: /robot_description: .*(FAILED_PRECONDITION|INVALID_ARGUMENT)")
        fixture.wait_for(lambda: "/robot_description: " in log.receive("publish")["msg"]["msg"], "the log states it")

    def test_states_and_transforms_come_at_the_rate_that_is_asked_for(self):
        self.simulate("quick", query={"model": "two_link"}, pace="PACE_CLOCK", publish_rate=100)
        for topic in ("/tf", "/dynamics/simulations/quick/joint_states"):
            reader = self.reader(topic, throttle_rate=200)
            reader.receive("publish")
            began = time.monotonic()
            for _ in range(5):
                reader.receive("publish")
            self.assertGreater(time.monotonic() - began, 0.8, topic)
            reader.send("unsubscribe", topic=topic)
            every = self.reader(topic)
            stamps = [every.receive("publish")["msg"] for _ in range(30)]
            stamps = [each.get("header") or each["transforms"][0]["header"] for each in stamps]
            times = [each["stamp"]["sec"] + 1e-9 * each["stamp"]["nanosec"] for each in stamps]
            self.assertEqual(times, sorted(times))
            every.close()

    def test_topics_of_clients_are_not_taken(self):
        self.client.send("advertise", topic="/tf", type="tf2_msgs/TFMessage")
        self.client.synchronize()
        made = self.client.values("/dynamics/create_simulation", {"name": "shy", "query": {"model": "two_link"}})
        fixture.wait_for(lambda: "/dynamics/simulations/shy/state" in self.client.values(
            "/rosapi/topics")["topics"], "the simulation has topics")
        topics = self.client.values("/rosapi/topics")["topics"]
        self.assertNotIn("/tf_static", topics)
        reader = self.reader("/tf")
        reader.synchronize()
        self.client.send("publish", topic="/tf", msg={"transforms": [{"child_frame_id": "own"}]})
        self.assertEqual(reader.receive("publish")["msg"]["transforms"][0]["child_frame_id"], "own")
        self.client.send("unadvertise", topic="/tf")
        self.client.values("/dynamics/delete_simulation", {"simulation": "shy", "token": made["token"]})

    def test_the_configuration_chooses_the_simulation(self):
        self.simulate("first", query={"model": "two_link"})
        self.simulate("second", query={"model": "ur5"})
        for name, robot in (("second", "ur5"), ("*", "two_link"), ("", None), ("none-such", None)):
            gateway = fixture.Gateway(self.daemon, ros__simulation=name)
            client = gateway.connect()
            fixture.wait_for(lambda: "/dynamics/simulations/first/state" in client.values(
                "/rosapi/topics")["topics"], "the simulation has topics")
            if robot:
                client.send("subscribe", topic="/robot_description")
                self.assertIn(f'name="{robot}"', client.receive("publish")["msg"]["data"].splitlines()[1])
            else:
                self.assertNotIn("/tf", client.values("/rosapi/topics")["topics"])
            client.close()
            self.assertEqual(gateway.stop(), 0)

    def test_foxglove_learns_the_version_of_ros_and_every_type(self):
        self.simulate("seen", query={"model": "two_link"})
        for version, log in ((2, "rcl_interfaces/msg/Log"), (1, "rosgraph_msgs/Log")):
            gateway = fixture.Gateway(self.daemon, ros__version=version)
            client = gateway.connect()
            fixture.wait_for(lambda: "/tf" in client.values("/rosapi/topics")["topics"], "the topics are there")
            known = client.values("/rosapi/topics_and_raw_types")
            self.assertIn(log, known["types"])
            types = dict(zip(known["topics"], zip(known["types"], known["typedefs_full_text"])))
            for topic in ("/tf", "/tf_static", "/robot_description", "/rosout", "/diagnostics"):
                self.assertTrue(types[topic][1], topic)
                self.assertEqual(client.values("/rosapi/topic_type", {"topic": topic})["type"], types[topic][0])
                self.assertEqual(client.values("/rosapi/publishers", {"topic": topic})["publishers"], ["/dynamicsd"])
            self.assertIn("MSG: geometry_msgs/TransformStamped\n", types["/tf"][1])
            client.send("subscribe", topic="/rosout", type=log)
            self.assertEqual(client.receive("publish")["msg"]["level"], 20 if version == 2 else 2)
            client.close()
            self.assertEqual(gateway.stop(), 0)


if __name__ == "__main__":
    unittest.main()
