/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A robot with random states, and calls of algorithms on these states, by this library or by a peer.
 */
#ifndef DYNAMICS_BENCH_WORKLOAD_H
#define DYNAMICS_BENCH_WORKLOAD_H

#include <stddef.h>

#include "peer.h"

typedef struct workload {
    const char *name;
    dyn_model *model;
    dyn_workspace *workspace, *single; /* for double and for single precision */
    int link;                          /* frame of pose, Jacobian and motion: that of the last joint */
    size_t nq, nv, states;
    double *q, *v, *a, *tau, *wrench; /* random, of `states` states */
    double *out;
    size_t out_size; /* doubles */
} workload;

/* Numbers of states of a workload, both powers of two: LARGEST_BATCH is also the largest batch. A robot with more than
 * 1000 velocities has SINGLE_STATES states. */
enum { SINGLE_STATES = 256, LARGEST_BATCH = 4096 };

/* Initializes a workload for a model, of which it takes ownership. Ends the program where memory is exhausted. */
void workload_open(workload *w, const char *name, dyn_model *model);
void workload_close(workload *w);

/* Returns whether the workload has `batch` states, and memory for an algorithm's results for them. */
bool workload_has(const workload *w, algorithm_id id, size_t batch);

/* Sets the inputs of `in` to those of the workload from state number `state` on. */
static inline void workload_go_to(const workload *w, size_t state, algorithm_input *in) {
    in->q = w->q + state * w->nq;
    in->v = w->v + state * w->nv, in->a = w->a + state * w->nv, in->tau = w->tau + state * w->nv;
    in->wrench = w->wrench + state * 6;
}

/* Returns the input of n states from state `first` on, in double precision. */
algorithm_input workload_input(const workload *w, size_t first, size_t n);

/* Computes an algorithm by this library in double precision for states first .. first + n - 1; w->out receives the
 * results. Ends the program where the algorithm fails. */
void compute_ours(workload *w, algorithm_id id, size_t first, size_t n);

/* Computes an algorithm by this library in single precision for states first .. first + n - 1; w->out receives the
 * results. Returns false where the algorithm fails, for example because M is nearly singular. */
bool compute_single(workload *w, algorithm_id id, size_t first, size_t n);

/* Computes an algorithm by a peer for one state; the result stays in the form in which the peer computes it. Returns
 * false where the peer lacks the algorithm for this robot. */
bool compute_peer(workload *w, const peer_library *library, peer *robot, algorithm_id id, size_t state);

/* Compares the results of a peer and of this library at the first state, so that no wrong result is measured. Ends the
 * program where they differ. */
void assert_agreement(workload *w, const peer_library *library, peer *robot, algorithm_id id);

#endif
