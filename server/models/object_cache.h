/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cache of compiled algorithms: DIRECTORY/DIGEST-SET.so, and for each the SHA-256 of its bytes (.sha256).
 *
 * The daemon executes these files as code. The directory and its files belong to this user, and nobody else may write
 * to them. A file whose bytes have changed since it was stored is not loaded. The directory is the daemon's own: every
 * file that is neither an object nor the digest of one is scratch of a compilation that is under way or was
 * interrupted.
 */
#ifndef SERVER_MODELS_OBJECT_CACHE_H
#define SERVER_MODELS_OBJECT_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "models/entry.h"

enum { OBJECT_REASON_SIZE = 256 };

/* Opens the directory "compiled" in a state directory, and creates it if necessary. Returns false, with the reason, if
 * there is none that can be trusted. */
bool object_cache_open(const char *state_directory, char directory[PATH_MAX], char reason[OBJECT_REASON_SIZE]);

/* Writes the path of the object of a model ("sha256:...") for an instruction set. Returns false if it is too long. */
bool object_cache_path(const char *directory, const char *digest, const char *set, char path[PATH_MAX]);

typedef enum object_state { OBJECT_MISSING, OBJECT_DAMAGED, OBJECT_WHOLE } object_state;

/* Checks an object, and marks a valid one as used. An object is damaged if it is not a regular file, if another user
 * owns it or may write to it, or if its bytes do not have the stored digest. */
object_state object_cache_look(const char *path);

/* Reads the stored digest of an object. Returns false if there is none. */
bool object_cache_digest(const char *path, char digest[DIGEST_SIZE]);

/* Loads the object stored for an entry in a directory ("": none), unless the entry is compiled already. Returns whether
 * the entry is compiled. May be called from any thread. */
bool object_cache_load(const char *directory, model_entry *entry);

/* Creates an empty directory for one compilation in that of the cache. Returns false, with errno, on failure. */
bool object_cache_create_scratch(const char *directory, char scratch[PATH_MAX]);

/* Removes a file or a directory with its content, while processes that are being killed may still write there. Waits
 * for them up to a second. */
void object_cache_remove_scratch(const char *scratch);

/* Moves a new object to its path, and stores its digest. Returns false if that fails or the object is larger than
 * `most` bytes; then nothing is at the path. */
bool object_cache_insert(const char *made, const char *path, size_t most);

/* Removes an object and its digest. Returns whether both are gone. */
bool object_cache_remove(const char *path);

/* Removes every entry of the directory that is neither an object nor the digest of one, and returns the number of
 * entries removed. No compilation may be under way. */
size_t object_cache_clean(const char *directory);

/* Removes the least recently used objects, but never `spared`, until the directory holds at most `bytes`. */
void object_cache_prune(const char *directory, size_t bytes, const char *spared);

#endif
