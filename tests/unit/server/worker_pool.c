/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the pool of threads that run long requests: each accepted task runs once, a full queue refuses tasks,
 * and users take turns.
 */
#include "worker_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "observe/clock.h"
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

/* Tasks of users, in the order in which they have run. */
static unsigned order[64];
static atomic_uint order_length;

static void note(void *task) {
    order[atomic_fetch_add(&order_length, 1)] = *(unsigned *)task;
}

START_TEST(users_take_turns) {
    unsigned users[] = {1, 2, 3};
    worker_pool *pool = worker_pool_create(1, 100, 0);
    pthread_mutex_lock(&gate);
    ck_assert(worker_pool_submit(pool, wait_at_gate, NULL));
    while (worker_pool_waiting(pool) > 0) {
        sched_yield();
    }
    for (int i = 0; i < 20; i++) {
        ck_assert(worker_pool_submit_for(pool, users[0], note, &users[0]));
    }
    for (int i = 0; i < 2; i++) {
        ck_assert(worker_pool_submit_for(pool, users[1], note, &users[1]));
        ck_assert(worker_pool_submit_for(pool, users[2], note, &users[2]));
    }
    pthread_mutex_unlock(&gate);
    worker_pool_free(pool);
    static const unsigned expected[] = {1, 2, 3, 1, 2, 3, 1, 1, 1};
    ck_assert_uint_eq(atomic_load(&order_length), 24);
    ck_assert_mem_eq(order, expected, sizeof expected);
}
END_TEST

START_TEST(a_user_has_half_of_the_queue) {
    unsigned one = 1, accepted = 0;
    worker_pool *pool = worker_pool_create(1, 8, 0);
    pthread_mutex_lock(&gate);
    ck_assert(worker_pool_submit(pool, wait_at_gate, NULL));
    while (worker_pool_waiting(pool) > 0) {
        sched_yield();
    }
    while (worker_pool_submit_for(pool, 1, count, &one)) {
        accepted++;
    }
    ck_assert_uint_eq(accepted, 4);
    ck_assert(worker_pool_submit_for(pool, 2, count, &one));
    pthread_mutex_unlock(&gate);
    worker_pool_free(pool);
    ck_assert_uint_eq(atomic_load(&done), 5);
}
END_TEST

static worker_pool *shared;

/* Submits a further task without naming a user. */
static void divide(void *task) {
    ck_assert(worker_pool_submit(shared, note, task));
}

START_TEST(work_that_a_task_gives_away_has_the_turn_of_its_user) {
    unsigned users[] = {1, 2};
    shared = worker_pool_create(1, 100, 0);
    pthread_mutex_lock(&gate);
    ck_assert(worker_pool_submit(shared, wait_at_gate, NULL));
    while (worker_pool_waiting(shared) > 0) {
        sched_yield();
    }
    for (int i = 0; i < 3; i++) {
        ck_assert(worker_pool_submit_for(shared, users[0], divide, &users[0]));
    }
    for (int i = 0; i < 3; i++) {
        ck_assert(worker_pool_submit_for(shared, users[1], note, &users[1]));
    }
    pthread_mutex_unlock(&gate);
    while (worker_pool_load(shared) > 0) {
        sched_yield();
    }
    worker_pool_free(shared);
    /* The parts wait behind the other tasks of their user. Without a user they would have turns of their own. */
    static const unsigned expected[] = {2, 2, 2, 1, 1, 1};
    ck_assert_uint_eq(atomic_load(&order_length), 6);
    ck_assert_mem_eq(order, expected, sizeof expected);
}
END_TEST

/* Yields until a task of another user has run, at most for a minute. */
static void yield_until_noted(void *task) {
    uint64_t end = clock_now() + 60 * NANOSECONDS;
    while (atomic_load(&order_length) == 0 && clock_now() < end) {
        worker_pool_yield(shared);
    }
    note(task);
}

START_TEST(a_task_that_yields_lets_other_users_run) {
    unsigned users[] = {1, 2};
    shared = worker_pool_create(1, 100, 0);
    ck_assert(worker_pool_submit_for(shared, users[0], yield_until_noted, &users[0]));
    ck_assert(worker_pool_submit_for(shared, users[1], note, &users[1]));
    while (worker_pool_load(shared) > 0) {
        sched_yield();
    }
    worker_pool_free(shared);
    static const unsigned expected[] = {2, 1};
    ck_assert_uint_eq(atomic_load(&order_length), 2);
    ck_assert_mem_eq(order, expected, sizeof expected);
}
END_TEST

/* Yields for longer than a turn, behind the gate, so that another task waits. */
static void yield_for_a_while(void *task) {
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    uint64_t end = clock_now() + NANOSECONDS / 50;
    while (clock_now() < end) {
        worker_pool_yield(shared);
    }
    note(task);
}

START_TEST(a_task_does_not_yield_to_its_own_user) {
    unsigned tasks[] = {1, 2};
    shared = worker_pool_create(1, 100, 0);
    pthread_mutex_lock(&gate);
    ck_assert(worker_pool_submit_for(shared, 7, yield_for_a_while, &tasks[0]));
    ck_assert(worker_pool_submit_for(shared, 7, note, &tasks[1]));
    pthread_mutex_unlock(&gate);
    worker_pool_yield(shared); /* on a thread of no pool it does nothing */
    worker_pool_free(shared);
    ck_assert_uint_eq(atomic_load(&order_length), 2);
    ck_assert_mem_eq(order, tasks, sizeof tasks);
}
END_TEST

/* Computes for a few milliseconds with a yield at each step, and counts the tasks that do so at once. */
static atomic_uint present, most_present, turns;

static void compute_in_turns(void *task) {
    for (int i = 0; i < 20; i++) {
        unsigned now = atomic_fetch_add(&present, 1) + 1, before = atomic_load(&most_present);
        while (now > before && !atomic_compare_exchange_weak(&most_present, &before, now)) {
        }
        uint64_t end = clock_now() + NANOSECONDS / 2000;
        while (clock_now() < end) {
        }
        atomic_fetch_sub(&present, 1);
        atomic_fetch_add(&turns, 1);
        worker_pool_yield(shared);
    }
    note(task);
}

START_TEST(tasks_of_many_users_share_the_slots) {
    enum { USERS = 12, SLOTS = 2 };
    unsigned users[USERS];
    shared = worker_pool_create(SLOTS, 100, 0);
    for (unsigned i = 0; i < USERS; i++) {
        users[i] = i + 1;
        ck_assert(worker_pool_submit_for(shared, users[i], compute_in_turns, &users[i]));
    }
    worker_pool_free(shared);
    ck_assert_uint_eq(atomic_load(&order_length), USERS);
    ck_assert_uint_eq(atomic_load(&turns), 20 * USERS);
    ck_assert_uint_le(atomic_load(&most_present), SLOTS);
}
END_TEST

/* Waits for a task that it submits, without its slot. */
static void await_part(void *task) {
    ck_assert(worker_pool_submit(shared, note, task));
    worker_pool_pause(shared);
    while (atomic_load(&order_length) == 0) {
        sched_yield();
    }
    worker_pool_resume(shared);
    note(task);
}

START_TEST(a_paused_task_leaves_its_slot) {
    unsigned user = 1;
    shared = worker_pool_create(1, 100, 0);
    ck_assert(worker_pool_submit_for(shared, user, await_part, &user));
    while (worker_pool_load(shared) > 0) {
        sched_yield();
    }
    worker_pool_free(shared);
    ck_assert_uint_eq(atomic_load(&order_length), 2);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("worker_pool");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_task_runs_once);
    tcase_add_test(tests, full_queue_refuses_and_recovers);
    tcase_add_test(tests, waiting_tasks_run_before_the_pool_ends);
    tcase_add_test(tests, users_take_turns);
    tcase_add_test(tests, a_user_has_half_of_the_queue);
    tcase_add_test(tests, work_that_a_task_gives_away_has_the_turn_of_its_user);
    tcase_add_test(tests, a_task_that_yields_lets_other_users_run);
    tcase_add_test(tests, a_task_does_not_yield_to_its_own_user);
    tcase_add_test(tests, tasks_of_many_users_share_the_slots);
    tcase_add_test(tests, a_paused_task_leaves_its_slot);
    return run_tests(tests);
}
