/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests the table of jobs: states, limits, eviction and memory. A function of the test stands for the service that
 * computes a job, and the test decides when it runs. */
#include "methods/job_table.h"

#include <stdio.h>
#include <string.h>

#include "unit/server/support.h"

enum { MOST_TASKS = 16, RESULT_BYTES = 1000, LARGE_BYTES = 5000 };

static struct {
    service_limits limits;
    uint64_t share, share_bytes; /* of each user */
    memory_budget budget;
    running_calls running;
    logger log;
    job_table *table;
    void (*run[MOST_TASKS])(void *task);
    void *tasks[MOST_TASKS];
    size_t task_count, most_tasks;
    size_t result_bytes;
} bench;

/* Stores a task until run_next runs it. Returns false if bench.most_tasks tasks are stored. */
static bool store_task(void *pool, uint64_t user, void (*run)(void *task), void *task) {
    (void)pool;
    (void)user;
    if (bench.task_count == bench.most_tasks) {
        return false;
    }
    bench.run[bench.task_count] = run;
    bench.tasks[bench.task_count++] = task;
    return true;
}

/* Replies with bench.result_bytes zeros, or with one byte if the call was cancelled. Returns the code of the result:
 * OK, CANCELLED, or RESOURCE_EXHAUSTED if there is no memory for the reply. */
static Dynamics__V1__Code compute(void *context, transport_call *call, running_call *running) {
    (void)context;
    bool is_cancelled = atomic_load(&running->is_cancelled);
    uint8_t *bytes = transport_reply_buffer(call, is_cancelled ? 1 : bench.result_bytes);
    if (bytes) {
        memset(bytes, 0, is_cancelled ? 1 : bench.result_bytes);
    }
    transport_send(call);
    return !bytes         ? DYNAMICS__V1__CODE__CODE_RESOURCE_EXHAUSTED
           : is_cancelled ? DYNAMICS__V1__CODE__CODE_CANCELLED
                          : DYNAMICS__V1__CODE__CODE_OK;
}

static void start_bench(void) {
    memset(&bench, 0, sizeof bench);
    memory_budget_set(&bench.budget, 1 << 20, 0);
    running_calls_init(&bench.running);
    bench.limits.jobs = 3;
    bench.limits.job_bytes = 4000;
    bench.limits.job_result_time = 60;
    bench.share = bench.share_bytes = UINT64_MAX;
    bench.most_tasks = MOST_TASKS;
    bench.result_bytes = RESULT_BYTES;
    const job_table_options options = {
        .limits = &bench.limits,
        .budget = &bench.budget,
        .running = &bench.running,
        .log = &bench.log,
        .submit = store_task,
        .execute = compute,
    };
    bench.table = job_table_create(&options);
    ck_assert_ptr_nonnull(bench.table);
}

static void run_next(void) {
    ck_assert_uint_gt(bench.task_count, 0);
    void *task = bench.tasks[0];
    void (*run)(void *) = bench.run[0];
    bench.task_count--;
    memmove(bench.tasks, bench.tasks + 1, bench.task_count * sizeof *bench.tasks);
    memmove(bench.run, bench.run + 1, bench.task_count * sizeof *bench.run);
    run(task);
}

static void run_all(void) {
    while (bench.task_count > 0) {
        run_next();
    }
}

/* Runs the tasks that are left, frees the table, and checks that nothing is left of the jobs. */
static void end_bench(void) {
    run_all();
    job_table_free(bench.table);
    ck_assert_uint_eq(bench.budget.held, 0);
    ck_assert_ptr_null(bench.running.first);
    running_calls_free(&bench.running);
}

/* Starts a job of a user. Returns the reason of a refusal, or REASON_NONE. */
static error_reason start(const char *name, uint64_t user) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GravityRequest gravity = DYNAMICS__V1__GRAVITY_REQUEST__INIT;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GRAVITY;
    request.gravity = &gravity;
    refusal why = {0};
    access_caller caller = {.role = ACCESS_USER};
    snprintf(caller.name, sizeof caller.name, "uid:%llu", (unsigned long long)user);
    const job_order order = {.name = name,
                             .method = "gravity",
                             .owner = "test",
                             .caller = &caller,
                             .share = bench.share,
                             .share_bytes = bench.share_bytes,
                             .token = 7,
                             .started_by = {.peer = {TRANSPORT_ORIGIN_USER, user}, .client = user, .id = 1},
                             .request = &request};
    job *j = job_table_start(bench.table, &order, &why);
    if (j) {
        job_release(j);
    }
    return why.reason;
}

static bool is_there(const char *name) {
    job *j = job_table_find(bench.table, name);
    if (j) {
        job_release(j);
    }
    return j != NULL;
}

static Dynamics__V1__JobState state_of(const char *name) {
    job *j = job_table_find(bench.table, name);
    ck_assert_ptr_nonnull(j);
    Dynamics__V1__JobState state = job_look(j).state;
    job_release(j);
    return state;
}

static void cancel(const char *name) {
    job *j = job_table_find(bench.table, name);
    ck_assert_ptr_nonnull(j);
    job_table_cancel(bench.table, j);
    job_release(j);
}

/* Checks that the job has no result but an error with this reason. */
static void check_error(const char *name, const char *reason) {
    job *j = job_table_find(bench.table, name);
    ck_assert_ptr_nonnull(j);
    const job_view view = job_look(j);
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, view.reply_size, view.reply);
    ck_assert_ptr_nonnull(reply);
    ck_assert_str_eq(reply->status->reason, reason);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    job_release(j);
}

START_TEST(a_job_passes_through_its_states) {
    start_bench();
    ck_assert_int_eq(start("a", 1), REASON_NONE);
    ck_assert_int_eq(start("a", 1), REASON_NAME_TAKEN);
    ck_assert_int_eq(state_of("a"), DYNAMICS__V1__JOB_STATE__JOB_STATE_QUEUED);
    ck_assert_ptr_nonnull(bench.running.first);
    run_all();
    job *j = job_table_find(bench.table, "a");
    const job_view view = job_look(j);
    ck_assert_int_eq(view.state, DYNAMICS__V1__JOB_STATE__JOB_STATE_DONE);
    ck_assert_uint_eq(view.reply_size, RESULT_BYTES);
    ck_assert(view.expires_in > 59 && view.fraction == 1);
    ck_assert(view.created_ns <= view.started_ns && view.started_ns <= view.finished_ns);
    cancel("a");
    ck_assert(!is_there("a"));
    ck_assert_uint_eq(view.reply[RESULT_BYTES - 1], 0); /* the reference still holds the reply */
    job_release(j);
    end_bench();
}
END_TEST

START_TEST(a_new_job_evicts_the_oldest_result_of_its_own_peer_only) {
    start_bench();
    ck_assert_int_eq(start("a", 1), REASON_NONE);
    ck_assert_int_eq(start("b", 2), REASON_NONE);
    ck_assert_int_eq(start("c", 1), REASON_NONE);
    ck_assert_int_eq(start("d", 1), REASON_TOO_MANY_JOBS);
    run_all();
    ck_assert_int_eq(start("d", 3), REASON_TOO_MANY_JOBS);
    ck_assert_int_eq(start("d", 1), REASON_NONE);
    ck_assert(!is_there("a") && is_there("b") && is_there("c") && is_there("d"));
    end_bench();
}
END_TEST

START_TEST(a_user_has_a_share_of_jobs_and_of_their_bytes) {
    start_bench();
    bench.limits.jobs = 10;
    bench.share = 2;
    ck_assert_int_eq(start("a", 1), REASON_NONE);
    ck_assert_int_eq(start("b", 1), REASON_NONE);
    ck_assert_int_eq(start("c", 1), REASON_TOO_MANY_JOBS);
    ck_assert_int_eq(start("d", 2), REASON_NONE);
    run_all();
    ck_assert_int_eq(start("c", 1), REASON_NONE); /* evicts the result of "a" */
    ck_assert(!is_there("a") && is_there("b") && is_there("c") && is_there("d"));
    run_all();
    bench.share_bytes = RESULT_BYTES;
    ck_assert_int_eq(start("e", 1), REASON_NONE); /* evicts both results */
    ck_assert(!is_there("b") && !is_there("c") && is_there("d") && is_there("e"));
    bench.result_bytes = RESULT_BYTES + 1;
    run_all();
    ck_assert_int_eq(state_of("e"), DYNAMICS__V1__JOB_STATE__JOB_STATE_FAILED);
    check_error("e", "JOBS_TOO_LARGE");
    end_bench();
}
END_TEST

START_TEST(results_share_the_bytes_of_all_jobs) {
    start_bench();
    bench.limits.jobs = 10;
    const char *const names[] = {"a", "b", "c", "d", "e"};
    for (uint64_t i = 0; i < 4; i++) {
        ck_assert_int_eq(start(names[i], 1), REASON_NONE);
    }
    run_all();
    for (uint64_t i = 0; i < 4; i++) {
        ck_assert_int_eq(state_of(names[i]), DYNAMICS__V1__JOB_STATE__JOB_STATE_DONE);
    }
    ck_assert_int_eq(start("f", 2), REASON_JOBS_TOO_LARGE);
    ck_assert_int_eq(start("e", 1), REASON_NONE); /* the request of "e" evicts the result of "a" */
    run_all();
    ck_assert(!is_there("a") && is_there("b") && is_there("e"));
    bench.result_bytes = LARGE_BYTES;
    ck_assert_int_eq(start("g", 1), REASON_NONE);
    run_all();
    ck_assert_int_eq(state_of("g"), DYNAMICS__V1__JOB_STATE__JOB_STATE_FAILED);
    check_error("g", "JOBS_TOO_LARGE");
    end_bench();
}
END_TEST

START_TEST(a_cancelled_job_is_not_computed) {
    start_bench();
    ck_assert_int_eq(start("a", 1), REASON_NONE);
    ck_assert_int_eq(start("b", 1), REASON_NONE);
    cancel("a");
    ck_assert_int_eq(state_of("a"), DYNAMICS__V1__JOB_STATE__JOB_STATE_CANCELLED);
    check_error("a", "CANCELLED");
    ck_assert(running_calls_cancel(&bench.running, &bench.running.first->name));
    run_all();
    ck_assert_int_eq(state_of("a"), DYNAMICS__V1__JOB_STATE__JOB_STATE_CANCELLED);
    ck_assert_int_eq(state_of("b"), DYNAMICS__V1__JOB_STATE__JOB_STATE_CANCELLED);
    end_bench();
}
END_TEST

START_TEST(a_job_cancelled_while_queued_is_no_longer_under_way) {
    start_bench();
    ck_assert_int_eq(start("a", 1), REASON_NONE);
    const running_name name = bench.running.first->name;
    cancel("a");
    ck_assert(!running_calls_cancel(&bench.running, &name));
    run_all();
    end_bench();
}
END_TEST

START_TEST(a_stopped_table_cancels_and_refuses) {
    start_bench();
    ck_assert_int_eq(start("a", 1), REASON_NONE);
    job_table_stop(bench.table);
    ck_assert_int_eq(start("b", 1), REASON_DRAINING);
    run_all();
    ck_assert_int_eq(state_of("a"), DYNAMICS__V1__JOB_STATE__JOB_STATE_CANCELLED);
    end_bench();
}
END_TEST

START_TEST(a_finished_job_expires) {
    start_bench();
    ck_assert_int_eq(start("a", 1), REASON_NONE);
    ck_assert_int_eq(start("b", 1), REASON_NONE);
    run_next();
    bench.limits.job_result_time = 0;
    job_table_sweep(bench.table);
    ck_assert(!is_there("a") && is_there("b"));
    run_all();
    end_bench();
}
END_TEST

START_TEST(a_job_without_a_thread_or_memory_is_refused) {
    size_t count, bytes;
    start_bench();
    bench.most_tasks = 0;
    ck_assert_int_eq(start("a", 1), REASON_OVERLOADED);
    bench.most_tasks = MOST_TASKS;
    memory_budget_set(&bench.budget, 1, 0);
    ck_assert_int_eq(start("a", 1), REASON_MEMORY_SHORT);
    job_table_measure(bench.table, &count, &bytes);
    ck_assert_uint_eq(count + bytes, 0);
    memory_budget_set(&bench.budget, 500, 0);
    ck_assert_int_eq(start("a", 1), REASON_NONE);
    run_all(); /* the result does not fit into the memory */
    ck_assert_int_eq(state_of("a"), DYNAMICS__V1__JOB_STATE__JOB_STATE_FAILED);
    end_bench();
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("job_table");
    tcase_add_test(tests, a_job_passes_through_its_states);
    tcase_add_test(tests, a_new_job_evicts_the_oldest_result_of_its_own_peer_only);
    tcase_add_test(tests, a_user_has_a_share_of_jobs_and_of_their_bytes);
    tcase_add_test(tests, results_share_the_bytes_of_all_jobs);
    tcase_add_test(tests, a_cancelled_job_is_not_computed);
    tcase_add_test(tests, a_job_cancelled_while_queued_is_no_longer_under_way);
    tcase_add_test(tests, a_stopped_table_cancels_and_refuses);
    tcase_add_test(tests, a_finished_job_expires);
    tcase_add_test(tests, a_job_without_a_thread_or_memory_is_refused);
    return run_tests(tests);
}
