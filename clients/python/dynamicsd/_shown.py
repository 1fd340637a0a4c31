# SPDX-License-Identifier: BSD-2-Clause
"""Texts of records at a prompt, and their tables in a notebook."""
from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

# Numbers, characters and entries of a member that are shown; the others are counted.
_NUMBERS, _CHARACTERS, _ENTRIES = 8, 60, 3


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Table for a notebook."""
    def line(tag: str, cells: Iterable[object]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
    return (f"<table><caption>{html.escape(title)}</caption><thead>{line('th', head)}</thead>"
            f"<tbody>{''.join(line('td', row) for row in rows)}</tbody></table>")


def brief(value: object) -> str:
    """Value in a few characters: the shape of a large array, the number of many entries, the name of a record."""
    if isinstance(value, np.ndarray):
        if value.size > _NUMBERS or value.ndim > 1:
            return f"array of {value.shape}"
        return np.array2string(value, precision=4, separator=", ")
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str):
        return repr(value if len(value) <= _CHARACTERS else value[:_CHARACTERS] + "...")
    if isinstance(value, Mapping):
        return f"{{{', '.join(map(repr, value))}}}" if len(value) <= 2 * _ENTRIES else f"{len(value)} entries"
    if isinstance(value, (tuple, list)):
        if len(value) > _ENTRIES:
            return f"{len(value)} {type(value[0]).__name__}"
        return f"[{', '.join(map(brief, value))}]"
    if isinstance(value, Record):
        name = getattr(value, "name", "")
        return f"{type(value).__name__}({name!r})" if name else type(value).__name__
    return repr(value)


def _is_default(value: object, default: object) -> bool:
    """Returns whether a member says nothing: it has no value, or that which it has where none is named."""
    if value is None or value is default:
        return True
    if isinstance(value, (str, tuple, dict)) and not value:
        return True
    return isinstance(value, (bool, int, float, str)) and type(value) is type(default) and value == default


class Record:
    """Base of the records: members that have values, in a line or as a table."""

    def _shown(self) -> Iterator[tuple[str, str]]:
        """Names and values of the members that say something."""
        for field in dataclasses.fields(cast(Any, self)):
            value = getattr(self, field.name)
            if field.repr and not _is_default(value, field.default):
                yield field.name, brief(value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self._shown())})"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, ["member", "value"], self._shown())
