# SPDX-License-Identifier: BSD-2-Clause
"""Identification from Python: the minimum of the consistent estimate, tables, results, and records of no use."""
import numpy as np
import pytest

import dynamicsd

AXES = "0 0 1", "0 1 0", "1 0 0"


def drawn_body(draw):
    """Mass, centre of mass and second moments about the link's origin of a body of five points."""
    points, masses = draw.normal(0.1, 0.2, (5, 3)), draw.uniform(0.2, 1, 5)
    return masses.sum(), masses @ points / masses.sum(), np.einsum("k,ki,kj", masses, points, points)


def chain_of(bodies):
    """URDF of a chain of links with these bodies."""
    parts = ['<robot name="chain"><link name="link0"/>']
    for i, (mass, centre, moments) in enumerate(bodies):
        about_centre = moments - mass * np.outer(centre, centre)
        inertia = np.trace(about_centre) * np.eye(3) - about_centre
        entries = " ".join(f'i{"xyz"[j]}{"xyz"[k]}="{inertia[j, k]:.17g}"' for j in range(3) for k in range(j, 3))
        place = " ".join(f"{value:.17g}" for value in centre)
        parts.append(f'<link name="link{i + 1}"><inertial><origin xyz="{place}"/><mass value="{mass:.17g}"/>'
                     f'<inertia {entries}/></inertial></link><joint name="joint{i + 1}" type="continuous">'
                     f'<parent link="link{i}"/><child link="link{i + 1}"/><origin xyz="0.1 0.2 0.3"/>'
                     f'<axis xyz="{AXES[i]}"/></joint>')
    return "".join(parts) + "</robot>"


def pseudo_inertia(mass, first, second):
    """Pseudo-inertia of a body: its second moments, bordered by its first moments and its mass."""
    return np.block([[second, first[:, np.newaxis]], [first, mass]])


def pseudo_inertia_of(parameters):
    """Pseudo-inertia from m, h and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the link's origin."""
    xx, xy, yy, xz, yz, zz = parameters[4:]
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return pseudo_inertia(parameters[0], parameters[1:4], np.trace(inertia) / 2 * np.eye(3) - inertia)


@pytest.mark.parametrize("prior", [1.0, 1e4, 1e8])
def test_the_consistent_estimate_minimizes_the_stated_function(client, prior):
    """Computes the gradient of the function of dynamics/identification.h by itself. The function is convex, so that the
    gradient is zero at its minimum alone."""
    draw = np.random.default_rng(20261123)
    bodies = [drawn_body(draw) for _ in AXES]
    model = client.load(chain_of(bodies), name="drawn_chain", replace=True)
    q, v, a = (draw.uniform(-2, 2, (200, 3)) for _ in range(3))
    payload = dynamicsd.Payload("link3", dynamicsd.Inertia(mass=1.5), dynamicsd.Pose(position=(0.1, 0.0, 0.2)))
    tau = model.inverse_dynamics(q, v, a, payloads=[payload])
    regressor = model.evaluate("torque_regressor", q, v=v, a=a).torque_regressor.reshape(600, 30)
    found = model.identify(q, tau, v=v, a=a, drive_terms=(), prior=prior, folds=0)
    model.unload()
    assert found.is_converged and not found.replaced_priors

    # Without noise, the deviations are the least ones: 1e-4 of the root mean square of each joint's torque.
    weights = np.tile(1e8 / np.mean(tau ** 2, 0), 200)
    of_torques = regressor.T @ (weights * (regressor @ found.parameters.ravel() - tau.ravel()))
    of_prior = []
    for parameters, (mass, centre, moments) in zip(found.parameters, bodies):
        difference = (np.linalg.inv(pseudo_inertia(mass, mass * centre, moments))
                      - np.linalg.inv(pseudo_inertia_of(parameters)))
        of_prior += [prior * np.sum(difference * pseudo_inertia_of(unit)) for unit in np.eye(10)]
    assert np.abs(of_prior).max() > 1
    np.testing.assert_allclose(of_torques, -np.array(of_prior), atol=1e-4 * np.abs(of_prior).max())


@pytest.fixture(scope="module")
def motion(ur5):
    """Exciting motion."""
    return ur5.excite(period=4, trials=30)


@pytest.fixture(scope="module")
def record(motion):
    """Times, positions and torques of the motion."""
    return motion.time, motion.q, motion.tau


def test_tables_are_identified_by_the_names_of_their_columns(ur5, record):
    pandas = pytest.importorskip("pandas")
    time, q, tau = record
    names = list(ur5.joint_names)
    table = pandas.DataFrame(np.column_stack([time, q, tau]),
                             columns=["time", *(f"{part}.{name}" for part in ("q", "tau") for name in names)])
    table = table[sorted(table.columns)]
    found, expected = ur5.identify(table, table, table["time"]), ur5.identify(q, tau, time)
    assert [each.value for each in found.estimates] == [each.value for each in expected.estimates]
    assert [fit.joint for fit in found.fits] == names


def test_an_identified_model_says_how_it_came_about_and_is_exported(client, ur5, record):
    time, q, tau = record
    noisy = tau + np.random.default_rng(1).normal(scale=0.1, size=tau.shape)
    found = ur5.identify(q, noisy, time, estimator="huber", name="identified", replace=True)
    model = client.model("identified")
    assert "from 400 rows by weighted least squares with Huber's weights" in model.report[0].message
    text = model.export("urdf")
    model.unload()
    assert model.report[0].message.split(";")[0] in text
    again = client.load(text, name="identified_again")
    np.testing.assert_allclose(again.gravity(q), model_gravity(ur5, found, q), rtol=1e-6, atol=1e-6)
    again.unload()
    for each in found.estimates:
        assert each.is_excited and each.relative_deviation == pytest.approx(each.deviation / abs(each.value))


def model_gravity(model, found, q):
    """Forces of gravity on the bodies of an estimate: the regressor at rest times the parameters."""
    regressor = model.evaluate("torque_regressor", q).torque_regressor
    return regressor.reshape(*q.shape, -1) @ found.parameters.ravel()


def test_estimates_that_the_motion_does_not_determine_name_the_reason(ur5, record):
    time, q, _ = record
    turning = np.tile(ur5.q_home, (len(time), 1))
    turning[:, 5] = q[:, 5]
    tau = ur5.inverse_dynamics_trajectory(turning, time=time, rates="quintic_spline").tau
    found = ur5.identify(turning, tau, time)
    unknown = [each for each in found.estimates if not each.is_excited]
    assert found.rank < len(found.estimates) and unknown and all(each.reason for each in unknown)
    assert {"no row depends on it"} < {each.reason for each in unknown}
    known = len(found.estimates) - len(unknown)
    assert repr(found).startswith(f"<Identification: {known} of 54 estimates known from {found.rank} directions")
    assert found._repr_html_().count("not known: ") == len(unknown)


@pytest.mark.parametrize("folds", [2, 5])
def test_parts_held_out_are_consecutive_in_time(ur5, motion, folds):
    """Predicts each part of the record from the others by least squares of numpy."""
    n, joints = motion.tau.shape
    tau = motion.tau + np.random.default_rng(2).normal(size=motion.tau.shape) * np.linspace(0.1, 2, n)[:, np.newaxis]
    regressor = ur5.evaluate("torque_regressor", motion.q, v=motion.v, a=motion.a).torque_regressor
    rows, parts = regressor.reshape(n, joints, -1), np.arange(n) * folds // n
    errors = np.empty_like(tau)
    for part in range(folds):
        others, held = parts != part, parts == part
        fit = np.linalg.lstsq(np.vstack(rows[others]), tau[others].ravel(), rcond=1e-9)[0]
        errors[held] = tau[held] - rows[held] @ fit
    found = ur5.identify(motion.q, tau, v=motion.v, a=motion.a, drive_terms=(), folds=folds)
    np.testing.assert_allclose([fit.prediction for fit in found.fits], np.sqrt(np.mean(errors ** 2, 0)), rtol=1e-6)


@pytest.mark.parametrize("spoil, place, message", [
    (lambda time, q, tau: (time[:7], q[:7], tau[:7]), "q", "7 samples; no parameter can be known from fewer than 8"),
    (lambda time, q, tau: (time[:8], q[:8], tau[:8]), "q", "48 equations for 54 unknowns; pass a record"),
    (lambda time, q, tau: (time, q, np.full_like(tau, 200.0)), "q", "saturated.* no parameter can be known"),
    (lambda time, q, tau: (np.where(time > 2, time + 5, time), q, tau), r"time\[201\]", "rates across a gap are not"),
    (lambda time, q, tau: (np.where(time > 2, time - 1, time), q, tau), r"time\[201\]", "not after that before it"),
    (lambda time, q, tau: (time, np.where(q == q[3, 1], np.nan, q), tau), r"q\[19\]", "shoulder_lift_joint.*nan"),
    (lambda time, q, tau: (time, q, np.where(tau == tau[3, 2], np.inf, tau)), r"tau\[20\]", "elbow_joint.*inf"),
])
def test_records_of_no_use_are_refused_with_place_and_reason(ur5, record, spoil, place, message):
    time, q, tau = spoil(*record)
    with pytest.raises(dynamicsd.InvalidArgument, match=f"identify.{place}: .*{message}"):
        ur5.identify(q, tau, time)


def test_saturated_torques_are_left_out_and_counted(ur5, motion):
    cut = motion.tau.copy()
    cut[50:80, 1] = 150.0
    found, expected = (ur5.identify(motion.q, tau, v=motion.v, a=motion.a) for tau in (cut, motion.tau))
    assert [fit.saturated for fit in found.fits] == [0, 30, 0, 0, 0, 0]
    np.testing.assert_allclose([each.value for each in found.estimates], [each.value for each in expected.estimates],
                               atol=1e-9)


def test_torques_that_a_drive_cuts_below_the_limit_are_left_out_and_counted(ur5, motion):
    cut = np.clip(motion.tau, -20.0, 20.0)
    found, expected = (ur5.identify(motion.q, tau, v=motion.v, a=motion.a) for tau in (cut, motion.tau))
    assert [fit.saturated for fit in found.fits] == list(np.sum(np.abs(motion.tau) > 20.0, 0))
    assert sum(fit.saturated for fit in found.fits) > 100
    for each, other in zip(found.estimates, expected.estimates):
        assert not each.is_excited or each.value == pytest.approx(other.value, abs=1e-6), each


def test_estimates_whose_rows_are_all_saturated_name_saturation(ur5, motion):
    cut = motion.tau.copy()
    cut[:, 5] = np.where(np.arange(len(cut)) % 2, 200.0, -200.0)
    found = ur5.identify(motion.q, cut, v=motion.v, a=motion.a)
    joint = ur5.joint_names[5]
    assert found.fits[5].saturated == len(cut)
    for each in found.estimates:
        assert each.element != joint or (not each.is_excited and "saturated torques" in each.reason), each


def test_one_name_is_a_list_of_one(ur5, motion):
    motion_of = {"v": motion.v, "a": motion.a}
    one, listed = (ur5.identify(motion.q, motion.tau, drive_terms=terms, links=links, **motion_of)
                   for terms, links in [("viscous", "wrist_3_link"), (["viscous"], ["wrist_3_link"])])
    assert [each.parameter for each in one.estimates].count("viscous") == ur5.nv
    assert [each.value for each in one.estimates] == [each.value for each in listed.estimates]
    assert ur5.excite(drive_terms="viscous", links="wrist_3_link", trials=1).condition > 0


@pytest.mark.parametrize("name", [5, None, ["ur5"]])
def test_a_model_is_found_by_a_str(client, name):
    with pytest.raises(TypeError, match="is no model: pass its name or digest, a str"):
        client.model(name)
