/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls about the samples of a query. Where several daemons share an address, the samples are cut into pieces, which
 * the daemons compute at once; elsewhere a call is one request.
 *
 * A piece that is not answered in time is asked again, since its daemon may be gone. A piece whose request or reply is
 * too large is cut again. All pieces must be computed with one model: MODEL_CHANGED otherwise. Errors name the sample
 * and the place in the caller's arrays.
 */
#ifndef CLIENT_SPREAD_H
#define CLIENT_SPREAD_H

#include "query.h"

/* Requests the samples of parts->source, which are those from `first` on in the caller's arrays. Stores the results at
 * their place. Several threads call it at once, for different samples. */
typedef dyn_client_status spread_ask(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                     dyn_client_error *error);

/* Size of a sample: its rows of nq or nv numbers in the larger one of request and reply, as far as known, and whether
 * the reply has a matrix of nv x nv. The base may have a row for each of the steps of a rollout; 0: there are none. */
typedef struct sample_size {
    size_t rows;
    bool has_matrix;
    size_t steps;
} sample_size;

/* A call: its query, the argument q, the size of a sample, and the function that requests samples with its argument. */
typedef struct spread_call {
    const dyn_client_query *query;
    const double *q;
    sample_size size;
    spread_ask *ask;
    void *context;
} spread_call;

/* Returns the rows of an input (NULL: none) for `samples` samples from `first` on, and their number of values. */
static inline double *sample_rows(const double *input, size_t first, size_t width, size_t samples, size_t *count) {
    *count = input ? samples * width : 0;
    return input ? (double *)input + first * width : NULL;
}

/* Samples of a reply: `count` from `first` on, out of `all`. */
typedef struct sample_range {
    size_t first, count, all;
} sample_range;

/* Checks that the reply to all samples, by that to some of them, is within max_reply_bytes of the client. Errors:
 * RESOURCE_EXHAUSTED. */
dyn_client_status sample_range_check(const dyn_client *client, sample_range range, const ProtobufCMessage *reply,
                                     dyn_client_error *error);

/* Array of a message with the same count of values for each sample. */
typedef struct sample_values {
    double **values;
    size_t *count;
} sample_values;

/* Copies the values of some samples to their place in `to`, which has those of all samples; or makes room for those of
 * all in `to`, and moves its own to their place, if `from` is NULL. Returns false if the counts do not fit together, or
 * when out of memory. */
bool sample_values_join(sample_range range, const sample_values *from, sample_values to);

/* Checks the query and q, and requests all samples. */
dyn_client_status spread(dyn_client *client, const spread_call *call, dyn_client_error *error);

#endif
