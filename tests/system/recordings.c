/*
 * Recordings as files of the daemon: damaged ones, other things in their place, the disk that they take, and how they
 * are listed, fetched and deleted.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dynamics_client.h"
#include "system/daemon_fixture.h"

enum { PATH_SIZE = 160, FILE_SIZE = 1 << 16 };

static daemon_fixture fixture;
static dyn_client *client;
static dyn_client_error error;

static void start_with(const char *configuration) {
    daemon_options options = {.configuration = configuration};
    daemon_start(&options, &fixture);
    ck_assert(dyn_client_connect(fixture.request_ipc, NULL, &error, &client) == DYN_CLIENT_OK);
}

static void start(void) {
    start_with(NULL);
}

static void stop(void) {
    dyn_client_close(client);
    daemon_stop(&fixture);
}

static void ok(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s %s: %s", dyn_client_status_name(status), error.field, error.message);
}

static void refused(dyn_client_status status, dyn_client_status wanted, const char *field, const char *word) {
    ck_assert_msg(status == wanted, "%s, not %s: %s: %s", dyn_client_status_name(status),
                  dyn_client_status_name(wanted), error.field, error.message);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, word) != NULL, "\"%s\" does not contain \"%s\"", error.message, word);
}

static uint64_t create(const char *name) {
    const dyn_client_simulation_options options = {.name = name, .model = "two_link"};
    dyn_client_simulation *created;
    uint64_t token;
    ok(dyn_client_create_simulation(client, &options, 0, &error, &token, &created));
    dyn_client_simulation_free(created);
    return token;
}

static void path_of(const char *name, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/state/%s", fixture.directory, name);
}

/* Records so many steps of a new simulation, which is deleted in the end. */
static void record_steps(const char *recording, uint64_t steps) {
    uint64_t token = create("arm");
    ok(dyn_client_record_simulation(client, "arm", token, recording, 0, &error));
    ok(dyn_client_step_simulation(client, "arm", token, steps, NULL, 0, &error, NULL));
    ok(dyn_client_record_simulation(client, "arm", token, NULL, 0, &error));
    ok(dyn_client_delete_simulation(client, "arm", token, 0, &error));
}

/* ---- damaged files ----------------------------------------------------------------------------------------------- */

/* Copies the header of a recording to another one, and puts `count` times these bytes behind it. */
static void write_crafted(const char *from, const char *to, size_t count, const uint8_t *bytes, size_t size) {
    char path[PATH_SIZE];
    uint8_t header[FILE_SIZE];
    path_of(from, path);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t length = 0, shift = 0, used = 0;
    do {
        int byte = fgetc(file);
        ck_assert_int_ne(byte, EOF);
        header[used++] = (uint8_t)byte;
        length |= (size_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (header[used - 1] & 0x80);
    ck_assert_uint_lt(used + length, sizeof header);
    ck_assert_uint_eq(fread(header + used, 1, length, file), length);
    fclose(file);
    path_of(to, path);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(header, 1, used + length, file), used + length);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    }
    ck_assert_int_eq(fclose(file), 0);
}

/* A state without values takes three bytes of the file, and a whole row of the reply. */
START_TEST(recorded_states_without_values_are_refused) {
    const uint8_t empty_state[] = {2, 0x0a, 0};
    dyn_client_replay *replay;
    record_steps("run", 10);
    write_crafted("recordings/run.recording", "recordings/empty.recording", 20000, empty_state, sizeof empty_state);
    for (int i = 0; i < 3; i++) {
        refused(dyn_client_replay_simulation(client, "empty", 0, 1, 1000000, 0, &error, &replay), DYN_CLIENT_DATA_LOSS,
                "replay_simulation.recording", "entry 1 q has 0 values, not 2");
    }
    ok(dyn_client_replay_simulation(client, "run", 0, 1, 1000000, 0, &error, &replay));
    ck_assert_uint_eq(replay->count, 10);
    dyn_client_replay_free(replay);
}
END_TEST

/* ---- what is no file --------------------------------------------------------------------------------------------- */

/* A model can be loaded, which takes a worker. */
static void check_workers(void) {
    static const char urdf[] = "<robot name='rod'><link name='base'/><link name='rod'><inertial><mass value='1'/>"
                               "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                               "<joint name='pivot' type='continuous'><parent link='base'/><child link='rod'/>"
                               "<axis xyz='1 0 0'/></joint></robot>";
    const dyn_client_load_request request = {.name = "rod", .urdf = urdf, .replace = true};
    dyn_client_loaded_model *loaded;
    ok(dyn_client_load_model(client, &request, 5, &error, &loaded));
    dyn_client_loaded_model_free(loaded);
}

static void wait_for_log(const char *word) {
    for (int i = 0; i < 500; i++) {
        char *log = daemon_log(&fixture);
        bool is_there = strstr(log, word) != NULL;
        free(log);
        if (is_there) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    ck_abort_msg("the log does not say \"%s\"", word);
}

START_TEST(fifo_in_the_place_of_a_recording_is_refused_and_blocks_nobody) {
    char path[PATH_SIZE];
    dyn_client_replay *replay;
    record_steps("run", 1);
    path_of("recordings/pipe.recording", path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    /* As many as there may be workers. */
    for (int i = 0; i < 16; i++) {
        refused(dyn_client_replay_simulation(client, "pipe", 0, 1, 1, 2, &error, &replay),
                DYN_CLIENT_FAILED_PRECONDITION, "replay_simulation.recording", "no regular file");
    }
    check_workers();
}
END_TEST

START_TEST(directory_and_link_in_the_place_of_a_recording_are_refused) {
    char path[PATH_SIZE];
    dyn_client_replay *replay;
    record_steps("run", 1);
    path_of("recordings/folder.recording", path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    refused(dyn_client_replay_simulation(client, "folder", 0, 1, 1, 2, &error, &replay), DYN_CLIENT_FAILED_PRECONDITION,
            "replay_simulation.recording", "Is a directory");
    ck_assert_int_eq(rmdir(path), 0);
    path_of("recordings/link.recording", path);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    refused(dyn_client_replay_simulation(client, "link", 0, 1, 1, 2, &error, &replay), DYN_CLIENT_FAILED_PRECONDITION,
            "replay_simulation.recording", "symbolic link");
}
END_TEST

START_TEST(fifo_in_the_place_of_the_configuration_leaves_the_old_one_in_force) {
    ck_assert_int_eq(unlink(fixture.configuration_file), 0);
    ck_assert_int_eq(mkfifo(fixture.configuration_file, 0600), 0);
    daemon_signal(&fixture, SIGHUP);
    wait_for_log("no regular file");
    check_workers();
}
END_TEST

START_TEST(fifo_in_the_place_of_a_robot_is_told_in_the_log) {
    char path[PATH_SIZE], sections[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/pipe.urdf", fixture.directory);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    snprintf(sections, sizeof sections, "[model pipe]\nfile = %s\n", path);
    daemon_configure(&fixture, sections);
    daemon_signal(&fixture, SIGHUP);
    wait_for_log("pipe.urdf: it is no regular file");
    check_workers();
}
END_TEST

START_TEST(recording_needs_a_name_to_be_replayed) {
    dyn_client_replay *replay;
    refused(dyn_client_replay_simulation(client, "", 0, 1, 1, 2, &error, &replay), DYN_CLIENT_INVALID_ARGUMENT,
            "replay_simulation.recording", "is no name");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("recordings");
    TCase *tests = tcase_create("files");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, recorded_states_without_values_are_refused);
    tcase_add_test(tests, fifo_in_the_place_of_a_recording_is_refused_and_blocks_nobody);
    tcase_add_test(tests, directory_and_link_in_the_place_of_a_recording_are_refused);
    tcase_add_test(tests, fifo_in_the_place_of_the_configuration_leaves_the_old_one_in_force);
    tcase_add_test(tests, fifo_in_the_place_of_a_robot_is_told_in_the_log);
    tcase_add_test(tests, recording_needs_a_name_to_be_replayed);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
