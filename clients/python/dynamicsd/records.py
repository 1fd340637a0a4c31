# SPDX-License-Identifier: BSD-2-Clause
"""Records that calls return and accept. Their members have the names, units and defaults of dynamics_client.h.

Enumerations are strings in lower case: the base of a model is "fixed" or "floating", the type of a joint "revolute".
"""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamicsd._convert import record
from dynamicsd._shown import Record, brief, html_table

Array = NDArray[np.float64]
# Rows of a table for a notebook.
_SHOWN = 20


@record("dyn_client_component")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Component(Record):
    """Part of the daemon. `state` is "serving", "degraded" or "not_serving"."""

    name: str
    state: str
    message: str


@record("dyn_client_health")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Health(Record):
    """Health of the daemon: the worst of its components."""

    state: str
    components: tuple[Component, ...]


@record("dyn_client_endpoint")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Endpoint(Record):
    """Address of the daemon. `kind` is "request", "events" or "ingest"."""

    address: str
    kind: str


@record("dyn_client_method_info")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MethodInfo(Record):
    """Method that the daemon serves. `role` is the lowest one that a caller needs."""

    name: str
    role: str
    changes_state: bool
    is_slow: bool
    can_be_job: bool


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ServerInfo(Record):
    """Version, limits, endpoints, methods and counters of the daemon.

    `limits` and `counters` are dictionaries by name, such as limits["samples"]. Times are in seconds. `caller` is this
    client's name to the daemon, such as "uid:1000", and `caller_role` its role.
    """

    version: str
    revision: int
    protocols: tuple[str, ...]
    instruction_set: str
    lanes: tuple[int, int]
    limits: dict[str, float]
    endpoints: tuple[Endpoint, ...]
    methods: tuple[MethodInfo, ...]
    counters: dict[str, int]
    uptime: float
    workers: int
    process_id: int
    instance: int
    caller: str
    caller_role: str

    def _repr_html_(self) -> str:
        return html_table(f"dynamicsd {self.version}", ["limit", "value"], self.limits.items())


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MethodMetrics(Record):
    """Requests of one method since the daemon's start. Times are in seconds.

    `codes` are the answered requests by the code of their reply: the first is the number that succeeded. `times` are
    the requests by the range of their time, one more than Metrics.time_bounds.
    """

    method: str
    codes: tuple[int, ...]
    times: tuple[int, ...]
    time: float
    samples: int
    request_bytes: int
    reply_bytes: int


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Metrics(Record):
    """Numbers of the daemon's requests by method, in a dictionary by its name. `counters` are those of ServerInfo."""

    instance: int
    uptime: float
    time_bounds: tuple[float, ...]
    methods: dict[str, MethodMetrics]
    counters: dict[str, int]


@record("dyn_client_connection")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Connection(Record):
    """Connection of a client of the daemon.

    `peer` is "uid 1000 pid 4711" or "127.0.0.1:40112", `caller` its name by what the system states, `kind` "request",
    "events" or "ingest". `age` and `idle` are the seconds since it was opened and since its last request.
    """

    connection: int
    peer: str
    caller: str
    role: str
    kind: str
    age: float
    idle: float
    requests: int
    under_way: int


@record("dyn_client_slow_request")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class SlowRequest(Record):
    """Request that took the daemon long.

    `number` counts them from 1, `stamp_ns` is the wall time of the reply, `request` the number in the daemon's log.
    `object` is what the request names, such as a model. `time` are the seconds from arrival to reply, `waiting_time`
    those until a worker began it.
    """

    number: int
    stamp_ns: int
    request: int
    method: str
    object: str
    peer: str
    caller: str
    code: str
    time: float
    waiting_time: float
    samples: int
    request_bytes: int
    reply_bytes: int


@record("dyn_client_setting")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Setting(Record):
    """Key of the daemon's configuration with its value in effect, as a configuration file states it.

    `origin` is "default", "file", "command_line", "derived" or "request"; `line` is that of the file, or 0. A key that
    `needs_restart` is not changed by a reload. Directories are separated by line ends.
    """

    section: str
    key: str
    value: str
    origin: str
    line: int
    needs_restart: bool


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Settings(Record):
    """Configuration of the daemon: its file, or "", and the keys in a dictionary by "section.key"."""

    file: str
    settings: dict[str, Setting]

    def _repr_html_(self) -> str:
        return html_table(self.file or "no configuration file", ["key", "value", "origin"],
                          ((name, each.value, each.origin) for name, each in self.settings.items()))


@record("dyn_client_model")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ModelInfo(Record):
    """Summary of a model: its sizes, and the digest that identifies it everywhere."""

    name: str
    digest: str
    nq: int
    nv: int
    links: int
    joints: int
    base: str
    mass: float
    source: str
    loaded_by: str
    kept: bool
    constraints: int
    constraint_rows: int
    machine_elements: int


@record("dyn_client_report_entry")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ReportEntry(Record):
    """Note or warning about a description."""

    severity: str
    line: int
    place: str
    message: str


@record("dyn_client_inertia")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Inertia(Record):
    """Inertia of a rigid body in a frame: kg, m, and kg m^2 about the centre of mass as xx xy xz yy yz zz."""

    mass: float = 0.0
    center_of_mass: ArrayLike = (0.0, 0.0, 0.0)
    rotational: ArrayLike = (0.0,) * 6


@record("dyn_client_pose")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Pose(Record):
    """Pose of a frame in another frame: position in m, orientation as a quaternion x y z w or a 3 x 3 rotation."""

    position: ArrayLike = (0.0, 0.0, 0.0)
    orientation: ArrayLike = (0.0, 0.0, 0.0, 1.0)
    rotation: ArrayLike | None = None


@record("dyn_client_limits")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Limits(Record):
    """Bounds of a joint with one coordinate: rad or m, rad/s or m/s, N m or N. 0: velocity or effort not stated."""

    lower: float
    upper: float
    velocity: float = 0.0
    effort: float = 0.0


@record("dyn_client_link")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Link(Record):
    """Link as the description states it. `parent_joint` and `moving_joint` are not read in requests."""

    name: str
    inertia: Inertia = Inertia()
    parent_joint: str = ""
    moving_joint: str = ""


@record("dyn_client_joint_motion")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class JointMotion(Record):
    """Elementary motion of a custom joint: a "rotation" about its axis, or a "translation" along it, by a function of
    the joint's coordinate. `coefficients` are those of a polynomial. Without them the function is a spline through the
    values at the knots: quintic with slopes and curvatures, otherwise natural cubic.
    """

    kind: str
    axis: ArrayLike
    coefficients: ArrayLike | None = None
    knots: ArrayLike | None = None
    values: ArrayLike | None = None
    slopes: ArrayLike | None = None
    curvatures: ArrayLike | None = None


@record("dyn_client_joint")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Joint(Record):
    """Joint. `type` is "revolute", "continuous", "prismatic", "fixed", "helical", "cylindrical", "universal", "planar",
    "spherical", "floating" or "custom". A custom joint has motions. The daemon sets the members from `q_index` on;
    requests do not read them.
    """

    name: str
    type: str
    parent_link: str
    child_link: str
    origin: Pose = Pose()
    axis: ArrayLike = (0.0, 0.0, 1.0)
    second_axis: ArrayLike = (0.0, 0.0, 0.0)
    pitch: float = 0.0
    limits: Limits | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic_joint: str | None = None
    mimic_multiplier: float | None = None
    mimic_offset: float = 0.0
    motions: tuple[JointMotion, ...] | None = None
    q_index: int = 0
    v_index: int = 0
    nq: int = 0
    nv: int = 0
    q_units: tuple[str, ...] | None = None
    v_units: tuple[str, ...] | None = None
    tau_units: tuple[str, ...] | None = None


@record("dyn_client_frame")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Frame(Record):
    """Named frame on a link."""

    name: str
    link: str
    moving_joint: str = ""
    pose: Pose = Pose()


@record("dyn_client_constraint_frame")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ConstraintFrame(Record):
    """Frame of a constraint. An empty link is the world."""

    link: str = ""
    pose: Pose = Pose()


@record("dyn_client_coupled_coordinate")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class CoupledCoordinate(Record):
    """Coordinate of a coupling and its coefficient."""

    joint: str
    coefficient: float


@record("dyn_client_constraint")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Constraint(Record):
    """Constraint that closes a loop. `kind` is "loop_joint", "distance", "point_on_plane", "coupling", "rolling",
    "prescribed" or "polynomial". The daemon sets the members from `first_row` to `multiplier_units`.

    `distance` is the radius of a rolling body, and `second_axis` the axis of a wheel. A prescribed motion of
    coupled[0] is p(t) + amplitude sin(frequency t + phase), and a polynomial is coupled[0] = p(coupled[1]), where
    `coefficients` are those of p, from the constant on.
    """

    name: str
    kind: str
    predecessor: ConstraintFrame = ConstraintFrame()
    successor: ConstraintFrame = ConstraintFrame()
    type: str = "unspecified"
    axis: ArrayLike = (0.0, 0.0, 0.0)
    second_axis: ArrayLike = (0.0, 0.0, 0.0)
    pitch: float = 0.0
    distance: float = 0.0
    coupled: Sequence[CoupledCoordinate] | None = None
    offset: float = 0.0
    first_row: int = 0
    row_count: int = 0
    row_names: tuple[str, ...] | None = None
    directions: tuple[str, ...] | None = None
    error_units: tuple[str, ...] | None = None
    multiplier_units: tuple[str, ...] | None = None
    damping: float = 0.0
    friction: float = 0.0
    effort: float = 0.0
    coefficients: ArrayLike | None = None
    amplitude: float = 0.0
    frequency: float = 0.0
    phase: float = 0.0


@record("dyn_client_rotor")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Rotor(Record):
    """Rotor of a geared motor: it spins at `ratio` times the rate of its joint, on the joint's parent link.

    kg m^2, kg, m. `coupling` is "exact", "diagonal" or "reflected". A mass or a transverse inertia of 0 is part of the
    parent link's own; an axis of zeros is that of the joint.
    """

    ratio: float = 0.0
    axial_inertia: float = 0.0
    mass: float = 0.0
    transverse_inertia: float = 0.0
    position: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (0.0, 0.0, 0.0)
    coupling: str = "unspecified"


@record("dyn_client_friction")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Friction(Record):
    """Friction law. Pairs hold for positive and for negative rates: N m s/rad or N s/m, and N m or N.

    `side` is "joint" or "rotor": the side of the gear on which the parameters hold.
    """

    side: str = "unspecified"
    viscous: ArrayLike = (0.0, 0.0)
    coulomb: ArrayLike = (0.0, 0.0)
    breakaway: ArrayLike = (0.0, 0.0)
    stribeck_velocity: float = 0.0
    transition_velocity: float = 0.0


@record("dyn_client_spring")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Spring(Record):
    """Spring across a joint: N m/rad or N/m, and the position without force, rad or m."""

    stiffness: float = 0.0
    rest: float = 0.0


@record("dyn_client_motor")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Motor(Record):
    """Direct-current motor of a joint: ohm, H, N m/A, V, A, rad/s, K/W, s, 1/K and degrees Celsius.

    `nominal_voltage`, `no_load_speed`, `no_load_current` and `stall_current` of a data sheet take the place of the
    resistance and the torque constant. A limit of zero is none.
    """

    resistance: float = 0.0
    inductance: float = 0.0
    torque_constant: float = 0.0
    nominal_voltage: float = 0.0
    no_load_speed: float = 0.0
    no_load_current: float = 0.0
    stall_current: float = 0.0
    maximum_voltage: float = 0.0
    maximum_current: float = 0.0
    continuous_current: float = 0.0
    maximum_speed: float = 0.0
    winding_resistance: float = 0.0
    winding_time_constant: float = 0.0
    housing_resistance: float = 0.0
    housing_time_constant: float = 0.0
    temperature_coefficient: float = 0.0
    maximum_temperature: float = 0.0


@record("dyn_client_gear")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Gear(Record):
    """Gear between motor and joint, or on a shaft. `ratio` 0 is that of the joint's rotor. A limit of zero is none.

    A gear whose `back_driving_efficiency` is 0 is self-locking.
    """

    ratio: float = 0.0
    efficiency: float = 1.0
    back_driving_efficiency: float = 1.0
    maximum_torque: float = 0.0
    continuous_torque: float = 0.0
    maximum_speed: float = 0.0


@record("dyn_client_brake")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Brake(Record):
    """Brake on the shaft of a joint's motor, with its torque there in N m."""

    torque: float = 0.0


@record("dyn_client_strut")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Strut(Record):
    """Spring (N/m), damper (N s/m) or gas spring (`push`, N) between points of two links, m; or a cable."""

    position: ArrayLike = (0.0, 0.0, 0.0)
    other_position: ArrayLike = (0.0, 0.0, 0.0)
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    push: float = 0.0


@record("dyn_client_bushing")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Bushing(Record):
    """Compliance in six directions between frames of two links, in the axes of the other one."""

    position: ArrayLike = (0.0, 0.0, 0.0)
    other_position: ArrayLike = (0.0, 0.0, 0.0)
    stiffness: ArrayLike = (0.0, 0.0, 0.0)
    rotational_stiffness: ArrayLike = (0.0, 0.0, 0.0)
    damping: ArrayLike = (0.0, 0.0, 0.0)
    rotational_damping: ArrayLike = (0.0, 0.0, 0.0)


@record("dyn_client_fluid")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Fluid(Record):
    """Buoyancy and drag of a link in a fluid of a density, kg/m^3, and with a velocity `current` in the world, m/s."""

    density: float = 0.0
    volume: float = 0.0
    center: ArrayLike = (0.0, 0.0, 0.0)
    drag: ArrayLike = (0.0, 0.0, 0.0)
    quadratic_drag: ArrayLike = (0.0, 0.0, 0.0)
    rotational_drag: ArrayLike = (0.0, 0.0, 0.0)
    quadratic_rotational_drag: ArrayLike = (0.0, 0.0, 0.0)
    current: ArrayLike = (0.0, 0.0, 0.0)


@record("dyn_client_shaft")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Shaft(Record):
    """Shaft of a motor that several joints turn: its rate is the sum of `ratios` times the rates of `joints`.

    With `has_motor` the motor of the element counts.
    """

    joints: Sequence[str] | None = None
    ratios: ArrayLike | None = None
    has_motor: bool = False


@record("dyn_client_flexible_beam")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FlexibleBeam(Record):
    """Beam with assumed modes in the place of a fixed joint. It bends in `direction` with the rigidity E I, N m^2, and
    normal to it with `normal_rigidity` unless that is 0. Replies show its joints and springs instead.
    """

    start: ArrayLike = (0.0, 0.0, 0.0)
    direction: ArrayLike = (0.0, 0.0, 0.0)
    mass_per_length: float = 0.0
    rigidity: float = 0.0
    normal_rigidity: float = 0.0
    modes: int = 0
    damping_ratio: float = 0.0


@record("dyn_client_machine_element")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MachineElement(Record):
    """Machine element at a joint, or friction, a gear or a brake on a shaft. `kind` names the member that counts. A
    strut, cable, bushing or fluid has the joint "", and acts on `link` and `other_link`, where "" is the world. A cable
    is stated by `strut`, and a shaft by `shaft`, its `rotor` without ratio, and the `link` that carries its motor.
    """

    name: str
    joint: str
    kind: str
    rotor: Rotor = Rotor()
    friction: Friction = Friction()
    spring: Spring = Spring()
    motor: Motor = Motor()
    gear: Gear = Gear()
    brake: Brake = Brake()
    link: str = ""
    other_link: str = ""
    strut: Strut = Strut()
    bushing: Bushing = Bushing()
    fluid: Fluid = Fluid()
    shaft: Shaft = Shaft()
    flexible_beam: FlexibleBeam = FlexibleBeam()


@record("dyn_client_soft_contact")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class SoftContact(Record):
    """Soft law of a contact surface: MuJoCo's solref (`time_constant` in s, 0 for a surface that is not soft, and
    `damping_ratio`) and solimp (the others, `width` in m). A parameter of 0 is MuJoCo's default.
    """

    time_constant: float = 0.0
    damping_ratio: float = 0.0
    least_impedance: float = 0.0
    impedance: float = 0.0
    width: float = 0.0
    midpoint: float = 0.0
    power: float = 0.0


@record("dyn_client_contact_surface")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ContactSurface(Record):
    """Part of `link` that touches the planes and height fields of other links; a link of "" is the world.

    `shape` is "point", "sphere", "box", "capsule", "cylinder", "plane" or "height_field" and names the sizes that
    count, m. A `stiffness` of 0, N/m^(3/2), is rigid. A height field has `heights` in rows of `columns`.
    """

    name: str
    shape: str
    link: str = ""
    pose: Pose = Pose()
    radius: float = 0.0
    length: float = 0.0
    size: ArrayLike = (0.0, 0.0, 0.0)
    friction: float = 0.0
    restitution: float = 0.0
    stiffness: float = 0.0
    dissipation: float = 0.0
    soft: SoftContact = SoftContact()
    columns: int = 0
    heights: ArrayLike | None = None


@record("dyn_client_model_description")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ModelDescription(Record):
    """Robot in numbers: a tree of links and joints in any order, constraints between them, and machine elements at the
    joints. `passive_joints` names the joints without a motor. `notes` are sentences about how it came about, which
    become notes of the load report.
    """

    name: str
    links: Sequence[Link]
    joints: Sequence[Joint] = ()
    frames: Sequence[Frame] | None = None
    constraints: Sequence[Constraint] | None = None
    gravity: ArrayLike | None = None
    base: str = "unspecified"
    mimic: str = "unspecified"
    machine_elements: Sequence[MachineElement] | None = None
    passive_joints: Sequence[str] | None = None
    contact_surfaces: Sequence[ContactSurface] | None = None
    notes: Sequence[str] | None = None


@record("dyn_client_dh_row")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class DHRow(Record):
    """Joint i and link i of a Denavit-Hartenberg table: rad, m, m, rad."""

    type: str = "revolute"
    theta: float = 0.0
    d: float = 0.0
    a: float = 0.0
    alpha: float = 0.0
    inertia: Inertia = Inertia()
    limits: Limits | None = None
    damping: float = 0.0
    friction: float = 0.0


@record("dyn_client_dh_table")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class DHTable(Record):
    """Denavit-Hartenberg parameters. `convention` is "standard" or "modified"."""

    name: str
    rows: Sequence[DHRow]
    convention: str = "standard"


@record("dyn_client_screw_chain")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ScrewChain(Record):
    """Serial chain of Modern Robotics: Mlist (n + 1) x 4 x 4, Glist n x 6 x 6 and Slist 6 x n, angular part first."""

    name: str
    n: int
    Mlist: ArrayLike
    Glist: ArrayLike
    Slist: ArrayLike


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Description(Record):
    """Everything that the daemon knows about a model. `joints` are the moving ones, in the order of q and v;
    `passive_joints` are those without a motor."""

    model: ModelInfo
    mimic: str
    gravity: Array
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    frames: tuple[Frame, ...]
    report: tuple[ReportEntry, ...]
    zero_q: Array
    home_q: Array
    compilation: str
    compilation_reason: str
    instruction_set: str
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    machine_elements: tuple[MachineElement, ...]
    contact_surfaces: tuple[ContactSurface, ...]
    passive_joints: tuple[str, ...]

    def __repr__(self) -> str:
        model = self.model
        lines = [f"{model.name}: nq {model.nq}, nv {model.nv}, {model.mass:g} kg, {model.base}"]
        lines += [" ".join(str(cell) for cell in row).rstrip() for row in self._rows()]
        return "\n  ".join(lines)

    def _rows(self) -> list[list[object]]:
        """Name, type, range, velocity and effort of each joint."""
        rows: list[list[object]] = []
        for joint in self.joints:
            row: list[object] = [joint.name, joint.type]
            if joint.limits is not None:
                limits = joint.limits
                row += [f"{limits.lower:g} .. {limits.upper:g}", f"{limits.velocity:g}", f"{limits.effort:g}"]
            rows.append(row)
        return rows

    def _repr_html_(self) -> str:
        return html_table(f"{self.model.name}: nq {self.model.nq}, nv {self.model.nv}, {self.model.mass:g} kg",
                          ["joint", "type", "range", "velocity", "effort"], self._rows())


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Body(Record):
    """Inertial properties of a body, as ComputeInertia returns them: SI units, in the common frame of its parts.

    The rows of `principal_axes` (3, 3) are those of `principal_moments`; `spatial_inertia` (6, 6), about the point of
    the call, has its linear part first.
    """

    inertia: Inertia
    volume: float
    rotational_about: Array
    principal_moments: Array
    is_realizable: bool
    reason: str
    parameters: Array
    pseudo_inertia: Array
    log_cholesky: Array | None
    principal_axes: Array
    spatial_inertia: Array


@record("dyn_client_inertia_part")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class InertiaPart(Record):
    """Part of a body. `kind` is "box", "cylinder", "sphere", "ellipsoid", "capsule", "mesh", "inertia", "parameters",
    "pseudo_inertia" or "log_cholesky". A shape or a mesh needs either mass (kg) or density (kg/m^3).
    """

    kind: str
    size: ArrayLike | None = None
    radius: float = 0.0
    length: float = 0.0
    stl: bytes | None = None
    scale: float | None = None
    inertia: Inertia | None = None
    values: ArrayLike | None = None
    mass: float = 0.0
    density: float = 0.0
    pose: Pose = Pose()


@record("dyn_client_operation")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Operation(Record):
    """Change to a model. `kind` is "lock_joints", "keep_subtree", "keep_chain", "change_base", "merge_model",
    "attach_link", "change_inertia" or "detach_link".
    """

    kind: str
    link: str | None = None
    last: str | None = None
    name: str | None = None
    model: str | None = None
    prefix: str | None = None
    base: str = "unspecified"
    inertia: Inertia | None = None
    pose: Pose | None = None
    joints: Sequence[str] | None = None
    q: ArrayLike | None = None


@record("dyn_client_external_force")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ExternalForce(Record):
    """Wrench that the environment applies to a link: N and N m, 3 values for all states, or n x 3, in both alike.

    `reference_frame` is "local", "world" or "local_world_aligned".
    """

    link: str
    force: ArrayLike | None = None
    torque: ArrayLike | None = None
    reference_frame: str = "local"

    def __post_init__(self) -> None:
        if self.force is not None and self.torque is not None and np.size(self.force) != np.size(self.torque):
            raise ValueError(f"a force of {np.size(self.force)} values and a torque of {np.size(self.torque)}: pass 3 "
                             "values, or n x 3, of the same n in both")


@record("dyn_client_flexible_link")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FlexibleLink(Record):
    """Link that bends, as a beam from `start` to `end` (m, axes of the link) with a mass in kg that is spread evenly.

    It bends in `direction` with the rigidity E I in N m^2, and normal to it with `transverse_rigidity` unless that is
    0, by `modes` modes in each plane.
    """

    link: str
    end: ArrayLike
    mass: float
    direction: ArrayLike
    rigidity: float
    modes: int = 2
    start: ArrayLike = (0.0, 0.0, 0.0)
    transverse_rigidity: float = 0.0


@record("dyn_client_tip_constraint")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TipConstraint(Record):
    """Condition on the last link of a serial chain: linear . a + angular . alpha = acceleration, in m/s^2 and rad/s^2.

    (alpha; a) is the frame acceleration that `evaluate` returns for the frame and the reference frame, which is
    "local", "world" or "local_world_aligned".
    """

    frame: str
    linear: ArrayLike = (0.0, 0.0, 0.0)
    angular: ArrayLike = (0.0, 0.0, 0.0)
    acceleration: float = 0.0
    reference_frame: str = "local_world_aligned"


@record("dyn_client_payload")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Payload(Record):
    """Body attached to a link during one call."""

    link: str
    inertia: Inertia
    pose: Pose = Pose()
    replaces: bool = False


@record("dyn_client_task_frame")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TaskFrame(Record):
    """Frame that a task controls, and the rows of its Jacobian, such as "linear_x"; None: all six. Of torques for
    tasks: desired accelerations of the rows, one row or one for each state, and the priority, smaller ones first.
    """

    frame: str
    axes: Sequence[str] | None = None
    acceleration: ArrayLike | None = None
    priority: int = 0


@record("dyn_client_passive_forces")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PassiveForces(Record):
    """Passive forces that inverse and forward dynamics count. `friction_velocity` is in rad/s or m/s; 0: 0.01.
    `gear_losses` are those that depend on the load of the gears."""

    damping: bool = False
    friction: bool = False
    springs: bool = False
    friction_velocity: float = 0.0
    gear_losses: bool = False


@record("dyn_client_motion_options")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotionOptions(Record):
    """Treatment of a motion with constraints by inverse dynamics. A motion that violates a constraint by more than
    `tolerance`, a share of its terms (0: 0.001), is refused; with `nearest` the forces are those of the nearest
    acceleration that the constraints allow. Where the constraints leave the forces free, the sum of the squares of the
    joints' forces times `force_weights` (nv, or one for all; None: ones) and of the multipliers times
    `multiplier_weights` (one for each row, or one for all; None: zeros) is least.

    >>> MotionOptions(nearest=True).force_weights is None
    True
    """

    tolerance: float = 0.0
    nearest: bool = False
    force_weights: ArrayLike | None = None
    multiplier_weights: ArrayLike | None = None


@record("dyn_client_base_motion")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class BaseMotion(Record):
    """Given motion of the base in which the robot's root rests: m/s, rad/s, m/s^2 and rad/s^2, relative to an inertial
    frame, along the axes of the model's world, for its origin. 3 values for all states, or n x 3; of a rollout also
    n x steps x 3. All members that are given have the same number of rows.

    >>> BaseMotion(angular_velocity=[0.0, 0.0, 1.0]).linear_velocity is None
    True
    """

    linear_velocity: ArrayLike | None = None
    angular_velocity: ArrayLike | None = None
    linear_acceleration: ArrayLike | None = None
    angular_acceleration: ArrayLike | None = None

    def __post_init__(self) -> None:
        sizes = {np.size(value) for value in (self.linear_velocity, self.angular_velocity, self.linear_acceleration,
                                              self.angular_acceleration) if value is not None}
        if len(sizes) > 1 or any(size == 0 or size % 3 for size in sizes):
            raise ValueError(f"arrays of {sorted(sizes)} values: pass 3 values, or n x 3, of the same n in all")
        if not sizes:
            object.__setattr__(self, "linear_velocity", (0.0, 0.0, 0.0))


@record("dyn_client_spring_stop")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class SpringStop(Record):
    """Spring and damper of a joint's stop: N m/rad or N/m, N m s/rad or N s/m."""

    stiffness: float
    damping: float


@record("dyn_client_loop_closure")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class LoopClosure(Record):
    """Treatment of the closed loops of a model with constraints: gain of the stabilization, 1/s, and projection."""

    stabilization: float
    projection: bool


@record("dyn_client_stepping")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Stepping(Record):
    """Method of integration over time.

    `integrator` is "semi_implicit_euler", "explicit_euler" or "rk4"; `law` is "none", "pd", "pd_gravity" or
    "computed_torque" with one gain or nv gains; `stop` is "rigid", "spring" or "none"; `compiled` is "where_ready",
    "never" or "always". With `solve_joints` rigid stops and dry friction act in the solver of the contacts.
    `contact_law` is "of_surfaces", "rigid" or "soft".
    """

    integrator: str = "semi_implicit_euler"
    step_length: float = 0.001
    substeps: int = 1
    law: str = "none"
    kp: ArrayLike | None = None
    kd: ArrayLike | None = None
    ignore_damping: bool = False
    ignore_friction: bool = False
    ignore_effort_limits: bool = False
    ignore_springs: bool = False
    friction_velocity: float = 0.0
    stop: str = "rigid"
    restitution: float = 0.0
    spring_stop: SpringStop | None = None
    velocity_bound: float = 0.0
    compiled: str = "where_ready"
    loop_closure: LoopClosure | None = None
    ignore_gear_losses: bool = False
    brakes: Sequence[str] = ()
    solve_joints: bool = False
    contact_law: str = "of_surfaces"


@record("dyn_client_tip")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Tip(Record):
    """Wrench that an end-effector applies to its surroundings: 3 values, or one row for each row of the trajectory."""

    link: str
    force: ArrayLike | None = None
    torque: ArrayLike | None = None
    reference_frame: str = "local"


@record("dyn_client_job")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Job(Record):
    """Job of the daemon. `state` is "queued", "running", "done", "failed" or "cancelled"."""

    name: str
    method: str
    state: str
    fraction: float
    created_ns: int
    started_ns: int
    finished_ns: int
    result_bytes: int
    expires_in: float
    owner: str
    field: str
    message: str


@record("dyn_client_recording")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Recording(Record):
    """Recording in the daemon's state directory."""

    name: str
    bytes: int
    stamp_ns: int
    is_under_way: bool


@record("dyn_client_excess")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Excess(Record):
    """Limit of the description that a trajectory exceeds. `kind` is "lower", "upper", "velocity" or "effort"."""

    joint: str
    kind: str
    limit: float
    value: float
    worst_row: int
    first_row: int
    last_row: int
    rows: int
    worst_time: float
    first_time: float
    last_time: float


@record("dyn_client_outcome")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Outcome(Record):
    """End of one sample of a rollout. `status` is "ran", "not_finite", "too_fast", "singular", "rests" or
    "too_long". `closure_error` is the largest one after a step, rad or m, of `constraint`. `contact_residual` is the
    largest violation of the contact laws after a step, m/s. `constraint_rank` and `constraint_condition` are those of
    the last state, and `constraint_residual` is the largest one of a step.
    """

    status: str
    joint: str
    steps: int
    stops: int
    energy_drift: float
    constraint: str
    closure_error: float
    contact_sweeps: int
    contact_residual: float
    constraint_rank: int
    constraint_residual: float
    constraint_condition: float


@record("dyn_client_assembly_outcome")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class AssemblyOutcome(Record):
    """End of the search from one guess. `error` is the largest closure error, rad or m, of `constraint`."""

    is_closed: bool
    iterations: int
    constraint: str
    error: float


@record("dyn_client_linear_estimate")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class LinearEstimate(Record):
    """Base parameter of a body, or term of the drive of a joint, with its standard deviation.

    `prior` is the model's own value. The motion does not determine an estimate that is not excited.
    """

    element: str
    parameter: str
    column: int
    value: float
    deviation: float
    prior: float
    is_excited: bool
    unit: str
    relative_deviation: float
    reason: str


@record("dyn_client_motor_excess")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotorExcess(Record):
    """Limit of a motor that a motion exceeds: its bound, the worst value, and the samples of the first and worst."""

    limit: str
    bound: float
    worst: float
    first_sample: int
    worst_sample: int
    samples: int


@record("dyn_client_motor_choice")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotorChoice(Record):
    """Motor and gear that may take the place of those of a joint, or of each joint, and the inertia of their rotor.

    What is absent, and a ratio or an inertia of zero, is that of the joint.
    """

    name: str
    joint: str | None = None
    motor: Motor | None = None
    gear: Gear | None = None
    rotor_inertia: float = 0.0


@record("dyn_client_motor_margin")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotorMargin(Record):
    """Limit of a motor, what it bounds in a motion, and the part of it that the motion leaves, negative beyond it."""

    limit: str
    bound: float
    value: float
    margin: float


@record("dyn_client_motor_summary")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotorSummary(Record):
    """Motion of one motor: peaks of absolute values and root mean squares, in SI units and degrees Celsius.

    Energies are zero without times. `matched_ratio` has the greatest acceleration for a given torque. `choice` is the
    name of a choice, and `margins` are those of all limits.
    """

    name: str
    joint: str
    ratio: float
    no_load_speed: float
    stall_torque: float
    peak_load: float
    rms_load: float
    peak_torque: float
    rms_torque: float
    peak_current: float
    rms_current: float
    peak_voltage: float
    peak_speed: float
    peak_power: float
    peak_temperature: float
    electrical_energy: float
    heat_energy: float
    gear_loss_energy: float
    load_inertia: float
    reflected_inertia: float
    matched_ratio: float
    excesses: tuple[MotorExcess, ...]
    margins: tuple[MotorMargin, ...]
    choice: str | None = None


@record("dyn_client_joint_fit")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class JointFit(Record):
    """Root mean square errors of the torque of one coordinate, N m or N, and the terms of its drive.

    Predictions are of parts of the record that did not take part in the estimate. `accounted` is the share of the
    torque's variance that the consistent estimate predicts.
    """

    joint: str
    lowest: float
    highest: float
    model_error: float
    residual: float
    consistent_residual: float
    prediction: float
    consistent_prediction: float
    accounted: float
    saturated: int
    viscous: float
    coulomb: float
    offset: float
    inertia: float
    stribeck: float
    load: float
    gain: float
    gain_deviation: float


@record("dyn_client_limit_use")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class LimitUse(Record):
    """Shares of the limits of one coordinate that a motion uses: 1 is at the limit."""

    joint: str
    position: float
    velocity: float
    effort: float


@record("dyn_client_stream_info")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class StreamInfo(Record):
    """Counters of a stream: points that were accepted, lost, late and so on, and delays in s."""

    name: str
    model: str
    simulation: str
    owner: str
    recording: str
    recording_error: str
    kind: str
    created_ns: int
    accepted: int
    lost: int
    late: int
    duplicates: int
    reordered: int
    refused: int
    beyond_credit: int
    chunks: int
    consumed: int
    empty: int
    last_point_number: int
    credit: int
    waiting: int
    lag: float
    greatest_lag: float
    idle: float
    watchers: int
    nq: int
    nv: int
    joint_names: tuple[str, ...] | None


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class State(Record):
    """State of a simulation at one moment, and its counters. Lists hold no states: q, v and tau are empty there. Calls
    other than Simulation.state hold only step, time, q, v and tau.

    `condition` is "running", "paused" or "diverged"; `ended_by` is the reason for the end of a step call.
    `closure_error` is the largest one in this state, rad or m, of `constraint`. `contact_forces` (surfaces, 3),
    `contact_gaps` and `contact_slips` are those of the last integration step, N, m and m/s, and `contact_residual` the
    largest violation of the contact laws after it. `base_motion` is that of the next step, of Simulation.state alone;
    None: none was set.
    """

    name: str
    model: str
    digest: str
    owner: str
    recording: str
    condition: str
    pace: str
    rate: float
    step_length: float
    lease_remaining: float
    watchers: int
    overruns: int
    ticks: int
    slipped: float
    lateness: float
    longest_lateness: float
    step_cost: float
    step: int
    time: float
    stamp_ns: int
    created_ns: int
    q: Array
    v: Array
    tau: Array
    constraint: str
    closure_error: float
    contact_forces: Array
    contact_gaps: Array
    contact_slips: Array
    contact_residual: float
    external_forces: tuple[ExternalForce, ...]
    base_motion: BaseMotion | None
    joint_names: tuple[str, ...] | None
    computed_with: str
    recording_error: str
    steps_done: int
    ended_by: str
    durable: bool

    def _repr_html_(self) -> str:
        names = self.joint_names if self.joint_names and len(self.joint_names) == len(self.v) else range(len(self.v))
        q = self.q if len(self.q) == len(self.v) else np.full(len(self.v), np.nan)
        rows = [(name, *(f"{value:.6g}" for value in each)) for name, *each in zip(names, q, self.v, self.tau)]
        return html_table(f"{self.name or 'simulation'} at {self.time:g} s, step {self.step}",
                          ["joint", "q", "v", "tau"], rows)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class WatchedState(Record):
    """One state of a simulation that is watched: q is (nq,), v and tau are (nv,), in SI units.

    `update` is the message that published it, with its time stamp and the number of messages that were lost before.
    """

    step: int
    time: float
    q: Array
    v: Array
    tau: Array
    update: Update = dataclasses.field(repr=False)

    def __repr__(self) -> str:
        return f"<WatchedState: step {self.step} at {self.time:g} s, q {brief(self.q)}>"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Update(Record):
    """Published message of a simulation, a stream or the models.

    kind  "states": rows of step, time, q, v, tau. "torques": rows of step, time, tau. "simulation_event" and
          "stream_event": text, message, joint, credit. "model_event": text, model. The events "touchdown", "lift_off"
          and "slip" of a simulation have contact_surface, contact_force (N), contact_impulse (of a touchdown, N s) and
          contact_slip (m/s). Torques of a stream with constraints have residuals, one for each row, rad/s^2 or m/s^2;
          otherwise they are None.
    lost  messages of the topic that were lost before this one.
    simulation  name of the simulation of states and events.
    remaining   updates of the same message that follow: the states of further simulations.
    """

    kind: str
    sequence: int
    lost: int
    stamp_ns: int
    instance: int
    step: NDArray[np.uint64]
    time: Array
    q: Array
    v: Array
    tau: Array
    lateness: float
    text: str
    message: str
    joint: str
    sent_stamp_ns: int
    arrival_stamp_ns: int
    credit: int
    model: ModelInfo | None
    contact_surface: str
    contact_force: Array
    contact_impulse: Array
    contact_slip: float
    residuals: Array | None
    simulation: str
    remaining: int

    @property
    def states(self) -> tuple[WatchedState, ...]:
        """States of the message, one by one; none for other kinds."""
        if self.kind != "states":
            return ()
        return tuple(WatchedState(int(self.step[i]), float(self.time[i]), self.q[i], self.v[i], self.tau[i], self)
                     for i in range(len(self.time)))

    @property
    def is_end(self) -> bool:
        """Returns whether the message says that the simulation, or the stream, is no more."""
        return self.kind in ("simulation_event", "stream_event") and self.text in ("deleted", "expired", "closed")

    def __repr__(self) -> str:
        lost = f", {self.lost} lost before" if self.lost else ""
        if self.kind in ("states", "torques"):
            span = f" from {self.time[0]:g} to {self.time[-1]:g} s" if len(self.time) else ""
            return f"<Update {self.sequence}: {len(self.time)} {self.kind}{span}{lost}>"
        of = f" of {self.model.name!r}" if self.model is not None else ""
        said = f": {self.message}" if self.message else ""
        return f"<Update {self.sequence}: {self.kind} {self.text!r}{of}{said}{lost}>"

    def _repr_html_(self) -> str:
        if self.kind != "states":
            return super()._repr_html_()
        rows = [(each.step, f"{each.time:g}", *(brief(values) for values in (each.q, each.v, each.tau)))
                for each in self.states[:_SHOWN]]
        return html_table(repr(self)[1:-1], ["step", "time", "q", "v", "tau"], rows)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ConstrainedMotion(Record):
    """Accelerations of a model with constraints, n x nv, and the forces of its m constraint rows, n x m."""

    a: Array
    multipliers: Array
    ranks: NDArray[np.uint64]
    residuals: Array
    conditions: Array
    method: str


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Assembly(Record):
    """Configurations that close the loops, n x nq, and the end of the search from each guess."""

    q: Array
    outcomes: tuple[AssemblyOutcome, ...]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Motors(Record):
    """Motors of a motion. Arrays have n rows with one number for each motor, in SI units and degrees Celsius.

    Margins are distances to the edge of the operating region; they are negative outside, and infinite without limits.
    `alternatives` has, for each motor, a summary for each other ratio, and `choices` one for each choice.
    """

    motors: tuple[MotorSummary, ...]
    is_feasible: bool
    load: Array
    speed: Array
    torque: Array
    current: Array
    voltage: Array
    electrical_power: Array
    mechanical_power: Array
    heat: Array
    gear_loss: Array
    torque_margin: Array
    speed_margin: Array
    temperature: Array
    quadrant: NDArray[np.uint64]
    alternatives: tuple[MotorSummary, ...]
    choices: tuple[MotorSummary, ...]
    brake_torque: Array | None

    def __repr__(self) -> str:
        return f"<Motors: {len(self.motors)} in {len(self.load)} samples, feasible: {self.is_feasible}>"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Identification(Record):
    """Estimates from a recorded motion. `parameters` has a row of ten for each body; some body has them.

    `iterations` counts those of the consistent estimate.
    """

    estimates: tuple[LinearEstimate, ...]
    rank: int
    condition: float
    fits: tuple[JointFit, ...]
    bodies: tuple[str, ...]
    parameters: Array
    replaced_priors: tuple[str, ...]
    is_converged: bool
    iterations: int
    payload: Inertia | None

    def __repr__(self) -> str:
        known = sum(each.is_excited for each in self.estimates)
        return (f"<Identification: {known} of {len(self.estimates)} estimates known from {self.rank} directions, "
                f"condition {self.condition:g}>")

    def _repr_html_(self) -> str:
        estimates = [(each.element, each.parameter, f"{each.value:.6g} {each.unit}", f"{each.deviation:.2g}",
                      f"{100 * each.relative_deviation:.2g} %", f"{each.prior:.6g}",
                      "" if each.is_excited else f"not known: {each.reason}") for each in self.estimates]
        rows = [(fit.joint, *(f"{value:.4g}" for value in (fit.model_error, fit.consistent_residual,
                                                           fit.consistent_prediction, fit.accounted)))
                for fit in self.fits]
        return (html_table(f"{self.rank} of {len(self.estimates)} directions excited, condition number "
                           f"{self.condition:.3g}",
                           ["joint", "error before", "error after", "error of prediction", "accounted"], rows)
                + html_table("estimates", ["of", "estimate", "value", "deviation", "relative", "model", ""], estimates))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Excitation(Record):
    """Exciting motion of one period: `time` has the rows, q is rows x nq, v, a and the model's tau are rows x nv."""

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    estimates: int
    rank: int
    condition: float
    log_determinant: float
    uses: tuple[LimitUse, ...]
    trials: int

    def __repr__(self) -> str:
        return (f"<Excitation: {len(self.time)} rows in {self.time[-1]:g} s, {self.rank} directions of "
                f"{self.estimates} estimates, condition {self.condition:g}>")

    def _repr_html_(self) -> str:
        rows = [(each.joint, *(f"{100 * share:.3g} %" for share in (each.position, each.velocity, each.effort)))
                for each in self.uses]
        return html_table(repr(self)[1:-1], ["joint", "position", "velocity", "effort"], rows)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Rollout(Record):
    """Motions of n samples over time: `time` has the rows, q is n x rows x nq, v and tau are n x rows x nv.

    Forces of the s contact surfaces of the model are n x rows x s x 3, N in the world, gaps (m) and slips (m/s) are n x
    rows x s. Members that were not requested are None. A call with one state has no first dimension.
    """

    time: Array
    q: Array
    v: Array
    tau: Array | None
    kinetic: Array | None
    potential: Array | None
    outcomes: tuple[Outcome, ...]
    computed_with: str
    contact_forces: Array | None
    contact_gaps: Array | None
    contact_slips: Array | None
    constraint_method: str

    def __repr__(self) -> str:
        ends: dict[str, int] = {}
        for outcome in self.outcomes:
            ends[outcome.status] = ends.get(outcome.status, 0) + 1
        shown = ", ".join(f"{count} {status}" for status, count in ends.items())
        return f"<Rollout of {len(self.outcomes)} samples, {len(self.time)} rows: {shown}>"

    def _repr_html_(self) -> str:
        rows = [(i, each.status, each.steps, each.stops, f"{each.energy_drift:.3g}", each.joint)
                for i, each in enumerate(self.outcomes[:_SHOWN])]
        more = f", the first {_SHOWN} of {len(self.outcomes)}" if len(self.outcomes) > _SHOWN else ""
        return html_table(f"outcomes{more}", ["sample", "status", "steps", "stops", "energy drift [J]", "joint"], rows)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Record):
    """Motion as rows over time, and the limits of the description that it exceeds. Members without a value are None."""

    time: Array | None
    q: Array | None
    v: Array | None
    a: Array | None
    tau: Array | None
    diverged_row: int
    diverged_joint: str
    excesses: tuple[Excess, ...]
    constraint: str
    closure_error: float
    residuals: Array | None = None

    @property
    def is_feasible(self) -> bool:
        """Returns whether the motion keeps all limits and does not diverge."""
        return not self.excesses and self.diverged_row == 0

    def _repr_html_(self) -> str:
        rows = [(e.joint, e.kind, e.limit, e.value, e.rows) for e in self.excesses]
        return html_table("limits that the motion exceeds", ["joint", "kind", "limit", "value", "rows"], rows)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Replay(Record):
    """Recorded run, computed again and compared bit for bit. q, v and tau have one row for each requested state."""

    model: str
    digest: str
    step_length: float
    steps: int
    equal_steps: int
    first_difference: int
    is_truncated: bool
    step: NDArray[np.uint64]
    q: Array
    v: Array
    tau: Array
    joint_names: tuple[str, ...] | None
    recorded_with: str
    computed_with: str


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class BaseParameter(Record):
    """Inertial parameter to which others are regrouped: the sum of factors times the parameters in `columns`."""

    column: int
    value: float
    unit: str
    columns: NDArray[np.uint64]
    factors: Array


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class BaseParameters(Record):
    """tau = Y p = Y_b b: the standard parameters p (bodies x 10) and the base parameters b in `rows`."""

    bodies: tuple[str, ...]
    names: tuple[str, ...]
    values: Array
    rows: tuple[BaseParameter, ...]

    def _name(self, column: int) -> str:
        return f"{self.names[column % 10]} of {self.bodies[column // 10]}"

    def _repr_html_(self) -> str:
        rows = [(" + ".join(f"{factor:.4g} {self._name(int(column))}"
                            for factor, column in zip(row.factors, row.columns)), f"{row.value:.6g}", row.unit)
                for row in self.rows]
        return html_table(f"{len(rows)} base parameters", ["parameters", "value", "unit"], rows)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Contribution(Record):
    """Joint forces due to one link or payload, nv each."""

    link: str
    moving_joint: str
    mass: float
    inertial: Array
    coriolis: Array
    gravity: Array


@record("dyn_client_motion_agreement")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotionAgreement(Record):
    """How far a motion agrees with the constraints: independent rows, independent ways to change the forces of the
    motors without changing the motion, and the largest violation, rad/s^2 or m/s^2."""

    rank: int
    freedom: int
    residual: float


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Explanation(Record):
    """Torques of one motion by term and by link, nv each. `terms` has the names inertial, coriolis, gravity, external
    and, with payloads, payload. `counted_passive_forces` are those that are terms; None: none. `agreement` is that
    of the motion with the constraints; None: there are none.
    """

    joints: tuple[str, ...]
    units: tuple[str, ...]
    tau: Array
    terms: dict[str, Array]
    links: tuple[Contribution, ...]
    payloads: tuple[Contribution, ...]
    residual: float
    counted_passive_forces: PassiveForces | None = None
    agreement: MotionAgreement | None = None

    def _repr_html_(self) -> str:
        rows = [(joint, *(f"{values[i]:.6g}" for values in self.terms.values()), f"{self.tau[i]:.6g}", self.units[i])
                for i, joint in enumerate(self.joints)]
        return html_table("torques by term", ["joint", *self.terms, "tau", "unit"], rows)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FormulationBlock(Record):
    """Inner quantity of a formulation, as the literature names it.

    values    n x shape, without the first dimension for a single state.
    unit      units of the entries, all that occur: "N m, N".
    frame     axes and origin of vectors and matrices; empty: it has none.
    equation  number in the source, or the equation itself.
    axes      name of each dimension of a state, such as "link", "coordinate", "row" and "xyz".
    """

    name: str
    meaning: str
    values: Array
    unit: str
    frame: str
    equation: str
    axes: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Formulation(Record):
    """Inverse dynamics by a formulation of the literature, and its inner quantities by name. tau is (n, nv), and (nv,)
    for a single state."""

    source: str
    tau: Array
    blocks: dict[str, FormulationBlock]

    def __repr__(self) -> str:
        return f"<Formulation of {self.source}: tau {brief(self.tau)}, blocks {', '.join(self.blocks)}>"

    def _repr_html_(self) -> str:
        rows = [(each.name, each.meaning, brief(each.values)) for each in self.blocks.values()]
        return html_table(f"{self.source}: tau {brief(self.tau)}", ["block", "meaning", "values"], rows)


@record("dyn_client_formulation_cost")
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FormulationCost(Record):
    """Cost of one result of a formulation: time in s, operations, and its difference from the daemon's own result.
    `refusal` is the reason why the result cannot be computed in this state, or empty."""

    is_stated: bool
    difference: float
    time: float
    multiplications: int
    additions: int
    divisions: int
    roots: int
    sines: int
    refusal: str


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ComparedFormulation(Record):
    """Results of one formulation, or the reason why it does not apply to the model. A result that its cost refuses is
    None."""

    name: str
    source: str
    refusal: str
    tau: Array | None
    a: Array | None
    inverse_dynamics: FormulationCost | None
    forward_dynamics: FormulationCost | None
    mass_matrix: FormulationCost | None
    M: Array | None

    def __repr__(self) -> str:
        if self.refusal:
            return f"<ComparedFormulation {self.name!r} does not apply: {self.refusal}>"
        return f"<ComparedFormulation {self.name!r} of {self.source}: tau {self.brief_tau()}>"

    def brief_tau(self) -> str:
        """The forces in brief, or why there are none."""
        refusal = self.refusal or (self.inverse_dynamics.refusal if self.inverse_dynamics else "")
        return refusal if self.tau is None else brief(self.tau)


class Comparison(tuple[ComparedFormulation, ...]):
    """Results of all formulations for one motion, the first by the daemon's own algorithms."""

    def _repr_html_(self) -> str:
        def cost(stated: FormulationCost | None, member: str) -> str:
            return "" if stated is None or not stated.is_stated else f"{getattr(stated, member):.3g}"
        rows = [(each.name, each.source, each.brief_tau(), cost(each.inverse_dynamics, "time"),
                 cost(each.inverse_dynamics, "difference")) for each in self]
        return html_table("one motion by every formulation", ["name", "source", "tau", "time [s]", "difference"], rows)
