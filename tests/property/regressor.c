/*
 * The regressor times the parameters is the torque.
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

int main(void) {
    TCase *identities = tcase_create("identities");
    tcase_set_timeout(identities, 120);
    tcase_add_test(identities, regressor_times_parameters_is_rnea);
    return run_properties("regressor", identities);
}
