/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks recordings as files of the daemon: damaged ones, other directory entries in their place, their use of the
 * disk, and how they are listed, fetched and deleted.
 */
#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "dynamics/v1/recording.pb-c.h"
#include "dynamics_client.h"
#include "system/daemon_fixture.h"
#include "system/runner.h"

enum { PATH_SIZE = 160, FILE_SIZE = 1 << 16 };

static daemon_fixture fixture;
static dyn_client *client;
static dyn_client_error error;

static void start_with(const char *configuration) {
    daemon_options options = {.configuration = configuration};
    daemon_start(&options, &fixture);
    ck_assert(dyn_client_connect(fixture.request_ipc, NULL, &client, &error) == DYN_CLIENT_OK);
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
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = name,
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"));
    dyn_client_simulation *created;
    uint64_t token;
    ok(dyn_client_create_simulation(client, &options, &token, &created, &error));
    dyn_client_simulation_free(created);
    return token;
}

static void path_of(const char *name, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/state/%s", fixture.directory, name);
}

/* Records steps of a new simulation, and deletes the simulation; the recording remains. */
static void record_steps(const char *recording, uint64_t steps) {
    uint64_t token = create("arm");
    ok(dyn_client_record_simulation(client, "arm", token, recording, 0, &error));
    ok(dyn_client_step_simulation(client, "arm", token, steps, NULL, 0, NULL, &error));
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    ok(dyn_client_delete_simulation(client, "arm", token, 0, NULL, &error));
}

/* ---- damaged files ----------------------------------------------------------------------------------------------- */

/* Copies the header of the recording `from` to a new file `to`, and appends `bytes` `count` times. */
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

/* Checks that recorded states without values are refused: each takes three bytes of the file, but a whole row of the
 * reply. */
START_TEST(recorded_states_without_values_are_refused) {
    const uint8_t empty_state[] = {2, 0x0a, 0};
    dyn_client_replay *replay;
    record_steps("run", 10);
    write_crafted("recordings/run.recording", "recordings/empty.recording", 20000, empty_state, sizeof empty_state);
    for (int i = 0; i < 3; i++) {
        refused(dyn_client_replay_simulation(client, "empty", &(dyn_client_rows){0, 1, 1000000}, NULL, &replay, &error),
                DYN_CLIENT_DATA_LOSS, "replay_simulation.recording", "entry 1 q has 0 values, not 2");
    }
    ok(dyn_client_replay_simulation(client, "run", &(dyn_client_rows){0, 1, 1000000}, NULL, &replay, &error));
    ck_assert_uint_eq(replay->count, 10);
    dyn_client_replay_free(replay);
}
END_TEST

/* Returns the header of the recording at this path; the caller frees it. */
static Dynamics__V1__RecordingHeader *read_header(const char *from) {
    char path[PATH_SIZE];
    uint8_t bytes[FILE_SIZE];
    path_of(from, path);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t count = fread(bytes, 1, sizeof bytes, file), size = 0, used = 0;
    fclose(file);
    do {
        ck_assert_uint_lt(used, count);
        size |= (size_t)(bytes[used] & 0x7f) << (7 * used);
    } while (bytes[used++] & 0x80);
    ck_assert_uint_le(used + size, count);
    Dynamics__V1__RecordingHeader *header = dynamics__v1__recording_header__unpack(NULL, size, bytes + used);
    ck_assert_ptr_nonnull(header);
    return header;
}

/* Appends a message to a file, preceded by its length as a varint. */
static void write_message(FILE *file, const ProtobufCMessage *message) {
    uint8_t bytes[FILE_SIZE];
    size_t size = protobuf_c_message_get_packed_size(message);
    ck_assert_uint_le(size, sizeof bytes);
    protobuf_c_message_pack(message, bytes);
    size_t left = size;
    for (; left > 0x7f; left >>= 7) {
        fputc((int)(left & 0x7f) | 0x80, file);
    }
    fputc((int)left, file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
}

/* Writes the recording "wrong" with this header and an input, and checks that its replay is refused. */
static void check_wrong(const Dynamics__V1__RecordingHeader *header, Dynamics__V1__SimulationInput *input,
                        dyn_client_status status, const char *word) {
    char path[PATH_SIZE];
    dyn_client_replay *replay;
    Dynamics__V1__RecordingEntry entry = DYNAMICS__V1__RECORDING_ENTRY__INIT;
    entry.entry_case = DYNAMICS__V1__RECORDING_ENTRY__ENTRY_INPUT;
    entry.input = input;
    path_of("recordings/wrong.recording", path);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    write_message(file, &header->base);
    write_message(file, &entry.base);
    ck_assert_int_eq(fclose(file), 0);
    refused(dyn_client_replay_simulation(client, "wrong", NULL, NULL, &replay, &error), status,
            "replay_simulation.recording", word);
}

/* Checks that wrong values in a recording are reported as errors of the recording, since the request does not contain
 * these fields. */
START_TEST(wrong_values_of_a_recording_are_reported_for_the_recording) {
    enum { FORCES = 65 };
    double one = 1;
    char link[] = "tip";
    Dynamics__V1__ExternalForce force = DYNAMICS__V1__EXTERNAL_FORCE__INIT, *forces[FORCES];
    Dynamics__V1__SimulationInput good = DYNAMICS__V1__SIMULATION_INPUT__INIT, input = good;
    force.link = link;
    force.reference_frame = DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD;
    for (int i = 0; i < FORCES; i++) {
        forces[i] = &force;
    }
    record_steps("run", 1);
    Dynamics__V1__RecordingHeader *header = read_header("recordings/run.recording");
    Dynamics__V1__CreateSimulationRequest *options = header->start->options;
    input.n_q_ref = 1, input.q_ref = &one;
    check_wrong(header, &input, DYN_CLIENT_INVALID_ARGUMENT, "in entry 1, input.q_ref: ");
    double lease = options->lease;
    options->lease = -1;
    check_wrong(header, &good, DYN_CLIENT_INVALID_ARGUMENT, "in the header, lease: ");
    options->lease = lease;
    options->query->n_external_forces = FORCES, options->query->external_forces = forces;
    check_wrong(header, &good, DYN_CLIENT_RESOURCE_EXHAUSTED, "in the header, query.external_forces: ");
    ck_assert_str_eq(error.limit_name, "simulation_forces");
    ck_assert_uint_eq(error.limit, FORCES - 1);
    options->query->n_external_forces = 0, options->query->external_forces = NULL;
    dynamics__v1__recording_header__free_unpacked(header, NULL);
}
END_TEST

/* ---- directory entries that are not files ------------------------------------------------------------------------ */

/* Checks that a worker is free, which loading a model needs. */
static void check_workers(void) {
    static const char urdf[] = "<robot name='rod'><link name='base'/><link name='rod'><inertial><mass value='1'/>"
                               "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                               "<joint name='pivot' type='continuous'><parent link='base'/><child link='rod'/>"
                               "<axis xyz='1 0 0'/></joint></robot>";
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.name = "rod", .urdf = urdf, .replace = true, .timeout = 5);
    dyn_client_loaded_model *loaded;
    ok(dyn_client_load_model(client, &request, &loaded, &error));
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

START_TEST(fifo_in_the_place_of_a_recording_is_refused_without_waiting) {
    char path[PATH_SIZE];
    dyn_client_replay *replay;
    record_steps("run", 1);
    path_of("recordings/pipe.recording", path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    /* The test repeats the request as often as there can be workers, so that none may be blocked. */
    for (int i = 0; i < 16; i++) {
        refused(dyn_client_replay_simulation(client, "pipe", &(dyn_client_rows){0, 1, 1},
                                             &(dyn_client_terms)DYN_CLIENT_TERMS_INIT(.timeout = 2), &replay, &error),
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
    refused(dyn_client_replay_simulation(client, "folder", &(dyn_client_rows){0, 1, 1},
                                         &(dyn_client_terms)DYN_CLIENT_TERMS_INIT(.timeout = 2), &replay, &error),
            DYN_CLIENT_FAILED_PRECONDITION, "replay_simulation.recording", "Is a directory");
    ck_assert_int_eq(rmdir(path), 0);
    path_of("recordings/link.recording", path);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    refused(dyn_client_replay_simulation(client, "link", &(dyn_client_rows){0, 1, 1},
                                         &(dyn_client_terms)DYN_CLIENT_TERMS_INIT(.timeout = 2), &replay, &error),
            DYN_CLIENT_FAILED_PRECONDITION, "replay_simulation.recording", "symbolic link");
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

START_TEST(fifo_in_the_place_of_a_robot_is_reported_in_the_log) {
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
    refused(dyn_client_replay_simulation(client, "", &(dyn_client_rows){0, 1, 1},
                                         &(dyn_client_terms)DYN_CLIENT_TERMS_INIT(.timeout = 2), &replay, &error),
            DYN_CLIENT_INVALID_ARGUMENT, "replay_simulation.recording", "is no name");
}
END_TEST

/* ---- the disk ---------------------------------------------------------------------------------------------------- */

/* Waits until the health of recordings has a message with this word, or, for "", no message. */
static void wait_for_health(const char *word) {
    char message[512] = "";
    for (int i = 0; i < 500; i++) {
        dyn_client_health *health;
        ok(dyn_client_get_health(client, "recordings", 0, &health, &error));
        ck_assert_uint_eq(health->component_count, 1);
        snprintf(message, sizeof message, "%s", health->components[0].message);
        ck_assert_int_eq(health->state,
                         message[0] == '\0' ? DYN_CLIENT_HEALTH_STATE_SERVING : DYN_CLIENT_HEALTH_STATE_DEGRADED);
        dyn_client_health_free(health);
        if (word[0] == '\0' ? message[0] == '\0' : !!strstr(message, word)) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    ck_abort_msg("the health says \"%s\", not \"%s\"", message, word);
}

/* Error that ends a recording by itself. */
typedef struct ending {
    const char *word; /* in the message */
    dyn_client_status status;
    const char *reason, *limit_name;
    uint64_t limit;
} ending;

/* Waits until the recording of "arm" has ended by itself, and checks that all later calls report the error. */
static void check_broken(uint64_t token, const ending *expected) {
    dyn_client_simulation *arm = NULL;
    for (int i = 0; i < 500 && (!arm || arm->recording[0] != '\0'); i++) {
        dyn_client_simulation_free(arm);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        ok(dyn_client_get_simulation(client, "arm", 0, 0, &arm, &error));
    }
    ck_assert_str_eq(arm->recording, "");
    ck_assert_msg(strstr(arm->recording_error, expected->word) != NULL, "%s", arm->recording_error);
    dyn_client_simulation_free(arm);
    refused(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error), expected->status,
            "stop_recording.simulation", expected->word);
    ck_assert_str_eq(error.reason, expected->reason);
    ck_assert_str_eq(error.limit_name, expected->limit_name);
    ck_assert_uint_eq(error.limit, expected->limit);
}

/* Steps the simulation "arm" until its recording has far exceeded its space. */
static void step_far(uint64_t token) {
    ok(dyn_client_step_simulation(client, "arm", token, 20000, NULL, 0, NULL, &error));
}

static uint64_t bytes_of(const char *recording) {
    dyn_client_recording_list *list;
    uint64_t bytes = 0;
    ok(dyn_client_list_recordings(client, 0, &list, &error));
    for (size_t i = 0; i < list->count; i++) {
        bytes = strcmp(list->recordings[i].name, recording) == 0 ? list->recordings[i].bytes : bytes;
    }
    dyn_client_recording_list_free(list);
    return bytes;
}

static void check_count(size_t count) {
    dyn_client_recording_list *list;
    ok(dyn_client_list_recordings(client, 0, &list, &error));
    ck_assert_uint_eq(list->count, count);
    dyn_client_recording_list_free(list);
}

START_TEST(recordings_together_stay_within_their_quota) {
    start_with("[limits]\nrecordings_bytes = 200000\n");
    wait_for_health("");
    uint64_t token = create("arm");
    ok(dyn_client_record_simulation(client, "arm", token, "small", 0, &error));
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    for (int round = 0; round < 2; round++) {
        ok(dyn_client_record_simulation(client, "arm", token, "big", 0, &error));
        /* The test steps in parts, so that the disk stores some of the recording. */
        for (int i = 0; i < 10; i++) {
            ok(dyn_client_step_simulation(client, "arm", token, 100, NULL, 0, NULL, &error));
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        }
        step_far(token);
        check_broken(token, &(ending){"limits.recordings_bytes", DYN_CLIENT_RESOURCE_EXHAUSTED, "RECORDINGS_TOO_LARGE",
                                      "recordings_bytes", 200000});
        wait_for_health("limits.recordings_bytes");
        ck_assert_uint_gt(bytes_of("big"), 10000);
        ck_assert_uint_lt(bytes_of("big"), 200000);
        dyn_client_replay *replay;
        ok(dyn_client_replay_simulation(client, "big", NULL, NULL, &replay, &error));
        ck_assert_uint_ge(replay->steps, 50);
        ck_assert_uint_eq(replay->equal_steps, replay->steps);
        ck_assert(replay->is_truncated);
        dyn_client_replay_free(replay);
        ok(dyn_client_delete_recording(client, "big", 0, &error));
        wait_for_health("");
    }
    stop();
}
END_TEST

START_TEST(recording_is_refused_where_there_is_no_room_for_one_more) {
    start_with("[limits]\nrecordings_bytes = 9000\nrecordings = 3\n");
    uint64_t token = create("arm");
    for (int i = 0; i < 2; i++) {
        char name[8];
        snprintf(name, sizeof name, "run%d", i);
        ok(dyn_client_record_simulation(client, "arm", token, name, 0, &error));
        ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    }
    refused(dyn_client_record_simulation(client, "arm", token, "more", 0, &error), DYN_CLIENT_RESOURCE_EXHAUSTED,
            "record_simulation.recording", "the oldest is \"run0\"");
    ck_assert_msg(strstr(error.message, "limits.recordings_bytes") != NULL, "%s", error.message);
    check_count(2);
    wait_for_health("limits.recordings_bytes");
    daemon_configure(&fixture, "[limits]\nrecordings = 2\n");
    daemon_signal(&fixture, SIGHUP);
    wait_for_health("");
    refused(dyn_client_record_simulation(client, "arm", token, "more", 0, &error), DYN_CLIENT_RESOURCE_EXHAUSTED,
            "record_simulation.recording", "limits.recordings)");
    ok(dyn_client_delete_recording(client, "run0", 0, &error));
    ok(dyn_client_record_simulation(client, "arm", token, "more", 0, &error));
    check_count(2);
    stop();
}
END_TEST

START_TEST(recordings_leave_the_reserve_of_the_disk_free) {
    start_with("[limits]\ndisk_reserve_bytes = 1125899906842624\n");
    uint64_t token = create("arm");
    wait_for_health("limits.disk_reserve_bytes");
    refused(dyn_client_record_simulation(client, "arm", token, "run", 0, &error), DYN_CLIENT_RESOURCE_EXHAUSTED,
            "record_simulation.recording", "limits.disk_reserve_bytes");
    check_count(0);
    ok(dyn_client_save_simulations(client, 0, NULL, &error));
    daemon_configure(&fixture, "[limits]\ndisk_reserve_bytes = 0\n");
    daemon_signal(&fixture, SIGHUP);
    wait_for_health("");
    ok(dyn_client_record_simulation(client, "arm", token, "run", 0, &error));
    stop();
}
END_TEST

/* Mounts a small file system for recordings and starts a daemon. Returns false where this process may not mount. */
static bool mount_small_disk(void) {
    char path[PATH_SIZE];
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        return false;
    }
    start_with("[limits]\ndisk_reserve_bytes = 65536\n");
    path_of("recordings", path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    /* The daemon shares the mounts of this process, which no other process sees. */
    ck_assert_int_eq(mount("none", path, "tmpfs", 0, "size=512k"), 0);
    return true;
}

START_TEST(full_disk_is_reported_to_the_recorder_and_by_the_health) {
    char path[PATH_SIZE];
    struct statvfs disk;
    if (!mount_small_disk()) {
        fprintf(stderr, "skipped: no file system may be mounted here\n");
        return;
    }
    uint64_t token = create("arm");
    path_of("recordings", path);
    for (int round = 0; round < 2; round++) {
        ok(dyn_client_record_simulation(client, "arm", token, "run", 0, &error));
        for (int i = 0; i < 5; i++) {
            ok(dyn_client_step_simulation(client, "arm", token, 200, NULL, 0, NULL, &error));
            nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
        }
        step_far(token);
        check_broken(token, &(ending){"the disk is full", DYN_CLIENT_RESOURCE_EXHAUSTED, "DISK_FULL",
                                      "disk_reserve_bytes", 65536});
        wait_for_health("limits.disk_reserve_bytes");
        ck_assert_int_eq(statvfs(path, &disk), 0);
        ck_assert_uint_ge(disk.f_bavail * disk.f_frsize, 65536);
        ok(dyn_client_save_simulations(client, 0, NULL, &error));
        ok(dyn_client_delete_recording(client, "run", 0, &error));
        wait_for_health("");
    }
    stop();
    /* The directory could not be removed while the file system was mounted in it. */
    umount(path);
    rmdir(path);
}
END_TEST

START_TEST(failed_write_ends_the_recording_and_not_the_daemon) {
    const struct rlimit small = {.rlim_cur = 100000, .rlim_max = RLIM_INFINITY};
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    uint64_t token = create("arm");
    bool is_reported = false;
    ck_assert_int_eq(prlimit(fixture.process, RLIMIT_FSIZE, &small, NULL), 0);
    ok(dyn_client_watch_simulation(client, "arm", 0, &watch, &error));
    ok(dyn_client_record_simulation(client, "arm", token, "run", 0, &error));
    step_far(token);
    for (int i = 0; i < 1000 && !is_reported; i++) {
        is_reported = dyn_client_watch_next(watch, 1, &update, &error) == DYN_CLIENT_OK &&
                      strcmp(update.text, "recording_ended") == 0;
    }
    ck_assert(is_reported);
    ck_assert_msg(strstr(update.message, "File too large") != NULL, "%s", update.message);
    dyn_client_watch_close(watch);
    check_broken(token, &(ending){"File too large", DYN_CLIENT_FAILED_PRECONDITION, "FILE_FAILED", "", 0});
    wait_for_health("File too large");
    /* A recording that can be written ends the degraded health. */
    ok(dyn_client_record_simulation(client, "arm", token, "short", 0, &error));
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    wait_for_health("");
}
END_TEST

START_TEST(recording_ends_at_the_limit_of_one) {
    start_with("[limits]\nrecording_bytes = 20000\n");
    uint64_t token = create("arm");
    ok(dyn_client_record_simulation(client, "arm", token, "run", 0, &error));
    step_far(token);
    check_broken(token, &(ending){"limits.recording_bytes", DYN_CLIENT_RESOURCE_EXHAUSTED, "RECORDINGS_TOO_LARGE",
                                  "recording_bytes", 20000});
    stop();
}
END_TEST

START_TEST(planner_is_notified_that_its_points_are_no_longer_recorded) {
    start_with("[limits]\nrecording_bytes = 20000\n");
    const dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "log", .kind = DYN_CLIENT_STREAM_KIND_RECORD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"),
                                       .recording = "points");
    const double q[2] = {0.1, 0.2};
    dyn_client_stream *stream;
    dyn_client_stream_list *status = NULL;
    ok(dyn_client_open_stream(client, &options, &stream, &error));
    for (int i = 0; i < 2000 && (!status || status->streams[0].recording_error[0] == '\0'); i++) {
        double t = 0.001 * i;
        ok(dyn_client_push_points(stream, 1, &t, q, NULL, NULL, NULL, 0, &error));
        if (i > 500) {
            dyn_client_stream_list_free(status);
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
            ok(dyn_client_get_stream(client, "log", 0, &status, &error));
        }
    }
    const dyn_client_stream_info *reported = &status->streams[0];
    ck_assert_msg(strstr(reported->recording_error, "limits.recording_bytes") != NULL, "%s", reported->recording_error);
    ck_assert_str_eq(reported->recording, "");
    dyn_client_stream_list_free(status);
    double t = 100;
    ok(dyn_client_push_points(stream, 1, &t, q, NULL, NULL, NULL, 0, &error));
    ok(dyn_client_close_stream(client, stream, 0, &status, &error));
    ck_assert_msg(strstr(status->streams[0].recording_error, "limits.recording_bytes") != NULL, "%s",
                  status->streams[0].recording_error);
    dyn_client_stream_list_free(status);
    stop();
}
END_TEST

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Fetches a recording in parts of `part_bytes`; returns its size. */
static size_t fetch(const char *name, uint64_t part_bytes, uint8_t *bytes) {
    dyn_client_recording_part *part;
    size_t used = 0;
    bool is_last = false;
    while (!is_last) {
        ok(dyn_client_fetch_recording(client, name, used, part_bytes, 0, &part, &error));
        ck_assert_uint_le(used + part->count, FILE_SIZE);
        memcpy(bytes + used, part->bytes, part->count);
        used += part->count;
        is_last = used == part->size;
        ck_assert(is_last || part->count == part_bytes);
        dyn_client_recording_part_free(part);
    }
    return used;
}

START_TEST(fetched_recording_is_the_file) {
    char path[PATH_SIZE];
    uint8_t whole[FILE_SIZE], parts[FILE_SIZE], at_once[FILE_SIZE];
    record_steps("run", 100);
    path_of("recordings/run.recording", path);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(whole, 1, sizeof whole, file);
    fclose(file);
    ck_assert_uint_eq(size, bytes_of("run"));
    ck_assert_uint_eq(fetch("run", 1000, parts), size);
    ck_assert_uint_eq(fetch("run", 0, at_once), size);
    ck_assert_mem_eq(parts, whole, size);
    ck_assert_mem_eq(at_once, whole, size);
    dyn_client_recording_part *part;
    refused(dyn_client_fetch_recording(client, "run", size + 1, 0, 0, &part, &error), DYN_CLIENT_OUT_OF_RANGE,
            "fetch_recording.offset", "the recording has");
    refused(dyn_client_fetch_recording(client, "run", 0, UINT64_MAX, 0, &part, &error), DYN_CLIENT_RESOURCE_EXHAUSTED,
            "fetch_recording.bytes", "limits.reply_bytes");
    refused(dyn_client_fetch_recording(client, "none", 0, 0, 0, &part, &error), DYN_CLIENT_NOT_FOUND,
            "fetch_recording.recording", "ListRecordings");
    refused(dyn_client_fetch_recording(client, "../run", 0, 0, 0, &part, &error), DYN_CLIENT_INVALID_ARGUMENT,
            "fetch_recording.recording", "is no name");
}
END_TEST

START_TEST(recording_under_way_is_listed_and_cannot_be_deleted) {
    dyn_client_recording_list *list;
    record_steps("done", 1);
    uint64_t token = create("arm");
    ok(dyn_client_record_simulation(client, "arm", token, "run", 0, &error));
    ok(dyn_client_list_recordings(client, 0, &list, &error));
    ck_assert_uint_eq(list->count, 2);
    ck_assert_str_eq(list->recordings[0].name, "done");
    ck_assert_str_eq(list->recordings[1].name, "run");
    ck_assert(!list->recordings[0].is_under_way && list->recordings[1].is_under_way);
    ck_assert_uint_ge(list->bytes, list->recordings[0].bytes + list->recordings[1].bytes);
    dyn_client_recording_list_free(list);
    refused(dyn_client_delete_recording(client, "run", 0, &error), DYN_CLIENT_FAILED_PRECONDITION,
            "delete_recording.recording", "under way");
    refused(dyn_client_delete_recording(client, "none", 0, &error), DYN_CLIENT_NOT_FOUND, "delete_recording.recording",
            "ListRecordings");
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    ok(dyn_client_delete_recording(client, "run", 0, &error));
    ok(dyn_client_delete_recording(client, "done", 0, &error));
    check_count(0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("recordings");
    TCase *tests = tcase_create("files"), *alone = tcase_create("own configuration");
    tcase_set_timeout(alone, 120);
    tcase_add_checked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, recorded_states_without_values_are_refused);
    tcase_add_test(tests, wrong_values_of_a_recording_are_reported_for_the_recording);
    tcase_add_test(tests, fifo_in_the_place_of_a_recording_is_refused_without_waiting);
    tcase_add_test(tests, directory_and_link_in_the_place_of_a_recording_are_refused);
    tcase_add_test(tests, fifo_in_the_place_of_the_configuration_leaves_the_old_one_in_force);
    tcase_add_test(tests, fifo_in_the_place_of_a_robot_is_reported_in_the_log);
    tcase_add_test(tests, recording_needs_a_name_to_be_replayed);
    tcase_add_test(tests, fetched_recording_is_the_file);
    tcase_add_test(tests, recording_under_way_is_listed_and_cannot_be_deleted);
    tcase_add_test(tests, failed_write_ends_the_recording_and_not_the_daemon);
    tcase_add_test(alone, recordings_together_stay_within_their_quota);
    tcase_add_test(alone, recording_is_refused_where_there_is_no_room_for_one_more);
    tcase_add_test(alone, recordings_leave_the_reserve_of_the_disk_free);
    tcase_add_test(alone, full_disk_is_reported_to_the_recorder_and_by_the_health);
    tcase_add_test(alone, recording_ends_at_the_limit_of_one);
    tcase_add_test(alone, planner_is_notified_that_its_points_are_no_longer_recorded);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, alone);
    return run_suite(suite);
}
