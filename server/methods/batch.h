/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The samples of a request: their model, counts and order of joints checked, brought into the model's order, computed
 * block by block on the threads that are free, and brought back into the caller's.
 *
 *     batch b;
 *     if (batch_open(c, &b, request->query, QUERY_GRAVITY | QUERY_PAYLOADS, n_q, q)) {
 *         const double *v = batch_input(&b, "v", n_v, values);
 *         double *tau = batch_output(&b, nv);
 *         if (batch_begin(&b, cost)) { ... batch_run(&b, step, context, scratch_size) ... }
 *     }
 *     batch_close(&b);
 *
 * Every function ends the call with an error when it fails; call_has_ended tells.
 */
#ifndef SERVER_METHODS_BATCH_H
#define SERVER_METHODS_BATCH_H

#include <stdatomic.h>

#include "methods/blocks.h"
#include "methods/call.h"
#include "methods/joint_order.h"
#include "methods/query.h"

/* Resources of one thread. */
typedef struct batch_worker {
    dyn_workspace *workspace;
    const dyn_model *model; /* with the payloads of the request; it goes with this workspace */
    void *scratch;          /* as large as batch_run was told */
} batch_worker;

typedef struct batch {
    call *call;
    model_entry *entry;
    const dyn_model *model;
    batch_worker *workers; /* from batch_run on */
    unsigned worker_count;
    joint_order order;
    size_t n, nq, nv;
    size_t result_values; /* per sample, of what batch_expect announced */
    size_t block_size;    /* samples that a step computes at most, 1 to BLOCK_SAMPLES; 0: BLOCK_SAMPLES */
    const double *q;      /* in the model's order from batch_begin on */
    const char *part;     /* message of the request that holds the arrays: "integrate"; NULL: the request itself */
    size_t parts;         /* of a sample, which the step counts by itself (batch_proceed); 0: it does not */
    atomic_size_t *done;  /* parts, or samples */
    const Dynamics__V1__Query *query;
    query_values values; /* payloads and precision are those of the workspaces */
    size_t force_rows;   /* that an external force has where it has more than one: n, or rows of a trajectory */
    size_t force_count;
    dyn_external_force *forces; /* on the first row; from batch_begin on */
    bool is_marking;            /* samples that fail are marked, and do not end the call */
    uint8_t *marks;             /* of each sample: 1 if it failed */
    atomic_size_t *marked;      /* how many failed */
} batch;

/* Computes samples first .. first + count - 1, at most BLOCK_SAMPLES of them. Several threads do so at once. */
typedef dyn_status (*batch_step)(const batch *b, const batch_worker *worker, const void *context, size_t first,
                                 size_t count, dyn_error *error);

/* Decodes the query but for its external forces, and refuses parts that are not supported. */
bool batch_open_model(call *c, batch *b, const Dynamics__V1__Query *query, query_parts supported);

/* Sets the samples of a batch whose model is open: configurations, or their number alone. */
bool batch_set_q(batch *b, size_t count, const double *q);
bool batch_set_samples(batch *b, uint64_t n);

/* Opens the model and sets q. */
bool batch_open(call *c, batch *b, const Dynamics__V1__Query *query, query_parts supported, size_t q_count,
                const double *q);

/* Names a field beside the arrays to blame in the error that follows. */
void batch_blame(const batch *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Checks that an array has n rows of nv, or none. False when it has not. */
bool batch_check(batch *b, const char *field, size_t count);

/* Announces a result of that many values per sample, so that a reply that cannot be sent is not computed. */
void batch_expect(batch *b, size_t values);

/* To be called when all arguments are checked: refuses a reply that is too large, moves a long request to a worker,
 * brings q into the model's order, and decodes the external forces. `cost` is the estimate for one sample, ns. */
bool batch_begin(batch *b, double cost);

/* n rows of nv in the model's order; NULL for an empty array (zeros), or when out of memory. */
const double *batch_input(batch *b, size_t count, const double *values);

/* n rows of nq in the model's order; NULL when out of memory. */
const double *batch_configurations(batch *b, const double *values);

/* Memory for n rows of that many values. */
double *batch_output(batch *b, size_t values);

/* Runs the step over all samples, with a look at the deadline before each block; a long request on all workers that
 * are free. Each thread is given `scratch_size` bytes. */
bool batch_run(batch *b, batch_step step, const void *context, size_t scratch_size);

/* Fills the rows of samples that failed with NaN, in n rows of `width` values. */
void batch_mark_rows(const batch *b, size_t width, double *values);

/* To be asked by a step that takes long, which did so many parts of samples since: false when it should end with
 * DYN_CANCELLED. Tells the progress where the request wants it. Any thread. */
bool batch_proceed(const batch *b, size_t parts);

/* Ends the call with an error of the library's, which counts samples from `first` on, and columns as the model has
 * them. */
void batch_fail(batch *b, size_t first, const dyn_error *error);

/* Brings n rows of nq into the caller's order; the array itself, or another one. NULL when out of memory. */
double *batch_ordered_configurations(batch *b, double *values);

/* Brings n rows of nv into the caller's order; the array itself, or another one. NULL when out of memory. */
double *batch_vectors(batch *b, double *values);

/* The external forces on the block that starts at row `first`: `forces`, or NULL when there are none. They are listed
 * in `scratch`, which has batch_forces_size bytes. */
const dyn_external_forces *batch_forces(const batch *b, size_t first, void *scratch, dyn_external_forces *forces);
size_t batch_forces_size(const batch *b);

/* Reads the external forces of the query; batch_begin does. */
bool batch_read_forces(batch *b);

/* Adds one external force to those of the query; at most once in a request. `path`: of its message. */
bool batch_add_force(batch *b, const char *path, const Dynamics__V1__ExternalForce *force);

/* The robot of the batch, with the order that its caller speaks in. */
robot batch_robot(const batch *b);

/* Finds a frame of the model. `missing` is the error where there is none: REASON_FRAME_NOT_FOUND, or
 * REASON_LINK_NOT_FOUND where the request asks for a link. The field to blame must be set. */
bool batch_find_frame(batch *b, error_reason missing, const char *name, int *frame);

/* The library's name of a reference frame of the wire. The field to blame must be set. */
bool batch_reference_frame(batch *b, Dynamics__V1__ReferenceFrame wire, dyn_reference_frame *frame);

/* Gives back the model and the workspaces. */
void batch_close(batch *b);

#endif
