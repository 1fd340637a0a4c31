#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Pages in headless Chromium, against a real daemon: the example of deploy/doc/ros.md, then the scenario of roslib."""
import functools
import http.server
import json
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import threading
import urllib.request

import fixture
import packages
import websocket

ROOT = packages.HERE.parents[2]
SCENARIO = """<!doctype html><meta charset="utf-8"><title>scenario</title><pre></pre>
<script src="modules.js"></script>
<script type="module">
import * as ROSLIB from "roslib";
import { run } from "./scenario.mjs";
const say = (line) => document.querySelector("pre").append(line, "\\n");
const url = `ws://localhost:${new URLSearchParams(location.search).get("port")}`;
run(ROSLIB, url, say).then(() => say("done"), (error) => say("failed: " + error.message));
</script>
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, as python3 -m http.server does."""

    def log_message(self, *_):
        pass


class Browser(fixture.Program):
    """A Chromium that shows one page, looked into by its debugging protocol."""

    def __init__(self, directory, page):
        self.profile = tempfile.mkdtemp(prefix="chromium.")
        super().__init__(
            directory, "chromium", shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu",
            "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--remote-debugging-port=0", f"--user-data-dir={self.profile}", page)
        listens = re.compile(r"DevTools listening on ws://127\.0\.0\.1:(\d+)/")
        port = int(fixture.wait_for(lambda: listens.search(self.log.read_text()), "Chromium listens")[1])

        def shown():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=fixture.WAIT) as answer:
                return [each for each in json.load(answer) if each["url"] == page]

        target = fixture.wait_for(shown, "Chromium shows the page")[0]["webSocketDebuggerUrl"]
        self.socket = websocket.connect(port, target.split(str(port), 1)[1])

    def text(self):
        """Returns the text of the page."""
        self.socket.send(json.dumps({"id": 1, "method": "Runtime.evaluate", "params": {
            "expression": "document.querySelector('pre')?.innerText ?? ''"}}))
        return json.loads(self.socket.receive())["result"]["result"]["value"]

    def stop(self):
        self.socket.close()
        super().stop()
        shutil.rmtree(self.profile, ignore_errors=True)


def show(daemon, page, is_done):
    """Returns the text of the page once it is done."""
    browser = Browser(daemon.directory, page)
    try:
        return fixture.wait_for(lambda: (text := browser.text()) and is_done(text) and text, f"{page} is done")
    except AssertionError as error:
        raise AssertionError(f"{error}; it says:\n{browser.text()}\n{browser.log.read_text()[-2000:]}") from error
    finally:
        browser.stop()


def check_example(daemon, site, port):
    """The page in deploy/doc/ros.md is the one that is shipped; it shows the torques and the daemon's health."""
    printed = re.search(r"^```html\n(.*?)^```$", (ROOT / "deploy/doc/ros.md").read_text(), re.S | re.M)[1]
    assert printed == (packages.EXAMPLES / "index.html").read_text(), "ros.md shows another page than is shipped"
    text = show(daemon, f"{site}/?port={port}", lambda text: "torques" in text and "health" in text)
    said = dict(map(json.loads, text.splitlines()))
    expected = daemon.call("inverse_dynamics", {"query": {"model": "two_link"}, "q": [0.1, 0.2]})["tau"]
    assert said["torques"] == expected[::-1], said
    assert {each["message"] for each in said["health"]} == {"serving"}, said
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = free.getsockname()[1]
    text = show(daemon, f"{site}/?port={nobody}", lambda text: "no gateway" in text)
    assert text.splitlines()[0] == f'["no gateway","ws://localhost:{nobody}"]', text
    print("showed the page of deploy/doc/ros.md")


def main():
    if not shutil.which("chromium"):
        packages.skip("chromium is not installed")
    directory = packages.install(packages.EXAMPLES)
    for name in ("services.mjs", "scenario.mjs"):
        shutil.copy(packages.HERE / name, directory)
    pathlib.Path(directory, "scenario.html").write_text(SCENARIO)
    daemon = fixture.Daemon(keeps_state=True)
    gateway = fixture.Gateway(daemon)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://localhost:{server.server_port}"
    check_example(daemon, site, gateway.port)
    text = show(daemon, f"{site}/scenario.html?port={gateway.port}",
                lambda text: re.search("^(done|failed.*)$", text, re.M))
    print(text)
    server.shutdown()
    codes = gateway.stop(), daemon.stop()
    sys.exit(not text.endswith("done\n") or any(codes))


if __name__ == "__main__":
    main()
