#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Pages in headless Chromium, against a real daemon: the examples of deploy/doc/ros.md, then the scenario of roslib."""
import functools
import http.server
import json
import math
import pathlib
import re
import shlex
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

    def command(self, method, **params):
        """Returns the result of a command of the debugging protocol."""
        self.socket.send(json.dumps({"id": 1, "method": method, "params": params}))
        return json.loads(self.socket.receive())["result"]

    def evaluate(self, expression):
        """Returns the value of an expression in the page."""
        done = self.command("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def text(self):
        """Returns the text of the page."""
        return self.evaluate("document.querySelector('pre')?.innerText ?? ''")

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
    assert printed == (packages.EXAMPLES / "minimal.html").read_text(), "ros.md shows another page than is shipped"
    text = show(daemon, f"{site}/minimal.html?port={port}", lambda text: "torques" in text and "health" in text)
    said = dict(map(json.loads, text.splitlines()))
    expected = daemon.call("inverse_dynamics", {"query": {"model": "two_link"}, "q": [0.1, 0.2]})["tau"]
    assert said["torques"] == expected[::-1], said
    assert {each["message"] for each in said["health"]} == {"serving"}, said
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = free.getsockname()[1]
    text = show(daemon, f"{site}/minimal.html?port={nobody}", lambda text: "no gateway" in text)
    assert text.splitlines()[0] == f'["no gateway","ws://localhost:{nobody}"]', text
    print("showed the page of deploy/doc/ros.md")


TORQUES = "[...document.querySelectorAll('.torque')].map((each) => Number(each.dataset.value))"
BARS = "[...document.querySelectorAll('.fill')].map((each) => [each.dataset.level, parseFloat(each.style.width)])"


def move(browser, joint, value):
    """Moves a slider as a user does."""
    browser.evaluate(f"""(() => {{
        const slider = document.querySelectorAll("input[type=range]")[{joint}];
        slider.value = {value};
        slider.dispatchEvent(new Event("input"));
    }})()""")


def check_torques(browser, daemon, model, q):
    """The page shows the daemon's torques for a configuration, and its command prints the same ones."""
    expected = daemon.call("inverse_dynamics", {"query": {"model": model}, "q": q})["tau"]
    fixture.wait_for(lambda: browser.evaluate(TORQUES) == expected, f"the torques of {model} at {q}")
    joints = daemon.call("describe_model", {"model": model})["joints"]
    for (level, width), joint, tau in zip(browser.evaluate(BARS), joints, expected):
        share = abs(tau) / joint["limits"]["effort"]
        assert level == ("2" if share > 1 else "1" if share > 0.7 else "0"), (joint["name"], level, share)
        assert math.isclose(width, 50 * min(share, 1), abs_tol=0.01), (joint["name"], width, share)
    command = shlex.split(browser.evaluate("document.getElementById('command').textContent"))
    assert command[0] == "dynamicsctl", command
    printed = daemon.control(*command[1:], "--json")
    assert printed.returncode == 0 and json.loads(printed.stdout)["tau"] == expected, (command, printed)


def check_page(daemon, site, port):
    """Sliders, bars, health and the command of the page; its errors; its width."""
    browser = Browser(daemon.directory, f"{site}/?port={port}&model=ur5")
    health = lambda: browser.evaluate("document.getElementById('health').textContent")
    notice = lambda: browser.evaluate("document.getElementById('notice').innerText")
    try:
        home = daemon.call("describe_model", {"model": "ur5"})["home_q"]
        check_torques(browser, daemon, "ur5", home)
        fixture.wait_for(lambda: health() == "serving", "the page shows the health")
        names = [each["name"] for each in daemon.call("list_models", {})["models"]]
        assert browser.evaluate("[...document.getElementById('model').options].map((each) => each.value)") == names
        for joint, value in ((1, -1.125), (2, 1.5), (4, 0.25)):
            move(browser, joint, value)
            home[joint] = value
        check_torques(browser, daemon, "ur5", home)
        for width in (400, 1200):
            browser.command("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1,
                            mobile=False)
            fixture.wait_for(lambda: browser.evaluate("innerWidth") == width, f"the page is {width} wide")
            assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{width} are too narrow"
        browser.evaluate("document.getElementById('zero').click()")
        check_torques(browser, daemon, "ur5", [0] * 6)
        browser.evaluate("""(() => {
            const model = document.getElementById("model");
            model.value = "panda";
            model.dispatchEvent(new Event("change"));
        })()""")
        check_torques(browser, daemon, "panda", daemon.call("describe_model", {"model": "panda"})["home_q"])
        daemon.control("unload", "panda")
        move(browser, 0, 0.5)
        fixture.wait_for(lambda: 'there is no model "panda"' in notice(), "the page shows an error")
        daemon.control("load", str(ROOT / "deploy/robots/panda.urdf"), "--name", "panda")
    finally:
        browser.stop()


def check_loss(daemon, site):
    """The page states that the gateway is gone, and connects again by itself."""
    gateway = fixture.Gateway(daemon)
    browser = Browser(daemon.directory, f"{site}/?port={gateway.port}&model=two_link")
    rows = lambda: browser.evaluate("document.querySelectorAll('.joint').length")
    notice = lambda: browser.evaluate("document.getElementById('notice').innerText")
    try:
        fixture.wait_for(lambda: rows() == 2, "the page shows the joints")
        assert gateway.stop() == 0
        fixture.wait_for(lambda: f"There is no gateway at ws://localhost:{gateway.port}" in notice(), "the loss shows")
        gateway = fixture.Gateway(daemon, server__port=gateway.port)
        fixture.wait_for(lambda: notice() == "", "the page is connected again")
    finally:
        browser.stop()
        gateway.stop()
    print("showed the page with sliders")


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
    check_page(daemon, site, gateway.port)
    check_loss(daemon, site)
    text = show(daemon, f"{site}/scenario.html?port={gateway.port}",
                lambda text: re.search("^(done|failed.*)$", text, re.M))
    print(text)
    server.shutdown()
    codes = gateway.stop(), daemon.stop()
    sys.exit(not text.endswith("done\n") or any(codes))


if __name__ == "__main__":
    main()
