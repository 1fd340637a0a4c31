#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The message files under the compilers of ROS: genmsg, genpy and actionlib's for ROS 1, rosidl for ROS 2.

    message_compilers.py DIRECTORY      the directory with ros1/dynamics_msgs and ros2/dynamics_msgs

The Python package of ROS 1 stays in WORK/ros1 for tests with nodes. The gateway's reports of its types, and the binary
messages that it sends, are read by the compiled classes.
"""
import compileall
import contextlib
import io
import pathlib
import runpy
import shutil
import sys

import cbor
import fixture
import ros_packages

SHARED = ["std_msgs", "geometry_msgs", "sensor_msgs", "actionlib_msgs"]
PARSED = ["srv/InverseDynamics", "srv/Evaluate", "action/Rollout", "msg/SimulationStateEvent", "msg/Payload"]
COMPLETE = 150  # there are more files than this


def compile_ros1(package, target):
    """Generates code as catkin does for add_message_files, add_service_files and add_action_files."""
    import genmsg
    import genpy.generate_initpy
    import genpy.generator
    shutil.rmtree(target, ignore_errors=True)
    of_actions = target / "action_msgs"
    for file in sorted(package.glob("action/*.action")):
        sys.argv = ["genaction.py", str(file), "-o", str(of_actions)]
        with contextlib.redirect_stdout(None):
            runpy.run_path(ros_packages.GENACTION, run_name="__main__")
    search = {name: [f"/usr/share/{name}/msg"] for name in SHARED}
    search["dynamics_msgs"] = [str(package / "msg"), str(of_actions)]
    messages = [str(file) for each in search["dynamics_msgs"] for file in sorted(pathlib.Path(each).glob("*.msg"))]
    services = [str(file) for file in sorted(package.glob("srv/*.srv"))]
    assert len(messages) + len(services) > COMPLETE, (len(messages), len(services))
    for generator, files, half in ((genpy.generator.MsgGenerator(), messages, "msg"),
                                   (genpy.generator.SrvGenerator(), services, "srv")):
        assert generator.generate_messages("dynamics_msgs", files, str(target / "dynamics_msgs" / half), search) == 0
        genpy.generate_initpy.write_modules(str(target / "dynamics_msgs" / half))
    (target / "dynamics_msgs/__init__.py").touch()
    assert compileall.compile_dir(target, quiet=1), "Python does not take what genpy wrote"
    return genmsg.MsgContext.create_default(), search


def check_sums(context, search, package):
    """The MD5 sums by which nodes know that they mean the same: of the specification, and in the compiled class."""
    import dynamics_msgs.srv
    import genmsg
    for file in sorted(package.glob("srv/*.srv")):
        spec = genmsg.msg_loader.load_srv_from_file(context, str(file), f"dynamics_msgs/{file.stem}")
        genmsg.msg_loader.load_depends(context, spec, search)
        compiled = getattr(dynamics_msgs.srv, file.stem)
        assert genmsg.gentools.compute_md5(context, spec) == compiled._md5sum, file


def written(message):
    buffer = io.BytesIO()
    message.serialize(buffer)
    return buffer.getvalue()


def check_gateway():
    """The definitions that the gateway reports have the sums of the files; binary messages are those of the classes."""
    import genpy.dynamic
    from ros_values import message_of
    from roslib.message import get_message_class
    daemon = fixture.Daemon()
    gateway = fixture.Gateway(daemon, ros__version=1)
    client = gateway.connect()
    client.values("/dynamics/create_simulation", {"name": "seen", "query": {"model": "two_link"}, "pace": "PACE_CLOCK"})
    reply = {}

    def has_topics():
        topics = client.values("/rosapi/topics_and_raw_types")
        reply.update(zip(topics["topics"], zip(topics["types"], topics["typedefs_full_text"])))
        return "/dynamics/simulations/seen/state" in reply

    fixture.wait_for(has_topics, "the simulation has topics")
    for topic, (kind, text) in reply.items():
        there = genpy.dynamic.generate_dynamic(kind, text)[kind]
        assert there._md5sum == get_message_class(kind)._md5sum, f"{topic}: {kind} is another type than its file"
    for topic in ("/dynamics/simulations/seen/state", "/dynamics/simulations/seen/joint_states", "/diagnostics"):
        kind, other = get_message_class(reply[topic][0]), gateway.connect()
        client.send("subscribe", topic=topic, type=kind._type)
        other.send("subscribe", topic=topic, type=kind._type, compression="cbor-raw")
        count = 100 if "seen" in topic else 3
        texts = [written(message_of(kind, client.receive("publish")["msg"])) for _ in range(count)]
        raw = [cbor.decode(other.receive())["msg"]["bytes"] for _ in range(count)]
        assert set(texts) & set(raw), f"{topic}: no binary message is the same as one in JSON"
        for each in raw:
            assert written(kind().deserialize(each)) == each, topic
        client.send("unsubscribe", topic=topic)
        client.synchronize()
        other.close()
    client.close()
    assert (gateway.stop(), daemon.stop()) == (0, 0)


def compile_ros2(package, target):
    """Converts each file to IDL and reads it, as rosidl_generate_interfaces does first to check names and types."""
    from rosidl_adapter.action import convert_action_to_idl
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_adapter.srv import convert_srv_to_idl
    from rosidl_parser.definition import IdlLocator
    from rosidl_parser.parser import parse_idl_file
    count = 0
    for kind, convert in (("msg", convert_msg_to_idl), ("srv", convert_srv_to_idl), ("action", convert_action_to_idl)):
        for file in sorted(package.glob(f"{kind}/*.{kind}")):
            convert(package, "dynamics_msgs", file.relative_to(package), target / kind)
            count += 1
    assert count > COMPLETE, count
    for name in PARSED:
        assert parse_idl_file(IdlLocator(target, pathlib.Path(f"{name}.idl"))).content.elements, name
    return count


def main():
    ros_packages.need()
    source, work = pathlib.Path(sys.argv[1]).resolve(), ros_packages.WORK
    package = source / "ros1/dynamics_msgs"
    context, search = compile_ros1(package, work / "ros1")
    sys.path.insert(0, str(work / "ros1"))
    check_sums(context, search, package)
    check_gateway()
    print(compile_ros2(source / "ros2/dynamics_msgs", work / "ros2"), "files under rosidl")


if __name__ == "__main__":
    main()
