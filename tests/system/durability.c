/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks durability: the state after an orderly stop, kill -9, a loss of power and a full disk.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dynamics_client.h"
#include "support/random.h"
#include "system/daemon_fixture.h"
#include "system/runner.h"
#include "system/state_disk.h"

/* Tag of the tests that fill a disk, which are a test of their own: without root they are skipped. */
#define DISK_TAG "disk"

static daemon_fixture fixture;
static dyn_client *client;
static dyn_client_error error;

static dyn_client *connect_to_daemon(void) {
    dyn_client *connected;
    dyn_client_error reported;
    ck_assert_msg(dyn_client_connect(fixture.request_ipc, NULL, &connected, &reported) == DYN_CLIENT_OK, "%s",
                  reported.message);
    return connected;
}

static void start_with(const char *configuration) {
    const daemon_options options = {.configuration = configuration};
    daemon_start(&options, &fixture);
    client = connect_to_daemon();
}

static void start(void) {
    start_with(NULL);
}

static void stop(void) {
    dyn_client_close(client);
    daemon_stop(&fixture);
}

static void end(int signal) {
    dyn_client_close(client);
    ck_assert_int_eq(daemon_end(&fixture, signal), signal == SIGKILL ? 128 + SIGKILL : 0);
}

static void begin(void) {
    daemon_begin(&fixture);
    client = connect_to_daemon();
}

static void restart(int signal) {
    end(signal);
    begin();
}

static void ok(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s %s: %s", dyn_client_status_name(status), error.field, error.message);
}

static void pause_for(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&time, NULL);
}

/* Loads a pendulum of a mass under `name`, also in place of another model. `timeout` is in seconds. */
static dyn_client_status load_pendulum(dyn_client *by, const char *name, double mass, bool keep, double timeout,
                                       dyn_client_error *reported) {
    char text[512];
    snprintf(text, sizeof text,
             "<robot name='pendulum'><link name='base'/><link name='rod'><inertial><origin xyz='0 0 -0.5'/>"
             "<mass value='%g'/><inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.01'/></inertial></link>"
             "<joint name='pivot' type='continuous'><parent link='base'/><child link='rod'/><axis xyz='0 1 0'/></joint>"
             "</robot>",
             mass);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = text, .name = name, .replace = true, .keep = keep, .timeout = timeout);
    dyn_client_loaded_model *loaded;
    dyn_client_status status = dyn_client_load_model(by, &request, &loaded, reported);
    if (status == DYN_CLIENT_OK) {
        ck_assert(loaded->model.kept == keep);
        dyn_client_loaded_model_free(loaded);
    }
    return status;
}

static dyn_client_status create_with(dyn_client *by, const dyn_client_simulation_options *options, double timeout,
                                     dyn_client_error *reported, uint64_t *token) {
    dyn_client_simulation *created;
    dyn_client_query query = *options->query;
    dyn_client_simulation_options hurried = *options;
    query.timeout = timeout;
    hurried.query = &query;
    dyn_client_status status = dyn_client_create_simulation(by, &hurried, token, &created, reported);
    if (status == DYN_CLIENT_OK) {
        dyn_client_simulation_free(created);
    }
    return status;
}

static uint64_t create(const char *name) {
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = name,
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"));
    uint64_t token;
    ok(create_with(client, &options, 0, &error, &token));
    return token;
}

/* Returns whether there is a simulation of that name; `steps`, unless NULL, receives its number of steps. */
static bool is_there(const char *name, uint64_t *steps) {
    dyn_client_simulation *simulation;
    dyn_client_status status = dyn_client_get_simulation(client, name, 0, 0, &simulation, &error);
    if (status == DYN_CLIENT_NOT_FOUND) {
        return false;
    }
    ok(status);
    if (steps) {
        *steps = simulation->step;
    }
    dyn_client_simulation_free(simulation);
    return true;
}

/* Returns whether there is a model of that name; `mass` and `kept`, unless NULL, receive its properties. */
static bool has_model(const char *name, double *mass, bool *kept) {
    dyn_client_description *model;
    dyn_client_status status = dyn_client_describe_model(client, name, 0, &model, &error);
    if (status == DYN_CLIENT_NOT_FOUND) {
        return false;
    }
    ok(status);
    if (mass) {
        *mass = model->model.mass;
    }
    if (kept) {
        *kept = model->model.kept;
    }
    dyn_client_description_free(model);
    return true;
}

static void step(const char *name, uint64_t token, uint64_t steps) {
    ok(dyn_client_step_simulation(client, name, token, steps, NULL, 0, NULL, &error));
}

static void save(void) {
    size_t count;
    ok(dyn_client_save_simulations(client, 0, &count, &error));
}

/* Runs dynamicsctl; returns whether its output contains a text. */
static bool answer_contains(const char *arguments, const char *text) {
    char command[512], answer[4096];
    snprintf(command, sizeof command, "%s --endpoint %s %s 2>&1", DYNAMICSCTL_PROGRAM, fixture.request_ipc, arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t size = fread(answer, 1, sizeof answer - 1, pipe);
    answer[size] = '\0';
    pclose(pipe);
    return strstr(answer, text) != NULL;
}

/* Returns the number of files of the state directory whose names match a pattern; `path`, unless NULL, receives the
 * path of the last one. */
static size_t find_files(const char *pattern, char path[160]) {
    char whole[160];
    glob_t found;
    snprintf(whole, sizeof whole, "%s/state/%s", fixture.directory, pattern);
    int result = glob(whole, 0, NULL, &found);
    size_t count = result == 0 ? found.gl_pathc : 0;
    if (count > 0 && path) {
        snprintf(path, 160, "%s", found.gl_pathv[count - 1]);
    }
    if (result == 0) {
        globfree(&found);
    }
    return count;
}

static bool log_contains(const char *text) {
    char *log = daemon_log(&fixture);
    bool is_there_now = strstr(log, text) != NULL;
    free(log);
    return is_there_now;
}

/* ---- kill -9 ----------------------------------------------------------------------------------------------------- */

/* Creates and deletes a simulation, and checks whether the daemon reports both changes as durable. */
static void expect_durable(bool wanted) {
    dyn_client_simulation *created;
    uint64_t token;
    bool durable = !wanted;
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "asked",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"));
    ok(dyn_client_create_simulation(client, &options, &token, &created, &error));
    ck_assert(created->durable == wanted);
    dyn_client_simulation_free(created);
    ok(dyn_client_delete_simulation(client, "asked", token, 0, &durable, &error));
    ck_assert(durable == wanted);
}

START_TEST(created_claimed_and_deleted_simulations_stay_so_after_kill) {
    const dyn_client_simulation_options waiting =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "claimed",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"),
                                           .lease = 0.1, .keep = true);
    uint64_t gone = create("gone"), stepped = create("stepped"), token, steps;
    step("stepped", stepped, 10);
    save();
    step("stepped", stepped, 10);
    bool durable = false;
    ok(dyn_client_delete_simulation(client, "gone", gone, 0, NULL, &error));
    expect_durable(true);
    create("fresh");
    ok(create_with(client, &waiting, 0, &error, &token));
    dyn_client_status status = DYN_CLIENT_FAILED_PRECONDITION;
    for (int i = 0; i < 200 && status == DYN_CLIENT_FAILED_PRECONDITION; i++) {
        pause_for(0.02);
        status = dyn_client_claim_simulation(client, "claimed", 60, 0, &token, &durable, &error);
    }
    ok(status);
    ck_assert(durable);
    ck_assert(answer_contains("call create_simulation '{\"name\": \"told\", \"query\": {\"model\": \"ur5\"}}'",
                              "\"durable\": true"));
    restart(SIGKILL);
    ck_assert_msg(!is_there("gone", NULL), "the deleted simulation is back");
    ck_assert_msg(is_there("fresh", NULL) && is_there("told", NULL), "a simulation that was created is gone");
    ck_assert(is_there("stepped", &steps));
    ck_assert_uint_eq(steps, 10);
    step("claimed", token, 1);
    step("stepped", stepped, 1);
}
END_TEST

START_TEST(running_simulation_goes_on_from_its_last_periodic_snapshot) {
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "runner",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"),
                                           .pace = DYN_CLIENT_PACE_CLOCK, .rate = 4);
    uint64_t token, before = 0, after;
    start_with("[simulations]\nsave_interval = 0.2\n");
    ok(create_with(client, &options, 0, &error, &token));
    while (before < 10000) {
        pause_for(0.05);
        is_there("runner", &before);
    }
    restart(SIGKILL);
    ck_assert(is_there("runner", &after));
    ck_assert_uint_gt(after, 0);
    pause_for(0.3);
    is_there("runner", &before);
    ck_assert_msg(before > after, "it stands still after step %lu", (unsigned long)after);
    stop();
}
END_TEST

/* Numbers of things (models and simulations) that each client creates and deletes, of models among them, of clients,
 * and of rounds, each of which a kill ends. */
enum { THINGS = 6, MODELS = 2, CLIENTS = 3, ROUNDS = 12 };

typedef enum knowledge { ABSENT, PRESENT, UNKNOWN } knowledge;

typedef struct thing {
    char name[32];
    bool is_model; /* otherwise a simulation */
    knowledge is;
    uint64_t token;
} thing;

typedef struct history {
    random_source random;
    thing things[THINGS];
    pthread_t thread;
    dyn_client *own; /* connected before the thread starts, since the kill may come at once */
    unsigned done;
} history;

/* Timeout in seconds of a request that may be the last one before the kill. An answer within this time determines the
 * state; without an answer the state is unknown. */
static const double PATIENCE = 0.4;

static knowledge outcome(dyn_client_status status, knowledge after) {
    ck_assert_msg(status == DYN_CLIENT_OK || status == DYN_CLIENT_UNREACHABLE || status == DYN_CLIENT_TIMEOUT ||
                      status == DYN_CLIENT_DEADLINE_EXCEEDED,
                  "%s", dyn_client_status_name(status));
    return status == DYN_CLIENT_OK ? after : UNKNOWN;
}

/* Creates or deletes one thing, or saves all simulations. Returns false where the daemon does not answer any more. */
static bool change(dyn_client *own, history *h, thing *t) {
    dyn_client_error reported;
    size_t count;
    if (t->is == ABSENT && t->is_model) {
        t->is = outcome(load_pendulum(own, t->name, 1 + h->done, true, PATIENCE, &reported), PRESENT);
    } else if (t->is == ABSENT) {
        const dyn_client_simulation_options options = DYN_CLIENT_SIMULATION_OPTIONS_INIT(
                .name = t->name,
                .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = h->done % 2 ? "two_link" : "ur5"));
        t->is = outcome(create_with(own, &options, PATIENCE, &reported, &t->token), PRESENT);
    } else if (t->is_model) {
        t->is = outcome(dyn_client_unload_model(own, t->name, PATIENCE, &reported), ABSENT);
    } else if (random_index(&h->random, 3) > 0) {
        t->is = outcome(dyn_client_delete_simulation(own, t->name, t->token, PATIENCE, NULL, &reported), ABSENT);
    } else {
        return dyn_client_save_simulations(own, PATIENCE, &count, &reported) == DYN_CLIENT_OK;
    }
    h->done++;
    return t->is != UNKNOWN;
}

static void *live_through(void *argument) {
    history *h = argument;
    while (change(h->own, h, &h->things[random_index(&h->random, THINGS)])) {
    }
    dyn_client_close(h->own);
    return NULL;
}

/* Checks that the state after the restart is the acknowledged one, and records the outcome of requests without an
 * answer. */
static void check_history(history *h, int round) {
    for (int i = 0; i < THINGS; i++) {
        thing *t = &h->things[i];
        bool is_now = t->is_model ? has_model(t->name, NULL, NULL) : is_there(t->name, NULL);
        ck_assert_msg(t->is == UNKNOWN || is_now == (t->is == PRESENT), "round %d: %s was %s, and %s", round, t->name,
                      t->is == PRESENT ? "created" : "deleted", is_now ? "is there" : "is gone");
        if (t->is_model) {
            t->is = is_now ? PRESENT : ABSENT;
            continue;
        }
        if (t->is == PRESENT) {
            step(t->name, t->token, 1);
        }
        if (t->is == UNKNOWN && is_now) {
            snprintf(t->name + 3, sizeof t->name - 3, "%d-%d", i, round); /* its token is not known */
        }
        t->is = is_now && t->is == PRESENT ? PRESENT : ABSENT;
    }
}

START_TEST(acknowledged_changes_outlive_kill_at_any_moment) {
    random_source base = random_seed("acknowledged changes outlive kill -9", (uint64_t)time(NULL));
    static history histories[CLIENTS];
    unsigned done = 0;
    for (int k = 0; k < CLIENTS; k++) {
        histories[k].random = random_case(base, (uint64_t)k);
        for (int i = 0; i < THINGS; i++) {
            snprintf(histories[k].things[i].name, sizeof histories[k].things[i].name, "c%d-%d", k, i);
            histories[k].things[i].is_model = i < MODELS;
        }
    }
    random_source moments = random_case(base, CLIENTS);
    int round = 0;
    /* A slow machine needs more rounds for enough changes; the time limit of the test bounds them. */
    for (; round < ROUNDS || done <= 10 * ROUNDS; round++) {
        done = 0;
        for (int k = 0; k < CLIENTS; k++) {
            histories[k].own = connect_to_daemon();
        }
        for (int k = 0; k < CLIENTS; k++) {
            ck_assert_int_eq(pthread_create(&histories[k].thread, NULL, live_through, &histories[k]), 0);
        }
        pause_for(random_uniform(&moments, 0.01, 0.25));
        daemon_signal(&fixture, SIGKILL);
        for (int k = 0; k < CLIENTS; k++) {
            pthread_join(histories[k].thread, NULL);
        }
        restart(SIGKILL);
        for (int k = 0; k < CLIENTS; k++) {
            check_history(&histories[k], round);
            done += histories[k].done;
        }
    }
    printf("%u acknowledged changes, %d kills\n", done, round);
}
END_TEST

/* ---- kept models ------------------------------------------------------------------------------------------------- */

START_TEST(persistent_model_outlives_kill_and_an_unloaded_one_does_not_return) {
    double mass;
    bool kept;
    ok(load_pendulum(client, "kept", 2, true, 0, &error));
    ok(load_pendulum(client, "odd / name", 3, true, 0, &error));
    ok(load_pendulum(client, "passing", 2, false, 0, &error));
    restart(SIGKILL);
    ck_assert(has_model("kept", &mass, &kept));
    ck_assert(kept && mass == 2);
    ck_assert(has_model("odd / name", &mass, &kept) && mass == 3);
    ck_assert(!has_model("passing", NULL, NULL));
    ck_assert(has_model("ur5", NULL, &kept) && !kept);
    ok(dyn_client_unload_model(client, "kept", 0, &error));
    restart(SIGKILL);
    ck_assert_msg(!has_model("kept", NULL, NULL), "the unloaded model is back");
    ck_assert(has_model("odd / name", NULL, NULL));
    restart(SIGTERM);
    ck_assert(has_model("odd / name", NULL, &kept) && kept);
}
END_TEST

/* Moves a file of the state directory. */
static void move_file(const char *from, const char *to) {
    ck_assert_msg(rename(from, to) == 0, "%s: %s", from, strerror(errno));
}

START_TEST(second_file_of_a_model_name_is_reported_by_its_path) {
    char path[160], aside[160], second[160];
    double mass;
    ok(load_pendulum(client, "one", 2, true, 0, &error));
    ck_assert_uint_eq(find_files("models/one.*.model", path), 1);
    snprintf(aside, sizeof aside, "%.120s/state/aside", fixture.directory);
    snprintf(second, sizeof second, "%.120s/state/models/two.model", fixture.directory);
    move_file(path, aside);
    ok(load_pendulum(client, "one", 3, true, 0, &error));
    move_file(aside, second);
    restart(SIGTERM);
    ck_assert(has_model("one", &mass, NULL) && mass == 3);
    ck_assert(log_contains("the kept model one is not loaded: another file holds a model of this name; remove "));
    ck_assert(log_contains(second));
}
END_TEST

START_TEST(replacement_of_a_persistent_model_persists_only_on_request) {
    double mass;
    bool kept;
    ok(load_pendulum(client, "one", 2, true, 0, &error));
    ok(load_pendulum(client, "one", 3, true, 0, &error));
    ok(load_pendulum(client, "two", 2, true, 0, &error));
    ok(load_pendulum(client, "two", 3, false, 0, &error));
    /* Loads another robot under the name of one from the model directory. */
    ok(load_pendulum(client, "panda", 4, true, 0, &error));
    ck_assert(has_model("two", NULL, &kept) && !kept);
    restart(SIGKILL);
    ck_assert(has_model("one", &mass, NULL) && mass == 3);
    ck_assert(!has_model("two", NULL, NULL));
    ck_assert(has_model("panda", &mass, NULL) && mass == 4);
    daemon_signal(&fixture, SIGHUP);
    daemon_wait_for_notice(&fixture, "READY=1", 20);
    ck_assert(has_model("panda", &mass, NULL) && mass == 4);
    /* Without the model that was loaded by request, the file's robot is loaded again. */
    ok(dyn_client_unload_model(client, "panda", 0, &error));
    restart(SIGKILL);
    ck_assert(has_model("panda", &mass, NULL) && mass != 4);
}
END_TEST

START_TEST(derived_model_persists_with_its_digest) {
    const char *const joints[] = {"wrist_3_joint"};
    const dyn_client_operation lock = {
        .kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS, .joint_count = 1, .joints = joints};
    const dyn_client_derive_request request =
        DYN_CLIENT_DERIVE_REQUEST_INIT(.model = "ur5", .operation_count = 1, .operations = &lock, .name = "short",
                                       .keep = true);
    dyn_client_loaded_model *derived;
    dyn_client_description *model;
    char digest[80];
    ok(dyn_client_derive_model(client, &request, &derived, &error));
    snprintf(digest, sizeof digest, "%s", derived->model.digest);
    ck_assert(derived->model.kept);
    dyn_client_loaded_model_free(derived);
    restart(SIGKILL);
    ok(dyn_client_describe_model(client, "short", 0, &model, &error));
    ck_assert_str_eq(model->model.digest, digest);
    ck_assert(model->model.kept);
    ck_assert_str_ne(model->model.loaded_by, "");
    dyn_client_description_free(model);
    ck_assert(answer_contains("models", "request of"));
}
END_TEST

START_TEST(model_that_cannot_be_stored_is_refused_and_not_loaded) {
    const struct rlimit none = {.rlim_cur = 16, .rlim_max = RLIM_INFINITY};
    ok(load_pendulum(client, "old", 2, true, 0, &error));
    ck_assert_int_eq(prlimit(fixture.process, RLIMIT_FSIZE, &none, NULL), 0);
    ck_assert_int_eq(load_pendulum(client, "new", 2, true, 0, &error), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "File too large") != NULL, "%s", error.message);
    ck_assert(!has_model("new", NULL, NULL));
    ck_assert_int_eq(load_pendulum(client, "old", 3, true, 0, &error), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_uint_eq(find_files("models/*.new", NULL), 0);
    double mass;
    ck_assert(has_model("old", &mass, NULL) && mass == 2);
    restart(SIGKILL);
    ck_assert(has_model("old", &mass, NULL) && mass == 2);
}
END_TEST

START_TEST(damaged_stored_model_is_reported_and_the_others_are_loaded) {
    char path[160];
    bool kept;
    ok(load_pendulum(client, "a", 2, true, 0, &error));
    ok(load_pendulum(client, "b", 2, true, 0, &error));
    ck_assert_uint_eq(find_files("models/a.*.model", path), 1);
    ck_assert_int_eq(truncate(path, 100), 0);
    restart(SIGKILL);
    ck_assert(!has_model("a", NULL, NULL));
    ck_assert(has_model("b", NULL, &kept) && kept);
    ck_assert(answer_contains("ping", "the file is damaged"));
    ok(load_pendulum(client, "a", 5, true, 0, &error));
    restart(SIGKILL);
    ck_assert(has_model("a", NULL, &kept) && kept);
}
END_TEST

START_TEST(configuration_makes_all_models_persistent) {
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = "<robot name='point'><link name='base'/></robot>");
    dyn_client_loaded_model *loaded;
    start_with("keep = yes\n");
    ok(dyn_client_load_model(client, &request, &loaded, &error));
    ck_assert(loaded->model.kept);
    dyn_client_loaded_model_free(loaded);
    restart(SIGKILL);
    ck_assert(has_model("point", NULL, NULL));
    stop();
}
END_TEST

/* ---- order on the disk ------------------------------------------------------------------------------------------- */

/* Returns whether every thread of the daemon is traced. */
static bool is_traced(void) {
    char pattern[64];
    glob_t tasks;
    snprintf(pattern, sizeof pattern, "/proc/%d/task/*/status", (int)fixture.process);
    bool is_whole = glob(pattern, 0, NULL, &tasks) == 0;
    for (size_t i = 0; is_whole && i < tasks.gl_pathc; i++) {
        char text[4096];
        FILE *file = fopen(tasks.gl_pathv[i], "r");
        size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
        text[size] = '\0';
        is_whole = strstr(text, "TracerPid:") && !strstr(text, "TracerPid:\t0\n");
        if (file) {
            fclose(file);
        }
    }
    globfree(&tasks);
    return is_whole;
}

/* Traces the daemon's system calls into a file. Returns the process of strace, or -1 where tracing is not possible. */
static pid_t start_trace(const char *path) {
    char process[16];
    snprintf(process, sizeof process, "%d", (int)fixture.process);
    pid_t tracer = fork();
    ck_assert_int_ge(tracer, 0);
    if (tracer == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        execlp("strace", "strace", "-f", "-s", "2000", "-o", path, "-e",
               "trace=pwrite64,fdatasync,fsync,rename,renameat,renameat2,unlink,sendmsg,sendto,writev", "-p", process,
               (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 200; i++) {
        if (waitpid(tracer, NULL, WNOHANG) == tracer) {
            return -1;
        }
        if (is_traced()) {
            return tracer;
        }
        pause_for(0.01);
    }
    kill(tracer, SIGKILL);
    waitpid(tracer, NULL, 0);
    return -1;
}

/* Ends a trace; returns its text, which the caller frees. */
static char *end_trace(pid_t tracer, const char *path) {
    char *text = NULL;
    size_t size = 0;
    kill(tracer, SIGINT);
    waitpid(tracer, NULL, 0);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_gt(getdelim(&text, &size, '\0', file), 0);
    fclose(file);
    return text;
}

/* Returns the end of the first line after `from` that contains both words; fails the test with the trace where there is
 * none. */
static const char *line_with(const char *from, const char *trace, const char *first, const char *second) {
    char line[8192];
    for (const char *at = from; *at;) {
        size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        at += length + (at[length] == '\n');
        if (strstr(line, first) && strstr(line, second)) {
            return at;
        }
    }
    fputs(trace, stderr);
    ck_abort_msg("no %s with %s follows in the trace above", first, second);
    return NULL;
}

/* Checks that no reply that contains a word is sent before `at`. */
static void check_unsent(const char *trace, const char *at, const char *word) {
    char *before = strndup(trace, (size_t)(at - trace));
    for (const char *line = strtok(before, "\n"); line; line = strtok(NULL, "\n")) {
        ck_assert_msg(!strstr(line, word) ||
                          !(strstr(line, "sendmsg") || strstr(line, "sendto") || strstr(line, "writev")),
                      "the reply is sent before the disk has it: %s", line);
    }
    free(before);
}

/* Checks by strace that replies are sent after the system calls that make the changes durable. Probes and reports are
 * off because they lengthen the trace. */
START_TEST(replies_wait_for_the_disk) {
    char path[160];
    start_with("[health]\nprobe_interval = 3600\n");
    snprintf(path, sizeof path, "%s/trace", fixture.directory);
    pid_t tracer = start_trace(path);
    if (tracer < 0) {
        printf("strace is missing or may not trace: the order on the disk is not tested here\n");
        stop();
        return;
    }
    uint64_t token = create("ordered");
    ok(load_pendulum(client, "heavy", 2, true, 0, &error));
    ok(dyn_client_unload_model(client, "heavy", 0, &error));
    ok(dyn_client_delete_simulation(client, "ordered", token, 0, NULL, &error));
    save();
    char *trace = end_trace(tracer, path);
    const char *at = line_with(trace, trace, "pwrite64", "ordered");
    at = line_with(at, trace, "fdatasync", "= 0");
    check_unsent(trace, at, "ordered");
    at = line_with(at, trace, "send", "ordered");
    at = line_with(at, trace, "pwrite64", "heavy");
    at = line_with(at, trace, "fsync", "= 0");
    at = line_with(at, trace, "rename", "heavy");
    at = line_with(at, trace, "fsync", "= 0");
    check_unsent(trace, at, "heavy");
    at = line_with(at, trace, "send", "heavy");
    at = line_with(at, trace, "unlink", "heavy");
    at = line_with(at, trace, "fsync", "= 0");
    at = line_with(at, trace, "send", "heavy");
    at = line_with(at, trace, "pwrite64", "ordered");
    at = line_with(at, trace, "fdatasync", "= 0");
    at = line_with(at, trace, "send", "ordered");
    at = line_with(at, trace, "fsync", "= 0");
    at = line_with(at, trace, "rename", "snapshot");
    line_with(at, trace, "fsync", "= 0");
    free(trace);
    stop();
}
END_TEST

/* ---- torn files -------------------------------------------------------------------------------------------------- */

typedef struct image {
    char path[160];
    char bytes[65536];
    size_t size;
} image;

static void read_image(image *i) {
    FILE *file = fopen(i->path, "r");
    ck_assert_ptr_nonnull(file);
    i->size = fread(i->bytes, 1, sizeof i->bytes, file);
    ck_assert_uint_lt(i->size, sizeof i->bytes);
    fclose(file);
}

static void write_image(const image *i, size_t size) {
    FILE *file = fopen(i->path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(i->bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* Removes all files of simulations from the state directory. */
static void clear_state(void) {
    char path[160];
    while (find_files("simulations.*", path) > 0) {
        ck_assert_int_eq(unlink(path), 0);
    }
}

/* Checks a journal that is cut anywhere, since a loss of power may leave any part of a record that was being written,
 * and one with a changed byte. */
START_TEST(journal_that_is_cut_anywhere_leaves_the_changes_before) {
    random_source random = random_seed("cut journals", 11);
    static image snapshot, journal;
    uint64_t token = create("early");
    create("kept");
    find_files("simulations.*.journal", journal.path);
    read_image(&journal);
    size_t before = journal.size;
    ok(dyn_client_delete_simulation(client, "early", token, 0, NULL, &error));
    create("late");
    end(SIGKILL);
    find_files("simulations.*.snapshot", snapshot.path);
    read_image(&snapshot);
    read_image(&journal);
    ck_assert_uint_gt(journal.size, before);
    for (int k = 0; k < 12; k++) {
        size_t cut = before + (size_t)random_index(&random, (int)(journal.size - before));
        bool is_flipped = k % 3 == 2;
        clear_state();
        write_image(&snapshot, snapshot.size);
        journal.bytes[cut] = (char)(journal.bytes[cut] ^ (is_flipped ? 0x10 : 0));
        write_image(&journal, is_flipped ? journal.size : cut);
        journal.bytes[cut] = (char)(journal.bytes[cut] ^ (is_flipped ? 0x10 : 0));
        begin();
        ck_assert(is_there("kept", NULL));
        ck_assert_msg(!is_there("late", NULL), "the record is damaged at byte %zu of %zu", cut, journal.size);
        end(SIGKILL);
    }
    ck_assert(log_contains("cut off or damaged"));
    begin();
}
END_TEST

/* ---- full disk --------------------------------------------------------------------------------------------------- */

START_TEST(stop_without_space_keeps_the_previous_generation) {
    const struct rlimit none = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    char name[16];
    /* The limit is also that of the log, which must stay below it. */
    ok(dyn_client_set_log_level(client, DYN_CLIENT_LOG_LEVEL_WARNING, 0, NULL, NULL, &error));
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "arm%d", i);
        create(name);
    }
    save();
    uint64_t token = create("late");
    ck_assert_int_eq(prlimit(fixture.process, RLIMIT_FSIZE, &none, NULL), 0);
    step("late", token, 5);
    end(SIGTERM);
    ck_assert_msg(log_contains(" error ") && log_contains("the previous snapshot and its journal stay in force"),
                  "the log says nothing at level error");
    ck_assert_uint_eq(find_files("*.new", NULL) + find_files("simulations.reserve", NULL), 0);
    begin();
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "arm%d", i);
        ck_assert_msg(is_there(name, NULL), "%s is gone", name);
    }
    ck_assert_msg(is_there("late", NULL), "what was created after the snapshot is gone");
}
END_TEST

static dyn_client_health_state health_of_state(char message[256]) {
    dyn_client_health *health;
    ok(dyn_client_get_health(client, "state", 0, &health, &error));
    dyn_client_health_state state = health->state;
    snprintf(message, 256, "%s", health->components[0].message);
    dyn_client_health_free(health);
    return state;
}

static void wait_for_health(dyn_client_health_state wanted, char message[256]) {
    for (int i = 0; i < 500 && health_of_state(message) != wanted; i++) {
        pause_for(0.02);
    }
    ck_assert_msg(health_of_state(message) == wanted, "state: %s", message);
}

START_TEST(full_disk_is_reported_and_the_reserve_saves_all_simulations) {
    char message[256], name[16], path[160];
    end(SIGTERM);
    ck_assert(state_disk_mount(&fixture, "size=4m"));
    begin();
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "arm%d", i);
        create(name);
    }
    state_disk_fill(&fixture);
    /* The journal's last page may have free space for a part of these simulations. */
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "late%d", i);
        create(name);
    }
    wait_for_health(DYN_CLIENT_HEALTH_STATE_DEGRADED, message);
    ck_assert_msg(strstr(message, "No space left") != NULL, "%s", message);
    expect_durable(false);
    ck_assert(
        answer_contains("call create_simulation '{\"name\": \"told\", \"query\": {\"model\": \"ur5\"}}'", "\"token\""));
    restart(SIGTERM);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "late%d", i);
        ck_assert_msg(is_there(name, NULL), "%s is gone", name);
    }
    ck_assert(is_there("told", NULL));
    snprintf(path, sizeof path, "%s/state/filler", fixture.directory);
    unlink(path);
    wait_for_health(DYN_CLIENT_HEALTH_STATE_SERVING, message);
    create("fresh");
    restart(SIGKILL);
    ck_assert(is_there("fresh", NULL));
}
END_TEST

static TCase *add_case(Suite *suite, const char *name, double seconds) {
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, seconds);
    suite_add_tcase(suite, tcase);
    return tcase;
}

int main(void) {
    const char *tags = getenv("CK_INCLUDE_TAGS");
    if (tags && strcmp(tags, DISK_TAG) == 0 && !state_disk_can_mount()) {
        printf("skipped: filling a disk needs root\n");
        return 77;
    }
    Suite *suite = suite_create("durability");
    TCase *tcase = add_case(suite, "daemon", 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, created_claimed_and_deleted_simulations_stay_so_after_kill);
    tcase_add_test(tcase, persistent_model_outlives_kill_and_an_unloaded_one_does_not_return);
    tcase_add_test(tcase, second_file_of_a_model_name_is_reported_by_its_path);
    tcase_add_test(tcase, replacement_of_a_persistent_model_persists_only_on_request);
    tcase_add_test(tcase, derived_model_persists_with_its_digest);
    tcase_add_test(tcase, model_that_cannot_be_stored_is_refused_and_not_loaded);
    tcase_add_test(tcase, damaged_stored_model_is_reported_and_the_others_are_loaded);
    tcase_add_test(tcase, acknowledged_changes_outlive_kill_at_any_moment);
    tcase_add_test(tcase, journal_that_is_cut_anywhere_leaves_the_changes_before);
    tcase_add_test(tcase, stop_without_space_keeps_the_previous_generation);
    tcase = add_case(suite, "disk", 60);
    tcase_set_tags(tcase, DISK_TAG);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, full_disk_is_reported_and_the_reserve_saves_all_simulations);
    tcase = add_case(suite, "own daemon", 60);
    tcase_add_test(tcase, replies_wait_for_the_disk);
    tcase_add_test(tcase, configuration_makes_all_models_persistent);
    tcase_add_test(tcase, running_simulation_goes_on_from_its_last_periodic_snapshot);
    return run_suite(suite);
}
