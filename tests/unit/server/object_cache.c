/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the directory of compiled objects: whole and damaged files, permissions, scratch directories, and the order of
 * eviction.
 */
#include "models/object_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/server/support.h"

static char state[] = "/tmp/dynamicsd-cache-XXXXXX";
static char directory[PATH_MAX], reason[OBJECT_REASON_SIZE];

static void create_state(void) {
    strcpy(state + sizeof state - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(state));
    ck_assert_msg(object_cache_open(state, directory, reason), "%s", reason);
}

static void remove_state(void) {
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -r %s", state);
    ck_assert_int_eq(system(command), 0);
}

/* Inserts an object of `bytes` bytes that was last used `age` seconds ago. Writes its path to `path`. */
static void write_object(const char *digest, size_t bytes, long age, char path[PATH_MAX]) {
    char made[PATH_MAX];
    ck_assert(object_cache_path(directory, digest, "avx2", path));
    ck_assert_int_lt(snprintf(made, sizeof made, "%s/made", state), PATH_MAX);
    FILE *file = fopen(made, "w");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < bytes; i++) {
        ck_assert_int_ne(fputc((int)(i % 251), file), EOF);
    }
    ck_assert_int_eq(fclose(file), 0);
    ck_assert(object_cache_insert(made, path, 1 << 20));
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(an_object_is_whole_until_it_changes) {
    char path[PATH_MAX];
    write_object("sha256:0a", 5000, 0, path);
    ck_assert(strstr(path, "/compiled/0a-avx2.so"));
    ck_assert_int_eq(object_cache_look(path), OBJECT_WHOLE);
    for (long place = 0; place < 5000; place += 617) {
        FILE *file = fopen(path, "r+");
        ck_assert(file && fseek(file, place, SEEK_SET) == 0 && fputc(255, file) != EOF && fclose(file) == 0);
        ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
        write_object("sha256:0a", 5000, 0, path);
    }
    ck_assert_int_eq(truncate(path, 4999), 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
    object_cache_remove(path);
    ck_assert_int_eq(object_cache_look(path), OBJECT_MISSING);
}
END_TEST

START_TEST(file_without_a_digest_is_damaged) {
    char path[PATH_MAX], seal[PATH_MAX + 8];
    write_object("sha256:0b", 100, 0, path);
    snprintf(seal, sizeof seal, "%s.sha256", path);
    ck_assert_int_eq(truncate(seal, 0), 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
    ck_assert_int_eq(unlink(seal), 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
    ck_assert_int_eq(symlink("/etc/passwd", seal), 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
}
END_TEST

START_TEST(a_new_object_that_is_too_large_is_not_accepted) {
    char made[PATH_MAX], path[PATH_MAX];
    write_object("sha256:0c", 100, 0, path);
    ck_assert_int_lt(snprintf(made, sizeof made, "%s/made", state), PATH_MAX);
    ck_assert_int_eq(rename(path, made), 0);
    ck_assert(!object_cache_insert(made, path, 99));
    ck_assert_int_eq(object_cache_look(path), OBJECT_MISSING);
    ck_assert(object_cache_insert(made, path, 100));
    ck_assert_int_eq(object_cache_look(path), OBJECT_WHOLE);
    ck_assert(!object_cache_insert(made, path, 100)); /* `made` was renamed and no longer exists */
}
END_TEST

/* Checks an object that has the right digest, but that another user may have written together with the digest. */
START_TEST(a_file_that_others_may_write_to_is_damaged) {
    char path[PATH_MAX], seal[PATH_MAX + 8], elsewhere[PATH_MAX];
    write_object("sha256:0d", 100, 0, path);
    snprintf(seal, sizeof seal, "%s.sha256", path);
    const char *const files[] = {path, seal, directory};
    for (int i = 0; i < 3; i++) {
        struct stat status;
        ck_assert_int_eq(stat(files[i], &status), 0);
        ck_assert_int_eq(chmod(files[i], status.st_mode | 020), 0);
        ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
        ck_assert_int_eq(chmod(files[i], status.st_mode | 002), 0);
        ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
        ck_assert_int_eq(chmod(files[i], status.st_mode), 0);
        ck_assert_int_eq(object_cache_look(path), OBJECT_WHOLE);
    }
    ck_assert_int_lt(snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", state), PATH_MAX);
    ck_assert_int_eq(rename(path, elsewhere), 0);
    ck_assert_int_eq(symlink(elsewhere, path), 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
    if (geteuid() == 0) {
        ck_assert(unlink(path) == 0 && rename(elsewhere, path) == 0 && chown(path, 1, 1) == 0);
        ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
    }
}
END_TEST

START_TEST(fifo_counts_as_damaged_and_does_not_block) {
    char path[PATH_MAX], seal[PATH_MAX + 8];
    write_object("sha256:0e", 100, 0, path);
    snprintf(seal, sizeof seal, "%s.sha256", path);
    ck_assert(unlink(seal) == 0 && mkfifo(seal, 0600) == 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
    ck_assert(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
}
END_TEST

/* Runs a shell command in the directory of compiled objects. Fails the test if the command fails. */
static void shell(const char *text) {
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "cd %s && %s", directory, text);
    ck_assert_msg(system(command) == 0, "%s", command);
}

START_TEST(cleaning_leaves_objects_alone) {
    char path[2][PATH_MAX];
    write_object("sha256:1a", 100, 0, path[0]);
    write_object("sha256:1b", 100, 0, path[1]);
    shell("mkdir -p 1a-avx2.so.AbCdEf/deeper scratch.x/y z.so ../outside && touch 1a-avx2.so.AbCdEf/kernels.c "
          "1a-avx2.so.AbCdEf/deeper/wide.o scratch.x/y/z 1c-avx2.so.description 1c-avx2.so.log 1c-avx2.so.sha256 new "
          "../outside/kept && ln -s ../../outside scratch.x/link && ln -s ../outside link.so && mkfifo fifo.so");
    ck_assert_uint_eq(object_cache_clean(directory), 9);
    shell("test \"$(ls -A | LC_ALL=C sort | tr '\n' ' ')\" = "
          "'1a-avx2.so 1a-avx2.so.sha256 1b-avx2.so 1b-avx2.so.sha256 '");
    shell("test -f ../outside/kept");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(object_cache_look(path[i]), OBJECT_WHOLE);
    }
    ck_assert_uint_eq(object_cache_clean(directory), 0);
}
END_TEST

/* Checks that the bound of object_cache_prune counts objects, digests of 71 bytes, and files in subdirectories. */
START_TEST(all_bytes_below_the_directory_count) {
    char path[2][PATH_MAX];
    write_object("sha256:2a", 1000, 20, path[0]);
    write_object("sha256:2b", 1000, 10, path[1]);
    shell("mkdir scratch.x && head -c 5000 /dev/zero > scratch.x/kernels.c");
    object_cache_prune(directory, 7200, "");
    ck_assert(access(path[0], F_OK) == 0 && access(path[1], F_OK) == 0);
    object_cache_prune(directory, 7100, "");
    ck_assert(access(path[0], F_OK) != 0 && access(path[1], F_OK) == 0);
    object_cache_prune(directory, 4999, ""); /* no object is left to remove */
    ck_assert_int_ne(access(path[1], F_OK), 0);
    shell("test -f scratch.x/kernels.c");
}
END_TEST

START_TEST(scratch_is_private_and_goes_with_all_that_is_in_it) {
    char scratch[2][PATH_MAX];
    struct stat status;
    for (int i = 0; i < 2; i++) {
        ck_assert(object_cache_create_scratch(directory, scratch[i]));
        ck_assert(stat(scratch[i], &status) == 0 && status.st_mode == (S_IFDIR | 0700));
    }
    ck_assert_str_ne(scratch[0], scratch[1]);
    shell("for d in scratch.*; do mkdir -p $d/a/b && touch "
          "$d/a/b/c $d/messages; done");
    object_cache_remove_scratch(scratch[0]);
    ck_assert(access(scratch[0], F_OK) != 0 && access(scratch[1], F_OK) == 0);
    object_cache_remove_scratch(scratch[1]);
    shell("test -z \"$(ls -A)\"");
    ck_assert(!object_cache_create_scratch("/no/such/directory", scratch[0]));
}
END_TEST

START_TEST(least_recently_used_entry_is_evicted_first) {
    char path[4][PATH_MAX];
    static const char *const digests[4] = {"sha256:00", "sha256:11", "sha256:22", "sha256:33"};
    for (int i = 0; i < 4; i++) {
        write_object(digests[i], 1000, 100 - 10 * i, path[i]);
    }
    ck_assert_int_eq(object_cache_look(path[0]), OBJECT_WHOLE); /* object 0 is now the last used */
    object_cache_prune(directory, 4000 + 4 * 71, path[3]);      /* four objects and their digests fit */
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(access(path[i], F_OK), 0);
    }
    object_cache_prune(directory, 2999, path[2]);
    ck_assert_int_ne(access(path[1], F_OK), 0);
    ck_assert_int_ne(access(path[3], F_OK), 0); /* object 2 is older, but the call excludes it */
    ck_assert_int_eq(access(path[0], F_OK), 0);
    object_cache_prune(directory, 0, path[2]);
    ck_assert_int_ne(access(path[0], F_OK), 0);
    ck_assert_int_eq(access(path[2], F_OK), 0);
}
END_TEST

START_TEST(a_directory_that_others_may_write_to_is_not_trusted) {
    char again[PATH_MAX], elsewhere[PATH_MAX + 16];
    ck_assert(object_cache_open(state, again, reason));
    ck_assert_int_eq(chmod(directory, 0770), 0);
    ck_assert(!object_cache_open(state, again, reason));
    ck_assert_ptr_nonnull(strstr(reason, "this user alone"));
    ck_assert_int_eq(chmod(directory, 0700), 0);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", state);
    ck_assert_int_eq(rename(directory, elsewhere), 0);
    ck_assert_int_eq(symlink(elsewhere, directory), 0);
    ck_assert(!object_cache_open(state, again, reason));
    ck_assert(!object_cache_open("", again, reason));
    ck_assert(!object_cache_open("/no/such/directory", again, reason));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("object_cache");
    tcase_add_checked_fixture(tests, create_state, remove_state);
    tcase_add_test(tests, an_object_is_whole_until_it_changes);
    tcase_add_test(tests, file_without_a_digest_is_damaged);
    tcase_add_test(tests, a_new_object_that_is_too_large_is_not_accepted);
    tcase_add_test(tests, a_file_that_others_may_write_to_is_damaged);
    tcase_add_test(tests, fifo_counts_as_damaged_and_does_not_block);
    tcase_add_test(tests, cleaning_leaves_objects_alone);
    tcase_add_test(tests, all_bytes_below_the_directory_count);
    tcase_add_test(tests, scratch_is_private_and_goes_with_all_that_is_in_it);
    tcase_add_test(tests, least_recently_used_entry_is_evicted_first);
    tcase_add_test(tests, a_directory_that_others_may_write_to_is_not_trusted);
    return run_tests(tests);
}
