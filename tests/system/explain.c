/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the method Explain: terms and links add up to the inverse dynamics.
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

/* Checks that the inertial, coriolis and gravity parts of all links add up to the first three terms. */
static void check_links(const reference *of, const dyn_client_explanation *answer, size_t state) {
    for (size_t t = 0; t < 3; t++) {
        deviation found = {0};
        for (size_t i = 0; i < of->nv; i++) {
            double sum = 0;
            for (size_t l = 0; l < answer->link_count; l++) {
                const dyn_client_contribution *part = &answer->links[l];
                sum += t == 0 ? part->inertial[i] : t == 1 ? part->coriolis[i] : part->gravity[i];
            }
            add(&found, sum, answer->terms[t].tau[i]);
        }
        check(of, answer->terms[t].name, state, found);
    }
}

/* Compares the terms of an answer with the reference's fields: M a = rnea - nle, C v = nle - gravity. */
static void check_terms(const reference *of, const dyn_client_explanation *answer, size_t state) {
    const json_t *expected = json_array_get(of->states, state);
    deviation tau = {0}, coriolis = {0}, gravity = {0}, sum = {0};
    ck_assert_uint_eq(answer->term_count, 4);
    for (size_t i = 0; i < of->nv; i++) {
        double total = 0;
        for (size_t t = 0; t < answer->term_count; t++) {
            total += answer->terms[t].tau[i];
        }
        add(&sum, total, at(json_object_get(expected, "rnea"), i));
        add(&tau, answer->tau[i], at(json_object_get(expected, "rnea"), i));
        add(&coriolis, answer->terms[1].tau[i] + answer->terms[2].tau[i], at(json_object_get(expected, "nle"), i));
        add(&gravity, answer->terms[2].tau[i], at(json_object_get(expected, "gravity"), i));
        ck_assert_double_eq(answer->terms[3].tau[i], 0);
    }
    check(of, "tau", state, tau);
    check(of, "sum of terms", state, sum);
    check(of, "coriolis and gravity", state, coriolis);
    check(of, "gravity", state, gravity);
    ck_assert_double_le(answer->residual, 1e-10 * (1 + sqrt(tau.norm)));
}

START_TEST(terms_and_links_add_up_to_the_reference) {
    reference of;
    dyn_client_error error;
    dyn_client_explanation *answer;
    reference_open(&of, served.request_ipc, files[_i]);
    reference_use_names(&of);
    of.query.samples = 1;
    for (size_t s = 0; s < of.count; s++) {
        dyn_client_status status = dyn_client_explain(of.client, &of.query, of.q + s * of.robot->model.nq,
                                                      of.v + s * of.nv, of.a + s * of.nv, &answer, &error);
        must(&of, "explain", status, &error);
        check_terms(&of, answer, s);
        check_links(&of, answer, s);
        dyn_client_explanation_free(answer);
    }
    reference_close(&of);
}
END_TEST

/* ---- the sample robots ------------------------------------------------------------------------------------------- */

static dyn_client *client;
static const dyn_client_query UR5 = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);

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

START_TEST(external_forces_are_a_term) {
    const double force[3] = {3, -2, 10}, torque[3] = {0.5, 0, 1};
    const double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6}, v[6] = {1, -2, 3, -4, 5, -6}, a[6] = {6, 5, 4, 3, 2, 1};
    dyn_client_external_force pull = {.link = "tool0",
                                      .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL,
                                      .force = force,
                                      .torque = torque,
                                      .rows = 1};
    dyn_client_query query = UR5;
    dyn_client_error error;
    dyn_client_explanation *answer;
    double tau[6], without[6];
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, q, v, a, without, &error), DYN_CLIENT_OK);
    query.external_force_count = 1;
    query.external_forces = &pull;
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_explain(client, &query, q, v, a, &answer, &error), DYN_CLIENT_OK);
    ck_assert_str_eq(answer->terms[3].name, "external");
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq(answer->tau[i], tau[i]);
        ck_assert_double_eq_tol(answer->terms[3].tau[i], tau[i] - without[i], 1e-12);
        ck_assert_str_eq(answer->units[i], "N m");
    }
    ck_assert_double_le(answer->residual, 1e-12);
    dyn_client_explanation_free(answer);
}
END_TEST

/* Checks that a link on a fixed joint has a share of its own, and that a massless one has none. */
START_TEST(every_link_with_mass_has_its_share) {
    static const char urdf[] =
        "<robot name='tool_arm'><link name='base'/>"
        "<link name='arm'><inertial><mass value='2'/><origin xyz='0.5 0 0'/>"
        "<inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<link name='flange'/>"
        "<link name='tool'><inertial><mass value='3'/><origin xyz='0 0 0.25'/>"
        "<inertia ixx='0.1' iyy='0.2' izz='0.2' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='turn' type='continuous'><parent link='base'/><child link='arm'/><axis xyz='0 1 0'/></joint>"
        "<joint name='mount' type='fixed'><parent link='arm'/><child link='flange'/><origin xyz='1 0 0'/></joint>"
        "<joint name='grip' type='fixed'><parent link='flange'/><child link='tool'/>"
        "<origin rpy='0 1.5707963267948966 0'/></joint></robot>";
    const double q = 0, a = 1;
    dyn_client_load_request load = DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = urdf);
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "tool_arm", .nq = 1, .nv = 1, .samples = 1);
    dyn_client_error error;
    dyn_client_loaded_model *loaded;
    dyn_client_explanation *answer;
    ck_assert_int_eq(dyn_client_load_model(client, &load, &loaded, &error), DYN_CLIENT_OK);
    dyn_client_loaded_model_free(loaded);
    ck_assert_int_eq(dyn_client_explain(client, &query, &q, NULL, &a, &answer, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(answer->link_count, 2);
    ck_assert_str_eq(answer->links[0].link, "arm");
    ck_assert_str_eq(answer->links[1].link, "tool");
    ck_assert_str_eq(answer->links[1].moving_joint, "turn");
    /* Terms of gravity: -m g x. Terms of inertia: I + m x^2, with x = 0.5 and 1.25. */
    ck_assert_double_eq_tol(answer->links[0].gravity[0], -2 * 9.81 * 0.5, 1e-12);
    ck_assert_double_eq_tol(answer->links[1].gravity[0], -3 * 9.81 * 1.25, 1e-12);
    ck_assert_double_eq_tol(answer->links[0].inertial[0], 0.1 + 2 * 0.25, 1e-12);
    ck_assert_double_eq_tol(answer->links[1].inertial[0], 0.2 + 3 * 1.5625, 1e-12);
    dyn_client_explanation_free(answer);
}
END_TEST

/* Checks that a request is refused with its field. */
static void must_refuse(const dyn_client_query *query, const double *q, const double *v, dyn_client_status status,
                        const char *field) {
    dyn_client_error error;
    dyn_client_explanation *answer;
    ck_assert_int_eq(dyn_client_explain(client, query, q, v, NULL, &answer, &error), status);
    ck_assert_str_eq(error.field, field);
    ck_assert_ptr_null(answer);
}

START_TEST(wrong_requests_are_refused_with_their_field) {
    const double q[12] = {0}, bad[6] = {0, 0, INFINITY, 0, 0, 0};
    dyn_client_query query = UR5;
    must_refuse(&query, q, bad, DYN_CLIENT_INVALID_ARGUMENT, "explain.v[2]");
    must_refuse(&query, bad, NULL, DYN_CLIENT_INVALID_ARGUMENT, "explain.q[2]");
    query.samples = 2;
    must_refuse(&query, q, NULL, DYN_CLIENT_INVALID_ARGUMENT, "explain.q");
    query.samples = 1;
    query.model = "nothing";
    must_refuse(&query, q, NULL, DYN_CLIENT_NOT_FOUND, "explain.query.model");
}
END_TEST

int main(void) {
    files = reference_files(&file_count);
    if (file_count == 0) {
        printf("no reference values: only the sample robots are explained\n");
    }
    TCase *all = tcase_create("explain");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_loop_test(all, terms_and_links_add_up_to_the_reference, 0, file_count);
    tcase_add_test(all, external_forces_are_a_term);
    tcase_add_test(all, every_link_with_mass_has_its_share);
    tcase_add_test(all, wrong_requests_are_refused_with_their_field);
    int failed = run_unforked("explain", all);
    reference_summarize(file_count);
    reference_files_free(files, file_count);
    return failed;
}
