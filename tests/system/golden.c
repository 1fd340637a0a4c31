/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the results of the daemon, through libdynamicsclient, with the reference values of every robot that has
 * some. All states of a robot are in one request.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <jansson.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/reference.h"
#include "system/runner.h"

static daemon_fixture served;
static char **files;
static int file_count;

/* ---- comparison -------------------------------------------------------------------------------------------------- */

/* Compares rows of nv numbers with a field of the reference that some states may lack. */
static void check_rows(const reference *of, const char *quantity, const char *field, const double *rows) {
    size_t compared = 0;
    for (size_t s = 0; s < of->count; s++) {
        const json_t *expected = json_object_get(json_array_get(of->states, s), field);
        deviation found = {0};
        for (size_t k = 0; expected && k < of->nv; k++) {
            add(&found, rows[s * of->nv + of->v_map[k]], at(expected, k));
        }
        check(of, quantity, s, found);
        compared += expected != NULL;
    }
    bool dropped = json_object_get(of->root, "dropped_nonfinite") != NULL;
    ck_assert_msg(compared > 0 || dropped, "%s: no state has %s", of->robot->model.name, field);
}

/* Returns external forces on the child link of each joint, from the reference's field "fext": force and torque in the
 * link's frame. free_forces frees them. */
static dyn_client_external_force *read_forces(const reference *of) {
    size_t bodies = json_array_size(of->joints);
    dyn_client_external_force *forces = calloc(bodies + 1, sizeof *forces);
    for (size_t i = 0; i < bodies; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(of->joints, i), "name"));
        double *force = calloc(3 * of->count, sizeof *force), *torque = calloc(3 * of->count, sizeof *torque);
        for (size_t s = 0; s < of->count; s++) {
            const json_t *from = json_object_get(json_array_get(of->states, s), "fext");
            for (size_t k = 0; k < 3; k++) {
                force[3 * s + k] = at(from, 6 * i + k);
                torque[3 * s + k] = at(from, 6 * i + 3 + k);
            }
        }
        forces[i] = (dyn_client_external_force){.link = find_joint(of->robot, name)->child_link,
                                                .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL,
                                                .force = force,
                                                .torque = torque,
                                                .rows = of->count};
    }
    return forces;
}

static void free_forces(const reference *of, dyn_client_external_force *forces) {
    for (size_t i = 0; i < json_array_size(of->joints); i++) {
        free((double *)forces[i].force);
        free((double *)forces[i].torque);
    }
    free(forces);
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

START_TEST(dynamics_agree_with_the_reference) {
    reference of;
    dyn_client_error error;
    reference_open(&of, served.request_ipc, files[_i]);
    double *rows = calloc(of.count * of.nv + 1, sizeof *rows);
    must(&of, "id", dyn_client_inverse_dynamics(of.client, &of.query, of.q, of.v, of.a, rows, &error), &error);
    check_rows(&of, "tau", "rnea", rows);
    must(&of, "bias", dyn_client_bias_forces(of.client, &of.query, of.q, of.v, rows, &error), &error);
    check_rows(&of, "h", "nle", rows);
    must(&of, "gravity", dyn_client_gravity(of.client, &of.query, of.q, rows, &error), &error);
    check_rows(&of, "g", "gravity", rows);
    if (has(&of, "aba")) {
        must(&of, "fd", dyn_client_forward_dynamics(of.client, &of.query, of.q, of.v, of.tau, rows, &error), &error);
        check_rows(&of, "a", "aba", rows);
    }
    free(rows);
    reference_close(&of);
}
END_TEST

START_TEST(external_forces_agree_with_the_reference) {
    reference of;
    dyn_client_error error;
    reference_open(&of, served.request_ipc, files[_i]);
    double *rows = calloc(of.count * of.nv + 1, sizeof *rows);
    dyn_client_external_force *forces = read_forces(&of);
    of.query.external_force_count = json_array_size(of.joints);
    of.query.external_forces = forces;
    must(&of, "id", dyn_client_inverse_dynamics(of.client, &of.query, of.q, of.v, of.a, rows, &error), &error);
    check_rows(&of, "tau with external forces", "rnea_fext", rows);
    if (has(&of, "aba_fext")) {
        must(&of, "fd", dyn_client_forward_dynamics(of.client, &of.query, of.q, of.v, of.tau, rows, &error), &error);
        check_rows(&of, "a with external forces", "aba_fext", rows);
    }
    free_forces(&of, forces);
    free(rows);
    reference_close(&of);
}
END_TEST

START_TEST(mass_matrix_agrees_with_the_reference) {
    reference of;
    dyn_client_error error;
    reference_open(&of, served.request_ipc, files[_i]);
    size_t compared = 0;
    double *mass = calloc(of.count * of.nv * of.nv + 1, sizeof *mass);
    must(&of, "mass", dyn_client_mass_matrix(of.client, &of.query, of.q, mass, &error), &error);
    for (size_t s = 0; s < of.count; s++) {
        const json_t *expected = json_object_get(json_array_get(of.states, s), "M");
        const double *own = mass + s * of.nv * of.nv;
        deviation found = {0};
        for (size_t i = 0; expected && i < of.nv; i++) {
            for (size_t k = 0; k < of.nv; k++) {
                add(&found, own[of.v_map[i] * of.nv + of.v_map[k]], at(expected, i * of.nv + k));
            }
        }
        check(&of, "M", s, found);
        compared += expected != NULL;
    }
    ck_assert_uint_gt(compared, 0);
    free(mass);
    reference_close(&of);
}
END_TEST

/* Computes the row-major rotation of a unit quaternion x y z w. */
static void to_rotation(const double q[4], double rotation[9]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
    rotation[0] = 1 - 2 * (y * y + z * z);
    rotation[1] = 2 * (x * y - z * w);
    rotation[2] = 2 * (x * z + y * w);
    rotation[3] = 2 * (x * y + z * w);
    rotation[4] = 1 - 2 * (x * x + z * z);
    rotation[5] = 2 * (y * z - x * w);
    rotation[6] = 2 * (x * z - y * w);
    rotation[7] = 2 * (y * z + x * w);
    rotation[8] = 1 - 2 * (x * x + y * y);
}

START_TEST(pose_agrees_with_the_reference) {
    reference of;
    dyn_client_error error;
    reference_open(&of, served.request_ipc, files[_i]);
    const char *frame = frame_of(&of);
    double *position = calloc(3 * of.count, sizeof *position), *quaternion = calloc(4 * of.count, sizeof *quaternion);
    must(&of, "fk", dyn_client_poses(of.client, &of.query, of.q, 1, &frame, position, quaternion, &error), &error);
    for (size_t s = 0; s < of.count; s++) {
        const json_t *expected = json_object_get(json_array_get(of.states, s), "ee_placement_3x4");
        double rotation[9];
        deviation found = {0};
        to_rotation(quaternion + 4 * s, rotation);
        for (size_t i = 0; i < 3; i++) {
            for (size_t k = 0; k < 3; k++) {
                add(&found, rotation[3 * i + k], at(expected, 4 * i + k));
            }
            add(&found, position[3 * s + i], at(expected, 4 * i + 3));
        }
        check(&of, "pose", s, found);
    }
    free(position);
    free(quaternion);
    reference_close(&of);
}
END_TEST

static void check_jacobian(const reference *of, const char *frame, dyn_client_reference_frame reference_frame,
                           const char *field) {
    dyn_client_error error;
    size_t compared = 0, block = 3 * of->nv;
    double *linear = calloc(of->count * block + 1, sizeof *linear);
    double *angular = calloc(of->count * block + 1, sizeof *angular);
    must(of, "jacobian",
         dyn_client_jacobians(of->client, &of->query, of->q, 1, &frame, reference_frame, linear, angular, &error),
         &error);
    for (size_t s = 0; s < of->count; s++) {
        const json_t *expected = json_object_get(json_array_get(of->states, s), field);
        deviation found = {0};
        for (size_t i = 0; expected && i < 6; i++) {
            const double *own = i < 3 ? linear + s * block + i * of->nv : angular + s * block + (i - 3) * of->nv;
            for (size_t k = 0; k < of->nv; k++) {
                add(&found, own[of->v_map[k]], at(expected, i * of->nv + k));
            }
        }
        check(of, field, s, found);
        compared += expected != NULL;
    }
    ck_assert_uint_gt(compared, 0);
    free(linear);
    free(angular);
}

START_TEST(jacobians_agree_with_the_reference) {
    reference of;
    reference_open(&of, served.request_ipc, files[_i]);
    check_jacobian(&of, frame_of(&of), DYN_CLIENT_REFERENCE_FRAME_LOCAL, "ee_J_local");
    check_jacobian(&of, frame_of(&of), DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, "ee_J_lwa");
    reference_close(&of);
}
END_TEST

/* Checks that answers have the reference's own joint order, which the request states by name. */
START_TEST(joint_names_reorder_all_values) {
    reference of;
    dyn_client_error error;
    reference_open(&of, served.request_ipc, files[_i]);
    reference_use_names(&of);
    double *tau = calloc(of.count * of.nv + 1, sizeof *tau), *mass = calloc(of.count * of.nv * of.nv + 1, sizeof *mass);
    must(&of, "id", dyn_client_inverse_dynamics(of.client, &of.query, of.q, of.v, of.a, tau, &error), &error);
    must(&of, "mass", dyn_client_mass_matrix(of.client, &of.query, of.q, mass, &error), &error);
    check_rows(&of, "tau by names", "rnea", tau);
    deviation found = {0};
    for (size_t k = 0; k < of.nv * of.nv; k++) {
        add(&found, mass[k], at(json_object_get(json_array_get(of.states, 0), "M"), k));
    }
    check(&of, "M by names", 0, found);
    free(tau);
    free(mass);
    reference_close(&of);
}
END_TEST

/* ---- main -------------------------------------------------------------------------------------------------------- */

static void start_daemon(void) {
    daemon_start(NULL, &served);
}

static void stop_daemon(void) {
    daemon_stop(&served);
}

int main(void) {
    files = reference_files(&file_count);
    if (file_count == 0) {
        printf("there are no reference values in %s\n", DYNAMICS_REFERENCE_DIR);
        return EXIT_FAILURE;
    }
    TCase *all = tcase_create("golden");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_loop_test(all, dynamics_agree_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, external_forces_agree_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, mass_matrix_agrees_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, pose_agrees_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, jacobians_agree_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, joint_names_reorder_all_values, 0, file_count);
    int failed = run_unforked("golden", all);
    reference_summarize(file_count);
    reference_files_free(files, file_count);
    return failed;
}
