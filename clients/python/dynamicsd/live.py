# SPDX-License-Identifier: BSD-2-Clause
"""Simulations, streams, and what they publish."""
from __future__ import annotations

import threading
import time as clock
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamicsd import _results
from dynamicsd._client import ffi, lib
from dynamicsd._convert import Keep, as_doubles, characters, fill, integers, named, read, room, whole
from dynamicsd._query import Rows, as_rows
from dynamicsd._session import CANCELLATION, Progress, Watch, seconds, wait_of
from dynamicsd.errors import InvalidArgument, Timeout, Unavailable, exception_of, text
from dynamicsd.records import Array, BaseMotion, ExternalForce, ModelInfo, State, StreamInfo, Update, WatchedState

if TYPE_CHECKING:
    from dynamicsd.client import Client

_NULL = ffi.NULL
_INPUT = ffi.typeof("dyn_client_simulation_input *")
_INPUT_SIZE = ffi.sizeof("dyn_client_simulation_input")
# Longest wait in C, s. Between two waits Python handles Ctrl-C.
_SLICE = 0.2


class Simulation:
    """Simulation that runs in the daemon. Client.simulate creates one, Client.simulation finds one.

    As a context manager it deletes the simulation at the end, if this client holds its token. Commands need the token;
    any client may read and watch.

    >>> with client.simulate("two_link") as sim:
    ...     sim.step(100, tau=[0.0, 0.0]).step
    100
    """

    def __init__(self, client: Client, name: str, token: int, nq: int, nv: int) -> None:
        self.client = client
        self.name = name
        self.token = token
        self._c_name = ffi.new("char[]", characters("name", name))
        self._sizes = {"q": nq, "v": nv, "q_ref": nq, "v_ref": nv, "a_ref": nv, "tau": nv}

    def _row(self, keep: Keep, field: str, value: Any) -> Any:
        """Pointer to the values of one row, which may be that of a table."""
        def names() -> list[str]:
            found = self.state()
            return self.client.model(found.digest).coordinate_names(field.startswith("q"), found.joint_names or ())
        return keep.doubles(field, as_rows(field, value, names), (self._sizes[field],))

    def __repr__(self) -> str:
        return f"<Simulation {self.name!r}{'' if self.token else ' of another client'}>"

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.token:
            self.delete()

    def _state(self, function: Any, *arguments: Any, watch: Watch | None = None) -> State:
        found = self.client.session.result("dyn_client_simulation", lib.dyn_client_simulation_free, function,
                                           self._c_name, *arguments, watch=watch)
        return _results.state(found)

    def _input(self, keep: Keep, values: dict[str, Any], external_forces: Sequence[ExternalForce] | None,
               base_motion: BaseMotion | None) -> Any:
        """Input of the simulation. Values that are None leave it unchanged."""
        struct = keep.new(_INPUT)
        struct.struct_size = _INPUT_SIZE
        struct.nq, struct.nv = self._sizes["q"], self._sizes["v"]
        for name, value in values.items():
            if value is not None:
                setattr(struct, name, self._row(keep, name, value))
        if external_forces is not None:
            fill(keep, struct, "", external_forces=external_forces, clear_external_forces=len(external_forces) == 0)
        if base_motion is not None:
            fill(keep, struct, "", base_motion=base_motion)
        return struct

    def step(self, steps: int = 1, *, tau: Rows | None = None, q_ref: Rows | None = None,
             v_ref: Rows | None = None, a_ref: Rows | None = None,
             external_forces: Sequence[ExternalForce] | None = None, base_motion: BaseMotion | None = None,
             timeout: float = 0, progress: Progress | None = None) -> State:
        """Advances a simulation in lockstep. The input applies from the first step on; None leaves it unchanged.

        State.steps_done is the number of steps done, and State.ended_by the reason for the end. `progress` and Ctrl-C
        end the call between two steps.

        >>> with client.simulate("two_link", q=[0.0, 0.0]) as sim:
        ...     state = sim.step(100, tau=[29.43, 9.81])
        >>> state.step, state.steps_done, bool(np.abs(state.v).max() < 1e-9)
        (100, 100, True)
        """
        keep = Keep()
        values = {"tau": tau, "q_ref": q_ref, "v_ref": v_ref, "a_ref": a_ref}
        struct = self._input(keep, values, external_forces, base_motion)
        watch = None
        if progress or CANCELLATION.get() is not None:
            watch = Watch(progress)
            watch.set_in(struct)
        return self._state(lib.dyn_client_step_simulation, self.token, whole("steps", steps), struct, seconds(timeout),
                           watch=watch)

    def set_input(self, *, tau: Rows | None = None, q_ref: Rows | None = None,
                  v_ref: Rows | None = None, a_ref: Rows | None = None,
                  external_forces: Sequence[ExternalForce] | None = None, base_motion: BaseMotion | None = None,
                  timeout: float = 0) -> int:
        """Sets the input. Returns the number of the first step that it drives.

        >>> with client.simulate("two_link", q=[0.0, 0.0]) as sim:
        ...     first = sim.set_input(tau=[29.43, 9.81])
        ...     state = sim.step()
        >>> first, state.step
        (1, 1)
        """
        keep = Keep()
        values = {"tau": tau, "q_ref": q_ref, "v_ref": v_ref, "a_ref": a_ref}
        number = ffi.new("uint64_t *")
        self.client.session.call(lib.dyn_client_set_simulation_input, self._c_name, self.token,
                                 self._input(keep, values, external_forces, base_motion), seconds(timeout), number)
        return int(number[0])

    def state(self, timeout: float = 0) -> State:
        """Requests the state and all counters. With the token it renews the lease.

        >>> with client.simulate("two_link", q=[0.0, 0.0]) as sim:
        ...     sim.state().q
        array([0., 0.])
        """
        return self._state(lib.dyn_client_get_simulation, self.token, seconds(timeout))

    def set_state(self, q: Rows, v: Rows | None = None, timeout: float = 0) -> State:
        """Sets q (nq,) and v (nv,); None: at rest.

        >>> with client.simulate("two_link", q=[0.0, 0.0]) as sim:
        ...     sim.set_state([0.5, -0.5]).q
        array([ 0.5, -0.5])
        """
        keep = Keep()
        pointers = [_NULL if value is None else self._row(keep, name, value) for name, value in (("q", q), ("v", v))]
        return self._state(lib.dyn_client_set_simulation_state, self.token, self._sizes["q"], self._sizes["v"],
                           *pointers, seconds(timeout))

    def pause(self, timeout: float = 0) -> State:
        """Stops the clock of the simulation between two steps. The result is the state at which it stays.

        No step follows the one of the result until `resume`. step advances a paused simulation.

        >>> with client.simulate("two_link", rate=1.0) as sim:
        ...     state = sim.pause()
        ...     sim.state().condition
        'paused'
        """
        return self._state(lib.dyn_client_pause_simulation, self.token, seconds(timeout))

    def resume(self, timeout: float = 0) -> State:
        """Lets the simulation follow the clock from now on. It does not catch up with the time of the pause.

        >>> with client.simulate("two_link", rate=1.0, is_paused=True) as sim:
        ...     state = sim.resume()
        ...     sim.state().condition
        'running'
        """
        return self._state(lib.dyn_client_resume_simulation, self.token, seconds(timeout))

    def reset(self, timeout: float = 0) -> State:
        """Returns the simulation to its first state.

        >>> with client.simulate("two_link", q=[0.0, 0.0]) as sim:
        ...     state = sim.step(100)
        ...     sim.reset().q
        array([0., 0.])
        """
        return self._state(lib.dyn_client_reset_simulation, self.token, seconds(timeout))

    def claim(self, lease: float = 0, timeout: float = 0) -> bool:
        """Takes over a simulation without an owner. Returns whether that is on the daemon's disk.

        >>> sim = client.simulate("two_link", lease=0.2, keep=True)
        >>> time.sleep(1.0)  # The owner, who is not heard of, loses it.
        >>> found = client.simulation(sim.name)
        >>> is_on_disk = found.claim()
        >>> is_on_disk = found.delete()
        """
        token, durable = ffi.new("uint64_t *"), ffi.new("bool *")
        self.client.session.call(lib.dyn_client_claim_simulation, self._c_name, lease, seconds(timeout), token, durable)
        self.token = int(token[0])
        return bool(durable[0])

    def delete(self, timeout: float = 0) -> bool:
        """Deletes the simulation. Returns whether that is on the daemon's disk.

        >>> sim = client.simulate("two_link")
        >>> is_on_disk = sim.delete()
        """
        durable = ffi.new("bool *")
        self.client.session.call(lib.dyn_client_delete_simulation, self._c_name, self.token, seconds(timeout), durable)
        self.token = 0
        return bool(durable[0])

    def record(self, recording: str, timeout: float = 0) -> None:
        """Starts a recording in the daemon's state directory.

        >>> with client.simulate("two_link", q=[0.0, 0.0]) as sim:
        ...     sim.record("tape")
        ...     state = sim.step(5)
        >>> client.delete_recording("tape")
        """
        self.client.session.call(lib.dyn_client_record_simulation, self._c_name, self.token, characters("recording",
                                 recording),
                                 seconds(timeout))

    def stop_recording(self, timeout: float = 0) -> tuple[int, int]:
        """Ends the recording. Returns the number of its entries, and the size of its file in bytes.

        >>> with client.simulate("two_link", q=[0.0, 0.0]) as sim:
        ...     sim.record("tape")
        ...     state = sim.step(5)
        ...     entries, size = sim.stop_recording()
        >>> len(client.fetch_recording("tape")) == size
        True
        >>> client.delete_recording("tape")
        """
        entries, size = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        self.client.session.call(lib.dyn_client_stop_recording, self._c_name, self.token, seconds(timeout), entries,
                                 size)
        return int(entries[0]), int(size[0])

    def watch(self, timeout: float = 0) -> StateWatcher:
        """Subscribes to the states of the simulation, and to its events.

        >>> with client.simulate("two_link", rate=1.0) as sim:
        ...     for state in sim.watch():
        ...         if state.time > 0.1:
        ...             break
        >>> state.q.shape
        (2,)
        """
        return self.client.watch(self.name, timeout=timeout)


class Subscription:
    """Subscription with a connection of its own. `next` returns its messages one by one, `updates` all.

    Messages with states and messages with events, an overrun for example, arrive in the order of their topic.
    """

    def __init__(self, client: Client, name: str, function: Any, *arguments: Any) -> None:
        self.name = name
        opened = ffi.new("dyn_client_watch **")
        client.session.call(function, *arguments, opened)
        self._client = client
        self._lock = threading.Lock()
        self._watch: Any = opened[0]

    def __del__(self) -> None:
        if getattr(self, "_watch", None) is not None:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name!r}{' (closed)' if self._watch is None else ''}>"

    @property
    def is_group(self) -> bool:
        """Returns whether the name stands for several simulations."""
        return self.name.endswith("*")

    def updates(self) -> Iterator[Update]:
        """Iterates over the messages until the subscription is closed.

        >>> with client.simulate("two_link", rate=1.0) as sim, sim.watch() as watcher:
        ...     update = next(update for update in watcher.updates() if update.kind == "states")
        >>> update.q.shape[1]
        2
        """
        while self._watch is not None:
            try:
                update = self.next(_SLICE)
            except Timeout:
                continue
            except Unavailable:
                return
            yield update

    def next(self, timeout: float = 10.0) -> Update:
        """Waits for the next message. Timeout: none arrived within so many seconds.

        >>> with client.watch_models() as updates:
        ...     stiff = client.model("two_link").derive("stiff", dynamicsd.Operation("lock_joints", joints=["joint2"]))
        ...     updates.next(timeout=5.0).text
        'loaded'
        >>> stiff.unload()
        """
        end = clock.monotonic() + wait_of(timeout)
        update = ffi.new("dyn_client_update *")
        update.struct_size = ffi.sizeof("dyn_client_update")
        error = ffi.new("dyn_client_error *")
        while True:
            left = end - clock.monotonic()
            with self._lock:
                if self._watch is None:
                    raise Unavailable("the subscription is closed")
                status = lib.dyn_client_watch_next(self._watch, max(min(left, _SLICE), 1e-3), update, error)
                if status == lib.DYN_CLIENT_OK:
                    return _read_update(update)
            if status != lib.DYN_CLIENT_TIMEOUT:
                raise exception_of(status, error)
            if left <= _SLICE:
                raise Timeout(f"nothing was published within {timeout:g} s")

    def close(self) -> None:
        """Ends the subscription. An iteration in another thread ends.

        >>> updates = client.watch_models()
        >>> updates.close()
        >>> list(updates)
        []
        """
        with self._lock:
            watch, self._watch = self._watch, None
            if watch is not None and not self._client.session.is_foreign:
                lib.dyn_client_watch_close(watch)


class Watcher(Subscription):
    """Subscription to a stream or to the models. Iterate over it for its messages.

    >>> with client.open_stream("feedforward", model="two_link") as stream, stream.watch() as updates:
    ...     stream.push(0.0, q=[0.0, 0.0])
    ...     update = next(update for update in updates if update.kind == "torques")
    >>> update.tau
    array([[29.43,  9.81]])
    """

    def __iter__(self) -> Iterator[Update]:
        return self.updates()


class StateWatcher(Subscription):
    """Subscription to simulations. Iterate over it for their states, one by one, until the one simulation is deleted.

    `updates` iterates over its messages, which have several states each, and over its events.

    >>> with client.simulate("two_link", rate=1.0) as sim, sim.watch() as states:
    ...     state = next(iter(states))
    >>> state.q.shape, state.time == 0.001 * state.step
    ((2,), True)
    """

    def __iter__(self) -> Iterator[WatchedState]:
        for update in self.updates():
            yield from update.states
            if update.is_end and not self.is_group:
                return


def _read_update(update: Any) -> Update:
    """Copy of a message, whose memory is the subscription's."""
    n, nq, nv = update.count, update.nq, update.nv
    kind = named("dyn_client_update_kind").name(int(update.kind))
    model = None if update.model == _NULL else read(ModelInfo, update.model)
    steps = integers(update.step, n if update.step != _NULL and kind in ("states", "torques") else 0)
    residuals = None if update.residuals == _NULL else _results.copied(update.residuals, n)
    return read(Update, update, kind=kind, step=steps, time=_results.copied(update.time, n),
                q=_results.copied(update.q, n, nq), v=_results.copied(update.v, n, nv),
                tau=_results.copied(update.tau, n, nv), residuals=residuals, model=model)


class Stream:
    """Open stream: points are pushed into it without a reply to each. Client.open_stream returns one.

    As a context manager it closes the stream at the end. A stream that was joined is left open.

    >>> with client.open_stream("feedforward", model="two_link") as stream:
    ...     stream.push([0.0, 0.001], q=[[0.0, 0.0], [0.01, 0.0]])
    >>> stream.info.accepted
    2
    """

    def __init__(self, client: Client, stream: Any, is_owner: bool) -> None:
        self.client = client
        self.name = text(lib.dyn_client_stream_name(stream))
        self.key = int(lib.dyn_client_stream_key(stream))
        self.info: StreamInfo | None = None
        self._lock = threading.Lock()
        self._stream: Any = stream
        self._is_owner = is_owner
        found = client.stream_info(self.name)
        self._sizes = {"q": found.nq, "v": found.nv, "a": found.nv, "tau": found.nv}

    def __repr__(self) -> str:
        return f"<Stream {self.name!r}{' (closed)' if self._stream is None else ''}>"

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._is_owner:
            self.close()
        else:
            self.leave()

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None:
            self.leave()

    def _names(self, field: str) -> list[str]:
        """Names of the coordinates of a point."""
        found = self.client.stream_info(self.name)
        return self.client.model(found.model).coordinate_names(field == "q", found.joint_names or ())

    def _opened(self) -> Any:
        if self._stream is None:
            raise Unavailable("the stream is closed")
        return self._stream

    def push(self, t: ArrayLike, q: Rows | None = None, v: Rows | None = None, a: Rows | None = None,
             tau: Rows | None = None, timeout: float = 10.0) -> None:
        """Pushes n points: t is (n,) in s, the arrays are (n, width); or one point: a number and rows of (width,).

        >>> with client.open_stream("feedforward", model="two_link") as stream:
        ...     stream.push(0.0, q=[0.0, 0.0])
        ...     stream.push([0.001, 0.002], q=[[0.0, 0.0]] * 2, v=[[1.0, 0.0]] * 2)
        >>> stream.info.accepted
        3
        """
        keep = Keep()
        times = as_doubles("t", t).reshape(-1)
        pointers = []
        for name, value in (("q", q), ("v", v), ("a", a), ("tau", tau)):
            if value is None:
                pointers.append(_NULL)
                continue
            rows, needed = as_rows(name, value, lambda: self._names(name)), (times.size, self._sizes[name])
            rows = rows.reshape(needed) if rows.shape == needed[1:] and times.size == 1 else rows
            pointers.append(keep.doubles(name, rows, needed))
        error = ffi.new("dyn_client_error *")
        times_of_c, left = keep.doubles("t", times), wait_of(timeout)
        end = clock.monotonic() + left
        status = lib.DYN_CLIENT_TIMEOUT
        while status == lib.DYN_CLIENT_TIMEOUT and left >= 0:
            with self._lock:
                status = lib.dyn_client_push_points(self._opened(), times.size, times_of_c, *pointers,
                                                    max(min(left, _SLICE), 1e-3), error)
            left = end - clock.monotonic()
        if status == lib.DYN_CLIENT_TIMEOUT:
            raise Timeout(f"the daemon has not accepted the points of stream {self.name!r} within {timeout:g} s")
        if status != lib.DYN_CLIENT_OK:
            raise exception_of(status, error)

    def seek(self, point_number: int) -> None:
        """Sets the number of the next point.

        >>> with client.open_stream("feedforward", model="two_link") as stream:
        ...     stream.seek(10)
        ...     stream.push(0.0, q=[0.0, 0.0])
        """
        with self._lock:
            lib.dyn_client_stream_seek(self._opened(), whole("point_number", point_number))

    def status(self, timeout: float = 0) -> StreamInfo:
        """Requests the counters of the stream.

        >>> with client.open_stream("feedforward", model="two_link") as stream:
        ...     stream.status().kind
        'feedforward'
        """
        return self.client.stream_info(self.name, timeout=timeout)

    def points(self, first: int = 1, capacity: int = 10_000, timeout: float = 0) -> tuple[NDArray[np.uint64], Array]:
        """Requests torques that a feedforward stream still holds: numbers of the points, and rows of nv.

        >>> with client.open_stream("feedforward", model="two_link") as stream, stream.watch() as updates:
        ...     stream.push(0.0, q=[0.0, 0.0])
        ...     update = next(update for update in updates if update.kind == "torques")
        ...     numbers, tau = stream.points()
        >>> tau
        array([[29.43,  9.81]])
        """
        nv, capacity = self._sizes["v"], whole("capacity", capacity, 1)
        steps, tau = room("capacity", (capacity,), np.uint64), room("capacity", (capacity, nv))
        count = ffi.new("size_t *")
        self.client.session.call(lib.dyn_client_get_stream_points, characters("name", self.name), whole("first", first),
                                 capacity, nv, seconds(timeout), ffi.from_buffer("uint64_t[]", steps),
                                 ffi.from_buffer("double[]", tau), count)
        return steps[:count[0]].copy(), tau[:count[0]].copy()

    def watch(self, timeout: float = 0) -> Watcher:
        """Subscribes to the torques and events of the stream.

        >>> with client.open_stream("feedforward", model="two_link") as stream, stream.watch() as updates:
        ...     stream.push(0.0, q=[0.0, 0.0])
        ...     update = next(update for update in updates if update.kind == "torques")
        >>> update.tau
        array([[29.43,  9.81]])
        """
        return self.client.watch_stream(self.name, timeout=timeout)

    def leave(self) -> None:
        """Closes the connection. The stream stays open in the daemon.

        >>> with client.open_stream("feedforward", model="two_link") as stream:
        ...     joined = client.join_stream(stream.name, stream.key)
        ...     joined.leave()
        """
        with self._lock:
            stream, self._stream = self._stream, None
            if stream is not None and not self.client.session.is_foreign:
                lib.dyn_client_leave_stream(stream)

    def close(self, timeout: float = 0) -> StreamInfo:
        """Closes the stream once all points have arrived. Returns its final counters, which `info` has too.

        >>> stream = client.open_stream("feedforward", model="two_link")
        >>> stream.close().accepted
        0
        """
        with self._lock:
            stream, self._stream = self._opened(), None
            listed = self.client.session.result("dyn_client_stream_list", lib.dyn_client_stream_list_free,
                                                lib.dyn_client_close_stream, stream, seconds(timeout))
        self.info = read(StreamInfo, listed.streams[0])
        return self.info
