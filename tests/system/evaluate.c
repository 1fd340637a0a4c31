/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the method Evaluate: every quantity through the daemon, compared with reference values and with each other, in
 * the reference's order of joints; and wrong requests.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "system/daemon_fixture.h"
#include "system/reference.h"
#include "system/runner.h"

enum { QUANTITIES = 71 };

static daemon_fixture served;
static char **files;
static int file_count;

/* ---- against reference values ------------------------------------------------------------------------------------ */

/* Quantity with the field of the reference that contains its blocks one after the other, from entry `first` on. */
typedef struct pair {
    dyn_client_quantity quantity;
    const char *field;
    size_t first;
} pair;

static const pair OF_THE_ROBOT[] = {
    {DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS, "rnea", 0},
    {DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS, "aba", 0},
    {DYN_CLIENT_QUANTITY_MASS_MATRIX, "M", 0},
    {DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX, "Minv", 0},
    {DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX, "C", 0},
    {DYN_CLIENT_QUANTITY_GRAVITY_FORCES, "gravity", 0},
    {DYN_CLIENT_QUANTITY_BIAS_FORCES, "nle", 0},
    {DYN_CLIENT_QUANTITY_KINETIC_ENERGY, "energy_kin_pot", 0},
    {DYN_CLIENT_QUANTITY_POTENTIAL_ENERGY, "energy_kin_pot", 1},
    {DYN_CLIENT_QUANTITY_CENTER_OF_MASS, "com", 0},
    {DYN_CLIENT_QUANTITY_CENTER_OF_MASS_VELOCITY, "vcom", 0},
    {DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM, "hg", 0},
    {DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_MATRIX, "Ag", 0},
    {DYN_CLIENT_QUANTITY_CENTROIDAL_INERTIA, "Ig_inertia_about_com", 0},
    {DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q, "drnea_dq", 0},
    {DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_V, "drnea_dv", 0},
    {DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q, "daba_dq", 0},
    {DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_V, "daba_dv", 0},
};

static const pair OF_THE_FRAME[] = {
    {DYN_CLIENT_QUANTITY_FRAME_TWIST, "ee_v_local", 0},
    {DYN_CLIENT_QUANTITY_FRAME_ACCELERATION, "ee_a_local_spatial", 0},
    {DYN_CLIENT_QUANTITY_FRAME_JACOBIAN, "ee_J_local", 0},
    {DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_RATE, "ee_dJ_local", 0},
};

static const pair OF_THE_ALIGNED_FRAME[] = {
    {DYN_CLIENT_QUANTITY_FRAME_ACCELERATION, "ee_a_lwa_classical", 0},
    {DYN_CLIENT_QUANTITY_FRAME_JACOBIAN, "ee_J_lwa", 0},
    {DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_RATE, "ee_dJ_lwa", 0},
};

/* Compares all blocks of a result with a field that some states may lack. */
static void compare(const reference *of, const dyn_client_quantity_result *result, const pair *with) {
    size_t compared = 0;
    for (size_t s = 0; s < of->count; s++) {
        const json_t *expected = json_object_get(json_array_get(of->states, s), with->field);
        size_t next = with->first;
        deviation found = {0};
        for (size_t k = 0; expected && k < result->block_count; k++) {
            for (size_t i = 0; i < result->blocks[k].width; i++) {
                add(&found, result->blocks[k].values[s * result->blocks[k].width + i], at(expected, next++));
            }
        }
        ck_assert(!expected || with->first > 0 || next == json_array_size(expected) ||
                  strcmp(with->field, "energy_kin_pot") == 0);
        check(of, with->field, s, found);
        compared += expected != NULL;
    }
    ck_assert_msg(compared > 0, "%s: no state has %s", of->robot->model.name, with->field);
}

/* Requests all quantities of a list that the reference has, in one request, and compares them. */
static void compare_all(const reference *of, size_t count, const pair *pairs,
                        dyn_client_reference_frame reference_frame) {
    dyn_client_quantity quantities[QUANTITIES];
    const pair *requested[QUANTITIES];
    size_t requested_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (has(of, pairs[i].field)) {
            requested[requested_count] = &pairs[i];
            quantities[requested_count++] = pairs[i].quantity;
        }
    }
    dyn_client_evaluation *answer = reference_evaluate(of, requested_count, quantities, reference_frame);
    for (size_t i = 0; i < requested_count; i++) {
        compare(of, &answer->results[i], requested[i]);
    }
    dyn_client_evaluation_free(answer);
}

START_TEST(quantities_agree_with_the_reference) {
    reference of;
    reference_open(&of, served.request_ipc, files[_i]);
    reference_use_names(&of);
    compare_all(&of, sizeof OF_THE_ROBOT / sizeof *OF_THE_ROBOT, OF_THE_ROBOT, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    compare_all(&of, sizeof OF_THE_FRAME / sizeof *OF_THE_FRAME, OF_THE_FRAME, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    compare_all(&of, sizeof OF_THE_ALIGNED_FRAME / sizeof *OF_THE_ALIGNED_FRAME, OF_THE_ALIGNED_FRAME,
                DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED);
    reference_close(&of);
}
END_TEST

/* Returns the index of the body that joint i of the reference carries. */
static size_t find_body(const reference *of, const dyn_client_evaluation *answer, size_t i) {
    const dyn_client_joint *joint = find_joint(of->robot, of->names[i]);
    const dyn_client_axis *bodies = dyn_client_find_axis(answer, DYN_CLIENT_AXIS_KIND_BODIES);
    for (size_t b = 0; b < bodies->size; b++) {
        if (strcmp(bodies->labels[b], joint->child_link) == 0) {
            return b;
        }
    }
    ck_abort_msg("no body %s", joint->child_link);
    return 0;
}

START_TEST(regressor_agrees_with_the_reference) {
    static const dyn_client_quantity regressor = DYN_CLIENT_QUANTITY_TORQUE_REGRESSOR;
    reference of;
    reference_open(&of, served.request_ipc, files[_i]);
    reference_use_names(&of);
    dyn_client_evaluation *answer = reference_evaluate(&of, 1, &regressor, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    const dyn_client_block *Y = &answer->results[0].blocks[0];
    size_t bodies = dyn_client_find_axis(answer, DYN_CLIENT_AXIS_KIND_BODIES)->size, compared = 0;
    ck_assert_uint_eq(bodies, json_array_size(of.joints));
    ck_assert_uint_eq(Y->width, of.nv * bodies * 10);
    for (size_t s = 0; s < of.count; s++) {
        const json_t *expected = json_object_get(json_array_get(of.states, s), "regressor_Y");
        deviation found = {0};
        for (size_t b = 0; expected && b < bodies; b++) {
            const double *own = Y->values + s * Y->width + 10 * find_body(&of, answer, b);
            for (size_t i = 0; i < of.nv; i++) {
                for (size_t k = 0; k < 10; k++) {
                    add(&found, own[i * bodies * 10 + k], at(expected, (i * bodies + b) * 10 + k));
                }
            }
        }
        check(&of, "Y", s, found);
        compared += expected != NULL;
    }
    ck_assert_uint_gt(compared, 0);
    dyn_client_evaluation_free(answer);
    reference_close(&of);
}
END_TEST

/* ---- against each other ------------------------------------------------------------------------------------------ */

/* Checks that the rate of the momentum matrix times v is the momentum bias of the reference. */
START_TEST(rate_of_the_momentum_matrix_agrees_with_the_reference) {
    static const dyn_client_quantity rate = DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_MATRIX_RATE;
    reference of;
    reference_open(&of, served.request_ipc, files[_i]);
    reference_use_names(&of);
    dyn_client_evaluation *answer = reference_evaluate(&of, 1, &rate, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    for (size_t s = 0; s < of.count; s++) {
        const json_t *expected = json_object_get(json_array_get(of.states, s), "dAg_v");
        double product[6];
        deviation found = {0};
        reference_multiply(&of, &answer->results[0].blocks[0], s, of.v + s * of.nv, product);
        reference_multiply(&of, &answer->results[0].blocks[1], s, of.v + s * of.nv, product + 3);
        for (size_t k = 0; k < 6; k++) {
            add(&found, product[k], at(expected, k));
        }
        check(&of, "dAg_v", s, found);
    }
    dyn_client_evaluation_free(answer);
    reference_close(&of);
}
END_TEST

/* Checks C = sum of v_k G_k. */
START_TEST(christoffel_symbols_make_the_coriolis_matrix) {
    static const dyn_client_quantity both[] = {DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX,
                                               DYN_CLIENT_QUANTITY_CHRISTOFFEL_SYMBOLS};
    reference of;
    reference_open(&of, served.request_ipc, files[_i]);
    reference_use_names(&of);
    dyn_client_evaluation *answer = reference_evaluate(&of, 2, both, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    const dyn_client_block *C = answer->results[0].blocks;
    for (size_t s = 0; s < of.count; s++) {
        deviation found = {0};
        const double *symbols = answer->results[1].blocks[0].values + s * of.nv * C->width;
        for (size_t i = 0; i < C->width; i++) {
            double sum = 0;
            for (size_t k = 0; k < of.nv; k++) {
                sum += of.v[s * of.nv + k] * symbols[k * C->width + i];
            }
            add(&found, sum, C->values[s * C->width + i]);
        }
        check(&of, "Christoffel symbols", s, found);
    }
    dyn_client_evaluation_free(answer);
    reference_close(&of);
}
END_TEST

/* Checks d twist/dq v = dJ/dt v, and d acceleration/dv v = 2 dJ/dt v. At rest, with a = v: d acceleration/dq a = dJ/dt
 * a, and d tau/dq is that of M a + g. */
START_TEST(derivatives_of_frames_and_gravity_fit_rates) {
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_RATE, DYN_CLIENT_QUANTITY_FRAME_TWIST_BY_Q,
        DYN_CLIENT_QUANTITY_FRAME_ACCELERATION_BY_V, DYN_CLIENT_QUANTITY_GRAVITY_FORCES_BY_Q};
    static const dyn_client_quantity at_rest[] = {DYN_CLIENT_QUANTITY_FRAME_ACCELERATION_BY_Q,
                                                  DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q};
    reference of;
    reference_open(&of, served.request_ipc, files[_i]);
    reference_use_names(&of);
    double *v = of.v, *a = of.a, *rest = calloc(of.count * of.nv + 1, sizeof *rest);
    dyn_client_evaluation *moving = reference_evaluate(&of, 4, requested, DYN_CLIENT_REFERENCE_FRAME_WORLD);
    of.v = rest;
    of.a = v;
    dyn_client_evaluation *starting = reference_evaluate(&of, 1, at_rest, DYN_CLIENT_REFERENCE_FRAME_WORLD);
    of.a = rest;
    dyn_client_evaluation *resting = reference_evaluate(&of, 1, at_rest + 1, DYN_CLIENT_REFERENCE_FRAME_WORLD);
    for (size_t s = 0; s < of.count; s++) {
        const double *along = v + s * of.nv;
        deviation twist = {0}, acceleration = {0}, start = {0}, gravity = {0};
        for (size_t k = 0; k < 2; k++) {
            double rate[3], by_q[3], by_v[3], a_by_q[3];
            reference_multiply(&of, &moving->results[0].blocks[k], s, along, rate);
            reference_multiply(&of, &moving->results[1].blocks[k], s, along, by_q);
            reference_multiply(&of, &moving->results[2].blocks[k], s, along, by_v);
            reference_multiply(&of, &starting->results[0].blocks[k], s, along, a_by_q);
            for (size_t i = 0; i < 3; i++) {
                add(&twist, by_q[i], rate[i]);
                add(&acceleration, by_v[i], 2 * rate[i]);
                add(&start, a_by_q[i], rate[i]);
            }
        }
        const dyn_client_block *dg = moving->results[3].blocks;
        for (size_t i = 0; i < dg->width; i++) {
            add(&gravity, dg->values[s * dg->width + i], resting->results[0].blocks[0].values[s * dg->width + i]);
        }
        check(&of, "d twist/dq v", s, twist);
        check(&of, "d acceleration/dv v", s, acceleration);
        check(&of, "d acceleration/dq a", s, start);
        check(&of, "dg/dq", s, gravity);
    }
    dyn_client_evaluation_free(moving);
    dyn_client_evaluation_free(starting);
    dyn_client_evaluation_free(resting);
    of.v = v;
    of.a = a;
    free(rest);
    reference_close(&of);
}
END_TEST

/* Checks that power is tau' v, and that velocity and acceleration of the centre of mass follow from its Jacobian. */
START_TEST(power_and_center_of_mass_follow_from_their_factors) {
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_POWER, DYN_CLIENT_QUANTITY_CENTER_OF_MASS_VELOCITY,
        DYN_CLIENT_QUANTITY_CENTER_OF_MASS_JACOBIAN, DYN_CLIENT_QUANTITY_CENTER_OF_MASS_ACCELERATION};
    reference of;
    reference_open(&of, served.request_ipc, files[_i]);
    reference_use_names(&of);
    double *v = of.v, *rest = calloc(of.count * of.nv + 1, sizeof *rest);
    dyn_client_evaluation *answer = reference_evaluate(&of, 3, requested, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.v = rest;
    dyn_client_evaluation *starting = reference_evaluate(&of, 1, requested + 3, DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    of.v = v;
    for (size_t s = 0; s < of.count; s++) {
        deviation power = {0}, velocity = {0}, acceleration = {0};
        double product[3], sum = 0;
        for (size_t k = 0; k < of.nv; k++) {
            sum += of.tau[s * of.nv + k] * of.v[s * of.nv + k];
        }
        add(&power, answer->results[0].blocks[0].values[s], sum);
        reference_multiply(&of, answer->results[2].blocks, s, of.v + s * of.nv, product);
        for (size_t k = 0; k < 3; k++) {
            add(&velocity, answer->results[1].blocks[0].values[3 * s + k], product[k]);
        }
        reference_multiply(&of, answer->results[2].blocks, s, of.a + s * of.nv, product);
        for (size_t k = 0; k < 3; k++) {
            add(&acceleration, starting->results[0].blocks[0].values[3 * s + k], product[k]);
        }
        check(&of, "power", s, power);
        check(&of, "velocity of the centre of mass", s, velocity);
        check(&of, "acceleration of the centre of mass", s, acceleration);
    }
    dyn_client_evaluation_free(answer);
    dyn_client_evaluation_free(starting);
    free(rest);
    reference_close(&of);
}
END_TEST

/* ---- the sample robots ------------------------------------------------------------------------------------------- */

static dyn_client *client;
static const double ZEROS[6];
static const dyn_client_query UR5 = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);

static void start_daemon(void) {
    dyn_client_error error;
    daemon_start(NULL, &served);
    if (dyn_client_connect(served.request_ipc, NULL, &client, &error) != DYN_CLIENT_OK) {
        ck_abort_msg("%s", error.message);
    }
}

/* Lists all quantities but those of constraints, which the sample robots lack: the numbers that have a name. */
static void list_quantities(dyn_client_quantity all[QUANTITIES]) {
    int count = 0;
    for (int number = 0; number < DYN_CLIENT_QUANTITY_CONSTRAINT_JACOBIAN; number++) {
        if (dyn_client_quantity_name((dyn_client_quantity)number)) {
            ck_assert_int_lt(count, QUANTITIES);
            all[count++] = (dyn_client_quantity)number;
        }
    }
    ck_assert_int_eq(count, QUANTITIES);
}

/* Returns whether a quantity is of machine elements, which the sample robots lack. */
static bool is_of_machine_elements(dyn_client_quantity quantity) {
    return quantity >= DYN_CLIENT_QUANTITY_ROTOR_FORCES && quantity <= DYN_CLIENT_QUANTITY_DISSIPATED_POWER;
}

static void stop_daemon(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

/* Checks that each quantity alone equals, bit by bit, the one in a request of all quantities, and that every block
 * states its form. */
START_TEST(quantities_are_the_same_alone_and_together) {
    const char *frames[] = {"tool0", "forearm_link"};
    const dyn_client_task_axis axis = DYN_CLIENT_TASK_AXIS_LINEAR_Y;
    double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6}, v[6] = {1, -2, 3, -4, 5, -6}, a[6] = {6, 5, 4, 3, 2, 1};
    dyn_client_quantity all[QUANTITIES];
    list_quantities(all);
    dyn_client_error error;
    dyn_client_evaluation *together, *alone;
    quantity_question request = {.q = q,
                                 .v = v,
                                 .a = a,
                                 .tau = a,
                                 .dq = v,
                                 .dv = a,
                                 .da = v,
                                 .dtau = v,
                                 .task_axis_count = 1,
                                 .task_axes = &axis,
                                 .quantity_count = QUANTITIES,
                                 .quantities = all,
                                 .frame_count = 2,
                                 .frames = frames};
    ck_assert_int_eq(evaluate_quantities(client, &UR5, &request, &error, &together), DYN_CLIENT_OK);
    request.quantity_count = 1;
    size_t next = 0;
    for (int i = 0; i < QUANTITIES; i++) {
        dyn_client_quantity found;
        ck_assert(dyn_client_find_quantity(dyn_client_quantity_name(all[i]), &found) && found == all[i]);
        request.quantities = &all[i];
        ck_assert_int_eq(evaluate_quantities(client, &UR5, &request, &error, &alone), DYN_CLIENT_OK);
        for (size_t k = 0; k < alone->result_count; k++, next++) {
            ck_assert_str_eq(alone->results[k].frame, together->results[next].frame);
            for (size_t b = 0; b < alone->results[k].block_count; b++) {
                const dyn_client_block *block = &alone->results[k].blocks[b];
                ck_assert_mem_eq(block->values, together->results[next].blocks[b].values,
                                 block->width * sizeof(double));
                ck_assert_str_ne(block->name, "");
                for (size_t entry = 0; entry < block->width; entry++) {
                    ck_assert_str_ne(dyn_client_block_unit(block, entry), "");
                }
            }
        }
        dyn_client_evaluation_free(alone);
    }
    ck_assert_uint_eq(next, together->result_count);
    dyn_client_evaluation_free(together);
}
END_TEST

/* Checks that the results of a state have the same bits alone and among a thousand states, in blocks over several
 * threads. */
START_TEST(results_do_not_depend_on_the_batch) {
    enum { SAMPLES = 1000 };
    static const dyn_client_quantity requested[] = {
        DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX, DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_RATE,
        DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q, DYN_CLIENT_QUANTITY_JOINT_WRENCHES};
    static const char *const frame = "tool0";
    static const char *const names[] = {"wrist_3_joint",      "elbow_joint",   "wrist_1_joint",
                                        "shoulder_pan_joint", "wrist_2_joint", "shoulder_lift_joint"};
    static double rows[4][SAMPLES * 6];
    for (size_t i = 0; i < 4 * SAMPLES * 6; i++) {
        rows[i / (SAMPLES * 6)][i % (SAMPLES * 6)] = sin(1.7 * (double)i);
    }
    dyn_client_error error;
    dyn_client_evaluation *all, *one;
    dyn_client_query query = UR5;
    query.joint_count = 6;
    query.joint_names = names;
    query.samples = SAMPLES;
    quantity_question request = {.q = rows[0],
                                 .v = rows[1],
                                 .a = rows[2],
                                 .tau = rows[3],
                                 .quantity_count = 4,
                                 .quantities = requested,
                                 .frame_count = 1,
                                 .frames = &frame};
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &all), DYN_CLIENT_OK);
    query.samples = 1;
    for (size_t s = 0; s < SAMPLES; s += 37) {
        request.q = rows[0] + 6 * s, request.v = rows[1] + 6 * s;
        request.a = rows[2] + 6 * s, request.tau = rows[3] + 6 * s;
        ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &one), DYN_CLIENT_OK);
        for (size_t i = 0; i < one->result_count; i++) {
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

/* Checks that the torque about a joint's axis in its wrench is the joint's own. */
START_TEST(joint_wrenches_hold_the_joint_forces) {
    static const dyn_client_quantity both[] = {DYN_CLIENT_QUANTITY_JOINT_WRENCHES,
                                               DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS};
    const double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6}, v[6] = {1, -2, 3, -4, 5, -6}, a[6] = {6, 5, 4, 3, 2, 1};
    dyn_client_error error;
    dyn_client_description *robot;
    dyn_client_evaluation *answer;
    quantity_question request = {.q = q, .v = v, .a = a, .quantity_count = 2, .quantities = both};
    ck_assert_int_eq(dyn_client_describe_model(client, "ur5", 0, &robot, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(evaluate_quantities(client, &UR5, &request, &error, &answer), DYN_CLIENT_OK);
    ck_assert_str_eq(answer->results[0].blocks[1].name, "torque");
    const dyn_client_axis *bodies = dyn_client_find_axis(answer, DYN_CLIENT_AXIS_KIND_BODIES);
    ck_assert_uint_eq(bodies->size, robot->joint_count);
    for (size_t i = 0; i < robot->joint_count; i++) {
        const double *torque = answer->results[0].blocks[1].values + 3 * i, *axis = robot->joints[i].axis;
        ck_assert_str_eq(bodies->labels[i], robot->joints[i].child_link);
        ck_assert_double_eq_tol(torque[0] * axis[0] + torque[1] * axis[1] + torque[2] * axis[2],
                                answer->results[1].blocks[0].values[i], 1e-10);
    }
    dyn_client_evaluation_free(answer);
    dyn_client_description_free(robot);
}
END_TEST

/* Checks that V' I V / 2, with the twist V and the inertia I of each body, adds up to the kinetic energy, in any
 * reference frame. */
START_TEST(body_inertias_carry_the_kinetic_energy) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_KINETIC_ENERGY, DYN_CLIENT_QUANTITY_FRAME_TWIST,
                                                    DYN_CLIENT_QUANTITY_FRAME_BODY_INERTIA,
                                                    DYN_CLIENT_QUANTITY_TORQUE_REGRESSOR};
    const double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6}, v[6] = {1, -2, 3, -4, 5, -6};
    static const char *const links[] = {"shoulder_link", "upper_arm_link", "forearm_link",
                                        "wrist_1_link",  "wrist_2_link",   "tool0"};
    dyn_client_error error;
    dyn_client_evaluation *answer;
    for (int frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL; frame <= DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED;
         frame++) {
        const quantity_question request = {.q = q,
                                           .v = v,
                                           .quantity_count = 4,
                                           .quantities = requested,
                                           .frame_count = 6,
                                           .frames = links,
                                           .reference_frame = (dyn_client_reference_frame)frame};
        ck_assert_int_eq(evaluate_quantities(client, &UR5, &request, &error, &answer), DYN_CLIENT_OK);
        double sum = 0;
        for (size_t i = 0; i < 6; i++) {
            const dyn_client_block *twist = answer->results[1 + i].blocks, *inertia = answer->results[7 + i].blocks;
            ck_assert_str_eq(inertia->axes[0]->labels[0], "linear x");
            ck_assert_str_eq(dyn_client_block_unit(inertia, 0), "kg");
            ck_assert_str_eq(dyn_client_block_unit(inertia, 3), "kg m");
            ck_assert_str_eq(dyn_client_block_unit(inertia, 35), "kg m^2");
            for (size_t k = 0; k < 36; k++) {
                sum += inertia->values[k] * twist[k / 6 / 3].values[k / 6 % 3] * twist[k % 6 / 3].values[k % 3] / 2;
            }
        }
        ck_assert_double_eq_tol(sum, answer->results[0].blocks[0].values[0], 1e-10 * sum);
        dyn_client_evaluation_free(answer);
    }
}
END_TEST

/* Checks that the inertias of joints are the diagonal of M and the reciprocals of the diagonal of its inverse. */
START_TEST(joint_inertias_are_diagonals) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_JOINT_INERTIAS, DYN_CLIENT_QUANTITY_MASS_MATRIX,
                                                    DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX};
    const double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6};
    dyn_client_error error;
    dyn_client_evaluation *answer;
    const quantity_question request = {.q = q, .quantity_count = 3, .quantities = requested};
    ck_assert_int_eq(evaluate_quantities(client, &UR5, &request, &error, &answer), DYN_CLIENT_OK);
    const dyn_client_block *held = &answer->results[0].blocks[0], *loose = &answer->results[0].blocks[1];
    ck_assert_str_eq(held->name, "held");
    ck_assert_str_eq(loose->name, "free");
    ck_assert_str_eq(dyn_client_block_unit(held, 0), "kg m^2");
    for (size_t i = 0; i < 6; i++) {
        ck_assert_double_eq_tol(held->values[i], answer->results[1].blocks[0].values[7 * i], 1e-12);
        ck_assert_double_eq_tol(loose->values[i] * answer->results[2].blocks[0].values[7 * i], 1, 1e-9);
    }
    dyn_client_evaluation_free(answer);
}
END_TEST

/* Checks that the rotation matrix of a frame is that of its quaternion, and that roll, pitch and yaw compose it. */
START_TEST(orientations_are_those_of_the_pose) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_FRAME_ORIENTATION,
                                                    DYN_CLIENT_QUANTITY_FRAME_POSE};
    const double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6};
    static const char *const link = "tool0";
    dyn_client_error error;
    dyn_client_evaluation *answer;
    const quantity_question request = {
        .q = q, .quantity_count = 2, .quantities = requested, .frame_count = 1, .frames = &link};
    ck_assert_int_eq(evaluate_quantities(client, &UR5, &request, &error, &answer), DYN_CLIENT_OK);
    const double *R = answer->results[0].blocks[0].values, *rpy = answer->results[0].blocks[1].values;
    const double *e = answer->results[1].blocks[1].values;
    const double x[3] = {1 - 2 * (e[1] * e[1] + e[2] * e[2]), 2 * (e[0] * e[1] + e[3] * e[2]),
                         2 * (e[0] * e[2] - e[3] * e[1])};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(R[3 * i], x[i], 1e-14);
    }
    ck_assert_double_eq_tol(R[0], cos(rpy[2]) * cos(rpy[1]), 1e-14);
    ck_assert_double_eq_tol(R[3], sin(rpy[2]) * cos(rpy[1]), 1e-14);
    ck_assert_double_eq_tol(R[6], -sin(rpy[1]), 1e-14);
    ck_assert_double_eq_tol(R[7], cos(rpy[1]) * sin(rpy[0]), 1e-14);
    ck_assert_str_eq(dyn_client_block_unit(&answer->results[0].blocks[1], 0), "rad");
    dyn_client_evaluation_free(answer);
}
END_TEST

/* Checks that principal moments and axes compose the inertia about the centre of mass, which the spatial inertia
 * contains. */
START_TEST(principal_axes_make_the_inertia_of_the_body) {
    static const dyn_client_quantity requested[] = {DYN_CLIENT_QUANTITY_FRAME_PRINCIPAL_AXES,
                                                    DYN_CLIENT_QUANTITY_FRAME_BODY_INERTIA};
    const double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6};
    static const char *const link = "forearm_link";
    dyn_client_error error;
    dyn_client_evaluation *answer;
    for (int frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL; frame <= DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED;
         frame++) {
        const quantity_question request = {.q = q,
                                           .quantity_count = 2,
                                           .quantities = requested,
                                           .frame_count = 1,
                                           .frames = &link,
                                           .reference_frame = (dyn_client_reference_frame)frame};
        ck_assert_int_eq(evaluate_quantities(client, &UR5, &request, &error, &answer), DYN_CLIENT_OK);
        const double *moments = answer->results[0].blocks[0].values, *axes = answer->results[0].blocks[1].values;
        const double *I = answer->results[1].blocks[0].values, m = I[0];
        /* The block of angular rows and linear columns is m [c], the cross product matrix of the centre of mass. */
        const double c[3] = {I[6 * 5 + 1] / m, I[6 * 3 + 2] / m, I[6 * 4 + 0] / m};
        ck_assert(moments[0] >= moments[1] && moments[1] >= moments[2] && moments[2] > 0);
        for (size_t i = 0; i < 9; i++) {
            double found = 0, squared = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
            for (size_t k = 0; k < 3; k++) {
                found += moments[k] * axes[3 * k + i / 3] * axes[3 * k + i % 3];
            }
            double steiner = m * ((i % 4 == 0 ? squared : 0) - c[i / 3] * c[i % 3]);
            ck_assert_double_eq_tol(found + steiner, I[6 * (3 + i / 3) + 3 + i % 3], 1e-12);
        }
        dyn_client_evaluation_free(answer);
    }
}
END_TEST

/* Checks that a request for one state of the arm is refused with its field. */
static void must_refuse(const dyn_client_evaluate_request *request, dyn_client_status status, const char *field) {
    dyn_client_error error;
    dyn_client_evaluation *answer;
    ck_assert_int_eq(dyn_client_evaluate(client, &UR5, request, &answer, &error), status);
    ck_assert_str_eq(error.field, field);
    ck_assert_ptr_null(answer);
}

/* Checks that a request for one quantity is refused with its field. */
static void must_refuse_one(dyn_client_quantity_request one, dyn_client_status status, const char *field) {
    must_refuse(&(dyn_client_evaluate_request)DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = ZEROS, .quantity_count = 1,
                                                                               .quantities = &one),
                status, field);
}

START_TEST(wrong_requests_are_refused_with_their_field) {
    const char *frames[] = {"tool0", "nowhere"}, *again[] = {"tool0", "tool0"};
    const double bad[6] = {0, 0, 0, NAN, 0, 0};
    const dyn_client_quantity_request power = {.quantity = DYN_CLIENT_QUANTITY_POWER}, thrice[] = {power, power, power};
    must_refuse_one((dyn_client_quantity_request){.quantity = DYN_CLIENT_QUANTITY_FRAME_POSE},
                    DYN_CLIENT_INVALID_ARGUMENT, "evaluate.quantities[0].frames");
    must_refuse_one(
        (dyn_client_quantity_request){.quantity = DYN_CLIENT_QUANTITY_FRAME_POSE, .frame_count = 2, .frames = frames},
        DYN_CLIENT_NOT_FOUND, "evaluate.quantities[0].frames[1]");
    must_refuse_one(
        (dyn_client_quantity_request){.quantity = DYN_CLIENT_QUANTITY_FRAME_POSE, .frame_count = 2, .frames = again},
        DYN_CLIENT_INVALID_ARGUMENT, "evaluate.quantities[0].frames[1]");
    must_refuse_one((dyn_client_quantity_request){.quantity = DYN_CLIENT_QUANTITY_FRAME_TWIST,
                                                  .frame_count = 1,
                                                  .frames = frames,
                                                  .reference_frame = (dyn_client_reference_frame)7},
                    DYN_CLIENT_INVALID_ARGUMENT, "evaluate.quantities[0].reference_frame");
    must_refuse_one((dyn_client_quantity_request){.quantity = DYN_CLIENT_QUANTITY_CENTER_OF_MASS, .subtree = "nothing"},
                    DYN_CLIENT_NOT_FOUND, "evaluate.quantities[0].subtree");
    must_refuse_one((dyn_client_quantity_request){.quantity = (dyn_client_quantity)999}, DYN_CLIENT_INVALID_ARGUMENT,
                    "evaluate.quantities[0].quantity");
    must_refuse_one((dyn_client_quantity_request){.quantity = (dyn_client_quantity)0}, DYN_CLIENT_INVALID_ARGUMENT,
                    "evaluate.quantities[0].quantity");
    must_refuse_one((dyn_client_quantity_request){.quantity = (dyn_client_quantity)-1}, DYN_CLIENT_INVALID_ARGUMENT,
                    "evaluate.quantities[0].quantity");
    dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = ZEROS, .quantity_count = 3, .quantities = thrice);
    must_refuse(&request, DYN_CLIENT_INVALID_ARGUMENT, "evaluate.quantities[1]");
    request.quantity_count = 1;
    request.tau = bad;
    request.v = ZEROS;
    must_refuse(&request, DYN_CLIENT_INVALID_ARGUMENT, "evaluate.tau[3]");
    request.quantity_count = 0;
    must_refuse(&request, DYN_CLIENT_INVALID_ARGUMENT, "quantities");
}
END_TEST

/* Checks that an input is refused when no quantity depends on it, since the caller must have misunderstood. */
START_TEST(inputs_without_use_are_refused_with_their_field) {
    static const char *const frame = "tool0";
    static const dyn_client_task_frame task = {.frame = "tool0"};
    const dyn_client_quantity_request mass = {.quantity = DYN_CLIENT_QUANTITY_MASS_MATRIX};
    dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = ZEROS, .quantity_count = 1, .quantities = &mass);
    const double **const arrays[] = {&request.v,  &request.a,  &request.tau, &request.dq,
                                     &request.dv, &request.da, &request.dtau};
    static const char *const fields[] = {"evaluate.v",  "evaluate.a",  "evaluate.tau", "evaluate.dq",
                                         "evaluate.dv", "evaluate.da", "evaluate.dtau"};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = ZEROS;
        must_refuse(&request, DYN_CLIENT_INVALID_ARGUMENT, fields[i]);
        *arrays[i] = NULL;
    }
    dyn_client_quantity_request one = mass;
    one.frame_count = 1;
    one.frames = &frame;
    must_refuse_one(one, DYN_CLIENT_INVALID_ARGUMENT, "evaluate.quantities[0].frames");
    one = mass;
    one.subtree = "elbow_joint";
    must_refuse_one(one, DYN_CLIENT_INVALID_ARGUMENT, "evaluate.quantities[0].subtree");
    one = mass;
    one.task_frame_count = 1;
    one.task_frames = &task;
    must_refuse_one(one, DYN_CLIENT_INVALID_ARGUMENT, "evaluate.quantities[0].task");
    one = mass;
    one.reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD;
    must_refuse_one(one, DYN_CLIENT_INVALID_ARGUMENT, "evaluate.quantities[0].reference_frame");
    dyn_client_error error;
    dyn_client_evaluation *answer;
    dyn_client_query query = UR5;
    query.gravity = ZEROS;
    ck_assert_int_eq(dyn_client_evaluate(client, &query, &request, &answer, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "evaluate.query.gravity");
}
END_TEST

/* Checks that an array changes the result of a quantity exactly where the quantity states that it depends on the
 * array. */
START_TEST(quantities_depend_on_the_inputs_that_they_state) {
    static const char *const frames[] = {"tool0"};
    double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6}, rows[7][6], changed[6];
    dyn_client_quantity all[QUANTITIES];
    list_quantities(all);
    for (size_t i = 0; i < 42; i++) {
        rows[i / 6][i % 6] = sin(1.3 * (double)i + 0.4);
    }
    quantity_question request = {.q = q,
                                 .v = rows[0],
                                 .a = rows[1],
                                 .tau = rows[2],
                                 .dq = rows[3],
                                 .dv = rows[4],
                                 .da = rows[5],
                                 .dtau = rows[6],
                                 .quantity_count = QUANTITIES,
                                 .quantities = all,
                                 .frame_count = 1,
                                 .frames = frames};
    const double **const arrays[] = {&request.v,  &request.a,  &request.tau, &request.dq,
                                     &request.dv, &request.da, &request.dtau};
    dyn_client_error error;
    dyn_client_evaluation *before, *after;
    ck_assert_int_eq(evaluate_quantities(client, &UR5, &request, &error, &before), DYN_CLIENT_OK);
    for (unsigned input = 0; input < 7; input++) {
        const double *original = *arrays[input];
        for (size_t i = 0; i < 6; i++) {
            changed[i] = original[i] + 0.5 + 0.1 * (double)i;
        }
        *arrays[input] = changed;
        ck_assert_int_eq(evaluate_quantities(client, &UR5, &request, &error, &after), DYN_CLIENT_OK);
        *arrays[input] = original;
        for (size_t r = 0; r < before->result_count; r++) {
            const dyn_client_quantity_result *result = &before->results[r];
            bool differs = false;
            for (size_t b = 0; b < result->block_count; b++) {
                differs |= memcmp(result->blocks[b].values, after->results[r].blocks[b].values,
                                  result->blocks[b].width * sizeof(double)) != 0;
            }
            if (is_of_machine_elements(result->quantity)) {
                ck_assert(!differs);
                continue;
            }
            ck_assert_msg(differs == (result->inputs >> input & 1), "%s and input %u: %s",
                          dyn_client_quantity_name(result->quantity), input, differs ? "changed" : "did not change");
        }
        dyn_client_evaluation_free(after);
    }
    dyn_client_evaluation_free(before);
}
END_TEST

/* Checks that quantities of one request may have reference frames, tasks and subtrees of their own. */
START_TEST(quantities_of_one_request_have_frames_of_their_own) {
    static const char *const frame = "tool0", *const elbow = "forearm_link";
    static const dyn_client_task_axis lift = DYN_CLIENT_TASK_AXIS_LINEAR_Z;
    static const dyn_client_task_frame tasks[] = {{.frame = "tool0"},
                                                  {.frame = "forearm_link", .axis_count = 1, .axes = &lift}};
    const dyn_client_quantity_request requested[] = {
        {.quantity = DYN_CLIENT_QUANTITY_FRAME_TWIST,
         .frame_count = 1,
         .frames = &frame,
         .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL},
        {.quantity = DYN_CLIENT_QUANTITY_FRAME_TWIST,
         .frame_count = 1,
         .frames = &frame,
         .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD},
        {.quantity = DYN_CLIENT_QUANTITY_FRAME_JACOBIAN,
         .frame_count = 1,
         .frames = &elbow,
         .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED},
        {.quantity = DYN_CLIENT_QUANTITY_CENTER_OF_MASS},
        {.quantity = DYN_CLIENT_QUANTITY_CENTER_OF_MASS, .subtree = "elbow_joint"},
        {.quantity = DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INVERSE_INERTIA,
         .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD,
         .task_frame_count = 1,
         .task_frames = tasks},
        {.quantity = DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INVERSE_INERTIA,
         .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD,
         .task_frame_count = 1,
         .task_frames = tasks + 1},
    };
    enum { REQUESTED = sizeof requested / sizeof *requested };
    const double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6}, v[6] = {1, -2, 3, -4, 5, -6};
    dyn_client_error error;
    dyn_client_evaluation *together, *alone;
    dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = q, .v = v, .quantity_count = REQUESTED, .quantities = requested);
    if (dyn_client_evaluate(client, &UR5, &request, &together, &error) != DYN_CLIENT_OK) {
        ck_abort_msg("%s: %s", error.field, error.message);
    }
    ck_assert_uint_eq(together->result_count, REQUESTED);
    for (size_t i = 0; i < REQUESTED; i++) {
        const dyn_client_quantity_result *result = &together->results[i];
        request = (dyn_client_evaluate_request)
            DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = q, .v = result->inputs & DYN_CLIENT_QUANTITY_INPUT_V ? v : NULL,
                                             .quantity_count = 1, .quantities = &requested[i]);
        ck_assert_int_eq(dyn_client_evaluate(client, &UR5, &request, &alone, &error), DYN_CLIENT_OK);
        ck_assert_uint_eq(result->request, i);
        ck_assert_int_eq(result->reference_frame, requested[i].reference_frame);
        for (size_t b = 0; b < result->block_count; b++) {
            ck_assert_uint_eq(result->blocks[b].width, alone->results[0].blocks[b].width);
            ck_assert_mem_eq(result->blocks[b].values, alone->results[0].blocks[b].values,
                             result->blocks[b].width * sizeof(double));
        }
        dyn_client_evaluation_free(alone);
    }
    ck_assert_uint_eq(together->results[5].blocks[0].width, 36);
    ck_assert_str_eq(together->results[5].blocks[0].axes[0]->labels[0], "tool0 linear x");
    ck_assert_str_eq(together->results[5].blocks[0].axes[0]->labels[3], "tool0 angular x");
    ck_assert_str_eq(together->results[6].blocks[0].axes[0]->labels[0], "forearm_link linear z");
    ck_assert_double_ne(together->results[0].blocks[0].values[0], together->results[1].blocks[0].values[0]);
    ck_assert_double_ne(together->results[3].blocks[0].values[2], together->results[4].blocks[0].values[2]);
    dyn_client_evaluation_free(together);
}
END_TEST

/* Checks a reply beyond the limit: 10000 samples of the regressor of 6 joints have 29 MB; the request is for ten times
 * as many. */
START_TEST(reply_beyond_the_limit_is_refused_before_it_is_computed) {
    static const dyn_client_quantity regressor = DYN_CLIENT_QUANTITY_TORQUE_REGRESSOR;
    dyn_client_error error;
    dyn_client_evaluation *answer;
    dyn_client_query query = UR5;
    query.samples = 100000;
    double *q = calloc(query.samples * 6, sizeof *q);
    quantity_question request = {.q = q, .quantity_count = 1, .quantities = &regressor};
    ck_assert_int_eq(evaluate_quantities(client, &query, &request, &error, &answer), DYN_CLIENT_RESOURCE_EXHAUSTED);
    /* A batch that is spread over NATS is within the daemon's limit, and beyond that of the client. */
    const char *limit = getenv("DYNAMICS_TEST_CARRIER") ? "max_reply_bytes" : "limits.reply_bytes";
    ck_assert_msg(strstr(error.message, limit) != NULL, "%s", error.message);
    free(q);
}
END_TEST

int main(void) {
    files = reference_files(&file_count);
    if (file_count == 0) {
        printf("no reference values: only the sample robots are evaluated\n");
    }
    TCase *all = tcase_create("evaluate");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_loop_test(all, quantities_agree_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, regressor_agrees_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, rate_of_the_momentum_matrix_agrees_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, christoffel_symbols_make_the_coriolis_matrix, 0, file_count);
    tcase_add_loop_test(all, derivatives_of_frames_and_gravity_fit_rates, 0, file_count);
    tcase_add_loop_test(all, power_and_center_of_mass_follow_from_their_factors, 0, file_count);
    tcase_add_test(all, quantities_are_the_same_alone_and_together);
    tcase_add_test(all, results_do_not_depend_on_the_batch);
    tcase_add_test(all, joint_wrenches_hold_the_joint_forces);
    tcase_add_test(all, body_inertias_carry_the_kinetic_energy);
    tcase_add_test(all, joint_inertias_are_diagonals);
    tcase_add_test(all, orientations_are_those_of_the_pose);
    tcase_add_test(all, principal_axes_make_the_inertia_of_the_body);
    tcase_add_test(all, wrong_requests_are_refused_with_their_field);
    tcase_add_test(all, inputs_without_use_are_refused_with_their_field);
    tcase_add_test(all, quantities_depend_on_the_inputs_that_they_state);
    tcase_add_test(all, quantities_of_one_request_have_frames_of_their_own);
    tcase_add_test(all, reply_beyond_the_limit_is_refused_before_it_is_computed);
    int failed = run_unforked("evaluate", all);
    reference_summarize(file_count);
    reference_files_free(files, file_count);
    return failed;
}
