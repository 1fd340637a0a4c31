#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures the formulations of the literature on chains of n revolute joints and draws operations and time against n.
Those that need spherical joints have chains of n of them:

    formulations.py BIN PLOT.svg [N...]

BIN has dynamicsd, dynamicsctl and constraint_force, the benchmark of parallel levels. The daemon that the script starts
has an endpoint of its own. Prints a table with the operations and the time of each result for the largest n, and the
power of n by which they grow between the last two n (default 2 4 8 16 32 64). Compare takes n of at most 200. The last
diagram shows what parallel levels gain, for chains of 30 to 1000 joints.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

RESULTS = {"inverse_dynamics": "inverse dynamics", "forward_dynamics": "forward dynamics", "mass_matrix": "mass matrix"}
MEASURES = {"operations": "operations", "time": "time, s"}
SIZES = [2, 4, 8, 16, 32, 64]
ROUNDS = 3
LEVELS = {"one_lane": "constraint_force, one joint at a time", "lanes": "constraint_force, joints in lanes",
          "lanes_and_threads": "constraint_force, joints in lanes and 2 threads", "aba": "ABA of the daemon"}
WIDTH, HEIGHT, MARGIN, LEGEND = 420, 320, 55, 220


def chain(n, joint):
    """The URDF of a chain with joints of a type in any direction and placement."""
    draw = random.Random(n)
    inertial = '<inertial><origin xyz="0.1 0.05 0"/><mass value="1"/>' \
               '<inertia ixx="0.2" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>'
    parts = [f'<robot name="{joint}{n}"><link name="link0">{inertial}</link>']
    for i in range(1, n + 1):
        place, turn, axis = (" ".join(f"{draw.uniform(-1, 1):.6f}" for _ in range(3)) for _ in range(3))
        parts.append(f'<link name="link{i}">{inertial}</link><joint name="joint{i}" type="{joint}">'
                     f'<parent link="link{i - 1}"/><child link="link{i}"/><origin xyz="{place}" rpy="{turn}"/>'
                     f'<axis xyz="{axis}"/></joint>')
    return "".join(parts) + "</robot>"


class Daemon:
    """A daemon with an endpoint of its own, in a directory that ends with it."""

    def __init__(self, binaries, directory):
        self.binaries, self.directory = binaries, directory
        self.endpoint = f"ipc://{directory}/socket"
        settings = os.path.join(directory, "dynamicsd.conf")
        with open(settings, "w", encoding="utf-8") as out:
            out.write(f"[endpoints]\nrequest = {self.endpoint}\nevents = ipc://{directory}/events\n"
                      f"[simulations]\nstate_directory = {directory}\n")
        self.process = subprocess.Popen([os.path.join(binaries, "dynamicsd"), "--config", settings],
                                        stderr=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(200):
            if self.run("ping", check=False).returncode == 0:
                return self
            time.sleep(0.05)
        self.__exit__()
        sys.exit("the daemon does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def run(self, *words, check=True):
        command = [os.path.join(self.binaries, "dynamicsctl"), "--endpoint", self.endpoint, *words]
        return subprocess.run(command, check=check, capture_output=True, text=True)

    def compare(self, n, joint="continuous"):
        """Rows of the formulations that apply to the chain of n joints of a type, at a state that is not special."""
        name = f"{joint}{n}"
        path = os.path.join(self.directory, f"{name}.urdf")
        with open(path, "w", encoding="utf-8") as out:
            out.write(chain(n, joint))
        self.run("load", path)
        v = [math.sin(i + 1) for i in range(3 * n if joint == "spherical" else n)]
        q = v
        if joint == "spherical":
            q = [part for i in range(n) for part in (0.6 * math.sin(i), 0.6 * math.cos(i), 0, 0.8)]
        q, v = (",".join(f"{value:.17g}" for value in values) for values in (q, v))
        answer = self.run("compare", name, "--q", q, "--v", v, "--a", v, "--json")
        return [row for row in json.loads(answer.stdout)["formulations"] if "refusal" not in row]


def measure(daemon, sizes, rounds=1):
    """{(formulation, result, measure): [(n, value), ...]}, for results that the formulation itself states. Times are
    the least of so many rounds."""
    found = {}

    def note(key, n, value):
        points = found.setdefault(key, {})
        points[n] = min(value, points.get(n, value))

    for n in sizes * rounds:
        rows = daemon.compare(n)
        names = [row["name"] for row in rows]
        for row in rows + [ball for ball in daemon.compare(n, "spherical") if ball["name"] not in names]:
            for result in RESULTS:
                cost = row[result]
                operations = cost["multiplications"] + cost["additions"] + cost["divisions"]
                if cost["is_stated"]:
                    note((row["name"], result, "time"), n, cost["time"])
                    if operations > 0:
                        note((row["name"], result, "operations"), n, operations)
    return {key: sorted(points.items()) for key, points in found.items()}


def measure_levels(binaries):
    """{title: [(n, seconds), ...]} of forward dynamics by parallel levels, beside others."""
    program = os.path.join(binaries, "constraint_force")
    answer = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in answer.splitlines()]
    return {title: [(row["n"], 1e-6 * row[name]) for row in rows] for name, title in LEVELS.items()}


def growth(points):
    """The power of n between the last two points, NaN for fewer."""
    if len(points) < 2:
        return math.nan
    (n, x), (m, y) = points[-2:]
    return math.log(y / x) / math.log(m / n)


def print_table(found):
    print(f"{'formulation':28}{'result':18}{'n':>5}{'operations':>14}{'power':>7}{'time, us':>12}{'power':>7}")
    for name, result in dict.fromkeys((name, result) for name, result, _ in found):
        times, operations = found[name, result, "time"], found.get((name, result, "operations"), [])
        count = f"{operations[-1][1]:14.0f}{growth(operations):7.2f}" if operations else f"{'-':>14}{'-':>7}"
        print(f"{name:28}{RESULTS[result]:18}{times[-1][0]:5}{count}{1e6 * times[-1][1]:12.1f}{growth(times):7.2f}")


def print_levels(levels):
    """A table with the times of parallel levels, in microseconds."""
    print(f"\n{'forward dynamics, us':52}" + "".join(f"{f'n = {n}':>11}" for n, _ in next(iter(levels.values()))))
    for title, points in levels.items():
        print(f"{title:52}" + "".join(f"{1e6 * time:11.1f}" for _, time in points))


class Panel:
    """A diagram with logarithmic scales."""

    def __init__(self, left, top, title, curves):
        self.left, self.top, self.title, self.curves = left, top, title, curves
        points = [point for curve in curves.values() for point in curve]
        self.n = self.decades(x for x, _ in points)
        self.y = self.decades(y for _, y in points)

    @staticmethod
    def decades(values):
        logarithms = [math.log10(value) for value in values] or [0, 1]
        return min(logarithms), max(max(logarithms), min(logarithms) + 1)

    def place(self, x, y):
        across = (math.log10(x) - self.n[0]) / (self.n[1] - self.n[0])
        up = (math.log10(y) - self.y[0]) / (self.y[1] - self.y[0])
        return (self.left + MARGIN + across * (WIDTH - 2 * MARGIN),
                self.top + HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN))

    def line(self, points, style):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.place(*point) for point in points))
        return f'<polyline points="{places}" fill="none" {style}/>'

    def text(self, x, y, words, anchor="middle"):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'

    def guides(self):
        """Straight lines of n, n^2, n^3 and n^4 from the lower left corner."""
        first, last, floor, ceiling = (10 ** e for e in (*self.n, *self.y))
        for power in range(1, 5):
            end = min(last, first * (ceiling / floor) ** (1 / power))
            height = floor * (end / first) ** power
            yield self.line([(first, floor), (end, height)], 'stroke="#bbb" stroke-dasharray="4 3"')
            x, y = self.place(end, height)
            yield self.text(x + 3, y - 3, f"n^{power}", "start")

    def draw(self, colors):
        sizes = sorted({x for curve in self.curves.values() for x, _ in curve})
        yield self.text(self.left + WIDTH / 2, self.top + 25, self.title)
        yield from self.guides()
        for n in sizes:
            x, y = self.place(n, 10 ** self.y[0])
            yield self.text(x, y + 16, str(n))
        for exponent in range(math.ceil(self.y[0]), math.floor(self.y[1]) + 1):
            x, y = self.place(10 ** self.n[0], 10 ** exponent)
            yield self.text(x - 6, y + 4, f"1e{exponent}", "end")
        for name, curve in self.curves.items():
            yield self.line(curve, f'stroke="{colors[name]}" stroke-width="1.5"')


def draw_levels(levels):
    """The diagram of parallel levels, with a legend of its own."""
    colors = {title: f"hsl({360 * i // len(levels)} 70% 35%)" for i, title in enumerate(levels)}
    panel = Panel(0, 2 * HEIGHT, "forward dynamics by parallel levels: time, s against n", levels)
    yield from panel.draw(colors)
    for i, (title, points) in enumerate(levels.items()):
        gain = levels[LEVELS["one_lane"]][-1][1] / points[-1][1]
        words = f"{title}: {1e6 * points[-1][1]:.0f} us for n = {points[-1][0]}, gain {gain:.1f}"
        yield f'<text x="{WIDTH + 10}" y="{2 * HEIGHT + 60 + 18 * i}" fill="{colors[title]}">{words}</text>'


def draw(found, path, levels=None):
    names = list(dict.fromkeys(name for name, _, _ in found))
    colors = {name: f"hsl({360 * i // len(names)} 70% {35 + 20 * (i % 2)}%)" for i, name in enumerate(names)}
    shapes = []
    for row, (measure_name, unit) in enumerate(MEASURES.items()):
        for column, (result, title) in enumerate(RESULTS.items()):
            curves = {name: found[name, result, measure_name]
                      for name in names if (name, result, measure_name) in found}
            panel = Panel(column * WIDTH, row * HEIGHT, f"{title}: {unit} against n", curves)
            shapes.extend(panel.draw(colors))
    for i, name in enumerate(names):
        shapes.append(f'<text x="{3 * WIDTH + 10}" y="{40 + 18 * i}" fill="{colors[name]}">{name}</text>')
    shapes.extend(draw_levels(levels) if levels else [])
    height = (3 if levels else 2) * HEIGHT
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{3 * WIDTH + LEGEND}" height="{height}" '
                  'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>')
        out.write("\n".join(shapes) + "</svg>\n")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sizes = sorted({int(word) for word in sys.argv[3:]}) or SIZES
    with tempfile.TemporaryDirectory() as directory, Daemon(sys.argv[1], directory) as daemon:
        found = measure(daemon, sizes, ROUNDS)
    levels = measure_levels(sys.argv[1])
    print_table(found)
    print_levels(levels)
    draw(found, sys.argv[2], levels)


if __name__ == "__main__":
    main()
