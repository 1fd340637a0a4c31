#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Feed-forward torques of a recorded motion.

    feed_forward.py [--model ur5] [--motion FILE.csv] [--plot FILE.png]

reads a motion from a CSV file with a column "time" and one column for each joint, derives velocities and accelerations,
and prints the greatest torque of each joint. Without a file it records the motion of a simulated robot that follows a
reference, and compares the torques with those that the robot applied.
"""
import argparse
from typing import Any

import numpy as np

import dynamicsd
from dynamicsd.records import Array

DURATION, STEP = 3.0, 0.01


def record(client: dynamicsd.Client, model: dynamicsd.Model) -> tuple[Array, Array, Array]:
    """Records a simulated robot: times, positions, and the torques of its controller."""
    times = np.linspace(0.0, DURATION, round(DURATION / STEP) + 1, dtype=np.float64)
    phase = 0.5 * (1 - np.cos(np.pi * times / DURATION))
    goal = model.q_home + np.linspace(1.0, 0.3, model.nq)
    rates = model.derive_rates(model.q_home + np.outer(phase, goal - model.q_home), times, "spline_at_rest")
    stepping = dynamicsd.Stepping(step_length=STEP, substeps=10, law="computed_torque", kp=400.0, kd=40.0,
                                  ignore_damping=True, ignore_friction=True, ignore_effort_limits=True)
    assert rates.v is not None and rates.a is not None  # The call derives both.
    q, tau = [], []
    with client.simulate(model, q=model.q_home, v=np.zeros(model.nv), stepping=stepping) as sim:
        for i, part in enumerate(phase):
            reference = model.q_home + part * (goal - model.q_home)
            state = sim.step(q_ref=reference, v_ref=rates.v[i], a_ref=rates.a[i])
            q.append(state.q)
            tau.append(state.tau)
    return times, np.array(q), np.array(tau)


def read(path: str, model: dynamicsd.Model) -> tuple[Array, Array]:
    """Reads times and positions from a CSV file."""
    table: Any = np.genfromtxt(path, delimiter=",", names=True, deletechars="")
    return table["time"], np.column_stack([table[name] for name in model.joint_names])


def plot(path: str, model: dynamicsd.Model, times: Array, tau: Array, applied: Array | None) -> None:
    """Draws the torques of all joints."""
    from matplotlib import pyplot  # Only plots need it.
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for joint, name in enumerate(model.joint_names):
        line, = axes.plot(times, tau[:, joint], label=name)
        if applied is not None:
            axes.plot(times, applied[:, joint], ":", color=line.get_color())
    axes.set(xlabel="time [s]", ylabel="torque [N m]", title=f"Feed-forward torques of {model.name} (dotted: applied)")
    axes.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Feed-forward torques of a recorded motion.")
    parser.add_argument("--model", default="ur5")
    parser.add_argument("--motion", help="CSV file; default: a simulated motion")
    parser.add_argument("--plot", help="file of the plot")
    options = parser.parse_args()
    with dynamicsd.connect() as client:
        model = client.model(options.model)
        applied = None
        if options.motion:
            times, q = read(options.motion, model)
        else:
            times, q, applied = record(client, model)
        motion = model.inverse_dynamics_trajectory(q, time=times, rates="quintic_spline")
        assert motion.tau is not None  # It is there for every motion.
        for joint, name in enumerate(model.joint_names):
            print(f"{name:22s} {np.abs(motion.tau[:, joint]).max():9.3f} N m")
        if applied is not None:
            inner = slice(10, -10)
            difference = np.sqrt(np.mean((motion.tau[inner] - applied[inner]) ** 2))
            print(f"root mean square difference from the applied torques: {difference:.3f} N m")
        if options.plot:
            plot(options.plot, model, times, motion.tau, applied)


if __name__ == "__main__":
    main()
