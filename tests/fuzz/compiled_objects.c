/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: any bytes describe changes of the directory of compiled objects: files, links, FIFOs and directories.
 * An object is whole if and only if it and its digest are regular files of this user, not writable for others, and the
 * digest is that of its bytes; no other object is loaded. Cleaning keeps objects and digests, pruning keeps to its
 * bound, and neither touches anything outside of the directory.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/digest.h"
#include "models/object_cache.h"
#include "service_bench.h"
#include "target.h"

static const char robot_text[] =
    "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/>"
    "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>"
    "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>";

enum { OUTSIDE_BYTES = 7, PATHS = 8 };

/* Model and directories of the test: the state directory, the directory of compiled objects in it, a file outside of
 * that directory, and the paths that the input changes. The first path is the compiled object of `entry`, the second
 * its digest. */
typedef struct cache {
    char state[64], directory[PATH_MAX], outside[96], paths[PATHS][PATH_MAX];
    model_entry *entry;
} cache;

/* Input that is read from its beginning. */
typedef struct reader {
    const uint8_t *data;
    size_t size;
} reader;

static uint8_t next_byte(reader *r) {
    if (r->size == 0) {
        return 0;
    }
    r->size--;
    return *r->data++;
}

static void open_cache(cache *c) {
    static const char *const others[PATHS] = {NULL,        NULL,          "00-avx2.so",        "00-avx2.so.sha256",
                                              "scratch.x", "scratch.x/y", "00-avx2.so.AbCdEf", "new"};
    char reason[OBJECT_REASON_SIZE];
    const model_options options = {0};
    dyn_error error;
    strcpy(c->state, "/tmp/dynamicsd-objects-XXXXXX");
    require(mkdtemp(c->state) != NULL, "there is a directory");
    require(model_entry_create(robot_text, sizeof robot_text - 1, "", "", &options, 10, &error, &c->entry) == DYN_OK,
            "a model");
    require(object_cache_open(c->state, c->directory, reason), "a new directory is trusted");
    require(object_cache_path(c->directory, c->entry->digest, dyn_instruction_set(), c->paths[0]), "paths fit");
    snprintf(c->paths[1], PATH_MAX, "%.*s.sha256", PATH_MAX - 16, c->paths[0]);
    for (int i = 2; i < PATHS; i++) {
        snprintf(c->paths[i], PATH_MAX, "%.*s/%s", PATH_MAX - 32, c->directory, others[i]);
    }
    snprintf(c->outside, sizeof c->outside, "%s/outside", c->state);
}

/* Cache of the process; removed at the end of the program. */
static cache opened;

static void remove_cache(void) {
    char through_link[96]; /* scratch.x/y, where scratch.x was a link to the state directory */
    snprintf(through_link, sizeof through_link, "%s/y", opened.state);
    unlink(through_link);
    unlink(opened.outside);
    rmdir(opened.directory);
    rmdir(opened.state);
    model_entry_release(opened.entry);
}

static void write_file(const char *path, const void *bytes, size_t size, mode_t mode) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file >= 0) {
        require(write(file, bytes, size) >= 0 || size == 0, "files are written");
        fchmod(file, mode);
        close(file);
    }
}

/* Writes the digest file that belongs to the object's bytes, at most 512, as the daemon does. Does nothing if the
 * object cannot be read or is empty. */
static void write_right_digest(const cache *c) {
    char bytes[512], digest[DIGEST_SIZE];
    int file = open(c->paths[0], O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    ssize_t size = file < 0 ? -1 : read(file, bytes, sizeof bytes);
    if (size > 0) {
        digest_write(bytes, (size_t)size, digest);
        write_file(c->paths[1], digest, strlen(digest), 0600);
    }
    if (file >= 0) {
        close(file);
    }
}

/* Applies one change to the directory. */
static void change(cache *c, reader *r) {
    static const mode_t modes[] = {0600, 0644, 0700, 0620, 0602, 0400, 0666, 0000};
    uint8_t what = next_byte(r);
    const char *path = c->paths[next_byte(r) % PATHS];
    mode_t mode = modes[next_byte(r) % 8];
    size_t number = next_byte(r), size = number < r->size ? number : r->size;
    switch (what % 8) {
    case 0:
    case 1:
        write_file(path, r->data, size, mode);
        r->data += size, r->size -= size;
        break;
    case 2:
        write_right_digest(c);
        break;
    case 3:
        mkdir(path, 0700);
        break;
    case 4:
        (void)!symlink(number % 2 ? c->outside : c->state, path);
        break;
    case 5:
        mkfifo(path, 0600);
        break;
    case 6:
        chmod(number % 4 ? c->paths[number % 2] : c->directory, mode | (number % 4 ? 0 : 0700));
        break;
    default:
        object_cache_insert(c->paths[PATHS - 1], c->paths[0], number);
        break;
    }
}

/* Reads at most `most` bytes of a regular file of this user that neither group nor others may write to. Returns the
 * number of bytes, -1 for anything else. */
static ssize_t read_trusted(const char *path, char *bytes, size_t most) {
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_mode & 022) {
        return -1;
    }
    int file = open(path, O_RDONLY);
    ssize_t size = file < 0 ? -1 : read(file, bytes, most);
    if (file >= 0) {
        close(file);
    }
    return size;
}

static bool is_whole(const cache *c) {
    char bytes[512], noted[512], digest[DIGEST_SIZE];
    struct stat status;
    ssize_t size = read_trusted(c->paths[0], bytes, sizeof bytes), length = read_trusted(c->paths[1], noted, 512);
    if (lstat(c->directory, &status) != 0 || (status.st_mode & 022) != 0 || size <= 0) {
        return false;
    }
    digest_write(bytes, (size_t)size, digest);
    return length == DIGEST_SIZE - 1 && memcmp(noted, digest, DIGEST_SIZE - 1) == 0;
}

/* Checks that whole objects, and no others, are recognized, and that nothing else is loaded. A whole object that begins
 * like an ELF file is not loaded here: the daemon trusts it as code. */
static void check_look(const cache *c) {
    char bytes[512];
    bool is_expected = is_whole(c);
    require((object_cache_look(c->paths[0]) == OBJECT_WHOLE) == is_expected, "whole objects are told from others");
    bool is_elf = read_trusted(c->paths[0], bytes, sizeof bytes) >= 4 && memcmp(bytes, "\177ELF", 4) == 0;
    if (!is_expected || !is_elf) {
        require(!object_cache_load(c->directory, c->entry), "nothing is loaded that is no shared object");
        require(model_entry_compilation(c->entry, NULL) == MODEL_COMPILATION_WAITS, "the kernels serve");
    }
}

/* Returns the total size of the regular files in the directory, without those of subdirectories. Counts the objects,
 * and the entries that are neither objects nor digests. */
static size_t count_bytes(const cache *c, int *objects, int *others) {
    size_t bytes = 0;
    DIR *directory = opendir(c->directory);
    require(directory != NULL, "the directory stays");
    *objects = *others = 0;
    for (const struct dirent *e; (e = readdir(directory));) {
        struct stat status;
        size_t length = strlen(e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            fstatat(dirfd(directory), e->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
            bool is_object = S_ISREG(status.st_mode) && length > 3 && strcmp(e->d_name + length - 3, ".so") == 0;
            bool is_digest = S_ISREG(status.st_mode) && strstr(e->d_name, ".so.sha256") != NULL;
            *objects += is_object;
            *others += !is_object && !is_digest;
            bytes += S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
        }
    }
    closedir(directory);
    return bytes;
}

static void check_outside(const cache *c) {
    struct stat status;
    require(lstat(c->outside, &status) == 0 && status.st_size == OUTSIDE_BYTES, "files outside are left alone");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cache *c = &opened;
    reader r = {data, size};
    int objects, others, left;
    if (!c->entry) {
        open_cache(c);
        atexit(remove_cache);
    }
    write_file(c->outside, "outside", OUTSIDE_BYTES, 0600);
    size_t most_bytes = 4 * (size_t)next_byte(&r);
    while (r.size > 0) {
        change(c, &r);
    }
    check_look(c);
    chmod(c->directory, 0700);
    object_cache_prune(c->directory, most_bytes, "");
    bool is_within = count_bytes(c, &objects, &others) <= most_bytes;
    require(is_within || objects == 0, "pruning keeps to its bound, or no object is left");
    object_cache_clean(c->directory);
    count_bytes(c, &left, &others);
    require(left == objects && others == 0, "cleaning leaves objects and digests, and nothing else");
    check_outside(c);
    for (int i = 0; i < PATHS; i++) {
        unlink(c->paths[i]);
    }
    return 0;
}
