#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A node of ROS 1 between its graph and dynamicsd, by way of dynamics-rosbridge.

    ./dynamics_node.py _url:=ws://127.0.0.1:9090 _model:=ur5

With standard types alone (python3-rospy, python3-sensor-msgs, python3-std-srvs):

Subscribes  joint_states     sensor_msgs/JointState: a state; joints in any order; no velocity means rest. Joints that
                             the model lacks, such as those of a gripper, are ignored.
Publishes   torques          sensor_msgs/JointState: the state of the model's joints, with the effort of inverse
                             dynamics for zero acceleration. Refused states are logged with the reason.
Service     ~check_health    std_srvs/Trigger: the health of the daemon.

The node also offers all services and topics of the gateway whose types are installed, under the same names. Build
dynamics_msgs (share/dynamicsd/ros/ros1) for all types:

Services    /dynamics/...    each method; a refusal arrives as rospy.ServiceException with the path of the field.
Topics      those of simulations, streams and health, in both directions, as they come and go.
Actions     the methods that ~actions lists ("rollout"), with feedback and cancel; needs python3-actionlib.

Parameters: ~url, ~model (without it there is no joint_states), ~actions.
"""
import threading

import rospy
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger, TriggerResponse

from relays import ActionRelay, ServiceRelay, TopicRelays
from ros_values import values_of
from rosbridge_client import Failed, RosbridgeClient


class DynamicsNode:
    """The only connection of the node, opened again after a loss."""

    def __init__(self):
        self.url, self.model = rospy.get_param("~url", "ws://127.0.0.1:9090"), rospy.get_param("~model", None)
        self.client, self.relays, self.joints, self.lock = None, {}, frozenset(), threading.Lock()
        rospy.Service("~check_health", Trigger, self.on_health)
        if self.model:
            self.torques = rospy.Publisher("torques", JointState, queue_size=10)
            rospy.Subscriber("joint_states", JointState, self.on_state, queue_size=10)
        self.topics = TopicRelays(self)

    def connected(self):
        """Returns the connection; the first thread that needs it opens it again. Raises Failed if there is none."""
        with self.lock:
            if self.client is None or not self.client.is_open:
                try:
                    self.client = RosbridgeClient(self.url, on_status=lambda text: rospy.logwarn_throttle(1.0, text))
                except OSError as error:
                    raise Failed(f"{self.url}: {error}") from error
            return self.client

    def call(self, service, args):
        try:
            return self.connected().call(service, args)
        except (OSError, TimeoutError) as error:
            raise Failed(f"{self.url}: {error}") from error

    def own_joints(self, state):
        """The part of a state that belongs to the model's joints, and their indices in the state."""
        if not self.joints:
            self.joints = frozenset(self.call("/dynamics/describe_model", {"model": self.model})["q_names"])
        own = [i for i, name in enumerate(state.name) if name in self.joints]
        pick = lambda values: [values[i] for i in own] if len(values) == len(state.name) else list(values)
        return JointState(state.header, pick(state.name), pick(state.position), pick(state.velocity), [])

    def on_state(self, state):
        try:
            own = self.own_joints(state)
            asked = {"query": {"model": self.model}, "joint_state": values_of(own)}
            own.effort = self.call("/dynamics/inverse_dynamics", asked)["tau"]
        except Failed as error:
            self.joints = frozenset()  # the model may have been replaced
            rospy.logerr_throttle(1.0, f"joint_states: {error}")
            return
        self.torques.publish(own)

    def on_health(self, _):
        try:
            health = self.call("/dynamics/check_health", {})
        except Failed as error:
            return TriggerResponse(False, str(error))
        return TriggerResponse(health["success"], health["message"])

    def offer(self):
        """Offers the services and actions that are not offered yet."""
        for service in self.call("/rosapi/services", {})["services"]:
            if service.startswith("/dynamics/") and service not in self.relays and service != rospy.resolve_name(
                    "~check_health"):
                self.relays[service] = ServiceRelay(self, service)
        for method in rospy.get_param("~actions", "rollout").replace(",", " ").split():
            action = f"/dynamics/{method}"
            if f"{action}/goal" not in self.relays:
                self.relays[f"{action}/goal"] = ActionRelay(self, action)

    def run(self):
        """Follows the gateway's offers, and starts again with each connection, which another thread may have opened."""
        followed = None
        while not rospy.is_shutdown():
            try:
                client = self.connected()
                if client is not followed:
                    self.topics.clear()
                    self.offer()
                    followed = client
                self.topics.follow()
            except (Failed, OSError) as error:
                rospy.logwarn_throttle(10.0, f"no gateway: {error}")
            rospy.sleep(1.0)


if __name__ == "__main__":
    rospy.init_node("dynamics")
    DynamicsNode().run()
