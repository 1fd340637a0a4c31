/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A robot, and everybody who computes on it: our library with one state a call and with batches, in double and in
 * single precision, and the peers.
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
    const char *title;   /* "8 a call" */
    const char *key;     /* "batch_8" */
    const char *library; /* a peer's key, or NULL for us */
    size_t batch;        /* states a call */
    dyn_precision precision;
} contestant;

const contestant *contestant_get(int who);

/* Robots that the benchmark knows: arms of 6 and 7 joints, a quadruped, a humanoid, chains of up to 1000 bodies. */
typedef struct bench_robot {
    const char *title; /* "arm 7" */
    int bodies;        /* of a chain, else 0 */
} bench_robot;

/* Ended by one without title. */
extern const bench_robot bench_robots[];

/* The robot of that title, or NULL. */
const bench_robot *bench_robot_find(const char *title);

typedef struct contest {
    workload load;
    const peer_library *library[CONTESTANTS]; /* NULL for us, and where the build has not got the peer */
    peer *peer[CONTESTANTS];                  /* NULL where it cannot hold the robot */
} contest;

/* Ends the program where memory is out. */
void contest_open(contest *c, const bench_robot *robot, bool with_peers);
void contest_close(contest *c);

/* Returns whether a contestant has an algorithm; a peer's result is compared with ours, and the program ends where they
 * differ. */
bool contest_has(contest *c, int who, algorithm_id id);

/* The calls of an algorithm by a contestant who has it, with all that is found before the first one: what is measured
 * is the call, of ours and of a peer's alike. */
typedef struct contest_entry {
    const workload *load;
    size_t batch, places; /* states a call, and places where one can begin: a power of two */
    bool may_fail;        /* in single precision, where M is nearly singular */
    algorithm_input in;   /* of the last call */
    double *out[ALGORITHM_OUTPUTS];
    algorithm_function *ours; /* NULL: a peer computes */
    peer_function *theirs;
    peer *robot;
} contest_entry;

contest_entry contest_enter(const contest *c, int who, algorithm_id id);

/* Call number `call`, which takes its batch of states at one place or another; ends the program where it fails. */
void contest_call(contest_entry *entry, size_t call);

#endif
