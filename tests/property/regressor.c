/*
 * The regressors times the parameters are the torque and the energies.
 */
#include <math.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 200, SAMPLES = 5 };

START_TEST(regressor_times_parameters_is_rnea) {
    random_source base = random_seed("Y p = RNEA", 71);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = {.joints = 1 + k % 40,
                                       .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                       .with_mimic = k % 3 == 0,
                                       .with_fixed = true};
        dyn_model *model = random_tree(&random, &options);
        dyn_workspace *workspace = NULL;
        require(dyn_workspace_create(model, &error, &workspace), &error);
        size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
        size_t count = (size_t)dyn_model_parameter_count(model);
        double *q = numbers(SAMPLES * nq), *v = numbers(SAMPLES * nv), *a = numbers(SAMPLES * nv);
        double *tau = numbers(SAMPLES * nv), *p = numbers(count), *Y = numbers(SAMPLES * nv * count);
        for (size_t s = 0; s < SAMPLES; s++) {
            random_configuration(&random, model, 2, q + s * nq);
        }
        random_vector(&random, (int)(SAMPLES * nv), 2, v);
        random_vector(&random, (int)(SAMPLES * nv), 5, a);
        dyn_model_parameters(model, p);
        require(dyn_rnea(model, workspace, SAMPLES, NULL, q, v, a, NULL, &error, tau), &error);
        require(dyn_torque_regressor(model, workspace, SAMPLES, NULL, q, v, a, &error, Y), &error);
        for (size_t i = 0; i < SAMPLES * nv; i++) {
            double product = 0, scale = 1;
            for (size_t c = 0; c < count; c++) {
                product += Y[i * count + c] * p[c];
                scale += fabs(Y[i * count + c] * p[c]);
            }
            ck_assert_double_eq_tol(product, tau[i], 1e-12 * scale);
        }
        free(q), free(v), free(a), free(tau), free(p), free(Y);
        dyn_workspace_free(workspace);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(energy_regressors_times_parameters_are_the_energies) {
    random_source base = random_seed("y' p = energy", 72);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = {.joints = 1 + k % 40,
                                       .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                       .with_mimic = k % 3 == 0,
                                       .with_fixed = true};
        dyn_model *model = random_tree(&random, &options);
        dyn_workspace *workspace = NULL;
        require(dyn_workspace_create(model, &error, &workspace), &error);
        size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
        size_t count = (size_t)dyn_model_parameter_count(model);
        double *q = numbers(SAMPLES * nq), *v = numbers(SAMPLES * nv), *p = numbers(count);
        double *y_T = numbers(SAMPLES * count), *y_V = numbers(SAMPLES * count), T[SAMPLES], V[SAMPLES], gravity[3];
        for (size_t s = 0; s < SAMPLES; s++) {
            random_configuration(&random, model, 2, q + s * nq);
        }
        random_vector(&random, (int)(SAMPLES * nv), 2, v);
        random_vector(&random, 3, 10, gravity);
        dyn_model_parameters(model, p);
        require(dyn_energy(model, workspace, SAMPLES, gravity, q, v, &error, T, V), &error);
        require(dyn_energy_regressor(model, workspace, SAMPLES, gravity, q, v, &error, y_T, y_V), &error);
        for (size_t s = 0; s < SAMPLES; s++) {
            double kinetic = 0, potential = 0, scale = 1;
            for (size_t c = 0; c < count; c++) {
                kinetic += y_T[s * count + c] * p[c];
                potential += y_V[s * count + c] * p[c];
                scale += fabs(y_T[s * count + c] * p[c]) + fabs(y_V[s * count + c] * p[c]);
            }
            ck_assert_double_eq_tol(kinetic, T[s], 1e-12 * scale);
            ck_assert_double_eq_tol(potential, V[s], 1e-12 * scale);
        }
        free(q), free(v), free(p), free(y_T), free(y_V);
        dyn_workspace_free(workspace);
        dyn_model_free(model);
    }
}
END_TEST

int main(void) {
    TCase *identities = tcase_create("identities");
    tcase_set_timeout(identities, 120);
    tcase_add_test(identities, regressor_times_parameters_is_rnea);
    tcase_add_test(identities, energy_regressors_times_parameters_are_the_energies);
    return run_properties("regressor", identities);
}
