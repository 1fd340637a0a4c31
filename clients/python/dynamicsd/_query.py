# SPDX-License-Identifier: BSD-2-Clause
"""Common arguments of numeric calls, and their arrays."""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Protocol, TypedDict, Union, cast

import numpy as np
from numpy.typing import ArrayLike

from dynamicsd._client import ffi, lib
from dynamicsd._convert import Keep, as_doubles, characters, fill, named, room, strings, whole
from dynamicsd._session import CANCELLATION, Progress, Watch, seconds
from dynamicsd.errors import InvalidArgument, text
from dynamicsd.evaluation import Layouts, Request
from dynamicsd.records import (Array, BaseMotion, Constraint, ExternalForce, MotionOptions, PassiveForces, Payload,
                               TipConstraint)

if TYPE_CHECKING:
    from dynamicsd.model import Model

_QUERY = ffi.typeof("dyn_client_query *")
_QUERY_SIZE = ffi.sizeof("dyn_client_query")
_ERROR = ffi.typeof("dyn_client_error *")
_NULL = ffi.NULL
_from_buffer = ffi.from_buffer
_DOUBLES = ffi.typeof("double[]")
_VECTOR = ffi.typeof("double[3]")
_ARRAY = np.ndarray
_DOUBLE = np.dtype(np.float64)
# States from which on the memory for a result may be missing.
_MANY = 1 << 20
# Arrays whose rows are configurations. Those of the others are velocities, accelerations or forces.
_OF_Q = frozenset(("q", "q_1", "q_ref"))


class Table(Protocol):
    """Table with a column for each coordinate, such as a DataFrame of pandas."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    def __getitem__(self, names: Any, /) -> Any:
        """Columns of these names."""


Rows = Union[ArrayLike, Table]


class JobTicket:
    """Right to a job. Passed as `job`, a new ticket starts a job, and a later call with it waits for the same job.

    `name` and `token` identify the job, also for another process. The token is 0 before the job starts and after its
    result was fetched.
    """

    def __init__(self, name: str = "", token: int = 0) -> None:
        self.struct = ffi.new("dyn_client_job_ticket *")
        try:
            self.struct.name = characters("name", name)
            self.struct.token = whole("token", token)
        except IndexError as error:
            raise InvalidArgument(str(error), field="name") from None

    @property
    def name(self) -> str:
        """Name of the job."""
        return text(self.struct.name)

    @property
    def token(self) -> int:
        """Secret that fetching the result and cancelling need."""
        return int(self.struct.token)

    def __repr__(self) -> str:
        return f"<JobTicket {self.name!r}>"


class RecordOptions(TypedDict, total=False):
    """Keyword arguments of calls about a record of a motion, which has times of its own."""

    joint_names: Sequence[str]
    gravity: ArrayLike
    external_forces: Sequence[ExternalForce]
    payloads: Sequence[Payload]
    without_rotors: bool
    precision: str
    on_error: str
    expected_digest: str
    formulation: str
    passive_forces: PassiveForces
    motion_options: MotionOptions
    base_motion: BaseMotion
    rows: tuple[ArrayLike, ArrayLike | None]
    constraints: Sequence[Constraint]
    tip_constraints: Sequence[TipConstraint]
    timeout: float
    progress: Progress
    job: JobTicket


class Options(RecordOptions, total=False):
    """Keyword arguments of all calls that compute with a model.

    joint_names      every moving joint once: the order of rows and columns in inputs and results.
    gravity          3 values, m/s^2 in the world, instead of the model's own.
    external_forces  wrenches of the environment on links; they add up.
    payloads         bodies attached to links during the call; they add up.
    without_rotors   True: mass and inertia of the model's rotors do not count.
    precision        "double" or "single".
    on_error         "fail", or "mark": rows of states that fail are NaN, and a MarkedRows warning counts them.
    expected_digest  digest that the model must have.
    formulation      formulation of the literature that computes, such as "lagrange_euler".
    passive_forces   PassiveForces that inverse and forward dynamics count; None: none.
    motion_options   MotionOptions of inverse dynamics with constraints; None: motions that they forbid are refused.
    base_motion      given motion of the base; None: it rests.
    constraints      constraints that hold during the call beside those of the model.
    time             s: instant of prescribed motions in constraints, where no time runs.
    rows             (A, c) of A a = c beside the constraints: (k, nv) and (k,), or a block of both for each state; c
                     None: zeros. Of forward and inverse dynamics, trajectories of inverse dynamics, and
                     evaluations of quantities that depend on constraints.
    tip_constraints  conditions on the acceleration of the last link, with the formulation "vereshchagin".
    timeout          seconds; 0: the client's own.
    progress         True: a progress bar; or a function of the fraction done, whose result False cancels the call.
    job              ticket: the call runs as a job.
    """

    time: float


class EvaluateOptions(Options, total=False):
    """Keyword arguments of Model.evaluate.

    tau               joint forces: (n, nv); None: zeros.
    dq, dv, da, dtau  directions of derivatives: (n, nv) each.
    frames            names of the frames of all quantities that name none.
    reference_frame   axes of all quantities that name none: "local" (the default), "world" or "local_world_aligned".
    contact_step      s: quantities of contacts are of a step of this length; 0: 0.001.
    """

    tau: Rows | None
    dq: Rows | None
    dv: Rows | None
    da: Rows | None
    dtau: Rows | None
    frames: Sequence[str] | None
    reference_frame: str
    contact_step: float


_OPTIONS = frozenset(Options.__annotations__)
_OF_EVALUATE = tuple(name for name in EvaluateOptions.__annotations__ if name not in _OPTIONS)
# Options whose setters replace the value of the call before.
_REPEATABLE = frozenset(("timeout", "precision", "on_error", "gravity", "joint_names"))
_PRECISIONS = named("dyn_client_precision")
_ON_ERRORS = named("dyn_client_on_error")


def taken(options: Mapping[str, Any]) -> dict[str, Any]:
    """Removes the options that evaluate alone has, and returns them."""
    given = cast("dict[str, Any]", options)
    return {name: given.pop(name) for name in _OF_EVALUATE if name in given}


def _names_of(value: Any) -> Any:
    """Names of the coordinates of a table or of one row of a table, None where the value has no such names."""
    if type(value) in (np.ndarray, list, tuple) or not hasattr(value, "to_numpy"):
        return None
    if hasattr(value, "columns"):
        return value.columns
    index = getattr(value, "index", None)
    return index if index is not None and any(isinstance(name, str) for name in index) else None


def as_rows(field: str, value: Any, names: Callable[[], Sequence[str]]) -> Array:
    """Rows of doubles in C order: of an array, or of a table or its row, whose values are ordered as the names.

    A value of a table is named "elbow" or, as by dynamicsctl, "q.elbow".
    """
    given = _names_of(value)
    if given is None:
        return as_doubles(field, value)
    known, needed = {str(name) for name in given}, names()
    found = [name if name in known else f"{field}.{name}" for name in needed]
    missing = [name for name, column in zip(needed, found) if column not in known]
    if missing:
        raise InvalidArgument(f"has no column {missing[0]!r}; {len(needed)} are needed: {', '.join(needed)}",
                              field=field)
    return as_doubles(field, value[found].to_numpy())


@functools.lru_cache(maxsize=None)
def _free_of(kind: str) -> Any:
    """Function of C that frees a result."""
    return getattr(lib, f"{kind}_free")


def _check_result(out: Array, shape: tuple[int, ...]) -> None:
    """Refuses an array of the caller that cannot take the result."""
    if type(out) is not _ARRAY or out.dtype != _DOUBLE or out.shape != shape:
        given = f"{out.dtype} {out.shape}" if isinstance(out, _ARRAY) else type(out).__name__
        raise InvalidArgument(f"is {given}, but an array of float64 with the shape {shape} is needed", field="out")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise InvalidArgument("is not contiguous in C order, or not writable", field="out")


_NO_NAMES = strings(())


class Query:
    """Query of one call. The first array decides on the number of states."""

    __slots__ = ("model", "struct", "error", "keep", "samples", "leading", "q_shape", "v_shape", "layouts", "watch",
                 "request", "key", "is_repeatable", "_names", "_gravity")

    def __init__(self, model: Model, options: Mapping[str, Any]) -> None:
        self.model = model
        struct = self.struct = ffi.new(_QUERY)
        struct.struct_size = _QUERY_SIZE
        struct.model, struct.nq, struct.nv = model.c_name, model.nq, model.nv
        self.error = ffi.new(_ERROR)
        self.keep = Keep()
        self.samples = 0
        self.leading: tuple[int, ...] = ()  # first dimensions of arrays: (n,), or () for a single state
        self.q_shape: tuple[int, ...] = (-1,)  # of no array
        self.v_shape: tuple[int, ...] = (-1,)
        self.layouts: Layouts = {}  # of arrays with these first dimensions
        self.watch: Watch | None = None
        self.request = Request()
        self.key = tuple(options)
        self.is_repeatable = _REPEATABLE.issuperset(options)
        self._names = _NO_NAMES  # of the joints in struct
        self._gravity: Any = ffi.new(_VECTOR) if "gravity" in options else None
        self._apply(options)
        if self.watch is None and CANCELLATION.get() is not None:
            self._observe(None)

    @classmethod
    def of(cls, model: Model, options: Mapping[str, Any]) -> Query:
        """Query of a call that may be short: one that has served an earlier call with options of the same names, if
        there is one.

        A short call runs after the program has slept in the call before, so that it costs as much as the instructions
        and the memory that it touches. The calls below therefore make few objects.
        """
        key = tuple(options) if options else ()
        try:
            query: Query = model.idle_queries[key].pop()
        except (KeyError, IndexError):
            model.idle_queries.setdefault(key, [])
            return cls(model, options)
        query.model = model
        if options:
            query._apply(options)
        if CANCELLATION.get() is not None:
            query._observe(None)
        return query

    def end(self) -> None:
        """Leaves the query to later calls of the model. The caller must not use it again."""
        if self.is_repeatable:
            if self.keep:
                self.keep.clear()
            idle = self.model.idle_queries[self.key]
            del self.model  # Otherwise, the model and its idle queries were a cycle.
            idle.append(self)

    def _apply(self, options: Mapping[str, Any]) -> None:
        """Sets the parts that the caller names."""
        others = {}
        for name, value in options.items():
            setter = _SETTERS.get(name)
            if setter is not None:
                setter(self, value)
            elif name in _OPTIONS:
                others[name] = value
            else:
                raise TypeError(f"unexpected keyword argument {name!r}")
        if others:
            fill(self.keep, self.struct, "", **others)

    def _set_timeout(self, value: Any) -> None:
        self.struct.timeout = seconds(value)

    def _set_job(self, value: Any) -> None:
        if value is not None:
            if not isinstance(value, JobTicket):
                raise InvalidArgument(f"is {value!r}, but a JobTicket is needed", field="job")
            self.keep.append(value)
            self.struct.job = value.struct

    def _set_progress(self, value: Any) -> None:
        if value:
            if value is not True and not callable(value):
                raise InvalidArgument(f"is {value!r}, but True or a function is needed", field="progress")
            self._observe(value)

    def _set_precision(self, value: Any) -> None:
        self.struct.precision = _PRECISIONS.number("precision", value)

    def _set_on_error(self, value: Any) -> None:
        self.struct.on_error = _ON_ERRORS.number("on_error", value)

    def _set_gravity(self, value: Any) -> None:
        if type(value) is list and len(value) == 3:
            try:
                self._gravity[0:3] = value
                self.struct.gravity = self._gravity
                return
            except (TypeError, OverflowError):
                pass  # Numbers of other types, or none.
        self.struct.gravity = _NULL if value is None else self.keep.doubles("gravity", value, (3,))

    def _set_joint_names(self, value: Any) -> None:
        try:
            given = (value,) if isinstance(value, str) else () if value is None else tuple(value)
            if given != self._names.values:
                names = self._names = strings(given)
                self.struct.joint_names, self.struct.joint_count = names.array, len(given)
        except (AttributeError, TypeError) as error:
            raise InvalidArgument(f"{value!r} does not fit: {error}", field="joint_names") from None

    def _set_rows(self, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise InvalidArgument("is no pair of a matrix and accelerations", field="rows")
        matrix = as_doubles("rows", value[0])
        if matrix.ndim not in (2, 3) or matrix.shape[-1] != self.model.nv:
            needed = f"(k, {self.model.nv}) or (n, k, {self.model.nv})"
            raise InvalidArgument(f"has the shape {matrix.shape}, but {needed} is needed", field="rows[0]")
        given = as_doubles("rows[1]", np.zeros(matrix.shape[:-1]) if value[1] is None else value[1])
        if given.shape != matrix.shape[:-1]:
            raise InvalidArgument(f"has the shape {given.shape}, but {matrix.shape[:-1]} is needed", field="rows[1]")
        self.struct.row_count, self.struct.has_rows_per_sample = matrix.shape[-2], matrix.ndim == 3
        buffers = _from_buffer(_DOUBLES, matrix), _from_buffer(_DOUBLES, given)
        self.struct.rows, self.struct.row_accelerations = buffers
        self.keep.append(buffers)

    def _observe(self, progress: Progress | None) -> None:
        self.is_repeatable = False
        self.watch = Watch(progress)
        self.watch.set_in(self.struct)

    def names(self, field: str) -> Sequence[str]:
        """Names of the coordinates of a row."""
        order = [ffi.string(self.struct.joint_names[i]).decode() for i in range(self.struct.joint_count)]
        return self.model.coordinate_names(field in _OF_Q, order)

    def start(self, samples: int, is_single: bool = False) -> None:
        """Sets the number of states."""
        leading = self.leading = () if is_single else (samples,)
        self.q_shape, self.v_shape = (*leading, self.model.nq), (*leading, self.model.nv)
        self.samples = self.struct.samples = samples
        self.layouts = {}

    def _start_with(self, field: str, shape: tuple[int, ...], width: int) -> None:
        """Sets the number of states to that of the first array."""
        if len(shape) not in (1, 2) or shape[-1] != width or shape[0] == 0:
            raise InvalidArgument(f"has the shape {shape}, but ({width},) or (n, {width}) is needed", field=field)
        self.start(1 if len(shape) == 1 else shape[0], len(shape) == 1)

    def of_q(self, field: str, value: Any) -> Any:
        """Pointer of C to rows of configurations, which keeps them alive. Those of "q" set the number of states."""
        if not (type(value) is _ARRAY and value.shape == self.q_shape and value.dtype is _DOUBLE
                and value.flags.c_contiguous):
            value = as_rows(field, value, functools.partial(self.names, field))
            if value.shape != self.q_shape and field == "q":
                self._start_with(field, value.shape, self.model.nq)
            self._check(field, value, self.q_shape)
        return _from_buffer(_DOUBLES, value)

    def of_v(self, field: str, value: Any) -> Any:
        """Pointer of C to rows of velocities, accelerations or forces, which keeps them alive."""
        if not (type(value) is _ARRAY and value.shape == self.v_shape and value.dtype is _DOUBLE
                and value.flags.c_contiguous):
            value = as_rows(field, value, functools.partial(self.names, field))
            self._check(field, value, self.v_shape)
        return _from_buffer(_DOUBLES, value)

    def _check(self, field: str, value: Array, needed: tuple[int, ...]) -> None:
        """Refuses rows of another number or width."""
        if value.shape != needed:
            raise InvalidArgument(f"has the shape {value.shape}, but {needed} is needed", field=field)

    def pointers(self, fields: Sequence[str], values: Sequence[Any]) -> list[Any]:
        """Pointers of C to rows, NULL for None."""
        return [_NULL if value is None else (self.of_q if field in _OF_Q else self.of_v)(field, value)
                for field, value in zip(fields, values)]

    def rows(self, field: str, value: Any) -> Any:
        """Pointer of C to rows, which the query keeps alive."""
        pointer, = self.pointers((field,), (value,))
        self.keep.append(pointer)
        return pointer

    def shape(self, *trailing: int) -> tuple[int, ...]:
        """Shape of a result, without the first dimension for a single state."""
        return (*self.leading, *trailing)

    def compute(self, function: Any, arguments: Sequence[Any], out: Array | None, *trailing: int) -> Array:
        """Calls a function that writes one array, the caller's own or a new one. It ends the query."""
        shape = self.shape(*trailing)
        if out is None:
            out = np.empty(shape) if self.samples < _MANY else room("samples", shape)
        else:
            _check_result(out, shape)
        self.model.session.invoke(function, (self.struct, *arguments, _from_buffer(_DOUBLES, out)), self.watch,
                                  self.error)
        self.end()
        return out

    def result(self, kind: str, function: Any, *arguments: Any) -> Any:
        """Calls a function that returns a block of memory of the type `kind`."""
        free = _free_of(kind)
        return self.model.session.result(kind, free, function, self.struct, *arguments, watch=self.watch)


# Setters of the options that many calls have, and of those that fill cannot set.
_SETTERS: dict[str, Callable[[Query, Any], None]] = {
    name: getattr(Query, f"_set_{name}")
    for name in ("timeout", "job", "progress", "precision", "on_error", "gravity", "joint_names",
                 "rows")}
