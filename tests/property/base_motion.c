/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares robots on a base that moves with the same robots on a floating joint, which is a different algorithm: at the
 * identity pose, with the twist and the acceleration of the base as those of the joint.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 60, SAMPLES = 3, FLOATING_NQ = 7, FLOATING_NV = 6 };

/* Robot on a base that moves, and the same on a floating joint. */
typedef struct pair {
    dyn_model *model, *floating;
    dyn_workspace *workspace, *floating_workspace;
    size_t nq, nv;
    double *q, *v, *a, *floating_q, *floating_v, *floating_a;
    double twist[6 * SAMPLES], acceleration[6 * SAMPLES];
    dyn_base_motion base;
} pair;

static dyn_model *build(const dyn_builder *builder, dyn_base base) {
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base, .mimic = DYN_MIMIC_POLICY_COUPLED);
    dyn_model *model;
    dyn_error error;
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    return model;
}

/* Copies the state of sample s to the floating robot. Its velocities are in the axes of the base, whose linear
 * acceleration is less by w x v than the classical one. */
static void float_sample(pair *p, size_t s) {
    const double *V = p->base.twist + s * p->base.stride, *A = p->base.acceleration + s * p->base.stride;
    double *q = p->floating_q + s * (p->nq + FLOATING_NQ), *v = p->floating_v + s * (p->nv + FLOATING_NV),
           *a = p->floating_a + s * (p->nv + FLOATING_NV);
    q[6] = 1;
    memcpy(v, V + 3, 3 * sizeof *v), memcpy(v + 3, V, 3 * sizeof *v);
    a[0] = A[3] - (V[1] * V[5] - V[2] * V[4]);
    a[1] = A[4] - (V[2] * V[3] - V[0] * V[5]);
    a[2] = A[5] - (V[0] * V[4] - V[1] * V[3]);
    memcpy(a + 3, A, 3 * sizeof *a);
    memcpy(q + FLOATING_NQ, p->q + s * p->nq, p->nq * sizeof *q);
    memcpy(v + FLOATING_NV, p->v + s * p->nv, p->nv * sizeof *v);
    memcpy(a + FLOATING_NV, p->a + s * p->nv, p->nv * sizeof *a);
}

static pair open_pair(random_source *random, int k, bool with_rotors) {
    dyn_error error;
    pair p = {.base = {p.twist, p.acceleration, 0}};
    random_tree_options options = {.joints = 1 + k % 9,
                                   .with_fixed = true,
                                   .with_custom = k % 4 > 1,
                                   .with_mimic = k % 3 == 2,
                                   .mimic = DYN_MIMIC_POLICY_COUPLED};
    dyn_model *tree = random_tree(random, &options);
    dyn_builder *builder;
    require(dyn_model_describe(tree, &builder, &error), &error);
    if (with_rotors) {
        add_random_rotors(random, tree, builder);
    }
    p.model = build(builder, DYN_BASE_FIXED), p.floating = build(builder, DYN_BASE_FLOATING);
    dyn_builder_free(builder);
    dyn_model_free(tree);
    require(dyn_workspace_create(p.model, &p.workspace, &error), &error);
    require(dyn_workspace_create(p.floating, &p.floating_workspace, &error), &error);
    p.nq = (size_t)dyn_model_nq(p.model), p.nv = (size_t)dyn_model_nv(p.model);
    p.q = numbers(SAMPLES * p.nq), p.v = numbers(SAMPLES * p.nv), p.a = numbers(SAMPLES * p.nv);
    p.floating_q = numbers(SAMPLES * (p.nq + FLOATING_NQ)), p.floating_v = numbers(SAMPLES * (p.nv + FLOATING_NV)),
    p.floating_a = numbers(SAMPLES * (p.nv + FLOATING_NV));
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, p.model, 2, p.q + s * p.nq);
    }
    random_vector(random, (int)(SAMPLES * p.nv), 2, p.v), random_vector(random, (int)(SAMPLES * p.nv), 3, p.a);
    random_vector(random, 6 * SAMPLES, 2, p.twist), random_vector(random, 6 * SAMPLES, 3, p.acceleration);
    return p;
}

/* Sets the motion of the base to one for all samples, or to one for each, and that of the floating robot. */
static void move(pair *p, size_t stride) {
    p->base = (dyn_base_motion){p->twist, p->acceleration, stride};
    for (size_t s = 0; s < SAMPLES; s++) {
        float_sample(p, s);
    }
}

static void close_pair(pair *p) {
    free(p->q), free(p->v), free(p->a), free(p->floating_q), free(p->floating_v), free(p->floating_a);
    dyn_workspace_free(p->workspace), dyn_workspace_free(p->floating_workspace);
    dyn_model_free(p->model), dyn_model_free(p->floating);
}

/* Requires that n rows of `width` numbers are those of the floating robot, which come after `skipped` others. */
static void assert_rows(const char *what, int k, const double *x, size_t width, const double *floating,
                        size_t skipped) {
    for (size_t s = 0; s < SAMPLES; s++) {
        assert_norm_close(what, k, x + s * width, floating + s * (width + skipped) + skipped, width, 1e-11);
    }
}

static void compare_forces(const pair *p, int k) {
    dyn_error error;
    size_t joints = (size_t)dyn_model_joint_count(p->model), nv = p->nv;
    double *tau = numbers(SAMPLES * nv), *f = numbers(SAMPLES * nv), *wrenches = numbers(SAMPLES * 6 * joints);
    double *floating_tau = numbers(SAMPLES * (nv + 6)), *floating_wrenches = numbers(SAMPLES * 6 * (joints + 1));
    require(dyn_rnea(p->model, p->workspace, SAMPLES, NULL, p->q, p->v, p->a, NULL, tau, &error), &error);
    require(dyn_joint_wrenches(p->model, p->workspace, SAMPLES, NULL, p->q, p->v, p->a, NULL, wrenches, &error),
            &error);
    require(dyn_base_forces(p->model, p->workspace, SAMPLES, p->q, p->v, &p->base, f, wrenches, &error), &error);
    for (size_t i = 0; i < SAMPLES * nv; i++) {
        tau[i] += f[i];
    }
    require(dyn_rnea(p->floating, p->floating_workspace, SAMPLES, NULL, p->floating_q, p->floating_v, p->floating_a,
                     NULL, floating_tau, &error),
            &error);
    require(dyn_joint_wrenches(p->floating, p->floating_workspace, SAMPLES, NULL, p->floating_q, p->floating_v,
                               p->floating_a, NULL, floating_wrenches, &error),
            &error);
    assert_rows("joint forces", k, tau, nv, floating_tau, FLOATING_NV);
    assert_rows("joint wrenches", k, wrenches, 6 * joints, floating_wrenches, 6);
    free(tau), free(f), free(wrenches), free(floating_tau), free(floating_wrenches);
}

/* Requires that nv x nv numbers of each sample are a block of those of the floating robot. */
static void assert_block(const char *what, int k, size_t nv, const double *x, const double *floating) {
    double *block = numbers(nv * nv);
    for (size_t s = 0; s < SAMPLES; s++) {
        for (size_t i = 0; i < nv; i++) {
            memcpy(block + i * nv, floating + (s * (nv + 6) + 6 + i) * (nv + 6) + 6, nv * sizeof *block);
        }
        assert_norm_close(what, k, x + s * nv * nv, block, nv * nv, 1e-10);
    }
    free(block);
}

/* Compares the derivatives of inverse dynamics on the moving base with those of the floating robot along its other
 * coordinates. */
static void compare_derivatives(const pair *p, int k) {
    dyn_error error;
    size_t nv = p->nv, size = SAMPLES * nv * nv, floating_size = SAMPLES * (nv + 6) * (nv + 6);
    double *x[5], *y[3];
    for (int i = 0; i < 5; i++) {
        x[i] = numbers(size);
    }
    for (int i = 0; i < 3; i++) {
        y[i] = numbers(floating_size);
    }
    /* The kernels of one sample differ from those of several. */
    size_t together = k % 3 == 0 ? 1 : SAMPLES;
    for (size_t s = 0; s < SAMPLES; s += together) {
        require(dyn_rnea_derivatives(p->model, p->workspace, together, NULL, p->q + s * p->nq, p->v + s * nv,
                                     p->a + s * nv, NULL, x[0] + s * nv * nv, x[1] + s * nv * nv, x[2] + s * nv * nv,
                                     &error),
                &error);
    }
    require(dyn_base_force_derivatives(p->model, p->workspace, SAMPLES, p->q, p->v, &p->base, x[3], x[4], &error),
            &error);
    for (size_t i = 0; i < size; i++) {
        x[0][i] += x[3][i], x[1][i] += x[4][i];
    }
    require(dyn_rnea_derivatives(p->floating, p->floating_workspace, SAMPLES, NULL, p->floating_q, p->floating_v,
                                 p->floating_a, NULL, y[0], y[1], y[2], &error),
            &error);
    assert_block("derivatives along q", k, nv, x[0], y[0]);
    assert_block("derivatives along v", k, nv, x[1], y[1]);
    for (int i = 0; i < 5; i++) {
        free(x[i]);
    }
    for (int i = 0; i < 3; i++) {
        free(y[i]);
    }
}

static void compare_motion(const pair *p, int k) {
    static const dyn_reference_frame frames[] = {DYN_REFERENCE_FRAME_LOCAL, DYN_REFERENCE_FRAME_WORLD,
                                                 DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED};
    double x[4][6 * SAMPLES], position[3 * SAMPLES];
    dyn_error error;
    for (int frame = 0; frame < dyn_model_link_count(p->model); frame++) {
        for (int r = 0; r < 3; r++) {
            require(dyn_frame_motion_on_base(p->model, p->workspace, SAMPLES, p->q, p->v, p->a, frame, frames[r],
                                             &p->base, x[0], x[1], &error),
                    &error);
            require(dyn_frame_motion(p->floating, p->floating_workspace, SAMPLES, p->floating_q, p->floating_v,
                                     p->floating_a, frame, frames[r], x[2], x[3], NULL, &error),
                    &error);
            assert_rows("twist", k, x[0], 6, x[2], 0);
            assert_rows("rate", k, x[1], 6, x[3], 0);
        }
    }
    /* The last joint alone carries the same links in both robots. */
    int last = dyn_model_joint_count(p->model) - 1;
    if (dyn_model_mass(p->model) == 0) {
        return;
    }
    require(
        dyn_center_of_mass(p->model, p->workspace, SAMPLES, p->q, p->v, p->a, last, position, x[0], x[1], NULL, &error),
        &error);
    dyn_carry_point(SAMPLES, &p->base, position, x[0], x[1]);
    require(dyn_center_of_mass(p->floating, p->floating_workspace, SAMPLES, p->floating_q, p->floating_v, p->floating_a,
                               last + 1, NULL, x[2], x[3], NULL, &error),
            &error);
    assert_rows("velocity of the centre of mass", k, x[0], 3, x[2], 0);
    assert_rows("acceleration of the centre of mass", k, x[1], 3, x[3], 0);
}

START_TEST(a_moving_base_is_a_floating_joint_that_follows_it) {
    random_source base = random_seed("base_motion", 2801);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        pair p = open_pair(&random, k, k % 2);
        move(&p, k % 4 < 2 ? 6 : 0);
        compare_forces(&p, k);
        compare_motion(&p, k);
        close_pair(&p);
    }
}
END_TEST

START_TEST(derivatives_on_a_moving_base_are_those_of_the_floating_robot) {
    random_source base = random_seed("derivatives on a moving base", 2804);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        pair p = open_pair(&random, k, k % 2);
        move(&p, k % 4 < 2 ? 6 : 0);
        compare_derivatives(&p, k);
        close_pair(&p);
    }
}
END_TEST

/* Compares the derivatives of the forward dynamics on the moving base, and the derivative of its forces along a
 * direction, with M^-1 times those of the floating robot's inverse dynamics: da = M^-1 (dtau - d(M a + h + f_base)). */
static void compare_forward_derivatives(random_source *random, const pair *p, int k) {
    dyn_error error;
    const size_t nv = p->nv, size = nv * nv, all = SAMPLES * nv;
    double *x[7], *tau = numbers(all), *f = numbers(all), *step[2] = {numbers(all), numbers(all)}, *df = numbers(all);
    for (int i = 0; i < 7; i++) {
        x[i] = numbers(SAMPLES * size);
    }
    random_vector(random, (int)all, 1, step[0]), random_vector(random, (int)all, 1, step[1]);
    require(dyn_rnea(p->model, p->workspace, SAMPLES, NULL, p->q, p->v, p->a, NULL, tau, &error), &error);
    require(dyn_base_force_derivatives(p->model, p->workspace, SAMPLES, p->q, p->v, &p->base, x[0], x[1], &error),
            &error);
    /* tau is what remains of M a + h + f_base after f_base is subtracted. */
    require(dyn_aba_derivatives(p->model, p->workspace, SAMPLES, NULL, p->q, p->v, tau, NULL, x[2], x[3], x[4], &error),
            &error);
    dyn_base_acceleration_derivatives(p->model, SAMPLES, x[4], x[0], x[1], x[2], x[3]);
    dyn_base_forces_along(p->model, SAMPLES, x[0], x[1], step[0], step[1], df);
    dyn_base_forces_along(p->model, SAMPLES, x[0], x[1], NULL, step[1], f);
    require(
        dyn_rnea_derivatives(p->model, p->workspace, SAMPLES, NULL, p->q, p->v, p->a, NULL, x[5], x[6], x[4], &error),
        &error);
    for (size_t s = 0; s < SAMPLES; s++) {
        for (size_t i = 0; i < nv; i++) {
            double along[2] = {0, 0};
            for (size_t j = 0; j < nv; j++) {
                size_t at = s * size + i * nv + j, row = s * nv + j;
                along[0] += x[0][at] * step[0][row], along[1] += x[1][at] * step[1][row];
                for (size_t l = 0; l < nv; l++) { /* M da/dq = -dtau/dq, M da/dv = -dtau/dv */
                    double M = x[4][s * size + i * nv + l];
                    x[5][at] += M * x[2][s * size + l * nv + j], x[6][at] += M * x[3][s * size + l * nv + j];
                }
                x[5][at] += x[0][at], x[6][at] += x[1][at];
            }
            tau[s * nv + i] = along[0] + along[1], p->a[s * nv + i] = along[1];
        }
    }
    memset(x[0], 0, SAMPLES * size * sizeof *x[0]);
    assert_norm_close("M da/dq + dtau/dq", k, x[5], x[0], SAMPLES * size, 1e-8);
    assert_norm_close("M da/dv + dtau/dv", k, x[6], x[0], SAMPLES * size, 1e-8);
    assert_norm_close("forces along a direction", k, df, tau, all, 1e-12);
    assert_norm_close("forces along velocities alone", k, f, p->a, all, 1e-12);
    for (int i = 0; i < 7; i++) {
        free(x[i]);
    }
    free(tau), free(f), free(step[0]), free(step[1]), free(df);
}

START_TEST(derivatives_of_accelerations_on_a_moving_base_undo_those_of_its_forces) {
    random_source base = random_seed("derivatives of accelerations on a moving base", 2805);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        pair p = open_pair(&random, k, k % 2);
        move(&p, k % 4 < 2 ? 6 : 0);
        compare_forward_derivatives(&random, &p, k);
        close_pair(&p);
    }
}
END_TEST

/* Checks inverse and forward dynamics by one formulation. Returns whether it applies. */
static bool compare_formulation(const pair *p, int k, const char *name) {
    dyn_error error;
    dyn_formulation *f;
    char what[96];
    size_t all = SAMPLES * p->nv;
    if (dyn_formulation_applies(p->model, name, &error) != DYN_OK) {
        return false;
    }
    double *floating_tau = numbers(SAMPLES * (p->nv + 6)), *tau = numbers(all), *x = numbers(all);
    require(dyn_rnea(p->floating, p->floating_workspace, SAMPLES, NULL, p->floating_q, p->floating_v, p->floating_a,
                     NULL, floating_tau, &error),
            &error);
    for (size_t i = 0; i < all; i++) {
        tau[i] = floating_tau[i / p->nv * (p->nv + 6) + 6 + i % p->nv];
    }
    require(dyn_formulation_create(p->model, name, &f, &error), &error);
    dyn_formulation_move_base(f, &p->base);
    snprintf(what, sizeof what, "inverse dynamics by %s", name);
    require(dyn_formulation_inverse_dynamics(f, SAMPLES, NULL, p->q, p->v, p->a, x, &error), &error);
    assert_norm_close(what, k, x, tau, all, 1e-9);
    snprintf(what, sizeof what, "forward dynamics by %s", name);
    require(dyn_formulation_forward_dynamics(f, SAMPLES, NULL, p->q, p->v, tau, x, &error), &error);
    assert_norm_close(what, k, x, p->a, all, 1e-9);
    dyn_formulation_free(f);
    free(floating_tau), free(tau), free(x);
    return true;
}

START_TEST(every_formulation_has_a_moving_base) {
    random_source base = random_seed("formulations on a moving base", 2802);
    for (int i = 0; i < dyn_formulation_count(); i++) {
        int compared = 0;
        for (int k = 0; k < CASES; k++) {
            random_source random = random_case(base, (uint64_t)k);
            pair p = open_pair(&random, k % 2 ? k : 0, false);
            move(&p, 6);
            compared += compare_formulation(&p, k, dyn_formulation_traits_at(i)->name);
            close_pair(&p);
        }
        if (compared == 0) {
            printf("%s applies to none of these trees\n", dyn_formulation_traits_at(i)->name);
        }
    }
}
END_TEST

START_TEST(a_base_that_is_not_finite_is_refused) {
    random_source base = random_seed("refusals of base motions", 2803);
    pair p = open_pair(&base, 3, false);
    dyn_error error;
    double *f = numbers(SAMPLES * p.nv), x[6 * SAMPLES], y[6 * SAMPLES];
    move(&p, 6);
    p.acceleration[8] = (double)INFINITY;
    ck_assert_int_eq(dyn_base_forces(p.model, p.workspace, SAMPLES, p.q, p.v, &p.base, f, NULL, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.site.argument, "base_motion");
    ck_assert_uint_eq(error.site.sample, 1);
    ck_assert_int_eq(dyn_frame_motion_on_base(p.model, p.workspace, SAMPLES, p.q, p.v, p.a, 0,
                                              DYN_REFERENCE_FRAME_LOCAL, &p.base, x, y, &error),
                     DYN_INVALID_ARGUMENT);
    p.base.twist = NULL;
    ck_assert_int_eq(dyn_base_forces(p.model, p.workspace, SAMPLES, p.q, p.v, &p.base, f, NULL, &error),
                     DYN_INVALID_ARGUMENT);
    free(f);
    close_pair(&p);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("base_motion");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_moving_base_is_a_floating_joint_that_follows_it);
    tcase_add_test(tests, derivatives_on_a_moving_base_are_those_of_the_floating_robot);
    tcase_add_test(tests, derivatives_of_accelerations_on_a_moving_base_undo_those_of_its_forces);
    tcase_add_test(tests, every_formulation_has_a_moving_base);
    tcase_add_test(tests, a_base_that_is_not_finite_is_refused);
    return run_properties("base_motion", tests);
}
