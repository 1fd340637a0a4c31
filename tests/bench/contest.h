/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A robot with all contestants that compute on it: this library with one state a call and with batches, in double and
 * in single precision, and the peers.
 */
#ifndef DYNAMICS_BENCH_CONTEST_H
#define DYNAMICS_BENCH_CONTEST_H

#include "workload.h"

enum {
    OURS_1,
    OURS_8,
    OURS_64,
    OURS_4096,
    SINGLE_1,
    SINGLE_8,
    SINGLE_64,
    SINGLE_4096,
    KDL,
    MUJOCO,
    DART,
    SIMBODY,
    CONTESTANTS,
    PEERS_FROM = KDL
};

typedef struct contestant {
    const char *title;   /* such as "8 a call" */
    const char *key;     /* such as "batch_8" */
    const char *library; /* a peer's key, or NULL for this library */
    size_t batch;        /* states a call */
    dyn_precision precision;
} contestant;

const contestant *contestant_get(int who);

/* Robots of the benchmark: arms of 6 and 7 joints, a quadruped, a humanoid, chains of up to 1000 bodies. */
typedef struct bench_robot {
    const char *title; /* such as "arm 7" */
    int bodies;        /* of a chain, otherwise 0 */
} bench_robot;

/* Array of the robots; the last one has no title. */
extern const bench_robot bench_robots[];

/* Returns the robot of that title, or NULL. */
const bench_robot *bench_robot_find(const char *title);

typedef struct contest {
    workload load;
    const peer_library *library[CONTESTANTS]; /* NULL for this library, and where the build lacks the peer */
    peer *peer[CONTESTANTS];                  /* NULL where the library cannot represent the robot */
} contest;

/* Creates the robot for all contestants, or, without `with_peers`, for this library alone. contest_close frees it. Ends
 * the program where memory is exhausted. */
void contest_open(contest *c, const bench_robot *robot, bool with_peers);
void contest_close(contest *c);

/* Returns whether contestant `who` can compute an algorithm for its batch size. Compares a peer's result with that of
 * this library, and ends the program where they differ. */
bool contest_has(contest *c, int who, algorithm_id id);

/* Arguments of the calls of an algorithm by a contestant. The struct holds all that the first call needs, so that a
 * measurement covers the call alone. */
typedef struct contest_entry {
    const workload *load;
    size_t batch, places; /* states a call, and number of first states: a power of two */
    bool may_fail;        /* in single precision, which fails where M is nearly singular */
    algorithm_input in;   /* of the last call */
    double *out[ALGORITHM_OUTPUTS];
    algorithm_function *ours; /* NULL: a peer computes */
    peer_function *theirs;
    peer *robot;
} contest_entry;

/* Prepares the calls of an algorithm by a contestant for which contest_has returns true. The contest must outlive the
 * result. */
contest_entry contest_enter(const contest *c, int who, algorithm_id id);

/* Runs call number `call`, whose batch of states starts at a place that depends on the number. Ends the program where
 * the call fails. */
void contest_call(contest_entry *entry, size_t call);

#endif
