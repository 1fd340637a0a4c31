#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Messages from clients to simulations and streams: joints of every kind, and the order in which it arrives."""
import random
import unittest

import fixture

TWO_LINK = {"model": "two_link"}
CHAIN = {"model": "chain"}

KINDS = ("PLANAR", "SPHERICAL", "CYLINDRICAL", "UNIVERSAL", "REVOLUTE", "FLOATING")
COORDINATES = {"planar": (3, 3), "spherical": (4, 3), "cylindrical": (2, 2), "universal": (2, 2),
               "revolute": (1, 1), "floating": (7, 6)}


def describe():
    """A chain with one joint of every kind on a floating base."""
    inertia = lambda i: {"mass": 2 + i, "center_of_mass": {"x": 0.1, "y": 0.02 * i, "z": -0.05},
                         "rotational": [0.2, 0, 0, 0.3, 0.01, 0.25]}
    links = [{"name": f"link{i}", "inertia": inertia(i)} for i in range(len(KINDS) + 1)]
    joints = [{"name": kind.lower(), "type": "JOINT_TYPE_" + kind, "parent_link": f"link{i}", "child_link":
               f"link{i + 1}", **({"axis": {"x": 0, "y": 0, "z": 1}} if kind not in ("SPHERICAL", "FLOATING") else {}),
               **({"second_axis": {"x": 1, "y": 0, "z": 0}} if kind == "UNIVERSAL" else {})}
              for i, kind in enumerate(KINDS)]
    return {"name": "chain", "links": links, "joints": joints, "base_type": "BASE_FLOATING"}


def quaternion(at):
    length = sum(x * x for x in at) ** 0.5
    return [x / length for x in at]


class Inputs(fixture.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        client = cls.gateway.connect()
        client.values("/dynamics/load_model", {"description": describe()})
        model = client.values("/dynamics/describe_model", {"model": "chain"})
        cls.joints = [(joint["name"], joint["coordinates"]["nq"], joint["coordinates"]["nv"])
                      for joint in model["joints"]]
        client.close()

    def setUp(self):
        super().setUp()
        self.reader = self.gateway.connect()
        self.addCleanup(self.reader.close)
        self.seed = random.randrange(1 << 32)
        self.random = random.Random(self.seed)

    def row(self, width):
        return [self.random.uniform(-1, 1) for _ in range(width)]

    def state(self):
        """Random rows q, v and another of v's length, in the model's order."""
        q = []
        for _, nq, _ in self.joints:
            at = self.row(nq)
            q += at[:nq - 4] + quaternion(at[nq - 4:]) if nq in (4, 7) else at
        nv = sum(nv for _, _, nv in self.joints)
        return q, self.row(nv), self.row(nv)

    def names(self):
        """(name, place in q, place in v or None) of each coordinate."""
        found, in_q, in_v = [], 0, 0
        for joint, nq, nv in self.joints:
            for i in range(max(nq, nv)):
                found.append((joint if max(nq, nv) == 1 else f"{joint}[{i}]", in_q + i, in_v + i if i < nv else None))
            in_q, in_v = in_q + nq, in_v + nv
        return found

    def await_topic(self, topic):
        fixture.wait_for(lambda: topic in self.client.values("/rosapi/topics")["topics"], f"{topic} is there")

    def simulate(self, name, **options):
        made = self.client.values("/dynamics/create_simulation", {"name": name, "pace": "PACE_LOCKSTEP", **options})
        self.addCleanup(lambda: self.client.call("/dynamics/delete_simulation", {"simulation": name,
            "token": made["token"]}))
        topic = "/dynamics/simulations/" + name.replace("-", "_")
        self.await_topic(topic + "/command")
        return topic, str(made["token"])

    def acting(self, name, token):
        """The forces of the next step."""
        return self.client.values("/dynamics/step_simulation", {"simulation": name, "token": token})["state"]["tau"]

    def step_and_read(self, name, token):
        """Steps; the last message that came on topics before the answer, or None."""
        self.client.send("call_service", id="step", service="/dynamics/step_simulation",
                         args={"simulation": name, "token": token})
        read, message = None, self.client.receive()
        while message["op"] != "service_response":
            read, message = message["msg"], self.client.receive()
        return read

    def read_joints(self, name, token):
        read = self.step_and_read(name, token)
        return read and len(read["name"])

    def test_the_chain_has_joints_of_every_kind(self):
        kinds = {joint: (nq, nv) for joint, nq, nv in self.joints}
        for kind in KINDS:
            self.assertEqual(kinds[kind.lower()], COORDINATES[kind.lower()])
        self.assertIn((7, 6), [size for joint, size in kinds.items() if joint != "floating"])

    def test_joints_with_several_coordinates_are_commanded_by_names_with_numbers(self):
        q, v, tau = self.state()
        topic, token = self.simulate("zoo", query=CHAIN, q=q, v=v)
        self.client.send("subscribe", topic=topic + "/joint_states", type="sensor_msgs/msg/JointState")
        names = self.names()
        self.random.shuffle(names)
        self.client.send("publish", topic=topic + "/command", msg={
            "header": {"frame_id": token}, "name": [name for name, _, _ in names],
            "effort": [0.0 if at is None else tau[at] for _, _, at in names]})
        fixture.wait_for(lambda: self.acting("zoo", token) == tau, f"the forces act, seed {self.seed}")
        reply = fixture.wait_for(lambda: self.step_and_read("zoo", token), "the simulation is watched")
        self.assertEqual(reply["name"], [name for name, _, _ in self.names()])
        self.assertTrue(all(len(reply[part]) == len(names) for part in ("position", "velocity", "effort")))
        padded = [x for x, (_, _, at) in zip(reply["velocity"], self.names()) if at is None]
        self.assertEqual(padded, [0.0] * 3)

    def test_states_in_arguments_name_joints_with_several_coordinates(self):
        q, v, tau = self.state()
        names = self.names()
        self.random.shuffle(names)
        spread = lambda row: [7.5 if at is None else row[at] for _, _, at in names]
        state = {"name": [name for name, _, _ in names], "position": [q[at] for _, at, _ in names], "velocity":
                 spread(v), "effort": spread(tau)}
        ask = lambda **args: self.client.values("/dynamics/forward_dynamics", {"query": CHAIN, **args})["a"]
        expected = ask(q=q, v=v, tau=tau)
        for args in ({"joint_state": state}, {"joint_state": [state]}, state):
            self.assertEqual(ask(**args), expected, f"seed {self.seed}")
        at_rest = {**state, "velocity": [], "effort": []}
        both = ask(joint_state=[state, at_rest])
        self.assertEqual(both[:len(v)], expected)
        self.assertEqual(both[len(v):], ask(q=q))
        for wrong, reason in (({"query": {"model": "none"}}, "args.query.model: there is no model"),
                              ({"query": TWO_LINK}, 'args.joint_state.name[0]: model "two_link" has no moving joint'),
                              ({"joint_state": {**state, "name": ["spherical[0]"] * len(names)}},
                               'args.joint_state.name[1]: "spherical[0]" is named twice')):
            reply = self.client.refusal("/dynamics/forward_dynamics", {"query": CHAIN, "joint_state": state, **wrong})
            self.assertTrue(reply.startswith(reason), reply)

    def test_names_of_several_coordinates_that_are_wrong_are_reported(self):
        topic, token = self.simulate("wrong", query=CHAIN)
        names = [name for name, _, _ in self.names()]
        whole = {"header": {"frame_id": token}, "name": names, "effort": [0.5] * len(names)}
        bare = list(names)
        bare[bare.index("spherical[0]")] = "spherical"
        twice = list(names)
        twice[twice.index("spherical[0]")] = "spherical[1]"
        for wrong, reason in (
                ({"name": bare}, '"spherical" is a joint with several coordinates: name each, with [0], [1]'),
                ({"name": twice}, "named twice"),
                ({"name": names[:-1]}, f'"{names[-1]}" is missing; name each of {len(names)} coordinates'),
                ({"effort": [1.0]}, f"msg.effort: 1 values; send one for each of {len(names)} names, or none"),
                ({"header": {"frame_id": "1"}}, "wrong: msg.header.frame_id: ")):
            self.assertIn(reason, self.client.status({"op": "publish", "topic": topic + "/command",
                "msg": {**whole, **wrong}}))

    def test_extra_joints_are_ignored_where_the_request_says_so(self):
        bare = {"name": ["joint2", "joint1"], "position": [0.5, 0.25], "velocity": [1, 2], "effort": [3, 4]}
        whole = {"header": {}, "name": ["left_finger", "joint2", "wheel[0]", "joint1"],
                 "position": [None, 0.5, 9, 0.25], "velocity": [None, 1, 9, 2], "effort": [9, 3, None, 4]}
        other = {"name": ["joint1", "tool", "joint2"], "position": [0.75, 9, 1.5]}
        ask = lambda **args: self.client.values("/dynamics/forward_dynamics", {"query": TWO_LINK, **args})["a"]
        expected = ask(joint_state=bare)
        self.assertEqual(ask(joint_state=whole, ignore_extra_joints=True), expected)
        self.assertEqual(ask(ignore_extra_joints=True, **whole), expected)
        self.assertEqual(ask(joint_state=bare, ignore_extra_joints=True), expected)
        self.assertEqual(ask(joint_state=[whole, other], ignore_extra_joints=True),
                         expected + ask(joint_state={"name": ["joint2", "joint1"], "position": [1.5, 0.75]}))
        q, v, tau = self.state()
        names = [*self.names(), ("gripper", 0, 0)]
        self.random.shuffle(names)
        spread = lambda row: [0.0 if at is None else row[at] for _, _, at in names]
        state = {"name": [name for name, _, _ in names], "position": [q[at] for _, at, _ in names],
                 "velocity": spread(v), "effort": spread(tau)}
        reply = self.client.values("/dynamics/forward_dynamics", {"query": CHAIN, "joint_state": state,
                                                                  "ignore_extra_joints": True})
        expected = self.client.values("/dynamics/forward_dynamics", {"query": CHAIN, "q": q, "v": v, "tau": tau})
        self.assertEqual(reply["a"], expected["a"], f"seed {self.seed}")

    def test_unknown_and_missing_joints_of_a_state_are_named(self):
        state = lambda *names: {"name": names, "position": [0.5] * len(names)}
        ignoring = {"ignore_extra_joints": True}
        for args, reason in (
                ({"joint_state": state("joint1", "finger", "joint2")}, 'args.joint_state.name[1]: model "two_link" has '
                 'no moving joint "finger"'),
                ({"joint_state": [state("joint2", "finger")]}, 'args.joint_state[0].name[1]: model "two_link" has no'),
                (state("joint1", "joint2", "finger"), 'args.name[2]: model "two_link" has no moving joint "finger"'),
                ({"joint_state": state("joint1")}, 'args.joint_state.name: joint "joint2" is missing'),
                ({"joint_state": state("joint1", "joint1")}, 'args.joint_state.name[1]: joint "joint1" is named twice'),
                ({"joint_state": [state("joint1", "joint2"), state("joint1", "joint1")]},
                 'args.joint_state[1].name[1]: joint "joint1" is named twice'),
                ({"joint_state": [state("joint1", "joint2"), state("joint2")]},
                 'args.joint_state[1].name: joint "joint1" of the first state is missing'),
                ({"joint_state": [state("joint1", "joint2"), state("joint2", "joint3")]},
                 'args.joint_state[1].name[1]: the first state has no joint "joint3"'),
                ({"joint_state": state("joint1", "finger"), **ignoring},
                 'args.joint_state.name: joint "joint2" is missing'),
                ({"joint_state": state("thumb", "finger"), **ignoring},
                 'args.joint_state.name: none of 2 names is a joint of the model, such as "joint1"'),
                ({"joint_state": {**state("joint1", "joint2", "finger"), "position": [1, 2]}, **ignoring},
                 "args.joint_state.position: 2 values for 3 names"),
                ({"joint_state": state("joint1", "joint2"), "ignore_extra_joints": 1},
                 "args.ignore_extra_joints: true or false is needed")):
            reply = self.client.refusal("/dynamics/inverse_dynamics", {"query": TWO_LINK, **args})
            self.assertTrue(reply.startswith(reason), f"{args}: {reply}")

    def test_topics_ignore_extra_joints(self):
        topic, token = self.simulate("gripping", query=TWO_LINK)
        message = {"header": {"frame_id": token}, "name": ["finger", "joint2", "joint1"], "effort": [9.0, 1.5, -2.5]}
        self.client.send("publish", topic=topic + "/command", msg=message)
        fixture.wait_for(lambda: self.acting("gripping", token) == [-2.5, 1.5], "the command acts")
        for wrong, reason in (
                ({"name": ["finger", "joint2", "joint"]},
                 'msg.name: "joint1" is missing; name each of 2 coordinates; "finger" is no joint'),
                ({"effort": [1.0, 2.0]}, "msg.effort: 2 values; send one for each of 3 names, or none")):
            self.assertIn(reason, self.client.status({"op": "publish", "topic": topic + "/command",
                                                      "msg": {**message, **wrong}}))
        made = self.client.values("/dynamics/open_stream", {"name": "grips", "query": TWO_LINK, "feedforward": {}})
        self.addCleanup(self.client.call, "/dynamics/close_stream", {"stream": "grips", "key": made["key"]})
        self.await_topic("/dynamics/streams/grips/joint_trajectory")
        self.reader.send("subscribe", topic="/dynamics/streams/grips/effort", type="sensor_msgs/msg/JointState")
        fixture.wait_for(lambda: self.client.values("/dynamics/get_stream", {"stream": "grips"})["stream"][
            "watchers"] > 0, "the stream is watched")
        self.client.send("publish", topic="/dynamics/streams/grips/joint_trajectory", msg={
            "header": {"frame_id": str(made["key"])}, "joint_names": ["joint2", "finger", "joint1"],
            "points": [{"positions": [0.5, 9.0, 0.25]}]})
        expected = self.client.values("/dynamics/inverse_dynamics", {"query": TWO_LINK, "q": [0.25, 0.5]})["tau"]
        reply = self.reader.receive("publish")["msg"]
        self.assertEqual((reply["name"], reply["effort"]), (["joint1", "joint2"], expected))

    def test_trajectories_of_joints_with_several_coordinates(self):
        made = self.client.values("/dynamics/open_stream", {"name": "zoo", "query": CHAIN, "feedforward": {}})
        self.addCleanup(self.client.call, "/dynamics/close_stream", {"stream": "zoo", "key": made["key"]})
        topic = "/dynamics/streams/zoo"
        self.await_topic(topic + "/joint_trajectory")
        self.reader.send("subscribe", topic=topic + "/effort", type="sensor_msgs/msg/JointState")
        fixture.wait_for(lambda: self.client.values("/dynamics/get_stream", {"stream": "zoo"})["stream"][
            "watchers"] > 0, "the stream is watched")
        names, points, rows = self.names(), [], []
        self.random.shuffle(names)
        for i in range(3):
            q, v, a = self.state()
            rows.append((q, v, a))
            spread = lambda row: [0.0 if at is None else row[at] for _, _, at in names]
            points.append({"positions": [q[at] for _, at, _ in names], "velocities": spread(v), "accelerations":
                           spread(a), "time_from_start": {"sec": i, "nanosec": 0}})
        self.client.send("publish", topic=topic + "/joint_trajectory", msg={
            "header": {"frame_id": str(made["key"])}, "joint_names": [name for name, _, _ in names], "points": points})
        for q, v, a in rows:
            reply = self.reader.receive("publish")["msg"]
            expected = self.client.values("/dynamics/inverse_dynamics", {"query": CHAIN, "q": q, "v": v, "a": a})
            self.assertEqual(reply["name"], [name for name, _, _ in self.names()])
            effort = [x for x, (_, _, at) in zip(reply["effort"], self.names()) if at is not None]
            self.assertEqual(effort, expected["tau"], f"seed {self.seed}")

    def test_commands_act_in_the_order_in_which_they_are_published(self):
        topic, token = self.simulate("ordered", query=TWO_LINK)
        for burst in range(40):
            for number in range(6):
                self.client.send("publish", topic=topic + "/command", msg={
                    "header": {"frame_id": token}, "name": ["joint1", "joint2"], "effort": [burst, number + 0.5]})
            fixture.wait_for(lambda: self.acting("ordered", token) == [burst, 5.5], f"the last of {burst} acts")
            self.assertEqual(self.acting("ordered", token), [burst, 5.5])

    def test_the_first_command_is_not_lost_while_the_joints_are_asked_for(self):
        topic, token = self.simulate("eager", query=TWO_LINK)
        for number in range(10):
            self.client.send("publish", topic=topic + "/command", msg={
                "header": {"frame_id": token}, "name": ["joint2", "joint1"], "effort": [number, 1.5]})
        fixture.wait_for(lambda: self.acting("eager", token) == [1.5, 9], "the last command acts")

    def test_trajectories_arrive_in_the_order_in_which_they_are_published(self):
        made = self.client.values("/dynamics/open_stream", {
            "name": "chunks", "query": TWO_LINK, "feedforward": {}, "capacity": 1000})
        self.addCleanup(self.client.call, "/dynamics/close_stream", {"stream": "chunks", "key": made["key"]})
        topic, count = "/dynamics/streams/chunks", 50
        self.await_topic(topic + "/joint_trajectory")
        self.client.send("subscribe", topic=topic + "/torques", type="dynamics_msgs/msg/StreamTorques")
        fixture.wait_for(lambda: self.client.values("/dynamics/get_stream", {"stream": "chunks"})["stream"][
            "watchers"] > 0, "the stream is watched")
        for number in range(count):
            self.client.send("publish", topic=topic + "/joint_trajectory", msg={
                "header": {"frame_id": str(made["key"])}, "joint_names": ["joint1", "joint2"],
                "points": [{"positions": [0.5, number], "time_from_start": {"sec": number, "nanosec": 0}}]})
        times = []
        while len(times) < count:
            times += self.client.receive("publish")["msg"]["time"]
        self.assertEqual(times, [float(number) for number in range(count)])

    def test_names_that_are_equal_in_topics_do_not_meet(self):
        topic, first = self.simulate("twin-a", query=TWO_LINK)
        second = self.client.values("/dynamics/create_simulation", {"name": "twin_a", "query": {"model": "ur5"},
            "pace": "PACE_LOCKSTEP"})["token"]
        self.client.send("subscribe", topic=topic + "/joint_states", type="sensor_msgs/msg/JointState")
        listed = lambda: self.client.values("/rosapi/topics")["topics"].count(topic + "/joint_states")
        self.assertEqual(listed(), 1)
        for name, token, joints in (("twin-a", first, 2), ("twin_a", second, 6)):
            fixture.wait_for(lambda: self.read_joints(name, token) == joints, f"{name} has the topics")
            self.client.values("/dynamics/delete_simulation", {"simulation": name, "token": token})
        self.client.send("unsubscribe", topic=topic + "/joint_states")
        fixture.wait_for(lambda: listed() == 0, "the topics end")

    def test_a_simulation_that_is_created_anew_goes_on_in_its_topics(self):
        topic, token = self.simulate("again", query=TWO_LINK)
        self.client.send("subscribe", topic=topic + "/joint_states", type="sensor_msgs/msg/JointState")
        fixture.wait_for(lambda: self.read_joints("again", token) == 2, "it is read")
        for _ in range(3):
            self.client.values("/dynamics/delete_simulation", {"simulation": "again", "token": token})
            token = self.client.values("/dynamics/create_simulation", {"name": "again", "query": {"model": "two_link"},
                "pace": "PACE_LOCKSTEP"})["token"]
            fixture.wait_for(lambda: self.read_joints("again", token) == 2, "the new one is read")
        self.client.values("/dynamics/delete_simulation", {"simulation": "again", "token": token})


if __name__ == "__main__":
    unittest.main()
