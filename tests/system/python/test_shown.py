# SPDX-License-Identifier: BSD-2-Clause
"""Texts of the package's objects at a prompt, and their tables in a notebook."""
import dataclasses
import inspect
import types
import typing
import xml.etree.ElementTree

import numpy as np
import pytest

import dynamicsd
from dynamicsd import aio, client, evaluation, live, model, records

# Records with texts of their own that count on members which fit together are shown by the last test.
RECORDS = [value for value in vars(records).values() if dataclasses.is_dataclass(value)
           and value is not records.BaseParameters]
# Parts of the package that no program of a user handles.
INNER = {evaluation.Layout, evaluation.Memory, evaluation.Request}


def value_of(hint):
    """Some value of a type: arrays of 999 numbers, sequences of four entries."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return made(hint)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return tuple(map(value_of, arguments))
    if origin is tuple or hint is tuple or getattr(origin, "__name__", "") in ("Sequence", "list"):
        return tuple(value_of(arguments[0]) for _ in range(4))
    if origin is dict:
        return {"first": value_of(arguments[1]), "second": value_of(arguments[1])}
    if origin is np.ndarray or "numpy" in str(hint):
        return np.arange(999.0)
    if origin in (typing.Union, types.UnionType):
        return value_of(arguments[0])
    return {str: "<name>", bytes: b"bytes", float: 1.5, int: 2, bool: True}[hint]


def made(kind):
    """Record of a kind with a value for every member."""
    hints = typing.get_type_hints(kind, localns={"Array": np.ndarray[typing.Any, np.dtype[np.float64]]})
    return kind(**{field.name: value_of(hints[field.name]) for field in dataclasses.fields(kind) if field.init})


def check(shown):
    """Checks the text and the table of an object."""
    text = repr(shown)
    assert type(shown).__name__ in text or "<name>" in text or getattr(shown, "name", "ur5") in text
    assert " object at 0x" not in text and "cdata" not in text and len(text) < 2500
    if hasattr(shown, "_repr_html_"):
        xml.etree.ElementTree.fromstring(f"<p>{shown._repr_html_()}</p>")


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_every_record_shows_its_kind_and_not_all_its_numbers(kind):
    assert hasattr(kind, "_repr_html_")
    check(made(kind))


def test_records_show_the_members_that_say_something():
    assert repr(dynamicsd.Friction(viscous=0.5)) == "Friction(viscous=0.5)"
    assert repr(dynamicsd.Link("tip", inertia=dynamicsd.Inertia(2.0))) == "Link(name='tip', inertia=Inertia)"
    row = dynamicsd.Pose(position=(1.0, 2.0, 3.0))
    assert repr(row) == "Pose(position=[1, 2, 3])" and "<td>position</td><td>[1, 2, 3]</td>" in row._repr_html_()


def test_every_class_shows_itself():
    """Asks all classes of the modules, so that a new one is not forgotten."""
    for module in (aio, client, evaluation, live, model, records):
        for name, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__ == module.__name__ and not name.startswith("_") and kind not in INNER:
                is_shown = kind.__repr__ not in (object.__repr__, dict.__repr__)
                assert is_shown or typing.is_typeddict(kind) or issubclass(kind, BaseException), name


def test_results_show_themselves(client, ur5):
    q = np.linspace(0.0, 0.4, 50).reshape(-1, 1) * np.arange(1, 7)
    times = np.linspace(0.0, 1.0, 50)
    with client.simulate(ur5, name="shown") as sim, client.open_stream("feedforward", model="ur5") as stream:
        state, watcher = sim.step(), client.watch("shown")
        sim.step(30)
        update = watcher.next()
        sim.step(30)
        shown = [client, ur5, sim, stream, state, watcher, update, next(iter(watcher)), stream.status(),
                 client.server_info(), client.health(), client.metrics(), client.settings(), client.models(),
                 client.connections(), client.describe("ur5"), client.simulations(), client.streams()]
        watcher.close()
    shown += [ur5.evaluate("mass_matrix", q), ur5.explain(q[0]), ur5.compare(q[0]), ur5.rollout(q, steps=2),
              ur5.formulate("lagrange_euler", q[0]), ur5.excite(trials=2), ur5.base_parameters(),
              ur5.inverse_dynamics_trajectory(q, time=times, rates="spline"), ur5.derive_rates(q, times),
              dynamicsd.JobTicket(), dynamicsd.Quantity("poses", frames=["tool0"])]
    for each in shown:
        for one in each if isinstance(each, (tuple, list)) else (each,):
            if not isinstance(one, (np.ndarray, str, bytes)):
                check(one)
    assert "lagrange_euler" in ur5.compare(q[0])._repr_html_()
    assert repr(ur5.excite(trials=2)).startswith("<Excitation: ")
    assert "states from " in repr(update) and "<td>" in update._repr_html_()
