#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The message files for ROS: each type that is named has its file, names and types are those of ROS, nothing is absent.

    message_files.py PROGRAM
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PRIMITIVES = {"bool", "uint8", "int32", "int64", "uint32", "uint64", "float32", "float64", "string", "time", "duration"}
FOREIGN = {"geometry_msgs/Vector3", "geometry_msgs/Quaternion", "geometry_msgs/Pose", "sensor_msgs/JointState"}
ACTION_MESSAGES = ("Action", "Goal", "Result", "Feedback", "ActionGoal", "ActionResult", "ActionFeedback")
FIELD = re.compile(r"([a-z0-9]\w*(?:/\w+)?|\w+)(\[\]|\[<=1\])? ([a-z]\w*)")


def check(package, version):
    files = [*package.glob("msg/*.msg"), *package.glob("srv/*.srv"), *package.glob("action/*.action")]
    assert len(files) > 100, len(files)
    both = {each.stem for each in package.glob("msg/*")} & {each.stem for each in package.glob("srv/*")}
    both |= {f"{each.stem}{suffix}" for each in package.glob("action/*") for suffix in ACTION_MESSAGES} & {
        each.stem for each in files}
    assert not both, f"messages, those of actions too, and services have one name space in ROS 1: {both}"
    for file in files:
        parts = file.read_text().split("---\n")
        assert len(parts) == {".msg": 1, ".srv": 2, ".action": 3}[file.suffix], file
        for part in parts:
            names = []
            for line in part.splitlines():
                if line.startswith("#"):
                    assert len(line) <= 120, (file, line)
                    continue
                match = FIELD.fullmatch(line)
                assert match, (file, line)
                kind, bound, name = match.groups()
                names.append(name)
                assert version == 2 or bound != "[<=1]", (file, line)
                own = kind.removeprefix("dynamics_msgs/")
                assert kind in PRIMITIVES | FOREIGN or (package / "msg" / f"{own}.msg").exists(), (file, line)
            assert len(names) == len(set(names)), file
    return len(files)


with tempfile.TemporaryDirectory() as directory:
    subprocess.run([sys.argv[1], directory], check=True)
    counts = [check(pathlib.Path(directory, f"ros{version}/dynamics_msgs"), version) for version in (1, 2)]
    assert counts[0] == counts[1], counts
    inverse_dynamics = pathlib.Path(directory, "ros2/dynamics_msgs/srv/InverseDynamics.srv").read_text()
    assert "float64[] q\n" in inverse_dynamics and "sensor_msgs/JointState[] joint_state\n" in inverse_dynamics
print(counts[0], "files")
