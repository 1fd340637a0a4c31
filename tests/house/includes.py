#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads every #include of the project and refuses those that run up the table of rooms, and circles of files.

    includes.py ROOT

prints one line for each include that is not allowed, as file:line: what and why, and exits with 1 if there is one.
A room may include itself, its own public headers and the rooms that the table names, with what these may include.
A header and the source of its name count as one file: no file may include another one that includes it, at any depth.
"""
import pathlib
import re
import sys

# Room: rooms that it may include. The longest path that matches a file is its room.
ROOMS = {
    "lib/include": [],
    "lib/src/spatial": [],
    "lib/src/model": ["lib/include", "lib/src/spatial"],
    "lib/src/urdf": ["lib/src/model"],
    "lib/src/kernels": ["lib/src/spatial", "lib/src/model"],
    "lib/src/classical": ["lib/src/model"],
    "lib/src/dynamics": ["lib/src/kernels", "lib/src/classical"],
    "lib/src/constraint": ["lib/src/dynamics"],
    "lib/src/actuation": ["lib/src/model"],
    "lib/src/simulation": ["lib/src/dynamics", "lib/src/constraint", "lib/src/actuation"],
    "lib/src/identification": ["lib/src/dynamics"],
    "lib/compile": ["lib/src/kernels", "lib/src/urdf"],
    "proto": [],
    "server/observe": ["lib/include"],
    "server/access": ["server/files"],
    # The interfaces; what carries them is not seen through them.
    "server/transport/transport.h": ["server/access", "server/observe"],
    "server/transport/bucket.h": ["server/transport/transport.h"],
    "server/transport/fast_handler.h": ["proto", "server/transport/transport.h"],
    "server/transport": ["proto", "server/transport/transport.h", "server/transport/bucket.h",
                         "server/transport/fast_handler.h"],
    "server/files": [],
    "server/models": ["lib/include", "server/files", "server/observe"],
    "server/simulations": ["lib/include", "server/models", "server/observe"],
    "server/methods": [
        "proto", "lib/include", "server/models", "server/simulations", "server/transport/bucket.h",
        "server/transport/fast_handler.h",
    ],
    "server": ["server/methods", "server/transport"],
    "clients/nng": [],
    "clients/c": ["proto", "clients/json", "clients/nng"],
    "clients/c/examples": ["clients/c"],
    "clients/json": ["proto"],
    "clients/cli": ["proto", "clients/c", "clients/json"],
    "clients/python": ["clients/c"],
    "clients/rosbridge": ["proto", "clients/c", "clients/json", "clients/nng"],
}

# Where the compiler looks for headers of the project.
INCLUDE_PATHS = ["", "lib/include", "lib/src", "server", "clients/c/include", "clients/c/src", "clients/json",
                 "clients/nng", "clients/cli", "clients/rosbridge"]

# Foreign headers that only some rooms may include, and the rooms.
FOREIGN = [
    (re.compile(r"nng/"), ["server/transport", "clients"]),
    (re.compile(r"nats/"), ["server/transport", "clients"]),
    (re.compile(r"uv\.h|systemd/"), ["server", "clients/rosbridge"]),
    (re.compile(r"protobuf-c/"), ["proto", "server", "clients"]),
    (re.compile(r"libwebsockets\.h|cbor\.h|png\.h"), ["clients/rosbridge"]),
    (re.compile(r"expat\.h"), ["lib/src/urdf"]),
    (re.compile(r"(arkode|nvector|sundials)/"), ["lib/src/simulation"]),
]

# The library has no socket, thread, clock or print, and never ends the process.
LIBRARY_HEADERS = re.compile(r"(pthread|threads|time|signal|unistd|assert|sys/.*|arpa/.*|netinet/.*)\.h$")
LIBRARY_CALLS = re.compile(
    r"(?<![\w.>])(printf|puts|putchar|perror|exit|_exit|abort|assert|getenv)(?=\s*\()|\b(stdout|stderr)\b"
)

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
GENERATED = re.compile(r"dynamics/v1/\w+\.pb-c\.h$")


def room_of(path):
    """The room that a path relative to the root belongs to, or None."""
    inside = [room for room in ROOMS if path == room or path.startswith(room + "/")]
    return max(inside, key=len, default=None)


def reach(room):
    """All rooms that a room may include."""
    found, pending = set(), [room]
    while pending:
        current = pending.pop()
        if current not in found:
            found.add(current)
            pending += ROOMS[current]
    return found


def target_of(root, source, name):
    """The path of the project's file that an include means, or None for a foreign header."""
    if GENERATED.search(name):
        return "proto/" + name
    for directory in [source.parent] + [root / path for path in INCLUDE_PATHS]:
        candidate = (directory / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def is_library(room):
    """True if a room is a part of the library; lib/compile is a program."""
    return room.startswith("lib/") and room != "lib/compile"


def without_comments(text):
    """The text with comments and string literals blanked, line breaks kept."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def includes_of(root, source, text):
    """Includes of a file, as (line, name, path of the project's file or None)."""
    for number, line in enumerate(text.split("\n"), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(2), target_of(root, source, match.group(2))


def check_include(room, name, target):
    """Why an include is not allowed, or None."""
    if target is not None:
        target_room = room_of(target)
        if target_room is None:
            return f"{room} includes {target}, which is in no room"
        if target_room not in reach(room):
            return f"{room} may not include {target_room}"
        return None
    for pattern, rooms in FOREIGN:
        if pattern.match(name) and not any(room == r or room.startswith(r + "/") for r in rooms):
            return f"{room} may not include <{name}>, only {', '.join(rooms)} may"
    if is_library(room) and LIBRARY_HEADERS.match(name):
        return f"the library may not include <{name}>"
    return None


def unit_of(path):
    """Path without its extension: a header and its source are one unit."""
    return path.rsplit(".", 1)[0]


def circles(included):
    """Circles among units, each as a list of units whose first one is also the last. `included` maps a unit to those
    that it includes."""
    path, finished, found = [], set(), []

    def visit(unit):
        path.append(unit)
        for other in included.get(unit, ()):
            if other in path:
                found.append(path[path.index(other):] + [other])
            elif other not in finished:
                visit(other)
        finished.add(path.pop())

    for unit in included:
        if unit not in finished:
            visit(unit)
    return found


def check_circles(includes):
    """Violations of files that include each other in a circle, as lines. `includes` maps a path to its includes."""
    included = {}
    for path, targets in includes.items():
        for number, _, target in targets:
            if target and unit_of(target) != unit_of(path):
                included.setdefault(unit_of(path), {}).setdefault(unit_of(target), f"{path}:{number}")
    for circle in circles(included):
        yield f"{included[circle[-2]][circle[-1]]}: closes the circle {' -> '.join(circle)}"


def check_file(room, text, includes):
    """Violations of one file, as (line, reason)."""
    for number, name, target in includes:
        reason = check_include(room, name, target)
        if reason:
            yield number, reason
    if is_library(room):
        for number, line in enumerate(without_comments(text).split("\n"), 1):
            match = LIBRARY_CALLS.search(line)
            if match:
                yield number, f"the library may not use {match.group()}"


def check(root):
    """Violations of the tree under root, as lines, and the number of files read."""
    root = root.resolve()
    violations, includes = [], {}
    for top in ("lib", "server", "clients", "proto"):
        for source in sorted((root / top).rglob("*")):
            if source.suffix not in (".c", ".h", ".cc", ".hh", ".cpp", ".hpp") or not source.is_file():
                continue
            path = source.relative_to(root).as_posix()
            text = source.read_text(encoding="utf-8")
            includes[path] = list(includes_of(root, source, text))
            room = room_of(path)
            if room is None:
                violations.append(f"{path}: is in no room")
                continue
            violations += [f"{path}:{number}: {reason}" for number, reason in check_file(room, text, includes[path])]
    return violations + list(check_circles(includes)), len(includes)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: includes.py ROOT")
    violations, files = check(pathlib.Path(sys.argv[1]))
    for violation in violations:
        print(violation)
    print(f"{files} files, {len(violations)} includes or calls that are not allowed")
    sys.exit(1 if violations or files == 0 else 0)


if __name__ == "__main__":
    main()
