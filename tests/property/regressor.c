/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that the regressors times the inertial parameters are the torques and the energies.
 */
#include <math.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/identities.h"
#include "support/random_tree.h"

enum { CASES = 200 };

/* Checks that the product of a row and the parameters is the expected number, to rounding in the sum. */
static void assert_product(const double *row, const double *p, size_t count, double expected) {
    double scale = 1;
    for (size_t i = 0; i < count; i++) {
        scale += fabs(row[i] * p[i]);
    }
    ck_assert_double_eq_tol(dot(row, p, count), expected, 1e-12 * scale);
}

static void regressor_times_parameters_is_rnea(identity_case *c, int k) {
    dyn_error error;
    size_t count = (size_t)dyn_model_parameter_count(c->model);
    double *p = numbers(count), *Y = numbers(c->nv * count);
    (void)k;
    dyn_model_parameters(c->model, p);
    require(dyn_rnea(c->model, c->w, 1, NULL, c->q, c->v, c->a, NULL, c->x, &error), &error);
    require(dyn_torque_regressor(c->model, c->w, 1, NULL, c->q, c->v, c->a, Y, &error), &error);
    for (size_t i = 0; i < c->nv; i++) {
        assert_product(Y + i * count, p, count, c->x[i]);
    }
    free(p), free(Y);
}

static void energy_regressors_times_parameters_are_the_energies(identity_case *c, int k) {
    dyn_error error;
    size_t count = (size_t)dyn_model_parameter_count(c->model);
    double *p = numbers(count), *y_T = numbers(count), *y_V = numbers(count), T, V, gravity[3];
    (void)k;
    random_vector(c->random, 3, 10, gravity);
    dyn_model_parameters(c->model, p);
    require(dyn_energy(c->model, c->w, 1, gravity, c->q, c->v, &T, &V, &error), &error);
    require(dyn_energy_regressor(c->model, c->w, 1, gravity, c->q, c->v, y_T, y_V, &error), &error);
    assert_product(y_T, p, count, T);
    assert_product(y_V, p, count, V);
    free(p), free(y_T), free(y_V);
}

static const identity identities[] = {
    {"Y p = RNEA", regressor_times_parameters_is_rnea, CASES},
    {"y' p = energy", energy_regressors_times_parameters_are_the_energies, CASES},
};

int main(void) {
    return run_properties("regressor", identity_tests(identities, (int)(sizeof identities / sizeof identities[0])));
}
