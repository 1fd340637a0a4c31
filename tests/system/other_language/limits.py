#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refusals of what is too much name the limit in the daemon's own list of limits, with its value.

Each test exceeds one limit of GetServerInfo by little. A field of Limits that no test exceeds must be in NOT_EXCEEDED
with the reason, so that no limit is left out.
"""
import contextlib
import tempfile
import unittest

from google.protobuf import json_format

import client as support

# Limits that no request of this program can exceed, or whose excess is no refusal.
NOT_EXCEEDED = {
    "connections": "one more connection is closed at once",
    "peer_connections": "one more connection is closed at once",
    "request_time": "the answer is CODE_DEADLINE_EXCEEDED",
    "idle_time": "the connection is closed",
    "message_time": "the connection is closed",
    "lease_time": "a default",
    "job_time": "the job ends with CODE_DEADLINE_EXCEEDED (system.jobs)",
    "job_result_time": "the job is removed (system.jobs)",
    "recording_bytes": "the recording ends by itself (system.recordings)",
    "disk_reserve_bytes": "needs a full disk (system.recordings)",
    "memory_bytes": "needs many clients (system.hostile_memory)",
    "description_bytes": "needs a model of megabytes",
    "decoded_margin_bytes": "belongs to decoded_factor",
    "connection_requests": "needs many requests under way (system.hostile_peers)",
    "waiting_requests": "needs many requests under way (system.hostile_peers)",
    "sample_errors": "errors beyond it are counted (system.sample_errors)",
    "stored_replies": "the oldest reply is evicted (system.identity)",
    "stored_reply_bytes": "the oldest reply is evicted (system.identity)",
    "largest_stored_reply_bytes": "the reply is not stored (system.identity)",
    "fast_channels": "opened over a socket of their own (system.fast_channel)",
    "fast_peer_channels": "opened over a socket of their own (system.fast_channel)",
    "fast_channel_bytes": "opened over a socket of their own (system.fast_channel)",
}
NOT_EXCEEDED.update({name: "does not apply to administrators (system.user_limits)" for name in (
    "user_requests", "user_samples", "user_memory_bytes", "user_models", "user_simulations", "user_streams",
    "user_recordings", "user_recordings_bytes", "user_jobs", "user_job_bytes")})
NOT_EXCEEDED["samples_under_way"] = "needs requests under way (system.user_limits)"
NOT_EXCEEDED["request_cpu_time"] = "0 is no limit (system.user_limits)"
SETTINGS = {"limits": {"message_bytes": 1 << 20, "reply_bytes": 65536, "samples": 2000, "models": 20, "links": 60,
                       "simulations": 1, "streams": 1, "topics": 1, "stream_points": 100, "recordings": 1,
                       "recordings_bytes": 1 << 30}}


class Limits(unittest.TestCase):
    """One test for each limit that a request exceeds."""

    exceeded = set()

    @classmethod
    def setUpClass(cls):
        envelope, _, _ = support.compile_contract(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.daemon = support.Daemon(SETTINGS)
        cls.client = support.Client(envelope, cls.daemon.request)
        cls.call = cls.client.call
        cls.limits = cls.call("get_server_info").limits

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.daemon.stop()
        names = {field.name for field in type(cls.limits).DESCRIPTOR.fields}
        missing, unknown = sorted(names - cls.exceeded - set(NOT_EXCEEDED)), sorted(set(NOT_EXCEEDED) - names)
        if missing or unknown:
            raise AssertionError(f"no test exceeds {missing}; there is no limit {unknown}")

    @contextlib.contextmanager
    def other_daemon(self, limits):
        """Lets the test call a daemon with those limits."""
        daemon = support.Daemon({"limits": limits})
        other = support.Client(self.client.envelope, daemon.request)
        self.call = other.call
        self.limits = self.call("get_server_info").limits
        try:
            yield
        finally:
            del self.call, self.limits
            other.close()
            daemon.stop()

    def exceed(self, name, reason, method, /, *, limit=None, **fields):
        """Checks that a request is refused for that limit; `limit`: its value, when it depends on the request."""
        with self.assertRaises(support.Refused) as caught:
            self.call(method, **fields)
        status = caught.exception.status
        self.assertEqual((caught.exception.code, status.reason, status.limit_name),
                         ("CODE_RESOURCE_EXHAUSTED", reason, name), status.message)
        self.assertEqual(status.limit, limit or getattr(self.limits, name))
        self.assertTrue(status.requested == 0 or status.requested > status.limit, status)
        self.assertEqual(status.retry_after, 0)
        self.exceeded.add(name)
        return status

    def urdf(self, links, name="long"):
        """A chain of so many links."""
        text = [f"<robot name='{name}'><link name='l0'/>"]
        for i in range(1, links):
            text.append(f"<link name='l{i}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
                        f"ixz='0' iyz='0'/></inertial></link><joint name='j{i}' type='continuous'>"
                        f"<parent link='l{i - 1}'/><child link='l{i}'/><axis xyz='0 0 1'/></joint>")
        return "".join(text) + "</robot>"

    def test_messages(self):
        self.exceed("message_bytes", "MESSAGE_TOO_LARGE", "gravity", query={"model": "two_link"},
                    q=[0] * (self.limits.message_bytes // 8 + 1))

    def test_decoded_messages(self):
        # An empty message takes two bytes, and a structure in memory.
        count = (1 << 20) // 4
        request = self.client.make("compute_inertia", {"parts": [{}] * count})
        size = request.ByteSize()
        self.exceed("decoded_factor", "REQUEST_TOO_COMPLEX", "compute_inertia", parts=[{}] * count,
                    limit=self.limits.decoded_factor * size + self.limits.decoded_margin_bytes)

    def test_replies(self):
        self.exceed("reply_bytes", "REPLY_TOO_LARGE", "mass_matrix", query={"model": "ur5"}, q=[0] * 6 * 1000)

    def test_samples(self):
        self.exceed("samples", "TOO_MANY_SAMPLES", "gravity", query={"model": "two_link"},
                    q=[0] * 2 * (self.limits.samples + 1))

    def test_models(self):
        loaded = []
        while len(self.call("list_models").models) < self.limits.models:
            loaded.append(self.call("load_model", name=f"m{len(loaded)}", urdf=self.urdf(2)).loaded.model.name)
        self.exceed("models", "TOO_MANY_MODELS", "load_model", name="one_more", urdf=self.urdf(2))
        for name in loaded:
            self.call("unload_model", model=name)

    def test_links(self):
        self.exceed("links", "MODEL_TOO_LARGE", "load_model", urdf=self.urdf(self.limits.links + 1))

    def test_constraints(self):
        description = self.call("export_model", model="two_link", format="MODEL_FORMAT_DESCRIPTION").description
        for i in range(self.limits.constraints + 1):
            description.constraints.add(name=f"loop {i}",
                                        coupling={"coordinates": [{"joint": "joint1", "coefficient": 1}]})
        self.exceed("constraints", "MODEL_TOO_LARGE", "load_model",
                    description=json_format.MessageToDict(description, preserving_proto_field_name=True))

    def test_machine_elements(self):
        description = self.call("export_model", model="two_link", format="MODEL_FORMAT_DESCRIPTION").description
        for i in range(self.limits.machine_elements + 1):
            description.machine_elements.add(name=f"spring {i}", joint="joint1", spring={"stiffness": 1})
        self.exceed("machine_elements", "MODEL_TOO_LARGE", "load_model",
                    description=json_format.MessageToDict(description, preserving_proto_field_name=True))

    def test_contact_surfaces(self):
        description = self.call("export_model", model="two_link", format="MODEL_FORMAT_DESCRIPTION").description
        with self.other_daemon({"contact_surfaces": 3}):
            for i in range(4):
                self.call("load_model", name="shapes", replace=True, description=json_format.MessageToDict(
                    description, preserving_proto_field_name=True))
                description.contact_surfaces.add(name=f"shape {i}", shape="CONTACT_SHAPE_POINT")
            self.exceed("contact_surfaces", "MODEL_TOO_LARGE", "load_model",
                        description=json_format.MessageToDict(description, preserving_proto_field_name=True))

    def test_estimates(self):
        motion = {"query": {"model": "ur5"}, "time": [0.1 * i for i in range(20)], "tau": [0] * 6 * 20,
                  "q": [0.01 * i * i for i in range(6 * 20)]}
        with self.other_daemon({"estimates": 53}):
            self.exceed("estimates", "MODEL_TOO_LARGE", "identify", **motion)
            self.exceed("estimates", "MODEL_TOO_LARGE", "excite", query={"model": "ur5"})
            self.assertEqual(len(self.call("identify", drives_only=True, **motion).estimates), 18)
        with self.other_daemon({"estimates": 54}):
            self.assertEqual(len(self.call("identify", **motion).estimates), 54)

    def test_names_of_models_and_objects(self):
        name = "a" * (self.limits.model_name_bytes + 1)
        self.exceed("model_name_bytes", "TEXT_TOO_LONG", "load_model", name=name, urdf=self.urdf(2))
        self.exceed("model_name_bytes", "TEXT_TOO_LONG", "load_model", urdf=self.urdf(2, name=name))
        self.exceed("model_name_bytes", "TEXT_TOO_LONG", "derive_model", model="two_link", name=name,
                    operations=[{"lock": {"joints": ["joint1"]}}])
        name = "a" * (self.limits.object_name_bytes + 1)
        query = {"model": "two_link"}
        self.exceed("object_name_bytes", "TEXT_TOO_LONG", "create_simulation", name=name, query=query)
        self.exceed("object_name_bytes", "TEXT_TOO_LONG", "open_stream", name=name, query=query, feedforward={})
        self.exceed("object_name_bytes", "TEXT_TOO_LONG", "fetch_recording", recording=name)

    def test_bytes_of_urdf(self):
        with self.other_daemon({}):
            self.exceed("urdf_bytes", "MODEL_TOO_LARGE", "load_model", urdf=" " * (self.limits.urdf_bytes + 1))

    def test_joints_of_chains(self):
        count = self.limits.chain_joints + 1
        self.exceed("chain_joints", "TOO_MANY_ENTRIES", "load_model", denavit_hartenberg={
            "name": "r", "rows": [{}] * count})
        self.exceed("chain_joints", "TOO_MANY_ENTRIES", "load_model", screws={"name": "r", "slist": [0] * 6 * count})

    def test_operations(self):
        self.exceed("operations", "TOO_MANY_ENTRIES", "derive_model", model="two_link", name="x",
                    operations=[{}] * (self.limits.operations + 1))

    def test_payloads(self):
        self.exceed("payloads", "TOO_MANY_ENTRIES", "gravity", q=[0, 0], query={
            "model": "two_link", "payloads": [{"link": "tip"}] * (self.limits.payloads + 1)})

    def test_external_forces(self):
        links = self.call("describe_model", model="two_link").model.links
        most = self.limits.external_forces + links
        force = {"link": "tip", "reference_frame": "REFERENCE_FRAME_WORLD"}
        query = {"model": "two_link", "external_forces": [force] * (most + 1)}
        for method, fields in (("inverse_dynamics", {}), ("rollout", {"steps": 1})):
            self.exceed("external_forces", "TOO_MANY_ENTRIES", method, limit=most, query=query, q=[0, 0], **fields)
        query["external_forces"].pop()
        self.call("inverse_dynamics", query=query, q=[0, 0])

    def test_quantities(self):
        self.exceed("quantities", "TOO_MANY_ENTRIES", "evaluate", query={"model": "two_link"}, q=[0, 0],
                    quantities=[{"quantity": "QUANTITY_GRAVITY_FORCES"}] * (self.limits.quantities + 1))

    def test_frames_of_a_task(self):
        frame = {"frame": "tip", "axes": ["TASK_AXIS_LINEAR_X"]}
        self.exceed("task_frames", "TOO_MANY_ENTRIES", "evaluate", query={"model": "two_link"}, q=[0, 0], quantities=[
            {"quantity": "QUANTITY_OPERATIONAL_SPACE_GRAVITY", "reference_frame": "REFERENCE_FRAME_WORLD",
             "task": [frame] * (self.limits.task_frames + 1)}])

    def test_substeps_and_steps(self):
        self.exceed("substeps", "TOO_MANY_STEPS", "rollout", query={"model": "two_link"}, q=[0, 0], steps=1,
                    stepping={"substeps": self.limits.substeps + 1})
        self.exceed("sample_steps", "TOO_MANY_STEPS", "rollout", query={"model": "two_link"}, q=[0] * 4,
                    steps=self.limits.sample_steps // 2 + 1)

    def test_base_parameters(self):
        with self.other_daemon({}):
            self.call("load_model", name="long", urdf=self.urdf(self.limits.base_parameter_joints + 2))
            self.exceed("base_parameter_joints", "MODEL_TOO_LARGE", "find_base_parameters", query={"model": "long"})
            coupled = self.urdf(self.limits.coupled_base_parameter_joints + 2).replace(
                "</joint></robot>", "<mimic joint='j1'/></joint></robot>")
            self.call("load_model", name="coupled", urdf=coupled)
            self.exceed("coupled_base_parameter_joints", "MODEL_TOO_LARGE", "find_base_parameters",
                        query={"model": "coupled"})

    def test_names_of_elements(self):
        name = "n" * (self.limits.element_name_bytes + 1)
        for source in ({"urdf": f"<robot name='r'><link name='{name}'/></robot>"},
                       {"description": {"name": "r", "links": [{"name": name}]}}):
            self.exceed("element_name_bytes", "TEXT_TOO_LONG", "load_model", name="r", **source)

    def test_depth_of_documents(self):
        depth = self.limits.urdf_depth
        self.exceed("urdf_depth", "MODEL_TOO_LARGE", "load_model", name="r",
                    urdf="<robot name='r'>" + "<x>" * depth + "</x>" * depth + "</robot>")

    def test_jobs(self):
        with self.other_daemon({"jobs": 1, "job_bytes": 65536}):
            roll = {"query": {"model": "panda"}, "q": [0, 0, 0, -1, 0, 1, 0], "steps": 10 ** 8, "only_last": True,
                    "stepping": {"step_length": 1e-6}}
            started = self.call("start_job", rollout=roll)
            self.exceed("jobs", "TOO_MANY_JOBS", "start_job", rollout=roll)
            self.call("cancel_job", job=started.job.name, token=started.token)
        with self.other_daemon({"job_bytes": 65536}):
            self.exceed("job_bytes", "JOBS_TOO_LARGE", "start_job",
                        gravity={"query": {"model": "two_link"}, "q": [0] * 8400})

    def test_simulations_and_what_they_have(self):
        made = self.call("create_simulation", name="one", query={"model": "two_link"})
        owned = {"simulation": "one", "token": made.token}
        self.exceed("simulations", "TOO_MANY_SIMULATIONS", "create_simulation", query={"model": "two_link"})
        forces = [{"link": "tip", "reference_frame": "REFERENCE_FRAME_WORLD"}] * (self.limits.simulation_forces + 1)
        self.exceed("simulation_forces", "TOO_MANY_ENTRIES", "set_simulation_input", **owned,
                    input={"external_forces": forces})
        self.call("watch_simulation", simulation="one")
        opened = self.call("open_stream", name="two", query={"model": "two_link"}, feedforward={})
        self.exceed("topics", "TOO_MANY_TOPICS", "watch_stream", stream="two")
        self.exceed("streams", "TOO_MANY_STREAMS", "open_stream", query={"model": "two_link"}, feedforward={})
        self.call("close_stream", stream="two", key=opened.key)
        self.exceed("stream_points", "VALUE_TOO_LARGE", "open_stream", query={"model": "two_link"}, feedforward={},
                    capacity=self.limits.stream_points + 1)
        self.call("record_simulation", **owned, recording="first")
        self.call("stop_recording", **owned)
        self.exceed("recordings", "TOO_MANY_RECORDINGS", "record_simulation", **owned, recording="second")
        self.call("delete_recording", recording="first")
        self.call("delete_simulation", **owned)

    def test_bytes_of_recordings(self):
        with self.other_daemon({"recordings_bytes": 8191}):
            made = self.call("create_simulation", name="one", query={"model": "two_link"})
            owned = {"simulation": "one", "token": made.token}
            self.call("record_simulation", **owned, recording="first")
            self.call("stop_recording", **owned)
            self.exceed("recordings_bytes", "RECORDINGS_TOO_LARGE", "record_simulation", **owned, recording="second")


if __name__ == "__main__":
    unittest.main(verbosity=2)
