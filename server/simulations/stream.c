/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks and counts the points of a stream, and uses them: computes torques, queues them for a simulation, or records
 * them. */
#include "simulations/stream.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/clock.h"

enum { MESSAGE_SIZE = 320 };

/* Steps by which the credit grows before an event reports it. */
enum { CREDIT_STEP = 64 };

/* Arrays of a point in the scratch memory, in this order. */
enum { PART_T, PART_Q, PART_V, PART_A, PART_TAU, PART_RESIDUAL, PARTS };

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool allocate(stream *s) {
    size_t capacity = s->options.capacity;
    if (s->options.kind == STREAM_SIMULATION_INPUT) {
        return input_queue_create(&s->queue, s->nq, s->nv, capacity);
    }
    if (s->options.kind == STREAM_RECORD) {
        return true;
    }
    s->held_sequence = calloc(capacity, sizeof *s->held_sequence);
    s->held_t = calloc(capacity, sizeof *s->held_t);
    s->held_tau = calloc(capacity, (s->nv ? s->nv : 1) * sizeof *s->held_tau);
    return s->held_sequence && s->held_t && s->held_tau;
}

/* Creates the workspace of the inverse dynamics, with the payloads. */
static dyn_status create_workspace(stream *s, dyn_error *error) {
    const stream_options *o = &s->options;
    dyn_status status = dyn_workspace_create_in(s->entry->model, o->precision, &s->workspace, error);
    if (status == DYN_OK && o->payload_count > 0) {
        status = dyn_workspace_load(s->workspace, o->payload_count, o->payloads, &s->model, error);
    }
    return status;
}

static bool drive(void *context, simulation *target);

dyn_status stream_create(model_entry *entry, simulation *target, const char *name, const stream_options *options,
                         const stream_hooks *hooks, void *context, dyn_error *error, stream **result) {
    stream *s = calloc(1, sizeof *s);
    *error = (dyn_error){.status = DYN_RESOURCE_EXHAUSTED, .site.cause = DYN_CAUSE_MEMORY, .message = "out of memory"};
    if (!s) {
        return DYN_RESOURCE_EXHAUSTED;
    }
    atomic_init(&s->references, 1);
    pthread_mutex_init(&s->mutex, NULL);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->entry = model_entry_retain(entry);
    s->target = target ? simulation_retain(target) : NULL;
    s->source = (simulation_source){s->name, options->empty == STREAM_EMPTY_PAUSE, drive, s};
    s->options = *options;
    s->hooks = hooks;
    s->owner_context = context;
    s->nq = (size_t)dyn_model_nq(entry->model);
    s->nv = (size_t)dyn_model_nv(entry->model);
    s->last_arrival = clock_now();
    dyn_status status = allocate(s) ? DYN_OK : DYN_RESOURCE_EXHAUSTED;
    s->model = entry->model;
    if (status == DYN_OK && options->kind == STREAM_FEEDFORWARD) {
        status = create_workspace(s, error);
    }
    if (status != DYN_OK) {
        stream_release(s);
        return status;
    }
    *result = s;
    return DYN_OK;
}

stream *stream_retain(stream *s) {
    atomic_fetch_add(&s->references, 1);
    return s;
}

void stream_release(stream *s) {
    if (!s || atomic_fetch_sub(&s->references, 1) != 1) {
        return;
    }
    input_queue_free(&s->queue);
    free(s->held_sequence);
    free(s->held_t);
    free(s->held_tau);
    free(s->scratch);
    free(s->scratch_sequence);
    dyn_workspace_free(s->workspace);
    if (s->attachment) {
        s->free_attachment(s->attachment);
    }
    simulation_release(s->target);
    model_entry_release(s->entry);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

size_t stream_waiting(const stream *s) {
    return s->queue.count;
}

uint64_t stream_credit(const stream *s) {
    size_t free = s->options.capacity - stream_waiting(s);
    return s->order.last < UINT64_MAX - free ? s->order.last + free : UINT64_MAX;
}

static void publish_event(stream *s, stream_event event, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void publish_event(stream *s, stream_event event, const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    s->hooks->on_event(s, event, message);
}

/* ---- checking points --------------------------------------------------------------------------------------------- */

/* Counts of the points of one chunk, for its events. */
typedef struct chunk_counts {
    uint64_t lost, late, duplicates, reordered, refused, beyond_credit;
    uint64_t first_bad;  /* number of the first refused point */
    char problem[160];   /* error of the first refused point */
    uint64_t first_lost; /* number of the first lost point */
    double latest;       /* s */
    size_t room;         /* points that can be used at most */
    size_t used;
} chunk_counts;

/* Returns the name of the first array of point i with a value that is not finite, and stores the value and its index;
 * NULL if all values are finite. */
static const char *find_bad_value(const stream *s, const stream_chunk *c, size_t i, size_t *index, double *value) {
    const struct {
        const char *name;
        const double *row;
        size_t width;
    } rows[] = {{"time", c->t + i, 1},
                {"q", c->q ? c->q + i * s->nq : NULL, s->nq},
                {"v", c->v ? c->v + i * s->nv : NULL, s->nv},
                {"a", c->a ? c->a + i * s->nv : NULL, s->nv},
                {"tau", c->tau ? c->tau + i * s->nv : NULL, s->nv}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (size_t k = 0; rows[r].row && k < rows[r].width; k++) {
            if (!isfinite(rows[r].row[k])) {
                *index = k;
                *value = rows[r].row[k];
                return rows[r].name;
            }
        }
    }
    return NULL;
}

static void note_refusal(chunk_counts *f, uint64_t sequence, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void note_refusal(chunk_counts *f, uint64_t sequence, const char *format, ...) {
    if (f->refused++ > 0) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->problem, sizeof f->problem, format, arguments);
    va_end(arguments);
    f->first_bad = sequence;
}

/* Returns the delay in s from the due time of a point to its arrival: positive is late. Without a simulation, due times
 * count from the arrival of the first point. */
static double lag_of(stream *s, double t, uint64_t arrival) {
    if (s->options.kind == STREAM_SIMULATION_INPUT) {
        return atomic_load_explicit(&s->target->time, memory_order_relaxed) - t;
    }
    if (!s->has_first) {
        s->has_first = true;
        s->first_t = t;
        s->first_arrival = arrival;
    }
    return (double)(arrival - s->first_arrival) / 1e9 - (t - s->first_t);
}

/* Returns whether a point may be used, given its delay. Updates the delay statistics and counts a late point. */
static bool is_welcome(stream *s, double t, uint64_t arrival, chunk_counts *f) {
    double lag = lag_of(s, t, arrival);
    bool has_bound = s->options.kind == STREAM_SIMULATION_INPUT || s->options.late_after > 0;
    s->lag = lag;
    s->greatest_lag = !s->has_lag || lag > s->greatest_lag ? lag : s->greatest_lag;
    s->has_lag = true;
    if (!has_bound || lag <= s->options.late_after) {
        return true;
    }
    f->latest = f->late == 0 || lag > f->latest ? lag : f->latest;
    f->late++;
    return !s->options.drops_late;
}

/* Returns the number of points of a chunk that the stream has room for. */
static size_t room_for(const stream *s, const stream_chunk *c) {
    switch (s->options.kind) {
    case STREAM_FEEDFORWARD:
        break;
    case STREAM_SIMULATION_INPUT:
        return s->options.capacity - stream_waiting(s);
    case STREAM_RECORD:
        return s->hooks->has_room(s, c) ? c->n : 0;
    }
    return c->n;
}

/* Checks point i. Returns whether to use it. A point without room does not use up its number, so that the planner can
 * push it again. */
static bool accept_point(stream *s, const stream_chunk *c, size_t i, chunk_counts *f) {
    uint64_t sequence = c->sequence + i, expected = s->order.last + 1;
    size_t index;
    double value;
    if (f->used >= f->room && !point_order_has(&s->order, sequence)) {
        f->beyond_credit++;
        return false;
    }
    switch (point_order_add(&s->order, sequence)) {
    case POINT_DUPLICATE:
        f->duplicates++;
        return false;
    case POINT_REORDERED:
        f->reordered++;
        break;
    case POINT_NEW:
        if (sequence > expected) {
            f->first_lost = f->lost == 0 ? expected : f->first_lost;
            f->lost += sequence - expected;
        }
        break;
    }
    const char *bad = find_bad_value(s, c, i, &index, &value);
    if (bad) {
        note_refusal(f, sequence, "%s[%zu] is %g", bad, index, value);
        return false;
    }
    return is_welcome(s, c->t[i], c->arrival, f);
}

/* ---- using points ------------------------------------------------------------------------------------------------ */

static bool reserve_scratch(stream *s, size_t n) {
    if (n <= s->scratch_rows) {
        return true;
    }
    size_t width = 2 + s->nq + 3 * s->nv;
    uint64_t *sequence = realloc(s->scratch_sequence, n * sizeof *sequence);
    s->scratch_sequence = sequence ? sequence : s->scratch_sequence;
    double *values = realloc(s->scratch, n * width * sizeof *values);
    s->scratch = values ? values : s->scratch;
    s->scratch_rows = sequence && values ? n : s->scratch_rows;
    return sequence && values;
}

/* Returns the start of one part of the scratch memory. */
static double *scratch_part(const stream *s, int part) {
    size_t before[PARTS] = {0, 1, 1 + s->nq, 1 + s->nq + s->nv, 1 + s->nq + 2 * s->nv, 1 + s->nq + 3 * s->nv};
    return s->scratch + before[part] * s->scratch_rows;
}

static void copy_row(double *to, const double *from, size_t width, size_t i, size_t used) {
    if (from) {
        memcpy(to + used * width, from + i * width, width * sizeof *to);
    }
}

/* Copies point i to the scratch memory after the `used` points there. */
static void copy_point(stream *s, const stream_chunk *c, size_t i, size_t used) {
    s->scratch_sequence[used] = c->sequence + i;
    copy_row(scratch_part(s, PART_T), c->t, 1, i, used);
    copy_row(scratch_part(s, PART_Q), c->q, s->nq, i, used);
    copy_row(scratch_part(s, PART_V), c->v, s->nv, i, used);
    copy_row(scratch_part(s, PART_A), c->a, s->nv, i, used);
    copy_row(scratch_part(s, PART_TAU), c->tau, s->nv, i, used);
}

static stream_points accepted_points(const stream *s, const stream_chunk *c, size_t n) {
    return (stream_points){
        .n = n,
        .sequence = s->scratch_sequence,
        .t = scratch_part(s, PART_T),
        .q = c->q ? scratch_part(s, PART_Q) : NULL,
        .v = c->v ? scratch_part(s, PART_V) : NULL,
        .a = c->a ? scratch_part(s, PART_A) : NULL,
        .tau = c->tau ? scratch_part(s, PART_TAU) : NULL,
        .sent = c->sent,
    };
}

/* Computes tau = ID(q, v, a) of `count` points from point i on. Those of a model with constraints are computed one by
 * one, each at its time, with their residuals. */
static dyn_status find_torques(stream *s, const stream_points *p, size_t i, size_t count,
                               const dyn_external_forces *forces, double *tau, double *residuals, dyn_error *error) {
    const double *q = p->q + i * s->nq, *v = p->v ? p->v + i * s->nv : NULL, *a = p->a ? p->a + i * s->nv : NULL;
    const double *gravity = s->options.gravity;
    if (dyn_model_constraint_rows(s->model) == 0) {
        return dyn_rnea(s->model, s->workspace, count, gravity, q, v, a, forces, tau, error);
    }
    dyn_status status = DYN_OK;
    for (size_t k = 0; status == DYN_OK && k < count; k++) {
        dyn_constrained_inverse_result result = {0};
        status = dyn_workspace_set_time(s->workspace, p->t[i + k], error);
        if (status == DYN_OK) {
            status = dyn_constrained_inverse_dynamics(s->model, s->workspace, 1, gravity, q + k * s->nq,
                                                      v ? v + k * s->nv : NULL, a ? a + k * s->nv : NULL, forces,
                                                      &s->options.motion, tau + k * s->nv, NULL, &result, error);
        }
        residuals[k] = result.residual;
    }
    return status;
}

/* Computes tau = ID(q, v, a) of all points at once. If that fails, computes each point on its own, refuses the bad ones
 * and moves the good ones to the front; p->n becomes their number. */
static void compute_torques(stream *s, stream_points *p, chunk_counts *f) {
    dyn_external_force list[STEPPER_FORCES];
    const dyn_external_forces all = stepper_list_forces(&s->options.forces, list), *forces = all.count ? &all : NULL;
    double *tau = scratch_part(s, PART_TAU), *t = scratch_part(s, PART_T), *residuals = scratch_part(s, PART_RESIDUAL);
    dyn_error error;
    p->tau = tau;
    p->residuals = dyn_model_constraint_rows(s->model) > 0 ? residuals : NULL;
    if (find_torques(s, p, 0, p->n, forces, tau, residuals, &error) == DYN_OK) {
        return;
    }
    size_t good = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (find_torques(s, p, i, 1, forces, tau + good * s->nv, residuals + good, &error) == DYN_OK) {
            s->scratch_sequence[good] = p->sequence[i];
            t[good++] = p->t[i];
        } else {
            note_refusal(f, p->sequence[i], "%.150s", error.message);
        }
    }
    p->n = good;
}

/* Stores the torques for later requests, each at index number % capacity unless a later point is there. */
static void hold(stream *s, const stream_points *p) {
    for (size_t i = 0; i < p->n; i++) {
        size_t place = (size_t)(p->sequence[i] % s->options.capacity);
        if (s->held_sequence[place] < p->sequence[i]) {
            s->held_sequence[place] = p->sequence[i];
            s->held_t[place] = p->t[i];
            memcpy(s->held_tau + place * s->nv, p->tau + i * s->nv, s->nv * sizeof *p->tau);
        }
    }
}

/* Returns the flags of the parts that the points have. */
static unsigned parts_of(const stream_points *p) {
    return (p->tau ? POINT_TAU : 0U) | (p->q ? POINT_Q : 0U) | (p->v ? POINT_V : 0U) | (p->a ? POINT_A : 0U);
}

/* Inserts points into the queue, which has room for all of them. Refuses all of them if they have no parts, or other
 * parts than the earlier points of the stream. */
static void enqueue(stream *s, stream_points *p, chunk_counts *f) {
    size_t nq = s->nq, nv = s->nv;
    unsigned parts = parts_of(p);
    if (parts == 0 || (s->queue.parts != 0 && parts != s->queue.parts)) {
        note_refusal(f, p->sequence[0], "%s",
                     parts ? "the points of a stream all have the same parts of tau, q, v, a"
                           : "the point has neither forces nor a reference");
        f->refused += p->n - 1;
        p->n = 0;
        return;
    }
    s->queue.parts = parts;
    for (size_t i = 0; i < p->n; i++) {
        double *place = input_queue_insert(&s->queue, p->t[i]);
        const double *rows[] = {p->tau ? p->tau + i * nv : NULL, p->q ? p->q + i * nq : NULL,
                                p->v ? p->v + i * nv : NULL, p->a ? p->a + i * nv : NULL};
        size_t widths[] = {nv, nq, nv, nv};
        place++;
        for (int r = 0; r < 4; r++) {
            if (rows[r]) {
                memcpy(place, rows[r], widths[r] * sizeof *place);
            }
            place += widths[r];
        }
    }
}

/* Writes points to the recording. Refuses all of them if the recording has ended. */
static void record(stream *s, stream_points *p, chunk_counts *f) {
    const char *problem;
    if (s->hooks->on_record(s, p, &problem)) {
        s->counters.consumed += p->n;
        return;
    }
    note_refusal(f, p->sequence[0], "%.150s", problem);
    f->refused += p->n - 1;
    p->n = 0;
}

/* Uses the good points of a chunk. */
static void use(stream *s, stream_points *p, chunk_counts *f) {
    switch (s->options.kind) {
    case STREAM_FEEDFORWARD:
        compute_torques(s, p, f);
        hold(s, p);
        s->counters.consumed += p->n;
        break;
    case STREAM_SIMULATION_INPUT:
        enqueue(s, p, f);
        break;
    case STREAM_RECORD:
        record(s, p, f);
        break;
    }
    s->counters.accepted += p->n;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* Counts the points, and sends the events that the planner needs. */
static void report(stream *s, const chunk_counts *f) {
    stream_counters *k = &s->counters;
    k->late += f->late;
    k->duplicates += f->duplicates;
    k->reordered += f->reordered;
    k->refused += f->refused;
    k->beyond_credit += f->beyond_credit;
    if (f->lost > 0) {
        publish_event(s, STREAM_LOST, "%llu points did not come, the first is number %llu", (unsigned long long)f->lost,
                      (unsigned long long)f->first_lost);
    }
    if (f->reordered > 0) {
        publish_event(s, STREAM_REORDERED, "%llu points came after later ones", (unsigned long long)f->reordered);
    }
    if (f->duplicates > 0) {
        publish_event(s, STREAM_DUPLICATE, "%llu points came before", (unsigned long long)f->duplicates);
    }
    if (f->late > 0) {
        publish_event(s, STREAM_LATE, "%llu points came up to %.6f s late and were %s", (unsigned long long)f->late,
                      f->latest, s->options.drops_late ? "left out" : "used");
    }
    if (f->refused > 0) {
        publish_event(s, STREAM_REFUSED, "%llu points were refused, the first is number %llu: %s",
                      (unsigned long long)f->refused, (unsigned long long)f->first_bad, f->problem);
    }
    if (f->beyond_credit > 0) {
        publish_event(s, STREAM_BEYOND_CREDIT,
                      "%llu points were beyond the credit; wait until it reaches their numbers, then push them again",
                      (unsigned long long)f->beyond_credit);
    }
}

void stream_push(stream *s, const stream_chunk *c) {
    chunk_counts f = {0};
    pthread_mutex_lock(&s->mutex);
    if (s->is_closed) {
        pthread_mutex_unlock(&s->mutex);
        return;
    }
    s->counters.chunks++;
    s->last_arrival = c->arrival;
    if (!reserve_scratch(s, c->n)) {
        note_refusal(&f, c->sequence, "the daemon is short of memory");
        f.refused = c->n;
    } else {
        f.room = room_for(s, c);
        for (size_t i = 0; i < c->n; i++) {
            if (accept_point(s, c, i, &f)) {
                copy_point(s, c, i, f.used++);
            }
        }
        stream_points points = accepted_points(s, c, f.used);
        if (f.used > 0) {
            use(s, &points, &f);
        }
        if (s->options.kind == STREAM_FEEDFORWARD && points.n > 0) {
            s->hooks->on_torques(s, &points);
        }
    }
    report(s, &f);
    pthread_mutex_unlock(&s->mutex);
}

void stream_refuse(stream *s, uint64_t arrival, const char *message) {
    pthread_mutex_lock(&s->mutex);
    if (!s->is_closed) {
        s->last_arrival = arrival;
        s->counters.chunks++;
        s->counters.refused++;
        publish_event(s, STREAM_REFUSED, "a chunk was refused: %s", message);
    }
    pthread_mutex_unlock(&s->mutex);
}

/* ---- simulations ------------------------------------------------------------------------------------------------- */

/* Applies the policy for a simulation whose stream has no point left: clears the reference velocity and acceleration,
 * and with STREAM_EMPTY_ZERO the torques. */
static void apply_empty_policy(const stream *s, simulation *target) {
    size_t bytes = s->nv * sizeof(double);
    if (s->options.empty == STREAM_EMPTY_ZERO) {
        memset(target->input.tau, 0, bytes);
    }
    memset(target->input.v_ref, 0, bytes);
    memset(target->input.a_ref, 0, bytes);
}

/* Writes the target's input for its next step, as the `drive` of a simulation_source. Returns false when the stream has
 * no point for that time. */
static bool drive(void *context, simulation *target) {
    stream *s = context;
    size_t used;
    double t = (double)target->step * target->step_length;
    pthread_mutex_lock(&s->mutex);
    uint64_t credit = stream_credit(s);
    bool has_point = input_queue_at(&s->queue, s->entry->model, t, s->options.is_linear, &target->input, &used);
    s->counters.consumed += used;
    bool is_empty = has_point && input_queue_is_empty(&s->queue, t);
    if (is_empty && !s->was_empty) {
        s->counters.empty++;
        publish_event(s, STREAM_EMPTY, "there is no point after simulated time %.6f s", s->queue.now[0]);
    }
    if (is_empty) {
        apply_empty_policy(s, target);
    }
    s->was_empty = is_empty;
    if (used > 0 && stream_credit(s) / CREDIT_STEP != credit / CREDIT_STEP) {
        publish_event(s, STREAM_CREDIT, "%zu points wait", stream_waiting(s));
    }
    pthread_mutex_unlock(&s->mutex);
    if (has_point && target->recording) {
        target->hooks->on_input(target, false);
    }
    return has_point && !is_empty;
}
