/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random client of the history checker: loads, replaces and unloads models, creates, steps, saves and deletes
 * simulations, and records them. It knows from the replies what the daemon holds, and what must be there after the
 * daemon has ended in any way.
 *
 * An object has a value: 0 where it is absent, for a model its mass, otherwise 1. A reply that says that a change is
 * durable leaves one possible value after a restart. A change whose reply is missing, or says that the change is not
 * durable, adds one.
 */
#ifndef DYNAMICS_TESTS_HISTORY_CLIENT_H
#define DYNAMICS_TESTS_HISTORY_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dynamics_client.h"
#include "support/random.h"

/* Numbers of objects that each client has, of values that one may have after a restart, and of objects whose token is
 * lost. */
enum {
    HISTORY_MODELS = 3,
    HISTORY_SIMULATIONS = 3,
    HISTORY_RECORDINGS = 2,
    HISTORY_VALUES = 32,
    HISTORY_ORPHANS = 256
};

/* State of the disk: `ROOMY` changes succeed, `TIGHT` ones may be refused or not be durable. */
typedef enum history_disk { HISTORY_ROOMY, HISTORY_TIGHT } history_disk;

/* Values that an object has now and may have after a restart. */
typedef struct history_object {
    char name[40];
    unsigned now; /* valid unless is_doubtful */
    unsigned kept[HISTORY_VALUES];
    size_t kept_count;
    bool is_doubtful; /* the last request about it has no reply */
} history_object;

typedef struct history_simulation {
    history_object object;
    /* Model that the client has loaded, and its mass; NULL: the sample robot two_link. While `has_name`, a restart also
     * brings the model back under its name; an unloaded or replaced model does not come back. */
    const history_object *model;
    unsigned mass;
    bool has_name;
    uint64_t token;
    uint64_t least, most; /* steps after a restart */
    uint64_t steps;       /* acknowledged */
} history_simulation;

typedef struct history_recording {
    history_object object;
    history_simulation *of; /* simulation that it records; NULL: it is not under way */
    bool is_complete;       /* its end is acknowledged */
    uint64_t first, steps;  /* step at its begin; acknowledged steps in it, when it is complete */
    uint64_t most;          /* steps that it may have */
} history_recording;

typedef struct history_client {
    unsigned number, names; /* names that were used so far */
    random_source random;
    const char *address;
    /* Timeout in seconds of a request that may be the last one before a fault. An answer within this time determines
     * the state; without an answer the state is doubtful. */
    double patience;
    _Atomic(history_disk) disk; /* during the round */
    atomic_bool must_stop;
    dyn_client *own; /* connected before the thread starts, because the fault may come at once */
    pthread_t thread;
    unsigned changes, refusals, unanswered; /* acknowledged changes; requests refused for the disk; without a reply */
    unsigned kinds[16];                     /* acknowledged changes by their kind */
    history_object models[HISTORY_MODELS];
    history_simulation simulations[HISTORY_SIMULATIONS];
    history_recording recordings[HISTORY_RECORDINGS];
    /* Simulations that the client does not change any more: the daemon created them without a reply, so that their
     * token is lost, or deleted them without a durable record, so that a restart may bring them back. */
    history_simulation orphans[HISTORY_ORPHANS];
    size_t orphan_count;
} history_client;

/* Number of kinds of changes. */
extern const size_t history_kind_count;

/* Returns the name of a kind of change. */
const char *history_kind_name(size_t kind);

/* Initializes a client without objects. `address` must outlive it. */
void history_client_init(history_client *c, unsigned number, random_source random, const char *address);

/* Connects the client and starts its thread, which changes its objects until the daemon does not answer. */
void history_client_start(history_client *c, history_disk disk);

/* Stops the thread after its request, waits for its end and closes the connection. `is_waiting`: the daemon has ended;
 * waits for a request without a reply. */
void history_client_join(history_client *c, bool is_waiting);

/* Checks that the restarted daemon holds what its replies have promised, by requests of `observer`, and takes what it
 * holds as the state to go on from. `is_orderly`: the daemon has saved everything before its end. */
void history_client_check(history_client *c, dyn_client *observer, bool is_orderly);

/* Returns whether the client has created an object of that name which may be there. */
bool history_client_owns(const history_client *c, const char *name);

#endif
