# SPDX-License-Identifier: BSD-2-Clause
"""Records from structures of C whose arrays have shapes of their own, and inputs of rollouts."""
from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from dynamicsd._client import ffi
from dynamicsd._convert import Keep, as_doubles, doubles, fill, integers, members_of, named, read
from dynamicsd._query import Query, as_rows
from dynamicsd.errors import InvalidArgument, text
from dynamicsd.records import (Array, BaseMotion, BaseParameter, BaseParameters, ComparedFormulation, Comparison,
                               ConstrainedMotion, Constraint, ContactSurface, Contribution, Description, Excess,
                               Excitation, Explanation, ExternalForce, Formulation, FormulationBlock, FormulationCost,
                               Identification, Inertia, JointFit, LimitUse, LinearEstimate, MachineElement,
                               MotionAgreement, MotorSummary, Motors, Outcome, PassiveForces, Replay, Rollout,
                               ScrewChain, State, Stepping, Trajectory)

T = TypeVar("T")

_NULL = ffi.NULL


def copied(pointer: Any, *shape: int) -> Array:
    """Copy of an array of C; empty for NULL."""
    if pointer == _NULL or 0 in shape:
        return np.empty(0)
    values = np.frombuffer(ffi.buffer(pointer, 8 * math.prod(shape)), dtype=np.float64)
    return values.reshape(shape).copy()


def optional(pointer: Any, owner: Any, *shape: int) -> Array | None:
    """Array over memory of C; None for NULL."""
    return None if pointer == _NULL else doubles(pointer, math.prod(shape), owner).reshape(shape)


def unpacked(pointer: Any, count: int) -> tuple[Any, ...]:
    """Numbers of an array of C."""
    return tuple(ffi.unpack(pointer, count)) if pointer != _NULL and count else ()


def strings(pointer: Any, count: int) -> tuple[str, ...]:
    """Strings of an array of C."""
    return tuple(map(text, ffi.unpack(pointer, count))) if pointer != _NULL and count else ()


def records(cls: type[T], pointer: Any, count: int) -> tuple[T, ...]:
    """Records of an array of C."""
    return tuple(read(cls, pointer[i]) for i in range(count))


def rows_of(query: Query, field: str, value: Any, width: int) -> Array:
    """Rows whose number differs from that of the states."""
    rows = as_rows(field, value, lambda: query.names(field))
    rows = rows.reshape(1, -1) if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.shape[1] != width or rows.shape[0] == 0:
        raise InvalidArgument(f"has the shape {rows.shape}, but (rows, {width}) is needed", field=field)
    return rows


def description(found: Any) -> Description:
    """Description of a model. Coordinates have the sizes of the model."""
    nq, nv = found.model.nq, found.model.nv
    return read(Description, found, zero_q=copied(found.zero_q, nq), home_q=copied(found.home_q, nq),
                q_names=strings(found.q_names, nq), v_names=strings(found.v_names, nv),
                constraints=records(Constraint, found.constraints, found.constraint_count),
                machine_elements=records(MachineElement, found.machine_elements, found.machine_element_count),
                contact_surfaces=records(ContactSurface, found.contact_surfaces, found.contact_surface_count),
                passive_joints=strings(found.passive_joints, found.passive_joint_count))


def screws(found: Any) -> ScrewChain:
    """Screws of a serial chain."""
    n = found.n
    return ScrewChain(text(found.name), n, copied(found.Mlist, n + 1, 4, 4), copied(found.Glist, n, 6, 6),
                      copied(found.Slist, 6, n))


def constrained_motion(query: Query, motion: Any) -> ConstrainedMotion:
    """Accelerations and constraint forces over the memory of C."""
    n, m, nv = motion.samples, motion.rows, query.model.nv
    method = named("dyn_client_constraint_method").name(int(motion.method))
    forces = doubles(motion.multipliers, n * m, motion) if m else np.empty(0)
    return ConstrainedMotion(doubles(motion.a, n * nv, motion).reshape(query.shape(nv)),
                             forces.reshape(query.shape(m)), integers(motion.ranks, n).reshape(query.shape()),
                             doubles(motion.residuals, n, motion).reshape(query.shape()),
                             doubles(motion.conditions, n, motion).reshape(query.shape()), method)


def _contributions(entries: Any, count: int, nv: int) -> tuple[Contribution, ...]:
    """Contributions of links or payloads."""
    return tuple(read(Contribution, each, inertial=copied(each.inertial, nv), coriolis=copied(each.coriolis, nv),
                      gravity=copied(each.gravity, nv)) for each in entries[0:count])


def passive_forces(counted: Any) -> PassiveForces | None:
    """Passive forces that a result counts."""
    return None if counted == _NULL else read(PassiveForces, counted)


def explanation(found: Any) -> Explanation:
    """Torques by term and by link."""
    nv = found.nv
    terms = {text(term.name): copied(term.tau, nv) for term in found.terms[0:found.term_count]}
    return Explanation(strings(found.joints, nv), strings(found.units, nv), copied(found.tau, nv), terms,
                       _contributions(found.links, found.link_count, nv),
                       _contributions(found.payloads, found.payload_count, nv), found.residual,
                       passive_forces(found.counted_passive_forces),
                       None if found.agreement == _NULL else read(MotionAgreement, found.agreement))


def formulation(query: Query, found: Any) -> Formulation:
    """Inner quantities of a formulation."""
    blocks = {}
    for block in found.blocks[0:found.block_count]:
        name = text(block.name)
        values = copied(block.values, *query.shape(*block.extents[0:block.dimensions]))
        blocks[name] = FormulationBlock(name, text(block.meaning), values, text(block.unit), text(block.frame),
                                        text(block.equation), strings(block.axes, block.dimensions))
    return Formulation(text(found.source), copied(found.tau, *query.shape(found.nv)), blocks)


def comparison(found: Any) -> Comparison:
    """Results of all formulations."""
    compared = []
    for each in found.formulations[0:found.formulation_count]:
        if each.refusal != _NULL and text(each.refusal):
            refused = (text(each.name), text(each.source), text(each.refusal))
            compared.append(ComparedFormulation(*refused, None, None, None, None, None, None))
        else:
            nv = found.nv
            inverse, forward, mass = (read(FormulationCost, cost)
                                      for cost in (each.inverse_dynamics, each.forward_dynamics, each.mass_matrix))
            tau, a, M = (None if values == _NULL else copied(values, *shape)
                         for values, shape in ((each.tau, (nv,)), (each.a, (nv,)), (each.M, (nv, nv))))
            compared.append(ComparedFormulation(text(each.name), text(each.source), "", tau, a, inverse, forward,
                                                mass, M))
    return Comparison(compared)


def base_parameters(found: Any) -> BaseParameters:
    """Standard and base parameters."""
    rows = tuple(BaseParameter(row.column, row.value, text(row.unit), integers(row.columns, row.term_count),
                               copied(row.factors, row.term_count)) for row in found.rows[0:found.count])
    return BaseParameters(strings(found.bodies, found.body_count), strings(found.names, 10),
                          copied(found.values, found.body_count, 10), rows)


def identification(found: Any) -> Identification:
    """Estimates from a recorded motion."""
    estimates = tuple(read(LinearEstimate, each) for each in found.estimates[0:found.estimate_count])
    fits = tuple(read(JointFit, each) for each in found.fits[0:found.fit_count])
    return Identification(estimates, found.rank, found.condition, fits, strings(found.bodies, found.body_count),
                          copied(found.parameters, found.body_count, 10),
                          strings(found.replaced_priors, found.replaced_count), bool(found.is_converged),
                          int(found.iterations), read(Inertia, found.payload) if found.has_payload else None)


def excitation(found: Any) -> Excitation:
    """Exciting motion."""
    uses = tuple(read(LimitUse, each) for each in found.uses[0:found.nv])
    return Excitation(copied(found.time, found.rows), copied(found.q, found.rows, found.nq),
                      copied(found.v, found.rows, found.nv), copied(found.a, found.rows, found.nv),
                      copied(found.tau, found.rows, found.nv), found.estimates, found.rank, found.condition,
                      found.log_determinant, uses, found.trials)


def motors(found: Any) -> Motors:
    """Motors of a motion."""
    shape = (found.samples, found.motor_count)
    names = ("load", "speed", "torque", "current", "voltage", "electrical_power", "mechanical_power", "heat",
             "gear_loss", "torque_margin", "speed_margin", "temperature")
    arrays = {name: copied(getattr(found, name), *shape) for name in names}
    quadrant = integers(found.quadrant, found.samples * found.motor_count).reshape(shape)
    summaries = tuple(read(MotorSummary, each) for each in found.motors[0:found.motor_count])
    alternatives = tuple(read(MotorSummary, each) for each in found.alternatives[0:found.alternative_count])
    choices = tuple(read(MotorSummary, each) for each in found.choices[0:found.choice_count])
    return Motors(summaries, bool(found.is_feasible), quadrant=quadrant, alternatives=alternatives, choices=choices,
                  brake_torque=copied(found.brake_torque, *shape) if found.brake_torque else None, **arrays)


def write_stepping(keep: Keep, struct: Any, stepping: Stepping) -> None:
    """Fills the method of integration."""
    fill(keep, struct, "stepping", **members_of(stepping))


class RolloutInputs:
    """Inputs of a rollout, whose layouts follow from their shapes."""

    def __init__(self, query: Query, request: Any, steps: int | None, hold: str) -> None:
        self.query = query
        self.request = request
        self.steps = steps
        self.extra = 1 if hold == "linear" else 0

    def _rows(self, field: str, value: Any, width: int, layout: str | None, extra: int) -> tuple[Any, str]:
        """Pointer to rows, and their layout."""
        array = as_rows(field, value, lambda: self.query.names(field))
        n = self.query.samples
        if layout is None:
            layout = {1: "constant", 2: "shared"}.get(array.ndim, "each")
        if layout == "constant" and array.shape == (width,):
            array = np.ascontiguousarray(np.broadcast_to(array, (n, width)))
        if layout == "each" and array.ndim == 2 and n == 1:
            array = array.reshape(1, *array.shape)
        if layout != "constant" and self.steps is None and array.ndim >= 2:
            self.steps = array.shape[-2] - extra
        rows = (self.steps or 0) + extra
        needed = {"constant": (n, width), "shared": (rows, width), "each": (n, rows, width)}.get(layout)
        if needed is None:
            raise InvalidArgument(f"{layout!r} is none of each, shared, constant", field=f"{field}_layout")
        return self.query.keep.doubles(field, array, needed), layout

    def set_tau(self, value: Any, layout: str | None) -> None:
        """Sets the joint forces."""
        if value is not None:
            self.request.tau, layout = self._rows("tau", value, self.query.model.nv, layout, self.extra)
            self.request.tau_layout = named("dyn_client_layout").number("tau_layout", layout)

    def set_reference(self, references: dict[str, Any], layout: str | None) -> None:
        """Sets the references of the controller."""
        model, found = self.query.model, layout
        for field, value in references.items():
            if value is not None:
                width = model.nq if field == "q_ref" else model.nv
                pointer, found = self._rows(field, value, width, layout or found, 0)
                setattr(self.request, field, pointer)
                self.request.reference_layout = named("dyn_client_layout").number("reference_layout", found)

    def steps_or_fail(self) -> int:
        """Number of steps."""
        if self.steps is None:
            raise InvalidArgument("is needed where tau does not have a row for each step", field="steps")
        return self.steps


def rollout(query: Query, found: Any) -> Rollout:
    """Motions over the memory of C."""
    model, rows, surfaces = query.model, found.rows, found.contact_surface_count
    def motion(pointer: Any, *width: int) -> Array | None:
        return optional(pointer, found, *query.shape(rows, *width))
    q, v = motion(found.q, model.nq), motion(found.v, model.nv)
    return Rollout(doubles(found.time, rows, found), q if q is not None else np.empty(0),
                   v if v is not None else np.empty(0), motion(found.tau, model.nv), motion(found.kinetic),
                   motion(found.potential), tuple(read(Outcome, each) for each in found.outcomes[0:found.samples]),
                   text(found.computed_with), motion(found.contact_forces, surfaces, 3),
                   motion(found.contact_gaps, surfaces), motion(found.contact_slips, surfaces),
                   named("dyn_client_constraint_method").name(int(found.constraint_method)))


def trajectory(query: Query, found: Any) -> Trajectory:
    """Rows over the memory of C."""
    rows, nq, nv = found.rows, query.model.nq, query.model.nv
    return Trajectory(optional(found.time, found, rows), optional(found.q, found, rows, nq),
                      optional(found.v, found, rows, nv), optional(found.a, found, rows, nv),
                      optional(found.tau, found, rows, nv), found.diverged_row, text(found.diverged_joint),
                      tuple(read(Excess, each) for each in found.excesses[0:found.excess_count]),
                      text(found.constraint), found.closure_error, optional(found.residuals, found, rows))


def base_motion(found: Any) -> BaseMotion | None:
    """Motion of the base of a simulation; None: none was set."""
    if found == ffi.NULL:
        return None
    return BaseMotion(*(copied(values, 3) for values in (found.linear_velocity, found.angular_velocity,
                                                         found.linear_acceleration, found.angular_acceleration)))


def state(found: Any) -> State:
    """State of a simulation."""
    forces = tuple(read(ExternalForce, each, force=copied(each.force, 3), torque=copied(each.torque, 3))
                   for each in found.external_forces[0:found.external_force_count])
    return read(State, found, q=copied(found.q, found.nq), v=copied(found.v, found.nv), tau=copied(found.tau, found.nv),
                contact_forces=copied(found.contact_forces, found.surfaces, 3),
                contact_gaps=copied(found.contact_gaps, found.surfaces),
                contact_slips=copied(found.contact_slips, found.surfaces),
                external_forces=forces, base_motion=base_motion(found.base_motion))


def replay(found: Any) -> Replay:
    """Recorded run."""
    n = found.count
    return read(Replay, found, step=integers(found.step, n), q=copied(found.q, n, found.nq),
                v=copied(found.v, n, found.nv), tau=copied(found.tau, n, found.nv))
