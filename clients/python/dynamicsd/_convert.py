# SPDX-License-Identifier: BSD-2-Clause
"""Conversion between structures of the C client and records of this package, by the names of their members.

A record is a dataclass. Each of its members has the name of a member of the C structure, which decides on the
conversion: strings, numbers, enumerations (in lower case without their prefix), nested structures, and arrays with the
number of their entries in a member NAME_count. The members are compared when the package is imported, so that a change
of the C structure is found there.
"""
from __future__ import annotations

import dataclasses
import functools
import operator
import re
from collections.abc import Sequence
from typing import Any, Callable, TypeVar, cast

import numpy as np

from dynamicsd._client import ffi
from dynamicsd.errors import InvalidArgument, OutOfMemory, text

T = TypeVar("T")
# Function that reads one member of a structure of C.
Reader = Callable[[Any], Any]

_DOUBLES = ffi.typeof("double[]")
# Entries of arrays without a count, and values in each row that a count counts.
_LENGTHS = {"rotation": 9, "gravity": 3}
_WIDTHS = {"force": 3, "torque": 3, "linear_velocity": 3, "angular_velocity": 3, "linear_acceleration": 3,
           "angular_acceleration": 3}
# Counts whose names do not follow from those of their arrays.
_COUNTS = {"held_joints": "held_count", "kp": "gain_count", "kd": "gain_count", "multiplier_units": "row_count",
           "row_names": "row_count", "directions": "row_count", "error_units": "row_count", "force": "rows",
           "torque": "rows", "linear_velocity": "rows", "angular_velocity": "rows",
           "linear_acceleration": "rows", "angular_acceleration": "rows", "q_units": "nq", "v_units": "nv",
           "tau_units": "nv", "joint_names": "joint_count", "values": "knot_count", "slopes": "knot_count",
           "curvatures": "knot_count"}


def enumeration(name: str) -> dict[str, int]:
    """Names of an enumeration of C in lower case, without the prefix that they share, and their numbers."""
    numbers: dict[str, int] = ffi.typeof(name).relements
    prefix = name.upper() + "_"
    return {key[len(prefix):].lower(): number for key, number in numbers.items() if key.startswith(prefix)}


def characters(field: str, value: Any) -> bytes:
    """Text for C. It has no zero byte, which would end it there."""
    try:
        found: bytes = value.encode("utf-8")
    except AttributeError:
        raise InvalidArgument(f"is {value!r}, but a text is needed", field=field) from None
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{value!r} has no UTF-8: {error.reason}", field=field) from None
    if b"\0" in found:
        raise InvalidArgument(f"{value!r} has a character of code 0", field=field)
    return found


def whole(field: str, value: Any, least: int = 0, most: int = (1 << 64) - 1) -> int:
    """Whole number for C, from `least` to `most`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"is {value!r}, but a whole number is needed", field=field) from None
    if not least <= number <= most:
        raise InvalidArgument(f"is {value}, but a number from {least} to {most} is needed", field=field)
    return number


def room(field: str, shape: tuple[int, ...], kind: Any = np.float64) -> np.ndarray[Any, Any]:
    """New array for results, whose size the argument `field` decides on."""
    try:
        return np.empty(shape, kind)
    except (MemoryError, ValueError) as error:
        raise OutOfMemory(f"no memory for an array of the shape {shape}: {error}", field=field) from None


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


def _read_array(pointer: Any, name: str, item: Any, count: int, has_count: bool) -> Any:
    """Entries of an array that is not NULL."""
    if item.kind == "pointer":
        return tuple(map(text, ffi.unpack(pointer, count)))
    if item.kind == "struct" and item.cname in _records:
        entries: tuple[Any, ...] = tuple(read(_records[item.cname], pointer[i]) for i in range(count))
        return entries if has_count else entries[0]
    if item.kind == "struct":
        raise TypeError(f"{item.cname} has no record")
    if item.kind == "enum":
        return tuple(named(item.cname).name(pointer[i]) for i in range(count))
    if count == 1 and not has_count:
        return pointer[0]
    return np.array(ffi.unpack(pointer, count))


def _array_reader(members: dict[str, Any], name: str, item: Any) -> Reader:
    """Reader of a member that points to an array."""
    get, counter = operator.attrgetter(name), count_name(name, members)
    length, width = _LENGTHS.get(name, 1), _WIDTHS.get(name, 1)

    def read_member(cdata: Any) -> Any:
        pointer = get(cdata)
        if pointer == ffi.NULL:
            return None
        count = getattr(cdata, counter) * width if counter else length
        return _read_array(pointer, name, item, count, counter is not None)
    return read_member


def _plain_reader(members: dict[str, Any], name: str) -> Reader:
    """Reader of a member that is always there."""
    kind, get = members[name].type, operator.attrgetter(name)
    if kind.kind == "enum":
        names = named(kind.cname)
        return lambda cdata: names.name(get(cdata))
    if kind.kind == "struct":
        return lambda cdata: read(_records[kind.cname], get(cdata))
    if kind.kind == "array" and kind.item.cname == "char":
        return lambda cdata: text(get(cdata))
    if kind.kind == "array":
        return lambda cdata: np.array(list(get(cdata)))
    if kind.kind != "pointer":
        return get
    if kind.item.cname == "char":
        return lambda cdata: text(get(cdata))
    return _array_reader(members, name, kind.item)


def _reader(members: dict[str, Any], field: dataclasses.Field[Any]) -> Reader:
    """Reader of a member. A member whose default is None is None where it has no value."""
    inner = _plain_reader(members, field.name)
    if f"has_{field.name}" in members:
        is_there = operator.attrgetter(f"has_{field.name}")
        return lambda cdata: inner(cdata) if is_there(cdata) else None
    if field.default is None:
        return lambda cdata: None if isinstance(value := inner(cdata), str) and not value else value
    return inner


@functools.lru_cache(maxsize=None)
def members_of_type(kind: Any) -> tuple[Any, dict[str, Any]]:
    """Structure of a type, which is one or points to one, and its members by name."""
    structure = kind if kind.kind == "struct" else kind.item
    return structure, dict(structure.fields)


@functools.lru_cache(maxsize=None)
def _readers(cls: Any, kind: Any) -> tuple[tuple[str, Reader], ...]:
    """Readers of the members of a record that the structure has."""
    members = members_of_type(kind)[1]
    return tuple((field.name, _reader(members, field)) for field in dataclasses.fields(cls)
                 if field.init and field.name in members)


@functools.lru_cache(maxsize=None)
def _plain_count(cls: Any) -> int:
    """Number of members of a record that only stores them; -1 for one that checks them."""
    return -1 if hasattr(cls, "__post_init__") else len(dataclasses.fields(cls))


def read(cls: type[T], cdata: Any, /, **values: Any) -> T:
    """Record from a structure of C. `values` are members that the caller has read.

    The members are stored together, since the constructor of a frozen dataclass stores them one by one, slowly.
    """
    for name, reader in _readers(cast(Any, cls), ffi.typeof(cdata)):
        if name not in values:
            values[name] = reader(cdata)
    if len(values) != _plain_count(cast(Any, cls)):
        return cls(**values)
    made = object.__new__(cls)
    made.__dict__.update(values)
    return made


class Keep(list[Any]):
    """Memory of C that a structure refers to. It must outlive the structure."""

    def new(self, declaration: Any, value: Any = None) -> Any:
        """New memory that is kept."""
        made = ffi.new(declaration) if value is None else ffi.new(declaration, value)
        self.append(made)
        return made

    def string(self, value: str, field: str = "name") -> Any:
        """String of C."""
        return self.new("char[]", characters(field, value))

    def strings(self, values: Sequence[str], field: str = "names") -> Any:
        """Array of strings of C."""
        return self.new("char *[]", [self.string(value, f"{field}[{i}]") for i, value in enumerate(values)])

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


class Strings:
    """Array of strings of C. It does not change, so that calls can share it."""

    __slots__ = ("values", "array", "_entries")

    def __init__(self, values: tuple[str, ...]) -> None:
        self.values = values
        self._entries = [ffi.new("char[]", characters(f"joint_names[{i}]", value)) for i, value in enumerate(values)]
        self.array = ffi.new("char *[]", self._entries)


def listed(field: str, values: Any, single: type = str) -> list[Any]:
    """Values as a list; a single one, such as a name, is a list of one."""
    try:
        return [values] if isinstance(values, single) else list(values)
    except TypeError:
        raise InvalidArgument(f"is {values!r}, but a {single.__name__} or several are needed", field=field) from None


@functools.lru_cache(maxsize=256)
def strings(values: tuple[str, ...]) -> Strings:
    """Array of strings of C, the same one for equal strings."""
    return Strings(values)


def as_doubles(field: str, value: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Array of doubles in C order. It is the caller's own array where that is one."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return np.ascontiguousarray(value) if value.ndim else value.reshape(1)
    try:
        masked = np.count_nonzero(value.mask) if isinstance(value, np.ma.MaskedArray) else 0
        if masked:
            raise ValueError(f"{masked} values are masked; fill them or leave their rows out")
        given = np.asarray(value)
        if given.dtype.kind not in "fiub":
            raise ValueError(f"{given.dtype} is no real number")
        return np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"no array of numbers: {error}", field=field) from None


def _write_entries(keep: Keep, field: str, item: Any, value: Any) -> tuple[Any, int]:
    """Array of C with the entries of a sequence, and their number."""
    if item.kind == "pointer":
        names = listed(field, value)
        return keep.strings(names, field), len(names)
    if item.cname == "double":
        return keep.array(field, value)
    if item.kind == "enum":
        numbers = [named(item.cname).number(f"{field}[{i}]", each) for i, each in enumerate(listed(field, value))]
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
        setattr(cdata, name, keep.string(value, field))
    elif kind.item.cname == "void":
        memory = ffi.from_buffer(value)
        keep.append(memory)
        setattr(cdata, name, memory)
    else:
        entries, count = _write_entries(keep, field, kind.item, value)
        setattr(cdata, name, entries)
        counter = count_name(name, members)
        if counter == "knot_count" and cdata.knot_count not in (0, count):
            raise InvalidArgument(f"has {count} values for {cdata.knot_count} knots", field=field)
        if counter is not None:
            setattr(cdata, counter, count // _WIDTHS.get(name, 1))


def write(keep: Keep, cdata: Any, source: Any, field: str) -> None:
    """Fills a structure of C from a record. Members that are None stay zero."""
    expected = _records.get(members_of_type(ffi.typeof(cdata))[0].cname)
    if expected is not None and not isinstance(source, expected):
        raise InvalidArgument(f"is a {type(source).__name__}, but a {expected.__name__} is needed", field=field)
    fill(keep, cdata, field, **members_of(source))


def members_of(source: Any) -> dict[str, Any]:
    """Members of a record by name."""
    return {each.name: getattr(source, each.name) for each in dataclasses.fields(source)}


def fill(keep: Keep, cdata: Any, field: str, /, **values: Any) -> None:
    """Sets members of a structure of C, and its size where it has one. Values that are None are skipped."""
    structure, members = members_of_type(ffi.typeof(cdata))
    if "struct_size" in members:
        cdata.struct_size = ffi.sizeof(structure)
    for name, value in values.items():
        if value is not None:
            try:
                _write_member(keep, cdata, members, name, value, f"{field}.{name}" if field else name)
            except (TypeError, OverflowError, AttributeError) as error:
                raise InvalidArgument(f"{value!r} does not fit: {error}",
                                      field=f"{field}.{name}" if field else name) from None
