/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares models with custom joints with Simbody, whose MobilizedBody::FunctionBased has the spatial transform of
 * OpenSim: a leg with a rolling and sliding knee, and random chains with custom joints between revolute ones. Simbody
 * evaluates polynomials and natural splines by its own functions.
 *
 * Simbody 3.7 computes another rate of the motion subspace where several rotations of one joint vary: its accelerations
 * are not the differences of its own twists then. So joints with one varying rotation are compared in all quantities,
 * and joints with three in those that do not depend on this rate, and in the differences of its twists.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "peer.h"
#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/knee.h"
#include "support/random_tree.h"

enum { MOTIONS = 6, CHAINS = 60, STATES = 20, JOINTS = 6 };

/* Makes a function constant. */
static void set_constant(double value, dyn_joint_function *f) {
    *f = (dyn_joint_function){DYN_FUNCTION_KIND_POLYNOMIAL, 1, .coefficients = {value}};
}

/* Fills in the motions of the knee as three translations and three rotations. */
static void complete_knee(dyn_joint_motion motions[MOTIONS]) {
    for (int k = 0; k < MOTIONS; k++) {
        motions[k] =
            (dyn_joint_motion){.kind = k < 3 ? DYN_JOINT_MOTION_KIND_TRANSLATION : DYN_JOINT_MOTION_KIND_ROTATION};
        motions[k].axis[k % 3] = 1;
        set_constant(0, &motions[k].function);
    }
    motions[0] = knee_motions[0], motions[1] = knee_motions[1], motions[5] = knee_motions[2];
}

/* Fills in random motions: polynomials of degree three and splines, about axes near those of the frame. The first two
 * rotations are constant unless `turns_freely`. */
static void fill_motions(random_source *random, bool turns_freely, dyn_joint_motion motions[MOTIONS]) {
    complete_knee(motions);
    for (int k = 0; k < MOTIONS; k++) {
        dyn_joint_function *f = &motions[k].function;
        double tilt[3];
        random_vector(random, 3, 0.3, tilt);
        for (int i = 0; i < 3; i++) {
            motions[k].axis[i] += tilt[i];
        }
        *f = (dyn_joint_function){.kind = random_index(random, 2) ? DYN_FUNCTION_KIND_CUBIC_SPLINE
                                                                  : DYN_FUNCTION_KIND_POLYNOMIAL};
        f->count = f->kind == DYN_FUNCTION_KIND_POLYNOMIAL ? 4 : 8;
        random_vector(random, 4, 0.5, f->coefficients);
        random_vector(random, f->count, 0.5, f->values);
        for (int i = 0; i < f->count; i++) {
            f->knots[i] = -2.1 + 0.6 * i + random_uniform(random, -0.2, 0.2);
        }
    }
    motions[5].function = knee_motions[2].function;
    for (int k = 3; k < 5 && !turns_freely; k++) {
        set_constant(random_uniform(random, -1, 1), &motions[k].function);
    }
}

static dyn_inertia random_inertia(random_source *random) {
    double x = random_uniform(random, 0.01, 0.1), y = random_uniform(random, 0.01, 0.1);
    dyn_inertia inertia = {.mass = random_uniform(random, 0.5, 4), .rotational = {x + 0.02, 0, 0, y + 0.02, 0, x + y}};
    random_vector(random, 3, 0.2, inertia.center_of_mass);
    return inertia;
}

/* Builds a chain whose joints are revolute and custom in turn; `motions` NULL: random ones. */
static dyn_model *build_chain(random_source *random, const dyn_joint_motion *motions, bool turns_freely) {
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    const dyn_link_description base = {.name = "link0"};
    require(dyn_builder_create("chain", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &base, &error), &error);
    for (int i = 0; i < JOINTS; i++) {
        dyn_joint_motion own[MOTIONS];
        char name[16], parent[16], child[16];
        snprintf(name, sizeof name, "joint%d", i);
        snprintf(parent, sizeof parent, "link%d", i);
        snprintf(child, sizeof child, "link%d", i + 1);
        dyn_joint_description joint = {.name = name,
                                       .type = i % 2 ? DYN_JOINT_TYPE_CUSTOM : DYN_JOINT_TYPE_REVOLUTE,
                                       .parent_link = parent,
                                       .child_link = child,
                                       .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                       .motion_count = i % 2 ? MOTIONS : 0,
                                       .motions = motions ? motions : own};
        const dyn_link_description link = {.name = child, .inertia = random_inertia(random)};
        random_vector(random, 3, 0.3, joint.position);
        random_unit(random, 3, joint.axis);
        fill_motions(random, turns_freely, own);
        require(dyn_builder_add_joint(builder, &joint, &error), &error);
        require(dyn_builder_add_link(builder, &link, &error), &error);
    }
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Returns whether a quantity depends on the rate of the motion subspace. */
static bool depends_on_rate(algorithm_id id) {
    return id == ALGORITHM_RNEA || id == ALGORITHM_BIAS || id == ALGORITHM_CORIOLIS_FORCES || id == ALGORITHM_ABA ||
           id == ALGORITHM_FRAME_ACCELERATION;
}

/* Compares our acceleration of the frame at constant v with differences of Simbody's twists. */
static void compare_rate(const peer_library *library, peer *robot, const algorithm_input *in, int k) {
    const double h = 1e-5, zero[JOINTS] = {0};
    double q[JOINTS], ours[6], rates[2][6];
    dyn_error error;
    algorithm_input at = *in;
    at.a = zero;
    require(algorithm_compute(ALGORITHM_FRAME_ACCELERATION, &at, &error, ours), &error);
    at.q = q;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < JOINTS; i++) {
            q[i] = in->q[i] + (side ? h : -h) * in->v[i];
        }
        ck_assert(peer_algorithm_of(library, ALGORITHM_TWIST)(robot, &at, rates[side]));
    }
    for (int i = 0; i < 6; i++) {
        rates[0][i] = (rates[1][i] - rates[0][i]) / (2 * h);
    }
    assert_norm_close("differences of twists", k, ours, rates[0], 6, 1e-7);
}

/* Compares the quantities of Simbody in random states. Returns the number of comparisons. */
static int compare(random_source *random, const dyn_model *model, bool turns_freely, int k) {
    char reason[PEER_REASON_SIZE] = "";
    const peer_library *library = peer_find("simbody");
    peer *robot = library->create(model, false, reason);
    ck_assert_msg(robot != NULL, "%s", reason);
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    double q[JOINTS], v[JOINTS], a[JOINTS], tau[JOINTS], wrench[6], ours[6 * JOINTS + 18], theirs[6 * JOINTS + 18];
    const algorithm_input in = {
        .model = model, .workspace = w, .n = 1, .q = q, .v = v, .a = a, .tau = tau, .wrench = wrench, .frame = JOINTS};
    int compared = 0;
    for (int state = 0; state < STATES; state++) {
        random_vector(random, JOINTS, 1.9, q);
        random_vector(random, JOINTS, 1, v);
        random_vector(random, JOINTS, 2, a);
        random_vector(random, 6, 10, wrench);
        require(dyn_rnea(model, w, 1, NULL, q, v, a, NULL, tau, &error), &error);
        compare_rate(library, robot, &in, k);
        for (const peer_algorithm *each = library->algorithms; each->compute; each++) {
            if (turns_freely && depends_on_rate(each->id)) {
                continue;
            }
            require(algorithm_compute(each->id, &in, &error, ours), &error);
            ck_assert(each->compute(robot, &in, theirs));
            assert_norm_close(algorithm_get(each->id)->name, k, ours, theirs, algorithm_width(each->id, model), 1e-9);
            compared++;
        }
    }
    dyn_workspace_free(w);
    library->destroy(robot);
    return compared;
}

START_TEST(knee_is_that_of_simbody) {
    random_source random = random_seed("knee of simbody", 182);
    dyn_joint_motion motions[MOTIONS];
    complete_knee(motions);
    dyn_model *model = build_chain(&random, motions, false);
    ck_assert_int_ge(compare(&random, model, false, 0), 16 * STATES);
    dyn_model_free(model);
}
END_TEST

START_TEST(random_custom_joints_are_those_of_simbody) {
    random_source base = random_seed("custom joints of simbody", 183);
    for (int k = 0; k < CHAINS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        bool turns_freely = k % 2 == 1;
        dyn_model *model = build_chain(&random, NULL, turns_freely);
        compare(&random, model, turns_freely, k);
        dyn_model_free(model);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("custom joints");
    tcase_add_test(tests, knee_is_that_of_simbody);
    tcase_add_test(tests, random_custom_joints_are_those_of_simbody);
    return run_properties("custom_joint_agreement", tests);
}
