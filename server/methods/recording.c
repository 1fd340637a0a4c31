/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of messages: writes recordings, and reads recordings and snapshots. */
#include "methods/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "files/regular_file.h"
#include "methods/bounds.h"
#include "methods/varint.h"

/* Largest number of bytes of one message in a file. */
enum { MOST_MESSAGE = 64 << 20 };

/* Number of bytes of one read, and largest number of bytes of the length before a message. */
enum { READ_SIZE = 1 << 16, LENGTH_SIZE = 5 };

struct recording {
    pthread_mutex_t mutex; /* guards the members below */
    uint8_t *waiting;
    size_t count, capacity;
    uint64_t bytes, limit, entries;
    recording_fault fault;
    int failed_write;           /* errno of RECORDING_NOT_WRITTEN */
    pthread_mutex_t file_mutex; /* serializes flushes */
    int file;
    uint8_t *writing;
    size_t writing_capacity;
    recording_space *space;     /* NULL: the limits of a space do not apply */
    recording_account *account; /* of its user; NULL: none */
    char name[65];
    char path[PATH_MAX];
};

/* Opens a new file `scratch` unless `path` exists. Returns -1 with errno. */
static int open_scratch(const char *path, const char *scratch) {
    struct stat status;
    if (lstat(path, &status) == 0) {
        errno = EEXIST;
        return -1;
    }
    unlink(scratch);
    return open(scratch, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
}

recording *recording_create(const char *path, const char *name, uint64_t limit) {
    recording *r = calloc(1, sizeof *r);
    if (!r) {
        errno = ENOMEM;
        return NULL;
    }
    int length = snprintf(r->path, sizeof r->path, "%s" RECORDING_SCRATCH_SUFFIX, path);
    errno = ENAMETOOLONG;
    r->file = length < (int)sizeof r->path ? open_scratch(path, r->path) : -1;
    if (r->file < 0) {
        free(r);
        return NULL;
    }
    r->limit = limit;
    snprintf(r->name, sizeof r->name, "%s", name);
    pthread_mutex_init(&r->mutex, NULL);
    pthread_mutex_init(&r->file_mutex, NULL);
    return r;
}

void recording_share(recording *r, recording_space *space, recording_account *account) {
    r->space = space;
    r->account = account;
}

recording_account *recording_account_of(const recording *r) {
    return r->account;
}

/* Reserves room for `size` more bytes in the buffer. Returns false if it would exceed RECORDING_BUFFER_BYTES, or when
 * out of memory. */
static bool reserve(recording *r, size_t size) {
    if (r->count + size <= r->capacity) {
        return true;
    }
    size_t capacity = 2 * (r->count + size);
    uint8_t *waiting = r->count + size <= RECORDING_BUFFER_BYTES ? realloc(r->waiting, capacity) : NULL;
    if (waiting) {
        r->waiting = waiting;
        r->capacity = capacity;
    }
    return waiting != NULL;
}

bool recording_append(recording *r, const ProtobufCMessage *message) {
    size_t size = protobuf_c_message_get_packed_size(message);
    pthread_mutex_lock(&r->mutex);
    if (r->fault == RECORDING_NO_FAULT && r->bytes + size + VARINT_SIZE > r->limit) {
        r->fault = RECORDING_AT_LIMIT;
    }
    if (r->fault == RECORDING_NO_FAULT && !reserve(r, size + VARINT_SIZE)) {
        r->fault = RECORDING_TOO_SLOW;
    }
    bool has_room = r->fault == RECORDING_NO_FAULT;
    if (has_room) {
        size_t before = r->count;
        r->count += varint_write(r->waiting + r->count, size);
        r->count += protobuf_c_message_pack(message, r->waiting + r->count);
        r->bytes += r->count - before;
        r->entries++;
    }
    pthread_mutex_unlock(&r->mutex);
    return has_room;
}

bool recording_has_room(recording *r, size_t bytes) {
    pthread_mutex_lock(&r->mutex);
    if (r->fault == RECORDING_NO_FAULT && r->bytes + bytes > r->limit) {
        r->fault = RECORDING_AT_LIMIT;
    }
    bool has_room = r->fault == RECORDING_NO_FAULT && r->count + bytes <= RECORDING_BUFFER_BYTES;
    pthread_mutex_unlock(&r->mutex);
    return has_room;
}

static bool write_all(int file, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return true;
}

/* Returns the free bytes of the file system beyond the reserve; UINT64_MAX if the system does not tell them. */
static uint64_t free_bytes(const recording *r) {
    struct statvfs disk;
    if (fstatvfs(r->file, &disk) != 0) {
        return UINT64_MAX;
    }
    uint64_t bytes = (uint64_t)disk.f_bavail * disk.f_frsize, reserve = atomic_load(r->space->reserve);
    return bytes > reserve ? bytes - reserve : 0;
}

/* Checks that the quotas and the disk have room for `count` more bytes. */
static recording_fault check_space(const recording *r, uint64_t count) {
    if (r->account && r->account->used + count > atomic_load(r->account->most)) {
        return RECORDING_AT_SHARE;
    }
    if (atomic_load(&r->space->used) + count > atomic_load(r->space->most)) {
        return RECORDING_AT_QUOTA;
    }
    return free_bytes(r) < count ? RECORDING_DISK_FULL : RECORDING_NO_FAULT;
}

/* Stores the outcome of writing `count` bytes in the space of the recording. `number` is the errno of
 * RECORDING_NOT_WRITTEN. */
static void note_write(const recording *r, size_t count, recording_fault fault, int number) {
    recording_space *space = r->space;
    if (fault == RECORDING_AT_SHARE) {
        return; /* says nothing of the quota of all, nor of the disk */
    }
    uint64_t used = atomic_load(&space->used), most = atomic_load(space->most), left = most > used ? most - used : 0;
    atomic_store(&space->needed_quota, fault == RECORDING_AT_QUOTA ? left + 1 : 0);
    atomic_store(&space->needed_disk, fault == RECORDING_DISK_FULL ? free_bytes(r) + 1 : 0);
    atomic_store(&space->failed_write, fault == RECORDING_NOT_WRITTEN ? number : 0);
    atomic_fetch_add(&space->used, fault == RECORDING_NO_FAULT ? count : 0);
    if (r->account && fault == RECORDING_NO_FAULT) {
        r->account->used += count;
    }
}

/* Writes bytes to the file if there is room for them. `number` receives the errno of RECORDING_NOT_WRITTEN. */
static recording_fault write_shared(recording *r, const uint8_t *bytes, size_t count, int *number) {
    recording_fault fault = r->space ? check_space(r, count) : RECORDING_NO_FAULT;
    if (fault == RECORDING_NO_FAULT && !write_all(r->file, bytes, count)) {
        *number = errno;
        fault = errno == ENOSPC ? RECORDING_DISK_FULL : RECORDING_NOT_WRITTEN;
    }
    if (r->space) {
        note_write(r, count, fault, *number);
    }
    return fault;
}

/* Swaps the waiting buffer with the written one, so that no thread that appends waits for the disk. */
bool recording_flush(recording *r) {
    pthread_mutex_lock(&r->file_mutex);
    pthread_mutex_lock(&r->mutex);
    uint8_t *bytes = r->waiting;
    size_t count = r->count, capacity = r->capacity;
    r->waiting = r->writing;
    r->capacity = r->writing_capacity;
    r->count = 0;
    r->writing = bytes;
    r->writing_capacity = capacity;
    pthread_mutex_unlock(&r->mutex);
    int number = 0;
    recording_fault fault = count > 0 ? write_shared(r, bytes, count, &number) : RECORDING_NO_FAULT;
    pthread_mutex_lock(&r->mutex);
    if (r->fault == RECORDING_NO_FAULT) {
        r->fault = fault;
        r->failed_write = number;
    }
    bool is_good = r->fault == RECORDING_NO_FAULT;
    pthread_mutex_unlock(&r->mutex);
    pthread_mutex_unlock(&r->file_mutex);
    return is_good;
}

bool recording_publish(recording *r) {
    char path[PATH_MAX];
    size_t length = strlen(r->path) - strlen(RECORDING_SCRATCH_SUFFIX);
    memcpy(path, r->path, length);
    path[length] = '\0';
    if (!recording_flush(r)) {
        return false;
    }
    bool is_renamed = rename(r->path, path) == 0;
    pthread_mutex_lock(&r->mutex);
    if (is_renamed) {
        memcpy(r->path, path, length + 1);
    } else if (r->fault == RECORDING_NO_FAULT) {
        r->fault = RECORDING_NOT_WRITTEN;
        r->failed_write = errno;
    }
    pthread_mutex_unlock(&r->mutex);
    return is_renamed;
}

recording_fault recording_explain(recording *r, refusal *why) {
    pthread_mutex_lock(&r->mutex);
    recording_fault fault = r->fault;
    int number = r->failed_write;
    uint64_t limit = r->limit;
    pthread_mutex_unlock(&r->mutex);
    uint64_t most = r->space ? atomic_load(r->space->most) : 0, reserve = r->space ? atomic_load(r->space->reserve) : 0;
    switch (fault) {
    case RECORDING_NO_FAULT:
        break;
    case RECORDING_AT_LIMIT:
        refuse_limit(why, REASON_RECORDINGS_TOO_LARGE, (excess){BOUND_RECORDING_BYTES, limit, 0}, "",
                     "it has reached %llu bytes, the limit of one (limits.recording_bytes)", (unsigned long long)limit);
        break;
    case RECORDING_TOO_SLOW:
        refuse(why, REASON_FILE_FAILED, "", "the disk is too slow, or memory is short: %d bytes wait to be written",
               RECORDING_BUFFER_BYTES);
        break;
    case RECORDING_AT_QUOTA:
        refuse_limit(why, REASON_RECORDINGS_TOO_LARGE, (excess){BOUND_RECORDINGS_BYTES, most, 0}, "",
                     "all recordings together have reached %llu bytes (limits.recordings_bytes); delete some "
                     "(DeleteRecording)",
                     (unsigned long long)most);
        break;
    case RECORDING_AT_SHARE:
        most = atomic_load(r->account->most);
        refuse_limit(why, REASON_RECORDINGS_TOO_LARGE, (excess){BOUND_USER_RECORDINGS_BYTES, most, 0}, "",
                     "the recordings of %s have reached %llu bytes, the limit of one user "
                     "(limits.user_recordings_bytes); delete some (DeleteRecording)",
                     r->account->user, (unsigned long long)most);
        break;
    case RECORDING_DISK_FULL:
        refuse_limit(why, REASON_DISK_FULL, (excess){BOUND_DISK_RESERVE_BYTES, reserve, 0}, "",
                     "the disk is full but for the %llu bytes that recordings leave free (limits.disk_reserve_bytes); "
                     "delete recordings (DeleteRecording) or other files",
                     (unsigned long long)reserve);
        break;
    case RECORDING_NOT_WRITTEN:
        refuse(why, REASON_FILE_FAILED, "", "it cannot be written: %s", strerror(number));
        break;
    }
    return fault;
}

const char *recording_name(const recording *r) {
    return r->name;
}

const char *recording_path(const recording *r) {
    return r->path;
}

uint64_t recording_entries(recording *r) {
    pthread_mutex_lock(&r->mutex);
    uint64_t entries = r->entries;
    pthread_mutex_unlock(&r->mutex);
    return entries;
}

uint64_t recording_bytes(recording *r) {
    pthread_mutex_lock(&r->mutex);
    uint64_t bytes = r->bytes;
    pthread_mutex_unlock(&r->mutex);
    return bytes;
}

bool recording_close(recording *r) {
    bool is_good = recording_flush(r);
    is_good = close(r->file) == 0 && is_good;
    free(r->waiting);
    free(r->writing);
    pthread_mutex_destroy(&r->mutex);
    pthread_mutex_destroy(&r->file_mutex);
    free(r);
    return is_good;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

bool recording_reader_open(recording_reader *r, const char *path) {
    struct stat status;
    *r = (recording_reader){.file = regular_file_open(path, O_NOFOLLOW)};
    if (r->file < 0) {
        return false;
    }
    if (fstat(r->file, &status) != 0) {
        int number = errno;
        close(r->file);
        errno = number;
        return false;
    }
    r->size = (uint64_t)status.st_size;
    return true;
}

/* Makes room in the buffer for `wanted` bytes from `at` on. Returns false when out of memory. */
static bool make_room(recording_reader *r, size_t wanted) {
    if (r->begin > 0 && r->begin + wanted > r->capacity) {
        memmove(r->buffer, r->buffer + r->begin, r->held);
        r->begin = 0;
    }
    if (wanted <= r->capacity) {
        return true;
    }
    size_t capacity = wanted > READ_SIZE ? wanted : READ_SIZE;
    uint8_t *buffer = realloc(r->buffer, capacity);
    if (buffer) {
        r->buffer = buffer;
        r->capacity = capacity;
    }
    return buffer != NULL;
}

/* Reads until the buffer holds `wanted` bytes. Returns false if the file has fewer, reading fails, or memory is
 * short. */
static bool hold(recording_reader *r, size_t wanted) {
    if (wanted > r->held && !make_room(r, wanted)) {
        return false;
    }
    while (r->held < wanted) {
        size_t end = r->begin + r->held, room = r->capacity - end;
        uint64_t left = r->size - r->at - r->held;
        ssize_t count = read(r->file, r->buffer + end, left < room ? (size_t)left : room);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return false;
        }
        r->held += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* Reads the length before a message. Returns the number of bytes of the length itself, or 0 if there is no valid
 * one. */
static size_t read_length(recording_reader *r, size_t *length) {
    *length = 0;
    for (size_t i = 0; i < LENGTH_SIZE && hold(r, i + 1); i++) {
        uint8_t byte = r->buffer[r->begin + i];
        *length |= (size_t)(byte & 0x7f) << (7 * i);
        if (!(byte & 0x80)) {
            return i + 1;
        }
    }
    return 0;
}

/* Allocator that allocates a bounded number of bytes from another allocator. */
typedef struct bounded_allocator {
    ProtobufCAllocator allocator;
    ProtobufCAllocator *from; /* NULL: malloc */
    size_t left;
} bounded_allocator;

static void *allocate_bounded(void *context, size_t size) {
    bounded_allocator *a = context;
    if (size > a->left) {
        return NULL;
    }
    a->left -= size;
    return a->from ? a->from->alloc(a->from->allocator_data, size) : malloc(size);
}

static void free_bounded(void *context, void *memory) {
    bounded_allocator *a = context;
    if (a->from) {
        a->from->free(a->from->allocator_data, memory);
    } else {
        free(memory);
    }
}

ProtobufCMessage *recording_reader_next(recording_reader *r, const ProtobufCMessageDescriptor *descriptor,
                                        ProtobufCAllocator *allocator) {
    size_t size;
    size_t before = read_length(r, &size);
    if (before == 0 || size > MOST_MESSAGE || size > r->size - r->at - before || !hold(r, before + size)) {
        return NULL;
    }
    bounded_allocator bounded = {.from = allocator, .left = DECODED_FACTOR * size + DECODED_MARGIN};
    bounded.allocator = (ProtobufCAllocator){allocate_bounded, free_bounded, &bounded};
    const uint8_t *bytes = r->buffer + r->begin + before;
    if (field_check_later(descriptor, bytes, size, r->unknown)) {
        return NULL;
    }
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, &bounded.allocator, size, bytes);
    size_t used = message ? before + size : 0;
    r->begin += used;
    r->held -= used;
    r->at += used;
    return message;
}

void recording_reader_close(recording_reader *r) {
    close(r->file);
    free(r->buffer);
}
