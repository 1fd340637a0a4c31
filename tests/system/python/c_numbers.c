/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes with the C client what a test computes in Python, so that the test can compare bits.
 *
 *     c_numbers URL MODEL NQ NV SAMPLES
 *
 * reads q, v and a as doubles from standard input, and writes inverse dynamics, forward dynamics, mass matrices,
 * gravity forces, bias forces and the final states of a rollout as doubles to standard output.
 */
#include <stdio.h>
#include <stdlib.h>

#include <dynamics_client.h>

enum { STEPS = 10 };

static dyn_client_error error;

static double *allocate(size_t count) {
    double *block = calloc(count + 1, sizeof *block);
    if (!block) {
        exit(2);
    }
    return block;
}

static double *read_rows(size_t count) {
    double *rows = allocate(count);
    if (fread(rows, sizeof *rows, count, stdin) != count) {
        exit(2);
    }
    return rows;
}

static void require(dyn_client_status status) {
    if (status != DYN_CLIENT_OK) {
        fprintf(stderr, "%s: %s\n", error.field, error.message);
        exit(1);
    }
}

static void write_rows(const double *rows, size_t count) {
    if (fwrite(rows, sizeof *rows, count, stdout) != count) {
        exit(2);
    }
}

static void write_numbers(dyn_client *client, const dyn_client_query *query, const double *q, const double *v,
                          const double *a) {
    size_t rows = query->samples * query->nv;
    double *result = allocate(rows * query->nv);
    require(dyn_client_inverse_dynamics(client, query, q, v, a, result, &error));
    write_rows(result, rows);
    require(dyn_client_forward_dynamics(client, query, q, v, a, result, &error));
    write_rows(result, rows);
    require(dyn_client_mass_matrix(client, query, q, result, &error));
    write_rows(result, rows * query->nv);
    require(dyn_client_gravity(client, query, q, result, &error));
    write_rows(result, rows);
    require(dyn_client_bias_forces(client, query, q, v, result, &error));
    write_rows(result, rows);
    free(result);
}

static void write_rollout(dyn_client *client, const dyn_client_query *query, const double *q, const double *v) {
    dyn_client_rollout *rollout;
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .v = v, .steps = STEPS, .only_last = true);
    require(dyn_client_rollout_run(client, query, &request, &rollout, &error));
    write_rows(rollout->q, query->samples * query->nq);
    write_rows(rollout->v, query->samples * query->nv);
    dyn_client_rollout_free(rollout);
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: %s URL MODEL NQ NV SAMPLES\n", argv[0]);
        return 2;
    }
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = argv[2], .nq = strtoul(argv[3], NULL, 10), .nv = strtoul(argv[4], NULL, 10),
                              .samples = strtoul(argv[5], NULL, 10));
    double *q = read_rows(query.samples * query.nq);
    double *v = read_rows(query.samples * query.nv);
    double *a = read_rows(query.samples * query.nv);
    dyn_client *client;
    require(dyn_client_connect(argv[1], NULL, &client, &error));
    write_numbers(client, &query, q, v, a);
    write_rollout(client, &query, q, v);
    dyn_client_close(client);
    free(q);
    free(v);
    free(a);
}
