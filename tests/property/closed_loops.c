/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks constraints on random loops, which close random trees of every joint type in a random configuration, and on
 * real robots with closed loops, whose accelerations are compared with reference values. The real robots are skipped
 * where these values are missing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/closed_loop_reference.h"
#include "support/random_tree.h"

enum { TREES = 60, LOOPS = 4, NAME_SIZE = 64 };

/* ---- Random loops ------------------------------------------------------------------------------------------------ */

/* Robot with constraints that its configuration q satisfies. */
enum { MOST_TASK_NV = 64 };

typedef struct loop_case {
    dyn_model *tree, *model;
    dyn_workspace *workspace;
    size_t nq, nv, m;
    double *q, *v, *tau;
} loop_case;

static const dyn_pose identity = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static dyn_pose random_pose(random_source *random) {
    double x[4];
    dyn_pose pose;
    random_unit(random, 4, x);
    for (int i = 0; i < 3; i++) {
        pose.position[i] = random_uniform(random, -0.5, 0.5);
        for (int j = 0; j < 3; j++) {
            pose.rotation[3 * i + j] = 2 * x[i] * x[j] + (i == j ? 2 * x[3] * x[3] - 1 : 0);
        }
    }
    pose.rotation[1] -= 2 * x[2] * x[3], pose.rotation[3] += 2 * x[2] * x[3];
    pose.rotation[2] += 2 * x[1] * x[3], pose.rotation[6] -= 2 * x[1] * x[3];
    pose.rotation[5] -= 2 * x[0] * x[3], pose.rotation[7] += 2 * x[0] * x[3];
    return pose;
}

/* Computes the pose in A of the frame with pose b in B, where B has the pose a in A. */
static dyn_pose compose(const dyn_pose *a, const dyn_pose *b) {
    dyn_pose ab = *a;
    memset(ab.rotation, 0, sizeof ab.rotation);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            ab.position[i] += a->rotation[3 * i + j] * b->position[j];
            for (int k = 0; k < 3; k++) {
                ab.rotation[3 * i + j] += a->rotation[3 * i + k] * b->rotation[3 * k + j];
            }
        }
    }
    return ab;
}

static dyn_pose inverse(const dyn_pose *a) {
    dyn_pose b = {{0}, {0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            b.rotation[3 * i + j] = a->rotation[3 * j + i];
            b.position[i] -= a->rotation[3 * j + i] * a->position[j];
        }
    }
    return b;
}

static dyn_pose pose_of_link(const loop_case *c, int link) {
    dyn_pose pose = identity;
    dyn_error error;
    require(dyn_frame_pose(c->tree, c->workspace, 1, c->q, link, pose.position, pose.rotation, &error), &error);
    return pose;
}

static const char *name_of(const dyn_model *model, int link) {
    return link < 0 ? NULL : dyn_model_link(model, link)->name;
}

/* Returns the joint that moves a link, or -1 for the world and what is fixed to it. */
static int mover_of(const dyn_model *model, int link) {
    return link < 0 ? -1 : dyn_model_link(model, link)->moving_joint;
}

/* Describes a constraint between two links that are not fixed to each other, which is satisfied at q. */
static dyn_constraint_description between(random_source *random, const loop_case *c, int number) {
    int links = dyn_model_link_count(c->tree), P = random_index(random, links + 1) - 1, S = P;
    while (mover_of(c->tree, S) == mover_of(c->tree, P)) {
        S = random_index(random, links + 1) - 1;
    }
    dyn_constraint_description d = {.kind = (dyn_constraint_kind)(1 + random_index(random, 3)),
                                    .type = (dyn_joint_type)(number % DYN_JOINT_TYPE_FLOATING),
                                    .pitch = random_uniform(random, 0.1, 0.3),
                                    .predecessor = {name_of(c->tree, P), random_pose(random)}};
    random_unit(random, 3, d.axis);
    random_unit(random, 3, d.second_axis);
    dyn_pose of_P = pose_of_link(c, P), of_S = pose_of_link(c, S), back = inverse(&of_S), apart = identity;
    dyn_pose in_world = compose(&of_P, &d.predecessor.pose);
    if (d.kind == DYN_CONSTRAINT_KIND_DISTANCE) {
        d.distance = apart.position[1] = random_uniform(random, 0.2, 1);
    }
    in_world = compose(&in_world, &apart);
    d.successor = (dyn_constraint_frame){name_of(c->tree, S), compose(&back, &in_world)};
    return d;
}

/* Describes a coupling of up to `most` joints with one coordinate each, which is satisfied at q. Returns false if it
 * finds no such joint. */
static bool coupling(random_source *random, const loop_case *c, int most, dyn_constraint_description *d) {
    *d = (dyn_constraint_description){.kind = DYN_CONSTRAINT_KIND_COUPLING};
    int count = 0, first = random_index(random, dyn_model_joint_count(c->tree));
    for (int j = first; j < dyn_model_joint_count(c->tree) && count < most; j++) {
        const dyn_joint *joint = dyn_model_joint(c->tree, j);
        if (joint->nq == 1 && joint->nv == 1) {
            d->coupled[count] = (dyn_coupled_coordinate){joint->name, random_uniform(random, 0.5, 3)};
            d->offset += d->coupled[count++].coefficient * c->q[joint->q_index];
        }
    }
    return count > 0;
}

static void close_case(loop_case *c) {
    dyn_workspace_free(c->workspace);
    dyn_model_free(c->model);
    dyn_model_free(c->tree);
    free(c->q);
    free(c->v);
    free(c->tau);
}

static loop_case random_loops(random_source *random, int tree) {
    dyn_error error;
    dyn_builder *builder;
    random_tree_options options = {.joints = 2 + random_index(random, 14),
                                   .base = tree % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .with_fixed = true,
                                   .with_mimic = tree % 4 == 3,
                                   .with_custom = tree % 5 == 2};
    loop_case c = {.tree = random_tree(random, &options)};
    c.nq = (size_t)dyn_model_nq(c.tree), c.nv = (size_t)dyn_model_nv(c.tree);
    c.q = numbers(c.nq), c.v = numbers(c.nv), c.tau = numbers(c.nv);
    random_configuration(random, c.tree, 1, c.q);
    random_vector(random, (int)c.nv, 1, c.v);
    random_vector(random, (int)c.nv, 10, c.tau);
    require(dyn_workspace_create(c.tree, &c.workspace, &error), &error);
    require(dyn_model_describe(c.tree, &builder, &error), &error);
    for (int i = 0; i < LOOPS; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "loop %d", i);
        dyn_constraint_description d = between(random, &c, LOOPS * tree + i);
        const int most = tree % 3 ? 2 : DYN_MAX_COUPLED_COORDINATES;
        if (i == LOOPS - 1 && !coupling(random, &c, most, &d)) {
            continue;
        }
        d.name = name;
        require(dyn_builder_add_constraint(builder, &d, &error), &error);
    }
    dyn_workspace_free(c.workspace);
    dyn_build_options build = DYN_BUILD_OPTIONS_INIT(.base = options.base);
    require(dyn_builder_build(builder, &build, NULL, &c.model, &error), &error);
    require(dyn_workspace_create(c.model, &c.workspace, &error), &error);
    dyn_builder_free(builder);
    c.m = (size_t)dyn_model_constraint_rows(c.model);
    return c;
}

/* Computes the constraint rows A, their bias and the closure errors at the configuration that c reaches after the time
 * t at constant v. Outputs may be NULL. */
static void rows_at(const loop_case *c, double t, double *A, double *bias, double *errors) {
    double *q = numbers(c->nq);
    dyn_error error;
    integrate_configuration(c->model, c->q, c->v, t, q);
    require(dyn_constraint_rows(c->model, c->workspace, 1, q, c->v, A, bias, errors, &error), &error);
    free(q);
}

static void multiply(size_t m, size_t n, const double *A, const double *x, double *y) {
    for (size_t r = 0; r < m; r++) {
        y[r] = 0;
        for (size_t i = 0; i < n; i++) {
            y[r] += A[r * n + i] * x[i];
        }
    }
}

/* Checks that A v is the rate of the closure errors and the bias that of A v, by central differences, and that the
 * errors at q are zero. */
static void check_rows(const loop_case *c, int tree) {
    const double t = 1e-4;
    double *A = numbers(c->m * c->nv), *bias = numbers(c->m), *e = numbers(c->m), *rate = numbers(c->m);
    double *before = numbers(c->m), *after = numbers(c->m), *Av = numbers(c->m), *Av_before = numbers(c->m);
    rows_at(c, -t, A, NULL, before);
    multiply(c->m, c->nv, A, c->v, Av_before);
    rows_at(c, t, A, NULL, after);
    multiply(c->m, c->nv, A, c->v, Av);
    for (size_t r = 0; r < c->m; r++) {
        rate[r] = (after[r] - before[r]) / (2 * t);
        Av[r] = (Av[r] - Av_before[r]) / (2 * t);
    }
    rows_at(c, 0, A, bias, e);
    assert_norm_close("dA/dt v", tree, Av, bias, c->m, 1e-5);
    multiply(c->m, c->nv, A, c->v, Av);
    assert_norm_close("rate of the errors", tree, rate, Av, c->m, 1e-5);
    memset(Av, 0, c->m * sizeof *Av);
    assert_norm_close("errors", tree, e, Av, c->m, 1e-10);
    free(A), free(bias), free(e), free(rate), free(before), free(after), free(Av), free(Av_before);
}

START_TEST(rows_and_biases_are_derivatives_of_the_closure_errors) {
    random_source base = random_seed("closed_loops rows", 161);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        check_rows(&c, tree);
        close_case(&c);
    }
}
END_TEST

/* Checks M a + h = tau + A' lambda and A a + dA/dt v = 0. */
static void check_equations(const loop_case *c, int tree, const double *a, const double *lambda) {
    double *A = numbers(c->m * c->nv), *bias = numbers(c->m), *tau = numbers(c->nv), *sum = numbers(c->nv);
    double *zero = numbers(c->m), *rest = numbers(c->m);
    dyn_error error;
    rows_at(c, 0, A, bias, NULL);
    require(dyn_rnea(c->model, c->workspace, 1, NULL, c->q, c->v, a, NULL, tau, &error), &error);
    for (size_t i = 0; i < c->nv; i++) {
        sum[i] = c->tau[i];
        for (size_t r = 0; r < c->m; r++) {
            sum[i] += A[r * c->nv + i] * lambda[r];
        }
    }
    assert_norm_close("equation of motion", tree, tau, sum, c->nv, 1e-7);
    multiply(c->m, c->nv, A, a, rest);
    for (size_t r = 0; r < c->m; r++) {
        rest[r] = (rest[r] + bias[r]) / (1 + norm(a, c->nv));
    }
    assert_norm_close("constraints", tree, rest, zero, c->m, 1e-7);
    free(A), free(bias), free(tau), free(sum), free(zero), free(rest);
}

/* AUTO and the methods of the library. */
enum { METHODS = 6 };

START_TEST(methods_agree_and_satisfy_the_equations) {
    random_source base = random_seed("closed_loops methods", 162);
    dyn_error error;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *a[METHODS], *lambda[METHODS];
        dyn_constraint_result result[METHODS];
        for (int method = 0; method < METHODS; method++) {
            dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)method);
            a[method] = numbers(c.nv), lambda[method] = numbers(c.m);
            require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, &options,
                                                     a[method], lambda[method], &result[method], &error),
                    &error);
        }
        if (result[0].residual < 1e-6 * (1 + norm(a[0], c.nv))) {
            check_equations(&c, tree, a[0], lambda[0]);
            for (int method = 1; method < METHODS; method++) {
                ck_assert_int_eq(result[method].rank, result[0].rank);
                assert_norm_close("a", METHODS * tree + method, a[method], a[0], c.nv, 1e-7);
                assert_norm_close("lambda", METHODS * tree + method, lambda[method], lambda[0], c.m, 1e-6);
            }
        }
        for (int method = 0; method < METHODS; method++) {
            free(a[method]), free(lambda[method]);
        }
        close_case(&c);
    }
}
END_TEST

/* ---- Wrenches ---------------------------------------------------------------------------------------------------- */

/* Builds the robot of c again with forces in its loop joints, and with a ball and a wheel that roll. */
static dyn_model *with_active_loops(random_source *random, const loop_case *c) {
    dyn_builder *tree, *closed;
    dyn_error error;
    dyn_model *model;
    const dyn_pose here = random_pose(random), there = random_pose(random);
    dyn_constraint_description rolling = {.name = "ball",
                                          .kind = DYN_CONSTRAINT_KIND_ROLLING,
                                          .distance = 0.2,
                                          .axis = {0.6, 0, 0.8},
                                          .predecessor = {NULL, here},
                                          .successor = {name_of(c->tree, dyn_model_link_count(c->tree) - 1), there}};
    require(dyn_model_describe(c->tree, &tree, &error), &error);
    require(dyn_model_describe(c->model, &closed, &error), &error);
    for (int i = 0; i < dyn_builder_constraint_count(closed); i++) {
        dyn_constraint_description d = *dyn_builder_constraint(closed, i);
        if (d.kind == DYN_CONSTRAINT_KIND_LOOP_JOINT && d.type != DYN_JOINT_TYPE_FIXED &&
            d.type != DYN_JOINT_TYPE_UNIVERSAL) {
            d.effort = -1.5, d.damping = 0.7, d.friction = 0.3;
        }
        require(dyn_builder_add_constraint(tree, &d, &error), &error);
    }
    require(dyn_builder_add_constraint(tree, &rolling, &error), &error);
    rolling.name = "wheel";
    rolling.second_axis[1] = 1;
    require(dyn_builder_add_constraint(tree, &rolling, &error), &error);
    const dyn_build_options build =
        DYN_BUILD_OPTIONS_INIT(.base = dyn_model_is_floating(c->tree) ? DYN_BASE_FLOATING : DYN_BASE_FIXED);
    require(dyn_builder_build(tree, &build, NULL, &model, &error), &error);
    dyn_builder_free(tree), dyn_builder_free(closed);
    return model;
}

/* Expresses a wrench (torque, force) in the frame that has the pose `of` in the world about the world's origin. */
static void to_world(const dyn_pose *of, const double w[6], double out[6]) {
    const double *p = of->position;
    multiply(3, 3, of->rotation, w, out);
    multiply(3, 3, of->rotation, w + 3, out + 3);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] += p[j] * out[3 + k] - p[k] * out[3 + j];
    }
}

/* Returns the force of a wrench on a link; NULL stands for the world. */
static dyn_external_force force_on(const dyn_model *tree, const char *link, const double *wrench) {
    dyn_external_force force = {-1, DYN_REFERENCE_FRAME_WORLD, wrench, 0};
    dyn_error error;
    if (link) {
        require(dyn_model_find_frame(tree, link, &force.frame, &error), &error);
    }
    return force;
}

enum { MOST_TIES = LOOPS + 2 };

/* Computes the accelerations of the tree without constraints, on whose links the wrenches act instead; couplings exert
 * joint forces. Adds the latter to tau. */
static void replace_constraints(const loop_case *c, const dyn_model *closed, const double *A, const double *lambda,
                                const double *wrenches, double *tau, double *a) {
    double each[2 * MOST_TIES][6];
    dyn_external_force on[2 * MOST_TIES];
    dyn_external_forces forces = {0, on};
    dyn_builder *builder;
    dyn_workspace *w;
    dyn_error error;
    loop_case open = *c;
    require(dyn_workspace_create(c->tree, &w, &error), &error);
    require(dyn_model_describe(closed, &builder, &error), &error);
    open.workspace = w;
    for (int i = 0; i < dyn_builder_constraint_count(builder); i++, wrenches += 6) {
        const dyn_constraint_description *d = dyn_builder_constraint(builder, i);
        const size_t row = (size_t)dyn_model_constraint(closed, i)->first_row;
        if (d->kind == DYN_CONSTRAINT_KIND_COUPLING) {
            for (size_t k = 0; k < c->nv; k++) {
                tau[k] += A[row * c->nv + k] * lambda[row];
            }
            ck_assert_double_eq(norm(wrenches, 6), 0);
            continue;
        }
        double *push = each[forces.count], *back = each[forces.count + 1];
        const dyn_external_force on_P = force_on(c->tree, d->predecessor.link, back);
        const dyn_pose link = pose_of_link(&open, on_P.frame), P = compose(&link, &d->predecessor.pose);
        to_world(&P, wrenches, push);
        for (int k = 0; k < 6; k++) {
            back[k] = -push[k];
        }
        on[forces.count] = force_on(c->tree, d->successor.link, push);
        on[forces.count + 1] = on_P;
        forces.count += 2;
    }
    require(dyn_aba(c->tree, w, 1, NULL, c->q, c->v, tau, &forces, a, &error), &error);
    dyn_builder_free(builder);
    dyn_workspace_free(w);
}

START_TEST(wrenches_of_constraints_move_the_links_as_the_constraints_do) {
    const dyn_passive_parts parts = {.damping = true, .friction = true, .friction_velocity = 0.02};
    random_source base = random_seed("closed_loops wrenches", 167);
    dyn_error error;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        dyn_model *closed = with_active_loops(&random, &c);
        dyn_workspace *w;
        require(dyn_workspace_create(closed, &w, &error), &error);
        const size_t m = (size_t)dyn_model_constraint_rows(closed);
        double *A = numbers(m * c.nv), *lambda = numbers(m), *a = numbers(c.nv), *expected = numbers(c.nv);
        double wrenches[6 * MOST_TIES];
        const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.passive = &parts);
        require(dyn_constraint_rows(closed, w, 1, c.q, c.v, A, NULL, NULL, &error), &error);
        require(dyn_constrained_forward_dynamics(closed, w, 1, NULL, c.q, c.v, c.tau, NULL, &options, a, lambda, NULL,
                                                 &error),
                &error);
        require(dyn_constraint_wrenches(closed, w, 1, c.q, c.v, lambda, &parts, wrenches, &error), &error);
        replace_constraints(&c, closed, A, lambda, wrenches, c.tau, expected);
        assert_norm_close("a", tree, a, expected, c.nv, 1e-7 * (1 + norm(lambda, m)));
        dyn_workspace_free(w);
        dyn_model_free(closed);
        free(A), free(lambda), free(a), free(expected);
        close_case(&c);
    }
}
END_TEST

/* ---- Space of the constraints ------------------------------------------------------------------------------------ */

/* Checks that P A' = 0 and A P_qdd = 0. */
static void check_projectors(const loop_case *c, int tree, const double *P, const double *P_qdd) {
    size_t nv = c->nv;
    double *A = numbers(c->m * nv), *product = numbers(nv), *column = numbers(nv), *zero = numbers(nv);
    rows_at(c, 0, A, NULL, NULL);
    for (size_t r = 0; r < c->m; r++) {
        double size = norm(A + r * nv, nv) * (1 + norm(P, nv * nv) + norm(P_qdd, nv * nv));
        multiply(nv, nv, P, A + r * nv, product);
        for (size_t j = 0; size > 0 && j < nv; j++) {
            column[j] = 0;
            for (size_t i = 0; i < nv; i++) {
                column[j] += A[r * nv + i] * P_qdd[i * nv + j] / size;
            }
            product[j] /= size;
        }
        assert_norm_close("P A'", tree, product, zero, nv, 1e-7);
        assert_norm_close("A P_qdd", tree, column, zero, nv, 1e-7);
    }
    free(A), free(product), free(column), free(zero);
}

/* Checks that the projected equations of motion hold for the accelerations a of forward dynamics: P tau = P (M a + h)
 * and P_qdd a = P_qdd M^-1 (tau - h). */
static void check_projected_motion(const loop_case *c, int tree, const double *P, const double *a) {
    size_t nv = c->nv;
    double *f = numbers(nv), *tau = numbers(nv), *free_a = numbers(nv), *own = numbers(nv);
    dyn_error error;
    require(dyn_rnea(c->model, c->workspace, 1, NULL, c->q, c->v, a, NULL, f, &error), &error);
    require(dyn_constraint_project(c->model, c->workspace, 1, c->q, NULL, f, a, f, own, &error), &error);
    multiply(nv, nv, P, c->tau, tau);
    assert_norm_close("P tau", tree, f, tau, nv, 1e-6);
    require(dyn_aba(c->model, c->workspace, 1, NULL, c->q, c->v, c->tau, NULL, free_a, &error), &error);
    require(dyn_constraint_project(c->model, c->workspace, 1, c->q, NULL, NULL, free_a, NULL, free_a, &error), &error);
    assert_norm_close("P_qdd a", tree, own, free_a, nv, 1e-6);
    free(f), free(tau), free(free_a), free(own);
}

START_TEST(projectors_remove_the_forces_and_motions_of_constraints) {
    random_source base = random_seed("closed_loops projectors", 173);
    dyn_error error;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *P = numbers(c.nv * c.nv), *P_qdd = numbers(c.nv * c.nv), *a = numbers(c.nv), rank, condition;
        dyn_constraint_result result;
        const dyn_constraint_space space = {
            .force_projector = P, .acceleration_projector = P_qdd, .rank = &rank, .condition = &condition};
        require(dyn_constraint_space_quantities(c.model, c.workspace, 1, c.q, &space, &error), &error);
        require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, NULL, a, NULL,
                                                 &result, &error),
                &error);
        ck_assert_double_eq(rank, result.rank);
        ck_assert(condition >= 1 && isfinite(condition));
        ck_assert_double_eq_tol(result.condition, condition, 1e-5 * condition);
        check_projectors(&c, tree, P, P_qdd);
        if (result.residual < 1e-6 * (1 + norm(a, c.nv))) {
            check_projected_motion(&c, tree, P, a);
        }
        free(P), free(P_qdd), free(a);
        close_case(&c);
    }
}
END_TEST

/* Returns the values of a block of this name. */
static const double *block_of(const dyn_formulation_block blocks[DYN_FORMULATION_CONSTRAINT_BLOCKS], const char *name) {
    int i = 0;
    while (i < DYN_FORMULATION_CONSTRAINT_BLOCKS && strcmp(blocks[i].name, name) != 0) {
        i++;
    }
    ck_assert_msg(i < DYN_FORMULATION_CONSTRAINT_BLOCKS, "no block %s", name);
    return blocks[i].values;
}

/* Returns A B, m x n, for A of m x k and B of k x n, or for the transposes where A or B is stored as such. */
static double *product_of(const double *A, bool A_is_transposed, const double *B, bool B_is_transposed, size_t m,
                          size_t k, size_t n) {
    double *C = numbers(m * n);
    for (size_t e = 0; e < m * n; e++) {
        size_t i = e / n, j = e % n;
        for (size_t l = 0; l < k; l++) {
            C[e] += (A_is_transposed ? A[l * m + i] : A[i * k + l]) * (B_is_transposed ? B[j * k + l] : B[l * n + j]);
        }
    }
    return C;
}

/* Compares the matrices of the constraints with the kernels', and checks the equations of the others: Lambda R Lambda =
 * Lambda and R Lambda R = R for R = A M^-1 A'; P = 1 - A' Lambda A M^-1 and P_qdd = P'; the rank is the trace of R
 * Lambda. */
static void check_matrices(const loop_case *c, int tree, const dyn_formulation_block *blocks) {
    size_t n = c->nv, m = c->m;
    dyn_error error;
    double *A = numbers(m * n), *b = numbers(m), *e = numbers(m), *M = numbers(n * n), *inverse = numbers(n * n),
           *a_0 = numbers(n), rank = 0;
    require(dyn_constraint_rows(c->model, c->workspace, 1, c->q, c->v, A, b, e, &error), &error);
    require(dyn_crba(c->model, c->workspace, 1, c->q, M, &error), &error);
    require(dyn_minverse(c->model, c->workspace, 1, c->q, inverse, &error), &error);
    require(dyn_aba(c->model, c->workspace, 1, NULL, c->q, c->v, c->tau, NULL, a_0, &error), &error);
    for (size_t i = 0; i < m; i++) {
        b[i] = -b[i];
    }
    const double *Lambda = block_of(blocks, "constraint_Lambda"), *R = block_of(blocks, "constraint_A_Minv_At");
    double *MA = product_of(inverse, false, A, true, n, n, m), *AMA = product_of(A, false, MA, false, m, n, m);
    double *RL = product_of(R, false, Lambda, false, m, m, m), *RLR = product_of(RL, false, R, false, m, m, m);
    double *LRL = product_of(Lambda, false, RL, false, m, m, m), *LA = product_of(Lambda, false, A, false, m, m, n);
    double *P_qdd = product_of(MA, false, LA, false, n, m, n), *P = numbers(n * n);
    for (size_t k = 0; k < n * n; k++) {
        P_qdd[k] = (k % (n + 1) == 0) - P_qdd[k];
    }
    for (size_t k = 0; k < n * n; k++) {
        P[k] = P_qdd[k % n * n + k / n];
    }
    for (size_t i = 0; i < m; i++) {
        rank += RL[i * m + i];
    }
    assert_norm_close("constraint_A", tree, block_of(blocks, "constraint_A"), A, m * n, 1e-9);
    assert_norm_close("constraint_b", tree, block_of(blocks, "constraint_b"), b, m, 1e-9);
    assert_norm_close("constraint_e", tree, block_of(blocks, "constraint_e"), e, m, 1e-9);
    assert_norm_close("constraint_M", tree, block_of(blocks, "constraint_M"), M, n * n, 1e-9);
    assert_norm_close("constraint_a_0", tree, block_of(blocks, "constraint_a_0"), a_0, n, 1e-7);
    assert_norm_close("constraint_A_Minv_At", tree, R, AMA, m * m, 1e-8);
    assert_norm_close("R Lambda R", tree, RLR, R, m * m, 1e-6);
    assert_norm_close("Lambda R Lambda", tree, LRL, Lambda, m * m, 1e-6);
    assert_norm_close("constraint_P", tree, block_of(blocks, "constraint_P"), P, n * n, 1e-6);
    assert_norm_close("constraint_P_qdd", tree, block_of(blocks, "constraint_P_qdd"), P_qdd, n * n, 1e-6);
    ck_assert_double_eq_tol(*block_of(blocks, "constraint_rank"), rank, 1e-6);
    free(A), free(b), free(e), free(M), free(inverse), free(a_0), free(MA), free(AMA), free(RL), free(RLR);
    free(LRL), free(LA), free(P_qdd), free(P);
}

/* Compares the inner quantities of one formulation with the library's own forward dynamics, and checks that they
 * satisfy the equation of motion M (a_c - a_0) = A' lambda. Returns whether the formulation applies. */
static bool check_blocks(const loop_case *c, int tree, const char *name, const double *a, const double *lambda) {
    dyn_formulation *f;
    dyn_formulation_block blocks[DYN_FORMULATION_CONSTRAINT_BLOCKS];
    dyn_error error;
    if (dyn_formulation_create(c->model, name, &f, &error) != DYN_OK) {
        return false;
    }
    size_t nv = c->nv;
    double *memory = numbers(dyn_formulation_constraint_numbers(c->model)), *change = numbers(nv), *held = numbers(nv);
    require(
        dyn_formulation_constraint_blocks(f, c->model, c->workspace, NULL, c->q, c->v, c->tau, memory, blocks, &error),
        &error);
    for (size_t i = 0; i < nv; i++) {
        change[i] = block_of(blocks, "constraint_a")[i] - block_of(blocks, "constraint_a_0")[i];
    }
    multiply(nv, nv, block_of(blocks, "constraint_M"), change, held);
    assert_norm_close("A' lambda", tree, block_of(blocks, "constraint_A_t_lambda"), held, nv, 1e-6);
    assert_norm_close("a_c", tree, block_of(blocks, "constraint_a"), a, nv, 1e-7);
    assert_norm_close("lambda", tree, block_of(blocks, "constraint_lambda"), lambda, c->m, 1e-6);
    check_matrices(c, tree, blocks);
    free(memory), free(change), free(held);
    dyn_formulation_free(f);
    return true;
}

START_TEST(formulations_have_the_inner_quantities_of_constraints) {
    random_source base = random_seed("closed_loops formulations", 174);
    int compared = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *a = numbers(c.nv), *lambda = numbers(c.m);
        dyn_constraint_result result;
        dyn_error error;
        require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, NULL, a, lambda,
                                                 &result, &error),
                &error);
        /* Where rows contradict each other, compromises differ. */
        bool agrees = result.residual < 1e-7 * (1 + norm(a, c.nv)) && result.condition < 1e6;
        for (int i = 0; agrees && i < dyn_formulation_count(); i++) {
            compared += check_blocks(&c, tree, dyn_formulation_traits_at(i)->name, a, lambda);
        }
        free(a), free(lambda);
        close_case(&c);
    }
    ck_assert_int_gt(compared, 5 * TREES);
}
END_TEST

/* Checks that hybrid forces cause the acceleration and the multipliers that are returned with them, and that each state
 * of a batch has the bits that it has alone. */
static void check_hybrid(const loop_case *c, int tree, const double *wanted, const double *f) {
    enum { COPIES = 5 };
    size_t nq = c->nq, nv = c->nv, m = c->m;
    double *q = numbers(COPIES * nq), *v = numbers(COPIES * nv), *a = numbers(COPIES * nv),
           *held = numbers(COPIES * nv);
    double *tau = numbers(COPIES * nv), *motion = numbers(COPIES * nv), *lambda = numbers(COPIES * m);
    double *found = numbers(nv), *pressed = numbers(m), *alone = numbers(nv);
    dyn_error error;
    for (size_t i = 0; i < COPIES; i++) {
        memcpy(q + i * nq, c->q, nq * sizeof *q), memcpy(v + i * nv, c->v, nv * sizeof *v);
        memcpy(a + i * nv, wanted, nv * sizeof *a), memcpy(held + i * nv, f, nv * sizeof *held);
    }
    require(
        dyn_hybrid_forces(c->model, c->workspace, COPIES, NULL, q, v, NULL, a, held, NULL, tau, motion, lambda, &error),
        &error);
    require(dyn_hybrid_forces(c->model, c->workspace, 1, NULL, q, v, NULL, a, held, NULL, alone, found, NULL, &error),
            &error);
    for (size_t i = 0; i < COPIES; i++) {
        ck_assert_mem_eq(tau + i * nv, alone, nv * sizeof *tau);
    }
    require(dyn_constrained_forward_dynamics(c->model, c->workspace, 1, NULL, q, v, tau, NULL, NULL, found, pressed,
                                             NULL, &error),
            &error);
    assert_norm_close("hybrid motion", tree, motion, found, nv, 1e-6);
    for (size_t r = 0; r < m; r++) {
        pressed[r] -= lambda[r];
    }
    ck_assert_msg(norm(pressed, m) < 1e-5 * (1 + norm(lambda, m) + norm(tau, nv)),
                  "tree %d: multipliers off by %g of %g", tree, norm(pressed, m), norm(lambda, m));
    free(q), free(v), free(a), free(held), free(tau), free(motion), free(lambda);
    free(found), free(pressed), free(alone);
}

START_TEST(hybrid_forces_cause_the_motion_and_the_multipliers_that_they_are_for) {
    random_source base = random_seed("closed_loops hybrid", 174);
    dyn_error error;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *a = numbers(c.nv), *found = numbers(c.nv);
        dyn_constraint_result result;
        random_vector(&random, (int)c.nv, 1, a);
        require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, NULL, found,
                                                 NULL, &result, &error),
                &error);
        if (result.residual < 1e-6 * (1 + norm(found, c.nv)) && result.condition < 1e6) {
            check_hybrid(&c, tree, a, c.tau);
        }
        free(a), free(found);
        close_case(&c);
    }
}
END_TEST

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

/* Rows of a task of the last link of a case, and its acceleration under joint forces: J a + dJ/dt v. */
typedef struct task_case {
    dyn_task_frame frame;
    size_t m;
    double J[36 * MOST_TASK_NV], rates[6];
} task_case;

static task_case random_task(random_source *random, const loop_case *c) {
    task_case t = {.frame = {dyn_model_link_count(c->model) - 1, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, 0}};
    double all[6 * MOST_TASK_NV];
    dyn_error error;
    ck_assert_uint_le(c->nv, MOST_TASK_NV);
    t.frame.rows = 1U << random_index(random, 6);
    t.frame.rows |= 1U << random_index(random, 6);
    require(dyn_frame_jacobian(c->model, c->workspace, 1, c->q, t.frame.frame, t.frame.reference_frame, all, &error),
            &error);
    for (size_t i = 0; i < 6; i++) {
        if (t.frame.rows >> i & 1) {
            memcpy(t.J + t.m++ * c->nv, all + i * c->nv, c->nv * sizeof *all);
        }
    }
    return t;
}

/* Computes the accelerations of the rows of the task under joint forces. */
static void accelerate_task(const loop_case *c, task_case *t, const double *tau) {
    double *a = numbers(c->nv), motion[6];
    dyn_error error;
    require(dyn_constrained_forward_dynamics(c->model, c->workspace, 1, NULL, c->q, c->v, tau, NULL, NULL, a, NULL,
                                             NULL, &error),
            &error);
    require(dyn_frame_motion(c->model, c->workspace, 1, c->q, c->v, a, t->frame.frame, t->frame.reference_frame, NULL,
                             motion, NULL, &error),
            &error);
    for (size_t i = 0, row = 0; i < 6; i++) {
        if (t->frame.rows >> i & 1) {
            t->rates[row++] = motion[i];
        }
    }
    free(a);
}

/* Checks Lambda (J a + dJ/dt v) + mu + p = F for the motion under tau = J' F, and that N' tau changes no row. */
static void check_operational_space(random_source *random, const loop_case *c, int tree, task_case *t,
                                    const dyn_constrained_task *found) {
    double F[6], balance[6], *tau = numbers(c->nv), before[6];
    random_vector(random, (int)t->m, 1, F);
    memset(tau, 0, c->nv * sizeof *tau);
    for (size_t i = 0; i < t->m * c->nv; i++) {
        tau[i % c->nv] += t->J[i] * F[i / c->nv];
    }
    accelerate_task(c, t, tau);
    double scale = 1;
    for (size_t r = 0; r < t->m; r++) {
        balance[r] = found->bias[r] + found->gravity_force[r] - F[r];
        for (size_t k = 0; k < t->m; k++) {
            balance[r] += found->inertia[r * t->m + k] * t->rates[k];
            scale += fabs(found->inertia[r * t->m + k] * t->rates[k]);
        }
    }
    for (size_t r = 0; r < t->m; r++) {
        ck_assert_msg(fabs(balance[r]) < 1e-6 * scale, "tree %d: row %zu off by %g of %g", tree, r, balance[r], scale);
    }
    memcpy(before, t->rates, sizeof before);
    for (size_t i = 0; i < c->nv; i++) {
        for (size_t k = 0; k < c->nv; k++) {
            tau[i] += found->projector[k * c->nv + i] * c->tau[k];
        }
    }
    accelerate_task(c, t, tau);
    for (size_t r = 0; r < t->m; r++) {
        ck_assert_double_eq_tol(t->rates[r], before[r], 1e-6 * (1 + fabs(before[r]) + norm(c->tau, c->nv)));
    }
    free(tau);
}

/* Returns whether the constraints of a case agree with each other and are well conditioned. */
static bool is_regular(const loop_case *c) {
    double *a = numbers(c->nv);
    dyn_constraint_result result;
    dyn_error error;
    require(dyn_constrained_forward_dynamics(c->model, c->workspace, 1, NULL, c->q, c->v, c->tau, NULL, NULL, a, NULL,
                                             &result, &error),
            &error);
    bool is_so = result.residual < 1e-6 * (1 + norm(a, c->nv)) && result.condition < 1e6;
    free(a);
    return is_so;
}

START_TEST(tasks_move_under_constraints_as_their_equation_says) {
    random_source base = random_seed("closed_loops tasks", 175);
    int checked = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        task_case t = random_task(&random, &c);
        double inertia[36], bias[6], gravity[6], *N = numbers(c.nv * c.nv);
        const dyn_task task = {1, &t.frame};
        const dyn_constrained_states at = {1, NULL, c.q, c.v, NULL};
        const dyn_constrained_task to = {.inertia = inertia, .bias = bias, .gravity_force = gravity, .projector = N};
        dyn_error error;
        dyn_status status = dyn_constrained_operational_space(c.model, c.workspace, &at, &task, &to, &error);
        if (status == DYN_OK && is_regular(&c) && norm(inertia, t.m * t.m) < 1e4) {
            check_operational_space(&random, &c, tree, &t, &to);
            checked++;
        } else if (status != DYN_OK) {
            ck_assert_msg(strstr(error.message, "the task is singular"), "%s", error.message);
        }
        free(N);
        close_case(&c);
    }
    printf("%d of %d tasks are regular under their constraints\n", checked, TREES);
    ck_assert_int_gt(checked, TREES / 5);
}
END_TEST

/* The forces cause the accelerations that the function states, which are the desired ones of an independent task. */
START_TEST(forces_of_tasks_cause_their_accelerations_under_constraints) {
    random_source base = random_seed("closed_loops task forces", 176);
    int reached = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        task_case t = random_task(&random, &c);
        double *tau = numbers(c.nv), desired[6], found[6], independence[6];
        const dyn_constrained_states at = {1, NULL, c.q, c.v, NULL};
        const dyn_task_goal goal = {.task = {1, &t.frame}, .accelerations = desired};
        const dyn_task_torques to = {tau, found, independence};
        dyn_error error;
        random_vector(&random, (int)t.m, 1, desired);
        bool is_checked = is_regular(&c);
        dyn_status status = dyn_constrained_task_torques(c.model, c.workspace, &at, NULL, &goal, c.tau, &to, &error);
        /* A floating joint has no motor. */
        ck_assert_msg(status == DYN_OK || !is_checked || strstr(error.message, "it is passive"), "%s", error.message);
        if (is_checked && status == DYN_OK) {
            accelerate_task(&c, &t, tau);
            assert_norm_close("accelerations", tree, found, t.rates, t.m, 1e-5);
            double least = 1;
            for (size_t i = 0; i < t.m; i++) {
                least = fmin(least, independence[i]);
            }
            if (least > 1e-3) {
                assert_norm_close("desired", tree, desired, t.rates, t.m, 1e-5);
                reached++;
            }
        }
        free(tau);
        close_case(&c);
    }
    printf("%d of %d tasks are reached\n", reached, TREES);
    ck_assert_int_ge(reached, TREES / 12);
}
END_TEST

/* The change along a direction is that of the accelerations over a short step. */
START_TEST(accelerations_change_along_a_direction_as_their_derivatives_say) {
    random_source base = random_seed("closed_loops along", 177);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *along[4], *by = numbers(c.nv * c.nv), *sum = numbers(c.nv);
        dyn_error error;
        for (int i = 0; i < 4; i++) {
            along[i] = numbers(c.nv);
            random_vector(&random, (int)c.nv, 1, along[i]);
        }
        const dyn_constrained_direction direction = {along[0], along[1], along[2]};
        dyn_status status = dyn_constrained_forward_dynamics_along(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL,
                                                                   NULL, &direction, along[3], &error);
        for (int k = 0; status == DYN_OK && k < 3; k++) {
            const dyn_constrained_derivatives to = {
                .da_dq = k == 0 ? by : NULL, .da_dv = k == 1 ? by : NULL, .da_dtau = k == 2 ? by : NULL};
            require(dyn_constrained_forward_dynamics_derivatives(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL,
                                                                 NULL, &to, &error),
                    &error);
            for (size_t i = 0; i < c.nv * c.nv; i++) {
                sum[i / c.nv] += by[i] * along[k][i % c.nv];
            }
        }
        if (status == DYN_OK) {
            assert_norm_close("along", tree, sum, along[3], c.nv, 1e-12);
        } else {
            ck_assert_int_eq(status, DYN_FAILED_PRECONDITION);
        }
        free(along[0]), free(along[1]), free(along[2]), free(along[3]), free(by), free(sum);
        close_case(&c);
    }
}
END_TEST

/* ---- Inverse dynamics -------------------------------------------------------------------------------------------- */

/* Makes about a third of the joints of a case passive, and sets their forces to zero. */
static void make_passive(random_source *random, loop_case *c) {
    dyn_builder *builder;
    dyn_error error;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_describe(c->model, &builder, &error), &error);
    require(dyn_model_build_options(c->model, &options, &error), &error);
    for (int j = 0; j < dyn_builder_joint_count(builder); j++) {
        if (random_index(random, 3) == 0) {
            require(dyn_builder_set_passive(builder, dyn_builder_joint(builder, j)->name, &error), &error);
        }
    }
    dyn_workspace_free(c->workspace);
    dyn_model_free(c->model);
    require(dyn_builder_build(builder, &options, NULL, &c->model, &error), &error);
    require(dyn_workspace_create(c->model, &c->workspace, &error), &error);
    dyn_builder_free(builder);
    for (int j = 0; j < dyn_model_joint_count(c->model); j++) {
        const dyn_joint *joint = dyn_model_joint(c->model, j);
        for (int k = 0; k < joint->nv && dyn_model_joint_is_passive(c->model, j); k++) {
            c->tau[joint->v_index + k] = 0;
        }
    }
}

static double weighted_square(size_t n, const double *weights, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (weights ? weights[i] : 1) * x[i] * x[i];
    }
    return sum;
}

/* Checks the forces that inverse dynamics computes for the motion a, which the forces c->tau cause. */
static void check_forces(loop_case *c, int tree, const double *weights, const double *a) {
    double *tau = numbers(c->nv), *lambda = numbers(c->m);
    dyn_constrained_inverse_result result;
    dyn_constrained_inverse_options options = DYN_CONSTRAINED_INVERSE_OPTIONS_INIT(.weights = weights);
    dyn_error error;
    require(dyn_constrained_inverse_dynamics(c->model, c->workspace, 1, NULL, c->q, c->v, a, NULL, &options, tau,
                                             lambda, &result, &error),
            &error);
    for (int j = 0; j < dyn_model_joint_count(c->model); j++) {
        const dyn_joint *joint = dyn_model_joint(c->model, j);
        for (int k = 0; k < joint->nv && dyn_model_joint_is_passive(c->model, j); k++) {
            ck_assert_double_eq(tau[joint->v_index + k], 0);
        }
    }
    double least = weighted_square(c->nv, weights, tau), given = weighted_square(c->nv, weights, c->tau);
    ck_assert_msg(least <= given * (1 + 1e-6) + 1e-9, "tree %d: %g is more than %g", tree, least, given);
    ck_assert_double_le(result.residual, 1e-6 * (1 + norm(a, c->nv)));
    if (result.freedom == 0) {
        assert_norm_close("tau without freedom", tree, tau, c->tau, c->nv, 1e-6);
    }
    double *own = c->tau;
    c->tau = tau;
    check_equations(c, tree, a, lambda);
    c->tau = own;
    free(tau), free(lambda);
}

START_TEST(inverse_dynamics_finds_the_least_forces_of_the_motors) {
    random_source base = random_seed("closed_loops inverse", 165);
    dyn_error error;
    int checked = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        make_passive(&random, &c);
        double *a = numbers(c.nv), *weights = numbers(c.nv);
        dyn_constraint_result result;
        for (size_t i = 0; i < c.nv; i++) {
            weights[i] = random_uniform(&random, 0.1, 10);
        }
        require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, NULL, a, NULL,
                                                 &result, &error),
                &error);
        if (result.residual < 1e-7 * (1 + norm(a, c.nv))) {
            check_forces(&c, tree, NULL, a);
            check_forces(&c, tree, weights, a);
            checked++;
        }
        free(a), free(weights);
        close_case(&c);
    }
    ck_assert_int_gt(checked, TREES / 4);
}
END_TEST

START_TEST(a_motion_that_needs_a_missing_motor_names_its_joint) {
    random_source base = random_seed("closed_loops impossible", 166);
    dyn_error error;
    int refused = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        make_passive(&random, &c);
        double *a = numbers(c.nv);
        random_vector(&random, (int)c.nv, 1, a);
        dyn_status status = dyn_constrained_inverse_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, a, NULL, NULL,
                                                             c.tau, NULL, NULL, &error);
        if (status != DYN_OK) {
            ck_assert_msg(status == DYN_FAILED_PRECONDITION, "%s: %s", error.place, error.message);
            ck_assert(error.site.has_joint && error.site.has_sample);
            ck_assert(dyn_model_joint_is_passive(c.model, error.site.joint));
            const char *name = dyn_model_joint(c.model, error.site.joint)->name;
            ck_assert_msg(strstr(error.message, name) != NULL, "%s", error.message);
            refused++;
        }
        free(a);
        close_case(&c);
    }
    ck_assert_int_gt(refused, 0);
}
END_TEST

/* Requires the motion (v, a) of a case to be refused at `argument`, with the name and the direction of a constraint,
 * and to be answered without a tolerance. */
static void expect_forbidden(const loop_case *c, const double *v, const double *a, const char *argument) {
    double *tau = numbers(c->nv);
    dyn_error error;
    dyn_constrained_inverse_options options = DYN_CONSTRAINED_INVERSE_OPTIONS_INIT(.tolerance = 1e-3);
    ck_assert_int_eq(dyn_constrained_inverse_dynamics(c->model, c->workspace, 1, NULL, c->q, v, a, NULL, &options, tau,
                                                      NULL, NULL, &error),
                     DYN_FAILED_PRECONDITION);
    ck_assert_str_eq(error.site.argument, argument);
    ck_assert_msg(strstr(error.message, "constraint loop ") && strstr(error.message, "along \""), "%s", error.message);
    options.tolerance = 0;
    require(dyn_constrained_inverse_dynamics(c->model, c->workspace, 1, NULL, c->q, v, a, NULL, &options, tau, NULL,
                                             NULL, &error),
            &error);
    free(tau);
}

/* Returns the largest of |A x| at q. */
static double largest_rate(const loop_case *c, const double *x) {
    double *A = numbers(c->m * c->nv), *rates = numbers(c->m), most = 0;
    rows_at(c, 0, A, NULL, NULL);
    multiply(c->m, c->nv, A, x, rates);
    for (size_t r = 0; r < c->m; r++) {
        most = larger(most, fabs(rates[r]));
    }
    free(A), free(rates);
    return most;
}

/* Checks that inverse dynamics answers a motion from rest that forward dynamics has found, and refuses it with other
 * accelerations or other velocities, which constraints forbid. */
START_TEST(motions_that_constraints_forbid_are_refused_by_name) {
    random_source base = random_seed("closed_loops forbidden", 171);
    dyn_error error;
    int checked = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *a = numbers(c.nv), *bad = numbers(c.nv), *tau = numbers(c.nv);
        require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, NULL, c.tau, NULL, NULL, a, NULL,
                                                 NULL, &error),
                &error);
        const dyn_constrained_inverse_options options = DYN_CONSTRAINED_INVERSE_OPTIONS_INIT(.tolerance = 1e-3);
        dyn_status status = dyn_constrained_inverse_dynamics(c.model, c.workspace, 1, NULL, c.q, NULL, a, NULL,
                                                             &options, tau, NULL, NULL, &error);
        ck_assert_msg(status == DYN_OK || error.site.has_joint, "%s", error.message);
        for (size_t i = 0; i < c.nv; i++) {
            bad[i] = a[i] + random_uniform(&random, -1, 1) * (1 + norm(a, c.nv));
        }
        if (status == DYN_OK && largest_rate(&c, c.v) > 0.05 && largest_rate(&c, bad) > 0.05 * norm(bad, c.nv)) {
            expect_forbidden(&c, NULL, bad, "a");
            expect_forbidden(&c, c.v, a, "v");
            checked++;
        }
        free(a), free(bad), free(tau);
        close_case(&c);
    }
    ck_assert_int_gt(checked, TREES / 4);
}
END_TEST

/* Checks that weights of multipliers make the weighted sum of all forces least: it is not larger than for the least
 * forces of the motors, and any change of the multipliers that the passive joints allow increases it. */
START_TEST(weights_of_multipliers_distribute_the_forces_of_contacts) {
    random_source base = random_seed("closed_loops weights", 172);
    dyn_error error;
    int less = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *a = numbers(c.nv), *u = numbers(c.m), *tau[2] = {numbers(c.nv), numbers(c.nv)};
        double *lambda[2] = {numbers(c.m), numbers(c.m)}, sum[2];
        for (size_t r = 0; r < c.m; r++) {
            u[r] = random_index(&random, 3) ? random_uniform(&random, 0.1, 10) : 0;
        }
        require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, NULL, c.tau, NULL, NULL, a, NULL,
                                                 NULL, &error),
                &error);
        dyn_status status = DYN_OK;
        for (int k = 0; k < 2 && status == DYN_OK; k++) {
            const dyn_constrained_inverse_options options =
                DYN_CONSTRAINED_INVERSE_OPTIONS_INIT(.multiplier_weights = k ? u : NULL);
            status = dyn_constrained_inverse_dynamics(c.model, c.workspace, 1, NULL, c.q, NULL, a, NULL, &options,
                                                      tau[k], lambda[k], NULL, &error);
            sum[k] = weighted_square(c.nv, NULL, tau[k]) + weighted_square(c.m, u, lambda[k]);
        }
        if (status == DYN_OK) {
            double *own = c.tau, *own_v = c.v, *zero = numbers(c.nv);
            ck_assert_msg(sum[1] <= sum[0] * (1 + 1e-9), "tree %d: %g is more than %g", tree, sum[1], sum[0]);
            less += sum[1] < 0.999 * sum[0];
            c.tau = tau[1], c.v = zero;
            check_equations(&c, tree, a, lambda[1]);
            c.tau = own, c.v = own_v;
            free(zero);
        }
        free(a), free(u), free(tau[0]), free(tau[1]), free(lambda[0]), free(lambda[1]);
        close_case(&c);
    }
    ck_assert_int_gt(less, TREES / 8);
}
END_TEST

/* Returns the canonical text of a model; the caller frees it. */
static char *canonical(const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    require(dyn_model_canonical(model, &text, &length, &error), &error);
    return text;
}

START_TEST(descriptions_as_text_carry_constraints) {
    random_source base = random_seed("closed_loops text", 163);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        dyn_builder *builder;
        dyn_model *again;
        dyn_error error;
        char *text;
        size_t length;
        dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
        require(dyn_description_write(c.model, &text, &length, &error), &error);
        require(dyn_description_read(text, length, &builder, &options, &error), &error);
        require(dyn_builder_build(builder, &options, NULL, &again, &error), &error);
        char *before = canonical(c.model), *after = canonical(again), *tree_text = canonical(c.tree);
        ck_assert_str_eq(after, before);
        ck_assert_str_ne(tree_text, before);
        ck_assert_int_eq(dyn_model_constraint_count(again), dyn_model_constraint_count(c.model));
        dyn_text_free(text), dyn_text_free(before), dyn_text_free(after), dyn_text_free(tree_text);
        dyn_builder_free(builder);
        dyn_model_free(again);
        close_case(&c);
    }
}
END_TEST

START_TEST(derived_models_carry_constraints_or_name_the_one_that_is_lost) {
    random_source base = random_seed("closed_loops operations", 164);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        dyn_model *derived, *pruned;
        dyn_error error;
        char *text;
        size_t length;
        const char *last = dyn_model_link(c.model, dyn_model_link_count(c.model) - 1)->name;
        const dyn_inertia inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 1}};
        require(dyn_model_attach(c.model, last, "payload", &inertia, NULL, &derived, &error), &error);
        ck_assert_int_eq(dyn_model_constraint_rows(derived), (int)c.m);
        dyn_status status = dyn_model_detach(c.model, last, &pruned, &error);
        ck_assert(status == DYN_OK || strstr(error.place, "constraint loop") ||
                  dyn_model_detach(c.tree, last, &pruned, &error) != DYN_OK);
        dyn_model_free(pruned);
        ck_assert_int_eq(dyn_urdf_write_model(c.model, &text, &length, &error), DYN_FAILED_PRECONDITION);
        dyn_model_free(derived);
        status = dyn_model_merge(c.tree, last, NULL, c.model, "other_", &derived, &error);
        if (status == DYN_OK) {
            ck_assert_int_eq(dyn_model_constraint_rows(derived), (int)c.m);
            ck_assert_str_eq(dyn_model_constraint(derived, 0)->name, "other_loop 0");
        } else {
            ck_assert(status == DYN_FAILED_PRECONDITION ? dyn_model_is_floating(c.model)
                                                        : strstr(error.message, "on the same link") != NULL);
            ck_assert_msg(strstr(error.place, "loop"), "%s", error.place);
        }
        dyn_model_free(derived);
        close_case(&c);
    }
}
END_TEST

/* ---- Bounds ------------------------------------------------------------------------------------------------------ */

/* Returns a builder with a chain of `joints` links that slide along x, and with `constraints` loop joints, each of
 * which welds the first link to the world. */
static dyn_builder *tied_chain(int joints, int constraints) {
    char names[2][NAME_SIZE] = {"base", ""};
    dyn_builder *builder;
    dyn_error error;
    require(dyn_builder_create("chain", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &(dyn_link_description){.name = "base"}, &error), &error);
    for (int j = 0; j < joints; j++) {
        char *parent = names[j % 2], *child = names[1 - j % 2];
        snprintf(child, NAME_SIZE, "link %d", j);
        const dyn_link_description link = {.name = child, .inertia = {.mass = 1}};
        dyn_joint_description joint = {.name = child,
                                       .type = DYN_JOINT_TYPE_PRISMATIC,
                                       .parent_link = parent,
                                       .child_link = child,
                                       .axis = {1, 0, 0}};
        memcpy(joint.rotation, identity.rotation, sizeof joint.rotation);
        require(dyn_builder_add_link(builder, &link, &error), &error);
        require(dyn_builder_add_joint(builder, &joint, &error), &error);
    }
    for (int i = 0; i < constraints; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "weld %d", i);
        const dyn_constraint_description weld = {.name = name,
                                                 .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                                 .type = DYN_JOINT_TYPE_FIXED,
                                                 .predecessor = {NULL, identity},
                                                 .successor = {"link 0", identity}};
        require(dyn_builder_add_constraint(builder, &weld, &error), &error);
    }
    return builder;
}

START_TEST(rows_and_coordinates_of_a_model_with_constraints_are_bounded) {
    const struct {
        int joints, constraints;
        dyn_status status;
    } cases[] = {{1000, 1, DYN_OK},
                 {1001, 0, DYN_OK},
                 {1001, 1, DYN_RESOURCE_EXHAUSTED},
                 {1, 100, DYN_OK},
                 {1, 101, DYN_RESOURCE_EXHAUSTED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dyn_builder *builder = tied_chain(cases[i].joints, cases[i].constraints);
        dyn_model *model;
        dyn_error error;
        ck_assert_int_eq(dyn_builder_build(builder, NULL, NULL, &model, &error), cases[i].status);
        dyn_model_free(model);
        dyn_builder_free(builder);
    }
}
END_TEST

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

/* Outputs of forward dynamics: accelerations and multipliers. */
typedef struct motion_values {
    double *a, *lambda;
} motion_values;

static const double stabilization = 3;

/* Adds weight times the accelerations and multipliers to a sum, at an increment t along coordinate k of one argument,
 * which is q, v or tau. Returns whether the rows agree there. */
static bool add_moved(const loop_case *c, int argument, size_t k, double t, double weight, motion_values sum) {
    const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.stabilization = stabilization);
    double *q = numbers(c->nq), *v = numbers(c->nv), *tau = numbers(c->nv), *a = numbers(c->nv),
           *lambda = numbers(c->m);
    double *along = numbers(c->nv);
    dyn_constraint_result result;
    dyn_error error;
    along[k] = 1;
    integrate_configuration(c->model, c->q, along, argument == 0 ? t : 0, q);
    memcpy(v, c->v, c->nv * sizeof *v);
    memcpy(tau, c->tau, c->nv * sizeof *tau);
    v[k] += argument == 1 ? t : 0;
    tau[k] += argument == 2 ? t : 0;
    require(dyn_constrained_forward_dynamics(c->model, c->workspace, 1, NULL, q, v, tau, NULL, &options, a, lambda,
                                             &result, &error),
            &error);
    for (size_t i = 0; i < c->nv; i++) {
        sum.a[i] += weight * a[i];
    }
    for (size_t r = 0; r < c->m; r++) {
        sum.lambda[r] += weight * lambda[r];
    }
    bool agrees = result.residual < 1e-7 * (1 + norm(a, c->nv));
    free(q), free(v), free(tau), free(a), free(lambda), free(along);
    return agrees;
}

/* Compares the derivatives with respect to one argument, nv and m rows of nv numbers, with differences of order 4. */
static void check_argument(const loop_case *c, int tree, int argument, motion_values derivative) {
    static const double offsets[4] = {-2, -1, 1, 2}, weights[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    const double t = 1e-3;
    for (size_t k = 0; k < c->nv; k++) {
        motion_values rate = {numbers(c->nv), numbers(c->m)}, column = {numbers(c->nv), numbers(c->m)};
        bool agrees = true;
        for (int i = 0; i < 4; i++) {
            agrees &= add_moved(c, argument, k, offsets[i] * t, weights[i] / t, rate);
        }
        for (size_t i = 0; i < c->nv; i++) {
            column.a[i] = derivative.a[i * c->nv + k];
        }
        for (size_t r = 0; r < c->m; r++) {
            column.lambda[r] = derivative.lambda[r * c->nv + k];
        }
        ck_assert(agrees);
        assert_norm_close("derivative of a", 3 * tree + argument, column.a, rate.a, c->nv, 1e-6);
        assert_norm_close("derivative of lambda", 3 * tree + argument, column.lambda, rate.lambda, c->m, 1e-6);
        free(rate.a), free(rate.lambda), free(column.a), free(column.lambda);
    }
}

/* Returns whether the rows agree at q, and nearby, so that there are derivatives. */
static bool is_consistent(const loop_case *c) {
    motion_values sum = {numbers(c->nv), numbers(c->m)};
    bool agrees = true;
    for (size_t k = 0; k < c->nv; k++) {
        agrees = agrees && add_moved(c, 0, k, 2e-3, 1, sum) && add_moved(c, 1, k, 1e-3, 1, sum);
    }
    free(sum.a), free(sum.lambda);
    return agrees;
}

/* Compares all derivatives of a case with differences. Returns false where its rows do not agree. */
static bool check_derivatives(const loop_case *c, int tree) {
    const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.stabilization = stabilization);
    const bool agrees = is_consistent(c);
    motion_values of[3];
    dyn_error error;
    for (int i = 0; i < 3; i++) {
        of[i] = (motion_values){numbers(c->nv * c->nv), numbers(c->m * c->nv)};
    }
    const dyn_constrained_derivatives to = {of[0].a, of[1].a, of[2].a, of[0].lambda, of[1].lambda, of[2].lambda};
    if (agrees) {
        require(dyn_constrained_forward_dynamics_derivatives(c->model, c->workspace, 1, NULL, c->q, c->v, c->tau, NULL,
                                                             &options, &to, &error),
                &error);
    }
    for (int i = 0; i < 3; i++) {
        if (agrees) {
            check_argument(c, tree, i, of[i]);
        }
        free(of[i].a), free(of[i].lambda);
    }
    return agrees;
}

START_TEST(derivatives_agree_with_differences) {
    random_source base = random_seed("closed_loops derivatives", 171);
    int compared = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        compared += check_derivatives(&c, tree);
        close_case(&c);
    }
    ck_assert_int_gt(compared, 10);
}
END_TEST

/* Moves the coordinate of a custom joint to 4 mrad beyond a knot of its functions, where a third derivative jumps.
 * Returns false if there is no such joint. */
static bool move_beside_knot(loop_case *c) {
    for (int j = 0; j < dyn_model_joint_count(c->model); j++) {
        const dyn_joint *joint = dyn_model_joint(c->model, j);
        for (int k = 0; joint->nq == 1 && k < joint->motion_count; k++) {
            const dyn_joint_function *f = &joint->motions[k].function;
            if (f->kind == DYN_FUNCTION_KIND_CUBIC_SPLINE) {
                c->q[joint->q_index] = f->knots[1] + 0.004;
                return true;
            }
        }
    }
    return false;
}

START_TEST(derivatives_beside_a_knot_of_a_custom_joint_agree_with_differences) {
    random_source base = random_seed("closed_loops derivatives", 171);
    int compared = 0;
    for (int tree = 2; tree < TREES; tree += 5) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        if (move_beside_knot(&c)) {
            compared += check_derivatives(&c, tree);
        }
        close_case(&c);
    }
    ck_assert_int_gt(compared, 2);
}
END_TEST

/* ---- Assembly ---------------------------------------------------------------------------------------------------- */

/* Requires the closure errors at q to be below a bound, or one of them above it. */
static void check_closure(const loop_case *c, const double *q, bool is_closed, double bound) {
    double *e = numbers(c->m), most = 0;
    dyn_error error;
    require(dyn_constraint_rows(c->model, c->workspace, 1, q, NULL, NULL, NULL, e, &error), &error);
    for (size_t r = 0; r < c->m; r++) {
        most = larger(most, fabs(e[r]));
    }
    ck_assert_msg((most <= bound) == is_closed, "the largest closure error is %g", most);
    free(e);
}

START_TEST(assembly_closes_loops_from_a_guess_nearby) {
    random_source base = random_seed("closed_loops assembly", 167);
    int closed = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *dq = numbers(c.nv), *guess = numbers(c.nq), *q = numbers(c.nq);
        dyn_assembly_result result;
        dyn_error error;
        random_vector(&random, (int)c.nv, 0.02, dq);
        require(dyn_integrate(c.model, 1, c.q, dq, 1, guess, &error), &error);
        require(dyn_assemble(c.model, c.workspace, 1, guess, NULL, q, &result, &error), &error);
        ck_assert(isfinite(result.error));
        check_closure(&c, q, result.is_closed, 1e-10);
        closed += result.is_closed;
        free(dq), free(guess), free(q);
        close_case(&c);
    }
    ck_assert_int_ge(closed, TREES * 9 / 10);
}
END_TEST

/* Checks that assembly closes loops from guesses anywhere, with a joint held where it was when they closed. */
START_TEST(assembly_closes_loops_from_any_guess) {
    random_source base = random_seed("closed_loops assembly from anywhere", 173);
    int closed = 0;
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *dq = numbers(c.nv), *guess = numbers(c.nq), *q = numbers(c.nq);
        bool *held = calloc(c.nv, sizeof *held);
        dyn_assembly_result result;
        dyn_error error;
        const dyn_joint *joint = dyn_model_joint(c.model, random_index(&random, dyn_model_joint_count(c.model)));
        random_vector(&random, (int)c.nv, M_PI, dq);
        for (int k = joint->v_index; k < joint->v_index + joint->nv; k++) {
            held[k] = true, dq[k] = 0;
        }
        const dyn_assembly_options options = DYN_ASSEMBLY_OPTIONS_INIT(.held = held, .iteration_limit = 2000);
        require(dyn_integrate(c.model, 1, c.q, dq, 1, guess, &error), &error);
        require(dyn_assemble(c.model, c.workspace, 1, guess, &options, q, &result, &error), &error);
        check_closure(&c, q, result.is_closed, 1e-10);
        ck_assert_int_le(result.iterations, 2000);
        for (int k = joint->q_index; k < joint->q_index + joint->nq; k++) {
            ck_assert_double_eq_tol(q[k], guess[k], 1e-12);
        }
        closed += result.is_closed;
        free(dq), free(guess), free(q), free(held);
        close_case(&c);
    }
    ck_assert_int_ge(closed, TREES * 9 / 10);
}
END_TEST

/* Checks that an assembled sample has the same bits alone and among others, also where the result overwrites the
 * guess. */
START_TEST(samples_of_an_assembly_do_not_depend_on_each_other) {
    random_source random = random_seed("closed_loops assembly of samples", 168);
    loop_case c = random_loops(&random, 1);
    enum { SAMPLES = 5 };
    double *q = numbers(SAMPLES * c.nq), *all = numbers(SAMPLES * c.nq), *dq = numbers(c.nv);
    dyn_error error;
    for (size_t s = 0; s < SAMPLES; s++) {
        random_vector(&random, (int)c.nv, 0.05, dq);
        require(dyn_integrate(c.model, 1, c.q, dq, 1, q + s * c.nq, &error), &error);
    }
    require(dyn_assemble(c.model, c.workspace, SAMPLES, q, NULL, all, NULL, &error), &error);
    for (size_t s = 0; s < SAMPLES; s++) {
        require(dyn_assemble(c.model, c.workspace, 1, q + s * c.nq, NULL, q + s * c.nq, NULL, &error), &error);
    }
    ck_assert(memcmp(q, all, SAMPLES * c.nq * sizeof *q) == 0);
    free(q), free(all), free(dq);
    close_case(&c);
}
END_TEST

/* Checks that assembly with all joints held returns the guess, and names the constraint with the largest closure
 * error. */
START_TEST(assembly_with_all_joints_held_names_the_open_constraint) {
    random_source random = random_seed("closed_loops assembly of held joints", 169);
    loop_case c = random_loops(&random, 1);
    double *dq = numbers(c.nv), *guess = numbers(c.nq), *q = numbers(c.nq), *e = numbers(c.m);
    bool *held = calloc(c.nv, sizeof *held);
    dyn_assembly_result result;
    dyn_error error;
    memset(held, true, c.nv * sizeof *held);
    random_vector(&random, (int)c.nv, 0.1, dq);
    require(dyn_integrate(c.model, 1, c.q, dq, 1, guess, &error), &error);
    const dyn_assembly_options options = DYN_ASSEMBLY_OPTIONS_INIT(.held = held);
    require(dyn_assemble(c.model, c.workspace, 1, guess, &options, q, &result, &error), &error);
    ck_assert(!result.is_closed && memcmp(q, guess, c.nq * sizeof *q) == 0);
    require(dyn_constraint_rows(c.model, c.workspace, 1, q, NULL, NULL, NULL, e, &error), &error);
    const dyn_constraint *named = dyn_model_constraint(c.model, result.constraint);
    double most = 0, own = 0;
    for (int r = 0; r < (int)c.m; r++) {
        bool is_own = r >= named->first_row && r < named->first_row + named->row_count;
        most = larger(most, fabs(e[r]));
        own = is_own ? larger(own, fabs(e[r])) : own;
    }
    ck_assert_double_eq(own, most);
    ck_assert_double_eq(result.error, most);
    free(dq), free(guess), free(q), free(e), free(held);
    close_case(&c);
}
END_TEST

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static dyn_builder *two_links(void) {
    dyn_builder *builder;
    dyn_error error;
    const dyn_inertia inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 1}};
    const dyn_link_description base = {.name = "base"}, arm = {.name = "arm", .inertia = inertia};
    const dyn_joint_description joint = {.name = "joint",
                                         .type = DYN_JOINT_TYPE_REVOLUTE,
                                         .parent_link = "base",
                                         .child_link = "arm",
                                         .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                         .axis = {0, 0, 1}};
    require(dyn_builder_create("two", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &base, &error), &error);
    require(dyn_builder_add_link(builder, &arm, &error), &error);
    require(dyn_builder_add_joint(builder, &joint, &error), &error);
    return builder;
}

/* Checks that a constraint is refused when it is added, or else when the model is built. The message must contain
 * `words`. */
static void expect_refusal(const dyn_constraint_description *d, const char *words) {
    dyn_builder *builder = two_links();
    dyn_error error;
    dyn_model *model = NULL;
    dyn_status status = dyn_builder_add_constraint(builder, d, &error);
    if (status == DYN_OK) {
        status = dyn_builder_build(builder, NULL, NULL, &model, &error);
    }
    ck_assert_msg(status == DYN_INVALID_ARGUMENT && strstr(error.message, words), "%d: %s: %s", (int)status,
                  error.place, error.message);
    ck_assert_msg(strstr(error.place, "constraint"), "%s", error.place);
    dyn_model_free(model);
    dyn_builder_free(builder);
}

START_TEST(wrong_constraints_are_refused_by_name) {
    const dyn_constraint_description good = {.name = "loop",
                                             .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                             .type = DYN_JOINT_TYPE_REVOLUTE,
                                             .axis = {0, 0, 1},
                                             .predecessor = {"base", identity},
                                             .successor = {"arm", identity}};
    dyn_constraint_description d = good;
    d.name = "";
    expect_refusal(&d, "name");
    d = good, d.kind = (dyn_constraint_kind)9;
    expect_refusal(&d, "9 is no kind of constraint");
    d = good, d.type = DYN_JOINT_TYPE_FLOATING;
    expect_refusal(&d, "a floating joint cannot close a loop");
    d = good, d.type = (dyn_joint_type)99;
    expect_refusal(&d, "99 is no type of joint");
    d = good, d.axis[2] = 0;
    expect_refusal(&d, "the axis is (0, 0, 0)");
    d = good, d.successor.pose.rotation[0] = 2;
    expect_refusal(&d, "the rotation of its successor is none");
    d = good, d.predecessor.pose.position[1] = NAN;
    expect_refusal(&d, "the position of its predecessor is (0, nan, 0)");
    d = good, d.successor.link = "leg";
    expect_refusal(&d, "there is no link leg, which its successor names");
    d = good, d.successor.link = "base";
    expect_refusal(&d, "both of its sides are on the same link");
    d = good, d.kind = DYN_CONSTRAINT_KIND_DISTANCE;
    expect_refusal(&d, "the distance is 0 m");
    d = good, d.kind = DYN_CONSTRAINT_KIND_COUPLING;
    expect_refusal(&d, "it couples no joint");
    d.coupled[0] = (dyn_coupled_coordinate){"joint", 0};
    expect_refusal(&d, "the coefficient of joint joint is 0");
    d.coupled[0] = (dyn_coupled_coordinate){"elbow", 1};
    expect_refusal(&d, "there is no moving joint elbow");
    dyn_builder *builder = two_links();
    dyn_error error;
    require(dyn_builder_add_constraint(builder, &good, &error), &error);
    ck_assert_int_eq(dyn_builder_add_constraint(builder, &good, &error), DYN_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, "there are two constraints of this name"), "%s", error.message);
    dyn_builder_free(builder);
}
END_TEST

START_TEST(options_and_workspaces_that_do_not_fit_are_refused) {
    random_source random = random_seed("closed_loops options", 165);
    loop_case c = random_loops(&random, 0);
    double *a = numbers(c.nv);
    dyn_error error;
    dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)7);
    ck_assert_int_eq(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, &options, a,
                                                      NULL, NULL, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "options.method");
    options = (dyn_constraint_options)DYN_CONSTRAINT_OPTIONS_INIT(.stabilization = -1);
    ck_assert_int_eq(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, &options, a,
                                                      NULL, NULL, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "options.stabilization");
    dyn_workspace *single;
    require(dyn_workspace_create_in(c.model, DYN_PRECISION_SINGLE, &single, &error), &error);
    ck_assert_int_eq(
        dyn_constrained_forward_dynamics(c.model, single, 1, NULL, c.q, c.v, c.tau, NULL, NULL, a, NULL, NULL, &error),
        DYN_FAILED_PRECONDITION);
    dyn_workspace_free(single);
    free(a);
    close_case(&c);
}
END_TEST

/* Returns a model of a slider whose block is at a fixed distance from the base. */
static dyn_model *slider(void) {
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    const dyn_inertia inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 1}};
    const dyn_link_description base = {.name = "base"}, block = {.name = "block", .inertia = inertia};
    const dyn_joint_description joint = {.name = "slide",
                                         .type = DYN_JOINT_TYPE_PRISMATIC,
                                         .parent_link = "base",
                                         .child_link = "block",
                                         .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                         .axis = {0, 0, 1}};
    const dyn_constraint_description rod = {.name = "rod",
                                            .kind = DYN_CONSTRAINT_KIND_DISTANCE,
                                            .distance = 1,
                                            .predecessor = {"base", identity},
                                            .successor = {"block", identity}};
    require(dyn_builder_create("slider", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &base, &error), &error);
    require(dyn_builder_add_link(builder, &block, &error), &error);
    require(dyn_builder_add_joint(builder, &joint, &error), &error);
    require(dyn_builder_add_constraint(builder, &rod, &error), &error);
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

START_TEST(rows_beyond_the_range_of_double_precision_are_refused) {
    const double q[3] = {1, 2, 1e200}, v[3] = {0, 1e200, 0};
    double bias[3], errors[3], closed[3];
    dyn_model *model = slider();
    dyn_workspace *workspace;
    dyn_error error;
    require(dyn_workspace_create(model, &workspace, &error), &error);
    ck_assert_int_eq(dyn_constraint_rows(model, workspace, 2, q, v, NULL, bias, NULL, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "bias");
    ck_assert_uint_eq(error.site.sample, 1);
    ck_assert_int_eq(dyn_constraint_rows(model, workspace, 3, q, NULL, NULL, NULL, errors, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "errors");
    ck_assert_uint_eq(error.site.sample, 2);
    ck_assert_int_eq(dyn_assemble(model, workspace, 3, q, NULL, closed, NULL, &error), DYN_INVALID_ARGUMENT);
    ck_assert_uint_eq(error.site.sample, 2);
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

START_TEST(samples_of_a_batch_have_the_bits_of_single_calls) {
    enum { SAMPLES = 21 };
    random_source base = random_seed("closed_loops batch", 166);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        loop_case c = random_loops(&random, tree);
        double *q = numbers(SAMPLES * c.nq), *v = numbers(SAMPLES * c.nv), *tau = numbers(SAMPLES * c.nv);
        double *a = numbers(SAMPLES * c.nv), *one = numbers(c.nv), *lambda = numbers(SAMPLES * c.m);
        double *one_lambda = numbers(c.m);
        dyn_constraint_result results[SAMPLES], result;
        dyn_error error;
        for (size_t s = 0; s < SAMPLES; s++) {
            random_configuration(&random, c.model, 1, q + s * c.nq);
            random_vector(&random, (int)c.nv, 1, v + s * c.nv);
            random_vector(&random, (int)c.nv, 10, tau + s * c.nv);
        }
        const dyn_constraint_options options =
            DYN_CONSTRAINT_OPTIONS_INIT(.stabilization = 10,
                                        .method = tree % 2 ? DYN_CONSTRAINT_METHOD_ARTICULATED_BODIES : 0);
        require(dyn_constrained_forward_dynamics(c.model, c.workspace, SAMPLES, NULL, q, v, tau, NULL, &options, a,
                                                 lambda, results, &error),
                &error);
        for (size_t s = 0; s < SAMPLES; s++) {
            require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, q + s * c.nq, v + s * c.nv,
                                                     tau + s * c.nv, NULL, &options, one, one_lambda, &result, &error),
                    &error);
            ck_assert(memcmp(one, a + s * c.nv, c.nv * sizeof *a) == 0);
            ck_assert(memcmp(one_lambda, lambda + s * c.m, c.m * sizeof *a) == 0);
            ck_assert_int_eq(result.rank, results[s].rank);
        }
        free(q), free(v), free(tau), free(a), free(one), free(lambda), free(one_lambda);
        close_case(&c);
    }
}
END_TEST

/* ---- Real robots ------------------------------------------------------------------------------------------------- */

static const char reference_directory[] = DYNAMICS_REFERENCE_DIR "/closed_loops";

static void check_reference(const char *robot) {
    closed_loop_reference reference;
    dyn_workspace *workspace;
    dyn_error error;
    closed_loop_reference_open(reference_directory, robot, &reference);
    require(dyn_workspace_create(reference.model, &workspace, &error), &error);
    size_t nv = reference.nv, m = reference.m;
    double *a = numbers(nv), *lambda = numbers(m);
    closed_loop_state state = {numbers(reference.nq), numbers(nv), numbers(nv), numbers(nv), numbers(m), 0};
    for (int method = 1; method < METHODS; method++) {
        dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)method);
        for (size_t s = 0; s < reference.state_count; s++) {
            dyn_constraint_result result;
            closed_loop_reference_state(&reference, s, &state);
            require(dyn_constrained_forward_dynamics(reference.model, workspace, 1, NULL, state.q, state.v, state.tau,
                                                     NULL, &options, a, lambda, &result, &error),
                    &error);
            assert_norm_close(robot, (int)s, a, state.a, nv, 1e-7);
            assert_norm_close(robot, (int)s, lambda, state.lambda, m, 1e-6);
            ck_assert_int_eq(result.rank, state.rank);
        }
    }
    free(state.q), free(state.v), free(state.tau), free(state.a), free(state.lambda), free(a), free(lambda);
    dyn_workspace_free(workspace);
    closed_loop_reference_close(&reference);
}

/* Assembles a robot from guesses up to half a turn of each joint away from a reference state, with its motors held or
 * not. Returns the number of guesses from which the loops did not close. */
static int assemble_robot(const char *robot, bool holds_motors) {
    enum { GUESSES = 12 };
    closed_loop_reference reference;
    dyn_workspace *workspace;
    dyn_error error;
    random_source base = random_seed("closed_loops assembly of real robots", 174);
    int open = 0;
    closed_loop_reference_open(reference_directory, robot, &reference);
    require(dyn_workspace_create(reference.model, &workspace, &error), &error);
    size_t nv = reference.nv, nq = reference.nq;
    double *dq = numbers(nv), *q = numbers(nq), *e = numbers(reference.m);
    bool *held = calloc(nv, sizeof *held);
    closed_loop_state state = {numbers(nq), numbers(nv), numbers(nv), numbers(nv), numbers(reference.m), 0};
    for (int j = 0; j < dyn_model_joint_count(reference.model) && holds_motors; j++) {
        const dyn_joint *joint = dyn_model_joint(reference.model, j);
        held[joint->v_index] |= joint->nv == 1 && !dyn_model_joint_is_passive(reference.model, j);
    }
    for (int g = 0; g < GUESSES; g++) {
        random_source random = random_case(base, (uint64_t)g);
        dyn_assembly_result result;
        const dyn_assembly_options options = DYN_ASSEMBLY_OPTIONS_INIT(.held = held, .iteration_limit = 2000);
        closed_loop_reference_state(&reference, (size_t)g % reference.state_count, &state);
        random_vector(&random, (int)nv, M_PI, dq);
        for (size_t i = 0; i < nv; i++) {
            dq[i] = held[i] ? 0 : dq[i];
        }
        require(dyn_integrate(reference.model, 1, state.q, dq, 1, q, &error), &error);
        require(dyn_assemble(reference.model, workspace, 1, q, &options, q, &result, &error), &error);
        require(dyn_constraint_rows(reference.model, workspace, 1, q, NULL, NULL, NULL, e, &error), &error);
        ck_assert(!result.is_closed || norm(e, reference.m) <= 1e-10 * sqrt((double)reference.m));
        open += !result.is_closed;
    }
    free(state.q), free(state.v), free(state.tau), free(state.a), free(state.lambda);
    free(dq), free(q), free(e), free(held);
    dyn_workspace_free(workspace);
    closed_loop_reference_close(&reference);
    return open;
}

START_TEST(real_robots_assemble_from_any_guess) {
    for (size_t i = 0; closed_loop_robots[i]; i++) {
        for (int holds = 0; holds < 2; holds++) {
            const int open = assemble_robot(closed_loop_robots[i], holds);
            ck_assert_msg(open == 0, "%s: %d guesses stay open", closed_loop_robots[i], open);
        }
    }
}
END_TEST

START_TEST(accelerations_of_real_robots_match_the_reference) {
    for (size_t i = 0; closed_loop_robots[i]; i++) {
        check_reference(closed_loop_robots[i]);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("closed_loops");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, derivatives_agree_with_differences);
    tcase_add_test(tests, derivatives_beside_a_knot_of_a_custom_joint_agree_with_differences);
    tcase_add_test(tests, rows_and_biases_are_derivatives_of_the_closure_errors);
    tcase_add_test(tests, methods_agree_and_satisfy_the_equations);
    tcase_add_test(tests, wrenches_of_constraints_move_the_links_as_the_constraints_do);
    tcase_add_test(tests, hybrid_forces_cause_the_motion_and_the_multipliers_that_they_are_for);
    tcase_add_test(tests, tasks_move_under_constraints_as_their_equation_says);
    tcase_add_test(tests, forces_of_tasks_cause_their_accelerations_under_constraints);
    tcase_add_test(tests, accelerations_change_along_a_direction_as_their_derivatives_say);
    tcase_add_test(tests, formulations_have_the_inner_quantities_of_constraints);
    tcase_add_test(tests, projectors_remove_the_forces_and_motions_of_constraints);
    tcase_add_test(tests, inverse_dynamics_finds_the_least_forces_of_the_motors);
    tcase_add_test(tests, a_motion_that_needs_a_missing_motor_names_its_joint);
    tcase_add_test(tests, motions_that_constraints_forbid_are_refused_by_name);
    tcase_add_test(tests, weights_of_multipliers_distribute_the_forces_of_contacts);
    tcase_add_test(tests, samples_of_a_batch_have_the_bits_of_single_calls);
    tcase_add_test(tests, descriptions_as_text_carry_constraints);
    tcase_add_test(tests, derived_models_carry_constraints_or_name_the_one_that_is_lost);
    tcase_add_test(tests, rows_and_coordinates_of_a_model_with_constraints_are_bounded);
    tcase_add_test(tests, assembly_closes_loops_from_a_guess_nearby);
    tcase_add_test(tests, assembly_closes_loops_from_any_guess);
    tcase_add_test(tests, samples_of_an_assembly_do_not_depend_on_each_other);
    tcase_add_test(tests, assembly_with_all_joints_held_names_the_open_constraint);
    tcase_add_test(tests, wrong_constraints_are_refused_by_name);
    tcase_add_test(tests, options_and_workspaces_that_do_not_fit_are_refused);
    tcase_add_test(tests, rows_beyond_the_range_of_double_precision_are_refused);
    if (closed_loop_reference_exists(reference_directory)) {
        tcase_add_test(tests, accelerations_of_real_robots_match_the_reference);
        tcase_add_test(tests, real_robots_assemble_from_any_guess);
    } else {
        printf("skipped: there are no reference accelerations\n");
    }
    return run_properties("closed_loops", tests);
}
