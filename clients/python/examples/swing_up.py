#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sampling-based control (model predictive path integral, MPPI) swings up an arm with two links.

    swing_up.py [--samples 1000] [--duration 6] [--plot FILE.png]

The motors are too weak to lift the stretched arm directly. In each step of the controller the daemon computes 1,000
rollouts of the next second in one request; the controller weights their inputs by their costs (Williams, Aldrich and
Theodorou 2017) and applies the first one to a simulation.
"""
import argparse
import time

import numpy as np

import dynamicsd
from dynamicsd.records import Array

STEP, HORIZON = 0.025, 40
LIMIT = np.array([20.0, 8.0])  # N m; holding the arm stretched out needs 29.4 and 9.8
NOISE, TEMPERATURE = 0.2, 0.05
HANGING, UPRIGHT = np.array([-np.pi / 2, 0.0]), np.array([np.pi / 2, 0.0])
STEPPING = dynamicsd.Stepping(integrator="rk4", step_length=STEP, substeps=2)


def cost(q: Array, v: Array) -> Array:
    """Cost of states: height of both links, and their speed near the top."""
    first, second = q[..., 0] - UPRIGHT[0], q[..., 0] + q[..., 1] - UPRIGHT[0]
    height = 2 - np.cos(first) - np.cos(second)
    return np.asarray(height + 0.02 * (v ** 2).sum(-1) * np.exp(-height))


class Controller:
    """Plan of inputs, which sampled rollouts improve."""

    def __init__(self, model: dynamicsd.Model, samples: int, seed: int = 1) -> None:
        self.model = model
        self.samples = samples
        self.random = np.random.default_rng(seed)
        self.plan: Array = np.zeros((HORIZON, 2))

    def torque(self, q: Array, v: Array) -> Array:
        """Input for the next step."""
        noise = self.random.normal(0.0, NOISE * LIMIT, (self.samples, HORIZON, 2))
        for i in range(1, HORIZON):
            noise[:, i] = 0.8 * noise[:, i - 1] + 0.6 * noise[:, i]
        noise[0] = 0
        tau = np.clip(self.plan + noise, -LIMIT, LIMIT)
        motion = self.model.rollout(np.tile(q, (self.samples, 1)), np.tile(v, (self.samples, 1)), tau,
                                    stepping=STEPPING)
        costs = cost(motion.q, motion.v)
        total = costs.mean(1) + 5 * costs[:, -1]
        weights = np.exp(-(total - total.min()) / (TEMPERATURE * (total.std() + 1e-9)))
        self.plan = np.tensordot(weights / weights.sum(), tau, 1)
        first: Array = self.plan[0].copy()
        self.plan = np.vstack([self.plan[1:], self.plan[-1:]])
        return first


def swing_up(client: dynamicsd.Client, samples: int, duration: float) -> tuple[Array, Array, Array]:
    """Runs the controller against a simulation. Returns the positions, the torques, and seconds of each step."""
    model = client.model("two_link")
    controller = Controller(model, samples)
    path, applied, spent = [HANGING], [], []
    with client.simulate(model, q=HANGING, v=[0.0, 0.0], stepping=STEPPING) as sim:
        q: Array = HANGING
        v: Array = np.zeros(2)
        for _ in range(round(duration / STEP)):
            begin = time.perf_counter()
            tau = controller.torque(q, v)
            spent.append(time.perf_counter() - begin)
            state = sim.step(tau=tau)
            q, v = state.q, state.v
            path.append(q)
            applied.append(tau)
    return np.array(path), np.array(applied), np.array(spent)


def plot(file: str, path: Array, applied: Array) -> None:
    """Draws angles and torques over time."""
    from matplotlib import pyplot  # Only plots need it.
    figure, (top, bottom) = pyplot.subplots(2, figsize=(8, 6), sharex=True, layout="constrained")
    top.plot(STEP * np.arange(len(path)), path, label=["joint1", "joint2"])
    top.axhline(np.pi / 2, color="gray", linewidth=0.5)
    top.set(ylabel="angle [rad]", title="MPPI swings up two_link")
    top.legend()
    bottom.step(STEP * np.arange(len(applied)), applied)
    bottom.set(xlabel="time [s]", ylabel="torque [N m]")
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description="MPPI swings up an arm with two links.")
    parser.add_argument("--samples", type=int, default=1000, help="rollouts a step")
    parser.add_argument("--duration", type=float, default=6.0, help="simulated seconds")
    parser.add_argument("--plot", help="file of the plot")
    options = parser.parse_args()
    with dynamicsd.connect() as client:
        path, applied, spent = swing_up(client, options.samples, options.duration)
    height = np.sin(path[:, 0]) + np.sin(path[:, 0] + path[:, 1])
    print(f"{options.samples} rollouts of {HORIZON} steps in {1e3 * np.median(spent):.1f} ms a step")
    print(f"height of the tip: {height[0]:.2f} m at the start, {height[-40:].min():.2f} m or more in the last second")
    if options.plot:
        plot(options.plot, path, applied)


if __name__ == "__main__":
    main()
