/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the pool of threads that run long requests: each accepted task runs once, and a full queue refuses tasks.
 */
#include "worker_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "unit/server/support.h"

enum { TASKS = 10000 };

static atomic_uint done;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void count(void *task) {
    atomic_fetch_add(&done, *(unsigned *)task);
}

static void wait_at_gate(void *task) {
    (void)task;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

START_TEST(every_task_runs_once) {
    unsigned one = 1;
    worker_pool *pool = worker_pool_create(4, 16, 0);
    for (int i = 0; i < TASKS; i++) {
        while (!worker_pool_submit(pool, count, &one)) {
            sched_yield();
        }
    }
    worker_pool_free(pool);
    ck_assert_uint_eq(atomic_load(&done), TASKS);
}
END_TEST

START_TEST(full_queue_refuses_and_recovers) {
    unsigned one = 1;
    worker_pool *pool = worker_pool_create(1, 4, 0);
    pthread_mutex_lock(&gate);
    ck_assert(worker_pool_submit(pool, wait_at_gate, NULL));
    int accepted = 0;
    /* The first task is still in the queue, which then accepts three more, or already on its thread. */
    while (worker_pool_submit(pool, count, &one) && accepted < 10) {
        accepted++;
    }
    ck_assert_int_ge(accepted, 3);
    ck_assert_int_le(accepted, 4);
    ck_assert_uint_ge(worker_pool_load(pool), 4);
    pthread_mutex_unlock(&gate);
    while (worker_pool_load(pool) > 0) {
        sched_yield();
    }
    ck_assert(worker_pool_submit(pool, count, &one));
    worker_pool_free(pool);
    ck_assert_uint_eq(atomic_load(&done), (unsigned)accepted + 1);
}
END_TEST

START_TEST(waiting_tasks_run_before_the_pool_ends) {
    unsigned one = 1;
    worker_pool *pool = worker_pool_create(2, 100, 0);
    pthread_mutex_lock(&gate);
    ck_assert(worker_pool_submit(pool, wait_at_gate, NULL));
    ck_assert(worker_pool_submit(pool, wait_at_gate, NULL));
    for (int i = 0; i < 50; i++) {
        ck_assert(worker_pool_submit(pool, count, &one));
    }
    pthread_mutex_unlock(&gate);
    worker_pool_free(pool);
    ck_assert_uint_eq(atomic_load(&done), 50);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("worker_pool");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_task_runs_once);
    tcase_add_test(tests, full_queue_refuses_and_recovers);
    tcase_add_test(tests, waiting_tasks_run_before_the_pool_ends);
    return run_tests(tests);
}
