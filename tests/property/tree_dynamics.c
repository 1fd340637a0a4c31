/*
 * Identities between the algorithms on random trees of every joint type.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 1000, MAX_JOINTS = 60 };

/* A random tree with a state and room for results. */
typedef struct setting {
    dyn_model *model;
    dyn_workspace *workspace;
    int nq, nv;
    double *q, *v, *a, *tau, *x, *y, *M;
} setting;

/* The model of case k: 1 to 60 joints, fixed or floating, with or without coupled mimic joints. */
static setting setting_create(random_source *random, int k, bool with_mimic) {
    random_tree_options options = {.joints = 1 + random_index(random, MAX_JOINTS),
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .mimic = DYN_MIMIC_COUPLED,
                                   .with_mimic = with_mimic,
                                   .with_fixed = true};
    setting s = {.model = random_tree(random, &options)};
    dyn_error error;
    require(dyn_workspace_create(s.model, &error, &s.workspace), &error);
    s.nq = dyn_model_nq(s.model), s.nv = dyn_model_nv(s.model);
    size_t nv = (size_t)s.nv;
    s.q = numbers((size_t)s.nq), s.v = numbers(nv), s.a = numbers(nv), s.tau = numbers(nv);
    s.x = numbers(6 * nv), s.y = numbers(6 * nv), s.M = numbers(nv * nv);
    random_configuration(random, s.model, 3, s.q);
    random_vector(random, s.nv, 2, s.v);
    random_vector(random, s.nv, 5, s.a);
    random_vector(random, s.nv, 20, s.tau);
    return s;
}

static void setting_free(setting *s) {
    free(s->q), free(s->v), free(s->a), free(s->tau), free(s->x), free(s->y), free(s->M);
    dyn_workspace_free(s->workspace);
    dyn_model_free(s->model);
}

static void add_product(const double *M, const double *x, int n, double *y) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            y[i] += M[i * n + j] * x[j];
        }
    }
}

START_TEST(rnea_of_aba_returns_the_forces) {
    random_source base = random_seed("RNEA(ABA(tau)) = tau", 20261121);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k, k % 3 == 0);
        require(dyn_aba(s.model, s.workspace, 1, NULL, s.q, s.v, s.tau, NULL, &error, s.x), &error);
        require(dyn_rnea(s.model, s.workspace, 1, NULL, s.q, s.v, s.x, NULL, &error, s.y), &error);
        assert_close("RNEA(ABA(tau)) = tau", k, s.y, s.tau, (size_t)s.nv, 1e-9);
        setting_free(&s);
    }
}
END_TEST

START_TEST(mass_matrix_times_acceleration_plus_bias_is_rnea) {
    random_source base = random_seed("M a + h = RNEA", 20261122);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k, k % 3 == 0);
        require(dyn_crba(s.model, s.workspace, 1, s.q, &error, s.M), &error);
        require(dyn_bias(s.model, s.workspace, 1, NULL, s.q, s.v, &error, s.x), &error);
        require(dyn_rnea(s.model, s.workspace, 1, NULL, s.q, s.v, s.a, NULL, &error, s.y), &error);
        add_product(s.M, s.a, s.nv, s.x);
        assert_close("M a + h = RNEA", k, s.x, s.y, (size_t)s.nv, 1e-9);
        setting_free(&s);
    }
}
END_TEST

START_TEST(mass_matrix_is_symmetric_and_positive) {
    random_source base = random_seed("M = M' > 0", 20261123);
    dyn_error error;
    for (int k = 0; k < CASES / 10; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k, true);
        require(dyn_crba(s.model, s.workspace, 1, s.q, &error, s.M), &error);
        for (int i = 0; i < s.nv; i++) {
            for (int j = 0; j < i; j++) {
                ck_assert_double_eq(s.M[i * s.nv + j], s.M[j * s.nv + i]);
            }
        }
        memset(s.x, 0, (size_t)s.nv * sizeof *s.x);
        add_product(s.M, s.v, s.nv, s.x);
        double twice_energy = 0;
        for (int i = 0; i < s.nv; i++) {
            twice_energy += s.v[i] * s.x[i];
        }
        ck_assert_double_gt(twice_energy, 0);
        setting_free(&s);
    }
}
END_TEST

START_TEST(gravity_is_rnea_at_rest) {
    random_source base = random_seed("g = RNEA(q, 0, 0)", 20261124);
    dyn_error error;
    for (int k = 0; k < CASES / 10; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k, true);
        const double gravity[3] = {1, -2, 3};
        require(dyn_gravity(s.model, s.workspace, 1, gravity, s.q, &error, s.x), &error);
        require(dyn_rnea(s.model, s.workspace, 1, gravity, s.q, NULL, NULL, NULL, &error, s.y), &error);
        assert_close("g = RNEA(q, 0, 0)", k, s.x, s.y, (size_t)s.nv, 1e-12);
        setting_free(&s);
    }
}
END_TEST

/* tau = M a + h - J' f for a force on a random frame, in each reference frame. */
START_TEST(external_force_acts_through_the_jacobian) {
    random_source base = random_seed("RNEA(f) = RNEA - J' f", 20261125);
    dyn_error error;
    for (int k = 0; k < CASES / 3; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k, true);
        double wrench[6];
        random_vector(&random, 6, 30, wrench);
        dyn_external_force force = {.frame = random_index(&random, dyn_model_link_count(s.model)),
                                    .reference_frame = (dyn_reference_frame)(k % 3),
                                    .wrench = wrench};
        dyn_external_forces forces = {1, &force};
        double *J = numbers(6 * (size_t)s.nv);
        require(dyn_rnea(s.model, s.workspace, 1, NULL, s.q, s.v, s.a, &forces, &error, s.x), &error);
        require(dyn_rnea(s.model, s.workspace, 1, NULL, s.q, s.v, s.a, NULL, &error, s.y), &error);
        require(dyn_frame_jacobian(s.model, s.workspace, 1, s.q, force.frame, force.reference_frame, &error, J),
                &error);
        for (int i = 0; i < s.nv; i++) {
            for (int row = 0; row < 6; row++) {
                s.y[i] -= J[row * s.nv + i] * wrench[row];
            }
        }
        assert_close("RNEA(f) = RNEA - J' f", k, s.x, s.y, (size_t)s.nv, 1e-10);
        require(dyn_aba(s.model, s.workspace, 1, NULL, s.q, s.v, s.x, &forces, &error, s.y), &error);
        assert_close("ABA(RNEA(f), f) = a", k, s.y, s.a, (size_t)s.nv, 1e-7);
        free(J);
        setting_free(&s);
    }
}
END_TEST

/* (R_1 - R_0) R_0' / h and (r_1 - r_0) / h against J v in world axes, by central differences. */
START_TEST(jacobian_is_the_derivative_of_the_pose) {
    random_source base = random_seed("J v = d pose / dt", 20261126);
    dyn_error error;
    const double h = 1e-6;
    for (int k = 0; k < CASES / 3; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k, true);
        int frame = random_index(&random, dyn_model_link_count(s.model));
        double r[3][3], R[3][9];
        double *J = numbers(6 * (size_t)s.nv), *q = numbers((size_t)s.nq);
        const double dt[3] = {0, h, -h};
        for (int i = 0; i < 3; i++) {
            integrate_configuration(s.model, s.q, s.v, dt[i], q);
            require(dyn_frame_pose(s.model, s.workspace, 1, q, frame, &error, r[i], R[i]), &error);
        }
        require(dyn_frame_jacobian(s.model, s.workspace, 1, s.q, frame, DYN_LOCAL_WORLD_ALIGNED, &error, J), &error);
        double twist[6] = {0}, expected[6];
        for (int row = 0; row < 6; row++) {
            for (int i = 0; i < s.nv; i++) {
                twist[row] += J[row * s.nv + i] * s.v[i];
            }
        }
        for (int i = 0; i < 3; i++) {
            int x = (i + 1) % 3, y = (i + 2) % 3;
            expected[i] = 0;
            expected[3 + i] = (r[1][i] - r[2][i]) / (2 * h);
            for (int c = 0; c < 3; c++) {
                expected[i] += (R[1][3 * y + c] - R[2][3 * y + c]) * R[0][3 * x + c] / (2 * h);
            }
        }
        assert_close("J v", k, twist, expected, 6, 1e-6);
        free(J), free(q);
        setting_free(&s);
    }
}
END_TEST

/* The three reference frames of a Jacobian are related by the frame's pose. */
START_TEST(jacobians_of_the_three_frames_agree) {
    random_source base = random_seed("J local, world, aligned", 20261127);
    dyn_error error;
    for (int k = 0; k < CASES / 3; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k, true);
        int frame = random_index(&random, dyn_model_link_count(s.model));
        size_t nv = (size_t)s.nv, entries = 6 * nv;
        double r[3], R[9], *J[3], *expected = numbers(entries);
        for (int i = 0; i < 3; i++) {
            J[i] = numbers(entries);
            require(dyn_frame_jacobian(s.model, s.workspace, 1, s.q, frame, (dyn_reference_frame)i, &error, J[i]),
                    &error);
        }
        require(dyn_frame_pose(s.model, s.workspace, 1, s.q, frame, &error, r, R), &error);
        for (size_t c = 0; c < nv; c++) {
            for (size_t i = 0; i < 3; i++) {
                for (size_t j = 0; j < 3; j++) {
                    expected[i * nv + c] += R[3 * i + j] * J[DYN_LOCAL][j * nv + c];
                    expected[(3 + i) * nv + c] += R[3 * i + j] * J[DYN_LOCAL][(3 + j) * nv + c];
                }
            }
        }
        assert_close("R J_local = J_aligned", k, J[DYN_LOCAL_WORLD_ALIGNED], expected, entries, 1e-12);
        for (size_t c = 0; c < nv; c++) {
            for (size_t i = 0; i < 3; i++) {
                size_t x = (i + 1) % 3, y = (i + 2) % 3;
                expected[(3 + i) * nv + c] += r[x] * expected[y * nv + c] - r[y] * expected[x * nv + c];
            }
        }
        assert_close("J_world", k, J[DYN_WORLD], expected, entries, 1e-12);
        free(J[0]), free(J[1]), free(J[2]), free(expected);
        setting_free(&s);
    }
}
END_TEST

/* The kinetic energy of the coupled robot is that of the free one at the coupled rates: M = K' M_free K. */
START_TEST(coupled_mimic_joints_project_the_free_mass_matrix) {
    random_source base = random_seed("M = K' M_free K", 20261128);
    dyn_error error;
    int with_coupling = 0;
    for (int k = 0; k < CASES / 3; k++) {
        random_source random = random_case(base, (uint64_t)k), again = random;
        random_tree_options options = {.joints = 2 + k % 30, .with_mimic = true, .with_fixed = true};
        dyn_model *coupled = random_tree(&random, &options);
        options.mimic = DYN_MIMIC_INDEPENDENT;
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
        require(dyn_workspace_create(coupled, &error, &w), &error);
        require(dyn_workspace_create(independent, &error, &w_free), &error);
        require(dyn_crba(coupled, w, 1, q, &error, M), &error);
        require(dyn_crba(independent, w_free, 1, q_free, &error, M_free), &error);
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

int main(void) {
    TCase *identities = tcase_create("identities");
    tcase_set_timeout(identities, 240);
    tcase_add_test(identities, rnea_of_aba_returns_the_forces);
    tcase_add_test(identities, mass_matrix_times_acceleration_plus_bias_is_rnea);
    tcase_add_test(identities, mass_matrix_is_symmetric_and_positive);
    tcase_add_test(identities, gravity_is_rnea_at_rest);
    tcase_add_test(identities, external_force_acts_through_the_jacobian);
    tcase_add_test(identities, jacobian_is_the_derivative_of_the_pose);
    tcase_add_test(identities, jacobians_of_the_three_frames_agree);
    tcase_add_test(identities, coupled_mimic_joints_project_the_free_mass_matrix);
    return run_properties("tree dynamics", identities);
}
