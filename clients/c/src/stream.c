/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens and closes streams, pushes points to them, and requests their state and results.
 */
#include "requests.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "endpoint.h"
#include "error.h"
#include "monotonic.h"
#include "query.h"
#include "sized.h"

/* DEFAULT_WAIT: default timeout of a push, s. ARRIVAL_TIME: longest time without an arriving point that closing a
 * stream waits for the last point, s. */
static const double DEFAULT_WAIT = 10, ARRIVAL_TIME = 1;

static const struct timespec ARRIVAL_PAUSE = {.tv_nsec = 1000000};

struct dyn_client_stream {
    one_way *socket;
    char name[80];
    uint64_t key, next, pushed; /* numbers of the next point and of the last one pushed */
    size_t nq, nv;
};

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Messages of the targets of a stream. A request uses one of them. */
typedef struct stream_targets {
    Dynamics__V1__FeedforwardTarget feedforward;
    Dynamics__V1__SimulationInputTarget simulation_input;
    Dynamics__V1__RecordTarget record;
} stream_targets;

static dyn_client_status fill_target(const dyn_client_stream_options *from, stream_targets *targets,
                                     Dynamics__V1__OpenStreamRequest *to, dyn_client_error *error) {
    switch (from->kind) {
    case DYN_CLIENT_STREAM_KIND_FEEDFORWARD:
        dynamics__v1__feedforward_target__init(&targets->feedforward);
        to->target_case = DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_FEEDFORWARD;
        to->feedforward = &targets->feedforward;
        return DYN_CLIENT_OK;
    case DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT:
        dynamics__v1__simulation_input_target__init(&targets->simulation_input);
        to->target_case = DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_SIMULATION_INPUT;
        to->simulation_input = &targets->simulation_input;
        if (from->simulation) {
            to->simulation_input->simulation = (char *)from->simulation;
        }
        to->simulation_input->token = from->token;
        to->simulation_input->hold = (Dynamics__V1__Hold)from->hold;
        to->simulation_input->empty = (Dynamics__V1__EmptyPolicy)from->empty;
        return DYN_CLIENT_OK;
    case DYN_CLIENT_STREAM_KIND_RECORD:
        dynamics__v1__record_target__init(&targets->record);
        to->target_case = DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_RECORD;
        to->record = &targets->record;
        if (from->recording) {
            to->record->recording = (char *)from->recording;
        }
        return DYN_CLIENT_OK;
    case DYN_CLIENT_STREAM_KIND_UNSPECIFIED:
        break;
    }
    return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "open_stream.target",
                "options->kind is %d; pass a dyn_client_stream_kind from DYN_CLIENT_STREAM_KIND_FEEDFORWARD on",
                (int)from->kind);
}

static void fill_open(const dyn_client_stream_options *from, Dynamics__V1__OpenStreamRequest *to) {
    to->name = from->name ? (char *)from->name : to->name;
    to->late = (Dynamics__V1__LatePolicy)from->late;
    to->late_after = from->late_after;
    to->capacity = from->capacity;
    to->idle_time = from->idle_time;
}

/* Encodes the options and requests the new stream. `terms` receives the terms of the options' query. */
static dyn_client_status request_open(dyn_client *client, const dyn_client_stream_options *options, call_terms *terms,
                                      Dynamics__V1__OpenStreamReply **reply, dyn_client_error *error) {
    static const dyn_client_query none = DYN_CLIENT_QUERY_INIT();
    Dynamics__V1__OpenStreamRequest open = DYNAMICS__V1__OPEN_STREAM_REQUEST__INIT;
    query_parts parts;
    stream_targets targets;
    fill_open(options, &open);
    dyn_client_status status = fill_target(options, &targets, &open, error);
    if (status == DYN_CLIENT_OK) {
        status = query_parts_read(options->query ? options->query : &none, &parts, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    open.query = &parts.query;
    *terms = parts.terms;
    status = request_open_stream(client, &open, parts.terms, reply, error);
    query_parts_free(&parts);
    return status;
}

/* Fills the stream, which is empty, from a reply and connects it to the reply's ingest addresses. If no address
 * connects, closes the stream in the daemon and frees it. */
static dyn_client_status connect_stream(dyn_client *client, const Dynamics__V1__OpenStreamReply *reply, double timeout,
                                        dyn_client_stream *self, dyn_client_error *error) {
    *self = (dyn_client_stream){.key = reply->key, .next = 1, .nq = reply->nq, .nv = reply->nv};
    strncpy(self->name, reply->stream, sizeof self->name - 1);
    dyn_client_status status = one_way_open(client_connection(client), reply->n_ingest, reply->ingest, 0, NULL,
                                            client_connect_timeout(client), &self->socket, error);
    if (status != DYN_CLIENT_OK) {
        dyn_client_close_stream(client, self, timeout, NULL, NULL);
    }
    return status;
}

dyn_client_status dyn_client_open_stream(dyn_client *client, const dyn_client_stream_options *options,
                                         dyn_client_stream **stream, dyn_client_error *error) {
    dyn_client_stream_options known;
    Dynamics__V1__OpenStreamReply *reply;
    call_terms terms;
    *stream = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    dyn_client_status status = sized_read("options", options, sizeof known, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    /* Allocated before the request, so that no failure after it leaves an unknown stream in the daemon. */
    dyn_client_stream *self = calloc(1, sizeof *self);
    if (!self) {
        return fail_memory(error);
    }
    status = request_open(client, &known, &terms, &reply, error);
    if (status != DYN_CLIENT_OK) {
        free(self);
        return status;
    }
    status = connect_stream(client, reply, terms.timeout, self, error);
    *stream = status == DYN_CLIENT_OK ? self : NULL;
    dynamics__v1__open_stream_reply__free_unpacked(reply, NULL);
    return status;
}

dyn_client_status dyn_client_join_stream(dyn_client *client, const char *name, uint64_t key, double timeout,
                                         dyn_client_stream **stream, dyn_client_error *error) {
    dyn_client_stream_list *known;
    *stream = NULL;
    dyn_client_status status = dyn_client_get_stream(client, name, timeout, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    dyn_client_stream *self = calloc(1, sizeof *self);
    if (self) {
        const dyn_client_stream_info *s = &known->streams[0];
        *self = (dyn_client_stream){.key = key, .next = s->last_point_number + 1, .nq = s->nq, .nv = s->nv};
        strncpy(self->name, name, sizeof self->name - 1);
    }
    dyn_client_stream_list_free(known);
    if (!self) {
        return fail_memory(error);
    }
    status = endpoint_open(client, "ingest", 0, NULL, timeout, &self->socket, error);
    if (status == DYN_CLIENT_OK) {
        *stream = self;
    } else {
        free(self);
    }
    return status;
}

void dyn_client_leave_stream(dyn_client_stream *stream) {
    if (!stream) {
        return;
    }
    one_way_close(stream->socket);
    free(stream);
}

const char *dyn_client_stream_name(const dyn_client_stream *stream) {
    return stream->name;
}

uint64_t dyn_client_stream_key(const dyn_client_stream *stream) {
    return stream->key;
}

void dyn_client_stream_seek(dyn_client_stream *stream, uint64_t point_number) {
    stream->next = point_number;
}

/* ---- pushing ----------------------------------------------------------------------------------------------------- */

static void write_chunk(const outgoing *message, uint8_t *body) {
    dynamics__v1__stream_chunk__pack(message->content, body);
}

dyn_client_status dyn_client_push_points(dyn_client_stream *stream, size_t n, const double *t, const double *q,
                                         const double *v, const double *a, const double *tau, double timeout,
                                         dyn_client_error *error) {
    Dynamics__V1__StreamChunk chunk = DYNAMICS__V1__STREAM_CHUNK__INIT;
    struct timespec now;
    if (!stream || !t || n == 0) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "t", "stream or t is NULL, or n is 0");
    }
    clock_gettime(CLOCK_REALTIME, &now);
    chunk.key = stream->key;
    chunk.point_number = stream->next;
    chunk.stamp_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    chunk.n_time = n;
    chunk.time = (double *)t;
    chunk.n_q = q ? n * stream->nq : 0;
    chunk.q = (double *)q;
    chunk.n_v = v ? n * stream->nv : 0;
    chunk.v = (double *)v;
    chunk.n_a = a ? n * stream->nv : 0;
    chunk.a = (double *)a;
    chunk.n_tau = tau ? n * stream->nv : 0;
    chunk.tau = (double *)tau;
    outgoing message = {
        .size = dynamics__v1__stream_chunk__get_packed_size(&chunk), .write = write_chunk, .content = &chunk};
    dyn_client_status status = one_way_send(stream->socket, &message, timeout > 0 ? timeout : DEFAULT_WAIT, error);
    if (status == DYN_CLIENT_OK) {
        stream->next += n;
        stream->pushed = stream->next - 1;
    }
    return status;
}

/* ---- state and results ------------------------------------------------------------------------------------------- */

typedef struct list_result {
    dyn_client_stream_list list;
    ProtobufCMessage *reply;
    dyn_client_stream_info streams[];
} list_result;

static void copy_summary(const Dynamics__V1__StreamSummary *from, dyn_client_stream_info *to) {
    *to = (dyn_client_stream_info){
        .name = from->name,
        .model = from->model,
        .simulation = from->simulation,
        .owner = from->owner,
        .recording = from->recording,
        .recording_error = from->recording_error,
        .created_ns = from->created_ns,
        .kind = (dyn_client_stream_kind)from->kind,
        .last_point_number = from->last_point_number,
        .credit = from->credit,
        .waiting = from->waiting,
        .lag = from->lag,
        .greatest_lag = from->greatest_lag,
        .idle = from->idle,
        .watchers = from->watchers,
        .nq = from->nq,
        .nv = from->nv,
        .joint_count = from->n_joint_names,
        .joint_names = (const char *const *)from->joint_names,
    };
    const Dynamics__V1__StreamCounters *counters = from->counters;
    if (counters) {
        to->accepted = counters->accepted;
        to->lost = counters->lost;
        to->late = counters->late;
        to->duplicates = counters->duplicates;
        to->reordered = counters->reordered;
        to->refused = counters->refused;
        to->beyond_credit = counters->beyond_credit;
        to->chunks = counters->chunks;
        to->consumed = counters->consumed;
        to->empty = counters->empty;
    }
}

/* Creates the public list from the streams of a reply, which the list then owns. Frees the reply on failure, or if
 * `list` is NULL. */
static dyn_client_status return_streams(void *reply, size_t count, Dynamics__V1__StreamSummary *const *streams,
                                        dyn_client_stream_list **list, dyn_client_error *error) {
    list_result *result = list ? calloc(1, sizeof *result + count * sizeof *result->streams) : NULL;
    if (!result) {
        protobuf_c_message_free_unpacked(reply, NULL);
        return list ? fail_memory(error) : DYN_CLIENT_OK;
    }
    result->reply = reply;
    for (size_t i = 0; i < count; i++) {
        copy_summary(streams[i], &result->streams[i]);
    }
    result->list = (dyn_client_stream_list){.count = count, .streams = result->streams};
    *list = &result->list;
    return DYN_CLIENT_OK;
}

/* Creates the public list from the only stream of a reply, as return_streams. Errors: BAD_REPLY if the reply lacks it.
 */
static dyn_client_status return_stream(void *reply, Dynamics__V1__StreamSummary *stream, dyn_client_stream_list **list,
                                       dyn_client_error *error) {
    if (!stream) {
        protobuf_c_message_free_unpacked(reply, NULL);
        return fail_bad_reply(error, "the reply lacks the stream");
    }
    return return_streams(reply, 1, &stream, list, error);
}

dyn_client_status dyn_client_get_stream(dyn_client *client, const char *name, double timeout,
                                        dyn_client_stream_list **status, dyn_client_error *error) {
    Dynamics__V1__GetStreamRequest question = DYNAMICS__V1__GET_STREAM_REQUEST__INIT;
    Dynamics__V1__GetStreamReply *reply;
    *status = NULL;
    if (!client || !name) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "get_stream.stream", "client or name is NULL");
    }
    question.stream = (char *)name;
    dyn_client_status code = request_get_stream(client, &question, within(timeout), &reply, error);
    return code == DYN_CLIENT_OK ? return_stream(reply, reply->stream, status, error) : code;
}

dyn_client_status dyn_client_list_streams(dyn_client *client, double timeout, dyn_client_stream_list **list,
                                          dyn_client_error *error) {
    Dynamics__V1__ListStreamsRequest question = DYNAMICS__V1__LIST_STREAMS_REQUEST__INIT;
    Dynamics__V1__ListStreamsReply *reply;
    *list = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    dyn_client_status code = request_list_streams(client, &question, within(timeout), &reply, error);
    return code == DYN_CLIENT_OK ? return_streams(reply, reply->n_streams, reply->streams, list, error) : code;
}

void dyn_client_stream_list_free(dyn_client_stream_list *list) {
    if (!list) {
        return;
    }
    list_result *result = (list_result *)list;
    protobuf_c_message_free_unpacked(result->reply, NULL);
    free(result);
}

dyn_client_status dyn_client_get_stream_points(dyn_client *client, const char *name, uint64_t first, size_t capacity,
                                               size_t nv, double timeout, uint64_t *step, double *tau, size_t *count,
                                               dyn_client_error *error) {
    Dynamics__V1__GetStreamPointsRequest get = DYNAMICS__V1__GET_STREAM_POINTS_REQUEST__INIT;
    Dynamics__V1__GetStreamPointsReply *reply;
    if (!client || !name || capacity == 0) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "get_stream_points.stream",
                    "client or name is NULL, or capacity is 0");
    }
    get.stream = (char *)name;
    get.first = first;
    get.count = capacity;
    dyn_client_status status = request_get_stream_points(client, &get, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    *count = reply->n_point_number;
    if (*count > capacity || reply->n_tau != *count * nv) {
        status = fail(error, DYN_CLIENT_INVALID_ARGUMENT, "nv", "the torques are not %zu rows of %zu", *count, nv);
    } else if (*count > 0) {
        memcpy(step, reply->point_number, *count * sizeof *step);
        memcpy(tau, reply->tau, reply->n_tau * sizeof *tau);
    }
    dynamics__v1__get_stream_points_reply__free_unpacked(reply, NULL);
    return status;
}

/* ---- closing ----------------------------------------------------------------------------------------------------- */

/* Waits until the last point has arrived, since points and the request that ends the stream use different connections.
 * Stops waiting if no point arrives for ARRIVAL_TIME, or if the daemon no longer reports on the stream. */
static void await_arrival(dyn_client *client, const dyn_client_stream *stream, double timeout) {
    dyn_client_stream_list *status;
    uint64_t last = 0;
    double end = monotonic_now() + ARRIVAL_TIME;
    while (last < stream->pushed && monotonic_now() < end &&
           dyn_client_get_stream(client, stream->name, timeout, &status, NULL) == DYN_CLIENT_OK) {
        if (status->streams[0].last_point_number > last) {
            last = status->streams[0].last_point_number;
            end = monotonic_now() + ARRIVAL_TIME;
        } else {
            nanosleep(&ARRIVAL_PAUSE, NULL);
        }
        dyn_client_stream_list_free(status);
    }
}

dyn_client_status dyn_client_close_stream(dyn_client *client, dyn_client_stream *stream, double timeout,
                                          dyn_client_stream_list **status, dyn_client_error *error) {
    Dynamics__V1__CloseStreamRequest close = DYNAMICS__V1__CLOSE_STREAM_REQUEST__INIT;
    Dynamics__V1__CloseStreamReply *reply;
    if (status) {
        *status = NULL;
    }
    if (!stream) {
        return DYN_CLIENT_OK;
    }
    close.stream = stream->name;
    close.key = stream->key;
    await_arrival(client, stream, timeout);
    dyn_client_status code = request_close_stream(client, &close, within(timeout), &reply, error);
    dyn_client_leave_stream(stream);
    return code == DYN_CLIENT_OK ? return_stream(reply, reply->stream, status, error) : code;
}
