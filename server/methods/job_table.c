/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs: requests that are computed without a waiting client, and their stored replies. */
#include "methods/job_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/user_accounts.h"
#include "observe/clock.h"

struct job {
    transport_call call; /* first member: the carrier casts it to the job */
    job_table *table;
    job *older, *newer; /* neighbours in the list of the table */
    char name[SIMULATION_NAME_SIZE];
    const char *method;
    uint64_t token;
    uint64_t share, share_bytes; /* of its user */
    running_call running;
    atomic_uint references;
    uint8_t *request; /* serialized Request; NULL once it has been computed */
    size_t request_size;
    uint8_t *reply; /* serialized Reply, written by the thread that computes; constant once the job has finished */
    size_t reply_size;
    /* The table's mutex guards the members below. */
    Dynamics__V1__JobState state;
    int64_t created_ns, started_ns, finished_ns;
    uint64_t finished; /* ns, CLOCK_MONOTONIC */
    size_t held;       /* bytes for which the job counts in job_table.held */
    bool is_listed;
};

struct job_table {
    job_table_options options;
    pthread_mutex_t mutex; /* guards the members below */
    job *oldest, *newest;
    size_t count, held;
    bool is_stopped;
};

/* ---- carrier ----------------------------------------------------------------------------------------------------- */

static void free_reply(job *j) {
    memory_budget_release(j->table->options.budget, j->reply_size);
    free(j->reply);
    j->reply = NULL;
    j->reply_size = 0;
}

static void free_request(job *j) {
    memory_budget_release(j->table->options.budget, j->request_size);
    free(j->request);
    j->request = NULL;
    j->request_size = 0;
}

/* Allocates the stored reply. Uses the memory that the call has set aside for it first. Returns NULL when memory is
 * short. */
static uint8_t *store_reply(transport_call *call, size_t size) {
    job *j = (job *)call;
    memory_budget *budget = j->table->options.budget;
    free_reply(j);
    size_t set_aside = call->set_aside;
    if (size > set_aside && !memory_budget_reserve(budget, size - set_aside)) {
        return NULL;
    }
    memory_budget_release(budget, set_aside > size ? set_aside - size : 0);
    call->set_aside = 0;
    j->reply_size = size;
    j->reply = malloc(size);
    if (!j->reply) {
        free_reply(j);
    }
    return j->reply;
}

static void end_reply(transport_call *call) {
    job *j = (job *)call;
    memory_budget_release(j->table->options.budget, call->set_aside);
    call->set_aside = 0;
}

static const transport_carrier job_carrier = {.reply_buffer = store_reply, .send = end_reply};

/* Stores an error as the reply of a job. When memory is short the job has no reply. */
static void store_error(job *j, error_reason reason, const char *message) {
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    Dynamics__V1__Status status = DYNAMICS__V1__STATUS__INIT;
    reply.status = &status;
    status.code = reason_code(reason);
    status.reason = reason_token(reason);
    status.message = (char *)(uintptr_t)message;
    uint8_t *bytes = store_reply(&j->call, dynamics__v1__reply__get_packed_size(&reply));
    if (bytes) {
        dynamics__v1__reply__pack(&reply, bytes);
    }
}

/* ---- list -------------------------------------------------------------------------------------------------------- */

void job_release(job *j) {
    if (atomic_fetch_sub(&j->references, 1) == 1) {
        running_calls_remove(j->table->options.running, &j->running);
        free_request(j);
        free_reply(j);
        free(j);
    }
}

static bool has_finished(const job *j) {
    return j->state != DYNAMICS__V1__JOB_STATE__JOB_STATE_QUEUED &&
           j->state != DYNAMICS__V1__JOB_STATE__JOB_STATE_RUNNING;
}

/* Sets the number of bytes for which a job counts in its table. Called with the mutex held. */
static void hold(job *j, size_t bytes) {
    j->table->held += bytes - j->held;
    j->held = bytes;
}

/* Removes a job from the list and returns the list's reference. Called with the mutex held. */
static job *unlist(job *j) {
    job_table *table = j->table;
    *(j->older ? &j->older->newer : &table->oldest) = j->newer;
    *(j->newer ? &j->newer->older : &table->newest) = j->older;
    table->count--;
    hold(j, 0);
    j->is_listed = false;
    return j;
}

/* Adds a job to the list, which acquires a reference. Called with the mutex held. */
static void list(job_table *table, job *j) {
    j->older = table->newest;
    j->newer = NULL;
    *(table->newest ? &table->newest->newer : &table->oldest) = j;
    table->newest = j;
    table->count++;
    hold(j, j->request_size);
    j->is_listed = true;
    atomic_fetch_add(&j->references, 1);
}

static job *find(const job_table *table, const char *name) {
    job *j = table->oldest;
    while (j && strcmp(j->name, name) != 0) {
        j = j->newer;
    }
    return j;
}

/* Jobs of one user, and the bytes that they hold. */
typedef struct user_jobs {
    size_t count, held;
} user_jobs;

static bool have_one_user(const job *a, const job *b) {
    return strcmp(a->call.caller.name, b->call.caller.name) == 0;
}

/* Counts the listed jobs of the user of a job. Called with the mutex held. */
static user_jobs count_of_user(const job_table *table, const job *of) {
    user_jobs own = {0};
    for (const job *j = table->oldest; j; j = j->newer) {
        own.count += have_one_user(j, of);
        own.held += have_one_user(j, of) ? j->held : 0;
    }
    return own;
}

/* Removes the job of the user of `of` that finished first. Returns false if no job of the user has finished. Called
 * with the mutex held. */
static bool evict(job_table *table, const job *of) {
    job *first = NULL;
    for (job *j = table->oldest; j; j = j->newer) {
        bool is_eligible = has_finished(j) && have_one_user(j, of);
        first = is_eligible && (!first || j->finished < first->finished) ? j : first;
    }
    if (first) {
        job_release(unlist(first));
    }
    return first != NULL;
}

/* Evicts finished jobs of the user of `of` until further bytes fit into limits.job_bytes and into the user's share.
 * Returns the limit that they exceed, or an empty one. Called with the mutex held. */
static excess make_room(job_table *table, const job *of, size_t bytes) {
    uint64_t limit = atomic_load(&table->options.limits->job_bytes);
    excess all = {BOUND_JOB_BYTES, limit, table->held + bytes};
    excess own = {BOUND_USER_JOB_BYTES, of->share_bytes, count_of_user(table, of).held + bytes};
    while (all.requested > all.limit || own.requested > own.limit) {
        if (bytes > all.limit || bytes > own.limit || !evict(table, of)) {
            return own.requested > own.limit ? own : all;
        }
        all.requested = table->held + bytes;
        own.requested = count_of_user(table, of).held + bytes;
    }
    return (excess){BOUND_NONE, 0, 0};
}

/* Returns whose jobs a limit of bytes bounds, as words of a message. */
static const char *whose_bytes(bound b) {
    return b == BOUND_JOB_BYTES ? "all jobs together" : "the jobs of one user";
}

/* ---- computation ------------------------------------------------------------------------------------------------- */

/* Sets the final state of a job, whose reply is stored, and its times. Counts the bytes of the reply. Called with the
 * mutex held. */
static void end(job *j, Dynamics__V1__JobState state) {
    j->state = state;
    j->finished = clock_now();
    j->finished_ns = clock_wall();
    hold(j, j->is_listed ? j->reply_size : 0);
}

/* Ends a job that no thread has begun, as cancelled. Called with the mutex held. */
static void end_queued(job *j) {
    store_error(j, REASON_CANCELLED, "the job was cancelled before it began");
    free_request(j);
    running_calls_remove(j->table->options.running, &j->running);
    end(j, DYNAMICS__V1__JOB_STATE__JOB_STATE_CANCELLED);
}

/* Marks a queued job as running. Returns false if the job was cancelled before. */
static bool begin(job *j) {
    pthread_mutex_lock(&j->table->mutex);
    bool is_queued = j->state == DYNAMICS__V1__JOB_STATE__JOB_STATE_QUEUED;
    if (is_queued) {
        j->state = DYNAMICS__V1__JOB_STATE__JOB_STATE_RUNNING;
        j->started_ns = clock_wall();
        j->call.request = j->request;
        j->call.request_size = j->request_size;
        j->call.arrival = clock_now();
    }
    pthread_mutex_unlock(&j->table->mutex);
    return is_queued;
}

static Dynamics__V1__JobState final_state(Dynamics__V1__Code code) {
    switch (code) {
    case DYNAMICS__V1__CODE__CODE_OK:
        return DYNAMICS__V1__JOB_STATE__JOB_STATE_DONE;
    case DYNAMICS__V1__CODE__CODE_CANCELLED:
        return DYNAMICS__V1__JOB_STATE__JOB_STATE_CANCELLED;
    default:
        return DYNAMICS__V1__JOB_STATE__JOB_STATE_FAILED;
    }
}

/* Ends a job that was computed. Replaces a result for which limits.job_bytes has no room by an error. */
static void complete(job *j, Dynamics__V1__Code code) {
    job_table *table = j->table;
    free_request(j);
    pthread_mutex_lock(&table->mutex);
    hold(j, 0);
    bool is_counted = j->is_listed && code == DYNAMICS__V1__CODE__CODE_OK;
    const excess full = is_counted ? make_room(table, j, j->reply_size) : (excess){BOUND_NONE, 0, 0};
    if (full.bound != BOUND_NONE) {
        char message[256];
        snprintf(message, sizeof message,
                 "the result has %zu bytes; with it %s would hold %llu, and the limit is %llu (limits.%s): remove "
                 "finished jobs (CancelJob), or request less at once",
                 j->reply_size, whose_bytes(full.bound), (unsigned long long)full.requested,
                 (unsigned long long)full.limit, bound_name(full.bound));
        store_error(j, REASON_JOBS_TOO_LARGE, message);
        code = reason_code(REASON_JOBS_TOO_LARGE);
    }
    end(j, final_state(code));
    pthread_mutex_unlock(&table->mutex);
}

/* Computes a job, unless it was cancelled, and releases the thread's reference to it. */
static void run(void *task) {
    job *j = task;
    const job_table_options *options = &j->table->options;
    if (begin(j)) {
        Dynamics__V1__Code code = options->execute(options->context, &j->call, &j->running);
        complete(j, code);
        log_debug(options->log, "job %s (%s) of %s has ended: code %d, %.3f s", j->name, j->method, j->call.peer,
                  (int)code, (double)(clock_now() - j->call.arrival) / 1e9);
    }
    job_release(j);
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* Creates a job with its serialized request. Returns NULL, and fills `why`, when memory is short. */
static job *create(job_table *table, const job_order *order, refusal *why) {
    memory_budget *budget = table->options.budget;
    size_t size = dynamics__v1__request__get_packed_size(order->request);
    if (!memory_budget_reserve(budget, size)) {
        refuse_memory(why);
        return NULL;
    }
    job *j = calloc(1, sizeof *j);
    uint8_t *request = malloc(size);
    if (!j || !request) {
        memory_budget_release(budget, size);
        free(j);
        free(request);
        refuse_memory(why);
        return NULL;
    }
    j->table = table;
    atomic_init(&j->references, 1);
    snprintf(j->name, sizeof j->name, "%s", order->name);
    j->method = order->method;
    j->token = order->token;
    j->request = request;
    j->request_size = dynamics__v1__request__pack(order->request, request);
    j->state = DYNAMICS__V1__JOB_STATE__JOB_STATE_QUEUED;
    j->created_ns = clock_wall();
    j->call.carrier = &job_carrier;
    j->call.is_own = true;
    j->call.identity = order->started_by.peer;
    j->call.caller = *order->caller;
    j->share = order->share;
    j->share_bytes = order->share_bytes;
    snprintf(j->call.peer, sizeof j->call.peer, "%s", order->owner);
    running_call_init(&j->running, &order->started_by, order->request->progress);
    return j;
}

/* Evicts finished jobs of the user of `j` until there is a place for it. On failure fills `why` and returns false.
 * Called with the mutex held. */
static bool make_place(job_table *table, const job *j, refusal *why) {
    uint32_t most = atomic_load(&table->options.limits->jobs);
    while (count_of_user(table, j).count >= j->share) {
        if (!evict(table, j)) {
            return refuse_limit(why, REASON_TOO_MANY_JOBS, (excess){BOUND_USER_JOBS, j->share, j->share + 1}, "",
                                "%s has %llu jobs, the limit of one user (limits.user_jobs): wait for one, or cancel "
                                "one",
                                j->call.caller.name, (unsigned long long)j->share);
        }
    }
    while (table->count >= most) {
        if (!evict(table, j)) {
            return refuse_limit(why, REASON_TOO_MANY_JOBS, (excess){BOUND_JOBS, most, table->count + 1}, "",
                                "there are %zu jobs; the limit is %u (limits.jobs): wait for one, or cancel one",
                                table->count, most);
        }
    }
    return true;
}

/* Adds a job to the list, within the limits. On failure fills `why` and returns false. Called with the mutex held. */
static bool add(job_table *table, job *j, refusal *why) {
    if (table->is_stopped) {
        return refuse(why, REASON_DRAINING, "", "the daemon is stopping; start the job when it is back");
    }
    if (find(table, j->name)) {
        return refuse(why, REASON_NAME_TAKEN, "job", "there is a job \"%s\" already; choose another name, or none",
                      j->name);
    }
    if (!make_place(table, j, why)) {
        return false;
    }
    const excess full = make_room(table, j, j->request_size);
    if (full.bound != BOUND_NONE) {
        return refuse_limit(why, REASON_JOBS_TOO_LARGE, full, "",
                            "the request has %zu bytes; with it %s would hold %llu, and the limit is %llu (limits.%s): "
                            "wait for some, remove finished ones (CancelJob), or request less",
                            j->request_size, whose_bytes(full.bound), (unsigned long long)full.requested,
                            (unsigned long long)full.limit, bound_name(full.bound));
    }
    list(table, j);
    return true;
}

/* Removes a job that could not be submitted from the list. */
static void withdraw(job *j) {
    pthread_mutex_lock(&j->table->mutex);
    job *listed = j->is_listed ? unlist(j) : NULL;
    pthread_mutex_unlock(&j->table->mutex);
    if (listed) {
        job_release(listed);
    }
}

/* Submits a listed job to a thread, which owns a reference to it. On failure removes the job, fills `why` and returns
 * false. */
static bool submit(job *j, refusal *why) {
    const job_table_options *options = &j->table->options;
    atomic_fetch_add(&j->references, 1);
    if (options->submit(options->pool, user_number(j->call.caller.name), run, j)) {
        return true;
    }
    job_release(j);
    withdraw(j);
    return refuse(why, REASON_OVERLOADED, "", "too many jobs wait already; start it again soon");
}

job *job_table_start(job_table *table, const job_order *order, refusal *why) {
    job *j = create(table, order, why);
    if (!j) {
        return NULL;
    }
    bool is_good = running_calls_add(table->options.running, &j->running);
    if (!is_good) {
        refuse(why, REASON_PROGRESS_NUMBER_TAKEN, "",
               "another client's request publishes its progress under this number; draw a number at random for each "
               "request");
    }
    if (is_good) {
        job_table_sweep(table);
        pthread_mutex_lock(&table->mutex);
        is_good = add(table, j, why);
        pthread_mutex_unlock(&table->mutex);
    }
    if (is_good && submit(j, why)) {
        return j;
    }
    job_release(j);
    return NULL;
}

/* ---- table ------------------------------------------------------------------------------------------------------- */

job_table *job_table_create(const job_table_options *options) {
    job_table *table = calloc(1, sizeof *table);
    if (table) {
        table->options = *options;
        pthread_mutex_init(&table->mutex, NULL);
    }
    return table;
}

void job_table_free(job_table *table) {
    if (!table) {
        return;
    }
    while (table->oldest) {
        job_release(unlist(table->oldest));
    }
    pthread_mutex_destroy(&table->mutex);
    free(table);
}

job *job_table_find(job_table *table, const char *name) {
    job_table_sweep(table);
    pthread_mutex_lock(&table->mutex);
    job *j = find(table, name);
    if (j) {
        atomic_fetch_add(&j->references, 1);
    }
    pthread_mutex_unlock(&table->mutex);
    return j;
}

bool job_table_list(job_table *table, job ***jobs, size_t *count) {
    job_table_sweep(table);
    pthread_mutex_lock(&table->mutex);
    *count = 0;
    *jobs = malloc((table->count ? table->count : 1) * sizeof **jobs);
    for (job *j = *jobs ? table->oldest : NULL; j; j = j->newer) {
        atomic_fetch_add(&j->references, 1);
        (*jobs)[(*count)++] = j;
    }
    pthread_mutex_unlock(&table->mutex);
    return *jobs != NULL;
}

void job_table_cancel(job_table *table, job *j) {
    job *removed = NULL;
    pthread_mutex_lock(&table->mutex);
    atomic_store(&j->running.is_cancelled, true);
    if (has_finished(j)) {
        removed = j->is_listed ? unlist(j) : NULL;
    } else if (j->state == DYNAMICS__V1__JOB_STATE__JOB_STATE_QUEUED) {
        end_queued(j);
    }
    pthread_mutex_unlock(&table->mutex);
    if (removed) {
        job_release(removed);
    }
}

static uint64_t expiry(const job *j) {
    return j->finished + clock_duration(atomic_load(&j->table->options.limits->job_result_time));
}

void job_table_sweep(job_table *table) {
    uint64_t now = clock_now();
    pthread_mutex_lock(&table->mutex);
    for (job *j = table->oldest, *next; j; j = next) {
        next = j->newer;
        if (has_finished(j) && now > expiry(j)) {
            job_release(unlist(j));
        }
    }
    pthread_mutex_unlock(&table->mutex);
}

void job_table_stop(job_table *table) {
    pthread_mutex_lock(&table->mutex);
    table->is_stopped = true;
    for (job *j = table->oldest; j; j = j->newer) {
        atomic_store(&j->running.is_cancelled, true);
        if (j->state == DYNAMICS__V1__JOB_STATE__JOB_STATE_QUEUED) {
            end_queued(j);
        }
    }
    pthread_mutex_unlock(&table->mutex);
}

void job_table_measure(job_table *table, size_t *count, size_t *bytes) {
    pthread_mutex_lock(&table->mutex);
    *count = table->count;
    *bytes = table->held;
    pthread_mutex_unlock(&table->mutex);
}

/* ---- job --------------------------------------------------------------------------------------------------------- */

const char *job_name(const job *j) {
    return j->name;
}

const char *job_method(const job *j) {
    return j->method;
}

const char *job_owner(const job *j) {
    return j->call.peer;
}

uint64_t job_token(const job *j) {
    return j->token;
}

const char *job_belongs_to(const job *j) {
    return j->call.caller.name;
}

job_view job_look(job *j) {
    uint64_t now = clock_now();
    pthread_mutex_lock(&j->table->mutex);
    bool is_over = has_finished(j);
    job_view view = {
        .state = j->state,
        .fraction = j->state == DYNAMICS__V1__JOB_STATE__JOB_STATE_DONE
                        ? 1
                        : atomic_load_explicit(&j->running.fraction, memory_order_relaxed),
        .created_ns = j->created_ns,
        .started_ns = j->started_ns,
        .finished_ns = j->finished_ns,
        .expires_in = is_over && expiry(j) > now ? (double)(expiry(j) - now) / 1e9 : 0,
        .reply = is_over ? j->reply : NULL,
        .reply_size = is_over ? j->reply_size : 0,
    };
    pthread_mutex_unlock(&j->table->mutex);
    return view;
}
