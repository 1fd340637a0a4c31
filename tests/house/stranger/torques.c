/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the gravity forces of a robot by libdynamics and requests them from the daemon through libdynamicsclient.
 * Exits with 0 if both give the same numbers. The program is built against the installed libraries alone.
 *
 *     torques ROBOT.urdf URL MODEL
 */
#include <dynamics/dynamics.h>
#include <dynamics_client.h>

#include <stdio.h>
#include <string.h>

enum { MAX_JOINTS = 64 };

/* Computes gravity forces of the configuration q by the library; returns 0 on success. */
static int gravity_here(const dyn_model *model, const double *q, dyn_error *error, double *g) {
    dyn_workspace *workspace = NULL;
    dyn_status status = dyn_workspace_create(model, &workspace, error);
    if (status == DYN_OK) {
        status = dyn_gravity(model, workspace, 1, NULL, q, g, error);
    }
    dyn_workspace_free(workspace);
    return status == DYN_OK ? 0 : 1;
}

/* Requests the gravity forces of q from the daemon; returns 0 on success. */
static int gravity_there(const char *url, const dyn_client_query *query, const double *q, dyn_client_error *error,
                         double *g) {
    dyn_client *client = NULL;
    dyn_client_status status = dyn_client_connect(url, NULL, &client, error);
    if (status == DYN_CLIENT_OK) {
        status = dyn_client_gravity(client, query, q, g, error);
    }
    dyn_client_close(client);
    return status == DYN_CLIENT_OK ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        return fprintf(stderr, "usage: torques ROBOT.urdf URL MODEL\n"), 2;
    }

    dyn_error error = {0};
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FIXED);
    dyn_model *model = NULL;
    if (dyn_model_load_file(argv[1], &options, NULL, &model, &error) != DYN_OK) {
        return fprintf(stderr, "%s: %s: %s\n", argv[1], error.place, error.message), 1;
    }
    const int nq = dyn_model_nq(model), nv = dyn_model_nv(model);
    if (nq > MAX_JOINTS || nv > MAX_JOINTS) {
        return fprintf(stderr, "%s: too many joints\n", argv[1]), 1;
    }

    double q[MAX_JOINTS], here[MAX_JOINTS], there[MAX_JOINTS];
    for (int i = 0; i < nq; i++) {
        q[i] = 0.1 * (i + 1);
    }
    if (gravity_here(model, q, &error, here) != 0) {
        return fprintf(stderr, "libdynamics: %s: %s\n", error.place, error.message), 1;
    }
    dyn_model_free(model);

    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = argv[3], .nq = (size_t)nq, .nv = (size_t)nv, .samples = 1);
    dyn_client_error client_error = {0};
    if (gravity_there(argv[2], &query, q, &client_error, there) != 0) {
        return fprintf(stderr, "dynamicsd: %s: %s\n", client_error.field, client_error.message), 1;
    }

    for (int i = 0; i < nv; i++) {
        printf("%22.17g %22.17g\n", here[i], there[i]);
    }
    return memcmp(here, there, (size_t)nv * sizeof *here) == 0 ? 0 : 1;
}
