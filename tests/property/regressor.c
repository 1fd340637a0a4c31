/*
 * The regressor times the parameters is the torque.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/random_tree.h"

enum { CASES = 200, SAMPLES = 5 };

static void require(dyn_status status, const dyn_error *error) {
    ck_assert_msg(status == DYN_OK, "%s: %s", error->place, error->message);
}

static double *numbers(size_t count) {
    double *x = calloc(count + 1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

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
    Suite *suite = suite_create("regressor");
    TCase *identities = tcase_create("identities");
    tcase_set_timeout(identities, 120);
    tcase_add_test(identities, regressor_times_parameters_is_rnea);
    suite_add_tcase(suite, identities);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
