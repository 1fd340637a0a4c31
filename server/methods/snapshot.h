/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Persistence of simulations over restarts of the daemon: saves snapshots of all simulations in the state directory,
 * and restores them.
 */
#ifndef SERVER_METHODS_SNAPSHOT_H
#define SERVER_METHODS_SNAPSHOT_H

#include "methods/live.h"

/* Writes a snapshot of all simulations and waits until it is on the disk. `path` receives the path of its file, `count`
 * the number of simulations. On failure fills `why` and returns false; the previous snapshot and the journal remain
 * effective. The first call opens the journal. Any thread. */
bool snapshot_save(live *l, char path[PATH_MAX], size_t *count, refusal *why);

/* Writes a snapshot if one is due: `interval` seconds after the last one (0: never for that reason), when the journal
 * has grown long, and some seconds after a failed write to the state directory. Reserves disk space for the next
 * snapshot. Reports a failure by snapshot_problem. */
void snapshot_tend(live *l, double interval);

/* Returns whether snapshot_tend has work to do now. */
bool snapshot_needs_tending(live *l, double interval);

/* Writes the reason why changes are not on the disk, and returns true; returns false if they are. */
bool snapshot_problem(live *l, char text[GENERATIONS_PROBLEM_SIZE]);

/* Callbacks of snapshot_restore: `left_out` receives a simulation that is not restored, `damaged` a damaged file, and
 * `changed` a simulation that other code computes than before the restart. */
typedef struct snapshot_report {
    void (*left_out)(void *context, const char *name, const char *reason);
    void (*damaged)(void *context, const char *path, const char *damage);
    void (*changed)(void *context, const char *name, const char *change);
    void *context;
} snapshot_report;

/* Restores simulations: at the start of the daemon those of the snapshot and the journals, later those of the snapshot
 * that do not exist. A directory without snapshots contains no simulations. `count` receives the number of restored
 * ones. Returns false, and fills `why`, if the state cannot be read as a whole. */
bool snapshot_restore(live *l, bool is_start, const snapshot_report *report, size_t *count, refusal *why);

#endif
