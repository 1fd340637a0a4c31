# SPDX-License-Identifier: BSD-2-Clause
"""Quantities that Model.evaluate computes, by their names."""
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from dynamicsd._client import ffi, lib
from dynamicsd._convert import Keep, doubles, fill, named
from dynamicsd.errors import InvalidArgument, text
from dynamicsd.records import Array, TaskFrame, html_table

_NULL = ffi.NULL
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

    def __init__(self, name: str, values: Array, found: Any, owner: Any) -> None:
        self.name = name
        self.values = values
        self._found = found  # in the memory of C; None in copies
        self._owner = owner
        self._described: Described | None = None

    def _description(self) -> Described:
        """Labels, units and classes. They are read from the memory of C when they are first used."""
        if self._described is None:
            self._described = _describe(self._found)
        return self._described

    def __getstate__(self) -> dict[str, Any]:
        described = self._description()
        return {"name": self.name, "values": self.values, "_found": None, "_owner": None, "_described": described}

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


@dataclasses.dataclass(frozen=True, eq=False)
class QuantityResult:
    """Result of one quantity. `expressed_in` names its axes and origin in words."""

    quantity: str
    frame: str
    reference_frame: str
    expressed_in: str
    blocks: dict[str, Block]


class Evaluation(Mapping[str, Array]):
    """Results of Model.evaluate by name.

    A key is "mass_matrix", or "frame_jacobian.linear" for a quantity of several blocks. It ends with "@tool0" where the
    quantity was computed for several frames. Attributes are the same for names without a dot. `results` has the labels
    and units.
    """

    def __init__(self, results: tuple[QuantityResult, ...]) -> None:
        self.results = results

    def _arrays(self) -> Iterator[tuple[str, Array]]:
        counts: dict[str, int] = {}
        for result in self.results:
            counts[result.quantity] = counts.get(result.quantity, 0) + 1
        for result in self.results:
            suffix = f"@{result.frame}" if result.frame and counts[result.quantity] > 1 else ""
            for block in result.blocks.values():
                name = result.quantity if block.name == "value" else f"{result.quantity}.{block.name}"
                yield name + suffix, block.values

    def __getitem__(self, key: str) -> Array:
        for name, values in self._arrays():
            if name == key:
                return values
        raise KeyError(f"{key!r} is none of {', '.join(name for name, _ in self._arrays())}")

    def __getattr__(self, name: str) -> Array:
        if name == "results":  # Copies ask for attributes before they have results.
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._arrays())

    def __len__(self) -> int:
        return sum(1 for _ in self._arrays())

    def __repr__(self) -> str:
        return "<Evaluation of " + ", ".join(f"{name} {values.shape}" for name, values in self._arrays()) + ">"

    def _repr_html_(self) -> str:
        rows = [(result.quantity, result.frame, block.name, block.values.shape, ", ".join(dict.fromkeys(block.units)))
                for result in self.results for block in result.blocks.values()]
        return html_table("quantities", ["quantity", "frame", "block", "shape", "units"], rows)


Asked = Union[str, Quantity]


@functools.lru_cache(maxsize=None)
def _find(name: str) -> tuple[int, int] | None:
    """Number of a quantity and its subject."""
    number = ffi.new("dyn_client_quantity *")
    if not lib.dyn_client_find_quantity(name.encode(), number):
        return None
    return int(number[0]), int(lib.dyn_client_quantity_subject_of(number[0]))


def number_of(field: str, name: str) -> tuple[int, int]:
    """Number of a quantity and its subject."""
    found = _find(name) if isinstance(name, str) else None
    if found is None:
        raise InvalidArgument(f"there is no quantity {name!r}; dynamicsd.quantities() lists all", field=field)
    return found


def quantities() -> tuple[str, ...]:
    """Names of all quantities that this client knows.

    >>> "mass_matrix" in quantities()
    True
    """
    names = (lib.dyn_client_quantity_name(number) for number in range(lib.DYN_CLIENT_QUANTITY_NUMBERS))
    return tuple(text(name) for name in names if name != _NULL)


def write_quantities(keep: Keep, request: Any, asked: Asked | Sequence[Asked], frames: Sequence[str] | None,
                     reference_frame: str) -> None:
    """Sets the quantities of an evaluation. `frames` apply to quantities of frames that name none."""
    names: list[Asked] = [asked] if isinstance(asked, (str, Quantity)) else list(asked)
    entries = keep.new("dyn_client_quantity_request[]", len(names))
    for i, each in enumerate(names):
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
    request.quantities = entries
    request.quantity_count = len(names)


def read_evaluation(evaluation: Any, is_single: bool) -> Evaluation:
    """Results over the memory of C."""
    names = named("dyn_client_quantity")
    frames = named("dyn_client_reference_frame")
    results = []
    for result in evaluation.results[0:evaluation.result_count]:
        blocks = [_read_block(block, evaluation, is_single) for block in result.blocks[0:result.block_count]]
        results.append(QuantityResult(names.name(int(result.quantity)), text(result.frame),
                                      frames.name(int(result.reference_frame)), text(result.expressed_in),
                                      {block.name: block for block in blocks}))
    return Evaluation(tuple(results))


def _read_block(block: Any, evaluation: Any, is_single: bool) -> Block:
    """Array of one block."""
    shape = tuple(block.shape[i] for i in range(block.rank))
    values = doubles(block.values, evaluation.samples * block.width, evaluation)
    values = values.reshape(shape if is_single else (evaluation.samples, *shape))
    return Block(text(block.name), values, block, evaluation)


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
