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

enum { CASES = 60, SAMPLES = 2, FLOATING_NQ = 7 };

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

/* Opens the states of a robot, which belongs to the case. */
static void open_tree(random_source *random, dyn_model *model, articulated_case *c) {
    dyn_error error;
    *c = (articulated_case){.model = model};
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

static void open_case(random_source *random, int k, dyn_base base, articulated_case *c) {
    const random_tree_options options = {.joints = 2 + k % 9,
                                         .base = base,
                                         .with_custom = k % 2,
                                         .with_fixed = true,
                                         .with_mimic = k % 5 > 2,
                                         .mimic = DYN_MIMIC_POLICY_COUPLED};
    dyn_model *tree = random_tree(random, &options);
    open_tree(random, k % 3 == 2 ? with_rotors(random, tree) : tree, c);
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

/* Returns whether joint j is joint i or carries it. */
static bool carries(const dyn_model *model, int j, int i) {
    while (i > j) {
        int parent = dyn_model_joint(model, i)->parent_link;
        i = parent < 0 ? -1 : dyn_model_link(model, parent)->moving_joint;
    }
    return i == j;
}

/* Returns whether the coordinate of joint j moves another joint too. */
static bool shares_coordinate(const dyn_model *model, int j) {
    const dyn_joint *joint = dyn_model_joint(model, j);
    bool shares = joint->master >= 0;
    for (int i = 0; i < dyn_model_joint_count(model); i++) {
        const dyn_joint *other = dyn_model_joint(model, i);
        shares = shares || (i != j && other->v_index == joint->v_index);
    }
    return shares;
}

/* Returns whether a joint that joint j carries moves together with one that it does not carry, or with itself. */
static bool is_bound(const dyn_model *model, int j) {
    bool bound = shares_coordinate(model, j);
    for (int i = 0; i < dyn_model_joint_count(model); i++) {
        for (int k = 0; k < dyn_model_joint_count(model); k++) {
            bool is_shared = dyn_model_joint(model, i)->v_index == dyn_model_joint(model, k)->v_index;
            bound = bound || (is_shared && carries(model, j, i) != carries(model, j, k));
        }
    }
    return bound;
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
            for (int r = 0; r < 3 && !is_bound(c.model, (int)j); r++) {
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

/* ---- joints that are cut ---------------------------------------------------------------------------------------- */

/* Builds the robot with a floating joint in the place of joint j. */
static dyn_model *cut_joint(const dyn_model *model, int j) {
    dyn_builder *from, *to;
    dyn_model *made;
    dyn_error error;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_describe(model, &from, &error), &error);
    require(dyn_model_build_options(model, &options, &error), &error);
    require(dyn_builder_create("cut", &to, &error), &error);
    for (int i = 0; i < dyn_builder_link_count(from); i++) {
        require(dyn_builder_add_link(to, dyn_builder_link(from, i), &error), &error);
    }
    for (int i = 0; i < dyn_builder_joint_count(from); i++) {
        dyn_joint_description joint = *dyn_builder_joint(from, i);
        if (strcmp(joint.name, dyn_model_joint(model, j)->name) == 0) {
            joint.type = DYN_JOINT_TYPE_FLOATING;
            joint.mimic_joint = NULL;
        }
        require(dyn_builder_add_joint(to, &joint, &error), &error);
    }
    require(dyn_builder_build(to, &options, NULL, &made, &error), &error);
    dyn_builder_free(from), dyn_builder_free(to);
    return made;
}

/* Computes the pose of a link, and its twist in its own axes. */
static void find_motion(const articulated_case *c, int link, dyn_pose *pose, double twist[6]) {
    dyn_error error;
    require(dyn_frame_pose(c->model, c->workspace, 1, c->q, link, pose->position, pose->rotation, &error), &error);
    require(dyn_frame_motion(c->model, c->workspace, 1, c->q, c->v, NULL, link, DYN_REFERENCE_FRAME_LOCAL, twist, NULL,
                             NULL, &error),
            &error);
}

/* Sets out = R' x. */
static void turn_back(const double R[9], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
    }
}

/* Computes configuration and velocity of the floating joint in the place of joint j, at the first sample. */
static void float_joint(const articulated_case *c, int j, double q[7], double v[6]) {
    const dyn_joint *joint = dyn_model_joint(c->model, j);
    dyn_pose parent = {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, child;
    double of_parent[6] = {0}, of_child[6], in_parent[3], R[9], r[3], x[3];
    const double *o = joint->origin.rotation;
    if (joint->parent_link >= 0) {
        find_motion(c, joint->parent_link, &parent, of_parent);
    }
    find_motion(c, joint->child_link, &child, of_child);
    for (int i = 0; i < 3; i++) {
        x[i] = child.position[i] - parent.position[i];
    }
    turn_back(parent.rotation, x, r); /* the child's origin in the parent's frame */
    for (int column = 0; column < 3; column++) {
        const double axis[3] = {child.rotation[column], child.rotation[3 + column], child.rotation[6 + column]};
        double turned[3];
        turn_back(parent.rotation, axis, turned);
        for (int i = 0; i < 3; i++) {
            R[3 * i + column] = turned[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3, l = (i + 2) % 3;
        x[i] = r[i] - joint->origin.position[i];
        in_parent[i] = of_parent[3 + i] + of_parent[k] * r[l] - of_parent[l] * r[k];
    }
    turn_back(o, x, q);
    double turned[2][3], in_joint[9];
    turn_back(R, in_parent, turned[0]), turn_back(R, of_parent, turned[1]);
    for (int i = 0; i < 9; i++) {
        in_joint[i] = o[i / 3] * R[i % 3] + o[3 + i / 3] * R[3 + i % 3] + o[6 + i / 3] * R[6 + i % 3];
    }
    dyn_rotation_to_quaternion(in_joint, q + 3);
    for (int i = 0; i < 3; i++) {
        v[i] = of_child[3 + i] - turned[0][i], v[3 + i] = of_child[i] - turned[1][i];
    }
}

/* Copies the first state to the robot whose joint j is cut; its own forces are zero. */
static void cut_state(const articulated_case *c, const dyn_model *cut, int j, double *q, double *v, double *tau) {
    for (int i = 0; i < dyn_model_joint_count(c->model); i++) {
        const dyn_joint *from = dyn_model_joint(c->model, i);
        const dyn_joint *to = dyn_model_joint(cut, dyn_model_find_joint(cut, from->name));
        if (i == j) {
            float_joint(c, j, q + to->q_index, v + to->v_index);
        } else if (from->master < 0) {
            memcpy(q + to->q_index, c->q + from->q_index, (size_t)from->nq * sizeof *q);
            memcpy(v + to->v_index, c->v + from->v_index, (size_t)from->nv * sizeof *v);
            memcpy(tau + to->v_index, c->tau + from->v_index, (size_t)from->nv * sizeof *v);
        }
    }
}

/* Compares I_A and p_A of the link of joint j with the robot whose joint j is cut. */
static void compare_cut(const articulated_case *c, int j, int k) {
    dyn_model *cut = cut_joint(c->model, j);
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(cut, &w, &error), &error);
    size_t nq = (size_t)dyn_model_nq(cut), nv = (size_t)dyn_model_nv(cut);
    double *q = numbers(nq), *v = numbers(nv), *tau = numbers(nv), *a = numbers(nv);
    double inertia[36], bias[6], inverse[36], rate[6], product[36] = {0}, identity[36] = {0}, zero[6] = {0};
    int link = dyn_model_joint(c->model, j)->child_link;
    const dyn_task_frame frame = {link, DYN_REFERENCE_FRAME_LOCAL, DYN_TASK_ALL};
    const dyn_task task = {1, &frame};
    cut_state(c, cut, j, q, v, tau);
    require(dyn_articulated_inertia(c->model, c->workspace, 1, NULL, c->q, c->v, c->tau, NULL, link,
                                    DYN_REFERENCE_FRAME_LOCAL, inertia, bias, &error),
            &error);
    require(dyn_operational_space(cut, w, 1, NULL, q, NULL, &task, inverse, NULL, NULL, NULL, NULL, NULL, &error),
            &error);
    require(dyn_aba(cut, w, 1, NULL, q, v, tau, NULL, a, &error), &error);
    require(dyn_frame_motion(cut, w, 1, q, v, a, link, DYN_REFERENCE_FRAME_LOCAL, NULL, rate, NULL, &error), &error);
    for (int i = 0; i < 36; i++) {
        identity[i] = i % 7 == 0;
        bias[i / 6] += inertia[i] * rate[i % 6];
        for (int l = 0; l < 6; l++) {
            product[i] += inertia[i / 6 * 6 + l] * inverse[6 * l + i % 6];
        }
    }
    assert_norm_close("I_A J M^-1 J' = 1 where the joint is cut", k, product, identity, 36, 1e-8);
    assert_norm_close("I_A A + p_A = 0 where the joint is cut", k, bias, zero, 6, 1e-7 * (1 + norm(rate, 6)));
    free(q), free(v), free(tau), free(a);
    dyn_workspace_free(w);
    dyn_model_free(cut);
}

START_TEST(a_link_whose_joint_is_cut_accelerates_as_its_articulated_body) {
    random_source base = random_seed("articulated inertias of coupled joints", 2823);
    int compared[2] = {0, 0};
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        const random_tree_options options = {
            .joints = 3 + k % 8, .with_fixed = k % 2, .with_mimic = true, .mimic = DYN_MIMIC_POLICY_COUPLED};
        articulated_case c;
        open_tree(&random, random_tree(&random, &options), &c);
        for (int j = 0; j < dyn_model_joint_count(c.model); j++) {
            bool follows = dyn_model_joint(c.model, j)->master >= 0;
            if (follows || !shares_coordinate(c.model, j)) {
                compare_cut(&c, j, k);
                compared[follows]++;
            }
        }
        close_case(&c);
    }
    ck_assert_int_gt(compared[0], CASES);
    ck_assert_int_gt(compared[1], CASES / 4);
}
END_TEST

START_TEST(frames_of_the_world_are_refused) {
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
    tcase_add_test(tests, a_link_whose_joint_is_cut_accelerates_as_its_articulated_body);
    tcase_add_test(tests, frames_of_the_world_are_refused);
    return run_properties("articulated_inertia", tests);
}
