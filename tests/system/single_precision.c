/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks single precision by request: results are close to double precision but not equal, have the same bits for one
 * state and in a batch, and are refused where single precision is not available.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "system/client_fixture.h"
#include "system/wire_tree.h"
#include "system/runner.h"
#include "system/quantity_question.h"

enum { JOINTS = 6, SAMPLES = 1000 };

static const double close = 1e-4; /* of the largest number */

static dyn_client_error error;

static dyn_client_query ur5_query(size_t samples, dyn_client_precision precision) {
    return (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = samples,
                                                   .precision = precision);
}

/* Checks that numbers equal the expected ones up to rounding in single precision, but not exactly. */
static void expect_rounded(const char *what, const double *found, const double *expected, size_t count) {
    double most = 0, difference = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(expected[i]));
        difference = fmax(difference, fabs(found[i] - expected[i]));
    }
    ck_assert_msg(difference > 0 && difference < close * most, "%s: off by %g of %g", what, difference, most);
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

typedef dyn_client_status (*method)(const dyn_client_query *query, const double *q, const double *v, const double *a,
                                    double *out);

static dyn_client_status inverse(const dyn_client_query *query, const double *q, const double *v, const double *a,
                                 double *out) {
    return dyn_client_inverse_dynamics(client, query, q, v, a, out, &error);
}

static dyn_client_status forward(const dyn_client_query *query, const double *q, const double *v, const double *a,
                                 double *out) {
    return dyn_client_forward_dynamics(client, query, q, v, a, out, &error);
}

static dyn_client_status mass(const dyn_client_query *query, const double *q, const double *v, const double *a,
                              double *out) {
    (void)v, (void)a;
    return dyn_client_mass_matrix(client, query, q, out, &error);
}

static dyn_client_status gravity(const dyn_client_query *query, const double *q, const double *v, const double *a,
                                 double *out) {
    (void)v, (void)a;
    return dyn_client_gravity(client, query, q, out, &error);
}

static dyn_client_status bias(const dyn_client_query *query, const double *q, const double *v, const double *a,
                              double *out) {
    (void)a;
    return dyn_client_bias_forces(client, query, q, v, out, &error);
}

static dyn_client_status trajectory(const dyn_client_query *query, const double *q, const double *v, const double *a,
                                    double *out) {
    dyn_client_trajectory *answer;
    dyn_client_status status = dyn_client_inverse_dynamics_trajectory(client, query, NULL, q, v, a,
                                                                      DYN_CLIENT_RATES_GIVEN, NULL, &answer, &error);
    if (status == DYN_CLIENT_OK) {
        memcpy(out, answer->tau, query->samples * query->nv * sizeof *out);
        dyn_client_trajectory_free(answer);
    }
    return status;
}

static const struct {
    const char *name;
    method compute;
    size_t width;
} methods[] = {{"inverse dynamics", inverse, JOINTS}, {"forward dynamics", forward, JOINTS},
               {"mass matrix", mass, JOINTS *JOINTS}, {"gravity", gravity, JOINTS},
               {"bias forces", bias, JOINTS},         {"trajectory", trajectory, JOINTS}};

START_TEST(every_method_computes_in_single_precision) {
    static double q[SAMPLES * JOINTS], v[SAMPLES * JOINTS], a[SAMPLES * JOINTS];
    static double wide[SAMPLES * JOINTS * JOINTS], narrow[SAMPLES * JOINTS * JOINTS], one[JOINTS * JOINTS];
    random_source random = random_seed("single precision by request", 20261131);
    random_vector(&random, SAMPLES * JOINTS, 3, q);
    random_vector(&random, SAMPLES * JOINTS, 2, v);
    random_vector(&random, SAMPLES * JOINTS, 5, a);
    const dyn_client_query in_double = ur5_query(SAMPLES, DYN_CLIENT_PRECISION_DOUBLE);
    const dyn_client_query in_single = ur5_query(SAMPLES, DYN_CLIENT_PRECISION_SINGLE);
    const dyn_client_query of_one = ur5_query(1, DYN_CLIENT_PRECISION_SINGLE);
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        size_t width = methods[m].width;
        wire_require(methods[m].compute(&in_double, q, v, a, wide), &error);
        wire_require(methods[m].compute(&in_single, q, v, a, narrow), &error);
        expect_rounded(methods[m].name, narrow, wide, SAMPLES * width);
        for (size_t s = 0; s < SAMPLES; s += 333) {
            wire_require(methods[m].compute(&of_one, q + s * JOINTS, v + s * JOINTS, a + s * JOINTS, one), &error);
            ck_assert_mem_eq(one, narrow + s * width, width * sizeof *one);
        }
    }
}
END_TEST

START_TEST(frames_are_computed_in_single_precision) {
    static const char *const frame[] = {"tool0"};
    const double q[JOINTS] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4};
    double position[2][3], quaternion[2][4], linear[2][3 * JOINTS], angular[2][3 * JOINTS];
    for (int p = 0; p < 2; p++) {
        const dyn_client_query query = ur5_query(1, (dyn_client_precision)p);
        wire_require(dyn_client_poses(client, &query, q, 1, frame, position[p], quaternion[p], &error), &error);
        wire_require(dyn_client_jacobians(client, &query, q, 1, frame, DYN_CLIENT_REFERENCE_FRAME_WORLD, linear[p],
                                          angular[p], &error),
                     &error);
    }
    expect_rounded("position", position[1], position[0], 3);
    expect_rounded("quaternion", quaternion[1], quaternion[0], 4);
    expect_rounded("linear", linear[1], linear[0], 3 * JOINTS);
    expect_rounded("angular", angular[1], angular[0], 3 * JOINTS);
}
END_TEST

START_TEST(quantities_are_evaluated_in_single_precision) {
    static const dyn_client_quantity quantities[] = {DYN_CLIENT_QUANTITY_MASS_MATRIX,
                                                     DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX};
    const double q[JOINTS] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4}, v[JOINTS] = {0.5, 0.4, -0.6, 0.2, 0.3, 1};
    const quantity_question request = {.q = q, .v = v, .quantity_count = 2, .quantities = quantities};
    dyn_client_evaluation *answers[2];
    for (int p = 0; p < 2; p++) {
        const dyn_client_query query = ur5_query(1, (dyn_client_precision)p);
        wire_require(evaluate_quantities(client, &query, &request, &error, &answers[p]), &error);
    }
    for (size_t i = 0; i < 2; i++) {
        expect_rounded("a matrix", answers[1]->results[i].blocks[0].values, answers[0]->results[i].blocks[0].values,
                       JOINTS * JOINTS);
    }
    dyn_client_evaluation_free(answers[0]);
    dyn_client_evaluation_free(answers[1]);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refusal(dyn_client_status got, dyn_client_status expected, const char *field, const char *part) {
    ck_assert_msg(got == expected && strcmp(error.field, field) == 0 && strstr(error.message, part),
                  "status %d, field \"%s\": %s", (int)got, error.field, error.message);
}

START_TEST(numbers_beyond_single_precision_are_refused) {
    double q[2 * JOINTS] = {0}, v[2 * JOINTS] = {0}, tau[2 * JOINTS];
    const dyn_client_query query = ur5_query(2, DYN_CLIENT_PRECISION_SINGLE);
    q[JOINTS + 2] = 1e39;
    expect_refusal(dyn_client_inverse_dynamics(client, &query, q, v, v, tau, &error), DYN_CLIENT_INVALID_ARGUMENT,
                   "inverse_dynamics.q[8]", "1e+39; beyond single precision");
    q[JOINTS + 2] = 0, v[JOINTS] = 1e30;
    expect_refusal(dyn_client_inverse_dynamics(client, &query, q, v, q, tau, &error), DYN_CLIENT_INVALID_ARGUMENT,
                   "inverse_dynamics.tau", "tau is beyond the range of single precision");
    v[JOINTS] = 0;
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, q, tau, &error), &error);
}
END_TEST

/* Checks that a double is accepted if it rounds to a finite float, in a batch and alone. */
START_TEST(single_precision_ends_where_rounding_does) {
    const double most = 0x1.fffffefffffffp127, rest[9 * JOINTS] = {0};
    for (size_t samples = 1; samples <= 9; samples += 8) {
        double q[9 * JOINTS] = {0}, tau[9 * JOINTS];
        const dyn_client_query query = ur5_query(samples, DYN_CLIENT_PRECISION_SINGLE);
        q[1] = most;
        wire_require(dyn_client_inverse_dynamics(client, &query, q, rest, rest, tau, &error), &error);
        q[1] = nextafter(most, INFINITY);
        expect_refusal(dyn_client_inverse_dynamics(client, &query, q, rest, rest, tau, &error),
                       DYN_CLIENT_INVALID_ARGUMENT, "inverse_dynamics.q[1]", "3.40282e+38; beyond");
    }
}
END_TEST

START_TEST(models_beyond_single_precision_are_refused) {
    const dyn_client_payload heavy = {.link = "tool0", .inertia = {.mass = 1e39}};
    const double q[JOINTS] = {0};
    double g[JOINTS];
    dyn_client_query query = ur5_query(1, DYN_CLIENT_PRECISION_SINGLE);
    query.payload_count = 1, query.payloads = &heavy;
    expect_refusal(dyn_client_gravity(client, &query, q, g, &error), DYN_CLIENT_FAILED_PRECONDITION,
                   "gravity.query.model", "which single precision cannot hold");
    query.precision = DYN_CLIENT_PRECISION_DOUBLE;
    wire_require(dyn_client_gravity(client, &query, q, g, &error), &error);
}
END_TEST

START_TEST(other_precisions_and_other_calls_are_refused) {
    const double q[JOINTS] = {0};
    double g[JOINTS];
    dyn_client_explanation *explanation;
    dyn_client_query query = ur5_query(1, (dyn_client_precision)7);
    expect_refusal(dyn_client_gravity(client, &query, q, g, &error), DYN_CLIENT_INVALID_ARGUMENT,
                   "gravity.query.precision", "the precision is 7; pass DOUBLE (0) or SINGLE (1)");
    query.precision = DYN_CLIENT_PRECISION_SINGLE;
    expect_refusal(dyn_client_explain(client, &query, q, NULL, NULL, &explanation, &error), DYN_CLIENT_INVALID_ARGUMENT,
                   "explain.query.precision", "does not support a precision other than DOUBLE");
}
END_TEST

START_TEST(server_reports_its_lanes) {
    dyn_client_server_info *info;
    wire_require(dyn_client_get_server_info(client, 0, &info, &error), &error);
    ck_assert_uint_eq(info->lanes[1], info->lanes[0] == 1 ? 1 : 2 * info->lanes[0]);
    dyn_client_server_info_free(info);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("single precision");
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_set_timeout(all, 60);
    tcase_add_test(all, every_method_computes_in_single_precision);
    tcase_add_test(all, frames_are_computed_in_single_precision);
    tcase_add_test(all, quantities_are_evaluated_in_single_precision);
    tcase_add_test(all, numbers_beyond_single_precision_are_refused);
    tcase_add_test(all, single_precision_ends_where_rounding_does);
    tcase_add_test(all, models_beyond_single_precision_are_refused);
    tcase_add_test(all, other_precisions_and_other_calls_are_refused);
    tcase_add_test(all, server_reports_its_lanes);
    return run_unforked("single precision by request", all);
}
