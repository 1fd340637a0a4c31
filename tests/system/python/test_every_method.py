# SPDX-License-Identifier: BSD-2-Clause
"""Every method of the contract has a call in Python, and the call reaches the daemon."""
import re

import numpy as np
import pytest

import dynamicsd
from tcp_witness import Witness

# Methods that are shortcuts of Evaluate, which the C client sends in their place.
SHORTCUTS = {"kinematics"}


@pytest.fixture(scope="module")
def witness(client):
    """Relay to the daemon."""
    url = next(one.address for one in client.server_info().endpoints
               if one.kind == "request" and one.address.startswith("tcp"))
    relay = Witness(url)
    yield relay
    relay.close()


@pytest.fixture(scope="module")
def witnessed(witness):
    """Client whose requests the witness sees."""
    with dynamicsd.connect(witness.url, timeout=60) as connected:
        yield connected


def compute(client, arm):
    """Calls the methods that compute."""
    q, v, time = [[0.1, 0.2]] * 6, [[0.0, 0.0]] * 6, np.linspace(0, 1, 6)
    arm.inverse_dynamics(q), arm.forward_dynamics(q), arm.mass_matrix(q), arm.gravity(q), arm.bias_forces(q)
    arm.evaluate("mass_matrix", q), arm.explain(q[0]), arm.compare(q[0]), arm.formulate("lagrange_euler", q[0])
    arm.poses(q, ["link1", "link2"]), arm.base_parameters(), arm.rollout(q, steps=2)
    arm.inverse_dynamics_trajectory(q, time=time, rates="spline"), arm.derive_rates(q, time)
    arm.forward_dynamics_trajectory(q[0], None, v)
    fine = np.linspace(0, 5, 200)
    motion = np.column_stack([np.sin(2 * fine), np.sin(3 * fine + 1) + np.sin(fine)])
    tau = arm.inverse_dynamics_trajectory(motion, time=fine, rates="quintic_spline").tau
    found = arm.identify(motion, tau, fine, name="identified")
    assert len(found.fits) == 2 and all(fit.accounted > 0.99 for fit in found.fits)
    client.model("identified").unload()
    exciting = arm.excite(period=4, trials=40, criterion="determinant")
    assert exciting.q.shape == (400, 2) and exciting.rank == exciting.estimates
    assert all(use.position <= 0.9 + 1e-9 for use in exciting.uses)
    held = arm.identify(exciting.q, exciting.tau, v=exciting.v, a=exciting.a,
                        payload_link=arm.describe().links[-1].name)
    assert held.payload is not None and held.payload.mass < 1e-2
    gains, body = np.array([3.0, -7.0]), dynamicsd.Payload(arm.describe().links[-1].name, dynamicsd.Inertia(2.0))
    loaded = arm.inverse_dynamics(exciting.q, exciting.v, exciting.a, payloads=[body])
    share = (np.arange(400) >= 200).astype(float)
    currents = (exciting.tau + share[:, None] * (loaded - exciting.tau)) / gains
    geared = arm.identify(exciting.q, currents, v=exciting.v, a=exciting.a, estimate_gains=True, payloads=[body],
                          load=share, drive_terms=["viscous", "coulomb", "stribeck", "load"], stribeck_velocity=0.3)
    np.testing.assert_allclose([fit.gain for fit in geared.fits], gains, rtol=1e-6)
    driven = client.load(dynamicsd.ModelDescription(
        "driven", [dynamicsd.Link("a"), dynamicsd.Link("b", dynamicsd.Inertia(1, rotational=[1, 0, 0, 1, 0, 1]))],
        [dynamicsd.Joint("j", "continuous", "a", "b", axis=[0, 0, 1])], machine_elements=[
            dynamicsd.MachineElement("m", "j", "motor", motor=dynamicsd.Motor(resistance=0.5, torque_constant=0.05)),
            dynamicsd.MachineElement("g", "j", "gear", gear=dynamicsd.Gear(10, 0.5, 0.5))]))
    moved = driven.evaluate_motors([[0.0], [0.0]], [[1.0], [-1.0]], [[2.0], [2.0]], [0.0, 0.1], gravity=[0, 0, 0])
    np.testing.assert_allclose(moved.torque[:, 0], [0.4, 0.1])
    other = driven.evaluate_motors([[0.0]], [[1.0]], [[2.0]], ratios=[5, 20], gravity=[0, 0, 0]).alternatives
    assert [summary.ratio for summary in other] == [5, 20]
    np.testing.assert_allclose([summary.peak_torque for summary in other], [0.8, 0.2])
    choice = dynamicsd.MotorChoice("larger", motor=dynamicsd.Motor(1.0, torque_constant=0.1, maximum_current=16),
                                   gear=dynamicsd.Gear(5, 0.5, 0.5))
    [chosen] = driven.evaluate_motors([[0.0]], [[1.0]], [[2.0]], choices=[choice], gravity=[0, 0, 0]).choices
    assert chosen.choice == "larger" and chosen.peak_torque == pytest.approx(0.8)
    assert [(each.limit, each.margin) for each in chosen.margins] == [("current", pytest.approx(0.5))]
    assert moved.is_feasible and moved.quadrant[:, 0].tolist() == [1, 2] and moved.motors[0].joint == "j"
    driven.unload()
    assert arm.distance(q, arm.integrate(q, v)).tolist() == [0.0] * 6
    np.testing.assert_array_equal(arm.difference(q, q), v)
    np.testing.assert_array_equal(arm.normalize(q), arm.interpolate(q, q, 0.5))
    np.testing.assert_array_equal(arm.neutral(2), np.zeros((2, 2)))
    client.inertia(dynamicsd.InertiaPart("sphere", radius=0.1, density=1000.0))
    with pytest.raises(dynamicsd.Cancelled):
        client.model("ur5").rollout(np.zeros((1000, 6)), steps=30_000, only_last=True, timeout=60,
                                    progress=Countdown(2))


class Countdown:
    """Progress callback that cancels the call when it is called the n-th time."""

    def __init__(self, n):
        self.left = n

    def __call__(self, fraction):
        self.left -= 1
        return self.left > 0


def manage(client, arm, project):
    """Calls the methods of models and of the daemon."""
    assert client.health("models").state == "serving"
    assert {one.name for one in client.server_info().methods} >= {"inverse_dynamics", "rollout"}
    metrics = client.metrics()
    assert metrics.methods["get_health"].codes[0] >= 1 and sum(metrics.methods["get_health"].times) >= 1
    settings = client.settings().settings
    assert (settings["server.workers"].origin, settings["server.workers"].needs_restart) == ("default", True)
    direct = next(one.address for one in client.server_info().endpoints if one.kind == "request")
    with dynamicsd.connect(direct) as other:
        other.ping()
        numbers = {one.connection for one in client.connections() if one.kind == "request"}
        assert len(numbers) >= 2
        client.close_connection(max(numbers))
        assert max(numbers) not in {one.connection for one in client.connections()}
        other.ping()
    slow = client.slow_requests(3)
    assert len(slow) <= 3 and all(0 <= one.waiting_time <= one.time for one in slow)
    with dynamicsd.connect(direct) as other:
        calls = client.server_info().counters["fast_calls"]
        other.open_fast_channel("ur5", ["mass_matrix", "gravity_forces"])
        robot, q = other.model("ur5"), [0.1, -1.0, 1.0, 0.2, 0.3, 0.4]
        assert (robot.gravity(q) == client.model("ur5").gravity(q)).all()
        found = robot.evaluate(["mass_matrix", "gravity_forces"], q)
        assert (found["gravity_forces"] == robot.gravity(q)).all()
        assert client.server_info().counters["fast_calls"] == calls + 3
    before = client.set_log_level("debug")
    assert client.set_log_level(before) == "debug" and client.set_log_level() == before
    assert {one.name for one in client.models()} >= {"ur5", "two_link"}
    with client.watch_models() as updates:
        stiff = arm.derive("stiff", dynamicsd.Operation("lock_joints", joints=["joint2"], q=[0.0, 0.5]))
        update = updates.next()
        assert (update.kind, update.text, update.model.name) == ("model_event", "loaded", "stiff")
    assert stiff.nv == 1 and arm.export("urdf").startswith("<?xml")
    stiff.unload()
    loop = client.load(project / "tests/data/constraints/four_bar.json")
    closed = loop.assemble([[1.0, 0.0, 1.0]], held_joints=["motor"])
    assert closed.outcomes[0].is_closed and closed.q[0, 0] == 1.0
    motion = loop.constrained_forward_dynamics(closed.q)
    assert motion.a.shape == (1, 3) and motion.multipliers.shape[1] == loop.info.constraint_rows
    assert motion.method == "multipliers" and motion.conditions[0] >= 1
    embedded = loop.constrained_forward_dynamics(closed.q, method="embedding", tolerance=1e-6)
    assert embedded.method == "embedding" and abs(embedded.a - motion.a).max() < 1e-9
    with pytest.raises(dynamicsd.errors.InvalidArgument, match="tolerance is 2"):
        loop.constrained_forward_dynamics(closed.q, tolerance=2.0)
    wrench = loop.evaluate("constraint_wrenches", closed.q)
    assert wrench["constraint_wrenches.force"].shape == (1, 1, 3)
    assert loop.description.constraints[0].kind == "loop_joint"
    loop.unload()


def simulate(client):
    """Calls the methods of simulations and recordings."""
    with client.simulate("two_link", name="run", q=[0.0, 0.0]) as sim:
        sim.record("tape")
        assert sim.step(5, tau=[1.0, 0.0]).steps_done == 5 and sim.state().step == 5
        assert sim.set_input(tau=[0.0, 0.0], external_forces=[]) == 6
        sim.step()
        entries, size = sim.stop_recording()
        assert entries > 0 and size == len(client.fetch_recording("tape"))
        assert sim.set_state([0.5, 0.5]).q.tolist() == [0.5, 0.5] and sim.reset().q.tolist() == [0.0, 0.0]
        assert [one.name for one in client.simulations()] == ["run"]
        assert client.save_simulations() == 1
        with client.watch("run") as updates, client.open_stream("simulation_input", simulation=sim) as stream:
            stream.push(0.0, tau=[1.0, 2.0])
            sim.step(20)
            assert updates.next().kind in ("states", "simulation_event")
        other = client.simulation("run")
        with pytest.raises(PermissionError):
            other.delete()
        with pytest.raises(dynamicsd.DynamicsError):
            other.claim()
    with client.simulate("two_link", rate=1.0, is_paused=True) as sim:
        sim.resume()
        assert sim.state().condition == "running"
        assert sim.pause().q.shape == (2,) and sim.state().condition == "paused"
    assert client.restore_simulations() >= 0
    replay = client.replay("tape")
    assert replay.steps == replay.equal_steps == 6 and replay.q.shape[1] == 2
    assert [one.name for one in client.recordings()] == ["tape"]
    client.delete_recording("tape")


def stream(client):
    """Calls the methods of streams."""
    opened = client.open_stream("feedforward", model="two_link", name="points")
    with opened.watch() as updates:
        opened.push([0.0, 0.001], q=np.zeros((2, 2)), v=np.zeros((2, 2)), a=np.zeros((2, 2)))
        found = updates.next()
        while found.kind != "torques":
            found = updates.next()
        np.testing.assert_allclose(found.tau[0], [29.43, 9.81], rtol=1e-12)
    with client.join_stream("points", opened.key) as joined:
        joined.push(0.002, q=[0.0, 0.0])
    numbers, tau = opened.points()
    assert len(numbers) >= 2 and tau.shape == (len(numbers), 2)
    assert [one.name for one in client.streams()] == ["points"] and opened.status().kind == "feedforward"
    assert opened.close().accepted == 3
    with pytest.raises(dynamicsd.Unavailable):
        opened.push(0.0, q=[0.0, 0.0])


def run_jobs(client, arm):
    """Calls the methods of jobs."""
    ticket = dynamicsd.JobTicket("my_job")
    with pytest.raises(TimeoutError):
        client.model("ur5").rollout(np.zeros((1000, 6)), steps=30_000, only_last=True, job=ticket, timeout=0.3)
    assert client.job("my_job").state in ("queued", "running") and ticket.token != 0
    assert "my_job" in [one.name for one in client.jobs()]
    client.cancel_job(ticket)
    assert arm.gravity([0.0, 0.0], job=dynamicsd.JobTicket()).tolist() == [29.43, 9.81]


def test_every_method_of_the_contract_reaches_the_daemon(witness, witnessed, project):
    arm = witnessed.model("two_link")
    compute(witnessed, arm)
    manage(witnessed, arm, project)
    simulate(witnessed)
    stream(witnessed)
    run_jobs(witnessed, arm)
    contract = (project / "proto/dynamics/v1/envelope.proto").read_text(encoding="utf-8")
    methods = re.search(r"oneof method \{(.*?)\n  \}", contract, re.S).group(1)
    numbers = {name: int(number) for name, number in re.findall(r"^\s+\w+Request (\w+) = (\d+);", methods, re.M)}
    assert len(numbers) == methods.count("Request ")
    assert {name for name, number in numbers.items() if number not in witness.seen} == SHORTCUTS


def test_every_public_call_has_an_example():
    """The examples run as doctests."""
    for cls in (dynamicsd.Client, dynamicsd.Model, dynamicsd.Simulation, dynamicsd.Stream, dynamicsd.Watcher):
        for name, call in vars(cls).items():
            if callable(call) and not name.startswith("_") and name not in ("loaded", "coordinate_names"):
                assert ">>> " in (call.__doc__ or ""), f"{cls.__name__}.{name} has no example"
