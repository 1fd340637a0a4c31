/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recordings in the state directory: which there are, which are under way, and the part of the disk that they take.
 *
 * One thread at a time calls these functions: that which holds live.files. recording_store_check is for any thread.
 */
#ifndef SERVER_METHODS_RECORDING_STORE_H
#define SERVER_METHODS_RECORDING_STORE_H

#include <limits.h>

#include "methods/recording.h"
#include "methods/robot_values.h"
#include "methods/service.h"

enum { RECORDING_PROBLEM_SIZE = 512 };

/* One recording. */
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
    recording **open; /* those under way */
    size_t open_count, open_capacity;
} recording_store;

/* Prepares the recordings of a state directory ("": none), which need not be there yet. */
void recording_store_init(recording_store *rs, const char *state_directory, const service_limits *limits);
void recording_store_free(recording_store *rs);

/* Lists the files in the order of their names; to be freed. Counts the bytes that they take. False when out of memory.
 */
bool recording_store_list(recording_store *rs, recording_file **files, size_t *count);

/* Counts the bytes that all recordings take: others may delete files, too. */
void recording_store_measure(recording_store *rs);

/* Creates a recording, if there is room for one more. NULL, and `why` filled. */
recording *recording_store_create(recording_store *rs, const char *path, const char *name, refusal *why);

/* Closes and deletes a recording whose header could not be written. `why` says what there is no room in, and what can
 * be deleted. */
void recording_store_cancel(recording_store *rs, recording *r, refusal *why);

/* Closes a recording. `reason` (NULL: nobody asks) receives why it broke, or an empty text. */
void recording_store_close(recording_store *rs, recording *r, char reason[RECORDING_REASON_SIZE]);

/* Returns whether a recording of that name is under way. */
bool recording_store_is_open(const recording_store *rs, const char *name);

/* Deletes a file. False with errno. */
bool recording_store_delete(recording_store *rs, const char *path);

/* Returns whether there is room for recordings, and writing works. False: the text says why not and what to do. */
bool recording_store_check(recording_store *rs, char problem[RECORDING_PROBLEM_SIZE]);

#endif
