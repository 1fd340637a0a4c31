/*
 * Files of compiled algorithms: DIRECTORY/DIGEST-SET.so, and beside each the SHA-256 of its bytes (.sha256).
 *
 * What lies there is run as code. The directory belongs to this user, and nobody else may write to it; a file whose
 * bytes are others than when it was sealed is not loaded.
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

/* Looks at an object, and marks a whole one as used. */
object_state object_cache_look(const char *path);

/* Its digest, as it was noted. False where there is none. */
bool object_cache_digest(const char *path, char digest[DIGEST_SIZE]);

/* Has an entry compute with the object that is kept for it in a directory ("": none), unless it is compiled already.
 * Returns whether it is. May be called from any thread. */
bool object_cache_load(const char *directory, model_entry *entry);

/* Notes what a new object's bytes are. False where it cannot be read or is larger than `most` bytes. */
bool object_cache_seal(const char *path, size_t most);

/* Removes an object. */
void object_cache_remove(const char *path);

/* Removes those that were not used for longest until all others are `bytes` at most; never `kept`. */
void object_cache_prune(const char *directory, size_t bytes, const char *kept);

#endif
