/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaces and removes files, and syncs them and their directory to the disk. */
#include "files/durable_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "files/record_file.h"

bool durable_directory_sync(const char *directory) {
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    bool is_good = fsync(file) == 0;
    int reason = errno;
    close(file);
    errno = reason;
    return is_good;
}

/* Removes a file without changing errno. */
static void discard(const char *path) {
    int reason = errno;
    unlink(path);
    errno = reason;
}

bool durable_file_publish(int file, const char *scratch, const char *path, const char *directory) {
    bool is_synced = fsync(file) == 0;
    int reason = errno;
    bool is_closed = close(file) == 0;
    errno = is_synced ? errno : reason;
    if (!is_synced || !is_closed || rename(scratch, path) != 0) {
        discard(scratch);
        return false;
    }
    return durable_directory_sync(directory);
}

bool durable_file_write(const char *path, const char *directory, const void *bytes, size_t size) {
    char scratch[PATH_MAX];
    uint64_t end = 0;
    if (snprintf(scratch, sizeof scratch, "%s.new", path) >= (int)sizeof scratch) {
        errno = ENAMETOOLONG;
        return false;
    }
    int file = open(scratch, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
    if (file < 0) {
        return false;
    }
    if (!record_append(file, &end, bytes, size)) {
        discard(scratch);
        int reason = errno;
        close(file);
        errno = reason;
        return false;
    }
    return durable_file_publish(file, scratch, path, directory);
}

bool durable_file_remove(const char *path, const char *directory) {
    return (unlink(path) == 0 || errno == ENOENT) && durable_directory_sync(directory);
}
