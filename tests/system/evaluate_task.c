/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the method Evaluate: operational space, ellipsoids and energy regressors through the daemon, in the
 * reference's order of joints, compared with the Jacobians, matrices and poses that other tests compare with reference
 * values; and wrong requests.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "system/daemon_fixture.h"
#include "system/reference.h"
#include "system/runner.h"

static daemon_fixture served;
static char **files;
static int file_count;

static void open_named(int index, reference *of) {
    reference_open(of, served.request_ipc, files[index]);
    reference_use_names(of);
}

static const double *sample_of(const dyn_client_evaluation *answer, size_t i, size_t block, size_t s) {
    const dyn_client_block *of = &answer->results[i].blocks[block];
    return of->values + s * of->width;
}

/* Computes C = A B, where A is a x b and B is b x c. */
static void multiply(size_t a, size_t b, size_t c, const double *A, const double *B, double *C) {
    for (size_t i = 0; i < a * c; i++) {
        C[i] = 0;
        for (size_t k = 0; k < b; k++) {
            C[i] += A[i / c * b + k] * B[k * c + i % c];
        }
    }
}

static void transpose(size_t rows, size_t columns, const double *A, double *B) {
    for (size_t i = 0; i < rows * columns; i++) {
        B[i % columns * rows + i / columns] = A[i];
    }
}

static void check_all(const reference *of, const char *what, size_t s, size_t count, const double *x, const double *y,
                      double tolerance) {
    deviation found = {0};
    for (size_t i = 0; i < count; i++) {
        add(&found, x[i], y[i]);
    }
    check_within(of, what, s, found, tolerance);
}

/* Copies the Jacobian of a frame from result number `jacobian`: linear rows, then angular ones. */
static void stack(const dyn_client_evaluation *answer, size_t jacobian, size_t nv, size_t s, double *J) {
    memcpy(J, sample_of(answer, jacobian, 0, s), 3 * nv * sizeof *J);
    memcpy(J + 3 * nv, sample_of(answer, jacobian, 1, s), 3 * nv * sizeof *J);
}

START_TEST(inverse_inertia_is_that_of_jacobian_and_mass_matrix) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INVERSE_INERTIA,
                                                    DYN_CLIENT_QUANTITY_FRAME_JACOBIAN,
                                                    DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX};
    reference of;
    open_named(_i, &of);
    size_t nv = of.nv;
    double *J = calloc(18 * nv, sizeof *J), expected[36];
    for (int frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL; frame <= DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED;
         frame++) {
        dyn_client_evaluation *answer = reference_evaluate(&of, 3, requested, (dyn_client_reference_frame)frame);
        ck_assert_uint_eq(dyn_client_find_axis(answer, DYN_CLIENT_AXIS_KIND_TASK)->size, 6);
        ck_assert_str_eq(answer->results[0].frame, "");
        ck_assert_int_eq((int)answer->results[0].reference_frame, frame);
        ck_assert_int_eq(answer->results[0].blocks[0].axes[1]->kind, DYN_CLIENT_AXIS_KIND_TASK);
        for (size_t s = 0; s < of.count; s++) {
            stack(answer, 1, nv, s, J);
            multiply(6, nv, nv, J, sample_of(answer, 2, 0, s), J + 6 * nv);
            transpose(6, nv, J, J + 12 * nv);
            multiply(6, nv, 6, J + 6 * nv, J + 12 * nv, expected);
            check_all(&of, "J M^-1 J'", s, 36, sample_of(answer, 0, 0, s), expected, 1e-9);
        }
        dyn_client_evaluation_free(answer);
    }
    free(J);
    reference_close(&of);
}
END_TEST

/* Checks that the equation of motion of a task holds for the forward dynamics. The task is one linear row of a frame,
 * so that Lambda is a number. */
START_TEST(motion_of_a_task_satisfies_its_equation) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INERTIA,
                                                    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_BIAS,
                                                    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_GRAVITY,
                                                    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_CONSISTENT_INVERSE,
                                                    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_NULL_SPACE_PROJECTOR,
                                                    DYN_CLIENT_QUANTITY_FRAME_JACOBIAN,
                                                    DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_RATE,
                                                    DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS};
    static const dyn_client_task_axis axes[] = {DYN_CLIENT_TASK_AXIS_LINEAR_X, DYN_CLIENT_TASK_AXIS_LINEAR_Y,
                                                DYN_CLIENT_TASK_AXIS_LINEAR_Z};
    reference of;
    open_named(_i, &of);
    size_t nv = of.nv, regular = 0;
    double *x = calloc(nv * nv + 9, sizeof *x), *zero = calloc(3 * nv, sizeof *zero);
    for (int axis = 0; axis < 3; axis++) {
        const char *frame = frame_of(&of);
        dyn_client_error error;
        dyn_client_evaluation *answer;
        quantity_question request = {.q = of.q,
                                     .v = of.v,
                                     .tau = of.tau,
                                     .quantity_count = 8,
                                     .quantities = requested,
                                     .frame_count = 1,
                                     .frames = &frame,
                                     .task_axis_count = 1,
                                     .task_axes = &axes[axis]};
        if (evaluate_quantities(of.client, &of.query, &request, &error, &answer) != DYN_CLIENT_OK) {
            ck_assert_int_eq(error.status, DYN_CLIENT_FAILED_PRECONDITION);
            ck_assert_str_eq(error.field, "evaluate.quantities[0].task");
            continue;
        }
        regular++;
        for (size_t s = 0; s < of.count; s++) {
            const double *J = sample_of(answer, 5, 0, s) + (size_t)axis * nv, *a = sample_of(answer, 7, 0, s);
            const double *rate = sample_of(answer, 6, 0, s) + (size_t)axis * nv, *Jbar = sample_of(answer, 3, 0, s);
            double acceleration = 0, force = 0, one = 0;
            for (size_t i = 0; i < nv; i++) {
                acceleration += J[i] * a[i] + rate[i] * of.v[s * nv + i];
                force += Jbar[i] * of.tau[s * nv + i];
                one += J[i] * Jbar[i];
            }
            double inertial = *sample_of(answer, 0, 0, s) * acceleration;
            double sum = inertial + *sample_of(answer, 1, 0, s) + *sample_of(answer, 2, 0, s);
            ck_assert_double_eq_tol(one, 1, 1e-9);
            ck_assert_double_eq_tol(sum, force, 1e-8 * (1 + fabs(inertial) + fabs(force)));
            multiply(1, nv, nv, J, sample_of(answer, 4, 0, s), x);
            for (size_t i = 0; i < nv; i++) {
                ck_assert_double_eq_tol(x[i], 0, 1e-9 * (1 + fabs(J[i])));
            }
        }
        dyn_client_evaluation_free(answer);
    }
    ck_assert(nv < 6 || regular == 3);
    free(x), free(zero);
    reference_close(&of);
}
END_TEST

/* Checks that lengths and axes of the torque ellipsoid, the eigenvalues and eigenvectors of M, compose M. */
START_TEST(torque_ellipsoid_is_that_of_the_mass_matrix) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_TORQUE_ELLIPSOID,
                                                    DYN_CLIENT_QUANTITY_MASS_MATRIX};
    reference of;
    open_named(_i, &of);
    size_t nv = of.nv;
    double *x = calloc(nv * nv, sizeof *x);
    dyn_client_evaluation *answer = reference_evaluate(&of, 2, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    ck_assert_int_eq(answer->results[0].blocks[1].axes[0]->kind, DYN_CLIENT_AXIS_KIND_JOINT_SEMI_AXES);
    ck_assert_int_eq(answer->results[0].blocks[1].axes[1]->kind, DYN_CLIENT_AXIS_KIND_JOINTS);
    for (size_t s = 0; s < of.count; s++) {
        const double *lengths = sample_of(answer, 0, 0, s), *axes = sample_of(answer, 0, 1, s);
        for (size_t i = 0; i < nv * nv; i++) {
            x[i] = 0;
            for (size_t k = 0; k < nv; k++) {
                x[i] += lengths[k] * axes[k * nv + i / nv] * axes[k * nv + i % nv];
            }
        }
        check_all(&of, "torque ellipsoid", s, nv * nv, x, sample_of(answer, 1, 0, s), 1e-10);
    }
    dyn_client_evaluation_free(answer);
    free(x);
    reference_close(&of);
}
END_TEST

/* Checks that the acceleration ellipsoids compose X X' with X = J M^-1, in the reference's order of joints. */
START_TEST(acceleration_ellipsoids_are_those_of_jacobian_and_inverse_mass_matrix) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_FRAME_ACCELERATION_ELLIPSOIDS,
                                                    DYN_CLIENT_QUANTITY_FRAME_JACOBIAN,
                                                    DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX};
    static const char *const names[] = {"acceleration", "angular_acceleration"};
    reference of;
    open_named(_i, &of);
    size_t nv = of.nv;
    double *J = calloc(6 * nv, sizeof *J), *X = calloc(6 * nv, sizeof *X);
    dyn_client_evaluation *answer = reference_evaluate(&of, 3, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    for (size_t s = 0; s < of.count; s++) {
        stack(answer, 1, nv, s, J);
        multiply(6, nv, nv, J, sample_of(answer, 2, 0, s), X);
        for (size_t k = 0; k < 2; k++) {
            const double *lengths = sample_of(answer, 0, 2 * k, s), *axes = sample_of(answer, 0, 2 * k + 1, s);
            const double *rows = X + (k == 0 ? 0 : 3 * nv);
            double found[9] = {0}, expected[9] = {0};
            ck_assert_str_eq(answer->results[0].blocks[2 * k].name, names[k]);
            for (size_t i = 0; i < 9; i++) {
                for (size_t c = 0; c < 3; c++) {
                    found[i] += lengths[c] * lengths[c] * axes[3 * c + i / 3] * axes[3 * c + i % 3];
                }
                for (size_t c = 0; c < nv; c++) {
                    expected[i] += rows[i / 3 * nv + c] * rows[i % 3 * nv + c];
                }
            }
            check_all(&of, names[k], s, 9, found, expected, 1e-10);
        }
    }
    dyn_client_evaluation_free(answer);
    free(J), free(X);
    reference_close(&of);
}
END_TEST

/* Checks that the ellipsoids compose J_i J_i' and J_i M^-1 J_i', and that manipulability follows from the lengths. */
START_TEST(ellipsoids_are_those_of_jacobian_and_mass_matrix) {
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_FRAME_ELLIPSOIDS, DYN_CLIENT_QUANTITY_FRAME_JACOBIAN,
        DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INVERSE_INERTIA, DYN_CLIENT_QUANTITY_FRAME_MANIPULABILITY};
    static const char *const names[] = {"velocity", "angular_velocity", "mass", "inertia"};
    reference of;
    open_named(_i, &of);
    size_t nv = of.nv;
    double *J = calloc(6 * nv, sizeof *J);
    dyn_client_evaluation *answer =
        reference_evaluate(&of, 4, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED);
    for (size_t s = 0; s < of.count; s++) {
        stack(answer, 1, nv, s, J);
        for (size_t k = 0; k < 4; k++) {
            const double *lengths = sample_of(answer, 0, 2 * k, s), *axes = sample_of(answer, 0, 2 * k + 1, s);
            const double *Omega = sample_of(answer, 2, 0, s), *rows = J + (k % 2 == 0 ? 0 : 3 * nv);
            size_t first = k % 2 == 0 ? 0 : 3;
            double found[9], expected[9];
            ck_assert_str_eq(answer->results[0].blocks[2 * k].name, names[k]);
            for (size_t i = 0; i < 9; i++) {
                found[i] = expected[i] = 0;
                for (size_t c = 0; c < 3; c++) {
                    found[i] +=
                        (k < 2 ? lengths[c] * lengths[c] : 1 / lengths[c]) * axes[3 * c + i / 3] * axes[3 * c + i % 3];
                }
                for (size_t c = 0; k < 2 && c < nv; c++) {
                    expected[i] += rows[i / 3 * nv + c] * rows[i % 3 * nv + c];
                }
                expected[i] = k < 2 ? expected[i] : Omega[(first + i / 3) * 6 + first + i % 3];
            }
            check_all(&of, names[k], s, 9, found, expected, 1e-10);
            const double *measure = sample_of(answer, 3, k, s);
            if (k < 2) {
                ck_assert_double_eq_tol(measure[0], lengths[0] * lengths[1] * lengths[2],
                                        1e-9 * (1 + lengths[0] * lengths[0] * lengths[0]));
            }
        }
    }
    dyn_client_evaluation_free(answer);
    free(J);
    reference_close(&of);
}
END_TEST

/* Checks that Y_T is a quadratic form in v whose polar form is v' Y(a) - v' Y(0), and that y_V of mass and first moment
 * are the height of the link's frame and of its axes. */
START_TEST(energy_regressors_fit_the_torque_regressor_and_the_poses) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_ENERGY_REGRESSOR,
                                                    DYN_CLIENT_QUANTITY_TORQUE_REGRESSOR};
    reference of;
    open_named(_i, &of);
    size_t nv = of.nv, count = of.count * nv;
    double *v = of.v, *a = of.a, *sum = calloc(count, sizeof *sum), *rest = calloc(count, sizeof *rest);
    for (size_t i = 0; i < count; i++) {
        sum[i] = v[i] + a[i];
    }
    dyn_client_evaluation *both = reference_evaluate(&of, 2, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.a = rest;
    dyn_client_evaluation *steady = reference_evaluate(&of, 2, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.v = sum;
    dyn_client_evaluation *summed = reference_evaluate(&of, 1, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.v = a;
    dyn_client_evaluation *other = reference_evaluate(&of, 1, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.v = v;
    of.a = a;
    size_t width = both->results[0].blocks[0].width;
    double *polar = calloc(2 * width, sizeof *polar), *power = polar + width;
    ck_assert_str_eq(both->results[0].blocks[1].name, "potential");
    const dyn_client_axis *bodies = dyn_client_find_axis(both, DYN_CLIENT_AXIS_KIND_BODIES);
    ck_assert_uint_eq(width, 10 * bodies->size);
    for (size_t s = 0; s < of.count; s++) {
        memset(power, 0, width * sizeof *power);
        for (size_t i = 0; i < width; i++) {
            polar[i] = sample_of(summed, 0, 0, s)[i] - sample_of(both, 0, 0, s)[i] - sample_of(other, 0, 0, s)[i];
            for (size_t k = 0; k < nv; k++) {
                power[i] += v[s * nv + k] *
                            (sample_of(both, 1, 0, s)[k * width + i] - sample_of(steady, 1, 0, s)[k * width + i]);
            }
        }
        check_all(&of, "y_T", s, width, polar, power, 1e-10);
    }
    free(polar), free(sum), free(rest);
    dyn_client_evaluation_free(steady);
    dyn_client_evaluation_free(summed);
    dyn_client_evaluation_free(other);
    dyn_client_evaluation *pose;
    static const dyn_client_quantity place = DYN_CLIENT_QUANTITY_FRAME_POSE;
    dyn_client_error error;
    quantity_question request = {
        .q = of.q, .quantity_count = 1, .quantities = &place, .frame_count = bodies->size, .frames = bodies->labels};
    must(&of, "poses", evaluate_quantities(of.client, &of.query, &request, &error, &pose), &error);
    for (size_t b = 0; b < bodies->size; b++) {
        for (size_t s = 0; s < of.count; s++) {
            const double *y = sample_of(both, 0, 1, s) + 10 * b, *x = sample_of(pose, b, 1, s);
            const double up[4] = {sample_of(pose, b, 0, s)[2], 2 * (x[0] * x[2] - x[3] * x[1]),
                                  2 * (x[1] * x[2] + x[3] * x[0]), 1 - 2 * (x[0] * x[0] + x[1] * x[1])};
            for (size_t i = 0; i < 4; i++) {
                ck_assert_double_eq_tol(y[i], 9.81 * up[i], 1e-10 * (1 + fabs(9.81 * up[0])));
            }
        }
    }
    dyn_client_evaluation_free(pose);
    dyn_client_evaluation_free(both);
    reference_close(&of);
}
END_TEST

/* ---- the sample robots ------------------------------------------------------------------------------------------- */

static dyn_client *client;

static void start_daemon(void) {
    dyn_client_error error;
    daemon_start(NULL, &served);
    if (dyn_client_connect(served.request_ipc, NULL, &client, &error) != DYN_CLIENT_OK) {
        ck_abort_msg("%s", error.message);
    }
}

static void stop_daemon(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

/* Checks that the tip of Modern Robotics' arm at 90 degrees has the inertia of both masses along one axis and of one
 * mass along the other, and the names of the task's rows. */
START_TEST(two_link_arm_has_the_inertia_of_the_textbook) {
    static const dyn_client_quantity requested = DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INERTIA;
    static const dyn_client_task_axis axes[] = {DYN_CLIENT_TASK_AXIS_LINEAR_X, DYN_CLIENT_TASK_AXIS_LINEAR_Z};
    static const char *const frame = "tip";
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);
    const double q[2] = {0, 1.5707963267948966};
    dyn_client_error error;
    dyn_client_evaluation *answer;
    quantity_question request = {.q = q,
                                 .quantity_count = 1,
                                 .quantities = &requested,
                                 .frame_count = 1,
                                 .frames = &frame,
                                 .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
                                 .task_axis_count = 2,
                                 .task_axes = axes};
    if (evaluate_quantities(client, &query, &request, &error, &answer) != DYN_CLIENT_OK) {
        ck_abort_msg("%s", error.message);
    }
    const double *Lambda = answer->results[0].blocks[0].values;
    ck_assert_double_eq_tol(Lambda[0], 1, 1e-13);
    ck_assert_double_eq_tol(Lambda[1], 0, 1e-13);
    ck_assert_double_eq_tol(Lambda[3], 2, 1e-13);
    const dyn_client_axis *rows = dyn_client_find_axis(answer, DYN_CLIENT_AXIS_KIND_TASK);
    ck_assert_uint_eq(rows->size, 2);
    ck_assert_str_eq(rows->labels[0], "tip linear x");
    ck_assert_str_eq(rows->labels[1], "tip linear z");
    dyn_client_evaluation_free(answer);
}
END_TEST

/* Checks that the error names the one singular state among many, and that the inverse inertia exists there too. */
START_TEST(singular_state_is_reported_by_its_number) {
    enum { SAMPLES = 700, SINGULAR = 611 };
    dyn_client_quantity requested = DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INERTIA;
    static const char *const frame = "tool0";
    static double q[SAMPLES * 6];
    for (size_t i = 0; i < SAMPLES * 6; i++) {
        q[i] = i / 6 == SINGULAR ? 0 : 0.4 + 0.3 * sin(1.7 * (double)i);
    }
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = SAMPLES);
    dyn_client_error error;
    dyn_client_evaluation *answer;
    quantity_question request = {
        .q = q, .quantity_count = 1, .quantities = &requested, .frame_count = 1, .frames = &frame};
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &answer), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, "evaluate.quantities[0].task");
    ck_assert(error.has_sample);
    ck_assert_uint_eq(error.sample, 611);
    ck_assert_str_eq(error.reason, "SINGULAR_TASK");
    requested = DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INVERSE_INERTIA;
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &answer), DYN_CLIENT_OK);
    dyn_client_evaluation_free(answer);
}
END_TEST

START_TEST(wrong_tasks_are_refused_with_their_field) {
    static const dyn_client_quantity requested = DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INVERSE_INERTIA;
    static const char *const frames[] = {"base_link",    "shoulder_link", "upper_arm_link",
                                         "forearm_link", "wrist_1_link",  "wrist_2_link",
                                         "wrist_3_link", "tool0",         "world"};
    static const dyn_client_task_axis twice[] = {DYN_CLIENT_TASK_AXIS_LINEAR_X, DYN_CLIENT_TASK_AXIS_ANGULAR_X,
                                                 DYN_CLIENT_TASK_AXIS_LINEAR_X};
    static const dyn_client_task_axis unknown[] = {DYN_CLIENT_TASK_AXIS_LINEAR_X, (dyn_client_task_axis)7};
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);
    const double q[6] = {0};
    dyn_client_error error;
    dyn_client_evaluation *answer;
    quantity_question request = {.q = q, .quantity_count = 1, .quantities = &requested, .frames = frames};
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &answer), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "evaluate.quantities[0].task");
    request.frame_count = 9;
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &answer), DYN_CLIENT_RESOURCE_EXHAUSTED);
    ck_assert_uint_eq(error.limit, 8);
    ck_assert_uint_eq(error.requested, 9);
    ck_assert_str_eq(error.field, "evaluate.quantities[0].task");
    request.frame_count = 1;
    request.task_axis_count = 3;
    request.task_axes = twice;
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &answer), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "evaluate.quantities[0].task[0].axes[2]");
    request.task_axis_count = 2;
    request.task_axes = unknown;
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &answer), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "evaluate.quantities[0].task[0].axes[1]");
}
END_TEST

int main(void) {
    files = reference_files(&file_count);
    if (file_count == 0) {
        printf("no reference values: only the sample robots are evaluated\n");
    }
    TCase *all = tcase_create("task");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_loop_test(all, inverse_inertia_is_that_of_jacobian_and_mass_matrix, 0, file_count);
    tcase_add_loop_test(all, motion_of_a_task_satisfies_its_equation, 0, file_count);
    tcase_add_loop_test(all, torque_ellipsoid_is_that_of_the_mass_matrix, 0, file_count);
    tcase_add_loop_test(all, acceleration_ellipsoids_are_those_of_jacobian_and_inverse_mass_matrix, 0, file_count);
    tcase_add_loop_test(all, ellipsoids_are_those_of_jacobian_and_mass_matrix, 0, file_count);
    tcase_add_loop_test(all, energy_regressors_fit_the_torque_regressor_and_the_poses, 0, file_count);
    tcase_add_test(all, two_link_arm_has_the_inertia_of_the_textbook);
    tcase_add_test(all, singular_state_is_reported_by_its_number);
    tcase_add_test(all, wrong_tasks_are_refused_with_their_field);
    int failed = run_unforked("evaluate task", all);
    reference_summarize(file_count);
    reference_files_free(files, file_count);
    return failed;
}
