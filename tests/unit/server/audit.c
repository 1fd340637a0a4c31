/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the audit: which actions are logged at once, which are counted, and that no count is lost.
 */
#include "observe/audit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/server/support.h"

enum { THREADS = 4, ACTIONS = 1000 };

static logger log_of_test;
static audit audited;
static int original;
static char path[] = "/tmp/dynamicsd-audit-XXXXXX";

/* Sends the log to a temporary file. */
static void begin(void) {
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    original = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    close(file);
    log_configure(&log_of_test, LOG_LEVEL_INFO, LOG_FORMAT_PLAIN);
    audit_init(&audited, &log_of_test);
}

/* Ends the audit, and returns the lines of the log, which the caller frees. */
static char *end(void) {
    char *text = NULL;
    size_t size = 0;
    audit_free(&audited);
    dup2(original, STDERR_FILENO);
    close(original);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(file);
    unlink(path);
    return text;
}

static size_t count_lines(const char *text) {
    size_t count = 0;
    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

static audit_action load(const char *object, const char *peer) {
    return (audit_action){.method = "load_model", .object = object, .peer = peer, .outcome = "loaded", .code = "OK"};
}

START_TEST(equal_actions_are_two_lines_with_their_number) {
    begin();
    for (int i = 0; i < 100; i++) {
        const audit_action action = load("arm", "uid 1 pid 2");
        audit_record(&audited, &action);
    }
    audit_sweep(&audited);
    char *text = end();
    ck_assert_uint_eq(count_lines(text), 2);
    ck_assert_ptr_nonnull(strstr(
        text, "info    audit method=load_model object=arm peer=\"uid 1 pid 2\" caller=\"\" outcome=loaded code=OK\n"));
    ck_assert_ptr_nonnull(strstr(text, "code=OK more=99\n"));
    free(text);
}
END_TEST

START_TEST(other_actions_are_lines_of_their_own) {
    begin();
    audit_action actions[] = {load("a", "p"), load("b", "p"), load("a", "q"),
                              load("", "ap"), load("a", "p"), load("a", "p")};
    actions[4].outcome = "replaced";
    actions[5].code = "PERMISSION_DENIED";
    actions[5].is_denied = true;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        audit_record(&audited, &actions[i]);
    }
    char *text = end();
    ck_assert_uint_eq(count_lines(text), 6);
    ck_assert_ptr_nonnull(strstr(text, "warning audit method=load_model object=a peer=p caller=\"\" outcome=loaded "
                                       "code=PERMISSION_DENIED\n"));
    free(text);
}
END_TEST

START_TEST(episodes_that_make_room_keep_their_counts) {
    begin();
    for (int i = 0; i < 3 * AUDIT_EPISODES; i++) {
        char object[16];
        snprintf(object, sizeof object, "arm%d", i);
        const audit_action action = load(object, "p");
        audit_record(&audited, &action);
        audit_record(&audited, &action);
    }
    char *text = end();
    ck_assert_uint_eq(count_lines(text), 2 * 3 * AUDIT_EPISODES);
    ck_assert_ptr_nonnull(strstr(text, "object=arm0 peer=p caller=\"\" outcome=loaded code=OK more=1\n"));
    free(text);
}
END_TEST

static void *record_many(void *argument) {
    for (int i = 0; i < ACTIONS; i++) {
        const audit_action action = load("arm", "p");
        audit_record(&audited, &action);
    }
    return argument;
}

START_TEST(threads_lose_no_action) {
    pthread_t threads[THREADS];
    char last[64];
    begin();
    for (size_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, record_many, NULL), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    char *text = end();
    snprintf(last, sizeof last, "more=%d\n", THREADS * ACTIONS - 1);
    ck_assert_ptr_nonnull(strstr(text, last));
    free(text);
}
END_TEST

START_TEST(a_quiet_log_has_only_denied_actions) {
    begin();
    log_configure(&log_of_test, LOG_LEVEL_WARNING, LOG_FORMAT_PLAIN);
    audit_action action = load("arm", "p");
    audit_record(&audited, &action);
    action.is_denied = true;
    audit_record(&audited, &action);
    char *text = end();
    ck_assert_uint_eq(count_lines(text), 1);
    free(text);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("audit");
    tcase_add_test(tests, equal_actions_are_two_lines_with_their_number);
    tcase_add_test(tests, other_actions_are_lines_of_their_own);
    tcase_add_test(tests, episodes_that_make_room_keep_their_counts);
    tcase_add_test(tests, threads_lose_no_action);
    tcase_add_test(tests, a_quiet_log_has_only_denied_actions);
    return run_tests(tests);
}
