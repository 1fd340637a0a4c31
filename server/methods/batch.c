/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches: check the samples of a request, convert them to the model's order and back, and compute them in blocks. */
#include "methods/batch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/bounds.h"
#include "methods/error_path.h"
#include "methods/lookup.h"

/* Time of a block, ns. */
static const double BLOCK_TIME = 1e6;

/* Largest number of bytes of a reply in addition to its arrays. */
enum { REPLY_MARGIN = 4096 };

void batch_blame(const batch *b, const char *format, ...) {
    char field[CALL_FIELD_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(field, sizeof field, format, arguments);
    va_end(arguments);
    call_blame(b->call, "%s%s%s", b->part ? b->part : "", b->part ? "." : "", field);
}

/* Checks that the number of samples is within limits.samples; `field` is the field of the error. */
static bool check_samples(batch *b, const char *field) {
    uint64_t limit = atomic_load(&b->call->service->limits->samples);
    if (b->n > limit) {
        batch_blame(b, "%s", field);
        call_fail(b->call, REASON_TOO_MANY_SAMPLES,
                  "%zu samples; the limit is %llu (limits.samples): send them in several requests", b->n,
                  (unsigned long long)limit);
        call_set_limit(b->call, BOUND_SAMPLES, limit, b->n);
        return false;
    }
    b->call->samples = b->n;
    return true;
}

bool batch_open_model(call *c, batch *b, const Dynamics__V1__Query *query, query_parts supported) {
    robot r;
    refusal why = {0};
    *b = (batch){.call = c, .query = query};
    b->entry = query_find_model(c, query, supported);
    if (!b->entry) {
        return false;
    }
    bool is_read = query_read(query, b->entry, &c->memory, &r, &b->values, &why);
    if (!is_read) {
        call_refuse(c, &why);
    }
    b->model = r.model;
    b->order = r.order;
    b->nq = r.nq;
    b->nv = r.nv;
    b->is_marking = b->values.is_marking;
    return is_read;
}

robot batch_robot(const batch *b) {
    return (robot){.entry = b->entry,
                   .model = b->model,
                   .order = b->order,
                   .nq = b->nq,
                   .nv = b->nv,
                   .name_count = b->query->n_joint_names,
                   .names = b->query->joint_names};
}

bool batch_set_samples(batch *b, uint64_t n) {
    b->force_rows = b->n = (size_t)n;
    return check_samples(b, b->q ? "q" : "samples");
}

bool batch_set_q(batch *b, size_t count, const double *q) {
    if (count == 0 || count % b->nq != 0) {
        batch_blame(b, "q");
        call_fail(b->call, REASON_WRONG_COUNT, "q has %zu values; pass nq = %zu for each sample of model \"%s\"", count,
                  b->nq, b->entry->name);
        return false;
    }
    b->q = q;
    return batch_set_samples(b, count / b->nq);
}

bool batch_open(call *c, batch *b, const Dynamics__V1__Query *query, query_parts supported, size_t q_count,
                const double *q) {
    return batch_open_model(c, b, query, supported) && batch_set_q(b, q_count, q);
}

bool batch_check(batch *b, const char *field, size_t count) {
    if (count == 0 || count == b->n * b->nv) {
        return true;
    }
    batch_blame(b, "%s", field);
    call_fail(b->call, REASON_WRONG_COUNT,
              "%s has %zu values; %zu sample%s of model \"%s\" with nv = %zu need%s %zu (or none, for zeros)", field,
              count, b->n, b->n == 1 ? "" : "s", b->entry->name, b->nv, b->n == 1 ? "s" : "", b->n * b->nv);
    return false;
}

bool batch_check_one_state(batch *b) {
    if (b->n != 1) {
        batch_blame(b, "q");
        call_fail(b->call, REASON_WRONG_COUNT, "q has %zu states; %s takes one: nq = %zu values", b->n,
                  b->call->method->name, b->nq);
    }
    return b->n == 1;
}

void batch_expect(batch *b, size_t values) {
    b->result_values += values;
}

/* Refuses a reply that would exceed limits.reply_bytes. */
static bool check_reply_size(batch *b) {
    uint64_t limit = atomic_load(&b->call->service->limits->reply_bytes);
    double bytes = (double)b->n * (double)b->result_values * sizeof(double) + REPLY_MARGIN;
    if (bytes <= (double)limit) {
        return true;
    }
    batch_blame(b, "q");
    call_fail(b->call, REASON_REPLY_TOO_LARGE,
              "the reply to %zu samples would have %.0f bytes; the limit is %llu (limits.reply_bytes): send fewer "
              "samples at once",
              b->n, bytes, (unsigned long long)limit);
    call_set_limit(b->call, BOUND_REPLY_BYTES, limit, (uint64_t)fmin(bytes, 0x1p63));
    return false;
}

bool batch_begin(batch *b, double cost) {
    b->cost = cost;
    if (!check_reply_size(b) || call_defer(b->call, cost * (double)b->n)) {
        return false;
    }
    b->q = b->q ? batch_configurations(b, b->q) : NULL;
    return !call_has_ended(b->call) && batch_read_forces(b) && batch_read_base(b);
}

const double *batch_configurations(batch *b, const double *values) {
    if (b->order.is_identity) {
        return values;
    }
    double *ordered = call_allocate(b->call, b->n * b->nq, sizeof(double));
    if (ordered) {
        joint_order_to_model(b->order.q, b->nq, b->n, values, ordered);
    }
    return ordered;
}

double *batch_ordered_configurations(batch *b, double *values) {
    if (b->order.is_identity) {
        return values;
    }
    double *ordered = call_allocate(b->call, b->n * b->nq, sizeof(double));
    if (ordered) {
        joint_order_to_caller(b->order.q, b->nq, b->n, values, ordered);
    }
    return ordered;
}

const double *batch_input(batch *b, size_t count, const double *values) {
    if (count == 0 || b->order.is_identity) {
        return count == 0 ? NULL : values;
    }
    double *ordered = call_allocate(b->call, count, sizeof(double));
    if (ordered) {
        joint_order_to_model(b->order.v, b->nv, b->n, values, ordered);
    }
    return ordered;
}

double *batch_output(batch *b, size_t values) {
    return call_allocate(b->call, b->n * values, sizeof(double));
}

/* Width of the rows of a library function's argument: nq, nv, or neither. */
typedef enum row_kind { ROW_OTHER, ROW_Q, ROW_V } row_kind;

/* Names that the library's arguments have in the protocol. */
static const struct argument {
    const char *library, *wire;
    row_kind row;
} arguments[] = {
    {"q", "q", ROW_Q},         {"q_0", "q", ROW_Q},       {"q_1", "q_1", ROW_Q},      {"q_ref", "q_ref", ROW_Q},
    {"v", "v", ROW_V},         {"a", "a", ROW_V},         {"tau", "tau", ROW_V},      {"dq", "dq", ROW_V},
    {"dv", "dv", ROW_V},       {"da", "da", ROW_V},       {"dtau", "dtau", ROW_V},    {"v_ref", "v_ref", ROW_V},
    {"a_ref", "a_ref", ROW_V}, {"gains", "gains", ROW_V}, {"motion", "q", ROW_OTHER},
};

static const struct argument *find_argument(const char *library) {
    for (size_t i = 0; library && i < sizeof arguments / sizeof arguments[0]; i++) {
        if (strcmp(arguments[i].library, library) == 0) {
            return &arguments[i];
        }
    }
    return NULL;
}

/* Converts the index of a number in an argument, in rows of `width` numbers, from the model's order to the caller's.
 * `columns` NULL: both orders are equal. */
static size_t caller_index(size_t index, size_t width, const int *columns) {
    for (size_t c = 0; columns && c < width; c++) {
        if ((size_t)columns[c] == index % width) {
            return index / width * width + c;
        }
    }
    return index;
}

/* Sets the field of the following error from the site of the library's error. The library counts samples from `first`
 * on, and columns in the model's order; the field has the caller's. */
static void blame_site(const batch *b, size_t first, const dyn_error *error) {
    dyn_error_site site = error->site;
    char path[ERROR_PATH_SIZE];
    const char *name = site.argument ? site.argument : error->place;
    const struct argument *known = find_argument(name);
    site.index += first * site.width;
    if (known && known->row != ROW_OTHER && !site.part) {
        bool is_q = known->row == ROW_Q;
        site.index = caller_index(site.index, is_q ? b->nq : b->nv, is_q ? b->order.q : b->order.v);
    }
    const char *of_query = query_field(name), *part = b->part && !of_query ? b->part : "";
    name = of_query ? of_query : known ? known->wire : name;
    call_blame(b->call, "%s%s%s", part, part[0] ? "." : "", error_path(&site, name, path));
}

void batch_fail(batch *b, size_t first, const dyn_error *error) {
    const dyn_error_site *site = &error->site;
    blame_site(b, first, error);
    call_fail_library(b->call, error);
    if (site->has_sample) {
        call_set_sample(b->call, site->sample + first);
    }
    if (site->has_joint) {
        call_set_joint(b->call, dyn_model_joint(b->model, site->joint)->name);
    }
}

/* Context of run_block: the batch, and the step with its arguments. */
typedef struct step_call {
    const batch *batch;
    batch_step step;
    const void *context;
} step_call;

/* Creates simulator i of a thread, with the payloads of the request, where the batch needs it. */
static dyn_status prepare_simulator(const batch *b, batch_worker *w, int i, dyn_error *error) {
    if (!b->simulations[i] || w->simulators[i]) {
        return DYN_OK;
    }
    dyn_status status = dyn_simulator_create(b->model, b->simulations[i], &w->simulators[i], error);
    if (status == DYN_OK && b->values.payload_count > 0) {
        status = dyn_simulator_load(w->simulators[i], b->values.payload_count, b->values.payloads, error);
    }
    return status;
}

/* Leases a workspace for a thread, and sets the time and the payloads of the request in it. */
static dyn_status prepare_worker(const batch *b, batch_worker *w, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int i = 0; status == DYN_OK && i < BATCH_SIMULATORS; i++) {
        status = prepare_simulator(b, w, i, error);
    }
    if (status == DYN_OK) {
        status = model_entry_lease(b->entry, b->values.precision, error, &w->workspace);
    }
    w->model = b->model;
    if (status == DYN_OK) {
        status = dyn_workspace_set_time(w->workspace, b->values.time, error);
    }
    if (status == DYN_OK && b->values.payload_count > 0) {
        status = dyn_workspace_load(w->workspace, b->values.payload_count, b->values.payloads, &w->model, error);
    }
    return status;
}

/* Number of samples that are computed at once after one has failed. */
enum { CAUTIOUS_SAMPLES = 8 };

/* Runs the step on a block and leaves out failing samples. The library reports the first of them, so the samples before
 * it run again without it. After a failure few samples run at once, twice as many after each success. So a block of
 * failures costs no more than as many single samples. */
static dyn_status run_marking(const step_call *s, const batch_worker *w, size_t first, size_t count, dyn_error *error) {
    const batch *b = s->batch;
    size_t end = first + count, most = count;
    while (first < end) {
        size_t part = end - first < most ? end - first : most;
        dyn_status status = s->step(b, w, s->context, first, part, error);
        if (status == DYN_OK) {
            first += part;
            most = 2 * part;
        } else if (status == DYN_CANCELLED || !error->site.has_sample) {
            return status;
        } else if (error->site.sample > 0) {
            most = error->site.sample;
        } else {
            b->marks[first++] = 1;
            atomic_fetch_add(b->marked, 1);
            most = CAUTIOUS_SAMPLES;
        }
    }
    return DYN_OK;
}

/* Computes one block with the workspace of the thread `worker`. */
static dyn_status compute_block(const step_call *s, unsigned worker, size_t first, size_t count, dyn_error *error) {
    batch_worker *w = &s->batch->workers[worker];
    dyn_status status = w->workspace ? DYN_OK : prepare_worker(s->batch, w, error);
    if (status == DYN_OK) {
        status = s->batch->is_marking ? run_marking(s, w, first, count, error)
                                      : s->step(s->batch, w, s->context, first, count, error);
    }
    if (s->batch->parts == 0) {
        atomic_fetch_add(s->batch->done, count);
    }
    return status;
}

/* Runs the step on one block. The time of threads other than that of the call is added to the call's. Implements
 * block_step. */
static dyn_status run_block(void *argument, unsigned worker, size_t first, size_t count, dyn_error *error) {
    const step_call *s = argument;
    call *c = s->batch->call;
    uint64_t begin = worker > 0 ? call_help_begin(c) : 0;
    dyn_status status = compute_block(s, worker, first, count, error);
    if (worker > 0) {
        call_help_end(c, begin);
    }
    return status;
}

bool batch_proceed(const batch *b, size_t parts) {
    call_yield(b->call);
    double total = (double)b->n * (double)(b->parts ? b->parts : 1);
    size_t done = atomic_fetch_add(b->done, parts) + parts;
    return call_may_proceed(b->call, fmin(1, (double)done / total));
}

static bool proceed_block(void *argument) {
    const step_call *s = argument;
    return batch_proceed(s->batch, 0);
}

/* Creates the batch's workers: one if the thread that received the request runs the batch, or if it has a single block;
 * otherwise as many as the pool has threads. Returns false when the call has ended. */
static bool create_workers(batch *b, size_t scratch_size) {
    unsigned most =
        b->call->is_on_worker && b->n > (b->block_size ? b->block_size : BLOCK_SAMPLES) ? b->call->service->workers : 1;
    if (b->workers) {
        return true;
    }
    b->done = call_allocate(b->call, 1, sizeof *b->done);
    b->workers = call_allocate(b->call, most, sizeof *b->workers);
    b->marks = b->is_marking ? call_allocate(b->call, b->n, 1) : NULL;
    b->marked = b->is_marking ? call_allocate(b->call, 1, sizeof *b->marked) : NULL;
    for (unsigned i = 0; b->workers && i < most; i++) {
        b->worker_count = i + 1;
        b->workers[i].scratch = scratch_size ? call_allocate(b->call, 1, scratch_size) : NULL;
    }
    return !call_has_ended(b->call);
}

/* Runs a failed sample again and writes its error to `to`. Returns false, and the call has ended, when memory is
 * short. */
static bool describe_mark(batch *b, const step_call *s, size_t sample, Dynamics__V1__SampleError *to) {
    dyn_error error = {0};
    run_block((void *)(uintptr_t)s, 0, sample, 1, &error);
    blame_site(b, sample, &error);
    dynamics__v1__sample_error__init(to);
    to->sample = sample;
    to->code = reason_code(reason_of_error(&error));
    to->reason = reason_token(reason_of_error(&error));
    to->message = call_string(b->call, error.message);
    to->field = call_string(b->call, b->call->field);
    b->call->field[0] = '\0';
    return !call_has_ended(b->call);
}

/* Writes the errors of the first MOST_SAMPLE_ERRORS failed samples, and the number of all, into the reply. Returns
 * false when the call has ended. */
static bool report_marks(batch *b, const step_call *s) {
    size_t total = b->is_marking ? atomic_load(b->marked) : 0,
           most = total < MOST_SAMPLE_ERRORS ? total : MOST_SAMPLE_ERRORS;
    Dynamics__V1__Reply *reply = &b->call->reply;
    if (total == 0) {
        return true;
    }
    Dynamics__V1__SampleError *errors = call_allocate(b->call, most, sizeof *errors);
    reply->sample_errors = call_allocate(b->call, most, sizeof *reply->sample_errors);
    b->is_marking = false; /* the steps below must return their error */
    for (size_t i = 0; i < b->n && reply->n_sample_errors < most && !call_has_ended(b->call); i++) {
        Dynamics__V1__SampleError *error = errors + reply->n_sample_errors;
        if (b->marks[i] && describe_mark(b, s, i, error)) {
            reply->sample_errors[reply->n_sample_errors++] = error;
        }
    }
    reply->sample_error_count = total;
    return !call_has_ended(b->call);
}

void batch_mark_rows(const batch *b, size_t width, double *values) {
    size_t left = b->marks ? atomic_load(b->marked) : 0;
    for (size_t i = 0; left > 0; i++) {
        if (b->marks[i]) {
            for (size_t k = 0; k < width; k++) {
                values[i * width + k] = NAN;
            }
            left--;
        }
    }
}

/* Bounds the samples of a block, so that it takes about BLOCK_TIME, but fills the lanes of the kernels. A step that
 * counts parts yields between them. */
static void bound_block_time(batch *b) {
    size_t size = b->block_size ? b->block_size : BLOCK_SAMPLES, lanes = (size_t)dyn_lanes(b->values.precision);
    double most = b->cost > 0 && b->parts == 0 ? fmax(BLOCK_TIME / b->cost, (double)lanes) : BLOCK_SAMPLES;
    b->block_size = (double)size > most ? (size_t)most : size;
}

bool batch_run(batch *b, batch_step step, const void *context, size_t scratch_size) {
    bound_block_time(b);
    if (!create_workers(b, scratch_size)) {
        return false;
    }
    step_call s = {.batch = b, .step = step, .context = context};
    blocks work = {
        .n = b->n,
        .size = b->block_size,
        .workers = b->worker_count,
        .deadline = b->call->deadline,
        .step = run_block,
        .proceed = proceed_block,
        .context = &s,
        .submit = b->call->service->submit,
        .pause = b->call->service->pause,
        .resume = b->call->service->resume,
        .pool = b->call->service->pool,
    };
    dyn_status status;
    dyn_error error = {0};
    size_t first;
    switch (blocks_run(&work, &status, &error, &first)) {
    case BLOCKS_DONE:
        return report_marks(b, &s);
    case BLOCKS_FAILED:
        if (status != DYN_CANCELLED) {
            batch_fail(b, first, &error);
            return false;
        }
        break;
    case BLOCKS_LATE:
    case BLOCKS_ENDED:
        break;
    }
    call_fail_ended(b->call);
    return false;
}

double *batch_vectors(batch *b, double *values) {
    if (b->order.is_identity) {
        return values;
    }
    double *ordered = call_allocate(b->call, b->n * b->nv, sizeof(double));
    if (ordered) {
        joint_order_to_caller(b->order.v, b->nv, b->n, values, ordered);
    }
    return ordered;
}

double *batch_matrices(batch *b, double *values) {
    size_t width = b->nv * b->nv;
    if (b->order.is_identity) {
        return values;
    }
    double *ordered = call_allocate(b->call, b->n * width, sizeof(double));
    for (size_t i = 0; ordered && i < b->n * width; i++) {
        size_t row = (size_t)b->order.v[i % width / b->nv], column = (size_t)b->order.v[i % b->nv];
        ordered[i] = values[i / width * width + row * b->nv + column];
    }
    return ordered;
}

bool batch_find_frame(batch *b, error_reason missing, const char *name, int *frame) {
    refusal why;
    bool is_found = lookup_frame(b->entry, missing, "", name, frame, &why);
    if (!is_found) {
        call_refuse(b->call, &why);
    }
    return is_found;
}

void batch_close(batch *b) {
    for (unsigned i = 0; i < b->worker_count; i++) {
        for (int k = 0; k < BATCH_SIMULATORS; k++) {
            dyn_simulator_free(b->workers[i].simulators[k]);
        }
        if (b->workers[i].workspace) {
            model_entry_return(b->entry, b->workers[i].workspace);
        }
    }
    model_entry_release(b->entry);
}
