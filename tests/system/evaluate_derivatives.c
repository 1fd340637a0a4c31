/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the method Evaluate: the derivatives of second order, those of the centroidal momentum, and changes along a
 * direction, through the daemon in the reference's order of joints. The tests are identities with quantities that other
 * tests compare with reference values. tau is quadratic in v and linear in a, so most of them are exact.
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

/* Returns the first block of result i, with all samples. */
static const dyn_client_block *block_of(const dyn_client_evaluation *answer, size_t i) {
    return &answer->results[i].blocks[0];
}

/* Returns the numbers of sample s in the first block of result i. */
static const double *sample_of(const dyn_client_evaluation *answer, size_t i, size_t s) {
    return block_of(answer, i)->values + s * block_of(answer, i)->width;
}

/* Computes the rate of M, C + C', and the rate of its inverse, -M^-1 (C + C') M^-1. */
static void find_rates(size_t nv, const double *C, const double *inverse, double *rate, double *inverse_rate) {
    double *product = calloc(nv * nv, sizeof *product);
    for (size_t i = 0; i < nv * nv; i++) {
        rate[i] = C[i] + C[i % nv * nv + i / nv];
    }
    for (size_t i = 0; i < nv * nv; i++) {
        for (size_t k = 0; k < nv; k++) {
            product[i] += inverse[i / nv * nv + k] * rate[k * nv + i % nv];
        }
    }
    for (size_t i = 0; i < nv * nv; i++) {
        inverse_rate[i] = 0;
        for (size_t k = 0; k < nv; k++) {
            inverse_rate[i] -= product[i / nv * nv + k] * inverse[k * nv + i % nv];
        }
    }
    free(product);
}

/* Checks dM/dq v = C + C', and d(M^-1)/dq v = -M^-1 (C + C') M^-1. */
START_TEST(derivatives_of_the_mass_matrix_fit_its_rate) {
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_MASS_MATRIX_BY_Q, DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX_BY_Q,
        DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX, DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX};
    reference of;
    open_named(_i, &of);
    size_t nv = of.nv;
    double *x = calloc(4 * nv * nv, sizeof *x);
    dyn_client_evaluation *answer = reference_evaluate(&of, 4, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    for (size_t s = 0; s < of.count; s++) {
        deviation rate = {0}, inverse_rate = {0};
        find_rates(nv, sample_of(answer, 2, s), sample_of(answer, 3, s), x, x + nv * nv);
        reference_multiply(&of, block_of(answer, 0), s, of.v + s * nv, x + 2 * nv * nv);
        reference_multiply(&of, block_of(answer, 1), s, of.v + s * nv, x + 3 * nv * nv);
        for (size_t i = 0; i < nv * nv; i++) {
            add(&rate, x[2 * nv * nv + i], x[i]);
            add(&inverse_rate, x[3 * nv * nv + i], x[nv * nv + i]);
        }
        check(&of, "dM/dq v", s, rate);
        check_within(&of, "dM^-1/dq v", s, inverse_rate, 1e-8);
    }
    dyn_client_evaluation_free(answer);
    free(x);
    reference_close(&of);
}
END_TEST

/* Checks second derivatives of a function that is a constant and a quadratic form in v, with F its first derivative
 * along q or v and F0 that at rest: d2/dqdv v = 2 (F_q - F0_q), d2/dvdv v = F_v. `requested` has both second
 * derivatives, then F_q and F_v. */
static void check_second_derivatives(int file, const dyn_client_quantity requested[4], const char *by_q_v,
                                     const char *by_v_v) {
    reference of;
    open_named(file, &of);
    size_t nv = of.nv;
    double *v = of.v, *rest = calloc(of.count * nv, sizeof *rest), *x = calloc(2 * nv * nv, sizeof *x);
    dyn_client_evaluation *moving = reference_evaluate(&of, 4, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.v = rest;
    dyn_client_evaluation *resting = reference_evaluate(&of, 1, requested + 2, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.v = v;
    for (size_t s = 0; s < of.count; s++) {
        deviation by_q = {0}, by_v = {0};
        double terms = 0;
        reference_multiply(&of, block_of(moving, 0), s, v + s * nv, x);
        reference_multiply(&of, block_of(moving, 1), s, v + s * nv, x + nv * nv);
        for (size_t i = 0; i < nv * nv; i++) {
            double in_motion = 2 * sample_of(moving, 2, s)[i];
            add(&by_q, x[i], in_motion - 2 * sample_of(resting, 0, s)[i]);
            add(&by_v, x[nv * nv + i], sample_of(moving, 3, s)[i]);
            terms += in_motion * in_motion;
        }
        by_q.norm = terms; /* a difference has the errors of its terms */
        check(&of, by_q_v, s, by_q);
        check(&of, by_v_v, s, by_v);
    }
    dyn_client_evaluation_free(moving);
    dyn_client_evaluation_free(resting);
    free(x), free(rest);
    reference_close(&of);
}

START_TEST(second_derivatives_of_inverse_dynamics_fit_the_first) {
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q_V, DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_V_V,
        DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q, DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_V};
    check_second_derivatives(_i, requested, "d2tau/dqdv v", "d2tau/dvdv v");
}
END_TEST

/* Checks second derivatives of forward dynamics, with the forces tau both in motion and at rest. */
START_TEST(second_derivatives_of_forward_dynamics_fit_the_first) {
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q_V, DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_V_V,
        DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q, DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_V};
    check_second_derivatives(_i, requested, "d2a/dqdv v", "d2a/dvdv v");
}
END_TEST

/* Checks that the Hessian of a frame times v is the rate of its Jacobian, in every reference frame. */
START_TEST(hessian_of_a_frame_fits_the_rate_of_its_jacobian) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_BY_Q,
                                                    DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_RATE};
    reference of;
    open_named(_i, &of);
    double *x = calloc(3 * of.nv, sizeof *x);
    for (int frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL; frame <= DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED;
         frame++) {
        dyn_client_evaluation *answer = reference_evaluate(&of, 2, requested, (dyn_client_reference_frame)frame);
        for (size_t s = 0; s < of.count; s++) {
            deviation found = {0};
            for (size_t k = 0; k < 2; k++) {
                const dyn_client_block *rate = &answer->results[1].blocks[k];
                ck_assert_str_eq(rate->name, answer->results[0].blocks[k].name);
                reference_multiply(&of, &answer->results[0].blocks[k], s, of.v + s * of.nv, x);
                for (size_t i = 0; i < 3 * of.nv; i++) {
                    add(&found, x[i], rate->values[s * rate->width + i]);
                }
            }
            check(&of, "dJ/dq v", s, found);
        }
        dyn_client_evaluation_free(answer);
    }
    free(x);
    reference_close(&of);
}
END_TEST

/* Checks dh/dq v = dA_G/dt v, d rate/dv v = 2 dA_G/dt v, and, at rest with a = v, d rate/dq a = dA_G/dt a. */
START_TEST(derivatives_of_the_centroidal_momentum_fit_the_rate_of_its_matrix) {
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_MATRIX_RATE, DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_BY_Q,
        DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_RATE_BY_V, DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_RATE_BY_Q};
    reference of;
    open_named(_i, &of);
    double *v = of.v, *a = of.a, *rest = calloc(of.count * of.nv, sizeof *rest);
    dyn_client_evaluation *moving = reference_evaluate(&of, 3, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.v = rest;
    of.a = v;
    dyn_client_evaluation *starting = reference_evaluate(&of, 1, requested + 3, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.v = v;
    of.a = a;
    for (size_t s = 0; s < of.count; s++) {
        deviation by_q = {0}, rate_by_v = {0}, rate_by_q = {0};
        for (size_t k = 0; k < 2; k++) {
            double x[4][3];
            for (size_t i = 0; i < 3; i++) {
                reference_multiply(&of, &moving->results[i].blocks[k], s, v + s * of.nv, x[i]);
            }
            reference_multiply(&of, &starting->results[0].blocks[k], s, v + s * of.nv, x[3]);
            for (size_t i = 0; i < 3; i++) {
                add(&by_q, x[1][i], x[0][i]);
                add(&rate_by_v, x[2][i], 2 * x[0][i]);
                add(&rate_by_q, x[3][i], x[0][i]);
            }
        }
        check(&of, "d momentum/dq v", s, by_q);
        check(&of, "d rate/dv v", s, rate_by_v);
        check(&of, "d rate/dq a", s, rate_by_q);
    }
    dyn_client_evaluation_free(moving);
    dyn_client_evaluation_free(starting);
    free(rest);
    reference_close(&of);
}
END_TEST

/* Checks that changes along a direction are the matrices of derivatives times the direction. */
START_TEST(changes_along_a_direction_are_products) {
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_ALONG, DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q,
        DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_V,  DYN_CLIENT_QUANTITY_MASS_MATRIX,
        DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_ALONG, DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q,
        DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_V,  DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX};
    reference of;
    open_named(_i, &of);
    size_t nv = of.nv;
    double *x = calloc(nv, sizeof *x), *y = calloc(nv, sizeof *y);
    of.dq = of.a, of.dv = of.tau, of.da = of.v, of.dtau = of.a;
    const double *const directions[2][3] = {{of.dq, of.dv, of.da}, {of.dq, of.dv, of.dtau}};
    dyn_client_evaluation *answer = reference_evaluate(&of, 8, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    for (size_t s = 0; s < of.count; s++) {
        for (size_t forward = 0; forward < 2; forward++) {
            deviation found = {0};
            memset(y, 0, nv * sizeof *y);
            for (size_t k = 0; k < 3; k++) {
                reference_multiply(&of, block_of(answer, 4 * forward + 1 + k), s, directions[forward][k] + s * nv, x);
                for (size_t i = 0; i < nv; i++) {
                    y[i] += x[i];
                }
            }
            for (size_t i = 0; i < nv; i++) {
                add(&found, sample_of(answer, 4 * forward, s)[i], y[i]);
            }
            check(&of, forward ? "change of a" : "change of tau", s, found);
        }
    }
    dyn_client_evaluation_free(answer);
    free(x), free(y);
    reference_close(&of);
}
END_TEST

/* Checks that external forces reduce tau by the quantity EXTERNAL_FORCES, which is J' F for one force at a frame. */
START_TEST(external_forces_reduce_the_torques) {
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_EXTERNAL_FORCES, DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS, DYN_CLIENT_QUANTITY_FRAME_JACOBIAN};
    const double force[3] = {3, -2, 5}, torque[3] = {-1, 4, 2};
    reference of;
    open_named(_i, &of);
    const dyn_client_external_force one = {.link = frame_of(&of),
                                           .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL,
                                           .force = force,
                                           .torque = torque,
                                           .rows = 1};
    dyn_client_evaluation *without = reference_evaluate(&of, 2, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.query.external_force_count = 1;
    of.query.external_forces = &one;
    dyn_client_evaluation *with = reference_evaluate(&of, 3, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    for (size_t s = 0; s < of.count; s++) {
        deviation product = {0}, difference = {0};
        const double *linear = with->results[2].blocks[0].values + s * 3 * of.nv;
        const double *angular = with->results[2].blocks[1].values + s * 3 * of.nv;
        for (size_t i = 0; i < of.nv; i++) {
            double expected = 0;
            for (size_t k = 0; k < 3; k++) {
                expected += linear[k * of.nv + i] * force[k] + angular[k * of.nv + i] * torque[k];
            }
            ck_assert_double_eq(sample_of(without, 0, s)[i], 0);
            add(&product, sample_of(with, 0, s)[i], expected);
            add(&difference, sample_of(with, 1, s)[i] + sample_of(with, 0, s)[i], sample_of(without, 1, s)[i]);
        }
        check(&of, "J' F", s, product);
        check(&of, "tau and J' F", s, difference);
    }
    dyn_client_evaluation_free(without);
    dyn_client_evaluation_free(with);
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

static dyn_client_evaluation *evaluate(const quantity_question *request) {
    static const dyn_client_query ur5 = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);
    dyn_client_error error;
    dyn_client_evaluation *answer;
    if (evaluate_quantities(client, &ur5, request, &error, &answer) != DYN_CLIENT_OK) {
        ck_abort_msg("%s: %s", error.field, error.message);
    }
    return answer;
}

/* Compares second derivatives along q, which no identity covers, with central differences of first ones. */
START_TEST(second_derivatives_along_q_are_those_of_differences) {
    static const dyn_client_quantity second[] = {DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q_Q,
                                                 DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q_Q};
    static const dyn_client_quantity first[] = {DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q,
                                                DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q};
    static const double step = 1e-5;
    double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6}, v[6] = {1, -2, 3, -4, 5, -6}, a[6] = {6, 5, 4, 3, 2, 1};
    quantity_question request = {.q = q, .v = v, .a = a, .tau = a, .quantity_count = 2, .quantities = second};
    dyn_client_evaluation *exact = evaluate(&request);
    request.quantities = first;
    for (size_t k = 0; k < 6; k++) {
        double at_k = q[k];
        q[k] = at_k + step;
        dyn_client_evaluation *after = evaluate(&request);
        q[k] = at_k - step;
        dyn_client_evaluation *before = evaluate(&request);
        q[k] = at_k;
        for (size_t of = 0; of < 2; of++) {
            for (size_t i = 0; i < 36; i++) {
                double found = (block_of(after, of)->values[i] - block_of(before, of)->values[i]) / (2 * step);
                double expected = block_of(exact, of)->values[6 * i + k];
                ck_assert_double_eq_tol(found, expected, 1e-5 * (1 + fabs(expected)) * (of ? 1e3 : 1));
            }
        }
        dyn_client_evaluation_free(after);
        dyn_client_evaluation_free(before);
    }
    dyn_client_evaluation_free(exact);
}
END_TEST

/* Checks that the error of a wrong direction names the place in the caller's order of joints. */
START_TEST(bad_direction_is_refused_with_its_place) {
    static const dyn_client_quantity along = DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_ALONG;
    static const char *const names[] = {"wrist_3_joint",      "elbow_joint",   "wrist_1_joint",
                                        "shoulder_pan_joint", "wrist_2_joint", "shoulder_lift_joint"};
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 2, .joint_count = 6, .joint_names = names);
    const double q[12] = {0}, bad[12] = {[8] = NAN};
    dyn_client_error error;
    dyn_client_evaluation *answer;
    quantity_question request = {.q = q, .dtau = bad, .quantity_count = 1, .quantities = &along};
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &answer), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "evaluate.dtau[8]");
    request.dtau = NULL;
    request.dq = bad;
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &answer), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "evaluate.dq[8]");
}
END_TEST

/* Checks that derivatives with nv^3 numbers have the same bits alone and in small blocks over several threads. */
START_TEST(large_results_do_not_depend_on_the_batch) {
    enum { SAMPLES = 600 };
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q_Q,
                                                    DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_BY_Q};
    static const char *const frame = "tool0";
    static double q[SAMPLES * 6];
    for (size_t i = 0; i < SAMPLES * 6; i++) {
        q[i] = sin(1.7 * (double)i);
    }
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = SAMPLES);
    dyn_client_error error;
    dyn_client_evaluation *all;
    quantity_question request = {
        .q = q, .v = q, .tau = q, .quantity_count = 2, .quantities = requested, .frame_count = 1, .frames = &frame};
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &all), DYN_CLIENT_OK);
    for (size_t s = 0; s < SAMPLES; s += 29) {
        request.q = request.v = request.tau = q + 6 * s;
        dyn_client_evaluation *one = evaluate(&request);
        for (size_t i = 0; i < 2; i++) {
            for (size_t k = 0; k < one->results[i].block_count; k++) {
                const dyn_client_block *block = &one->results[i].blocks[k];
                ck_assert_mem_eq(block->values, all->results[i].blocks[k].values + s * block->width,
                                 block->width * sizeof(double));
            }
        }
        dyn_client_evaluation_free(one);
    }
    dyn_client_evaluation_free(all);
}
END_TEST

int main(void) {
    files = reference_files(&file_count);
    if (file_count == 0) {
        printf("no reference values: only a sample robot is evaluated\n");
    }
    TCase *all = tcase_create("derivatives");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_loop_test(all, derivatives_of_the_mass_matrix_fit_its_rate, 0, file_count);
    tcase_add_loop_test(all, second_derivatives_of_inverse_dynamics_fit_the_first, 0, file_count);
    tcase_add_loop_test(all, second_derivatives_of_forward_dynamics_fit_the_first, 0, file_count);
    tcase_add_loop_test(all, hessian_of_a_frame_fits_the_rate_of_its_jacobian, 0, file_count);
    tcase_add_loop_test(all, derivatives_of_the_centroidal_momentum_fit_the_rate_of_its_matrix, 0, file_count);
    tcase_add_loop_test(all, changes_along_a_direction_are_products, 0, file_count);
    tcase_add_loop_test(all, external_forces_reduce_the_torques, 0, file_count);
    tcase_add_test(all, second_derivatives_along_q_are_those_of_differences);
    tcase_add_test(all, bad_direction_is_refused_with_its_place);
    tcase_add_test(all, large_results_do_not_depend_on_the_batch);
    int failed = run_unforked("evaluate derivatives", all);
    reference_summarize(file_count);
    reference_files_free(files, file_count);
    return failed;
}
