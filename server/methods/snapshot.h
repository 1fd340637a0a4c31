/*
 * All simulations in one file of the state directory, over a restart of the daemon.
 */
#ifndef SERVER_METHODS_SNAPSHOT_H
#define SERVER_METHODS_SNAPSHOT_H

#include "methods/live.h"

/* Writes the file, in the place of an older one in one move. `path` receives its name, `count` the simulations. */
bool snapshot_save(live *l, char path[PATH_MAX], size_t *count, refusal *why);

/* Told of a simulation that is left out, and why. */
typedef void (*snapshot_left_out)(void *context, const char *name, const char *reason);

/* Reads it. A file that is not there holds no simulations. False when it cannot be read at all. */
bool snapshot_restore(live *l, snapshot_left_out left_out, void *context, size_t *count, refusal *why);

#endif
