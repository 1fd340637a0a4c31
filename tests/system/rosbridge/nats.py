#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A gateway to two daemons at a NATS server: its calls, its events, and the loss of its daemon."""
import itertools
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

import fixture

for directory in ("python", "other_language"):
    sys.path.append(str(pathlib.Path(__file__).parent.parent / directory))
from daemon import Daemon  # noqa: E402
from nats_server import NatsServer  # noqa: E402

TWO_LINK = {"model": "two_link"}
BAR = "<robot name='bar'><link name='base'/></robot>"


class Address:
    """Address by which the gateway reaches the daemons: that of the NATS server alone."""

    def __init__(self, request):
        self.directory = tempfile.mkdtemp(prefix="rosbridge.")
        self.request, self.events = request, "ipc:///nowhere/events.sock"


class Nats(unittest.TestCase):
    def setUp(self):
        self.server = NatsServer()
        self.addCleanup(self.server.stop)
        self.daemons = {name: Daemon({"nats": {"replica": name}}, self.server.url) for name in ("one", "two")}
        self.address = Address(self.server.url)
        self.addCleanup(shutil.rmtree, self.address.directory)
        self.gateway = fixture.Gateway(self.address)
        self.addCleanup(self.end)
        self.client = self.gateway.connect()
        self.client.await_health()

    def end(self):
        self.client.close()
        code = self.gateway.stop()
        for daemon in self.daemons.values():
            daemon.stop()
        self.assertEqual(code, 0)

    def receive(self, topic):
        """The next message of a topic."""
        while True:
            message = self.client.receive("publish")
            if message["topic"] == topic:
                return message["msg"]

    def create_simulation(self, name):
        """Creates a simulation that runs, and reads its states."""
        self.client.send("subscribe", topic=f"/dynamics/simulations/{name}/joint_states",
                         type="sensor_msgs/JointState")
        self.client.values("/dynamics/create_simulation", {"name": name, "query": TWO_LINK, "pace": "PACE_CLOCK"})
        first, second = (self.receive(f"/dynamics/simulations/{name}/joint_states") for _ in range(2))
        self.assertEqual(first["name"], ["joint1", "joint2"])
        self.assertNotEqual(first["header"]["stamp"], second["header"]["stamp"])

    def topics(self):
        return self.client.values("/rosapi/topics")["topics"]

    def owner(self, simulation):
        """The name of the daemon that has the simulation."""
        def simulations(name):
            return subprocess.run([os.environ["DYNAMICSCTL"], "--endpoint", self.daemons[name].request,
                                   "simulations"], text=True, capture_output=True, check=True).stdout
        found, = [name for name in self.daemons if simulation in simulations(name)]
        return found

    def await_model_event(self):
        """Loads models until an event of one arrives: the gateway may still subscribe when the first is loaded."""
        reader = self.gateway.connect()
        self.addCleanup(reader.close)
        reader.send("subscribe", topic="/dynamics/models", type="dynamics_msgs/ModelEvent")
        reader.synchronize()
        numbers = itertools.count()

        def is_told():
            self.client.values("/dynamics/load_model", {"name": f"bar{next(numbers)}", "urdf": BAR})
            return select.select([reader.socket.sock], [], [], 0.2)[0]

        fixture.wait_for(is_told, "an event of a model arrives")
        event = reader.receive("publish")["msg"]
        self.assertEqual((event["change"], event["model"]["name"][:3]), ("CHANGE_LOADED", "bar"))

    def test_events_of_simulations_models_and_progress_arrive(self):
        self.create_simulation("arm")
        self.await_model_event()
        self.client.send("send_action_goal", id="goal", action="/dynamics/rollout",
                         action_type="dynamics_msgs/action/Rollout", feedback=True,
                         args={"query": TWO_LINK, "q": [0.1, 0.2] * 100, "steps": 1000000, "only_last": True})
        self.assertLess(self.client.receive("action_feedback")["values"]["fraction"], 1)
        self.client.send("cancel_action_goal", id="goal", action="/dynamics/rollout")
        self.assertEqual(self.client.receive("action_result")["status"], 5)

    def test_another_daemon_serves_when_the_own_one_is_gone(self):
        self.create_simulation("arm")
        self.daemons.pop(self.owner("arm")).stop()
        fixture.wait_for(lambda: "/dynamics/simulations/arm/state" not in self.topics(),
                         "the topics of the simulation end")
        self.client.await_health()
        self.create_simulation("other")
        self.assertIn(self.owner("other"), self.daemons)
        self.await_model_event()


if __name__ == "__main__":
    unittest.main()
