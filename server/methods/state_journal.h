/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulations on the disk: a journal of those that are created, deleted and claimed, and what a snapshot needs
 * beside them.
 *
 * A change of the simulations and its record in the journal are made with the mutex `changes`, so that the journal has
 * the order of the changes. It is taken before the mutex of a simulation. The disk is waited for without it. Without a
 * state directory all functions do nothing, and no record is durable.
 */
#ifndef SERVER_METHODS_STATE_JOURNAL_H
#define SERVER_METHODS_STATE_JOURNAL_H

#include "dynamics/v1/recording.pb-c.h"
#include "models/digest.h"
#include "simulations/simulation.h"
#include "files/generations.h"

typedef struct live live;

typedef struct state_journal {
    generations files;
    pthread_mutex_t saving;  /* one reader or writer of snapshots; taken before `changes` */
    pthread_mutex_t changes; /* guards what follows */
    bool has_directory;
    bool is_unreadable;             /* the state could not be read at the start, and is left as it is */
    bool is_open;                   /* changes are recorded */
    char (*described)[DIGEST_SIZE]; /* models that a record of this generation describes */
    size_t described_count, described_capacity;
    Dynamics__V1__SimulationSnapshot **left_out; /* could not be restored, and go into each snapshot */
    size_t left_out_count, left_out_capacity;
    _Atomic uint64_t last_save; /* ns; of the last snapshot, or the attempt */
} state_journal;

void state_journal_init(state_journal *j, const char *state_directory);
void state_journal_free(state_journal *j);

/* Records a simulation that has been entered; `runs`: its clock starts with it. Returns the record for
 * state_journal_sync. With `changes`. */
uint64_t state_journal_created(live *l, simulation *s, bool runs);

/* Records the end of a simulation. With `changes`. */
uint64_t state_journal_deleted(live *l, const char *name);

/* Records who commands a simulation, which is locked. With `changes`. */
uint64_t state_journal_owned(live *l, const simulation *s);

/* Waits until the record is on the disk. With no mutex. False: it is not. */
bool state_journal_sync(live *l, uint64_t record);

/* Forgets which models are described. With `changes`. */
void state_journal_forget_models(state_journal *j);

/* Notes that a record describes a model. True: none did so far. With `changes`. */
bool state_journal_describe(state_journal *j, const char *digest);

/* Adds a snapshot that could not be restored, which the journal owns from now on. With `changes`. */
bool state_journal_leave_out(state_journal *j, Dynamics__V1__SimulationSnapshot *snapshot);

/* Forgets what was left out under a name. With `changes`. */
void state_journal_drop_left_out(state_journal *j, const char *name);

#endif
