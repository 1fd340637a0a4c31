/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces files atomically: after a crash or a power loss, a file has its old or its new content, complete.
 */
#ifndef SERVER_STORAGE_DURABLE_FILE_H
#define SERVER_STORAGE_DURABLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Makes entries of a directory durable: files that were created, renamed or removed. Returns false with errno. */
bool durable_directory_sync(const char *directory);

/* Syncs an open file of `scratch`, closes it, renames it to `path` and syncs the directory. On failure returns false
 * with errno, and removes the scratch file unless it is renamed already. */
bool durable_file_publish(int file, const char *scratch, const char *path, const char *directory);

/* Writes a file of one record (record_file.h) through the scratch file `path` + ".new". Returns false with errno. */
bool durable_file_write(const char *path, const char *directory, const void *bytes, size_t size);

/* Removes a file. A missing file is not an error. Returns false with errno. */
bool durable_file_remove(const char *path, const char *directory);

#endif
