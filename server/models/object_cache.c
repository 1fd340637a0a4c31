/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores and checks the files of compiled algorithms. */
#include "models/object_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files/regular_file.h"
#include "models/digest.h"

/* Returns whether a file has that type (S_IFREG, S_IFDIR) and only this user can have written to it. */
static bool is_ours(const struct stat *status, mode_t type) {
    return (status->st_mode & S_IFMT) == type && status->st_uid == geteuid() && (status->st_mode & 022) == 0;
}

bool object_cache_open(const char *state_directory, char directory[PATH_MAX], char reason[OBJECT_REASON_SIZE]) {
    struct stat status;
    if (state_directory[0] == '\0') {
        snprintf(reason, OBJECT_REASON_SIZE, "there is no state directory");
        return false;
    }
    if (snprintf(directory, PATH_MAX, "%s/compiled", state_directory) >= PATH_MAX - DIGEST_SIZE - 64) {
        snprintf(reason, OBJECT_REASON_SIZE, "the name of the state directory is too long");
        return false;
    }
    if ((mkdir(directory, 0700) != 0 && errno != EEXIST) || lstat(directory, &status) != 0) {
        snprintf(reason, OBJECT_REASON_SIZE, "%.160s: %s", directory, strerror(errno));
        return false;
    }
    if (!is_ours(&status, S_IFDIR)) {
        snprintf(reason, OBJECT_REASON_SIZE, "%.160s is no directory that this user alone may write to", directory);
        return false;
    }
    return true;
}

bool object_cache_path(const char *directory, const char *digest, const char *set, char path[PATH_MAX]) {
    const char *digits = strchr(digest, ':');
    return snprintf(path, PATH_MAX, "%s/%s-%s.so", directory, digits ? digits + 1 : digest, set) < PATH_MAX;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Reads a file of this user that has 1 to `most` bytes, which the caller frees. Returns NULL for any other one. */
static char *read_file(const char *path, size_t most, size_t *size) {
    struct stat status;
    if (lstat(path, &status) != 0 || !is_ours(&status, S_IFREG) || status.st_size == 0) {
        return NULL;
    }
    return regular_file_read(path, O_NOFOLLOW, most, size);
}

/* Computes the digest of a file's bytes. Returns false if read_file cannot read the file. */
static bool digest_file(const char *path, size_t most, char digest[DIGEST_SIZE]) {
    size_t size;
    char *bytes = read_file(path, most, &size);
    if (bytes) {
        digest_write(bytes, size, digest);
    }
    free(bytes);
    return bytes != NULL;
}

/* Writes the path of the file that holds an object's digest. Returns false if it is too long. */
static bool seal_path(const char *path, char seal[PATH_MAX]) {
    return snprintf(seal, PATH_MAX, "%s.sha256", path) < PATH_MAX;
}

static bool write_seal(const char *path, const char *digest) {
    char seal[PATH_MAX];
    if (!seal_path(path, seal) || (unlink(seal) != 0 && errno != ENOENT)) {
        return false;
    }
    int file = open(seal, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_written = file >= 0 && write(file, digest, strlen(digest)) == (ssize_t)strlen(digest);
    return file >= 0 && close(file) == 0 && is_written;
}

/* ---- one object -------------------------------------------------------------------------------------------------- */

bool object_cache_digest(const char *path, char digest[DIGEST_SIZE]) {
    char seal[PATH_MAX];
    size_t size;
    char *text = seal_path(path, seal) ? read_file(seal, DIGEST_SIZE - 1, &size) : NULL;
    bool is_noted = text && size == DIGEST_SIZE - 1;
    if (is_noted) {
        memcpy(digest, text, size);
        digest[size] = '\0';
    }
    free(text);
    return is_noted;
}

/* Returns whether only this user can write to the directory of a file: its permissions may have changed since it was
 * opened. */
static bool is_directory_ours(const char *path) {
    char directory[PATH_MAX];
    struct stat status;
    const char *end = strrchr(path, '/');
    int length = end ? (int)(end - path) : 0;
    return end && snprintf(directory, sizeof directory, "%.*s", length, path) < PATH_MAX &&
           lstat(directory, &status) == 0 && is_ours(&status, S_IFDIR);
}

object_state object_cache_look(const char *path) {
    char noted[DIGEST_SIZE], found[DIGEST_SIZE];
    struct stat status;
    if (lstat(path, &status) != 0) {
        return OBJECT_MISSING;
    }
    if (!is_directory_ours(path) || !object_cache_digest(path, noted) || !digest_file(path, SIZE_MAX, found) ||
        strcmp(noted, found) != 0) {
        return OBJECT_DAMAGED;
    }
    utimensat(AT_FDCWD, path, NULL, 0);
    return OBJECT_WHOLE;
}

bool object_cache_load(const char *directory, model_entry *entry) {
    char path[PATH_MAX], digest[DIGEST_SIZE];
    dyn_compiled *compiled;
    dyn_error error;
    if (model_entry_compilation(entry, NULL) == MODEL_COMPILED) {
        return true;
    }
    if (directory[0] == '\0' || !object_cache_path(directory, entry->digest, dyn_instruction_set(), path) ||
        object_cache_look(path) != OBJECT_WHOLE || !object_cache_digest(path, digest) ||
        dyn_compiled_load(entry->model, path, &compiled, &error) != DYN_OK) {
        return false;
    }
    model_entry_set_compilation(entry, MODEL_COMPILED, "", compiled, digest);
    return true;
}

bool object_cache_insert(const char *made, const char *path, size_t most) {
    char digest[DIGEST_SIZE];
    /* Restricts the permissions: the umask may let a group write to the linker's output. */
    bool is_inserted = chmod(made, 0600) == 0 && digest_file(made, most, digest) && object_cache_remove(path) &&
                       write_seal(path, digest) && rename(made, path) == 0;
    if (!is_inserted) {
        object_cache_remove(path);
    }
    return is_inserted;
}

bool object_cache_remove(const char *path) {
    char seal[PATH_MAX];
    bool is_gone = unlink(path) == 0 || errno == ENOENT;
    return is_gone && seal_path(path, seal) && (unlink(seal) == 0 || errno == ENOENT);
}

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

bool object_cache_create_scratch(const char *directory, char scratch[PATH_MAX]) {
    if (snprintf(scratch, PATH_MAX, "%s/scratch.XXXXXX", directory) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mkdtemp(scratch) != NULL;
}

/* Removes a tree in one pass, from its leaves up. Returns whether all of it is gone. */
static bool remove_tree(const char *path) {
    char *const roots[] = {(char *)path, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    for (const FTSENT *entry; tree && (entry = fts_read(tree));) {
        if (entry->fts_info == FTS_DP) {
            rmdir(entry->fts_path);
        } else if (entry->fts_info != FTS_D) {
            unlink(entry->fts_path);
        }
    }
    if (tree) {
        fts_close(tree);
    }
    return access(path, F_OK) != 0 && errno == ENOENT;
}

void object_cache_remove_scratch(const char *scratch) {
    const struct timespec pause = {.tv_nsec = 20000000};
    for (int i = 0; !remove_tree(scratch) && i < 50; i++) {
        nanosleep(&pause, NULL);
    }
}

/* ---- the directory ----------------------------------------------------------------------------------------------- */

static bool has_suffix(const char *name, const char *suffix) {
    size_t length = strlen(name), end = strlen(suffix);
    return length > end && strcmp(name + length - end, suffix) == 0;
}

/* Returns whether an entry of the tree is an object. */
static bool is_object(const FTSENT *entry) {
    return entry->fts_level == 1 && entry->fts_info == FTS_F && has_suffix(entry->fts_name, ".so");
}

/* Returns whether an entry of the tree is the digest of an object. */
static bool is_seal(const FTSENT *entry) {
    char object[PATH_MAX];
    struct stat status;
    static const char suffix[] = ".sha256";
    if (entry->fts_level != 1 || entry->fts_info != FTS_F || !has_suffix(entry->fts_name, ".so.sha256")) {
        return false;
    }
    int length = (int)(strlen(entry->fts_path) - strlen(suffix));
    return snprintf(object, sizeof object, "%.*s", length, entry->fts_path) < PATH_MAX && lstat(object, &status) == 0 &&
           S_ISREG(status.st_mode);
}

size_t object_cache_clean(const char *directory) {
    char *const roots[] = {(char *)directory, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    size_t count = 0;
    for (FTSENT *entry; tree && (entry = fts_read(tree));) {
        if (entry->fts_level == 1 && entry->fts_info != FTS_DP && !is_object(entry) && !is_seal(entry)) {
            fts_set(tree, entry, FTS_SKIP);
            count += remove_tree(entry->fts_path);
        }
    }
    if (tree) {
        fts_close(tree);
    }
    return count;
}

static bool is_older(struct timespec a, struct timespec b) {
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

/* Returns the total bytes of all files in the directory. `oldest` receives the path of the least recently used object
 * other than `spared`; "" if there is none. */
static size_t find_oldest(const char *directory, const char *spared, char oldest[PATH_MAX]) {
    char *const roots[] = {(char *)directory, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    struct timespec time = {0, 0};
    size_t bytes = 0;
    oldest[0] = '\0';
    for (const FTSENT *entry; tree && (entry = fts_read(tree));) {
        if (entry->fts_info != FTS_F) {
            continue;
        }
        bytes += (size_t)entry->fts_statp->st_size;
        bool is_first = oldest[0] == '\0' || is_older(entry->fts_statp->st_mtim, time);
        if (is_object(entry) && is_first && strcmp(entry->fts_path, spared) != 0 &&
            strlen(entry->fts_path) < PATH_MAX) {
            strcpy(oldest, entry->fts_path);
            time = entry->fts_statp->st_mtim;
        }
    }
    if (tree) {
        fts_close(tree);
    }
    return bytes;
}

void object_cache_prune(const char *directory, size_t bytes, const char *spared) {
    char oldest[PATH_MAX];
    bool is_removed = true;
    while (is_removed && find_oldest(directory, spared, oldest) > bytes && oldest[0] != '\0') {
        is_removed = object_cache_remove(oldest);
    }
}
