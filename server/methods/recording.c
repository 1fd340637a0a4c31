/* Files of messages. */
#include "methods/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that may wait in memory, and most of one message in a file. */
enum { MOST_WAITING = 8 << 20, MOST_MESSAGE = 64 << 20, VARINT_SIZE = 10 };

struct recording {
    pthread_mutex_t mutex; /* guards what follows */
    uint8_t *waiting;
    size_t count, capacity;
    uint64_t bytes, limit, entries;
    bool is_broken;
    pthread_mutex_t file_mutex; /* one flush at a time */
    int file;
    uint8_t *writing;
    size_t writing_capacity;
    char name[65];
    char path[PATH_MAX];
};

recording *recording_create(const char *path, const char *name, uint64_t limit) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (file < 0) {
        return NULL;
    }
    recording *r = calloc(1, sizeof *r);
    if (!r) {
        close(file);
        unlink(path);
        errno = ENOMEM;
        return NULL;
    }
    r->file = file;
    r->limit = limit;
    snprintf(r->name, sizeof r->name, "%s", name);
    snprintf(r->path, sizeof r->path, "%s", path);
    pthread_mutex_init(&r->mutex, NULL);
    pthread_mutex_init(&r->file_mutex, NULL);
    return r;
}

static size_t write_varint(uint8_t *bytes, size_t value) {
    size_t i = 0;
    for (; value >= 0x80; value >>= 7) {
        bytes[i++] = (uint8_t)(value | 0x80);
    }
    bytes[i++] = (uint8_t)value;
    return i;
}

/* Room for so many bytes more. */
static bool reserve(recording *r, size_t size) {
    if (r->count + size <= r->capacity) {
        return true;
    }
    size_t capacity = 2 * (r->count + size);
    uint8_t *waiting = r->count + size <= MOST_WAITING ? realloc(r->waiting, capacity) : NULL;
    if (waiting) {
        r->waiting = waiting;
        r->capacity = capacity;
    }
    return waiting != NULL;
}

bool recording_append(recording *r, const ProtobufCMessage *message) {
    size_t size = protobuf_c_message_get_packed_size(message);
    pthread_mutex_lock(&r->mutex);
    bool has_room = !r->is_broken && r->bytes + size + VARINT_SIZE <= r->limit && reserve(r, size + VARINT_SIZE);
    if (has_room) {
        size_t before = r->count;
        r->count += write_varint(r->waiting + r->count, size);
        r->count += protobuf_c_message_pack(message, r->waiting + r->count);
        r->bytes += r->count - before;
        r->entries++;
    }
    r->is_broken = !has_room;
    pthread_mutex_unlock(&r->mutex);
    return has_room;
}

size_t recording_room(recording *r) {
    pthread_mutex_lock(&r->mutex);
    size_t memory = MOST_WAITING > r->count ? MOST_WAITING - r->count : 0;
    uint64_t file = r->limit - r->bytes;
    bool is_broken = r->is_broken;
    pthread_mutex_unlock(&r->mutex);
    return is_broken ? 0 : file < memory ? (size_t)file : memory;
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

/* What waits and what was written change places, so that nobody waits for the disk. */
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
    bool is_written = write_all(r->file, bytes, count);
    pthread_mutex_lock(&r->mutex);
    r->is_broken = r->is_broken || !is_written;
    bool is_good = !r->is_broken;
    pthread_mutex_unlock(&r->mutex);
    pthread_mutex_unlock(&r->file_mutex);
    return is_good;
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

bool recording_reader_open(recording_reader *r, const char *path) {
    struct stat status;
    *r = (recording_reader){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    bool is_good = fstat(file, &status) == 0;
    r->size = is_good ? (size_t)status.st_size : 0;
    if (is_good && r->size > 0) {
        void *bytes = mmap(NULL, r->size, PROT_READ, MAP_PRIVATE, file, 0);
        is_good = bytes != MAP_FAILED;
        r->bytes = is_good ? bytes : NULL;
    }
    close(file);
    return is_good;
}

ProtobufCMessage *recording_reader_next(recording_reader *r, const ProtobufCMessageDescriptor *descriptor,
                                        ProtobufCAllocator *allocator) {
    size_t at = r->at, size = 0;
    for (unsigned shift = 0; shift < 35 && at < r->size; shift += 7) {
        uint8_t byte = r->bytes[at++];
        size |= (size_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            ProtobufCMessage *message = NULL;
            if (size <= MOST_MESSAGE && size <= r->size - at) {
                message = protobuf_c_message_unpack(descriptor, allocator, size, r->bytes + at);
            }
            r->at = message ? at + size : r->at;
            return message;
        }
    }
    return NULL;
}

void recording_reader_close(recording_reader *r) {
    if (r->bytes) {
        munmap(r->bytes, r->size);
    }
}
