/*
 * Derivatives of real robots agree with reference values to 1e-10 of their norm. Skipped where these are missing.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/golden.h"

static const double tolerance = 1e-10;

static char **files;

/* The matrices of all states that have the field. Returns how many were compared. */
static int compare(const golden *g, const char *field, const double *matrices) {
    size_t entries = g->nv * g->nv;
    double *expected = calloc(entries + 1, sizeof *expected);
    int compared = 0;
    for (size_t s = 0; s < g->count; s++) {
        if (!golden_square(g, s, field, expected)) {
            continue;
        }
        double off = 0, square = 0;
        for (size_t i = 0; i < entries; i++) {
            double difference = matrices[s * entries + i] - expected[i];
            off += difference * difference, square += expected[i] * expected[i];
        }
        ck_assert_msg(sqrt(off) <= tolerance * sqrt(square), "%s, %s, state %zu: off by %g of %g", g->name, field, s,
                      sqrt(off), sqrt(square));
        compared++;
    }
    free(expected);
    return compared;
}

START_TEST(derivatives_are_the_reference_values) {
    golden g;
    if (!golden_open(files[_i], &g)) {
        return;
    }
    dyn_workspace *w = NULL;
    dyn_error error;
    ck_assert_int_eq(dyn_workspace_create(g.model, &error, &w), DYN_OK);
    double *results[3];
    for (int i = 0; i < 3; i++) {
        results[i] = calloc(g.count * g.nv * g.nv + 1, sizeof(double));
    }
    dyn_status status = dyn_rnea_derivatives(g.model, w, g.count, NULL, g.q, g.v, g.a, NULL, &error, results[0],
                                             results[1], results[2]);
    ck_assert_msg(status == DYN_OK, "%s: %s: %s", g.name, error.place, error.message);
    ck_assert_int_gt(compare(&g, "drnea_dq", results[0]), 0);
    ck_assert_int_gt(compare(&g, "drnea_dv", results[1]), 0);
    ck_assert_int_gt(compare(&g, "M", results[2]), 0);
    status = dyn_aba_derivatives(g.model, w, g.count, NULL, g.q, g.v, g.tau, NULL, &error, results[0], results[1],
                                 results[2]);
    if (status != DYN_FAILED_PRECONDITION || !json_object_get(g.root, "dropped_nonfinite")) {
        ck_assert_msg(status == DYN_OK, "%s: %s: %s", g.name, error.place, error.message);
        ck_assert_int_gt(compare(&g, "daba_dq", results[0]), 0);
        ck_assert_int_gt(compare(&g, "daba_dv", results[1]), 0);
        ck_assert_int_gt(compare(&g, "Minv", results[2]), 0);
    }
    for (int i = 0; i < 3; i++) {
        free(results[i]);
    }
    dyn_workspace_free(w);
    golden_close(&g);
}
END_TEST

int main(void) {
    int count = 0;
    files = golden_files();
    while (files && files[count]) {
        count++;
    }
    if (count == 0) {
        puts("skipped: no reference values in " DYNAMICS_REFERENCE_DIR "/golden");
        return 77;
    }
    Suite *suite = suite_create("reference derivatives");
    TCase *robots = tcase_create("robots");
    tcase_set_timeout(robots, 120);
    tcase_add_loop_test(robots, derivatives_are_the_reference_values, 0, count);
    suite_add_tcase(suite, robots);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    golden_files_free(files);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
