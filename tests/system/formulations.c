/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks formulations of the literature through the daemon: chosen in a query, compared, and with their inner
 * quantities.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <check.h>
#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/runner.h"

static daemon_fixture served;
static dyn_client *client;

static const dyn_client_query UR5 = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);

static const double Q[6] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4}, V[6] = {0.5, 0.4, -0.6, 0.2, 0.3, 1},
                    A[6] = {1, 0.5, -1, 0.4, 0.2, 2};

/* Forces on the tool, in its axes, and on the elbow, in the world. */
static const double PULL[3] = {1, 20, -3}, TWIST[3] = {0.5, -2, 1};
static const dyn_client_external_force PULLS[2] = {
    {.link = "tool0", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .force = PULL, .torque = TWIST, .rows = 1},
    {.link = "forearm_link", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD, .force = TWIST, .rows = 1},
};

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

static void must(dyn_client_status status, const dyn_client_error *error) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s: %s", error->field, error->message);
}

static void must_be_close(const double *x, const double *y, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(x[i], y[i], 1e-10 * (1 + fabs(y[i])));
    }
}

/* Checks that payload, gravity, external forces and the order of joints apply to formulations as to the daemon's own
 * algorithms. */
START_TEST(a_query_with_a_formulation_has_the_same_results) {
    static const char *const names[] = {"lagrange_euler", "newton_euler", "generalized_dalembert",
                                        "christoffel",    "screws",       "lie_group",
                                        "vereshchagin",   "hollerbach",   "natural_coordinates"};
    static const char *const joints[6] = {"wrist_3_joint", "wrist_2_joint",       "wrist_1_joint",
                                          "elbow_joint",   "shoulder_lift_joint", "shoulder_pan_joint"};
    const double gravity[3] = {1, -2, 3};
    const dyn_client_payload load = {
        .link = "tool0",
        .inertia = {.mass = 2, .center_of_mass = {0.1, 0, 0.2}, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}}};
    dyn_client_query query = UR5;
    dyn_client_error error;
    double tau[6], a[6], M[36], own_tau[6], own_M[36];
    query.payload_count = 1, query.payloads = &load;
    query.joint_count = 6, query.joint_names = joints;
    must(dyn_client_mass_matrix(client, &query, Q, own_M, &error), &error);
    query.gravity = gravity;
    query.external_forces = PULLS, query.external_force_count = 2;
    must(dyn_client_inverse_dynamics(client, &query, Q, V, A, own_tau, &error), &error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        query.formulation = names[i];
        query.gravity = gravity, query.external_force_count = 2;
        must(dyn_client_inverse_dynamics(client, &query, Q, V, A, tau, &error), &error);
        must_be_close(tau, own_tau, 6);
        must(dyn_client_forward_dynamics(client, &query, Q, V, tau, a, &error), &error);
        must_be_close(a, A, 6);
        query.gravity = NULL, query.external_force_count = 0;
        must(dyn_client_mass_matrix(client, &query, Q, M, &error), &error);
        must_be_close(M, own_M, 36);
    }
}
END_TEST

START_TEST(a_batch_is_computed_by_a_formulation) {
    enum { STATES = 50 };
    static double q[STATES * 6], tau[STATES * 6], own[STATES * 6];
    dyn_client_query query = UR5;
    dyn_client_error error;
    for (size_t i = 0; i < STATES * 6; i++) {
        q[i] = sin((double)(7 * i));
    }
    query.samples = STATES;
    must(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, own, &error), &error);
    query.formulation = "lagrange_euler";
    must(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, tau, &error), &error);
    must_be_close(tau, own, STATES * 6);
    q[6 * 31 + 2] = INFINITY;
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, tau, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "inverse_dynamics.q[188]");
}
END_TEST

/* Checks gravity and bias forces of several states, with payload, gravity and a base that moves. */
START_TEST(gravity_and_bias_forces_are_computed_by_every_formulation) {
    enum { STATES = 20 };
    static const char *const names[] = {"lagrange_euler",
                                        "newton_euler",
                                        "newton_euler_base",
                                        "generalized_dalembert",
                                        "christoffel",
                                        "screws",
                                        "lie_group",
                                        "walker_orin",
                                        "lilly_orin",
                                        "kane",
                                        "newton_euler_factorization",
                                        "spatial_operator_algebra",
                                        "vereshchagin",
                                        "hollerbach",
                                        "absolute_coordinates",
                                        "constraint_force",
                                        "book_flexible",
                                        "natural_coordinates"};
    static double q[STATES * 6], v[STATES * 6], x[STATES * 6], g[STATES * 6], h[STATES * 6];
    const double gravity[3] = {1, -2, 3}, linear[3] = {0.5, 0.2, -0.1}, angular[3] = {0.3, -0.2, 0.6};
    const dyn_client_base_motion base = {.linear_velocity = linear, .angular_velocity = angular, .rows = 1};
    dyn_client_query query = UR5;
    dyn_client_error error;
    for (size_t i = 0; i < STATES * 6; i++) {
        q[i] = sin((double)(7 * i)), v[i] = cos((double)(5 * i));
    }
    query.samples = STATES, query.gravity = gravity;
    must(dyn_client_gravity(client, &query, q, g, &error), &error);
    query.base_motion = &base;
    must(dyn_client_bias_forces(client, &query, q, v, h, &error), &error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        query.formulation = names[i], query.base_motion = NULL;
        must(dyn_client_gravity(client, &query, q, x, &error), &error);
        must_be_close(x, g, STATES * 6);
        query.base_motion = &base;
        must(dyn_client_bias_forces(client, &query, q, v, x, &error), &error);
        must_be_close(x, h, STATES * 6);
    }
}
END_TEST

/* Quantities of formulations; the last two are of those with Christoffel symbols. */
static const dyn_client_quantity_request FORMULATED[] = {
    {.quantity = DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS},    {.quantity = DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS},
    {.quantity = DYN_CLIENT_QUANTITY_MASS_MATRIX},         {.quantity = DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX},
    {.quantity = DYN_CLIENT_QUANTITY_GRAVITY_FORCES},      {.quantity = DYN_CLIENT_QUANTITY_BIAS_FORCES},
    {.quantity = DYN_CLIENT_QUANTITY_EXTERNAL_FORCES},     {.quantity = DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX},
    {.quantity = DYN_CLIENT_QUANTITY_CHRISTOFFEL_SYMBOLS},
};

enum { FORMULATED_QUANTITIES = sizeof FORMULATED / sizeof *FORMULATED, BATCH_STATES = 11 };

/* Checks the first `count` quantities by a formulation in one request against the daemon's own algorithms, for states
 * in which forces on the links and passive forces count, with the joints in another order. */
static void must_evaluate(const char *formulation, size_t count) {
    static const char *const joints[6] = {"wrist_3_joint", "wrist_2_joint",       "wrist_1_joint",
                                          "elbow_joint",   "shoulder_lift_joint", "shoulder_pan_joint"};
    static double q[BATCH_STATES * 6], v[BATCH_STATES * 6], x[BATCH_STATES * 6];
    static const dyn_client_passive_forces passive = {.damping = true};
    dyn_client_query query = UR5;
    dyn_client_error error;
    dyn_client_evaluation *own, *found;
    for (size_t i = 0; i < BATCH_STATES * 6; i++) {
        q[i] = sin((double)(3 * i)), v[i] = cos((double)(4 * i)), x[i] = 5 * sin((double)(9 * i));
    }
    query.samples = BATCH_STATES, query.joint_count = 6, query.joint_names = joints;
    query.external_forces = PULLS, query.external_force_count = 2;
    query.passive_forces = &passive;
    const dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = q, .v = v, .a = x, .tau = x, .quantity_count = count,
                                         .quantities = FORMULATED);
    must(dyn_client_evaluate(client, &query, &request, &own, &error), &error);
    query.formulation = formulation;
    must(dyn_client_evaluate(client, &query, &request, &found, &error), &error);
    for (size_t i = 0; i < count; i++) {
        const dyn_client_block *y = &own->results[i].blocks[0];
        double size = 1;
        for (size_t k = 0; k < BATCH_STATES * y->width; k++) {
            size = fmax(size, fabs(y->values[k]));
        }
        for (size_t k = 0; k < BATCH_STATES * y->width; k++) {
            double difference = fabs(found->results[i].blocks[0].values[k] - y->values[k]);
            ck_assert_msg(difference <= 1e-9 * size, "%s: value %zu of quantity %zu is off by %g of %g", formulation, k,
                          i, difference, size);
        }
    }
    dyn_client_evaluation_free(found), dyn_client_evaluation_free(own);
}

START_TEST(quantities_of_one_request_are_computed_by_a_formulation) {
    static const char *const names[] = {"newton_euler", "kane", "lilly_orin", "vereshchagin", "natural_coordinates"};
    must_evaluate("lagrange_euler", FORMULATED_QUANTITIES);
    must_evaluate("christoffel", FORMULATED_QUANTITIES);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        must_evaluate(names[i], FORMULATED_QUANTITIES - 2);
    }
}
END_TEST

START_TEST(quantities_that_a_formulation_lacks_are_refused_by_name) {
    static const dyn_client_quantity_request other[] = {{.quantity = DYN_CLIENT_QUANTITY_MASS_MATRIX},
                                                        {.quantity = DYN_CLIENT_QUANTITY_KINETIC_ENERGY}};
    dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = Q, .v = V, .quantity_count = 2, .quantities = other);
    dyn_client_query query = UR5;
    dyn_client_error error;
    dyn_client_evaluation *found;
    query.formulation = "christoffel";
    ck_assert_int_eq(dyn_client_evaluate(client, &query, &request, &found, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "evaluate.quantities[1].quantity");
    ck_assert_msg(strstr(error.message, "KINETIC_ENERGY"), "%s", error.message);
    request.quantity_count = 1, request.quantities = &FORMULATED[FORMULATED_QUANTITIES - 1], request.v = NULL;
    query.formulation = "screws";
    ck_assert_int_eq(dyn_client_evaluate(client, &query, &request, &found, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "evaluate.query.formulation");
    ck_assert_msg(strstr(error.message, "Christoffel"), "%s", error.message);
}
END_TEST

/* Checks that inverse dynamics refuses the query with this field and a message that contains `word`. */
static void must_refuse(const dyn_client_query *query, const char *field, const char *word) {
    dyn_client_error error;
    double tau[6];
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, query, Q, V, A, tau, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
    ck_assert_ptr_nonnull(strstr(error.message, word));
}

/* Computes linear . a + angular . alpha of a constraint for the motion (q, v, a), by Evaluate. */
static double constrained_acceleration(const dyn_client_tip_constraint *of, const double a[6]) {
    const dyn_client_quantity_request wanted = {.quantity = DYN_CLIENT_QUANTITY_FRAME_ACCELERATION,
                                                .frame_count = 1,
                                                .frames = &of->frame,
                                                .reference_frame = of->reference_frame};
    const dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = Q, .v = V, .a = a, .quantity_count = 1, .quantities = &wanted);
    dyn_client_error error;
    dyn_client_evaluation *found;
    double sum = 0;
    must(dyn_client_evaluate(client, &UR5, &request, &found, &error), &error);
    for (int i = 0; i < 3; i++) {
        sum += of->linear[i] * found->results[0].blocks[0].values[i];
        sum += of->angular[i] * found->results[0].blocks[1].values[i];
    }
    dyn_client_evaluation_free(found);
    return sum;
}

/* Checks that the last link accelerates as the constraints demand, in each reference frame, and that the wrench that
 * Formulate returns explains the difference from the free motion. */
START_TEST(a_constrained_tip_accelerates_as_demanded) {
    const dyn_client_tip_constraint tip[] = {
        {"tool0", DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, {0, 0.6, 0.8}, {0}, 1.5},
        {"tool0", DYN_CLIENT_REFERENCE_FRAME_LOCAL, {1, 0, 0}, {0.5, 0, 0}, -0.5},
        {"wrist_3_link", DYN_CLIENT_REFERENCE_FRAME_WORLD, {0}, {0, 0, 1}, 0},
    };
    const double tau[6] = {3, -20, 10, 1, 2, -1};
    dyn_client_query query = UR5;
    dyn_client_error error;
    double a[6], free_a[6];
    query.formulation = "vereshchagin";
    must(dyn_client_forward_dynamics(client, &query, Q, V, tau, free_a, &error), &error);
    query.tip_constraint_count = 3, query.tip_constraints = tip;
    must(dyn_client_forward_dynamics(client, &query, Q, V, tau, a, &error), &error);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(constrained_acceleration(&tip[i], a), tip[i].acceleration, 1e-9);
        ck_assert_double_ge(fabs(constrained_acceleration(&tip[i], free_a) - tip[i].acceleration), 0.01);
    }
}
END_TEST

START_TEST(wrong_constraints_of_the_tip_are_refused_with_their_field) {
    static const struct {
        dyn_client_tip_constraint row;
        dyn_client_status status;
        const char *field;
    } wrong[] = {
        {{"no_such", DYN_CLIENT_REFERENCE_FRAME_LOCAL, {1, 0, 0}, {0}, 0}, DYN_CLIENT_NOT_FOUND, "frame"},
        {{"forearm_link", DYN_CLIENT_REFERENCE_FRAME_LOCAL, {1, 0, 0}, {0}, 0}, DYN_CLIENT_INVALID_ARGUMENT, "frame"},
        {{"tool0", DYN_CLIENT_REFERENCE_FRAME_UNSPECIFIED, {1, 0, 0}, {0}, 0},
         DYN_CLIENT_INVALID_ARGUMENT,
         "reference_frame"},
        {{"tool0", DYN_CLIENT_REFERENCE_FRAME_LOCAL, {0}, {0}, 0}, DYN_CLIENT_INVALID_ARGUMENT, "linear"},
        {{"tool0", DYN_CLIENT_REFERENCE_FRAME_LOCAL, {1, 0, 0}, {0}, NAN}, DYN_CLIENT_INVALID_ARGUMENT, "acceleration"},
    };
    static const dyn_client_tip_constraint many[7] = {{"tool0", DYN_CLIENT_REFERENCE_FRAME_LOCAL, {1, 0, 0}, {0}, 0}};
    dyn_client_query query = UR5;
    dyn_client_error error;
    char field[96];
    double a[6];
    query.formulation = "vereshchagin", query.tip_constraint_count = 1;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        query.tip_constraints = &wrong[i].row;
        ck_assert_int_eq(dyn_client_forward_dynamics(client, &query, Q, V, NULL, a, &error), wrong[i].status);
        snprintf(field, sizeof field, "forward_dynamics.query.tip_constraints[0].%s", wrong[i].field);
        ck_assert_str_eq(error.field, field);
    }
    query.tip_constraints = many, query.formulation = "screws";
    ck_assert_int_eq(dyn_client_forward_dynamics(client, &query, Q, V, NULL, a, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, "forward_dynamics.query.formulation");
    must_refuse(&query, "inverse_dynamics.query.tip_constraints", "with a formulation");
    query.tip_constraint_count = 7, query.formulation = "vereshchagin";
    ck_assert_int_eq(dyn_client_forward_dynamics(client, &query, Q, V, NULL, a, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "forward_dynamics.query.tip_constraints");
}
END_TEST

static const double *block_of(const dyn_client_formulation *found, const char *name) {
    for (size_t i = 0; i < found->block_count; i++) {
        if (strcmp(found->blocks[i].name, name) == 0) {
            return found->blocks[i].values;
        }
    }
    ck_abort_msg("there is no block %s", name);
    return NULL;
}

static const dyn_client_query TWO_LINK =
    DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1, .formulation = "book_flexible");

static const dyn_client_flexible_link BENDS[2] = {
    {.link = "link1", .end = {1, 0, 0}, .mass = 1, .direction = {0, 0, 1}, .rigidity = 50, .modes = 2},
    {.link = "link2",
     .end = {1, 0, 0},
     .mass = 1,
     .direction = {0, 1, 0},
     .rigidity = 30,
     .transverse_rigidity = 20,
     .modes = 1},
};

/* Checks links that bend: the forces of modes that are bent are those of clamped beams, and the motion for which the
 * modes need no forces is that of a_free. */
START_TEST(links_that_bend_move_by_their_free_accelerations) {
    static const double q[2] = {0.3, -0.5}, v[2] = {1, -2}, a[2] = {3, 4}, none[4] = {0};
    static const double bent[4] = {2e-3, -1e-3, 3e-3, 1e-3}, rates[4] = {0.1, 0, -0.2, 0.1};
    dyn_client_flexible_chain chain =
        DYN_CLIENT_FLEXIBLE_CHAIN_INIT(.link_count = 2, .links = BENDS, .mode_q = bent, .mode_v = rates);
    dyn_client_query query = TWO_LINK;
    dyn_client_error error;
    dyn_client_formulation *found, *again;
    must(dyn_client_formulate_flexible(client, &query, &chain, q, v, a, &found, &error), &error);
    const double *a_free = block_of(found, "a_free");
    chain.mode_a = a_free + 2;
    must(dyn_client_formulate_flexible(client, &query, &chain, q, v, a_free, &again, &error), &error);
    must_be_close(again->tau, found->tau, 2);
    must_be_close(block_of(again, "tau_modes"), none, 4);
    ck_assert_double_ge(fabs(block_of(found, "tau_modes")[0]), 0.1);
    dyn_client_formulation_free(again), dyn_client_formulation_free(found);
    chain.mode_v = chain.mode_a = NULL;
    query.gravity = none;
    must(dyn_client_formulate_flexible(client, &query, &chain, q, NULL, NULL, &found, &error), &error);
    ck_assert_double_eq_tol(block_of(found, "tau_modes")[0], pow(1.8751040687, 4) * 50 * bent[0], 1e-6);
    ck_assert_double_eq_tol(block_of(found, "tau_modes")[3], pow(1.8751040687, 4) * 20 * bent[3], 1e-6);
    dyn_client_formulation_free(found);
}
END_TEST

/* Checks forward dynamics: the forces that inverse dynamics states cause its accelerations, and those of the joints
 * alone cause a_free. */
START_TEST(links_that_bend_move_by_given_forces) {
    static const double q[4] = {0.3, -0.5, 1, 2}, v[4] = {1, -2, 0, 3}, a[4] = {3, 4, -1, 5};
    static const double bent[8] = {2e-3, -1e-3, 3e-3, 1e-3, 0, 1e-3, 2e-3, -4e-3};
    static const double rates[8] = {0.1, 0, -0.2, 0.1, 0.3, 0.2, 0.1, 0}, steps[8] = {1, -2, 3, 4, 0, 5, -6, 7};
    dyn_client_flexible_chain chain = DYN_CLIENT_FLEXIBLE_CHAIN_INIT(.link_count = 2, .links = BENDS, .mode_q = bent,
                                                                     .mode_v = rates, .mode_a = steps);
    dyn_client_query query = TWO_LINK;
    dyn_client_error error;
    dyn_client_formulation *found, *again, *free_modes;
    query.samples = 2;
    must(dyn_client_formulate_flexible(client, &query, &chain, q, v, a, &found, &error), &error);
    chain.tau = found->tau;
    must(dyn_client_formulate_flexible(client, &query, &chain, q, v, a, &free_modes, &error), &error);
    must_be_close(block_of(free_modes, "a"), block_of(found, "a_free"), 12);
    chain.mode_tau = block_of(found, "tau_modes");
    must(dyn_client_formulate_flexible(client, &query, &chain, q, v, NULL, &again, &error), &error);
    for (int i = 0; i < 2; i++) {
        must_be_close(block_of(again, "a") + 6 * i, a + 2 * i, 2);
        must_be_close(block_of(again, "a") + 6 * i + 2, steps + 4 * i, 4);
    }
    dyn_client_formulation_free(found), dyn_client_formulation_free(again), dyn_client_formulation_free(free_modes);
}
END_TEST

/* Links that are straight have the forces of rigid links on the same base. */
START_TEST(links_that_bend_follow_a_moving_base) {
    static const double q[2] = {0.3, -0.5}, v[2] = {1, -2}, a[2] = {3, 4};
    static const double linear[3] = {1, 2, -1}, angular[3] = {0.5, -2, 1}, rate[3] = {3, 1, 2}, turn[3] = {-2, 4, 1};
    const dyn_client_base_motion base = {.linear_velocity = linear,
                                         .angular_velocity = angular,
                                         .linear_acceleration = rate,
                                         .angular_acceleration = turn,
                                         .rows = 1};
    const dyn_client_flexible_chain chain = DYN_CLIENT_FLEXIBLE_CHAIN_INIT(.link_count = 2, .links = BENDS);
    dyn_client_query query = TWO_LINK;
    dyn_client_error error;
    double tau[2], still[2];
    dyn_client_formulation *found;
    query.formulation = NULL;
    must(dyn_client_inverse_dynamics(client, &query, q, v, a, still, &error), &error);
    query.base_motion = &base;
    must(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), &error);
    query.formulation = "book_flexible";
    must(dyn_client_formulate_flexible(client, &query, &chain, q, v, a, &found, &error), &error);
    must_be_close(found->tau, tau, 2);
    ck_assert_double_ge(fabs(tau[0] - still[0]), 1);
    dyn_client_formulation_free(found);
}
END_TEST

/* A payload of 2 kg at the end of a beam of 1 kg adds 2 kg times the square of the displacement of the end, 2. */
START_TEST(a_payload_counts_in_the_modes_of_the_link_that_carries_it) {
    static const double q[2] = {0.3, -0.5};
    const dyn_client_payload load = {.link = "link2", .inertia = {.mass = 2, .center_of_mass = {1, 0, 0}}};
    const dyn_client_flexible_chain chain = DYN_CLIENT_FLEXIBLE_CHAIN_INIT(.link_count = 1, .links = &BENDS[1]);
    dyn_client_query query = TWO_LINK;
    dyn_client_error error;
    for (size_t payloads = 0; payloads < 2; payloads++) {
        dyn_client_formulation *found;
        query.payload_count = payloads, query.payloads = &load;
        must(dyn_client_formulate_flexible(client, &query, &chain, q, NULL, NULL, &found, &error), &error);
        const double *M = block_of(found, "M");
        ck_assert_double_eq_tol(M[10], payloads ? 9 : 1, 1e-12);
        ck_assert_double_eq_tol(M[15], payloads ? 9 : 1, 1e-12);
        dyn_client_formulation_free(found);
    }
}
END_TEST

/* Checks that a request with this link is refused at this field. */
static void must_refuse_link(dyn_client_flexible_link link, dyn_client_status status, const char *field) {
    static const double q[2] = {0, 0};
    const dyn_client_flexible_chain chain = DYN_CLIENT_FLEXIBLE_CHAIN_INIT(.link_count = 1, .links = &link);
    dyn_client_error error;
    dyn_client_formulation *found;
    ck_assert_int_eq(dyn_client_formulate_flexible(client, &TWO_LINK, &chain, q, NULL, NULL, &found, &error), status);
    ck_assert_str_eq(error.field, field);
}

START_TEST(links_that_cannot_bend_are_refused_with_their_field) {
    static const double q[2] = {0, 0}, wrong[4] = {0, NAN, 0, 0};
    dyn_client_flexible_chain chain = DYN_CLIENT_FLEXIBLE_CHAIN_INIT(.link_count = 2, .links = BENDS, .mode_q = wrong);
    dyn_client_flexible_link link = BENDS[0];
    dyn_client_query query = TWO_LINK;
    dyn_client_error error;
    dyn_client_formulation *found;
    link.link = "no_such";
    must_refuse_link(link, DYN_CLIENT_NOT_FOUND, "formulate.flexible_links[0].link");
    link = BENDS[0], link.rigidity = -1;
    must_refuse_link(link, DYN_CLIENT_INVALID_ARGUMENT, "formulate.flexible_links[0].rigidity");
    link = BENDS[0], link.direction[0] = 1;
    must_refuse_link(link, DYN_CLIENT_INVALID_ARGUMENT, "formulate.flexible_links[0].direction");
    link = BENDS[0], link.modes = 17;
    must_refuse_link(link, DYN_CLIENT_INVALID_ARGUMENT, "formulate.flexible_links[0].modes");
    ck_assert_int_eq(dyn_client_formulate_flexible(client, &query, &chain, q, NULL, NULL, &found, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "formulate.mode_q[1]");
    chain.mode_q = NULL, chain.mode_tau = wrong;
    ck_assert_int_eq(dyn_client_formulate_flexible(client, &query, &chain, q, NULL, NULL, &found, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "formulate.mode_tau[1]");
    chain.mode_tau = NULL, chain.tau = wrong;
    ck_assert_int_eq(dyn_client_formulate_flexible(client, &query, &chain, q, NULL, NULL, &found, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "formulate.tau[1]");
    query.formulation = "kane";
    ck_assert_int_eq(dyn_client_formulate_flexible(client, &query, &chain, q, NULL, NULL, &found, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "formulate.query.formulation");
}
END_TEST

/* Checks all results of all formulations, which count forces on links and passive forces. */
START_TEST(every_formulation_is_compared) {
    static const dyn_client_passive_forces passive = {.damping = true, .friction = true};
    dyn_client_query query = UR5;
    dyn_client_error error;
    dyn_client_comparison *found;
    double tau[6], M[36];
    must(dyn_client_mass_matrix(client, &query, Q, M, &error), &error);
    query.external_forces = PULLS, query.external_force_count = 2;
    query.passive_forces = &passive;
    must(dyn_client_inverse_dynamics(client, &query, Q, V, A, tau, &error), &error);
    must(dyn_client_compare(client, &query, Q, V, A, &found, &error), &error);
    ck_assert_uint_ge(found->formulation_count, 7);
    ck_assert_str_eq(found->formulations[0].name, "kernels");
    for (size_t i = 0; i < found->formulation_count; i++) {
        const dyn_client_compared_formulation *one = &found->formulations[i];
        if (one->refusal) {
            continue;
        }
        must_be_close(one->tau, tau, 6);
        must_be_close(one->a, A, 6);
        must_be_close(one->M, M, 36);
        ck_assert_double_le(one->inverse_dynamics.difference, 1e-11);
        ck_assert_double_le(one->forward_dynamics.difference, 1e-11);
        ck_assert_double_le(one->mass_matrix.difference, 1e-11);
        ck_assert_double_gt(one->mass_matrix.time, 0);
        ck_assert(i == 0 || one->inverse_dynamics.multiplications > 500);
    }
    dyn_client_comparison_free(found);
}
END_TEST

/* Checks the refusal of a formulation for serial chains, which does not apply to the quadruped's four legs. */
START_TEST(a_formulation_that_does_not_apply_says_why) {
    const double q[12] = {0};
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "quadruped", .nq = 12, .nv = 12, .samples = 1);
    dyn_client_error error;
    dyn_client_comparison *found;
    double tau[12];
    must(dyn_client_compare(client, &query, q, NULL, NULL, &found, &error), &error);
    const char *refusal = NULL;
    for (size_t i = 0; i < found->formulation_count; i++) {
        if (strcmp(found->formulations[i].name, "lagrange_euler") == 0) {
            refusal = found->formulations[i].refusal;
        }
    }
    ck_assert_ptr_nonnull(refusal);
    ck_assert_ptr_nonnull(strstr(refusal, "serial chain"));
    query.formulation = "lagrange_euler";
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, tau, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, "inverse_dynamics.query.formulation");
    ck_assert_str_eq(error.message, refusal);
    dyn_client_comparison_free(found);
}
END_TEST

START_TEST(inner_quantities_are_named_blocks) {
    dyn_client_query query = UR5;
    dyn_client_error error;
    dyn_client_formulation *found;
    double M[36];
    must(dyn_client_mass_matrix(client, &query, Q, M, &error), &error);
    query.formulation = "lagrange_euler";
    must(dyn_client_formulate(client, &query, Q, V, A, &found, &error), &error);
    bool has_D = false, has_h = false;
    for (size_t i = 0; i < found->block_count; i++) {
        const dyn_client_formulation_block *block = &found->blocks[i];
        if (strcmp(block->name, "D") == 0) {
            has_D = true;
            must_be_close(block->values, M, 36);
            ck_assert_str_eq(block->unit, "kg m^2, kg m, kg");
            ck_assert_str_eq(block->axes[1], "coordinate");
            ck_assert_ptr_eq(strstr(block->equation, "2.11"), block->equation);
        }
        if (strcmp(block->name, "h_ikm") == 0) {
            has_h = block->dimensions == 3 && block->extents[0] == 6 && block->extents[2] == 6;
        }
    }
    ck_assert(has_D && has_h);
    dyn_client_formulation_free(found);
}
END_TEST

/* Computes the blocks of ROWS states at once, and of some of them alone, by the formulation of a query. */
static void must_be_those_of_each_state(dyn_client_query query) {
    enum { ROWS = 19 }; /* more than one thread computes at once */
    dyn_client_error error;
    dyn_client_formulation *all, *one;
    double q[6 * ROWS], v[6 * ROWS], a[6 * ROWS];
    for (size_t i = 0; i < 6 * ROWS; i++) {
        q[i] = Q[i % 6] + 0.1 * (double)(i / 6), v[i] = V[i % 6] - 0.2 * (double)(i / 6), a[i] = A[i % 6];
    }
    query.samples = ROWS;
    must(dyn_client_formulate(client, &query, q, v, a, &all, &error), &error);
    ck_assert_uint_eq(all->samples, ROWS);
    query.samples = 1;
    for (size_t s = 0; s < ROWS; s += 6) {
        must(dyn_client_formulate(client, &query, q + 6 * s, v + 6 * s, a + 6 * s, &one, &error), &error);
        must_be_close(all->tau + 6 * s, one->tau, 6);
        ck_assert_uint_eq(all->block_count, one->block_count);
        for (size_t i = 0; i < one->block_count; i++) {
            size_t count = 1;
            for (size_t k = 0; k < one->blocks[i].dimensions; k++) {
                count *= one->blocks[i].extents[k];
                ck_assert_int_ne(one->blocks[i].axes[k][0], '\0');
            }
            ck_assert_int_ne(one->blocks[i].unit[0], '\0');
            ck_assert_str_eq(all->blocks[i].name, one->blocks[i].name);
            must_be_close(all->blocks[i].values + s * count, one->blocks[i].values, count);
        }
        dyn_client_formulation_free(one);
    }
    dyn_client_formulation_free(all);
}

START_TEST(inner_quantities_of_several_states_are_those_of_each) {
    const dyn_client_tip_constraint tip = {
        .frame = "tool0", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD, .linear = {0, 0, 1}};
    dyn_client_query query = UR5;
    query.external_forces = PULLS, query.external_force_count = 2;
    query.formulation = "christoffel";
    must_be_those_of_each_state(query);
    query.formulation = "vereshchagin";
    query.tip_constraints = &tip, query.tip_constraint_count = 1;
    must_be_those_of_each_state(query);
}
END_TEST

START_TEST(states_whose_blocks_exceed_the_reply_are_refused) {
    enum { ROWS = 40000 };
    static const double q[6 * ROWS];
    dyn_client_query query = UR5;
    dyn_client_error error;
    dyn_client_formulation *found;
    query.formulation = "christoffel", query.samples = ROWS;
    dyn_client_status status = dyn_client_formulate(client, &query, q, NULL, NULL, &found, &error);
    ck_assert_msg(status == DYN_CLIENT_RESOURCE_EXHAUSTED, "%s", error.message);
    ck_assert_str_eq(error.field, "formulate.q");
}
END_TEST

/* ---- long chains ------------------------------------------------------------------------------------------------- */

enum { LONGEST_CHAIN = 600 };

/* Loads a chain of revolute joints under a name, and returns a query of one state of it. */
static dyn_client_query load_chain(const char *name, int joints) {
    static char urdf[LONGEST_CHAIN * 400 + 100];
    dyn_client_load_request load = DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = urdf, .name = name, .replace = true);
    dyn_client_error error;
    dyn_client_loaded_model *loaded;
    char *to = urdf + sprintf(urdf, "<robot name='long'><link name='l0'/>");
    for (int i = 1; i <= joints; i++) {
        to += sprintf(to,
                      "<link name='l%d'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
                      "iyz='0'/></inertial></link><joint name='j%d' type='continuous'><parent link='l%d'/>"
                      "<child link='l%d'/><origin xyz='0.1 0 0'/><axis xyz='0 1 %d'/></joint>",
                      i, i, i - 1, i, i % 2);
    }
    sprintf(to, "</robot>");
    must(dyn_client_load_model(client, &load, &loaded, &error), &error);
    dyn_client_loaded_model_free(loaded);
    size_t size = (size_t)joints;
    return (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = name, .nq = size, .nv = size, .samples = 1);
}

START_TEST(a_singular_mass_matrix_is_named_also_where_results_are_derived) {
    const dyn_client_load_request load = DYN_CLIENT_LOAD_REQUEST_INIT(
            .urdf = "<robot name='light'><link name='a'/><link name='b'/><joint name='j' type='continuous'>"
                    "<parent link='a'/><child link='b'/></joint></robot>",
            .name = "light");
    dyn_client_error error;
    dyn_client_loaded_model *loaded;
    double q[1] = {0}, result[1];
    must(dyn_client_load_model(client, &load, &loaded, &error), &error);
    dyn_client_loaded_model_free(loaded);
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "light", .nq = 1, .nv = 1, .samples = 1);
    query.formulation = "vereshchagin";
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, result, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "joint j: the mass matrix is singular"), "%s", error.message);
    ck_assert_int_eq(dyn_client_mass_matrix(client, &query, q, result, &error), DYN_CLIENT_FAILED_PRECONDITION);
    query.formulation = "newton_euler";
    must(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, result, &error), &error);
    ck_assert_double_eq(result[0], 0);
}
END_TEST

/* Checks that a comparison of the same robot has all results but those that need the inverse of its mass matrix. */
START_TEST(results_that_cannot_be_computed_leave_the_others) {
    double q[1] = {0};
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "light", .nq = 1, .nv = 1, .samples = 1);
    dyn_client_error error;
    dyn_client_comparison *found;
    size_t derived = 0;
    must(dyn_client_compare(client, &query, q, NULL, NULL, &found, &error), &error);
    for (size_t i = 0; i < found->formulation_count; i++) {
        const dyn_client_compared_formulation *one = &found->formulations[i];
        if (one->refusal) {
            continue;
        }
        ck_assert_ptr_null(one->a);
        ck_assert_msg(strstr(one->forward_dynamics.refusal, "mass matrix is singular"), "%s",
                      one->forward_dynamics.refusal);
        ck_assert(!one->tau == !!one->inverse_dynamics.refusal);
        ck_assert(!one->tau == !one->M);
        if (one->tau) {
            ck_assert_double_eq(one->tau[0], 0);
            ck_assert_double_eq(one->M[0], 0);
        }
        derived += !one->tau;
    }
    ck_assert_ptr_nonnull(found->formulations[0].M);
    ck_assert_uint_ge(derived, 1);
    ck_assert_uint_le(derived, 3);
    dyn_client_comparison_free(found);
}
END_TEST

/* Checks that a comparison refuses a chain of 201 joints, which is beyond its bound, and that a single formulation
 * computes it. */
START_TEST(a_comparison_of_a_large_model_is_refused) {
    static double q[201], tau[201];
    dyn_client_query query = load_chain("chain201", 201);
    dyn_client_error error;
    dyn_client_comparison *found;
    ck_assert_int_eq(dyn_client_compare(client, &query, q, NULL, NULL, &found, &error), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, "compare.query.model");
    query.formulation = "screws";
    must(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, tau, &error), &error);
}
END_TEST

/* Checks the levels of constraint_force, which the daemon spreads over its pool for one state of so long a chain. */
START_TEST(parallel_levels_of_a_long_chain_agree_with_the_kernels) {
    static double q[LONGEST_CHAIN], a[LONGEST_CHAIN], own[LONGEST_CHAIN];
    dyn_client_query query = load_chain("chain600", LONGEST_CHAIN);
    dyn_client_error error;
    for (int i = 0; i < LONGEST_CHAIN; i++) {
        q[i] = sin(i);
    }
    must(dyn_client_forward_dynamics(client, &query, q, NULL, NULL, own, &error), &error);
    query.formulation = "constraint_force";
    must(dyn_client_forward_dynamics(client, &query, q, NULL, NULL, a, &error), &error);
    must_be_close(a, own, LONGEST_CHAIN);
}
END_TEST

/* Returns false at the second call, which cancels the request. */
static bool stop_early(void *context, double fraction) {
    int *calls = context;
    (void)fraction;
    return ++*calls < 2;
}

START_TEST(long_comparisons_and_batches_are_cancelled_under_way) {
    enum { STATES = 1000 };
    static double q[STATES * 64], tau[STATES * 64];
    int calls = 0;
    dyn_client_query query = load_chain("chain200", 200), batch = load_chain("chain64", 64);
    dyn_client_error error;
    dyn_client_comparison *found;
    query.timeout = batch.timeout = 50;
    query.progress = batch.progress = stop_early, query.progress_context = batch.progress_context = &calls;
    ck_assert_int_eq(dyn_client_compare(client, &query, q, NULL, NULL, &found, &error), DYN_CLIENT_CANCELLED);
    calls = 0;
    batch.formulation = "lagrange_euler", batch.samples = STATES;
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &batch, q, NULL, NULL, tau, &error), DYN_CLIENT_CANCELLED);
}
END_TEST

static void start_hasty_daemon(void) {
    const daemon_options options = {.configuration = "[limits]\nrequest_time = 0.1\n"};
    dyn_client_error error;
    daemon_start(&options, &served);
    must(dyn_client_connect(served.request_ipc, NULL, &client, &error), &error);
}

/* Checks that the time limit of requests ends a comparison, Formulate and a batch of long chains under way. */
START_TEST(a_deadline_ends_long_formulations) {
    enum { STATES = 1000 };
    static double q[STATES * 64], tau[STATES * 64];
    dyn_client_query query = load_chain("chain200", 200), inner = load_chain("chain64", 64);
    dyn_client_error error;
    dyn_client_comparison *found;
    dyn_client_formulation *quantities;
    query.timeout = inner.timeout = 50;
    ck_assert_int_eq(dyn_client_compare(client, &query, q, NULL, NULL, &found, &error), DYN_CLIENT_DEADLINE_EXCEEDED);
    inner.formulation = "christoffel";
    ck_assert_int_eq(dyn_client_formulate(client, &inner, q, NULL, NULL, &quantities, &error),
                     DYN_CLIENT_DEADLINE_EXCEEDED);
    inner.samples = STATES;
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &inner, q, NULL, NULL, tau, &error),
                     DYN_CLIENT_DEADLINE_EXCEEDED);
    ck_assert_int_eq(dyn_client_ping(client, 20, &error), DYN_CLIENT_OK);
}
END_TEST

START_TEST(wrong_requests_are_refused_with_their_field) {
    const double force[3] = {1, INFINITY, 3};
    const dyn_client_external_force pull = {
        .link = "tool0", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .force = force, .rows = 1};
    dyn_client_query query = UR5;
    dyn_client_error error;
    dyn_client_formulation *found;
    double g[6];
    query.formulation = "lagrange";
    must_refuse(&query, "inverse_dynamics.query.formulation", "choose one of lagrange_euler");
    ck_assert_int_eq(dyn_client_gravity(client, &query, Q, g, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "gravity.query.formulation");
    query.formulation = "lagrange_euler";
    query.precision = DYN_CLIENT_PRECISION_SINGLE;
    ck_assert_int_eq(dyn_client_bias_forces(client, &query, Q, V, g, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "bias_forces.query.precision");
    query.precision = DYN_CLIENT_PRECISION_DOUBLE;
    query.external_force_count = 1, query.external_forces = &pull;
    must_refuse(&query, "inverse_dynamics.query.external_forces[0].force[1]", "finite");
    query = UR5, query.formulation = "lagrange_euler";
    query.precision = DYN_CLIENT_PRECISION_SINGLE;
    must_refuse(&query, "inverse_dynamics.query.precision", "with a formulation");
    query = UR5;
    ck_assert_int_eq(dyn_client_formulate(client, &query, Q, V, A, &found, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "formulate.query.formulation");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("formulations");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, a_query_with_a_formulation_has_the_same_results);
    tcase_add_test(all, a_batch_is_computed_by_a_formulation);
    tcase_add_test(all, gravity_and_bias_forces_are_computed_by_every_formulation);
    tcase_add_test(all, quantities_of_one_request_are_computed_by_a_formulation);
    tcase_add_test(all, quantities_that_a_formulation_lacks_are_refused_by_name);
    tcase_add_test(all, a_constrained_tip_accelerates_as_demanded);
    tcase_add_test(all, wrong_constraints_of_the_tip_are_refused_with_their_field);
    tcase_add_test(all, links_that_bend_move_by_their_free_accelerations);
    tcase_add_test(all, links_that_bend_move_by_given_forces);
    tcase_add_test(all, links_that_bend_follow_a_moving_base);
    tcase_add_test(all, a_payload_counts_in_the_modes_of_the_link_that_carries_it);
    tcase_add_test(all, links_that_cannot_bend_are_refused_with_their_field);
    tcase_add_test(all, every_formulation_is_compared);
    tcase_add_test(all, a_formulation_that_does_not_apply_says_why);
    tcase_add_test(all, inner_quantities_are_named_blocks);
    tcase_add_test(all, inner_quantities_of_several_states_are_those_of_each);
    tcase_add_test(all, states_whose_blocks_exceed_the_reply_are_refused);
    tcase_add_test(all, a_singular_mass_matrix_is_named_also_where_results_are_derived);
    tcase_add_test(all, results_that_cannot_be_computed_leave_the_others);
    tcase_add_test(all, a_comparison_of_a_large_model_is_refused);
    tcase_add_test(all, parallel_levels_of_a_long_chain_agree_with_the_kernels);
    tcase_add_test(all, long_comparisons_and_batches_are_cancelled_under_way);
    tcase_add_test(all, wrong_requests_are_refused_with_their_field);
    TCase *hasty = tcase_create("formulations with little time");
    tcase_set_timeout(hasty, 60);
    tcase_add_unchecked_fixture(hasty, start_hasty_daemon, stop_daemon);
    tcase_add_test(hasty, a_deadline_ends_long_formulations);
    int failed = run_unforked("formulations", all);
    return run_unforked("formulations", hasty) || failed;
}
