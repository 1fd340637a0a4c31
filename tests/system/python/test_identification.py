# SPDX-License-Identifier: BSD-2-Clause
"""Checks that the consistent estimate minimizes the function that dynamics/identification.h states.

The test computes the gradient of that function by itself. The function is convex, so that the gradient is zero at its
minimum alone.
"""
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
