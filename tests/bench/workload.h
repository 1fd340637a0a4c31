/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A robot with its states, and calls of each algorithm on it: ours, or a peer's.
 */
#ifndef DYNAMICS_BENCH_WORKLOAD_H
#define DYNAMICS_BENCH_WORKLOAD_H

#include <stddef.h>

#include "peer.h"

typedef struct workload {
    const char *name;
    dyn_model *model;
    dyn_workspace *workspace, *single; /* for double and for single precision */
    int link;                          /* whose pose, Jacobian and motion are asked for: that of the last joint */
    size_t nq, nv, states;
    double *q, *v, *a, *tau, *wrench; /* random, of `states` states */
    double *out;
    size_t out_size; /* doubles */
} workload;

/* States for calls of one state, and for the largest batch; a large robot has only the former. Powers of two. */
enum { SINGLE_STATES = 256, LARGEST_BATCH = 4096 };

/* Takes the model over. Ends the program where memory is out. */
void workload_open(workload *w, const char *name, dyn_model *model);
void workload_close(workload *w);

/* Returns whether there are `batch` states and room for their results. */
bool workload_has(const workload *w, algorithm_id id, size_t batch);

/* Has `in` begin at a state. */
static inline void workload_go_to(const workload *w, size_t state, algorithm_input *in) {
    in->q = w->q + state * w->nq;
    in->v = w->v + state * w->nv, in->a = w->a + state * w->nv, in->tau = w->tau + state * w->nv;
    in->wrench = w->wrench + state * 6;
}

/* The input of n states from state `first` on, in double precision. */
algorithm_input workload_input(const workload *w, size_t first, size_t n);

/* Our algorithm for states first .. first + n - 1; the results are in w->out. In single precision it may fail where M
 * is nearly singular: false then. */
void compute_ours(workload *w, algorithm_id id, size_t first, size_t n);
bool compute_single(workload *w, algorithm_id id, size_t first, size_t n);

/* The peer's for one state; the result stays in the library's own form. False: it has none for this robot. */
bool compute_peer(workload *w, const peer_library *library, peer *robot, algorithm_id id, size_t state);

/* Compares both at one state, so that nothing wrong is measured; ends the program where they differ. */
void assert_agreement(workload *w, const peer_library *library, peer *robot, algorithm_id id);

#endif
