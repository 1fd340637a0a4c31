/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores a state in numbered snapshots and journals, and reads it back. */
#include "files/generations.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/durable_file.h"
#include "files/record_file.h"

static const char SNAPSHOT[] = "snapshot", JOURNAL[] = "journal", RESERVE[] = "simulations.reserve";

/* Step by which the reserve grows, in bytes. */
#define RESERVE_STEP (UINT64_C(1) << 20)

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Writes the path of a file. A path that is too long is truncated, and no file is found there. */
static void file_path(const generations *g, uint64_t number, const char *kind, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%.4000s/simulations.%llu.%s", g->directory, (unsigned long long)number, kind);
}

static void reserve_path(const generations *g, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%.4000s/%s", g->directory, RESERVE);
}

/* Returns the number in the name of a file of that kind, or 0 for other files. */
static uint64_t number_of(const char *name, const char *kind) {
    static const char prefix[] = "simulations.";
    char *end;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
        return 0;
    }
    const char *digits = name + sizeof prefix - 1;
    if (*digits < '1' || *digits > '9') {
        return 0;
    }
    errno = 0;
    unsigned long long number = strtoull(digits, &end, 10);
    return errno == 0 && *end == '.' && strcmp(end + 1, kind) == 0 ? number : 0;
}

static int compare_numbers(const void *a, const void *b) {
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

/* Lists the numbers of all files of a kind, ascending, in an array that the caller frees. Returns false with errno. */
static bool list_numbers(const generations *g, const char *kind, uint64_t **numbers, size_t *count) {
    size_t capacity = 0;
    DIR *directory = opendir(g->directory);
    *numbers = NULL;
    *count = 0;
    if (!directory) {
        return false;
    }
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        uint64_t number = number_of(entry->d_name, kind);
        if (number == 0) {
            continue;
        }
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 8;
            uint64_t *grown = realloc(*numbers, capacity * sizeof *grown);
            if (!grown) {
                free(*numbers);
                *numbers = NULL;
                closedir(directory);
                errno = ENOMEM;
                return false;
            }
            *numbers = grown;
        }
        (*numbers)[(*count)++] = number;
    }
    closedir(directory);
    if (*count > 0) {
        qsort(*numbers, *count, sizeof **numbers, compare_numbers);
    }
    return true;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

void generations_open(generations *g, const char *directory) {
    *g = (generations){.journal = -1, .reserve = -1};
    snprintf(g->directory, sizeof g->directory, "%s", directory);
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->synced_changed, NULL);
}

void generations_close(generations *g) {
    if (g->journal >= 0) {
        close(g->journal);
    }
    if (g->reserve >= 0) {
        close(g->reserve);
    }
    pthread_cond_destroy(&g->synced_changed);
    pthread_mutex_destroy(&g->mutex);
}

void generations_set_problem(generations *g, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&g->mutex);
    vsnprintf(g->problem, sizeof g->problem, format, arguments);
    pthread_mutex_unlock(&g->mutex);
    va_end(arguments);
}

bool generations_problem(generations *g, char text[GENERATIONS_PROBLEM_SIZE]) {
    pthread_mutex_lock(&g->mutex);
    memcpy(text, g->problem[0] ? g->problem : g->reserve_problem, sizeof g->problem);
    pthread_mutex_unlock(&g->mutex);
    return text[0] != '\0';
}

bool generations_must_save(generations *g) {
    pthread_mutex_lock(&g->mutex);
    bool must_save = g->must_save;
    pthread_mutex_unlock(&g->mutex);
    return must_save;
}

uint64_t generations_journal_bytes(generations *g) {
    pthread_mutex_lock(&g->mutex);
    uint64_t bytes = g->end;
    pthread_mutex_unlock(&g->mutex);
    return bytes;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Visits the records of a file up to the empty one; without a visitor (NULL) it only reads them. Returns whether the
 * file ends with an empty record. */
static bool visit_file(record_reader *r, const generations_visitor *visitor) {
    const uint8_t *bytes;
    size_t size;
    while (record_reader_next(r, &bytes, &size)) {
        if (size == 0) {
            return r->at == r->size;
        }
        if (visitor) {
            visitor->record(visitor->context, bytes, size);
        }
    }
    return false;
}

/* Opens the newest complete snapshot or, if none is complete, the newest. Returns false with errno; 0 if there is no
 * snapshot. */
static bool open_snapshot(generations *g, const uint64_t *numbers, size_t count, record_reader *r, uint64_t *number) {
    char path[PATH_MAX];
    for (size_t i = count; i-- > 0;) {
        file_path(g, numbers[i], SNAPSHOT, path);
        if (!record_reader_open(r, path)) {
            return false;
        }
        bool is_complete = visit_file(r, NULL);
        r->at = 0;
        *number = numbers[i];
        if (is_complete) {
            return true;
        }
        record_reader_close(r);
    }
    errno = 0;
    if (count == 0) {
        return false;
    }
    *number = numbers[count - 1];
    file_path(g, *number, SNAPSHOT, path);
    return record_reader_open(r, path);
}

static bool read_snapshot(generations *g, const generations_visitor *visitor, uint64_t *number) {
    char path[PATH_MAX];
    record_reader reader;
    uint64_t *numbers;
    size_t count;
    if (!list_numbers(g, SNAPSHOT, &numbers, &count)) {
        return errno == ENOENT;
    }
    *number = count > 0 ? numbers[count - 1] : 0;
    g->newest = *number > g->newest ? *number : g->newest;
    bool is_open = open_snapshot(g, numbers, count, &reader, number);
    int reason = errno;
    free(numbers);
    errno = reason;
    if (!is_open) {
        return count == 0;
    }
    file_path(g, *number, SNAPSHOT, path);
    if (!visit_file(&reader, visitor)) {
        visitor->damaged(visitor->context, path, reader.at, reader.size);
    }
    record_reader_close(&reader);
    return true;
}

static bool read_journal(generations *g, uint64_t number, const generations_visitor *visitor) {
    char path[PATH_MAX];
    record_reader reader;
    file_path(g, number, JOURNAL, path);
    if (!record_reader_open(&reader, path)) {
        return false;
    }
    visit_file(&reader, visitor);
    if (reader.at < reader.size) {
        visitor->damaged(visitor->context, path, reader.at, reader.size);
    }
    record_reader_close(&reader);
    return true;
}

bool generations_read(generations *g, bool journals, const generations_visitor *visitor) {
    uint64_t base = 0, *numbers;
    size_t count;
    if (!read_snapshot(g, visitor, &base)) {
        return false;
    }
    if (!journals) {
        return true;
    }
    g->base = base;
    if (!list_numbers(g, JOURNAL, &numbers, &count)) {
        return errno == ENOENT;
    }
    bool is_good = true;
    for (size_t i = 0; i < count && is_good; i++) {
        g->newest = numbers[i] > g->newest ? numbers[i] : g->newest;
        is_good = numbers[i] < base || read_journal(g, numbers[i], visitor);
    }
    int reason = errno;
    free(numbers);
    errno = reason;
    return is_good;
}

/* ---- the journal ------------------------------------------------------------------------------------------------- */

/* Refuses records until a new journal is begun, and stores the problem of `action`, whose error is in errno. Called
 * with the mutex held. */
static void break_journal(generations *g, const char *action) {
    g->is_broken = g->must_save = true;
    g->lost_from = g->synced;
    g->lost_to = g->appended;
    snprintf(g->problem, sizeof g->problem,
             "cannot %s %.256s/simulations.%llu.journal: %s; changes since are lost if the daemon is killed", action,
             g->directory, (unsigned long long)g->newest, strerror(errno));
}

uint64_t generations_append(generations *g, const void *bytes, size_t size) {
    uint64_t record = 0;
    pthread_mutex_lock(&g->mutex);
    if (g->journal >= 0 && !g->is_broken) {
        if (record_append(g->journal, &g->end, bytes, size)) {
            record = ++g->appended;
        } else {
            break_journal(g, "write");
        }
    }
    pthread_mutex_unlock(&g->mutex);
    return record;
}

/* Syncs all records appended so far, or breaks the journal on failure. The mutex is held before and after the call, not
 * during the sync. */
static void sync_appended(generations *g) {
    uint64_t target = g->appended;
    int file = g->journal;
    g->is_syncing = true;
    pthread_mutex_unlock(&g->mutex);
    bool is_good = fdatasync(file) == 0;
    int reason = errno;
    pthread_mutex_lock(&g->mutex);
    g->is_syncing = false;
    if (is_good) {
        g->synced = target;
    } else {
        /* Breaks the journal instead of syncing again: after an error the system may discard what it could not write,
         * so a second attempt proves nothing. */
        errno = reason;
        break_journal(g, "sync");
    }
    pthread_cond_broadcast(&g->synced_changed);
}

bool generations_sync(generations *g, uint64_t record) {
    pthread_mutex_lock(&g->mutex);
    while (record > g->synced && record > g->lost_to) {
        if (g->is_syncing) {
            pthread_cond_wait(&g->synced_changed, &g->mutex);
        } else {
            sync_appended(g);
        }
    }
    bool is_lost = record > g->lost_from && record <= g->lost_to;
    bool is_synced = record > 0 && record <= g->synced && !is_lost;
    pthread_mutex_unlock(&g->mutex);
    return is_synced;
}

/* Begins the next journal. Returns false, and stores the problem, if the file cannot be created. Called with the mutex
 * held. */
static bool begin_journal(generations *g) {
    char path[PATH_MAX];
    file_path(g, g->newest + 1, JOURNAL, path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 || !durable_directory_sync(g->directory)) {
        int reason = errno;
        snprintf(g->problem, sizeof g->problem, "cannot %s %.256s: %s", file < 0 ? "create" : "sync",
                 file < 0 ? path : g->directory, strerror(reason));
        if (file >= 0) {
            close(file);
            unlink(path);
        }
        errno = reason;
        g->must_save = true;
        return false;
    }
    if (g->journal >= 0) {
        close(g->journal);
    }
    g->newest++;
    g->journal = file;
    g->end = 0;
    g->is_broken = false;
    return true;
}

bool generations_rotate(generations *g) {
    pthread_mutex_lock(&g->mutex);
    while (g->is_syncing) {
        pthread_cond_wait(&g->synced_changed, &g->mutex);
    }
    bool has_journal = g->journal >= 0 && !g->is_broken;
    if (has_journal && g->synced < g->appended) {
        sync_appended(g);
        has_journal = !g->is_broken;
    }
    bool is_good = (has_journal && g->end == 0) || begin_journal(g);
    pthread_mutex_unlock(&g->mutex);
    return is_good;
}

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

void generations_begin(generations *g, generations_writer *w) {
    char path[PATH_MAX];
    *w = (generations_writer){.file = g->reserve};
    g->reserve = -1;
    atomic_store(&g->reserved, 0);
    if (w->file < 0) {
        reserve_path(g, path);
        w->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    }
    w->is_good = w->file >= 0;
    w->reason = errno;
}

void generations_add(generations_writer *w, const void *bytes, size_t size) {
    if (w->is_good && !record_append(w->file, &w->end, bytes, size)) {
        w->is_good = false;
        w->reason = errno;
    }
}

/* Removes the files of a kind whose numbers are less than `number`. Files that cannot be removed are left to the next
 * commit. */
static void remove_older(const generations *g, uint64_t number, const char *kind) {
    char path[PATH_MAX];
    uint64_t *numbers;
    size_t count;
    if (!list_numbers(g, kind, &numbers, &count)) {
        return;
    }
    for (size_t i = 0; i < count && numbers[i] < number; i++) {
        file_path(g, numbers[i], kind, path);
        unlink(path);
    }
    free(numbers);
}

/* Records that a snapshot did not take effect. Always returns false, with errno set to `reason`. */
static bool fail_commit(generations *g, const char *path, int reason) {
    generations_set_problem(g, "cannot write %.256s: %s; the previous snapshot and its journal stay in force", path,
                            strerror(reason));
    pthread_mutex_lock(&g->mutex);
    g->must_save = true;
    pthread_mutex_unlock(&g->mutex);
    errno = reason;
    return false;
}

bool generations_commit(generations *g, generations_writer *w, char path[PATH_MAX]) {
    char scratch[PATH_MAX];
    pthread_mutex_lock(&g->mutex);
    uint64_t number = g->newest;
    pthread_mutex_unlock(&g->mutex);
    file_path(g, number, SNAPSHOT, path);
    reserve_path(g, scratch);
    generations_add(w, NULL, 0);
    if (w->is_good && ftruncate(w->file, (off_t)w->end) != 0) {
        w->is_good = false;
        w->reason = errno;
    }
    if (!w->is_good) {
        if (w->file >= 0) {
            close(w->file);
            unlink(scratch);
        }
        errno = w->reason;
    } else {
        w->is_good = durable_file_publish(w->file, scratch, path, g->directory);
        w->reason = errno;
    }
    w->file = -1;
    if (!w->is_good) {
        return fail_commit(g, path, w->reason);
    }
    pthread_mutex_lock(&g->mutex);
    g->base = number;
    g->written = w->end;
    g->problem[0] = '\0';
    g->must_save = false;
    pthread_mutex_unlock(&g->mutex);
    remove_older(g, number, SNAPSHOT);
    remove_older(g, number, JOURNAL);
    return true;
}

/* Returns the bytes to reserve for the next snapshot: twice those of the last one and the journal, rounded up to
 * RESERVE_STEP. */
static uint64_t wanted_reserve(generations *g) {
    pthread_mutex_lock(&g->mutex);
    uint64_t wanted = 2 * (g->written + g->end);
    pthread_mutex_unlock(&g->mutex);
    return (wanted / RESERVE_STEP + 1) * RESERVE_STEP;
}

bool generations_reserve_is_short(generations *g) {
    return atomic_load(&g->reserved) < wanted_reserve(g);
}

/* Extends the file of the reserve to `wanted` bytes. Returns false with errno. On a file system that cannot reserve
 * space it only creates the file. */
static bool extend_reserve(generations *g, const char *path, uint64_t wanted) {
    if (g->reserve < 0) {
        g->reserve = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    }
    return g->reserve >= 0 && (fallocate(g->reserve, 0, 0, (off_t)wanted) == 0 || errno == EOPNOTSUPP);
}

void generations_reserve(generations *g) {
    char path[PATH_MAX];
    uint64_t wanted = wanted_reserve(g);
    if (wanted <= atomic_load(&g->reserved)) {
        return;
    }
    reserve_path(g, path);
    bool is_good = extend_reserve(g, path, wanted);
    int reason = errno;
    if (!is_good && g->reserve >= 0) {
        close(g->reserve);
        g->reserve = -1;
        unlink(path);
    }
    atomic_store(&g->reserved, is_good ? wanted : 0);
    pthread_mutex_lock(&g->mutex);
    g->reserve_problem[0] = '\0';
    if (!is_good) {
        snprintf(g->reserve_problem, sizeof g->reserve_problem,
                 "cannot reserve %llu bytes for the next snapshot in %.256s: %s", (unsigned long long)wanted, path,
                 strerror(reason));
    }
    pthread_mutex_unlock(&g->mutex);
}
