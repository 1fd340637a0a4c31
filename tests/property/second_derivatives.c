/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares analytic second derivatives with complex steps of the analytic first ones.
 */
#include <stdlib.h>

#include "support/assertions.h"
#include "support/complex_step.h"

enum { CASES = 45, MAX_JOINTS = 15 };

static const kernel_table *const oracle = &dyn_kernel_table_complex_step;

/* Cube of second derivatives: the first derivative `of` (along q, v, and a or tau) along another variable. */
typedef struct cube {
    const char *name;
    variable of, along;
} cube;

/* Computes the first derivatives at c over complex numbers: those of forward dynamics if `forward`, otherwise of
 * inverse dynamics. */
static void first_derivatives(const setting *s, bool forward, const complex_state *c, complex_number *D[3]) {
    const packed_inputs in = {s->gravity, c->q, c->v, c->a, NULL};
    const derivative_matrices first = {D[0], D[1], D[2]};
    if (forward) {
        complex_number *pivots = complex_numbers(s->nv);
        oracle->aba_derivatives(s->model, c->memory, &in, pivots, &first);
        free(pivots);
    } else {
        oracle->rnea_derivatives(s->model, c->memory, &in, &first);
    }
}

/* Compares the second derivatives X[0..3] with complex steps of first derivatives. */
static void compare_cubes(const setting *s, int k, bool forward, const cube cubes[4], double *const X[4]) {
    complex_state c = complex_create(s);
    complex_number *D[3];
    double *Y = numbers(s->nv * s->nv * s->nv);
    for (int i = 0; i < 3; i++) {
        D[i] = complex_numbers(s->nv * s->nv);
    }
    for (int i = 0; i < 4; i++) {
        for (size_t l = 0; l < s->nv; l++) {
            complex_step(s, cubes[i].along, l, &c);
            first_derivatives(s, forward, &c, D);
            complex_derivative(D[cubes[i].of], s->nv * s->nv, s->nv, Y + l);
        }
        assert_close(cubes[i].name, k, X[i], Y, s->nv * s->nv * s->nv, forward ? 1e-8 : 1e-11);
    }
    for (int i = 0; i < 3; i++) {
        free(D[i]);
    }
    free(Y);
    complex_free(&c);
}

START_TEST(rnea_second_derivatives_are_those_of_complex_steps) {
    static const cube cubes[4] = {{"d2 tau / dq dq", ALONG_Q, ALONG_Q},
                                  {"d2 tau / dv dv", ALONG_V, ALONG_V},
                                  {"d2 tau / dq dv", ALONG_Q, ALONG_V},
                                  {"dM / dq", ALONG_A, ALONG_Q}};
    random_source base = random_seed("second derivatives of RNEA", 20261206);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s;
        setting_create(&random, k, MAX_JOINTS, &s);
        double *X[4];
        for (int i = 0; i < 4; i++) {
            X[i] = unset_numbers(s.nv * s.nv * s.nv);
        }
        require(dyn_rnea_second_derivatives(s.model, s.workspace, 1, s.gravity, s.q, s.v, s.a, X[0], X[1], X[2], X[3],
                                            &error),
                &error);
        compare_cubes(&s, k, false, cubes, X);
        for (int i = 0; i < 4; i++) {
            free(X[i]);
        }
        setting_free(&s);
    }
}
END_TEST

START_TEST(aba_second_derivatives_are_those_of_complex_steps) {
    static const cube cubes[4] = {{"d2a / dq dq", ALONG_Q, ALONG_Q},
                                  {"d2a / dv dv", ALONG_V, ALONG_V},
                                  {"d2a / dq dv", ALONG_Q, ALONG_V},
                                  {"d2a / dtau dq", ALONG_A, ALONG_Q}};
    random_source base = random_seed("second derivatives of ABA", 20261207);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s;
        setting_create(&random, k, MAX_JOINTS, &s);
        double *first[3], *X[4], *again[3];
        for (int i = 0; i < 4; i++) {
            X[i] = unset_numbers(s.nv * s.nv * s.nv);
        }
        for (int i = 0; i < 3; i++) {
            first[i] = unset_numbers(s.nv * s.nv), again[i] = unset_numbers(s.nv * s.nv);
        }
        require(dyn_aba_second_derivatives(s.model, s.workspace, 1, s.gravity, s.q, s.v, s.a, first, X, &error),
                &error);
        compare_cubes(&s, k, true, cubes, X);
        require(dyn_aba_derivatives(s.model, s.workspace, 1, s.gravity, s.q, s.v, s.a, NULL, again[0], again[1],
                                    again[2], &error),
                &error);
        for (int i = 0; i < 3; i++) {
            assert_close("first derivatives", k, first[i], again[i], s.nv * s.nv, 1e-15);
            free(first[i]), free(again[i]);
        }
        for (int i = 0; i < 4; i++) {
            free(X[i]);
        }
        setting_free(&s);
    }
}
END_TEST

int main(void) {
    TCase *second = tcase_create("second derivatives");
    tcase_set_timeout(second, 240);
    tcase_add_test(second, rnea_second_derivatives_are_those_of_complex_steps);
    tcase_add_test(second, aba_second_derivatives_are_those_of_complex_steps);
    return run_properties("second derivatives", second);
}
