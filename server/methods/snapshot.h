/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Persistence of simulations over restarts of the daemon: snapshots of all of them in the state directory, and their
 * restoration.
 */
#ifndef SERVER_METHODS_SNAPSHOT_H
#define SERVER_METHODS_SNAPSHOT_H

#include "methods/live.h"

/* Writes a snapshot and waits until it is on the disk. `path` receives its name, `count` the number of simulations. On
 * failure the previous snapshot and the journal remain effective. The first call opens the journal. Any thread. */
bool snapshot_save(live *l, char path[PATH_MAX], size_t *count, refusal *why);

/* Writes a snapshot if one is due: `interval` seconds after the last one (0: never for that reason), when the journal
 * has grown long, and some seconds after a failed write to the state directory. Reserves disk space for the next one. A
 * failure is a problem (snapshot_problem). */
void snapshot_tend(live *l, double interval);

/* Returns whether snapshot_tend has work to do. */
bool snapshot_needs_tending(live *l, double interval);

/* Writes the reason why changes are not on the disk. Returns whether there is a problem. */
bool snapshot_problem(live *l, char text[GENERATIONS_PROBLEM_SIZE]);

/* Callbacks for a simulation that is left out, with the reason, for a damaged file, and for a simulation that other
 * code computes than before. */
typedef struct snapshot_report {
    void (*left_out)(void *context, const char *name, const char *reason);
    void (*damaged)(void *context, const char *path, const char *damage);
    void (*changed)(void *context, const char *name, const char *change);
    void *context;
} snapshot_report;

/* Restores simulations: at the start those of the snapshot and the journals, later those of the snapshot that do not
 * exist. A directory without snapshots holds no simulations. Returns false when it cannot be read at all. */
bool snapshot_restore(live *l, bool is_start, const snapshot_report *report, size_t *count, refusal *why);

#endif
