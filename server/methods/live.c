/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects that live between requests: adds, maintains and ends simulations and streams, their endpoints and
 * recordings. */
#include "methods/live.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "methods/text.h"
#include "observe/clock.h"
#include "simulations/ticks.h"

/* LOOK_INTERVAL: interval of the thread's checks. LAST_MESSAGES: time for which an endpoint stays open after its last
 * message. */
#define LOOK_INTERVAL (NANOSECONDS / 20)
#define LAST_MESSAGES (NANOSECONDS / 5)

/* CHECK_INTERVAL: interval of checks of the disk's free space. MEASURE_INTERVAL: interval of checks of files that other
 * processes may delete. */
#define CHECK_INTERVAL (NANOSECONDS / 2)
#define MEASURE_INTERVAL (2 * NANOSECONDS)

/* Number of bits of a token: a JSON number represents that many exactly. */
enum { TOKEN_BITS = 53 };

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void retain_simulation(void *value) {
    simulation_retain(value);
}

static void release_simulation(void *value) {
    simulation_release(value);
}

static void retain_stream(void *value) {
    stream_retain(value);
}

static void release_stream(void *value) {
    stream_release(value);
}

/* Sends the states of simulations that are watched together, after their ticks (pacer_rest). */
static void send_groups(void *context, bool are_all_idle) {
    live *l = context;
    groups_send(&l->groups, are_all_idle);
}

static void *look_after(void *argument);

live *live_create(const live_options *options) {
    live *l = calloc(1, sizeof *l);
    if (!l) {
        return NULL;
    }
    snprintf(l->state_directory, sizeof l->state_directory, "%s", options->state_directory);
    snprintf(l->compiled, sizeof l->compiled, "%s", options->compiled ? options->compiled : "");
    l->options = *options;
    l->options.state_directory = l->state_directory;
    l->options.compiled = l->compiled;
    name_table_init(&l->simulations, retain_simulation, release_simulation);
    name_table_init(&l->streams, retain_stream, release_stream);
    arena_init(&l->chunk_memory);
    pthread_mutex_init(&l->mutex, NULL);
    pthread_mutex_init(&l->files, NULL);
    recording_store_init(&l->recordings, l->state_directory, options->limits);
    recording_store_clean(&l->recordings);
    l->are_recordings_well = true;
    if (options->health) {
        l->recordings_component = health_enter(options->health, "recordings");
        health_set(options->health, l->recordings_component, HEALTH_SERVING, "%s", "");
    }
    state_journal_init(&l->journal, &l->options);
    groups_init(&l->groups, options->limits, options->instance);
    clock_condition_init(&l->changed);
    l->pacer = pacer_create(&(pacer_options){.threads = options->threads,
                                             .run = ticks_run,
                                             .rest = send_groups,
                                             .context = l,
                                             .spin = clock_duration(options->spin)});
    l->is_started = l->pacer && pthread_create(&l->thread, NULL, look_after, l) == 0;
    if (!l->is_started) {
        live_free(l);
        return NULL;
    }
    return l;
}

void live_attach(live *l, transport *t, const char *const *ingest, size_t ingest_count) {
    l->transport = t;
    for (size_t i = 0; i < ingest_count && i < LIVE_INGEST_ADDRESSES; i++) {
        l->ingest[l->ingest_count++] = ingest[i];
    }
}

static void close_endpoints(live *l, uint64_t now);
static void close_groups(live *l, uint64_t now, bool is_end);

void live_free(live *l) {
    if (!l) {
        return;
    }
    pthread_mutex_lock(&l->mutex);
    l->must_end = true;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->mutex);
    if (l->is_started) {
        pthread_join(l->thread, NULL);
    }
    pthread_mutex_lock(&l->journal.changes);
    l->journal.is_open = false;
    pthread_mutex_unlock(&l->journal.changes);
    void **values;
    size_t count;
    if (name_table_list(&l->streams, &values, &count)) {
        for (size_t i = 0; i < count; i++) {
            live_end_stream(l, values[i], STREAM_CLOSED, "the daemon stops");
        }
        name_table_release_list(&l->streams, values, count);
    }
    if (name_table_list(&l->simulations, &values, &count)) {
        for (size_t i = 0; i < count; i++) {
            live_end_simulation(l, values[i], SIMULATION_DELETED, "the daemon stops");
        }
        name_table_release_list(&l->simulations, values, count);
    }
    close_groups(l, clock_now(), true);
    close_endpoints(l, UINT64_MAX);
    pacer_free(l->pacer);
    groups_free(&l->groups);
    name_table_free(&l->streams);
    name_table_free(&l->simulations);
    arena_free(&l->chunk_memory);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->mutex);
    pthread_mutex_destroy(&l->files);
    recording_store_free(&l->recordings);
    state_journal_free(&l->journal);
    free(l);
}

/* ---- names and files --------------------------------------------------------------------------------------------- */

uint64_t live_token(void) {
    uint64_t token = 0;
    while (token == 0) {
        if (getrandom(&token, sizeof token, 0) != sizeof token) {
            token = 0;
        }
        token >>= 64 - TOKEN_BITS;
    }
    return token;
}

static bool check_name(const char *name, const char *field, refusal *why) {
    char quoted[TEXT_QUOTE_SIZE];
    const size_t length = strlen(name), most = SIMULATION_NAME_SIZE - 1;
    bool is_good = length > 0;
    if (length > most) {
        return refuse_limit(why, REASON_TEXT_TOO_LONG, (excess){BOUND_OBJECT_NAME_BYTES, most, length}, field,
                            "the name has %zu bytes; at most %zu are allowed", length, most);
    }
    for (size_t i = 0; is_good && i < length; i++) {
        is_good = isalnum((unsigned char)name[i]) || name[i] == '_' || name[i] == '-';
    }
    return is_good ||
           refuse(why, REASON_INVALID_NAME, field, "%s is no name; pass 1 to %d letters, digits, '_' and '-'",
                  text_quote(name, quoted), SIMULATION_NAME_SIZE - 1);
}

bool live_group(const char *names, const char *field, char beginning[SIMULATION_NAME_SIZE], refusal *why) {
    const size_t length = strlen(names) - 1, most = SIMULATION_NAME_SIZE - 1;
    snprintf(beginning, SIMULATION_NAME_SIZE, "%.*s", (int)(length < most ? length : most), names);
    return length == 0 || check_name(length > most ? names : beginning, field, why);
}

bool live_name(live *l, const char *kind, const char *wanted, const char *field, char name[SIMULATION_NAME_SIZE],
               refusal *why) {
    if (wanted[0] != '\0') {
        snprintf(name, SIMULATION_NAME_SIZE, "%s", wanted);
        return check_name(wanted, field, why);
    }
    snprintf(name, SIMULATION_NAME_SIZE, "%s-%llu", kind,
             (unsigned long long)(atomic_fetch_add(&l->next_number, 1) + 1));
    return true;
}

bool live_path(live *l, const char *kind, const char *name, const char *suffix, char path[PATH_MAX], refusal *why) {
    const char *directory = l->state_directory;
    if (directory[0] == '\0') {
        return refuse(why, REASON_NOT_CONFIGURED, "",
                      "the daemon has no state directory; name one in its configuration (simulations.state_directory)");
    }
    int length = snprintf(path, PATH_MAX, "%s/%s", directory, kind);
    if (length < PATH_MAX && kind[0] != '\0' && mkdir(path, 0750) != 0 && errno != EEXIST) {
        return refuse(why, REASON_FILE_FAILED, "",
                      "cannot create %.256s: %s; let the daemon's user write to its state directory "
                      "(simulations.state_directory)",
                      path, strerror(errno));
    }
    length = snprintf(path, PATH_MAX, "%s/%s%s%s%s", directory, kind, kind[0] ? "/" : "", name, suffix);
    return length < PATH_MAX || refuse(why, REASON_NOT_CONFIGURED, "",
                                       "the path of the file is too long; name a shorter state directory "
                                       "(simulations.state_directory)");
}

bool live_recording_path(live *l, const char *name, char path[PATH_MAX], refusal *why) {
    return check_name(name, "recording", why) && live_path(l, "recordings", name, ".recording", path, why);
}

/* Begins a recording whose path is known. On failure fills `why` and returns false. Called with the mutex `files`
 * held. */
static bool begin_recording(live *l, const char *name, const recording_beginning *b, const char *path, refusal *why) {
    recording *r = recording_store_create(&l->recordings, path, name, b->is_free ? NULL : b->user, why);
    if (!r || (b->write_header(r, b->context) && recording_publish(r))) {
        return r != NULL;
    }
    pthread_mutex_lock(b->mutex);
    *b->place = *b->place == r ? NULL : *b->place;
    pthread_mutex_unlock(b->mutex);
    recording_store_cancel(&l->recordings, r, why);
    l->next_check = 0;
    return false;
}

bool live_begin_recording(live *l, const char *name, const recording_beginning *beginning, char path[PATH_MAX],
                          refusal *why) {
    if (!live_recording_path(l, name, path, why)) {
        return false;
    }
    pthread_mutex_lock(&l->files);
    bool is_begun = begin_recording(l, name, beginning, path, why);
    pthread_mutex_unlock(&l->files);
    return is_begun;
}

/* ---- entering and ending ----------------------------------------------------------------------------------------- */

/* Kind of named objects, and the reason and the limits of the error if there are too many, in all or of one user. */
typedef struct named_kind {
    const char *name;
    error_reason full;
    bound bound, user_bound;
} named_kind;

static const named_kind SIMULATION = {"simulation", REASON_TOO_MANY_SIMULATIONS, BOUND_SIMULATIONS,
                                      BOUND_USER_SIMULATIONS};
static const named_kind STREAM = {"stream", REASON_TOO_MANY_STREAMS, BOUND_STREAMS, BOUND_USER_STREAMS};

/* Object that is inserted: its name, to whom it belongs, and the limits. */
typedef struct named_object {
    const named_kind *kind;
    const char *name, *belongs_to;
    uint64_t most, share;
} named_object;

static bool refuse_insertion(refusal *why, name_insertion result, const named_object *o) {
    const named_kind *kind = o->kind;
    switch (result) {
    case NAME_INSERTED:
        return true;
    case NAME_TAKEN:
        return refuse(why, REASON_NAME_TAKEN, "name", "there is a %s \"%s\" already", kind->name, o->name);
    case NAME_TABLE_FULL:
        return refuse_limit(why, kind->full, (excess){kind->bound, o->most, o->most + 1}, "",
                            "there are %llu %ss, the limit (limits.%ss); end one first", (unsigned long long)o->most,
                            kind->name, kind->name);
    case NAME_SHARE_FULL:
        return refuse_limit(why, kind->full, (excess){kind->user_bound, o->share, o->share + 1}, "",
                            "%s has %llu %ss, the limit of one user (limits.user_%ss); end one first", o->belongs_to,
                            (unsigned long long)o->share, kind->name, kind->name);
    case NAME_NO_MEMORY:
        break;
    }
    return refuse_memory(why);
}

/* Returns whether two simulations belong to one user. The mutex of the journal's changes guards their owners. */
static bool simulations_have_one_user(const void *value, const void *inserted) {
    return strcmp(((const simulation *)value)->belongs_to, ((const simulation *)inserted)->belongs_to) == 0;
}

static bool streams_have_one_user(const void *value, const void *inserted) {
    return strcmp(((const stream *)value)->belongs_to, ((const stream *)inserted)->belongs_to) == 0;
}

bool live_add_simulation(live *l, simulation *s, uint64_t share, bool runs, uint64_t *record, refusal *why) {
    const named_object o = {&SIMULATION, s->name, s->belongs_to, atomic_load(&l->options.limits->simulations), share};
    const name_share of_user = {share, simulations_have_one_user};
    pthread_mutex_lock(&l->journal.changes);
    name_insertion result = name_table_insert(&l->simulations, s->name, s, o.most, &of_user);
    *record = result == NAME_INSERTED ? state_journal_created(&l->journal, s, runs) : 0;
    pthread_mutex_unlock(&l->journal.changes);
    return refuse_insertion(why, result, &o);
}

bool live_add_stream(live *l, stream *s, uint64_t share, refusal *why) {
    const named_object o = {&STREAM, s->name, s->belongs_to, atomic_load(&l->options.limits->streams), share};
    const name_share of_user = {share, streams_have_one_user};
    return refuse_insertion(why, name_table_insert(&l->streams, s->name, s, o.most, &of_user), &o);
}

/* Schedules the closing of an endpoint, after LAST_MESSAGES. Closes it at once when out of memory. Accepts NULL. */
static void close_later(live *l, transport_topic *endpoint) {
    closing_endpoint *c = endpoint ? calloc(1, sizeof *c) : NULL;
    if (c) {
        pthread_mutex_lock(&l->mutex);
        *c = (closing_endpoint){endpoint, clock_now() + LAST_MESSAGES, l->closing};
        l->closing = c;
        pthread_mutex_unlock(&l->mutex);
    } else if (endpoint) {
        transport_topic_close(endpoint);
        atomic_fetch_sub(&l->topics, 1);
    }
}

/* Closes a recording. `error` receives why it is incomplete, or REASON_NONE. Called with the mutex `files` held. */
static void close_recording(live *l, recording *r, refusal *error) {
    char name[SIMULATION_NAME_SIZE];
    refusal cause;
    uint64_t bytes = recording_bytes(r);
    snprintf(name, sizeof name, "%s", recording_name(r));
    *error = (refusal){0};
    if (recording_store_close(&l->recordings, r, &cause)) {
        return;
    }
    refuse_limit(error, cause.reason, cause.exceeded, "", "recording %s ended by itself after %llu bytes: %.384s", name,
                 (unsigned long long)bytes, cause.message);
    log_repeated(l->options.log, &l->broken, "%s", error->message);
    l->next_check = 0;
}

/* Clears an owner's pointer to its recording, and returns the recording, or NULL if it has none. */
static recording *detach_recording(void **place, pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    recording *r = *place;
    *place = NULL;
    pthread_mutex_unlock(mutex);
    return r;
}

bool live_end_recording(live *l, void **place, pthread_mutex_t *mutex, ended_recording *ended) {
    Dynamics__V1__RecordingEntry entry = DYNAMICS__V1__RECORDING_ENTRY__INIT;
    Dynamics__V1__RecordingEnd end = DYNAMICS__V1__RECORDING_END__INIT;
    pthread_mutex_lock(&l->files);
    recording *r = detach_recording(place, mutex);
    if (r) {
        ended->entries = end.entries = recording_entries(r);
        entry.entry_case = DYNAMICS__V1__RECORDING_ENTRY__ENTRY_END;
        entry.end = &end;
        recording_append(r, &entry.base);
        ended->bytes = recording_bytes(r);
        snprintf(ended->file, sizeof ended->file, "%s", recording_path(r));
        close_recording(l, r, &ended->error);
    }
    pthread_mutex_unlock(&l->files);
    return r != NULL;
}

void live_discard_recording(live *l, void **place, pthread_mutex_t *mutex) {
    pthread_mutex_lock(&l->files);
    recording *r = detach_recording(place, mutex);
    if (r) {
        recording_store_discard(&l->recordings, r);
    }
    pthread_mutex_unlock(&l->files);
}

/* Publishes the event, detaches the stream from its simulation, ends its recording and removes it from the table.
 * Called without a mutex. */
void live_end_stream(live *l, stream *s, stream_event event, const char *message) {
    ended_recording ended;
    pthread_mutex_lock(&s->mutex);
    bool is_new = !s->is_closed;
    transport_topic *endpoint = stream_session_of(s)->topics.endpoint;
    if (is_new) {
        s->hooks->on_event(s, event, message);
    }
    s->is_closed = true;
    stream_session_of(s)->topics.endpoint = NULL;
    stream_session_of(s)->topics.is_ended = true;
    pthread_mutex_unlock(&s->mutex);
    /* Detached after is_closed is set: a request that opens the stream meanwhile reads it before it attaches. */
    if (s->target) {
        simulation_lock(s->target);
        simulation_detach(s->target, &s->source);
        simulation_unlock(s->target);
    }
    if (live_end_recording(l, &s->recording, &s->mutex, &ended)) {
        pthread_mutex_lock(&s->mutex);
        stream_session_of(s)->recording_error = ended.error;
        pthread_mutex_unlock(&s->mutex);
    }
    close_later(l, endpoint);
    name_table_remove(&l->streams, s->name, s);
}

static bool feeds(const void *value, const void *context) {
    return ((const stream *)value)->target == context;
}

uint64_t live_end_simulation(live *l, simulation *s, simulation_event event, const char *message) {
    ended_recording ended;
    pthread_mutex_lock(&l->journal.changes);
    bool is_removed = name_table_remove(&l->simulations, s->name, s);
    uint64_t record = is_removed ? state_journal_deleted(&l->journal, s->name) : 0;
    pthread_mutex_unlock(&l->journal.changes);
    if (!is_removed) {
        return 0;
    }
    simulation_end(s);
    for (stream *fed = name_table_search(&l->streams, feeds, s); fed; fed = name_table_search(&l->streams, feeds, s)) {
        live_end_stream(l, fed, STREAM_CLOSED, "its simulation has ended");
        stream_release(fed);
    }
    simulation_lock(s);
    transport_topic *endpoint = session_of(s)->topics.endpoint;
    simulation_publish_event(s, event, -1, "%s", message);
    session_of(s)->topics.endpoint = NULL;
    session_of(s)->topics.is_ended = true;
    simulation_unlock(s);
    live_end_recording(l, &s->recording, &s->mutex, &ended);
    close_later(l, endpoint);
    return record;
}

/* ---- topics ------------------------------------------------------------------------------------------------------ */

static bool copy_addresses(const transport_topic *endpoint, arena *memory, char ***addresses, size_t *count) {
    size_t n = transport_topic_address_count(endpoint);
    *addresses = arena_array(memory, n, sizeof **addresses);
    *count = 0;
    for (size_t i = 0; *addresses && i < n; i++) {
        const char *address = transport_topic_address(endpoint, i);
        char *copy = arena_allocate(memory, strlen(address) + 1);
        if (!copy) {
            return false;
        }
        (*addresses)[(*count)++] = strcpy(copy, address);
    }
    return *addresses != NULL;
}

/* Opens a further endpoint within limits.topics. On failure fills `why` and returns NULL. */
static transport_topic *open_endpoint(live *l, refusal *why) {
    char error[TRANSPORT_ERROR_SIZE];
    transport_topic *endpoint;
    unsigned most = atomic_load(&l->options.limits->topics);
    if (atomic_fetch_add(&l->topics, 1) >= most) {
        atomic_fetch_sub(&l->topics, 1);
        refuse_limit(why, REASON_TOO_MANY_TOPICS, (excess){BOUND_TOPICS, most, most + 1}, "",
                     "%u simulations and streams are watched, the limit (limits.topics)", most);
        return NULL;
    }
    if (!transport_topic_open(l->transport, error, &endpoint)) {
        atomic_fetch_sub(&l->topics, 1);
        refuse(why, REASON_ENDPOINT_FAILED, "", "%s", error);
        return NULL;
    }
    return endpoint;
}

bool live_watch(live *l, watched_topics *topics, pthread_mutex_t *mutex, arena *memory, char ***addresses,
                size_t *count, refusal *why) {
    transport_topic *fresh = NULL;
    pthread_mutex_lock(mutex);
    if (!topics->endpoint && !topics->is_ended) {
        pthread_mutex_unlock(mutex); /* the owner runs while the system opens a socket */
        fresh = open_endpoint(l, why);
        if (!fresh) {
            return false;
        }
        pthread_mutex_lock(mutex);
    }
    /* The mutex is held from here until the addresses are copied, so that nothing closes the endpoint meanwhile. */
    bool is_ended = topics->is_ended;
    if (!topics->endpoint && !is_ended) {
        topics->endpoint = fresh;
        fresh = NULL;
    }
    topics->last_use = clock_now();
    bool is_copied = topics->endpoint && copy_addresses(topics->endpoint, memory, addresses, count);
    pthread_mutex_unlock(mutex);
    close_later(l, fresh);
    if (is_ended) {
        return refuse(why, REASON_DELETED_MEANWHILE, "", "it has ended meanwhile");
    }
    return is_copied || refuse_memory(why);
}

static void close_endpoints(live *l, uint64_t now) {
    closing_endpoint *due = NULL;
    pthread_mutex_lock(&l->mutex);
    for (closing_endpoint **place = &l->closing; *place;) {
        closing_endpoint *c = *place;
        if (c->due <= now) {
            *place = c->next;
            c->next = due;
            due = c;
        } else {
            place = &c->next;
        }
    }
    pthread_mutex_unlock(&l->mutex);
    while (due) {
        closing_endpoint *next = due->next;
        transport_topic_close(due->endpoint);
        atomic_fetch_sub(&l->topics, 1);
        free(due);
        due = next;
    }
}

static void close_groups(live *l, uint64_t now, bool is_end) {
    for (transport_topic *endpoint = groups_detach(&l->groups, now, is_end); endpoint;
         endpoint = groups_detach(&l->groups, now, is_end)) {
        close_later(l, endpoint);
    }
}

/* ---- looking after ----------------------------------------------------------------------------------------------- */

/* Writes the buffer of a simulation's recording to its file. Ends a recording that failed, and publishes an event. */
static void write_recording(live *l, simulation *s) {
    simulation_session *session = session_of(s);
    refusal error;
    pthread_mutex_lock(&l->files);
    simulation_lock(s);
    recording *r = s->recording;
    simulation_unlock(s);
    if (r && !recording_flush(r)) {
        simulation_lock(s);
        s->recording = NULL;
        simulation_unlock(s);
        close_recording(l, r, &error);
        simulation_lock(s);
        session->recording_error = error;
        simulation_publish_event(s, SIMULATION_RECORDING_ENDED, -1, "%s", error.message);
        simulation_unlock(s);
    }
    pthread_mutex_unlock(&l->files);
}

/* Writes the buffer of a stream's recording to its file. Ends a recording that failed. The stream stays open, so that
 * its planner receives the event. */
static void write_points(live *l, stream *s) {
    stream_session *session = stream_session_of(s);
    refusal error;
    pthread_mutex_lock(&l->files);
    pthread_mutex_lock(&s->mutex);
    recording *r = s->recording;
    pthread_mutex_unlock(&s->mutex);
    if (r && !recording_flush(r)) {
        pthread_mutex_lock(&s->mutex);
        s->recording = NULL;
        pthread_mutex_unlock(&s->mutex);
        close_recording(l, r, &error);
        pthread_mutex_lock(&s->mutex);
        session->recording_error = error;
        s->hooks->on_event(s, STREAM_RECORDING_ENDED, error.message);
        pthread_mutex_unlock(&s->mutex);
    }
    pthread_mutex_unlock(&l->files);
}

/* Measures the recordings and the free space of the disk, each at its interval. Reports a lack of space to the health
 * and to the log. */
static void check_recordings(live *l, uint64_t now) {
    char problem[RECORDING_PROBLEM_SIZE];
    pthread_mutex_lock(&l->files);
    if (now >= l->next_measure && (l->recordings.open_count > 0 || !l->are_recordings_well || l->next_measure == 0)) {
        l->next_measure = now + MEASURE_INTERVAL;
        recording_store_measure(&l->recordings);
    }
    if (now >= l->next_check) {
        l->next_check = now + CHECK_INTERVAL;
        bool is_well = recording_store_check(&l->recordings, problem);
        if (l->options.health) {
            health_set(l->options.health, l->recordings_component, is_well ? HEALTH_SERVING : HEALTH_DEGRADED, "%s",
                       problem);
        }
        if (is_well != l->are_recordings_well) {
            log_warning(l->options.log, "%s", is_well ? "there is room for recordings again" : problem);
        }
        l->are_recordings_well = is_well;
    }
    pthread_mutex_unlock(&l->files);
}

static void look_after_simulation(live *l, simulation *s, uint64_t now) {
    simulation_lock(s);
    bool is_expired = s->token != 0 && now > s->lease_end;
    transport_topic *endpoint = topics_detach_unused(&session_of(s)->topics, now);
    simulation_unlock(s);
    close_later(l, endpoint);
    write_recording(l, s);
    if (!is_expired) {
        return;
    }
    log_repeated(l->options.log, &l->expired, "the lease of simulation %s of %s ran out", s->name, s->owner);
    if (!s->keep) {
        live_end_simulation(l, s, SIMULATION_EXPIRED, "the lease ran out");
        return;
    }
    simulation_pause(s);
    pthread_mutex_lock(&l->journal.changes);
    simulation_lock(s);
    s->token = 0;
    s->owner[0] = '\0';
    state_journal_owned(&l->journal, s);
    simulation_publish_event(s, SIMULATION_EXPIRED, -1, "the lease ran out; it waits to be claimed");
    simulation_unlock(s);
    pthread_mutex_unlock(&l->journal.changes);
}

static void look_after_stream(live *l, stream *s, uint64_t now) {
    char message[96];
    pthread_mutex_lock(&s->mutex);
    bool is_idle = now > s->last_arrival + clock_duration(s->options.idle_time);
    transport_topic *endpoint = topics_detach_unused(&stream_session_of(s)->topics, now);
    pthread_mutex_unlock(&s->mutex);
    close_later(l, endpoint);
    write_points(l, s);
    if (is_idle) {
        snprintf(message, sizeof message, "no chunk came for %g s", s->options.idle_time);
        live_end_stream(l, s, STREAM_EXPIRED, message);
    }
}

static void look(live *l) {
    uint64_t now = clock_now();
    void **values;
    size_t count;
    if (name_table_list(&l->simulations, &values, &count)) {
        for (size_t i = 0; i < count; i++) {
            look_after_simulation(l, values[i], now);
        }
        name_table_release_list(&l->simulations, values, count);
    }
    if (name_table_list(&l->streams, &values, &count)) {
        for (size_t i = 0; i < count; i++) {
            look_after_stream(l, values[i], now);
        }
        name_table_release_list(&l->streams, values, count);
    }
    groups_send(&l->groups, false);
    close_groups(l, now, false);
    close_endpoints(l, now);
    check_recordings(l, now);
}

static void *look_after(void *argument) {
    live *l = argument;
    pthread_mutex_lock(&l->mutex);
    while (!l->must_end) {
        clock_wait(&l->changed, &l->mutex, clock_now() + LOOK_INTERVAL);
        pthread_mutex_unlock(&l->mutex);
        look(l);
        pthread_mutex_lock(&l->mutex);
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}
