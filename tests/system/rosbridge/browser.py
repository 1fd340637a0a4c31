#!/usr/bin/env python3
"""The same scenario from a page in headless Chromium, against a real daemon: the page is served from this machine."""
import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

import fixture
import packages

PAGE = """<!doctype html><meta charset="utf-8"><title>scenario</title>
<script type="importmap">{"imports": %s}</script>
<script type="module">
import * as ROSLIB from "roslib";
import { run } from "./scenario.mjs";
const say = (line) => fetch("/say", { method: "POST", body: line });
addEventListener("error", (event) => say("failed: " + event.message));
run(ROSLIB, "%s", say).then(() => say("done"), (error) => say("failed: " + error.message));
</script>
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and hears what the page says."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}
    said, heard = [], threading.Condition()

    def do_POST(self):
        line = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with self.heard:
            self.said.append(line)
            self.heard.notify()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def entry(package):
    """The module that a browser loads for a package, as its package.json tells."""
    modules = sorted(package.glob("dist/*.esm.js"))
    if modules:
        return modules[0].relative_to(package)
    told = json.loads((package / "package.json").read_text())
    found = told.get("exports", told.get("module", told.get("main", "index.js")))
    found = found.get(".", found) if isinstance(found, dict) else found
    while isinstance(found, dict):
        found = next(value for key, value in found.items() if key in ("browser", "import", "module", "default"))
    return found.removeprefix("./")


def import_map(directory):
    modules = directory / "node_modules"
    packages_there = [each.parent for each in [*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")]]
    return {str(each.relative_to(modules)): f"./node_modules/{each.relative_to(modules)}/{entry(each)}"
            for each in packages_there}


def main():
    chromium = shutil.which("chromium")
    if not chromium:
        packages.skip("chromium is not installed")
    directory = packages.install()
    daemon = fixture.Daemon()
    gateway = fixture.Gateway(daemon)
    pathlib.Path(directory, "page.html").write_text(
        PAGE % (json.dumps(import_map(directory)), f"ws://127.0.0.1:{gateway.port}"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    profile = tempfile.mkdtemp(prefix="chromium.")
    page = f"http://127.0.0.1:{server.server_port}/page.html"
    browser = fixture.Program(
        daemon.directory, "chromium", chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
        "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--enable-logging=stderr", f"--user-data-dir={profile}", page)
    with Handler.heard:
        Handler.heard.wait_for(lambda: Handler.said and Handler.said[-1].startswith(("done", "failed")), 60)
    print("\n".join(Handler.said))
    done = Handler.said and Handler.said[-1] == "done"
    if not done:
        print(browser.log.read_text()[-4000:])
    browser.stop()
    server.shutdown()
    codes = gateway.stop(), daemon.stop()
    shutil.rmtree(profile, ignore_errors=True)
    sys.exit(not done or any(codes))


if __name__ == "__main__":
    main()
