/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of messages, each preceded by its length as a varint: recordings, which grow, and snapshots.
 *
 * A recording buffers messages in memory, from threads that must not wait for a disk; recording_flush writes them. All
 * functions may be called from any thread, but recording_flush and recording_close from one thread at a time.
 */
#ifndef SERVER_METHODS_RECORDING_H
#define SERVER_METHODS_RECORDING_H

#include <protobuf-c/protobuf-c.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "access/access.h"
#include "methods/field_check.h"
#include "methods/refusal.h"

typedef struct recording recording;

/* Largest number of bytes that wait in memory for the disk. A larger message is never recorded. */
enum { RECORDING_BUFFER_BYTES = 8 << 20 };

/* Reason why a recording accepts no more messages. */
typedef enum recording_fault {
    RECORDING_NO_FAULT,
    RECORDING_AT_LIMIT,    /* it has reached the limit of one recording */
    RECORDING_TOO_SLOW,    /* its buffer in memory is full: the disk is too slow, or memory is short */
    RECORDING_AT_QUOTA,    /* all recordings together have reached their limit */
    RECORDING_AT_SHARE,    /* the recordings of its user have reached their limit */
    RECORDING_DISK_FULL,   /* the file system has reached the reserve of free bytes */
    RECORDING_NOT_WRITTEN, /* the system reported an error of a write */
} recording_fault;

/* Disk space that all recordings share. Any thread may read it; one thread at a time flushes recordings and so writes
 * it. */
typedef struct recording_space {
    const _Atomic uint64_t *most;    /* largest number of bytes of all recordings */
    const _Atomic uint64_t *reserve; /* free bytes of the file system that recordings leave */
    _Atomic uint64_t used;           /* bytes of all recordings */
    /* Bytes that must be free under `most` and on the disk before recording succeeds again: one more than the last
     * flush found free, if it failed for lack of room; otherwise 0. */
    _Atomic uint64_t needed_quota, needed_disk;
    _Atomic int failed_write; /* errno of the last write; 0: no error */
} recording_space;

/* Recordings of one user. The threads of recording_space write it. */
typedef struct recording_account {
    struct recording_account *next;
    char user[ACCESS_NAME_SIZE];
    uint64_t used;                /* bytes of all recordings that belong to the user */
    const _Atomic uint64_t *most; /* largest number of them */
    size_t open;                  /* recordings under way */
} recording_account;

/* End of the name of a file that has no header yet. */
#define RECORDING_SCRATCH_SUFFIX ".new"

/* Creates a recording of at most `limit` bytes in a new file `path` + RECORDING_SCRATCH_SUFFIX, which replaces one that
 * a killed daemon left. recording_publish renames it to `path`. Returns NULL with errno; EEXIST if `path` exists. */
recording *recording_create(const char *path, const char *name, uint64_t limit);

/* Writes the buffer, which holds the header, and renames the file to the path of recording_create: a file with that
 * name has a header, whenever the daemon ends. Only the thread that created the recording calls this, before others
 * read its path. Returns false when the recording is broken. */
bool recording_publish(recording *r);

/* Applies the bounds of a space to a recording, and those of its user; `account` NULL: it has none. Both must outlive
 * it. */
void recording_share(recording *r, recording_space *space, recording_account *account);

/* Returns the account of its user, or NULL. */
recording_account *recording_account_of(const recording *r);

/* Appends a message to the buffer. Returns false if the limit or the memory has no room for it, or an earlier write
 * failed: then the recording is broken, and accepts no more messages. */
bool recording_append(recording *r, const ProtobufCMessage *message);

/* Returns whether `bytes` more bytes can be appended now. A recording whose limit leaves no room for them is broken
 * from then on. */
bool recording_has_room(recording *r, size_t bytes);

/* Writes the buffer to the file. Returns false when the recording is broken. */
bool recording_flush(recording *r);

/* Returns why the recording is broken, and fills `why` with the reason and the limit. RECORDING_NO_FAULT: it is not
 * broken, and `why` is not changed. */
recording_fault recording_explain(recording *r, refusal *why);

/* Returns the name of a recording; it lives as long as the recording. */
const char *recording_name(const recording *r);

/* Returns the path of a recording's file; it lives as long as the recording. */
const char *recording_path(const recording *r);

/* Returns the number of messages that were appended. */
uint64_t recording_entries(recording *r);

/* Returns the number of bytes of the file, including those that wait in the buffer. */
uint64_t recording_bytes(recording *r);

/* Writes the buffer, closes the file and frees the recording. Returns false if the recording is broken or cannot be
 * closed. */
bool recording_close(recording *r);

/* Reader of the messages of a file, one by one. The file is read, not mapped, because another process may shorten it
 * meanwhile. */
typedef struct recording_reader {
    int file;
    uint64_t size; /* bytes of the file when it was opened; later ones are not read */
    uint64_t at;   /* bytes of the messages that were read so far */
    uint8_t *buffer;
    size_t begin, held, capacity;     /* buffer[begin .. begin + held) are the bytes from `at` on */
    char unknown[UNKNOWN_FIELD_SIZE]; /* field of a later daemon that ended the reading; empty: none */
} recording_reader;

/* Opens a regular file without waiting for it. Returns false with an errno that regular_file_error describes. */
bool recording_reader_open(recording_reader *r, const char *path);

/* Reads the next message. `allocator` NULL: malloc. Returns NULL at the end; and with `at` less than `size` where the
 * file is truncated or damaged, or a message has an unknown field. A message may need 8 times its bytes of memory, plus
 * 1 MiB, so that a damaged file cannot allocate more. */
ProtobufCMessage *recording_reader_next(recording_reader *r, const ProtobufCMessageDescriptor *descriptor,
                                        ProtobufCAllocator *allocator);

/* Closes a reader that was opened, and frees its memory. */
void recording_reader_close(recording_reader *r);

#endif
