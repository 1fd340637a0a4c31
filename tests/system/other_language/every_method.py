#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A client in another language calls every method of the contract, over ipc and over tcp.

The client is made of Python's protobuf package, the .proto files and plain sockets (sp.py); nothing of this project's
code is in it. Results are compared with the equations of the planar arm with two links (Lynch and Park, Modern
Robotics, 8.9 to 8.10; deploy/robots/two_link.urdf), or with what another method says. A method of Request that no test
has called successfully fails the run.
"""
import contextlib
import math
import tempfile
import threading
import time
import unittest

import client as support
import sp

ENVELOPE = EVENT = STREAM = DAEMON = None
G = 9.81
JOINTS = ["joint1", "joint2"]
# q, v and a of three states.
STATES = [([0.3, -0.7], [0.5, 1.1], [-0.2, 0.9]), ([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
          ([-2.1, 1.4], [-1.5, 0.3], [4.0, -3.0])]


def mass_matrix(q):
    c2 = math.cos(q[1])
    return [[3 + 2 * c2, 1 + c2], [1 + c2, 1]]


def bias_forces(q, v, g=G):
    s2 = math.sin(q[1])
    coriolis = [-s2 * (2 * v[0] * v[1] + v[1] ** 2), s2 * v[0] ** 2]
    gravity = [g * (2 * math.cos(q[0]) + math.cos(q[0] + q[1])), g * math.cos(q[0] + q[1])]
    return [coriolis[i] + gravity[i] for i in range(2)]


def inverse_dynamics(q, v, a):
    M, h = mass_matrix(q), bias_forces(q, v)
    return [M[i][0] * a[0] + M[i][1] * a[1] + h[i] for i in range(2)]


def energy(q, v):
    M = mass_matrix(q)
    kinetic = sum(v[i] * M[i][j] * v[j] for i in range(2) for j in range(2)) / 2
    return kinetic, G * (2 * math.sin(q[0]) + math.sin(q[0] + q[1]))


def rows(index):
    """The states' q, v or a as one row-major array."""
    return [value for state in STATES for value in state[index]]


def flat(lists):
    return [value for one in lists for value in one]


def setUpModule():
    global ENVELOPE, EVENT, STREAM, DAEMON
    work = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    ENVELOPE, EVENT, STREAM = support.compile_contract(work)
    DAEMON = support.Daemon()


def tearDownModule():
    DAEMON.stop()


class Carrier:
    """The tests, for one kind of connection."""

    scheme = None

    @classmethod
    def setUpClass(cls):
        asker = support.Client(ENVELOPE, DAEMON.request)
        endpoints = asker.call("get_server_info").endpoints
        asker.close()
        cls.urls = {kind: next(one.address for one in endpoints
                               if one.kind == kind and one.address.startswith(cls.scheme))
                    for kind in ("request", "events", "ingest")}
        cls.client = support.Client(ENVELOPE, cls.urls["request"])
        cls.call = cls.client.call

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        methods = {field.name for field in ENVELOPE.Request.DESCRIPTOR.oneofs_by_name["method"].fields}
        missing = sorted(methods - cls.client.answered)
        if missing:
            raise AssertionError(f"no test has called {', '.join(missing)}")

    def name(self, what):
        """A name that no other test uses."""
        return f"{what}_{self.scheme}_{self._testMethodName}"

    def close_to(self, found, expected, within=1e-9):
        self.assertEqual(len(found), len(expected), f"{list(found)} beside {list(expected)}")
        for i, (one, other) in enumerate(zip(found, expected)):
            self.assertAlmostEqual(one, other, delta=within * (1 + abs(other)), msg=f"number {i}")

    def refused(self, code, field, method, **fields):
        with self.assertRaises(support.Refused) as caught:
            self.call(method, **fields)
        self.assertEqual((caught.exception.code, caught.exception.field), (code, field), caught.exception.message)

    def ask(self, method, model="two_link", query=None, **fields):
        """A method that computes with a model; `query` has what else its Query says."""
        return self.call(method, query={"model": model, **(query or {})}, **fields)

    def await_true(self, condition, what):
        until = time.monotonic() + sp.WAIT
        while time.monotonic() < until:
            if condition():
                return
            time.sleep(0.01)
        self.fail(f"{what} within {sp.WAIT} s")

    def address(self, addresses):
        return next(one for one in addresses if one.startswith(self.scheme))

    # ---- the daemon --------------------------------------------------------------------------------------------------

    def test_health(self):
        health = self.call("get_health")
        self.assertIn("models", [one.name for one in health.components])
        self.assertEqual(health.state, max(one.state for one in health.components))
        self.refused("CODE_NOT_FOUND", "get_health.component", "get_health", component="heart")

    def test_metrics_count_this_client(self):
        def numbers():
            reply = self.call("get_metrics")
            self.assertEqual(len(reply.time_bounds), len(set(reply.time_bounds)))
            self.assertEqual(list(reply.time_bounds), sorted(reply.time_bounds))
            for one in reply.methods:
                self.assertEqual(len(one.times), len(reply.time_bounds) + 1)
                self.assertGreater(sum(one.codes), 0)
            return {one.method: one for one in reply.methods}

        self.call("gravity", query={"model": "two_link"}, q=[0, 0])
        before = numbers()["gravity"]
        request = self.client.make("gravity", {"query": {"model": "two_link"}, "q": [0] * 6})
        self.client.send(request)
        size = self.client.reply.ByteSize()
        with contextlib.suppress(support.Refused):
            self.call("gravity", query={"model": "nothing"}, q=[0, 0])
        after = numbers()["gravity"]
        self.assertEqual(after.codes[0] - before.codes[0], 1)
        self.assertEqual(after.codes[5] - before.codes[5], 1)  # CODE_NOT_FOUND
        self.assertEqual(after.samples - before.samples, 3)
        self.assertEqual(sum(after.times) - sum(before.times), 2)
        self.assertGreater(after.time, before.time)
        self.assertGreater(after.request_bytes - before.request_bytes, request.ByteSize())
        self.assertGreater(after.reply_bytes - before.reply_bytes, size)

    def test_log_level_is_set_and_reported(self):
        before = self.call("set_log_level").level
        self.assertEqual(self.call("set_log_level", level="LOG_LEVEL_ERROR").previous, before)
        reply = self.call("set_log_level", level="LOG_LEVEL_DEBUG")
        self.assertEqual((reply.level, reply.previous), (4, 1))
        self.assertEqual(self.call("set_log_level", level=before).level, before)
        self.refused("CODE_INVALID_ARGUMENT", "set_log_level.level", "set_log_level", level=9)

    def test_connections_are_listed_and_closed(self):
        other = support.Client(ENVELOPE, DAEMON.request)
        self.addCleanup(other.close)
        other.call("get_health")
        end = time.monotonic() + 10
        while True:  # the daemon may still count a request whose reply has arrived
            before = {one.connection: one for one in self.call("list_connections").connections}
            newest = before[max(before)]
            if newest.under_way == 0 or time.monotonic() > end:
                break
            time.sleep(0.01)
        self.assertEqual((newest.kind, newest.requests, newest.under_way), ("request", 1, 0))
        self.assertTrue(newest.caller.startswith("uid:"), newest.caller)
        self.assertTrue(0 <= newest.idle <= newest.age)
        self.assertEqual(self.call("close_connection", connection=newest.connection).peer, newest.peer)
        after = {one.connection for one in self.call("list_connections").connections}
        self.assertNotIn(newest.connection, after)
        self.refused("CODE_NOT_FOUND", "close_connection.connection", "close_connection", connection=newest.connection)

    def test_slow_requests_are_held_with_their_numbers(self):
        before = self.call("list_slow_requests").total
        request = self.client.make("rollout", {"query": {"model": "two_link"}, "q": [0.1] * 2000, "steps": 1000000,
                                               "onlyLast": True}, timeout=0.3)
        with self.assertRaises(support.Refused) as caught:
            self.client.send(request)
        self.assertEqual(caught.exception.code, "CODE_DEADLINE_EXCEEDED")
        found = self.call("list_slow_requests", count=1)
        self.assertGreater(found.total, before)
        slow = found.requests[0]
        self.assertEqual((slow.method, slow.object, slow.request, slow.code), ("rollout", "two_link", request.id, 4))
        self.assertTrue(0 <= slow.waiting_time <= slow.time and slow.time >= 0.1)
        self.assertEqual(slow.number, found.total)
        self.assertTrue(slow.caller and slow.peer and slow.request_bytes > 16000)

    def test_settings_state_their_values_and_origins(self):
        reply = self.call("get_settings")
        settings = {f"{one.section}.{one.key}": one for one in reply.settings}
        self.assertEqual(len(settings), len(reply.settings))
        limits = self.call("get_server_info").limits
        self.assertEqual(int(settings["limits.samples"].value), limits.samples)
        self.assertEqual(settings["limits.memory_bytes"].origin, 4)  # SETTING_ORIGIN_DERIVED
        level = self.call("set_log_level", level="LOG_LEVEL_ERROR").previous
        one = next(one for one in self.call("get_settings").settings if (one.section, one.key) == ("log", "level"))
        self.assertEqual((one.value, one.origin), ("error", 5))  # SETTING_ORIGIN_REQUEST
        self.call("set_log_level", level=level)

    def test_server_info_names_the_methods_of_the_contract(self):
        info = self.call("get_server_info")
        self.assertEqual(info.process_id, DAEMON.process.pid)
        self.assertEqual(list(info.protocols), ["dynamics.v1"])
        fields = ENVELOPE.Request.DESCRIPTOR.oneofs_by_name["method"].fields
        self.assertEqual([one.name for one in info.methods],
                         [one.name for one in sorted(fields, key=lambda field: field.number)])
        roles = {one.name: one.role for one in info.methods}
        self.assertNotIn(0, roles.values())
        self.assertEqual([roles[name] for name in ("gravity", "load_model", "set_log_level")], [5, 6, 7])

    # ---- models ------------------------------------------------------------------------------------------------------

    def description(self, name, mass):
        """A pendulum of length 1 m about y, which hangs at q = 0."""
        return {"name": name, "gravity": {"z": -G}, "links": [
            {"name": "base"}, {"name": "bob", "inertia": {"mass": mass, "center_of_mass": {"z": -1},
                                                          "rotational": [0, 0, 0, 0, 0, 0]}}],
                "joints": [{"name": "pin", "type": "JOINT_TYPE_CONTINUOUS", "parent_link": "base", "child_link": "bob",
                            "axis": {"y": 1}}]}

    def test_models_are_loaded_described_exported_and_unloaded(self):
        name = self.name("pendulum")
        loaded = self.call("load_model", name=name, description=self.description(name, 2.5)).loaded
        self.assertEqual((loaded.model.name, loaded.model.nq, loaded.model.nv), (name, 1, 1))
        self.assertAlmostEqual(loaded.model.mass, 2.5)
        self.assertIn(name, [one.name for one in self.call("list_models").models])
        described = self.call("describe_model", model=name)
        self.assertEqual([one.name for one in described.joints], ["pin"])
        self.assertEqual(described.model.digest, loaded.model.digest)
        self.close_to(self.ask("gravity", name, q=[0.4]).g, [2.5 * G * math.sin(0.4)])
        self.assertIn('mass value="2.5"', self.call("export_model", model=name, format="MODEL_FORMAT_URDF").urdf)
        self.assertEqual(self.call("unload_model", model=name).model.digest, loaded.model.digest)
        self.refused("CODE_NOT_FOUND", "describe_model.model", "describe_model", model=name)

    def test_models_are_derived(self):
        name = self.name("longer")
        derived = self.call("derive_model", model="two_link", name=name, operations=[
            {"attach": {"link": "tip", "name": "load", "inertia": {"mass": 1, "rotational": [0, 0, 0, 0, 0, 0]}}}])
        self.assertAlmostEqual(derived.loaded.model.mass, 3)
        # The load is at the place of the second mass.
        self.close_to(self.ask("gravity", name, q=[0, 0]).g, [5 * G, 2 * G])
        self.call("unload_model", model=name)

    def test_inertias_are_computed(self):
        ball = self.call("compute_inertia", parts=[{"sphere": {"radius": 0.1}, "mass": 2}])
        self.close_to(ball.principal_moments, [0.4 * 2 * 0.1 ** 2] * 3)
        self.close_to([ball.volume], [4 / 3 * math.pi * 0.1 ** 3])
        self.assertTrue(ball.is_realizable)

    def test_placements_take_euler_angles(self):
        def place(**angles):
            return {"box": {"size": {"x": 1, "y": 2, "z": 3}}, "mass": 12, "pose": {"euler_angles": angles}}
        quarter = math.pi / 2
        # The box lies along z, then x, then y.
        for angles, expected in (({"angles": [0, 0, 0]}, [13, 10, 5]),
                                 ({"axes": "xyz", "angles": [0, quarter, 0]}, [5, 10, 13]),
                                 ({"axes": "ZYX", "angles": [quarter, quarter, 0]}, [10, 5, 13]),
                                 ({"axes": "zyx", "angles": [quarter, quarter, 0]}, [5, 13, 10])):
            rotational = self.call("compute_inertia", parts=[place(**angles)]).inertia.rotational
            self.close_to([rotational[0], rotational[3], rotational[5]], expected)
        where = "compute_inertia.parts[0].pose.euler_angles."
        self.refused("CODE_INVALID_ARGUMENT", where + "axes", "compute_inertia",
                     parts=[place(axes="xxz", angles=[0, 0, 0])])
        self.refused("CODE_INVALID_ARGUMENT", where + "angles", "compute_inertia", parts=[place(angles=[0, 0])])

    def test_configurations_are_computed(self):
        moved = self.ask("compute_configurations", integrate={"q": [0.1, 0.2], "v": [1, -2], "step_length": [0.5]})
        self.close_to(moved.q, [0.6, -0.8])
        drawn = [self.ask("compute_configurations", random={"samples": 3, "seed": 5}).q for _ in range(2)]
        self.assertEqual(len(drawn[0]), 6)
        self.assertEqual(list(drawn[0]), list(drawn[1]))
        self.refused("CODE_INVALID_ARGUMENT", "compute_configurations.operation", "compute_configurations",
                     query={"model": "two_link"})
        self.refused("CODE_INVALID_ARGUMENT", "compute_configurations.interpolate.s", "compute_configurations",
                     query={"model": "two_link"}, interpolate={"q": [0, 0], "q_1": [1, 1]})

    def test_base_parameters_are_found(self):
        found = self.ask("find_base_parameters")
        self.assertGreater(len(found.base_parameters), 2)
        for row in found.base_parameters:
            total = sum(factor * found.values[column] for column, factor in zip(row.columns, row.factors))
            self.assertAlmostEqual(row.value, total)

    def test_parameters_are_identified(self):
        time = [0.02 * i for i in range(200)]
        q = [value for t in time for value in (math.sin(2 * t), math.sin(3 * t + 1) + math.sin(t))]
        rates = self.ask("derive_rates", q=q, time=time, rates="RATES_QUINTIC_SPLINE")
        forces = self.ask("inverse_dynamics", q=q, v=list(rates.v), a=list(rates.a)).tau
        tau = [force + 0.5 * speed for force, speed in zip(forces, rates.v)]
        found = self.ask("identify", q=q, time=time, tau=tau)
        self.assertEqual(found.rows, 200)
        for estimate in found.estimates:
            if estimate.parameter == "viscous":
                self.assertAlmostEqual(estimate.value, 0.5)
        self.assertGreaterEqual(len(found.description.joints), 2)
        self.refused("CODE_INVALID_ARGUMENT", "identify.q", "identify", query={"model": "two_link"}, q=[0, 0],
                     time=[0], tau=[0, 0])

    def test_an_exciting_motion_keeps_the_limits_and_excites_all_parameters(self):
        found = self.ask("excite", period=5, trials=60)
        self.assertEqual(found.rows, 500)
        self.assertEqual(found.rank, found.estimates)
        for use in found.uses:
            self.assertLessEqual(max(use.position, use.velocity, use.effort), 0.9 + 1e-9)
        rates = self.ask("derive_rates", q=list(found.q), time=list(found.time), rates="RATES_QUINTIC_SPLINE")
        self.assertLess(max(abs(x - y) for x, y in zip(rates.v, found.v)), 1e-3)
        identified = self.ask("identify", q=list(found.q), v=list(found.v), a=list(found.a), tau=list(found.tau))
        self.assertAlmostEqual(identified.condition / found.condition, 1, 5)
        self.refused("CODE_INVALID_ARGUMENT", "excite.harmonics", "excite", query={"model": "two_link"}, harmonics=1)

    def test_motors_are_evaluated(self):
        name = self.name("driven")
        wheel = {"mass": 1, "rotational": [1, 0, 0, 1, 0, 1]}
        self.call("load_model", name=name, description={
            "name": name, "links": [{"name": "a"}, {"name": "b", "inertia": wheel}],
            "joints": [{"name": "j", "type": "JOINT_TYPE_CONTINUOUS", "parent_link": "a", "child_link": "b",
                        "axis": {"z": 1}}],
            "machine_elements": [{"name": "m", "joint": "j", "motor": {"resistance": 2, "torque_constant": 0.5}},
                                 {"name": "g", "joint": "j", "gear": {"ratio": 4, "efficiency": 0.5}}]})
        found = self.ask("evaluate_motors", query={"model": name}, q=[0, 0], v=[3, 0], a=[8, 0])
        self.assertAlmostEqual(found.torque[0], 4)
        self.assertAlmostEqual(found.current[0], 8)
        self.assertAlmostEqual(found.voltage[0], 2 * 8 + 0.5 * 12)
        self.assertAlmostEqual(found.heat[0], 2 * 8 * 8)
        self.assertTrue(found.is_feasible)
        self.refused("CODE_FAILED_PRECONDITION", "evaluate_motors.query.model", "evaluate_motors",
                     query={"model": "two_link"}, q=[0, 0])

    # ---- dynamics ----------------------------------------------------------------------------------------------------

    def test_the_equation_of_motion_is_that_of_the_book(self):
        q, v, a = rows(0), rows(1), rows(2)
        tau = flat(inverse_dynamics(*state) for state in STATES)
        found = self.ask("inverse_dynamics", q=q, v=v, a=a)
        self.assertEqual(found.samples, len(STATES))
        digest = self.call("describe_model", model="two_link").model.digest
        self.ask("inverse_dynamics", q=q)
        self.assertEqual(self.client.reply.model_key, int(digest.removeprefix("sha256:")[:16], 16))
        self.close_to(found.tau, tau)
        self.close_to(self.ask("forward_dynamics", q=q, v=v, tau=tau).a, a)
        self.close_to(self.ask("mass_matrix", q=q).mass_matrix, flat(flat(mass_matrix(one[0])) for one in STATES))
        self.close_to(self.ask("gravity", q=q).g, flat(bias_forces(one[0], (0, 0)) for one in STATES))
        self.close_to(self.ask("bias_forces", q=q, v=v).h, flat(bias_forces(*one[:2]) for one in STATES))

    def test_gravity_joint_order_and_payloads_of_a_query_count(self):
        moon = {"gravity": {"z": -1.62}}
        self.close_to(self.ask("gravity", query=moon, q=[0, 0]).g, bias_forces((0, 0), (0, 0), 1.62))
        back = {"joint_names": JOINTS[::-1]}
        self.close_to(self.ask("gravity", query=back, q=[0, 0.5]).g, bias_forces((0.5, 0), (0, 0))[::-1])
        load = {"payloads": [{"link": "tip", "inertia": {"mass": 1, "rotational": [0, 0, 0, 0, 0, 0]}}]}
        self.close_to(self.ask("gravity", query=load, q=[0, 0]).g, [5 * G, 2 * G])

    def test_a_state_that_fails_is_marked(self):
        a = self.ask("forward_dynamics", query={"on_error": "ON_ERROR_MARK"}, q=[0, 1, 0, 0],
                     v=[1e200, 1e200, 0, 0]).a
        self.assertTrue(math.isnan(a[0]) and math.isnan(a[1]))
        self.close_to(a[2:], [-G, G])
        self.assertEqual([one.sample for one in self.client.reply.sample_errors], [0])

    def test_external_forces_count(self):
        force = {"external_forces": [{"link": "tip", "force": [0, 0, 10],
                                       "reference_frame": "REFERENCE_FRAME_LOCAL_WORLD_ALIGNED"}]}
        tau = self.ask("inverse_dynamics", query=force, q=[0, 0]).tau
        self.close_to(tau, [3 * G - 20, G - 10])

    def test_quantities_are_evaluated(self):
        q, v, _ = STATES[0]
        found = self.ask("evaluate", q=q, v=v, quantities=[
            {"quantity": "QUANTITY_KINETIC_ENERGY"}, {"quantity": "QUANTITY_MASS_MATRIX"},
            {"quantity": "QUANTITY_FRAME_POSE", "frames": ["tip"]}])
        self.close_to(found.results[0].blocks[0].values, [energy(q, v)[0]])
        self.close_to(found.results[1].blocks[0].values, flat(mass_matrix(q)))
        joints = found.axes[found.results[1].blocks[0].axes[0]]
        self.assertEqual(list(joints.labels), ["joint1", "joint2"])
        units = found.results[1].blocks[0].units
        self.assertEqual(units[joints.unit_index[0] * joints.unit_count + joints.unit_index[1]], "kg m^2")
        self.close_to(found.results[2].blocks[0].values,
                      [math.cos(q[0]) + math.cos(sum(q)), 0, math.sin(q[0]) + math.sin(sum(q))])

    def test_torques_are_explained(self):
        q, v, a = STATES[0]
        found = self.ask("explain", q=q, v=v, a=a)
        self.close_to(found.tau, inverse_dynamics(q, v, a))
        self.close_to([sum(term.tau[i] for term in found.terms) for i in range(2)], found.tau)

    def test_formulations_compute_the_same_motion(self):
        q, v, a = STATES[0]
        expected = inverse_dynamics(q, v, a)
        found = self.ask("compare", q=q, v=v, a=a).formulations
        self.assertEqual(found[0].name, "kernels")
        applied = {one.name for one in found if not one.refusal}
        self.assertLessEqual({"lagrange_euler", "newton_euler", "generalized_dalembert", "christoffel", "screws",
                              "lie_group"}, applied)
        for one in found:
            if one.refusal:
                self.assertIn("joint1", one.refusal)
                continue
            self.close_to(one.tau, expected)
            self.close_to(one.a, a)
        named = {"formulation": "lagrange_euler"}
        self.close_to(self.ask("inverse_dynamics", query=named, q=q, v=v, a=a).tau, expected)
        self.close_to(self.ask("forward_dynamics", query=named, q=q, v=v, tau=expected).a, a)
        self.close_to(self.ask("mass_matrix", query=named, q=q).mass_matrix, flat(mass_matrix(q)))
        self.refused("CODE_INVALID_ARGUMENT", "mass_matrix.query.formulation", "mass_matrix",
                     query={"model": "two_link", "formulation": "lagrange"}, q=q)

    def test_inner_quantities_of_a_formulation(self):
        q, v, a = STATES[0]
        found = self.ask("formulate", query={"formulation": "lagrange_euler"}, q=q, v=v, a=a)
        self.close_to(found.tau, inverse_dynamics(q, v, a))
        blocks = {one.name: one for one in found.blocks}
        self.close_to(blocks["D"].values, flat(mass_matrix(q)))
        self.close_to(blocks["c"].values, bias_forces(q, [0, 0]))
        self.assertEqual(list(blocks["h_ikm"].extents), [2, 2, 2])
        s2 = math.sin(q[1])
        self.close_to(blocks["h_ikm"].values, [0, -s2, -s2, -s2, s2, 0, 0, 0])

    def test_poses_are_those_of_the_geometry(self):
        q = STATES[0][0]
        tip = self.ask("kinematics", q=q, frames=["tip"], reference_frame="REFERENCE_FRAME_WORLD").frames[0]
        self.close_to(tip.position, [math.cos(q[0]) + math.cos(sum(q)), 0, math.sin(q[0]) + math.sin(sum(q))])

    def test_loops_are_assembled(self):
        """Two pendulums of length 1 m that hang 1 m apart, with a rod of 1 m between their bobs."""
        name = self.name("swing")
        description = self.description(name, 1)
        description["links"].append({**description["links"][1], "name": "other"})
        description["joints"].append({**description["joints"][0], "name": "hook", "child_link": "other",
                                      "origin": {"position": {"x": 1}}})
        bob = {"pose": {"position": {"z": -1}}}
        description["constraints"] = [{"name": "rod", "distance": {
            "distance": 1, "predecessor": {"link": "bob", **bob}, "successor": {"link": "other", **bob}}}]
        self.call("load_model", name=name, description=description)
        found = self.ask("assemble", name, q=[0.4, 0], held_joints=["pin"])
        self.assertTrue(found.outcomes[0].is_closed)
        self.assertEqual(found.outcomes[0].constraint, "rod")
        self.close_to(found.q, [0.4, 0.4])
        moved = self.ask("forward_dynamics", name, q=[0.4, 0.4], tau=[1, 1])
        self.close_to(moved.a, [1 - G * math.sin(0.4)] * 2)
        self.assertEqual(list(moved.constraints.ranks), [1])
        self.call("unload_model", model=name)

    # ---- motions over time -------------------------------------------------------------------------------------------

    def test_rollouts_keep_their_energy(self):
        start = STATES[0]
        found = self.ask("rollout", q=start[0], v=start[1], steps=500, stepping={
            "step_length": 0.001, "integrator": "INTEGRATOR_RK4"}, results=["ROLLOUT_RESULT_Q", "ROLLOUT_RESULT_V"])
        self.assertEqual(found.rows, 501)
        self.close_to([sum(energy(found.q[-2:], found.v[-2:]))], [sum(energy(*start[:2]))], 1e-7)
        self.assertEqual(found.outcomes[0].steps, 500)

    def test_trajectories_are_computed_both_ways(self):
        tau = self.ask("inverse_dynamics_trajectory", q=rows(0), v=rows(1), a=rows(2)).tau
        self.close_to(tau, flat(inverse_dynamics(*state) for state in STATES))
        held = bias_forces([0.3, -0.7], [0, 0]) * 4
        found = self.ask("forward_dynamics_trajectory", q=[0.3, -0.7], v=[0, 0], tau=held,
                            stepping={"step_length": 0.01})
        self.close_to(found.q, [0.3, -0.7] * found.rows)
        self.assertEqual(found.rows, 4)

    def test_rates_are_derived(self):
        times = [0, 0.5, 1, 1.5, 2]
        found = self.ask("derive_rates", q=flat((2 * t, -t) for t in times), time=times, rates="RATES_CENTRAL")
        self.close_to(found.v, (2, -1) * len(times))
        self.close_to(found.a, (0, 0) * len(times))

    def test_a_request_is_cancelled(self):
        self.assertFalse(self.call("cancel", client=self.client.number, id=1).found)
        other = support.Client(ENVELOPE, self.urls["request"], self.client.number)
        request = other.make("rollout", {"query": {"model": "panda"}, "q": [0, 0, 0, -1, 0, 1, 0], "steps": 10 ** 8,
                                         "only_last": True, "stepping": {"step_length": 1e-6}}, timeout=50)
        ends = []

        def roll():
            try:
                other.send(request)
            except support.Refused as refusal:
                ends.append(refusal.code)

        thread = threading.Thread(target=roll)
        thread.start()
        self.await_true(lambda: self.call("cancel", client=self.client.number, id=request.id).found, "it is found")
        thread.join(sp.WAIT)
        other.close()
        self.assertEqual(ends, ["CODE_CANCELLED"])

    # ---- simulations -------------------------------------------------------------------------------------------------

    def simulation(self, **options):
        """Creates a simulation, and returns how its owner names it in commands."""
        name = self.name("simulation")
        made = self.call("create_simulation", **{"name": name, "query": {"model": "two_link"},
                                                 "q": [0.3, -0.7], "stepping": {"step_length": 0.001}, **options})
        return {"simulation": name, "token": made.token}

    def test_a_simulation_is_stepped_held_set_and_reset(self):
        owned = self.simulation()
        held = bias_forces((0.3, -0.7), (0, 0))
        self.call("set_simulation_input", **owned, input={"tau": held})
        stepped = self.call("step_simulation", **owned, steps=20)
        self.assertEqual((stepped.state.step, stepped.steps_done), (20, 20))
        self.close_to(stepped.state.q, [0.3, -0.7])
        self.close_to(stepped.state.tau, held)
        self.close_to(self.call("set_simulation_state", **owned, q=[0.1, 0.2], v=[0, 0]).state.q, [0.1, 0.2])
        now = self.call("get_simulation_state", simulation=owned["simulation"])
        self.close_to(now.state.q, [0.1, 0.2])
        self.assertIn(owned["simulation"], [one.name for one in self.call("list_simulations").simulations])
        self.close_to(self.call("reset_simulation", **owned).state.q, [0.3, -0.7])
        self.refused("CODE_PERMISSION_DENIED", "step_simulation.token", "step_simulation",
                     simulation=owned["simulation"], token=owned["token"] + 1, steps=1)
        self.call("delete_simulation", **owned)
        self.refused("CODE_NOT_FOUND", "step_simulation.simulation", "step_simulation", **owned, steps=1)

    def test_a_simulation_is_watched_paused_and_resumed(self):
        owned = self.simulation(pace="PACE_CLOCK", is_paused=True, publish_rate=100)
        watched = self.call("watch_simulation", simulation=owned["simulation"])
        reader = sp.Subscriber(self.address(watched.addresses))
        self.await_true(lambda: self.call("get_simulation_state", simulation=owned["simulation"]).simulation.watchers,
                        "the reader is known")
        self.call("resume_simulation", **owned)
        seen = {}
        while len(seen) < 2:
            topic, body = reader.next()
            seen[topic] = EVENT.Event.FromString(body)
        self.assertEqual(set(seen), {watched.state_topic, watched.events_topic})
        self.assertEqual(seen[watched.state_topic].simulation_state.simulation, owned["simulation"])
        paused = self.call("pause_simulation", **owned).state
        self.assertEqual(self.call("get_simulation_state", simulation=owned["simulation"]).state.step, paused.step)
        reader.close()
        self.call("delete_simulation", **owned)

    def test_a_simulation_without_owner_is_claimed(self):
        owned = self.simulation(lease=0.1, keep=True)
        name = owned["simulation"]
        self.await_true(lambda: not next(one for one in self.call("list_simulations").simulations
                                         if one.name == name).owner, "the lease runs out")
        claimed = self.call("claim_simulation", simulation=name, lease=60)
        self.assertNotEqual(claimed.token, owned["token"])
        self.call("delete_simulation", simulation=name, token=claimed.token)

    def test_simulations_are_saved_and_restored(self):
        owned = self.simulation()
        self.call("step_simulation", **owned, steps=3)
        self.assertGreaterEqual(self.call("save_simulations").simulations, 1)
        self.call("delete_simulation", **owned)
        self.assertGreaterEqual(self.call("restore_simulations").simulations, 1)
        self.assertEqual(self.call("step_simulation", **owned, steps=1).state.step, 4)
        self.call("delete_simulation", **owned)

    def test_a_run_is_recorded_fetched_and_replayed(self):
        owned, name = self.simulation(), self.name("run")
        self.call("record_simulation", **owned, recording=name)
        self.call("step_simulation", **owned, steps=25)
        ended = self.call("stop_recording", **owned)
        listed = {one.name: one for one in self.call("list_recordings").recordings}
        self.assertEqual(listed[name].bytes, ended.bytes)
        fetched = self.call("fetch_recording", recording=name)
        self.assertEqual(len(fetched.data), ended.bytes)
        self.assertIn(b"two_link", fetched.data)
        replayed = self.call("replay_simulation", recording=name)
        self.assertEqual((replayed.steps, replayed.equal_steps), (25, 25))
        self.assertEqual(self.call("delete_recording", recording=name).bytes, ended.bytes)
        self.call("delete_simulation", **owned)

    def test_replies_name_the_model_that_they_are_about(self):
        digest = self.call("describe_model", model="two_link").model.digest
        key = int(digest.removeprefix("sha256:")[:16], 16)

        def about(method, **fields):
            reply = self.call(method, **fields)
            self.assertEqual(self.client.reply.model_key, key, method)
            return reply

        query = {"model": "two_link", "expected_digest": digest}
        about("describe_model", model=digest)
        about("export_model", model="two_link", format="MODEL_FORMAT_URDF")
        about("find_base_parameters", query=query)
        about("identify", query=query, q=[0.1 * i * i % 1.3 for i in range(40)], tau=[0.3 * i % 1.1 for i in range(40)],
              time=[0.1 * i for i in range(20)])
        about("excite", query=query, trials=5)
        name, run = self.name("keyed"), self.name("keyed_run")
        owned = {"simulation": name, "token": about("create_simulation", name=name, query=query).token}
        about("record_simulation", **owned, recording=run)
        about("step_simulation", **owned)
        about("stop_recording", **owned)
        about("get_simulation_state", simulation=name)
        about("watch_simulation", simulation=name)
        about("replay_simulation", recording=run)
        fed = about("open_stream", name=name, query={"expected_digest": digest}, simulation_input=owned)
        about("get_stream", stream=name)
        about("close_stream", stream=name, key=fed.key)
        self.refused("CODE_ABORTED", "open_stream.query.expected_digest", "open_stream",
                     query={"expected_digest": digest[:-4] + "0000"}, simulation_input=owned)
        about("delete_simulation", **owned)
        about("close_stream", stream=name, key=about("open_stream", name=name, query=query, feedforward={}).key)
        self.call("delete_recording", recording=run)
        self.assertEqual(self.client.reply.model_key, 0)
        for method in ("list_models", "list_simulations", "list_streams"):
            self.call(method)
            self.assertEqual(self.client.reply.model_key, 0, method)

    # ---- jobs --------------------------------------------------------------------------------------------------------

    def test_a_job_has_the_result_of_its_request(self):
        asked = {"query": {"model": "two_link"}, "q": rows(0), "v": rows(1), "steps": 200, "only_last": True}
        name = self.name("job")
        started = self.call("start_job", job=name, rollout=asked)
        owned = {"job": name, "token": started.token}
        self.assertEqual((started.job.name, started.job.method), (name, "rollout"))
        self.assertEqual([one.method for one in self.call("list_jobs").jobs if one.name == name], ["rollout"])
        self.await_true(lambda: self.call("get_job", job=name).job.finished_ns, "the job ends")
        found, key = self.call("get_job_result", **owned).rollout.SerializeToString(), self.client.reply.model_key
        self.assertEqual(found, self.call("rollout", **asked).SerializeToString())
        self.assertEqual(key, self.client.reply.model_key)
        self.refused("CODE_PERMISSION_DENIED", "cancel_job.token", "cancel_job", job=name, token=started.token + 1)
        self.assertEqual(self.call("cancel_job", **owned).job.fraction, 1)
        self.refused("CODE_NOT_FOUND", "get_job_result.job", "get_job_result", **owned)

    def test_a_job_publishes_progress_and_is_cancelled(self):
        reader, name = sp.Subscriber(self.urls["events"]), self.name("job")
        number = 79 if self.scheme == "ipc" else 80
        request = self.client.make("start_job", {"job": name, "rollout": {
            "query": {"model": "two_link"}, "q": [0, 0], "steps": 2000000000, "only_last": True}}, progress=number)
        owned = {"job": name, "token": self.client.send(request).token}
        topic = body = None
        while topic != f"progress/{number}":
            topic, body = reader.next()
        self.assertEqual(EVENT.Event.FromString(body).progress.number, number)
        self.refused("CODE_UNAVAILABLE", "get_job_result.job", "get_job_result", **owned)
        self.assertTrue(self.call("cancel", client=self.client.number, id=request.id).found)
        self.await_true(lambda: self.call("get_job", job=name).job.finished_ns, "the job ends")
        self.refused("CODE_CANCELLED", "", "get_job_result", **owned)
        self.assertFalse(self.call("cancel", client=self.client.number, id=request.id).found)
        self.call("cancel_job", **owned)
        reader.close()

    def test_a_repeated_request_starts_one_job(self):
        name = self.name("job")
        body = self.client.make("start_job", {"job": name, "gravity": {"query": {"model": "two_link"},
                                                                       "q": [0, 0]}}).SerializeToString()
        replies = [self.client.requester.ask(body) for _ in range(2)]
        self.assertEqual(replies[0], replies[1])
        started = ENVELOPE.Reply.FromString(replies[0]).start_job
        self.call("cancel_job", job=name, token=started.token)

    def test_a_change_is_no_job(self):
        def member(number, body):
            return bytes([number << 3 & 0x7f | 0x82, number >> 4, len(body)]) + body

        load = ENVELOPE.Request.DESCRIPTOR.fields_by_name["load_model"].number
        start = ENVELOPE.Request.DESCRIPTOR.fields_by_name["start_job"].number
        body = member(start, member(load, b""))
        reply = ENVELOPE.Reply.FromString(self.client.requester.ask(body))
        self.assertEqual((reply.status.field, reply.status.reason), ("start_job", "UNKNOWN_METHOD"))
        self.assertIn("load_model", reply.status.message)

    # ---- streams and events ------------------------------------------------------------------------------------------

    def test_points_that_are_pushed_come_back_as_torques(self):
        name = self.name("plan")
        opened = self.call("open_stream", name=name, query={"model": "two_link"}, feedforward={})
        watched = self.call("watch_stream", stream=name)
        reader = sp.Subscriber(self.address(watched.addresses))
        self.await_true(lambda: self.call("get_stream", stream=name).stream.watchers, "the reader is known")
        pusher = sp.Pusher(self.address(opened.ingest))
        chunk = STREAM.StreamChunk(key=opened.key, point_number=1, time=[0, 0.1, 0.2], q=rows(0), v=rows(1), a=rows(2))
        pusher.send(chunk.SerializeToString())
        tau = []
        while len(tau) < 6:
            topic, body = reader.next()
            if topic == watched.torques_topic:
                tau += EVENT.Event.FromString(body).stream_torques.tau
        expected = flat(inverse_dynamics(*state) for state in STATES)
        self.close_to(tau, expected)
        self.close_to(self.call("get_stream_points", stream=name, first=1, count=3).tau, expected)
        self.assertEqual(self.call("get_stream", stream=name).stream.counters.accepted, 3)
        self.assertIn(name, [one.name for one in self.call("list_streams").streams])
        self.assertEqual(self.call("close_stream", stream=name, key=opened.key).stream.counters.lost, 0)
        pusher.close()
        reader.close()

    def test_events_report_models_and_progress(self):
        reader = sp.Subscriber(self.urls["events"])
        name = self.name("told")

        def is_reported():
            self.call("load_model", name=name, description=self.description(name, 1))
            return reader.hears(0.1) or not self.call("unload_model", model=name)

        self.await_true(is_reported, "an event arrives")
        request = self.client.make("rollout", {"query": {"model": "panda"}, "q": [0, 0, 0, -1, 0, 1, 0] * 64,
                                               "steps": 20000, "only_last": True,
                                               "stepping": {"step_length": 1e-4}}, progress=77)
        self.client.send(request)
        seen = {}
        while not {"models", "progress/77"} <= set(seen):
            topic, body = reader.next()
            event = EVENT.Event.FromString(body)
            if topic != "models" or (event.model.model.name == name and
                                     event.model.change == EVENT.ModelEvent.Change.CHANGE_LOADED):
                seen.setdefault(topic, event)
        self.assertEqual(seen["progress/77"].progress.number, 77)
        reader.close()
        self.call("unload_model", model=name)

    def test_reasons_name_what_is_missing_or_wrong(self):
        def reason(method, **fields):
            with self.assertRaises(support.Refused) as caught:
                self.call(method, **fields)
            return caught.exception.status.reason

        def derive(operation):
            return reason("derive_model", model="two_link", name="x", operations=[operation])

        self.assertEqual(derive({"lock": {"joints": ["nope"]}}), "JOINT_NOT_FOUND")
        self.assertEqual(reason("load_model", urdf="<robot name='r'>"), "INVALID_DESCRIPTION")
        self.assertEqual(reason("load_model", urdf="<robot name='r'><link name='a'/><link name='b'/></robot>"),
                         "INVALID_DESCRIPTION")
        self.assertEqual(reason("load_model", name="a.b", urdf="<robot name='r'><link name='a'/></robot>"),
                         "INVALID_NAME")

    # ---- the contract ------------------------------------------------------------------------------------------------

    def test_fields_of_a_later_contract_are_refused(self):
        unknown = b"\xfa\x7f\x00"  # field 2047 of the request's own message, with length 0
        body = self.client.make("get_health", {}).SerializeToString() + unknown
        reply = ENVELOPE.Reply.FromString(self.client.requester.ask(body))
        self.assertEqual(ENVELOPE.Reply.DESCRIPTOR.fields_by_name["status"].message_type.fields_by_name["code"]
                         .enum_type.values_by_number[reply.status.code].name, "CODE_UNIMPLEMENTED")


class OverIpc(Carrier, unittest.TestCase):
    scheme = "ipc"


class OverTcp(Carrier, unittest.TestCase):
    scheme = "tcp"


if __name__ == "__main__":
    unittest.main(verbosity=2)
