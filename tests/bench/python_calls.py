# SPDX-License-Identifier: BSD-2-Clause
"""Times inverse dynamics of the UR5 through the Python client, for the benchmark.

    python_calls.py URL SAMPLES CALLS

calls the function of the C client, with arguments that are prepared once, and the method in Python in turn, so that
both meet the same load of the machine. Prints the nanoseconds of both, one pair a line.
"""
import sys
import time

import numpy as np

import dynamicsd
from dynamicsd._client import ffi, lib


def prepared(client, samples, arrays):
    """Returns the call of the C client."""
    query, error, name = ffi.new("dyn_client_query *"), ffi.new("dyn_client_error *"), ffi.new("char[]", b"ur5")
    query.struct_size, query.model = ffi.sizeof("dyn_client_query"), name
    query.nq = query.nv = 6
    query.samples = samples
    arguments = [client.session._handle, query, *(ffi.from_buffer("double[]", array) for array in arrays), error]

    def call(kept=name):
        if lib.dyn_client_inverse_dynamics(*arguments) != lib.DYN_CLIENT_OK:
            sys.exit(ffi.string(error.message).decode())
    return call


def spent(call):
    """Nanoseconds of a call."""
    begin = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - begin


def main():
    url, samples, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    client = dynamicsd.connect(url)
    model = client.model("ur5")
    q, v, a, tau = (np.tile(row, (samples, 1)) for row in
                    ([0.3, -1.2, 1.4, -0.8, -1.5, 0.4], [0.5, 0.4, -0.6, 0.2, 0.3, 1.0],
                     [1.0, 0.5, -1.0, 0.4, 0.2, 2.0], [0.0] * 6))
    in_c = prepared(client, samples, (q, v, a, tau))

    def in_python():
        model.inverse_dynamics(q, v, a, out=tau)
    for _ in range(calls):
        print(spent(in_c), spent(in_python))


if __name__ == "__main__":
    main()
