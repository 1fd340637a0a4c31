#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""rospy nodes use the daemon through the shipped node, with a real roscore: by standard types, and by dynamics_msgs."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys

import fixture
import packages
import ros_packages


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main():
    ros_packages.need("sensor_msgs", "std_srvs", "actionlib")
    if not (ros_packages.WORK / "ros1/dynamics_msgs/srv").is_dir():
        packages.skip("dynamics_msgs is not compiled; system.rosbridge_message_compilers does that")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    daemon = fixture.Daemon()
    gateway = fixture.Gateway(daemon)
    os.environ.update(ROS_MASTER_URI=f"http://127.0.0.1:{port}", ROS_HOSTNAME="127.0.0.1", ROS_LOG_DIR=daemon.directory,
                      ROS_HOME=daemon.directory, PYTHONPATH=str(ros_packages.WORK / "ros1"),
                      PATH="/usr/bin:" + os.environ["PATH"])
    python = ros_packages.PYTHON
    master = fixture.Program(daemon.directory, "roscore", python, shutil.which("roscore"), "-p", str(port))
    fixture.wait_for(lambda: is_open(port), "roscore listens")
    node = fixture.Program(daemon.directory, "node", python, ros_packages.NODES / "dynamics_node.py",
                           f"_url:=ws://127.0.0.1:{gateway.port}", "_model:=two_link")
    try:
        done = subprocess.run([python, pathlib.Path(__file__).with_name("ros1_node.py"), daemon.request], timeout=100,
                              check=False)
    finally:
        logs = master.log.read_text() + node.log.read_text()
        node.stop()
        master.stop()
    codes = gateway.stop(), daemon.stop()
    if done.returncode != 0:
        print(logs)
    sys.exit(done.returncode or any(codes))


if __name__ == "__main__":
    main()
