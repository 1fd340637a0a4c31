/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cuts the samples of a call into pieces, and requests them from several threads. Pieces begin in the order of their
 * samples, so that the error of the first sample that fails is found.
 */
#include "spread.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"
#include "monotonic.h"
#include "sized.h"

/* Requests in flight at most. */
enum { WORKERS = 8 };

/* Samples that are worth a request of their own, where each is computed once, and where each is integrated over many
 * steps. */
enum { LEAST_SAMPLES = 256, LEAST_ROLLOUTS = 32 };

/* Share of the largest message that the numbers of a piece fill. */
static const double FILLED = 0.5;

/* Time that a piece has at first, s, and as a multiple of the longest time of a piece so far. */
static const double LEAST_PATIENCE = 2, PATIENCE_FACTOR = 8;

/* Name of the limit of the client itself in errors: smaller pieces do not help. */
static const char own_limit[] = "max_reply_bytes";

/* A call in pieces. */
typedef struct spreading {
    dyn_client *client;
    const spread_call *call;
    const dyn_client_query *query; /* the whole one */
    double deadline;
    size_t piece, least; /* samples of the largest piece, and those that are worth a request of their own */
    uint64_t thread;     /* of the caller */

    pthread_mutex_t mutex; /* guards the members below */
    size_t next, done;     /* first sample that no worker has begun with; samples that are computed */
    size_t pieces;
    bool is_cancelled;        /* by the caller's callback */
    double longest;           /* time of a piece, s */
    dyn_client_status status; /* of the first piece that failed */
    size_t failed;            /* its first sample */
    dyn_client_error error, mark;
    uint64_t marked;
    call_origin origin;
    char other_code[DYN_CLIENT_CODE_SIZE]; /* "": all pieces were computed with the code of `origin` */
} spreading;

/* ---- Joining replies --------------------------------------------------------------------------------------------- */

/* Makes room for the values of all samples, and moves those that are there to their place. */
static bool widen(sample_range range, sample_values to) {
    size_t width = *to.count / range.count, count;
    double *values = count_doubles(range.all, width, &count) ? calloc(count + 1, sizeof *values) : NULL;
    if (!values || *to.count != range.count * width) {
        free(values);
        return false;
    }
    if (*to.count > 0) {
        memcpy(values + range.first * width, *to.values, *to.count * sizeof *values);
    }
    free(*to.values);
    *to.values = values;
    *to.count = count;
    return true;
}

bool sample_values_join(sample_range range, const sample_values *from, sample_values to) {
    size_t width = *to.count / range.all;
    if (!from) {
        return widen(range, to);
    }
    if (*from->count != range.count * width) {
        return false;
    }
    if (*from->count > 0) {
        memcpy(*to.values + range.first * width, *from->values, *from->count * sizeof **to.values);
    }
    return true;
}

/* Returns the doubles in the arrays of a message and of its messages. */
static size_t count_in(const ProtobufCMessage *message) {
    size_t count = 0;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (field->label != PROTOBUF_C_LABEL_REPEATED) {
            continue;
        }
        size_t entries = *(const size_t *)((const char *)message + field->quantifier_offset);
        ProtobufCMessage *const *messages = *(ProtobufCMessage *const *const *)((const char *)message + field->offset);
        count += field->type == PROTOBUF_C_TYPE_DOUBLE ? entries : 0;
        for (size_t k = 0; k < entries && field->type == PROTOBUF_C_TYPE_MESSAGE; k++) {
            count += count_in(messages[k]);
        }
    }
    return count;
}

/* Checks that the numbers of all samples, by those of some, are within max_reply_bytes of the client. */
static dyn_client_status check_joined_size(const joined_reply *joined, sample_range range,
                                           const ProtobufCMessage *reply, dyn_client_error *error) {
    double bytes = (double)(sizeof(double) * count_in(reply)) * (double)range.all / (double)range.count;
    if (range.count == range.all || bytes <= (double)joined->most_bytes) {
        return DYN_CLIENT_OK;
    }
    fail(error, DYN_CLIENT_RESOURCE_EXHAUSTED, NULL,
         "the reply to all %zu samples has %.0f bytes, more than max_reply_bytes (%zu)", range.all, bytes,
         joined->most_bytes);
    snprintf(error->limit_name, sizeof error->limit_name, "%s", own_limit);
    return DYN_CLIENT_RESOURCE_EXHAUSTED;
}

dyn_client_status joined_reply_add(joined_reply *joined, sample_range range, ProtobufCMessage *reply,
                                   dyn_client_error *error) {
    bool is_joined = range.count == range.all;
    dyn_client_status status = check_joined_size(joined, range, reply, error);
    if (status != DYN_CLIENT_OK) {
        protobuf_c_message_free_unpacked(reply, NULL);
        return status;
    }
    pthread_mutex_lock(&joined->mutex);
    bool is_first = !joined->reply;
    is_joined = is_joined || joined->join(reply, range, is_first ? reply : joined->reply);
    if (is_joined && is_first) {
        joined->reply = reply;
    }
    pthread_mutex_unlock(&joined->mutex);
    if (!is_joined || !is_first) {
        protobuf_c_message_free_unpacked(reply, NULL);
    }
    return is_joined ? DYN_CLIENT_OK : fail_bad_reply(error, "the replies to the pieces do not fit together");
}

/* ---- A part of the query ----------------------------------------------------------------------------------------- */

/* Part of a query, with the lists that differ from those of the whole. */
typedef struct query_part {
    dyn_client_query query;
    dyn_client_base_motion base_motion;
    dyn_client_motion_options motion_options;
    dyn_client_external_force *forces;
} query_part;

static const double *advance(const double *from, size_t numbers) {
    return from ? from + numbers : NULL;
}

/* Returns the rows of each sample, out of those of all: 0 where one row holds for all samples. */
static size_t rows_of_sample(size_t rows, size_t samples) {
    return rows >= samples ? rows / samples : 0;
}

/* Cuts external forces with a row for each sample. Returns false when out of memory. */
static bool cut_forces(const dyn_client_query *whole, size_t first, query_part *part) {
    size_t count = whole->external_forces ? whole->external_force_count : 0;
    part->forces = count > 0 ? calloc(count, sizeof *part->forces) : NULL;
    for (size_t i = 0; i < count && part->forces; i++) {
        dyn_client_external_force *force = &part->forces[i];
        *force = whole->external_forces[i];
        size_t rows = rows_of_sample(force->rows, whole->samples);
        force->force = advance(force->force, 3 * rows * first);
        force->torque = advance(force->torque, 3 * rows * first);
        force->rows = rows > 0 ? rows * part->query.samples : force->rows;
    }
    part->query.external_forces = part->forces;
    return count == 0 || part->forces;
}

static void cut_base_motion(const dyn_client_query *whole, size_t first, query_part *part) {
    if (!whole->base_motion) {
        return;
    }
    dyn_client_base_motion *to = &part->base_motion;
    *to = *whole->base_motion;
    size_t rows = rows_of_sample(to->rows, whole->samples), numbers = 3 * rows * first;
    to->linear_velocity = advance(to->linear_velocity, numbers);
    to->angular_velocity = advance(to->angular_velocity, numbers);
    to->linear_acceleration = advance(to->linear_acceleration, numbers);
    to->angular_acceleration = advance(to->angular_acceleration, numbers);
    to->rows = rows > 0 ? rows * part->query.samples : to->rows;
    part->query.base_motion = to;
}

/* Cuts `count` samples from `first` on out of a query. The part must not move. Returns false when out of memory. The
 * caller frees part->forces. */
static bool cut(const dyn_client_query *whole, size_t first, size_t count, query_part *part) {
    part->query = *whole;
    part->query.samples = count;
    part->query.progress = NULL;
    if (whole->has_rows_per_sample) {
        part->query.rows = advance(whole->rows, first * whole->row_count * whole->nv);
        part->query.row_accelerations = advance(whole->row_accelerations, first * whole->row_count);
    }
    cut_base_motion(whole, first, part);
    if (whole->motion_options) {
        part->motion_options = *whole->motion_options;
        double *residuals = part->motion_options.residuals;
        part->motion_options.residuals = residuals ? residuals + first : NULL;
        part->query.motion_options = &part->motion_options;
    }
    return cut_forces(whole, first, part);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Returns the numbers that a sample has in an array of the query, or 0 where all samples share it. */
static size_t row_in_query(const dyn_client_query *query, const char *member) {
    static const char forces[] = "external_forces[", base[] = "base_motion.";
    if (strncmp(member, forces, strlen(forces)) == 0) {
        size_t i = strtoul(member + strlen(forces), NULL, 10);
        return i < query->external_force_count ? 3 * rows_of_sample(query->external_forces[i].rows, query->samples) : 0;
    }
    if (strncmp(member, base, strlen(base)) == 0 && query->base_motion) {
        return 3 * rows_of_sample(query->base_motion->rows, query->samples);
    }
    if (strncmp(member, "rows.", 5) == 0 && query->has_rows_per_sample) {
        return query->row_count * (strncmp(member, "rows.matrix", 11) == 0 ? query->nv : 1);
    }
    return 0;
}

/* Returns whether the array of a field such as "[3]" after `name` is that of a name. */
static bool is_array(const char *name, const char *array) {
    size_t length = strlen(array);
    return strncmp(name, array, length) == 0 && name[length] == '[';
}

/* Returns the numbers that a sample has in the array of a field such as "inverse_dynamics.q[13]", or 0 where samples
 * have no part of it. */
static size_t row_of(const spread_call *call, const dyn_client_query *query, const char *field) {
    static const char *const velocities[] = {"v", "a", "tau", "dq", "dv", "da", "dtau"};
    const char *in_query = strstr(field, ".query."), *dot = strchr(field, '.'), *name = dot ? dot + 1 : field;
    if (in_query) {
        return row_in_query(query, in_query + strlen(".query."));
    }
    for (size_t i = 0; i < SPREAD_ARRAYS && call->arrays[i].name; i++) {
        if (is_array(name, call->arrays[i].name)) {
            return call->arrays[i].numbers;
        }
    }
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++) {
        if (is_array(name, velocities[i])) {
            return query->nv;
        }
    }
    return is_array(name, "q") ? query->nq : 0;
}

/* Moves the sample and the index of an error of a piece to those of the whole. */
static void move_error(const spreading *s, size_t first, dyn_client_error *error) {
    size_t row = row_of(s->call, s->query, error->field);
    char *bracket = strrchr(error->field, '[');
    if (row > 0 && bracket) {
        size_t room = sizeof error->field - (size_t)(bracket - error->field);
        snprintf(bracket, room, "[%llu]", strtoull(bracket + 1, NULL, 10) + (unsigned long long)(first * row));
    }
    error->sample += error->has_sample ? first : 0;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* Notes the origin of the results of some samples. Returns ABORTED where they have another model than earlier ones. */
static dyn_client_status note_origin(spreading *s, const call_origin *origin, dyn_client_error *error) {
    pthread_mutex_lock(&s->mutex);
    if (s->pieces++ == 0) {
        s->origin = *origin;
    }
    bool is_changed = origin->model_key != s->origin.model_key;
    if (strcmp(origin->code, s->origin.code) != 0) {
        memcpy(s->other_code, origin->code, sizeof s->other_code);
    }
    pthread_mutex_unlock(&s->mutex);
    if (!is_changed) {
        return DYN_CLIENT_OK;
    }
    fail(error, DYN_CLIENT_ABORTED, "query.model",
         "the daemons have different models of the name \"%s\"; load it again, or name its digest", s->query->model);
    snprintf(error->reason, sizeof error->reason, "MODEL_CHANGED");
    return DYN_CLIENT_ABORTED;
}

/* Reports progress to the caller's callback. Returns false if it ends the call. The caller of this function holds the
 * mutex, or is alone. */
static bool report(spreading *s) {
    const dyn_client_query *query = s->query;
    s->is_cancelled =
        s->is_cancelled ||
        (query->progress && !query->progress(query->progress_context, (double)s->done / (double)query->samples));
    return !s->is_cancelled;
}

/* Callback of the pieces, so that the caller can end the call while they are computed. */
static bool report_piece(void *context, double fraction) {
    spreading *s = context;
    (void)fraction;
    pthread_mutex_lock(&s->mutex);
    bool goes_on = report(s);
    pthread_mutex_unlock(&s->mutex);
    return goes_on;
}

/* Requests some samples once. */
static dyn_client_status ask_once(spreading *s, size_t first, size_t count, double timeout, call_origin *origin,
                                  dyn_client_error *error) {
    query_part part;
    query_parts parts;
    if (!cut(s->query, first, count, &part)) {
        return fail_memory(error);
    }
    dyn_client_status status =
        query_parts_encode_steps(s->client, &part.query, s->call->q, s->call->size.steps, &parts, error);
    if (status == DYN_CLIENT_OK) {
        parts.terms.timeout = timeout;
        origin->is_code_wanted = s->query->spread != NULL;
        parts.terms.origin = origin;
        parts.terms.progress = s->query->progress ? report_piece : NULL;
        parts.terms.context = s;
        status = s->call->ask(s->client, &parts, first, s->call->context, error);
        query_parts_free(&parts);
    }
    free(part.forces);
    return status;
}

static void pause_for(double seconds) {
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)}, NULL);
}

/* Requests some samples until they are answered, or the deadline passes. */
static dyn_client_status ask_again(spreading *s, size_t first, size_t count, dyn_client_error *error) {
    call_origin origin = {0};
    pthread_mutex_lock(&s->mutex);
    double patience = fmax(LEAST_PATIENCE, PATIENCE_FACTOR * s->longest);
    pthread_mutex_unlock(&s->mutex);
    for (;;) {
        double left = s->deadline - monotonic_now();
        if (left <= 0) {
            return fail(error, DYN_CLIENT_TIMEOUT, NULL, "no answer for the samples from %zu on within the timeout",
                        first);
        }
        dyn_client_status status = ask_once(s, first, count, fmin(left, patience), &origin, error);
        if (status == DYN_CLIENT_OK) {
            return note_origin(s, &origin, error);
        }
        bool is_late = status == DYN_CLIENT_TIMEOUT || status == DYN_CLIENT_DEADLINE_EXCEEDED;
        bool may_follow = status == DYN_CLIENT_RESOURCE_EXHAUSTED && error->retry_after > 0;
        if (may_follow && error->retry_after < left) {
            pause_for(error->retry_after);
        } else if (is_late && patience < left) {
            patience *= 2;
        } else {
            return status;
        }
    }
}

/* Requests the samples of a piece. Cuts it in two where a request or a reply is too large, or more samples than a
 * daemon allows. */
static dyn_client_status ask_piece(spreading *s, size_t first, size_t count, dyn_client_error *error) {
    dyn_client_status status = ask_again(s, first, count, error);
    bool is_too_large = status == DYN_CLIENT_RESOURCE_EXHAUSTED && strcmp(error->limit_name, own_limit) != 0;
    if (!is_too_large || error->retry_after > 0 || count == 1) {
        return status;
    }
    size_t half = count / 2;
    status = ask_piece(s, first, half, error);
    uint64_t marked = error->marked;
    const dyn_client_error mark = *error;
    if (status == DYN_CLIENT_OK) {
        status = ask_piece(s, first + half, count - half, error);
        if (status == DYN_CLIENT_OK && marked > 0) {
            uint64_t sum = marked + error->marked;
            *error = mark;
            error->marked = sum;
        } else {
            move_error(s, half, error);
        }
    }
    return status;
}

/* Notes the result of a piece. */
static void note(spreading *s, size_t first, size_t count, double time, dyn_client_status status,
                 dyn_client_error *error) {
    uint64_t marked = status == DYN_CLIENT_OK ? error->marked : 0;
    if (marked > 0 || status != DYN_CLIENT_OK) {
        move_error(s, first, error);
    }
    pthread_mutex_lock(&s->mutex);
    if (marked > 0) {
        s->mark = s->marked == 0 || error->sample < s->mark.sample ? *error : s->mark;
        s->marked += marked;
    }
    if (status == DYN_CLIENT_OK) {
        s->longest = fmax(s->longest, time);
        s->done += count;
    }
    if (status != DYN_CLIENT_OK && (s->status == DYN_CLIENT_OK || first < s->failed)) {
        s->status = status;
        s->failed = first;
        s->error = *error;
    }
    pthread_mutex_unlock(&s->mutex);
}

/* Returns the samples of the next piece, out of those that are left. Pieces become smaller towards the end, so that the
 * daemons end at about the same time. */
static size_t next_piece(const spreading *s, size_t left) {
    size_t share = left / WORKERS;
    share = share > s->least ? share : s->least;
    share = share < s->piece ? share : s->piece;
    return share < left ? share : left;
}

/* Begins with the next piece. Returns its samples, or 0 if there are none left, or a piece has failed. */
static size_t begin_piece(spreading *s, size_t *first) {
    pthread_mutex_lock(&s->mutex);
    size_t count = s->status != DYN_CLIENT_OK ? 0 : next_piece(s, s->query->samples - s->next);
    *first = s->next;
    s->next += count;
    pthread_mutex_unlock(&s->mutex);
    return count;
}

/* Requests the next piece. Returns false if there is none. */
static bool work_once(spreading *s) {
    dyn_client_error error = {0};
    size_t first, count = begin_piece(s, &first);
    if (count == 0) {
        return false;
    }
    double start = monotonic_now();
    dyn_client_status status = ask_piece(s, first, count, &error);
    note(s, first, count, monotonic_now() - start, status, &error);
    return true;
}

static void work(spreading *s) {
    while (work_once(s)) {
    }
}

/* Thread function: works for the thread of the caller. */
static void *help(void *argument) {
    under_way_work_for(((spreading *)argument)->thread);
    work(argument);
    return NULL;
}

/* Requests a few samples alone. They show how long a reply takes, and whether the reply to all samples is too large. */
static void work_first(spreading *s) {
    size_t piece = s->piece;
    s->piece = piece < s->least ? piece : s->least;
    work_once(s);
    s->piece = piece;
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

/* Works with several threads. Signals remain with the caller's own. */
static void work_together(spreading *s) {
    pthread_t threads[WORKERS - 1];
    size_t pieces = (s->query->samples + s->piece - 1) / s->piece, count = 0;
    sigset_t all, before;
    s->thread = under_way_thread();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (count + 1 < WORKERS && count + 1 < pieces && pthread_create(&threads[count], NULL, help, s) == 0) {
        count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(s);
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* Stores how the samples were spread, if the caller wants to know. */
static void store_report(const dyn_client_query *query, size_t pieces, const char *code, const char *other) {
    if (query->spread && sized_check("query.spread", query->spread, NULL) == DYN_CLIENT_OK) {
        dyn_client_spread found = {.pieces = pieces};
        snprintf(found.codes[0], sizeof found.codes[0], "%s", code);
        snprintf(found.codes[1], sizeof found.codes[1], "%s", other);
        sized_write(&found, sizeof found, query->spread);
    }
}

/* Returns the samples that are worth a request of their own. */
static size_t least_samples(const spread_call *call) {
    return call->size.steps > 1 ? LEAST_ROLLOUTS : LEAST_SAMPLES;
}

static dyn_client_status spread_pieces(dyn_client *client, const spread_call *call, const dyn_client_query *query,
                                       size_t piece, double deadline, dyn_client_error *error) {
    spreading s = {.client = client,
                   .call = call,
                   .query = query,
                   .deadline = deadline,
                   .piece = piece,
                   .least = least_samples(call),
                   .status = DYN_CLIENT_OK};
    dyn_client_error unused, *found = error ? error : &unused;
    if (!report(&s)) {
        return fail(found, DYN_CLIENT_CANCELLED, NULL, "the progress callback cancelled the call before it began");
    }
    pthread_mutex_init(&s.mutex, NULL);
    work_first(&s);
    work_together(&s);
    pthread_mutex_destroy(&s.mutex);
    if (s.status != DYN_CLIENT_OK) {
        *found = s.error;
        return s.status;
    }
    if (s.marked > 0) {
        *found = s.mark;
    }
    found->marked = s.marked;
    store_report(query, s.pieces, s.origin.code, s.other_code);
    return DYN_CLIENT_OK;
}

/* Returns the samples of the largest piece. */
static size_t choose_piece(const spread_call *call, const dyn_client_query *query, size_t most_bytes) {
    double row = (double)(query->nq > query->nv ? query->nq : query->nv),
           matrix = (double)query->nv * (double)query->nv;
    double numbers = fmax((double)call->size.rows * row, call->size.has_matrix ? matrix : 1);
    numbers = fmax(numbers, (double)call->size.numbers);
    double fitting = FILLED * (double)most_bytes / ((double)sizeof(double) * numbers);
    size_t shared = (query->samples + 2 * WORKERS - 1) / (2 * WORKERS);
    size_t most = fitting < 1 ? 1 : fitting > (double)query->samples ? query->samples : (size_t)fitting;
    size_t least = least_samples(call), wanted = shared > least ? shared : least;
    return wanted < most ? wanted : most;
}

dyn_client_status spread(dyn_client *client, const spread_call *call, dyn_client_error *error) {
    query_parts parts;
    dyn_client_error own, *found = error ? error : &own;
    call_origin origin = {.is_code_wanted = true};
    dyn_client_status status = query_parts_encode_steps(client, call->query, call->q, call->size.steps, &parts, found);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    const dyn_client_query query = parts.source;
    double deadline = monotonic_now() + (query.timeout > 0 ? query.timeout : client_timeout(client));
    size_t most_bytes = query.job || !(query.timeout >= 0) ? 0 : client_piece_bytes(client);
    size_t piece = most_bytes > 0 ? choose_piece(call, &query, most_bytes) : query.samples;
    if (piece >= query.samples) {
        parts.terms.origin = query.spread ? &origin : NULL;
        status = call->ask(client, &parts, 0, call->context, found);
        piece = (query.samples + 1) / 2;
    } else {
        query_parts_free(&parts);
        return spread_pieces(client, call, &query, piece, deadline, error);
    }
    query_parts_free(&parts);
    bool is_too_large = status == DYN_CLIENT_RESOURCE_EXHAUSTED && found->retry_after == 0;
    if (is_too_large && most_bytes > 0 && query.samples > 1) {
        return spread_pieces(client, call, &query, piece, deadline, error);
    }
    if (status == DYN_CLIENT_OK) {
        store_report(&query, 1, origin.code, "");
    }
    return status;
}

dyn_client_status spread_joined(dyn_client *client, const spread_call *call, joined_reply *joined,
                                dyn_client_error *error) {
    joined->most_bytes = client ? client_max_reply_bytes(client) : 0;
    pthread_mutex_init(&joined->mutex, NULL);
    dyn_client_status status = spread(client, call, error);
    pthread_mutex_destroy(&joined->mutex);
    if (status != DYN_CLIENT_OK && joined->reply) {
        protobuf_c_message_free_unpacked(joined->reply, NULL);
        joined->reply = NULL;
    }
    return status;
}
