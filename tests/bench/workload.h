/*
 * A robot with its states, and one call of each algorithm on it: ours, or a peer's.
 */
#ifndef DYNAMICS_BENCH_WORKLOAD_H
#define DYNAMICS_BENCH_WORKLOAD_H

#include <stddef.h>

#include <dynamics/dynamics.h>

#include "peer.h"

typedef enum algorithm {
    ALGORITHM_RNEA,
    ALGORITHM_CRBA,
    ALGORITHM_ABA,
    ALGORITHM_GRAVITY,
    ALGORITHM_BIAS,
    ALGORITHM_POSE,
    ALGORITHM_JACOBIAN,
    ALGORITHM_COUNT,
} algorithm;

/* "RNEA". */
const char *algorithm_name(algorithm a);

typedef struct workload {
    const char *name;
    dyn_model *model;
    dyn_workspace *workspace;
    int link; /* whose pose and Jacobian are asked for: that of the last joint */
    size_t nq, nv, states;
    double *q, *v, *a, *tau; /* random, of `states` states */
    double *out;
    size_t out_size; /* doubles */
} workload;

/* States for calls of one state, and for the largest batch; a large robot has only the former. */
enum { SINGLE_STATES = 256, LARGEST_BATCH = 4096 };

/* Takes the model over. Ends the program where memory is out. */
void workload_open(workload *w, const char *name, dyn_model *model);
void workload_close(workload *w);

/* Whether there are `batch` states and room for their results. */
bool workload_has(const workload *w, algorithm a, size_t batch);

/* Our algorithm for states first .. first + n - 1; the results are in w->out. */
void compute_ours(workload *w, algorithm a, size_t first, size_t n);

/* The peer's for one state. CRBA's result stays in the library's own form. False: it has none for this robot. */
bool compute_peer(workload *w, const peer_library *library, peer *robot, algorithm a, size_t state);

/* Compares both at one state, so that nothing wrong is measured; ends the program where they differ. */
void assert_agreement(workload *w, const peer_library *library, peer *robot, algorithm a);

#endif
