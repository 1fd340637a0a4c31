/* SPDX-License-Identifier: BSD-2-Clause */
/* Service: decodes requests, dispatches them to their methods, and encodes, stores and sends the replies. */
#include "methods/service.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/field_check.h"
#include "methods/job_table.h"
#include "methods/methods.h"
#include "observe/clock.h"

/* Size of the substitute that is stored for a reply of more than REPLY_CACHE_LARGEST bytes. */
enum { STAND_IN_SIZE = 256 };

/* Bytes by which the reply of GetJobResult may exceed the reply that it contains. */
enum { JOB_REPLY_MARGIN = 64 };

/* Largest number of idle calls that are reused. */
enum { IDLE_CALLS = 64 };

/* Largest number of changes that are prepared at once: each has a whole model in memory that no limit counts yet. */
enum { MOST_PREPARING = 4 };

struct service {
    service_options options;
    service_options job_options; /* options of the calls of jobs, which are split over the threads for jobs */
    const service_endpoint *endpoints;
    size_t endpoint_count;
    atomic_bool is_draining;
    log_episode overload;
    pthread_mutex_t idle_mutex; /* guards the idle calls */
    call *idle;
    size_t idle_count;
    pthread_mutex_t change_mutex; /* serializes changes of state, except local ones */
    reply_cache *replies;
    pthread_mutex_t line_mutex; /* guards the members below */
    unsigned preparing;
    call *line_first, *line_last; /* calls that wait to prepare a change; the transport bounds their number */
    running_calls running;
    job_table *jobs;
    audit audit;
    request_metrics metrics[METHOD_NUMBERS]; /* 0: no method */
};

static Dynamics__V1__Code execute_job(void *context, transport_call *t, running_call *running);

static job_table *create_jobs(service *s) {
    const job_table_options options = {
        .limits = s->options.limits,
        .budget = s->options.budget,
        .running = &s->running,
        .log = s->options.log,
        .submit = s->options.submit,
        .pool = s->options.job_pool,
        .execute = execute_job,
        .context = s,
    };
    return job_table_create(&options);
}

service *service_create(const service_options *options) {
    fingerprint_key secret;
    service *s = fingerprint_draw_key(&secret) ? aligned_alloc(_Alignof(service), sizeof *s) : NULL;
    if (!s) {
        return NULL;
    }
    memset(s, 0, sizeof *s);
    s->options = *options;
    s->job_options = *options;
    s->job_options.pool = options->job_pool;
    s->job_options.workers = options->job_threads;
    pthread_mutex_init(&s->idle_mutex, NULL);
    pthread_mutex_init(&s->change_mutex, NULL);
    pthread_mutex_init(&s->line_mutex, NULL);
    running_calls_init(&s->running);
    audit_init(&s->audit, options->log);
    s->replies = reply_cache_create(&secret);
    s->jobs = create_jobs(s);
    if (!s->replies || !s->jobs) {
        service_free(s);
        return NULL;
    }
    return s;
}

static void free_call(call *c) {
    arena_free(&c->decoded);
    arena_free(&c->memory);
    free(c);
}

void service_free(service *s) {
    if (!s) {
        return;
    }
    while (s->idle) {
        call *c = s->idle;
        s->idle = c->next;
        free_call(c);
    }
    reply_cache_free(s->replies);
    job_table_free(s->jobs);
    running_calls_free(&s->running);
    audit_free(&s->audit);
    pthread_mutex_destroy(&s->idle_mutex);
    pthread_mutex_destroy(&s->change_mutex);
    pthread_mutex_destroy(&s->line_mutex);
    free(s);
}

void service_set_endpoints(service *s, const service_endpoint *endpoints, size_t count) {
    s->endpoints = endpoints;
    s->endpoint_count = count;
}

bool service_cancel(service *s, const transport_identity *peer, uint64_t client, uint64_t id) {
    return running_calls_cancel(&s->running, &(running_name){.peer = *peer, .client = client, .id = id});
}

const request_metrics *service_metrics(const service *s) {
    return s->metrics;
}

bool service_is_draining(const service *s) {
    return atomic_load(&s->is_draining);
}

job_table *service_jobs(service *s) {
    return s->jobs;
}

void service_sweep(service *s) {
    job_table_sweep(s->jobs);
    audit_sweep(&s->audit);
}

void service_drain(service *s) {
    job_table_stop(s->jobs);
    atomic_store(&s->is_draining, true);
}

/* Returns an idle call, or a new one; NULL when out of memory. */
static call *acquire_call(service *s) {
    pthread_mutex_lock(&s->idle_mutex);
    call *c = s->idle;
    if (c) {
        s->idle = c->next;
        s->idle_count--;
    }
    pthread_mutex_unlock(&s->idle_mutex);
    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c) {
            return NULL;
        }
        arena_init(&c->decoded);
        arena_init(&c->memory);
        arena_charge(&c->decoded, s->options.budget, false);
        arena_charge(&c->memory, s->options.budget, true);
        c->owner = s;
    }
    c->endpoints = s->endpoints;
    c->endpoint_count = s->endpoint_count;
    return c;
}

static void return_call(service *s, call *c) {
    arena_reset(&c->decoded, 0);
    arena_reset(&c->memory, 0);
    model_entry_release(c->built);
    c->built = NULL;
    pthread_mutex_lock(&s->idle_mutex);
    bool is_reused = s->idle_count < IDLE_CALLS;
    if (is_reused) {
        c->next = s->idle;
        s->idle = c;
        s->idle_count++;
    }
    pthread_mutex_unlock(&s->idle_mutex);
    if (!is_reused) {
        free_call(c);
    }
}

/* Resets the reply and the status of a call. */
static void begin_reply(call *c) {
    dynamics__v1__reply__init(&c->reply);
    dynamics__v1__status__init(&c->status);
    c->reply.status = &c->status;
    c->field[0] = '\0';
    c->is_deferred = false;
}

/* Returns the id of a request that cannot be decoded: field 1, a varint, if the request begins with it, otherwise 0. */
static uint64_t scan_id(const uint8_t *bytes, size_t size) {
    uint64_t id = 0;
    if (size == 0 || bytes[0] != 0x08) {
        return 0;
    }
    for (size_t i = 1; i < size && i <= 10; i++) {
        id |= (uint64_t)(bytes[i] & 0x7f) << (7 * (i - 1));
        if (!(bytes[i] & 0x80)) {
            return id;
        }
    }
    return 0;
}

/* Least field number of a method in Request. */
enum { FIRST_METHOD = 16 };

/* Refuses a job of method `number`, which cannot be a job. */
static void refuse_job(call *c, uint32_t number) {
    const char *name = number < METHOD_NUMBERS && methods[number].run ? methods[number].name : "unknown";
    call_fail(
        c, REASON_UNKNOWN_METHOD,
        "method %u (%s) cannot be a job: jobs compute and change nothing (MethodInfo.can_be_job in GetServerInfo)",
        number, name);
}

/* Refuses a request with an unknown field. c->field is the path of the message that contains it, and `number` its
 * number. */
static void refuse_unknown_field(call *c, uint32_t number) {
    if (number >= FIRST_METHOD && strcmp(c->field, "start_job") == 0) {
        refuse_job(c, number);
        return;
    }
    bool is_method = c->field[0] == '\0' && number >= FIRST_METHOD;
    call_fail(c, is_method ? REASON_UNKNOWN_METHOD : REASON_UNKNOWN_FIELD,
              "%s%s%s %u: this daemon does not know it; it speaks revision %d of dynamics.v1 (GetServerInfo)", c->field,
              c->field[0] ? " " : "", is_method ? "method" : "field", number, SERVICE_REVISION);
}

/* Refuses a request that needs a later revision, or has a field that decoding loses: an unknown one, or a text with a
 * zero byte. */
static void check_fields(call *c) {
    const transport_call *t = c->transport;
    uint32_t number;
    if (c->request->min_revision > SERVICE_REVISION) {
        snprintf(c->field, sizeof c->field, "min_revision");
        call_fail(c, REASON_LATER_REVISION,
                  "the request needs revision %u of dynamics.v1; this daemon speaks revision %d",
                  c->request->min_revision, SERVICE_REVISION);
        return;
    }
    switch (field_check_find(&dynamics__v1__request__descriptor, t->request, t->request_size, c->field, sizeof c->field,
                             &number)) {
    case FIELD_FITS:
        c->field[0] = '\0';
        break;
    case FIELD_IS_UNKNOWN:
        refuse_unknown_field(c, number);
        break;
    case FIELD_HAS_ZERO_BYTE:
        call_fail(c, REASON_INVALID_TEXT, "the text has a zero byte; leave it out");
        break;
    }
}

/* Decodes the request and checks its fields. On failure ends the call. */
static void decode(call *c) {
    const transport_call *t = c->transport;
    uint64_t limit = atomic_load(&c->service->limits->message_bytes);
    if (t->request_size > limit) {
        c->reply.id = scan_id(t->request, t->request_size);
        call_fail(c, REASON_MESSAGE_TOO_LARGE,
                  "message of %zu bytes; the limit is %llu (limits.message_bytes): send fewer samples at once",
                  t->request_size, (unsigned long long)limit);
        call_set_limit(c, BOUND_MESSAGE_BYTES, limit, t->request_size);
        return;
    }
    arena_reset(&c->decoded, DECODED_FACTOR * t->request_size + DECODED_MARGIN);
    c->request = dynamics__v1__request__unpack(&c->decoded.allocator, t->request_size, t->request);
    if (!c->request && c->decoded.is_short) {
        c->reply.id = scan_id(t->request, t->request_size);
        call_fail_memory(c);
    } else if (!c->request && c->decoded.is_exhausted) {
        c->reply.id = scan_id(t->request, t->request_size);
        call_fail(
            c, REASON_REQUEST_TOO_COMPLEX,
            "the request of %zu bytes needs more memory than a request of its size may take (limits.decoded_factor)",
            t->request_size);
        call_set_limit(c, BOUND_DECODED_FACTOR, c->decoded.limit, 0);
    } else if (!c->request) {
        call_fail(c, REASON_MALFORMED_REQUEST, "the %zu bytes are no serialized dynamics.v1.Request", t->request_size);
    } else {
        c->reply.id = c->request->id;
        check_fields(c);
    }
}

/* Sets the deadline from the request's timeout and the daemon's limit in seconds. `key` is the configuration key of the
 * limit. Ends the call if the timeout is invalid. */
static void set_deadline(call *c, double limit, const char *key) {
    double timeout = c->request->timeout;
    if (!isfinite(timeout) || timeout < 0) {
        snprintf(c->field, sizeof c->field, "timeout");
        call_fail(c, REASON_INVALID_VALUE, "timeout is %g; pass seconds, or 0 for the daemon's own limit", timeout);
        return;
    }
    c->limit = key;
    double seconds = timeout > 0 && timeout < limit ? timeout : limit;
    c->deadline = c->transport->arrival + clock_duration(seconds);
}

/* Finds the method of the request. On failure, and while the daemon drains, ends the call. */
static void find_method(call *c) {
    size_t number = (size_t)c->request->method_case;
    c->method = number < METHOD_NUMBERS && methods[number].run ? &methods[number] : NULL;
    if (!c->method) {
        call_fail(c, REASON_NO_METHOD, "the request names no method; set one of those of Request.method");
    } else if (atomic_load(&c->owner->is_draining) && !c->method->works_in_drain) {
        call_fail(c, REASON_DRAINING, "the daemon is stopping; ask again when it is back");
    }
}

/* Finds the name and the role of the caller. On an unknown token ends the call. */
static void find_caller(call *c) {
    access_guard *access = c->owner->options.access;
    const char *token = c->request->token;
    transport_call *t = c->transport;
    c->caller = t->caller;
    if (token[0] == '\0') {
        return;
    }
    if (strlen(token) <= ACCESS_TOKEN_LENGTH && access && access_find(access, token, &c->caller)) {
        transport_vouch(t, c->caller.role);
        return;
    }
    snprintf(c->field, sizeof c->field, "token");
    call_fail(c, REASON_UNKNOWN_TOKEN,
              "the daemon knows no such token; its file of tokens is set by access.tokens in the configuration");
}

/* Ends the call if its method needs a higher role than the caller has. */
static void check_role(call *c) {
    access_role role = c->caller.role;
    if (role >= c->method->role) {
        return;
    }
    call_fail(c, REASON_ROLE_TOO_LOW,
              "%s needs the role %s, and %s has %s; pass a token, or let the administrator give the role ([access] in "
              "the configuration)",
              c->method->name, access_role_words[c->method->role], c->caller.name,
              role == ACCESS_NONE ? "no role" : access_role_words[role]);
}

/* Removes everything but the status from the reply. */
static void clear_result(call *c) {
    c->reply.result_case = DYNAMICS__V1__REPLY__RESULT__NOT_SET;
    c->reply.model_key = 0;
    c->reply.computed_with = (char *)protobuf_c_empty_string;
    c->reply.n_sample_errors = 0;
    c->reply.sample_error_count = 0;
}

/* Serializes the reply into the transport's buffer. Replaces a reply that is too large, or for which memory is short,
 * by an error. Returns the bytes, or NULL if there is no memory even for the error. */
static uint8_t *encode(call *c, size_t *size) {
    bool is_job = c->running != &c->own_running;
    uint64_t limit = atomic_load(&c->service->limits->reply_bytes) - (is_job ? JOB_REPLY_MARGIN : 0);
    if (c->status.code != DYNAMICS__V1__CODE__CODE_OK) {
        clear_result(c);
    }
    c->reply.elapsed = (double)(clock_now() - c->transport->arrival) / 1e9;
    *size = dynamics__v1__reply__get_packed_size(&c->reply);
    size_t most = c->transport->reply_limit;
    if (most > 0 && *size > most && most < limit) {
        c->field[0] = '\0';
        call_fail(c, REASON_REPLY_TOO_LARGE,
                  "the reply has %zu bytes; NATS carries %zu (max_payload of the NATS server); ask for fewer samples",
                  *size, most);
        clear_result(c);
        *size = dynamics__v1__reply__get_packed_size(&c->reply);
    } else if (*size > limit) {
        c->field[0] = '\0';
        call_fail(c, REASON_REPLY_TOO_LARGE, "the reply has %zu bytes; the limit is %llu (limits.reply_bytes)", *size,
                  (unsigned long long)limit);
        call_set_limit(c, BOUND_REPLY_BYTES, limit, *size);
        clear_result(c);
        *size = dynamics__v1__reply__get_packed_size(&c->reply);
    }
    c->transport->set_aside += arena_pass_on(&c->memory);
    uint8_t *bytes = transport_reply_buffer(c->transport, *size);
    if (!bytes) {
        call_fail_memory(c);
        clear_result(c);
        *size = dynamics__v1__reply__get_packed_size(&c->reply);
        bytes = transport_reply_buffer(c->transport, *size);
    }
    if (bytes) {
        c->reply_size = dynamics__v1__reply__pack(&c->reply, bytes);
    }
    return bytes;
}

/* Refuses a long call of a connection that has its share of requests under way. */
static void turn_away(call *c) {
    call_fail(c, REASON_QUOTA,
              "this connection has its share of long requests under way; wait for some of their replies");
    call_set_limit(c, BOUND_CONNECTION_REQUESTS, c->service->connection_requests, 0);
    c->is_turned_away = true;
}

/* Adds the request to the numbers of its method. */
static void count(call *c) {
    const request_outcome outcome = {
        .code = (unsigned)c->status.code,
        .time = clock_now() - c->transport->arrival,
        .bytes_in = c->transport->request_size,
        .bytes_out = c->reply_size,
        .samples = c->samples,
    };
    request_metrics_count(&c->owner->metrics[c->method ? c->method - methods : 0], &outcome);
}

/* Counts the request, returns the call to the idle ones, and sends its encoded reply. */
static void finish(call *c) {
    service *s = c->owner;
    if (!c->transport->is_own) {
        count(c);
        atomic_fetch_add_explicit(&s->options.counters->requests, 1, memory_order_relaxed);
        if (c->status.code != DYNAMICS__V1__CODE__CODE_OK) {
            atomic_fetch_add_explicit(&s->options.counters->refused, 1, memory_order_relaxed);
            log_debug(s->options.log, "%s of %s: %s, %s: %s", c->method ? c->method->name : "request",
                      c->transport->peer, c->status.reason, c->field, c->message);
        }
    }
    transport_call *t = c->transport;
    running_calls_remove(&s->running, c->running);
    return_call(s, c);
    transport_send(t);
}

/* Answers a call with the bytes of the reply to a copy of its request. Without bytes or memory answers with an
 * error. */
static void answer_alike(call *c, const uint8_t *bytes, size_t size) {
    uint8_t *buffer = bytes ? transport_reply_buffer(c->transport, size) : NULL;
    if (buffer) {
        memcpy(buffer, bytes, size);
        c->reply_size = size;
    } else {
        call_fail_memory(c);
        encode(c, &size);
    }
    finish(c);
}

/* Writes the substitute for a reply that is too large to be stored, so that a copy of the request is not executed.
 * Returns its size. */
static size_t write_stand_in(const call *c, size_t size, uint8_t bytes[STAND_IN_SIZE]) {
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    Dynamics__V1__Status status = DYNAMICS__V1__STATUS__INIT;
    char message[STAND_IN_SIZE / 2];
    snprintf(message, sizeof message,
             "the request was executed, but its reply of %zu bytes is not stored; ask for the state instead", size);
    reply.id = c->reply.id;
    reply.status = &status;
    status.code = reason_code(REASON_REPLY_NOT_STORED);
    status.reason = reason_token(REASON_REPLY_NOT_STORED);
    status.message = message;
    return dynamics__v1__reply__pack(&reply, bytes);
}

/* Stores the reply of a change, and answers the copies of the request that wait for it. */
static void settle(call *c, const uint8_t *bytes, size_t size) {
    uint8_t stand_in[STAND_IN_SIZE];
    const uint8_t *stored = c->is_turned_away ? NULL : bytes;
    size_t stored_size = size;
    if (stored && size > REPLY_CACHE_LARGEST) {
        stored_size = write_stand_in(c, size, stand_in);
        stored = stand_in;
    }
    reply_waiter *waiter = reply_cache_complete(c->owner->replies, c->stored, stored, stored_size);
    while (waiter) {
        call *copy = waiter->owner;
        waiter = waiter->next;
        answer_alike(copy, bytes, size);
    }
}

/* Returns the name of the object that the request itself states: a text of the method's message; "": none. */
static const char *stated_object(const call *c) {
    static const char *const names[] = {"simulation", "stream", "recording", "model", "job", "name"};
    const ProtobufCFieldDescriptor *member =
        protobuf_c_message_descriptor_get_field(&dynamics__v1__request__descriptor, (unsigned)c->request->method_case);
    const char *message = *(const char *const *)((const char *)c->request + member->offset);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(member->descriptor, names[i]);
        bool is_text = field && field->type == PROTOBUF_C_TYPE_STRING && field->label == PROTOBUF_C_LABEL_NONE &&
                       !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF);
        if (is_text) {
            return *(const char *const *)(message + field->offset);
        }
    }
    return "";
}

/* Records the request in the audit if it changes what clients share, or is denied. */
static void audit_call(call *c) {
    bool is_denied = c->status.code == DYNAMICS__V1__CODE__CODE_PERMISSION_DENIED;
    bool is_done = c->status.code == DYNAMICS__V1__CODE__CODE_OK;
    if (!c->method || !(c->method->changes_state || is_denied)) {
        return;
    }
    const ProtobufCEnumValue *code =
        protobuf_c_enum_descriptor_get_value(&dynamics__v1__code__descriptor, (int)c->status.code);
    const audit_action action = {
        .method = c->method->name,
        .object = c->object[0] ? c->object : stated_object(c),
        .peer = c->transport->peer,
        .caller = c->caller.name,
        .outcome = is_denied    ? "denied"
                   : !is_done   ? "refused"
                   : c->outcome ? c->outcome
                                : "done",
        .code = code ? code->name + strlen("CODE_") : "UNKNOWN",
        .is_denied = is_denied,
    };
    audit_record(&c->owner->audit, &action);
}

/* Stores the encoded reply if the call has an entry in the reply cache, and sends it. */
static void deliver(call *c, const uint8_t *bytes, size_t size) {
    audit_call(c);
    if (c->stored) {
        settle(c, bytes, size);
    }
    finish(c);
}

static void answer(call *c) {
    size_t size;
    const uint8_t *bytes = encode(c, &size);
    deliver(c, bytes, size);
}

/* Adds a request that changes the state to the reply cache. Returns true if it must be executed. Otherwise it is
 * refused, or is a copy of an earlier request and receives the reply of that request, now or when it is complete. */
static bool enter_change(call *c) {
    const transport_call *t = c->transport;
    reply_cache *replies = c->owner->replies;
    const reply_request request = {t->identity, c->request->client, t->request, t->request_size};
    if (t->identity.origin == TRANSPORT_ORIGIN_UNKNOWN) {
        call_fail(c, REASON_CONNECTION_CLOSED,
                  "the connection was closed before the request began; connect and send it again");
        answer(c);
        return false;
    }
    reply_entry *entry;
    size_t size;
    bool may_wait = !t->is_crowded;
    c->waiter.owner = c;
    switch (reply_cache_enter(replies, &request, may_wait ? &c->waiter : NULL, &entry)) {
    case REPLY_NEW:
        c->stored = entry;
        return true;
    case REPLY_PENDING:
        if (!may_wait) {
            turn_away(c);
            answer(c);
        }
        return false;
    case REPLY_STORED:
        break;
    }
    const uint8_t *bytes = reply_entry_bytes(entry, &size);
    answer_alike(c, bytes, size);
    reply_cache_release(replies, entry);
    return false;
}

static void begin_method(call *c) {
    begin_reply(c);
    c->reply.id = c->request->id;
    arena_reset(&c->memory, SIZE_MAX);
}

/* Runs a step of the method, unless the method has none, the call has ended or is cancelled, or its deadline has
 * passed. */
static void run_step(call *c, void (*step)(call *c)) {
    if (step && !call_has_ended(c) && !call_is_late(c) && !call_is_cancelled(c)) {
        step(c);
    }
}

static void run_method(call *c) {
    begin_method(c);
    run_step(c, c->method->run);
}

/* Runs a method that changes the state, with the mutex of changes, and answers the call. The method's `prepare` runs
 * before, concurrently with other changes. */
static void run_change(call *c) {
    service *s = c->owner;
    size_t size;
    begin_method(c);
    run_step(c, c->method->prepare);
    pthread_mutex_lock(&s->change_mutex);
    run_step(c, c->method->run);
    const uint8_t *bytes = encode(c, &size);
    pthread_mutex_unlock(&s->change_mutex);
    deliver(c, bytes, size);
}

/* Returns whether the call may prepare its change now. Otherwise queues it, without a worker, until another preparation
 * is done. */
static bool may_prepare(call *c) {
    service *s = c->owner;
    pthread_mutex_lock(&s->line_mutex);
    bool has_place = s->preparing < MOST_PREPARING;
    if (has_place) {
        s->preparing++;
    } else {
        c->next = NULL;
        *(s->line_first ? &s->line_last->next : &s->line_first) = c;
        s->line_last = c;
    }
    pthread_mutex_unlock(&s->line_mutex);
    return has_place;
}

/* Removes the first queued call, which takes the place of the one that is done, and returns it; NULL: the queue is
 * empty. */
static call *next_in_line(service *s) {
    pthread_mutex_lock(&s->line_mutex);
    call *c = s->line_first;
    if (c) {
        s->line_first = c->next;
    } else {
        s->preparing--;
    }
    pthread_mutex_unlock(&s->line_mutex);
    return c;
}

/* Runs a change with its preparation, and then the queued ones. */
static void run_prepared_changes(call *c) {
    service *s = c->owner;
    while (c) {
        run_change(c);
        c = next_in_line(s);
    }
}

/* Runs the method of a call on a worker, and answers the call. */
static void run_on_worker(void *task) {
    call *c = task;
    c->is_on_worker = true;
    if (c->method->prepare) {
        if (may_prepare(c)) {
            run_prepared_changes(c);
        }
    } else if (c->method->changes_state && !c->method->is_local) {
        run_change(c);
    } else {
        run_method(c);
        answer(c);
    }
}

/* Lists a long call under the name by which it can be cancelled. Ends the call if its progress number is taken. */
static void list_call(call *c) {
    const Dynamics__V1__Request *r = c->request;
    const running_name name = {.peer = c->transport->identity, .client = r->client, .id = r->id};
    running_call_init(c->running, &name, r->progress);
    if (!running_calls_add(&c->owner->running, c->running)) {
        snprintf(c->field, sizeof c->field, "progress");
        call_fail(c, REASON_PROGRESS_NUMBER_TAKEN,
                  "another client's request publishes its progress under the number %" PRIu64
                  "; draw a number at random for each request",
                  r->progress);
        c->is_turned_away = true;
    }
}

/* Submits a listed call to the workers. Returns false, and the call has ended, if its connection has its share of calls
 * under way or the queue is full. */
static bool submit(call *c) {
    service *s = c->owner;
    if (c->transport->is_crowded) {
        turn_away(c);
        return false;
    }
    if (s->options.submit(s->options.pool, run_on_worker, c)) {
        return true;
    }
    log_repeated(s->options.log, &s->overload, "refused a long request of %s: too many wait already",
                 c->transport->peer);
    call_fail(c, REASON_OVERLOADED, "too many long requests wait already; ask again soon");
    call_set_limit(c, BOUND_WAITING_REQUESTS, c->service->waiting_requests, c->service->waiting_requests + 1);
    c->is_turned_away = true;
    return false;
}

/* Submits a long call to the workers, or refuses it. */
static void defer(call *c) {
    begin_reply(c);
    c->reply.id = c->request->id;
    arena_reset(&c->memory, SIZE_MAX); /* a queued call holds only its request */
    list_call(c);
    if (call_has_ended(c) || !submit(c)) {
        answer(c);
    }
}

/* Begins a call: decodes its request, or ends it with an error. `running` NULL: a request, not a job. Returns NULL when
 * out of memory. */
static call *begin_call(service *s, const service_options *options, transport_call *t, running_call *running) {
    call *c = acquire_call(s);
    if (!c) {
        return NULL;
    }
    c->service = options;
    c->transport = t;
    c->method = NULL;
    c->request = NULL;
    c->is_on_worker = false;
    c->is_turned_away = false;
    c->caller = t->caller;
    c->object[0] = '\0';
    c->outcome = NULL;
    c->samples = 0;
    c->reply_size = 0;
    c->stored = NULL;
    c->running = running ? running : &c->own_running;
    if (!running) {
        running_call_init(c->running, &(running_name){.peer = t->identity}, 0);
    }
    begin_reply(c);
    decode(c);
    return c;
}

/* Computes the request of a job on a thread for jobs. Returns the code of the reply. */
static Dynamics__V1__Code execute_job(void *context, transport_call *t, running_call *running) {
    service *s = context;
    size_t size;
    call *c = begin_call(s, &s->job_options, t, running);
    if (!c) {
        return reason_code(REASON_MEMORY_SHORT);
    }
    c->is_on_worker = true;
    if (!call_has_ended(c)) {
        set_deadline(c, atomic_load(&s->options.limits->job_time), "limits.job_time");
    }
    if (!call_has_ended(c)) {
        c->method = &methods[c->request->method_case];
        run_method(c);
    }
    const uint8_t *bytes = encode(c, &size);
    Dynamics__V1__Code code = c->status.code;
    deliver(c, bytes, size);
    return code;
}

void service_handle(void *context, transport_call *t) {
    service *s = context;
    call *c = begin_call(s, &s->options, t, NULL);
    if (!c) {
        transport_send(t);
        return;
    }
    if (!call_has_ended(c)) {
        set_deadline(c, atomic_load(&s->options.limits->request_time), "limits.request_time");
    }
    if (!call_has_ended(c)) {
        find_method(c);
    }
    if (!call_has_ended(c)) {
        find_caller(c);
    }
    if (!call_has_ended(c)) {
        check_role(c);
    }
    if (call_has_ended(c)) {
        answer(c);
        return;
    }
    if (c->method->changes_state && c->request->client != 0 && !enter_change(c)) {
        return;
    }
    if (!c->method->is_slow) {
        run_method(c);
    }
    if (c->method->is_slow || c->is_deferred) {
        defer(c);
    } else {
        answer(c);
    }
}
