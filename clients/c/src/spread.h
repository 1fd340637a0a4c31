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

#include <pthread.h>

#include "query.h"

/* Requests the samples of parts->source, which are those from `first` on in the caller's arrays. Stores the results at
 * their place. Several threads call it at once, for different samples. */
typedef dyn_client_status spread_ask(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                     dyn_client_error *error);

/* Size of a sample in the larger one of request and reply, as far as known: its rows of nq or nv numbers, its other
 * numbers, and whether the reply has a matrix of nv x nv. The base may have a row for each of the steps of a rollout;
 * 0: there are none. */
typedef struct sample_size {
    size_t rows, numbers;
    bool has_matrix;
    size_t steps;
} sample_size;

/* Array of a request whose rows are not one row of nq or nv numbers for each sample; `numbers` is 0 where all samples
 * share it. */
typedef struct spread_array {
    const char *name;
    size_t numbers; /* of a sample */
} spread_array;

enum { SPREAD_ARRAYS = 4 };

/* A call: its query, the argument q, the size of a sample, and the function that requests samples with its argument.
 * `arrays` are those of the request that are laid out otherwise than one row for each sample. */
typedef struct spread_call {
    const dyn_client_query *query;
    const double *q;
    sample_size size;
    spread_ask *ask;
    void *context;
    spread_array arrays[SPREAD_ARRAYS];
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

/* Array of a message with the same count of values for each sample. */
typedef struct sample_values {
    double **values;
    size_t *count;
} sample_values;

/* Copies the values of some samples to their place in `to`, which has those of all samples; or makes room for those of
 * all in `to`, and moves its own to their place, if `from` is NULL. Returns false if the counts do not fit together, or
 * when out of memory. */
bool sample_values_join(sample_range range, const sample_values *from, sample_values to);

/* Reply to all samples, of which some have been computed. `join` copies the values of the samples of a piece to the
 * reply to all samples; where both are the same message, it makes room for the values of all samples. */
typedef struct joined_reply {
    bool (*join)(ProtobufCMessage *piece, sample_range range, ProtobufCMessage *all);
    ProtobufCMessage *reply; /* NULL: no piece has arrived yet */
    size_t most_bytes;       /* that the numbers of all samples may have */
    pthread_mutex_t mutex;   /* guards `reply` */
} joined_reply;

/* Adds the reply to some samples, which the joined reply owns from then on. Frees it on failure. */
dyn_client_status joined_reply_add(joined_reply *joined, sample_range range, ProtobufCMessage *reply,
                                   dyn_client_error *error);

/* Checks the query and q, and requests all samples. The results are in the order of the samples. */
dyn_client_status spread(dyn_client *client, const spread_call *call, dyn_client_error *error);

/* Requests all samples of a call whose function adds its replies to `joined`, of which `join` is set. On success the
 * caller owns joined->reply; otherwise it is freed. */
dyn_client_status spread_joined(dyn_client *client, const spread_call *call, joined_reply *joined,
                                dyn_client_error *error);

#endif
