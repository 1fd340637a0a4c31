/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings in the state directory: their list, those under way, and their disk space. Only the thread that holds
 * live.files calls these functions, except recording_store_check and recording_store_refuse_file, which any thread may
 * call.
 */
#ifndef SERVER_METHODS_RECORDING_STORE_H
#define SERVER_METHODS_RECORDING_STORE_H

#include <limits.h>

#include "methods/recording.h"
#include "methods/refusal.h"
#include "methods/service.h"

/* Size of the text of recording_store_check, in bytes. */
enum { RECORDING_PROBLEM_SIZE = 512 };

/* File of a recording. */
typedef struct recording_file {
    char name[65];
    uint64_t inode;
    bool is_under_way;
    uint64_t bytes;
    int64_t stamp_ns; /* wall time of the last write */
} recording_file;

/* Owner of a recording's file, as its header states. */
typedef struct recording_owner {
    char name[65], user[ACCESS_NAME_SIZE];
    uint64_t inode;
} recording_owner;

/* Recordings of one state directory. */
typedef struct recording_store {
    char state_directory[PATH_MAX]; /* "": none */
    const service_limits *limits;
    recording_space space;
    recording **open; /* recordings under way */
    size_t open_count, open_capacity;
    recording_account *accounts; /* of the users of recordings under way */
    recording_owner *owners;     /* owners of the files that were read, sorted by name */
    size_t owner_count;
} recording_store;

/* Initializes the recordings of a state directory, which need not exist yet; "": there is none. */
void recording_store_init(recording_store *rs, const char *state_directory, const service_limits *limits);

/* Removes files without a header, which a killed daemon left. The caller alone uses the directory. */
void recording_store_clean(const recording_store *rs);

/* Frees the memory. No recording may be under way. */
void recording_store_free(recording_store *rs);

/* Lists the files, sorted by name, in an array that the caller frees. Counts their bytes in rs->space. Returns false
 * when out of memory. */
bool recording_store_list(recording_store *rs, recording_file **files, size_t *count);

/* Counts the bytes of all recordings in rs->space again, since other processes may delete files. */
void recording_store_measure(recording_store *rs);

/* Creates a recording that belongs to `user`, if there is room for one more; NULL: the shares of a user do not apply.
 * On failure fills `why` and returns NULL. */
recording *recording_store_create(recording_store *rs, const char *path, const char *name, const char *user,
                                  refusal *why);

/* Closes and deletes a recording whose header could not be written. `why` receives the limit that was reached, and the
 * name of a recording that may be deleted. */
void recording_store_cancel(recording_store *rs, recording *r, refusal *why);

/* Closes a recording and deletes its file. */
void recording_store_discard(recording_store *rs, recording *r);

/* Closes a recording. Returns false if it is incomplete, and fills `why`, unless that is NULL. */
bool recording_store_close(recording_store *rs, recording *r, refusal *why);

/* Returns whether a recording of that name is under way. */
bool recording_store_is_open(const recording_store *rs, const char *name);

/* Fills the refusal of a file that cannot be opened, read or deleted. `number` is the errno. */
void recording_store_refuse_file(const char *path, int number, refusal *why);

/* Deletes the file of a recording, and counts the bytes of all recordings again. Returns false with errno. */
bool recording_store_delete(recording_store *rs, const char *path);

/* Returns whether there is room for recordings and the last write succeeded. On false `problem` receives the reason and
 * the remedy, otherwise "". */
bool recording_store_check(recording_store *rs, char problem[RECORDING_PROBLEM_SIZE]);

#endif
