/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks versions of the files in the state directory: those of each earlier release are read, new ones state their
 * version, and those of a later format are left alone. tests/data/state has a directory for each release whose files
 * differ, which that release has written: two kept models, two simulations, the deletion of a third one, a recording.
 */
#include <check.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/v1/recording.pb-c.h"
#include "dynamics_client.h"
#include "system/daemon_fixture.h"
#include "system/runner.h"

enum { PATH_SIZE = 256, RECORD_HEADER_SIZE = 8, FILE_SIZE = 1 << 16 };

static daemon_fixture fixture;
static dyn_client *client;
static dyn_client_error error;

static void ok(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s %s: %s", dyn_client_status_name(status), error.field, error.message);
}

static void begin(void) {
    daemon_begin(&fixture);
    ok(dyn_client_connect(fixture.request_ipc, NULL, &client, &error));
}

static void end(int signal) {
    dyn_client_close(client);
    daemon_end(&fixture, signal);
}

/* Replaces the state directory by a copy of another one. */
static void put_state(const char *from) {
    char command[4 * PATH_SIZE];
    snprintf(command, sizeof command, "rm -rf %s/state && cp -r %s %s/state", fixture.directory, from,
             fixture.directory);
    ck_assert_int_eq(system(command), 0);
}

static void check_model(const char *name, double mass) {
    dyn_client_description *model;
    ok(dyn_client_describe_model(client, name, 0, &model, &error));
    ck_assert_msg(model->model.kept, "%s is not kept", name);
    ck_assert_double_eq_tol(model->model.mass, mass, 1e-4);
    dyn_client_description_free(model);
}

static void check_simulation(const char *name, uint64_t step) {
    dyn_client_simulation *found;
    ok(dyn_client_get_simulation(client, name, 0, 0, &found, &error));
    ck_assert_uint_eq(found->step, step);
    dyn_client_simulation_free(found);
}

/* Checks what each release has written. */
static void check_state(void) {
    dyn_client_simulation *gone;
    dyn_client_replay *replay;
    check_model("kept", 2);
    check_model("short", 17.0489);
    check_simulation("saved", 25);
    check_simulation("journalled", 0);
    ck_assert_int_eq(dyn_client_get_simulation(client, "gone", 0, 0, &gone, &error), DYN_CLIENT_NOT_FOUND);
    ok(dyn_client_replay_simulation(client, "run", NULL, NULL, &replay, &error));
    ck_assert_uint_eq(replay->steps, 25);
    ck_assert(!replay->is_truncated);
    dyn_client_replay_free(replay);
}

/* Starts a daemon, ends it, and puts the state in its directory. */
static void start_with_state(const char *from) {
    daemon_start(NULL, &fixture);
    ck_assert_int_eq(daemon_end(&fixture, SIGTERM), 0);
    put_state(from);
}

static void stop(void) {
    dyn_client_close(client);
    daemon_stop(&fixture);
}

START_TEST(state_of_each_earlier_release_is_read) {
    glob_t releases;
    ck_assert_int_eq(glob(DYNAMICS_TEST_DATA "/state/*", GLOB_ONLYDIR, NULL, &releases), 0);
    for (size_t i = 0; i < releases.gl_pathc; i++) {
        printf("%s\n", releases.gl_pathv[i]);
        start_with_state(releases.gl_pathv[i]);
        begin();
        check_state();
        end(SIGTERM);
        begin();
        check_state();
        end(SIGKILL);
        begin();
        check_state();
        stop();
    }
    globfree(&releases);
}
END_TEST

/* Finds the only file of a pattern in the state directory. */
static void find_file(const char *pattern, char path[PATH_SIZE]) {
    char whole[PATH_SIZE];
    glob_t found;
    snprintf(whole, sizeof whole, "%s/state/%s", fixture.directory, pattern);
    ck_assert_int_eq(glob(whole, 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    snprintf(path, PATH_SIZE, "%s", found.gl_pathv[0]);
    globfree(&found);
}

/* Reads the first record of a file. Returns its size. */
static size_t read_record(const char *path, uint8_t bytes[FILE_SIZE]) {
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, FILE_SIZE, file);
    fclose(file);
    ck_assert_uint_gt(size, RECORD_HEADER_SIZE);
    size_t length = (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
    ck_assert_uint_le(length, size - RECORD_HEADER_SIZE);
    return length;
}

START_TEST(new_files_state_the_format_and_the_daemon) {
    static uint8_t bytes[FILE_SIZE];
    char path[PATH_SIZE];
    start_with_state(DYNAMICS_TEST_DATA "/state/0.1.0");
    begin();
    end(SIGTERM);
    find_file("simulations.*.snapshot", path);
    size_t size = read_record(path, bytes);
    Dynamics__V1__StateRecord *record = dynamics__v1__state_record__unpack(NULL, size, bytes + RECORD_HEADER_SIZE);
    ck_assert_ptr_nonnull(record);
    ck_assert_int_eq(record->record_case, DYNAMICS__V1__STATE_RECORD__RECORD_VERSION);
    ck_assert_uint_eq(record->version->format, 1);
    ck_assert_str_eq(record->version->daemon, dyn_client_version());
    dynamics__v1__state_record__free_unpacked(record, NULL);
    begin();
    stop();
}
END_TEST

/* CRC-32 of IEEE 802.3, bit by bit. */
static uint32_t checksum(uint32_t crc, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
        }
    }
    return crc;
}

static void put_number(uint8_t to[4], uint32_t number) {
    for (int i = 0; i < 4; i++) {
        to[i] = (uint8_t)(number >> 8 * i);
    }
}

static void write_record(FILE *file, const uint8_t *bytes, size_t size) {
    uint8_t header[RECORD_HEADER_SIZE];
    put_number(header, (uint32_t)size);
    put_number(header + 4, ~checksum(checksum(~0U, header, 4), bytes, size));
    ck_assert_uint_eq(fwrite(header, 1, sizeof header, file), sizeof header);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
}

/* Writes a snapshot of a later format, with nothing else. */
static void write_later_snapshot(const char *path) {
    Dynamics__V1__StateRecord record = DYNAMICS__V1__STATE_RECORD__INIT;
    Dynamics__V1__StateVersion version = DYNAMICS__V1__STATE_VERSION__INIT;
    uint8_t bytes[64];
    char later[] = "9.8.7";
    version.format = 99;
    version.daemon = later;
    record.record_case = DYNAMICS__V1__STATE_RECORD__RECORD_VERSION;
    record.version = &version;
    size_t size = dynamics__v1__state_record__pack(&record, bytes);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    write_record(file, bytes, size);
    write_record(file, bytes, 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(state_of_a_later_format_is_left_alone_and_reported) {
    static uint8_t before[FILE_SIZE], after[FILE_SIZE];
    char path[PATH_SIZE];
    start_with_state(DYNAMICS_TEST_DATA "/state/0.1.0");
    find_file("simulations.*.snapshot", path);
    write_later_snapshot(path);
    size_t size = read_record(path, before);
    begin();
    char *log = daemon_log(&fixture);
    ck_assert_msg(strstr(log, "the file has format 99, and this daemon reads up to 1: dynamicsd 9.8.7 wrote it") !=
                      NULL,
                  "%s", log);
    free(log);
    end(SIGTERM);
    ck_assert_uint_eq(read_record(path, after), size);
    ck_assert_int_eq(memcmp(before, after, size + RECORD_HEADER_SIZE), 0);
    begin();
    stop();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("state files");
    TCase *tests = tcase_create("daemon");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, state_of_each_earlier_release_is_read);
    tcase_add_test(tests, new_files_state_the_format_and_the_daemon);
    tcase_add_test(tests, state_of_a_later_format_is_left_alone_and_reported);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
