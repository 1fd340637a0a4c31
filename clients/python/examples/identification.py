#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Parameters of a robot from its own motion.

    identification.py [--model ur5] [--motion FILE.csv] [--plot FILE.png]

reads a record from a CSV file with the columns "time", "q.JOINT" and "tau.JOINT" of each joint, estimates inertial
parameters and friction, loads them as the model NAME_identified, and compares measured with predicted torques. Without
a file it makes a record of a robot whose description is wrong: a body of 3 kg in its hand is missing, and friction.
"""
import argparse
from typing import Any

import numpy as np

import dynamicsd
from dynamicsd.records import Array, Identification

DURATION, STEP, NOISE = 20.0, 0.005, 0.05
VISCOUS, COULOMB = 1.5, 2.0
CUTOFF = 10.0


def excitation(model: dynamicsd.Model) -> tuple[Array, Array]:
    """Computes times and positions of a motion of several frequencies around home, which begins and ends at rest."""
    times = np.arange(0.0, DURATION, STEP, dtype=np.float64)
    s = np.clip(np.minimum(times, times[-1] - times), 0, 1)
    amplitude = 0.15 * (10 * s**3 - 15 * s**4 + 6 * s**5)[:, np.newaxis]
    joints = np.arange(model.nv)
    q = np.tile(model.q_home, (len(times), 1))
    for harmonic in range(1, 6):
        phase = np.outer(times, 0.3 * harmonic * np.ones(model.nv)) * 2 * np.pi + 1.7 * joints * harmonic
        q += amplitude * np.sin(phase)
    return times, q


def record(model: dynamicsd.Model) -> tuple[Array, Array, Array]:
    """Makes a record of a robot that differs from the model: times, positions and noisy torques."""
    times, q = excitation(model)
    body = dynamicsd.Inertia(mass=3.0, center_of_mass=[0.0, 0.05, 0.1], rotational=[0.02, 0.0, 0.0, 0.02, 0.0, 0.02])
    hand = dynamicsd.Operation("attach_link", link=model.description.links[-1].name, name="forgotten", inertia=body)
    real = model.derive(f"{model.name}_real", hand, replace=True)
    motion = real.inverse_dynamics_trajectory(q, time=times, rates="quintic_spline")
    real.unload()
    assert motion.v is not None and motion.tau is not None  # The call derives the rates.
    friction = VISCOUS * motion.v + COULOMB * np.sign(motion.v)
    return times, q, motion.tau + friction + np.random.default_rng(1).normal(scale=NOISE, size=q.shape)


def read(path: str, model: dynamicsd.Model) -> tuple[Array, Array, Array]:
    """Reads a record from a CSV file."""
    table: Any = np.genfromtxt(path, delimiter=",", names=True, deletechars="")
    q, tau = (np.column_stack([table[f"{part}.{name}"] for name in model.joint_names]) for part in ("q", "tau"))
    return table["time"], q, tau


def predict(model: dynamicsd.Model, found: Identification, times: Array, q: Array) -> Array:
    """Predicts the torques: those of the rigid bodies of the model, and those of the estimated drives."""
    motion = model.inverse_dynamics_trajectory(q, time=times, rates="quintic_spline")
    assert motion.v is not None and motion.tau is not None
    drive = {term: np.array([getattr(fit, term) for fit in found.fits]) for term in ("viscous", "coulomb", "offset")}
    predicted: Array = motion.tau + drive["viscous"] * motion.v + drive["coulomb"] * np.sign(motion.v) + drive["offset"]
    return predicted


def plot(path: str, model: dynamicsd.Model, times: Array, measured: Array, predicted: Array) -> None:
    """Draws measured and predicted torques of each joint."""
    from matplotlib import pyplot  # Only plots need it.
    figure, axes = pyplot.subplots(model.nv, sharex=True, squeeze=False, figsize=(8, 2 * model.nv),
                                   layout="constrained")
    for joint, name in enumerate(model.joint_names):
        axes[joint, 0].plot(times, measured[:, joint], lw=3, alpha=0.5, label="measured")
        axes[joint, 0].plot(times, predicted[:, joint], "k", lw=0.7, label="predicted")
        axes[joint, 0].set(ylabel=f"{name}\ntorque [N m]")
    axes[0, 0].legend()
    axes[-1, 0].set(xlabel="time [s]")
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Parameters of a robot from its own motion.")
    parser.add_argument("--model", default="ur5")
    parser.add_argument("--motion", help="CSV file; default: a record that the example makes")
    parser.add_argument("--plot", help="file of the plot")
    options = parser.parse_args()
    with dynamicsd.connect(timeout=60) as client:
        model = client.model(options.model)
        times, q, tau = read(options.motion, model) if options.motion else record(model)
        found = model.identify(q, tau, times, cutoff=CUTOFF, name=f"{model.name}_identified", replace=True)
        identified = client.model(f"{model.name}_identified")
        print(f"{found.rank} parameters of {len(found.estimates)} from {len(times)} samples; mass of the model "
              f"{model.info.mass:.3f} kg, of the identified one {identified.info.mass:.3f} kg")
        for fit in found.fits:
            print(f"{fit.joint:22s} error {fit.model_error:8.3f} N m, after identification "
                  f"{fit.consistent_prediction:8.3f} N m; viscous {fit.viscous:.3f}, Coulomb {fit.coulomb:.3f}")
        if options.plot:
            plot(options.plot, model, times, tau, predict(identified, found, times, q))


if __name__ == "__main__":
    main()
