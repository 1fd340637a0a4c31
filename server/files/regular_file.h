/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that the daemon opens by name. Any user who may write to a directory can create a FIFO, a device or a link in
 * it; an ordinary open of a FIFO waits for a writer, possibly forever. These functions never wait.
 */
#ifndef SERVER_FILES_REGULAR_FILE_H
#define SERVER_FILES_REGULAR_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Opens a regular file for reading. `flags`: O_NOFOLLOW in directories of the daemon's own, where a link is not
 * expected; 0 elsewhere. Returns a descriptor, or -1 with errno: EISDIR for a directory, ENOTSUP for everything else
 * that is no regular file. */
int regular_file_open(const char *path, int flags);

/* Opens a regular file for stdio; `flags` are those of regular_file_open. Returns NULL with errno. */
FILE *regular_file_stream(const char *path, int flags);

/* Reads a whole file into memory that the caller frees, with a zero byte behind it. If the file is shortened meanwhile,
 * returns the bytes read. Returns NULL with errno: EFBIG beyond `most` bytes, or as regular_file_open. */
char *regular_file_read(const char *path, int flags, size_t most, size_t *length);

/* Returns a description of an errno of regular_file_open, regular_file_stream or regular_file_read. The text is valid
 * until the next call of strerror. */
const char *regular_file_error(int number);

#endif
