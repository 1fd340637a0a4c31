/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs dynamicsctl in a shell.
 */
#include "system/command_line.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

daemon_fixture served;

char *read_whole(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (!file || getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    if (file) {
        fclose(file);
    }
    return text;
}

const char *scratch(const char *name) {
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", served.directory, name);
    return path;
}

void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

outcome shell(const char *format, ...) {
    char line[2048], command[4096];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    snprintf(
        command, sizeof command,
        "ctl='%s --endpoint %s'\n"
        "shown() { for try in $(seq 1000); do $ctl $1 | grep -q -e \"$2\" && return; sleep 0.02; done; return 1; }\n"
        "lines() { for try in $(seq 1000); do [ $(wc -l <$1) -gt $2 ] && return; sleep 0.02; done; return 1; }\n"
        "{ %s\n} >%s 2>%s",
        DYNAMICSCTL_PROGRAM, served.request_ipc, line, scratch("stdout"), scratch("stderr"));
    int status = system(command);
    ck_assert_int_ne(status, -1);
    return (outcome){.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                     .output = read_whole(scratch("stdout")),
                     .error = read_whole(scratch("stderr"))};
}

void outcome_free(outcome *of) {
    free(of->output);
    free(of->error);
}

json_t *run_json(const char *line) {
    outcome run = shell("%s", line);
    ck_assert_msg(run.code == 0, "%s: code %d: %s", line, run.code, run.error);
    json_error_t error;
    json_t *value = json_loads(run.output, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(value != NULL, "%s: %s in %s", line, error.text, run.output);
    outcome_free(&run);
    return value;
}

double number_of(const json_t *array, size_t i) {
    return json_number_value(json_array_get(array, i));
}

void must_fail(const char *line, int code, const char *said) {
    outcome run = shell("%s", line);
    ck_assert_msg(run.code == code, "%s: code %d, not %d: %s", line, run.code, code, run.error);
    ck_assert_msg(strstr(run.error, said) != NULL, "%s says \"%s\", not \"%s\"", line, run.error, said);
    outcome_free(&run);
}

void must_say(const char *line, const char *said) {
    outcome run = shell("%s", line);
    ck_assert_msg(run.code == 0, "%s: code %d: %s", line, run.code, run.error);
    ck_assert_msg(strstr(run.output, said) != NULL, "%s says \"%s\", not \"%s\"", line, run.output, said);
    outcome_free(&run);
}

void command_line_start(void) {
    daemon_start(NULL, &served);
}

void command_line_stop(void) {
    daemon_stop(&served);
}
