#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shortest feasible duration of a motion under the limits of position, velocity and torque.

    feasibility.py [--model ur5] [--mass 3] [--plot FILE.png]

moves the robot along a quintic polynomial from one configuration to another with a payload in its hand. The daemon
reports each limit of the description that a motion exceeds; bisection finds the shortest duration without one.
"""
import argparse
from collections.abc import Sequence

import numpy as np

import dynamicsd
from dynamicsd.records import Array, Trajectory

ROWS = 200


def motion(model: dynamicsd.Model, duration: float, payloads: Sequence[dynamicsd.Payload]) -> Trajectory:
    """Computes torques and exceeded limits of the motion of that duration."""
    s = np.linspace(0.0, 1.0, ROWS)
    shape = [10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 - 60 * s**3 + 30 * s**4, 60 * s - 180 * s**2 + 120 * s**3]
    way = np.full(model.nq, 1.2)
    start = model.q_home - 0.5 * way
    q, v, a = start + np.outer(shape[0], way), np.outer(shape[1], way) / duration, np.outer(shape[2], way) / duration**2
    return model.inverse_dynamics_trajectory(q, v, a, time=s * duration, payloads=payloads)


def shortest(model: dynamicsd.Model, payloads: Sequence[dynamicsd.Payload]) -> float:
    """Finds the shortest feasible duration by bisection: the needed torques fall as the duration grows."""
    low, high = 0.05, 20.0
    if not motion(model, high, payloads).is_feasible:
        raise SystemExit("no duration up to 20 s is feasible: the robot cannot hold the payload, or the path leaves "
                         "the range of a joint")
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if motion(model, middle, payloads).is_feasible else (middle, high)
    return high


def plot(path: str, model: dynamicsd.Model, duration: float, tau: Array | None) -> None:
    """Draws each torque as a part of its limit."""
    from matplotlib import pyplot  # Only plots need it.
    assert tau is not None  # Motions with given rates have torques.
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for joint, each in enumerate(model.description.joints):
        if each.limits is not None and each.limits.effort > 0:
            axes.plot(np.linspace(0, duration, ROWS), tau[:, joint] / each.limits.effort, label=each.name)
    axes.axhspan(-1, 1, alpha=0.1)
    axes.set(xlabel="time [s]", ylabel="torque / limit", title=f"{model.name} in {duration:.2f} s")
    axes.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Shortest feasible duration of a motion.")
    parser.add_argument("--model", default="ur5")
    parser.add_argument("--mass", type=float, default=3.0, help="kg in the robot's hand")
    parser.add_argument("--plot", help="file of the plot")
    options = parser.parse_args()
    with dynamicsd.connect() as client:
        model = client.model(options.model)
        hand = model.description.links[-1].name
        payloads = [dynamicsd.Payload(hand, dynamicsd.Inertia(mass=options.mass))]
        duration = shortest(model, payloads)
        print(f"shortest feasible duration: {duration:.3f} s")
        for excess in motion(model, 0.8 * duration, payloads).excesses:
            print(f"in {0.8 * duration:.3f} s: {excess.joint} exceeds its {excess.kind} limit {excess.limit:g} with "
                  f"{excess.value:.4g} at {excess.worst_time:.3f} s")
        if options.plot:
            plot(options.plot, model, duration, motion(model, duration, payloads).tau)


if __name__ == "__main__":
    main()
