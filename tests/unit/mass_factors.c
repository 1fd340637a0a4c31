/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the factors of the mass matrix: the numbers of a robot with known factors, and refusals.
 */
#include <math.h>

#include "robots.h"

/* Builds two links of 1 kg on prismatic joints along one axis: M = [2 1; 1 1]. The last link may have no mass. */
static dyn_model *slides(bool has_tip_mass) {
    const dyn_inertia none = {0};
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    add_link(builder, "a");
    if (has_tip_mass) {
        add_link(builder, "b");
    } else {
        add_link_with(builder, "b", &none);
    }
    connect_links(builder, "ja", DYN_JOINT_TYPE_PRISMATIC, "base", "a");
    connect_links(builder, "jb", DYN_JOINT_TYPE_PRISMATIC, "a", "b");
    return build_model(builder, NULL, NULL);
}

START_TEST(two_slides_have_the_factors_that_follow) {
    dyn_model *model = slides(true);
    dyn_workspace *w;
    dyn_error error;
    const double q[4] = {0, 0.5, -1, 2}, b[4] = {3, 2, 0, 1}, expected[4] = {1, 1, -1, 2};
    double factors[8], x[4];
    ck_assert_int_eq(dyn_workspace_create(model, &w, &error), DYN_OK);
    ck_assert_int_eq(dyn_mass_factors(model, w, 2, q, factors, &error), DYN_OK);
    for (int s = 0; s < 2; s++) {
        /* [2 1; 1 1] = [1 1; 0 1] diag(1, 1) [1 0; 1 1]. */
        ck_assert_double_eq_tol(factors[4 * s], 1, 1e-15);
        ck_assert(factors[4 * s + 1] == 0);
        ck_assert_double_eq_tol(factors[4 * s + 2], 1, 1e-15);
        ck_assert_double_eq_tol(factors[4 * s + 3], 1, 1e-15);
    }
    ck_assert_int_eq(dyn_mass_solve(model, w, 2, factors, b, x, &error), DYN_OK);
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(x[i], expected[i], 1e-14);
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

START_TEST(singular_matrix_and_infinite_numbers_are_refused) {
    dyn_model *model = slides(false);
    dyn_workspace *w;
    dyn_error error;
    const double q[2] = {0}, b[2] = {1, NAN};
    double factors[4] = {1, 0, 0, 1}, x[2];
    ck_assert_int_eq(dyn_workspace_create(model, &w, &error), DYN_OK);
    expect_error(dyn_mass_factors(model, w, 1, q, factors, &error), &error, DYN_FAILED_PRECONDITION, "model",
                 "joint jb: the mass matrix is singular");
    expect_error(dyn_mass_factors(model, w, 1, b, factors, &error), &error, DYN_INVALID_ARGUMENT, "q[1]", "nan");
    factors[0] = factors[3] = 1;
    expect_error(dyn_mass_solve(model, w, 1, factors, b, x, &error), &error, DYN_INVALID_ARGUMENT, "b[1]", "nan");
    expect_error(dyn_mass_solve(model, w, 1, factors, NULL, x, &error), &error, DYN_INVALID_ARGUMENT, "b", "missing");
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("mass factors");
    TCase *tests = tcase_create("mass factors");
    tcase_add_test(tests, two_slides_have_the_factors_that_follow);
    tcase_add_test(tests, singular_matrix_and_infinite_numbers_are_refused);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
