/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Journal of the simulations on the disk: their creation, deletion and claims, and further data of a snapshot.
 *
 * A change of the simulations and its record in the journal are made with the mutex `changes` held, so that the journal
 * has the order of the changes. `changes` is locked before the mutex of a simulation. Threads wait for the disk without
 * `changes`. Without a state directory all functions do nothing, and no record is durable.
 */
#ifndef SERVER_METHODS_STATE_JOURNAL_H
#define SERVER_METHODS_STATE_JOURNAL_H

#include "dynamics/v1/recording.pb-c.h"
#include "files/generations.h"
#include "methods/live_options.h"
#include "models/digest.h"
#include "simulations/simulation.h"

/* Journal, its files, and the state that saving and recording share. */
typedef struct state_journal {
    const live_options *options;
    generations files;
    pthread_mutex_t saving;  /* serializes readers and writers of snapshots; locked before `changes` */
    pthread_mutex_t changes; /* guards the members below */
    bool has_directory;
    bool is_unreadable;             /* the state could not be read at the start, and is not changed */
    bool is_open;                   /* changes are recorded in the journal */
    char (*described)[DIGEST_SIZE]; /* digests of the models that a record of this generation describes */
    size_t described_count, described_capacity;
    /* Simulations that could not be restored, and are copied into each snapshot. */
    Dynamics__V1__SimulationSnapshot **left_out;
    size_t left_out_count, left_out_capacity;
    _Atomic uint64_t last_save; /* time of the last snapshot or attempt, ns, CLOCK_MONOTONIC */
} state_journal;

/* Initializes the journal of the state directory in the options, which must outlive the journal. */
void state_journal_init(state_journal *j, const live_options *options);

/* Closes the journal and frees its memory. */
void state_journal_free(state_journal *j);

/* Records a simulation that has been added. `runs`: its clock is about to start. Returns the number of the record, or 0
 * if there is none. Called with `changes` held. */
uint64_t state_journal_created(state_journal *j, simulation *s, bool runs);

/* Records the end of a simulation. Returns the number of the record, or 0 if there is none. Called with `changes`
 * held. */
uint64_t state_journal_deleted(state_journal *j, const char *name);

/* Records the owner, token and lease of a simulation, which is locked. Returns the number of the record, or 0 if there
 * is none. Called with `changes` held. */
uint64_t state_journal_owned(state_journal *j, const simulation *s);

/* Records that the store does not have a model any more, if a simulation of this generation has or had it. Returns the
 * number of the record, or 0 if there is none. Called with `changes` held. */
uint64_t state_journal_unloaded(state_journal *j, const char *digest);

/* Returns whether the store lacks the model of a simulation: it was unloaded or replaced. */
bool state_journal_is_unloaded(const state_journal *j, const simulation *s);

/* Waits until the record of that number is on the disk. Returns false if it is not, and for 0. Called without any
 * mutex. */
bool state_journal_sync(state_journal *j, uint64_t record);

/* Clears the list of described models. Called with `changes` held. */
void state_journal_forget_models(state_journal *j);

/* Adds a model to the list of described models. Returns true if it was not in the list. Called with `changes` held. */
bool state_journal_describe(state_journal *j, const char *digest);

/* Adds a snapshot that could not be restored. The journal owns it from then on. Returns false, and frees it, when out
 * of memory. Called with `changes` held. */
bool state_journal_leave_out(state_journal *j, Dynamics__V1__SimulationSnapshot *snapshot);

/* Removes the snapshot that was left out under a name, if there is one. Called with `changes` held. */
void state_journal_drop_left_out(state_journal *j, const char *name);

#endif
