/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores a state that outlives the process, in numbered snapshots and journals of the changes since.
 *
 *   simulations.N.snapshot   the state at some moment; its last record is empty and marks it complete
 *   simulations.N.journal    changes since that moment, in their order
 *   simulations.reserve      disk space for the next snapshot, which is written into it and then renamed
 *
 * The state is the newest complete snapshot with the journals of its number and higher ones. To write generation N + 1,
 * generations_rotate first begins journal N + 1; then the owner of the state writes a snapshot of what it was at that
 * moment. The old files are removed when the new snapshot is on the disk. Where that fails, the old snapshot and both
 * journals stay in force.
 *
 * Records are opaque to this file. All functions but open, read and close may be called from any thread;
 * one snapshot is written at a time.
 */
#ifndef SERVER_STORAGE_GENERATIONS_H
#define SERVER_STORAGE_GENERATIONS_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GENERATIONS_PROBLEM_SIZE = 512 };

typedef struct generations {
    char directory[PATH_MAX];
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t synced_changed;
    int journal;        /* descriptor; -1: none */
    uint64_t newest;    /* highest number of a file so far */
    uint64_t base;      /* number of the snapshot in force; 0: none */
    uint64_t end;       /* bytes of the journal */
    uint64_t appended;  /* records in all journals since open */
    uint64_t synced;    /* number of the last appended record that is on the disk */
    uint64_t lost_from; /* records after this one, up to `lost_to`, may not be on the disk: their journal failed */
    uint64_t lost_to;
    uint64_t written; /* bytes of the last snapshot, and of journals since */
    bool is_syncing, is_broken;
    bool must_save; /* the journal or the last snapshot failed: only a new snapshot makes the state durable again */
    char problem[GENERATIONS_PROBLEM_SIZE];         /* error of the last write; "": none */
    char reserve_problem[GENERATIONS_PROBLEM_SIZE]; /* error of the last reservation */
    int reserve;               /* descriptor of the file of the next snapshot; -1: none; used by its writer only */
    _Atomic uint64_t reserved; /* bytes of that file */
} generations;

/* Callbacks for each record, in order, and for files that are truncated or damaged: `at` is the offset of the first
 * bytes that are no valid record, `size` the size of the file. */
typedef struct generations_visitor {
    void (*record)(void *context, const uint8_t *bytes, size_t size);
    void (*damaged)(void *context, const char *path, size_t at, size_t size);
    void *context;
} generations_visitor;

/* Initializes the structure. Opens no file: generations_rotate begins the first journal. */
void generations_open(generations *g, const char *directory);

/* Closes the files and frees the structure's resources. No thread may use it any more. */
void generations_close(generations *g);

/* Reads the state; without `journals` the snapshot alone. A missing directory is an empty state. Returns false with
 * errno when the directory or a file cannot be read. */
bool generations_read(generations *g, bool journals, const generations_visitor *visitor);

/* Appends a record to the journal. Returns its number for generations_sync, or 0 if there is no journal or it cannot be
 * written; generations_problem then returns the reason of a failed write. */
uint64_t generations_append(generations *g, const void *bytes, size_t size);

/* Waits until a record is on the disk. Several waiting threads share one fdatasync. Returns false for record 0, and if
 * the record may not survive a power loss. */
bool generations_sync(generations *g, uint64_t record);

/* Begins a new journal, unless the current one is empty. Earlier records are part of the next snapshot, later ones are
 * not. Returns false on failure. The caller writes a snapshot next, or tries again later. */
bool generations_rotate(generations *g);

/* Writer of a snapshot. */
typedef struct generations_writer {
    int file;
    uint64_t end;
    bool is_good;
    int reason;
} generations_writer;

/* Begins a snapshot in the reserved file, or in a new one. The writer stores an error until generations_commit reports
 * it. */
void generations_begin(generations *g, generations_writer *w);

/* Appends a record to a snapshot. The first error is stored, and the following records are ignored. */
void generations_add(generations_writer *w, const void *bytes, size_t size);

/* Makes the snapshot effective and removes older generations; `path` receives its name. On failure, and for a writer
 * with an error, removes the scratch file, keeps the old generation and returns false with errno. */
bool generations_commit(generations *g, generations_writer *w, char path[PATH_MAX]);

/* Reserves disk space for the next snapshot: twice the size of the last one and the journal. Stores a problem if the
 * disk has no space. One thread at a time may call it, and none while a snapshot is written. */
void generations_reserve(generations *g);

/* Returns whether the reserve is smaller than generations_reserve requests. */
bool generations_reserve_is_short(generations *g);

/* Writes the reason why changes are not on the disk, or why no space could be reserved; "" if there is no problem.
 * Returns whether there is one. */
bool generations_problem(generations *g, char text[GENERATIONS_PROBLEM_SIZE]);

/* Stores a problem that the owner of the state detected. */
void generations_set_problem(generations *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns whether only a new snapshot makes the state durable again. */
bool generations_must_save(generations *g);

/* Returns the bytes of the journal. */
uint64_t generations_journal_bytes(generations *g);

#endif
