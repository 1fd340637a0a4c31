/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the pacer: tasks run when they are due and never earlier, and none runs after its removal.
 */
#include "simulations/pacer.h"

#include <stdatomic.h>
#include <time.h>

#include "observe/clock.h"
#include "unit/server/support.h"

enum { TICKS = 50, MANY = 300 };

static const uint64_t PERIOD = NANOSECONDS / 1000;

/* Task that runs every PERIOD after `start` and ends after `most` ticks. It counts its ticks, and records the due time
 * of the last one and whether a tick ran before its due time or out of order. */
typedef struct ticking {
    pacer_task task;
    uint64_t start, last;
    atomic_uint count;
    unsigned most;
    bool is_greedy;
    atomic_bool ran_early, ran_out_of_order, ran_with_others;
} ticking;

static uint64_t tick(ticking *t) {
    uint64_t due = t->task.due;
    if (clock_now() < due) {
        atomic_store(&t->ran_early, true);
    }
    if (due < t->last) {
        atomic_store(&t->ran_out_of_order, true);
    }
    t->last = due;
    unsigned count = atomic_fetch_add(&t->count, 1) + 1;
    return count == t->most ? PACER_END : t->start + (count + 1) * PERIOD;
}

/* Runs a quarter of a period, counts the tick, and returns the present time, so that the task is due again at once. */
static uint64_t hog(ticking *t) {
    uint64_t end = clock_now() + PERIOD / 4;
    while (clock_now() < end) {
    }
    atomic_fetch_add(&t->count, 1);
    return clock_now();
}

static void run(pacer_task *const tasks[], size_t count, pacer_memory *memory, uint64_t next[]) {
    (void)memory;
    for (size_t i = 0; i < count; i++) {
        ticking *t = (ticking *)tasks[i];
        next[i] = t->is_greedy ? hog(t) : tick(t);
        /* Tasks that are due at one time run in the order of their addresses. */
        if (i > 0 &&
            (tasks[i]->due < tasks[i - 1]->due || (tasks[i]->due == tasks[i - 1]->due && tasks[i] < tasks[i - 1]))) {
            atomic_store(&t->ran_out_of_order, true);
        }
        if (count > 1) {
            atomic_store(&t->ran_with_others, true);
        }
    }
}

static pacer *create(unsigned threads, uint64_t spin) {
    pacer *p = pacer_create(&(pacer_options){.threads = threads, .run = run, .spin = spin});
    ck_assert_ptr_nonnull(p);
    return p;
}

static void add(pacer *p, ticking *t, unsigned most) {
    *t = (ticking){.start = clock_now(), .most = most};
    ck_assert(pacer_add(p, &t->task, t->start + PERIOD));
}

static void wait_for(const ticking *t, unsigned count) {
    while (atomic_load(&t->count) < count) {
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

/* Runs many tasks by two threads and checks the times of their ticks. */
static void check_times(uint64_t spin) {
    static ticking many[MANY];
    pacer *p = create(2, spin);
    for (int i = 0; i < MANY; i++) {
        add(p, &many[i], TICKS);
    }
    for (int i = 0; i < MANY; i++) {
        wait_for(&many[i], TICKS);
    }
    uint64_t end = clock_now();
    pacer_free(p);
    for (int i = 0; i < MANY; i++) {
        ck_assert_uint_eq(atomic_load(&many[i].count), TICKS);
        ck_assert(!atomic_load(&many[i].ran_early));
        ck_assert(!atomic_load(&many[i].ran_out_of_order));
        /* The pacer passes on the due time that the task returned, even if a tick ran late. */
        ck_assert_uint_eq(many[i].last, many[i].start + TICKS * PERIOD);
        ck_assert_uint_ge(end, many[i].last);
    }
}

START_TEST(tasks_run_at_their_times_and_never_before) {
    check_times(0);
}
END_TEST

START_TEST(spinning_threads_run_tasks_at_their_times) {
    check_times(PERIOD / 10);
}
END_TEST

/* Runs tasks that are due at one time, and frees the pacer. */
static void run_together(pacer *p, ticking many[MANY]) {
    const uint64_t start = clock_now() + 20 * PERIOD;
    for (int i = 0; i < MANY; i++) {
        many[i] = (ticking){.start = start, .most = TICKS};
        ck_assert(pacer_add(p, &many[i].task, start + PERIOD));
    }
    for (int i = 0; i < MANY; i++) {
        wait_for(&many[i], TICKS);
    }
    pacer_free(p);
}

START_TEST(tasks_that_are_due_at_one_time_run_together) {
    static ticking many[MANY];
    pacer *p = create(1, 0);
    run_together(p, many);
    for (int i = 0; i < MANY; i++) {
        ck_assert(atomic_load(&many[i].ran_with_others));
        ck_assert(!atomic_load(&many[i].ran_out_of_order));
    }
}
END_TEST

/* Numbers of calls of `note_rest`. */
typedef struct rests {
    atomic_uint after_runs, all_idle;
} rests;

static void note_rest(void *context, bool are_all_idle) {
    rests *r = context;
    atomic_fetch_add(are_all_idle ? &r->all_idle : &r->after_runs, 1);
}

START_TEST(threads_rest_after_their_runs_and_once_a_tick_together) {
    static ticking many[MANY];
    rests r = {0};
    pacer *p = pacer_create(&(pacer_options){.threads = 2, .run = run, .rest = note_rest, .context = &r});
    ck_assert_ptr_nonnull(p);
    run_together(p, many);
    /* Threads that are late may run several ticks before they rest, and the first may rest before the second begins. */
    ck_assert_uint_ge(atomic_load(&r.all_idle), 1);
    ck_assert_uint_le(atomic_load(&r.all_idle), 2 * TICKS);
    ck_assert_uint_ge(atomic_load(&r.after_runs), 2);
}
END_TEST

START_TEST(removed_task_does_not_run_again) {
    ticking t;
    pacer *p = create(1, 0);
    for (int round = 0; round < 20; round++) {
        add(p, &t, 1000000);
        wait_for(&t, 2);
        pacer_remove(p, &t.task);
        unsigned count = atomic_load(&t.count);
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        ck_assert_uint_eq(atomic_load(&t.count), count);
    }
    pacer_remove(p, &t.task);
    pacer_free(p);
}
END_TEST

START_TEST(task_that_is_always_due_leaves_others_their_turn_and_can_be_removed) {
    ticking greedy = {.is_greedy = true}, modest;
    pacer *p = create(1, 0);
    ck_assert(pacer_add(p, &greedy.task, clock_now()));
    add(p, &modest, TICKS);
    wait_for(&modest, TICKS);
    ck_assert_uint_gt(atomic_load(&greedy.count), 0);
    pacer_remove(p, &greedy.task);
    pacer_free(p);
}
END_TEST

START_TEST(many_tasks_are_added_and_removed_in_any_order) {
    static ticking many[MANY];
    pacer *p = create(2, 0);
    random_source random = random_seed("many tasks are added and removed", 17);
    for (int i = 0; i < MANY; i++) {
        add(p, &many[i], 1000000);
    }
    for (int i = MANY - 1; i > 0; i--) {
        int j = random_index(&random, i + 1);
        pacer_remove(p, &many[j].task);
        ck_assert(!many[j].task.is_queued);
    }
    for (int i = 0; i < MANY; i++) {
        pacer_remove(p, &many[i].task);
    }
    pacer_free(p);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("pacer");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, tasks_run_at_their_times_and_never_before);
    tcase_add_test(tests, spinning_threads_run_tasks_at_their_times);
    tcase_add_test(tests, tasks_that_are_due_at_one_time_run_together);
    tcase_add_test(tests, threads_rest_after_their_runs_and_once_a_tick_together);
    tcase_add_test(tests, removed_task_does_not_run_again);
    tcase_add_test(tests, task_that_is_always_due_leaves_others_their_turn_and_can_be_removed);
    tcase_add_test(tests, many_tasks_are_added_and_removed_in_any_order);
    return run_tests(tests);
}
