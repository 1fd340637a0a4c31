/*
 * All simulations in one file of the state directory, over a restart of the daemon.
 */
#ifndef SERVER_METHODS_SNAPSHOT_H
#define SERVER_METHODS_SNAPSHOT_H

#include "methods/live.h"

/* Writes the file, in the place of an older one in one move. `path` receives its name, `count` the simulations. */
bool snapshot_save(live *l, char path[PATH_MAX], size_t *count, refusal *why);

/* Told of a simulation that is left out, and of one that other code computes than before; and why, and how. */
typedef struct snapshot_report {
    void (*left_out)(void *context, const char *name, const char *reason);
    void (*changed)(void *context, const char *name, const char *change);
    void *context;
} snapshot_report;

/* Reads it. A file that is not there holds no simulations. False when it cannot be read at all. */
bool snapshot_restore(live *l, const snapshot_report *report, size_t *count, refusal *why);

#endif
