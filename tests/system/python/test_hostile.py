# SPDX-License-Identifier: BSD-2-Clause
"""Wrong arguments of every call: each is refused with an InvalidArgument, a ValueError, that names the argument."""
import numpy as np
import pytest

import dynamicsd
from dynamicsd import aio

NAN, HUGE = float("nan"), 1 << 70
Q = np.zeros((8, 6))
TIME = np.linspace(0.0, 1.0, 8)

# Calls and words that the message must have. `c` is a client, `u` a model, `sim` a simulation, `st` a stream.
REFUSED = [
    # Arrays.
    ("u.gravity('abc')", "q: "), ("u.gravity(None)", "q: "), ("u.gravity([])", "q: has the shape (0,)"),
    ("u.gravity(np.zeros((0, 6)))", "q: "), ("u.gravity(np.zeros((2, 2, 6)))", "(6,) or (n, 6) is needed"),
    ("u.gravity(np.zeros(6, complex))", "complex128"), ("u.gravity(np.zeros(6, 'datetime64[s]'))", "datetime64"),
    ("u.gravity([[1, 2], [3]])", "q: "), ("u.gravity([10 ** 400] * 6)", "q: "), ("u.gravity([NAN] * 6)", "q[0]"),
    ("u.gravity(np.ma.masked_array(np.zeros(6), mask=[0, 0, 1, 0, 0, 0]))",
     "q: no array of numbers: 1 values are masked"),
    ("u.inverse_dynamics(Q, np.ma.masked_equal(Q, 0.0))", "v: no array of numbers: 48 values are masked"),
    ("u.inverse_dynamics(Q, Q[:3])", "v: has the shape (3, 6), but (8, 6)"), ("u.gravity(Q, out=3)", "out: is int"),
    ("u.gravity(Q, out=np.zeros(6))", "out: "), ("u.gravity(Q, gravity=[1, 2])", "gravity: has the shape (2,)"),
    ("u.forward_dynamics(Q, rows=3)", "rows: "), ("u.forward_dynamics(Q, rows=(1, 2))", "rows[0]: "),
    ("u.interpolate(Q, Q, 'x')", "s: "), ("u.integrate(Q, Q * NAN)", "integrate.v[0]"),
    ("u.derive_rates(Q, TIME[:3])", "time: "), ("u.derive_rates(Q, TIME[::-1])", "time[1]"),
    ("u.identify(Q, Q, TIME, v=Q)", "identify.a: a is missing; pass both v and a, or neither"),
    ("u.identify(Q, Q, TIME, a=Q)", "identify.v: v is missing"), ("u.identify(Q, Q)", "time is missing"),
    ("st.push('x', q=Q[0])", "t: "), ("st.push([0, 1], q=Q[0])", "q: "), ("st.push([], q=Q[:0])", "t: "),
    ("sim.set_state([NAN] * 6)", "q[0]"), ("sim.step(tau=[NAN] * 6)", "tau[0]"),
    # Whole numbers.
    ("u.random(-1)", "samples: is -1"), ("u.random(0)", "samples"), ("u.random(HUGE)", "samples"),
    ("u.random(1.5)", "samples: is 1.5, but a whole number"), ("u.random('3')", "samples"),
    ("u.random(NAN)", "samples"),
    ("u.neutral(-1)", "samples"), ("u.random(2, seed=-1)", "seed: is -1"), ("u.random(2, seed=HUGE)", "seed"),
    ("u.rollout(Q, steps=-1)", "steps"), ("u.rollout(Q, steps=0)", "steps"), ("u.rollout(Q)", "steps: is needed"),
    ("u.rollout(Q, steps=1.5)", "steps"), ("u.rollout(Q, steps=HUGE)", "steps"),
    ("u.rollout(Q, steps=2, stride=-1)", "stride"), ("u.excite(trials=-1)", "trials"),
    ("u.excite(harmonics=-1)", "harmonics"), ("u.excite(seed=-1)", "seed"),
    ("u.identify(Q, Q, TIME, folds=-1)", "folds"),
    ("u.identify(Q, Q, TIME, folds=1.5)", "folds"), ("sim.step(-1)", "steps: is -1"), ("sim.step(1.5)", "steps"),
    ("sim.step(HUGE)", "steps"), ("c.simulate(u, seed=-1)", "seed"), ("c.simulation('x', token=-1)", "token"),
    ("c.simulation('x', token=HUGE)", "token"), ("c.cancel_job('x', token=-1)", "token"),
    ("c.join_stream('x', -1)", "key"), ("c.replay('x', first=-1)", "first"), ("c.replay('x', stride=1.5)", "stride"),
    ("c.close_connection(-1)", "connection"), ("c.close_connection('x')", "connection"),
    ("st.seek(-1)", "point_number"),
    ("st.seek('x')", "point_number"), ("st.points(first=-1)", "first"), ("st.points(capacity=-1)", "capacity"),
    ("st.points(capacity=1.5)", "capacity"), ("dynamicsd.JobTicket('a', -1)", "token"),
    ("c.open_stream('feedforward', model=u, capacity=-1)", "capacity"),
    ("dynamicsd.connect(url, max_reply_bytes=-1)", "max_reply_bytes"),
    ("dynamicsd.connect(url, min_revision=HUGE)", "min_revision"),
    # Times and other real numbers.
    *((f"u.gravity(Q, timeout={bad})", "timeout: ") for bad in ("-1", "NAN", "np.inf", "'x'", "None")),
    *((f"c.watch_models().next(timeout={bad})", "timeout: ") for bad in ("-1", "NAN", "'x'")),
    *((f"st.push(0.0, q=Q[0], timeout={bad})", "timeout: ") for bad in ("-1", "NAN", "'x'")),
    *((f"c.simulate(u, rate={bad})", "rate: ") for bad in ("-1", "NAN", "np.inf", "'x'", "1e9")),
    ("c.simulate(u, publish_rate=-1)", "publish_rate"), ("c.simulate(u, lease=-1)", "lease"),
    ("c.simulate(u, disturbance=-1)", "disturbance"), ("sim.claim(lease=NAN)", "lease"),
    ("u.rollout(Q, steps=2, stepping=dynamicsd.Stepping(step_length=-1))", "step_length"),
    ("u.excite(period=NAN)", "period"), ("u.identify(Q, Q, TIME, cutoff=NAN)", "cutoff"),
    ("u.identify(Q, Q, TIME, prior=-1)", "prior"), ("u.gravity(Q, time='x')", "time: "),
    ("u.constrained_forward_dynamics(Q, stabilization='x')", "stabilization"),
    ("u.evaluate('mass_matrix', Q, contact_step='x')", "contact_step"), ("u.gravity(Q, gravity=[NAN] * 3)", "gravity"),
    ("dynamicsd.connect(url, timeout=-1)", "timeout"), ("dynamicsd.connect(url, timeout='x')", "timeout: "),
    ("c.open_stream('feedforward', model=u, idle_time=NAN)", "idle_time"),
    # Names.
    *((f"{call}(3)", f"{name}: is 3, but a text is needed") for call, name in (
        ("c.simulation", "name"), ("c.watch", "simulation"), ("c.watch_stream", "stream"), ("c.job", "name"),
        ("c.unload", "model"), ("c.delete_recording", "recording"), ("c.fetch_recording", "recording"),
        ("c.replay", "recording"), ("c.stream_info", "name"), ("c.health", "component"), ("dynamicsd.connect", "url"),
        ("dynamicsd.JobTicket", "name"), ("sim.record", "recording"))),
    *((f"c.simulation({bad!r})", "name: ") for bad in ("a\0b", "\ud800")), ("c.model('a\\0b')", "code 0"),
    ("c.simulate(u, name='a\\0b')", "name: "), ("c.simulate(u, name=3)", "name: is 3"),
    ("u.gravity(Q, joint_names=3)", "joint_names"), ("u.gravity(Q, joint_names=[3] * 6)", "joint_names[0]"),
    ("u.gravity(Q, formulation=3)", "formulation: is 3"), ("u.gravity(Q, expected_digest=3)", "expected_digest: is 3"),
    ("u.poses(Q, [3])", "frames[0]: is 3"), ("u.poses(Q, None)", "frames"), ("u.poses(Q, [])", "frames"),
    ("u.jacobians(Q, [3])", "frames[0]"), ("u.derive(3, [])", "name: is 3"), ("c.join_stream(3, 1)", "name"),
    ("u.identify(Q, Q, TIME, links=3)", "links"), ("u.excite(links=3)", "links"),
    ("u.identify(Q, Q, TIME, drive_terms=['x'])", "drive_terms"),
    ("u.identify(Q, Q, TIME, drive_terms=3)", "drive_terms"),
    ("dynamicsd.connect(url, token=3)", "token: is 3"), ("c.load('<robot name=\"a\"/>', name=3)", "name: is 3"),
    # Words of a list.
    ("u.gravity(Q, precision='x')", "'x' is none of"), ("u.gravity(Q, on_error=3)", "on_error: 3 is none of"),
    ("u.export('x')", "format: 'x' is none of"), ("c.simulate(u, pace='x')", "pace: 'x' is none of clock, lockstep"),
    ("c.open_stream('x', model=u)", "kind: 'x'"), ("c.set_log_level('x')", "level: 'x'"),
    ("u.identify(Q, Q, TIME, estimator='x')", "estimator: 'x'"), ("u.derive_rates(Q, TIME, rates='x')", "rates: 'x'"),
    ("u.evaluate('mass_matrix', Q, reference_frame='x')", "reference_frame: 'x'"),
    ("u.evaluate('nope', Q)", "quantities[0]"), ("u.evaluate([3], Q)", "quantities[0]"),
    ("u.evaluate([], Q)", "quantities"),
    ("u.evaluate(None, Q)", "quantities"), ("u.evaluate('mass_matrix', Q, frames=[3])", "frames[0]"),
    # Records and others.
    ("u.gravity(Q, external_forces=[3])", "external_forces[0]"), ("u.gravity(Q, payloads=3)", "payloads"),
    ("u.gravity(Q, base_motion=3)", "base_motion"), ("u.gravity(Q, passive_forces=3)", "passive_forces"),
    ("u.forward_dynamics(Q, constraints=[3])", "constraints[0]"), ("u.derive('x', 3)", "operations"),
    ("u.derive('x', [3])", "operations[0]"), ("u.derive('x', [])", "operations"), ("c.inertia([])", "parts"),
    ("c.inertia(3)", "parts"), ("u.gravity(Q, progress=3)", "progress"), ("u.gravity(Q, job='x')", "job: is 'x'"),
    ("c.load(3)", "source"), ("c.load(None)", "source"), ("c.load('<robot')", "urdf:1"),
]


@pytest.fixture(scope="module")
def names(client, ur5, daemon):
    """Names of the calls."""
    with client.simulate(ur5) as sim, client.open_stream("feedforward", model=ur5) as stream:
        yield {"c": client, "u": ur5, "sim": sim, "st": stream, "url": daemon.request, "np": np, "NAN": NAN,
               "HUGE": HUGE, "Q": Q, "TIME": TIME, "dynamicsd": dynamicsd}


@pytest.mark.parametrize("call, words", REFUSED, ids=[call for call, _ in REFUSED])
def test_a_wrong_argument_is_named(names, call, words):
    with pytest.raises(dynamicsd.InvalidArgument) as caught:
        eval(call, names)
    assert words in str(caught.value)
    assert names["u"].gravity(np.zeros(6)).shape == (6,)  # The client goes on.


def test_a_result_without_memory_names_its_size(ur5):
    with pytest.raises(MemoryError, match="samples: no memory for an array of the shape"):
        ur5.random(10 ** 13)


def test_unknown_arguments_and_objects_that_are_no_model_are_type_errors(client, ur5):
    with pytest.raises(TypeError, match="unexpected keyword argument 'nope'"):
        ur5.gravity(np.zeros(6), nope=3)
    with pytest.raises(TypeError, match="3 is no model"):
        client.model(3)


def test_a_masked_array_without_masked_values_is_an_array(ur5):
    q = np.ma.masked_array(np.full(6, 0.3))
    np.testing.assert_array_equal(ur5.gravity(q), ur5.gravity(np.full(6, 0.3)))


def test_rates_that_are_left_out_are_zeros(ur5):
    q, v = np.full((4, 6), 0.3), np.full((4, 6), 0.5)
    np.testing.assert_array_equal(ur5.inverse_dynamics(q, v), ur5.inverse_dynamics(q, v, np.zeros((4, 6))))
    np.testing.assert_array_equal(ur5.inverse_dynamics(q, v), ur5.bias_forces(q, v))
    np.testing.assert_array_equal(ur5.inverse_dynamics(q, a=v), ur5.inverse_dynamics(q, np.zeros((4, 6)), v))
    np.testing.assert_array_equal(ur5.forward_dynamics(q, v), ur5.forward_dynamics(q, v, np.zeros((4, 6))))
    assert "zeros" in dynamicsd.Model.inverse_dynamics.__doc__ + dynamicsd.Model.__doc__


def test_connect_of_asyncio_refuses_the_same():
    with pytest.raises(dynamicsd.InvalidArgument, match="url: is 3"):
        aio.connect(3)
