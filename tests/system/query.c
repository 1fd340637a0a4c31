/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the query of requests: every method that computes with a model decodes it in one way, refuses the parts that
 * the method does not support, and names their places.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/v1/envelope.pb-c.h"
#include "system/client_fixture.h"
#include "system/runner.h"
#include "system/wire_tree.h"

enum { ROWS = 70, PART_COUNT = 5 };

static dyn_client_error error;

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static const char *const PARTS[PART_COUNT] = {"joint_names", "gravity", "payloads", "external_forces", "precision"};

/* Methods, with the parts of the query that they support (y) or refuse (n), in the order of PARTS. query.proto lists
 * them. */
static const struct {
    const char *method, *supported;
} METHODS[] = {
    {"inverse_dynamics", "yyyyy"},
    {"forward_dynamics", "yyyyy"},
    {"mass_matrix", "ynyny"},
    {"gravity", "yyyny"},
    {"bias_forces", "yyyny"},
    {"evaluate", "yyyyy"},
    {"explain", "yyyyn"},
    {"kinematics", "ynnny"},
    {"compute_configurations", "ynnnn"},
    {"assemble", "ynnnn"},
    {"compare", "yyyyn"},
    {"formulate", "nyyyn"},
    {"find_base_parameters", "nynnn"},
    {"identify", "yyyyn"},
    {"excite", "yynnn"},
    {"evaluate_motors", "yyyyn"},
    {"rollout", "yyyyn"},
    {"inverse_dynamics_trajectory", "yyyyy"},
    {"forward_dynamics_trajectory", "yyyyn"},
    {"derive_rates", "ynnnn"},
    {"create_simulation", "yyyyn"},
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* Query with its parts, and the reply to a request that has nothing but this query; close_question frees the reply. */
typedef struct question {
    Dynamics__V1__Query query;
    Dynamics__V1__Vector3 gravity;
    Dynamics__V1__Payload payload, *payloads[1];
    Dynamics__V1__ExternalForce force, *forces[1];
    Dynamics__V1__Reply *reply;
} question;

static char *text(const char *words) {
    return (char *)(uintptr_t)words;
}

static void open_question(question *x) {
    *x = (question){.query = DYNAMICS__V1__QUERY__INIT,
                    .gravity = DYNAMICS__V1__VECTOR3__INIT,
                    .payload = DYNAMICS__V1__PAYLOAD__INIT,
                    .force = DYNAMICS__V1__EXTERNAL_FORCE__INIT};
    x->payloads[0] = &x->payload;
    x->forces[0] = &x->force;
    x->payload.link = x->force.link = text("tip");
    x->query.model = text("two_link");
}

static void add_part(question *x, int part) {
    static char *names[] = {(char *)(uintptr_t) "joint1", (char *)(uintptr_t) "joint2"};
    switch (part) {
    case 0:
        x->query.n_joint_names = 2;
        x->query.joint_names = names;
        break;
    case 1:
        x->query.gravity = &x->gravity;
        break;
    case 2:
        x->query.n_payloads = 1;
        x->query.payloads = x->payloads;
        break;
    case 3:
        x->query.n_external_forces = 1;
        x->query.external_forces = x->forces;
        break;
    default:
        x->query.precision = DYNAMICS__V1__PRECISION__PRECISION_SINGLE;
    }
}

/* Sends a request for a method by its name, with the query (NULL: none), and returns the status of the reply. */
static const Dynamics__V1__Status *call_method(question *x, const char *method, Dynamics__V1__Query *query) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(&dynamics__v1__request__descriptor, method);
    ck_assert_msg(field != NULL, "there is no method %s", method);
    const ProtobufCMessageDescriptor *type = field->descriptor;
    ProtobufCMessage *requested = calloc(1, type->sizeof_message);
    type->message_init(requested);
    const ProtobufCFieldDescriptor *at = protobuf_c_message_descriptor_get_field_by_name(type, "query");
    ck_assert_msg(at && at->id == 1, "%s has no query as its field 1", method);
    memcpy((char *)requested + at->offset, &query, sizeof query);
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    request.method_case = (Dynamics__V1__Request__MethodCase)field->id;
    memcpy((char *)&request + field->offset, &requested, sizeof requested);
    size_t size = dynamics__v1__request__get_packed_size(&request), reply_size;
    uint8_t *bytes = malloc(size);
    dynamics__v1__request__pack(&request, bytes);
    void *reply;
    wire_require(dyn_client_call(client, bytes, size, 0, &reply, &reply_size, &error), &error);
    x->reply = dynamics__v1__reply__unpack(NULL, reply_size, reply);
    ck_assert_ptr_nonnull(x->reply);
    dyn_client_free(reply);
    free(bytes);
    free(requested);
    return x->reply->status;
}

static void close_question(question *x) {
    dynamics__v1__reply__free_unpacked(x->reply, NULL);
}

/* Checks that a status is a refusal with this code, at this part of a method's message. */
static void expect_field(const Dynamics__V1__Status *status, Dynamics__V1__Code code, const char *method,
                         const char *part) {
    char field[128];
    snprintf(field, sizeof field, "%s.%s", method, part);
    ck_assert_str_eq(status->field, field);
    ck_assert_int_eq(status->code, code);
}

START_TEST(unsupported_parts_of_the_query_are_refused_with_their_path) {
    const char *method = METHODS[_i].method;
    for (int part = 0; part < PART_COUNT; part++) {
        question x;
        char path[64], field[128];
        snprintf(path, sizeof path, "query.%s", PARTS[part]);
        snprintf(field, sizeof field, "%s.%s", method, path);
        open_question(&x);
        add_part(&x, part);
        const Dynamics__V1__Status *status = call_method(&x, method, &x.query);
        if (METHODS[_i].supported[part] == 'n') {
            expect_field(status, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, method, path);
        } else {
            ck_assert_str_ne(status->field, field);
        }
        close_question(&x);
    }
}
END_TEST

START_TEST(missing_queries_and_models_are_named_alike_by_all_methods) {
    const char *method = METHODS[_i].method;
    question x;
    open_question(&x);
    expect_field(call_method(&x, method, NULL), DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, method, "query");
    close_question(&x);
    x.query.model = text("");
    expect_field(call_method(&x, method, &x.query), DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, method, "query.model");
    close_question(&x);
    x.query.model = text("two_lnik");
    expect_field(call_method(&x, method, &x.query), DYNAMICS__V1__CODE__CODE_NOT_FOUND, method, "query.model");
    close_question(&x);
}
END_TEST

START_TEST(methods_compute_with_the_expected_model_only) {
    const char *method = METHODS[_i].method;
    dyn_client_description *robot;
    question x;
    char other[] = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", field[128];
    wire_require(dyn_client_describe_model(client, "two_link", 0, &robot, &error), &error);
    open_question(&x);
    x.query.expected_digest = other;
    const Dynamics__V1__Status *status = call_method(&x, method, &x.query);
    expect_field(status, DYNAMICS__V1__CODE__CODE_ABORTED, method, "query.expected_digest");
    ck_assert_str_eq(status->reason, "MODEL_CHANGED");
    close_question(&x);
    x.query.expected_digest = text("two_link");
    status = call_method(&x, method, &x.query);
    expect_field(status, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, method, "query.expected_digest");
    close_question(&x);
    x.query.expected_digest = text(robot->model.digest);
    snprintf(field, sizeof field, "%s.query.expected_digest", method);
    ck_assert_str_ne(call_method(&x, method, &x.query)->field, field);
    close_question(&x);
    dyn_client_description_free(robot);
}
END_TEST

START_TEST(clients_expect_a_model) {
    const double q[2] = {0.3, 0.4};
    double g[2];
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);
    dyn_client_description *robot, *arm;
    wire_require(dyn_client_describe_model(client, "two_link", 0, &robot, &error), &error);
    wire_require(dyn_client_describe_model(client, "ur5", 0, &arm, &error), &error);
    query.expected_digest = arm->model.digest;
    ck_assert_int_eq(dyn_client_gravity(client, &query, q, g, &error), DYN_CLIENT_ABORTED);
    ck_assert_str_eq(error.field, "gravity.query.expected_digest");
    query.expected_digest = robot->model.digest;
    wire_require(dyn_client_gravity(client, &query, q, g, &error), &error);
    dyn_client_description_free(robot);
    dyn_client_description_free(arm);
}
END_TEST

/* Checks that METHODS contains every method whose message has a query. OpenStream is left out: the parts that it
 * supports follow from its target, and streams.c checks them. */
START_TEST(all_methods_with_a_query_are_checked) {
    const ProtobufCMessageDescriptor *type = &dynamics__v1__request__descriptor;
    size_t count = 0;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCMessageDescriptor *method = type->fields[i].descriptor;
        count += type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE &&
                 protobuf_c_message_descriptor_get_field_by_name(method, "query") != NULL;
    }
    ck_assert_uint_eq(count, METHOD_COUNT + 1);
}
END_TEST

START_TEST(mass_matrix_refuses_gravity_and_forces) {
    const double q[2] = {0.3, 0.4}, gravity[3] = {0, 0, -1.62}, force[3] = {1, 2, 3};
    const dyn_client_external_force push = {
        .link = "tip", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .force = force, .rows = 1};
    double M[4];
    dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1, .gravity = gravity);
    ck_assert_int_eq(dyn_client_mass_matrix(client, &query, q, M, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "mass_matrix.query.gravity");
    query.gravity = NULL;
    query.external_force_count = 1;
    query.external_forces = &push;
    ck_assert_int_eq(dyn_client_mass_matrix(client, &query, q, M, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "mass_matrix.query.external_forces");
    query.external_force_count = 0;
    wire_require(dyn_client_mass_matrix(client, &query, q, M, &error), &error);
}
END_TEST

/* ---- external forces of trajectories ----------------------------------------------------------------------------- */

/* Motion of two_link over ROWS rows, the wrench of its tip on the surroundings, and the reaction to it. */
typedef struct pushed_motion {
    double q[2 * ROWS], v[2 * ROWS], a[2 * ROWS], tau[2 * ROWS];
    double force[3 * ROWS], torque[3 * ROWS], reaction_force[3 * ROWS], reaction_torque[3 * ROWS];
    dyn_client_tip tip;
    dyn_client_external_force reaction;
} pushed_motion;

static void make_motion(pushed_motion *m) {
    for (int i = 0; i < 2 * ROWS; i++) {
        m->q[i] = sin(0.1 * i), m->v[i] = cos(0.3 * i), m->a[i] = sin(0.7 * i), m->tau[i] = 20 * cos(0.2 * i);
    }
    for (int i = 0; i < 3 * ROWS; i++) {
        m->reaction_force[i] = -(m->force[i] = 10 * sin(i));
        m->reaction_torque[i] = -(m->torque[i] = cos(i));
    }
    m->tip = (dyn_client_tip)DYN_CLIENT_TIP_INIT(.link = "tip", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL,
                                                 .force = m->force, .torque = m->torque);
    m->tip.rows = ROWS;
    m->reaction =
        (dyn_client_external_force){.link = "tip", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .rows = ROWS};
    m->reaction.force = m->reaction_force;
    m->reaction.torque = m->reaction_torque;
}

static void expect_equal(size_t count, const double *found, const double *expected) {
    ck_assert_mem_eq(found, expected, count * sizeof *found);
}

START_TEST(inverse_dynamics_of_trajectories_counts_external_forces) {
    static pushed_motion m;
    make_motion(&m);
    dyn_client_trajectory *by_tip, *by_force, *by_none;
    double tau[2 * ROWS];
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = ROWS);
    wire_require(dyn_client_inverse_dynamics_trajectory(client, &query, NULL, m.q, m.v, m.a, DYN_CLIENT_RATES_GIVEN,
                                                        &m.tip, &by_tip, &error),
                 &error);
    wire_require(dyn_client_inverse_dynamics_trajectory(client, &query, NULL, m.q, m.v, m.a, DYN_CLIENT_RATES_GIVEN,
                                                        NULL, &by_none, &error),
                 &error);
    query.external_force_count = 1;
    query.external_forces = &m.reaction;
    wire_require(dyn_client_inverse_dynamics_trajectory(client, &query, NULL, m.q, m.v, m.a, DYN_CLIENT_RATES_GIVEN,
                                                        NULL, &by_force, &error),
                 &error);
    wire_require(dyn_client_inverse_dynamics(client, &query, m.q, m.v, m.a, tau, &error), &error);
    ck_assert_mem_ne(by_tip->tau, by_none->tau, sizeof tau);
    expect_equal(2 * ROWS, by_force->tau, by_tip->tau);
    expect_equal(2 * ROWS, by_force->tau, tau);
    dyn_client_trajectory_free(by_tip);
    dyn_client_trajectory_free(by_none);
    dyn_client_trajectory_free(by_force);
}
END_TEST

START_TEST(forward_dynamics_of_trajectories_counts_external_forces) {
    static pushed_motion m;
    make_motion(&m);
    dyn_client_trajectory *by_tip, *by_force, *by_both, *by_none;
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);
    wire_require(
        dyn_client_forward_dynamics_trajectory(client, &query, m.q, m.v, ROWS, m.tau, &m.tip, NULL, &by_tip, &error),
        &error);
    wire_require(
        dyn_client_forward_dynamics_trajectory(client, &query, m.q, m.v, ROWS, m.tau, NULL, NULL, &by_none, &error),
        &error);
    query.external_force_count = 1;
    query.external_forces = &m.reaction;
    wire_require(
        dyn_client_forward_dynamics_trajectory(client, &query, m.q, m.v, ROWS, m.tau, NULL, NULL, &by_force, &error),
        &error);
    expect_equal(2 * ROWS, by_force->q, by_tip->q);
    ck_assert_mem_ne(by_tip->q, by_none->q, 2 * ROWS * sizeof(double));
    /* The wrench of the tip and an equal pull cancel: the motion is that without forces up to rounding. */
    dyn_client_external_force pull = m.reaction;
    pull.force = m.force, pull.torque = m.torque;
    query.external_forces = &pull;
    wire_require(
        dyn_client_forward_dynamics_trajectory(client, &query, m.q, m.v, ROWS, m.tau, &m.tip, NULL, &by_both, &error),
        &error);
    for (int i = 0; i < 2 * ROWS; i++) {
        ck_assert_double_eq_tol(by_both->q[i], by_none->q[i], 1e-12);
    }
    dyn_client_trajectory_free(by_tip);
    dyn_client_trajectory_free(by_none);
    dyn_client_trajectory_free(by_force);
    dyn_client_trajectory_free(by_both);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("query");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_loop_test(all, unsupported_parts_of_the_query_are_refused_with_their_path, 0, METHOD_COUNT);
    tcase_add_loop_test(all, missing_queries_and_models_are_named_alike_by_all_methods, 0, METHOD_COUNT);
    tcase_add_loop_test(all, methods_compute_with_the_expected_model_only, 0, METHOD_COUNT);
    tcase_add_test(all, clients_expect_a_model);
    tcase_add_test(all, all_methods_with_a_query_are_checked);
    tcase_add_test(all, mass_matrix_refuses_gravity_and_forces);
    tcase_add_test(all, inverse_dynamics_of_trajectories_counts_external_forces);
    tcase_add_test(all, forward_dynamics_of_trajectories_counts_external_forces);
    return run_unforked("query", all);
}
