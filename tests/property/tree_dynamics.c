/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks identities between the algorithms of tree dynamics.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/identities.h"
#include "support/random_tree.h"

enum { CASES = 1000 };

static void rnea_of_aba_returns_the_forces(identity_case *c, int k) {
    dyn_error error;
    double *tau = numbers(c->nv);
    random_vector(c->random, (int)c->nv, 20, tau);
    require(dyn_aba(c->model, c->w, 1, NULL, c->q, c->v, tau, NULL, c->x, &error), &error);
    require(dyn_rnea(c->model, c->w, 1, NULL, c->q, c->v, c->x, NULL, c->y, &error), &error);
    assert_close("RNEA(ABA(tau)) = tau", k, c->y, tau, c->nv, 1e-9);
    free(tau);
}

static void mass_matrix_times_acceleration_plus_bias_is_rnea(identity_case *c, int k) {
    dyn_error error;
    double *h = numbers(c->nv);
    require(dyn_crba(c->model, c->w, 1, c->q, c->M, &error), &error);
    require(dyn_bias(c->model, c->w, 1, NULL, c->q, c->v, h, &error), &error);
    require(dyn_rnea(c->model, c->w, 1, NULL, c->q, c->v, c->a, NULL, c->y, &error), &error);
    multiply(c->M, c->a, c->nv, c->nv, c->x);
    for (size_t i = 0; i < c->nv; i++) {
        c->x[i] += h[i];
    }
    assert_close("M a + h = RNEA", k, c->x, c->y, c->nv, 1e-9);
    free(h);
}

static void mass_matrix_is_symmetric_and_positive(identity_case *c, int k) {
    dyn_error error;
    (void)k;
    require(dyn_crba(c->model, c->w, 1, c->q, c->M, &error), &error);
    for (size_t i = 0; i < c->nv; i++) {
        for (size_t j = 0; j < i; j++) {
            ck_assert_double_eq(c->M[i * c->nv + j], c->M[j * c->nv + i]);
        }
    }
    multiply(c->M, c->v, c->nv, c->nv, c->x);
    ck_assert_double_gt(dot(c->v, c->x, c->nv), 0);
}

static void gravity_is_rnea_at_rest(identity_case *c, int k) {
    dyn_error error;
    const double gravity[3] = {1, -2, 3};
    require(dyn_gravity(c->model, c->w, 1, gravity, c->q, c->x, &error), &error);
    require(dyn_rnea(c->model, c->w, 1, gravity, c->q, NULL, NULL, NULL, c->y, &error), &error);
    assert_close("g = RNEA(q, 0, 0)", k, c->x, c->y, c->nv, 1e-12);
}

static int random_frame(const identity_case *c) {
    return random_index(c->random, dyn_model_link_count(c->model));
}

/* Checks tau = M a + h - J' f for a force on a random frame, in each reference frame. */
static void external_force_acts_through_the_jacobian(identity_case *c, int k) {
    dyn_error error;
    double wrench[6], *J = numbers(6 * c->nv);
    random_vector(c->random, 6, 30, wrench);
    dyn_external_force force = {
        .frame = random_frame(c), .reference_frame = (dyn_reference_frame)(k % 3), .wrench = wrench};
    dyn_external_forces forces = {1, &force};
    require(dyn_rnea(c->model, c->w, 1, NULL, c->q, c->v, c->a, &forces, c->x, &error), &error);
    require(dyn_rnea(c->model, c->w, 1, NULL, c->q, c->v, c->a, NULL, c->y, &error), &error);
    require(dyn_frame_jacobian(c->model, c->w, 1, c->q, force.frame, force.reference_frame, J, &error), &error);
    for (size_t i = 0; i < 6 * c->nv; i++) {
        c->y[i % c->nv] -= J[i] * wrench[i / c->nv];
    }
    assert_close("RNEA(f) = RNEA - J' f", k, c->x, c->y, c->nv, 1e-10);
    require(dyn_aba(c->model, c->w, 1, NULL, c->q, c->v, c->x, &forces, c->y, &error), &error);
    assert_close("ABA(RNEA(f), f) = a", k, c->y, c->a, c->nv, 1e-7);
    free(J);
}

/* Compares the rate of a frame's pose, dR/dt R' and dr/dt by central differences, with J v in world axes. The motion is
 * integrated by the tests' own function, so that the comparison is independent of the library's integration. */
static void jacobian_is_the_derivative_of_the_pose(identity_case *c, int k) {
    dyn_error error;
    int frame = random_frame(c);
    const double dt[3] = {0, IDENTITY_STEP, -IDENTITY_STEP};
    double r[3][3], R[3][9], twist[6], expected[6] = {0}, *J = numbers(6 * c->nv), *q = numbers(c->nq);
    for (int i = 0; i < 3; i++) {
        integrate_configuration(c->model, c->q, c->v, dt[i], q);
        require(dyn_frame_pose(c->model, c->w, 1, q, frame, r[i], R[i], &error), &error);
    }
    require(dyn_frame_jacobian(c->model, c->w, 1, c->q, frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, J, &error),
            &error);
    multiply(J, c->v, 6, c->nv, twist);
    for (int i = 0; i < 3; i++) {
        int x = (i + 1) % 3, y = (i + 2) % 3;
        expected[3 + i] = (r[1][i] - r[2][i]) / (2 * IDENTITY_STEP);
        for (int j = 0; j < 3; j++) {
            expected[i] += (R[1][3 * y + j] - R[2][3 * y + j]) * R[0][3 * x + j] / (2 * IDENTITY_STEP);
        }
    }
    assert_close("J v", k, twist, expected, 6, 1e-6);
    free(J), free(q);
}

/* Checks that the frame's pose relates the three reference frames of a Jacobian. */
static void jacobians_of_the_three_frames_agree(identity_case *s, int k) {
    dyn_error error;
    int frame = random_frame(s);
    size_t nv = s->nv, entries = 6 * nv;
    double r[3], R[9], *J[3], *expected = numbers(entries);
    for (int i = 0; i < 3; i++) {
        J[i] = numbers(entries);
        require(dyn_frame_jacobian(s->model, s->w, 1, s->q, frame, (dyn_reference_frame)i, J[i], &error), &error);
    }
    require(dyn_frame_pose(s->model, s->w, 1, s->q, frame, r, R, &error), &error);
    for (size_t c = 0; c < nv; c++) {
        for (size_t i = 0; i < 3; i++) {
            for (size_t j = 0; j < 3; j++) {
                expected[i * nv + c] += R[3 * i + j] * J[DYN_REFERENCE_FRAME_LOCAL][j * nv + c];
                expected[(3 + i) * nv + c] += R[3 * i + j] * J[DYN_REFERENCE_FRAME_LOCAL][(3 + j) * nv + c];
            }
        }
    }
    assert_close("R J_local = J_aligned", k, J[DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED], expected, entries, 1e-12);
    for (size_t c = 0; c < nv; c++) {
        for (size_t i = 0; i < 3; i++) {
            size_t x = (i + 1) % 3, y = (i + 2) % 3;
            expected[(3 + i) * nv + c] += r[x] * expected[y * nv + c] - r[y] * expected[x * nv + c];
        }
    }
    assert_close("J_world", k, J[DYN_REFERENCE_FRAME_WORLD], expected, entries, 1e-12);
    free(J[0]), free(J[1]), free(J[2]), free(expected);
}

/* Checks M = K' M_free K: the kinetic energy of the coupled robot is that of the free one at the coupled rates. */
START_TEST(coupled_mimic_joints_project_the_free_mass_matrix) {
    random_source base = random_seed("M = K' M_free K", 20261128);
    dyn_error error;
    int with_coupling = 0;
    for (int k = 0; k < CASES / 3; k++) {
        random_source random = random_case(base, (uint64_t)k), again = random;
        random_tree_options options = {.joints = 2 + k % 30, .with_mimic = true, .with_fixed = true};
        dyn_model *coupled = random_tree(&random, &options);
        options.mimic = DYN_MIMIC_POLICY_INDEPENDENT;
        dyn_model *independent = random_tree(&again, &options);
        with_coupling += dyn_model_has_coupling(coupled);
        int nv = dyn_model_nv(coupled), wide = dyn_model_nv(independent);
        double *q = numbers((size_t)dyn_model_nq(coupled)), *q_free = numbers((size_t)dyn_model_nq(independent));
        double *K = numbers((size_t)(nv * wide)), *M = numbers((size_t)(nv * nv));
        double *M_free = numbers((size_t)(wide * wide)), *expected = numbers((size_t)(nv * nv));
        random_configuration(&random, coupled, 2, q);
        for (int j = 0; j < dyn_model_joint_count(coupled); j++) {
            const dyn_joint *x = dyn_model_joint(coupled, j), *y = dyn_model_joint(independent, j);
            ck_assert_str_eq(x->name, y->name);
            const dyn_joint *m = x->master < 0 ? x : dyn_model_joint(coupled, x->master);
            for (int c = 0; c < y->nq; c++) {
                q_free[y->q_index + c] = x->master < 0 ? q[x->q_index + c] : x->multiplier * q[m->q_index] + x->offset;
            }
            for (int c = 0; c < y->nv; c++) {
                K[(y->v_index + c) * nv + m->v_index + c] = x->master < 0 ? 1 : x->multiplier;
            }
        }
        dyn_workspace *w = NULL, *w_free = NULL;
        require(dyn_workspace_create(coupled, &w, &error), &error);
        require(dyn_workspace_create(independent, &w_free, &error), &error);
        require(dyn_crba(coupled, w, 1, q, M, &error), &error);
        require(dyn_crba(independent, w_free, 1, q_free, M_free, &error), &error);
        for (int i = 0; i < nv; i++) {
            for (int j = 0; j < nv; j++) {
                for (int r = 0; r < wide; r++) {
                    for (int c = 0; K[r * nv + i] != 0 && c < wide; c++) {
                        expected[i * nv + j] += K[r * nv + i] * M_free[r * wide + c] * K[c * nv + j];
                    }
                }
            }
        }
        assert_close("M = K' M_free K", k, M, expected, (size_t)(nv * nv), 1e-12);
        free(q), free(q_free), free(K), free(M), free(M_free), free(expected);
        dyn_workspace_free(w), dyn_workspace_free(w_free);
        dyn_model_free(coupled), dyn_model_free(independent);
    }
    ck_assert_int_gt(with_coupling, CASES / 10);
}
END_TEST

static const identity identities[] = {
    {"RNEA(ABA(tau)) = tau", rnea_of_aba_returns_the_forces, CASES},
    {"M a + h = RNEA", mass_matrix_times_acceleration_plus_bias_is_rnea, CASES},
    {"M = M' > 0", mass_matrix_is_symmetric_and_positive, CASES / 10},
    {"g = RNEA(q, 0, 0)", gravity_is_rnea_at_rest, CASES / 10},
    {"RNEA(f) = RNEA - J' f", external_force_acts_through_the_jacobian, CASES / 3},
    {"J v = d pose / dt", jacobian_is_the_derivative_of_the_pose, CASES / 3},
    {"J local, world, aligned", jacobians_of_the_three_frames_agree, CASES / 3},
};

int main(void) {
    TCase *tests = identity_tests(identities, (int)(sizeof identities / sizeof identities[0]));
    tcase_add_test(tests, coupled_mimic_joints_project_the_free_mass_matrix);
    return run_properties("tree dynamics", tests);
}
