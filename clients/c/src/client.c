/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens and closes clients, sends their requests and checks the replies.
 */
#include "call.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "error.h"
#include "fast_channel.h"
#include "job.h"
#include "monotonic.h"
#include "progress.h"
#include "requests.h"
#include "sized.h"
#include "under_way.h"
#include "wire.h"

static const double DEFAULT_TIMEOUT = 10.0, DEFAULT_CONNECT_TIMEOUT = 2.0, MAX_TIMEOUT = 1e6;
/* Longest and usual time that a call spins for its reply over a fast channel, s. */
static const double MAX_SPIN = 1.0, DEFAULT_SPIN = 50e-6;
/* Largest difference, in s, between the timeout of the client and that of the request. The daemon has less time than
 * the client waits, so that the daemon's error about a slow request arrives in time. */
static const double MOST_RESERVE = 1.0;
static const size_t DEFAULT_MAX_REPLY_BYTES = (size_t)64 << 20;

/* Timeout of a request that cancels another one, s. It is short: a daemon that does not answer it does not run. */
static const double CANCEL_TIMEOUT = 0.3;
/* Time from the first cancellation of a request to the end of its call, s: where the daemon knows the request, and
 * where it does not, since it computes requests of this kind without a look at cancellations. */
static const double KNOWN_PATIENCE = 3, UNKNOWN_PATIENCE = 0.5;

/* REFUSALS: number of times that a request is sent again when a daemon that stops refuses it. CANCELLED_AT_ONCE:
 * requests of a thread that are cancelled at most. */
enum { REFUSALS = 8, CANCELLED_AT_ONCE = 16 };

struct dyn_client {
    connection *connection;
    double timeout;
    bool uses_jobs; /* calls run as jobs where they can */
    size_t max_reply_bytes;
    uint32_t min_revision; /* lowest accepted revision of the contract, in each request */
    char *token;           /* secret token of the caller, in each request; "": none */
    uint64_t id;           /* drawn at random: identifies this client to the daemon, and is a secret between both */
    _Atomic uint64_t last_request;
    under_way requests;
    fast_list fast;
};

bool call_draw(uint64_t *number) {
    do {
        if (getrandom(number, sizeof *number, 0) != sizeof *number) {
            return false;
        }
    } while (*number == 0);
    return true;
}

/* ---- handle ------------------------------------------------------------------------------------------------------ */

const char *dyn_client_version(void) {
    return DYN_CLIENT_VERSION;
}

/* Checks that a time is from 0 to MAX_TIMEOUT seconds. Stores it in `chosen`, or `standard` if it is 0. */
static dyn_client_status check_time(double value, double standard, const char *field, double *chosen,
                                    dyn_client_error *error) {
    if (!(value >= 0 && value <= MAX_TIMEOUT)) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, field, "%g s is not a time from 0 to %g s", value, MAX_TIMEOUT);
    }
    *chosen = value > 0 ? value : standard;
    return DYN_CLIENT_OK;
}

/* Checks the time that calls spin; a negative one stands for none. */
static dyn_client_status check_spin(double spin, dyn_client_error *error) {
    return spin <= MAX_SPIN ? DYN_CLIENT_OK
                            : fail(error, DYN_CLIENT_INVALID_ARGUMENT, "options.fast_spin",
                                   "%g s is not a time up to %g s", spin, MAX_SPIN);
}

/* Frees a client, whose token does not stay in the memory. */
static void free_client(dyn_client *self) {
    fast_list_free(&self->fast);
    pthread_mutex_destroy(&self->requests.mutex);
    explicit_bzero(self->token, strlen(self->token));
    free(self->token);
    free(self);
}

/* Draws the number of the client, and the number before its first request: requests of different clients rarely have
 * one number in the daemon's log. The latter has 31 bits, which are short on the wire and to read. */
static bool draw_numbers(dyn_client *self) {
    uint64_t before;
    bool is_drawn = call_draw(&self->id) && call_draw(&before);
    self->last_request = is_drawn ? before >> 33 : 0;
    return is_drawn;
}

dyn_client_status dyn_client_connect(const char *url, const dyn_client_options *options, dyn_client **client,
                                     dyn_client_error *error) {
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    *client = NULL;
    if (!url) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "url", "url is NULL");
    }
    dyn_client_options used = {0};
    double connect_timeout = DEFAULT_CONNECT_TIMEOUT;
    dyn_client_status status = options ? sized_read("options", options, sizeof used, &used, error) : DYN_CLIENT_OK;
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    dyn_client *self = calloc(1, sizeof *self);
    if (!self) {
        return fail_memory(error);
    }
    self->min_revision = used.min_revision;
    self->uses_jobs = used.use_jobs;
    self->max_reply_bytes = used.max_reply_bytes > 0 ? used.max_reply_bytes : DEFAULT_MAX_REPLY_BYTES;
    self->token = strdup(used.token ? used.token : "");
    if (!self->token) {
        free(self);
        return fail_memory(error);
    }
    pthread_mutex_init(&self->requests.mutex, NULL);
    fast_list_init(&self->fast, used.fast_spin < 0 ? 0 : used.fast_spin > 0 ? used.fast_spin : DEFAULT_SPIN);
    status = check_spin(used.fast_spin, error);
    if (status == DYN_CLIENT_OK) {
        status = check_time(used.timeout, DEFAULT_TIMEOUT, "options.timeout", &self->timeout, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = check_time(used.connect_timeout, DEFAULT_CONNECT_TIMEOUT, "options.connect_timeout", &connect_timeout,
                            error);
    }
    if (status == DYN_CLIENT_OK && !draw_numbers(self)) {
        status = fail(error, DYN_CLIENT_UNKNOWN, NULL, "the system returned no random number");
    }
    if (status == DYN_CLIENT_OK) {
        status = connection_open(url, connect_timeout, self->max_reply_bytes, &self->connection, error);
    }
    if (status != DYN_CLIENT_OK) {
        free_client(self);
        return status;
    }
    *client = self;
    return DYN_CLIENT_OK;
}

void dyn_client_abort(dyn_client *client) {
    if (client) {
        fast_list_abort(&client->fast);
        connection_abort(client->connection);
    }
}

void dyn_client_close(dyn_client *client) {
    if (!client) {
        return;
    }
    connection_close(client->connection);
    free_client(client);
}

connection *client_connection(const dyn_client *client) {
    return client->connection;
}

fast_list *client_fast_channels(dyn_client *client) {
    return &client->fast;
}

bool client_uses_jobs(const dyn_client *client) {
    return client->uses_jobs;
}

const char *client_token(const dyn_client *client) {
    return client->token;
}

uint32_t client_min_revision(const dyn_client *client) {
    return client->min_revision;
}

size_t client_piece_bytes(const dyn_client *client) {
    return client->uses_jobs ? 0 : connection_most_bytes(client->connection);
}

size_t client_max_reply_bytes(const dyn_client *client) {
    return client->max_reply_bytes;
}

double client_timeout(const dyn_client *client) {
    return client->timeout;
}

double client_connect_timeout(const dyn_client *client) {
    return connection_timeout(client->connection);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Fields of a serialized Reply. The pointers refer to the bytes of the reply. */
typedef struct envelope {
    uint64_t id;
    const uint8_t *status;
    size_t status_size;
    const uint8_t *sample_error; /* the first error of a sample */
    size_t sample_error_size;
    uint64_t sample_error_count;
    uint64_t model_key;
    const uint8_t *code; /* that computed the reply */
    size_t code_size;
    uint32_t method; /* field number of the result; 0: none */
    const uint8_t *result;
    size_t result_size;
} envelope;

enum {
    REPLY_ID = 1,
    REPLY_STATUS = 2,
    REPLY_MODEL_KEY = 4,
    REPLY_SAMPLE_ERRORS = 5,
    REPLY_SAMPLE_ERROR_COUNT = 6,
    REPLY_COMPUTED_WITH = 7,
    FIRST_RESULT = 16
};

static bool read_envelope(const incoming *message, envelope *read) {
    wire_reader reader = {.at = message->bytes, .end = message->bytes + message->size};
    wire_field field;
    *read = (envelope){0};
    while (wire_next(&reader, &field)) {
        if (field.number == REPLY_ID && field.type == WIRE_VARINT) {
            read->id = field.varint;
        } else if (field.number == REPLY_STATUS && field.type == WIRE_BYTES) {
            read->status = field.bytes;
            read->status_size = field.size;
        } else if (field.number == REPLY_MODEL_KEY && field.type == WIRE_VARINT) {
            read->model_key = field.varint;
        } else if (field.number == REPLY_COMPUTED_WITH && field.type == WIRE_BYTES) {
            read->code = field.bytes;
            read->code_size = field.size;
        } else if (field.number == REPLY_SAMPLE_ERROR_COUNT && field.type == WIRE_VARINT) {
            read->sample_error_count = field.varint;
        } else if (field.number == REPLY_SAMPLE_ERRORS && field.type == WIRE_BYTES && !read->sample_error) {
            read->sample_error = field.bytes;
            read->sample_error_size = field.size;
        } else if (field.number >= FIRST_RESULT && field.type == WIRE_BYTES) {
            read->method = field.number;
            read->result = field.bytes;
            read->result_size = field.size;
        }
    }
    return !reader.malformed;
}

dyn_client_status fail_bad_reply(dyn_client_error *error, const char *what) {
    return fail(error, DYN_CLIENT_BAD_REPLY, NULL, "%s: the daemon speaks another version of the protocol", what);
}

/* Converts a status code of the protocol to the client's, which has an equal number. A code that this client does not
 * know becomes UNKNOWN. */
static dyn_client_status to_status(Dynamics__V1__Code code) {
    return code <= DYNAMICS__V1__CODE__CODE_UNAUTHENTICATED ? (dyn_client_status)code : DYN_CLIENT_UNKNOWN;
}

/* Copies the details of an error: everything except its status, field and message. `error` may be NULL. */
static void copy_details(const Dynamics__V1__Status *received, dyn_client_error *error) {
    if (!error) {
        return;
    }
    snprintf(error->reason, sizeof error->reason, "%s", received->reason);
    snprintf(error->joint, sizeof error->joint, "%s", received->joint);
    error->has_sample = received->of_sample_case == DYNAMICS__V1__STATUS__OF_SAMPLE_SAMPLE;
    error->sample = error->has_sample ? received->sample : 0;
    error->limit = received->limit;
    error->requested = received->requested;
    snprintf(error->limit_name, sizeof error->limit_name, "%s", received->limit_name);
    error->retry_after = received->retry_after;
}

dyn_client_status call_check_status(const Dynamics__V1__Status *received, dyn_client_error *error) {
    dyn_client_status status = DYN_CLIENT_OK;
    if (received && received->code != DYNAMICS__V1__CODE__CODE_OK) {
        status = fail(error, to_status(received->code), received->field, "%s", received->message);
        copy_details(received, error);
    }
    return status;
}

dyn_client_status call_read_status(const uint8_t *bytes, size_t size, int code, dyn_client_error *error) {
    if (size == 0) {
        return code == DYNAMICS__V1__CODE__CODE_OK
                   ? DYN_CLIENT_OK
                   : fail(error, to_status((Dynamics__V1__Code)code), NULL, "the daemon states no cause");
    }
    Dynamics__V1__Status *received = dynamics__v1__status__unpack(NULL, size, bytes);
    if (!received) {
        return fail_bad_reply(error, "the reply's status cannot be read");
    }
    dyn_client_status status = call_check_status(received, error);
    dynamics__v1__status__free_unpacked(received, NULL);
    return status;
}

/* Returns OK if the reply is not an error. Otherwise fills `error` from the reply's status and returns its code. */
static dyn_client_status read_status(const envelope *read, dyn_client_error *error) {
    return call_read_status(read->status, read->status_size, DYNAMICS__V1__CODE__CODE_OK, error);
}

/* Stores the number of failed samples of a successful call in error->marked (0: none), and the first failure in the
 * other members. `error` may be NULL. */
static dyn_client_status read_marks(const envelope *read, dyn_client_error *error) {
    if (error) {
        error->marked = 0;
    }
    if (!error || read->sample_error_count == 0) {
        return DYN_CLIENT_OK;
    }
    Dynamics__V1__SampleError *received =
        dynamics__v1__sample_error__unpack(NULL, read->sample_error_size, read->sample_error);
    if (!received) {
        return fail_bad_reply(error, "the reply's first error of a sample cannot be read");
    }
    fail(error, DYN_CLIENT_OK, received->field, "%s", received->message);
    snprintf(error->reason, sizeof error->reason, "%s", received->reason);
    error->has_sample = true;
    error->sample = received->sample;
    error->marked = read->sample_error_count;
    dynamics__v1__sample_error__free_unpacked(received, NULL);
    return DYN_CLIENT_OK;
}

static void read_origin(const envelope *read, call_origin *origin) {
    size_t most = sizeof origin->code - 1, size = read->code_size < most ? read->code_size : most;
    *origin = (call_origin){.is_code_wanted = origin->is_code_wanted, .model_key = read->model_key};
    if (size > 0) {
        memcpy(origin->code, read->code, size);
    }
}

/* Checks that a reply belongs to the request and is not an error, and points `answer` to its result. `origin` may be
 * NULL. */
static dyn_client_status check_reply(const incoming *message, const Dynamics__V1__Request *request, call_origin *origin,
                                     call_reply *answer, dyn_client_error *error) {
    envelope read;
    if (!read_envelope(message, &read)) {
        return fail_bad_reply(error, "the reply cannot be read");
    }
    dyn_client_status status = read_status(&read, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (read.id != request->id) {
        return fail_bad_reply(error, "the reply answers another request");
    }
    if (read.method != (uint32_t)request->method_case) {
        return fail_bad_reply(error, "the reply answers another method");
    }
    answer->result = read.result;
    answer->result_size = read.result_size;
    if (origin) {
        read_origin(&read, origin);
    }
    return read_marks(&read, error);
}

static void write_request(const outgoing *request, uint8_t *body) {
    protobuf_c_message_pack(request->content, body);
}

void call_number(dyn_client *client, Dynamics__V1__Request *request) {
    request->id = ++client->last_request;
    request->client = client->id;
}

/* Sets the request's timeout and its lowest accepted revision, and its numbers unless it has an id. `patience` receives
 * the time to wait for the reply, s: `timeout`, or the client's own if `timeout` is 0. The daemon gets slightly less,
 * so that its error about a slow request arrives in time. */
static dyn_client_status address(dyn_client *client, double timeout, Dynamics__V1__Request *request, double *patience,
                                 dyn_client_error *error) {
    if (request->id == 0) {
        call_number(client, request);
    }
    dyn_client_status status = check_time(timeout, client->timeout, "timeout", patience, error);
    request->min_revision = client->min_revision;
    request->token = client->token;
    if (status == DYN_CLIENT_OK) {
        request->timeout = *patience - fmin(*patience / 10, MOST_RESERVE);
    }
    return status;
}

/* Sends a request and waits for its reply, at most `patience` seconds. Other threads can cancel it meanwhile. */
static dyn_client_status exchange(dyn_client *client, const outgoing *message, request_numbers numbers, double patience,
                                  incoming *reply, dyn_client_error *error) {
    under_way_request listed;
    under_way_add(&client->requests, &listed, numbers, message->content);
    dyn_client_status status = connection_exchange(client->connection, message, patience, reply, error);
    under_way_remove(&client->requests, &listed);
    return status;
}

void call_cancel(dyn_client *client, request_numbers numbers) {
    Dynamics__V1__CancelRequest question = DYNAMICS__V1__CANCEL_REQUEST__INIT;
    Dynamics__V1__CancelReply *reply = NULL;
    question.client = numbers.client;
    question.id = numbers.id;
    double patience = UNKNOWN_PATIENCE;
    dyn_client_status status = request_cancel(client, &question, within(CANCEL_TIMEOUT), &reply, NULL);
    if (status == DYN_CLIENT_OK) {
        patience = reply->found ? KNOWN_PATIENCE : UNKNOWN_PATIENCE;
        dynamics__v1__cancel_reply__free_unpacked(reply, NULL);
    } else if (status == DYN_CLIENT_TIMEOUT || status == DYN_CLIENT_UNREACHABLE) {
        patience = 0;
    }
    under_way_cancel(&client->requests, client->connection, numbers, patience);
}

void call_begin_wait(dyn_client *client, under_way_request *wait) {
    Dynamics__V1__Request numbered;
    call_number(client, &numbered);
    under_way_add(&client->requests, wait, (request_numbers){numbered.client, numbered.id}, NULL);
}

void call_end_wait(dyn_client *client, under_way_request *wait) {
    under_way_remove(&client->requests, wait);
}

bool call_is_cancelled(dyn_client *client, const under_way_request *wait) {
    return under_way_is_cancelled(&client->requests, wait);
}

uint64_t dyn_client_thread(void) {
    return under_way_thread();
}

bool dyn_client_cancel(dyn_client *client, uint64_t thread) {
    request_numbers found[CANCELLED_AT_ONCE];
    size_t count = client ? under_way_of(&client->requests, thread, CANCELLED_AT_ONCE, found) : 0;
    for (size_t i = 0; i < count; i++) {
        call_cancel(client, found[i]);
    }
    return count > 0;
}

/* Names the request that failed in its error, which may be NULL. */
static void name_request(uint64_t id, dyn_client_error *error) {
    if (error) {
        error->request = id;
    }
}

/* Sends a request and waits for its reply, at most `patience` seconds. Reports progress meanwhile if the terms have a
 * callback. On success the caller frees `answer` with call_reply_free. */
static dyn_client_status call_once(dyn_client *client, Dynamics__V1__Request *request, const call_terms *terms,
                                   double patience, call_reply *answer, dyn_client_error *error) {
    progress *watched = NULL;
    dyn_client_status status = DYN_CLIENT_OK;
    if (terms->progress) {
        status = progress_start(client, request, terms, &watched, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    outgoing message = {
        .method = (unsigned)request->method_case,
        .size = dynamics__v1__request__get_packed_size(request),
        .write = write_request,
        .content = request,
    };
    const request_numbers numbers = {request->client, request->id};
    status = exchange(client, &message, numbers, patience, &answer->message, error);
    progress_stop(watched);
    if (status == DYN_CLIENT_OK) {
        status = check_reply(&answer->message, request, terms->origin, answer, error);
    }
    if (status != DYN_CLIENT_OK) {
        call_reply_free(answer);
        name_request(request->id, error);
    }
    return status;
}

/* Like call_once. Where several daemons answer, sends a request that one of them refuses while it stops again, since
 * another one receives it. */
static dyn_client_status call_any(dyn_client *client, Dynamics__V1__Request *request, const call_terms *terms,
                                  double patience, call_reply *answer, dyn_client_error *error) {
    double end = monotonic_now() + patience, left = patience;
    dyn_client_status status = call_once(client, request, terms, left, answer, error);
    for (int i = 0; status == DYN_CLIENT_UNAVAILABLE && connection_is_shared(client->connection) && i < REFUSALS; i++) {
        left = end - monotonic_now();
        if (left <= 0) {
            break;
        }
        status = call_once(client, request, terms, left, answer, error);
    }
    return status;
}

dyn_client_status call_read_terms(const dyn_client_terms *given, call_terms *terms, dyn_client_error *error) {
    dyn_client_terms known = DYN_CLIENT_TERMS_INIT();
    dyn_client_status status = given ? sized_read("terms", given, sizeof known, &known, error) : DYN_CLIENT_OK;
    *terms = (call_terms){known.timeout, known.progress, known.progress_context, known.job, "terms.job", NULL};
    return status;
}

dyn_client_status call(dyn_client *client, Dynamics__V1__Request *request, call_terms terms, call_reply *answer,
                       dyn_client_error *error) {
    *answer = (call_reply){0};
    double patience;
    dyn_client_status status = address(client, terms.timeout, request, &patience, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    request->with_code = terms.origin && terms.origin->is_code_wanted;
    bool can_be_job = job_can_run(request);
    if (terms.job && !can_be_job) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, terms.job_field, "this call cannot run as a job");
    }
    bool is_job = terms.job || (client->uses_jobs && can_be_job);
    return is_job ? job_call(client, request, &terms, patience, answer, error)
                  : call_any(client, request, &terms, patience, answer, error);
}

dyn_client_status call_unpacked(dyn_client *client, Dynamics__V1__Request *request, call_terms terms,
                                const ProtobufCMessageDescriptor *descriptor, void *result, dyn_client_error *error) {
    call_reply answer;
    dyn_client_status status = call(client, request, terms, &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    ProtobufCMessage *unpacked = protobuf_c_message_unpack(descriptor, NULL, answer.result_size, answer.result);
    call_reply_free(&answer);
    if (!unpacked) {
        return fail_bad_reply(error, "the result cannot be read");
    }
    *(ProtobufCMessage **)result = unpacked;
    return DYN_CLIENT_OK;
}

void call_set_method(Dynamics__V1__Request *request, Dynamics__V1__Request__MethodCase method, ProtobufCMessage *body) {
    /* All members of the oneof are pointers to messages and share one place in memory. */
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(&dynamics__v1__request__descriptor, method);
    request->method_case = method;
    memcpy((char *)request + field->offset, &body, sizeof body);
}

dyn_client_status call_method(dyn_client *client, Dynamics__V1__Request__MethodCase method, ProtobufCMessage *body,
                              call_terms terms, void *result, dyn_client_error *error) {
    /* A result has the field number of its method. */
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(&dynamics__v1__reply__descriptor, method);
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    call_set_method(&request, method, body);
    return call_unpacked(client, &request, terms, field->descriptor, result, error);
}

void call_reply_free(call_reply *answer) {
    incoming_free(&answer->message);
    *answer = (call_reply){0};
}

/* ---- calls with serialized messages ------------------------------------------------------------------------------ */

/* Serialized request of the caller, followed by the fields of `own`. These take precedence, since the last value of a
 * protobuf field counts. */
typedef struct raw_request {
    const void *bytes;
    size_t size;
    Dynamics__V1__Request own;
} raw_request;

/* Returns the number of the method's field in a serialized request, or 0 if there is none. */
static unsigned method_of(const void *request, size_t size) {
    wire_reader reader = {.at = request, .end = (const uint8_t *)request + size};
    wire_field field;
    unsigned method = 0;
    while (wire_next(&reader, &field)) {
        const ProtobufCFieldDescriptor *known =
            protobuf_c_message_descriptor_get_field(&dynamics__v1__request__descriptor, field.number);
        method = known && (known->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) ? field.number : method;
    }
    return method;
}

static void write_raw_request(const outgoing *request, uint8_t *body) {
    const raw_request *raw = request->content;
    if (raw->size > 0) {
        memcpy(body, raw->bytes, raw->size);
    }
    dynamics__v1__request__pack(&raw->own, body + raw->size);
}

void dyn_client_draw_numbers(dyn_client *client, uint64_t *client_number, uint64_t *id) {
    Dynamics__V1__Request numbered;
    call_number(client, &numbered);
    *client_number = numbered.client;
    *id = numbered.id;
}

dyn_client_status dyn_client_call(dyn_client *client, const void *request, size_t request_size, double timeout,
                                  void **reply, size_t *reply_size, dyn_client_error *error) {
    return dyn_client_call_numbered(client, 0, 0, request, request_size, timeout, reply, reply_size, error);
}

dyn_client_status dyn_client_call_numbered(dyn_client *client, uint64_t client_number, uint64_t id, const void *request,
                                           size_t request_size, double timeout, void **reply, size_t *reply_size,
                                           dyn_client_error *error) {
    *reply = NULL;
    *reply_size = 0;
    raw_request raw = {.bytes = request, .size = request_size, .own = DYNAMICS__V1__REQUEST__INIT};
    raw.own.client = client_number;
    raw.own.id = id;
    double patience;
    dyn_client_status status = address(client, timeout, &raw.own, &patience, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    outgoing message = {.method = method_of(request, request_size),
                        .size = request_size + dynamics__v1__request__get_packed_size(&raw.own),
                        .write = write_raw_request,
                        .content = &raw};
    incoming answer = {0};
    status = exchange(client, &message, (request_numbers){raw.own.client, raw.own.id}, patience, &answer, error);
    if (status != DYN_CLIENT_OK) {
        name_request(raw.own.id, error);
        return status;
    }
    void *copy = malloc(answer.size > 0 ? answer.size : 1);
    if (copy) {
        if (answer.size > 0) {
            memcpy(copy, answer.bytes, answer.size);
        }
        *reply = copy;
        *reply_size = answer.size;
    }
    incoming_free(&answer);
    return copy ? DYN_CLIENT_OK : fail_memory(error);
}

dyn_client_status dyn_client_reply_status(const void *reply, size_t reply_size, dyn_client_error *error) {
    const incoming message = {.bytes = reply, .size = reply_size};
    envelope read;
    if (!read_envelope(&message, &read)) {
        return fail_bad_reply(error, "the reply cannot be read");
    }
    dyn_client_status status = read_status(&read, error);
    if (status != DYN_CLIENT_OK) {
        name_request(read.id, error);
    }
    return status;
}

void dyn_client_free(void *reply) {
    free(reply);
}
