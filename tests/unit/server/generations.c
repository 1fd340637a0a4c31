/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests snapshots and journals: the records that a reader finds after a crash at any byte, a full disk, or damage.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/generations.h"
#include "files/record_file.h"
#include "unit/server/support.h"

enum { RECORDS = 12 };

static char directory[64];

static void make_directory(void) {
    snprintf(directory, sizeof directory, "/tmp/dynamicsd-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void) {
    DIR *opened = opendir(directory);
    for (struct dirent *entry = readdir(opened); entry; entry = readdir(opened)) {
        unlinkat(dirfd(opened), entry->d_name, 0);
    }
    closedir(opened);
    rmdir(directory);
}

/* Appends record number k, k bytes of the value k, to the journal. Returns the result of generations_append. */
static uint64_t append(generations *g, int k) {
    uint8_t bytes[256];
    memset(bytes, k, sizeof bytes);
    return generations_append(g, bytes, (size_t)k);
}

/* Starts a new journal and saves a snapshot of records 1 to `last`. Returns false if either fails. */
static bool save(generations *g, int last) {
    generations_writer w;
    char path[PATH_MAX];
    uint8_t bytes[256];
    if (!generations_rotate(g)) {
        return false;
    }
    generations_begin(g, &w);
    for (int k = 1; k <= last; k++) {
        memset(bytes, k, sizeof bytes);
        generations_add(&w, bytes, (size_t)k);
    }
    return generations_commit(g, &w, path);
}

typedef struct seen {
    int count, damaged;
} seen;

static void see_record(void *context, const uint8_t *bytes, size_t size) {
    seen *s = context;
    ck_assert_uint_eq(size, (size_t)++s->count);
    for (size_t i = 0; i < size; i++) {
        ck_assert_uint_eq(bytes[i], size);
    }
}

static void see_damage(void *context, const char *path, size_t at, size_t size) {
    seen *s = context;
    (void)path;
    ck_assert_uint_le(at, size);
    s->damaged++;
}

/* Reads all records and checks that they are number 1, 2 and so on. Returns the numbers of records and of damaged
 * files. */
static seen read_state(generations *g) {
    seen s = {0};
    const generations_visitor visitor = {see_record, see_damage, &s};
    ck_assert(generations_read(g, true, &visitor));
    return s;
}

static seen reopen(void) {
    generations g;
    generations_open(&g, directory);
    seen s = read_state(&g);
    generations_close(&g);
    return s;
}

static size_t count_files(void) {
    size_t count = 0;
    DIR *opened = opendir(directory);
    for (struct dirent *entry = readdir(opened); entry; entry = readdir(opened)) {
        count += entry->d_name[0] != '.';
    }
    closedir(opened);
    return count;
}

START_TEST(snapshot_and_journal_together_are_the_state) {
    generations g;
    generations_open(&g, directory);
    ck_assert_int_eq(read_state(&g).count, 0);
    ck_assert_uint_eq(append(&g, 1), 0); /* there is no journal yet */
    ck_assert(save(&g, 4));
    for (int k = 5; k <= RECORDS; k++) {
        ck_assert(generations_sync(&g, append(&g, k)));
    }
    generations_close(&g);
    ck_assert_int_eq(reopen().count, RECORDS);
    ck_assert_int_eq(reopen().damaged, 0);
    ck_assert_uint_eq(count_files(), 2);
    /* The next generation replaces both files. */
    generations_open(&g, directory);
    read_state(&g);
    ck_assert(save(&g, RECORDS));
    ck_assert_uint_eq(count_files(), 2);
    generations_close(&g);
    ck_assert_int_eq(reopen().count, RECORDS);
}
END_TEST

START_TEST(snapshot_that_is_not_written_leaves_the_old_one_and_both_journals) {
    const struct rlimit none = {.rlim_cur = 48, .rlim_max = RLIM_INFINITY};
    struct rlimit before;
    generations g;
    char problem[GENERATIONS_PROBLEM_SIZE];
    generations_open(&g, directory);
    ck_assert(save(&g, 4));
    ck_assert(generations_sync(&g, append(&g, 5)));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &none);
    bool is_saved = save(&g, 5);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert(!is_saved);
    ck_assert(generations_problem(&g, problem));
    ck_assert(generations_must_save(&g));
    ck_assert_uint_eq(count_files(), 3);
    /* Changes continue in the new journal. */
    ck_assert(generations_sync(&g, append(&g, 6)));
    ck_assert_int_eq(reopen().count, 6);
    ck_assert(save(&g, 6));
    ck_assert(!generations_problem(&g, problem));
    ck_assert_uint_eq(count_files(), 2);
    generations_close(&g);
    ck_assert_int_eq(reopen().count, 6);
}
END_TEST

START_TEST(journal_that_cannot_be_written_says_so_until_the_next_snapshot) {
    const struct rlimit none = {.rlim_cur = 24, .rlim_max = RLIM_INFINITY};
    struct rlimit before;
    generations g;
    char problem[GENERATIONS_PROBLEM_SIZE];
    generations_open(&g, directory);
    ck_assert(save(&g, 0));
    uint64_t first = append(&g, 1), second = append(&g, 2);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &none);
    bool is_synced = generations_sync(&g, first);
    uint64_t third = append(&g, 3), fourth = append(&g, 4);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert(is_synced);
    ck_assert_msg(third == 0 && fourth == 0, "records beyond the limit are acknowledged");
    ck_assert(generations_problem(&g, problem));
    ck_assert_ptr_nonnull(strstr(problem, "File too large"));
    ck_assert(generations_sync(&g, second));
    ck_assert(!generations_sync(&g, 0));
    /* The journal has the two records before the error, and no damage. */
    ck_assert_int_eq(reopen().damaged, 0);
    ck_assert_int_eq(reopen().count, 2);
    ck_assert_uint_eq(append(&g, 3), 0);
    ck_assert(save(&g, 2));
    ck_assert(generations_sync(&g, append(&g, 3)));
    ck_assert_int_eq(reopen().count, 3);
    generations_close(&g);
}
END_TEST

/* Writes the path of the file in the test's directory whose name contains `kind`. */
static void find_file(const char *kind, char path[128]) {
    DIR *opened = opendir(directory);
    for (struct dirent *entry = readdir(opened); entry; entry = readdir(opened)) {
        if (strstr(entry->d_name, kind)) {
            snprintf(path, 128, "%.40s/%.80s", directory, entry->d_name);
        }
    }
    closedir(opened);
}

START_TEST(journal_that_is_cut_or_changed_at_any_byte_gives_the_records_before) {
    generations g;
    char path[128];
    uint8_t bytes[1024];
    generations_open(&g, directory);
    ck_assert(save(&g, 2));
    for (int k = 3; k <= RECORDS; k++) {
        append(&g, k);
    }
    generations_close(&g);
    find_file(".journal", path);
    int file = open(path, O_RDWR);
    ssize_t size = read(file, bytes, sizeof bytes);
    ck_assert_int_gt(size, 0);
    for (ssize_t at = 0; at < size; at++) {
        uint8_t changed = (uint8_t)(bytes[at] ^ 0x20);
        int whole = 2;
        for (ssize_t end = RECORD_HEADER + 3; end <= at; end += RECORD_HEADER + whole + 1) {
            whole++;
        }
        ck_assert_int_eq(pwrite(file, &changed, 1, at), 1);
        ck_assert_int_eq(reopen().count, whole);
        ck_assert_int_eq(pwrite(file, bytes + at, 1, at), 1);
    }
    for (ssize_t at = size - 1; at >= 0; at--) {
        seen before = reopen();
        ck_assert_int_eq(ftruncate(file, at), 0);
        seen after = reopen();
        ck_assert_int_le(after.count, before.count);
        ck_assert_int_ge(after.count, before.count - 1);
    }
    ck_assert_int_eq(reopen().count, 2);
    /* Some file systems leave zeros after the last written byte. */
    ck_assert_int_eq(ftruncate(file, 4096), 0);
    ck_assert_int_eq(reopen().count, 2);
    ck_assert_int_eq(reopen().damaged, 1);
    close(file);
}
END_TEST

START_TEST(snapshot_without_its_end_is_replaced_by_the_one_before) {
    generations g;
    char path[128], copy[192];
    generations_open(&g, directory);
    ck_assert(save(&g, 3));
    generations_close(&g);
    find_file(".snapshot", path);
    /* Creates a newer copy of the snapshot, then a newer snapshot without an end in its place. */
    snprintf(copy, sizeof copy, "%s/simulations.9.snapshot", directory);
    ck_assert_int_eq(link(path, copy), 0);
    ck_assert_int_eq(reopen().damaged, 0);
    unlink(copy);
    int file = open(copy, O_WRONLY | O_CREAT, 0600);
    uint64_t end = 0;
    ck_assert(record_append(file, &end, "\1", 1));
    close(file);
    ck_assert_int_eq(reopen().count, 3);
    /* The damaged snapshot is read if there is no other one. */
    unlink(path);
    ck_assert_int_eq(reopen().count, 1);
    ck_assert_int_eq(reopen().damaged, 1);
}
END_TEST

START_TEST(other_files_are_neither_read_nor_waited_for) {
    static const char *const names[] = {"simulations.0.snapshot",  "simulations.x.journal",   "simulations.01.journal",
                                        "simulations.7.journal.x", "simulations.-1.snapshot", "other"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        ck_assert_int_eq(mkfifo(path, 0600), 0);
    }
    ck_assert_int_eq(reopen().count, 0);
    snprintf(path, sizeof path, "%s/simulations.3.snapshot", directory);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    generations g;
    seen s = {0};
    const generations_visitor visitor = {see_record, see_damage, &s};
    generations_open(&g, directory);
    ck_assert(!generations_read(&g, true, &visitor));
    generations_close(&g);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("generations");
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, make_directory, remove_directory);
    tcase_add_test(tcase, snapshot_and_journal_together_are_the_state);
    tcase_add_test(tcase, snapshot_that_is_not_written_leaves_the_old_one_and_both_journals);
    tcase_add_test(tcase, journal_that_cannot_be_written_says_so_until_the_next_snapshot);
    tcase_add_test(tcase, journal_that_is_cut_or_changed_at_any_byte_gives_the_records_before);
    tcase_add_test(tcase, snapshot_without_its_end_is_replaced_by_the_one_before);
    tcase_add_test(tcase, other_files_are_neither_read_nor_waited_for);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
