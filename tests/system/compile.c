/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks models that the daemon compiles in the background: their torques are those of the kernels to rounding,
 * whatever happens to the compiler and its files.
 */
#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dynamics_client.h>

#include "dynamics/v1/envelope.pb-c.h"
#include "system/compile_socket.h"
#include "system/daemon_fixture.h"
#include "system/runner.h"
#include "system/wire_tree.h"

enum { JOINTS = 6, STATES = 20, TEXT_SIZE = 512 };

/* Longest time of any wait, in seconds: sanitizers and other tests slow the compiler down. */
static const double patience = 120;

static daemon_fixture served;
static dyn_client *client;
static dyn_client_error error;
static char directory[] = "/tmp/dynamicsd-compile-XXXXXX"; /* of robots and of compilers that misbehave */
static double q[STATES][JOINTS];

static void require(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s: %s", error.field, error.message);
}

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...) {
    char command[2 * TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    ck_assert_msg(system(command) == 0, "%s", command);
}

static void create_files(void) {
    ck_assert_ptr_nonnull(mkdtemp(directory));
    shell("mkdir %s/robots && cp " DYNAMICS_ROBOTS_DIR "/ur5.urdf %s/robots", directory, directory);
    for (int s = 0; s < STATES; s++) {
        for (int i = 0; i < JOINTS; i++) {
            q[s][i] = sin(3.7 * s + 1.3 * i);
        }
    }
}

static void remove_files(void) {
    shell("rm -r %s", directory);
}

/* Writes an executable shell script, which a test names as the daemon's C compiler. */
static void write_compiler(const char *name, const char *text) {
    char path[TEXT_SIZE];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    ck_assert(file && fprintf(file, "#!/bin/sh\n%s\n", text) > 0 && fclose(file) == 0);
    ck_assert_int_eq(chmod(path, 0755), 0);
}

static void start(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Starts a daemon with these lines of [compile], and a client. */
static void start(const char *format, ...) {
    char configuration[TEXT_SIZE] = "[compile]\n", robots[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(configuration + 10, sizeof configuration - 10, format, arguments);
    va_end(arguments);
    snprintf(robots, sizeof robots, "%s/robots", directory);
    daemon_start(&(daemon_options){.configuration = configuration, .models = robots}, &served);
    require(dyn_client_connect(served.request_ipc, NULL, &client, &error));
}

static void stop(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

/* Returns the state of a model's compilation; `reason` receives the daemon's reason. */
static Dynamics__V1__CompilationState look_at(const char *model, char reason[TEXT_SIZE]) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__DescribeModelRequest question = DYNAMICS__V1__DESCRIBE_MODEL_REQUEST__INIT;
    uint8_t bytes[64];
    void *answer;
    size_t size;
    question.model = (char *)model;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_DESCRIBE_MODEL;
    request.describe_model = &question;
    require(dyn_client_call(client, bytes, dynamics__v1__request__pack(&request, bytes), 0, &answer, &size, &error));
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, size, answer);
    ck_assert(reply && reply->result_case == DYNAMICS__V1__REPLY__RESULT_DESCRIBE_MODEL);
    const Dynamics__V1__Compilation *c = reply->describe_model->compilation;
    ck_assert(c && c->instruction_set[0] != '\0');
    Dynamics__V1__CompilationState state = c->state;
    snprintf(reason, TEXT_SIZE, "%s", c->reason);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    dyn_client_free(answer);
    return state;
}

static Dynamics__V1__CompilationState look(char reason[TEXT_SIZE]) {
    return look_at("ur5", reason);
}

static void wait_for_model(const char *model, Dynamics__V1__CompilationState state, char reason[TEXT_SIZE]) {
    Dynamics__V1__CompilationState found = look_at(model, reason);
    for (double waited = 0; found != state && waited < patience; waited += 0.05) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        found = look_at(model, reason);
    }
    ck_assert_msg(found == state, "state %d instead of %d: %s", (int)found, (int)state, reason);
}

static void wait_for(Dynamics__V1__CompilationState state, char reason[TEXT_SIZE]) {
    wait_for_model("ur5", state, reason);
}

static void bias(size_t samples, double tau[STATES][JOINTS]) {
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = samples);
    require(dyn_client_inverse_dynamics(client, &query, q[0], q[0], NULL, tau[0], &error));
}

/* Checks that the torques equal, to rounding, those of a daemon that does not compile. */
static void assert_torques(double expected[STATES][JOINTS]) {
    double tau[STATES][JOINTS], off = 0, square = 0;
    bias(STATES, tau);
    for (int s = 0; s < STATES; s++) {
        for (int i = 0; i < JOINTS; i++) {
            off += pow(tau[s][i] - expected[s][i], 2), square += pow(expected[s][i], 2);
        }
    }
    ck_assert_double_gt(square, 1);
    ck_assert_double_le(sqrt(off), 1e-12 * sqrt(square));
}

static void generic_torques(double expected[STATES][JOINTS]) {
    char reason[TEXT_SIZE];
    start("mode = off");
    bias(STATES, expected);
    ck_assert_int_eq(look(reason), DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_WAITING);
    stop();
}

static void assert_log(const char *text) {
    char *log = daemon_log(&served);
    ck_assert_msg(strstr(log, text) != NULL, "\"%s\" is not in the log:\n%s", text, log);
    free(log);
}

/* Unloads the model ur5 and loads it again as a new entry. */
static void reload(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(DYNAMICS_ROBOTS_DIR "/ur5.urdf", "r");
    ck_assert(file && getdelim(&text, &size, 0, file) > 0 && fclose(file) == 0);
    dyn_client_loaded_model *loaded;
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = text, .name = "ur5");
    require(dyn_client_unload_model(client, "ur5", 0, &error));
    require(dyn_client_load_model(client, &request, &loaded, &error));
    dyn_client_loaded_model_free(loaded);
    free(text);
}

START_TEST(a_compiled_model_gives_the_same_torques) {
    double expected[STATES][JOINTS], batch[STATES][JOINTS], one[STATES][JOINTS];
    char reason[TEXT_SIZE];
    generic_torques(expected);
    start("mode = on");
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    ck_assert_str_eq(reason, "");
    assert_torques(expected);
    bias(STATES, batch), bias(1, one);
    ck_assert_mem_eq(batch[0], one[0], sizeof batch[0]);

    /* The next entry of the same model uses the compiled object. */
    reload();
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    assert_torques(expected);

    /* The daemon refuses an object that somebody changed. The test replaces the file, since the old one is still
     * mapped. */
    shell("cd %s/state/compiled && for f in *.so; do cp $f new && printf X | dd of=new bs=1 seek=5000 conv=notrunc "
          "2>/dev/null && mv new $f; done",
          served.directory);
    reload();
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    assert_log("was changed since it was compiled");
    assert_torques(expected);

    /* The daemon also refuses a whole file of another model. */
    shell("cd %s/state/compiled && f=$(ls *.so) && " DYNAMICS_COMPILE " --shared --gravity 0,0,-1 " DYNAMICS_ROBOTS_DIR
          "/ur5.urdf -o new && mv new $f && printf sha256:%%s $(sha256sum $f | cut -c1-64) > $f.sha256",
          served.directory);
    reload();
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    assert_log("it was compiled for another model");
    assert_torques(expected);
    stop();
}
END_TEST

/* Checks that the Jacobian of the last link, computed by the daemon, is to rounding that of the library in this
 * process. */
static void assert_jacobian(const wire_tree *tree) {
    size_t nv = tree->query.nv;
    int frame = dyn_model_link_count(tree->model) - 1;
    const char *name = dyn_model_link(tree->model, frame)->name;
    double *wire = calloc(6 * nv, sizeof *wire), *expected = calloc(6 * nv, sizeof *expected), off = 0, square = 0;
    dyn_error problem;
    require(dyn_client_jacobians(client, &tree->query, tree->q, 1, &name,
                                 DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, wire + 3 * nv, wire, &error));
    ck_assert_int_eq(dyn_frame_jacobian(tree->model, tree->workspace, 1, tree->q, frame,
                                        DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, expected, &problem),
                     DYN_OK);
    for (size_t i = 0; i < 6 * nv; i++) {
        off += pow(wire[i] - expected[i], 2), square += pow(expected[i], 2);
    }
    ck_assert_double_le(sqrt(off), 1e-12 * sqrt(square));
    free(wire), free(expected);
}

/* Checks robots of every joint type, some beyond URDF, with mimic joints and with a floating base. */
START_TEST(robots_of_every_joint_type_are_compiled) {
    random_source base = random_seed("compiled robots of every joint type", 20261121);
    char reason[TEXT_SIZE];
    bool has_type[DYN_JOINT_TYPE_FLOATING + 1] = {false};
    start("mode = on");
    for (int k = 0; k < 2; k++) {
        random_source random = random_case(base, (uint64_t)k);
        const random_tree_options options = {.joints = 8 - 2 * k,
                                             .base = k ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                             .with_mimic = true,
                                             .with_fixed = true};
        wire_tree tree;
        dyn_error problem;
        wire_tree_open(client, &random, &options, "tree", &tree);
        double *tau = calloc(2 * tree.query.nv, sizeof *tau), off = 0, square = 0;
        for (int j = 0; j < dyn_model_joint_count(tree.model); j++) {
            has_type[dyn_model_joint(tree.model, j)->type] = true;
        }
        wait_for_model("tree", DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
        require(dyn_client_inverse_dynamics(client, &tree.query, tree.q, tree.v, tree.a, tau, &error));
        ck_assert_int_eq(
            dyn_rnea(tree.model, tree.workspace, 1, NULL, tree.q, tree.v, tree.a, NULL, tau + tree.query.nv, &problem),
            DYN_OK);
        for (size_t i = 0; i < tree.query.nv; i++) {
            off += pow(tau[i] - tau[tree.query.nv + i], 2), square += pow(tau[i], 2);
        }
        ck_assert_double_le(sqrt(off), 1e-12 * sqrt(square));
        free(tau);
        assert_jacobian(&tree);
        wire_tree_close(&tree);
    }
    ck_assert(has_type[DYN_JOINT_TYPE_HELICAL] || has_type[DYN_JOINT_TYPE_CYLINDRICAL]);
    ck_assert(has_type[DYN_JOINT_TYPE_UNIVERSAL] || has_type[DYN_JOINT_TYPE_SPHERICAL]);
    stop();
}
END_TEST

/* Creates a simulation in lockstep that falls from a fixed state; returns its token. `with` receives the daemon's
 * description of the code that computes it. */
static uint64_t create_simulation(const char *name, dyn_client_compiled_steps compiled, char with[TEXT_SIZE]) {
    const dyn_client_simulation_options options = DYN_CLIENT_SIMULATION_OPTIONS_INIT(
            .name = name, .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"), .nq = JOINTS, .q = q[1],
            .stepping =
                &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.ignore_effort_limits = true, .compiled = compiled),
            .keep = true);
    dyn_client_simulation *simulation;
    uint64_t token;
    require(dyn_client_create_simulation(client, &options, &token, &simulation, &error));
    snprintf(with, TEXT_SIZE, "%s", simulation->computed_with);
    dyn_client_simulation_free(simulation);
    return token;
}

static void run_steps(const char *name, uint64_t token, uint64_t steps, double v[JOINTS]) {
    dyn_client_simulation *simulation;
    require(dyn_client_step_simulation(client, name, token, steps, NULL, 0, &simulation, &error));
    ck_assert_uint_eq(simulation->nv, JOINTS);
    memcpy(v, simulation->v, JOINTS * sizeof *v);
    dyn_client_simulation_free(simulation);
}

static void look_at_simulation(const char *name, char with[TEXT_SIZE]) {
    dyn_client_simulation *simulation;
    require(dyn_client_get_simulation(client, name, 0, 0, &simulation, &error));
    snprintf(with, TEXT_SIZE, "%s", simulation->computed_with);
    dyn_client_simulation_free(simulation);
}

/* Records `steps` steps of a simulation under its name. */
static void record(const char *name, uint64_t token, uint64_t steps) {
    double v[JOINTS];
    require(dyn_client_record_simulation(client, name, token, name, 0, &error));
    run_steps(name, token, steps, v);
    require(dyn_client_stop_recording(client, name, token, 0, NULL, NULL, &error));
}

/* Checks the names of the code that recorded a recording and of the code that replays it. All replayed steps have the
 * recorded bits if the two are equal, otherwise not all. */
static void assert_replay(const char *name, const char *recorded_with, const char *computed_with) {
    dyn_client_replay *replay;
    require(dyn_client_replay_simulation(client, name, NULL, NULL, &replay, &error));
    ck_assert_str_eq(replay->recorded_with, recorded_with);
    ck_assert_str_eq(replay->computed_with, computed_with);
    ck_assert(replay->steps == 300 && !replay->is_truncated);
    if (strcmp(recorded_with, computed_with) == 0) {
        ck_assert_uint_eq(replay->equal_steps, replay->steps);
    } else {
        ck_assert_uint_lt(replay->equal_steps, replay->steps);
    }
    dyn_client_replay_free(replay);
}

/* Restarts the daemon with other lines of [compile]. */
static void restart(const char *lines) {
    char sections[TEXT_SIZE];
    snprintf(sections, sizeof sections, "[compile]\n%s\n", lines);
    dyn_client_close(client);
    daemon_configure(&served, sections);
    daemon_restart(&served);
    require(dyn_client_connect(served.request_ipc, NULL, &client, &error));
}

START_TEST(simulations_keep_the_code_that_computes_them) {
    char reason[TEXT_SIZE], fast[TEXT_SIZE], plain[TEXT_SIZE], with[TEXT_SIZE], off[2 * TEXT_SIZE + 80];
    double v_fast[JOINTS], v_plain[JOINTS], distance = 0;
    start("mode = on");
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    uint64_t one = create_simulation("fast", DYN_CLIENT_COMPILED_STEPS_ALWAYS, fast);
    uint64_t other = create_simulation("plain", DYN_CLIENT_COMPILED_STEPS_NEVER, plain);
    ck_assert_ptr_nonnull(strstr(fast, ", compiled sha256:"));
    ck_assert_int_eq(strncmp(fast, plain, strlen(plain)), 0);
    ck_assert_ptr_null(strstr(plain, "compiled"));
    record("fast", one, 300), record("plain", other, 300);
    run_steps("fast", one, 1, v_fast), run_steps("plain", other, 1, v_plain);
    for (int i = 0; i < JOINTS; i++) {
        distance = fmax(distance, fabs(v_fast[i] - v_plain[i]));
    }
    ck_assert_msg(distance > 0 && distance < 1e-7, "%g", distance);
    assert_replay("fast", fast, fast);
    assert_replay("plain", plain, plain);

    /* The daemon stored the object: the simulation continues with compiled code, also before the daemon looks for
     * models to compile. */
    restart("mode = on");
    look_at_simulation("fast", with);
    ck_assert_str_eq(with, fast);
    look_at_simulation("plain", with);
    ck_assert_str_eq(with, plain);
    assert_replay("fast", fast, fast);

    /* With compiled code switched off, the simulation continues with the kernels, and the daemon reports that. */
    restart("mode = off");
    snprintf(off, sizeof off, "simulation fast: it was computed with %s, and goes on with %s", fast, plain);
    assert_log(off);
    look_at_simulation("fast", with);
    ck_assert_str_eq(with, plain);
    run_steps("fast", one, 1, v_fast);
    assert_replay("fast", fast, plain);
    assert_replay("plain", plain, plain);
    stop();
}
END_TEST

static char *roll_out(dyn_client_compiled_steps compiled, double v[JOINTS]) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1);
    const dyn_client_stepping stepping = DYN_CLIENT_STEPPING_INIT(.compiled = compiled, .ignore_effort_limits = true);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[1], .stepping = &stepping, .steps = 100, .only_last = true);
    dyn_client_rollout *rollout;
    require(dyn_client_rollout_run(client, &query, &request, &rollout, &error));
    char *with = strdup(rollout->computed_with);
    memcpy(v, rollout->v, JOINTS * sizeof *v);
    dyn_client_rollout_free(rollout);
    return with;
}

START_TEST(rollouts_name_the_code_that_computed_them) {
    char reason[TEXT_SIZE];
    double v_fast[JOINTS], v_plain[JOINTS], distance = 0;
    start("mode = on");
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    char *fast = roll_out(DYN_CLIENT_COMPILED_STEPS_WHERE_READY, v_fast),
         *plain = roll_out(DYN_CLIENT_COMPILED_STEPS_NEVER, v_plain);
    ck_assert(strstr(fast, "compiled sha256:") && !strstr(plain, "compiled"));
    for (int i = 0; i < JOINTS; i++) {
        distance = fmax(distance, fabs(v_fast[i] - v_plain[i]));
    }
    ck_assert_msg(distance > 0 && distance < 1e-7, "%g", distance);
    free(fast), free(plain);
    stop();
}
END_TEST

/* Checks that the last error is at this field and contains these words. */
static void assert_refused(const char *field, const char *words) {
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, words) != NULL, "%s", error.message);
}

START_TEST(steps_that_cannot_be_compiled_are_refused) {
    static const double moon[3] = {0, 0, -1.62};
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1);
    dyn_client_stepping stepping = DYN_CLIENT_STEPPING_INIT(.compiled = DYN_CLIENT_COMPILED_STEPS_ALWAYS);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[1], .stepping = &stepping, .steps = 100, .only_last = true);
    const dyn_client_simulation_options options = DYN_CLIENT_SIMULATION_OPTIONS_INIT(
            .query = &query,
            .stepping = &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.compiled = DYN_CLIENT_COMPILED_STEPS_ALWAYS));
    dyn_client_rollout *rollout;
    dyn_client_simulation *simulation;
    char reason[TEXT_SIZE];
    uint64_t token;
    start("mode = off");
    ck_assert_int_eq(dyn_client_rollout_run(client, &query, &request, &rollout, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    assert_refused("rollout.stepping.compiled", "not compiled ([compile] mode)");
    ck_assert_int_eq(dyn_client_create_simulation(client, &options, &token, &simulation, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    assert_refused("create_simulation.stepping.compiled", "not compiled ([compile] mode)");
    stop();

    start("mode = on");
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    query.gravity = moon;
    ck_assert_int_eq(dyn_client_rollout_run(client, &query, &request, &rollout, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    assert_refused("rollout.stepping.compiled", "with this gravity");
    ck_assert_int_eq(dyn_client_create_simulation(client, &options, &token, &simulation, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    assert_refused("create_simulation.stepping.compiled", "with this gravity");
    stepping.compiled = (dyn_client_compiled_steps)7;
    ck_assert_int_eq(dyn_client_rollout_run(client, &query, &request, &rollout, &error), DYN_CLIENT_INVALID_ARGUMENT);
    assert_refused("rollout.stepping.compiled", "pass a number from 0 to 2");
    stop();
}
END_TEST

START_TEST(first_use_begins_it) {
    double tau[STATES][JOINTS];
    char reason[TEXT_SIZE];
    start("mode = first-use");
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
    ck_assert_int_eq(look(reason), DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_WAITING);
    bias(1, tau);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    bias(1, tau);
    stop();
}
END_TEST

START_TEST(without_a_compiler_the_kernels_serve) {
    double expected[STATES][JOINTS];
    char reason[TEXT_SIZE];
    generic_torques(expected);
    start("mode = on\ncompiler = /no/such/compiler");
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, "there is no compiler /no/such/compiler") != NULL, "%s", reason);
    assert_log("ur5 is not compiled");
    assert_torques(expected);
    stop();

    start("mode = on\nprogram = /no/such/program");
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, "/no/such/program cannot be started") != NULL, "%s", reason);
    assert_torques(expected);
    stop();
}
END_TEST

/* Fails while the cache contains an entry that is neither an object nor its digest. */
static void assert_no_scratch(void) {
    shell("cd %s/state/compiled && ! ls -A | grep -v '[.]so$\\|[.]so[.]sha256$'", served.directory);
}

/* Returns whether the process exists whose number is in the file `name` of the directory. */
static bool is_alive(const char *name) {
    char path[TEXT_SIZE];
    int process = 0;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        return false;
    }
    bool is_read = fscanf(file, "%d", &process) == 1;
    fclose(file);
    return is_read && kill(process, 0) == 0;
}

START_TEST(a_compiler_that_runs_too_long_is_ended) {
    char reason[TEXT_SIZE];
    write_compiler("sleeper", "exec sleep 600");
    start("mode = on\ncompiler = %s/sleeper\ntime = 0.7", directory);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, "longer than 0.7 s") != NULL, "%s", reason);
    assert_no_scratch();
    stop();
}
END_TEST

START_TEST(a_compiler_that_needs_too_much_memory_is_refused) {
    char reason[TEXT_SIZE];
    start("mode = on\nmemory_bytes = 33554432");
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, "MB of memory (--memory-megabytes, [compile] memory_bytes)") != NULL, "%s", reason);
    assert_no_scratch();
    stop();
}
END_TEST

static void wait_until_alive(const char *name, bool is_wanted) {
    for (double waited = 0; is_alive(name) != is_wanted && waited < patience; waited += 0.02) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    ck_assert(is_alive(name) == is_wanted);
}

/* Starts a daemon with a compiler that writes the numbers of its process and of dynamics-compile to files, and never
 * ends. */
static void start_endless_compiler(void) {
    char text[TEXT_SIZE], reason[TEXT_SIZE];
    snprintf(text, sizeof text, "echo $PPID > %s/parent\necho $$ > %s/pid\nexec sleep 600", directory, directory);
    write_compiler("endless", text);
    shell("rm -f %s/pid %s/parent", directory, directory);
    start("mode = on\ncompiler = %s/endless", directory);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_RUNNING, reason);
    wait_until_alive("pid", true);
    shell("test -n \"$(find %s/state/compiled -name kernels.c)\"", served.directory);
}

START_TEST(sigterm_ends_the_compiler_and_leaves_nothing_of_it) {
    start_endless_compiler();
    restart("mode = off");
    wait_until_alive("pid", false);
    assert_no_scratch();
    stop();
}
END_TEST

/* Checks a kill of the model compiler such as the kernel's where memory is short. */
START_TEST(nothing_is_left_of_a_model_compiler_that_is_killed) {
    char reason[TEXT_SIZE];
    start_endless_compiler();
    shell("kill -KILL $(cat %s/parent)", directory);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, "ended with signal 9") != NULL, "%s", reason);
    wait_until_alive("pid", false);
    assert_no_scratch();
    stop();
}
END_TEST

/* Checks that a start removes files that a daemon that was killed while it compiled, or an older version, left. */
START_TEST(a_restart_removes_leftover_files) {
    char reason[TEXT_SIZE];
    start("mode = on");
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    assert_no_scratch();
    shell("cd %s/state/compiled && mkdir 00-avx2.so.AbCdEf scratch.AbCdEf && touch 00-avx2.so.AbCdEf/kernels.c "
          "scratch.AbCdEf/messages 00-avx2.so.log",
          served.directory);
    restart("mode = on");
    assert_no_scratch();
    assert_log("3 files and directories of compilations that were cut short are removed");
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    stop();
}
END_TEST

/* ---- source text and formulas ------------------------------------------------------------------------------------ */

/* Requests the export of a model. The caller frees the reply. */
static Dynamics__V1__Reply *export_by(Dynamics__V1__ExportModelRequest *question, double timeout) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    uint8_t bytes[512];
    void *answer;
    size_t size;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_EXPORT_MODEL;
    request.export_model = question;
    request.timeout = timeout;
    ck_assert_uint_le(dynamics__v1__request__get_packed_size(&request), sizeof bytes);
    require(dyn_client_call(client, bytes, dynamics__v1__request__pack(&request, bytes), 0, &answer, &size, &error));
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, size, answer);
    ck_assert_ptr_nonnull(reply);
    dyn_client_free(answer);
    return reply;
}

static void must_refuse_export(Dynamics__V1__ExportModelRequest question, Dynamics__V1__Code code, const char *field,
                               const char *words) {
    Dynamics__V1__Reply *reply = export_by(&question, 5);
    ck_assert_msg(reply->status->code == code, "%s: %d, %s", field, (int)reply->status->code, reply->status->message);
    ck_assert_str_eq(reply->status->field, field);
    ck_assert_msg(strstr(reply->status->message, words) != NULL, "%s", reply->status->message);
    dynamics__v1__reply__free_unpacked(reply, NULL);
}

static Dynamics__V1__ExportModelRequest export_of(const char *model, Dynamics__V1__ModelFormat format) {
    Dynamics__V1__ExportModelRequest question = DYNAMICS__V1__EXPORT_MODEL_REQUEST__INIT;
    question.model = (char *)(uintptr_t)model;
    question.format = format;
    return question;
}

typedef void rnea_function(const double *q, const double *v, const double *a, double *tau);
typedef void frame_function(const float *q, float *position, float *rotation, float *J);

/* Compiles the C of a reply, and loads it. */
static void *load_source(const Dynamics__V1__Reply *reply) {
    ck_assert_int_eq(reply->result_case, DYNAMICS__V1__REPLY__RESULT_EXPORT_MODEL);
    ck_assert_int_eq(reply->export_model->form_case, DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_TEXT);
    char path[TEXT_SIZE];
    snprintf(path, sizeof path, "%s/exported.c", directory);
    FILE *file = fopen(path, "w");
    ck_assert(file && fputs(reply->export_model->text, file) >= 0 && fclose(file) == 0);
    shell("cc -std=c99 -O1 -fPIC -shared %s -o %s.so -lm", path, path);
    snprintf(path, sizeof path, "%s/exported.c.so", directory);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(object != NULL, "%s", dlerror());
    return object;
}

START_TEST(exported_c_has_the_torques_of_the_daemon) {
    double expected[STATES][JOINTS], tau[JOINTS], none[JOINTS] = {0};
    rnea_function *rnea;
    start("mode = off");
    Dynamics__V1__ExportModelRequest question = export_of("ur5", DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C);
    Dynamics__V1__Reply *reply = export_by(&question, 0);
    void *object = load_source(reply);
    *(void **)&rnea = dlsym(object, "ur5_rnea");
    ck_assert(rnea && dlsym(object, "ur5_crba") && dlsym(object, "ur5_aba"));
    bias(STATES, expected);
    for (int s = 0; s < STATES; s++) {
        rnea(q[s], q[s], none, tau);
        for (int i = 0; i < JOINTS; i++) {
            ck_assert_double_eq_tol(tau[i], expected[s][i], 1e-11);
        }
    }
    dlclose(object);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    stop();
}
END_TEST

START_TEST(exported_c_has_the_requested_functions_and_precision) {
    char *functions[] = {"gravity", "minverse"}, *frames[] = {"tool0"};
    const float zero[JOINTS] = {0};
    float position[3], rotation[9], J[6 * JOINTS];
    frame_function *frame;
    start("mode = off");
    Dynamics__V1__ExportModelRequest question = export_of("ur5", DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C);
    question.n_functions = 2, question.functions = functions;
    question.n_frames = 1, question.frames = frames;
    question.precision = DYNAMICS__V1__PRECISION__PRECISION_SINGLE;
    Dynamics__V1__Reply *reply = export_by(&question, 0);
    void *object = load_source(reply);
    ck_assert(dlsym(object, "ur5_gravity") && dlsym(object, "ur5_minverse") && !dlsym(object, "ur5_rnea"));
    *(void **)&frame = dlsym(object, "ur5_frame_tool0");
    ck_assert(frame != NULL);
    frame(zero, position, rotation, J);
    ck_assert_double_eq_tol((double)position[0], -0.81725, 1e-6);
    dlclose(object);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    stop();
}
END_TEST

START_TEST(exported_formulas_are_those_of_the_textbook) {
    dyn_client_exported_model *exported;
    start("mode = off");
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(DYNAMICS_ROBOTS_DIR "/two_link.urdf", "r");
    ck_assert(file && getdelim(&text, &size, 0, file) > 0 && fclose(file) == 0);
    dyn_client_loaded_model *loaded;
    require(dyn_client_load_model(client, &(dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = text), &loaded,
                                  &error));
    free(text);
    dyn_client_loaded_model_free(loaded);
    require(dyn_client_export_model(client, "two_link", DYN_CLIENT_MODEL_FORMAT_FORMULAS, NULL, 0, &exported, &error));
    ck_assert_msg(strstr(exported->text, "\nM11 = 3 + 2*cos(q2)\n") != NULL, "%s", exported->text);
    dyn_client_exported_model_free(exported);
    require(dyn_client_export_model(client, "two_link", DYN_CLIENT_MODEL_FORMAT_LATEX, NULL, 0, &exported, &error));
    ck_assert_msg(strstr(exported->text, "M_{11} &= 3 + 2 \\, \\cos(q_{2})") != NULL, "%s", exported->text);
    dyn_client_exported_model_free(exported);
    stop();
}
END_TEST

START_TEST(exports_that_cannot_be_generated_are_refused) {
    char *unknown[] = {"rnea", "gravitas"}, *comma[] = {"a,b"}, *nowhere[] = {"nowhere"};
    start("mode = off");
    Dynamics__V1__ExportModelRequest c = export_of("ur5", DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C);
    c.n_functions = 2, c.functions = unknown;
    must_refuse_export(c, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, "export_model.functions", "\"gravitas\"");
    c.functions = comma, c.n_functions = 1;
    must_refuse_export(c, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, "export_model.functions[0]", "comma");
    c.format = DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_URDF;
    must_refuse_export(c, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, "export_model.functions", "leave it out");
    c = export_of("ur5", DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C);
    c.n_frames = 1, c.frames = nowhere;
    must_refuse_export(c, DYNAMICS__V1__CODE__CODE_NOT_FOUND, "export_model.frames[0]", "nowhere");
    must_refuse_export(export_of("ur5", DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_FORMULAS),
                       DYNAMICS__V1__CODE__CODE_FAILED_PRECONDITION, "export_model.format", "6 coordinates");
    stop();
    start("program = %s/missing", directory);
    must_refuse_export(export_of("ur5", DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C),
                       DYNAMICS__V1__CODE__CODE_FAILED_PRECONDITION, "export_model.format", "[compile] program");
    stop();
}
END_TEST

/* Checks that a program that does not end is killed at the deadline of the request, and that the next request runs. */
START_TEST(generation_that_takes_too_long_is_killed) {
    write_compiler("endless_generator", "echo $$ >$(dirname $0)/generator\nwhile :; do :; done");
    start("program = %s/endless_generator", directory);
    for (int i = 0; i < 2; i++) {
        Dynamics__V1__ExportModelRequest c = export_of("ur5", DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C);
        Dynamics__V1__Reply *reply = export_by(&c, 0.5);
        ck_assert_int_eq(reply->status->code, DYNAMICS__V1__CODE__CODE_DEADLINE_EXCEEDED);
        dynamics__v1__reply__free_unpacked(reply, NULL);
        wait_until_alive("generator", false);
    }
    stop();
}
END_TEST

/* ---- the sandbox ------------------------------------------------------------------------------------------------- */

static char sandbox_path[TEXT_SIZE], sandbox_files[TEXT_SIZE];

/* Starts a sandbox with this program. */
static pid_t start_sandbox(char *const program[]) {
    snprintf(sandbox_path, sizeof sandbox_path, "%s/sandbox", directory);
    snprintf(sandbox_files, sizeof sandbox_files, "%s/sandbox_files", directory);
    shell("mkdir -p %s", sandbox_files);
    return compile_socket_start(sandbox_path, sandbox_files, program);
}

/* Starts a sandbox whose C compiler is `compiler`; "": the default. */
static pid_t start_compiling(const char *compiler) {
    char *program[] = {DYNAMICS_COMPILE, "--serve", (char *)compiler, NULL};
    return start_sandbox(program);
}

/* Waits until the sandbox has no files left. */
static void wait_for_no_files(void) {
    shell("for i in $(seq 500); do [ -z \"$(ls -A %s)\" ] && exit 0; sleep 0.02; done; exit 1", sandbox_files);
}

/* Checks that the daemon's compiler is not asked, that the object is used, and that texts come from the sandbox too. */
START_TEST(a_sandbox_compiles_for_the_daemon) {
    double expected[STATES][JOINTS];
    char reason[TEXT_SIZE];
    generic_torques(expected);
    pid_t sandbox = start_compiling("");
    start("mode = on\ncompiler = /no/such/compiler\nsandbox = %s", sandbox_path);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    assert_torques(expected);
    assert_no_scratch();
    Dynamics__V1__ExportModelRequest question = export_of("ur5", DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C);
    Dynamics__V1__Reply *reply = export_by(&question, 0);
    void *object = load_source(reply);
    ck_assert_ptr_nonnull(dlsym(object, "ur5_rnea"));
    dlclose(object);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    wait_for_no_files();

    /* The object is found at the next start, without the sandbox. Texts are refused then, with the reason. */
    compile_socket_stop(sandbox, sandbox_path);
    reload();
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE, reason);
    must_refuse_export(export_of("ur5", DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C),
                       DYNAMICS__V1__CODE__CODE_FAILED_PRECONDITION, "export_model.format", "the sandbox at ");
    stop();
}
END_TEST

START_TEST(without_its_sandbox_the_kernels_serve) {
    double expected[STATES][JOINTS];
    char reason[TEXT_SIZE];
    generic_torques(expected);
    start("mode = on\nsandbox = %s/no_sandbox", directory);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, "no_sandbox: No such file or directory") != NULL, "%s", reason);
    assert_torques(expected);
    stop();
}
END_TEST

/* Checks the daemon's time limit: the compiler ends in the sandbox, and nothing is left of it. */
START_TEST(a_sandbox_that_takes_too_long_is_left_and_ends) {
    char text[TEXT_SIZE], reason[TEXT_SIZE];
    snprintf(text, sizeof text, "echo $$ > %s/pid\nexec sleep 600", directory);
    write_compiler("endless", text);
    shell("rm -f %s/pid", directory);
    snprintf(text, sizeof text, "%s/endless", directory);
    pid_t sandbox = start_compiling(text);
    start("mode = on\nsandbox = %s\ntime = 3", sandbox_path);
    wait_until_alive("pid", true);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, "longer than 3 s") != NULL, "%s", reason);
    wait_until_alive("pid", false);
    wait_for_no_files();
    assert_no_scratch();
    stop();
    compile_socket_stop(sandbox, sandbox_path);
}
END_TEST

/* Checks that a sandbox reports the failure of its compiler, and the memory limit of the daemon. */
START_TEST(a_sandbox_reports_failures) {
    char reason[TEXT_SIZE];
    pid_t sandbox = start_compiling("/no/such/compiler");
    start("mode = on\nsandbox = %s", sandbox_path);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, "there is no compiler /no/such/compiler") != NULL, "%s", reason);
    stop();
    compile_socket_stop(sandbox, sandbox_path);
    sandbox = start_compiling("");
    start("mode = on\nsandbox = %s\nmemory_bytes = 33554432", sandbox_path);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, "MB of memory") != NULL, "%s", reason);
    stop();
    compile_socket_stop(sandbox, sandbox_path);
}
END_TEST

/* Answers of hostile sandboxes, as arguments of printf, and what the daemon says of them. */
static const struct {
    const char *answer, *reason;
} lies[] = {
    {"", "the connection of the sandbox"},
    {"\\000\\000\\000\\000\\377\\377\\377\\377", "is more than 65536"},
    {"\\000\\000\\000\\000\\000\\000\\000\\000\\377\\377\\377\\377", "is more than 1073741824"},
    {"\\000\\000\\000\\000\\000\\000\\000\\000\\005\\000\\000\\000hello", "it cannot be loaded"},
    {"\\377\\377\\377\\377", "the exit code"},
};

START_TEST(a_sandbox_that_lies_is_refused) {
    double expected[STATES][JOINTS];
    char reason[TEXT_SIZE], text[TEXT_SIZE];
    generic_torques(expected);
    snprintf(text, sizeof text, "head -c 500 <&0 >/dev/null; printf '%s' >&0", lies[_i].answer);
    char *program[] = {"/bin/sh", "-c", text, NULL};
    pid_t sandbox = start_sandbox(program);
    start("mode = on\nsandbox = %s", sandbox_path);
    wait_for(DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED, reason);
    ck_assert_msg(strstr(reason, lies[_i].reason) != NULL, "%s", reason);
    shell("cd %s/state/compiled && test -z \"$(ls)\"", served.directory);
    assert_torques(expected);
    stop();
    compile_socket_stop(sandbox, sandbox_path);
}
END_TEST

/* Sends bytes to the sandbox, and nothing more, and checks that it closes the connection without an answer. */
static void send_broken(const char *bytes, size_t size) {
    char answer;
    int connection = compile_socket_connect(sandbox_path);
    ck_assert_int_eq(send(connection, bytes, size, MSG_NOSIGNAL), (int)size);
    ck_assert_int_eq(shutdown(connection, SHUT_WR), 0);
    ck_assert_int_le(recv(connection, &answer, 1, 0), 0);
    close(connection);
}

/* Beginnings of requests: another version, too many options, an option that is too long, and one that is cut off. */
static const char *const broken[] = {"DYC2\1\0\0\0", "DYC1\41\0\0\0", "DYC1\377\377\377\377", "DYC1\2\0\0\0"};

/* Checks that a sandbox refuses options that name files or programs, their other spellings, and what is no request. */
START_TEST(a_sandbox_refuses_files_and_programs) {
    static const char *const refused[] = {
        "--header=x.h", "--compiler=/bin/sh", "--comp=/bin/sh", "--output=x.c", "-ox.c",
        "--help",       "--prefix",           "--sandbox=x",    "--serve=x"};
    pid_t sandbox = start_compiling("");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        shell("cd %s && " DYNAMICS_COMPILE " --sandbox=sandbox " DYNAMICS_ROBOTS_DIR
              "/ur5.urdf -o made %s 2>said; test $? -ne 0 && test ! -e made && test -s said",
              directory, refused[i]);
    }
    shell("cd %s && " DYNAMICS_COMPILE " --sandbox=sandbox " DYNAMICS_ROBOTS_DIR "/ur5.urdf -o made --prefix=p && "
          "grep -q p_rnea made && rm made",
          directory);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        send_broken(broken[i], 8);
    }
    wait_for_no_files();
    compile_socket_stop(sandbox, sandbox_path);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("compile"), *robots = tcase_create("compiled_robots");
    tcase_add_test(tests, exported_c_has_the_torques_of_the_daemon);
    tcase_add_test(tests, exported_c_has_the_requested_functions_and_precision);
    tcase_add_test(tests, exported_formulas_are_those_of_the_textbook);
    tcase_add_test(tests, exports_that_cannot_be_generated_are_refused);
    tcase_add_test(tests, generation_that_takes_too_long_is_killed);
    tcase_add_unchecked_fixture(tests, create_files, remove_files);
    tcase_add_unchecked_fixture(robots, create_files, remove_files);
    tcase_add_test(robots, a_compiled_model_gives_the_same_torques);
    tcase_add_test(robots, robots_of_every_joint_type_are_compiled);
    tcase_add_test(tests, simulations_keep_the_code_that_computes_them);
    tcase_add_test(tests, rollouts_name_the_code_that_computed_them);
    tcase_add_test(tests, steps_that_cannot_be_compiled_are_refused);
    tcase_add_test(tests, first_use_begins_it);
    tcase_add_test(tests, without_a_compiler_the_kernels_serve);
    tcase_add_test(tests, a_compiler_that_runs_too_long_is_ended);
    tcase_add_test(tests, a_compiler_that_needs_too_much_memory_is_refused);
    tcase_add_test(tests, sigterm_ends_the_compiler_and_leaves_nothing_of_it);
    tcase_add_test(tests, nothing_is_left_of_a_model_compiler_that_is_killed);
    tcase_add_test(tests, a_restart_removes_leftover_files);
    tcase_add_test(tests, a_sandbox_compiles_for_the_daemon);
    tcase_add_test(tests, without_its_sandbox_the_kernels_serve);
    tcase_add_test(tests, a_sandbox_that_takes_too_long_is_left_and_ends);
    tcase_add_test(tests, a_sandbox_reports_failures);
    tcase_add_loop_test(tests, a_sandbox_that_lies_is_refused, 0, (int)(sizeof lies / sizeof *lies));
    tcase_add_test(tests, a_sandbox_refuses_files_and_programs);
    tcase_set_timeout(tests, 300);
    tcase_set_timeout(robots, 300);
    Suite *suite = suite_create("compile");
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, robots);
    return run_suite(suite);
}
