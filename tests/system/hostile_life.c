/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks errors at start, reload and stop of the daemon: wrong configurations, files that describe no robot, and a stop
 * while requests are under way.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/sp_request.h"
#include "system/sp_wire.h"
#include "system/runner.h"

#define CODE(name) DYNAMICS__V1__CODE__CODE_##name

static char *text(const char *words) {
    return (char *)(uintptr_t)words;
}

/* ---- configuration ----------------------------------------------------------------------------------------------- */

static const struct {
    const char *lines;
    const char *place, *words; /* after the file's name */
} configurations[] = {
    {"[limits]\nsampels = 5\n", ":2: ", "unknown key \"sampels\" in [limits]; did you mean \"samples\"?"},
    {"[limist]\nsamples = 5\n", ":1: ", "unknown section [limist]; did you mean [limits]?"},
    {"samples = 5\n", ":1: ", "stands before the first section; write [limits] above it"},
    {"[server]\nsamples = 5\n", ":2: ", "the key \"samples\" belongs to the section [limits]"},
    {"[limits]\nsamples\n", ":2: ", "write \"[section]\", \"key = value\" or a comment"},
    {"[limits\nsamples = 5\n", ":1: ", "write \"[section]\""},
    {"[limits]\nsamples = 5\nsamples = 6\n", ":3: ", "\"samples\" was set already in line 2"},
    {"[limits]\nsamples = many\n", ":2: ", "samples = many"},
    {"[limits]\nsamples = 0\n", ":2: ", "samples = 0"},
    {"[limits]\nsamples = -1\n", ":2: ", "samples = -1"},
    {"[limits]\nsamples = 99999999999999999999\n", ":2: ", "samples = 99999999999999999999"},
    {"[limits]\nmessage_bytes = 1\n", ":2: ", "message_bytes = 1"},
    {"[limits]\nrequest_time = nan\n", ":2: ", "request_time = nan"},
    {"[limits]\nidle_time = 5 minutes\n", ":2: ", "idle_time = 5 minutes"},
    {"[endpoints]\nrequest = http://robot\n", ":2: ", "http://robot"},
    {"[endpoints]\nrequest = tcp://127.0.0.1:99999\n", ":2: ", "99999"},
    {"[endpoints]\nrequest = ipc://relative\n", ":2: ", "relative"},
    {"[endpoints]\nrequest =\n", ":2: ", "names no endpoint"},
    {"[endpoints]\nipc_mode = 999\n", ":2: ", "ipc_mode = 999"},
    {"[endpoints]\nrequest = ipc:///run/a\nevents = ipc:///run/a\n", ":3: ", "is named for requests and for events"},
    {"[models]\ndirectory = robots\n", ":2: ", "set an absolute path"},
    {"[model ur5]\nbase = floatnig\n", ":2: ", "base = floatnig"},
    {"[model ur5]\ngravity = 0 0\n", ":2: ", "gravity = 0 0"},
    {"[model ur5]\nmass = 3\n", ":2: ", "unknown key \"mass\" in [model ur5]"},
    {"[log]\nlevel = loud\n", ":2: ", "level = loud"},
    {"[log]\nformat = xml\n", ":2: ", "format = xml"},
};

/* Runs dynamicsd with an option and a configuration file. Returns its exit code, or 128 and the signal's number;
 * `output` receives standard output and error. */
static int run_daemon(const char *option, const char *file, char *output, size_t size) {
    int ends[2], status;
    size_t used = 0;
    ssize_t count;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t process = fork();
    ck_assert_int_ge(process, 0);
    if (process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl(DYNAMICSD_PROGRAM, "dynamicsd", option, "--config", file, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (used + 1 < size && (count = read(ends[0], output + used, size - used - 1)) > 0) {
        used += (size_t)count;
    }
    output[used] = '\0';
    close(ends[0]);
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void check_configuration(const void *bytes, size_t size, int code, const char *place, const char *words) {
    char path[] = "/tmp/dynamicsd-test-XXXXXX", output[4096], start[64];
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, bytes, size), (ssize_t)size);
    close(file);
    int result = run_daemon("--check-config", path, output, sizeof output);
    unlink(path);
    snprintf(start, sizeof start, "%s%s", path, place);
    ck_assert_msg(result == code, "exit code %d: %s", result, output);
    ck_assert_msg(strstr(output, start) != NULL, "\"%s\" lacks the place \"%s\"", output, start);
    ck_assert_msg(strstr(output, words) != NULL, "\"%s\" lacks \"%s\"", output, words);
}

START_TEST(wrong_configuration_is_refused_with_its_line) {
    const char *lines = configurations[_i].lines;
    check_configuration(lines, strlen(lines), 2, configurations[_i].place, configurations[_i].words);
}
END_TEST

START_TEST(right_configuration_is_accepted) {
    static const char lines[] =
        "[models]\ndirectory = " DYNAMICS_ROBOTS_DIR "\n[limits]\nsamples = 5\n[model ur5]\nbase = floating\n";
    check_configuration(lines, strlen(lines), 0, ": ", "the configuration is right");
}
END_TEST

/* Configurations with which the daemon starts, but with a warning. */
static const struct {
    const char *lines, *words;
} suspicious[] = {
    {"[models]\ndirectory = /nonexistent\n", "cannot read the model directory /nonexistent: No such file"},
    {"[models]\ndirectory = " DYNAMICS_ROBOTS_DIR "\n[model arm]\nfile = /nonexistent.urdf\n",
     "model arm: there is no file /nonexistent.urdf"},
    {"[models]\ndirectory =\n[model arm]\nfile = /proc/version\n", "cannot load /proc/version"},
    {"[models]\ndirectory =\n[endpoints]\nallow_plaintext = yes\nrequest = tcp://0.0.0.0:7400\n",
     "endpoints.request: tcp://0.0.0.0:7400 can be reached by other machines, and there is no encryption"},
    {"[models]\ndirectory =\n[endpoints]\nallow_plaintext = yes\nevents = tcp://[::]:7401\n",
     "endpoints.events: tcp://[::]:7401 can be"},
};

enum { SUSPICIOUS = sizeof suspicious / sizeof suspicious[0] };

START_TEST(configuration_check_reports_the_warnings_of_a_start) {
    const char *lines = suspicious[_i].lines;
    check_configuration(lines, strlen(lines), 0, ": ", "the daemon can start, but see the messages above");
    check_configuration(lines, strlen(lines), 0, ": ", suspicious[_i].words);
}
END_TEST

/* Configurations that are refused because other machines reach an endpoint without encryption. */
static const struct {
    const char *lines, *words;
} plaintext[] = {
    {"[endpoints]\nrequest = tcp://0.0.0.0:7400\n", "endpoints.request: tcp://0.0.0.0:7400 can be reached"},
    {"[endpoints]\nevents = tcp://[::]:7401\n", "endpoints.events: tcp://[::]:7401 can be reached"},
    {"[endpoints]\ningest = tcp://192.0.2.1:1\nallow_plaintext = no\n", "endpoints.ingest: tcp://192.0.2.1:1 can"},
};

enum { PLAINTEXT = sizeof plaintext / sizeof plaintext[0] };

START_TEST(addresses_that_other_machines_reach_are_refused_without_consent) {
    const char *lines = plaintext[_i].lines;
    char path[] = "/tmp/dynamicsd-test-XXXXXX", output[1024];
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, lines, strlen(lines)), (ssize_t)strlen(lines));
    close(file);
    int code = run_daemon("--check-config", path, output, sizeof output);
    unlink(path);
    ck_assert_int_eq(code, 2);
    ck_assert_msg(strstr(output, plaintext[_i].words) != NULL, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "endpoints.allow_plaintext = yes"));
}
END_TEST

START_TEST(configuration_check_does_not_warn_of_loopback_addresses) {
    static const char lines[] = "[models]\ndirectory =\n[endpoints]\nrequest = tcp://127.0.0.2:1 tcp://[::1]:1\n"
                                "events = tcp://localhost:2\n";
    check_configuration(lines, strlen(lines), 0, ": ", "the configuration is right");
}
END_TEST

START_TEST(binary_configuration_is_refused) {
    static const char bytes[] = "\x7f"
                                "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0\n\xff\xfe\n";
    check_configuration(bytes, sizeof bytes, 2, ":1: ", "");
}
END_TEST

START_TEST(endless_line_is_refused) {
    char line[5000];
    memset(line, 'x', sizeof line);
    check_configuration(line, sizeof line, 2, ":1: ", "the line has more than");
}
END_TEST

START_TEST(missing_configuration_is_named) {
    char output[1024];
    ck_assert_int_eq(run_daemon("--check-config", "/nonexistent/dynamicsd.conf", output, sizeof output), 2);
    ck_assert_msg(strstr(output, "/nonexistent/dynamicsd.conf: No such file") != NULL, "%s", output);
}
END_TEST

static uint64_t read_sample_limit(const sp_peer *peer) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GetServerInfoRequest method = DYNAMICS__V1__GET_SERVER_INFO_REQUEST__INIT;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GET_SERVER_INFO;
    request.get_server_info = &method;
    Dynamics__V1__Reply *reply = sp_call(peer, &request);
    sp_expect_ok(reply);
    uint64_t samples = reply->get_server_info->limits->samples;
    sp_free_reply(reply);
    return samples;
}

START_TEST(reload_of_a_wrong_configuration_keeps_the_old_one) {
    daemon_fixture d;
    daemon_start(&(daemon_options){.configuration = "[limits]\nsamples = 1234\n"}, &d);
    sp_peer peer = sp_open(d.request_ipc, SP_REQ);
    ck_assert_uint_eq(read_sample_limit(&peer), 1234);
    daemon_configure(&d, "[limits]\nsamples = 99\nsampels = 5\n");
    daemon_signal(&d, SIGHUP);
    daemon_wait_for_notice(&d, "the old one is in force", 10);
    ck_assert_uint_eq(read_sample_limit(&peer), 1234);
    sp_expect_right_answer(&peer);
    char *log = daemon_log(&d);
    ck_assert_msg(strstr(log, "did you mean \"samples\"") != NULL, "the log does not say why:\n%s", log);
    free(log);
    daemon_configure(&d, "[limits]\nsamples = 99\n");
    daemon_signal(&d, SIGHUP);
    daemon_wait_for_notice(&d, "READY=1", 10);
    ck_assert_uint_eq(read_sample_limit(&peer), 99);
    sp_expect_right_answer(&peer);
    sp_close(&peer);
    daemon_stop(&d);
}
END_TEST

enum { CHAINS = 20, CHAIN_LINKS = 1500 };

/* Writes the description of a chain of links, which takes some time to load. */
static void write_chain(const char *path) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "<robot name='chain'><link name='l0'/>\n");
    for (int i = 1; i <= CHAIN_LINKS; i++) {
        fprintf(file,
                "<link name='l%d'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
                "</inertial></link><joint name='j%d' type='revolute'><parent link='l%d'/><child link='l%d'/>"
                "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>\n",
                i, i, i - 1, i);
    }
    fprintf(file, "</robot>\n");
    ck_assert_int_eq(fclose(file), 0);
}

/* Waits until the daemon has a limit of samples. */
static void wait_for_sample_limit(const sp_peer *peer, uint64_t wanted) {
    for (int i = 0; i < 3000 && read_sample_limit(peer) != wanted; i++) {
        sp_pause(0.005);
    }
    ck_assert_uint_eq(read_sample_limit(peer), wanted);
}

/* Changes the configuration again while the daemon scans the models that the first reload has found. */
START_TEST(configuration_that_changes_during_a_reload_takes_effect) {
    daemon_fixture d;
    char directory[] = "/tmp/dynamicsd-test-XXXXXX", path[CHAINS][64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    daemon_start(&(daemon_options){.models = directory}, &d);
    sp_peer peer = sp_open(d.request_ipc, SP_REQ);
    for (int i = 0; i < CHAINS; i++) {
        snprintf(path[i], sizeof path[i], "%s/chain%d.urdf", directory, i);
        write_chain(path[i]);
    }
    daemon_configure(&d, "[limits]\nsamples = 1234\n");
    daemon_signal(&d, SIGHUP);
    wait_for_sample_limit(&peer, 1234);
    daemon_configure(&d, "[limits]\nsamples = 99\n");
    daemon_signal(&d, SIGHUP);
    wait_for_sample_limit(&peer, 99);
    daemon_wait_for_notice(&d, "READY=1", 20);
    sp_close(&peer);
    daemon_stop(&d);
    for (int i = 0; i < CHAINS; i++) {
        unlink(path[i]);
    }
    rmdir(directory);
}
END_TEST

/* Checks that a reload names the changed keys that take effect at the next start, and no key once they have their old
 * values. */
START_TEST(reload_names_the_changed_keys_that_take_effect_later) {
    daemon_fixture d;
    daemon_start(&(daemon_options){.configuration = "[server]\nworkers = 2\n"}, &d);
    daemon_configure(&d, "[server]\nworkers = 3\n");
    daemon_signal(&d, SIGHUP);
    daemon_wait_for_notice(&d, "READY=1", 10);
    char *log = daemon_log(&d);
    const char *warning = strstr(log, "takes effect at the next start: server.workers\n");
    ck_assert_msg(warning != NULL, "the log does not name server.workers alone:\n%s", log);
    free(log);
    daemon_configure(&d, "[server]\nworkers = 2\n");
    daemon_signal(&d, SIGHUP);
    daemon_wait_for_notice(&d, "READY=1", 10);
    log = daemon_log(&d);
    warning = strstr(log, "takes effect at the next start");
    ck_assert_msg(warning && !strstr(warning + 1, "takes effect at the next start"), "the second reload warns:\n%s",
                  log);
    free(log);
    daemon_stop(&d);
}
END_TEST

START_TEST(state_directory_that_cannot_be_made_is_reported) {
    daemon_fixture d;
    daemon_start(&(daemon_options){0}, &d);
    char path[96], aside[96];
    snprintf(path, sizeof path, "%s/state", d.directory);
    snprintf(aside, sizeof aside, "%s/aside", d.directory);
    ck_assert_int_eq(rename(path, aside), 0);
    ck_assert_int_eq(symlink("/proc/none", path), 0);
    daemon_restart(&d);
    char *log = daemon_log(&d);
    ck_assert_msg(strstr(log, "/state: No such file or directory; without it nothing is recorded") != NULL, "%s", log);
    free(log);
    sp_peer peer = sp_open(d.request_ipc, SP_REQ);
    sp_expect_right_answer(&peer);
    sp_close(&peer);
    daemon_stop(&d);
}
END_TEST

/* ---- files without a robot --------------------------------------------------------------------------------------- */

/* Creates a directory with one good robot and one bad file. */
static void make_models(char *directory, const char *name, off_t size, const char *contents) {
    char path[256], command[512];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, contents, strlen(contents)), (ssize_t)strlen(contents));
    ck_assert_int_eq(ftruncate(file, size > 0 ? size : (off_t)strlen(contents)), 0);
    close(file);
    snprintf(path, sizeof path, "%s/two_link.urdf", directory);
    snprintf(command, sizeof command, "%s/two_link.urdf", DYNAMICS_ROBOTS_DIR);
    ck_assert_int_eq(symlink(command, path), 0);
}

static void remove_models(const char *directory, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    unlink(path);
    snprintf(path, sizeof path, "%s/two_link.urdf", directory);
    unlink(path);
    rmdir(directory);
}

static const struct {
    const char *contents;
    off_t size; /* 0: the length of the contents */
    const char *words;
} files[] = {
    {"<robot name='r'>", 100 << 20, "the file is larger than"},
    {"", 0, "the document is empty"},
    {"\x7f"
     "ELF",
     0, "not well-formed XML"},
    {"<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>]><robot name='r'>&b;</robot>",
     0, "DOCTYPE"},
};

/* Checks that the daemon loads the valid robots and reports the errors of the other files. */
START_TEST(file_without_a_robot_is_reported_and_left_out) {
    daemon_fixture d;
    char directory[] = "/tmp/dynamicsd-models-XXXXXX";
    make_models(directory, "bad.urdf", files[_i].size, files[_i].contents);
    daemon_start(&(daemon_options){.models = directory}, &d);
    char *log = daemon_log(&d);
    ck_assert_msg(strstr(log, files[_i].words) != NULL, "the log lacks \"%s\":\n%s", files[_i].words, log);
    ck_assert_msg(strstr(log, "bad.urdf") != NULL, "the log does not name the file:\n%s", log);
    free(log);
    ck_assert_uint_le(daemon_resident_bytes(&d), 90 << 20);
    sp_peer peer = sp_open(d.request_ipc, SP_REQ);
    sp_expect_right_answer(&peer);
    sp_close(&peer);
    remove_models(directory, "bad.urdf");
    daemon_stop(&d);
}
END_TEST

/* ---- stop -------------------------------------------------------------------------------------------------------- */

/* Returns a request that takes long: forward dynamics of a UR5 for many samples. The caller frees it. */
static uint8_t *build_long_request(size_t samples, size_t *size) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__ForwardDynamicsRequest method = DYNAMICS__V1__FORWARD_DYNAMICS_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = text("ur5");
    method.query = &query;
    method.n_q = 6 * samples;
    method.q = calloc(method.n_q, sizeof(double));
    ck_assert_ptr_nonnull(method.q);
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_FORWARD_DYNAMICS;
    request.forward_dynamics = &method;
    uint8_t *bytes = sp_pack(&request, size);
    free(method.q);
    return bytes;
}

/* Checks that the daemon answers each request that it received before the stop, with a result or UNAVAILABLE. */
START_TEST(stop_answers_requests_under_way) {
    enum { CONNECTIONS = 4, REQUESTS = 5 };
    daemon_fixture d;
    sp_peer peers[CONNECTIONS];
    size_t size;
    unsigned done = 0, refused = 0;
    uint8_t *request = build_long_request(5000, &size);
    daemon_start(NULL, &d);
    for (int i = 0; i < CONNECTIONS; i++) {
        peers[i] = sp_open(i % 2 ? d.request_tcp : d.request_ipc, SP_REQ);
    }
    for (int i = 0; i < CONNECTIONS * REQUESTS; i++) {
        ck_assert(sp_send_request(&peers[i % CONNECTIONS], (uint32_t)i + 1, request, size));
    }
    sp_pause(0.01);
    daemon_signal(&d, SIGTERM);
    for (int i = 0; i < CONNECTIONS * REQUESTS; i++) {
        uint32_t number;
        uint8_t *body;
        size_t body_size;
        sp_result result = sp_receive_reply(&peers[i % CONNECTIONS], SP_PATIENCE, &number, &body, &body_size);
        ck_assert_msg(result == SP_MESSAGE, "%u requests were answered, %u refused, the next one neither", done,
                      refused);
        Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, body_size, body);
        ck_assert_ptr_nonnull(reply);
        done += reply->status->code == CODE(OK);
        refused += reply->status->code == CODE(UNAVAILABLE);
        sp_free_reply(reply);
        free(body);
    }
    ck_assert_uint_eq(done + refused, CONNECTIONS * REQUESTS);
    ck_assert_uint_ge(done, 1);
    ck_assert_int_eq(daemon_wait(&d, 20), 0);
    for (int i = 0; i < CONNECTIONS; i++) {
        sp_close(&peers[i]);
    }
    free(request);
}
END_TEST

/* Checks that a client that continues to send requests gets UNAVAILABLE until the connection ends, and that no call
 * waits forever. */
START_TEST(stop_refuses_later_requests) {
    daemon_fixture d;
    size_t size;
    unsigned refused = 0;
    daemon_start(NULL, &d);
    uint8_t *request = build_long_request(1, &size);
    uint8_t *long_request = build_long_request(200000, &size);
    size_t long_size = size;
    free(request);
    request = build_long_request(1, &size);
    sp_peer busy = sp_open(d.request_ipc, SP_REQ), late = sp_open(d.request_tcp, SP_REQ);
    ck_assert(sp_send_request(&busy, 1, long_request, long_size));
    sp_pause(0.02);
    daemon_signal(&d, SIGTERM);
    for (;;) {
        uint32_t number;
        uint8_t *body;
        size_t body_size;
        if (!sp_send_request(&late, 2, request, size) ||
            sp_receive_reply(&late, SP_PATIENCE, &number, &body, &body_size) == SP_CLOSED) {
            break;
        }
        ck_assert_msg(body != NULL, "a request was not answered");
        Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, body_size, body);
        refused += reply->status->code == CODE(UNAVAILABLE);
        ck_assert_msg(reply->status->code == CODE(OK) || strstr(reply->status->message, "is stopping") != NULL,
                      "\"%s\"", reply->status->message);
        sp_free_reply(reply);
        free(body);
    }
    ck_assert_uint_ge(refused, 1);
    ck_assert_int_eq(daemon_wait(&d, 20), 0);
    sp_close(&busy);
    sp_close(&late);
    free(request);
    free(long_request);
}
END_TEST

/* Checks that a client that does not read does not delay the daemon's stop. */
START_TEST(stop_does_not_wait_for_a_client_that_does_not_read) {
    daemon_fixture d;
    size_t size;
    daemon_start(&(daemon_options){.configuration = "[limits]\nreply_time = 60\n[server]\ndrain_time = 1\n"}, &d);
    uint8_t *request = build_long_request(50000, &size);
    sp_peer deaf = sp_open(d.request_ipc, SP_REQ);
    for (uint32_t i = 1; i <= 3; i++) {
        ck_assert(sp_send_request(&deaf, i, request, size));
    }
    sp_pause(0.2);
    daemon_signal(&d, SIGTERM);
    ck_assert_int_eq(daemon_wait(&d, 6), 0);
    sp_close(&deaf);
    free(request);
}
END_TEST

/* Stops the daemon while connections send requests without end. Contexts then receive at the moment at which the
 * sockets are closed, which crashes nng 1.5.2. The race is narrow: about one stop in some dozens meets it. */
START_TEST(stop_during_requests_exits_with_success) {
    enum { STOPS = 25, CONNECTIONS = 8, REQUESTS = 400 };
    size_t size;
    uint8_t *request = build_long_request(1, &size);
    for (int i = 0; i < STOPS; i++) {
        daemon_fixture d;
        sp_peer peers[CONNECTIONS];
        daemon_start(&(daemon_options){.configuration = "[server]\ndrain_time = 0\n"}, &d);
        for (int k = 0; k < CONNECTIONS; k++) {
            peers[k] = sp_open(k % 2 ? d.request_tcp : d.request_ipc, SP_REQ);
        }
        for (int k = 0; k < CONNECTIONS * REQUESTS; k++) {
            if (k == CONNECTIONS * REQUESTS / 4) {
                daemon_signal(&d, SIGTERM);
            }
            if (!sp_send_request(&peers[k % CONNECTIONS], (uint32_t)k + 1, request, size)) {
                break;
            }
        }
        ck_assert_int_eq(daemon_wait(&d, 20), 0);
        for (int k = 0; k < CONNECTIONS; k++) {
            sp_close(&peers[k]);
        }
    }
    free(request);
}
END_TEST

/* Checks that the daemon answers others after clients closed their connection in the middle of a long reply. */
START_TEST(clients_may_close_in_the_middle_of_a_reply) {
    enum { CLIENTS = 120, SAMPLES = 200000 };
    daemon_fixture d;
    double *q = calloc(2 * SAMPLES, sizeof *q), *mass_matrix = calloc(4 * SAMPLES, sizeof *mass_matrix);
    daemon_start(NULL, &d);
    ck_assert(q && mass_matrix);
    for (int i = 0; i < CLIENTS; i++) {
        dyn_client *client;
        dyn_client_error error;
        const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = SAMPLES,
                                                             .timeout = 0.0005 * (i % 60 + 1));
        ck_assert_msg(dyn_client_connect(i % 2 ? d.request_tcp : d.request_ipc, NULL, &client, &error) == DYN_CLIENT_OK,
                      "%s", error.message);
        dyn_client_mass_matrix(client, &query, q, mass_matrix, &error);
        dyn_client_close(client);
    }
    sp_peer peer = sp_open(d.request_ipc, SP_REQ);
    sp_expect_right_answer(&peer);
    sp_close(&peer);
    daemon_stop(&d);
    free(q);
    free(mass_matrix);
}
END_TEST

int main(void) {
    enum { CONFIGURATIONS = sizeof configurations / sizeof configurations[0], FILES = sizeof files / sizeof files[0] };
    Suite *suite = suite_create("hostile life");
    TCase *tests = tcase_create("life");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, wrong_configuration_is_refused_with_its_line, 0, CONFIGURATIONS);
    tcase_add_test(tests, right_configuration_is_accepted);
    tcase_add_loop_test(tests, configuration_check_reports_the_warnings_of_a_start, 0, SUSPICIOUS);
    tcase_add_loop_test(tests, addresses_that_other_machines_reach_are_refused_without_consent, 0, PLAINTEXT);
    tcase_add_test(tests, configuration_check_does_not_warn_of_loopback_addresses);
    tcase_add_test(tests, binary_configuration_is_refused);
    tcase_add_test(tests, endless_line_is_refused);
    tcase_add_test(tests, missing_configuration_is_named);
    tcase_add_test(tests, reload_of_a_wrong_configuration_keeps_the_old_one);
    tcase_add_test(tests, configuration_that_changes_during_a_reload_takes_effect);
    tcase_add_test(tests, reload_names_the_changed_keys_that_take_effect_later);
    tcase_add_test(tests, state_directory_that_cannot_be_made_is_reported);
    tcase_add_loop_test(tests, file_without_a_robot_is_reported_and_left_out, 0, FILES);
    tcase_add_test(tests, stop_answers_requests_under_way);
    tcase_add_test(tests, stop_refuses_later_requests);
    tcase_add_test(tests, stop_does_not_wait_for_a_client_that_does_not_read);
    tcase_add_test(tests, stop_during_requests_exits_with_success);
    tcase_add_test(tests, clients_may_close_in_the_middle_of_a_reply);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
