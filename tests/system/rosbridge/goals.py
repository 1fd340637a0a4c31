#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Methods as actions: feedback and cancel of whatever takes long."""
import unittest
import urllib.request

import cbor
import fixture

TWO_LINK = {"model": "two_link"}
PANDA = {"model": "panda"}

SAMPLES = 20000
Q = [0.1, -0.4, 0.2, -1.5, 0.3, 1.2, -0.6]


class Goals(fixture.Case):
    keys = {"limits__message_bytes": 1 << 25}

    def setUp(self):
        super().setUp()
        self.control = self.gateway.connect()
        self.addCleanup(self.control.close)

    def goal(self, identity, method, args, **members):
        """Sends a goal; long arrays go as CBOR."""
        message = {"op": "send_action_goal", "id": identity, "action": "/dynamics/" + method, "args": args,
                   "action_type": "dynamics_msgs/action/Any", "feedback": True, **members}
        self.client.socket.send(cbor.encode(message))

    def cancel(self, identity, method):
        self.client.send("cancel_action_goal", id=identity, action="/dynamics/" + method)

    def result(self, identity):
        """The result of a goal, and the fractions that were reported before it."""
        fractions = []
        while True:
            message = self.client.receive()
            message = cbor.decode(message) if isinstance(message, bytes) else message
            self.assertEqual(message["id"], identity)
            if message["op"] == "action_result":
                return message, fractions
            self.assertEqual(message["op"], "action_feedback")
            self.assertGreaterEqual(message["values"]["elapsed"], 0)
            fractions.append(message["values"]["fraction"])

    def long_goals(self):
        """Goals that would take minutes."""
        made = self.control.values("/dynamics/create_simulation", {"name": "long", "query": {"model": "panda"},
            "pace": "PACE_LOCKSTEP"})
        self.addCleanup(self.control.call, "/dynamics/delete_simulation", {"simulation": "long",
            "token": made["token"]})
        rows = 50000
        return {
            "rollout": {"query": PANDA, "q": Q * 50, "steps": 1000000, "only_last": True},
            "forward_dynamics_trajectory": {"query": PANDA, "q": Q, "tau": [0.1] * 7 * rows, 
                                            "stepping": {"step_length": 0.001, "substeps": 1000}},
            "step_simulation": {"simulation": "long", "token": int(made["token"]), "steps": 10 ** 9},
        }

    def test_long_goals_report_their_progress_and_are_cancelled(self):
        for method, args in self.long_goals().items():
            self.goal(method, method, args)
            reply = [self.client.receive("action_feedback") for _ in range(3)]
            self.assertEqual({(each["id"], each["action"]) for each in reply}, {(method, "/dynamics/" + method)})
            fractions = [each["values"]["fraction"] for each in reply]
            self.assertTrue(0 <= fractions[0] < fractions[1] < fractions[2] < 1, (method, fractions))
            self.cancel(method, method)
            result, _ = self.result(method)
            self.assertEqual(result["status"], 5, (method, result))
            if method == "step_simulation":
                self.assertTrue(result["result"])
                self.assertEqual(result["values"]["ended_by"], "STEPS_END_CANCELLED")
                self.assertEqual(result["values"]["steps_done"], result["values"]["state"]["step"])
            else:
                self.assertFalse(result["result"])
                self.assertIn("(CANCELLED)", result["values"])

    def test_a_cancel_is_never_too_early(self):
        """It may reach the gateway while the goal waits there, and the daemon before the goal itself does."""
        for method, args in self.long_goals().items():
            for number in range(5):
                self.goal(f"{method}{number}", method, args, feedback=False)
                self.cancel(f"{method}{number}", method)
            done = {}
            while len(done) < 5:
                answer = self.client.receive("action_result")
                done[answer["id"]] = answer["status"]
            self.assertEqual(set(done.values()), {5}, (method, done))

    def test_big_batches_report_their_progress(self):
        """A report and the reply take different ways to the gateway: a formulation makes the batch long enough."""
        rows = {"query": {**PANDA, "formulation": "newton_euler"}, "q": Q * SAMPLES}
        for method, args, member, width in (
                ("mass_matrix", rows, "mass_matrix", 49),
                ("inverse_dynamics", {**rows, "v": Q * SAMPLES, "a": Q * SAMPLES}, "tau", 7),
                ("evaluate", {**rows, "query": PANDA, "quantities": [{"quantity": "QUANTITY_GRAVITY_FORCES_BY_Q"}]},
                    None, 49)):
            self.goal(method, method, args, compression="cbor")
            result, fractions = self.result(method)
            self.assertEqual((result["status"], result["result"]), (4, True), (method, str(result)[:500]))
            self.assertGreater(len(fractions), 0, method)
            self.assertEqual(fractions, sorted(fractions))
            if member:
                values = result["values"][member]
                self.assertEqual(len(values), width * SAMPLES)
                self.assertEqual(values[:width], values[-width:])

    def test_a_batch_that_waits_is_cancelled(self):
        args = self.long_goals()["rollout"]
        workers = 2 * self.control.values("/dynamics/get_server_info")["limits"].get("workers", 8)
        for number in range(workers):
            self.goal(f"before{number}", "rollout", args, feedback=False)
        self.goal("batch", "mass_matrix", {"query": PANDA, "q": Q * SAMPLES})
        self.cancel("batch", "mass_matrix")
        for number in range(workers):
            self.cancel(f"before{number}", "rollout")
        done = {}
        while len(done) < workers + 1:
            answer = self.client.receive("action_result")
            done[answer["id"]] = (answer["status"], answer["result"])
        self.assertEqual(set(done.values()), {(5, False)}, done)

    def test_short_goals_end_before_anything_is_reported(self):
        for method, args in (("find_base_parameters", {"query": TWO_LINK}), ("list_models", None),
                             ("get_server_info", {}), ("gravity", [TWO_LINK, [0.1, 0.2]])):
            self.goal(method, method, args)
            result, fractions = self.result(method)
            self.assertEqual((result["status"], result["result"], fractions), (4, True, []))
            reply = self.client.status({"op": "cancel_action_goal", "id": method, "action": "/dynamics/" + method})
            self.assertIn("no goal of this id", reply)

    def test_goals_that_are_wrong_are_answered(self):
        for members, reason in (({"action": "/dynamics/none"}, "NOT_FOUND"), ({"action": 7}, "NOT_FOUND"),
                                ({"args": 7}, "args: an object or an array"),
                                ({"args": {"query": PANDA, "q": [None]}}, "args.q[0]: null is not a number"),
                                ({"args": {"query": {"model": "none"}, "q": Q}}, "args.query.model: there is no model"),
                                ({"timeout": "soon"}, "timeout is wrong"), ({"compression": "zip"}, "is wrong")):
            self.client.send("send_action_goal", **{"id": "w", "action": "/dynamics/gravity", "args": {}, **members})
            answer = self.client.receive("action_result")
            self.assertEqual((answer["id"], answer["status"], answer["result"]), ("w", 6, False))
            self.assertIn(reason, answer["values"])

    def test_goals_end_with_the_connection(self):
        asking = self.gateway.connect()
        asking.send("send_action_goal", id="g", action="/dynamics/rollout", args=self.long_goals()["rollout"],
                    feedback=True)
        asking.receive("action_feedback")
        asking.close()
        metrics = lambda: urllib.request.urlopen(f"http://127.0.0.1:{self.gateway.port}/metrics").read().decode()
        fixture.wait_for(lambda: "dynamics_rosbridge_calls_under_way 0\n" in metrics(), "the goal ends")


if __name__ == "__main__":
    unittest.main()
