/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulations over restarts of the daemon: snapshots of all of them in the state directory, and what restores them.
 */
#ifndef SERVER_METHODS_SNAPSHOT_H
#define SERVER_METHODS_SNAPSHOT_H

#include "methods/live.h"

/* Writes a snapshot and waits until it is on the disk. `path` receives its name, `count` the simulations. On failure
 * the previous snapshot and the changes since stay in force. The first call opens the journal. Any thread. */
bool snapshot_save(live *l, char path[PATH_MAX], size_t *count, refusal *why);

/* Does what is due. A snapshot is written `interval` seconds after the last one (0: never for that reason), where the
 * journal has grown long, and some seconds after a write to the state directory has failed. Disk space is
 * reserved for the next one. What fails is a problem (snapshot_problem). */
void snapshot_tend(live *l, double interval);

/* Returns whether snapshot_tend has something to do. */
bool snapshot_needs_tending(live *l, double interval);

/* Why changes are not on the disk. True: there is a problem. */
bool snapshot_problem(live *l, char text[GENERATIONS_PROBLEM_SIZE]);

/* Told of a simulation that is left out and why, of a file that is damaged, and of a simulation that other code
 * computes than before. */
typedef struct snapshot_report {
    void (*left_out)(void *context, const char *name, const char *reason);
    void (*damaged)(void *context, const char *path, const char *damage);
    void (*changed)(void *context, const char *name, const char *change);
    void *context;
} snapshot_report;

/* Restores simulations: at the start those of the snapshot and the journals, later those of the snapshot that are not
 * there. A directory without snapshots holds no simulations. False when it cannot be read at all. */
bool snapshot_restore(live *l, bool is_start, const snapshot_report *report, size_t *count, refusal *why);

#endif
