# SPDX-License-Identifier: BSD-2-Clause
"""The client for asyncio: the calls of dynamicsd.Client and dynamicsd.Model as coroutines.

    from dynamicsd import aio
    async with aio.connect() as client:
        ur5 = await client.model("ur5")
        tau = await ur5.inverse_dynamics(q, v, a)

Each call runs in a thread of the client's pool, without the interpreter's lock, so that calls of many tasks run in
parallel. Cancelling a task cancels its call, and in the daemon too where a call with `progress` could be cancelled.
`blocking` is the client, model, simulation or stream that an object here stands for.
"""
from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Callable, Concatenate, Generic, ParamSpec, Self, TypeVar, cast

from dynamicsd import client as _client
from dynamicsd import live as _live
from dynamicsd import model as _model
from dynamicsd._session import CANCELLATION, Cancellation
from dynamicsd.errors import Timeout, Unavailable
from dynamicsd.records import Update, WatchedState

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class _Pool:
    """Threads of one client."""

    def __init__(self, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="dynamicsd")

    async def run(self, function: Callable[..., R], *arguments: Any, **options: Any) -> R:
        """Calls a function in a thread. Cancels the call if the task is cancelled."""
        cancellation = Cancellation()
        context = contextvars.copy_context()
        context.run(CANCELLATION.set, cancellation)
        call = functools.partial(context.run, functools.partial(function, *arguments, **options))
        try:
            return cast(R, await asyncio.get_running_loop().run_in_executor(self._executor, call))
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    def close(self) -> None:
        """Takes no more calls."""
        self._executor.shutdown(wait=False)


class _Wrapper(Generic[S]):
    """Object whose calls run in the pool."""

    def __init__(self, blocking: S, pool: _Pool) -> None:
        self.blocking = blocking
        self._pool = pool

    def __repr__(self) -> str:
        return f"<aio of {self.blocking!r}>"


class _Call(Generic[S, P, R]):
    """Method of a wrapper: the coroutine of a method of the blocking class."""

    def __init__(self, method: Callable[Concatenate[S, P], R]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, wrapper: Any, owner: type) -> Callable[P, Coroutine[Any, Any, R]]:
        if wrapper is None:
            return cast(Callable[P, Coroutine[Any, Any, R]], self)
        return cast(Callable[P, Coroutine[Any, Any, R]],
                    functools.partial(wrapper._pool.run, self._method, wrapper.blocking))


class Model(_Wrapper[_model.Model]):
    """Model of the daemon: dynamicsd.Model with coroutines."""

    describe = _Call(_model.Model.describe)
    unload = _Call(_model.Model.unload)
    inverse_dynamics = _Call(_model.Model.inverse_dynamics)
    forward_dynamics = _Call(_model.Model.forward_dynamics)
    constrained_forward_dynamics = _Call(_model.Model.constrained_forward_dynamics)
    mass_matrix = _Call(_model.Model.mass_matrix)
    gravity = _Call(_model.Model.gravity)
    bias_forces = _Call(_model.Model.bias_forces)
    rnea = rne = inverse_dynamics
    crba = mass_matrix
    aba = accel = forward_dynamics
    gravload = gravity
    evaluate = _Call(_model.Model.evaluate)
    explain = _Call(_model.Model.explain)
    compare = _Call(_model.Model.compare)
    formulate = _Call(_model.Model.formulate)
    base_parameters = _Call(_model.Model.base_parameters)
    identify = _Call(_model.Model.identify)
    evaluate_motors = _Call(_model.Model.evaluate_motors)
    excite = _Call(_model.Model.excite)
    integrate = _Call(_model.Model.integrate)
    difference = _Call(_model.Model.difference)
    interpolate = _Call(_model.Model.interpolate)
    distance = _Call(_model.Model.distance)
    normalize = _Call(_model.Model.normalize)
    neutral = _Call(_model.Model.neutral)
    random = _Call(_model.Model.random)
    poses = _Call(_model.Model.poses)
    jacobians = _Call(_model.Model.jacobians)
    assemble = _Call(_model.Model.assemble)
    rollout = _Call(_model.Model.rollout)
    inverse_dynamics_trajectory = _Call(_model.Model.inverse_dynamics_trajectory)
    forward_dynamics_trajectory = _Call(_model.Model.forward_dynamics_trajectory)
    derive_rates = _Call(_model.Model.derive_rates)
    export = _Call(_model.Model.export)
    _derive = _Call(_model.Model.derive)

    async def derive(self, name: str, operations: Any, **options: Any) -> Model:
        """Derives a model, as dynamicsd.Model.derive does."""
        return Model(await self._derive(name, operations, **options), self._pool)


W = TypeVar("W", bound=_live.Subscription)


class _Subscription(_Wrapper[W]):
    """Subscription, whose waits are calls of the pool."""

    _next = _Call(_live.Subscription.next)
    close = _Call(_live.Subscription.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.close()

    async def next(self, timeout: float = 10.0) -> Update:
        """Waits for the next message, as dynamicsd.Watcher.next does."""
        return await self._next(timeout)

    async def updates(self) -> AsyncIterator[Update]:
        """Iterates over the messages until the subscription is closed."""
        while True:
            try:
                update = await self._next(0.2)
            except Timeout:
                continue
            except Unavailable:
                return
            yield update


class Watcher(_Subscription[_live.Watcher]):
    """Subscription to a stream or to the models: `async for update in watcher`."""

    def __aiter__(self) -> AsyncIterator[Update]:
        return self.updates()


class StateWatcher(_Subscription[_live.StateWatcher]):
    """Subscription to a simulation: `async for state in watcher`. `updates` iterates over its events too."""

    async def __aiter__(self) -> AsyncIterator[WatchedState]:
        async for update in self.updates():
            for state in update.states:
                yield state
            if update.is_end and not self.blocking.is_group:
                return


class Simulation(_Wrapper[_live.Simulation]):
    """Simulation: dynamicsd.Simulation with coroutines."""

    step = _Call(_live.Simulation.step)
    set_input = _Call(_live.Simulation.set_input)
    state = _Call(_live.Simulation.state)
    set_state = _Call(_live.Simulation.set_state)
    pause = _Call(_live.Simulation.pause)
    resume = _Call(_live.Simulation.resume)
    reset = _Call(_live.Simulation.reset)
    claim = _Call(_live.Simulation.claim)
    delete = _Call(_live.Simulation.delete)
    record = _Call(_live.Simulation.record)
    stop_recording = _Call(_live.Simulation.stop_recording)
    _watch = _Call(_live.Simulation.watch)

    async def __aenter__(self) -> Simulation:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        if self.blocking.token:
            await self.delete()

    async def watch(self, timeout: float = 0) -> StateWatcher:
        """Subscribes to the states and events of the simulation."""
        return StateWatcher(await self._watch(timeout), self._pool)


class Stream(_Wrapper[_live.Stream]):
    """Stream: dynamicsd.Stream with coroutines."""

    push = _Call(_live.Stream.push)
    seek = _Call(_live.Stream.seek)
    status = _Call(_live.Stream.status)
    points = _Call(_live.Stream.points)
    leave = _Call(_live.Stream.leave)
    close = _Call(_live.Stream.close)
    _watch = _Call(_live.Stream.watch)

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self._pool.run(self.blocking.__exit__, kind, value, trace)

    async def watch(self, timeout: float = 0) -> Watcher:
        """Subscribes to the torques and events of the stream."""
        return Watcher(await self._watch(timeout), self._pool)


class Client(_Wrapper[_client.Client]):
    """Connection to a daemon: dynamicsd.Client with coroutines, on a pool of threads of its own."""

    def __init__(self, blocking: _client.Client, threads: int = 16) -> None:
        super().__init__(blocking, _Pool(threads))

    ping = _Call(_client.Client.ping)
    health = _Call(_client.Client.health)
    server_info = _Call(_client.Client.server_info)
    metrics = _Call(_client.Client.metrics)
    set_log_level = _Call(_client.Client.set_log_level)
    settings = _Call(_client.Client.settings)
    connections = _Call(_client.Client.connections)
    slow_requests = _Call(_client.Client.slow_requests)
    close_connection = _Call(_client.Client.close_connection)
    open_fast_channel = _Call(_client.Client.open_fast_channel)
    describe = _Call(_client.Client.describe)
    models = _Call(_client.Client.models)
    unload = _Call(_client.Client.unload)
    inertia = _Call(_client.Client.inertia)
    simulations = _Call(_client.Client.simulations)
    save_simulations = _Call(_client.Client.save_simulations)
    restore_simulations = _Call(_client.Client.restore_simulations)
    recordings = _Call(_client.Client.recordings)
    delete_recording = _Call(_client.Client.delete_recording)
    fetch_recording = _Call(_client.Client.fetch_recording)
    replay = _Call(_client.Client.replay)
    stream_info = _Call(_client.Client.stream_info)
    streams = _Call(_client.Client.streams)
    jobs = _Call(_client.Client.jobs)
    job = _Call(_client.Client.job)
    cancel_job = _Call(_client.Client.cancel_job)
    _model = _Call(_client.Client.model)
    _load = _Call(_client.Client.load)
    _simulate = _Call(_client.Client.simulate)
    _simulation = _Call(_client.Client.simulation)
    _watch = _Call(_client.Client.watch)
    _watch_models = _Call(_client.Client.watch_models)
    _watch_stream = _Call(_client.Client.watch_stream)
    _open_stream = _Call(_client.Client.open_stream)
    _join_stream = _Call(_client.Client.join_stream)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends all calls with Cancelled, and closes the connection."""
        await asyncio.get_running_loop().run_in_executor(None, self.blocking.close)
        self._pool.close()

    async def model(self, name: str, timeout: float = 0) -> Model:
        """Finds a model by name or digest."""
        return Model(await self._model(name, timeout), self._pool)

    async def load(self, source: _client.Source, **options: Any) -> Model:
        """Loads a robot, as dynamicsd.Client.load does."""
        return Model(await self._load(source, **options), self._pool)

    async def simulate(self, model: str | Model, **options: Any) -> Simulation:
        """Creates a simulation, as dynamicsd.Client.simulate does."""
        robot: str | _model.Model = model.blocking if isinstance(model, Model) else model
        return Simulation(await self._simulate(robot, **options), self._pool)

    async def simulation(self, name: str, token: int = 0, timeout: float = 0) -> Simulation:
        """Finds a simulation."""
        return Simulation(await self._simulation(name, token, timeout), self._pool)

    async def watch(self, simulation: str, timeout: float = 0) -> StateWatcher:
        """Subscribes to the states and events of a simulation."""
        return StateWatcher(await self._watch(simulation, timeout), self._pool)

    async def watch_models(self, timeout: float = 0) -> Watcher:
        """Subscribes to the models of the daemon."""
        return Watcher(await self._watch_models(timeout), self._pool)

    async def watch_stream(self, stream: str, timeout: float = 0) -> Watcher:
        """Subscribes to the torques and events of a stream."""
        return Watcher(await self._watch_stream(stream, timeout), self._pool)

    async def open_stream(self, kind: str, *, model: str | Model | None = None, simulation: Simulation | None = None,
                          **options: Any) -> Stream:
        """Opens a stream, as dynamicsd.Client.open_stream does."""
        robot = model.blocking if isinstance(model, Model) else model
        run = None if simulation is None else simulation.blocking
        return Stream(await self._open_stream(kind, model=robot, simulation=run, **options), self._pool)

    async def join_stream(self, name: str, key: int, timeout: float = 0) -> Stream:
        """Opens a connection to push points into a stream of another client."""
        return Stream(await self._join_stream(name, key, timeout), self._pool)


def connect(url: str | None = None, *, threads: int = 16, **options: Any) -> Client:
    """Connects to a daemon: `async with connect() as client`. Waits for the connection, at most connect_timeout.

    `threads` bounds the calls that run at once; the other options are those of dynamicsd.connect.

    >>> async def weight():
    ...     async with connect() as client:
    ...         arm = await client.model("two_link")
    ...         return await arm.gravity([0.0, 0.0])
    >>> asyncio.run(weight())
    array([29.43,  9.81])
    """
    return Client(_client.connect(url, **options), threads)
