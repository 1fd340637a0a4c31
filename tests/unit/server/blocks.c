/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests blocks_run, which distributes many samples in blocks over the threads of a pool.
 */
#include "methods/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "observe/clock.h"
#include "unit/server/support.h"
#include "worker_pool.h"

enum { SAMPLES = 100 * BLOCK_SAMPLES + 17, WORKERS = 4 };

/* Record of a run: how often each sample was computed, which workers compute at the moment, the first sample that
 * fails, as all later ones do, and the number of calls of proceed_once. */
typedef struct ledger {
    atomic_int computed[SAMPLES];
    atomic_int busy[WORKERS];
    size_t failing;
    atomic_int questions;
} ledger;

static dyn_status write_ledger(void *context, unsigned worker, size_t first, size_t count, dyn_error *error) {
    ledger *l = context;
    if (worker >= WORKERS || atomic_fetch_add(&l->busy[worker], 1) != 0 || count > BLOCK_SAMPLES) {
        abort();
    }
    for (size_t i = first; i < first + count; i++) {
        atomic_fetch_add(&l->computed[i], 1);
    }
    atomic_fetch_sub(&l->busy[worker], 1);
    error->status = first >= l->failing ? DYN_FAILED_PRECONDITION : DYN_OK;
    return error->status;
}

static blocks work_on(ledger *l, unsigned workers, worker_pool *pool) {
    return (blocks){.n = SAMPLES,
                    .workers = workers,
                    .deadline = UINT64_MAX,
                    .step = write_ledger,
                    .context = l,
                    .submit = worker_pool_submit,
                    .pool = pool};
}

START_TEST(every_sample_is_computed_once) {
    worker_pool *pool = worker_pool_create(WORKERS - 1, 16, 0);
    for (unsigned workers = 1; workers <= WORKERS; workers++) {
        ledger *l = calloc(1, sizeof *l);
        l->failing = SIZE_MAX;
        blocks b = work_on(l, workers, pool);
        b.size = workers % 2 ? 0 : 3 * workers + 1;
        dyn_status status;
        dyn_error error;
        size_t first;
        ck_assert_int_eq(blocks_run(&b, &status, &error, &first), BLOCKS_DONE);
        for (size_t i = 0; i < SAMPLES; i++) {
            ck_assert_int_eq(atomic_load(&l->computed[i]), 1);
        }
        free(l);
    }
    worker_pool_free(pool);
}
END_TEST

START_TEST(lowest_failure_is_reported_however_many_threads_there_are) {
    random_source random = random_seed("lowest failure is told however many threads there are", 6);
    worker_pool *pool = worker_pool_create(WORKERS - 1, 16, 0);
    for (int round = 0; round < 200; round++) {
        ledger *l = calloc(1, sizeof *l);
        l->failing = (size_t)random_index(&random, SAMPLES / BLOCK_SAMPLES) * BLOCK_SAMPLES;
        blocks b = work_on(l, 1 + (unsigned)random_index(&random, WORKERS), pool);
        dyn_status status;
        dyn_error error;
        size_t first;
        ck_assert_int_eq(blocks_run(&b, &status, &error, &first), BLOCKS_FAILED);
        ck_assert_int_eq(status, DYN_FAILED_PRECONDITION);
        ck_assert_int_eq(error.status, DYN_FAILED_PRECONDITION);
        ck_assert_uint_eq(first, l->failing);
        free(l);
    }
    worker_pool_free(pool);
}
END_TEST

START_TEST(full_pool_leaves_the_work_to_the_caller) {
    static ledger l;
    l.failing = SIZE_MAX;
    worker_pool *pool = worker_pool_create(1, 1, 0);
    blocks b = work_on(&l, WORKERS, pool);
    dyn_status status;
    dyn_error error;
    size_t first;
    ck_assert_int_eq(blocks_run(&b, &status, &error, &first), BLOCKS_DONE);
    for (size_t i = 0; i < SAMPLES; i++) {
        ck_assert_int_eq(atomic_load(&l.computed[i]), 1);
    }
    worker_pool_free(pool);
}
END_TEST

START_TEST(nothing_is_begun_after_the_deadline) {
    static ledger l;
    l.failing = SIZE_MAX;
    worker_pool *pool = worker_pool_create(WORKERS - 1, 16, 0);
    blocks b = work_on(&l, WORKERS, pool);
    b.deadline = 0;
    dyn_status status;
    dyn_error error;
    size_t first;
    ck_assert_int_eq(blocks_run(&b, &status, &error, &first), BLOCKS_LATE);
    worker_pool_free(pool);
    for (size_t i = 0; i < SAMPLES; i++) {
        ck_assert_int_eq(atomic_load(&l.computed[i]), 0);
    }
}
END_TEST

/* Returns true at the first call and false later: the work is to end after one block. */
static bool proceed_once(void *context) {
    ledger *l = context;
    return atomic_fetch_add(&l->questions, 1) == 0;
}

START_TEST(work_ends_when_it_is_requested) {
    worker_pool *pool = worker_pool_create(WORKERS - 1, 16, 0);
    for (unsigned workers = 1; workers <= WORKERS; workers++) {
        ledger *l = calloc(1, sizeof *l);
        l->failing = SIZE_MAX;
        blocks b = work_on(l, workers, pool);
        b.proceed = proceed_once;
        dyn_status status;
        dyn_error error;
        size_t first;
        ck_assert_int_eq(blocks_run(&b, &status, &error, &first), BLOCKS_ENDED);
        ck_assert_int_eq(atomic_load(&l->computed[SAMPLES - 1]), 0);
        free(l);
    }
    worker_pool_free(pool);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("blocks");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_sample_is_computed_once);
    tcase_add_test(tests, lowest_failure_is_reported_however_many_threads_there_are);
    tcase_add_test(tests, full_pool_leaves_the_work_to_the_caller);
    tcase_add_test(tests, nothing_is_begun_after_the_deadline);
    tcase_add_test(tests, work_ends_when_it_is_requested);
    return run_tests(tests);
}
