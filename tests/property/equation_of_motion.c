/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the equation of motion against independent derivations: from energies alone, from single bodies, and from
 * momentum.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/identities.h"

enum { CASES = 60, FORCES = 3 };

/* ---- the mass matrix --------------------------------------------------------------------------------------------- */

/* Computes M by RNEA: column j is the generalized force of a unit acceleration of coordinate j, without gravity and
 * velocity. */
static void mass_matrix_by_rnea(const identity_case *c, double *M) {
    const double none[3] = {0};
    dyn_error error;
    size_t nv = c->nv;
    double *unit = numbers(nv), *column = numbers(nv);
    for (size_t j = 0; j < nv; j++) {
        unit[j] = 1;
        require(dyn_rnea(c->model, c->w, 1, none, c->q, NULL, unit, NULL, column, &error), &error);
        unit[j] = 0;
        for (size_t i = 0; i < nv; i++) {
            M[i * nv + j] = column[i];
        }
    }
    free(unit), free(column);
}

/* Computes out = x cross y. */
static void cross(const double x[3], const double y[3], double out[3]) {
    out[0] = x[1] * y[2] - x[2] * y[1];
    out[1] = x[2] * y[0] - x[0] * y[2];
    out[2] = x[0] * y[1] - x[1] * y[0];
}

/* Computes the momentum (n; f) of a body about its link's origin from the twist (w; v): n = I w + h x v, f = m v - h x
 * w, where h is the first moment. */
static void momentum_of(const dyn_inertia *body, const double twist[6], double momentum[6]) {
    double p[10], hv[3], hw[3];
    dyn_inertia_to_parameters(body, p); /* m, h, Ixx Ixy Iyy Ixz Iyz Izz */
    const double I[9] = {p[4], p[5], p[7], p[5], p[6], p[8], p[7], p[8], p[9]};
    cross(p + 1, twist + 3, hv);
    cross(p + 1, twist, hw);
    for (int i = 0; i < 3; i++) {
        momentum[i] = dot(I + 3 * i, twist, 3) + hv[i];
        momentum[3 + i] = p[0] * twist[3 + i] - hw[i];
    }
}

/* Computes M as the sum of J' I J over all links, each with its own Jacobian. */
static void mass_matrix_by_bodies(const identity_case *c, double *M) {
    dyn_error error;
    size_t nv = c->nv;
    double *J = numbers(6 * nv);
    for (int link = 0; link < dyn_model_link_count(c->model); link++) {
        if (dyn_model_link(c->model, link)->moving_joint < 0) {
            continue;
        }
        require(dyn_frame_jacobian(c->model, c->w, 1, c->q, link, DYN_REFERENCE_FRAME_LOCAL, J, &error), &error);
        for (size_t j = 0; j < nv; j++) {
            double twist[6], momentum[6];
            for (size_t row = 0; row < 6; row++) {
                twist[row] = J[row * nv + j];
            }
            momentum_of(&dyn_model_link(c->model, link)->inertia, twist, momentum);
            for (size_t i = 0; i < 6 * nv; i++) {
                M[i % nv * nv + j] += J[i] * momentum[i / nv];
            }
        }
    }
    free(J);
}

static void mass_matrix_has_three_routes(identity_case *c, int k) {
    dyn_error error;
    size_t square = c->nv * c->nv;
    require(dyn_crba(c->model, c->w, 1, c->q, c->M, &error), &error);
    mass_matrix_by_rnea(c, c->N);
    mass_matrix_by_bodies(c, c->C);
    assert_close("M of CRBA and RNEA", k, c->M, c->N, square, 1e-12);
    assert_close("M of CRBA and sum of J' I J", k, c->M, c->C, square, 1e-12);
}

/* Checks that the masses of the moving links add up to the model's, and that the block of M for translations of a
 * floating base is this mass times the identity. */
static void masses_sum_to_the_mass(identity_case *c, int k) {
    dyn_error error;
    double sum = 0, mass = dyn_model_mass(c->model);
    for (int link = 0; link < dyn_model_link_count(c->model); link++) {
        bool moves = dyn_model_link(c->model, link)->moving_joint >= 0;
        sum += moves ? dyn_model_link(c->model, link)->inertia.mass : 0;
    }
    assert_close("sum of masses", k, &sum, &mass, 1, 1e-13);
    if (dyn_model_is_floating(c->model)) {
        require(dyn_crba(c->model, c->w, 1, c->q, c->M, &error), &error);
        for (size_t i = 0; i < 9; i++) {
            double expected = i % 4 == 0 ? mass : 0;
            assert_close("M of a shift", k, &c->M[i / 3 * c->nv + i % 3], &expected, 1, 1e-12 * fmax(1, mass));
        }
    }
}

/* Checks that dM/dt - 2 C is skew, with dM/dt from the exact derivatives of M instead of differences. */
static void rate_of_mass_matrix_less_coriolis_matrices_is_skew(identity_case *c, int k) {
    dyn_error error;
    size_t nv = c->nv, cube = nv * nv * nv;
    double *d = numbers(4 * cube), *dM = d + 3 * cube;
    require(
        dyn_rnea_second_derivatives(c->model, c->w, 1, NULL, c->q, c->v, c->a, d, d + cube, d + 2 * cube, dM, &error),
        &error);
    require(dyn_coriolis_matrix(c->model, c->w, 1, c->q, c->v, c->C, &error), &error);
    for (size_t i = 0; i < nv * nv; i++) {
        c->N[i] = dot(dM + i * nv, c->v, nv) - 2 * c->C[i];
    }
    for (size_t i = 0; i < nv * nv; i++) {
        c->M[i] = -c->N[i % nv * nv + i / nv];
    }
    assert_close("N = dM/dt - 2 C = -N'", k, c->N, c->M, nv * nv, 1e-11);
    free(d);
}

/* ---- forward and inverse dynamics -------------------------------------------------------------------------------- */

static void aba_of_rnea_returns_the_acceleration(identity_case *c, int k) {
    dyn_error error;
    require(dyn_rnea(c->model, c->w, 1, NULL, c->q, c->v, c->a, NULL, c->x, &error), &error);
    require(dyn_aba(c->model, c->w, 1, NULL, c->q, c->v, c->x, NULL, c->y, &error), &error);
    assert_close("ABA(RNEA(a)) = a", k, c->y, c->a, c->nv, 1e-7);
}

/* ---- Lagrange's equation ----------------------------------------------------------------------------------------- */

static double lagrangian(const identity_case *c, const double *q, const double *v) {
    double T, V;
    dyn_error error;
    require(dyn_energy(c->model, c->w, 1, NULL, q, v, &T, &V, &error), &error);
    return T - V;
}

/* Returns p_i = dL/dv_i. Central differences are exact, since L is quadratic in v. Changes v and restores it. */
static double momentum_along(const identity_case *c, const double *q, double *v, size_t i) {
    double saved = v[i];
    v[i] = saved + 1;
    double above = lagrangian(c, q, v);
    v[i] = saved - 1;
    double below = lagrangian(c, q, v);
    v[i] = saved;
    return (above - below) / 2;
}

/* Computes out = q (+) t v (+) s e_i, where (+) is the integration of a velocity. */
static void displace(const identity_case *c, double t, size_t i, double s, double *out) {
    dyn_error error;
    double *unit = numbers(c->nv);
    unit[i] = 1;
    require(dyn_integrate(c->model, 1, c->q, c->v, t, out, &error), &error);
    require(dyn_integrate(c->model, 1, out, unit, s, out, &error), &error);
    free(unit);
}

/* Returns the Lagrangian L of the neighbouring motion q(t) (+) s e_i at t = 0, whose velocity is the difference of the
 * configurations at -t and t over the time 2 t. */
static double lagrangian_beside(const identity_case *c, size_t i, double s) {
    const double t = 0.01;
    dyn_error error;
    double *q = numbers(c->nq), *late = numbers(c->nq), *v = numbers(c->nv);
    displace(c, -t, i, s, q);
    displace(c, t, i, s, late);
    require(dyn_difference(c->model, 1, q, late, v, &error), &error);
    for (size_t j = 0; j < c->nv; j++) {
        v[j] /= 2 * t;
    }
    displace(c, 0, i, s, q);
    double L = lagrangian(c, q, v);
    free(q), free(late), free(v);
    return L;
}

/* Computes the configuration and velocity at time t of the motion with acceleration a. */
static void move(const identity_case *c, double t, double *q, double *v) {
    dyn_error error;
    double *mean = numbers(c->nv);
    for (size_t j = 0; j < c->nv; j++) {
        mean[j] = c->v[j] + c->a[j] * t / 2;
        v[j] = c->v[j] + c->a[j] * t;
    }
    require(dyn_integrate(c->model, 1, c->q, mean, t, q, &error), &error);
    free(mean);
}

/* Checks tau_i = d/dt dL/dv_i - d/ds L(q(t) (+) s e_i). This form of Hamilton's principle needs energies alone, and
 * also holds for velocities that are no derivatives of coordinates. */
static void rnea_is_lagranges_equation(identity_case *c, int k) {
    const double step = 1e-5;
    dyn_error error;
    double *q[2] = {numbers(c->nq), numbers(c->nq)}, *v[2] = {numbers(c->nv), numbers(c->nv)};
    move(c, step, q[0], v[0]);
    move(c, -step, q[1], v[1]);
    for (size_t i = 0; i < c->nv; i++) {
        double momentum = momentum_along(c, q[0], v[0], i) - momentum_along(c, q[1], v[1], i);
        double along = lagrangian_beside(c, i, step) - lagrangian_beside(c, i, -step);
        c->x[i] = (momentum - along) / (2 * step);
    }
    require(dyn_rnea(c->model, c->w, 1, NULL, c->q, c->v, c->a, NULL, c->y, &error), &error);
    assert_close("Lagrange's equation", k, c->x, c->y, c->nv, 1e-6);
    free(q[0]), free(q[1]), free(v[0]), free(v[1]);
}

/* ---- the rate of momentum ---------------------------------------------------------------------------------------- */

/* Adds a wrench about the origin of a frame, in the frame's axes, to a sum about a point in the world's axes. */
static void add_wrench(const double position[3], const double R[9], const double wrench[6], const double about[3],
                       double sum[6]) {
    double torque[3], force[3], lever[3], moment[3];
    multiply(R, wrench, 3, 3, torque);
    multiply(R, wrench + 3, 3, 3, force);
    for (int i = 0; i < 3; i++) {
        lever[i] = position[i] - about[i];
    }
    cross(lever, force, moment);
    for (int i = 0; i < 3; i++) {
        sum[i] += torque[i] + moment[i];
        sum[3 + i] += force[i];
    }
}

/* Adds the wrenches that the world exerts through the joints attached to it. */
static void add_reactions(const identity_case *c, const dyn_external_forces *forces, const double about[3],
                          double sum[6]) {
    dyn_error error;
    int joints = dyn_model_joint_count(c->model);
    double *wrenches = numbers(6 * (size_t)joints), position[3], R[9];
    require(dyn_joint_wrenches(c->model, c->w, 1, NULL, c->q, c->v, c->a, forces, wrenches, &error), &error);
    for (int j = 0; j < joints; j++) {
        const dyn_joint *joint = dyn_model_joint(c->model, j);
        if (joint->parent_link < 0 || dyn_model_link(c->model, joint->parent_link)->moving_joint < 0) {
            require(dyn_frame_pose(c->model, c->w, 1, c->q, joint->child_link, position, R, &error), &error);
            add_wrench(position, R, wrenches + 6 * j, about, sum);
        }
    }
    free(wrenches);
}

/* Checks that A_G a + dA_G v is the sum of gravity, of external wrenches and of the reactions of the world's joints. */
static void momentum_changes_by_all_wrenches(identity_case *c, int k) {
    dyn_error error;
    double wrench[FORCES][6], position[3], R[9], g[3], center[3], rate[6], bias[6], sum[6] = {0};
    dyn_external_force force[FORCES];
    const dyn_external_forces forces = {FORCES, force};
    require(dyn_center_of_mass(c->model, c->w, 1, c->q, NULL, NULL, -1, center, NULL, NULL, NULL, &error), &error);
    for (int i = 0; i < FORCES; i++) {
        const dyn_joint *joint = dyn_model_joint(c->model, (k + 7 * i) % dyn_model_joint_count(c->model));
        for (int j = 0; j < 6; j++) {
            wrench[i][j] = sin(k + 6 * i + j) * 10;
        }
        force[i] = (dyn_external_force){joint->child_link, DYN_REFERENCE_FRAME_LOCAL, wrench[i], 0};
        require(dyn_frame_pose(c->model, c->w, 1, c->q, joint->child_link, position, R, &error), &error);
        add_wrench(position, R, wrench[i], center, sum);
    }
    add_reactions(c, &forces, center, sum);
    dyn_model_gravity(c->model, g);
    for (int i = 0; i < 3; i++) {
        sum[3 + i] += dyn_model_mass(c->model) * g[i];
    }
    double *A = c->x, *dA = c->x + 6 * c->nv;
    require(dyn_centroidal(c->model, c->w, 1, c->q, c->v, NULL, A, dA, &error), &error);
    multiply(A, c->a, 6, c->nv, rate);
    multiply(dA, c->v, 6, c->nv, bias);
    for (int i = 0; i < 6; i++) {
        rate[i] += bias[i];
    }
    assert_close("dh_G/dt = sum of wrenches", k, rate, sum, 6, 1e-9);
}

static const identity identities[] = {
    {"M from three routes", mass_matrix_has_three_routes, CASES},
    {"sum of masses", masses_sum_to_the_mass, CASES},
    {"dM/dt - 2 C is skew", rate_of_mass_matrix_less_coriolis_matrices_is_skew, CASES},
    {"ABA(RNEA) = 1", aba_of_rnea_returns_the_acceleration, CASES},
    {"Lagrange's equation", rnea_is_lagranges_equation, CASES},
    {"rate of centroidal momentum", momentum_changes_by_all_wrenches, CASES},
};

int main(void) {
    return run_properties("equation of motion",
                          identity_tests(identities, (int)(sizeof identities / sizeof identities[0])));
}
