/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks identification through a daemon: parameters of a robot that differs from its description return from its
 * motion, the identified model predicts it, and records that cannot be used are refused with their field.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/assertions.h"
#include "system/daemon_fixture.h"
#include "system/runner.h"
#include "system/wire_tree.h"

enum { NV = 6, ROWS = 1500 };

static daemon_fixture served;
static dyn_client *client;
static dyn_client_error error;
static double times[ROWS], q[ROWS * NV], v[ROWS * NV], a[ROWS * NV], tau[ROWS * NV];

static void start_daemon(void) {
    daemon_start(NULL, &served);
    if (dyn_client_connect(served.request_ipc, NULL, &client, &error) != DYN_CLIENT_OK) {
        ck_abort_msg("%s", error.message);
    }
}

static void stop_daemon(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

static dyn_client_query query_of(const char *model, size_t samples) {
    return (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = model, .samples = samples, .nq = NV, .nv = NV);
}

/* Computes a motion of all joints, and the torques of the UR5 that carries 3 kg with friction of 0.4 v. */
static void move(void) {
    const dyn_client_payload load = {
        .link = "tool0",
        .inertia = {.mass = 3, .center_of_mass = {0.02, -0.03, 0.05}, .rotational = {.01, 0, 0, .02, 0, .015}}};
    dyn_client_query query = query_of("ur5", ROWS);
    query.payload_count = 1, query.payloads = &load;
    for (size_t s = 0; s < ROWS; s++) {
        double t = times[s] = 0.01 * (double)s;
        for (size_t k = 0; k < NV; k++) {
            double w = 1 + 0.37 * (double)k, u = 2.9 - 0.21 * (double)k;
            q[s * NV + k] = sin(w * t + (double)k) + 0.4 * sin(u * t);
            v[s * NV + k] = w * cos(w * t + (double)k) + 0.4 * u * cos(u * t);
            a[s * NV + k] = -w * w * sin(w * t + (double)k) - 0.4 * u * u * sin(u * t);
        }
    }
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), &error);
    for (size_t i = 0; i < (size_t)ROWS * NV; i++) {
        tau[i] += 0.4 * v[i];
    }
}

static dyn_client_identify_request request_of(void) {
    return (dyn_client_identify_request)DYN_CLIENT_IDENTIFY_REQUEST_INIT(.q = q, .time = times, .tau = tau);
}

START_TEST(a_load_and_friction_are_found_from_positions_and_torques) {
    dyn_client_identification *found;
    dyn_client_query query = query_of("ur5", ROWS);
    dyn_client_identify_request request = request_of();
    request.name = "loaded_ur5";
    request.prior = 1e-3;
    move();
    wire_require(dyn_client_identify(client, &query, &request, &found, &error), &error);
    ck_assert_uint_eq(found->fit_count, NV);
    ck_assert(found->is_converged);
    for (size_t k = 0; k < NV; k++) {
        const dyn_client_joint_fit *fit = &found->fits[k];
        ck_assert_double_lt(fit->prediction, 1e-3 * (fit->highest - fit->lowest));
        ck_assert_double_gt(fit->accounted, 0.999);
        ck_assert_double_gt(fit->model_error, 100 * fit->prediction);
        ck_assert_double_eq_tol(fit->viscous, 0.4, 0.01);
    }
    dyn_client_identification_free(found);
    /* The model that was loaded predicts the torques of the same motion, apart from friction. */
    double *predicted = numbers(ROWS * NV);
    query = query_of("loaded_ur5", ROWS);
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, predicted, &error), &error);
    for (size_t i = 0; i < (size_t)ROWS * NV; i++) {
        predicted[i] += 0.4 * v[i] - tau[i];
    }
    ck_assert_double_lt(norm(predicted, ROWS * NV), 0.005 * norm(tau, ROWS * NV));
    free(predicted);
}
END_TEST

/* Returns whether a note about the robot begins with that text. */
static bool is_noted(const dyn_client_description *of, const char *beginning) {
    for (size_t i = 0; i < of->report_count; i++) {
        if (of->report[i].severity == DYN_CLIENT_SEVERITY_NOTE && strcmp(of->report[i].place, "robot ur5") == 0 &&
            strncmp(of->report[i].message, beginning, strlen(beginning)) == 0) {
            return true;
        }
    }
    return false;
}

START_TEST(the_report_of_an_identified_model_says_how_it_came_about) {
    dyn_client_identification *found;
    dyn_client_description *described;
    dyn_client_query query = query_of("ur5", ROWS);
    dyn_client_identify_request request = request_of();
    request.name = "noted_ur5", request.estimator = DYN_CLIENT_ESTIMATOR_WEIGHTED, request.replace = true;
    move();
    for (size_t s = 0; s < ROWS; s++) {
        q[s * NV + 5] = 0.3; /* the last joint does not move */
    }
    wire_require(dyn_client_identify(client, &query, &request, &found, &error), &error);
    wire_require(dyn_client_describe_model(client, "noted_ur5", 0, &described, &error), &error);
    ck_assert(is_noted(described,
                       "it was identified from 1500 rows by weighted least squares, with a prior of weight 1; "
                       "source: model ur5, sha256:"));
    ck_assert(is_noted(described, "the inertias of all bodies were sought"));
    ck_assert(is_noted(described, "the motion excites "));
    ck_assert(is_noted(described, "the motion does not determine all estimates of "));
    ck_assert(is_noted(described, "root mean square residual of each joint, N m or N: shoulder_pan_joint "));
    dyn_client_description_free(described);
    dyn_client_identification_free(found);
    dyn_client_exported_model *exported;
    wire_require(dyn_client_export_model(client, "noted_ur5", DYN_CLIENT_MODEL_FORMAT_URDF, NULL, 0, &exported, &error),
                 &error);
    ck_assert_ptr_nonnull(strstr(exported->urdf, "<note text=\"it was identified from 1500 rows"));
    dyn_client_exported_model_free(exported);
    wire_require(dyn_client_describe_model(client, "ur5", 0, &described, &error), &error);
    ck_assert(!is_noted(described, "it was identified"));
    dyn_client_description_free(described);
}
END_TEST

START_TEST(the_order_of_joints_is_the_callers) {
    static const char *const names[] = {"wrist_3_joint", "wrist_2_joint",       "wrist_1_joint",
                                        "elbow_joint",   "shoulder_lift_joint", "shoulder_pan_joint"};
    dyn_client_identification *found, *turned;
    dyn_client_query query = query_of("ur5", ROWS);
    dyn_client_identify_request request = request_of();
    double *q_turned = numbers(ROWS * NV), *tau_turned = numbers(ROWS * NV), gains[NV], gains_turned[NV];
    move();
    for (size_t i = 0; i < (size_t)ROWS * NV; i++) {
        q_turned[i / NV * NV + NV - 1 - i % NV] = q[i];
        tau_turned[i / NV * NV + NV - 1 - i % NV] = tau[i];
        gains[i % NV] = gains_turned[NV - 1 - i % NV] = 1 + 0.1 * (double)(i % NV);
    }
    request.gains = gains;
    wire_require(dyn_client_identify(client, &query, &request, &found, &error), &error);
    query.joint_count = NV, query.joint_names = names;
    request.q = q_turned, request.tau = tau_turned, request.gains = gains_turned;
    wire_require(dyn_client_identify(client, &query, &request, &turned, &error), &error);
    ck_assert_uint_eq(found->estimate_count, turned->estimate_count);
    for (size_t i = 0; i < found->estimate_count; i++) {
        ck_assert_double_eq(found->estimates[i].value, turned->estimates[i].value);
    }
    dyn_client_identification_free(found);
    dyn_client_identification_free(turned);
    free(q_turned), free(tau_turned);
}
END_TEST

START_TEST(errors_of_gains_have_the_callers_order_of_joints) {
    static const char *const names[] = {"wrist_3_joint", "wrist_2_joint",       "wrist_1_joint",
                                        "elbow_joint",   "shoulder_lift_joint", "shoulder_pan_joint"};
    dyn_client_identification *found;
    dyn_client_query query = query_of("ur5", ROWS);
    double *q_turned = numbers(ROWS * NV), *tau_turned = numbers(ROWS * NV);
    double gains[NV] = {1, NAN, 1, 1, 1, 1}; /* of wrist_2_joint, coordinate 4 of the model */
    move();
    for (size_t i = 0; i < (size_t)ROWS * NV; i++) {
        q_turned[i / NV * NV + NV - 1 - i % NV] = q[i];
        tau_turned[i / NV * NV + NV - 1 - i % NV] = tau[i];
    }
    query.joint_count = NV, query.joint_names = names;
    dyn_client_identify_request request = request_of();
    request.q = q_turned, request.tau = tau_turned, request.gains = gains;
    ck_assert_int_eq(dyn_client_identify(client, &query, &request, &found, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "identify.gains[1]");
    request.gains = NULL, request.estimate_gains = true;
    ck_assert_int_eq(dyn_client_identify(client, &query, &request, &found, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "identify.gains[5]");
    ck_assert_msg(strstr(error.message, "shoulder_pan_joint") != NULL, "%s", error.message);
    free(q_turned), free(tau_turned);
}
END_TEST

START_TEST(a_payload_is_found_beside_one_that_is_known) {
    /* move() makes a motion with 3 kg; the record is told half of them as a known payload, and an external force. */
    const dyn_client_payload known = {
        .link = "tool0",
        .inertia = {.mass = 1.5, .center_of_mass = {0.02, -0.03, 0.05}, .rotational = {.005, 0, 0, .01, 0, .0075}}};
    static const double force[] = {20, -10, 5}, torque[] = {1, 2, -3};
    const dyn_client_external_force pull = {.link = "wrist_2_link",
                                            .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD,
                                            .force = force,
                                            .torque = torque,
                                            .rows = 1};
    dyn_client_identification *found;
    dyn_client_query query = query_of("ur5", ROWS);
    double *pulled = numbers(ROWS * NV), *free_tau = numbers(ROWS * NV);
    move();
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, free_tau, &error), &error);
    query.external_force_count = 1, query.external_forces = &pull;
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, pulled, &error), &error);
    for (size_t i = 0; i < (size_t)ROWS * NV; i++) {
        tau[i] += pulled[i] - free_tau[i];
    }
    query.payload_count = 1, query.payloads = &known;
    dyn_client_identify_request request = request_of();
    request.v = v, request.a = a, request.payload_link = "tool0";
    wire_require(dyn_client_identify(client, &query, &request, &found, &error), &error);
    ck_assert(found->has_payload);
    ck_assert_double_eq_tol(found->payload.mass, 1.5, 1e-3);
    ck_assert_double_eq_tol(found->payload.center_of_mass[2], 0.05, 1e-3);
    ck_assert_double_eq_tol(found->payload.rotational[3], 0.01, 1e-3);
    for (size_t i = 0; i < 10; i++) {
        ck_assert_str_eq(found->estimates[i].element, "payload");
        ck_assert_double_ge(found->estimates[i].relative_deviation, 0);
    }
    ck_assert_str_eq(found->estimates[10].parameter, "viscous");
    ck_assert_double_eq_tol(found->estimates[10].value, 0.4, 1e-8);
    dyn_client_identification_free(found);
    free(pulled), free(free_tau);
}
END_TEST

START_TEST(gains_of_currents_are_found_with_a_payload_of_some_rows) {
    static const dyn_client_drive_term terms[] = {DYN_CLIENT_DRIVE_TERM_VISCOUS, DYN_CLIENT_DRIVE_TERM_COULOMB,
                                                  DYN_CLIENT_DRIVE_TERM_STRIBECK};
    const dyn_client_payload known = {
        .link = "tool0",
        .inertia = {.mass = 3, .center_of_mass = {0.02, -0.03, 0.05}, .rotational = {.01, 0, 0, .02, 0, .015}}};
    double *free_tau = numbers(ROWS * NV), *load = numbers(ROWS);
    dyn_client_identification *found;
    dyn_client_query query = query_of("ur5", ROWS);
    move();
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, free_tau, &error), &error);
    for (size_t i = 0; i < (size_t)ROWS * NV; i++) {
        double u = v[i], direction = u / sqrt(u * u + 1e-4);
        load[i / NV] = i / NV >= ROWS / 2;
        tau[i] = load[i / NV] > 0 ? tau[i] : free_tau[i] + 0.4 * u;
        tau[i] += 2 * direction + 1.5 * direction / (1 + u * u / 0.09);
        tau[i] /= 5 + 2 * (double)(i % NV);
    }
    dyn_client_identify_request request = request_of();
    request.v = v, request.a = a, request.estimate_gains = true;
    request.drive_term_count = 3, request.drive_terms = terms, request.stribeck_velocity = 0.3;
    /* Nothing fixes the scale of currents alone. */
    ck_assert_int_eq(dyn_client_identify(client, &query, &request, &found, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "identify.gains[0]");
    ck_assert_msg(strstr(error.message, "fixes the scale") != NULL, "%s", error.message);
    query.payload_count = 1, query.payloads = &known, request.load = load;
    wire_require(dyn_client_identify(client, &query, &request, &found, &error), &error);
    for (size_t k = 0; k < NV; k++) {
        const dyn_client_joint_fit *fit = &found->fits[k];
        ck_assert_double_eq_tol(fit->gain, 5 + 2 * (double)k, 1e-7);
        ck_assert_double_gt(fit->gain_deviation, 0);
        ck_assert_double_eq_tol(fit->stribeck, 1.5, 0.05);
    }
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_client_linear_estimate *each = &found->estimates[i];
        ck_assert_int_eq(each->reason[0] == '\0', each->is_excited);
        if (strcmp(each->parameter, "stribeck") == 0) {
            ck_assert_double_eq_tol(each->value, 1.5, 1e-6);
        }
    }
    dyn_client_identification_free(found);
    free(free_tau), free(load);
}
END_TEST

static void must_refuse(const dyn_client_identify_request *request, size_t samples, dyn_client_status status,
                        const char *field, const char *text) {
    dyn_client_identification *found;
    const dyn_client_query query = query_of("ur5", samples);
    ck_assert_int_eq(dyn_client_identify(client, &query, request, &found, &error), status);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, text) != NULL, "%s", error.message);
    ck_assert_ptr_null(found);
}

START_TEST(records_that_cannot_be_used_are_refused) {
    dyn_client_identify_request good = request_of(), bad = good;
    const dyn_client_drive_term unknown = (dyn_client_drive_term)7;
    move();
    must_refuse(&good, 4, DYN_CLIENT_INVALID_ARGUMENT, "identify.q", "4 samples");
    bad.cutoff = 90;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.cutoff", "100 samples a second");
    bad = good, bad.time = NULL;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.time", "missing");
    bad = good, bad.tau = NULL;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.tau", "missing");
    bad = good, bad.v = v;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.a", "missing");
    bad = good, bad.folds = 1;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.folds", "2 to 100");
    bad = good, bad.prior = -1;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.prior", "-1");
    bad = good, bad.drive_term_count = 1, bad.drive_terms = &unknown;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.drive_terms[0]", "7");
    bad = good, bad.ignore_drives = bad.drives_only = true;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.ignore_drives", "leave out");
    static const char *const fixed[] = {"forearm_link", "base_link"}, *const unknown_link[] = {"third_arm"};
    bad = good, bad.links = fixed, bad.link_count = 2;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.links[1]", "base_link is fixed to the world");
    bad.links = unknown_link, bad.link_count = 1;
    must_refuse(&bad, ROWS, DYN_CLIENT_NOT_FOUND, "identify.links[0]", "third_arm");
    bad = good, bad.payload_link = "tool0", bad.drives_only = true;
    must_refuse(&bad, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.payload_link", "only one of");
    q[13] = NAN;
    must_refuse(&good, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.q[13]", "nan");
    q[13] = 0, times[700] = times[699];
    must_refuse(&good, ROWS, DYN_CLIENT_INVALID_ARGUMENT, "identify.time[700]", "not after");
    ck_assert_int_eq(dyn_client_ping(client, 5, &error), DYN_CLIENT_OK);
}
END_TEST

/* Counts the reports of a call, and ends it at the third one. */
static bool end_third(void *context, double fraction) {
    int *reports = context;
    ck_assert(fraction >= 0 && fraction <= 1);
    return ++*reports < 3;
}

START_TEST(an_identification_reports_and_is_cancelled_under_way) {
    dyn_client_identification *found;
    dyn_client_query query = query_of("ur5", ROWS);
    dyn_client_identify_request request = request_of();
    int reports = 0;
    move();
    query.progress = end_third, query.progress_context = &reports;
    request.folds = 100;
    ck_assert_int_eq(dyn_client_identify(client, &query, &request, &found, &error), DYN_CLIENT_CANCELLED);
    ck_assert_msg(strstr(error.message, "the request was cancelled") != NULL, "%s", error.message);
    ck_assert_int_eq(reports, 3);
    ck_assert_int_eq(dyn_client_ping(client, 5, &error), DYN_CLIENT_OK);
}
END_TEST

START_TEST(an_exciting_motion_determines_what_a_simple_one_does_not) {
    dyn_client_identification *found;
    dyn_client_excitation *motion;
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .timeout = 30);
    dyn_client_excite_request request = DYN_CLIENT_EXCITE_REQUEST_INIT();
    request.trials = 300, request.period = 8, request.rate = 50, request.seed = 3;
    wire_require(dyn_client_excite(client, &query, &request, &motion, &error), &error);
    ck_assert_uint_eq(motion->rows, 400);
    ck_assert_uint_eq(motion->rank, motion->estimates);
    ck_assert_double_lt(motion->condition, 300);
    for (size_t k = 0; k < NV; k++) {
        ck_assert_double_le(motion->uses[k].position, 0.9 + 1e-9);
        ck_assert_double_le(motion->uses[k].velocity, 0.9 + 1e-9);
        ck_assert_double_le(motion->uses[k].effort, 0.91);
        ck_assert_double_eq_tol(motion->v[k], 0, 1e-12);
    }
    query = query_of("ur5", motion->rows);
    dyn_client_identify_request record =
        DYN_CLIENT_IDENTIFY_REQUEST_INIT(.q = motion->q, .v = motion->v, .a = motion->a, .tau = motion->tau,
                                         .time = motion->time);
    wire_require(dyn_client_identify(client, &query, &record, &found, &error), &error);
    ck_assert_uint_eq(found->rank, motion->rank);
    ck_assert_double_eq_tol(found->condition / motion->condition, 1, 1e-6);
    move();
    double simple = 0;
    dyn_client_identification *other;
    record = request_of();
    query = query_of("ur5", ROWS);
    wire_require(dyn_client_identify(client, &query, &record, &other, &error), &error);
    simple = other->condition;
    ck_assert_msg(simple > 2 * motion->condition, "condition %g of a simple motion, %g of the exciting one", simple,
                  motion->condition);
    dyn_client_identification_free(found);
    dyn_client_identification_free(other);
    dyn_client_excitation_free(motion);
}
END_TEST

START_TEST(a_search_is_refused_or_cancelled) {
    dyn_client_excitation *motion;
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5");
    dyn_client_excite_request request = DYN_CLIENT_EXCITE_REQUEST_INIT();
    request.rate = 1;
    ck_assert_int_eq(dyn_client_excite(client, &query, &request, &motion, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "excite.rate");
    request = (dyn_client_excite_request)DYN_CLIENT_EXCITE_REQUEST_INIT();
    request.period = 0.1, request.rate = 2000, request.trials = 50;
    ck_assert_int_eq(dyn_client_excite(client, &query, &request, &motion, &error), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, "excite.query.model");
    ck_assert_msg(strstr(error.message, "keeps the effort limits") != NULL, "%s", error.message);
    int reports = 0;
    query.progress = end_third, query.progress_context = &reports;
    request = (dyn_client_excite_request)DYN_CLIENT_EXCITE_REQUEST_INIT();
    ck_assert_int_eq(dyn_client_excite(client, &query, &request, &motion, &error), DYN_CLIENT_CANCELLED);
    ck_assert_int_eq(reports, 3);
    ck_assert_int_eq(dyn_client_ping(client, 5, &error), DYN_CLIENT_OK);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("identification");
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_set_timeout(all, 120);
    tcase_add_test(all, a_load_and_friction_are_found_from_positions_and_torques);
    tcase_add_test(all, errors_of_gains_have_the_callers_order_of_joints);
    tcase_add_test(all, a_payload_is_found_beside_one_that_is_known);
    tcase_add_test(all, the_report_of_an_identified_model_says_how_it_came_about);
    tcase_add_test(all, gains_of_currents_are_found_with_a_payload_of_some_rows);
    tcase_add_test(all, the_order_of_joints_is_the_callers);
    tcase_add_test(all, an_exciting_motion_determines_what_a_simple_one_does_not);
    tcase_add_test(all, a_search_is_refused_or_cancelled);
    tcase_add_test(all, an_identification_reports_and_is_cancelled_under_way);
    tcase_add_test(all, records_that_cannot_be_used_are_refused);
    return run_unforked("identification", all);
}
