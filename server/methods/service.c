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

/* Size of the digits of a number. */
enum { NUMBER_SIZE = 24 };

/* Largest number of idle calls that are reused. */
enum { IDLE_CALLS = 64 };

/* Largest number of changes that are prepared at once: each has a whole model in memory that no limit counts yet. */
enum { MOST_PREPARING = 4 };

struct service {
    service_options options;
    service_options job_options;     /* options of the calls of jobs, which are split over the threads for jobs */
    service_options session_options; /* options of the calls of sessions, which are not split */
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
    user_accounts users;
    request_metrics metrics[METHOD_NUMBERS]; /* 0: no method */
    _Atomic uint64_t refusals[BOUND_COUNT];  /* requests that each limit has refused */
};

static Dynamics__V1__Code execute_job(void *context, transport_call *t, running_call *running);

static job_table *create_jobs(service *s) {
    const job_table_options options = {
        .limits = s->options.limits,
        .budget = s->options.budget,
        .running = &s->running,
        .log = s->options.log,
        .submit = s->options.submit_for,
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
    s->session_options = *options;
    s->session_options.workers = 1;
    pthread_mutex_init(&s->idle_mutex, NULL);
    pthread_mutex_init(&s->change_mutex, NULL);
    pthread_mutex_init(&s->line_mutex, NULL);
    running_calls_init(&s->running);
    user_accounts_init(&s->users);
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
    user_accounts_free(&s->users);
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

uint64_t service_refusals(const service *s, bound limit) {
    return atomic_load_explicit(&s->refusals[limit], memory_order_relaxed);
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

void service_cancel_all(service *s) {
    running_calls_cancel_all(&s->running);
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
    user_accounts_leave(&s->users, &c->hold);
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
    c->exceeded = BOUND_NONE;
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
    c->reply.without_rotors = false;
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
static void refuse_connection(call *c) {
    call_fail(c, REASON_QUOTA,
              "this connection has its share of long requests under way; wait for some of their replies");
    call_set_limit(c, BOUND_CONNECTION_REQUESTS, c->service->connection_requests, 0);
    c->is_turned_away = true;
}

/* Returns a text of a message, of the first of the names that it has a field for; "": it has none. */
static const char *find_text(const ProtobufCMessageDescriptor *type, const char *message, const char *const *names,
                             size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(type, names[i]);
        bool is_text = field && field->type == PROTOBUF_C_TYPE_STRING && field->label == PROTOBUF_C_LABEL_NONE &&
                       !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF);
        if (is_text) {
            return *(const char *const *)(message + field->offset);
        }
    }
    return "";
}

/* Returns the name of the object that the request itself states: a text of the method's message, or the model of its
 * query; "": none. */
static const char *stated_object(const call *c) {
    static const char *const names[] = {"simulation", "stream", "recording", "model", "job", "name"};
    const ProtobufCFieldDescriptor *member =
        protobuf_c_message_descriptor_get_field(&dynamics__v1__request__descriptor, (unsigned)c->request->method_case);
    const char *message = *(const char *const *)((const char *)c->request + member->offset);
    const char *found = find_text(member->descriptor, message, names, sizeof names / sizeof *names);
    const ProtobufCFieldDescriptor *query =
        protobuf_c_message_descriptor_get_field_by_name(member->descriptor, "query");
    const char *inner = query && query->type == PROTOBUF_C_TYPE_MESSAGE && query->label != PROTOBUF_C_LABEL_REPEATED
                            ? *(const char *const *)(message + query->offset)
                            : NULL;
    static const char *const model[] = {"model"};
    return found[0] || !inner ? found : find_text(query->descriptor, inner, model, 1);
}

/* Returns the name of the reply's code: "OK". */
static const char *code_name(const call *c) {
    const ProtobufCEnumValue *code =
        protobuf_c_enum_descriptor_get_value(&dynamics__v1__code__descriptor, (int)c->status.code);
    return code ? code->name + strlen("CODE_") : "UNKNOWN";
}

/* Adds the request to the slow ones. */
static void hold_slow(const call *c, const request_outcome *outcome) {
    slow_request slow = {
        .request = c->reply.id,
        .method = c->method ? c->method->name : "none",
        .code = outcome->code,
        .time = outcome->time,
        .waits = c->begun > 0 ? c->begun - c->transport->arrival : 0,
        .samples = outcome->samples,
        .bytes_in = outcome->bytes_in,
        .bytes_out = outcome->bytes_out,
    };
    const char *object = c->object[0] ? c->object : c->method ? stated_object(c) : "";
    snprintf(slow.object, sizeof slow.object, "%s", object);
    snprintf(slow.peer, sizeof slow.peer, "%s", c->transport->peer);
    snprintf(slow.caller, sizeof slow.caller, "%s", c->caller.name);
    slow_log_add(c->owner->options.slow, &slow);
}

/* Adds the request to the numbers of its method, and to the slow requests if it is one. */
static void count(call *c) {
    slow_log *slow = c->owner->options.slow;
    const request_outcome outcome = {
        .code = (unsigned)c->status.code,
        .time = clock_now() - c->transport->arrival,
        .bytes_in = c->transport->request_size,
        .bytes_out = c->reply_size,
        .samples = c->samples,
    };
    request_metrics_count(&c->owner->metrics[c->method ? c->method - methods : 0], &outcome);
    if (c->status.code != DYNAMICS__V1__CODE__CODE_OK && c->exceeded != BOUND_NONE) {
        atomic_fetch_add_explicit(&c->owner->refusals[c->exceeded], 1, memory_order_relaxed);
    }
    if (slow && slow_log_wants(slow, outcome.time)) {
        hold_slow(c, &outcome);
    }
}

/* Writes a line about a request that is refused, for the level debug. */
static void log_refusal(const call *c) {
    char id[NUMBER_SIZE];
    if (!log_has_level(c->owner->options.log, LOG_LEVEL_DEBUG)) {
        return;
    }
    snprintf(id, sizeof id, "%" PRIu64, c->reply.id);
    const log_field fields[] = {
        {"method", c->method ? c->method->name : "none"},
        {"request", id},
        {"peer", c->transport->peer},
        {"caller", c->caller.name},
        {"code", code_name(c)},
        {"reason", c->status.reason},
        {"field", c->field},
        {"problem", c->message},
        {NULL, NULL},
    };
    log_fields(c->owner->options.log, LOG_LEVEL_DEBUG, "refused", fields);
}

/* Counts the request, returns the call to the idle ones, and sends its encoded reply. */
static void finish(call *c) {
    service *s = c->owner;
    if (!c->transport->is_own) {
        count(c);
        atomic_fetch_add_explicit(&s->options.counters->requests, 1, memory_order_relaxed);
        if (c->status.code != DYNAMICS__V1__CODE__CODE_OK) {
            atomic_fetch_add_explicit(&s->options.counters->refused, 1, memory_order_relaxed);
            log_refusal(c);
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

/* Records the request in the audit if it changes what clients share, or is denied. */
static void audit_call(call *c) {
    bool is_denied = c->status.code == DYNAMICS__V1__CODE__CODE_PERMISSION_DENIED;
    bool is_done = c->status.code == DYNAMICS__V1__CODE__CODE_OK;
    bool is_override = c->overridden[0] != '\0';
    if (!c->method || !(c->method->changes_state || is_denied || is_override)) {
        return;
    }
    const audit_action action = {
        .method = c->method->name,
        .object = c->object[0] ? c->object : stated_object(c),
        .peer = c->transport->peer,
        .caller = c->caller.name,
        .belongs_to = c->overridden,
        .outcome = is_denied    ? "denied"
                   : !is_done   ? "refused"
                   : c->outcome ? c->outcome
                                : "done",
        .code = code_name(c),
        .request = c->reply.id,
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
            refuse_connection(c);
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
    if (c->hold.account) {
        arena_charge_share(&c->memory, &c->hold.account->memory);
        call_measure_time(c);
    }
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
    c->begun = clock_now();
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

/* Returns the largest amounts of the caller's long requests, and of all. */
static user_shares shares_of(const call *c) {
    const service_limits *limits = c->service->limits;
    return (user_shares){
        .requests = call_share(c, atomic_load(&limits->user_requests)),
        .samples = call_share(c, atomic_load(&limits->user_samples)),
        .samples_of_all = atomic_load(&limits->samples_under_way),
        .bytes = call_share(c, atomic_load(&limits->user_memory_bytes)),
    };
}

/* Ends a long call for which a share of its user has no room. */
static void refuse_user(call *c, const excess *exceeded) {
    unsigned long long limit = exceeded->limit;
    switch (exceeded->bound) {
    case BOUND_USER_REQUESTS:
        call_fail(c, REASON_QUOTA,
                  "%s has %llu long requests under way, the limit of one user (limits.user_requests); wait for some of "
                  "their replies",
                  c->caller.name, limit);
        break;
    case BOUND_USER_SAMPLES:
        call_fail(c, c->hold.samples > limit ? REASON_TOO_MANY_SAMPLES : REASON_QUOTA,
                  "the long requests of %s would have %llu states under way, and the limit of one user is %llu "
                  "(limits.user_samples); wait for some of their replies, or send fewer states at once",
                  c->caller.name, (unsigned long long)exceeded->requested, limit);
        break;
    case BOUND_SAMPLES_UNDER_WAY:
        call_fail(c, c->hold.samples > limit ? REASON_TOO_MANY_SAMPLES : REASON_QUOTA,
                  "the long requests of all users would have %llu states under way, and the limit is %llu "
                  "(limits.samples_under_way); ask again soon, or send fewer states at once",
                  (unsigned long long)exceeded->requested, limit);
        break;
    default:
        call_fail(c, c->hold.bytes > limit ? REASON_REQUEST_TOO_LARGE : REASON_MEMORY_SHORT,
                  "the long requests of %s would hold %llu bytes, and the limit of one user is %llu "
                  "(limits.user_memory_bytes); wait for some of their replies, or send fewer states at once",
                  c->caller.name, (unsigned long long)exceeded->requested, limit);
        break;
    }
    call_set_limit(c, exceeded->bound, exceeded->limit, exceeded->requested);
    c->is_turned_away = true;
}

/* Adds a long call to the account of its user. Returns false, and the call has ended, if a share has no room for it. */
static bool join_account(call *c) {
    excess exceeded = {BOUND_NONE, 0, 0};
    const user_shares shares = shares_of(c);
    c->hold = (user_hold){.samples = c->samples, .bytes = c->transport->request_size + c->decoded.charged};
    switch (user_accounts_join(&c->owner->users, c->caller.name, &shares, &c->hold, &exceeded)) {
    case USER_ADMITTED:
        return true;
    case USER_AT_LIMIT:
        refuse_user(c, &exceeded);
        return false;
    case USER_NO_MEMORY:
        break;
    }
    call_fail_memory(c);
    c->is_turned_away = true;
    return false;
}

/* Submits a listed call to the workers. Returns false, and the call has ended, if its connection or its user has its
 * share of calls under way or the queue is full. */
static bool submit(call *c) {
    service *s = c->owner;
    if (c->transport->is_crowded) {
        refuse_connection(c);
        return false;
    }
    if (!join_account(c)) {
        return false;
    }
    if (s->options.submit_for(s->options.pool, user_number(c->caller.name), run_on_worker, c)) {
        return true;
    }
    log_repeated(s->options.log, &s->overload, "refused a long request of %s: too many wait already",
                 c->transport->peer);
    call_fail(c, REASON_OVERLOADED, "too many long requests wait already, of all callers or of %s; ask again soon",
              c->caller.name);
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

/* Sets the members of a call that has not begun. `running` NULL: a request, not a job. */
static void clear_call(call *c, const service_options *options, transport_call *t, running_call *running) {
    c->service = options;
    c->transport = t;
    c->method = NULL;
    c->request = NULL;
    c->is_on_worker = false;
    c->begun = 0;
    c->is_turned_away = false;
    c->caller = t->caller;
    c->object[0] = '\0';
    c->overridden[0] = '\0';
    c->outcome = NULL;
    c->samples = 0;
    c->reply_size = 0;
    c->hold = (user_hold){0};
    c->cpu_limit = 0;
    atomic_store_explicit(&c->helped_time, 0, memory_order_relaxed);
    atomic_store_explicit(&c->is_spent, false, memory_order_relaxed);
    c->stored = NULL;
    c->running = running ? running : &c->own_running;
    if (!running) {
        running_call_init(c->running, &(running_name){.peer = t->identity}, 0);
    }
    begin_reply(c);
}

/* Begins a call: decodes its request, or ends it with an error. Returns NULL when out of memory. */
static call *begin_call(service *s, const service_options *options, transport_call *t, running_call *running) {
    call *c = acquire_call(s);
    if (c) {
        clear_call(c, options, t, running);
        decode(c);
    }
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

call *service_open_session(service *s, transport_call *t) {
    call *c = acquire_call(s);
    if (c) {
        clear_call(c, &s->session_options, t, NULL);
        c->is_on_worker = true;
        arena_reset(&c->memory, SIZE_MAX);
    }
    return c;
}

bool service_reserve_session(call *c, size_t bytes) {
    return arena_reserve(&c->memory, bytes);
}

void service_run_session(call *c, const Dynamics__V1__Request *request) {
    service *s = c->owner;
    c->request = request;
    c->transport->arrival = clock_now();
    c->samples = 0;
    begin_reply(c);
    set_deadline(c, atomic_load(&s->options.limits->request_time), "limits.request_time");
    find_method(c);
    if (!call_has_ended(c)) {
        check_role(c);
    }
    if (!call_has_ended(c)) {
        run_method(c);
    }
}

void service_count_session(call *c, size_t bytes_in, size_t bytes_out) {
    c->transport->request_size = bytes_in;
    c->reply_size = bytes_out;
    count(c);
    atomic_fetch_add_explicit(&c->owner->options.counters->requests, 1, memory_order_relaxed);
    if (c->status.code != DYNAMICS__V1__CODE__CODE_OK) {
        atomic_fetch_add_explicit(&c->owner->options.counters->refused, 1, memory_order_relaxed);
    }
}

void service_close_session(call *c) {
    free_call(c);
}
