#!/usr/bin/env python3
"""A rospy node gets torques of the daemon through the shipped node, with a real roscore."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys

import fixture
import packages

ROOT = pathlib.Path(__file__).resolve().parents[3]
PYTHON = "/usr/bin/python3"  # Debian's, which has rospy

NODE = """
import json, rospy
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
rospy.init_node("test")
heard = []
rospy.Subscriber("torques", JointState, heard.append)
states = rospy.Publisher("joint_states", JointState, queue_size=10)
rospy.wait_for_service("/dynamics/health", 30)
health = rospy.ServiceProxy("/dynamics/health", Trigger)()
state = JointState(name=["joint2", "joint1"], position=[0.2, 0.1], velocity=[2, 1])
for _ in range(300):
    states.publish(JointState(name=["joint1"], position=[0]))  # refused, and no harm
    states.publish(state)
    rospy.sleep(0.1)
    if heard:
        break
got = heard[0]
print(json.dumps({"success": health.success, "message": health.message, "name": got.name, "effort": got.effort}))
"""


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main():
    roscore = shutil.which("roscore")
    if not roscore or subprocess.run([PYTHON, "-c", "import rospy, sensor_msgs, std_srvs"], capture_output=True,
                                     check=False).returncode != 0:
        packages.skip("roscore, python3-rospy, python3-sensor-msgs and python3-std-srvs are not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    daemon = fixture.Daemon()
    gateway = fixture.Gateway(daemon)
    os.environ.update(ROS_MASTER_URI=f"http://127.0.0.1:{port}", ROS_HOSTNAME="127.0.0.1", ROS_LOG_DIR=daemon.directory,
                      ROS_HOME=daemon.directory, PATH="/usr/bin:" + os.environ["PATH"])
    master = fixture.Program(daemon.directory, "roscore", PYTHON, roscore, "-p", str(port))
    fixture.wait_for(lambda: is_open(port), "roscore listens")
    node = fixture.Program(daemon.directory, "node", PYTHON, ROOT / "clients/rosbridge/ros/dynamics_node.py",
                           f"_url:=ws://127.0.0.1:{gateway.port}", "_model:=two_link")
    done = subprocess.run([PYTHON, "-c", NODE], text=True, capture_output=True, timeout=100, check=False)
    expected = daemon.call("inverse_dynamics", {"model": "two_link", "q": [0.1, 0.2], "v": [1, 2]})["tau"]
    logs = master.log.read_text() + node.log.read_text()
    node.stop()
    master.stop()
    codes = gateway.stop(), daemon.stop()
    assert done.returncode == 0, done.stderr + logs
    got = json.loads(done.stdout.splitlines()[-1])
    assert got == {"success": True, "message": "serving", "name": ["joint2", "joint1"], "effort": expected[::-1]}, got
    assert codes == (0, 0), codes


if __name__ == "__main__":
    main()
