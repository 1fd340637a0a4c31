/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks articulated inertias on random trees: the wrench I_A A + p_A of forward dynamics is the one that the joint of
 * the link transmits, and I_A of a robot that floats is the operational-space inertia of its root.
 */
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 60, SAMPLES = 2 };

static const dyn_reference_frame reference_frames[] = {DYN_REFERENCE_FRAME_LOCAL, DYN_REFERENCE_FRAME_WORLD,
                                                       DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED};

/* Returns the tree with rotors. */
static dyn_model *with_rotors(random_source *random, dyn_model *tree) {
    dyn_error error;
    dyn_builder *builder;
    dyn_model *geared;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_describe(tree, &builder, &error), &error);
    require(dyn_model_build_options(tree, &options, &error), &error);
    add_random_rotors(random, tree, builder);
    require(dyn_builder_build(builder, &options, NULL, &geared, &error), &error);
    dyn_builder_free(builder);
    dyn_model_free(tree);
    return geared;
}

/* Random robot in states of forward dynamics. */
typedef struct articulated_case {
    dyn_model *model;
    dyn_workspace *workspace;
    size_t nq, nv;
    double *q, *v, *tau, *a, wrench[6 * SAMPLES];
    dyn_external_force force;
    dyn_external_forces forces;
} articulated_case;

static void open_case(random_source *random, int k, dyn_base base, articulated_case *c) {
    dyn_error error;
    const random_tree_options options = {.joints = 2 + k % 9, .base = base, .with_custom = k % 2, .with_fixed = true};
    *c = (articulated_case){.model = random_tree(random, &options)};
    c->model = k % 3 == 2 ? with_rotors(random, c->model) : c->model;
    require(dyn_workspace_create(c->model, &c->workspace, &error), &error);
    c->nq = (size_t)dyn_model_nq(c->model), c->nv = (size_t)dyn_model_nv(c->model);
    c->q = numbers(SAMPLES * c->nq), c->v = numbers(SAMPLES * c->nv), c->tau = numbers(SAMPLES * c->nv),
    c->a = numbers(SAMPLES * c->nv);
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, c->model, 2, c->q + s * c->nq);
    }
    random_vector(random, (int)(SAMPLES * c->nv), 2, c->v), random_vector(random, (int)(SAMPLES * c->nv), 9, c->tau);
    random_vector(random, 6 * SAMPLES, 5, c->wrench);
    c->force = (dyn_external_force){dyn_model_link_count(c->model) - 1, DYN_REFERENCE_FRAME_WORLD, c->wrench, 6};
    c->forces = (dyn_external_forces){1, &c->force};
    require(dyn_aba(c->model, c->workspace, SAMPLES, NULL, c->q, c->v, c->tau, &c->forces, c->a, &error), &error);
}

static void close_case(articulated_case *c) {
    free(c->q), free(c->v), free(c->tau), free(c->a);
    dyn_workspace_free(c->workspace);
    dyn_model_free(c->model);
}

/* Computes f = I_A A + p_A of a frame in all samples. */
static void find_wrenches(const articulated_case *c, int frame, dyn_reference_frame reference_frame, double *f) {
    double inertia[36 * SAMPLES], rate[6 * SAMPLES];
    dyn_error error;
    require(dyn_articulated_inertia(c->model, c->workspace, SAMPLES, NULL, c->q, c->v, c->tau, &c->forces, frame,
                                    reference_frame, inertia, f, &error),
            &error);
    require(dyn_frame_motion(c->model, c->workspace, SAMPLES, c->q, c->v, c->a, frame, reference_frame, NULL, rate,
                             NULL, &error),
            &error);
    for (int i = 0; i < 6 * SAMPLES; i++) {
        for (int k = 0; k < 6; k++) {
            f[i] += inertia[6 * i + k] * rate[i / 6 * 6 + k];
        }
    }
}

/* Moves wrenches from the world, or from axes of the world at the frame's origin, to the frame. */
static void to_local(const articulated_case *c, int frame, dyn_reference_frame from, double *f) {
    for (size_t s = 0; s < SAMPLES; s++) {
        double p[3], R[9], turned[6], *n = f + 6 * s, *l = n + 3;
        dyn_error error;
        require(dyn_frame_pose(c->model, c->workspace, 1, c->q + s * c->nq, frame, p, R, &error), &error);
        for (int i = 0; i < 3 && from == DYN_REFERENCE_FRAME_WORLD; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            n[i] -= p[j] * l[k] - p[k] * l[j];
        }
        for (int i = 0; i < 6; i++) {
            const double *x = n + i / 3 * 3;
            turned[i] = R[i % 3] * x[0] + R[3 + i % 3] * x[1] + R[6 + i % 3] * x[2];
        }
        memcpy(n, turned, sizeof turned);
    }
}

START_TEST(a_joint_transmits_the_wrench_of_its_articulated_body) {
    random_source base = random_seed("articulated inertias", 2820);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        articulated_case c;
        dyn_error error;
        open_case(&random, k, k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED, &c);
        size_t joints = (size_t)dyn_model_joint_count(c.model);
        double *wrenches = numbers(SAMPLES * 6 * joints), f[6 * SAMPLES], alone[36], bias[6], together[36 * SAMPLES];
        require(dyn_joint_wrenches(c.model, c.workspace, SAMPLES, NULL, c.q, c.v, c.a, &c.forces, wrenches, &error),
                &error);
        for (size_t j = 0; j < joints; j++) {
            int link = dyn_model_joint(c.model, (int)j)->child_link;
            for (int r = 0; r < 3; r++) {
                find_wrenches(&c, link, reference_frames[r], f);
                if (reference_frames[r] != DYN_REFERENCE_FRAME_LOCAL) {
                    to_local(&c, link, reference_frames[r], f);
                }
                for (size_t s = 0; s < SAMPLES; s++) {
                    assert_norm_close("wrench", k, f + 6 * s, wrenches + (s * joints + j) * 6, 6, 1e-9);
                }
            }
            require(dyn_articulated_inertia(c.model, c.workspace, SAMPLES, NULL, c.q, c.v, c.tau, NULL, link,
                                            DYN_REFERENCE_FRAME_LOCAL, together, f, &error),
                    &error);
            require(dyn_articulated_inertia(c.model, c.workspace, 1, NULL, c.q + c.nq, c.v + c.nv, c.tau + c.nv, NULL,
                                            link, DYN_REFERENCE_FRAME_LOCAL, alone, bias, &error),
                    &error);
            ck_assert_mem_eq(alone, together + 36, sizeof alone);
            ck_assert_mem_eq(bias, f + 6, sizeof bias);
        }
        free(wrenches);
        close_case(&c);
    }
}
END_TEST

START_TEST(the_root_of_a_floating_robot_has_its_operational_space_inertia) {
    random_source base = random_seed("articulated inertias of roots", 2821);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        articulated_case c;
        dyn_error error;
        double inertia[36], bias[6], inverse[36], product[36];
        open_case(&random, k, DYN_BASE_FLOATING, &c);
        int root = dyn_model_joint(c.model, 0)->child_link;
        for (int r = 0; r < 3; r++) {
            const dyn_task_frame frame = {root, reference_frames[r], DYN_TASK_ALL};
            const dyn_task task = {1, &frame};
            require(dyn_articulated_inertia(c.model, c.workspace, 1, NULL, c.q, NULL, NULL, NULL, root,
                                            reference_frames[r], inertia, bias, &error),
                    &error);
            require(dyn_operational_space(c.model, c.workspace, 1, NULL, c.q, NULL, &task, inverse, NULL, NULL, NULL,
                                          NULL, NULL, &error),
                    &error);
            double identity[36] = {0};
            for (int i = 0; i < 36; i++) {
                product[i] = 0;
                identity[i] = i % 7 == 0;
                for (int l = 0; l < 6; l++) {
                    product[i] += inertia[i / 6 * 6 + l] * inverse[6 * l + i % 6];
                }
            }
            assert_norm_close("I_A J M^-1 J' = 1", k, product, identity, 36, 1e-8);
        }
        close_case(&c);
    }
}
END_TEST

START_TEST(frames_of_the_world_and_coupled_joints_are_refused) {
    random_source random = random_seed("refusals of articulated inertias", 2822);
    double inertia[36], bias[6];
    dyn_error error;
    articulated_case c;
    open_case(&random, 3, DYN_BASE_FIXED, &c);
    ck_assert_int_eq(dyn_articulated_inertia(c.model, c.workspace, 1, NULL, c.q, NULL, NULL, NULL, DYN_WORLD_FRAME,
                                             DYN_REFERENCE_FRAME_LOCAL, inertia, bias, &error),
                     DYN_FAILED_PRECONDITION);
    ck_assert_str_eq(error.place, "frame");
    close_case(&c);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("articulated_inertia");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_joint_transmits_the_wrench_of_its_articulated_body);
    tcase_add_test(tests, the_root_of_a_floating_robot_has_its_operational_space_inertia);
    tcase_add_test(tests, frames_of_the_world_and_coupled_joints_are_refused);
    return run_properties("articulated_inertia", tests);
}
