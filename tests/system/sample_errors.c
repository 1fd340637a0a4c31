/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks requests in which single states fail: with ON_ERROR_MARK their rows are NaN, all other rows have the bits of a
 * request without them, and the reply names the errors.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/v1/envelope.pb-c.h"
#include "system/client_fixture.h"
#include "system/runner.h"

/* SAMPLES fills more than a few blocks of states, the last of them not completely. */
enum { SAMPLES = 5003, NQ = 6, REPORTED_ERRORS = 1000 };

static dyn_client_error error;
static const char *const JOINTS[NQ] = {"wrist_3_joint", "elbow_joint",         "shoulder_pan_joint",
                                       "wrist_1_joint", "shoulder_lift_joint", "wrist_2_joint"};

static dyn_client_query the_query(dyn_client_on_error on_error) {
    return (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NQ, .nv = NQ, .samples = SAMPLES,
                                                   .joint_count = NQ, .joint_names = JOINTS, .on_error = on_error);
}

static bool fails(size_t sample) {
    return sample == 0 || sample == 7 || sample == 255 || sample == 256 || (sample > 1000 && sample < 1040) ||
           sample == SAMPLES - 1;
}

/* Arrays of states: right ones (good), those with a number that is not finite in the states that fail (spoilt), and
 * zeros. */
static double good[SAMPLES * NQ], spoilt[SAMPLES * NQ], zeros[SAMPLES * NQ];
static size_t failing;

static void make_states(void) {
    failing = 0;
    for (size_t s = 0; s < SAMPLES; s++) {
        for (size_t k = 0; k < NQ; k++) {
            good[s * NQ + k] = spoilt[s * NQ + k] = 2 * sin(1.3 * (double)(s * NQ + k));
        }
        if (fails(s)) {
            spoilt[s * NQ + s % NQ] = s % 2 ? NAN : INFINITY;
            failing++;
        }
    }
}

static void expect_marked(const double *found, const double *wanted, size_t width) {
    for (size_t s = 0; s < SAMPLES; s++) {
        for (size_t k = 0; k < width; k++) {
            double x = found[s * width + k];
            ck_assert_msg(fails(s) ? isnan(x) : memcmp(&x, &wanted[s * width + k], sizeof x) == 0,
                          "value %zu of sample %zu is %g", k, s, x);
        }
    }
    ck_assert_uint_eq(error.marked, failing);
    ck_assert(error.has_sample);
    ck_assert_uint_eq(error.sample, 0);
    ck_assert_str_eq(error.reason, "NOT_FINITE");
}

static dyn_client_status call_method(int method, const dyn_client_query *query, const double *q, double *result) {
    switch (method) {
    case 0:
        return dyn_client_inverse_dynamics(client, query, q, zeros, zeros, result, &error);
    case 1:
        return dyn_client_forward_dynamics(client, query, q, NULL, zeros, result, &error);
    case 2:
        return dyn_client_gravity(client, query, q, result, &error);
    case 3:
        return dyn_client_bias_forces(client, query, q, zeros, result, &error);
    default:
        return dyn_client_mass_matrix(client, query, q, result, &error);
    }
}

START_TEST(marked_states_leave_the_others_as_they_are) {
    static double wanted[SAMPLES * NQ * NQ], found[SAMPLES * NQ * NQ];
    const dyn_client_query failing_query = the_query(DYN_CLIENT_ON_ERROR_FAIL),
                           marking_query = the_query(DYN_CLIENT_ON_ERROR_MARK);
    make_states();
    ck_assert_int_eq(call_method(_i, &failing_query, spoilt, found), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_msg(call_method(_i, &marking_query, good, wanted) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_uint_eq(error.marked, 0);
    ck_assert_msg(call_method(_i, &marking_query, spoilt, found) == DYN_CLIENT_OK, "%s", error.message);
    expect_marked(found, wanted, _i < 4 ? NQ : NQ * NQ);
}
END_TEST

START_TEST(states_without_a_solution_are_marked) {
    dyn_client_loaded_model *loaded;
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(
            .urdf = "<robot name='massless'><link name='a'/><link name='b'/><joint name='j' type='continuous'>"
                    "<parent link='a'/><child link='b'/></joint></robot>");
    ck_assert_int_eq(dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_OK);
    dyn_client_loaded_model_free(loaded);
    double q[300] = {0}, a[300] = {0};
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "massless", .nq = 1, .nv = 1, .samples = 300);
    ck_assert_int_eq(dyn_client_forward_dynamics(client, &query, q, NULL, NULL, a, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_str_eq(error.reason, "SINGULAR_MASS_MATRIX");
    ck_assert_str_eq(error.joint, "j");
    query.on_error = DYN_CLIENT_ON_ERROR_MARK;
    ck_assert_int_eq(dyn_client_forward_dynamics(client, &query, q, NULL, NULL, a, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(error.marked, 300);
    ck_assert_str_eq(error.reason, "SINGULAR_MASS_MATRIX");
    for (int i = 0; i < 300; i++) {
        ck_assert(isnan(a[i]));
    }
}
END_TEST

static Dynamics__V1__Reply *send_request(const Dynamics__V1__Request *request) {
    size_t size = dynamics__v1__request__get_packed_size(request), reply_size;
    uint8_t *bytes = malloc(size);
    void *answer;
    ck_assert_ptr_nonnull(bytes);
    dynamics__v1__request__pack(request, bytes);
    ck_assert_int_eq(dyn_client_call(client, bytes, size, 0, &answer, &reply_size, &error), DYN_CLIENT_OK);
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, reply_size, answer);
    ck_assert_ptr_nonnull(reply);
    dyn_client_free(answer);
    free(bytes);
    return reply;
}

/* Requests gravity forces with the protocol's own messages; the caller frees the reply. */
static Dynamics__V1__Reply *call_gravity(size_t samples, double *q, Dynamics__V1__OnError on_error) {
    static char model[] = "ur5";
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GravityRequest method = DYNAMICS__V1__GRAVITY_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = model;
    query.on_error = on_error;
    method.query = &query;
    method.n_q = samples * NQ;
    method.q = q;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GRAVITY;
    request.gravity = &method;
    return send_request(&request);
}

static char tip[] = "tool0", *frames[] = {tip};

/* Requests several quantities, with failing states marked; the caller frees the reply. */
static Dynamics__V1__Reply *evaluate(double *q) {
    static char model[] = "ur5";
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__EvaluateRequest method = DYNAMICS__V1__EVALUATE_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    Dynamics__V1__QuantityRequest quantities[3], *list[3];
    for (int i = 0; i < 3; i++) {
        dynamics__v1__quantity_request__init(&quantities[i]);
        list[i] = &quantities[i];
    }
    quantities[0].quantity = DYNAMICS__V1__QUANTITY__QUANTITY_MASS_MATRIX;
    quantities[1].quantity = DYNAMICS__V1__QUANTITY__QUANTITY_GRAVITY_FORCES;
    quantities[2].quantity = DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_JACOBIAN;
    quantities[2].n_frames = 1, quantities[2].frames = frames;
    quantities[2].reference_frame = DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD;
    query.model = model;
    query.on_error = DYNAMICS__V1__ON_ERROR__ON_ERROR_MARK;
    method.query = &query;
    method.n_q = SAMPLES * NQ;
    method.q = q;
    method.n_quantities = 3;
    method.quantities = list;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_EVALUATE;
    request.evaluate = &method;
    return send_request(&request);
}

/* Requests the pose and the Jacobian of a frame, with failing states marked; the caller frees the reply. */
static Dynamics__V1__Reply *compute_kinematics(double *q) {
    static char model[] = "ur5";
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__KinematicsRequest method = DYNAMICS__V1__KINEMATICS_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = model;
    query.on_error = DYNAMICS__V1__ON_ERROR__ON_ERROR_MARK;
    method.query = &query;
    method.n_q = SAMPLES * NQ;
    method.q = q;
    method.n_frames = 1;
    method.frames = frames;
    method.reference_frame = DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_KINEMATICS;
    request.kinematics = &method;
    return send_request(&request);
}

/* Compares an array of two replies: the rows of failing states are NaN, the others have equal bits. */
static void compare_rows(size_t found_count, const double *found, size_t wanted_count, const double *wanted) {
    size_t width = wanted_count / SAMPLES;
    ck_assert_uint_gt(width, 0);
    ck_assert_uint_eq(found_count, wanted_count);
    for (size_t i = 0; i < wanted_count; i++) {
        ck_assert_msg(fails(i / width) ? isnan(found[i]) : memcmp(&found[i], &wanted[i], sizeof *found) == 0,
                      "value %zu of sample %zu is %g", i % width, i / width, found[i]);
    }
}

/* Checks that the reply lists the error of each failing state with its field, which begins with the method's name. */
static void expect_errors(const Dynamics__V1__Reply *reply, const char *method) {
    size_t next = 0;
    ck_assert_int_eq(reply->status->code, DYNAMICS__V1__CODE__CODE_OK);
    ck_assert_uint_eq(reply->sample_error_count, failing);
    ck_assert_uint_eq(reply->n_sample_errors, failing);
    for (size_t s = 0; s < SAMPLES; s++) {
        char field[64];
        if (fails(s)) {
            snprintf(field, sizeof field, "%s.q[%zu]", method, s * NQ + s % NQ);
            ck_assert_uint_eq(reply->sample_errors[next]->sample, s);
            ck_assert_str_eq(reply->sample_errors[next]->reason, "NOT_FINITE");
            ck_assert_str_eq(reply->sample_errors[next++]->field, field);
        }
    }
}

START_TEST(marked_states_of_an_evaluation_leave_the_others_as_they_are) {
    make_states();
    Dynamics__V1__Reply *wanted = evaluate(good), *found = evaluate(spoilt);
    ck_assert_uint_eq(wanted->sample_error_count, 0);
    expect_errors(found, "evaluate");
    ck_assert_uint_eq(found->evaluate->n_results, 3);
    for (size_t i = 0; i < found->evaluate->n_results; i++) {
        const Dynamics__V1__QuantityResult *a = found->evaluate->results[i], *b = wanted->evaluate->results[i];
        ck_assert_uint_eq(a->n_blocks, b->n_blocks);
        for (size_t k = 0; k < a->n_blocks; k++) {
            compare_rows(a->blocks[k]->n_values, a->blocks[k]->values, b->blocks[k]->n_values, b->blocks[k]->values);
        }
    }
    dynamics__v1__reply__free_unpacked(wanted, NULL);
    dynamics__v1__reply__free_unpacked(found, NULL);
}
END_TEST

START_TEST(marked_states_of_kinematics_leave_the_others_as_they_are) {
    make_states();
    Dynamics__V1__Reply *wanted = compute_kinematics(good), *found = compute_kinematics(spoilt);
    ck_assert_uint_eq(wanted->sample_error_count, 0);
    expect_errors(found, "kinematics");
    ck_assert_uint_eq(found->kinematics->n_frames, 1);
    const Dynamics__V1__FrameKinematics *a = found->kinematics->frames[0], *b = wanted->kinematics->frames[0];
    compare_rows(a->n_position, a->position, b->n_position, b->position);
    compare_rows(a->n_quaternion, a->quaternion, b->n_quaternion, b->quaternion);
    compare_rows(a->n_linear, a->linear, b->n_linear, b->linear);
    compare_rows(a->n_angular, a->angular, b->n_angular, b->angular);
    dynamics__v1__reply__free_unpacked(wanted, NULL);
    dynamics__v1__reply__free_unpacked(found, NULL);
}
END_TEST

START_TEST(errors_of_the_first_thousand_states_are_reported) {
    static double q[SAMPLES * NQ];
    for (size_t s = 0; s < SAMPLES; s++) {
        q[s * NQ + 2] = s % 2 ? NAN : 0.5;
    }
    Dynamics__V1__Reply *reply = call_gravity(SAMPLES, q, DYNAMICS__V1__ON_ERROR__ON_ERROR_MARK);
    ck_assert_int_eq(reply->status->code, DYNAMICS__V1__CODE__CODE_OK);
    ck_assert_uint_eq(reply->sample_error_count, SAMPLES / 2);
    ck_assert_uint_eq(reply->n_sample_errors, REPORTED_ERRORS);
    for (size_t i = 0; i < REPORTED_ERRORS; i++) {
        const Dynamics__V1__SampleError *reported = reply->sample_errors[i];
        char field[64];
        snprintf(field, sizeof field, "gravity.q[%zu]", (2 * i + 1) * NQ + 2);
        ck_assert_uint_eq(reported->sample, 2 * i + 1);
        ck_assert_int_eq(reported->code, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT);
        ck_assert_str_eq(reported->reason, "NOT_FINITE");
        ck_assert_str_eq(reported->field, field);
        ck_assert_ptr_nonnull(strstr(reported->message, "elbow_joint"));
    }
    dynamics__v1__reply__free_unpacked(reply, NULL);
}
END_TEST

START_TEST(replies_name_their_model) {
    double q[NQ] = {0};
    dyn_client_description *robot;
    ck_assert_int_eq(dyn_client_describe_model(client, "ur5", 0, &robot, &error), DYN_CLIENT_OK);
    char digits[17];
    snprintf(digits, sizeof digits, "%.16s", robot->model.digest + strlen("sha256:"));
    Dynamics__V1__Reply *reply = call_gravity(1, q, DYNAMICS__V1__ON_ERROR__ON_ERROR_FAIL);
    ck_assert_uint_eq(reply->model_key, strtoull(digits, NULL, 16));
    ck_assert_uint_ne(reply->model_key, 0);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    q[0] = NAN;
    reply = call_gravity(1, q, DYNAMICS__V1__ON_ERROR__ON_ERROR_FAIL);
    ck_assert_uint_eq(reply->model_key, 0);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    dyn_client_description_free(robot);
}
END_TEST

START_TEST(unknown_outcomes_are_refused) {
    double q[NQ] = {0};
    Dynamics__V1__Reply *reply = call_gravity(1, q, (Dynamics__V1__OnError)2);
    ck_assert_str_eq(reply->status->field, "gravity.query.on_error");
    ck_assert_str_eq(reply->status->reason, "UNKNOWN_VALUE");
    dynamics__v1__reply__free_unpacked(reply, NULL);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("sample errors");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_loop_test(all, marked_states_leave_the_others_as_they_are, 0, 5);
    tcase_add_test(all, states_without_a_solution_are_marked);
    tcase_add_test(all, errors_of_the_first_thousand_states_are_reported);
    tcase_add_test(all, marked_states_of_an_evaluation_leave_the_others_as_they_are);
    tcase_add_test(all, marked_states_of_kinematics_leave_the_others_as_they_are);
    tcase_add_test(all, replies_name_their_model);
    tcase_add_test(all, unknown_outcomes_are_refused);
    return run_unforked("sample errors", all);
}
