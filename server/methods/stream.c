/* SPDX-License-Identifier: BSD-2-Clause */
/* Methods of streams: open, close, query and watch them; and the processing of pushed points. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dynamics/v1/stream.pb-c.h"
#include "methods/live.h"
#include "methods/live_messages.h"
#include "methods/methods.h"
#include "methods/query.h"
#include "methods/recorded_model.h"
#include "methods/robot_values.h"
#include "methods/stepping.h"
#include "methods/text.h"
#include "observe/clock.h"

/* Largest memory of a decoded chunk: this multiple of its serialized size, plus this many bytes. */
enum { CHUNK_FACTOR = 4, CHUNK_MARGIN = 1 << 16 };

static const char NO_TARGET[] = "the stream has no target; set one of feedforward, simulation_input and record";

/* Capacity in points, and idle time in seconds, of streams whose request has none. */
enum { STANDARD_CAPACITY = 10000 };
static const double STANDARD_IDLE_TIME = 60;

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static bool has_key(const void *value, const void *context) {
    return ((const stream *)value)->key == *(const uint64_t *)context;
}

/* Size of the text of a chunk's problem, in bytes. */
enum { PROBLEM_SIZE = 192 };

/* Array of a chunk, as the message has it. */
typedef struct chunk_part {
    const char *name;
    bool is_q;
    size_t count;
    const double *values;
} chunk_part;

/* Converts the n rows of a part to the model's order, in memory of the arena. `rows` receives NULL for an absent part.
 * Returns false, and writes the problem, if the number of values does not fit or memory is short. */
static bool read_rows(arena *memory, const robot *r, size_t n, const chunk_part *part, const double **rows,
                      char problem[PROBLEM_SIZE]) {
    size_t width = part->is_q ? r->nq : r->nv;
    *rows = NULL;
    if (part->count == 0) {
        return true;
    }
    if (part->count / width != n || part->count % width != 0) {
        snprintf(problem, PROBLEM_SIZE, "%s has %zu values; %zu points of %zu need %zu", part->name, part->count, n,
                 width, n * width);
        return false;
    }
    *rows = part->values;
    if (!r->order.is_identity) {
        double *ordered = arena_array(memory, part->count, sizeof *ordered);
        if (!ordered) {
            snprintf(problem, PROBLEM_SIZE, "the daemon is short of memory");
            return false;
        }
        (part->is_q ? robot_q_to_model : robot_v_to_model)(r, n, part->values, ordered);
        *rows = ordered;
    }
    return true;
}

/* Converts all rows of a chunk to the model's order. Returns false, and writes the problem, if one part does not
 * fit. */
static bool read_parts(arena *memory, const robot *r, const Dynamics__V1__StreamChunk *m, stream_chunk *chunk,
                       char problem[PROBLEM_SIZE]) {
    const chunk_part parts[] = {{"q", true, m->n_q, m->q},
                                {"v", false, m->n_v, m->v},
                                {"a", false, m->n_a, m->a},
                                {"tau", false, m->n_tau, m->tau}};
    const double **rows[] = {&chunk->q, &chunk->v, &chunk->a, &chunk->tau};
    bool is_read = true;
    for (size_t k = 0; is_read && k < sizeof parts / sizeof parts[0]; k++) {
        is_read = read_rows(memory, r, m->n_time, &parts[k], rows[k], problem);
    }
    return is_read;
}

/* Returns the largest number of bytes that a chunk takes in a recording. */
static size_t recorded_bytes(const Dynamics__V1__StreamChunk *m) {
    return message_points_bytes(m->n_time, m->n_time + m->n_q + m->n_v + m->n_a + m->n_tau);
}

/* Checks the counts of a chunk and passes it to its stream, or refuses it. */
static void receive_chunk(live *l, stream *s, const Dynamics__V1__StreamChunk *m, uint64_t arrival) {
    const robot *r = &stream_session_of(s)->robot;
    char problem[PROBLEM_SIZE] = "";
    stream_chunk chunk = {
        .sequence = m->point_number, .n = m->n_time, .t = m->time, .sent = m->stamp_ns, .arrival = arrival};
    bool needs_q = s->options.kind == STREAM_FEEDFORWARD;
    if (m->base.n_unknown_fields > 0) {
        snprintf(problem, sizeof problem, "it has the field %u, which this daemon does not know; leave it out",
                 m->base.unknown_fields[0].tag);
    } else if (m->n_time == 0) {
        snprintf(problem, sizeof problem, "time is empty; pass that of each point");
    } else if (m->n_time > s->options.capacity) {
        snprintf(problem, sizeof problem, "%zu points; at most the stream's capacity of %zu may come at once",
                 m->n_time, s->options.capacity);
    } else if (needs_q && m->n_q == 0) {
        snprintf(problem, sizeof problem, "q is empty; feedforward needs q, and takes v and a");
    } else if (s->options.kind == STREAM_RECORD && recorded_bytes(m) > RECORDING_BUFFER_BYTES) {
        snprintf(problem, sizeof problem,
                 "its %zu points take %zu bytes in the recording; push at most %d bytes at once", m->n_time,
                 recorded_bytes(m), RECORDING_BUFFER_BYTES);
    } else if (read_parts(&l->chunk_memory, r, m, &chunk, problem)) {
        stream_push(s, &chunk);
        return;
    }
    stream_refuse(s, arrival, problem);
}

/* Counts a pushed message that belongs to no stream, and logs it at most once a minute. */
static void note_stray(live *l, const char *peer, const char *what) {
    atomic_fetch_add(&l->stray_chunks, 1);
    log_repeated(l->options.log, &l->stray, "a pushed message of %s was left out: %s", peer, what);
}

void live_receive_message(void *context, const uint8_t *bytes, size_t size, uint64_t arrival, const char *peer) {
    live *l = context;
    if (size > atomic_load(&l->options.limits->message_bytes)) {
        note_stray(l, peer, "it is longer than limits.message_bytes");
        return;
    }
    arena_reset(&l->chunk_memory, CHUNK_FACTOR * size + CHUNK_MARGIN);
    Dynamics__V1__StreamChunk *chunk = dynamics__v1__stream_chunk__unpack(&l->chunk_memory.allocator, size, bytes);
    if (!chunk) {
        note_stray(l, peer, "it is no serialized dynamics.v1.StreamChunk");
        return;
    }
    stream *s = chunk->key ? name_table_search(&l->streams, has_key, &chunk->key) : NULL;
    if (!s) {
        note_stray(l, peer, "no stream has its key; it may have ended");
        return;
    }
    /* Removes the limit of the arena, since arrays in the caller's order need a copy in the model's. */
    l->chunk_memory.limit = SIZE_MAX;
    receive_chunk(l, s, chunk, arrival);
    stream_release(s);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void free_session(void *attachment) {
    stream_session *session = attachment;
    topics_free(&session->topics);
    arena_free(&session->memory);
    free(session->rows);
    free(session);
}

/* Reads the target of the points: the kind of the stream. On failure fills `why` and returns false. */
static bool read_target(const Dynamics__V1__OpenStreamRequest *r, stream_options *options, refusal *why) {
    const Dynamics__V1__SimulationInputTarget *fed;
    switch (r->target_case) {
    case DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_FEEDFORWARD:
        options->kind = STREAM_FEEDFORWARD;
        return true;
    case DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_SIMULATION_INPUT:
        fed = r->simulation_input;
        options->kind = STREAM_SIMULATION_INPUT;
        options->is_linear = fed->hold == DYNAMICS__V1__HOLD__HOLD_LINEAR;
        options->empty = (stream_empty)fed->empty;
        return value_check_choice("simulation_input.hold", (int)fed->hold, 2, why) &&
               value_check_choice("simulation_input.empty", (int)fed->empty, 3, why);
    case DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_RECORD:
        options->kind = STREAM_RECORD;
        return true;
    default:
        return refuse(why, REASON_MISSING_VALUE, "target", "%s", NO_TARGET);
    }
}

/* Parts of the query of a stream whose points become torques. */
static const query_parts FEEDFORWARD_PARTS =
    QUERY_ALL | QUERY_CONSTRAINTS | QUERY_ADDED_CONSTRAINTS | QUERY_MOTION_OPTIONS;

/* Returns the parts of the query that a kind of stream supports. */
static query_parts supported_parts(stream_kind kind) {
    return kind == STREAM_FEEDFORWARD ? FEEDFORWARD_PARTS : QUERY_JOINT_NAMES;
}

static bool read_options(live *l, const Dynamics__V1__OpenStreamRequest *r, stream_options *options, refusal *why) {
    uint64_t most = atomic_load(&l->options.limits->stream_points);
    if (!read_target(r, options, why) || !value_check_choice("late", (int)r->late, 2, why)) {
        return false;
    }
    if (!(r->late_after >= 0 && r->late_after <= 1e6)) {
        return refuse(why, REASON_INVALID_VALUE, "late_after", "late_after is %g; pass 0 to 1e6 s", r->late_after);
    }
    if (!(r->idle_time == 0 || (r->idle_time >= 0.1 && r->idle_time <= 86400))) {
        return refuse(why, REASON_INVALID_VALUE, "idle_time", "idle_time is %g; pass 0.1 to 86400 s, or 0 for %g",
                      r->idle_time, STANDARD_IDLE_TIME);
    }
    if (r->capacity > most) {
        return refuse_limit(why, REASON_VALUE_TOO_LARGE, (excess){BOUND_STREAM_POINTS, most, r->capacity}, "capacity",
                            "capacity is %llu; the limit is %llu (limits.stream_points)",
                            (unsigned long long)r->capacity, (unsigned long long)most);
    }
    options->drops_late = r->late == DYNAMICS__V1__LATE_POLICY__LATE_POLICY_DROP;
    options->late_after = r->late_after;
    options->capacity = r->capacity ? (size_t)r->capacity : most < STANDARD_CAPACITY ? (size_t)most : STANDARD_CAPACITY;
    options->idle_time = r->idle_time > 0 ? r->idle_time : STANDARD_IDLE_TIME;
    return true;
}

/* Copies the names of the joints to the session's memory, since they must outlive the request. Returns false when out
 * of memory. */
static bool copy_names(stream_session *session, const Dynamics__V1__Query *query, char ***names) {
    *names = arena_array(&session->memory, query->n_joint_names, sizeof **names);
    for (size_t i = 0; *names && i < query->n_joint_names; i++) {
        (*names)[i] = arena_allocate(&session->memory, strlen(query->joint_names[i]) + 1);
        if (!(*names)[i]) {
            return false;
        }
        strcpy((*names)[i], query->joint_names[i]);
    }
    return *names != NULL;
}

/* Reads the query into the session's memory and into the options. `sent` NULL: an empty query. On failure fills `why`
 * and returns false. */
static bool read_query(stream_session *session, const Dynamics__V1__Query *sent, model_entry *entry,
                       stream_options *options, refusal *why) {
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    if (sent) {
        query = *sent;
    }
    if (!query_check(&query, supported_parts(options->kind), "this target of open_stream", why)) {
        return false;
    }
    if (options->kind == STREAM_SIMULATION_INPUT && query.model[0] != '\0') {
        return refuse(why, REASON_UNUSED_FIELD, "query.model",
                      "the model of points for a simulation is that of the simulation; leave it out");
    }
    if (!query_check_digest(&query, entry, why)) {
        return false;
    }
    char **names;
    if (!copy_names(session, &query, &names)) {
        return refuse_memory(why);
    }
    query.joint_names = names;
    bool is_read = query_read(&query, entry, &session->memory, &session->robot, &session->values, why) &&
                   robot_read_forces(&session->robot, "query.external_forces", query.n_external_forces,
                                     query.external_forces, &options->forces, why);
    options->gravity = session->values.gravity;
    options->payload_count = session->values.payload_count;
    options->payloads = session->values.payloads;
    options->precision = session->values.precision;
    options->motion = session->values.motion;
    return is_read;
}

static stream_session *create_session(const Dynamics__V1__Query *query, model_entry *entry, stream_options *options,
                                      refusal *why) {
    stream_session *session = calloc(1, sizeof *session);
    if (!session) {
        refuse_memory(why);
        return NULL;
    }
    arena_init(&session->memory);
    arena_reset(&session->memory, SIZE_MAX);
    if (!read_query(session, query, entry, options, why)) {
        free_session(session);
        return NULL;
    }
    return session;
}

/* Context of write_header: the stream, and the description of its model; NULL: none. */
typedef struct recorded_stream {
    stream *stream;
    Dynamics__V1__ModelDescription *description;
} recorded_stream;

static bool write_header(recording *r, void *context) {
    const recorded_stream *start = context;
    stream *s = start->stream;
    Dynamics__V1__RecordingHeader header = DYNAMICS__V1__RECORDING_HEADER__INIT;
    static char format[] = "dynamics.v1.stream", version[] = DYNAMICSD_VERSION;
    header.format = format;
    header.daemon = version;
    header.stamp_ns = clock_wall();
    header.model = s->entry->name;
    header.digest = s->entry->digest;
    header.description = start->description;
    header.belongs_to = s->belongs_to;
    s->recording = r;
    return recording_append(r, &header.base);
}

/* Begins the recording of a stream that is not in the table yet, under the wanted name or that of the stream. On
 * failure fills `why` and returns false. */
static bool open_recording(call *c, stream *s, const char *wanted, refusal *why) {
    live *l = c->service->live;
    char path[PATH_MAX];
    recorded_model model;
    recorded_model_describe(&model, &l->options, s->entry->model, atomic_load(&l->options.limits->recording_bytes) / 2);
    recorded_stream start = {.stream = s, .description = model.description};
    const recording_beginning beginning = {
        .place = &s->recording,
        .mutex = &s->mutex,
        .user = s->belongs_to,
        .is_free = call_share(c, 0) > 0,
        .write_header = write_header,
        .context = &start,
    };
    bool is_begun = live_begin_recording(l, wanted[0] ? wanted : s->name, &beginning, path, why);
    recorded_model_free(&model);
    if (!is_begun) {
        refuse_within(why, "record");
    }
    return is_begun;
}

/* Returns whether the simulation can be the target of a stream: the token commands it, and no stream feeds it.
 * Otherwise ends the call. The simulation is locked. */
static bool check_target(call *c, const simulation *s, uint64_t token) {
    if (s->token == 0 || s->token != token) {
        call_blame(c, "simulation_input.token");
        call_fail(c, REASON_WRONG_TOKEN, "simulation \"%s\" is commanded by %s; a stream into it needs its token",
                  s->name, s->owner[0] ? s->owner : "nobody");
    } else if (s->source) {
        call_blame(c, "simulation_input.simulation");
        call_fail(c, REASON_FED_BY_STREAM, "stream \"%s\" feeds simulation \"%s\" already; close it first",
                  s->source->name, s->name);
    }
    return !call_has_ended(c);
}

/* Returns a reference to the target simulation. Returns NULL, and the call has ended, if there is none or it cannot be
 * the target. */
static simulation *find_target(call *c, const Dynamics__V1__SimulationInputTarget *wanted) {
    char quoted[TEXT_QUOTE_SIZE];
    simulation *s = name_table_find(&c->service->live->simulations, wanted->simulation);
    if (!s) {
        call_blame(c, "simulation_input.simulation");
        call_fail(c, REASON_SIMULATION_NOT_FOUND, "there is no simulation %s", text_quote(wanted->simulation, quoted));
        return NULL;
    }
    simulation_lock(s);
    bool is_good = check_target(c, s, wanted->token);
    simulation_unlock(s);
    if (!is_good) {
        simulation_release(s);
    }
    return is_good ? s : NULL;
}

/* Ends a stream that could not be opened, and deletes the file of its recording. */
static void withdraw(live *l, stream *s) {
    live_discard_recording(l, &s->recording, &s->mutex);
    live_end_stream(l, s, STREAM_CLOSED, "it could not be opened");
}

/* Creates the stream of a request and adds it to the table. Returns a reference. Returns NULL, and the call has ended,
 * on failure. */
static stream *open_stream(call *c, const Dynamics__V1__OpenStreamRequest *r, model_entry *entry, simulation *target) {
    live *l = c->service->live;
    char name[SIMULATION_NAME_SIZE];
    refusal why = {0};
    char path[ERROR_PATH_SIZE];
    dyn_error error;
    stream_options options = {0};
    stream *s = NULL;
    stream_session *session = NULL;
    if (!live_name(l, "stream", r->name, "name", name, &why) || !read_options(l, r, &options, &why) ||
        !(session = create_session(r->query, entry, &options, &why))) {
        call_refuse(c, &why);
        return NULL;
    }
    dyn_status status = stream_create(entry, target, name, &options, &live_stream_hooks, l, &error, &s);
    if (status != DYN_OK) {
        free_session(session);
        call_blame(c, "%s", stepping_error_path(&error, path));
        call_fail_library(c, &error);
        if (error.site.cause == DYN_CAUSE_MEMORY) {
            call_fail_memory(c);
        }
        return NULL;
    }
    s->attachment = session;
    s->free_attachment = free_session;
    s->key = live_token();
    snprintf(s->owner, sizeof s->owner, "%s", c->transport->peer);
    snprintf(s->belongs_to, sizeof s->belongs_to, "%s", c->caller.name);
    topics_name(&session->topics, l->options.instance, "stream", name, "torques");
    bool is_good = (options.kind != STREAM_RECORD || open_recording(c, s, r->record->recording, &why)) &&
                   live_add_stream(l, s, call_share(c, atomic_load(&l->options.limits->user_streams)), &why);
    if (!is_good) {
        call_refuse(c, &why);
        withdraw(l, s);
        stream_release(s);
        return NULL;
    }
    return s;
}

/* Connects a stream to its target simulation, if it has one. Returns false, and the call has ended, if the simulation
 * cannot be the target any more or the stream has ended. */
static bool feed(call *c, stream *s, uint64_t token) {
    if (!s->target) {
        return true;
    }
    simulation_lock(s->target);
    bool is_good = check_target(c, s->target, token);
    pthread_mutex_lock(&s->mutex); /* a stream's mutex is locked after that of a simulation */
    bool is_closed = s->is_closed;
    pthread_mutex_unlock(&s->mutex);
    if (is_good && is_closed) {
        call_fail(c, REASON_DELETED_MEANWHILE, "stream \"%s\" or its simulation ended meanwhile", s->name);
        is_good = false;
    }
    if (is_good) {
        simulation_attach(s->target, &s->source);
    }
    simulation_unlock(s->target);
    return is_good;
}

/* Opens the endpoint of the topics of a stream, and writes its addresses. On failure ends the call and returns
 * false. */
static bool watch(call *c, stream *s, char ***addresses, size_t *count) {
    watched_topics *topics = &stream_session_of(s)->topics;
    refusal why = {0};
    if (!live_watch(c->service->live, topics, &s->mutex, &c->memory, addresses, count, &why)) {
        call_refuse(c, &why);
        return false;
    }
    pthread_mutex_lock(&s->mutex);
    topics_expect(topics, c->transport);
    pthread_mutex_unlock(&s->mutex);
    return true;
}

static void reply_opened(call *c, stream *s, bool must_watch) {
    live *l = c->service->live;
    Dynamics__V1__OpenStreamReply *reply = create_open_stream_reply(c);
    const watched_topics *topics = &stream_session_of(s)->topics;
    if (!reply) {
        return;
    }
    call_set_model(c, s->entry);
    reply->stream = call_string(c, s->name);
    reply->key = s->key;
    reply->ingest = call_allocate(c, l->ingest_count, sizeof *reply->ingest);
    for (size_t i = 0; reply->ingest && i < l->ingest_count; i++) {
        reply->ingest[reply->n_ingest++] = call_string(c, l->ingest[i]);
    }
    reply->credit = s->options.capacity;
    reply->nq = (uint32_t)s->nq;
    reply->nv = (uint32_t)s->nv;
    reply->torques_topic = call_string(c, topics->data);
    reply->events_topic = call_string(c, topics->events);
    if (must_watch) {
        watch(c, s, &reply->addresses, &reply->n_addresses);
    }
}

void method_open_stream(call *c) {
    const Dynamics__V1__OpenStreamRequest *r = c->request->open_stream;
    live *l = c->service->live;
    if (l->ingest_count == 0 && !call_is_over_nats(c)) {
        call_fail(c, REASON_NOT_CONFIGURED,
                  "the daemon has no endpoint for streams; name one in its configuration (endpoints.ingest)");
        return;
    }
    if (r->target_case == DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET__NOT_SET) {
        call_blame(c, "target");
        call_fail(c, REASON_MISSING_VALUE, "%s", NO_TARGET);
        return;
    }
    bool feeds_simulation = r->target_case == DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_SIMULATION_INPUT;
    simulation *target = feeds_simulation ? find_target(c, r->simulation_input) : NULL;
    model_entry *entry = target             ? model_entry_retain(target->entry)
                         : feeds_simulation ? NULL
                                            : query_find_model(c, r->query, FEEDFORWARD_PARTS);
    stream *s = entry ? open_stream(c, r, entry, target) : NULL;
    if (s) {
        call_set_object(c, s->name);
        if (feed(c, s, feeds_simulation ? r->simulation_input->token : 0)) {
            reply_opened(c, s, r->watch);
        }
        if (call_has_ended(c)) {
            withdraw(l, s);
        }
        stream_release(s);
    }
    model_entry_release(entry);
    simulation_release(target);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* Returns a reference to the stream of that name, and names its model in the reply. Returns NULL, and the call has
 * ended, if there is none. */
static stream *find(call *c, const char *name) {
    char quoted[TEXT_QUOTE_SIZE];
    stream *s = name_table_find(&c->service->live->streams, name);
    if (!s) {
        call_blame(c, "stream");
        call_fail(c, name[0] ? REASON_STREAM_NOT_FOUND : REASON_MISSING_VALUE,
                  "there is no stream %s; it may have ended (ListStreams tells which there are)",
                  text_quote(name, quoted));
        return NULL;
    }
    call_set_model(c, s->entry);
    return s;
}

/* Builds the summary of a stream in the call's memory. Returns NULL, and the call has ended, when out of memory. */
static Dynamics__V1__StreamSummary *summarize(call *c, stream *s) {
    pthread_mutex_lock(&s->mutex);
    Dynamics__V1__StreamSummary *summary = message_stream_summary(c, s);
    pthread_mutex_unlock(&s->mutex);
    return summary;
}

void method_get_stream(call *c) {
    Dynamics__V1__GetStreamReply *reply = create_get_stream_reply(c);
    stream *s = reply ? find(c, c->request->get_stream->stream) : NULL;
    if (s) {
        reply->stream = summarize(c, s);
        stream_release(s);
    }
}

void method_close_stream(call *c) {
    const Dynamics__V1__CloseStreamRequest *r = c->request->close_stream;
    Dynamics__V1__CloseStreamReply *reply = create_close_stream_reply(c);
    stream *s = reply ? find(c, r->stream) : NULL;
    if (!s) {
        return;
    }
    if (r->key != s->key && !(r->key == 0 && call_may_command(c, s->belongs_to))) {
        call_blame(c, "key");
        call_fail(c, REASON_WRONG_TOKEN,
                  "stream \"%s\" was opened by %s; pass its key (the request has %s), or none as %s or as an "
                  "administrator",
                  s->name, s->owner, r->key ? "another one" : "none", s->belongs_to);
    } else {
        live_end_stream(c->service->live, s, STREAM_CLOSED, "closed by its owner");
        reply->stream = summarize(c, s);
    }
    stream_release(s);
}

/* Copies the results that the stream has stored from number `first` on to the reply, at most `count` of them; 0: all.
 * The stream is locked. */
static void copy_points(call *c, const stream *s, uint64_t first, uint64_t count,
                        Dynamics__V1__GetStreamPointsReply *reply) {
    size_t capacity = s->options.capacity;
    uint64_t last = s->order.last, oldest = last >= capacity ? last - capacity + 1 : 1;
    uint64_t begin = first > oldest ? first : oldest;
    uint64_t span = last >= begin ? last - begin + 1 : 0, most = count > 0 && count < span ? count : span;
    reply->point_number = call_allocate(c, (size_t)most, sizeof *reply->point_number);
    reply->time = call_allocate(c, (size_t)most, sizeof *reply->time);
    reply->tau = call_allocate(c, (size_t)most * s->nv, sizeof *reply->tau);
    reply->oldest = last > 0 ? oldest : 0;
    for (uint64_t i = 0; !call_has_ended(c) && i < span && reply->n_point_number < most; i++) {
        uint64_t n = begin + i; /* `last` may be the largest number */
        size_t place = (size_t)(n % capacity);
        if (s->held_sequence[place] == n) {
            robot_v_to_caller(&stream_session_of(s)->robot, 1, s->held_tau + place * s->nv, reply->tau + reply->n_tau);
            reply->time[reply->n_time++] = s->held_t[place];
            reply->point_number[reply->n_point_number++] = n;
            reply->n_tau += s->nv;
        }
    }
}

void method_get_stream_points(call *c) {
    const Dynamics__V1__GetStreamPointsRequest *r = c->request->get_stream_points;
    Dynamics__V1__GetStreamPointsReply *reply = create_get_stream_points_reply(c);
    stream *s = reply ? find(c, r->stream) : NULL;
    if (!s) {
        return;
    }
    if (s->options.kind != STREAM_FEEDFORWARD) {
        call_blame(c, "stream");
        call_fail(c, REASON_WRONG_STREAM_KIND,
                  "stream \"%s\" has another target than feedforward: its points do not become torques", s->name);
    } else {
        pthread_mutex_lock(&s->mutex);
        copy_points(c, s, r->first, r->count, reply);
        pthread_mutex_unlock(&s->mutex);
    }
    stream_release(s);
}

void method_list_streams(call *c) {
    name_table *table = &c->service->live->streams;
    Dynamics__V1__ListStreamsReply *reply = create_list_streams_reply(c);
    void **all;
    size_t count;
    if (!reply || !name_table_list(table, &all, &count)) {
        call_fail_memory(c);
        return;
    }
    reply->streams = call_allocate(c, count, sizeof *reply->streams);
    for (size_t i = 0; reply->streams && i < count && !call_has_ended(c); i++) {
        reply->streams[i] = summarize(c, all[i]);
        reply->n_streams = i + 1;
    }
    name_table_release_list(table, all, count);
}

void method_watch_stream(call *c) {
    Dynamics__V1__WatchStreamReply *reply = create_watch_stream_reply(c);
    stream *s = reply ? find(c, c->request->watch_stream->stream) : NULL;
    if (!s) {
        return;
    }
    const watched_topics *topics = &stream_session_of(s)->topics;
    if (watch(c, s, &reply->addresses, &reply->n_addresses)) {
        reply->torques_topic = call_string(c, topics->data);
        reply->events_topic = call_string(c, topics->events);
        reply->linger = TOPIC_LINGER;
        reply->stream = summarize(c, s);
    }
    stream_release(s);
}
