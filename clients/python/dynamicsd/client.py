# SPDX-License-Identifier: BSD-2-Clause
"""Connection to the daemon: its models, simulations, streams, recordings and jobs."""
from __future__ import annotations

import configparser
import os
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import ArrayLike

from dynamicsd import _results
from dynamicsd._client import ffi, lib
from dynamicsd._convert import Keep, characters, fill, listed, members_of, named, read, whole
from dynamicsd._query import JobTicket, Options, Query
from dynamicsd._session import Progress, Session, Watch, seconds, terms
from dynamicsd._shown import html_table
from dynamicsd.errors import DynamicsError, InvalidArgument, text
from dynamicsd.evaluation import Asked, written
from dynamicsd.live import Simulation, StateWatcher, Stream, Watcher
from dynamicsd.model import Model
from dynamicsd.records import (Body, Connection, Description, DHTable, Endpoint, Health, InertiaPart, Job, MethodInfo,
                               MethodMetrics, Metrics, ModelDescription, ModelInfo, Recording, Replay, ReportEntry,
                               ScrewChain, ServerInfo, Setting, Settings, SlowRequest, State, Stepping, StreamInfo)

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NULL = ffi.NULL
_CONFIGURATION = "/etc/dynamicsd/dynamicsd.conf"
_STANDARD_ADDRESS = "ipc:///run/dynamicsd/dynamicsd.sock"

Source = Union[str, "os.PathLike[str]", ModelDescription, DHTable, ScrewChain]


def default_address() -> str:
    """Address that dynamicsctl uses: $DYNAMICSD_ENDPOINT, else that of the daemon's configuration."""
    if os.environ.get("DYNAMICSD_ENDPOINT"):
        return os.environ["DYNAMICSD_ENDPOINT"]
    reader = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        reader.read(_CONFIGURATION, encoding="utf-8")
        return reader.get("endpoints", "request").split()[0]
    except (configparser.Error, OSError, IndexError):
        return _STANDARD_ADDRESS


def default_token() -> str:
    """Token that dynamicsctl uses: the first line of the file $DYNAMICSD_TOKEN_FILE; "" without that variable."""
    path = os.environ.get("DYNAMICSD_TOKEN_FILE")
    if not path:
        return ""
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()


class Client:
    """Connection to a daemon. All threads may use it at once; their calls run in parallel.

    url              "ipc:///run/dynamicsd/dynamicsd.sock", "tcp://127.0.0.1:7400" and so on; None: default_address.
    timeout          seconds, for calls that set none.
    connect_timeout  seconds, to establish or re-establish the connection.
    max_reply_bytes  a longer reply is refused.
    min_revision     of the contract; an earlier daemon answers Unimplemented.
    use_jobs         calls that can run as jobs do so.
    token            secret token of the caller; None: default_token.

    As a context manager it closes the connection at the end.
    """

    def __init__(self, url: str | None = None, *, timeout: float = 10.0, connect_timeout: float = 2.0,
                 max_reply_bytes: int = 64 << 20, min_revision: int = 0, use_jobs: bool = False,
                 token: str | None = None) -> None:
        keep = Keep()
        options = keep.new("dyn_client_options *")
        fill(keep, options, "", timeout=timeout, connect_timeout=connect_timeout, max_reply_bytes=max_reply_bytes,
             min_revision=min_revision, use_jobs=use_jobs, token=default_token() if token is None else token)
        self.session = Session(url or default_address(), options)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.session.url}>"

    def _repr_html_(self) -> str:
        try:
            rows = [(model.name, model.nq, model.nv, f"{model.mass:g}", model.base) for model in self.models()]
        except DynamicsError as error:
            return html_table(f"{self.session.url}: {error}", [], [])
        return html_table(self.session.url, ["model", "nq", "nv", "mass [kg]", "base"], rows)

    def close(self) -> None:
        """Ends the calls of other threads with Cancelled, and closes the connection.

        >>> own = dynamicsd.connect()
        >>> own.close()
        """
        self.session.close()

    def abort(self) -> None:
        """Ends all calls with Cancelled, also later ones. Any thread may call it.

        >>> own = dynamicsd.connect()
        >>> own.abort()
        >>> own.close()
        """
        self.session.abort()

    def _list(self, kind: str, function: Any, *arguments: Any) -> Any:
        return self.session.result(kind, getattr(lib, f"{kind}_free"), function, *arguments)

    # ---- the daemon --------------------------------------------------------------------------------------------------

    def ping(self, timeout: float = 0) -> None:
        """Makes an empty round trip.

        >>> client.ping()
        """
        self.session.call(lib.dyn_client_ping, seconds(timeout))

    def health(self, component: str | None = None, timeout: float = 0) -> Health:
        """Requests the health of the daemon, or of one component.

        >>> client.health().state
        'serving'
        """
        name = _NULL if component is None else characters("component", component)
        found = self.session.result("dyn_client_health", lib.dyn_client_health_free, lib.dyn_client_get_health, name,
                                    seconds(timeout))
        states = named("dyn_client_health_state")
        return read(Health, found, state=states.name(int(found.state)))

    def server_info(self, timeout: float = 0) -> ServerInfo:
        """Requests version, limits, endpoints, methods and counters of the daemon.

        >>> client.server_info().limits["samples"]
        1000000
        """
        found = self.session.result("dyn_client_server_info", lib.dyn_client_server_info_free,
                                    lib.dyn_client_get_server_info, seconds(timeout))
        limits = {name: getattr(found.limits, name) for name, _ in ffi.typeof(found.limits).fields}
        return ServerInfo(
            version=text(found.version), revision=found.revision,
            protocols=_results.strings(found.protocols, found.protocol_count),
            instruction_set=text(found.instruction_set), lanes=(found.lanes[0], found.lanes[1]), limits=limits,
            endpoints=tuple(read(Endpoint, each) for each in found.endpoints[0:found.endpoint_count]),
            methods=tuple(read(MethodInfo, each) for each in found.methods[0:found.method_count]),
            counters={text(each.name): each.value for each in found.counters[0:found.counter_count]},
            uptime=found.uptime, workers=found.workers, process_id=found.process_id, instance=found.instance,
            caller=text(found.caller), caller_role=named("dyn_client_method_role").name(int(found.caller_role)))

    def metrics(self, timeout: float = 0) -> Metrics:
        """Requests the numbers of the daemon's requests by method.

        >>> tau = client.model("two_link").inverse_dynamics([0.0, 0.0])
        >>> client.metrics().methods["inverse_dynamics"].samples > 0
        True
        """
        found = self.session.result("dyn_client_metrics", lib.dyn_client_metrics_free, lib.dyn_client_get_metrics,
                                    seconds(timeout))
        methods = [
            MethodMetrics(method=text(each.method), codes=_results.unpacked(each.codes, each.code_count),
                          times=_results.unpacked(each.times, found.bound_count + 1), time=each.time,
                          samples=each.samples, request_bytes=each.request_bytes, reply_bytes=each.reply_bytes)
            for each in found.methods[0:found.method_count]]
        return Metrics(instance=found.instance, uptime=found.uptime,
                       time_bounds=_results.unpacked(found.time_bounds, found.bound_count),
                       methods={each.method: each for each in methods},
                       counters={text(each.name): each.value for each in found.counters[0:found.counter_count]})

    def set_log_level(self, level: str = "unspecified", timeout: float = 0) -> str:
        """Sets the level of the daemon's log, until the daemon stops or reloads. Returns the level before.

        `level` is "error", "warning", "info" or "debug". "unspecified" leaves the level as it is.

        >>> before = client.set_log_level("debug")
        >>> client.set_log_level(before)
        'debug'
        """
        levels = named("dyn_client_log_level")
        previous = ffi.new("dyn_client_log_level *")
        self.session.call(lib.dyn_client_set_log_level, levels.number("level", level), seconds(timeout), _NULL,
                          previous)
        return levels.name(int(previous[0]))

    def settings(self, timeout: float = 0) -> Settings:
        """Requests the keys of the daemon's configuration. Needs the role administrator.

        >>> client.settings().settings["limits.samples"].value
        '1000000'
        """
        found = self.session.result("dyn_client_settings", lib.dyn_client_settings_free, lib.dyn_client_get_settings,
                                    seconds(timeout))
        entries = [read(Setting, each) for each in found.settings[0:found.count]]
        return Settings(file=text(found.file), settings={f"{each.section}.{each.key}": each for each in entries})

    def connections(self, timeout: float = 0) -> list[Connection]:
        """Lists the connections of the daemon's clients, without those over NATS. Needs the role administrator.

        >>> client.connections()[0].kind
        'request'
        """
        found = self._list("dyn_client_connections", lib.dyn_client_list_connections, seconds(timeout))
        return [read(Connection, each) for each in found.connections[0:found.count]]

    def slow_requests(self, most: int = 0, timeout: float = 0) -> list[SlowRequest]:
        """Lists the last requests that took long, the last one first; `most` 0: all that the daemon holds.

        The key observe.slow_time of the daemon's configuration is the least time. Needs the role administrator.

        >>> all(one.time >= one.waiting_time for one in client.slow_requests())
        True
        """
        found = self._list("dyn_client_slow_requests", lib.dyn_client_list_slow_requests, whole("most", most),
                           seconds(timeout))
        return [read(SlowRequest, each) for each in found.requests[0:found.count]]

    def open_fast_channel(self, model: str, quantities: Sequence[Asked] = (), *, frames: Sequence[str] | None = None,
                          reference_frame: str = "local", timeout: float = 0) -> None:
        """Opens a fast channel by memory shared with a daemon of this machine; `model` is a name or a digest.

        Later calls of the model that state nothing but samples use it: inverse and forward dynamics, mass matrix,
        gravity, bias forces, the pose or Jacobian of one frame, and evaluate of exactly these quantities.

        >>> with dynamicsd.connect() as other:
        ...     other.open_fast_channel("two_link", ["mass_matrix"])
        ...     other.model("two_link").gravity([0.0, 0.0])
        array([29.43,  9.81])
        """
        keep = Keep()
        entries = written(keep, tuple(quantities), frames, reference_frame)
        self.session.call(lib.dyn_client_open_fast_channel, characters("model", model), len(quantities), entries,
                          seconds(timeout))

    def close_connection(self, connection: int, timeout: float = 0) -> None:
        """Closes a connection of another client, which may connect again. Needs the role administrator.

        >>> with dynamicsd.connect() as other:
        ...     other.ping()
        ...     newest = max(one.connection for one in client.connections() if one.kind == "request")
        ...     client.close_connection(newest)
        >>> newest in [one.connection for one in client.connections()]
        False
        """
        self.session.call(lib.dyn_client_close_connection, whole("connection", connection), seconds(timeout))

    # ---- models ------------------------------------------------------------------------------------------------------

    def model(self, name: str, timeout: float = 0) -> Model:
        """Finds a model by name or digest.

        >>> client.model("ur5")
        <Model 'ur5': nq 6, nv 6, 17.0489 kg, fixed base>
        """
        return Model(self, self.describe(name, timeout=timeout))

    def describe(self, model: str, timeout: float = 0) -> Description:
        """Requests everything that the daemon knows about a model.

        >>> [joint.name for joint in client.describe("two_link").joints]
        ['joint1', 'joint2']
        """
        if not isinstance(model, str):
            raise TypeError(f"{model!r} is no model: pass its name or digest, a str")
        found = self.session.result("dyn_client_description", lib.dyn_client_description_free,
                                    lib.dyn_client_describe_model, characters("model", model), seconds(timeout))
        return _results.description(found)

    def models(self, timeout: float = 0) -> tuple[ModelInfo, ...]:
        """Lists the models, sorted by name.

        >>> [model.name for model in client.models()]
        ['panda', 'quadruped', 'two_link', 'ur5']
        """
        found = self._list("dyn_client_model_list", lib.dyn_client_list_models, seconds(timeout))
        return tuple(read(ModelInfo, found.models[i]) for i in range(found.count))

    def load(self, source: Source, *, name: str | None = None, base: str = "unspecified", mimic: str = "unspecified",
             gravity: ArrayLike | None = None, strict: bool = False, replace: bool = False,
             expected_digest: str | None = None, keep: bool = False, cut_loops: bool = False, loops: str | None = None,
             transmissions: bool = False, timeout: float = 0, progress: Progress | None = None) -> Model:
        """Loads a robot: the path of a file (URDF, or JSON as by dynamicsctl export), the text of a URDF file, a
        ModelDescription, a DHTable or a ScrewChain. Model.report tells what was ignored, merged or suspicious.

        `base` is "fixed" or "floating", `mimic` "coupled" or "independent". `strict` refuses a report with warnings,
        `replace` replaces another model of that name, and `keep` stores the model over restarts of the daemon.
        `cut_loops` closes the loops of links with several parents, and `loops` is the text of a YAML file that lists
        closed loops. `transmissions` reads those of a URDF file as gears, rotors and shafts.

        >>> text = client.model("two_link").export("urdf")
        >>> copy = client.load(text, name="copy_of_two_link")
        >>> copy.inverse_dynamics([0.0, 0.0])
        array([29.43,  9.81])
        >>> copy.unload()
        """
        memory = Keep()
        request = memory.new("dyn_client_load_request *")
        values: dict[str, Any] = {"name": name, "base": base, "mimic": mimic, "strict": strict, "replace": replace,
                                  "expected_digest": expected_digest, "keep": keep, "cut_loops": cut_loops,
                                  "loops": loops, "transmissions": transmissions, "timeout": seconds(timeout)}
        if gravity is not None:
            values["gravity"] = gravity
            memory.doubles("gravity", gravity, (3,))
        fill(memory, request, "", **values)
        watch = Watch(progress)
        watch.set_in(request)
        function = lib.dyn_client_load_model
        arguments: tuple[Any, ...] = (request,)
        if isinstance(source, str) and source.lstrip().startswith("<"):
            request.urdf = memory.string(source)
        elif isinstance(source, (str, os.PathLike)):
            function, arguments = lib.dyn_client_load_model_file, (os.fsencode(source), request)
        else:
            self._describe_source(memory, request, source)
        loaded = self.session.result("dyn_client_loaded_model", lib.dyn_client_loaded_model_free, function, *arguments,
                                     watch=watch)
        return self.loaded(loaded)

    @staticmethod
    def _describe_source(keep: Keep, request: Any, source: Any) -> None:
        """Sets the description in numbers."""
        kinds = {ModelDescription: ("description", "dyn_client_model_description *"),
                 DHTable: ("denavit_hartenberg", "dyn_client_dh_table *"),
                 ScrewChain: ("screws", "dyn_client_screw_chain *")}
        if type(source) not in kinds:
            raise InvalidArgument(f"is a {type(source).__name__}, but a path, the text of a URDF file, a "
                                  "ModelDescription, a DHTable or a ScrewChain is needed", field="source")
        member, kind = kinds[type(source)]
        struct = keep.new(kind)
        fill(keep, struct, member, **members_of(source))
        setattr(request, member, struct)

    def loaded(self, loaded: Any) -> Model:
        """Model of a dyn_client_loaded_model."""
        report = tuple(read(ReportEntry, loaded.report[i]) for i in range(loaded.report_count))
        return Model(self, self.describe(text(loaded.model.name)), report)

    def unload(self, model: str, timeout: float = 0) -> None:
        """Unloads the model of that name or digest.

        >>> stiff = client.model("two_link").derive("stiff", Operation("lock_joints", joints=["joint2"]))
        >>> client.unload("stiff")
        """
        self.session.call(lib.dyn_client_unload_model, characters("model", model), seconds(timeout))

    def inertia(self, parts: InertiaPart | Sequence[InertiaPart], point: ArrayLike | None = None, *, timeout: float = 0,
                progress: Progress | None = None) -> Body:
        """Computes the inertia of a body of shapes, meshes and known inertias. rotational_about is about `point`.

        >>> body = client.inertia(InertiaPart("box", size=[1.0, 1.0, 1.0], mass=6.0))
        >>> body.principal_moments.round(9)
        array([1., 1., 1.])
        """
        keep = Keep()
        given = listed("parts", parts, InertiaPart)
        array = keep.new("dyn_client_inertia_part[]", len(given))
        for i, part in enumerate(given):
            values = members_of(part)
            fill(keep, array[i], f"parts[{i}]", **values, stl_size=None if part.stl is None else len(part.stl))
        body = keep.new("dyn_client_body *")
        body.struct_size = ffi.sizeof("dyn_client_body")
        about = _NULL if point is None else keep.doubles("point", point, (3,))
        struct, watch = terms(keep, timeout, progress)
        self.session.call(lib.dyn_client_compute_inertia, len(given), array, about, struct, body, watch=watch)
        found = read(Body, body)
        found.pseudo_inertia.shape = (4, 4)
        found.principal_axes.shape = (3, 3)
        found.spatial_inertia.shape = (6, 6)
        return found

    # ---- simulations -------------------------------------------------------------------------------------------------

    def simulate(self, model: str | Model, *, name: str | None = None, q: ArrayLike | None = None,
                 v: ArrayLike | None = None, stepping: Stepping | None = None, pace: str | None = None,
                 rate: float = 0.0, is_paused: bool = False, publish_rate: float = 0.0, disturbance: float = 0.0,
                 seed: int = 0, lease: float = 0.0, keep: bool = False, **options: Unpack[Options]) -> Simulation:
        """Creates a simulation. Its defaults are the home configuration at rest and semi-implicit steps of 1 ms.

        `pace` is "lockstep", where only Simulation.step advances it, or "clock", where it follows the clock; naming a
        rate selects the clock. `rate` counts simulated seconds a second, 0.001 to 1000: with rate=1000 the robot moves
        a thousand times as fast as a real one, or as fast as the daemon computes (State.slipped is the time by which it
        stays behind). Steps a simulated second are 1 / Stepping.step_length, and `publish_rate` counts published states
        a simulated second.

        >>> with client.simulate("two_link", q=[0.0, 0.0], v=[0.0, 0.0]) as sim:
        ...     round(sim.step(1000).time, 6)
        1.0
        """
        robot = model if isinstance(model, Model) else self.model(model)
        query = Query(robot, options)
        struct = query.keep.new("dyn_client_simulation_options *")
        struct.query, struct.nq, struct.nv = query.struct, robot.nq, robot.nv
        for field, value, width in (("q", q, robot.nq), ("v", v, robot.nv)):
            if value is not None:
                setattr(struct, field, query.keep.doubles(field, value, (width,)))
        fill(query.keep, struct, "", name=name, pace=pace or ("clock" if rate else "lockstep"), rate=rate,
             is_paused=is_paused, publish_rate=publish_rate, disturbance=disturbance, seed=seed, lease=lease, keep=keep,
             stepping=stepping)
        token = ffi.new("uint64_t *")
        found = ffi.new("dyn_client_simulation **")
        self.session.call(lib.dyn_client_create_simulation, struct, token, found)
        created = ffi.gc(found[0], lib.dyn_client_simulation_free)
        return Simulation(self, text(created.name), int(token[0]), robot.nq, robot.nv)

    def simulation(self, name: str, token: int = 0, timeout: float = 0) -> Simulation:
        """Finds a simulation. Without its token it can only be read, watched and claimed.

        >>> with client.simulate("two_link", name="swing"):
        ...     client.simulation("swing").state().name
        'swing'
        """
        found = self.session.result("dyn_client_simulation", lib.dyn_client_simulation_free,
                                    lib.dyn_client_get_simulation, characters("name", name), whole("token", token),
                                    seconds(timeout))
        return Simulation(self, name, token, found.nq, found.nv)

    def simulations(self, timeout: float = 0) -> tuple[State, ...]:
        """Lists the simulations, sorted by name, without their states.

        >>> with client.simulate("two_link", name="swing"):
        ...     [each.name for each in client.simulations()]
        ['swing']
        """
        found = self._list("dyn_client_simulation_list", lib.dyn_client_list_simulations, seconds(timeout))
        return tuple(_results.state(found.simulations[i]) for i in range(found.count))

    def save_simulations(self, timeout: float = 0) -> int:
        """Saves all simulations to the daemon's state directory. Returns their number.

        >>> with client.simulate("two_link"):
        ...     client.save_simulations()
        1
        >>> client.save_simulations()  # None is left.
        0
        """
        count = ffi.new("size_t *")
        self.session.call(lib.dyn_client_save_simulations, seconds(timeout), count)
        return int(count[0])

    def restore_simulations(self, timeout: float = 0) -> int:
        """Restores the saved simulations. Returns their number.

        >>> client.restore_simulations()
        0
        """
        count = ffi.new("size_t *")
        self.session.call(lib.dyn_client_restore_simulations, seconds(timeout), count)
        return int(count[0])

    def watch(self, simulation: str, timeout: float = 0) -> StateWatcher:
        """Subscribes to the states of a simulation: `for state in client.watch("arm")`, until it is deleted.

        StateWatcher.updates iterates over its events too. A name that ends with a star subscribes to all simulations
        whose names begin with the text before it: their states arrive in one message a tick, of which `updates` makes
        an Update for each simulation.

        >>> with client.simulate("two_link", name="arm", rate=1.0):
        ...     for state in client.watch("arm"):
        ...         if state.time > 0.1:
        ...             break
        >>> state.q.shape, state.v.shape
        ((2,), (2,))
        """
        return StateWatcher(self, simulation, lib.dyn_client_watch_simulation, characters("simulation", simulation),
                            seconds(timeout))

    def watch_models(self, timeout: float = 0) -> Watcher:
        """Subscribes to the models of the daemon: each that is loaded, replaced or unloaded.

        >>> with client.watch_models() as updates:
        ...     stiff = client.model("two_link").derive("stiff", Operation("lock_joints", joints=["joint2"]))
        ...     update = updates.next()
        >>> update.text, update.model.name
        ('loaded', 'stiff')
        >>> stiff.unload()
        """
        return Watcher(self, "the models", lib.dyn_client_watch_models, seconds(timeout))

    # ---- recordings --------------------------------------------------------------------------------------------------

    def recordings(self, timeout: float = 0) -> tuple[Recording, ...]:
        """Lists the recordings, sorted by name.

        >>> with client.simulate("two_link") as sim:
        ...     sim.record("tape")
        ...     state = sim.step(5)
        ...     entries, size = sim.stop_recording()
        >>> [each.name for each in client.recordings()]
        ['tape']
        >>> client.delete_recording("tape")
        """
        found = self._list("dyn_client_recording_list", lib.dyn_client_list_recordings, seconds(timeout))
        return tuple(read(Recording, found.recordings[i]) for i in range(found.count))

    def delete_recording(self, recording: str, timeout: float = 0) -> None:
        """Deletes a recording that is not under way.

        >>> with client.simulate("two_link") as sim:
        ...     sim.record("tape")
        ...     state = sim.step(5)
        ...     entries, size = sim.stop_recording()
        >>> client.delete_recording("tape")
        >>> client.recordings()
        ()
        """
        self.session.call(lib.dyn_client_delete_recording, characters("recording", recording), seconds(timeout))

    def fetch_recording(self, recording: str, timeout: float = 0) -> bytes:
        """Reads the file of a recording.

        >>> with client.simulate("two_link") as sim:
        ...     sim.record("tape")
        ...     state = sim.step(5)
        ...     entries, size = sim.stop_recording()
        >>> len(client.fetch_recording("tape")) == size
        True
        >>> client.delete_recording("tape")
        """
        parts: list[bytes] = []
        offset = 0
        while True:
            part = self.session.result("dyn_client_recording_part", lib.dyn_client_recording_part_free,
                                       lib.dyn_client_fetch_recording, characters("recording", recording), offset, 0,
                                       seconds(timeout))
            if part.count == 0:
                return b"".join(parts)
            parts.append(bytes(ffi.buffer(part.bytes, part.count)))
            offset += part.count

    def replay(self, recording: str, *, first: int = 0, stride: int = 0, count: int = 0, with_states: bool = True,
               timeout: float = 0, progress: Progress | None = None, job: JobTicket | None = None) -> Replay:
        """Computes a recorded run again and compares it bit for bit. Returns every `stride`-th state from step `first`
        on, at most `count`; zeros mean all.

        >>> with client.simulate("two_link") as sim:
        ...     sim.record("tape")
        ...     state = sim.step(5)
        ...     entries, size = sim.stop_recording()
        >>> again = client.replay("tape")
        >>> int(again.steps), int(again.equal_steps), again.q.shape
        (5, 5, (5, 2))
        >>> client.delete_recording("tape")
        """
        keep = Keep()
        numbers = whole("first", first), whole("stride", stride), whole("count", count)
        rows = keep.new("dyn_client_rows *", numbers) if with_states else _NULL
        struct, watch = terms(keep, timeout, progress, None if job is None else job.struct)
        found = self.session.result("dyn_client_replay", lib.dyn_client_replay_free, lib.dyn_client_replay_simulation,
                                    characters("recording", recording), rows, struct, watch=watch)
        return _results.replay(found)

    # ---- streams -----------------------------------------------------------------------------------------------------

    def open_stream(self, kind: str, *, model: str | Model | None = None, simulation: Simulation | None = None,
                    name: str | None = None, recording: str | None = None, hold: str = "zero_order",
                    empty: str = "hold", late: str = "drop", late_after: float = 0.0, capacity: int = 0,
                    idle_time: float = 0.0, **options: Unpack[Options]) -> Stream:
        """Opens a stream. `kind` is "feedforward" (torques of points of a model), "simulation_input" (points drive a
        simulation) or "record" (the daemon writes points of a model to a file).

        >>> with client.open_stream("feedforward", model="two_link") as stream:
        ...     stream.push([0.0, 0.001], q=[[0.0, 0.0], [0.01, 0.0]])
        >>> stream.info.accepted
        2
        """
        keep = Keep()
        struct = keep.new("dyn_client_stream_options *")
        fill(keep, struct, "", name=name, kind=kind, recording=recording, hold=hold, empty=empty, late=late,
             late_after=late_after, capacity=capacity, idle_time=idle_time)
        if model is not None:
            query = Query(model if isinstance(model, Model) else self.model(model), options)
            keep.append(query)
            struct.query = query.struct
        if simulation is not None:
            struct.simulation, struct.token = keep.string(simulation.name), simulation.token
        opened = ffi.new("dyn_client_stream **")
        self.session.call(lib.dyn_client_open_stream, struct, opened)
        return Stream(self, opened[0], True)

    def join_stream(self, name: str, key: int, timeout: float = 0) -> Stream:
        """Opens a connection to push points into a stream of another client.

        >>> with client.open_stream("feedforward", model="two_link") as stream:
        ...     with client.join_stream(stream.name, stream.key) as joined:
        ...         joined.push(0.0, q=[0.0, 0.0])
        """
        opened = ffi.new("dyn_client_stream **")
        self.session.call(lib.dyn_client_join_stream, characters("name", name), whole("key", key), seconds(timeout),
                          opened)
        return Stream(self, opened[0], False)

    def stream_info(self, name: str, timeout: float = 0) -> StreamInfo:
        """Requests the counters of one stream.

        >>> with client.open_stream("feedforward", model="two_link", name="points"):
        ...     client.stream_info("points").kind
        'feedforward'
        """
        found = self._list("dyn_client_stream_list", lib.dyn_client_get_stream, characters("name", name),
                           seconds(timeout))
        return read(StreamInfo, found.streams[0])

    def streams(self, timeout: float = 0) -> tuple[StreamInfo, ...]:
        """Lists the streams.

        >>> with client.open_stream("feedforward", model="two_link", name="points"):
        ...     [each.name for each in client.streams()]
        ['points']
        """
        found = self._list("dyn_client_stream_list", lib.dyn_client_list_streams, seconds(timeout))
        return tuple(read(StreamInfo, found.streams[i]) for i in range(found.count))

    def watch_stream(self, stream: str, timeout: float = 0) -> Watcher:
        """Subscribes to the torques and events of a stream.

        >>> with client.open_stream("feedforward", model="two_link") as stream:
        ...     with client.watch_stream(stream.name) as updates:
        ...         stream.push(0.0, q=[0.0, 0.0])
        ...         update = next(update for update in updates if update.kind == "torques")
        >>> update.tau
        array([[29.43,  9.81]])
        """
        return Watcher(self, stream, lib.dyn_client_watch_stream, characters("stream", stream), seconds(timeout))

    # ---- jobs --------------------------------------------------------------------------------------------------------

    def jobs(self, timeout: float = 0) -> tuple[Job, ...]:
        """Lists the jobs of all clients, in the order of their start.

        >>> ticket, states = dynamicsd.JobTicket(), np.zeros((1000, 6))
        >>> try:
        ...     found = client.model("ur5").rollout(states, steps=30_000, only_last=True, job=ticket, timeout=0.2)
        ... except TimeoutError:
        ...     pass  # The job goes on.
        >>> ticket.name in [each.name for each in client.jobs()]
        True
        >>> client.cancel_job(ticket)
        """
        found = self._list("dyn_client_job_list", lib.dyn_client_get_jobs, _NULL, seconds(timeout))
        return tuple(read(Job, found.jobs[i]) for i in range(found.count))

    def job(self, name: str, timeout: float = 0) -> Job:
        """Requests the state of one job.

        >>> ticket, states = dynamicsd.JobTicket(), np.zeros((1000, 6))
        >>> try:
        ...     found = client.model("ur5").rollout(states, steps=30_000, only_last=True, job=ticket, timeout=0.2)
        ... except TimeoutError:
        ...     pass  # The job goes on.
        >>> client.job(ticket.name).method
        'rollout'
        >>> client.cancel_job(ticket)
        """
        found = self._list("dyn_client_job_list", lib.dyn_client_get_jobs, characters("name", name), seconds(timeout))
        return read(Job, found.jobs[0])

    def cancel_job(self, job: str | JobTicket, token: int = 0, timeout: float = 0) -> None:
        """Cancels a job, or removes it with its result if it has finished.

        >>> ticket, states = dynamicsd.JobTicket(), np.zeros((1000, 6))
        >>> try:
        ...     found = client.model("ur5").rollout(states, steps=30_000, only_last=True, job=ticket, timeout=0.2)
        ... except TimeoutError:
        ...     pass  # The job goes on.
        >>> client.cancel_job(ticket)
        """
        name, secret = (job.name, job.token) if isinstance(job, JobTicket) else (job, token)
        self.session.call(lib.dyn_client_cancel_job, characters("job", name), whole("token", secret), seconds(timeout))


def connect(url: str | None = None, *, timeout: float = 10.0, connect_timeout: float = 2.0,
            max_reply_bytes: int = 64 << 20, min_revision: int = 0, use_jobs: bool = False,
            token: str | None = None) -> Client:
    """Connects to a daemon: that at `url`, else at $DYNAMICSD_ENDPOINT, else the local one. Options as for Client.

    >>> with connect() as client:
    ...     client.ping()
    """
    return Client(url, timeout=timeout, connect_timeout=connect_timeout, max_reply_bytes=max_reply_bytes,
                  min_revision=min_revision, use_jobs=use_jobs, token=token)
