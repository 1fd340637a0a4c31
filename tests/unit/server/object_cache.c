/*
 * Files of compiled algorithms: what is whole, what is damaged, who may write there, and which go first.
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

/* Writes an object of so many bytes that was last used `age` seconds ago. */
static void write_object(const char *digest, size_t bytes, long age, char path[PATH_MAX]) {
    ck_assert(object_cache_path(directory, digest, "avx2", path));
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < bytes; i++) {
        ck_assert_int_ne(fputc((int)(i % 251), file), EOF);
    }
    ck_assert_int_eq(fclose(file), 0);
    ck_assert(object_cache_seal(path, 1 << 20));
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(a_sealed_object_is_whole_until_it_changes) {
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

START_TEST(what_was_never_sealed_is_damaged) {
    char path[PATH_MAX], seal[PATH_MAX + 8];
    write_object("sha256:0b", 100, 0, path);
    snprintf(seal, sizeof seal, "%s.sha256", path);
    ck_assert_int_eq(truncate(seal, 0), 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
    ck_assert_int_eq(unlink(seal), 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
    ck_assert(!object_cache_seal(path, 99)); /* larger than allowed */
    ck_assert_int_eq(symlink("/etc/passwd", seal), 0);
    ck_assert_int_eq(object_cache_look(path), OBJECT_DAMAGED);
}
END_TEST

START_TEST(what_was_not_used_for_longest_goes_first) {
    char path[4][PATH_MAX];
    static const char *const digests[4] = {"sha256:00", "sha256:11", "sha256:22", "sha256:33"};
    for (int i = 0; i < 4; i++) {
        write_object(digests[i], 1000, 100 - 10 * i, path[i]);
    }
    ck_assert_int_eq(object_cache_look(path[0]), OBJECT_WHOLE); /* used: now it is the newest */
    object_cache_prune(directory, 4000, path[3]);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(access(path[i], F_OK), 0);
    }
    object_cache_prune(directory, 2999, path[2]);
    ck_assert_int_ne(access(path[1], F_OK), 0);
    ck_assert_int_ne(access(path[3], F_OK), 0); /* 2 is older, but it is kept */
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
    tcase_add_test(tests, a_sealed_object_is_whole_until_it_changes);
    tcase_add_test(tests, what_was_never_sealed_is_damaged);
    tcase_add_test(tests, what_was_not_used_for_longest_goes_first);
    tcase_add_test(tests, a_directory_that_others_may_write_to_is_not_trusted);
    return run_tests(tests);
}
