# SPDX-License-Identifier: BSD-2-Clause
"""Times calls about the UR5 through the Python client, for the benchmark.

    python_calls.py URL CALL SAMPLES CALLS

calls the function of the C client, with arguments that are prepared once, and the method in Python in turn, so that
both meet the same load of the machine. Prints the nanoseconds of both, one pair a line. CALL is one of

    inverse_dynamics  into an array of the caller
    options           the same with gravity and joint_names
    forward_dynamics  into a new array
    mass_matrix       into a new array
    evaluate          the mass matrix, and its array
"""
import sys
import time

import numpy as np

import dynamicsd
from dynamicsd._client import ffi, lib

GRAVITY = [0.0, 0.0, -1.62]


def prepared_query(names, samples):
    """Returns the query, and what it refers to."""
    query, kept = ffi.new("dyn_client_query *"), [ffi.new("char[]", b"ur5"), ffi.new("double[3]", GRAVITY)]
    query.struct_size, query.model = ffi.sizeof("dyn_client_query"), kept[0]
    query.nq = query.nv = 6
    query.samples = samples
    if names:
        kept.append([ffi.new("char[]", name.encode()) for name in names])
        kept.append(ffi.new("char *[]", kept[-1]))
        query.gravity, query.joint_names, query.joint_count = kept[1], kept[-1], len(names)
    return query, kept


def in_c(client, function, names, samples, arrays):
    """Returns the call of a function of the C client."""
    query, kept = prepared_query(names, samples)
    error = ffi.new("dyn_client_error *")
    arguments = [client.session._handle, query, *(ffi.from_buffer("double[]", array) for array in arrays), error]

    def call(kept=kept):
        if function(*arguments) != lib.DYN_CLIENT_OK:
            sys.exit(ffi.string(error.message).decode())
    return call


def evaluate(client, samples, q):
    """Returns the call of the C client for the mass matrix."""
    query, kept = prepared_query((), samples)
    error, found = ffi.new("dyn_client_error *"), ffi.new("dyn_client_evaluation **")
    request, entry = ffi.new("dyn_client_evaluate_request *"), ffi.new("dyn_client_quantity_request[1]")
    entry[0].quantity = lib.DYN_CLIENT_QUANTITY_MASS_MATRIX
    request.struct_size = ffi.sizeof("dyn_client_evaluate_request")
    request.quantity_count, request.quantities, request.q = 1, entry, ffi.from_buffer("double[]", q)

    def call(kept=(kept, entry)):
        if lib.dyn_client_evaluate(client.session._handle, query, request, found, error) != lib.DYN_CLIENT_OK:
            sys.exit(ffi.string(error.message).decode())
        lib.dyn_client_evaluation_free(found[0])
    return call


def spent(call):
    """Nanoseconds of a call."""
    begin = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - begin


def main():
    url, kind, samples, calls = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    client = dynamicsd.connect(url)
    model = client.model("ur5")
    q, v, a, tau = (np.tile(row, (samples, 1)) for row in
                    ([0.3, -1.2, 1.4, -0.8, -1.5, 0.4], [0.5, 0.4, -0.6, 0.2, 0.3, 1.0],
                     [1.0, 0.5, -1.0, 0.4, 0.2, 2.0], [0.0] * 6))
    names = list(reversed(model.joint_names))
    by_rows = q, v, a, tau
    in_python, prepared = {
        "inverse_dynamics": lambda: (lambda: model.inverse_dynamics(q, v, a, out=tau),
                                     in_c(client, lib.dyn_client_inverse_dynamics, (), samples, by_rows)),
        "options": lambda: (lambda: model.inverse_dynamics(q, v, a, out=tau, gravity=GRAVITY, joint_names=names),
                            in_c(client, lib.dyn_client_inverse_dynamics, names, samples, by_rows)),
        "forward_dynamics": lambda: (lambda: model.forward_dynamics(q, v, a),
                                     in_c(client, lib.dyn_client_forward_dynamics, (), samples, by_rows)),
        "mass_matrix": lambda: (lambda: model.mass_matrix(q), in_c(client, lib.dyn_client_mass_matrix, (), samples,
                                                                   (q, np.empty((samples, 6, 6))))),
        "evaluate": lambda: (lambda: model.evaluate(["mass_matrix"], q).mass_matrix, evaluate(client, samples, q)),
    }[kind]()
    for _ in range(calls):
        print(spent(prepared), spent(in_python))


if __name__ == "__main__":
    main()
