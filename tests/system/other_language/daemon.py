# SPDX-License-Identifier: BSD-2-Clause
"""A daemon for a test in Python.

The environment names what is needed: DYNAMICSD, the program, and ROBOTS, the directory of its models.
"""
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import sp


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Daemon:
    """A daemon with the sample robots and a state directory, on ipc and tcp. `settings`: {section: {key: value}}.

    `server` is the address of a NATS server over which it serves requests too.
    """

    def __init__(self, settings=None, server=""):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="language."))
        ipc = {kind: f"ipc://{self.directory}/{kind}.sock" for kind in ("request", "events", "ingest")}
        file = self.directory / "dynamicsd.conf"
        (self.directory / "state").mkdir()
        sections = {"endpoints": {kind: f"{ipc[kind]} tcp://127.0.0.1:0" for kind in ipc},
                    "limits": {"request_time": 300},  # for a daemon with sanitizers on a busy machine
                    "simulations": {"state_directory": f"{self.directory}/state"},
                    "models": {"directory": os.environ["ROBOTS"]}}
        sections["endpoints"]["request"] += f" {server}"
        for section, keys in (settings or {}).items():
            sections.setdefault(section, {}).update(keys)
        file.write_text("".join(f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
                                for section, keys in sections.items()), encoding="utf-8")
        self.request = ipc["request"]
        self.begin()

    def begin(self):
        """Starts the daemon, and waits until it takes connections."""
        with (self.directory / "log").open("a") as log:
            self.started = log.tell()
            self.process = subprocess.Popen([os.environ["DYNAMICSD"], "--config", self.directory / "dynamicsd.conf"],
                                            stdout=log, stderr=log, preexec_fn=die_with_parent)
        self.wait()

    def wait(self):
        """Waits until the daemon takes connections, and then until it handles signals, which its log says."""
        until = time.monotonic() + sp.WAIT
        while time.monotonic() < until and self.process.poll() is None:
            try:
                sp.Requester(self.request).close()
                if " is ready" in (self.directory / "log").read_text()[self.started:]:
                    return
            except (ConnectionError, FileNotFoundError):
                pass
            time.sleep(0.02)
        self.process.kill()
        raise AssertionError("the daemon does not answer:\n" + (self.directory / "log").read_text())

    def end(self):
        """Stops the daemon. Its directory stays, so that it can begin again."""
        self.process.terminate()
        code = self.process.wait(sp.WAIT)
        assert code == 0, f"the daemon ended with code {code}; its log:\n{(self.directory / 'log').read_text()}"

    def stop(self):
        """Stops the daemon, and removes its directory."""
        self.end()
        shutil.rmtree(self.directory)
