#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws what dynamics-bench --json has written, by gnuplot:

    plot.py RESULTS.json PLOT.svg
"""
import json
import os
import subprocess
import sys
import tempfile

ROBOTS = ["arm 7", "quadruped 18", "humanoid 38"]
ALGORITHMS = ["RNEA", "CRBA", "ABA"]
KERNEL_COLUMNS = {"ns_batch_1": "ours, one a call", "ns_batch_64": "ours, 64 a call",
                  "ns_single_batch_64": "ours, 64, single precision", "ns_kdl": "Orocos KDL",
                  "ns_mujoco": "MuJoCo", "ns_dart": "DART", "ns_simbody": "Simbody"}
THROUGHPUT_COLUMNS = {"ipc_per_second": "daemon, ipc", "tcp_per_second": "daemon, tcp",
                      "single_ipc_per_second": "daemon, ipc, single precision",
                      "ours_per_second": "ours, in process", "ipc_echo_per_second": "bare echo, ipc",
                      "kdl_per_second": "loop over KDL", "mujoco_per_second": "loop over MuJoCo"}


def number(value):
    return "-" if value is None else repr(value)


def write_columns(path, first, columns, rows):
    """Columns of a file that gnuplot reads; rows are pairs of a label and an object of the report."""
    with open(path, "w", encoding="utf-8") as out:
        print(" ".join(f'"{title}"' for title in [first, *columns.values()]), file=out)
        for label, row in rows:
            print(json.dumps(label), *(number(row[key]) for key in columns), file=out)


def kernel_rows(table):
    found = {(row["robot"], row["algorithm"]): row for row in table}
    return [(f"{algorithm} {robot}".replace(" ", "\n"), found[robot, algorithm])
            for algorithm in ALGORITHMS for robot in ROBOTS if (robot, algorithm) in found]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as results:
        tables = json.load(results)["tables"]
    missing = [name for name in ("kernels", "throughput") if name not in tables]
    if missing:
        sys.exit(f"{sys.argv[1]} has no table {missing[0]}: run dynamics-bench with --{missing[0]} --json")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plot.gnuplot")
    with tempfile.TemporaryDirectory() as directory:
        kernels, throughput = (os.path.join(directory, name) for name in ("kernels", "throughput"))
        write_columns(kernels, "algorithm", KERNEL_COLUMNS, kernel_rows(tables["kernels"]))
        write_columns(throughput, "states", THROUGHPUT_COLUMNS,
                      [(int(row["states"]), row) for row in tables["throughput"]])
        settings = f"kernels='{kernels}'; throughput='{throughput}'; output='{os.path.abspath(sys.argv[2])}'"
        subprocess.run(["gnuplot", "-e", settings, script], check=True)


if __name__ == "__main__":
    main()
