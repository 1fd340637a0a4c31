# SPDX-License-Identifier: BSD-2-Clause
"""Quantities that Model.evaluate computes, by their names."""
from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from dynamicsd._client import ffi, lib
from dynamicsd._convert import Keep, characters, doubles, fill, listed, named, read
from dynamicsd._shown import html_table
from dynamicsd.errors import InvalidArgument, text
from dynamicsd.records import Array, PassiveForces, TaskFrame

_NULL = ffi.NULL
_gc, _buffer, _ndarray = ffi.gc, ffi.buffer, np.ndarray
_find_numbers = lib.dynamicsd_find_numbers
_DOUBLE = np.dtype(np.float64)
_QUANTITIES = named("dyn_client_quantity")
_NUMBERS = _QUANTITIES.numbers
_REQUEST_SIZE = ffi.sizeof("dyn_client_evaluate_request")
_TEXT = frozenset((str,))
_FRAMES = named("dyn_client_reference_frame")
# Labels along each axis, units, and the class of each entry.
Described = tuple[tuple[tuple[str, ...], ...], tuple[str, ...], Union[NDArray[np.intp], None]]


@dataclasses.dataclass(frozen=True)
class Quantity:
    """Quantity of Model.evaluate, and its subject.

    Quantities of frames need `frames` and, beside poses, `reference_frame`: "local", "world" or "local_world_aligned".
    Those of subtrees take a joint, and those of tasks `task_frames`.
    """

    quantity: str
    frames: Sequence[str] | None = None
    reference_frame: str = "unspecified"
    subtree: str | None = None
    task_frames: Sequence[TaskFrame] | None = None
    damping: float = 0.0
    restitution: float = 0.0


class Block:
    """Array of a quantity: n x shape, without the first dimension for a single state.

    name, values  the name of the block, and its numbers.
    labels        names of the entries along each axis of a sample.
    units         units of the entries: one for each class of entries.
    classes       class of each entry of a sample; None: all are of the first.
    """

    __slots__ = ("name", "_values", "_found", "_memory", "_described")

    def __init__(self, name: str, found: Any, memory: Memory) -> None:
        self.name = name
        self._values: Array | None = None
        self._found = found  # in the memory of C; None in copies
        self._memory: Memory | None = memory
        self._described: Described | None = None

    @property
    def values(self) -> Array:
        """Numbers of the block, in the memory of C."""
        if self._values is None:
            assert self._memory is not None
            self._values = self._memory.values_of(self._found)
        return self._values

    def _description(self) -> Described:
        """Labels, units and classes. They are read from the memory of C when they are first used."""
        if self._described is None:
            self._described = _describe(self._found)
        return self._described

    def __getstate__(self) -> tuple[str, Array, Described]:
        return self.name, self.values, self._description()

    def __setstate__(self, state: tuple[str, Array, Described]) -> None:
        self.name, self._values, self._described = state
        self._found = self._memory = None

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """Names of the entries along each axis of a sample."""
        return self._description()[0]

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each class of entries."""
        return self._description()[1]

    @property
    def classes(self) -> NDArray[np.intp] | None:
        """Class of each entry of a sample; None: all are of the first."""
        return self._description()[2]

    def unit(self, *entry: int) -> str:
        """Unit of an entry of a sample: unit(0, 1) of a matrix."""
        return self.units[0 if self.classes is None else int(self.classes[entry])]

    def __repr__(self) -> str:
        return f"<Block {self.name!r} {self.values.shape}, {', '.join(dict.fromkeys(self.units))}>"


class QuantityResult:
    """Result of one quantity.

    quantity, frame  the names of the quantity and of its frame; "" without a frame.
    reference_frame  "local", "world", "local_world_aligned" or "unspecified".
    expressed_in     the axes and the origin in words.
    of_tree          True: there are constraints, and the values are those of the tree alone, with its loops open.
    blocks           the arrays by name.
    """

    __slots__ = ("quantity", "of_tree", "_words", "_blocks", "_found", "_memory")

    def __init__(self, found: Any, memory: Memory) -> None:
        self.quantity = _QUANTITIES.name(found.quantity)
        self.of_tree = bool(found.of_tree)
        self._words: tuple[str, str, str] | None = None
        self._blocks: dict[str, Block] | None = None
        self._found = found  # in the memory of C; None in copies
        self._memory: Memory | None = memory

    def _in_words(self) -> tuple[str, str, str]:
        """Frame, reference frame and axes. They are read from the memory of C when they are first used."""
        if self._words is None:
            found = self._found
            self._words = text(found.frame), _FRAMES.name(found.reference_frame), text(found.expressed_in)
        return self._words

    @property
    def frame(self) -> str:
        """Name of the frame."""
        return self._in_words()[0]

    @property
    def reference_frame(self) -> str:
        """Name of the axes that the request asks for."""
        return self._in_words()[1]

    @property
    def expressed_in(self) -> str:
        """Axes and origin in words."""
        return self._in_words()[2]

    @property
    def blocks(self) -> dict[str, Block]:
        """Arrays by name."""
        if self._blocks is None:
            assert self._memory is not None
            memory, found = self._memory, self._found
            self._blocks = {(name := text(block.name)): Block(name, block, memory)
                            for block in found.blocks[0:found.block_count]}
        return self._blocks

    def __getstate__(self) -> tuple[str, bool, tuple[str, str, str], dict[str, Block]]:
        return self.quantity, self.of_tree, self._in_words(), self.blocks

    def __setstate__(self, state: tuple[str, bool, tuple[str, str, str], dict[str, Block]]) -> None:
        self.quantity, self.of_tree, self._words, self._blocks = state
        self._found = self._memory = None

    def __repr__(self) -> str:
        return f"<QuantityResult {self.quantity!r}: {', '.join(map(repr, self.blocks.values()))}>"


class Layout:
    """Shape and size of an array. Evaluations of the same quantities share it."""

    __slots__ = ("shape", "size", "sample")

    def __init__(self, shape: tuple[int, ...], size: int, sample: tuple[int, ...]) -> None:
        self.shape = shape
        self.size = size  # bytes
        self.sample = ffi.new("dynamicsd_shape *", (len(sample), sample))


# Layouts of the quantities that have one array, by their numbers.
Layouts = dict[int, Layout]


class Memory:
    """Memory of C with the results of an evaluation. It lives as long as one of its arrays."""

    __slots__ = ("evaluation", "leading")

    def __init__(self, evaluation: Any, leading: tuple[int, ...]) -> None:
        self.evaluation = evaluation
        self.leading = leading

    def layout_of(self, block: Any) -> Layout:
        """Layout of a block."""
        sample = tuple(ffi.unpack(block.shape, block.rank)) if block.rank else ()
        return Layout((*self.leading, *sample), 8 * self.evaluation.samples * block.width, sample)

    def values_of(self, block: Any) -> Array:
        """Array over the numbers of a block, without a copy."""
        layout = self.layout_of(block)
        return _array(self.evaluation, block.values, layout) if layout.size else np.empty(layout.shape)


def _array(evaluation: Any, numbers: Any, layout: Layout) -> Array:
    """Array over numbers of an evaluation, which keeps it alive: by a function of a tuple that has it, which needs no
    frame of Python when the array is freed."""
    return _ndarray(layout.shape, _DOUBLE, _buffer(_gc(numbers, (evaluation,).count), layout.size))


class Evaluation(Mapping[str, Array]):
    """Results of Model.evaluate by name.

    A key is "mass_matrix", or "frame_jacobian.linear" for a quantity of several blocks. It ends with "@tool0" where the
    quantity was computed for several frames. Attributes are the same for names without a dot. `results` has the labels
    and units.
    """

    __slots__ = ("_evaluation", "_leading", "_layouts", "_results", "_by_key", "_counted", "_residuals")

    def __init__(self, evaluation: Any, leading: tuple[int, ...], layouts: Layouts) -> None:
        self._evaluation = evaluation  # None in copies
        self._leading = leading
        self._layouts = layouts
        self._results: tuple[QuantityResult, ...] | None = None
        self._by_key: dict[str, Block] | None = None

    @property
    def results(self) -> tuple[QuantityResult, ...]:
        """Results in the order of the quantities, with their labels and units."""
        if self._results is None:
            found = self._evaluation
            memory = Memory(found, self._leading)
            self._results = tuple(QuantityResult(each, memory) for each in found.results[0:found.result_count])
        return self._results

    @property
    def counted_passive_forces(self) -> PassiveForces | None:
        """Passive forces that count in results of inverse and forward dynamics; None: none."""
        if self._evaluation is not None:
            counted = self._evaluation.counted_passive_forces
            return read(PassiveForces, counted) if counted else None
        return self._counted

    @property
    def residuals(self) -> Array | None:
        """How far each motion leaves the constraints, rad/s^2 or m/s^2; None: no quantity depends on that."""
        if self._evaluation is not None:
            found = self._evaluation
            if not found.residuals:
                return None
            return doubles(found.residuals, found.samples, found).reshape(self._leading)
        return self._residuals

    def __getstate__(self) -> tuple[tuple[QuantityResult, ...], PassiveForces | None, Array | None]:
        return self.results, self.counted_passive_forces, None if self.residuals is None else self.residuals.copy()

    def __setstate__(self, state: tuple[tuple[QuantityResult, ...], PassiveForces | None, Array | None]) -> None:
        self._results, self._counted, self._residuals = state
        self._evaluation = self._by_key = None
        self._layouts = {}

    def _blocks(self) -> dict[str, Block]:
        """Blocks by key."""
        if self._by_key is None:
            names = [result.quantity for result in self.results]
            by_key: dict[str, Block] = {}
            for result in self.results:
                quantity = result.quantity
                suffix = f"@{result.frame}" if names.count(quantity) > 1 and result.frame else ""
                for name, block in result.blocks.items():
                    by_key.setdefault((quantity if name == "value" else f"{quantity}.{name}") + suffix, block)
            self._by_key = by_key
        return self._by_key

    def _only(self, number: int) -> Array | None:
        """Array of a quantity that has no other, without making blocks of Python; None: it has none or several."""
        found = self._evaluation
        block = None if found is None or self._by_key is not None else lib.dynamicsd_find_value(found, number)
        if not block:
            return None
        memory = Memory(found, self._leading)
        self._layouts[number] = memory.layout_of(block)
        return memory.values_of(block)

    def _find(self, key: str) -> Array | None:
        """Array of a key, or None."""
        number = _NUMBERS.get(key)
        values = None if number is None else self._only(number)
        if values is None:
            block = self._blocks().get(key)
            values = None if block is None else block.values
        return values

    def __getitem__(self, key: str) -> Array:
        values = self._find(key)
        if values is None:
            raise KeyError(f"{key!r} is none of {', '.join(self._blocks())}")
        return values

    def __getattr__(self, name: str) -> Array:
        if name in self.__slots__:  # Copies ask for attributes before they have results.
            raise AttributeError(name)
        values = self._find(name)
        if values is None:
            raise AttributeError(f"{name!r} is none of {', '.join(self._blocks())}")
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks())

    def __len__(self) -> int:
        return len(self._blocks())

    def __repr__(self) -> str:
        return "<Evaluation of " + ", ".join(f"{name} {values.shape}" for name, values in self.items()) + ">"

    def _repr_html_(self) -> str:
        rows = [(result.quantity, result.frame, block.name, block.values.shape, ", ".join(dict.fromkeys(block.units)))
                for result in self.results for block in result.blocks.values()]
        return html_table("quantities", ["quantity", "frame", "block", "shape", "units"], rows)


def _attribute(name: str, number: int) -> property:
    """Attribute with the array of a quantity. Python finds it faster than by __getattr__, and completes its name."""
    def values(self: Evaluation) -> Array:
        layout = self._layouts.get(number)
        if layout is not None:
            evaluation = self._evaluation
            numbers = _find_numbers(evaluation, number, layout.sample)
            if numbers:  # This is _array, without its frame.
                return _ndarray(layout.shape, _DOUBLE, _buffer(_gc(numbers, (evaluation,).count), layout.size))
        return self.__getattr__(name)
    return property(values)


for _name, _number in _NUMBERS.items():
    setattr(Evaluation, _name, _attribute(_name, _number))

Asked = Union[str, Quantity]


@functools.lru_cache(maxsize=None)
def _find(name: str) -> tuple[int, int] | None:
    """Number of a quantity and its subject."""
    number = ffi.new("dyn_client_quantity *")
    if not lib.dyn_client_find_quantity(characters("quantities", name), number):
        return None
    return int(number[0]), int(lib.dyn_client_quantity_subject_of(number[0]))


def number_of(field: str, name: str) -> tuple[int, int]:
    """Number of a quantity and its subject."""
    found = _find(name) if isinstance(name, str) else None
    if found is None:
        near = difflib.get_close_matches(name, quantities(), 1) if isinstance(name, str) else []
        hint = f"did you mean {near[0]!r}?" if near else "dynamicsd.quantities() lists all"
        raise InvalidArgument(f"there is no quantity {name!r}; {hint}", field=field)
    return found


def quantities() -> tuple[str, ...]:
    """Names of all quantities that this client knows.

    >>> "mass_matrix" in quantities()
    True
    """
    names = (lib.dyn_client_quantity_name(number) for number in range(lib.DYN_CLIENT_QUANTITY_NUMBERS))
    return tuple(text(name) for name in names if name != _NULL)


def written(keep: Keep, asked: Sequence[Asked], frames: Sequence[str] | None, reference_frame: str) -> Any:
    """Entries of C for quantities."""
    entries = keep.new("dyn_client_quantity_request[]", len(asked))
    for i, each in enumerate(asked):
        field = f"quantities[{i}]"
        wanted = each if isinstance(each, Quantity) else Quantity(each)
        entries[i].quantity, subject = number_of(field, wanted.quantity)
        if subject == lib.DYN_CLIENT_QUANTITY_SUBJECT_ROBOT and wanted is not each:
            continue
        frame_names, axes = wanted.frames, wanted.reference_frame
        if subject == lib.DYN_CLIENT_QUANTITY_SUBJECT_FRAMES and frame_names is None:
            frame_names = frames
        has_frame = subject in (lib.DYN_CLIENT_QUANTITY_SUBJECT_FRAMES, lib.DYN_CLIENT_QUANTITY_SUBJECT_TASK)
        if has_frame and axes == "unspecified" and wanted.quantity != "frame_pose":
            axes = reference_frame
        fill(keep, entries[i], field, frames=frame_names, reference_frame=axes, subtree=wanted.subtree,
             task_frames=wanted.task_frames, damping=wanted.damping, restitution=wanted.restitution)
    return entries


# Arrays that few requests have, beside q, v and a.
ARRAYS = ("tau", "dq", "dv", "da", "dtau")


class Request:
    """Request of Model.evaluate. It serves one call after the other, and keeps the quantities of the last one."""

    __slots__ = ("struct", "found", "_list", "_asked", "_kept")

    def __init__(self) -> None:
        self.struct = ffi.new("dyn_client_evaluate_request *", {"struct_size": _REQUEST_SIZE})
        self.found = ffi.new("dyn_client_evaluation **")
        self._list: list[str] | None = None  # the quantities of a call without such options
        self._asked: Any = None
        self._kept = Keep()

    def write(self, asked: Asked | Sequence[Asked], options: Mapping[str, Any], arrays: Sequence[Any]) -> None:
        """Sets the quantities, the options that evaluate alone has, and pointers to all ARRAYS, or none."""
        if type(asked) is list and asked == self._list and not options:
            return
        struct = self.struct
        for name, pointer in zip(ARRAYS, arrays or (_NULL,) * len(ARRAYS)):
            setattr(struct, name, pointer)
        fill(self._kept, struct, "evaluate", contact_step=options.get("contact_step", 0.0))
        names = (asked,) if isinstance(asked, (str, Quantity)) else tuple(listed("quantities", asked))
        frames, reference_frame = options.get("frames"), options.get("reference_frame", "local")
        if frames is not None:
            frames = tuple(listed("frames", frames))
        key = (names, frames, reference_frame)
        if key != self._asked:
            self._asked, self._kept = None, Keep()
            _FRAMES.number("reference_frame", reference_frame)
            self._kept.strings(frames or (), "frames")
            struct.quantities = written(self._kept, names, frames, reference_frame)
            struct.quantity_count = len(names)
            if _TEXT.issuperset(map(type, names + (frames or ()))):
                self._asked = key
        self._list = asked.copy() if self._asked and not options and isinstance(asked, list) else None


def _describe(block: Any) -> Described:
    """Labels, units and classes of the entries of a block."""
    axes = [block.axes[i] for i in range(block.rank)]
    labels = tuple(tuple(map(text, ffi.unpack(axis.labels, axis.size))) for axis in axes)
    units = tuple(map(text, ffi.unpack(block.units, block.unit_count)))
    return labels, units, _classes(axes) if len(units) > 1 else None


def _classes(axes: Sequence[Any]) -> NDArray[np.intp]:
    """Class of each entry: those of its places along the axes, combined with the last axis fastest."""
    combined = np.zeros((), np.intp)
    for axis in axes:
        along = [0 if axis.unit_index == _NULL else axis.unit_index[i] for i in range(axis.size)]
        combined = combined[..., np.newaxis] * axis.unit_count + np.array(along, np.intp)
    return combined
