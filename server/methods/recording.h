/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of messages, each behind its length as a varint: recordings, which grow while somebody records, and snapshots.
 *
 * A recording takes messages into memory, from threads that must not wait for a disk; recording_flush writes them. All
 * functions may be called from any thread, flush and close by one at a time.
 */
#ifndef SERVER_METHODS_RECORDING_H
#define SERVER_METHODS_RECORDING_H

#include <protobuf-c/protobuf-c.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct recording recording;

enum { RECORDING_REASON_SIZE = 256 };

/* Why a recording takes no more. */
typedef enum recording_fault {
    RECORDING_NO_FAULT,
    RECORDING_AT_LIMIT,    /* it has as many bytes as one recording may have */
    RECORDING_TOO_SLOW,    /* more waits in memory than may wait there: the disk does not keep up */
    RECORDING_AT_QUOTA,    /* all recordings together have as many bytes as they may have */
    RECORDING_DISK_FULL,   /* the file system has no more free bytes than recordings leave */
    RECORDING_NOT_WRITTEN, /* the system has refused to write */
} recording_fault;

/* The disk as all recordings share it. Any thread may read it; one thread at a time flushes recordings. */
typedef struct recording_space {
    const _Atomic uint64_t *most;    /* bytes of all recordings */
    const _Atomic uint64_t *reserve; /* free bytes of the file system that recordings leave */
    _Atomic uint64_t used;           /* bytes of all recordings */
    /* Bytes of the quota and of the disk that must be free until there is room again: more than there were when the
     * last flush found no room. 0: it found room. */
    _Atomic uint64_t needed_quota, needed_disk;
    _Atomic int failed_write; /* errno of the last write; 0: it was good */
} recording_space;

/* Creates a file; an existing one is not touched: errno is EEXIST. `limit`: most bytes. NULL with errno. */
recording *recording_create(const char *path, const char *name, uint64_t limit);

/* Makes a recording that was created keep to a space, which outlives it. */
void recording_share(recording *r, recording_space *space);

/* Takes a message. False when there is no room for it, on the disk, under the limit or in memory: then the recording is
 * broken, and takes no more. */
bool recording_append(recording *r, const ProtobufCMessage *message);

/* Returns whether so many bytes can be taken now. A recording whose limit leaves no room for them is broken from now
 * on. */
bool recording_has_room(recording *r, size_t bytes);

/* Writes what waits. False when it is broken. */
bool recording_flush(recording *r);

/* Why the recording is broken. RECORDING_NO_FAULT: it is not, and the text is empty. */
recording_fault recording_explain(recording *r, char text[RECORDING_REASON_SIZE]);

const char *recording_name(const recording *r);
const char *recording_path(const recording *r);
uint64_t recording_entries(recording *r);
uint64_t recording_bytes(recording *r);

/* Writes what waits and closes the file. False when it is broken. */
bool recording_close(recording *r);

/* Reads the messages of a file one by one. The file is read, not mapped: another process may shorten it meanwhile. */
typedef struct recording_reader {
    int file;
    uint64_t size; /* bytes of the file when it was opened; what is appended later is not read */
    uint64_t at;   /* bytes of the messages that were read */
    uint8_t *buffer;
    size_t begin, held, capacity; /* buffer[begin .. begin + held) are the bytes from `at` on */
} recording_reader;

/* Opens a regular file without waiting for it. False with an errno that regular_file_error describes. */
bool recording_reader_open(recording_reader *r, const char *path);

/* Reads the next message; NULL at the end, and where the file is broken off or damaged: then `at` is less than `size`.
 * A message may take 8 times its bytes of memory, and 1 MiB: a damaged file cannot ask for more. */
ProtobufCMessage *recording_reader_next(recording_reader *r, const ProtobufCMessageDescriptor *descriptor,
                                        ProtobufCAllocator *allocator);

/* Closes a reader that was opened. */
void recording_reader_close(recording_reader *r);

#endif
