#!/usr/bin/python3
"""A node of ROS 1 between topics of standard types and dynamicsd, by way of dynamics-rosbridge.

    ./dynamics_node.py _url:=ws://127.0.0.1:9090 _model:=ur5

Subscribes  joint_states  sensor_msgs/JointState: a state; joints in any order, no velocity stands for rest.
Publishes   torques       sensor_msgs/JointState: the same state, with the effort that inverse dynamics gives for zero
                          acceleration: what holds the robot in its motion. Refused states are logged with the reason.
Service     ~health       std_srvs/Trigger: is the daemon able to work, and if not, why.

Needs python3-rospy, python3-sensor-msgs and python3-std-srvs, nothing else.
"""
import rospy
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger, TriggerResponse

from rosbridge_client import Failed, RosbridgeClient


class DynamicsNode:
    """The node's one connection, made again when it is lost."""

    def __init__(self):
        self.url, self.model = rospy.get_param("~url", "ws://127.0.0.1:9090"), rospy.get_param("~model")
        self.client = None
        self.torques = rospy.Publisher("torques", JointState, queue_size=10)
        rospy.Service("~health", Trigger, self.on_health)
        rospy.Subscriber("joint_states", JointState, self.on_state, queue_size=10)

    def call(self, service, args):
        try:
            if self.client is None:
                self.client = RosbridgeClient(self.url)
            return self.client.call(service, args)
        except OSError as error:
            self.client = None
            raise Failed(f"{self.url}: {error}") from error

    def on_state(self, state):
        joints = {"name": state.name, "position": state.position, "velocity": state.velocity}
        try:
            tau = self.call("/dynamics/inverse_dynamics", {"model": self.model, "joint_state": joints})["tau"]
        except Failed as error:
            rospy.logerr_throttle(1.0, f"joint_states: {error}")
            return
        self.torques.publish(JointState(state.header, state.name, state.position, state.velocity, tau))

    def on_health(self, _):
        try:
            health = self.call("/dynamics/health", {})
        except Failed as error:
            return TriggerResponse(False, str(error))
        state = health["state"].replace("HEALTH_STATE_", "").lower()
        ill = [f"{each['name']}: {each['message']}" for each in health["components"] if each["message"]]
        return TriggerResponse(state == "serving", "; ".join([state, *ill]))


if __name__ == "__main__":
    rospy.init_node("dynamics")
    DynamicsNode()
    rospy.spin()
