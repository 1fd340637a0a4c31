/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks requests whose content is wrong: each is answered with the code, the field and the wrong value.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/daemon_fixture.h"
#include "system/sp_request.h"
#include "system/sp_wire.h"
#include "system/runner.h"

#define CODE(name) DYNAMICS__V1__CODE__CODE_##name

enum { SAMPLES = 100000 };

static const char limits[] =
    "[limits]\nmessage_bytes = 4194304\nreply_bytes = 8388608\nsamples = 100000\n[server]\nworkers = 8\n";

static daemon_fixture served;
static sp_peer peer;

static void start(void) {
    daemon_start(&(daemon_options){.configuration = limits}, &served);
}

static void stop(void) {
    daemon_stop(&served);
}

static void open_peer(void) {
    peer = sp_open(served.request_ipc, SP_REQ);
}

/* Checks after each test that the daemon still answers over this connection, and closes it. */
static void close_peer(void) {
    sp_expect_right_answer(&peer);
    sp_close(&peer);
}

/* Returns text for a field that protobuf-c declares as writable. */
static char *text(const char *words) {
    return (char *)(uintptr_t)words;
}

/* InverseDynamics request for one sample of the two-link arm, which each case changes to a wrong one. */
typedef struct question {
    Dynamics__V1__Request request;
    Dynamics__V1__InverseDynamicsRequest method;
    Dynamics__V1__Query query;
    Dynamics__V1__ExternalForce force;
    Dynamics__V1__ExternalForce *forces[1];
    Dynamics__V1__Vector3 gravity;
    char *names[3];
    double q[6], v[6], a[6], f[6];
} question;

static void call_well(question *x) {
    memset(x, 0, sizeof *x);
    dynamics__v1__request__init(&x->request);
    dynamics__v1__inverse_dynamics_request__init(&x->method);
    dynamics__v1__query__init(&x->query);
    dynamics__v1__external_force__init(&x->force);
    dynamics__v1__vector3__init(&x->gravity);
    x->request.id = 4711;
    x->request.method_case = DYNAMICS__V1__REQUEST__METHOD_INVERSE_DYNAMICS;
    x->request.inverse_dynamics = &x->method;
    x->method.query = &x->query;
    x->query.model = text("two_link");
    x->method.n_q = x->method.n_v = x->method.n_a = 4;
    x->method.q = x->q;
    x->method.v = x->v;
    x->method.a = x->a;
    x->force.link = text("link2");
    x->force.reference_frame = DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL;
    x->force.n_force = 3;
    x->force.force = x->f;
    x->forces[0] = &x->force;
    x->query.n_external_forces = 1;
    x->query.external_forces = x->forces;
    x->query.gravity = &x->gravity;
    x->query.n_joint_names = 2;
    x->query.joint_names = x->names;
    x->names[0] = text("joint1");
    x->names[1] = text("joint2");
    x->names[2] = text("joint2");
}

static void wrong_q_count(question *x) {
    x->method.n_q = 3;
}

static void no_q(question *x) {
    x->method.n_q = 0;
}

static void wrong_v_count(question *x) {
    x->method.n_v = 3;
}

static void wrong_a_count(question *x) {
    x->method.n_a = 6;
}

static void nan_in_q(question *x) {
    x->q[3] = NAN;
}

static void infinity_in_v(question *x) {
    x->v[0] = INFINITY;
}

static void minus_infinity_in_a(question *x) {
    x->a[1] = -INFINITY;
}

/* Sets the value of joint2, which is the third one in the caller's order of joints, to NaN. */
static void nan_in_the_callers_order(question *x) {
    x->names[0] = text("joint2");
    x->names[1] = text("joint1");
    x->q[2] = NAN;
}

static void unknown_joint(question *x) {
    x->names[1] = text("jiont2");
}

static void repeated_joint(question *x) {
    x->names[1] = text("joint1");
}

static void missing_joint(question *x) {
    x->query.n_joint_names = 1;
}

static void too_many_joints(question *x) {
    x->query.n_joint_names = 3;
}

static void unknown_model(question *x) {
    x->query.model = text("two_lnik");
}

static void unknown_digest(question *x) {
    x->query.model = text("sha256:0123");
}

static void no_model(question *x) {
    x->query.model = text("");
}

static void model_not_utf8(question *x) {
    x->query.model = text("two\xfflink");
}

static void joint_not_utf8(question *x) {
    x->names[0] = text("\xc3(");
}

static void unknown_force_link(question *x) {
    x->force.link = text("link3");
}

static void wrong_force_count(question *x) {
    x->force.n_force = 4;
}

static void no_reference_frame(question *x) {
    x->force.reference_frame = DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_UNSPECIFIED;
}

static void unknown_reference_frame(question *x) {
    x->force.reference_frame = (Dynamics__V1__ReferenceFrame)9;
}

static void nan_in_force(question *x) {
    x->f[1] = NAN;
}

static void nan_in_gravity(question *x) {
    x->gravity.z = NAN;
}

static void negative_timeout(question *x) {
    x->request.timeout = -1;
}

static void nan_timeout(question *x) {
    x->request.timeout = NAN;
}

static void infinite_timeout(question *x) {
    x->request.timeout = INFINITY;
}

static void timeout_over_at_arrival(question *x) {
    x->request.timeout = 1e-9;
}

static void no_method(question *x) {
    x->request.method_case = DYNAMICS__V1__REQUEST__METHOD__NOT_SET;
}

static void later_revision(question *x) {
    x->request.min_revision = 1000000;
}

static const struct {
    void (*spoil)(question *x);
    Dynamics__V1__Code code;
    const char *reason, *field, *words;
} questions[] = {
    {wrong_q_count, CODE(INVALID_ARGUMENT), "WRONG_COUNT", "inverse_dynamics.q",
     "q has 3 values; pass nq = 2 for each sample"},
    {no_q, CODE(INVALID_ARGUMENT), "WRONG_COUNT", "inverse_dynamics.q", "q has 0 values"},
    {wrong_v_count, CODE(INVALID_ARGUMENT), "WRONG_COUNT", "inverse_dynamics.v", "v has 3 values; 2 samples"},
    {wrong_a_count, CODE(INVALID_ARGUMENT), "WRONG_COUNT", "inverse_dynamics.a", "a has 6 values; 2 samples"},
    {nan_in_q, CODE(INVALID_ARGUMENT), "NOT_FINITE", "inverse_dynamics.q[3]", "joint2"},
    {infinity_in_v, CODE(INVALID_ARGUMENT), "NOT_FINITE", "inverse_dynamics.v[0]", "joint1"},
    {minus_infinity_in_a, CODE(INVALID_ARGUMENT), "NOT_FINITE", "inverse_dynamics.a[1]", "-inf"},
    {nan_in_the_callers_order, CODE(INVALID_ARGUMENT), "NOT_FINITE", "inverse_dynamics.q[2]", "joint2"},
    {unknown_joint, CODE(NOT_FOUND), "JOINT_NOT_FOUND", "inverse_dynamics.query.joint_names[1]",
     "did you mean \"joint2\""},
    {repeated_joint, CODE(INVALID_ARGUMENT), "DUPLICATE", "inverse_dynamics.query.joint_names[1]",
     "\"joint1\" is named twice"},
    {missing_joint, CODE(INVALID_ARGUMENT), "MISSING_VALUE", "inverse_dynamics.query.joint_names",
     "joint \"joint2\" is missing"},
    {too_many_joints, CODE(INVALID_ARGUMENT), "DUPLICATE", "inverse_dynamics.query.joint_names[2]",
     "\"joint2\" is named twice"},
    {unknown_model, CODE(NOT_FOUND), "MODEL_NOT_FOUND", "inverse_dynamics.query.model", "did you mean \"two_link\""},
    {unknown_digest, CODE(NOT_FOUND), "MODEL_NOT_FOUND", "inverse_dynamics.query.model", "sha256:0123"},
    {no_model, CODE(INVALID_ARGUMENT), "MISSING_VALUE", "inverse_dynamics.query.model", "names no model"},
    {model_not_utf8, CODE(NOT_FOUND), "MODEL_NOT_FOUND", "inverse_dynamics.query.model",
     "there is no model \"two\\xfflink\""},
    {joint_not_utf8, CODE(NOT_FOUND), "JOINT_NOT_FOUND", "inverse_dynamics.query.joint_names[0]",
     "no moving joint \"\\xc3(\"; DescribeModel lists them"},
    {unknown_force_link, CODE(NOT_FOUND), "LINK_NOT_FOUND", "inverse_dynamics.query.external_forces[0].link",
     "\"link3\""},
    {wrong_force_count, CODE(INVALID_ARGUMENT), "WRONG_COUNT", "inverse_dynamics.query.external_forces[0].force",
     "force has 4 values"},
    {no_reference_frame, CODE(INVALID_ARGUMENT), "MISSING_VALUE",
     "inverse_dynamics.query.external_forces[0].reference_frame", "pass LOCAL (1)"},
    {unknown_reference_frame, CODE(INVALID_ARGUMENT), "UNKNOWN_VALUE",
     "inverse_dynamics.query.external_forces[0].reference_frame", "is 9"},
    {nan_in_force, CODE(INVALID_ARGUMENT), "NOT_FINITE", "inverse_dynamics.query.external_forces[0].force[1]", "nan"},
    {nan_in_gravity, CODE(INVALID_ARGUMENT), "NOT_FINITE", "inverse_dynamics.query.gravity", "nan"},
    {negative_timeout, CODE(INVALID_ARGUMENT), "INVALID_VALUE", "timeout", "timeout is -1"},
    {nan_timeout, CODE(INVALID_ARGUMENT), "INVALID_VALUE", "timeout", "timeout is nan"},
    {infinite_timeout, CODE(INVALID_ARGUMENT), "INVALID_VALUE", "timeout", "timeout is inf"},
    {timeout_over_at_arrival, CODE(DEADLINE_EXCEEDED), "DEADLINE", "", "after its arrival"},
    {no_method, CODE(INVALID_ARGUMENT), "NO_METHOD", "", "names no method"},
    {later_revision, CODE(UNIMPLEMENTED), "LATER_REVISION", "min_revision", "needs revision 1000000"},
};

START_TEST(spoilt_question_is_answered_with_its_place) {
    question x;
    call_well(&x);
    questions[_i].spoil(&x);
    Dynamics__V1__Reply *reply = sp_call(&peer, &x.request);
    ck_assert_str_eq(reply->status->reason, questions[_i].reason);
    if (questions[_i].spoil == nan_in_the_callers_order) {
        ck_assert_int_eq(reply->status->of_sample_case, DYNAMICS__V1__STATUS__OF_SAMPLE_SAMPLE);
        ck_assert_uint_eq(reply->status->sample, 1);
        ck_assert_str_eq(reply->status->joint, "joint2");
    }
    sp_expect_error(reply, questions[_i].code, questions[_i].field, questions[_i].words);
}
END_TEST

START_TEST(the_question_itself_is_right) {
    question x;
    call_well(&x);
    Dynamics__V1__Reply *reply = sp_call(&peer, &x.request);
    sp_expect_ok(reply);
    ck_assert_uint_eq(reply->inverse_dynamics->n_tau, 4);
    sp_free_reply(reply);
}
END_TEST

/* ---- constraints ------------------------------------------------------------------------------------------------- */

/* ForwardDynamics request for one sample of the two-link arm with a row and a constraint, which each case changes to
 * wrong ones. */
typedef struct constrained_question {
    Dynamics__V1__Request request;
    Dynamics__V1__ForwardDynamicsRequest method;
    Dynamics__V1__Query query;
    Dynamics__V1__GivenRows rows;
    Dynamics__V1__Constraint constraint, *constraints[1];
    Dynamics__V1__DistanceConstraint distance;
    Dynamics__V1__PointOnPlaneConstraint plane;
    Dynamics__V1__CouplingConstraint coupling;
    Dynamics__V1__CoupledCoordinate coordinate, *coordinates[1];
    Dynamics__V1__PrescribedMotion drive;
    Dynamics__V1__ConstraintFrame tip;
    Dynamics__V1__Placement pose;
    Dynamics__V1__Vector3 vector;
    double q[2], matrix[2], acceleration[1], coefficients[2];
} constrained_question;

static void constrain_well(constrained_question *x) {
    *x = (constrained_question){.request = DYNAMICS__V1__REQUEST__INIT,
                                .method = DYNAMICS__V1__FORWARD_DYNAMICS_REQUEST__INIT,
                                .query = DYNAMICS__V1__QUERY__INIT,
                                .rows = DYNAMICS__V1__GIVEN_ROWS__INIT,
                                .constraint = DYNAMICS__V1__CONSTRAINT__INIT,
                                .distance = DYNAMICS__V1__DISTANCE_CONSTRAINT__INIT,
                                .plane = DYNAMICS__V1__POINT_ON_PLANE_CONSTRAINT__INIT,
                                .coupling = DYNAMICS__V1__COUPLING_CONSTRAINT__INIT,
                                .coordinate = DYNAMICS__V1__COUPLED_COORDINATE__INIT,
                                .drive = DYNAMICS__V1__PRESCRIBED_MOTION__INIT,
                                .tip = DYNAMICS__V1__CONSTRAINT_FRAME__INIT,
                                .pose = DYNAMICS__V1__PLACEMENT__INIT,
                                .vector = DYNAMICS__V1__VECTOR3__INIT,
                                .matrix = {1, 2}};
    x->request.id = 13;
    x->request.method_case = DYNAMICS__V1__REQUEST__METHOD_FORWARD_DYNAMICS;
    x->request.forward_dynamics = &x->method;
    x->method.query = &x->query, x->method.n_q = 2, x->method.q = x->q;
    x->query.model = text("two_link");
    x->query.rows = &x->rows;
    x->rows.count = 1;
    x->rows.n_matrix = 2, x->rows.matrix = x->matrix;
    x->rows.n_acceleration = 1, x->rows.acceleration = x->acceleration;
    x->constraint.name = text("held"), x->constraints[0] = &x->constraint;
    x->tip.link = text("link2");
    x->distance.successor = x->plane.successor = &x->tip;
    x->distance.distance = 1, x->plane.normal = &x->vector, x->vector.z = 1;
    x->coupling.n_coordinates = 1, x->coupling.coordinates = x->coordinates, x->coordinates[0] = &x->coordinate;
    x->coordinate.joint = x->drive.joint = text("joint1"), x->coordinate.coefficient = 1;
    x->drive.n_coefficients = 2, x->drive.coefficients = x->coefficients;
}

/* Adds the constraint to the query, which then has no rows. */
static void add_constraint(constrained_question *x, Dynamics__V1__Constraint__KindCase kind, void *to) {
    x->query.rows = NULL;
    x->query.n_constraints = 1, x->query.constraints = x->constraints;
    x->constraint.kind_case = kind;
    x->constraint.distance = to; /* all members of the union are pointers */
}

#define KIND(name) DYNAMICS__V1__CONSTRAINT__KIND_##name

static void nan_in_rows(constrained_question *x) {
    x->matrix[1] = NAN;
}

static void infinity_in_rows(constrained_question *x) {
    x->acceleration[0] = INFINITY;
}

static void nan_distance(constrained_question *x) {
    add_constraint(x, KIND(DISTANCE), &x->distance);
    x->distance.distance = NAN;
}

static void nan_normal(constrained_question *x) {
    add_constraint(x, KIND(POINT_ON_PLANE), &x->plane);
    x->vector.y = NAN;
}

static void nan_place(constrained_question *x) {
    add_constraint(x, KIND(DISTANCE), &x->distance);
    x->tip.pose = &x->pose, x->pose.position = &x->vector, x->vector.x = NAN;
}

static void infinite_coefficient(constrained_question *x) {
    add_constraint(x, KIND(COUPLING), &x->coupling);
    x->coordinate.coefficient = INFINITY;
}

static void nan_offset(constrained_question *x) {
    add_constraint(x, KIND(COUPLING), &x->coupling);
    x->coupling.offset = NAN;
}

static void nan_drive(constrained_question *x) {
    add_constraint(x, KIND(PRESCRIBED), &x->drive);
    x->coefficients[1] = NAN;
}

/* A constraint between the world and the link that is fixed to it. */
static void loop_in_the_world(constrained_question *x) {
    add_constraint(x, KIND(DISTANCE), &x->distance);
    x->tip.link = text("base");
}

static const struct {
    void (*spoil)(constrained_question *x);
    const char *field, *words;
} constraints[] = {
    {nan_in_rows, "rows.matrix[1]", "is nan"},
    {infinity_in_rows, "rows.acceleration[0]", "is inf"},
    {nan_distance, "constraints[0].distance.distance", "nan"},
    {nan_normal, "constraints[0].point_on_plane.normal", "nan"},
    {nan_place, "constraints[0].distance.successor.pose.position", "nan"},
    {infinite_coefficient, "constraints[0].coupling.coordinates[0].coefficient", "inf"},
    {nan_offset, "constraints[0].coupling.offset", "nan"},
    {nan_drive, "constraints[0].prescribed.coefficients", "not finite"},
    {loop_in_the_world, "constraints[0]", "fixed to the world"},
};

enum { CONSTRAINTS = sizeof constraints / sizeof *constraints };

START_TEST(spoilt_constraint_is_answered_with_its_place) {
    constrained_question x;
    char field[96];
    constrain_well(&x);
    Dynamics__V1__Reply *reply = sp_call(&peer, &x.request);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    constraints[_i].spoil(&x);
    snprintf(field, sizeof field, "forward_dynamics.query.%s", constraints[_i].field);
    sp_expect_error(sp_call(&peer, &x.request), CODE(INVALID_ARGUMENT), field, constraints[_i].words);
}
END_TEST

/* ---- kinematics -------------------------------------------------------------------------------------------------- */

static Dynamics__V1__Reply *call_kinematics(char **frames, size_t count, int reference_frame, size_t samples) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__KinematicsRequest method = DYNAMICS__V1__KINEMATICS_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = text("two_link");
    method.query = &query;
    method.n_q = 2 * samples;
    method.q = calloc(method.n_q, sizeof(double));
    method.n_frames = count;
    method.frames = frames;
    method.reference_frame = (Dynamics__V1__ReferenceFrame)reference_frame;
    request.id = 12;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_KINEMATICS;
    request.kinematics = &method;
    Dynamics__V1__Reply *reply = sp_call(&peer, &request);
    free(method.q);
    return reply;
}

START_TEST(unknown_frame) {
    char *frames[] = {text("link1"), text("tpi")};
    sp_expect_error(call_kinematics(frames, 2, 1, 1), CODE(NOT_FOUND), "kinematics.frames[1]",
                    "no frame \"tpi\"; did you mean \"tip\"");
}
END_TEST

START_TEST(no_frame) {
    sp_expect_error(call_kinematics(NULL, 0, 1, 1), CODE(INVALID_ARGUMENT), "kinematics.frames", "at least one");
}
END_TEST

START_TEST(frame_named_twice) {
    char *frames[] = {text("tip"), text("tip")};
    sp_expect_error(call_kinematics(frames, 2, 1, 1), CODE(INVALID_ARGUMENT), "kinematics.frames[1]", "twice");
}
END_TEST

START_TEST(unknown_reference_frame_of_jacobians) {
    char *frames[] = {text("tip")};
    sp_expect_error(call_kinematics(frames, 1, -3, 1), CODE(INVALID_ARGUMENT), "kinematics.reference_frame", "is -3");
    sp_expect_error(call_kinematics(frames, 1, 0, 1), CODE(INVALID_ARGUMENT), "kinematics.reference_frame",
                    "pass LOCAL (1)");
}
END_TEST

START_TEST(reply_that_would_be_too_large) {
    char *frames[] = {text("tip")};
    sp_expect_error(call_kinematics(frames, 1, 1, SAMPLES), CODE(RESOURCE_EXHAUSTED), "kinematics.q",
                    "limits.reply_bytes");
}
END_TEST

START_TEST(one_sample_too_many) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GravityRequest method = DYNAMICS__V1__GRAVITY_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = text("two_link");
    method.query = &query;
    method.n_q = 2 * (SAMPLES + 1);
    method.q = calloc(method.n_q, sizeof(double));
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GRAVITY;
    request.gravity = &method;
    Dynamics__V1__Reply *refused = sp_call(&peer, &request);
    ck_assert_str_eq(refused->status->reason, "TOO_MANY_SAMPLES");
    ck_assert_uint_eq(refused->status->limit, SAMPLES);
    ck_assert_uint_eq(refused->status->requested, SAMPLES + 1);
    ck_assert_double_eq(refused->status->retry_after, 0);
    sp_expect_error(refused, CODE(RESOURCE_EXHAUSTED), "gravity.q", "100001 samples; the limit is 100000");
    method.n_q = 2 * SAMPLES;
    Dynamics__V1__Reply *reply = sp_call(&peer, &request);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    free(method.q);
}
END_TEST

START_TEST(unknown_component_of_health) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GetHealthRequest method = DYNAMICS__V1__GET_HEALTH_REQUEST__INIT;
    method.component = text("modles");
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GET_HEALTH;
    request.get_health = &method;
    sp_expect_error(sp_call(&peer, &request), CODE(NOT_FOUND), "get_health.component", "did you mean \"models\"?");
}
END_TEST

/* ---- models ------------------------------------------------------------------------------------------------------ */

static Dynamics__V1__Reply *load_over(const sp_peer *to, const char *urdf, const char *name, uint64_t client,
                                      uint64_t id) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__LoadModelRequest method = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    method.source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF;
    method.urdf = text(urdf);
    method.name = text(name);
    request.id = id;
    request.client = client;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_LOAD_MODEL;
    request.load_model = &method;
    return sp_call(to, &request);
}

static Dynamics__V1__Reply *load_with(const char *urdf, const char *name, uint64_t client, uint64_t id) {
    return load_over(&peer, urdf, name, client, id);
}

static Dynamics__V1__Reply *load(const char *urdf) {
    return load_with(urdf, "", 0, 1);
}

static char *read_description(const char *name) {
    char path[512], *contents = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/urdf/%s", DYNAMICS_TEST_DATA, name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s is missing", path);
    ck_assert_int_ge(getdelim(&contents, &size, '\0', file), 0);
    fclose(file);
    return contents;
}

static const struct {
    const char *file, *field, *words;
} descriptions[] = {
    {"cycle.urdf", "load_model.urdf:8", "joint ab: the links form a cycle"},
    {"two_roots.urdf", "load_model.urdf:3", "two roots, \"base\" and \"stray\""},
    {"two_parents.urdf", "load_model.urdf:11", "is already carried by joint \"first\""},
    {"duplicate_link.urdf", "load_model.urdf:4", "there are two links of this name"},
    {"duplicate_joint.urdf", "load_model.urdf:10", "there are two joints of this name"},
    {"missing_parent.urdf", "load_model.urdf:4", "its parent link \"shoulder\" does not exist"},
    {"negative_mass.urdf", "load_model.urdf:4", "the mass is -2 kg"},
    {"no_inertia.urdf", "load_model.urdf:4", "this is no inertia"},
    {"not_a_number.urdf", "load_model.urdf:5", "value=\"nan\""},
    {"short_vector.urdf", "load_model.urdf:5", "write 3 finite decimal numbers"},
    {"zero_axis.urdf", "load_model.urdf:4", "the axis is (0, 0, 0)"},
    {"unknown_type.urdf", "load_model.urdf:4", "the type \"hinge\" is unknown"},
    {"mimic_cycle.urdf", "load_model.urdf:6", "which follows it in turn"},
    {"entity_bomb.urdf", "load_model.urdf:2", "DOCTYPE, which is refused"},
    {"truncated.urdf", "load_model.urdf:4", "not well-formed XML"},
    {"xacro.urdf", "load_model.urdf:3", "run xacro on the file first"},
    {"sdf.urdf", "load_model.urdf:2", "which is SDF and not URDF"},
};

START_TEST(bad_description_is_refused_with_its_line) {
    char *urdf = read_description(descriptions[_i].file);
    sp_expect_error(load(urdf), CODE(INVALID_ARGUMENT), descriptions[_i].field, descriptions[_i].words);
    free(urdf);
}
END_TEST

START_TEST(no_description) {
    sp_expect_error(load(""), CODE(INVALID_ARGUMENT), "load_model.urdf", "urdf is empty");
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__LoadModelRequest method = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_LOAD_MODEL;
    request.load_model = &method;
    sp_expect_error(sp_call(&peer, &request), CODE(INVALID_ARGUMENT), "load_model.source", "pass one of urdf");
}
END_TEST

/* Checks a robot with a massless link that makes the mass matrix singular: it loads with a warning, and forward
 * dynamics is refused. Massless links are legal where the mass matrix stays positive definite. */
START_TEST(zero_mass_makes_the_mass_matrix_singular) {
    Dynamics__V1__Reply *reply =
        load("<robot name='massless'><link name='a'/><link name='b'/>"
             "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>");
    sp_expect_ok(reply);
    bool is_warned = false;
    for (size_t i = 0; i < reply->load_model->loaded->n_report; i++) {
        is_warned |=
            reply->load_model->loaded->report[i]->severity == DYNAMICS__V1__REPORT_SEVERITY__REPORT_SEVERITY_WARNING;
    }
    ck_assert_msg(is_warned, "a moving link without mass is loaded without a warning");
    sp_free_reply(reply);
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__ForwardDynamicsRequest method = DYNAMICS__V1__FORWARD_DYNAMICS_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    double q = 0;
    query.model = text("massless");
    method.query = &query;
    method.n_q = 1;
    method.q = &q;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_FORWARD_DYNAMICS;
    request.forward_dynamics = &method;
    reply = sp_call(&peer, &request);
    ck_assert_int_eq(reply->status->code, CODE(FAILED_PRECONDITION));
    ck_assert_msg(strstr(reply->status->message, "j") != NULL, "\"%s\"", reply->status->message);
    sp_free_reply(reply);
}
END_TEST

START_TEST(ten_thousand_nested_elements) {
    enum { DEPTH = 10000 };
    char *urdf = calloc(DEPTH + 16, 4);
    char *end = stpcpy(urdf, "<robot name='r'>\n");
    for (int i = 0; i < DEPTH; i++) {
        end = stpcpy(end, "<x>");
    }
    sp_expect_error(load(urdf), CODE(RESOURCE_EXHAUSTED), "load_model.urdf:2", "nested more than");
    free(urdf);
}
END_TEST

static const struct {
    const char *name, *words;
    Dynamics__V1__Code code;
} names[] = {
    {"two\nlines", "the name \"two\\x0alines\" is not printable", CODE(INVALID_ARGUMENT)},
    {"arm.left", "such as \"arm_left\"", CODE(INVALID_ARGUMENT)},
    {"bell\a", "the name \"bell\\x07\" is not printable", CODE(INVALID_ARGUMENT)},
    {"not utf-8 \xff", "UTF-8", CODE(INVALID_ARGUMENT)},
    {"sha256:abc", "must not start with", CODE(INVALID_ARGUMENT)},
    {"a name of more than a hundred and twenty eight bytes is refused since names of models have a limit as all else "
     "has "
     "that a daemon keeps",
     "at most 128", CODE(RESOURCE_EXHAUSTED)},
};

START_TEST(bad_model_name) {
    sp_expect_error(load_with("<robot name='r'><link name='a'/></robot>", names[_i].name, 0, 3), names[_i].code,
                    "load_model.name", names[_i].words);
}
END_TEST

START_TEST(name_of_another_model) {
    sp_expect_error(load_with("<robot name='r'><link name='a'/></robot>", "two_link", 0, 3), CODE(ALREADY_EXISTS),
                    "load_model.name", "another model is named \"two_link\" already");
}
END_TEST

START_TEST(unknown_model_is_neither_described_nor_unloaded) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__DescribeModelRequest describe = DYNAMICS__V1__DESCRIBE_MODEL_REQUEST__INIT;
    Dynamics__V1__UnloadModelRequest unload = DYNAMICS__V1__UNLOAD_MODEL_REQUEST__INIT;
    describe.model = unload.model = text("ur6");
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_DESCRIBE_MODEL;
    request.describe_model = &describe;
    sp_expect_error(sp_call(&peer, &request), CODE(NOT_FOUND), "describe_model.model", "did you mean \"ur5\"");
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_UNLOAD_MODEL;
    request.unload_model = &unload;
    sp_expect_error(sp_call(&peer, &request), CODE(NOT_FOUND), "unload_model.model", "did you mean \"ur5\"");
}
END_TEST

static Dynamics__V1__Reply *unload(const char *name) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__UnloadModelRequest method = DYNAMICS__V1__UNLOAD_MODEL_REQUEST__INIT;
    method.model = text(name);
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_UNLOAD_MODEL;
    request.unload_model = &method;
    return sp_call(&peer, &request);
}

/* Checks that members which the daemon derives are refused in requests; only replies set them. */
START_TEST(derived_members_of_a_description_are_refused) {
    static const char *const fields[] = {"links[0].joints", "joints[0].coordinates", "frames[0].moving_joint"};
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__LoadModelRequest load = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    for (int i = 0; i < 3; i++) {
        Dynamics__V1__ModelDescription description = DYNAMICS__V1__MODEL_DESCRIPTION__INIT;
        Dynamics__V1__Link link = DYNAMICS__V1__LINK__INIT, *links[] = {&link};
        Dynamics__V1__Joint joint = DYNAMICS__V1__JOINT__INIT, *joints[] = {&joint};
        Dynamics__V1__Frame frame = DYNAMICS__V1__FRAME__INIT, *frames[] = {&frame};
        Dynamics__V1__LinkJoints of_link = DYNAMICS__V1__LINK_JOINTS__INIT;
        Dynamics__V1__JointCoordinates of_joint = DYNAMICS__V1__JOINT_COORDINATES__INIT;
        char path[96];
        description.name = link.name = joint.name = frame.name = text("derived");
        description.n_links = 1;
        description.links = links;
        description.n_joints = i == 1;
        description.joints = joints;
        description.n_frames = i == 2;
        description.frames = frames;
        link.joints = i == 0 ? &of_link : NULL;
        joint.type = DYNAMICS__V1__JOINT_TYPE__JOINT_TYPE_FIXED;
        joint.coordinates = &of_joint;
        frame.link = text("derived");
        frame.moving_joint = text("elbow");
        load.source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DESCRIPTION;
        load.description = &description;
        request.method_case = DYNAMICS__V1__REQUEST__METHOD_LOAD_MODEL;
        request.load_model = &load;
        snprintf(path, sizeof path, "load_model.description.%s", fields[i]);
        sp_expect_error(sp_call(&peer, &request), CODE(INVALID_ARGUMENT), path, "set in replies only");
    }
}
END_TEST

/* Checks that a second request of the same client and id gets the first reply and changes nothing. */
START_TEST(repeated_request_is_executed_once) {
    static const char urdf[] = "<robot name='once'><link name='a'/></robot>";
    Dynamics__V1__Reply *first = load_with(urdf, "", 99, 1000);
    sp_expect_ok(first);
    ck_assert(!first->load_model->loaded->already_loaded);
    Dynamics__V1__Reply *other = unload("once");
    sp_expect_ok(other);
    sp_free_reply(other);
    Dynamics__V1__Reply *again = load_with(urdf, "", 99, 1000);
    sp_expect_ok(again);
    ck_assert_str_eq(again->load_model->loaded->model->digest, first->load_model->loaded->model->digest);
    ck_assert_double_eq(again->elapsed, first->elapsed);
    sp_free_reply(again);
    sp_free_reply(first);
    sp_expect_error(unload("once"), CODE(NOT_FOUND), "unload_model.model", "there is no model \"once\"");
    /* A request of another client with this id is a different request. */
    Dynamics__V1__Reply *another = load_with(urdf, "", 98, 1000);
    sp_expect_ok(another);
    ck_assert(!another->load_model->loaded->already_loaded);
    sp_free_reply(another);
    sp_free_reply(unload("once"));
}
END_TEST

/* Derives a copy of the model "once" under the name "derived". */
static Dynamics__V1__Reply *derive(uint64_t client, uint64_t id) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__DeriveModelRequest method = DYNAMICS__V1__DERIVE_MODEL_REQUEST__INIT;
    Dynamics__V1__ModelOperation operation = DYNAMICS__V1__MODEL_OPERATION__INIT, *operations[] = {&operation};
    Dynamics__V1__KeepSubtree subtree = DYNAMICS__V1__KEEP_SUBTREE__INIT;
    subtree.link = text("a");
    operation.operation_case = DYNAMICS__V1__MODEL_OPERATION__OPERATION_SUBTREE;
    operation.subtree = &subtree;
    method.model = text("once");
    method.name = text("derived");
    method.n_operations = 1;
    method.operations = operations;
    request.id = id;
    request.client = client;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_DERIVE_MODEL;
    request.derive_model = &method;
    return sp_call(&peer, &request);
}

static uint64_t count_refused(void) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GetServerInfoRequest method = DYNAMICS__V1__GET_SERVER_INFO_REQUEST__INIT;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GET_SERVER_INFO;
    request.get_server_info = &method;
    Dynamics__V1__Reply *reply = sp_call(&peer, &request);
    sp_expect_ok(reply);
    const Dynamics__V1__GetServerInfoReply *info = reply->get_server_info;
    uint64_t refused = 0;
    for (size_t i = 0; i < info->n_counters; i++) {
        refused += strcmp(info->counters[i]->name, "refused") == 0 ? info->counters[i]->value : 0;
    }
    sp_free_reply(reply);
    return refused;
}

/* Checks that a repeated request is answered although the models of the first one are gone. */
START_TEST(repeated_request_prepares_nothing) {
    Dynamics__V1__Reply *replies[] = {load_with("<robot name='once'><link name='a'/></robot>", "", 99, 2000),
                                      derive(99, 2001), unload("derived"), unload("once")};
    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
        sp_expect_ok(replies[i]);
    }
    uint64_t refused = count_refused();
    Dynamics__V1__Reply *again = derive(99, 2001);
    sp_expect_ok(again);
    ck_assert_double_eq(again->elapsed, replies[1]->elapsed);
    ck_assert_uint_eq(count_refused(), refused);
    sp_free_reply(again);
    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
        sp_free_reply(replies[i]);
    }
}
END_TEST

/* Numbers of threads that load models at once, of models that each of them loads, and of links of a model. */
enum { LOADERS = 24, LOADS = 4, LOADER_LINKS = 100 };

static void *load_models(void *context) {
    const int *loader = context;
    char urdf[LOADER_LINKS * 160], name[32];
    char *end = stpcpy(urdf, "<robot name='chain'><link name='l0'/>");
    for (int i = 1; i < LOADER_LINKS; i++) {
        end += sprintf(end,
                       "<link name='l%d'/><joint name='j%d' type='continuous'><parent link='l%d'/><child link='l%d'/>"
                       "</joint>",
                       i, i, i - 1, i);
    }
    stpcpy(end, "</robot>");
    sp_peer own = sp_open(served.request_ipc, SP_REQ);
    for (int k = 0; k < LOADS; k++) {
        snprintf(name, sizeof name, "chain-%d-%d", *loader, k);
        Dynamics__V1__Reply *reply = load_over(&own, urdf, name, 0, 7);
        sp_expect_ok(reply);
        ck_assert_str_eq(reply->load_model->loaded->model->name, name);
        sp_free_reply(reply);
    }
    sp_close(&own);
    return NULL;
}

/* Checks that all models are loaded when more arrive at once than may be built at once. The daemon queues the
 * others. */
START_TEST(models_that_arrive_at_once_are_all_loaded) {
    pthread_t threads[LOADERS];
    int numbers[LOADERS];
    char name[32];
    for (int i = 0; i < LOADERS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, load_models, &numbers[i]), 0);
    }
    for (int i = 0; i < LOADERS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < LOADERS * LOADS; i++) {
        snprintf(name, sizeof name, "chain-%d-%d", i / LOADS, i % LOADS);
        Dynamics__V1__Reply *reply = unload(name);
        sp_expect_ok(reply);
        sp_free_reply(reply);
    }
}
END_TEST

int main(void) {
    enum { QUESTIONS = sizeof questions / sizeof questions[0] };
    enum { DESCRIPTIONS = sizeof descriptions / sizeof descriptions[0], NAMES = sizeof names / sizeof names[0] };
    TCase *tests = tcase_create("requests");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_checked_fixture(tests, open_peer, close_peer);
    tcase_add_test(tests, the_question_itself_is_right);
    tcase_add_loop_test(tests, spoilt_question_is_answered_with_its_place, 0, QUESTIONS);
    tcase_add_loop_test(tests, spoilt_constraint_is_answered_with_its_place, 0, CONSTRAINTS);
    tcase_add_test(tests, unknown_frame);
    tcase_add_test(tests, no_frame);
    tcase_add_test(tests, frame_named_twice);
    tcase_add_test(tests, unknown_reference_frame_of_jacobians);
    tcase_add_test(tests, reply_that_would_be_too_large);
    tcase_add_test(tests, one_sample_too_many);
    tcase_add_test(tests, unknown_component_of_health);
    tcase_add_loop_test(tests, bad_description_is_refused_with_its_line, 0, DESCRIPTIONS);
    tcase_add_test(tests, no_description);
    tcase_add_test(tests, zero_mass_makes_the_mass_matrix_singular);
    tcase_add_test(tests, ten_thousand_nested_elements);
    tcase_add_loop_test(tests, bad_model_name, 0, NAMES);
    tcase_add_test(tests, name_of_another_model);
    tcase_add_test(tests, unknown_model_is_neither_described_nor_unloaded);
    tcase_add_test(tests, derived_members_of_a_description_are_refused);
    tcase_add_test(tests, repeated_request_is_executed_once);
    tcase_add_test(tests, repeated_request_prepares_nothing);
    tcase_add_test(tests, models_that_arrive_at_once_are_all_loaded);
    return run_unforked("hostile requests", tests);
}
