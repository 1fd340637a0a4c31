/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the largest force of each joint that holds a robot at rest, over 10,000 random configurations in one call.
 *
 *     cc gravity_batch.c $(pkg-config --cflags --libs dynamicsclient) -lm -o gravity_batch
 *     ./gravity_batch ipc:///run/dynamicsd/dynamicsd.sock ur5
 */
#include <dynamics_client.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATES = 10000 };

static int report(const char *what, const dyn_client_error *error) {
    fprintf(stderr, "%s: %s %s (%s)\n", what, error->field, error->message, dyn_client_status_name(error->status));
    return 1;
}

/* Prints the largest magnitude of each of the nv columns of g. */
static void print_largest(const dyn_client_description *robot, const double *g) {
    for (size_t i = 0; i < robot->joint_count; i++) {
        const dyn_client_joint *joint = &robot->joints[i];
        for (uint32_t k = 0; k < joint->nv; k++) {
            double largest = 0;
            for (size_t s = 0; s < STATES; s++) {
                largest = fmax(largest, fabs(g[s * robot->model.nv + joint->v_index + k]));
            }
            printf("%-24s %12.6f %s\n", joint->name, largest, joint->tau_units[k]);
        }
    }
}

/* Draws the configurations q and computes their gravity forces g, arrays of STATES rows, with one message for each of
 * the two calls. Prints the largest forces. */
static int hold(dyn_client *client, const dyn_client_description *robot, double *q, double *g) {
    dyn_client_error error;
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.timeout = 10.0);
    if (dyn_client_query_for(robot, &query, &error) != DYN_CLIENT_OK) {
        return report("query", &error);
    }
    query.samples = STATES;
    if (dyn_client_random(client, &query, 1, q, &error) != DYN_CLIENT_OK) {
        return report("random", &error);
    }
    if (dyn_client_gravity(client, &query, q, g, &error) != DYN_CLIENT_OK) {
        return report("gravity", &error);
    }
    print_largest(robot, g);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s URL MODEL\n", argv[0]);
        return 2;
    }
    dyn_client *client;
    dyn_client_error error;
    if (dyn_client_connect(argv[1], NULL, &client, &error) != DYN_CLIENT_OK) {
        return report("connect", &error);
    }
    dyn_client_description *robot;
    int failed = 1;
    if (dyn_client_describe_model(client, argv[2], 0, &robot, &error) != DYN_CLIENT_OK) {
        report("describe", &error);
    } else {
        double *q = calloc(STATES * robot->model.nq + 1, sizeof *q);
        double *g = calloc(STATES * robot->model.nv + 1, sizeof *g);
        failed = q && g ? hold(client, robot, q, g) : 1;
        free(q);
        free(g);
        dyn_client_description_free(robot);
    }
    dyn_client_close(client);
    return failed;
}
