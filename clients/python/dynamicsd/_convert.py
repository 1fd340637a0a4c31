# SPDX-License-Identifier: BSD-2-Clause
"""Conversion between structures of the C client and records of this package, by the names of their members.

A record is a dataclass. Each of its members has the name of a member of the C structure, which decides on the
conversion: strings, numbers, enumerations (in lower case without their prefix), nested structures, and arrays with the
number of their entries in a member NAME_count. The members are compared when the package is imported, so that a change
of the C structure is found there.
"""
from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, Callable, TypeVar, cast

import numpy as np

from dynamicsd._client import ffi
from dynamicsd.errors import InvalidArgument, text

T = TypeVar("T")

_DOUBLES = ffi.typeof("double[]")
# Entries of arrays without a count, and values in each row that a count counts.
_LENGTHS = {"rotation": 9, "gravity": 3}
_WIDTHS = {"force": 3, "torque": 3}
# Counts whose names do not follow from those of their arrays.
_COUNTS = {"held_joints": "held_count", "kp": "gain_count", "kd": "gain_count", "multiplier_units": "row_count",
           "row_names": "row_count", "directions": "row_count", "error_units": "row_count", "force": "rows",
           "torque": "rows", "q_units": "nq", "v_units": "nv", "tau_units": "nv", "joint_names": "joint_count"}


def enumeration(name: str) -> dict[str, int]:
    """Names of an enumeration of C in lower case, without the prefix that they share, and their numbers."""
    numbers: dict[str, int] = ffi.typeof(name).relements
    prefix = name.upper() + "_"
    return {key[len(prefix):].lower(): number for key, number in numbers.items() if key.startswith(prefix)}


class Enumeration:
    """Names and numbers of one enumeration of C."""

    def __init__(self, name: str) -> None:
        self.numbers = enumeration(name)
        self.names = {number: key for key, number in self.numbers.items()}

    def number(self, field: str, name: str) -> int:
        """Number of a name."""
        try:
            return self.numbers[name]
        except (KeyError, TypeError):
            known = ", ".join(key for key in self.numbers if key != "unspecified")
            raise InvalidArgument(f"{name!r} is none of {known}", field=field) from None

    def name(self, number: int) -> str:
        """Name of a number."""
        return self.names.get(number, str(number))


_enumerations: dict[str, Enumeration] = {}


def named(name: str) -> Enumeration:
    """Enumeration of C by its name, with or without the word enum."""
    name = name.removeprefix("enum ")
    if name not in _enumerations:
        _enumerations[name] = Enumeration(name)
    return _enumerations[name]


def doubles(pointer: Any, count: int, owner: object) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Array over memory of C, without a copy. It keeps the owner of the memory alive."""
    if count == 0:
        return np.empty(0)
    held = ffi.gc(pointer, lambda _, kept=owner: None)
    return np.frombuffer(ffi.buffer(held, 8 * count), dtype=np.float64)


def integers(pointer: Any, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Copy of an array of uint64_t."""
    return np.frombuffer(ffi.buffer(pointer, 8 * count), dtype=np.uint64).copy() if count else np.empty(0, np.uint64)


def count_name(name: str, members: dict[str, Any]) -> str | None:
    """Member of a structure that counts the entries of the array `name`, or None."""
    singular = re.sub(r"axes$", "axis", re.sub(r"([^s])s$", r"\1", re.sub(r"ies$", "y", name)))
    for candidate in (f"{singular}_count", f"{name}_count", _COUNTS.get(name, "")):
        if candidate in members:
            return candidate
    return None


_records: dict[str, type] = {}


def record(structure: str) -> Callable[[type[T]], type[T]]:
    """Decorator that makes a dataclass the record of a structure of C."""
    def register(cls: type[T]) -> type[T]:
        members = dict(ffi.typeof(structure).fields)
        for field in dataclasses.fields(cast(Any, cls)):
            if field.name not in members:
                raise TypeError(f"{structure} has no member {field.name}")
        _records[ffi.typeof(structure).cname] = cls
        setattr(cls, "_structure", structure)
        return cls
    return register


def _read_array(cdata: Any, members: dict[str, Any], name: str, item: Any) -> Any:
    """Entries of an array in a structure."""
    pointer = getattr(cdata, name)
    if pointer == ffi.NULL:
        return None
    counter = count_name(name, members)
    count = getattr(cdata, counter) * _WIDTHS.get(name, 1) if counter else _LENGTHS.get(name, 1)
    if item.kind == "pointer":
        return tuple(text(pointer[i]) for i in range(count))
    if item.kind == "struct" and item.cname in _records:
        entries: tuple[Any, ...] = tuple(read(_records[item.cname], pointer[i]) for i in range(count))
        return entries if counter else entries[0]
    if item.kind == "struct":
        raise TypeError(f"{item.cname} has no record")
    if item.kind == "enum":
        return tuple(named(item.cname).name(pointer[i]) for i in range(count))
    if count == 1 and counter is None:
        return pointer[0]
    return np.array([pointer[i] for i in range(count)])


def _read_member(cdata: Any, members: dict[str, Any], name: str) -> Any:
    """Member of a structure as a value of Python."""
    kind = members[name].type
    if f"has_{name}" in members and not getattr(cdata, f"has_{name}"):
        return None
    if kind.kind == "enum":
        return named(kind.cname).name(int(ffi.cast("int", getattr(cdata, name))))
    if kind.kind == "struct":
        return read(_records[kind.cname], getattr(cdata, name))
    if kind.kind == "array":
        value = getattr(cdata, name)
        return text(value) if kind.item.cname == "char" else np.array(list(value))
    if kind.kind != "pointer":
        return getattr(cdata, name)
    if kind.item.cname == "char":
        return text(getattr(cdata, name))
    return _read_array(cdata, members, name, kind.item)


def read(cls: type[T], cdata: Any, /, **values: Any) -> T:
    """Record from a structure of C. `values` are members that the caller has read."""
    members = dict(ffi.typeof(cdata).fields if ffi.typeof(cdata).kind == "struct" else ffi.typeof(cdata).item.fields)
    for field in dataclasses.fields(cast(Any, cls)):
        if field.name not in values and field.init:
            value = _read_member(cdata, members, field.name)
            values[field.name] = None if field.default is None and isinstance(value, str) and not value else value
    return cls(**values)


class Keep(list[Any]):
    """Memory of C that a structure refers to. It must outlive the structure."""

    def new(self, declaration: Any, value: Any = None) -> Any:
        """New memory that is kept."""
        made = ffi.new(declaration) if value is None else ffi.new(declaration, value)
        self.append(made)
        return made

    def string(self, value: str) -> Any:
        """String of C."""
        return self.new("char[]", value.encode("utf-8"))

    def strings(self, values: Sequence[str]) -> Any:
        """Array of strings of C."""
        return self.new("char *[]", [self.string(value) for value in values])

    def doubles(self, field: str, value: Any, shape: tuple[int, ...] | None = None) -> Any:
        """Contiguous doubles. `shape` is the one that is needed, and None any."""
        return self.array(field, value, shape)[0]

    def array(self, field: str, value: Any, shape: tuple[int, ...] | None = None) -> tuple[Any, int]:
        """Contiguous doubles and their number."""
        array = as_doubles(field, value)
        if shape is not None and array.shape != shape:
            raise InvalidArgument(f"has the shape {array.shape}, but {shape} is needed", field=field)
        self.append(array)
        pointer = ffi.from_buffer(_DOUBLES, array) if array.size else ffi.NULL
        self.append(pointer)
        return pointer, int(array.size)


def as_doubles(field: str, value: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Array of doubles in C order. It is the caller's own array where that is one."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return np.ascontiguousarray(value) if value.ndim else value.reshape(1)
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "fiub":
            raise ValueError(f"{given.dtype} is no real number")
        return np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"no array of numbers: {error}", field=field) from None


def _write_entries(keep: Keep, field: str, item: Any, value: Any) -> tuple[Any, int]:
    """Array of C with the entries of a sequence, and their number."""
    if item.kind == "pointer":
        names = [value] if isinstance(value, str) else list(value)
        return keep.strings(names), len(names)
    if item.cname == "double":
        return keep.array(field, value)
    if item.kind == "enum":
        numbers = [named(item.cname).number(f"{field}[{i}]", each) for i, each in enumerate(value)]
        return keep.new(f"{item.cname}[]", numbers), len(numbers)
    records = [value] if dataclasses.is_dataclass(value) else list(value)
    entries = keep.new(f"{item.cname}[]", len(records))
    for i, each in enumerate(records):
        write(keep, entries[i], each, f"{field}[{i}]")
    return entries, len(records)


def _write_member(keep: Keep, cdata: Any, members: dict[str, Any], name: str, value: Any, field: str) -> None:
    """Sets a member of a structure from a value of Python."""
    kind = members[name].type
    if f"has_{name}" in members:
        setattr(cdata, f"has_{name}", True)
    if kind.kind == "enum":
        setattr(cdata, name, named(kind.cname).number(field, value))
    elif kind.kind == "struct":
        write(keep, getattr(cdata, name), value, field)
    elif kind.kind == "array":
        shape = (kind.length,)
        given: np.ndarray[Any, np.dtype[np.float64]] = as_doubles(field, value).reshape(-1)
        if name == "values" and given.size <= kind.length:
            given = np.pad(given, (0, kind.length - given.size))
        if given.shape != shape:
            raise InvalidArgument(f"has {given.size} values, but {kind.length} are needed", field=field)
        setattr(cdata, name, given.tolist())
    elif kind.kind != "pointer":
        setattr(cdata, name, value)
    elif kind.item.cname == "char":
        setattr(cdata, name, keep.string(value))
    elif kind.item.cname == "void":
        memory = ffi.from_buffer(value)
        keep.append(memory)
        setattr(cdata, name, memory)
    else:
        entries, count = _write_entries(keep, field, kind.item, value)
        setattr(cdata, name, entries)
        counter = count_name(name, members)
        if counter is not None:
            setattr(cdata, counter, count // _WIDTHS.get(name, 1))


def write(keep: Keep, cdata: Any, source: Any, field: str) -> None:
    """Fills a structure of C from a record. Members that are None stay zero."""
    expected = _records.get(ffi.typeof(cdata).cname if ffi.typeof(cdata).kind == "struct"
                            else ffi.typeof(cdata).item.cname)
    if expected is not None and not isinstance(source, expected):
        raise InvalidArgument(f"is a {type(source).__name__}, but a {expected.__name__} is needed", field=field)
    fill(keep, cdata, field, **members_of(source))


def members_of(source: Any) -> dict[str, Any]:
    """Members of a record by name."""
    return {each.name: getattr(source, each.name) for each in dataclasses.fields(source)}


def fill(keep: Keep, cdata: Any, field: str, /, **values: Any) -> None:
    """Sets members of a structure of C, and its size where it has one. Values that are None are skipped."""
    kind = ffi.typeof(cdata)
    structure = kind if kind.kind == "struct" else kind.item
    members = dict(structure.fields)
    if "struct_size" in members:
        cdata.struct_size = ffi.sizeof(structure)
    for name, value in values.items():
        if value is not None:
            try:
                _write_member(keep, cdata, members, name, value, f"{field}.{name}" if field else name)
            except (TypeError, OverflowError, AttributeError) as error:
                raise InvalidArgument(f"{value!r} does not fit: {error}", field=f"{field}.{name}") from None
