# SPDX-License-Identifier: BSD-2-Clause
"""A real daemon and a real gateway for a test, and a client that speaks the protocol by hand.

The programs are named by the environment: DYNAMICSD, DYNAMICS_ROSBRIDGE, DYNAMICSCTL; the robots by ROBOTS.
"""
import ctypes
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import websocket

WAIT = 30  # seconds; programs under sanitizers are slow


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def wait_for(condition, what):
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} within {WAIT} s")


class Program:
    """A program that runs until it is stopped, with its output in a file."""

    running = []

    def __init__(self, directory, name, *arguments):
        self.log = pathlib.Path(directory, name + ".log")
        self.running.append(self)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(arguments, stdout=log, stderr=log, preexec_fn=die_with_parent)

    def stop(self):
        """Its exit code; what it wrote goes to the test's errors unless that is 0."""
        self.running[:] = [each for each in self.running if each is not self]
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        if code != 0:
            print(f"{self.log.stem} ended with code {code}; its log:\n{self.log.read_text()}", file=sys.stderr)
        return code


class Daemon(Program):
    """A daemon with the sample robots, in a directory of its own; `keeps_state`: recordings and simulations, too;
    `configuration`: sections of its configuration, in which {directory} is that directory."""

    def __init__(self, keeps_state=False, configuration=""):
        self.directory = tempfile.mkdtemp(prefix="rosbridge.")
        self.request = f"ipc://{self.directory}/request.sock"
        self.events = f"ipc://{self.directory}/events.sock"
        state = pathlib.Path(self.directory, "state")
        state.mkdir()
        self.prepare()
        endpoints = ["--endpoint", self.request, "--events", self.events]
        if configuration:
            file = pathlib.Path(self.directory, "dynamicsd.conf")
            file.write_text(f"[endpoints]\nrequest = {self.request}\nevents = {self.events}\n"
                            + configuration.format(directory=self.directory))
            endpoints = ["--config", file]
        super().__init__(self.directory, "dynamicsd", os.environ["DYNAMICSD"], *endpoints, "--models",
                         os.environ["ROBOTS"], *(["--state", state] if keeps_state else []))
        wait_for(lambda: self.control("ping").returncode == 0, "the daemon answers")

    def prepare(self):
        """Makes files in the directory, before the daemon starts."""

    def control(self, *arguments):
        return subprocess.run([os.environ["DYNAMICSCTL"], "--endpoint", self.request, *arguments], text=True,
                              capture_output=True, check=False)

    def freeze(self):
        """Stops it until SIGCONT. Its threads may run for a while after the signal was sent."""
        self.process.send_signal(signal.SIGSTOP)
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task")
        wait_for(lambda: all(task.joinpath("stat").read_text().rsplit(")", 1)[1].split()[0] == "T"
                             for task in tasks.iterdir()), "all threads of the daemon stand")

    def call(self, method, arguments):
        """The result of a method through the C client."""
        done = self.control("call", method, json.dumps(arguments))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def stop(self):
        code = super().stop()
        shutil.rmtree(self.directory)
        return code


class Gateway(Program):
    """A gateway to a daemon; `keys` are keys of its configuration, section__key."""

    count = itertools.count()

    def __init__(self, daemon, **keys):
        request, events = keys.pop("daemon__request", daemon.request), keys.pop("daemon__events", daemon.events)
        number = next(self.count)
        port_file = pathlib.Path(daemon.directory, f"port{number}")
        settings = {"server.port_file": port_file, **{key.replace("__", "."): value for key, value in keys.items()}}
        arguments = [f"--set={key}={value}" for key, value in settings.items()]
        super().__init__(daemon.directory, f"gateway{number}", os.environ["DYNAMICS_ROSBRIDGE"], "--endpoint",
                         request, "--events", events, "--port", "0", "--verbose", *arguments)
        wait_for(lambda: self.process.poll() is not None or (port_file.exists() and port_file.read_text().endswith(
            "\n")),
                 "the gateway listens")
        assert self.process.poll() is None, self.log.read_text()
        self.port = int(port_file.read_text())

    def connect(self, **options):
        return Client(websocket.connect(self.port, **options))


class Client:
    """A client of the protocol."""

    def __init__(self, socket):
        self.socket, self.count = socket, itertools.count()

    def close(self):
        self.socket.close()

    def send(self, op, **members):
        self.socket.send(json.dumps({"op": op, **members}))

    def receive(self, op=None):
        """The next message; of one operation, leaving out others."""
        while True:
            message = self.socket.receive()
            message = json.loads(message) if isinstance(message, str) else message
            if op is None or isinstance(message, bytes) or message["op"] == op:
                return message

    def call(self, service, args=None, **members):
        """The whole service_response."""
        identity = f"call:{next(self.count)}"
        self.send("call_service", id=identity, service=service, **({} if args is None else {"args": args}), **members)
        while True:
            answer = self.receive("service_response")
            if isinstance(answer, bytes) or answer["id"] == identity:
                return answer

    def values(self, service, args=None):
        answer = self.call(service, args)
        assert answer["result"] is True, answer
        return answer["values"]

    def refusal(self, service, args=None, **members):
        """The reason of a call that must fail."""
        answer = self.call(service, args, **members)
        assert answer["result"] is False, answer
        return answer["values"]

    def status(self, message):
        """The text of the status of the level error that a message must be answered with."""
        self.socket.send(message if isinstance(message, (str, bytes)) else json.dumps(message))
        answer = self.receive()
        assert answer["op"] == "status" and answer["level"] == "error", answer
        return answer["msg"]

    def await_health(self):
        """Waits until the daemon serves: on a busy machine its listeners may answer slowly."""
        wait_for(lambda: self.values("/dynamics/check_health")["success"], "the daemon serves")

    def synchronize(self):
        """All messages so far have been handled; nothing but this answer comes."""
        answer = self.call("/rosapi/get_time")
        assert answer["result"] is True


class Case(unittest.TestCase):
    """Tests that share a daemon and a gateway, which both must end well."""

    keys = {}

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.gateway = Gateway(cls.daemon, **cls.keys)

    @classmethod
    def tearDownClass(cls):
        codes = cls.gateway.stop(), cls.daemon.stop()
        assert codes == (0, 0), f"the gateway and the daemon ended with {codes}"

    def run(self, result=None):
        """Shows what the programs wrote up to a failure."""
        before = len(result.errors) + len(result.failures)
        super().run(result)
        if len(result.errors) + len(result.failures) > before:
            for program in Program.running:
                print(f"{program.log.stem} at the failure of {self.id()}:\n{program.log.read_text()[-8000:]}",
                      file=sys.stderr)

    def setUp(self):
        self.client = self.gateway.connect()
        self.addCleanup(self.client.close)
