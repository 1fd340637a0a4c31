/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings in the state directory: their list, those under way, and their disk space. Only the thread that holds
 * live.files calls these functions; any thread may call recording_store_check.
 */
#ifndef SERVER_METHODS_RECORDING_STORE_H
#define SERVER_METHODS_RECORDING_STORE_H

#include <limits.h>

#include "methods/recording.h"
#include "methods/refusal.h"
#include "methods/service.h"

enum { RECORDING_PROBLEM_SIZE = 512 };

/* File of a recording. */
typedef struct recording_file {
    char name[65];
    bool is_under_way;
    uint64_t bytes;
    int64_t stamp_ns; /* wall time of the last write */
} recording_file;

typedef struct recording_store {
    char state_directory[PATH_MAX]; /* "": none */
    const service_limits *limits;
    recording_space space;
    recording **open; /* recordings under way */
    size_t open_count, open_capacity;
} recording_store;

/* Initializes the recordings of a state directory ("": none), which need not exist yet. */
void recording_store_init(recording_store *rs, const char *state_directory, const service_limits *limits);
void recording_store_free(recording_store *rs);

/* Lists the files, sorted by name, in an array that the caller frees. Counts their bytes. Returns false when out of
 * memory. */
bool recording_store_list(recording_store *rs, recording_file **files, size_t *count);

/* Counts the bytes of all recordings again, since other processes may delete files. */
void recording_store_measure(recording_store *rs);

/* Creates a recording, if there is room for one more. Returns NULL, with `why` filled, on failure. */
recording *recording_store_create(recording_store *rs, const char *path, const char *name, refusal *why);

/* Closes and deletes a recording whose header could not be written. `why` receives the bound that is reached, and what
 * can be deleted. */
void recording_store_cancel(recording_store *rs, recording *r, refusal *why);

/* Closes and deletes a recording. */
void recording_store_discard(recording_store *rs, recording *r);

/* Closes a recording. Returns false if it is incomplete, with `why` (may be NULL) filled. */
bool recording_store_close(recording_store *rs, recording *r, refusal *why);

/* Returns whether a recording of that name is under way. */
bool recording_store_is_open(const recording_store *rs, const char *name);

/* Fills the refusal of a file that cannot be opened or read, for the reason `number` of errno. */
void recording_store_refuse_file(const char *path, int number, refusal *why);

/* Deletes a file. Returns false with errno. */
bool recording_store_delete(recording_store *rs, const char *path);

/* Returns whether there is room for recordings and writing works. On false, the text holds the reason and the
 * remedy. */
bool recording_store_check(recording_store *rs, char problem[RECORDING_PROBLEM_SIZE]);

#endif
