# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-C: every call of the main thread ends, over every transport, and its request too."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import dynamicsd
from daemon import Daemon
from nats_server import NatsServer

# Program that evaluates lines. It says "begin" before each and "interrupted" when Ctrl-C has ended it.
PROGRAM = """
import sys, numpy as np, dynamicsd
client = dynamicsd.connect(sys.argv[1], timeout=300)
ur5 = client.model("ur5")
sim = client.simulate(ur5)
stream = client.open_stream("feedforward", model="ur5")
states = np.random.default_rng(1).uniform(-1, 1, (100_000, 6))
urdf = client.model("two_link").export("urdf")
print("ready", flush=True)
for line in sys.stdin:
    try:
        print("begin", flush=True)
        found = eval(line)
        print("done", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    except Exception as error:
        print(repr(error), flush=True)
"""
# Calls of minutes. The first are those without a progress callback in the daemon's own terms.
LONG = ["[ur5.evaluate('inverse_dynamics_by_q_q', np.zeros((20_000, 6))) for _ in range(1000)]",
        "[ur5.inverse_dynamics(states, states, states) for _ in range(10_000)]",
        "ur5.rollout(np.zeros((1000, 6)), steps=60_000, only_last=True)",
        "ur5.rollout(np.zeros((1000, 6)), steps=60_000, only_last=True, job=dynamicsd.JobTicket())",
        "ur5.identify(states[:20_000], states[:20_000], np.arange(20_000) / 100, folds=100)",
        "ur5.excite(trials=100_000)",
        "sim.step(10_000_000)"]
# Calls of every kind, to a daemon that does not answer.
SHORT = ["client.ping()", "client.models()", "client.model('ur5')", "client.load(urdf, name='again')",
         "client.server_info()", "ur5.gravity(np.zeros(6))", "ur5.inverse_dynamics(states, states, states)",
         "ur5.evaluate('mass_matrix', np.zeros(6))", "ur5.poses(np.zeros(6), 'wrist_3_link')",
         "ur5.derive('stiff', dynamicsd.Operation('lock_joints', joints=['elbow_joint']))",
         "ur5.rollout(np.zeros((5, 6)), steps=2)", "ur5.rollout(np.zeros((5, 6)), steps=2, progress=lambda f: True)",
         "ur5.rollout(np.zeros((5, 6)), steps=2, job=dynamicsd.JobTicket())", "ur5.excite(trials=10)",
         "ur5.identify(states[:100], states[:100], np.arange(100) / 100)", "client.simulate('ur5')", "sim.step()",
         "sim.state()", "client.watch(sim.name)", "client.watch_models()", "stream.status()",
         "client.open_stream('feedforward', model='ur5')", "dynamicsd.connect(sys.argv[1], connect_timeout=60)"]


class Program:
    """Process that makes one call after the other."""

    def __init__(self, address):
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM, address], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.expect("ready")

    def expect(self, word):
        """Waits for a line."""
        line = self.process.stdout.readline().strip()
        assert line == word

    def interrupt(self, call, after):
        """Makes a call, and interrupts it after some seconds. Returns the time from the signal to its end."""
        print(call, file=self.process.stdin, flush=True)
        self.expect("begin")
        time.sleep(after)
        self.process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        self.expect("interrupted")
        return time.monotonic() - begin

    def close(self):
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def addresses():
    """Daemon of these tests, and its addresses by transport."""
    server = NatsServer()
    started = Daemon(server=server.url)
    with dynamicsd.connect(started.request) as client:
        tcp = next(one.address for one in client.server_info().endpoints
                   if one.kind == "request" and one.address.startswith("tcp"))
    yield started, {"unix": started.request, "tcp": tcp, "nats": server.url}
    started.stop()
    server.stop()


@pytest.mark.parametrize("transport", ["unix", "tcp", "nats"])
def test_ctrl_c_cancels_the_request(addresses, transport):
    started, known = addresses
    program = Program(known[transport])
    try:
        for call in LONG:
            assert program.interrupt(call, 0.3) < 10, call
            # A call that the daemon went on with would leave no thread to this one.
            print("ur5.rollout(np.zeros((200, 6)), steps=2, timeout=20)", file=program.process.stdin, flush=True)
            program.expect("begin")
            program.expect("done")
    finally:
        program.close()


@pytest.mark.parametrize("transport", ["unix", "tcp", "nats"])
def test_ctrl_c_ends_every_call_while_the_daemon_does_not_answer(addresses, transport):
    started, known = addresses
    program = Program(known[transport])
    try:
        started.process.send_signal(signal.SIGSTOP)
        os.waitpid(started.process.pid, os.WUNTRACED)  # Until then it may answer.
        for call in SHORT if transport == "unix" else SHORT[::8]:
            assert program.interrupt(call, 0.1) < 5, call
        started.process.send_signal(signal.SIGCONT)
        print("ur5.gravity(np.zeros(6), timeout=60)", file=program.process.stdin, flush=True)
        program.expect("begin")
        program.expect("done")
    finally:
        started.process.send_signal(signal.SIGCONT)
        program.close()


@pytest.fixture
def replicas():
    """NATS server with three daemons of one worker each."""
    server = NatsServer()
    started = [Daemon({"server": {"workers": 1}}, server.url) for _ in range(3)]
    yield server, started
    for daemon in started:
        daemon.stop()
    server.stop()


def test_ctrl_c_cancels_the_request_at_every_replica(replicas):
    server, started = replicas
    stateless = LONG[:-1]
    program = Program(server.url)
    clients = [dynamicsd.connect(daemon.request, timeout=60) for daemon in started]
    try:
        for call in stateless:
            assert program.interrupt(call, 0.3) < 10, call
            # A call that a daemon went on with would leave its only worker to none of these.
            for client in clients:
                client.model("ur5").rollout(np.zeros((200, 6)), steps=2, timeout=20)
        started[0].process.send_signal(signal.SIGSTOP)
        os.waitpid(started[0].process.pid, os.WUNTRACED)
        for call in stateless:
            assert program.interrupt(call, 0.3) < 10, call
    finally:
        started[0].process.send_signal(signal.SIGCONT)
        program.close()
        for client in clients:
            client.close()


def test_a_handler_of_the_program_sees_the_signal(ur5):
    seen = []
    previous = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(dynamicsd.Cancelled):
            ur5.rollout(np.zeros((1000, 6)), steps=60_000, only_last=True, timeout=300)
        timer.join()
        assert seen == [signal.SIGINT] and signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, previous)


