# SPDX-License-Identifier: BSD-2-Clause
"""A daemon for a test, and a client of it that is made from the .proto files alone.

The environment names what is needed: DYNAMICSD and PROTOC, programs; PROTO, the directory of the contract; ROBOTS.
"""
import ctypes
import importlib
import itertools
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from google.protobuf import json_format

import sp


def compile_contract(directory):
    """Compiles the contract to Python in a directory, and returns its modules envelope_pb2, event_pb2, stream_pb2."""
    proto = pathlib.Path(os.environ["PROTO"])
    subprocess.run([os.environ["PROTOC"], f"--python_out={directory}", f"-I{proto}",
                    *sorted(proto.glob("dynamics/v1/*.proto"))], check=True)
    sys.path.insert(0, str(directory))
    return [importlib.import_module(f"dynamics.v1.{name}_pb2") for name in ("envelope", "event", "stream")]


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Daemon:
    """A daemon with the sample robots and a state directory, on ipc and tcp. `settings`: {section: {key: value}}."""

    def __init__(self, settings=None):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="language."))
        ipc = {kind: f"ipc://{self.directory}/{kind}.sock" for kind in ("request", "events", "ingest")}
        file = self.directory / "dynamicsd.conf"
        (self.directory / "state").mkdir()
        sections = {"endpoints": {kind: f"{ipc[kind]} tcp://127.0.0.1:0" for kind in ipc},
                    "limits": {"request_time": 300},  # for a daemon with sanitizers on a busy machine
                    "simulations": {"state_directory": f"{self.directory}/state"},
                    "models": {"directory": os.environ["ROBOTS"]}}
        for section, keys in (settings or {}).items():
            sections.setdefault(section, {}).update(keys)
        file.write_text("".join(f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
                                for section, keys in sections.items()), encoding="utf-8")
        self.request = ipc["request"]
        self.begin()

    def begin(self):
        """Starts the daemon, and waits until it takes connections."""
        with (self.directory / "log").open("a") as log:
            self.process = subprocess.Popen([os.environ["DYNAMICSD"], "--config", self.directory / "dynamicsd.conf"],
                                            stdout=log, stderr=log, preexec_fn=die_with_parent)
        self.wait()

    def wait(self):
        """Waits until the daemon takes connections."""
        until = time.monotonic() + sp.WAIT
        while time.monotonic() < until and self.process.poll() is None:
            try:
                return sp.Requester(self.request).close()
            except (ConnectionError, FileNotFoundError):
                time.sleep(0.02)
        self.process.kill()
        raise AssertionError("the daemon does not answer:\n" + (self.directory / "log").read_text())

    def end(self):
        """Stops the daemon. Its directory stays, so that it can begin again."""
        self.process.terminate()
        code = self.process.wait(sp.WAIT)
        assert code == 0, f"the daemon ended with code {code}; its log:\n{(self.directory / 'log').read_text()}"

    def stop(self):
        """Stops the daemon, and removes its directory."""
        self.end()
        shutil.rmtree(self.directory)


class Refused(Exception):
    """An answer with another code than CODE_OK."""

    def __init__(self, code, status):
        super().__init__(f"{code}: {status.field}: {status.message}")
        self.code, self.field, self.message, self.status = code, status.field, status.message, status


class Client:
    """A client on one connection. `answered` collects the methods that gave a result; `reply` is the last one."""

    def __init__(self, envelope, url, number=None):
        self.envelope, self.requester = envelope, sp.Requester(url)
        self.number = number or secrets.randbits(63) + 1
        self.ids, self.answered, self.reply = itertools.count(secrets.randbits(40)), set(), None

    def make(self, method, fields, **members):
        """A request: `fields` are those of the method's message as in JSON, `members` those of Request."""
        request = self.envelope.Request(id=next(self.ids), client=self.number, **members)
        getattr(request, method).SetInParent()
        json_format.ParseDict(fields, getattr(request, method))
        return request

    def send(self, request):
        """The result of a request; raises Refused."""
        reply = self.envelope.Reply.FromString(self.requester.ask(request.SerializeToString()))
        code = type(reply.status).DESCRIPTOR.fields_by_name["code"].enum_type.values_by_number[reply.status.code].name
        if code != "CODE_OK":
            raise Refused(code, reply.status)
        assert reply.id == request.id, f"the reply to {request.id} has the id {reply.id}"
        method = request.WhichOneof("method")
        assert reply.WhichOneof("result") == method, f"{method} is answered by {reply.WhichOneof('result')}"
        self.answered.add(method)
        self.reply = reply
        return getattr(reply, method)

    def call(self, method, **fields):
        return self.send(self.make(method, fields))

    def close(self):
        self.requester.close()
