/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the counting of requests by method, and the text format in which the numbers are published.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "observe/exposition.h"
#include "observe/request_metrics.h"
#include "unit/server/support.h"

enum { THREADS = 4, REQUESTS = 20000 };

static request_metrics shared;

START_TEST(a_time_counts_in_the_first_range_that_holds_it) {
    for (size_t i = 0; i < REQUEST_METRICS_RANGES - 1; i++) {
        request_metrics m = {0};
        uint64_t bound = request_metrics_bounds[i];
        ck_assert(i == 0 || bound > request_metrics_bounds[i - 1]);
        request_metrics_count(&m, &(request_outcome){.time = bound - 1});
        request_metrics_count(&m, &(request_outcome){.time = bound});
        request_metrics_count(&m, &(request_outcome){.time = bound + 1});
        ck_assert_uint_eq(m.ranges[i], 2);
        ck_assert_uint_eq(m.ranges[i + 1], 1);
        ck_assert_uint_eq(m.time, 3 * bound);
        ck_assert_uint_eq(request_metrics_total(&m), 3);
    }
    request_metrics m = {0};
    request_metrics_count(&m, &(request_outcome){.time = UINT64_MAX});
    ck_assert_uint_eq(m.ranges[REQUEST_METRICS_RANGES - 1], 1);
}
END_TEST

START_TEST(a_code_beyond_the_last_counts_as_unknown) {
    request_metrics m = {0};
    request_metrics_count(&m, &(request_outcome){.code = REQUEST_METRICS_CODES - 1});
    request_metrics_count(&m, &(request_outcome){.code = REQUEST_METRICS_CODES});
    request_metrics_count(&m, &(request_outcome){.code = UINT32_MAX});
    ck_assert_uint_eq(m.codes[REQUEST_METRICS_CODES - 1], 1);
    ck_assert_uint_eq(m.codes[2], 2);
}
END_TEST

static void *count_many(void *argument) {
    for (unsigned i = 0; i < REQUESTS; i++) {
        const request_outcome outcome = {.code = i % 3, .time = i, .bytes_in = 1, .bytes_out = 2, .samples = 3};
        request_metrics_count(&shared, &outcome);
    }
    return argument;
}

START_TEST(threads_lose_no_count) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_many, NULL), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_uint_eq(request_metrics_total(&shared), THREADS * REQUESTS);
    ck_assert_uint_eq(shared.time, (uint64_t)THREADS * REQUESTS * (REQUESTS - 1) / 2);
    ck_assert_uint_eq(shared.bytes_in, THREADS * REQUESTS);
    ck_assert_uint_eq(shared.bytes_out, 2 * THREADS * REQUESTS);
    ck_assert_uint_eq(shared.samples, 3 * THREADS * REQUESTS);
}
END_TEST

START_TEST(labels_are_escaped) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    const exposition_label labels[] = {{"a", "x\"y\\z\nw"}, {"b", ""}, {0}};
    ck_assert_ptr_nonnull(file);
    exposition_family(file, "n", "gauge", "A number.");
    exposition_count(file, "n", labels, UINT64_MAX);
    exposition_number(file, "n", NULL, 0.1);
    fclose(file);
    ck_assert_str_eq(text, "# HELP n A number.\n# TYPE n gauge\nn{a=\"x\\\"y\\\\z\\nw\",b=\"\"} 18446744073709551615\n"
                           "n 0.10000000000000001\n");
    free(text);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("metrics");
    tcase_add_test(tests, a_time_counts_in_the_first_range_that_holds_it);
    tcase_add_test(tests, a_code_beyond_the_last_counts_as_unknown);
    tcase_add_test(tests, threads_lose_no_count);
    tcase_add_test(tests, labels_are_escaped);
    return run_tests(tests);
}
