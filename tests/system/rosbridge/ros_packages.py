# SPDX-License-Identifier: BSD-2-Clause
"""Debian's packages of ROS, without which tests are skipped, and where the compiled dynamics_msgs lies."""
import importlib.util
import os
import pathlib
import shutil
import sys

import packages

PYTHON = "/usr/bin/python3"  # Debian's, which has them
GENACTION = "/usr/lib/actionlib_msgs/genaction.py"
NODES = pathlib.Path(__file__).resolve().parents[3] / "clients/rosbridge/ros"
WORK = pathlib.Path(os.environ.get("WORK", "/tmp"), "ros_messages")


def need(*modules):
    """Skips the test where a program or module is not installed; runs it under Debian's Python."""
    if sys.executable != PYTHON and os.path.exists(PYTHON):
        os.execv(PYTHON, [PYTHON, *sys.argv])
    needed = (*modules, "rospy", "genpy", "tf2_msgs", "rosidl_adapter", "em")
    missing = [each for each in needed if not importlib.util.find_spec(each)]
    missing += [] if os.path.exists(GENACTION) else ["libactionlib-msgs-dev"]
    missing += [] if shutil.which("roscore") else ["ros-core"]
    if missing:
        packages.skip(f"{', '.join(missing)} of ROS are not installed (deploy/packages/clients.txt)")
    sys.path.insert(0, str(NODES))
