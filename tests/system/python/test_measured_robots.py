# SPDX-License-Identifier: BSD-2-Clause
"""Checks identification with records of real robots, which are beside the project: ../shared/measurements."""
import os
import pathlib

import numpy as np
import pytest

SHARED = pathlib.Path(os.environ["PROJECT"]).parent / "shared"

pytestmark = pytest.mark.skipif(not (SHARED / "measurements" / "panda_torques.csv").exists(),
                                reason="the records of real robots are not there")


def identify(client, robot, record, prefix, cutoff):
    """Identifies a robot from its record, and returns how well each joint's torque is predicted in time held out."""
    name = f"measured_{robot}"
    model = client.load((SHARED / "robots" / f"{robot}.urdf").read_text(), name=name, replace=True)
    table = np.genfromtxt(SHARED / "measurements" / record, delimiter=",", names=True, deletechars="")
    columns = [joint.replace("panda_", prefix) for joint in model.joint_names]
    q, tau = (np.column_stack([table[f"{part}.{column}"] for column in columns]) for part in ("q", "tau"))
    found = model.identify(q, tau, table["time"], cutoff=cutoff, estimator="weighted")
    model.unload()
    # The drives of the records cut nothing off: their torques have noise at the extremes, or few rows share them.
    assert [fit.saturated for fit in found.fits] == [0] * len(found.fits)
    return found.fits


def test_torques_of_the_panda_are_predicted_within_a_tenth_of_their_range(client):
    for fit in identify(client, "panda_arm", "panda_torques.csv", "fer_", 3.0)[:4]:
        assert fit.consistent_prediction < 0.1 * (fit.highest - fit.lowest), fit.joint


def test_nine_tenths_of_the_variance_of_the_ur10_are_accounted_for(client):
    for fit in identify(client, "ur10", "ur10_currents.csv", "", 5.0)[:3]:
        assert fit.accounted > 0.9, fit.joint
