# SPDX-License-Identifier: BSD-2-Clause
"""Calls of the C client: errors become exceptions, and calls that take long can be interrupted.

cffi releases the interpreter's lock during a call. A call may run in any thread; Session counts those under way, so
that close waits for them.
"""
from __future__ import annotations

import contextvars
import functools
import importlib
import os
import sys
import threading
import warnings
import weakref
from typing import Any, Callable, Union

from dynamicsd._client import ffi, lib
from dynamicsd._convert import Keep, characters
from dynamicsd.errors import InvalidArgument, MarkedRows, Unavailable, exception_of, text

Progress = Union[bool, Callable[[float], object]]

_ERROR = ffi.typeof("dyn_client_error *")
_WATCH = ffi.typeof("dynamicsd_watch *")
_OK: int = lib.DYN_CLIENT_OK
_REPORT = ffi.addressof(lib, "dynamicsd_watch_report")


class Cancellation:
    """Right to end the call that another thread makes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watch: Any = None
        self._is_cancelled = False

    def attach(self, watch: Any) -> None:
        """Names the call that is to be ended."""
        with self._lock:
            self._watch = watch
            if self._is_cancelled:
                lib.dynamicsd_watch_cancel(watch)

    def cancel(self) -> None:
        """Ends the call, and every later one."""
        with self._lock:
            self._is_cancelled = True
            if self._watch is not None:
                lib.dynamicsd_watch_cancel(self._watch)


# Cancellation of the calls that the current context makes. dynamicsd.aio sets it.
CANCELLATION: contextvars.ContextVar[Cancellation | None] = contextvars.ContextVar("cancellation", default=None)


class Bar:
    """Progress bar on standard error: tqdm's where that is installed."""

    def __init__(self) -> None:
        try:
            tqdm = importlib.import_module("tqdm.auto").tqdm
            self._bar: Any = tqdm(total=100, unit="%", leave=False)
        except ImportError:
            self._bar = None
        self._shown = -1

    def __call__(self, fraction: float) -> None:
        """Shows the fraction."""
        percent = int(100 * fraction)
        if self._bar is not None:
            self._bar.update(percent - max(self._shown, 0))
        elif percent > self._shown:
            print(f"\r{percent:3d} %", end="", file=sys.stderr, flush=True)
        self._shown = percent

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()
        elif self._shown >= 0:
            print("\r     \r", end="", file=sys.stderr, flush=True)


class Reporter:
    """Callback of one call. It stores an exception of the caller's function, which ends the call."""

    def __init__(self, progress: Progress) -> None:
        self.bar = Bar() if progress is True else None
        self.function: Any = self.bar or progress
        self.exception: BaseException | None = None

    def report(self, fraction: float) -> bool:
        """Calls the caller's function. Its result False ends the call."""
        try:
            return self.function(fraction) is not False
        except BaseException as exception:  # The C client cannot pass it on.
            self.exception = exception
            return False

    def close(self) -> None:
        """Removes the bar, if there is one."""
        if self.bar is not None:
            self.bar.close()


def report_progress(context: Any, fraction: float) -> bool:
    """Finds the reporter of a call. A thread of the C client calls it."""
    reporter: Reporter = ffi.from_handle(context)
    return reporter.report(fraction)


ffi.def_extern("dynamicsd_progress", error=False)(report_progress)


class Watch:
    """Makes one call end on its cancellation, or by its progress callback. Ctrl-C ends calls without one too."""

    def __init__(self, progress: Progress | None) -> None:
        self.struct = ffi.new(_WATCH)
        self.reporter = Reporter(progress) if progress else None
        if self.reporter is not None:
            self._handle = ffi.new_handle(self.reporter)
            self.struct.progress = lib.dynamicsd_progress
            self.struct.context = self._handle
        cancellation = CANCELLATION.get()
        if cancellation is not None:
            cancellation.attach(self.struct)

    def set_in(self, struct: Any) -> None:
        """Sets the progress callback of a query, a request or terms of C."""
        struct.progress = _REPORT
        struct.progress_context = self.struct

    def call(self, function: Any, *arguments: Any) -> int:
        """Calls a function of C."""
        self.struct.is_guarded = threading.current_thread() is threading.main_thread()
        try:
            status: int = function(*arguments)
        finally:
            if self.reporter is not None:
                self.reporter.close()
        if self.reporter is not None and self.reporter.exception is not None:
            raise self.reporter.exception
        return status


@functools.lru_cache(maxsize=None)
def _pointer_to(kind: str) -> Any:
    """Type of C for the address of a result."""
    return ffi.typeof(f"{kind} **")


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


class _Connecting(threading.Thread):
    """Thread that connects, since the main thread handles Ctrl-C while it waits for another thread."""

    def __init__(self, url: str, options: Any) -> None:
        super().__init__(daemon=True)
        self._url, self._options = characters("url", url), options
        self._lock = threading.Lock()
        self._is_over = self._is_left = False
        self.opened = ffi.new("dyn_client **")
        self.error = ffi.new(_ERROR)
        self.status = _OK

    def run(self) -> None:
        """Connects. Closes the connection if nobody waits for it any more."""
        self.status = lib.dyn_client_connect(self._url, self._options, self.opened, self.error)
        with self._lock:
            self._is_over = True
            if self._is_left:
                lib.dyn_client_close(self.opened[0])

    def leave(self) -> None:
        """Says that nobody waits any more."""
        with self._lock:
            self._is_left = True
            if self._is_over:
                lib.dyn_client_close(self.opened[0])


def _connect(url: str, options: Any) -> Any:
    """New client of C. Calls that the main thread makes with it end on Ctrl-C."""
    connecting = _Connecting(url, options)
    if threading.current_thread() is not threading.main_thread():
        connecting.run()
    else:
        lib.dynamicsd_guard_thread()
        connecting.start()
        try:
            connecting.join()
        except BaseException:
            connecting.leave()
            raise
    if connecting.status != _OK:
        raise exception_of(connecting.status, connecting.error)
    return connecting.opened[0]


class Session:
    """Connection to the daemon. All threads may use it at once."""

    def __init__(self, url: str, options: Any) -> None:
        self.url = url
        self._changed = threading.Condition()
        # One entry for each call under way. A call adds its own before it reads _is_closed, and close sets _is_closed
        # before it waits for the entries to go, so that neither needs a lock to see the other.
        self._under_way: list[None] = []
        self._is_closed = True
        self.is_foreign = False  # of the parent of this forked process
        self._handle: Any = None
        self._handle = _connect(url, options)
        self._is_closed = False
        _sessions.add(self)

    def call(self, function: Any, *arguments: Any, watch: Watch | None = None) -> None:
        """Calls a function with the client before and an error after the arguments."""
        self.invoke(function, arguments, watch, ffi.new(_ERROR))

    def invoke(self, function: Any, arguments: tuple[Any, ...], watch: Watch | None, error: Any) -> None:
        """Calls a function with the client before and an error after the arguments. `error` is memory for it."""
        self._under_way.append(None)
        try:
            if self._is_closed:
                raise Unavailable("the client is closed, or belongs to the parent of a forked process; "
                                  "connect again (in a forked process only after exec)")
            if watch is None:
                status = function(self._handle, *arguments, error)
            else:
                status = watch.call(function, self._handle, *arguments, error)
        finally:
            self._under_way.pop()
            if self._is_closed:
                with self._changed:
                    self._changed.notify_all()
        if status != _OK:
            raise exception_of(status, error)
        if error.marked:
            warnings.warn(f"{error.marked} states failed, the first: {text(error.message)}", MarkedRows, stacklevel=4)

    def result(self, kind: str, free: Any, function: Any, *arguments: Any, watch: Watch | None = None) -> Any:
        """Calls a function that returns a block of memory. The block is freed with the last reference to it."""
        result = ffi.new(_pointer_to(kind))
        self.call(function, *arguments, result, watch=watch)
        return ffi.gc(result[0], free)

    def abort(self) -> None:
        """Ends all calls with Cancelled."""
        with self._changed:
            if not self._is_closed:
                lib.dyn_client_abort(self._handle)

    def close(self) -> None:
        """Ends all calls, waits for them and closes the connection."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            if self._under_way:
                lib.dyn_client_abort(self._handle)
            self._changed.wait_for(lambda: not self._under_way)
            lib.dyn_client_close(self._handle)

    def forget(self) -> None:
        """Leaves the connection to the parent process, after a fork."""
        self._changed = threading.Condition()
        self._under_way = []
        self._is_closed = self.is_foreign = True

    def __del__(self) -> None:
        if not self._is_closed:
            self.close()


def _forget_sessions() -> None:
    """Makes a forked process leave alone the connections of its parent, as the C client demands."""
    for session in list(_sessions):
        session.forget()


os.register_at_fork(after_in_child=_forget_sessions)


def terms(keep: Keep, timeout: float, progress: Progress | None, job: Any = None) -> tuple[Any, Watch]:
    """Terms of a call that can take long."""
    struct = keep.new("dyn_client_terms *")
    struct.struct_size = ffi.sizeof("dyn_client_terms")
    struct.timeout = seconds(timeout)
    watch = Watch(progress)
    watch.set_in(struct)
    if job is not None:
        struct.job = job
    return struct, watch


def wait_of(timeout: Any) -> float:
    """Time to wait in Python, in seconds."""
    found = seconds(timeout)
    if not 0 <= found < float("inf"):
        raise InvalidArgument(f"{timeout!r} is no time from 0 on", field="timeout")
    return found


def seconds(timeout: Any) -> float:
    """Timeout as the C client expects it."""
    try:
        return float(timeout)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{timeout!r} is no number of seconds", field="timeout") from None
