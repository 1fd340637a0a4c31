#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Numbers through the gateway are those of the C client: in CBOR to the last bit, in JSON to 17 digits."""
import json
import math
import random
import struct
import unittest

import cbor
import fixture

TWO_LINK = {"model": "two_link"}
PANDA = {"model": "panda"}

# Smallest, denormal, zeros of both signs, a third, largest.
ODD = [5e-324, -5e-324, 2.2250738585072014e-308, 1e-310, 0.0, -0.0, 1 / 3, 1e308, -1.7976931348623157e308]

# Two wheels of which the second turns three times as far.
GEARED = {"name": "geared", "links": [{"name": name, "inertia": {"mass": 1}} for name in ("base", "small", "large")],
          "joints": [{"name": name + "_axle", "type": "JOINT_TYPE_CONTINUOUS", "parent_link": "base",
                      "child_link": name, "axis": {"z": 1}} for name in ("small", "large")],
          "constraints": [{"name": "gears", "coupling": {"coordinates": [
              {"joint": "large_axle", "coefficient": 1}, {"joint": "small_axle", "coefficient": -3}]}}]}

# A wheel with a motor and a gear.
DRIVEN = {"name": "driven",
          "links": [{"name": f"link{i}", "inertia": {"mass": 1, "rotational": [1, 0, 0, 1, 0, 1]}} for i in range(2)],
          "joints": [{"name": "joint", "type": "JOINT_TYPE_CONTINUOUS", "parent_link": "link0", "child_link": "link1",
                      "axis": {"z": 1}}],
          "machine_elements": [{"name": "motor", "joint": "joint",
                                "motor": {"resistance": 1 / 3, "torque_constant": 0.07, "maximum_voltage": 24,
                                          "maximum_speed": 900}},
                               {"name": "gear", "joint": "joint", "gear": {"ratio": 7, "efficiency": 0.7}}]}

# Members of oneofs in replies.
CHOICES = {"orientation", "rotation", "multiplier"}

# Methods that change or report something which has no numbers, or none that stay the same from call to call.
OTHERS = {"compare", "load_model", "derive_model", "unload_model", "export_model", "get_health",
          "get_server_info", "get_metrics", "get_settings", "list_connections", "close_connection",
          "list_slow_requests",
          "set_log_level", "cancel", "create_simulation", "step_simulation", "set_simulation_input",
          "set_simulation_state", "pause_simulation", "resume_simulation", "reset_simulation",
          "delete_simulation", "watch_simulation", "claim_simulation", "save_simulations",
          "restore_simulations", "record_simulation", "stop_recording", "replay_simulation", "open_stream",
          "close_stream", "list_streams", "list_simulations", "get_stream", "get_stream_points",
          "watch_stream", "list_recordings", "fetch_recording", "delete_recording", "start_job", "get_job",
          "get_job_result", "cancel_job", "list_jobs"}


def bits(value):
    """A value in which numbers are compared by their bits: 3 and 3.0 are equal, 0.0 and -0.0 are not."""
    if isinstance(value, dict):
        return {key: bits(each) for key, each in value.items()}
    if isinstance(value, list):
        return [bits(each) for each in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return struct.pack("<d", value) if abs(value) < 2 ** 53 else value
    return value


def with_lists(value):
    """Writes members of oneofs as the gateway does: as lists of one."""
    if isinstance(value, list):
        return [with_lists(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {key: [with_lists(member)] if key in CHOICES else with_lists(member) for key, member in value.items()}


class Numbers(fixture.Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(4)

    def rows(self, count, width=7):
        return [self.random.uniform(-1, 1) for _ in range(count * width)]

    def questions(self):
        q, v, a = self.rows(3), self.rows(3), self.rows(3)
        state = {"query": PANDA, "q": q, "v": v}
        times = [0.01 * i for i in range(3)]
        quantities = ["QUANTITY_MASS_MATRIX", "QUANTITY_CORIOLIS_MATRIX", "QUANTITY_KINETIC_ENERGY",
                      "QUANTITY_FRAME_JACOBIAN", "QUANTITY_FORWARD_DYNAMICS_BY_Q", "QUANTITY_TORQUE_REGRESSOR"]
        frame = {"frames": ["panda_link7"], "reference_frame": "REFERENCE_FRAME_LOCAL"}
        asked = [{"quantity": name, **(frame if "FRAME" in name else {})} for name in quantities]
        return {
            "list_models": {}, "describe_model": {"model": "panda"},
            "compute_inertia": {"parts": [{"density": 1234.5, "box": {"size": {"x": 0.1, "y": 1 / 3, "z": 0.7}}}]},
            "compute_configurations": {"query": PANDA, "integrate": {"q": q, "v": v, "step_length": [1 / 3] * 3}},
            "find_base_parameters": {"query": PANDA},
            "identify": {"query": PANDA, "q": self.rows(20), "tau": self.rows(20),
                         "time": [0.1 * i for i in range(20)]},
            "excite": {"query": PANDA, "period": 2.0, "harmonics": 2, "rate": 50.0, "trials": 10},
            "evaluate_motors": {"query": {"model": "driven"}, "q": q[:3], "v": v[:3], "a": a[:3], "time": times},
            "inverse_dynamics": {**state, "a": a},
            "forward_dynamics": {**state, "tau": a}, "mass_matrix": {"query": PANDA, "q": q},
            "gravity": {"query": PANDA, "q": q}, "bias_forces": state,
            "evaluate": {**state, "a": a, "tau": a, "quantities": asked},
            "explain": {"query": PANDA, "q": q[:7], "v": v[:7], "a": a[:7]},
            "formulate": {"query": {**PANDA, "formulation": "lagrange_euler"}, "q": q[:7], "v": v[:7], "a": a[:7]},
            "kinematics": {"query": PANDA, "q": q, **frame},
            "rollout": {"query": PANDA, "q": q, "v": v, "steps": 20, "stride": 5},
            "inverse_dynamics_trajectory": {**state, "a": a, "time": times},
            "forward_dynamics_trajectory": {"query": PANDA, "q": q[:7], "v": v[:7], "tau": a,
                                            "stepping": {"step_length": 0.01}},
            "derive_rates": {"query": PANDA, "q": q, "time": times, "rates": "RATES_CENTRAL"},
            "assemble": {"query": {"model": "geared"}, "q": [0.3, 0.1]},
        }

    def test_every_method_has_the_numbers_of_the_c_client(self):
        services = {name.split("/")[-1] for name in self.client.values("/rosapi/services")["services"]
                    if name.startswith("/dynamics/") and name != "/dynamics/check_health"}
        simulation = self.client.values("/dynamics/create_simulation", {"name": "still", "query": {"model": "panda"},
            "pace": "PACE_LOCKSTEP", "lease": 3600, "q": self.rows(1), "v": self.rows(1)})
        self.daemon.call("load_model", {"name": "geared", "replace": True, "description": GEARED})
        self.daemon.call("load_model", {"name": "driven", "replace": True, "description": DRIVEN})
        questions = {**self.questions(), "get_simulation_state": {"simulation": "still"}}
        self.assertEqual(services - set(questions), OTHERS & services)
        for method, args in questions.items():
            with self.subTest(method=method):
                exact = self.daemon.call(method, args)
                self.assertGreater(str(exact).count("."), 0)
                self.volatile(exact)
                exact = with_lists(exact)
                text = self.client.values("/dynamics/" + method, args)
                binary = cbor.decode(self.client.call("/dynamics/" + method, args, compression="cbor"))
                self.assertTrue(binary["result"])
                self.volatile(text)
                self.volatile(binary["values"])
                self.assertEqual(bits(text), bits(exact))
                self.assertEqual(bits(binary["values"]), bits(exact))
        self.client.values("/dynamics/delete_simulation", {"simulation": "still", "token": simulation["token"]})

    def volatile(self, reply):
        """Leaves out what changes by itself."""
        if "simulation" in reply:
            for key in ("lease_remaining", "statistics"):
                reply["simulation"].pop(key, None)

    def test_odd_numbers_go_to_the_daemon_and_back(self):
        for x in ODD:
            for send in (self.client.send, lambda op, **members: self.client.socket.send(
                    cbor.encode({"op": op, **members}))):
                for how in ({}, {"compression": "cbor"}):
                    send("call_service", id="odd", service="/dynamics/create_simulation", args={
                        "name": "odd", "query": {"model": "two_link"}, "pace": "PACE_LOCKSTEP",
                        "q": [x, 1 / 3], "v": [0.0, x]},
                        **how)
                    made = self.client.receive()
                    made = cbor.decode(made) if isinstance(made, bytes) else made
                    self.assertTrue(made["result"], (x, made))
                    state = made["values"]["state"]
                    self.assertEqual(bits((state["q"] + state["v"])), bits([x, 1 / 3, 0.0, x]))
                    self.client.values("/dynamics/delete_simulation", {"simulation": "odd",
                        "token": made["values"]["token"]})

    def test_odd_numbers_go_from_client_to_client(self):
        reader = self.gateway.connect()
        self.addCleanup(reader.close)
        self.client.send("advertise", topic="/odd", type="std_msgs/Float64MultiArray")
        for compression in ("none", "cbor", "png", "cbor-raw"):
            reader.send("subscribe", topic="/odd", type="std_msgs/msg/Float64MultiArray", compression=compression)
            reader.synchronize()
            for send in (self.client.send, lambda op, **members: self.client.socket.send(
                    cbor.encode({"op": op, **members}))):
                send("publish", topic="/odd", msg={"data": ODD})
                got = reader.receive()
                got = cbor.decode(got) if isinstance(got, bytes) else got
                if compression == "png":
                    got = json.loads(cbor.png_text(got["data"]))
                if compression == "cbor-raw":
                    self.assertTrue(got["msg"]["bytes"].endswith(struct.pack(f"<{len(ODD)}d", *ODD)))
                else:
                    self.assertEqual(bits(got["msg"]["data"]), bits(ODD))
            reader.send("unsubscribe", topic="/odd")

    def test_what_is_no_number_is_refused_by_its_path(self):
        service, args = "/dynamics/gravity", {"query": TWO_LINK, "q": [0.5, None]}
        self.assertEqual(self.client.refusal(service, args), "args.q[1]: null is not a number")
        for x in (math.nan, math.inf, -math.inf):
            message = {"op": "call_service", "id": "n", "service": service, "args": {**args, "q": [0.5, x]}}
            self.client.socket.send(cbor.encode(message))
            answer = self.client.receive("service_response")
            self.assertEqual((answer["result"], answer["values"]), (False, "args.q[1]: null is not a number"))
        for text in ("NaN", "Infinity", "1e999", "-1e400", "0x10", "01", ".5", "1."):
            call = '{"op": "call_service", "service": "/dynamics/gravity", "args": [' + text + "]}"
            self.assertIn("not JSON: line 1, column", self.client.status(call))


if __name__ == "__main__":
    unittest.main()
