/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings in the state directory: their list, those under way, and their disk space. */
#include "methods/recording_store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "dynamics/v1/recording.pb-c.h"
#include "files/regular_file.h"

#define RECORDING_SUFFIX ".recording"

static const char SUFFIX[] = RECORDING_SUFFIX, SCRATCH_SUFFIX[] = RECORDING_SUFFIX RECORDING_SCRATCH_SUFFIX;

/* Number of bytes for which a file counts at least, so that the quota also bounds the number of short recordings. */
enum { LEAST_BYTES = 4096 };

void recording_store_init(recording_store *rs, const char *state_directory, const service_limits *limits) {
    memset(rs, 0, sizeof *rs);
    snprintf(rs->state_directory, sizeof rs->state_directory, "%s", state_directory);
    rs->limits = limits;
    rs->space.most = &limits->recordings_bytes;
    rs->space.reserve = &limits->disk_reserve_bytes;
}

void recording_store_free(recording_store *rs) {
    free(rs->open);
    free(rs->owners);
}

bool recording_store_is_open(const recording_store *rs, const char *name) {
    for (size_t i = 0; i < rs->open_count; i++) {
        if (strcmp(recording_name(rs->open[i]), name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Returns whether the name of a file consists of the name of a recording and a suffix. */
static bool has_suffix(const char *file_name, const char *suffix) {
    size_t length = strlen(file_name), end = strlen(suffix);
    return file_name[0] != '.' && length > end && length - end < sizeof(((recording_file *)0)->name) &&
           strcmp(file_name + length - end, suffix) == 0;
}

static int is_recording(const struct dirent *entry) {
    return has_suffix(entry->d_name, SUFFIX);
}

void recording_store_clean(const recording_store *rs) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.3000s/recordings", rs->state_directory);
    DIR *directory = rs->state_directory[0] != '\0' ? opendir(path) : NULL;
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        if (has_suffix(entry->d_name, SCRATCH_SUFFIX)) {
            unlinkat(dirfd(directory), entry->d_name, 0);
        }
    }
    if (directory) {
        closedir(directory);
    }
}

/* Fills the entry of a file. Returns false if it is no regular file. */
static bool look_at(const recording_store *rs, const char *file_name, recording_file *file) {
    char path[PATH_MAX];
    struct stat status;
    int length = snprintf(path, sizeof path, "%.3000s/recordings/%s", rs->state_directory, file_name);
    if (length >= PATH_MAX || lstat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    snprintf(file->name, sizeof file->name, "%.*s", (int)(strlen(file_name) - strlen(SUFFIX)), file_name);
    file->is_under_way = recording_store_is_open(rs, file->name);
    file->inode = status.st_ino;
    file->bytes = (uint64_t)status.st_size;
    file->stamp_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    return true;
}

/* ---- users ------------------------------------------------------------------------------------------------------- */

static int compare_owners(const void *a, const void *b) {
    return strcmp(((const recording_owner *)a)->name, ((const recording_owner *)b)->name);
}

/* Reads the owner of a file from its header: "" if it has none, or cannot be read. */
static void read_owner(const recording_store *rs, recording_owner *owner) {
    char path[PATH_MAX];
    recording_reader reader;
    snprintf(path, sizeof path, "%.3000s/recordings/%s%s", rs->state_directory, owner->name, SUFFIX);
    owner->user[0] = '\0';
    if (!recording_reader_open(&reader, path)) {
        return;
    }
    Dynamics__V1__RecordingHeader *header = (Dynamics__V1__RecordingHeader *)recording_reader_next(
        &reader, &dynamics__v1__recording_header__descriptor, NULL);
    recording_reader_close(&reader);
    if (header) {
        snprintf(owner->user, sizeof owner->user, "%s", header->belongs_to);
        dynamics__v1__recording_header__free_unpacked(header, NULL);
    }
}

/* Finds the owners of all files, which are sorted by name, and reads the headers of those that are new. Returns false
 * when out of memory. */
static bool find_owners(recording_store *rs, const recording_file *files, size_t count) {
    recording_owner *owners = calloc(count + 1, sizeof *owners);
    for (size_t i = 0; owners && i < count; i++) {
        recording_owner *owner = &owners[i];
        snprintf(owner->name, sizeof owner->name, "%s", files[i].name);
        owner->inode = files[i].inode;
        const recording_owner *known =
            rs->owners ? bsearch(owner, rs->owners, rs->owner_count, sizeof *owner, compare_owners) : NULL;
        if (known && known->inode == owner->inode) {
            *owner = *known;
        } else {
            read_owner(rs, owner);
        }
    }
    if (owners) {
        qsort(owners, count, sizeof *owners, compare_owners);
        free(rs->owners);
        rs->owners = owners;
        rs->owner_count = count;
    }
    return owners != NULL;
}

/* Counts the recordings of a user and their bytes. Called after find_owners. */
static size_t count_of_user(const recording_store *rs, const recording_file *files, size_t count, const char *user,
                            uint64_t *used) {
    size_t own = 0;
    *used = 0;
    for (size_t i = 0; i < count; i++) {
        recording_owner wanted;
        snprintf(wanted.name, sizeof wanted.name, "%s", files[i].name);
        const recording_owner *owner = bsearch(&wanted, rs->owners, rs->owner_count, sizeof wanted, compare_owners);
        if (owner && strcmp(owner->user, user) == 0) {
            *used += files[i].bytes > LEAST_BYTES ? files[i].bytes : LEAST_BYTES;
            own++;
        }
    }
    return own;
}

/* Counts the bytes of the users of recordings under way again. */
static void measure_users(recording_store *rs, const recording_file *files, size_t count) {
    if (rs->accounts && find_owners(rs, files, count)) {
        for (recording_account *account = rs->accounts; account; account = account->next) {
            count_of_user(rs, files, count, account->user, &account->used);
        }
    }
}

/* Opens a user's account, or counts one more recording in it. Returns NULL when out of memory. */
static recording_account *join_account(recording_store *rs, const char *user, uint64_t used) {
    recording_account *account = rs->accounts;
    while (account && strcmp(account->user, user) != 0) {
        account = account->next;
    }
    if (!account && (account = calloc(1, sizeof *account))) {
        snprintf(account->user, sizeof account->user, "%s", user);
        account->most = &rs->limits->user_recordings_bytes;
        account->next = rs->accounts;
        rs->accounts = account;
    }
    if (account) {
        account->used = used;
        account->open++;
    }
    return account;
}

/* Removes a recording from its user's account, if it has one. */
static void leave_account(recording_store *rs, recording_account *account) {
    recording_account **place = &rs->accounts;
    if (!account || --account->open > 0) {
        return;
    }
    while (*place != account) {
        place = &(*place)->next;
    }
    *place = account->next;
    free(account);
}

/* ---- list -------------------------------------------------------------------------------------------------------- */

/* Fills the entries of the recordings among a directory's files, and counts their bytes. Returns false when out of
 * memory. */
static bool look_at_all(recording_store *rs, struct dirent **entries, size_t found, recording_file **files,
                        size_t *count) {
    uint64_t used = 0;
    *count = 0;
    *files = malloc((found + 1) * sizeof **files);
    for (size_t i = 0; *files && i < found; i++) {
        recording_file *file = &(*files)[*count];
        if (look_at(rs, entries[i]->d_name, file)) {
            used += file->bytes > LEAST_BYTES ? file->bytes : LEAST_BYTES;
            ++*count;
        }
    }
    if (*files) {
        atomic_store(&rs->space.used, used);
        measure_users(rs, *files, *count);
    }
    return *files != NULL;
}

bool recording_store_list(recording_store *rs, recording_file **files, size_t *count) {
    char path[PATH_MAX];
    struct dirent **entries = NULL;
    snprintf(path, sizeof path, "%.3000s/recordings", rs->state_directory);
    int found = rs->state_directory[0] != '\0' ? scandir(path, &entries, is_recording, alphasort) : 0;
    size_t entry_count = found > 0 ? (size_t)found : 0;
    bool is_good = look_at_all(rs, entries, entry_count, files, count);
    for (size_t i = 0; i < entry_count; i++) {
        free(entries[i]);
    }
    free(entries);
    return is_good;
}

void recording_store_refuse_file(const char *path, int number, refusal *why) {
    if (number == ENOENT) {
        refuse(why, REASON_RECORDING_NOT_FOUND, "recording",
               "%.256s: %s; ListRecordings tells which recordings there are", path, strerror(number));
    } else {
        refuse(why, REASON_FILE_FAILED, "recording", "%.256s: %s", path, regular_file_error(number));
    }
}

void recording_store_measure(recording_store *rs) {
    recording_file *files;
    size_t count;
    if (recording_store_list(rs, &files, &count)) {
        free(files);
    }
}

bool recording_store_delete(recording_store *rs, const char *path) {
    bool is_done = unlink(path) == 0;
    int number = errno;
    recording_store_measure(rs);
    atomic_store(&rs->space.failed_write, 0);
    errno = number;
    return is_done;
}

/* ---- life of one ------------------------------------------------------------------------------------------------- */

/* Writes the name of the recording that was written least recently, as a candidate for deletion; "" if all are under
 * way. */
static void name_oldest(const recording_file *files, size_t count, char *text, size_t size) {
    const recording_file *oldest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!files[i].is_under_way && (!oldest || files[i].stamp_ns < oldest->stamp_ns)) {
            oldest = &files[i];
        }
    }
    text[0] = '\0';
    if (oldest) {
        snprintf(text, size, ": the oldest is \"%s\", %llu bytes", oldest->name, (unsigned long long)oldest->bytes);
    }
}

static bool enter(recording_store *rs, recording *r) {
    if (rs->open_count == rs->open_capacity) {
        size_t larger = rs->open_capacity ? 2 * rs->open_capacity : 16;
        recording **grown = realloc(rs->open, larger * sizeof(recording *));
        if (!grown) {
            return false;
        }
        rs->open = grown;
        rs->open_capacity = larger;
    }
    rs->open[rs->open_count++] = r;
    return true;
}

static void leave(recording_store *rs, const recording *r) {
    for (size_t i = 0; i < rs->open_count; i++) {
        if (rs->open[i] == r) {
            rs->open[i] = rs->open[--rs->open_count];
            return;
        }
    }
}

/* Refuses a new recording if there are too many, or the quota has no room for the shortest one. */
static bool check_place(const recording_store *rs, const recording_file *files, size_t count, refusal *why) {
    char oldest[128];
    uint64_t most = atomic_load(&rs->limits->recordings), bytes = atomic_load(rs->space.most);
    name_oldest(files, count, oldest, sizeof oldest);
    if (count >= most) {
        return refuse_limit(
            why, REASON_TOO_MANY_RECORDINGS, (excess){BOUND_RECORDINGS, most, count + 1}, "recording",
            "there are %zu recordings; the limit is %llu (limits.recordings): delete one (DeleteRecording, "
            "dynamicsctl recordings --delete NAME)%s",
            count, (unsigned long long)most, oldest);
    }
    uint64_t used = atomic_load(&rs->space.used);
    return used + LEAST_BYTES <= bytes ||
           refuse_limit(why, REASON_RECORDINGS_TOO_LARGE, (excess){BOUND_RECORDINGS_BYTES, bytes, used + LEAST_BYTES},
                        "recording",
                        "%zu recordings take %llu bytes; the limit is %llu (limits.recordings_bytes): delete one "
                        "(DeleteRecording, dynamicsctl recordings --delete NAME)%s",
                        count, (unsigned long long)used, (unsigned long long)bytes, oldest);
}

/* Refuses a new recording if its user has too many, or its share of bytes has no room for the shortest one. `used`
 * receives the bytes of the user's recordings. */
static bool check_user(recording_store *rs, const recording_file *files, size_t count, const char *user, uint64_t *used,
                       refusal *why) {
    uint64_t most = atomic_load(&rs->limits->user_recordings), bytes = atomic_load(&rs->limits->user_recordings_bytes);
    if (!find_owners(rs, files, count)) {
        return refuse_memory(why);
    }
    size_t own = count_of_user(rs, files, count, user, used);
    if (own >= most) {
        return refuse_limit(why, REASON_TOO_MANY_RECORDINGS, (excess){BOUND_USER_RECORDINGS, most, own + 1},
                            "recording",
                            "%s has %zu recordings, the limit of one user (limits.user_recordings): delete one "
                            "(DeleteRecording, dynamicsctl recordings --delete NAME)",
                            user, own);
    }
    return *used + LEAST_BYTES <= bytes ||
           refuse_limit(why, REASON_RECORDINGS_TOO_LARGE,
                        (excess){BOUND_USER_RECORDINGS_BYTES, bytes, *used + LEAST_BYTES}, "recording",
                        "the %zu recordings of %s take %llu bytes; the limit of one user is %llu "
                        "(limits.user_recordings_bytes): delete one (DeleteRecording, dynamicsctl recordings --delete "
                        "NAME)",
                        own, user, (unsigned long long)*used, (unsigned long long)bytes);
}

recording *recording_store_create(recording_store *rs, const char *path, const char *name, const char *user,
                                  refusal *why) {
    recording_file *files;
    size_t count;
    uint64_t used = 0;
    if (!recording_store_list(rs, &files, &count)) {
        refuse_memory(why);
        return NULL;
    }
    bool has_place = check_place(rs, files, count, why) && (!user || check_user(rs, files, count, user, &used, why));
    free(files);
    recording_account *account = has_place && user ? join_account(rs, user, used) : NULL;
    if (has_place && user && !account) {
        refuse_memory(why);
        return NULL;
    }
    recording *r = has_place ? recording_create(path, name, atomic_load(&rs->limits->recording_bytes)) : NULL;
    if (has_place && !r) {
        error_reason reason = errno == EEXIST   ? REASON_NAME_TAKEN
                              : errno == ENOSPC ? REASON_DISK_FULL
                                                : REASON_FILE_FAILED;
        if (reason == REASON_NAME_TAKEN) {
            refuse(why, reason, "recording",
                   "there is a recording \"%s\" already; choose another name, or delete it (DeleteRecording)", name);
        } else {
            refuse(why, reason, "recording", "%.300s: %s", path, strerror(errno));
        }
    }
    if (r && !enter(rs, r)) {
        refuse_memory(why);
        unlink(recording_path(r));
        recording_close(r);
        r = NULL;
    }
    if (r) {
        recording_share(r, &rs->space, account);
    } else {
        leave_account(rs, account);
    }
    return r;
}

void recording_store_discard(recording_store *rs, recording *r) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", recording_path(r));
    recording_store_close(rs, r, NULL);
    unlink(path);
    recording_store_measure(rs);
}

void recording_store_cancel(recording_store *rs, recording *r, refusal *why) {
    char oldest[128] = "";
    refusal cause;
    recording_file *files;
    size_t count;
    recording_fault fault = recording_explain(r, &cause);
    recording_store_discard(rs, r);
    if (fault == RECORDING_NO_FAULT) {
        refuse(why, REASON_FILE_FAILED, "recording",
               "the recording could not be begun: memory is short, or what it records has ended");
        return;
    }
    if ((fault == RECORDING_AT_QUOTA || fault == RECORDING_DISK_FULL) && recording_store_list(rs, &files, &count)) {
        name_oldest(files, count, oldest, sizeof oldest);
        free(files);
    }
    refuse_limit(why, cause.reason, cause.exceeded, "recording", "there is no room for a recording: %s%s",
                 cause.message, oldest);
}

bool recording_store_close(recording_store *rs, recording *r, refusal *why) {
    refusal cause;
    leave(rs, r);
    recording_flush(r);
    recording_fault fault = recording_explain(r, &cause);
    recording_account *account = recording_account_of(r);
    bool is_closed = recording_close(r);
    leave_account(rs, account);
    if (fault == RECORDING_NO_FAULT && !is_closed) {
        refuse(&cause, REASON_FILE_FAILED, "", "it cannot be closed: %s", strerror(errno));
    }
    if (!is_closed && why) {
        *why = cause;
    }
    return is_closed;
}

/* ---- health ------------------------------------------------------------------------------------------------------ */

bool recording_store_check(recording_store *rs, char problem[RECORDING_PROBLEM_SIZE]) {
    recording_space *space = &rs->space;
    struct statvfs disk;
    char path[PATH_MAX];
    problem[0] = '\0';
    snprintf(path, sizeof path, "%.3000s/recordings", rs->state_directory);
    bool is_known = statvfs(path, &disk) == 0 || statvfs(rs->state_directory, &disk) == 0;
    if (rs->state_directory[0] == '\0' || !is_known) {
        return true;
    }
    uint64_t used = atomic_load(&space->used), most = atomic_load(space->most);
    uint64_t reserve = atomic_load(space->reserve), free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    uint64_t needed_quota = atomic_load(&space->needed_quota), needed_disk = atomic_load(&space->needed_disk);
    int number = atomic_load(&space->failed_write);
    needed_quota = needed_quota > LEAST_BYTES ? needed_quota : LEAST_BYTES;
    needed_disk = needed_disk > LEAST_BYTES ? needed_disk : LEAST_BYTES;
    if (free_bytes < reserve || free_bytes - reserve < needed_disk) {
        snprintf(problem, RECORDING_PROBLEM_SIZE,
                 "the disk of %.200s has %llu free bytes, and recordings leave %llu (limits.disk_reserve_bytes): "
                 "recording has ended for want of room; delete recordings (DeleteRecording) or other files",
                 rs->state_directory, (unsigned long long)free_bytes, (unsigned long long)reserve);
    } else if (used + needed_quota > most) {
        snprintf(problem, RECORDING_PROBLEM_SIZE,
                 "recordings take %llu of %llu bytes (limits.recordings_bytes): recording has ended for want of room; "
                 "delete some (DeleteRecording, dynamicsctl recordings --delete NAME)",
                 (unsigned long long)used, (unsigned long long)most);
    } else if (number != 0) {
        snprintf(problem, RECORDING_PROBLEM_SIZE,
                 "a recording in %.200s could not be written: %s; the next one that can be written ends this",
                 rs->state_directory, strerror(number));
    }
    return problem[0] == '\0';
}
