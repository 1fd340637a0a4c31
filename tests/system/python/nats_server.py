# SPDX-License-Identifier: BSD-2-Clause
"""A nats-server for a test."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import sp
from daemon import die_with_parent


class NatsServer:
    """Server at a port that the system chooses. `url` is its address."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nats."))
        file = self.directory / "nats.conf"
        file.write_text(f"host: 127.0.0.1\nport: -1\nports_file_dir: {self.directory}\nmax_payload: 32MB\n"
                        f"jetstream {{ store_dir: \"{self.directory}/jetstream\" }}\n")
        program = shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin")
        with (self.directory / "log").open("w") as log:
            self.process = subprocess.Popen([program, "-c", file], stdout=log, stderr=log, preexec_fn=die_with_parent)
        ports = self.directory / f"nats-server_{self.process.pid}.ports"
        until = time.monotonic() + sp.WAIT
        while not (ports.exists() and ports.read_text()) and time.monotonic() < until:
            time.sleep(0.02)
        self.url, = json.loads(ports.read_text())["nats"]

    def stop(self):
        """Stops the server, and removes its directory."""
        self.process.terminate()
        self.process.wait(sp.WAIT)
        shutil.rmtree(self.directory)
