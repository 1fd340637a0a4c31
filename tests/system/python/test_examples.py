# SPDX-License-Identifier: BSD-2-Clause
"""The examples run as a newcomer runs them, and do what they say."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture
def run(daemon, project, tmp_path):
    """Runs an example and returns its output. Its plot must be a picture."""
    def function(name, *options):
        plot = tmp_path / "plot.png"
        done = subprocess.run([sys.executable, project / "clients/python/examples" / name, *options, "--plot", plot],
                              check=True, text=True, stdout=subprocess.PIPE, env={**os.environ, "HOME": str(tmp_path)})
        assert plot.read_bytes().startswith(b"\x89PNG")
        return done.stdout
    pytest.importorskip("matplotlib")
    return function


def test_feed_forward_torques_are_those_that_the_robot_applied(run, ur5, tmp_path):
    output = run("feed_forward.py")
    largest = float(re.search(r"shoulder_lift_joint +([\d.]+) N m", output).group(1))
    assert 30 < largest < 100
    assert float(re.search(r"difference .*: ([\d.]+) N m", output).group(1)) < 0.01 * largest
    time = np.linspace(0, 1, 30)
    rows = np.column_stack([time, np.tile(ur5.q_home, (30, 1))])
    file = tmp_path / "rest.csv"
    np.savetxt(file, rows, delimiter=",", header=",".join(["time", *ur5.joint_names]), comments="")
    resting = re.findall(r"([\d.]+) N m", run("feed_forward.py", "--motion", str(file)))
    np.testing.assert_allclose([float(each) for each in resting], np.abs(ur5.gravity(ur5.q_home)), atol=1e-3)


def test_sampled_rollouts_swing_up_the_arm(run):
    heights = re.search(r"height of the tip: ([-\d.]+) m .*, ([-\d.]+) m", run("swing_up.py", "--samples", "300"))
    assert float(heights.group(1)) == -2 and float(heights.group(2)) > 1.8


def test_a_heavier_payload_takes_longer(run):
    light, heavy = (float(re.search(r"duration: ([\d.]+) s", run("feasibility.py", "--mass", mass)).group(1))
                    for mass in ("0.5", "5"))
    assert 0.1 < light < heavy < 5


def test_identification_finds_the_forgotten_body_and_the_friction(run, client, ur5, tmp_path):
    output = run("identification.py")
    before, after = map(float, re.search(r"mass of the model ([\d.]+) kg, of the identified one ([\d.]+) kg",
                                         output).groups())
    assert abs(after - before - 3) < 0.5
    fits = [list(map(float, fit)) for fit in
            re.findall(r"error +([\d.]+) N m, after identification +([\d.]+) N m; viscous ([\d.]+), Coulomb ([\d.]+)",
                       output)]
    assert len(fits) == 6
    for error, prediction, viscous, coulomb in fits:
        assert prediction < 0.1 * error and abs(viscous - 1.5) < 0.1 and abs(coulomb - 2) < 0.1
    time = np.arange(0, 5, 0.01)
    q = ur5.q_home + 0.3 * np.sin(np.outer(time, np.arange(1, 7)))
    tau = ur5.inverse_dynamics_trajectory(q, time=time, rates="quintic_spline").tau
    file = tmp_path / "record.csv"
    head = ["time", *(f"{part}.{name}" for part in ("q", "tau") for name in ur5.joint_names)]
    np.savetxt(file, np.column_stack([time, q, tau]), delimiter=",", header=",".join(head), comments="")
    output = run("identification.py", "--motion", str(file))
    assert max(float(each) for each in re.findall(r"after identification +([\d.]+) N m", output)) < 0.5
    client.unload("ur5_identified")
