/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares analytic derivatives with complex steps: Im f(x + i h) / h of the same kernels over complex numbers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/assertions.h"
#include "support/complex_step.h"

enum { CASES = 60, MAX_JOINTS = 60 };

static const kernel_table *const oracle = &dyn_kernel_table_complex_step;

/* Computes Y[0..2] by complex steps: the derivatives of a(q, v, tau) if `forward`, otherwise of tau(q, v, a). */
static void complex_steps(const setting *s, bool forward, double *Y[3]) {
    complex_state c = complex_create(s);
    complex_number *result = complex_numbers(s->nv), *pivots = complex_numbers(s->nv);
    for (int along = ALONG_Q; along <= ALONG_A; along++) {
        for (size_t k = 0; k < s->nv; k++) {
            complex_step(s, (variable)along, k, &c);
            const packed_inputs in = {s->gravity, c.q, c.v, c.a, &c.forces};
            if (forward) {
                oracle->forward_dynamics(s->model, c.memory, &in, pivots, result);
            } else {
                oracle->rnea(s->model, c.memory, &in, result);
            }
            complex_derivative(result, s->nv, s->nv, Y[along] + k);
        }
    }
    free(result), free(pivots);
    complex_free(&c);
}

typedef dyn_status derivatives_of(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                  const double *q, const double *v, const double *third,
                                  const dyn_external_forces *forces, double *dq, double *dv, double *dthird,
                                  dyn_error *error);

/* Compares the derivatives of RNEA, or of ABA, in all cases. */
static void compare(random_source base, derivatives_of *derivatives, bool forward, const char *const names[3],
                    double tolerance) {
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s;
        setting_create(&random, k, MAX_JOINTS, &s);
        double *X[3], *Y[3];
        for (int i = 0; i < 3; i++) {
            X[i] = unset_numbers(s.nv * s.nv), Y[i] = numbers(s.nv * s.nv);
        }
        complex_steps(&s, forward, Y);
        require(derivatives(s.model, s.workspace, 1, s.gravity, s.q, s.v, s.a, &s.forces, X[0], X[1], X[2], &error),
                &error);
        for (int i = 0; i < 3; i++) {
            /* M of some trees is so badly conditioned that small entries of its inverse have few right digits. */
            (forward ? assert_norm_close : assert_close)(names[i], k, X[i], Y[i], s.nv * s.nv, tolerance);
            free(X[i]), free(Y[i]);
        }
        setting_free(&s);
    }
}

START_TEST(rnea_derivatives_are_those_of_complex_steps) {
    static const char *const names[3] = {"d tau / dq", "d tau / dv", "d tau / da"};
    compare(random_seed("derivatives of RNEA", 20261201), dyn_rnea_derivatives, false, names, 1e-12);
}
END_TEST

START_TEST(aba_derivatives_are_those_of_complex_steps) {
    static const char *const names[3] = {"da / dq", "da / dv", "da / dtau"};
    compare(random_seed("derivatives of ABA", 20261202), dyn_aba_derivatives, true, names, 1e-10);
}
END_TEST

START_TEST(gravity_derivatives_are_those_of_complex_steps) {
    random_source base = random_seed("derivatives of gravity", 20261203);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s;
        setting_create(&random, k, MAX_JOINTS, &s);
        complex_state c = complex_create(&s);
        complex_number *g = complex_numbers(s.nv);
        double *X = unset_numbers(s.nv * s.nv), *Y = numbers(s.nv * s.nv);
        for (size_t i = 0; i < s.nv; i++) {
            complex_step(&s, ALONG_Q, i, &c);
            oracle->gravity(s.model, c.memory, s.gravity, c.q, g);
            complex_derivative(g, s.nv, s.nv, Y + i);
        }
        require(dyn_gravity_derivatives(s.model, s.workspace, 1, s.gravity, s.q, X, &error), &error);
        assert_close("dg / dq", k, X, Y, s.nv * s.nv, 1e-12);
        free(X), free(Y), free(g);
        complex_free(&c);
        setting_free(&s);
    }
}
END_TEST

typedef struct frame_motion {
    complex_number V[6], A[6];
} frame_motion;

/* Returns V = J v and A = dV/dq v + J a of a frame over complex numbers. dV/dq comes from the derivatives that the test
 * compares as well. */
static frame_motion complex_motion(const setting *s, int frame, dyn_reference_frame reference_frame,
                                   const complex_state *c) {
    size_t entries = 6 * s->nv;
    complex_number *dV_dq = complex_numbers(4 * entries), *J = complex_numbers(entries);
    frame_motion m = {{0}, {0}};
    oracle->frame_jacobian(s->model, c->memory, c->q, frame, reference_frame, J);
    const spatial_derivatives out = {dV_dq, dV_dq + entries, dV_dq + 2 * entries, dV_dq + 3 * entries};
    oracle->frame_derivatives(s->model, c->memory, c->q, c->v, c->a, frame, reference_frame, &out);
    for (size_t row = 0; row < 6; row++) {
        for (size_t i = 0; i < s->nv; i++) {
            m.V[row] += J[row * s->nv + i] * c->v[i];
            m.A[row] += J[row * s->nv + i] * c->a[i] + dV_dq[row * s->nv + i] * c->v[i];
        }
    }
    free(dV_dq), free(J);
    return m;
}

START_TEST(frame_derivatives_are_those_of_complex_steps) {
    static const char *const names[4] = {"dV / dq", "dA / dq", "dA / dv", "J"};
    random_source base = random_seed("derivatives of a frame's motion", 20261204);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s;
        setting_create(&random, k, MAX_JOINTS, &s);
        complex_state c = complex_create(&s);
        int frame = random_index(&random, dyn_model_link_count(s.model));
        dyn_reference_frame reference_frame = (dyn_reference_frame)random_index(&random, 3);
        double *X[4], *Y[4];
        for (int i = 0; i < 4; i++) {
            X[i] = unset_numbers(6 * s.nv), Y[i] = numbers(6 * s.nv);
        }
        for (size_t i = 0; i < s.nv; i++) {
            complex_step(&s, ALONG_Q, i, &c);
            frame_motion along_q = complex_motion(&s, frame, reference_frame, &c);
            complex_step(&s, ALONG_V, i, &c);
            frame_motion along_v = complex_motion(&s, frame, reference_frame, &c);
            complex_derivative(along_q.V, 6, s.nv, Y[0] + i);
            complex_derivative(along_q.A, 6, s.nv, Y[1] + i);
            complex_derivative(along_v.A, 6, s.nv, Y[2] + i);
            complex_derivative(along_v.V, 6, s.nv, Y[3] + i);
        }
        require(dyn_frame_derivatives(s.model, s.workspace, 1, s.q, s.v, s.a, frame, reference_frame, X[0], X[1], X[2],
                                      X[3], &error),
                &error);
        for (int i = 0; i < 4; i++) {
            assert_close(names[i], k, X[i], Y[i], 6 * s.nv, 1e-12);
            free(X[i]), free(Y[i]);
        }
        complex_free(&c);
        setting_free(&s);
    }
}
END_TEST

START_TEST(frame_hessian_is_that_of_complex_steps) {
    random_source base = random_seed("Hessian of a frame", 20261212);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s;
        setting_create(&random, k, MAX_JOINTS / 2, &s);
        complex_state c = complex_create(&s);
        int frame = random_index(&random, dyn_model_link_count(s.model));
        dyn_reference_frame reference_frame = (dyn_reference_frame)random_index(&random, 3);
        size_t width = 6 * s.nv * s.nv;
        double *X = unset_numbers(width), *Y = numbers(width);
        complex_number *J = complex_numbers(6 * s.nv);
        for (size_t i = 0; i < s.nv; i++) {
            complex_step(&s, ALONG_Q, i, &c);
            oracle->frame_jacobian(s.model, c.memory, c.q, frame, reference_frame, J);
            complex_derivative(J, 6 * s.nv, s.nv, Y + i);
        }
        require(dyn_frame_hessian(s.model, s.workspace, 1, s.q, frame, reference_frame, X, &error), &error);
        assert_close("dJ / dq", k, X, Y, width, 1e-12);
        free(X), free(Y), free(J);
        complex_free(&c);
        setting_free(&s);
    }
}
END_TEST

/* Returns the centroidal momentum h = A_G v, and its rate dh/dq v + A_G a, over complex numbers. dh/dq comes from the
 * derivatives that the test compares as well. */
static frame_motion complex_momentum(const setting *s, const complex_state *c) {
    size_t entries = 6 * s->nv;
    complex_number *D = complex_numbers(4 * entries), *zero = complex_numbers(s->nv);
    frame_motion m = {{0}, {0}};
    oracle->centroidal_momentum(s->model, c->memory, c->q, c->v, zero, m.V);
    const spatial_derivatives out = {D, D + entries, D + 2 * entries, D + 3 * entries};
    oracle->centroidal_derivatives(s->model, c->memory, c->q, c->v, c->a, &out);
    for (size_t row = 0; row < 6; row++) {
        for (size_t i = 0; i < s->nv; i++) {
            m.A[row] += D[row * s->nv + i] * c->v[i] + D[3 * entries + row * s->nv + i] * c->a[i];
        }
    }
    free(D), free(zero);
    return m;
}

START_TEST(centroidal_derivatives_are_those_of_complex_steps) {
    static const char *const names[4] = {"dh / dq", "dh' / dq", "dh' / dv", "A_G"};
    random_source base = random_seed("derivatives of the centroidal momentum", 20261211);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s;
        setting_create(&random, k, MAX_JOINTS, &s);
        if (!(dyn_model_mass(s.model) > 0)) {
            setting_free(&s);
            continue;
        }
        complex_state c = complex_create(&s);
        double *X[4], *Y[4];
        for (int i = 0; i < 4; i++) {
            X[i] = unset_numbers(6 * s.nv), Y[i] = numbers(6 * s.nv);
        }
        for (size_t i = 0; i < s.nv; i++) {
            complex_step(&s, ALONG_Q, i, &c);
            frame_motion along_q = complex_momentum(&s, &c);
            complex_step(&s, ALONG_V, i, &c);
            frame_motion along_v = complex_momentum(&s, &c);
            complex_derivative(along_q.V, 6, s.nv, Y[0] + i);
            complex_derivative(along_q.A, 6, s.nv, Y[1] + i);
            complex_derivative(along_v.A, 6, s.nv, Y[2] + i);
            complex_derivative(along_v.V, 6, s.nv, Y[3] + i);
        }
        require(dyn_centroidal_derivatives(s.model, s.workspace, 1, s.q, s.v, s.a, X[0], X[1], X[2], X[3], &error),
                &error);
        for (int i = 0; i < 4; i++) {
            assert_close(names[i], k, X[i], Y[i], 6 * s.nv, 1e-11);
            free(X[i]), free(Y[i]);
        }
        complex_free(&c);
        setting_free(&s);
    }
}
END_TEST

typedef dyn_status directional_of(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                  const double *q, const double *v, const double *third,
                                  const dyn_external_forces *forces, const double *dq, const double *dv,
                                  const double *dthird, double *out, dyn_error *error);

/* Compares directional derivatives with the matrices times a random direction. */
static void compare_directional(random_source base, const char *what, derivatives_of *derivatives,
                                directional_of *directional) {
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s;
        setting_create(&random, k, MAX_JOINTS, &s);
        double *D[3], *direction[3], *x = unset_numbers(s.nv), *y = numbers(s.nv);
        for (int i = 0; i < 3; i++) {
            D[i] = unset_numbers(s.nv * s.nv), direction[i] = numbers(s.nv);
            random_vector(&random, (int)s.nv, 1, direction[i]);
        }
        require(derivatives(s.model, s.workspace, 1, s.gravity, s.q, s.v, s.a, &s.forces, D[0], D[1], D[2], &error),
                &error);
        require(directional(s.model, s.workspace, 1, s.gravity, s.q, s.v, s.a, &s.forces, direction[0], direction[1],
                            direction[2], x, &error),
                &error);
        for (size_t i = 0; i < 3 * s.nv * s.nv; i++) {
            size_t of = i / (s.nv * s.nv), entry = i % (s.nv * s.nv);
            y[entry / s.nv] += D[of][entry] * direction[of][entry % s.nv];
        }
        assert_close(what, k, x, y, s.nv, 1e-9);
        for (int i = 0; i < 3; i++) {
            free(D[i]), free(direction[i]);
        }
        free(x), free(y);
        setting_free(&s);
    }
}

START_TEST(rnea_directional_derivatives_are_products) {
    compare_directional(random_seed("directional derivatives of RNEA", 20261208), "d tau", dyn_rnea_derivatives,
                        dyn_rnea_directional_derivative);
}
END_TEST

START_TEST(aba_directional_derivatives_are_products) {
    compare_directional(random_seed("directional derivatives of ABA", 20261209), "da", dyn_aba_derivatives,
                        dyn_aba_directional_derivative);
}
END_TEST

START_TEST(bad_arguments_are_refused_by_name) {
    random_source random = random_seed("errors of derivatives", 20261210);
    setting s;
    setting_create(&random, 20, MAX_JOINTS, &s);
    double *X[3], *out = numbers(24 * s.nv), *bad = numbers(s.nv);
    for (int i = 0; i < 3; i++) {
        X[i] = numbers(s.nv * s.nv);
    }
    bad[s.nv - 1] = NAN;
    dyn_error error;
    char last[32];
    ck_assert_int_eq(dyn_rnea_derivatives(s.model, s.workspace, 1, NULL, s.q, s.v, bad, NULL, X[0], X[1], X[2], &error),
                     DYN_INVALID_ARGUMENT);
    snprintf(last, sizeof last, "a[%zu]", s.nv - 1);
    ck_assert_str_eq(error.place, last);
    ck_assert_int_eq(dyn_aba_derivatives(s.model, s.workspace, 1, NULL, s.q, s.v, bad, NULL, X[0], X[1], X[2], &error),
                     DYN_INVALID_ARGUMENT);
    snprintf(last, sizeof last, "tau[%zu]", s.nv - 1);
    ck_assert_str_eq(error.place, last);
    ck_assert_int_eq(dyn_rnea_directional_derivative(s.model, s.workspace, 1, NULL, s.q, s.v, s.a, NULL, NULL, bad,
                                                     NULL, out, &error),
                     DYN_INVALID_ARGUMENT);
    snprintf(last, sizeof last, "dv[%zu]", s.nv - 1);
    ck_assert_str_eq(error.place, last);
    ck_assert_int_eq(dyn_gravity_derivatives(s.model, s.workspace, 1, (double[3]){0, INFINITY, 0}, s.q, X[0], &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "gravity");
    ck_assert_int_eq(dyn_frame_derivatives(s.model, s.workspace, 1, s.q, s.v, s.a, dyn_model_link_count(s.model),
                                           DYN_REFERENCE_FRAME_LOCAL, out, out, out, out, &error),
                     DYN_NOT_FOUND);
    ck_assert_str_eq(error.place, "frame");
    for (int i = 0; i < 3; i++) {
        free(X[i]);
    }
    free(out), free(bad);
    setting_free(&s);
}
END_TEST

int main(void) {
    TCase *first = tcase_create("first derivatives");
    tcase_set_timeout(first, 240);
    tcase_add_test(first, rnea_derivatives_are_those_of_complex_steps);
    tcase_add_test(first, aba_derivatives_are_those_of_complex_steps);
    tcase_add_test(first, gravity_derivatives_are_those_of_complex_steps);
    tcase_add_test(first, frame_derivatives_are_those_of_complex_steps);
    tcase_add_test(first, frame_hessian_is_that_of_complex_steps);
    tcase_add_test(first, centroidal_derivatives_are_those_of_complex_steps);
    tcase_add_test(first, rnea_directional_derivatives_are_products);
    tcase_add_test(first, aba_directional_derivatives_are_products);
    tcase_add_test(first, bad_arguments_are_refused_by_name);
    return run_properties("derivatives", first);
}
