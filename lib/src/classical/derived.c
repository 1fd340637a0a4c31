/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivation of the results that a formulation does not state:
 *     inverse dynamics  tau = M a + h, with h by newton_euler if M is stated; otherwise tau = M (a - a_0) with a_0, the
 *                       acceleration at tau = 0, by the formulation's forward dynamics
 *     forward dynamics  M a = tau - h, by M = L D L'
 *     mass matrix       columns of inverse dynamics at rest without gravity, for unit accelerations (method 1 of Walker
 *                       and Orin 1982); otherwise the inverse of the columns of forward dynamics, for unit forces
 */
#include "derived.h"

#include "linear.h"

/* Scratch arrays of a derivation: a matrix nv x nv and three vectors of nv numbers. */
typedef struct derivation {
    real *M, *zero, *unit, *column;
} derivation;

static derivation take_arrays(const mechanism *m, scratch *s) {
    derivation d;
    size_t nv = (size_t)m->nv;
    d.M = scratch_reals(s, nv * nv);
    d.zero = scratch_reals(s, nv);
    d.unit = scratch_reals(s, nv);
    d.column = scratch_reals(s, nv);
    return d;
}

/* Returns the mechanism on a base at rest, without gravity and external forces. */
static mechanism without_loads(const mechanism *m) {
    mechanism weightless = *m;
    weightless.gravity = vec3_zero();
    weightless.base_moves = 0;
    weightless.base_velocity = weightless.base_acceleration = motion_zero();
    weightless.external = NULL;
    return weightless;
}

/* Computes, column by column, the matrix of a linear function: of inverse dynamics at rest without gravity, which is M,
 * or where `f` states none, of forward dynamics, which is M^-1. */
static void compute_columns(const formulation *f, const mechanism *m, scratch s, derivation d, real *columns) {
    const mechanism weightless = without_loads(m);
    int n = m->nv;
    real_clear(d.zero, n), real_clear(d.unit, n);
    for (int j = 0; j < n; j++) {
        scratch inner = s;
        d.unit[j] = real_set(1);
        real_clear(d.column, n);
        (f->inverse ? f->inverse : f->forward)(&weightless, &inner, d.zero, d.unit, d.column);
        d.unit[j] = real_set(0);
        for (int i = 0; i < n; i++) {
            columns[i * n + j] = d.column[i];
        }
    }
}

void KERNEL(derive_mass_matrix)(const formulation *f, const mechanism *m, scratch *s, real *M) {
    if (f->mass_matrix) {
        f->mass_matrix(m, s, M);
        return;
    }
    derivation d = take_arrays(m, s);
    if (f->inverse) {
        compute_columns(f, m, *s, d, M);
        return;
    }
    compute_columns(f, m, *s, d, d.M);
    KERNEL(factorize_symmetric)(m->nv, d.M);
    KERNEL(invert_symmetric)(m->nv, d.M, M);
}

/* Computes h = C v + g by the formulation's inverse dynamics, or by newton_euler where it states none. */
static void compute_bias(const formulation *f, const mechanism *m, scratch s, const real *v, derivation d, real *h) {
    const formulation *states = f->inverse ? f : &KERNEL(newton_euler);
    real_clear(d.zero, m->nv);
    real_clear(h, m->nv);
    states->inverse(m, &s, v, d.zero, h);
}

void KERNEL(derive_inverse)(const formulation *f, const mechanism *m, scratch *s, const real *v, const real *a,
                            real *tau) {
    int n = m->nv;
    real_clear(tau, n);
    if (f->inverse) {
        f->inverse(m, s, v, a, tau);
        return;
    }
    derivation d = take_arrays(m, s);
    scratch inner = *s;
    KERNEL(derive_mass_matrix)(f, m, &inner, d.M);
    if (f->mass_matrix) {
        compute_bias(f, m, *s, v, d, tau);
        KERNEL(multiply_add)(n, n, d.M, a, tau);
        return;
    }
    inner = *s;
    real_clear(d.zero, n);
    f->forward(m, &inner, v, d.zero, d.column);
    for (int i = 0; i < n; i++) {
        d.column[i] = a[i] - d.column[i];
    }
    KERNEL(multiply_add)(n, n, d.M, d.column, tau);
}

void KERNEL(derive_forward)(const formulation *f, const mechanism *m, scratch *s, const real *v, const real *tau,
                            real *a) {
    if (f->forward) {
        f->forward(m, s, v, tau, a);
        return;
    }
    derivation d = take_arrays(m, s);
    scratch inner = *s;
    KERNEL(derive_mass_matrix)(f, m, &inner, d.M);
    compute_bias(f, m, *s, v, d, d.column);
    for (int i = 0; i < m->nv; i++) {
        a[i] = tau[i] - d.column[i];
    }
    KERNEL(factorize_symmetric)(m->nv, d.M);
    KERNEL(solve_symmetric)(m->nv, d.M, a);
}

void KERNEL(reserve_derived)(const formulation *f, const mechanism *m, scratch *s) {
    take_arrays(m, s), take_arrays(m, s);
    scratch own = *s, other = *s;
    f->reserve(m, &own);
    KERNEL(newton_euler).reserve(m, &other);
    s->used = own.used > other.used ? own.used : other.used;
}
