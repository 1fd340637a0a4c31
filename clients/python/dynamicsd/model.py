# SPDX-License-Identifier: BSD-2-Clause
"""A model of the daemon, and everything that is computed with it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import ArrayLike

from dynamicsd import _results
from dynamicsd._client import ffi, lib
from dynamicsd._convert import (Keep, characters, doubles, fill, listed, members_of, named, read,
                                room, whole)
from dynamicsd._query import EvaluateOptions, Options, Query, RecordOptions, Rows, taken
from dynamicsd._session import Progress, Session, Watch, seconds
from dynamicsd.errors import InvalidArgument, text
from dynamicsd.evaluation import ARRAYS, Asked, Evaluation
from dynamicsd.records import (Array, Assembly, AssemblyOutcome, BaseParameters, Comparison, ConstrainedMotion,
                               Description, Excitation, Explanation, FlexibleLink, Formulation, Identification,
                               ModelDescription, ModelInfo, MotorChoice, Motors, Operation, ReportEntry, Rollout,
                               ScrewChain, Stepping, Tip, Trajectory)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dynamicsd.client import Client

_NULL = ffi.NULL
_gc = ffi.gc
_evaluate, _free_evaluation = lib.dynamicsd_evaluate, lib.dyn_client_evaluation_free


class Model:
    """Model that the daemon holds. Client.model and Client.load return one. All threads may use it at once.

    Arrays are rows of doubles: q is (nq,) or (n, nq); v, a and tau are (nv,) or (n, nv). A call with one row returns
    results without the first dimension. n states take one message and one round trip. Arrays of float64 in C order are
    used where they are; others are converted. v, a and tau that are None are zeros. `out` is an array for the result,
    which the call then returns. The keyword arguments of dynamicsd.Options apply to all calls that compute.

    Units are SI (m, kg, s, rad, N, N m). With a floating base q is the position, then the quaternion x y z w; v is
    linear, then angular velocity, both in the base's axes.

    >>> arm = client.model("two_link")
    >>> arm.inverse_dynamics([0.0, 0.0])
    array([29.43,  9.81])
    """

    client: Client
    session: Session
    name: str
    c_name: Any
    nq: int
    nv: int
    description: Description
    report: tuple[ReportEntry, ...]

    def __init__(self, client: Client, description: Description, report: tuple[ReportEntry, ...] = ()) -> None:
        self.client = client
        self.session = client.session
        self.name = description.model.name
        self.c_name = ffi.new("char[]", self.name.encode())
        self.nq = description.model.nq
        self.nv = description.model.nv
        self.description = description
        self.report = report or description.report
        self.idle_queries: dict[tuple[str, ...], list[Query]] = {}  # by the names of their options
        self._is_constrained = description.model.constraint_rows > 0

    @property
    def info(self) -> ModelInfo:
        """Summary of the model as it was when this object was made."""
        return self.description.model

    @property
    def digest(self) -> str:
        """Digest that identifies the model in any daemon."""
        return self.info.digest

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, in the order of q and v."""
        return tuple(joint.name for joint in self.description.joints)

    @property
    def q_home(self) -> Array:
        """Configuration inside the limits: nq values."""
        return self.description.home_q.copy()

    @property
    def q_zero(self) -> Array:
        """Configuration of zeros and identity quaternions: nq values."""
        return self.description.zero_q.copy()

    def coordinate_names(self, of_q: bool, order: Sequence[str] = ()) -> list[str]:
        """Names of the coordinates of q or v, in the order of the named joints."""
        names = self.description.q_names if of_q else self.description.v_names
        if not order:
            return list(names)
        spans = {joint.name: (joint.q_index, joint.nq) if of_q else (joint.v_index, joint.nv)
                 for joint in self.description.joints}
        return [names[i] for joint in order if joint in spans
                for i in range(spans[joint][0], sum(spans[joint]))]

    def __repr__(self) -> str:
        info = self.info
        return f"<Model {self.name!r}: nq {self.nq}, nv {self.nv}, {info.mass:g} kg, {info.base} base>"

    def _repr_html_(self) -> str:
        return self.description._repr_html_()

    def describe(self, timeout: float = 0) -> Description:
        """Returns everything that the daemon knows about the model now: joints, limits, links, frames, report.

        >>> [link.name for link in client.model("two_link").describe().links]
        ['base', 'link1', 'link2', 'tip']
        """
        return self.client.describe(self.name, timeout=timeout)

    def unload(self, timeout: float = 0) -> None:
        """Unloads the model from the daemon.

        >>> stiff = client.model("two_link").derive("stiff", Operation("lock_joints", joints=["joint2"]))
        >>> stiff.unload()
        """
        self.client.unload(self.name, timeout=timeout)

    # ---- dynamics ----------------------------------------------------------------------------------------------------

    def inverse_dynamics(self, q: Rows, v: Rows | None = None, a: Rows | None = None, *, out: Array | None = None,
                         **options: Unpack[Options]) -> Array:
        """Computes the joint forces tau for the motion (q, v, a): tau = M a + C v + g - J' f_ext.

        q is (n, nq); v and a are (n, nv), in rad/s and rad/s^2; the result is (n, nv), in N m and N. v and a that are
        left out are zeros, each for itself: with v alone the result is that of bias_forces.

        >>> client.model("two_link").inverse_dynamics([0.0, 0.0], [1.0, 0.0], [0.0, 0.0]).round(6)
        array([29.43,  9.81])
        """
        query = Query.of(self, options)
        arguments = (query.of_q("q", q), _NULL if v is None else query.of_v("v", v),
                     _NULL if a is None else query.of_v("a", a))
        return query.compute(lib.dyn_client_inverse_dynamics, arguments, out, self.nv)

    def forward_dynamics(self, q: Rows, v: Rows | None = None, tau: Rows | None = None, *, out: Array | None = None,
                         **options: Unpack[Options]) -> Array:
        """Computes the accelerations a that the joint forces tau cause.

        q is (n, nq); v and tau are (n, nv); the result is (n, nv), in rad/s^2 and m/s^2. A singular mass matrix is a
        FailedPrecondition.

        >>> arm = client.model("two_link")
        >>> arm.forward_dynamics([0.0, 0.0], tau=[29.43, 9.81]).round(9) + 0.0
        array([0., 0.])
        """
        query = Query.of(self, options)
        arguments = (query.of_q("q", q), _NULL if v is None else query.of_v("v", v),
                     _NULL if tau is None else query.of_v("tau", tau))
        return query.compute(lib.dyn_client_forward_dynamics, arguments, out, self.nv)

    def constrained_forward_dynamics(self, q: Rows, v: Rows | None = None, tau: Rows | None = None, *,
                                     method: str = "auto", stabilization: float = 0.0,
                                     tolerance: float = 0.0, **options: Unpack[Options]) -> ConstrainedMotion:
        """Computes accelerations and the forces of the constraints of a model with closed loops.

        `method` is "auto", "full_system", "multipliers", "elimination", "articulated_bodies" or "embedding";
        `stabilization` is Baumgarte's k in 1/s. Constraints that contradict each other by more than `tolerance`, a
        share of their terms, are an error: 0 stands for 0.01, and 1 accepts all.

        >>> ends = [dynamicsd.CoupledCoordinate("joint1", 1.0), dynamicsd.CoupledCoordinate("joint2", -1.0)]
        >>> geared = dynamicsd.Constraint("geared", "coupling", coupled=ends)
        >>> motion = client.model("two_link").constrained_forward_dynamics([0.0, 0.0], constraints=[geared])
        >>> motion.a.round(6)
        array([-3.924, -3.924])
        """
        query = Query(self, options)
        arguments = query.pointers(("q", "v", "tau"), (q, v, tau))
        chosen = query.keep.new("dyn_client_constraint_options *")
        fill(query.keep, chosen, "options", method=method, stabilization=stabilization, tolerance=tolerance)
        motion = query.result("dyn_client_constrained_motion", lib.dyn_client_constrained_forward_dynamics, *arguments,
                              chosen)
        return _results.constrained_motion(query, motion)

    def mass_matrix(self, q: Rows, *, out: Array | None = None, **options: Unpack[Options]) -> Array:
        """Computes the joint-space inertia matrix M(q): (n, nv, nv) with both triangles, from q of (n, nq).

        >>> client.model("two_link").mass_matrix([[0.0, 0.0]])
        array([[[5., 2.],
                [2., 1.]]])
        """
        query = Query.of(self, options)
        return query.compute(lib.dyn_client_mass_matrix, (query.of_q("q", q),), out, self.nv, self.nv)

    def gravity(self, q: Rows, *, out: Array | None = None, **options: Unpack[Options]) -> Array:
        """Computes the forces that hold the robot at rest: (n, nv), in N m and N, from q of (n, nq).

        The keyword `gravity` replaces the model's own vector, 3 values in m/s^2.

        >>> client.model("two_link").gravity([0.0, 0.0], gravity=[0.0, 0.0, -1.0])
        array([3., 1.])
        """
        query = Query.of(self, options)
        return query.compute(lib.dyn_client_gravity, (query.of_q("q", q),), out, self.nv)

    def bias_forces(self, q: Rows, v: Rows | None = None, *, out: Array | None = None,
                    **options: Unpack[Options]) -> Array:
        """Computes h(q, v) = C v + g, the Coriolis, centrifugal and gravity forces: (n, nv), in N m and N.

        >>> client.model("two_link").bias_forces([0.0, 0.0])
        array([29.43,  9.81])
        """
        query = Query.of(self, options)
        arguments = query.pointers(("q", "v"), (q, v))
        return query.compute(lib.dyn_client_bias_forces, arguments, out, self.nv)

    # Names of the same functions in other libraries: RNEA, CRBA and ABA in Pinocchio and the literature; rne, gravload
    # and accel in the Robotics Toolbox.
    rnea = inverse_dynamics
    rne = inverse_dynamics
    crba = mass_matrix
    aba = forward_dynamics
    accel = forward_dynamics
    gravload = gravity

    def evaluate(self, quantities: Asked | Sequence[Asked], q: Rows, *, v: Rows | None = None, a: Rows | None = None,
                 **options: Unpack[EvaluateOptions]) -> Evaluation:
        """Computes any set of quantities for the same states in one round trip.

        `quantities` are names (dynamicsd.quantities lists them) or Quantity objects with a subject. The keyword
        arguments are those of dynamicsd.EvaluateOptions: `tau`, the directions `dq`, `dv`, `da` and `dtau`, `frames`,
        `reference_frame` and `contact_step` beside those of all calls. An array that no quantity depends on is refused.
        The arrays of the result lie in the reply's own memory.

        >>> arm = client.model("two_link")
        >>> found = arm.evaluate(["mass_matrix", "kinetic_energy"], q=[0.0, 0.0], v=[1.0, 0.0])
        >>> found.mass_matrix.tolist(), float(found["kinetic_energy"])
        ([[5.0, 2.0], [2.0, 1.0]], 2.5)
        """
        own = taken(options) if options else {}
        query = Query.of(self, options)
        request = query.request
        arguments = (query.struct, request.struct, query.of_q("q", q), _NULL if v is None else query.of_v("v", v),
                     _NULL if a is None else query.of_v("a", a), request.found)
        others = query.pointers(ARRAYS, [own.get(name) for name in ARRAYS]) if own else ()
        request.write(quantities, own, others)
        self.session.invoke(_evaluate, arguments, query.watch, query.error)
        found = Evaluation(_gc(request.found[0], _free_evaluation), query.leading, query.layouts)
        query.end()
        return found

    def explain(self, q: Rows, v: Rows | None = None, a: Rows | None = None,
                **options: Unpack[Options]) -> Explanation:
        """Splits the torques of one motion by term (inertial, Coriolis, gravity) and by link.

        >>> terms = client.model("two_link").explain([0.0, 0.0]).terms
        >>> terms["gravity"]
        array([29.43,  9.81])
        """
        query = Query(self, options)
        arguments = query.pointers(("q", "v", "a"), (q, v, a))
        return _results.explanation(query.result("dyn_client_explanation", lib.dyn_client_explain, *arguments))

    def compare(self, q: Rows, v: Rows | None = None, a: Rows | None = None,
                **options: Unpack[Options]) -> Comparison:
        """Computes one motion by the daemon's own algorithms ("kernels", the first) and by every formulation. For a
        model with constraints the accelerations are those with them, the forces and the mass matrix those of the
        tree.

        >>> compared = client.model("two_link").compare([0.0, 0.0])
        >>> compared[0].name, compared[0].tau
        ('kernels', array([29.43,  9.81]))
        """
        query = Query(self, options)
        arguments = query.pointers(("q", "v", "a"), (q, v, a))
        return _results.comparison(query.result("dyn_client_comparison", lib.dyn_client_compare, *arguments))

    def formulate(self, formulation: str, /, q: Rows, v: Rows | None = None, a: Rows | None = None, *,
                  flexible_links: Sequence[FlexibleLink] = (), mode_q: ArrayLike | None = None,
                  mode_v: ArrayLike | None = None, mode_a: ArrayLike | None = None, tau: Rows | None = None,
                  mode_tau: ArrayLike | None = None, **options: Unpack[Options]) -> Formulation:
        """Computes the inner quantities of a formulation of the literature, such as "lagrange_euler".

        "book_flexible" takes links that bend, and the coordinates of their modes, one for each mode, in rows for
        several states. With the forces tau or mode_tau, the block "a" has the accelerations that they cause.

        >>> client.model("two_link").formulate("lagrange_euler", [0.0, 0.0]).tau.round(6)
        array([29.43,  9.81])
        """
        of_modes = (("mode_q", mode_q), ("mode_v", mode_v), ("mode_a", mode_a), ("mode_tau", mode_tau))
        for name, values in (("tau", tau), *of_modes):
            if values is not None and not flexible_links:
                raise ValueError(f"{name} needs flexible_links")
        query = Query(self, {**options, "formulation": formulation})
        arguments = query.pointers(("q", "v", "a"), (q, v, a))
        if flexible_links:
            chain = query.keep.new("dyn_client_flexible_chain *")
            modes = sum(link.modes * (2 if link.transverse_rigidity else 1) for link in flexible_links)
            fill(query.keep, chain, "", links=flexible_links)
            if tau is not None:
                chain.tau = query.rows("tau", tau)
            for name, values in of_modes:
                if values is not None:
                    setattr(chain, name, query.keep.doubles(name, values, query.shape(modes)))
            return _results.formulation(
                query, query.result("dyn_client_formulation", lib.dyn_client_formulate_flexible, chain, *arguments))
        return _results.formulation(
            query, query.result("dyn_client_formulation", lib.dyn_client_formulate, *arguments))

    def base_parameters(self, **options: Unpack[Options]) -> BaseParameters:
        """Finds the base parameters: the combinations of inertial parameters that the motion depends on.

        >>> len(client.model("two_link").base_parameters().rows) > 0
        True
        """
        query = Query(self, options)
        query.start(1)
        return _results.base_parameters(
            query.result("dyn_client_base_parameters", lib.dyn_client_find_base_parameters))

    def identify(self, q: Rows, tau: Rows, time: ArrayLike | None = None, *, v: Rows | None = None,
                 a: Rows | None = None, gains: ArrayLike | None = None, cutoff: float = 0.0,
                 torque_cutoff: float = 0.0, estimator: str = "ordinary",
                 drive_terms: Sequence[str] = ("viscous", "coulomb", "offset"), drives_only: bool = False,
                 friction_velocity: float = 0.0, prior: float = 0.0, folds: int = 5, links: Sequence[str] = (),
                 payload_link: str | None = None, load: ArrayLike | None = None, stribeck_velocity: float = 0.0,
                 estimate_gains: bool = False, name: str | None = None, replace: bool = False,
                 **options: Unpack[RecordOptions]) -> Identification:
        """Estimates inertial parameters and friction from a motion: q (n, nq) at `time` (n,), in s, and torques tau.

        v and a are derived from q after a low-pass filter without delay, whose cut-off frequency `cutoff` is in Hz,
        unless both are given. `estimator` is "ordinary", "weighted", "huber" or "total", which expects errors of v and
        a and, to derive them, a `cutoff`. The inertias of `links` alone are sought, or that of a payload on
        `payload_link`. The options external_forces and payloads are known loads; `load` (n,) has the share of the
        payloads that each row carries.
        `estimate_gains` seeks the gains that are 0, or all without `gains`. With `name`, the daemon loads a model with
        the consistent estimate, which `client.model(name)` returns.

        >>> time = np.linspace(0, 5, 500)
        >>> q = np.column_stack([np.sin(2 * time), np.sin(3 * time + 1) + np.sin(time)])
        >>> arm = client.model("two_link")
        >>> tau = arm.inverse_dynamics_trajectory(q, time=time, rates="quintic_spline").tau
        >>> found = arm.identify(q, tau, time)
        >>> bool(found.fits[0].prediction < 1e-4)
        True
        """
        query = Query(self, options)
        request = query.keep.new("dyn_client_identify_request *")
        fill(query.keep, request, "request", cutoff=cutoff, torque_cutoff=torque_cutoff, drives_only=drives_only,
             friction_velocity=friction_velocity, prior=prior, folds=folds, name=name, replace=replace,
             ignore_drives=not drive_terms and not drives_only, payload_link=payload_link,
             stribeck_velocity=stribeck_velocity, estimate_gains=estimate_gains)
        request.estimator = named("dyn_client_estimator").number("estimator", estimator)
        request.q, request.tau = query.rows("q", q), query.rows("tau", tau)
        request.v, request.a = query.rows("v", v), query.rows("a", a)
        if time is not None:
            request.time = query.keep.doubles("time", time, (query.samples,))
        if gains is not None:
            request.gains = query.keep.doubles("gains", gains, (self.nv,))
        if load is not None:
            request.load = query.keep.doubles("load", load, (query.samples,))
        sought = listed("links", links) if links else ()
        request.links = query.keep.strings(sought) if sought else _NULL
        request.link_count = len(sought)
        terms = [named("dyn_client_drive_term").number("drive_terms", term) for term in listed("drive_terms",
                                                                                               drive_terms)]
        request.drive_terms = query.keep.new("dyn_client_drive_term[]", terms) if terms else _NULL
        request.drive_term_count = len(terms)
        return _results.identification(query.result("dyn_client_identification", lib.dyn_client_identify, request))

    def excite(self, *, criterion: str = "condition", harmonics: int = 5, period: float = 10.0, rate: float = 100.0,
               margin: float = 0.1, trials: int = 1500, seed: int = 0,
               drive_terms: Sequence[str] = ("viscous", "coulomb", "offset"), drives_only: bool = False,
               friction_velocity: float = 0.0, stribeck_velocity: float = 0.0, links: Sequence[str] = (),
               payload_link: str | None = None, **options: Unpack[Options]) -> Excitation:
        """Searches a motion from which `identify` finds the parameters well, within the limits of the joints.

        Each joint moves as a Fourier series of `harmonics` with the period in s, and `rate` rows a second. `criterion`
        is "condition" or "determinant"; `margin` is the share of each limit that is left.

        >>> arm = client.model("two_link")
        >>> motion = arm.excite(period=5, trials=50)
        >>> motion.q.shape, motion.rank == motion.estimates
        ((500, 2), True)
        """
        query = Query(self, options)
        query.start(1)
        request = query.keep.new("dyn_client_excite_request *")
        fill(query.keep, request, "request", harmonics=harmonics, period=period, rate=rate, margin=margin,
             trials=trials, seed=seed, drives_only=drives_only, friction_velocity=friction_velocity,
             ignore_drives=not drive_terms and not drives_only, payload_link=payload_link,
             stribeck_velocity=stribeck_velocity)
        request.criterion = named("dyn_client_excitation_criterion").number("criterion", criterion)
        terms = [named("dyn_client_drive_term").number("drive_terms", term) for term in listed("drive_terms",
                                                                                               drive_terms)]
        request.drive_terms = query.keep.new("dyn_client_drive_term[]", terms) if terms else _NULL
        request.drive_term_count = len(terms)
        sought = listed("links", links) if links else ()
        request.links = query.keep.strings(sought) if sought else _NULL
        request.link_count = len(sought)
        return _results.excitation(query.result("dyn_client_excitation", lib.dyn_client_excite, request))

    def evaluate_motors(self, q: Rows, v: Rows | None = None, a: Rows | None = None, time: ArrayLike | None = None, *,
                        tau: Rows | None = None, ambient_temperature: float = 25.0,
                        start_temperature: float | None = None, ratios: ArrayLike | None = None,
                        brakes: Sequence[str] = (), choices: Sequence[MotorChoice] = (),
                        **options: Unpack[RecordOptions]) -> Motors:
        """Evaluates the motors along a motion: current, voltage, power, heat, temperature, and limits.

        Without `tau`, the forces of the joints are those of inverse dynamics. Without `time`, in s, the samples are
        independent. `ratios` are other ratios of the gears, whose summaries are the alternatives, `brakes` the names
        of those that are engaged, and `choices` motors and gears to choose from.

        >>> rod = dynamicsd.Link("rod", dynamicsd.Inertia(1.0, rotational=[1, 0, 0, 1, 0, 1]))
        >>> motor = dynamicsd.Motor(resistance=0.5, torque_constant=0.05)
        >>> driven = client.load(dynamicsd.ModelDescription(
        ...     "driven", [dynamicsd.Link("base"), rod], [dynamicsd.Joint("hinge", "continuous", "base", "rod")],
        ...     machine_elements=[dynamicsd.MachineElement("motor", "hinge", "motor", motor=motor)]))
        >>> found = driven.evaluate_motors([[0.0]], [[1.0]], [[2.0]])
        >>> found.torque.round(6), found.current.round(6)
        (array([[2.]]), array([[40.]]))
        >>> driven.unload()
        """
        query = Query(self, options)
        request = query.keep.new("dyn_client_motors_request *")
        start = ambient_temperature if start_temperature is None else start_temperature
        fill(query.keep, request, "request", ambient_temperature=ambient_temperature, start_temperature=start,
             choices=choices or None)
        request.q = query.rows("q", q)
        request.v, request.a = query.rows("v", v), query.rows("a", a)
        request.tau = query.rows("tau", tau)
        if time is not None:
            request.time = query.keep.doubles("time", time, (query.samples,))
        if ratios is not None:
            request.ratios, request.ratio_count = query.keep.array("ratios", ratios)
        if brakes:
            request.brakes, request.brake_count = query.keep.strings(brakes), len(brakes)
        return _results.motors(query.result("dyn_client_motors", lib.dyn_client_evaluate_motors, request))

    # ---- configurations ----------------------------------------------------------------------------------------------

    def integrate(self, q: Rows, v: Rows, step_length: float = 1.0, *, out: Array | None = None,
                  **options: Unpack[Options]) -> Array:
        """Computes the configurations after motions with the constant velocity v for `step_length` seconds.

        q and the result are (n, nq), in rad and m; v is (n, nv), in rad/s and m/s.

        >>> client.model("two_link").integrate([0.0, 0.0], [1.0, 2.0], 0.5)
        array([0.5, 1. ])
        """
        query = Query.of(self, options)
        arguments = (query.rows("q", q), query.rows("v", v), step_length)
        return query.compute(lib.dyn_client_integrate, arguments, out, self.nq)

    def difference(self, q: Rows, q_1: Rows, *, out: Array | None = None, **options: Unpack[Options]) -> Array:
        """Computes the shortest velocity, (n, nv) in rad/s and m/s, that leads from q to q_1, (n, nq), in one second.

        >>> client.model("two_link").difference([0.0, 0.0], [1.0, 2.0])
        array([1., 2.])
        """
        query = Query.of(self, options)
        arguments = query.pointers(("q", "q_1"), (q, q_1))
        return query.compute(lib.dyn_client_difference, arguments, out, self.nv)

    def interpolate(self, q: Rows, q_1: Rows, s: ArrayLike, *, out: Array | None = None,
                    **options: Unpack[Options]) -> Array:
        """Computes the configurations at the part s of the way from q to q_1. s has one value, or one for each row.

        >>> client.model("two_link").interpolate([0.0, 0.0], [1.0, 2.0], 0.5)
        array([0.5, 1. ])
        """
        query = Query.of(self, options)
        first, last = query.rows("q", q), query.rows("q_1", q_1)
        part, count = query.keep.array("s", s)
        return query.compute(lib.dyn_client_interpolate, (first, last, count, part), out, self.nq)

    def distance(self, q: Rows, q_1: Rows, *, out: Array | None = None, **options: Unpack[Options]) -> Array:
        """Computes the norm of difference(q, q_1): n numbers, or an array without dimensions for one row.

        >>> float(client.model("two_link").distance([0.0, 0.0], [3.0, 4.0]))
        5.0
        """
        query = Query.of(self, options)
        arguments = query.pointers(("q", "q_1"), (q, q_1))
        return query.compute(lib.dyn_client_distance, arguments, out)

    def normalize(self, q: Rows, *, out: Array | None = None, **options: Unpack[Options]) -> Array:
        """Scales the quaternions of configurations to norm one with w >= 0.

        >>> links = dynamicsd.Link("base"), dynamicsd.Link("ball", dynamicsd.Inertia(1, rotational=[1, 0, 0, 1, 0, 1]))
        >>> hip = dynamicsd.Joint("hip", "spherical", "base", "ball")
        >>> ball = client.load(dynamicsd.ModelDescription("ball", links, [hip]))
        >>> ball.normalize([0.0, 0.0, 3.0, 4.0])
        array([0. , 0. , 0.6, 0.8])
        >>> ball.unload()
        """
        query = Query.of(self, options)
        return query.compute(lib.dyn_client_normalize, (query.of_q("q", q),), out, self.nq)

    def neutral(self, samples: int | None = None, *, out: Array | None = None, **options: Unpack[Options]) -> Array:
        """Returns the zero configuration: (nq,), or (samples, nq).

        >>> client.model("two_link").neutral()
        array([0., 0.])
        """
        query = Query.of(self, options)
        query.start(1 if samples is None else whole("samples", samples, 1), samples is None)
        return query.compute(lib.dyn_client_neutral, (), out, self.nq)

    def random(self, samples: int | None = None, *, seed: int = 0, out: Array | None = None,
               **options: Unpack[Options]) -> Array:
        """Draws configurations within the limits: (nq,), or (samples, nq). Equal seeds return equal configurations.

        >>> client.model("ur5").random(1000, seed=1).shape
        (1000, 6)
        """
        query = Query.of(self, options)
        query.start(1 if samples is None else whole("samples", samples, 1), samples is None)
        return query.compute(lib.dyn_client_random, (whole("seed", seed),), out, self.nq)

    # ---- kinematics --------------------------------------------------------------------------------------------------

    def poses(self, q: Rows, frames: str | Sequence[str], **options: Unpack[Options]) -> tuple[Array, Array]:
        """Computes poses of frames in the world: positions and quaternions x y z w.

        With one name they are (n, 3) in m and (n, 4); with a list of k names (k, n, 3) and (k, n, 4).

        >>> position, _ = client.model("two_link").poses([0.0, 0.0], "link2")
        >>> position
        array([1., 0., 0.])
        """
        query = Query(self, options)
        pointer = query.rows("q", q)
        names = listed("frames", frames)
        position = np.empty((len(names), *query.shape(3)))
        quaternion = np.empty((len(names), *query.shape(4)))
        self.session.call(lib.dyn_client_poses, query.struct, pointer, len(names), query.keep.strings(names, "frames"),
                          ffi.from_buffer("double[]", position), ffi.from_buffer("double[]", quaternion),
                          watch=query.watch)
        return (position[0], quaternion[0]) if isinstance(frames, str) else (position, quaternion)

    def jacobians(self, q: Rows, frames: str | Sequence[str], reference_frame: str = "local",
                  **options: Unpack[Options]) -> tuple[Array, Array]:
        """Computes Jacobians of frames: linear and angular part, each (n, 3, nv), or (k, n, 3, nv) for a list of names.

        `reference_frame` is "local", "world" or "local_world_aligned". Columns of a
        revolute joint are m/rad and rad/rad, those of a prismatic one m/m and rad/m.

        >>> linear, angular = client.model("two_link").jacobians([0.0, 0.0], "tip", "local_world_aligned")
        >>> linear.round(9) + 0.0
        array([[0., 0.],
               [0., 0.],
               [2., 1.]])
        """
        query = Query(self, options)
        pointer = query.rows("q", q)
        names = listed("frames", frames)
        axes = named("dyn_client_reference_frame").number("reference_frame", reference_frame)
        linear = np.empty((len(names), *query.shape(3, self.nv)))
        angular = np.empty_like(linear)
        self.session.call(lib.dyn_client_jacobians, query.struct, pointer, len(names),
                          query.keep.strings(names, "frames"), axes,
                          ffi.from_buffer("double[]", linear), ffi.from_buffer("double[]", angular), watch=query.watch)
        return (linear[0], angular[0]) if isinstance(frames, str) else (linear, angular)

    def assemble(self, q: Rows, *, held_joints: Sequence[str] = (), tolerance: float = 0.0, iteration_limit: int = 0,
                 **options: Unpack[Options]) -> Assembly:
        """Finds configurations near the guesses q that close the loops of a model with constraints.

        >>> ends = [dynamicsd.CoupledCoordinate("joint1", 1.0), dynamicsd.CoupledCoordinate("joint2", -1.0)]
        >>> geared = dynamicsd.Constraint("geared", "coupling", coupled=ends)
        >>> found = client.model("two_link").assemble([0.5, 0.1], held_joints=["joint1"], constraints=[geared])
        >>> found.q.round(9), found.outcomes[0].is_closed
        (array([0.5, 0.5]), True)
        """
        query = Query(self, options)
        guesses = query.rows("q", q)
        chosen = query.keep.new("dyn_client_assembly_options *")
        fill(query.keep, chosen, "options", held_joints=list(held_joints), tolerance=tolerance,
             iteration_limit=iteration_limit)
        found = query.result("dyn_client_assembly", lib.dyn_client_assemble, guesses, chosen)
        outcomes = tuple(read(AssemblyOutcome, found.outcomes[i]) for i in range(found.samples))
        values = doubles(found.q, found.samples * self.nq, found).reshape(query.shape(self.nq))
        return Assembly(values, outcomes)

    # ---- motions over time -------------------------------------------------------------------------------------------

    def rollout(self, q: Rows, v: Rows | None = None, tau: Rows | None = None, *, steps: int | None = None,
                stepping: Stepping | None = None, tau_layout: str | None = None, tau_hold: str = "zero_order",
                q_ref: Rows | None = None, v_ref: Rows | None = None, a_ref: Rows | None = None,
                reference_layout: str | None = None, stride: int = 0, only_last: bool = False,
                with_tau: bool = False, with_energy: bool = False, with_contacts: bool = False,
                is_accurate: bool = False, relative: float = 0.0, absolute: float = 0.0,
                **options: Unpack[Options]) -> Rollout:
        """Integrates n states over time in one request.

        tau is (n, steps, nv), one row for each sample and step; (steps, nv), shared by all samples; or (nv,), constant.
        With tau_layout="constant" it is (n, nv), constant over the steps. The references q_ref, v_ref and a_ref of the
        controller have such shapes too, all three alike. `steps` follows from tau if it is None.

        >>> fall = client.model("two_link").rollout([0.0, 0.0], steps=1000, only_last=True)
        >>> fall.q.shape, fall.outcomes[0].status
        ((1, 2), 'ran')
        """
        query = Query(self, options)
        request = query.keep.new("dyn_client_rollout_request *")
        request.q = query.rows("q", q)
        request.v = query.rows("v", v)
        inputs = _results.RolloutInputs(query, request, steps, tau_hold)
        inputs.set_tau(tau, tau_layout)
        inputs.set_reference({"q_ref": q_ref, "v_ref": v_ref, "a_ref": a_ref}, reference_layout)
        fill(query.keep, request, "rollout", steps=inputs.steps_or_fail(), stride=stride, only_last=only_last,
             tau_hold=tau_hold, with_tau=with_tau, with_energy=with_energy, with_contacts=with_contacts,
             is_accurate=is_accurate, relative=relative, absolute=absolute, stepping=stepping)
        return _results.rollout(query, query.result("dyn_client_rollout", lib.dyn_client_rollout_run, request))

    def inverse_dynamics_trajectory(self, q: Rows, v: Rows | None = None, a: Rows | None = None, *,
                                    time: ArrayLike | None = None, rates: str = "given", tip: Tip | None = None,
                                    **options: Unpack[RecordOptions]) -> Trajectory:
        """Computes the torques along a motion of n rows, in N m and N, and the limits that it exceeds.

        With `rates` other than "given", v and a are derived from q (n, nq) and `time` (n,): "spline", "spline_at_rest",
        "central", "five_point", "quintic_spline" or "quintic_spline_at_rest".

        >>> time = np.linspace(0.0, 1.0, 101)
        >>> q = np.column_stack([time ** 2, 0 * time])
        >>> arm = client.model("two_link")
        >>> motion = arm.inverse_dynamics_trajectory(q, time=time, rates="spline", gravity=[0, 0, 0])
        >>> motion.tau.shape, motion.excesses
        ((101, 2), ())
        """
        query = Query(self, options)
        rows = query.rows("q", q)
        times = _NULL if time is None else query.keep.doubles("time", time, (query.samples,))
        chosen = named("dyn_client_rates").number("rates", rates)
        wrench = query.keep.new("dyn_client_tip *") if tip is not None else _NULL
        if tip is not None:
            fill(query.keep, wrench, "tip", link=tip.link, force=tip.force, torque=tip.torque,
                 reference_frame=tip.reference_frame)
        found = query.result("dyn_client_trajectory", lib.dyn_client_inverse_dynamics_trajectory, times, rows,
                             query.rows("v", v), query.rows("a", a), chosen, wrench)
        return _results.trajectory(query, found)

    def forward_dynamics_trajectory(self, q: Rows, v: Rows | None, tau: Rows, *, tip: Tip | None = None,
                                    stepping: Stepping | None = None, **options: Unpack[Options]) -> Trajectory:
        """Computes the motion from the state (q, v) under the rows of tau, (rows, nv), in N m and N, one for each step.

        >>> held = np.tile([29.43, 9.81], (100, 1))
        >>> motion = client.model("two_link").forward_dynamics_trajectory([0.0, 0.0], None, held)
        >>> motion.q.shape, bool(np.abs(motion.v).max() < 1e-9)
        ((100, 2), True)
        """
        query = Query(self, options)
        state = query.rows("q", q), query.rows("v", v)
        forces = _results.rows_of(query, "tau", tau, self.nv)
        wrench = query.keep.new("dyn_client_tip *") if tip is not None else _NULL
        if tip is not None:
            fill(query.keep, wrench, "tip", link=tip.link, force=tip.force, torque=tip.torque,
                 reference_frame=tip.reference_frame)
        step = _NULL
        if stepping is not None:
            step = query.keep.new("dyn_client_stepping *")
            _results.write_stepping(query.keep, step, stepping)
        found = query.result("dyn_client_trajectory", lib.dyn_client_forward_dynamics_trajectory, *state,
                             len(forces), ffi.from_buffer("double[]", forces), wrench, step)
        return _results.trajectory(query, found)

    def derive_rates(self, q: Rows, time: ArrayLike, rates: str = "spline",
                     **options: Unpack[RecordOptions]) -> Trajectory:
        """Derives velocities and accelerations, (n, nv), from positions q (n, nq), in rad and m, at times (n,), in s.

        >>> time = np.linspace(0.0, 1.0, 101)
        >>> motion = client.model("two_link").derive_rates(np.column_stack([time ** 2, 3 * time]), time)
        >>> motion.v[50].round(6), motion.a[50].round(6) + 0.0
        (array([1., 3.]), array([2., 0.]))
        """
        query = Query(self, options)
        rows = query.rows("q", q)
        times = query.keep.doubles("time", time, (query.samples,))
        chosen = named("dyn_client_rates").number("rates", rates)
        found = query.result("dyn_client_trajectory", lib.dyn_client_derive_rates, times, rows, chosen)
        return _results.trajectory(query, found)

    # ---- other models ------------------------------------------------------------------------------------------------

    def derive(self, name: str, operations: Operation | Sequence[Operation], *, strict: bool = False,
               replace: bool = False, expected_digest: str | None = None, keep: bool = False, timeout: float = 0,
               progress: Progress | None = None) -> Model:
        """Derives a model: locked joints, a subtree, another base, an attached link. This model does not change.

        >>> arm = client.model("two_link")
        >>> stiff = arm.derive("stiff_arm", Operation("lock_joints", joints=["joint2"]), replace=True)
        >>> stiff.nv
        1
        >>> stiff.unload()
        """
        memory = Keep()
        request = memory.new("dyn_client_derive_request *")
        given = listed("operations", operations, Operation)
        changes = memory.new("dyn_client_operation[]", len(given))
        for i, each in enumerate(given):
            if not isinstance(each, Operation):
                raise InvalidArgument(f"is {each!r}, but an Operation is needed", field=f"operations[{i}]")
            values = members_of(each)
            if each.q is not None:
                values["q"] = None
                changes[i].q, changes[i].nq = memory.array("q", each.q)
            fill(memory, changes[i], f"operations[{i}]", **values)
        request.operations, request.operation_count = changes, len(given)
        fill(memory, request, "", model=self.name, name=name, strict=strict, replace=replace,
             expected_digest=expected_digest, keep=keep, timeout=seconds(timeout))
        watch = Watch(progress)
        watch.set_in(request)
        loaded = self.session.result("dyn_client_loaded_model", lib.dyn_client_loaded_model_free,
                                     lib.dyn_client_derive_model, request, watch=watch)
        return self.client.loaded(loaded)

    def export(self, format: str = "description", *, tip: str | None = None,
               timeout: float = 0) -> Union[ModelDescription, str, ScrewChain]:
        """Exports the model: "description" for a ModelDescription, "urdf" for text, "screws" for a ScrewChain; and as
        text "c" for C source, "formulas" and "latex" for the formulas of a small robot.

        >>> client.model("two_link").export("urdf")[:5]
        '<?xml'
        """
        number = named("dyn_client_model_format").number("format", format)
        end = _NULL if tip is None else ffi.new("char[]", characters("tip", tip))
        exported = self.session.result("dyn_client_exported_model", lib.dyn_client_exported_model_free,
                                       lib.dyn_client_export_model, self.c_name, number, end, seconds(timeout))
        if exported.urdf != _NULL:
            return text(exported.urdf)
        if exported.screws != _NULL:
            return _results.screws(exported.screws)
        if exported.text != _NULL:
            return text(exported.text)
        return read(ModelDescription, exported.description)

