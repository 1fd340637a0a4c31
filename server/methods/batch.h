/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of a request: checks their model, counts and order of joints, converts them to the model's order, computes
 * them block by block on the idle threads, and converts the results to the caller's order.
 *
 *     batch b;
 *     if (batch_open(c, &b, request->query, QUERY_GRAVITY | QUERY_PAYLOADS, n_q, q)) {
 *         const double *v = batch_input(&b, "v", n_v, values);
 *         double *tau = batch_output(&b, nv);
 *         if (batch_begin(&b, cost)) { ... batch_run(&b, step, context, scratch_size) ... }
 *     }
 *     batch_close(&b);
 *
 * Every function ends the call with an error when it fails; call_has_ended returns whether one did.
 */
#ifndef SERVER_METHODS_BATCH_H
#define SERVER_METHODS_BATCH_H

#include <stdatomic.h>

#include <dynamics/base_motion.h>
#include <dynamics/constrained_dynamics.h>
#include <dynamics/simulation.h>

#include "methods/blocks.h"
#include "methods/call.h"
#include "methods/joint_order.h"
#include "methods/query.h"

/* Most simulators of a worker. */
enum { BATCH_SIMULATORS = 2 };

/* Resources of one thread that computes samples. */
typedef struct batch_worker {
    dyn_workspace *workspace;
    const dyn_model *model; /* includes the payloads of the request; valid for this workspace only */
    void *scratch;          /* scratch_size bytes of batch_run */
    dyn_simulator
        *simulators[BATCH_SIMULATORS]; /* with the options batch.simulations and the payloads of the request */
} batch_worker;

/* Samples of a request, their model, and the resources of the threads that compute them. */
typedef struct batch {
    call *call;
    model_entry *entry;
    const dyn_model *model;
    batch_worker *workers; /* valid from batch_run on */
    unsigned worker_count;
    joint_order order;
    size_t n, nq, nv;
    size_t result_values; /* values of the reply for one sample: the sum of the batch_expect calls */
    size_t block_size;    /* largest number of samples of a step, 1 to BLOCK_SAMPLES; 0: BLOCK_SAMPLES */
    double cost;          /* estimate for one sample, ns; from batch_begin on */
    const double *q;      /* configurations, n rows of nq; in the model's order from batch_begin on */
    const char *part;     /* message of the request that holds the arrays: "integrate"; NULL: the request itself */
    size_t parts;         /* parts of a sample, which the step counts (batch_proceed); 0: it does not */
    atomic_size_t *done;  /* number of parts that are done; of samples if `parts` is 0 */
    const Dynamics__V1__Query *query;
    query_values values; /* of the query; the workspaces have its payloads and precision */
    size_t force_rows;   /* rows of an external force that varies: n, or the rows of a trajectory */
    size_t force_count;
    dyn_external_force *forces; /* at their first rows; valid from batch_begin on */
    dyn_base_motion base;       /* at its first row, without a twist if the base rests; valid from batch_begin on */
    size_t base_steps;          /* steps of a rollout, for which the base may have rows; 0: it cannot */
    size_t base_step_stride;    /* of base.twist and base.acceleration from step to step */
    dyn_given_rows given; /* rows of the query at its first row, in the model's order (given_rows.h); count 0: none */
    /* Options of simulators of the workers, set before batch_run; NULL: none. */
    const dyn_simulation_options *simulations[BATCH_SIMULATORS];
    bool is_marking;       /* failed samples are marked and do not end the call */
    uint8_t *marks;        /* mark of each sample: 1 if it failed */
    atomic_size_t *marked; /* number of failed samples */
} batch;

/* Computes samples first .. first + count - 1, at most BLOCK_SAMPLES of them. Several threads call it at once. */
typedef dyn_status (*batch_step)(const batch *b, const batch_worker *worker, const void *context, size_t first,
                                 size_t count, dyn_error *error);

/* Finds the model and decodes the query except its external forces. Refuses parts of the query that are not supported.
 * Returns false when the call has ended. */
bool batch_open_model(call *c, batch *b, const Dynamics__V1__Query *query, query_parts supported);

/* Sets the configurations of a batch whose model is open; their count must be a positive multiple of nq. */
bool batch_set_q(batch *b, size_t count, const double *q);

/* Sets the number of samples of a batch whose model is open, without configurations. The number must be within
 * limits.samples. */
bool batch_set_samples(batch *b, uint64_t n);

/* Opens the model (batch_open_model) and sets the configurations (batch_set_q). The caller closes the batch also on
 * failure. */
bool batch_open(call *c, batch *b, const Dynamics__V1__Query *query, query_parts supported, size_t q_count,
                const double *q);

/* Sets the field of the following error, relative to the message `part` of the request: "q" becomes "integrate.q". */
void batch_blame(const batch *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Checks that the array `field` has n rows of nv values, or none. Otherwise ends the call and returns false. */
bool batch_check(batch *b, const char *field, size_t count);

/* Checks that the batch has one sample. Otherwise ends the call and returns false. */
bool batch_check_one_state(batch *b);

/* Announces a result of `values` numbers for each sample, so that a reply that is too large fails before its
 * computation. */
void batch_expect(batch *b, size_t values);

/* Begins the computation, after all arguments are checked: refuses a reply that is too large, moves a long request to a
 * worker, converts q to the model's order, and reads the external forces. `cost` is the estimate for one sample, ns.
 * Returns false when the call has ended or is deferred. */
bool batch_begin(batch *b, double cost);

/* Converts n rows of nv values to the model's order; may return `values` itself. Returns NULL for an empty array
 * (zeros), or when out of memory. */
const double *batch_input(batch *b, size_t count, const double *values);

/* Converts n rows of nq values to the model's order; may return `values` itself. Returns NULL when out of memory. */
const double *batch_configurations(batch *b, const double *values);

/* Allocates n zeroed rows of `values` numbers. Returns NULL when out of memory. */
double *batch_output(batch *b, size_t values);

/* Runs the step over all samples: a long request on all idle workers, with a check of the deadline between blocks. Each
 * thread has `scratch_size` bytes of scratch memory. Returns false when the call has ended. If failed samples are
 * marked, lists their errors in the reply and returns true. */
bool batch_run(batch *b, batch_step step, const void *context, size_t scratch_size);

/* Fills the rows of samples that failed with NaN, in n rows of `width` values. */
void batch_mark_rows(const batch *b, size_t width, double *values);

/* Reports that a long step has done `parts` more parts of its samples. Returns false if the step must end with
 * DYN_CANCELLED. Publishes the progress if the request wants it. Any thread. */
bool batch_proceed(const batch *b, size_t parts);

/* Ends the call with an error of the library. The error counts samples from `first` on, and columns in the model's
 * order; the reply counts all samples, and columns in the caller's order. */
void batch_fail(batch *b, size_t first, const dyn_error *error);

/* Converts n rows of nq values to the caller's order. Returns `values` itself or another array, NULL when out of
 * memory. */
double *batch_ordered_configurations(batch *b, double *values);

/* Converts n rows of nv values to the caller's order. Returns `values` itself or another array, NULL when out of
 * memory. */
double *batch_vectors(batch *b, double *values);

/* Converts n matrices of nv x nv values to the caller's order. Returns `values` itself or another array, NULL when out
 * of memory. */
double *batch_matrices(batch *b, double *values);

/* Lists the external forces on the block that starts at row `first` in `scratch`, which has batch_forces_size bytes,
 * and sets `forces` to the list. Returns `forces`, or NULL if there are no external forces. */
const dyn_external_forces *batch_forces(const batch *b, size_t first, void *scratch, dyn_external_forces *forces);

/* Returns the scratch memory that batch_forces needs, in bytes. */
size_t batch_forces_size(const batch *b);

/* Reads the external forces of the query. batch_begin calls it. Returns false when the call has ended. */
bool batch_read_forces(batch *b);

/* Reads the motion of the base of the query. batch_begin calls it. Returns false when the call has ended. */
bool batch_read_base(batch *b);

/* Sets `base` to the motion of the base in the block that starts at row `first`. Returns `base`, or NULL if the base
 * rests. */
const dyn_base_motion *batch_base(const batch *b, size_t first, dyn_base_motion *base);

/* Adds one external force to those of the query, at most once in a request, after batch_begin. `path` is the path of
 * its message. Returns false, and the call has ended, if it is invalid. */
bool batch_add_force(batch *b, const char *path, const Dynamics__V1__ExternalForce *force);

/* Returns the model of the batch with the joint order of its caller. */
robot batch_robot(const batch *b);

/* Finds a frame of the model, as lookup_frame does. `missing` is the reason of the error if there is none. The caller
 * sets the field of the error before (call_blame). */
bool batch_find_frame(batch *b, error_reason missing, const char *name, int *frame);

/* Releases the model and the workspaces. Accepts a batch whose batch_open or batch_open_model failed. */
void batch_close(batch *b);

#endif
