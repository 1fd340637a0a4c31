/* Files of compiled algorithms. */
#include "models/object_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/regular_file.h"
#include "models/digest.h"

bool object_cache_open(const char *state_directory, char directory[PATH_MAX], char reason[OBJECT_REASON_SIZE]) {
    struct stat status;
    if (state_directory[0] == '\0') {
        snprintf(reason, OBJECT_REASON_SIZE, "there is no state directory");
        return false;
    }
    if (snprintf(directory, PATH_MAX, "%s/compiled", state_directory) >= PATH_MAX - DIGEST_SIZE - 32) {
        snprintf(reason, OBJECT_REASON_SIZE, "the name of the state directory is too long");
        return false;
    }
    if ((mkdir(directory, 0700) != 0 && errno != EEXIST) || lstat(directory, &status) != 0) {
        snprintf(reason, OBJECT_REASON_SIZE, "%.160s: %s", directory, strerror(errno));
        return false;
    }
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022) != 0) {
        snprintf(reason, OBJECT_REASON_SIZE, "%.160s is no directory that this user alone may write to", directory);
        return false;
    }
    return true;
}

bool object_cache_path(const char *directory, const char *digest, const char *set, char path[PATH_MAX]) {
    const char *digits = strchr(digest, ':');
    return snprintf(path, PATH_MAX, "%s/%s-%s.so", directory, digits ? digits + 1 : digest, set) < PATH_MAX;
}

/* Computes the digest of a file's bytes, of which there must be some. */
static bool digest_file(const char *path, size_t most, char digest[DIGEST_SIZE]) {
    size_t length = 0;
    char *bytes = regular_file_read(path, O_NOFOLLOW, most, &length);
    if (length > 0) {
        digest_write(bytes, length, digest);
    }
    free(bytes);
    return length > 0;
}

static bool seal_path(const char *path, char seal[PATH_MAX]) {
    return snprintf(seal, PATH_MAX, "%s.sha256", path) < PATH_MAX;
}

bool object_cache_digest(const char *path, char digest[DIGEST_SIZE]) {
    char seal[PATH_MAX];
    FILE *file = seal_path(path, seal) ? regular_file_stream(seal, O_NOFOLLOW) : NULL;
    bool is_noted = file && fgets(digest, DIGEST_SIZE, file);
    if (file) {
        fclose(file);
    }
    return is_noted;
}

object_state object_cache_look(const char *path) {
    char noted[DIGEST_SIZE] = "", found[DIGEST_SIZE];
    if (access(path, F_OK) != 0) {
        return OBJECT_MISSING;
    }
    if (!object_cache_digest(path, noted) || !digest_file(path, SIZE_MAX, found) || strcmp(noted, found) != 0) {
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
        dyn_compiled_load(path, entry->model, &error, &compiled) != DYN_OK) {
        return false;
    }
    model_entry_set_compilation(entry, MODEL_COMPILED, "", compiled, digest);
    return true;
}

bool object_cache_seal(const char *path, size_t most) {
    char seal[PATH_MAX], digest[DIGEST_SIZE];
    FILE *file = seal_path(path, seal) && digest_file(path, most, digest) ? fopen(seal, "we") : NULL;
    bool is_written = file && fputs(digest, file) >= 0;
    return file && fclose(file) == 0 && is_written;
}

void object_cache_remove(const char *path) {
    char seal[PATH_MAX];
    unlink(path);
    if (seal_path(path, seal)) {
        unlink(seal);
    }
}

static int is_object(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

/* Bytes of all objects, and the one that was not used for longest, but for `kept`; "" where there is none. */
static size_t find_oldest(const char *directory, const char *kept, char oldest[PATH_MAX]) {
    struct dirent **entries;
    struct timespec time = {0, 0};
    size_t bytes = 0;
    int count = scandir(directory, &entries, is_object, NULL);
    oldest[0] = '\0';
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat status;
        int length = snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        if (length < PATH_MAX && lstat(path, &status) == 0) {
            const struct timespec t = status.st_mtim;
            bool is_older = t.tv_sec < time.tv_sec || (t.tv_sec == time.tv_sec && t.tv_nsec < time.tv_nsec);
            bytes += (size_t)status.st_size;
            if (strcmp(path, kept) != 0 && (oldest[0] == '\0' || is_older)) {
                memcpy(oldest, path, (size_t)length + 1);
                time = t;
            }
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return bytes;
}

void object_cache_prune(const char *directory, size_t bytes, const char *kept) {
    char oldest[PATH_MAX];
    while (find_oldest(directory, kept, oldest) > bytes && oldest[0] != '\0') {
        object_cache_remove(oldest);
    }
}
