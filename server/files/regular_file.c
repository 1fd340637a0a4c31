/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens and reads regular files without waiting for FIFOs or devices. */
#include "files/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_file_open(const char *path, int flags) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    if (file < 0) {
        return -1;
    }
    int problem = fstat(file, &status) != 0 ? errno
                  : S_ISREG(status.st_mode) ? 0
                  : S_ISDIR(status.st_mode) ? EISDIR
                                            : ENOTSUP;
    if (problem != 0) {
        close(file);
        errno = problem;
        return -1;
    }
    return file;
}

FILE *regular_file_stream(const char *path, int flags) {
    int file = regular_file_open(path, flags);
    FILE *stream = file < 0 ? NULL : fdopen(file, "r");
    if (file >= 0 && !stream) {
        close(file);
    }
    return stream;
}

/* Reads until the end of the file or of the buffer. Returns the number of bytes, or -1 with errno. */
static ssize_t read_all(int file, char *bytes, size_t room) {
    size_t used = 0;
    while (used < room) {
        ssize_t count = read(file, bytes + used, room - used);
        if (count == 0) {
            break;
        }
        if (count < 0 && errno != EINTR) {
            return -1;
        }
        used += count > 0 ? (size_t)count : 0;
    }
    return (ssize_t)used;
}

/* Reads an open file of at most `most` bytes into memory that the caller frees. Returns NULL with errno. */
static char *read_open(int file, size_t most, size_t *length) {
    struct stat status;
    if (fstat(file, &status) != 0) {
        return NULL;
    }
    if ((uint64_t)status.st_size > most) {
        errno = EFBIG;
        return NULL;
    }
    char *bytes = malloc((size_t)status.st_size + 1);
    ssize_t count = bytes ? read_all(file, bytes, (size_t)status.st_size) : -1;
    if (count < 0) {
        free(bytes);
        return NULL;
    }
    bytes[count] = '\0';
    *length = (size_t)count;
    return bytes;
}

char *regular_file_read(const char *path, int flags, size_t most, size_t *length) {
    int file = regular_file_open(path, flags);
    if (file < 0) {
        return NULL;
    }
    char *bytes = read_open(file, most, length);
    int number = errno;
    close(file);
    errno = number;
    return bytes;
}

const char *regular_file_error(int number) {
    switch (number) {
    case ENOTSUP:
    case ENXIO: /* a socket, or a device that is not there */
        return "it is no regular file (but a FIFO, socket or device); remove it, or name another one";
    case ELOOP:
        return "it is a symbolic link; put the file itself there";
    default:
        return strerror(number);
    }
}
