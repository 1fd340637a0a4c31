/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the library libdynamicsclient against a peer whose answers are wrong: it reports an error, and writes nothing
 * past the caller's arrays.
 */
#include <arpa/inet.h>
#include <check.h>
#include <endian.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dynamics/v1/envelope.pb-c.h>
#include <dynamics/v1/event.pb-c.h>
#include <dynamics_client.h>

#include "support/random.h"
#include "system/lying_peer.h"
#include "system/runner.h"

static lying_peer peer;
static dyn_client *client;
static dyn_client_error error;

static void start_peer(void) {
    lying_peer_start(&peer);
    ck_assert_int_eq(dyn_client_connect(peer.address, NULL, &client, &error), DYN_CLIENT_OK);
}

static void stop_peer(void) {
    dyn_client_close(client);
    lying_peer_stop(&peer);
}

/* Sets the reply of the peer, to which the peer appends the request's id. */
static void set_reply(Dynamics__V1__Reply *reply) {
    ck_assert_uint_lt(dynamics__v1__reply__get_packed_size(reply), sizeof peer.reply);
    peer.reply_size = dynamics__v1__reply__pack(reply, peer.reply);
    peer.with_id = 1;
}

static const dyn_client_query QUERY = DYN_CLIENT_QUERY_INIT(.model = "robot", .nq = 2, .nv = 2, .samples = 2);

/* Requests gravity forces and checks that no number beside the four of g is written. */
static dyn_client_status call_gravity(double g[4]) {
    double guarded[6] = {-1, 0, 0, 0, 0, -1}, q[4] = {0};
    lying_peer_publish(&peer);
    dyn_client_status status = dyn_client_gravity(client, &QUERY, q, guarded + 1, &error);
    lying_peer_publish(&peer);
    ck_assert_double_eq(guarded[0], -1);
    ck_assert_double_eq(guarded[5], -1);
    memcpy(g, guarded + 1, 4 * sizeof *g);
    return status;
}

static void set_gravity_reply(size_t count) {
    static double values[] = {1, 2, 3, 4, 5, 6};
    Dynamics__V1__GravityReply gravity = DYNAMICS__V1__GRAVITY_REPLY__INIT;
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    gravity.samples = 2;
    gravity.n_g = count;
    gravity.g = values;
    reply.result_case = DYNAMICS__V1__REPLY__RESULT_GRAVITY;
    reply.gravity = &gravity;
    set_reply(&reply);
}

/* ---- single lies ------------------------------------------------------------------------------------------------- */

START_TEST(a_right_answer_is_accepted) {
    double g[4];
    set_gravity_reply(4);
    ck_assert_int_eq(call_gravity(g), DYN_CLIENT_OK);
    ck_assert_double_eq(g[0], 1);
    ck_assert_double_eq(g[3], 4);
}
END_TEST

START_TEST(too_few_and_too_many_values_are_refused) {
    double g[4];
    for (size_t count = 0; count <= 6; count++) {
        if (count == 4) {
            continue;
        }
        set_gravity_reply(count);
        ck_assert_int_eq(call_gravity(g), DYN_CLIENT_BAD_REPLY);
    }
}
END_TEST

START_TEST(every_truncation_is_refused) {
    double g[4];
    set_gravity_reply(4);
    for (size_t size = peer.reply_size; size-- > 0;) {
        peer.reply_size = size;
        ck_assert_int_ne(call_gravity(g), DYN_CLIENT_OK);
    }
}
END_TEST

START_TEST(an_answer_to_another_request_is_refused) {
    double g[4];
    set_gravity_reply(4);
    peer.with_id = 0;
    ck_assert_int_eq(call_gravity(g), DYN_CLIENT_BAD_REPLY);
    ck_assert_ptr_nonnull(strstr(error.message, "another request"));
}
END_TEST

START_TEST(an_answer_to_another_method_is_refused) {
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    Dynamics__V1__ListModelsReply list = DYNAMICS__V1__LIST_MODELS_REPLY__INIT;
    double g[4];
    reply.result_case = DYNAMICS__V1__REPLY__RESULT_LIST_MODELS;
    reply.list_models = &list;
    set_reply(&reply);
    ck_assert_int_eq(call_gravity(g), DYN_CLIENT_BAD_REPLY);
    ck_assert_ptr_nonnull(strstr(error.message, "another method"));
}
END_TEST

START_TEST(a_status_is_reported_with_its_field) {
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    Dynamics__V1__Status status = DYNAMICS__V1__STATUS__INIT;
    double g[4];
    status.code = DYNAMICS__V1__CODE__CODE_DATA_LOSS;
    status.message = "lost";
    status.field = "gravity.q[1]";
    reply.status = &status;
    set_reply(&reply);
    ck_assert_int_eq(call_gravity(g), DYN_CLIENT_DATA_LOSS);
    ck_assert_str_eq(error.field, "gravity.q[1]");
    ck_assert_str_eq(error.message, "lost");
    status.code = (Dynamics__V1__Code)4711;
    set_reply(&reply);
    ck_assert_int_eq(call_gravity(g), DYN_CLIENT_UNKNOWN);
}
END_TEST

/* Sets the description of a robot with one joint as the reply. */
static void set_description(uint32_t q_index, size_t zero_count, size_t unit_count) {
    static char *units[] = {"rad"};
    static double zeros[] = {0, 0};
    Dynamics__V1__ModelSummary model = DYNAMICS__V1__MODEL_SUMMARY__INIT;
    Dynamics__V1__Joint joint = DYNAMICS__V1__JOINT__INIT, *joints[] = {&joint};
    Dynamics__V1__JointCoordinates at = DYNAMICS__V1__JOINT_COORDINATES__INIT;
    Dynamics__V1__DescribeModelReply description = DYNAMICS__V1__DESCRIBE_MODEL_REPLY__INIT;
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    model.name = "robot";
    model.nq = model.nv = 1;
    joint.name = "joint";
    joint.coordinates = &at;
    at.nq = at.nv = 1;
    at.q_index = q_index;
    at.n_q_units = at.n_v_units = at.n_tau_units = unit_count;
    at.q_units = at.v_units = at.tau_units = units;
    description.model = &model;
    description.n_joints = 1;
    description.joints = joints;
    description.n_q_names = description.n_v_names = 1;
    description.q_names = description.v_names = &joint.name;
    description.n_zero_q = description.n_home_q = zero_count;
    description.zero_q = description.home_q = zeros;
    reply.result_case = DYNAMICS__V1__REPLY__RESULT_DESCRIBE_MODEL;
    reply.describe_model = &description;
    set_reply(&reply);
}

static dyn_client_status call_describe_model(dyn_client_description **robot) {
    lying_peer_publish(&peer);
    dyn_client_status status = dyn_client_describe_model(client, "robot", 0, robot, &error);
    lying_peer_publish(&peer);
    return status;
}

START_TEST(a_description_that_contradicts_itself_is_refused) {
    static const struct {
        uint32_t q_index;
        size_t zero_count, unit_count;
        dyn_client_status status;
    } cases[] = {
        {0, 1, 1, DYN_CLIENT_OK},        {1, 1, 1, DYN_CLIENT_BAD_REPLY}, {UINT32_MAX, 1, 1, DYN_CLIENT_BAD_REPLY},
        {0, 0, 1, DYN_CLIENT_BAD_REPLY}, {0, 2, 1, DYN_CLIENT_BAD_REPLY}, {0, 1, 0, DYN_CLIENT_BAD_REPLY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dyn_client_description *robot;
        set_description(cases[i].q_index, cases[i].zero_count, cases[i].unit_count);
        ck_assert_int_eq(call_describe_model(&robot), cases[i].status);
        ck_assert((robot != NULL) == (cases[i].status == DYN_CLIENT_OK));
        dyn_client_description_free(robot);
    }
}
END_TEST

/* Reply to an evaluation: two coriolis matrices and one pose of a robot of two joints, right except for the case's
 * change. */
typedef struct evaluation_lie {
    uint64_t samples;
    size_t results, values, axes;
    uint32_t rows, axis_index, unit_index, request;
    size_t units;
    Dynamics__V1__Quantity quantity;
    char *frame;
    dyn_client_status status;
} evaluation_lie;

static void set_evaluation(const evaluation_lie *lie) {
    static char *joints[] = {"a", "b"}, *xyz[] = {"x", "y", "z"}, *units[] = {"m", "1", "1", "1"};
    static uint32_t same[] = {0, 0}, third[] = {1}, kinds[] = {0, 1};
    static double values[9];
    uint32_t square[] = {lie->rows, 2}, three[] = {3};
    Dynamics__V1__Block matrix = DYNAMICS__V1__BLOCK__INIT, place = DYNAMICS__V1__BLOCK__INIT;
    Dynamics__V1__Block *matrices[] = {&matrix}, *places[] = {&place};
    Dynamics__V1__QuantityResult first = DYNAMICS__V1__QUANTITY_RESULT__INIT, second = first;
    Dynamics__V1__QuantityResult *results[] = {&first, &second};
    Dynamics__V1__EvaluateReply evaluation = DYNAMICS__V1__EVALUATE_REPLY__INIT;
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    matrix.n_shape = 2, matrix.shape = square, matrix.n_axes = lie->axes, matrix.axes = same;
    matrix.n_values = lie->values, matrix.values = values;
    place.n_shape = 1, place.shape = three, place.n_axes = 1, place.axes = third;
    place.n_values = 6, place.values = values;
    first.quantity = lie->quantity;
    first.n_blocks = second.n_blocks = 1, first.blocks = matrices, second.blocks = places;
    second.quantity = DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_POSE;
    second.frame = lie->frame;
    evaluation.samples = lie->samples;
    evaluation.nv = 2;
    Dynamics__V1__Axis of_joints = DYNAMICS__V1__AXIS__INIT, of_space = DYNAMICS__V1__AXIS__INIT;
    Dynamics__V1__Axis *axes[] = {&of_joints, &of_space};
    of_joints.n_labels = 2, of_joints.labels = joints, of_space.n_labels = 3, of_space.labels = xyz;
    of_joints.unit_count = 2, of_joints.n_unit_index = 2, of_joints.unit_index = kinds, of_space.unit_count = 1;
    matrix.n_units = lie->units, place.n_units = 1, matrix.units = place.units = units;
    kinds[1] = lie->unit_index;
    third[0] = lie->axis_index;
    second.request = lie->request;
    evaluation.n_axes = 2, evaluation.axes = axes;
    evaluation.n_results = lie->results, evaluation.results = results;
    reply.result_case = DYNAMICS__V1__REPLY__RESULT_EVALUATE;
    reply.evaluate = &evaluation;
    set_reply(&reply);
}

static dyn_client_status call_evaluate(dyn_client_evaluation **evaluation) {
    static const char *const frame = "tool";
    const dyn_client_quantity_request both[] = {
        {.quantity = DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX},
        {.quantity = DYN_CLIENT_QUANTITY_FRAME_POSE, .frame_count = 1, .frames = &frame}};
    const double q[4] = {0};
    dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = q, .quantity_count = 2, .quantities = both);
    lying_peer_publish(&peer);
    dyn_client_status status = dyn_client_evaluate(client, &QUERY, &request, evaluation, &error);
    lying_peer_publish(&peer);
    return status;
}

static const evaluation_lie TRUTH = {.samples = 2,
                                     .results = 2,
                                     .values = 8,
                                     .axes = 2,
                                     .rows = 2,
                                     .axis_index = 1,
                                     .unit_index = 1,
                                     .request = 1,
                                     .units = 4,
                                     .quantity = DYNAMICS__V1__QUANTITY__QUANTITY_CORIOLIS_MATRIX,
                                     .frame = "tool",
                                     .status = DYN_CLIENT_OK};

START_TEST(an_evaluation_that_contradicts_itself_is_refused) {
    enum { CASES = 13 };
    evaluation_lie cases[CASES];
    for (size_t i = 0; i < CASES; i++) {
        cases[i] = TRUTH;
        cases[i].status = i == 0 ? DYN_CLIENT_OK : DYN_CLIENT_BAD_REPLY;
    }
    cases[1].samples = 3;
    cases[2].results = 1;
    cases[3].values = 7;
    cases[4].values = 9;
    cases[5].axes = 1;
    cases[6].rows = UINT32_MAX;
    cases[7].quantity = DYNAMICS__V1__QUANTITY__QUANTITY_MASS_MATRIX;
    cases[8].frame = "nose";
    cases[9].axis_index = 2;
    cases[10].unit_index = 2;
    cases[11].request = 0;
    cases[12].units = 3;
    for (size_t i = 0; i < CASES; i++) {
        dyn_client_evaluation *evaluation;
        set_evaluation(&cases[i]);
        ck_assert_msg(call_evaluate(&evaluation) == cases[i].status, "case %zu", i);
        ck_assert((evaluation != NULL) == (cases[i].status == DYN_CLIENT_OK));
        dyn_client_evaluation_free(evaluation);
    }
}
END_TEST

START_TEST(an_explanation_of_another_length_is_refused) {
    static char *texts[] = {"a", "b", "c"};
    static double values[3];
    const double q[2] = {0};
    dyn_client_query query = QUERY;
    query.samples = 1;
    for (size_t count = 1; count <= 3; count++) {
        Dynamics__V1__ExplainTerm term = DYNAMICS__V1__EXPLAIN_TERM__INIT, *terms[] = {&term};
        Dynamics__V1__LinkContribution link = DYNAMICS__V1__LINK_CONTRIBUTION__INIT, *links[] = {&link};
        Dynamics__V1__ExplainReply explanation = DYNAMICS__V1__EXPLAIN_REPLY__INIT;
        Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
        dyn_client_explanation *answer;
        explanation.nv = 2;
        explanation.n_joints = explanation.n_units = explanation.n_tau = 2;
        explanation.joints = explanation.units = texts;
        explanation.tau = term.tau = link.inertial = link.coriolis = link.gravity = values;
        term.n_tau = link.n_inertial = link.n_coriolis = 2;
        link.n_gravity = count;
        explanation.n_terms = explanation.n_links = 1;
        explanation.terms = terms;
        explanation.links = links;
        reply.result_case = DYNAMICS__V1__REPLY__RESULT_EXPLAIN;
        reply.explain = &explanation;
        set_reply(&reply);
        lying_peer_publish(&peer);
        dyn_client_status status = dyn_client_explain(client, &query, q, NULL, NULL, &answer, &error);
        lying_peer_publish(&peer);
        ck_assert_int_eq(status, count == 2 ? DYN_CLIENT_OK : DYN_CLIENT_BAD_REPLY);
        dyn_client_explanation_free(answer);
    }
}
END_TEST

/* Checks replies with a block of four values whose extents state another number of values. */
START_TEST(a_block_of_another_size_than_its_extents_is_refused) {
    static const uint32_t shapes[5][4] = {{2, 2}, {2, 3}, {4, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}, {0, 2}};
    static double values[4];
    const double q[2] = {0};
    dyn_client_query query = QUERY;
    query.samples = 1;
    for (size_t k = 0; k < 5; k++) {
        Dynamics__V1__FormulationBlock block = DYNAMICS__V1__FORMULATION_BLOCK__INIT, *blocks[] = {&block};
        Dynamics__V1__FormulateReply formulation = DYNAMICS__V1__FORMULATE_REPLY__INIT;
        Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
        dyn_client_formulation *answer;
        block.n_extents = 2;
        block.extents = (uint32_t *)shapes[k];
        block.n_values = 4;
        formulation.n_tau = 2;
        block.values = formulation.tau = values;
        formulation.n_blocks = 1;
        formulation.blocks = blocks;
        reply.result_case = DYNAMICS__V1__REPLY__RESULT_FORMULATE;
        reply.formulate = &formulation;
        set_reply(&reply);
        lying_peer_publish(&peer);
        dyn_client_status status = dyn_client_formulate(client, &query, q, NULL, NULL, &answer, &error);
        lying_peer_publish(&peer);
        ck_assert_int_eq(status, k == 0 ? DYN_CLIENT_OK : DYN_CLIENT_BAD_REPLY);
        dyn_client_formulation_free(answer);
    }
}
END_TEST

/* Checks that a formulation that applies must have all of its results, and that a refused result has no numbers. */
START_TEST(a_comparison_without_a_result_is_refused) {
    static double values[4];
    static char reason[] = "singular";
    const double q[2] = {0};
    dyn_client_query query = QUERY;
    query.samples = 1;
    for (int k = 0; k < 6; k++) {
        Dynamics__V1__FormulationCost cost = DYNAMICS__V1__FORMULATION_COST__INIT, mass_matrix = cost;
        Dynamics__V1__ComparedFormulation one = DYNAMICS__V1__COMPARED_FORMULATION__INIT, *all_of_them[] = {&one};
        Dynamics__V1__CompareReply comparison = DYNAMICS__V1__COMPARE_REPLY__INIT;
        Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
        dyn_client_comparison *answer;
        comparison.nv = 2;
        comparison.n_formulations = 1;
        comparison.formulations = all_of_them;
        one.tau = one.a = one.mass_matrix_values = values;
        one.n_tau = 2;
        one.n_a = k == 1 ? 1 : 2;
        one.inverse_dynamics = one.forward_dynamics = &cost;
        one.mass_matrix = k == 2 ? NULL : &mass_matrix;
        one.n_mass_matrix_values = k == 3 || k == 5 ? 0 : 4;
        if (k >= 4) {
            mass_matrix.refusal = reason;
        }
        reply.result_case = DYNAMICS__V1__REPLY__RESULT_COMPARE;
        reply.compare = &comparison;
        set_reply(&reply);
        lying_peer_publish(&peer);
        dyn_client_status status = dyn_client_compare(client, &query, q, NULL, NULL, &answer, &error);
        lying_peer_publish(&peer);
        ck_assert_int_eq(status, k == 0 || k == 5 ? DYN_CLIENT_OK : DYN_CLIENT_BAD_REPLY);
        dyn_client_comparison_free(answer);
    }
}
END_TEST

/* Checks screws whose lists do not fit together, and an answer in another form than the requested one. */
START_TEST(an_export_that_contradicts_itself_is_refused) {
    static double numbers[200];
    static const struct {
        size_t n_mlist, n_glist, n_slist;
        bool has_screws;
    } cases[] = {{32, 36, 6, true}, {31, 36, 6, true}, {32, 72, 6, true}, {32, 36, 7, true}, {0, 0, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Dynamics__V1__ScrewChain screws = DYNAMICS__V1__SCREW_CHAIN__INIT;
        Dynamics__V1__ExportModelReply exported = DYNAMICS__V1__EXPORT_MODEL_REPLY__INIT;
        Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
        dyn_client_exported_model *answer;
        screws.n_mlist = cases[i].n_mlist;
        screws.n_glist = cases[i].n_glist;
        screws.n_slist = cases[i].n_slist;
        screws.mlist = screws.glist = screws.slist = numbers;
        exported.form_case = cases[i].has_screws ? DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_SCREWS
                                                 : DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM__NOT_SET;
        exported.screws = &screws;
        reply.result_case = DYNAMICS__V1__REPLY__RESULT_EXPORT_MODEL;
        reply.export_model = &exported;
        set_reply(&reply);
        lying_peer_publish(&peer);
        dyn_client_status status =
            dyn_client_export_model(client, "robot", DYN_CLIENT_MODEL_FORMAT_SCREWS, NULL, 0, &answer, &error);
        lying_peer_publish(&peer);
        ck_assert_msg(status == (i == 0 ? DYN_CLIENT_OK : DYN_CLIENT_BAD_REPLY), "case %zu", i);
        ck_assert((answer != NULL) == (i == 0));
        dyn_client_exported_model_free(answer);
    }
}
END_TEST

/* Checks base parameters with columns that do not exist, and with arrays that do not fit together. */
START_TEST(base_parameters_that_contradict_themselves_are_refused) {
    static double numbers[21];
    static char *names[10] = {"m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"}, *bodies[2] = {"a", "b"};
    static const struct {
        size_t n_names, n_values, n_factors;
        uint32_t column, term;
    } cases[] = {{10, 20, 1, 19, 19}, {9, 20, 1, 0, 0},   {10, 21, 1, 0, 0},
                 {10, 20, 2, 0, 0},   {10, 20, 1, 20, 0}, {10, 20, 1, 0, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Dynamics__V1__BaseParameter row = DYNAMICS__V1__BASE_PARAMETER__INIT, *rows[1] = {&row};
        Dynamics__V1__FindBaseParametersReply found = DYNAMICS__V1__FIND_BASE_PARAMETERS_REPLY__INIT;
        Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
        dyn_client_base_parameters *answer;
        uint32_t term = cases[i].term;
        row.column = cases[i].column;
        row.n_columns = 1, row.columns = &term;
        row.n_factors = cases[i].n_factors, row.factors = numbers;
        found.n_bodies = 2, found.bodies = bodies;
        found.n_parameters = cases[i].n_names, found.parameters = names;
        found.n_values = cases[i].n_values, found.values = numbers;
        found.n_base_parameters = 1, found.base_parameters = rows;
        reply.result_case = DYNAMICS__V1__REPLY__RESULT_FIND_BASE_PARAMETERS;
        reply.find_base_parameters = &found;
        set_reply(&reply);
        lying_peer_publish(&peer);
        dyn_client_status status = dyn_client_find_base_parameters(client, &QUERY, &answer, &error);
        lying_peer_publish(&peer);
        ck_assert_msg(status == (i == 0 ? DYN_CLIENT_OK : DYN_CLIENT_BAD_REPLY), "case %zu", i);
        ck_assert((answer != NULL) == (i == 0));
        dyn_client_base_parameters_free(answer);
    }
}
END_TEST

START_TEST(a_body_of_too_few_numbers_is_refused) {
    static double numbers[37];
    const dyn_client_inertia_part part = {.kind = DYN_CLIENT_INERTIA_KIND_SPHERE, .radius = 1, .mass = 1};
    for (size_t wrong = 0; wrong < 8; wrong++) {
        Dynamics__V1__ComputeInertiaReply inertia = DYNAMICS__V1__COMPUTE_INERTIA_REPLY__INIT;
        Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
        dyn_client_body body = DYN_CLIENT_BODY_INIT();
        inertia.n_rotational_about = 6 + (wrong == 1);
        inertia.n_principal_moments = 3 - (wrong == 2);
        inertia.n_parameters = 10 - (wrong == 3);
        inertia.n_pseudo_inertia = 16 + (wrong == 4);
        inertia.n_log_cholesky = wrong == 5 ? 9 : 10;
        inertia.rotational_about = inertia.principal_moments = inertia.parameters = numbers;
        inertia.pseudo_inertia = inertia.log_cholesky = numbers;
        inertia.n_principal_axes = 9 - (wrong == 6);
        inertia.n_spatial_inertia = 36 + (wrong == 7);
        inertia.principal_axes = inertia.spatial_inertia = numbers;
        reply.result_case = DYNAMICS__V1__REPLY__RESULT_COMPUTE_INERTIA;
        reply.compute_inertia = &inertia;
        set_reply(&reply);
        lying_peer_publish(&peer);
        dyn_client_status status = dyn_client_compute_inertia(client, 1, &part, NULL, NULL, &body, &error);
        lying_peer_publish(&peer);
        ck_assert_int_eq(status, wrong == 0 ? DYN_CLIENT_OK : DYN_CLIENT_BAD_REPLY);
    }
}
END_TEST

START_TEST(a_replay_whose_rows_differ_in_length_is_refused) {
    static uint64_t steps[] = {1, 2};
    static double values[8];
    static const struct {
        size_t n_step, n_q, n_v, n_tau;
    } cases[] = {{2, 4, 4, 4}, {0, 0, 0, 0}, {2, 3, 4, 4}, {2, 4, 5, 4}, {2, 4, 4, 2}, {2, 4, 4, 0}, {0, 0, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Dynamics__V1__ReplaySimulationReply replayed = DYNAMICS__V1__REPLAY_SIMULATION_REPLY__INIT;
        Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
        dyn_client_replay *answer;
        replayed.n_step = cases[i].n_step, replayed.step = steps;
        replayed.n_q = cases[i].n_q, replayed.n_v = cases[i].n_v, replayed.n_tau = cases[i].n_tau;
        replayed.q = replayed.v = replayed.tau = values;
        reply.result_case = DYNAMICS__V1__REPLY__RESULT_REPLAY_SIMULATION;
        reply.replay_simulation = &replayed;
        set_reply(&reply);
        lying_peer_publish(&peer);
        dyn_client_status status = dyn_client_replay_simulation(client, "run", NULL, NULL, &answer, &error);
        lying_peer_publish(&peer);
        ck_assert_msg(status == (i < 2 ? DYN_CLIENT_OK : DYN_CLIENT_BAD_REPLY), "case %zu", i);
        ck_assert((answer != NULL) == (i < 2));
        dyn_client_replay_free(answer);
    }
}
END_TEST

START_TEST(a_simulation_with_fewer_torques_than_velocities_is_refused) {
    static double values[2];
    for (size_t torques = 0; torques <= 2; torques++) {
        Dynamics__V1__SimulationState state = DYNAMICS__V1__SIMULATION_STATE__INIT;
        Dynamics__V1__GetSimulationStateReply found = DYNAMICS__V1__GET_SIMULATION_STATE_REPLY__INIT;
        Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
        dyn_client_simulation *answer;
        state.n_q = state.n_v = 2;
        state.n_tau = torques;
        state.q = state.v = state.tau = values;
        found.state = &state;
        reply.result_case = DYNAMICS__V1__REPLY__RESULT_GET_SIMULATION_STATE;
        reply.get_simulation_state = &found;
        set_reply(&reply);
        lying_peer_publish(&peer);
        dyn_client_status status = dyn_client_get_simulation(client, "a", 0, 0, &answer, &error);
        lying_peer_publish(&peer);
        ck_assert_int_eq(status, torques == 2 ? DYN_CLIENT_OK : DYN_CLIENT_BAD_REPLY);
        dyn_client_simulation_free(answer);
    }
}
END_TEST

START_TEST(a_reply_without_the_requested_stream_is_refused) {
    Dynamics__V1__GetStreamReply found = DYNAMICS__V1__GET_STREAM_REPLY__INIT;
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    dyn_client_stream_list *list;
    dyn_client_stream *stream;
    reply.result_case = DYNAMICS__V1__REPLY__RESULT_GET_STREAM;
    reply.get_stream = &found;
    set_reply(&reply);
    lying_peer_publish(&peer);
    dyn_client_status got = dyn_client_get_stream(client, "a", 0, &list, &error);
    dyn_client_status joined = dyn_client_join_stream(client, "a", 1, 0, &stream, &error);
    lying_peer_publish(&peer);
    ck_assert_int_eq(got, DYN_CLIENT_BAD_REPLY);
    ck_assert_int_eq(joined, DYN_CLIENT_BAD_REPLY);
    ck_assert(!list && !stream);
}
END_TEST

/* ---- events ------------------------------------------------------------------------------------------------------ */

enum { PUBLISHED_BYTES = 256, SP_PUB = 0x20 };

/* Publisher of two messages to its first subscriber. */
typedef struct publisher {
    int listener;
    char address[64];
    uint8_t bytes[PUBLISHED_BYTES];
    size_t size;
    pthread_t thread;
} publisher;

/* Appends a message of the topic "e" with an event. Appends the bytes of `later`, a field of a later release, to the
 * event. */
static void add_event(publisher *to, const Dynamics__V1__Event *event, const uint8_t *later, size_t later_size) {
    size_t packed = dynamics__v1__event__get_packed_size(event);
    uint64_t length = htobe64(2 + packed + later_size);
    ck_assert_uint_le(to->size + sizeof length + 2 + packed + later_size, sizeof to->bytes);
    memcpy(to->bytes + to->size, &length, sizeof length);
    memcpy(to->bytes + to->size + sizeof length, "e", 2);
    to->size += sizeof length + 2;
    to->size += dynamics__v1__event__pack(event, to->bytes + to->size);
    if (later_size > 0) {
        memcpy(to->bytes + to->size, later, later_size);
    }
    to->size += later_size;
}

/* Greets one subscriber, sends the messages, and waits until the subscriber closes the connection. */
static void *publish(void *argument) {
    static const uint8_t greeting[] = {0, 'S', 'P', 0, 0, SP_PUB, 0, 0};
    const publisher *from = argument;
    uint8_t theirs[sizeof greeting];
    int subscriber = accept(from->listener, NULL, NULL);
    if (subscriber >= 0 && send(subscriber, greeting, sizeof greeting, MSG_NOSIGNAL) == sizeof greeting &&
        recv(subscriber, theirs, sizeof theirs, MSG_WAITALL) == sizeof theirs &&
        send(subscriber, from->bytes, from->size, MSG_NOSIGNAL) == (ssize_t)from->size) {
        while (recv(subscriber, theirs, sizeof theirs, 0) > 0) {
            continue;
        }
    }
    close(subscriber);
    return NULL;
}

static void start_publisher(publisher *from) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    from->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(from->listener, 0);
    ck_assert_int_eq(bind(from->listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(from->listener, 1), 0);
    ck_assert_int_eq(getsockname(from->listener, (struct sockaddr *)&address, &size), 0);
    snprintf(from->address, sizeof from->address, "tcp://127.0.0.1:%u", ntohs(address.sin_port));
    ck_assert_int_eq(pthread_create(&from->thread, NULL, publish, from), 0);
}

static void stop_publisher(publisher *from) {
    pthread_join(from->thread, NULL);
    close(from->listener);
}

/* A daemon of a later release publishes an event whose kind is field 30 of Event. */
/* Connects to the peer as to one daemon of a list, so that batches are cut into pieces. */
static dyn_client *connect_to_list(void) {
    char list[400];
    dyn_client *several;
    snprintf(list, sizeof list, "%s,", peer.address);
    ck_assert_msg(dyn_client_connect(list, NULL, &several, &error) == DYN_CLIENT_OK, "%s", error.message);
    return several;
}

START_TEST(pieces_that_do_not_fit_together_are_refused) {
    enum { SAMPLES = 1000 };
    double q[2 * SAMPLES] = {0};
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "robot", .nq = 2, .nv = 2, .samples = SAMPLES);
    const dyn_client_stepping stepping = DYN_CLIENT_STEPPING_INIT(.step_length = 1e-3);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .stepping = &stepping, .steps = 1);
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    Dynamics__V1__RolloutReply rollout = DYNAMICS__V1__ROLLOUT_REPLY__INIT;
    Dynamics__V1__SampleOutcome outcome = DYNAMICS__V1__SAMPLE_OUTCOME__INIT, *outcomes[] = {&outcome};
    dyn_client_rollout *found;
    dyn_client_close(client); /* the peer serves one client at a time */
    dyn_client *several = connect_to_list();
    rollout.samples = 250;
    rollout.n_outcomes = 1;
    rollout.outcomes = outcomes;
    reply.result_case = DYNAMICS__V1__REPLY__RESULT_ROLLOUT;
    reply.rollout = &rollout;
    set_reply(&reply);
    lying_peer_publish(&peer);
    ck_assert_int_eq(dyn_client_rollout_run(several, &query, &request, &found, &error), DYN_CLIENT_BAD_REPLY);
    lying_peer_publish(&peer);
    ck_assert_msg(strstr(error.message, "do not fit together") != NULL, "%s", error.message);
    dyn_client_close(several);
    ck_assert_int_eq(dyn_client_connect(peer.address, NULL, &client, &error), DYN_CLIENT_OK);
}
END_TEST

START_TEST(an_event_of_an_unknown_kind_is_skipped) {
    static const uint8_t later[] = {0xf2, 0x01, 0x00};
    publisher from = {0};
    char *addresses[] = {from.address};
    Dynamics__V1__SimulationEvent paused = DYNAMICS__V1__SIMULATION_EVENT__INIT;
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__WatchSimulationReply watched = DYNAMICS__V1__WATCH_SIMULATION_REPLY__INIT;
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    event.instance = 7;
    event.sequence = 1;
    add_event(&from, &event, later, sizeof later);
    event.sequence = 4;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_SIMULATION_EVENT;
    event.simulation_event = &paused;
    paused.kind = DYNAMICS__V1__SIMULATION_EVENT__KIND__KIND_PAUSED;
    add_event(&from, &event, NULL, 0);
    start_publisher(&from);
    watched.n_addresses = 1;
    watched.addresses = addresses;
    watched.state_topic = "s";
    watched.events_topic = "e";
    reply.result_case = DYNAMICS__V1__REPLY__RESULT_WATCH_SIMULATION;
    reply.watch_simulation = &watched;
    set_reply(&reply);
    lying_peer_publish(&peer);
    ck_assert_int_eq(dyn_client_watch_simulation(client, "a", 0, &watch, &error), DYN_CLIENT_OK);
    lying_peer_publish(&peer);
    ck_assert_msg(dyn_client_watch_next(watch, 5, &update, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_int_eq(update.kind, DYN_CLIENT_UPDATE_KIND_SIMULATION_EVENT);
    ck_assert_str_eq(update.text, "paused");
    ck_assert_uint_eq(update.lost, 2);
    ck_assert_int_eq(dyn_client_watch_next(watch, 0.05, &update, &error), DYN_CLIENT_TIMEOUT);
    dyn_client_watch_close(watch);
    stop_publisher(&from);
}
END_TEST

/* ---- random lies ------------------------------------------------------------------------------------------------- */

enum { MUTATIONS = 2000 };

/* Sets the peer's reply to `original` with up to four bytes changed, and sometimes with another length. */
static void mutate(random_source *random, const uint8_t *original, size_t size) {
    memcpy(peer.reply, original, size);
    peer.reply_size = size;
    for (int changes = 1 + random_index(random, 4); changes > 0 && size > 0; changes--) {
        peer.reply[random_index(random, (int)size)] = (uint8_t)random_bits(random);
    }
    if (random_index(random, 4) == 0) {
        peer.reply_size = (size_t)random_index(random, (int)size + 1);
    }
}

/* Checks replies of three kinds with random changes: each call ends, and its results can be read and freed. */
START_TEST(random_changes_never_lead_astray) {
    random_source base = random_seed("random_changes_never_lead_astray", 20261121);
    uint8_t gravity[256], description[1024], evaluation[1024];
    set_gravity_reply(4);
    size_t gravity_size = peer.reply_size;
    memcpy(gravity, peer.reply, gravity_size);
    set_description(0, 1, 1);
    size_t description_size = peer.reply_size;
    ck_assert_uint_le(description_size, sizeof description);
    memcpy(description, peer.reply, description_size);
    set_evaluation(&TRUTH);
    size_t evaluation_size = peer.reply_size;
    ck_assert_uint_le(evaluation_size, sizeof evaluation);
    memcpy(evaluation, peer.reply, evaluation_size);
    for (uint64_t i = 0; i < MUTATIONS; i++) {
        random_source random = random_case(base, i);
        dyn_client_description *robot;
        dyn_client_evaluation *answer;
        double g[4];
        mutate(&random, gravity, gravity_size);
        call_gravity(g);
        mutate(&random, evaluation, evaluation_size);
        if (call_evaluate(&answer) == DYN_CLIENT_OK) {
            ck_assert_uint_lt(strlen(answer->results[0].blocks[0].axes[0]->labels[0]), 100);
        }
        dyn_client_evaluation_free(answer);
        mutate(&random, description, description_size);
        if (call_describe_model(&robot) != DYN_CLIENT_OK) {
            continue;
        }
        for (size_t k = 0; k < robot->joint_count; k++) {
            if (robot->joints[k].nv > 0) {
                ck_assert_uint_lt(strlen(robot->joints[k].v_units[0]), 100);
            }
        }
        dyn_client_description_free(robot);
    }
}
END_TEST

int main(void) {
    TCase *all = tcase_create("lying_daemon");
    tcase_add_unchecked_fixture(all, start_peer, stop_peer);
    tcase_add_test(all, a_right_answer_is_accepted);
    tcase_add_test(all, too_few_and_too_many_values_are_refused);
    tcase_add_test(all, every_truncation_is_refused);
    tcase_add_test(all, an_answer_to_another_request_is_refused);
    tcase_add_test(all, an_answer_to_another_method_is_refused);
    tcase_add_test(all, a_status_is_reported_with_its_field);
    tcase_add_test(all, a_description_that_contradicts_itself_is_refused);
    tcase_add_test(all, an_evaluation_that_contradicts_itself_is_refused);
    tcase_add_test(all, an_explanation_of_another_length_is_refused);
    tcase_add_test(all, a_block_of_another_size_than_its_extents_is_refused);
    tcase_add_test(all, a_comparison_without_a_result_is_refused);
    tcase_add_test(all, an_export_that_contradicts_itself_is_refused);
    tcase_add_test(all, base_parameters_that_contradict_themselves_are_refused);
    tcase_add_test(all, a_body_of_too_few_numbers_is_refused);
    tcase_add_test(all, a_replay_whose_rows_differ_in_length_is_refused);
    tcase_add_test(all, a_simulation_with_fewer_torques_than_velocities_is_refused);
    tcase_add_test(all, a_reply_without_the_requested_stream_is_refused);
    tcase_add_test(all, pieces_that_do_not_fit_together_are_refused);
    tcase_add_test(all, an_event_of_an_unknown_kind_is_skipped);
    tcase_add_test(all, random_changes_never_lead_astray);
    return run_unforked("lying_daemon", all);
}
