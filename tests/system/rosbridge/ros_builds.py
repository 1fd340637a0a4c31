#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The packages of dynamics_msgs under Debian's build tools of ROS.

    ros_builds.py DIRECTORY      the directory with ros1/dynamics_msgs and ros2/dynamics_msgs

catkin configures the whole package of ROS 1, which checks the names and dependencies of all its files. rosidl generates
C code for some types of ROS 2 and all that they contain, which a program then uses. Debian has no messages of ROS 2 and
no rosidl_default_generators: the test writes those messages itself and calls rosidl's command.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import packages
import ros_packages

USED = ["srv/InverseDynamics.srv", "action/Rollout.action", "msg/SimulationStateEvent.msg"]
FOREIGN = {
    "builtin_interfaces/msg/Time.msg": "int32 sec\nuint32 nanosec\n",
    "std_msgs/msg/Header.msg": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "geometry_msgs/msg/Vector3.msg": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/msg/Quaternion.msg": "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n",
    "sensor_msgs/msg/JointState.msg": "std_msgs/Header header\nstring[] name\nfloat64[] position\n"
                                      "float64[] velocity\nfloat64[] effort\n",
    "unique_identifier_msgs/msg/UUID.msg": "uint8[16] uuid\n",
}
PROGRAM = r"""
#include <dynamics_msgs/action/rollout.h>
#include <dynamics_msgs/msg/query.h>
#include <dynamics_msgs/msg/simulation_state_event.h>
#include <dynamics_msgs/srv/inverse_dynamics.h>
#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <rosidl_runtime_c/string_functions.h>
#include <sensor_msgs/msg/joint_state.h>
#include <stdio.h>

int main(void) {
    dynamics_msgs__srv__InverseDynamics_Request *request = dynamics_msgs__srv__InverseDynamics_Request__create();
    dynamics_msgs__action__Rollout_Goal *goal = dynamics_msgs__action__Rollout_Goal__create();
    dynamics_msgs__msg__SimulationStateEvent *event = dynamics_msgs__msg__SimulationStateEvent__create();
    int is_good = request && goal && event && dynamics_msgs__msg__Query__Sequence__init(&request->query, 1) &&
                  rosidl_runtime_c__String__assign(&request->query.data[0].model, "two_link") &&
                  rosidl_runtime_c__double__Sequence__init(&request->q, 2) &&
                  sensor_msgs__msg__JointState__Sequence__init(&request->joint_state, 1);
    if (is_good) {
        request->ignore_extra_joints = true;
        printf("%s %zu %zu\n", request->query.data[0].model.data, request->q.size, event->q.size);
    }
    dynamics_msgs__srv__InverseDynamics_Request__destroy(request);
    dynamics_msgs__action__Rollout_Goal__destroy(goal);
    dynamics_msgs__msg__SimulationStateEvent__destroy(event);
    return !is_good;
}
"""


def run(*arguments, **options):
    """Returns the output of a program, which must succeed."""
    done = subprocess.run(arguments, text=True, capture_output=True, check=False, **options)
    assert done.returncode == 0, f"{arguments}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def need():
    """Skips the test where a tool is not installed."""
    missing = [name for name, path in (("catkin", "/usr/share/catkin/cmake"),
                                       ("ros-message-generation", "/usr/share/message_generation/cmake"),
                                       ("rosidl-generator-c-cpp", "/usr/share/rosidl_generator_c/resource"),
                                       ("librosidl-runtime-c-cpp-dev", "/usr/include/rosidl_runtime_c"))
               if not os.path.isdir(path)]
    missing += [] if shutil.which("rosidl") else ["rosidl-tools"]
    missing += [] if importlib.util.find_spec("ament_index_python") else ["python3-ament-index"]
    if missing:
        packages.skip(f"{', '.join(missing)} are not installed (deploy/packages/clients.txt)")


def build_ros1(package, target):
    output = run("cmake", "-S", str(package), "-B", str(target), "-DCATKIN_ENABLE_TESTING=OFF",
                 f"-DPYTHON_EXECUTABLE={ros_packages.PYTHON}")
    counts = re.search(r"dynamics_msgs: (\d+) messages, (\d+) services", output)
    assert counts and int(counts[2]) == len(list(package.glob("srv/*.srv"))), output[-2000:]
    return counts[0]


def closure(package):
    """The used files, and those of all types in them."""
    found, waiting = [], list(USED)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.append(file)
            waiting += [f"msg/{name}.msg" for name in re.findall(r"^dynamics_msgs/(\w+)", (package / file).read_text(),
                                                                re.M)]
    return found


def build_ros2(package, target):
    source, code = target / "source", target / "code"
    shutil.copytree(package, source / "dynamics_msgs")
    for name, text in FOREIGN.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    files = {"dynamics_msgs": closure(package)}
    for name in FOREIGN:
        files.setdefault(name.split("/")[0], []).append(name.split("/", 1)[1])
    (target / "include").mkdir()
    for name, interfaces in files.items():
        run("rosidl", "generate", "-o", str(code / name), "-t", "c", "-I", str(source), name,
            *(f"{source / name}:{each}" for each in interfaces), env={**os.environ, "AMENT_PREFIX_PATH": "/usr"})
        (target / "include" / name).symlink_to(code / name)
    program = target / "program.c"
    program.write_text(PROGRAM)
    generated = sorted(map(str, code.rglob("*.c")))
    run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{target}/include", "-I/usr/include/rosidl_runtime_c",
        "-I/usr/include/rosidl_typesupport_interface", "-I/usr/include/rcutils", str(program), *generated, "-o",
        str(target / "program"), "-lrosidl_runtime_c", "-lrcutils")
    assert run(str(target / "program")) == "two_link 2 0\n"
    return len(generated)


def main():
    ros_packages.need()
    need()
    generated, work = pathlib.Path(sys.argv[1]).resolve(), ros_packages.WORK.with_name("ros_builds")
    shutil.rmtree(work, ignore_errors=True)
    for version in ("ros1", "ros2"):
        package = work / version / "dynamics_msgs"
        shutil.copytree(generated / version / "dynamics_msgs", package)
        shutil.copytree(ros_packages.NODES / version / "dynamics_msgs", package, dirs_exist_ok=True)
    print("catkin:", build_ros1(work / "ros1/dynamics_msgs", work / "catkin"))
    print("rosidl:", build_ros2(work / "ros2/dynamics_msgs", work / "rosidl"), "files of C")


if __name__ == "__main__":
    main()
