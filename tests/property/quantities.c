/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks identities between the quantities of tree dynamics.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/identities.h"

enum { CASES = 100 };

static void inverse_times_mass_matrix_is_one(identity_case *s, int k) {
    dyn_error error;
    size_t nv = s->nv;
    double *product = numbers(nv * nv), *one = numbers(nv * nv);
    require(dyn_crba(s->model, s->w, 1, s->q, s->M, &error), &error);
    require(dyn_minverse(s->model, s->w, 1, s->q, s->N, &error), &error);
    for (size_t i = 0; i < nv; i++) {
        one[i * nv + i] = 1;
        for (size_t j = 0; j < nv; j++) {
            for (size_t c = 0; c < nv; c++) {
                product[i * nv + j] += s->M[i * nv + c] * s->N[c * nv + j];
            }
        }
    }
    assert_close("M M^-1 = 1", k, product, one, nv * nv, 1e-8);
    free(product), free(one);
}

/* Checks that L' D L is M, and that solving M x = b by these factors, with x in place of b, equals forward dynamics
 * without gravity and velocity. */
static void factors_are_those_of_the_mass_matrix(identity_case *s, int k) {
    dyn_error error;
    size_t nv = s->nv;
    const double none[3] = {0};
    double *product = numbers(nv * nv), *M = numbers(nv * nv), *x = numbers(nv), *expected = numbers(nv);
    require(dyn_crba(s->model, s->w, 1, s->q, M, &error), &error);
    require(dyn_mass_factors(s->model, s->w, 1, s->q, s->N, &error), &error);
    for (size_t c = 0; c < nv; c++) {
        for (size_t i = 0; i <= c; i++) {
            for (size_t j = 0; j <= c; j++) {
                double L_ci = i < c ? s->N[c * nv + i] : 1, L_cj = j < c ? s->N[c * nv + j] : 1;
                product[i * nv + j] += L_ci * s->N[c * nv + c] * L_cj;
            }
        }
    }
    assert_close("L' D L = M", k, product, M, nv * nv, 1e-11);
    memcpy(x, s->a, nv * sizeof *x);
    require(dyn_mass_solve(s->model, s->w, 1, s->N, x, x, &error), &error);
    require(dyn_aba(s->model, s->w, 1, none, s->q, NULL, s->a, NULL, expected, &error), &error);
    assert_close("M x = b", k, x, expected, nv, 1e-8);
    free(product), free(M), free(x), free(expected);
}

static void coriolis_matrix_gives_the_bias(identity_case *s, int k) {
    dyn_error error;
    const double none[3] = {0};
    require(dyn_coriolis_matrix(s->model, s->w, 1, s->q, s->v, s->C, &error), &error);
    require(dyn_bias(s->model, s->w, 1, none, s->q, s->v, s->y, &error), &error);
    multiply(s->C, s->v, s->nv, s->nv, s->x);
    assert_close("C v = h - g", k, s->x, s->y, s->nv, 1e-11);
}

static void mass_matrix_changes_by_both_coriolis_matrices(identity_case *s, int k) {
    dyn_error error;
    size_t nv = s->nv;
    require(dyn_crba(s->model, s->w, 1, s->forward, s->M, &error), &error);
    require(dyn_crba(s->model, s->w, 1, s->back, s->N, &error), &error);
    difference(s->M, s->N, nv * nv, IDENTITY_STEP);
    require(dyn_coriolis_matrix(s->model, s->w, 1, s->q, s->v, s->C, &error), &error);
    for (size_t i = 0; i < nv; i++) {
        for (size_t j = 0; j < nv; j++) {
            s->N[i * nv + j] = s->C[i * nv + j] + s->C[j * nv + i];
        }
    }
    assert_close("dM/dt = C + C'", k, s->M, s->N, nv * nv, 1e-6);
}

static void christoffel_symbols_sum_to_the_coriolis_matrix(identity_case *s, int k) {
    dyn_error error;
    size_t nv = s->nv;
    double *symbols = numbers(nv * nv * nv);
    require(dyn_christoffel(s->model, s->w, 1, s->q, symbols, &error), &error);
    require(dyn_coriolis_matrix(s->model, s->w, 1, s->q, s->v, s->C, &error), &error);
    memset(s->N, 0, nv * nv * sizeof(double));
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv * nv; i++) {
            s->N[i] += s->v[j] * symbols[j * nv * nv + i];
        }
    }
    assert_close("C = sum v_k G_k", k, s->N, s->C, nv * nv, 1e-11);
    free(symbols);
}

/* Checks that the power tau' v is the rate of kinetic and potential energy, and that the kinetic energy is v' M v /
 * 2. */
static void power_balances(identity_case *s, int k) {
    dyn_error error;
    double T, V, after[2], before[2];
    double *late = numbers(s->nv), *early = numbers(s->nv);
    require(dyn_crba(s->model, s->w, 1, s->q, s->M, &error), &error);
    require(dyn_energy(s->model, s->w, 1, NULL, s->q, s->v, &T, &V, &error), &error);
    multiply(s->M, s->v, s->nv, s->nv, s->x);
    double half = dot(s->v, s->x, s->nv) / 2;
    assert_close("T = v' M v / 2", k, &T, &half, 1, 1e-12);
    for (size_t i = 0; i < s->nv; i++) {
        late[i] = s->v[i] + IDENTITY_STEP * s->a[i], early[i] = s->v[i] - IDENTITY_STEP * s->a[i];
    }
    require(dyn_energy(s->model, s->w, 1, NULL, s->forward, late, &after[0], &after[1], &error), &error);
    require(dyn_energy(s->model, s->w, 1, NULL, s->back, early, &before[0], &before[1], &error), &error);
    require(dyn_rnea(s->model, s->w, 1, NULL, s->q, s->v, s->a, NULL, s->x, &error), &error);
    double rate = (after[0] + after[1] - before[0] - before[1]) / (2 * IDENTITY_STEP), power = dot(s->x, s->v, s->nv);
    ck_assert_double_eq_tol(rate, power, 1e-5 * (1 + fabs(power) + T + fabs(V)));
    free(late), free(early);
}

static void center_of_mass_moves_by_its_jacobian(identity_case *s, int k) {
    dyn_error error;
    double c[3], velocity[3], acceleration[3], product[3], *J = numbers(3 * s->nv), *late = numbers(s->nv);
    double velocities[2][3], positions[2][3], *early = numbers(s->nv);
    int joint = k % 4 == 3 ? k % dyn_model_joint_count(s->model) : -1;
    require(dyn_center_of_mass(s->model, s->w, 1, s->q, s->v, s->a, joint, c, velocity, acceleration, J, &error),
            &error);
    multiply(J, s->v, 3, s->nv, product);
    assert_close("dc/dt = J v", k, velocity, product, 3, 1e-12);
    for (size_t i = 0; i < s->nv; i++) {
        late[i] = s->v[i] + IDENTITY_STEP * s->a[i], early[i] = s->v[i] - IDENTITY_STEP * s->a[i];
    }
    require(dyn_center_of_mass(s->model, s->w, 1, s->forward, late, NULL, joint, positions[0], velocities[0], NULL,
                               NULL, &error),
            &error);
    require(dyn_center_of_mass(s->model, s->w, 1, s->back, early, NULL, joint, positions[1], velocities[1], NULL, NULL,
                               &error),
            &error);
    difference(positions[0], positions[1], 3, IDENTITY_STEP);
    difference(velocities[0], velocities[1], 3, IDENTITY_STEP);
    assert_close("dc/dt", k, velocity, positions[0], 3, 1e-6);
    assert_close("d2c/dt2", k, acceleration, velocities[0], 3, 1e-5);
    free(J), free(late), free(early);
}

static void momentum_is_its_matrix_times_v(identity_case *s, int k) {
    dyn_error error;
    double h[6], I[9], c[3], velocity[3], *A = s->x, *dA = s->x + 6 * s->nv, product[6];
    require(dyn_centroidal(s->model, s->w, 1, s->q, s->v, I, A, dA, &error), &error);
    require(dyn_centroidal_momentum(s->model, s->w, 1, s->q, s->v, h, &error), &error);
    multiply(A, s->v, 6, s->nv, product);
    assert_close("h = A_G v", k, h, product, 6, 1e-11);
    require(dyn_center_of_mass(s->model, s->w, 1, s->q, s->v, NULL, -1, c, velocity, NULL, NULL, &error), &error);
    for (int i = 0; i < 3; i++) {
        velocity[i] *= dyn_model_mass(s->model);
    }
    assert_close("l = M dc/dt", k, h + 3, velocity, 3, 1e-11);
    double *late = s->y, *early = s->y + 6 * s->nv;
    require(dyn_centroidal(s->model, s->w, 1, s->forward, NULL, I, late, NULL, &error), &error);
    require(dyn_centroidal(s->model, s->w, 1, s->back, NULL, I, early, NULL, &error), &error);
    difference(late, early, 6 * s->nv, IDENTITY_STEP);
    assert_close("dA_G/dt", k, dA, late, 6 * s->nv, 1e-5);
}

static void frame_motion_is_the_rate_of_the_jacobian(identity_case *s, int k) {
    dyn_error error;
    int frame = k % dyn_model_link_count(s->model);
    dyn_reference_frame reference = (dyn_reference_frame)(k % 3);
    double twist[6], rate[6], product[6], bias[6], *J = s->x, *dJ = s->x + 6 * s->nv;
    double *late = s->y, *early = s->y + 6 * s->nv;
    require(dyn_frame_motion(s->model, s->w, 1, s->q, s->v, s->a, frame, reference, twist, rate, dJ, &error), &error);
    require(dyn_frame_jacobian(s->model, s->w, 1, s->q, frame, reference, J, &error), &error);
    multiply(J, s->v, 6, s->nv, product);
    assert_close("V = J v", k, twist, product, 6, 1e-12);
    multiply(J, s->a, 6, s->nv, product);
    multiply(dJ, s->v, 6, s->nv, bias);
    for (int i = 0; i < 6; i++) {
        product[i] += bias[i];
    }
    assert_close("dV/dt = J a + dJ v", k, rate, product, 6, 1e-10);
    require(dyn_frame_jacobian(s->model, s->w, 1, s->forward, frame, reference, late, &error), &error);
    require(dyn_frame_jacobian(s->model, s->w, 1, s->back, frame, reference, early, &error), &error);
    difference(late, early, 6 * s->nv, IDENTITY_STEP);
    assert_close("dJ/dt", k, dJ, late, 6 * s->nv, 1e-5);
}

/* Checks that S' times the wrench of a joint is its force, and that J' F is the external force in RNEA. */
static void joint_wrenches_hold_the_joint_forces(identity_case *s, int k) {
    dyn_error error;
    size_t joints = (size_t)dyn_model_joint_count(s->model);
    double *wrenches = numbers(6 * joints), F[6], *J = s->x;
    require(dyn_joint_wrenches(s->model, s->w, 1, NULL, s->q, s->v, s->a, NULL, wrenches, &error), &error);
    require(dyn_rnea(s->model, s->w, 1, NULL, s->q, s->v, s->a, NULL, s->y, &error), &error);
    for (size_t j = 0; j < joints; j++) {
        const dyn_joint *joint = dyn_model_joint(s->model, (int)j);
        bool turns = joint->type == DYN_JOINT_TYPE_REVOLUTE || joint->type == DYN_JOINT_TYPE_CONTINUOUS;
        if (!dyn_model_has_coupling(s->model) && (turns || joint->type == DYN_JOINT_TYPE_PRISMATIC)) {
            double along = dot(joint->axis, wrenches + 6 * j + (turns ? 0 : 3), 3);
            ck_assert_double_eq_tol(along, s->y[joint->v_index], 1e-9 * (1 + norm(wrenches + 6 * j, 6)));
        }
    }
    int frame = k % dyn_model_link_count(s->model);
    dyn_reference_frame reference = (dyn_reference_frame)(k % 3);
    for (int i = 0; i < 6; i++) {
        F[i] = 1 + i;
    }
    require(dyn_frame_force(s->model, s->w, 1, s->q, frame, reference, F, s->y, &error), &error);
    require(dyn_frame_jacobian(s->model, s->w, 1, s->q, frame, reference, J, &error), &error);
    double *expected = numbers(s->nv);
    for (size_t i = 0; i < 6 * s->nv; i++) {
        expected[i % s->nv] += J[i] * F[i / s->nv];
    }
    assert_close("J' F", k, s->y, expected, s->nv, 1e-11);
    free(wrenches), free(expected);
}

/* Checks that V' I V / 2, with the twist V and the inertia I of each body, adds up to the kinetic energy in any
 * reference frame. */
static void body_inertias_carry_the_kinetic_energy(identity_case *s, int k) {
    dyn_error error;
    double twist[6], momentum[6], inertia[36], expected, sum = 0;
    for (int j = 0; j < dyn_model_joint_count(s->model); j++) {
        int link = dyn_model_joint(s->model, j)->child_link;
        dyn_reference_frame reference = (dyn_reference_frame)((j + k) % 3);
        require(dyn_body_inertia(s->model, s->w, 1, s->q, link, reference, inertia, &error), &error);
        require(dyn_frame_motion(s->model, s->w, 1, s->q, s->v, NULL, link, reference, twist, NULL, NULL, &error),
                &error);
        multiply(inertia, twist, 6, 6, momentum);
        sum += dot(twist, momentum, 6) / 2;
    }
    require(dyn_energy(s->model, s->w, 1, NULL, s->q, s->v, &expected, NULL, &error), &error);
    ck_assert_double_eq_tol(sum, expected, 1e-9 * (1 + expected));
}

/* Checks that principal moments are those of the body's parameters, and that the axes turn with the body. */
static void principal_axes_are_those_of_the_parameters(identity_case *s, int k) {
    dyn_error error;
    double *p = numbers((size_t)dyn_model_parameter_count(s->model));
    dyn_model_parameters(s->model, p);
    for (int j = 0; j < dyn_model_joint_count(s->model); j++) {
        int link = dyn_model_joint(s->model, j)->child_link;
        double moments[2][3], expected[3], axes[2][9], position[3], rotation[9], turned[3], I[9], bent[3];
        dyn_inertia inertia;
        if (dyn_inertia_from_parameters(p + 10 * j, &inertia, &error) != DYN_OK) {
            continue;
        }
        const double *r = inertia.rotational, full[9] = {r[0], r[1], r[2], r[1], r[3], r[4], r[2], r[4], r[5]};
        memcpy(I, full, sizeof I);
        dyn_reference_frame outside = k % 2 ? DYN_REFERENCE_FRAME_WORLD : DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED;
        require(dyn_principal_moments(s->model, s->w, 1, s->q, link, DYN_REFERENCE_FRAME_LOCAL, moments[0], axes[0],
                                      &error),
                &error);
        require(dyn_principal_moments(s->model, s->w, 1, s->q, link, outside, moments[1], axes[1], &error), &error);
        require(dyn_frame_pose(s->model, s->w, 1, s->q, link, position, rotation, &error), &error);
        dyn_inertia_principal_moments(&inertia, expected);
        const double *frame = axes[0];
        double volume = frame[0] * (frame[4] * frame[8] - frame[5] * frame[7]) +
                        frame[1] * (frame[5] * frame[6] - frame[3] * frame[8]) +
                        frame[2] * (frame[3] * frame[7] - frame[4] * frame[6]);
        ck_assert_double_eq_tol(volume, 1, 1e-12);
        double scale = 1e-9 * (1 + expected[2] + p[10 * j]);
        for (int i = 0; i < 3; i++) {
            ck_assert_double_eq_tol(moments[0][i], expected[2 - i], scale);
            ck_assert_double_eq_tol(moments[1][i], expected[2 - i], scale);
            multiply(I, axes[0] + 3 * i, 3, 3, bent);
            multiply(rotation, axes[0] + 3 * i, 3, 3, turned);
            for (int c = 0; c < 3; c++) {
                ck_assert_double_eq_tol(bent[c], moments[0][i] * axes[0][3 * i + c], scale);
            }
            bool is_alone = moments[0][0] - moments[0][1] > 1e-3 * expected[2] &&
                            moments[0][1] - moments[0][2] > 1e-3 * expected[2];
            ck_assert(!is_alone || fabs(fabs(dot(turned, axes[1] + 3 * i, 3)) - 1) < 1e-6);
        }
    }
    free(p);
}

/* Checks that the inertias of joints are the diagonal of M and the reciprocals of the diagonal of its inverse. */
static void joint_inertias_are_diagonals(identity_case *s, int k) {
    dyn_error error;
    size_t nv = s->nv;
    double *held = numbers(nv), *free_inertia = numbers(nv);
    require(dyn_crba(s->model, s->w, 1, s->q, s->M, &error), &error);
    require(dyn_minverse(s->model, s->w, 1, s->q, s->N, &error), &error);
    require(dyn_joint_inertias(s->model, s->w, 1, s->q, held, free_inertia, &error), &error);
    for (size_t i = 0; i < nv; i++) {
        s->x[i] = s->M[i * nv + i];
        s->y[i] = 1 / s->N[i * nv + i];
        ck_assert_double_le(free_inertia[i], held[i] * (1 + 1e-9));
    }
    assert_close("held inertias", k, held, s->x, nv, 1e-11);
    assert_close("free inertias", k, free_inertia, s->y, nv, 1e-8);
    free(held), free(free_inertia);
}

static const identity identities[] = {
    {"joint inertias", joint_inertias_are_diagonals, CASES},
    {"M M^-1 = 1", inverse_times_mass_matrix_is_one, CASES},
    {"M = L' D L", factors_are_those_of_the_mass_matrix, CASES},
    {"C v = h - g", coriolis_matrix_gives_the_bias, CASES},
    {"dM/dt = C + C'", mass_matrix_changes_by_both_coriolis_matrices, CASES},
    {"Christoffel symbols", christoffel_symbols_sum_to_the_coriolis_matrix, CASES},
    {"power balance", power_balances, CASES},
    {"centre of mass", center_of_mass_moves_by_its_jacobian, CASES},
    {"centroidal momentum", momentum_is_its_matrix_times_v, CASES},
    {"frame motion", frame_motion_is_the_rate_of_the_jacobian, CASES},
    {"body inertias", body_inertias_carry_the_kinetic_energy, CASES},
    {"principal axes", principal_axes_are_those_of_the_parameters, CASES},
    {"joint wrenches", joint_wrenches_hold_the_joint_forces, CASES},
};

int main(void) {
    return run_properties("quantities", identity_tests(identities, (int)(sizeof identities / sizeof identities[0])));
}
