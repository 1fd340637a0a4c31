/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A robot with its states, and calls of each algorithm on it: this library's, or a peer's.
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

/* Numbers of states for calls of one state, and for the largest batch; powers of two. A large robot has only the
 * former. */
enum { SINGLE_STATES = 256, LARGEST_BATCH = 4096 };

/* Takes ownership of the model. Ends the program where memory is exhausted. */
void workload_open(workload *w, const char *name, dyn_model *model);
void workload_close(workload *w);

/* Returns whether the workload has `batch` states and memory for their results. */
bool workload_has(const workload *w, algorithm_id id, size_t batch);

/* Moves `in` to a state. */
static inline void workload_go_to(const workload *w, size_t state, algorithm_input *in) {
    in->q = w->q + state * w->nq;
    in->v = w->v + state * w->nv, in->a = w->a + state * w->nv, in->tau = w->tau + state * w->nv;
    in->wrench = w->wrench + state * 6;
}

/* Returns the input of n states from state `first` on, in double precision. */
algorithm_input workload_input(const workload *w, size_t first, size_t n);

/* Computes this library's algorithm for states first .. first + n - 1; the results are in w->out. Returns false where
 * single precision fails because M is nearly singular. */
void compute_ours(workload *w, algorithm_id id, size_t first, size_t n);
bool compute_single(workload *w, algorithm_id id, size_t first, size_t n);

/* Computes the peer's algorithm for one state; the result stays in the library's own form. Returns false where the
 * library has none for this robot. */
bool compute_peer(workload *w, const peer_library *library, peer *robot, algorithm_id id, size_t state);

/* Compares both at one state, so that no wrong result is measured. Ends the program where they differ. */
void assert_agreement(workload *w, const peer_library *library, peer *robot, algorithm_id id);

#endif
