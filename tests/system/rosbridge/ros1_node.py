# SPDX-License-Identifier: BSD-2-Clause
"""A rospy node that uses the daemon, and checks what it gets against the C client.

    ros1_node.py ENDPOINT       of the daemon
"""
import json
import os
import subprocess
import sys
import time

import actionlib
import rospy
from actionlib_msgs.msg import GoalStatus
from dynamics_msgs import msg, srv
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

WAIT = 30  # seconds


def ask(method, arguments):
    """The result of a method through the C client."""
    done = subprocess.run([os.environ["DYNAMICSCTL"], "--endpoint", sys.argv[1], "call", method, json.dumps(arguments)],
                          text=True, capture_output=True, check=True)
    return json.loads(done.stdout)


def service(name, kind):
    rospy.wait_for_service(name, WAIT)
    return rospy.ServiceProxy(name, kind)


def refusal(call, **fields):
    try:
        call(**fields)
    except rospy.ServiceException as error:
        return str(error)
    raise AssertionError("it was not refused")


def first(topic, kind, holds=lambda _: True, meanwhile=lambda: None):
    """The first message of a topic for which something holds."""
    heard = []
    subscriber = rospy.Subscriber(topic, kind, heard.append)
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        meanwhile()
        found = [each for each in heard if holds(each)]
        if found:
            subscriber.unregister()
            return found[0]
        rospy.sleep(0.1)
    raise AssertionError(f"nothing like that on {topic} within {WAIT} s")


def use_standard_types():
    health = service("/dynamics/check_health", Trigger)()
    assert health.success and "serving" in health.message, health
    states = rospy.Publisher("joint_states", JointState, queue_size=10)

    def publish():
        states.publish(JointState(name=["joint1"], position=[0]))  # refused, and no harm
        states.publish(JointState(name=["joint2", "finger", "joint1"], position=[0.2, 9, 0.1], velocity=[2, 9, 1]))

    torques = first("torques", JointState, meanwhile=publish)
    expected = ask("inverse_dynamics", {"query": {"model": "two_link"}, "q": [0.1, 0.2], "v": [1, 2]})["tau"]
    assert torques.name == ["joint2", "joint1"] and list(torques.effort) == expected[::-1], torques


def use_services():
    args = {"q": [0.1 * i for i in range(7)], "v": [1.0] * 7, "a": [0.5] * 7}
    inverse_dynamics = service("/dynamics/inverse_dynamics", srv.InverseDynamics)
    panda, two_link = msg.Query(model="panda"), msg.Query(model="two_link")
    expected = ask("inverse_dynamics", {"query": {"model": "panda"}, **args})["tau"]
    assert list(inverse_dynamics(query=[panda], **args).tau) == expected
    state = JointState(name=["joint2", "joint1"], position=[0.2, 0.1])
    tau = inverse_dynamics(query=[two_link], joint_state=[state]).tau
    assert list(tau) == ask("inverse_dynamics", {"query": {"model": "two_link"}, "q": [0.1, 0.2]})["tau"][::-1], tau
    models = service("/dynamics/list_models", srv.ListModels)().models
    assert {each.name for each in models} == {"panda", "quadruped", "two_link", "ur5"}, models
    reason = refusal(inverse_dynamics, query=[panda], q=[0, 0, float("nan"), 0, 0, 0, 0])
    assert "args.q[2]" in reason, reason
    reason = refusal(inverse_dynamics, query=[panda], q=[0, 0])
    assert "args.q: q has 2 values" in reason, reason
    reason = refusal(service("/dynamics/gravity", srv.Gravity),
                     query=[msg.Query(model="pandas")])
    assert 'did you mean "panda"' in reason, reason


def use_simulation():
    made = service("/dynamics/create_simulation", srv.CreateSimulation)(
        name="ros1", query=[msg.Query(model="two_link")], pace="PACE_CLOCK", q=[0.1, 0.2])
    state = first("/dynamics/simulations/ros1/joint_states", JointState)
    assert state.name == ["joint1", "joint2"] and len(state.position) == 2, state
    later = first("/dynamics/simulations/ros1/joint_states", JointState, lambda each: each.header.stamp >
                  state.header.stamp)
    assert later.position != state.position, later
    whole = first("/dynamics/simulations/ros1/state", msg.SimulationStateEvent)
    assert whole.simulation == "ros1" and len(whole.q) == 2 * len(whole.step), whole
    wrench = WrenchStamped()
    wrench.header.frame_id, wrench.wrench.force.z = f"{made.token}/link2", 25.0
    push = rospy.Publisher("/dynamics/simulations/ros1/wrench", WrenchStamped, queue_size=1)

    def forces():
        return ask("get_simulation_state", {"simulation": "ros1"}).get("external_forces")

    until = time.monotonic() + WAIT
    while time.monotonic() < until and not forces():
        push.publish(wrench)
        rospy.sleep(0.1)
    assert forces() and "25" in json.dumps(forces()), ask("get_simulation_state", {"simulation": "ros1"})
    delete = service("/dynamics/delete_simulation", srv.DeleteSimulation)
    assert "token" in refusal(delete, simulation="ros1", token=made.token ^ 1)
    delete(simulation="ros1", token=made.token)


def use_action():
    client = actionlib.SimpleActionClient("/dynamics/rollout", msg.RolloutAction)
    assert client.wait_for_server(rospy.Duration(WAIT))
    panda, two_link = msg.Query(model="panda"), msg.Query(model="two_link")
    goal = msg.RolloutGoal(query=[two_link], q=[0.1, 0.2], steps=10)
    assert client.send_goal_and_wait(goal, rospy.Duration(WAIT)) == GoalStatus.SUCCEEDED, client.get_goal_status_text()
    expected = ask("rollout", {"query": {"model": "two_link"}, "q": [0.1, 0.2], "steps": 10})["q"]
    assert list(client.get_result().q) == expected, client.get_result()
    client.send_goal_and_wait(msg.RolloutGoal(query=[two_link], q=[0.1], steps=10), rospy.Duration(WAIT))
    assert client.get_state() == GoalStatus.ABORTED and "q" in client.get_goal_status_text()
    fractions = []

    def on_feedback(feedback):
        fractions.append(feedback.fraction)
        if feedback.fraction > 0:
            client.cancel_goal()

    long = msg.RolloutGoal(query=[panda], q=[0.1] * 350, steps=200000, only_last=True)
    client.send_goal(long, feedback_cb=on_feedback)
    assert client.wait_for_result(rospy.Duration(WAIT)), "the goal does not end"
    assert client.get_state() == GoalStatus.PREEMPTED, client.get_goal_status_text()
    assert 0 < max(fractions) < 1, fractions


rospy.init_node("test")
for step in (use_standard_types, use_services, use_simulation, use_action):
    step()
    print(step.__name__.replace("_", " "), flush=True)
