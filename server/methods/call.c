/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls: errors, deadlines, progress and memory of requests while methods execute them. */
#include "methods/call.h"

#include <dynamics/text.h>
#include <dynamics/version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/events.h"
#include "methods/text.h"
#include "observe/clock.h"

/* Estimated time up to which the thread that received a request executes it, ns. */
static const double SHORT_COST = 250e3;

/* Shortest interval between two progress events of a request, ns. */
static const uint64_t PROGRESS_INTERVAL = 100000000;

/* Largest number of models that the error about an unknown model lists. */
enum { LISTED_MODELS = 8 };

void call_blame(call *c, const char *format, ...) {
    char place[sizeof c->field];
    va_list arguments;
    int used = snprintf(c->field, sizeof c->field, "%s.", c->method->name);
    va_start(arguments, format);
    vsnprintf(place, sizeof place, format, arguments);
    va_end(arguments);
    dyn_text_print(place, c->field + used, sizeof c->field - (size_t)used);
}

void call_fail(call *c, error_reason reason, const char *format, ...) {
    char message[sizeof c->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    dyn_text_print(message, c->message, sizeof c->message);
    dynamics__v1__status__init(&c->status);
    c->status.code = reason_code(reason);
    c->status.reason = reason_token(reason);
    c->status.retry_after = reason_retry_after(reason);
    c->status.message = c->message;
    c->status.field = c->field;
    c->reply.result_case = DYNAMICS__V1__REPLY__RESULT__NOT_SET;
}

void call_set_limit(call *c, bound b, uint64_t limit, uint64_t requested) {
    c->exceeded = b;
    c->status.limit_name = bound_name(b);
    c->status.limit = limit;
    c->status.requested = requested;
}

void call_set_sample(call *c, uint64_t sample) {
    c->status.of_sample_case = DYNAMICS__V1__STATUS__OF_SAMPLE_SAMPLE;
    c->status.sample = sample;
}

void call_set_joint(call *c, const char *name) {
    char *copy = arena_array(&c->memory, strlen(name) + 1, 1); /* without memory the joint is left out */
    if (copy) {
        c->status.joint = strcpy(copy, name);
    }
}

void call_set_object(call *c, const char *name) {
    snprintf(c->object, sizeof c->object, "%s", name);
}

void call_set_model(call *c, const model_entry *entry) {
    char digits[17];
    snprintf(digits, sizeof digits, "%.16s", entry->digest + strlen("sha256:"));
    c->reply.model_key = strtoull(digits, NULL, 16);
}

void call_set_code(call *c, model_entry *entry) {
    char object[DIGEST_SIZE], code[COMPUTED_WITH_SIZE], text[COMPUTED_WITH_SIZE + 64];
    if (c->request->with_code) {
        model_entry_object(entry, object);
        computed_with(object, code);
        snprintf(text, sizeof text, "dynamicsd %s, %s", dyn_version(), code);
        c->reply.computed_with = call_string(c, text);
    }
}

void call_fail_library(call *c, const dyn_error *error) {
    call_fail(c, reason_of_error(error), "%s", error->message);
}

void call_fail_description(call *c, const dyn_error *error, const char *element) {
    call_fail(c, reason_of_description(error), "%s%s%s", element, element[0] ? ": " : "", error->message);
}

void call_refuse(call *c, const refusal *why) {
    if (why->reason == REASON_MEMORY_SHORT) {
        call_fail_memory(c);
        return;
    }
    if (why->field[0]) {
        call_blame(c, "%s", why->field);
    }
    call_fail(c, why->reason, "%s", why->message);
    call_set_limit(c, why->exceeded.bound, why->exceeded.limit, why->exceeded.requested);
}

uint64_t call_share(const call *c, uint64_t share) {
    bool is_free = c->caller.role == ACCESS_ADMINISTRATOR || strcmp(c->caller.name, ACCESS_NATS_NAME) == 0;
    return is_free ? UINT64_MAX : share;
}

/* Ends the call because the memory that it needs alone exceeds a limit. */
static void fail_size(call *c, bound exceeded, const char *key, size_t limit, size_t needed) {
    call_fail(c, REASON_REQUEST_TOO_LARGE,
              "the request and its reply need %zu bytes, and the limit is %zu (limits.%s); send fewer samples at once, "
              "or ask for fewer results",
              needed, limit, key);
    call_set_limit(c, exceeded, limit, needed);
}

/* Ends the call because its results do not fit into the share of its user. */
static void fail_share(call *c) {
    const memory_budget *share = &c->hold.account->memory;
    size_t limit = atomic_load(&share->limit), needed = c->memory.needed;
    needed += needed <= SIZE_MAX - c->hold.bytes ? c->hold.bytes : 0;
    if (needed > limit) {
        fail_size(c, BOUND_USER_MEMORY_BYTES, "user_memory_bytes", limit, needed);
        return;
    }
    call_fail(c, REASON_MEMORY_SHORT,
              "the long requests of %s hold %zu bytes of %zu, the limit of one user (limits.user_memory_bytes), and "
              "this one does not fit beside them; wait for their replies, or send fewer samples at once",
              c->caller.name, atomic_load(&share->held), limit);
    call_set_limit(c, BOUND_USER_MEMORY_BYTES, limit, 0);
}

void call_fail_memory(call *c) {
    c->field[0] = '\0';
    if (c->memory.is_over_share && c->hold.account) {
        fail_share(c);
        return;
    }
    size_t limit = atomic_load(&c->service->budget->limit);
    if (c->memory.needed > memory_budget_most(c->service->budget)) {
        fail_size(c, BOUND_MEMORY_BYTES, "memory_bytes", limit, c->memory.needed);
        return;
    }
    atomic_fetch_add(&c->service->counters->memory_shortages, 1);
    atomic_store(&c->service->counters->last_shortage, clock_now());
    call_fail(
        c, REASON_MEMORY_SHORT,
        "the daemon is short of memory: requests and replies hold %zu bytes of %zu (limits.memory_bytes), and this "
        "one does not fit beside them; try again, or with fewer samples",
        atomic_load(&c->service->budget->held), limit);
    call_set_limit(c, BOUND_MEMORY_BYTES, limit, 0);
}

bool call_has_ended(const call *c) {
    return c->is_deferred || c->status.code != DYNAMICS__V1__CODE__CODE_OK;
}

bool call_defer(call *c, double cost) {
    c->is_deferred = !c->is_on_worker && cost > SHORT_COST;
    return c->is_deferred;
}

bool call_is_late(call *c) {
    uint64_t now = clock_now();
    if (now <= c->deadline) {
        return false;
    }
    double allowed = (double)(c->deadline - c->transport->arrival) / 1e9;
    bool has_own = c->request && c->request->timeout > 0 && c->request->timeout <= allowed + 1e-3;
    c->field[0] = '\0';
    if (has_own) {
        call_fail(c, REASON_DEADLINE,
                  "the request was not done by its deadline, %.3f s after its arrival; set a longer timeout, "
                  "or request less at once",
                  allowed);
    } else {
        bool may_be_job = c->method->can_be_job && c->running == &c->own_running;
        call_fail(
            c, REASON_DEADLINE,
            "the request was not done %.3f s after its arrival, the time that the daemon allows (%s); request less "
            "at once%s",
            allowed, c->limit, may_be_job ? ", or start a job (StartJob)" : "");
    }
    return true;
}

bool call_is_cancelled(call *c) {
    if (!atomic_load(&c->running->is_cancelled)) {
        return false;
    }
    c->field[0] = '\0';
    call_fail(c, REASON_CANCELLED, "the request was cancelled %.3f s after its arrival",
              (double)(clock_now() - c->transport->arrival) / 1e9);
    return true;
}

/* ---- processor time ---------------------------------------------------------------------------------------------- */

static uint64_t read_clock(clockid_t clock) {
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec : 0;
}

void call_measure_time(call *c) {
    double limit = atomic_load(&c->service->limits->request_cpu_time);
    c->cpu_limit = limit > 0 && pthread_getcpuclockid(pthread_self(), &c->cpu_clock) == 0 ? clock_duration(limit) : 0;
    c->cpu_begin = c->cpu_limit > 0 ? read_clock(c->cpu_clock) : 0;
}

uint64_t call_help_begin(const call *c) {
    return c->cpu_limit > 0 ? read_clock(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void call_help_end(call *c, uint64_t begin) {
    if (c->cpu_limit > 0) {
        atomic_fetch_add(&c->helped_time, read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
    }
}

/* Returns the processor time of all threads for the call so far, ns. Any thread. */
static uint64_t spent_time(const call *c) {
    return read_clock(c->cpu_clock) - c->cpu_begin + atomic_load(&c->helped_time);
}

/* Returns whether the call has spent its processor time. Any thread. */
static bool has_spent(call *c) {
    if (c->cpu_limit > 0 && !atomic_load(&c->is_spent) && spent_time(c) > c->cpu_limit) {
        atomic_store(&c->is_spent, true);
    }
    return atomic_load(&c->is_spent);
}

/* Ends the call and returns true if it has spent its processor time. */
static bool call_is_spent(call *c) {
    if (!atomic_load(&c->is_spent)) {
        return false;
    }
    double limit = (double)c->cpu_limit / 1e9;
    c->field[0] = '\0';
    call_fail(c, REASON_CPU_TIME,
              "the request has spent %.3f s of processor time on all threads together, and the limit is %g s "
              "(limits.request_cpu_time); request less at once%s",
              (double)spent_time(c) / 1e9, limit, c->method->can_be_job ? ", or start a job (StartJob)" : "");
    call_set_limit(c, BOUND_REQUEST_CPU_TIME, (uint64_t)limit, 0);
    return true;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

void call_fail_ended(call *c) {
    if (!call_is_cancelled(c) && !call_is_spent(c)) {
        call_is_late(c);
    }
}

void call_yield(const call *c) {
    bool is_serialized = c->method->changes_state && !c->method->is_local;
    if (c->is_on_worker && c->service->yield && !is_serialized) {
        c->service->yield(c->service->pool);
    }
}

/* Raises the part of the work that is done to `fraction`, and returns it. Several threads work at a call, and one that
 * has yielded knows an older part than the others. */
static double raise_fraction(call *c, double fraction) {
    _Atomic double *known = &c->running->fraction;
    double before = atomic_load_explicit(known, memory_order_relaxed);
    while (before < fraction && !atomic_compare_exchange_weak(known, &before, fraction)) {
    }
    return before > fraction ? before : fraction;
}

bool call_may_proceed(call *c, double fraction) {
    uint64_t now = clock_now(), last = atomic_load(&c->running->last_report);
    double done = raise_fraction(c, fraction);
    bool is_due = c->request->progress != 0 && now - last >= PROGRESS_INTERVAL;
    if (is_due && c->service->events && atomic_compare_exchange_strong(&c->running->last_report, &last, now)) {
        Dynamics__V1__ProgressEvent progress = DYNAMICS__V1__PROGRESS_EVENT__INIT;
        progress.number = c->request->progress;
        progress.fraction = done;
        progress.elapsed = (double)(now - c->transport->arrival) / 1e9;
        events_publish_progress(c->service->events, atomic_fetch_add(&c->running->reports, 1) + 1, &progress);
    }
    return now <= c->deadline && !atomic_load(&c->running->is_cancelled) && !has_spent(c);
}

bool call_proceed(call *c, double fraction) {
    call_yield(c);
    if (!call_may_proceed(c, fraction)) {
        call_fail_ended(c);
    }
    return !call_has_ended(c);
}

void *call_allocate(call *c, size_t count, size_t size) {
    void *result = arena_array(&c->memory, count, size);
    if (!result) {
        call_fail_memory(c);
    }
    return result;
}

char *call_string(call *c, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = call_allocate(c, size, 1);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

/* Writes the loaded model whose name is closest to the wanted one, or else the names of up to LISTED_MODELS models.
 * Leaves the text empty when out of memory. */
static void list_models(call *c, const char *wanted, char *text, size_t size) {
    model_entry **entries;
    size_t count, used = 0;
    text[0] = '\0';
    if (!model_store_list(c->service->store, &entries, &count)) {
        return;
    }
    text_guess guess = text_guess_start(wanted);
    for (size_t i = 0; i < count; i++) {
        text_guess_consider(&guess, entries[i]->name);
    }
    if (count == 0) {
        snprintf(text, size, "no model is loaded; load one with LoadModel (dynamicsctl load FILE.urdf)");
    } else if (guess.closest) {
        snprintf(text, size, "did you mean \"%s\"?", guess.closest);
    } else {
        used = (size_t)snprintf(text, size, "loaded are");
        for (size_t i = 0; i < count && i < LISTED_MODELS && used < size; i++) {
            used += (size_t)snprintf(text + used, size - used, "%s %s", i ? "," : "", entries[i]->name);
        }
        if (count > LISTED_MODELS && used < size) {
            snprintf(text + used, size - used, " and %zu more", count - LISTED_MODELS);
        }
    }
    model_store_release_list(entries, count);
}

/* Returns whether the caller is an administrator, and notes for the audit whose object it changes. */
static bool override(call *c, const char *belongs_to) {
    bool may = c->caller.role == ACCESS_ADMINISTRATOR;
    if (may && strcmp(belongs_to, c->caller.name) != 0) {
        snprintf(c->overridden, sizeof c->overridden, "%s", belongs_to);
    }
    return may;
}

bool call_may_command(call *c, const char *belongs_to) {
    static const char *const users[] = {"uid:", "token:", "certificate:"};
    bool is_user = false;
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        is_user = is_user || strncmp(belongs_to, users[i], strlen(users[i])) == 0;
    }
    return (is_user && strcmp(belongs_to, c->caller.name) == 0) || override(c, belongs_to);
}

bool call_may_change(call *c, const char *object, const char *belongs_to) {
    bool is_own = belongs_to[0] && strcmp(belongs_to, c->caller.name) == 0;
    if (is_own || override(c, belongs_to)) {
        return true;
    }
    call_fail(c, REASON_BELONGS_TO_ANOTHER, "%s belongs to %s, and %s is %s: that needs the role administrator", object,
              belongs_to[0] ? belongs_to : "nobody", c->caller.name, access_role_words[c->caller.role]);
    return false;
}

model_entry *call_find_model(call *c, const char *name) {
    model_entry *entry = model_store_find(c->service->store, name);
    if (!entry) {
        entry = model_store_fetch(c->service->store, name);
    }
    if (entry) {
        return entry;
    }
    char quoted[TEXT_QUOTE_SIZE], known[512];
    call_blame(c, "model");
    if (name[0] == '\0') {
        list_models(c, "", known, sizeof known);
        call_fail(c, REASON_MISSING_VALUE, "the request names no model; %s", known);
    } else {
        list_models(c, name, known, sizeof known);
        call_fail(c, REASON_MODEL_NOT_FOUND, "there is no model %s; %s", text_quote(name, quoted), known);
    }
    return NULL;
}

Dynamics__V1__MethodRole call_wire_role(access_role role) {
    static const Dynamics__V1__MethodRole roles[ACCESS_ROLES] = {
        [ACCESS_READER] = DYNAMICS__V1__METHOD_ROLE__METHOD_ROLE_READER,
        [ACCESS_USER] = DYNAMICS__V1__METHOD_ROLE__METHOD_ROLE_USER,
        [ACCESS_ADMINISTRATOR] = DYNAMICS__V1__METHOD_ROLE__METHOD_ROLE_ADMINISTRATOR,
    };
    return roles[role];
}
