/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests the joint torques of a robot at rest from a running dynamicsd.
 *
 *     cc inverse_dynamics.c $(pkg-config --cflags --libs dynamicsclient) -o inverse_dynamics
 *     ./inverse_dynamics ipc:///run/dynamicsd/dynamicsd.sock ur5
 */
#include <dynamics_client.h>

#include <stdio.h>
#include <stdlib.h>

static int report(const char *what, const dyn_client_error *error) {
    fprintf(stderr, "%s: %s %s (%s)\n", what, error->field, error->message, dyn_client_status_name(error->status));
    return 1;
}

/* Prints the torques that hold the model in its home configuration: v = 0, a = 0. */
static int print_torques(dyn_client *client, const dyn_client_description *robot) {
    dyn_client_error error;
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.timeout = 1.0);
    if (dyn_client_query_for(robot, &query, &error) != DYN_CLIENT_OK) {
        return report("query", &error);
    }
    double *tau = calloc(robot->model.nv + 1, sizeof *tau);
    if (!tau) {
        return 1;
    }
    int failed = 0;
    if (dyn_client_inverse_dynamics(client, &query, robot->home_q, NULL, NULL, tau, &error) != DYN_CLIENT_OK) {
        failed = report("inverse dynamics", &error);
    }
    for (size_t i = 0; i < robot->joint_count && !failed; i++) {
        const dyn_client_joint *joint = &robot->joints[i];
        for (uint32_t k = 0; k < joint->nv; k++) {
            printf("%-24s %12.6f %s\n", joint->name, tau[joint->v_index + k], joint->tau_units[k]);
        }
    }
    free(tau);
    return failed;
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
        failed = print_torques(client, robot);
        dyn_client_description_free(robot);
    }
    dyn_client_close(client);
    return failed;
}
