/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Journal of the simulations on the disk: their creation, deletion and claims, and further data of a snapshot.
 *
 * A change of the simulations and its record in the journal are made with the mutex `changes` held, so that the journal
 * has the order of the changes. It is locked before the mutex of a simulation. Threads wait for the disk without it.
 * Without a state directory all functions do nothing, and no record is durable.
 */
#ifndef SERVER_METHODS_STATE_JOURNAL_H
#define SERVER_METHODS_STATE_JOURNAL_H

#include "dynamics/v1/recording.pb-c.h"
#include "files/generations.h"
#include "methods/live_options.h"
#include "models/digest.h"
#include "simulations/simulation.h"

typedef struct state_journal {
    const live_options *options;
    generations files;
    pthread_mutex_t saving;  /* serializes readers and writers of snapshots; locked before `changes` */
    pthread_mutex_t changes; /* guards the members below */
    bool has_directory;
    bool is_unreadable;             /* the state could not be read at the start, and is not changed */
    bool is_open;                   /* changes are recorded */
    char (*described)[DIGEST_SIZE]; /* models that a record of this generation describes */
    size_t described_count, described_capacity;
    Dynamics__V1__SimulationSnapshot **left_out; /* could not be restored, and are copied into each snapshot */
    size_t left_out_count, left_out_capacity;
    _Atomic uint64_t last_save; /* ns; of the last snapshot or attempt */
} state_journal;

/* Initializes the journal of a state directory. The options must outlive it. */
void state_journal_init(state_journal *j, const live_options *options);
void state_journal_free(state_journal *j);

/* Records a simulation that has been added. `runs`: its clock starts with it. Returns the record for
 * state_journal_sync. Called with `changes` held. */
uint64_t state_journal_created(state_journal *j, simulation *s, bool runs);

/* Records the end of a simulation. Called with `changes` held. */
uint64_t state_journal_deleted(state_journal *j, const char *name);

/* Records the owner of a simulation, which is locked. Called with `changes` held. */
uint64_t state_journal_owned(state_journal *j, const simulation *s);

/* Waits until the record is on the disk. Returns false if it is not. Called without any mutex. */
bool state_journal_sync(state_journal *j, uint64_t record);

/* Clears the list of described models. Called with `changes` held. */
void state_journal_forget_models(state_journal *j);

/* Notes that a record describes a model. Returns true if none did so far. Called with `changes` held. */
bool state_journal_describe(state_journal *j, const char *digest);

/* Adds a snapshot that could not be restored, which the journal owns from now on. Called with `changes` held. */
bool state_journal_leave_out(state_journal *j, Dynamics__V1__SimulationSnapshot *snapshot);

/* Removes the snapshots left out under a name. Called with `changes` held. */
void state_journal_drop_left_out(state_journal *j, const char *name);

#endif
