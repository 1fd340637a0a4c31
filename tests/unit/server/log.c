/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the daemon's log: any message becomes one printable line.
 */
#include "observe/log.h"

#include <string.h>
#include <unistd.h>

#include <dynamics/text.h>

#include "unit/server/support.h"

static const char HOSTILE[] = "model \"a\x1b]0;x\a\n<3>forged\xc2\x9b\x9b\xe2\x80\xae\xe2\x80\xa8\\\"";

/* Logs the message HOSTILE in a format, and copies the line that the log writes to standard error. */
static void capture(log_format format, char line[4096]) {
    int ends[2], error = dup(STDERR_FILENO);
    logger log;
    ck_assert_int_eq(pipe(ends), 0);
    log_configure(&log, LOG_LEVEL_DEBUG, format);
    dup2(ends[1], STDERR_FILENO);
    log_warning(&log, "%s", HOSTILE);
    dup2(error, STDERR_FILENO);
    ssize_t length = read(ends[0], line, 4095);
    ck_assert_int_gt((int)length, 0);
    line[length] = '\0';
    close(ends[0]), close(ends[1]), close(error);
}

START_TEST(a_line_is_one_printable_line_in_every_format) {
    static const log_format formats[] = {LOG_FORMAT_PLAIN, LOG_FORMAT_JOURNAL, LOG_FORMAT_JSON};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char line[4096];
        capture(formats[i], line);
        size_t length = strlen(line);
        ck_assert_int_eq(line[length - 1], '\n');
        line[length - 1] = '\0';
        ck_assert(dyn_text_is_printable(line));
        ck_assert_ptr_nonnull(strstr(line, "x1b]0;x"));
        ck_assert_ptr_nonnull(strstr(line, "u009b"));
        ck_assert_ptr_nonnull(strstr(line, "x9b"));
        ck_assert_ptr_nonnull(strstr(line, "u202e"));
    }
}
END_TEST

START_TEST(a_line_of_json_has_escaped_quotes_and_backslashes) {
    char line[4096];
    capture(LOG_FORMAT_JSON, line);
    ck_assert_ptr_nonnull(strstr(line, "\"message\": \"model \\\"a\\\\x1b]0;x\\\\x07\\\\x0a<3>forged\\\\u009b\\\\x9b"
                                       "\\\\u202e\\\\u2028\\\\\\\"\"}"));
}
END_TEST

/* Logs fields in a format, and copies the line without its time and level. */
static void capture_fields(log_format format, const log_field *fields, char line[4096]) {
    int ends[2], error = dup(STDERR_FILENO);
    logger log;
    char text[4096];
    ck_assert_int_eq(pipe(ends), 0);
    log_configure(&log, LOG_LEVEL_INFO, format);
    dup2(ends[1], STDERR_FILENO);
    log_fields(&log, LOG_LEVEL_DEBUG, "left out", fields);
    log_fields(&log, LOG_LEVEL_INFO, "audit", fields);
    dup2(error, STDERR_FILENO);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    ck_assert_int_gt((int)length, 0);
    text[length] = '\0';
    const char *start = strstr(text, format == LOG_FORMAT_JSON ? "\"message\"" : "audit");
    ck_assert_ptr_nonnull(start);
    strcpy(line, start);
    close(ends[0]), close(ends[1]), close(error);
}

START_TEST(fields_are_quoted_where_they_would_be_ambiguous) {
    static const log_field fields[] = {
        {"object", "arm_1"}, {"peer", "uid 1 pid 2"}, {"empty", ""}, {"other", "a=\"b\\\n"}, {NULL, NULL}};
    char line[4096];
    capture_fields(LOG_FORMAT_PLAIN, fields, line);
    ck_assert_str_eq(line, "audit object=arm_1 peer=\"uid 1 pid 2\" empty=\"\" other=\"a=\\\"b\\\\\\x0a\"\n");
    capture_fields(LOG_FORMAT_JSON, fields, line);
    ck_assert_str_eq(line, "\"message\": \"audit\", \"object\": \"arm_1\", \"peer\": \"uid 1 pid 2\", \"empty\": \"\", "
                           "\"other\": \"a=\\\"b\\\\\\\\x0a\"}\n");
}
END_TEST

START_TEST(fields_beyond_a_line_are_cut_or_left_out) {
    static char longest[8000];
    memset(longest, '"', sizeof longest - 1);
    const log_field fields[] = {{"a", longest}, {"b", longest}, {"c", longest}, {"d", longest}, {NULL, NULL}};
    char line[4096];
    capture_fields(LOG_FORMAT_PLAIN, fields, line);
    ck_assert_int_eq(line[strlen(line) - 1], '\n');
    capture_fields(LOG_FORMAT_JSON, fields, line);
    ck_assert_ptr_nonnull(strstr(line, "\"a\": \"\\\""));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("log");
    tcase_add_test(tests, a_line_is_one_printable_line_in_every_format);
    tcase_add_test(tests, a_line_of_json_has_escaped_quotes_and_backslashes);
    tcase_add_test(tests, fields_are_quoted_where_they_would_be_ambiguous);
    tcase_add_test(tests, fields_beyond_a_line_are_cut_or_left_out);
    return run_tests(tests);
}
