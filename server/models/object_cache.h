/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of compiled algorithms: DIRECTORY/DIGEST-SET.so, and beside each the SHA-256 of its bytes (.sha256).
 *
 * Its files are run as code. The directory and its files belong to this user, and nobody else may write to them; a
 * file whose bytes are others than when it was taken in is not loaded. The directory is the daemon's own: all that is
 * neither an object nor the digest of one is scratch of a compilation that is under way or was cut short.
 */
#ifndef SERVER_MODELS_OBJECT_CACHE_H
#define SERVER_MODELS_OBJECT_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "models/entry.h"

enum { OBJECT_REASON_SIZE = 256 };

/* Makes sure of the directory "compiled" below a state directory. Returns false, with the reason, where there is none
 * that can be trusted. */
bool object_cache_open(const char *state_directory, char directory[PATH_MAX], char reason[OBJECT_REASON_SIZE]);

/* Path of the object of a model ("sha256:...") for an instruction set; false where it is too long. */
bool object_cache_path(const char *directory, const char *digest, const char *set, char path[PATH_MAX]);

typedef enum object_state { OBJECT_MISSING, OBJECT_DAMAGED, OBJECT_WHOLE } object_state;

/* Looks at an object, and marks a whole one as used. An object is damaged that is not a regular file, that somebody
 * else owns or may write to, or whose bytes do not have the digest that was noted. */
object_state object_cache_look(const char *path);

/* Its digest, as it was noted. False where there is none. */
bool object_cache_digest(const char *path, char digest[DIGEST_SIZE]);

/* Has an entry compute with the object that is kept for it in a directory ("": none), unless it is compiled already.
 * Returns whether it is. May be called from any thread. */
bool object_cache_load(const char *directory, model_entry *entry);

/* Makes an empty directory for one compilation in the cache's; false, with errno, where that fails. */
bool object_cache_create_scratch(const char *directory, char scratch[PATH_MAX]);

/* Removes a file or a directory with all that is in it, while processes that are being killed may still write there.
 * Waits up to a second for these. */
void object_cache_remove_scratch(const char *scratch);

/* Moves a new object to its path, and notes its digest. False where it cannot be read or is larger than `most` bytes;
 * then nothing is at the path. */
bool object_cache_take(const char *made, const char *path, size_t most);

/* Removes an object. Returns whether it is gone. */
bool object_cache_remove(const char *path);

/* Removes all that is neither an object nor the digest of one, and returns the number of these. No compilation may be
 * under way. */
size_t object_cache_clean(const char *directory);

/* Removes the objects that were not used for longest until all files below the directory have `bytes` at most; never
 * `kept`. */
void object_cache_prune(const char *directory, size_t bytes, const char *kept);

#endif
