/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests regular_file, which opens files by name and refuses what is not a regular file without waiting.
 */
#include "files/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "unit/server/support.h"

static char directory[64], path[96];

static void make_directory(void) {
    snprintf(directory, sizeof directory, "/tmp/dynamicsd-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/file", directory);
}

static void remove_directory(void) {
    unlink(path);
    rmdir(path);
    rmdir(directory);
}

static void write_file(const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void check_refused(int flags, int number, const char *words) {
    size_t length;
    ck_assert_int_eq(regular_file_open(path, flags), -1);
    ck_assert_int_eq(errno, number);
    ck_assert_ptr_null(regular_file_stream(path, flags));
    ck_assert_ptr_null(regular_file_read(path, flags, 100, &length));
    ck_assert_int_eq(errno, number);
    ck_assert_msg(strstr(regular_file_error(errno), words) != NULL, "%s", regular_file_error(errno));
}

START_TEST(path_of_no_regular_file_is_refused_without_waiting) {
    check_refused(0, ENOENT, "No such file");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    check_refused(0, ENOTSUP, "no regular file");
    unlink(path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    check_refused(0, EISDIR, "Is a directory");
    rmdir(path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    check_refused(0, ENXIO, "no regular file");
    close(listening);
    unlink(path);
    ck_assert_int_eq(symlink("/dev/zero", path), 0);
    check_refused(0, ENOTSUP, "no regular file");
    check_refused(O_NOFOLLOW, ELOOP, "symbolic link");
}
END_TEST

START_TEST(regular_file_is_read_up_to_the_limit) {
    size_t length;
    write_file("twelve bytes");
    char *text = regular_file_read(path, O_NOFOLLOW, 12, &length);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(length, 12);
    ck_assert_mem_eq(text, "twelve bytes", 12);
    free(text);
    ck_assert_ptr_null(regular_file_read(path, 0, 11, &length));
    ck_assert_int_eq(errno, EFBIG);
    write_file("");
    text = regular_file_read(path, 0, 0, &length);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(length, 0);
    free(text);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("regular_file");
    TCase *tests = tcase_create("regular_file");
    tcase_add_checked_fixture(tests, make_directory, remove_directory);
    tcase_add_test(tests, path_of_no_regular_file_is_refused_without_waiting);
    tcase_add_test(tests, regular_file_is_read_up_to_the_limit);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
