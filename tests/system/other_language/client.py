# SPDX-License-Identifier: BSD-2-Clause
"""A daemon for a test, and a client of it that is made from the .proto files alone.

The environment names what is needed: DYNAMICSD and PROTOC, programs; PROTO, the directory of the contract; ROBOTS.
"""
import importlib
import itertools
import os
import pathlib
import secrets
import subprocess
import sys

from google.protobuf import json_format

import sp
from daemon import Daemon


def compile_contract(directory):
    """Compiles the contract to Python in a directory, and returns its modules envelope_pb2, event_pb2, stream_pb2."""
    proto = pathlib.Path(os.environ["PROTO"])
    subprocess.run([os.environ["PROTOC"], f"--python_out={directory}", f"-I{proto}",
                    *sorted(proto.glob("dynamics/v1/*.proto"))], check=True)
    sys.path.insert(0, str(directory))
    return [importlib.import_module(f"dynamics.v1.{name}_pb2") for name in ("envelope", "event", "stream")]


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
