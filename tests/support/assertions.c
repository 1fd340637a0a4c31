/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <math.h>
#include <stdlib.h>

/* Share of the norm that is the smallest reference of an entry's error. */
static const double SHARE = 0.03;

void require(dyn_status status, const dyn_error *error) {
    ck_assert_msg(status == DYN_OK, "%s: %s", error->place, error->message);
}

double *numbers(size_t count) {
    double *x = calloc(count + 1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

double norm(const double *x, size_t count) {
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        square += x[i] * x[i];
    }
    return sqrt(square);
}

double larger(double x, double y) {
    return isnan(x) || x > y ? x : y;
}

void assert_norm_close(const char *what, int k, const double *x, const double *y, size_t count, double tolerance) {
    double square = 0, scale = fmax(1, norm(y, count));
    for (size_t i = 0; i < count; i++) {
        square += (x[i] - y[i]) * (x[i] - y[i]);
    }
    ck_assert_msg(sqrt(square) <= tolerance * scale, "%s, case %d: off by %g of %g", what, k, sqrt(square), scale);
}

void assert_close(const char *what, int k, const double *x, const double *y, size_t count, double tolerance) {
    const double all = norm(y, count);
    for (size_t i = 0; i < count; i++) {
        double bound = tolerance * fmax(fabs(y[i]), SHARE * fmax(1, all));
        ck_assert_msg(fabs(x[i] - y[i]) <= bound, "%s, case %d: entry %zu is %.17g, not %.17g (bound %g, norm %g)",
                      what, k, i, x[i], y[i], bound, all);
    }
    assert_norm_close(what, k, x, y, count, tolerance);
}

int run_properties(const char *name, TCase *tests) {
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
