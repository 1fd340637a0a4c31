/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks fast channels: the same bits and errors as by requests, calls that only requests can carry, the end of a
 * channel with its process, the daemon or the model, limits, and clients that die, scribble, stop or never read.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <check.h>
#include <dynamics_client.h>

#include "support/random.h"
#include "system/daemon_fixture.h"
#include "system/raw_channel.h"
#include "system/runner.h"

enum { MOST = 64, WIDEST = 20, SPARE = 8 };

/* Time in which the daemon notices the end of a process, s. */
static const double NOTICE_TIME = 20;

static daemon_fixture served;
static dyn_client *fast, *plain; /* with channels, and without */
static dyn_client_error error;

static const dyn_client_quantity_request named[] = {
    {.quantity = DYN_CLIENT_QUANTITY_MASS_MATRIX},
    {.quantity = DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX},
    {.quantity = DYN_CLIENT_QUANTITY_KINETIC_ENERGY},
    {.quantity = DYN_CLIENT_QUANTITY_FRAME_JACOBIAN,
     .frame_count = 1,
     .frames = (const char *const[]){"world"},
     .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD},
};

enum { NAMED = sizeof named / sizeof *named };

static void start_with(const char *sections) {
    const daemon_options options = {.configuration = sections};
    daemon_start(&options, &served);
}

static void start(void) {
    start_with(NULL);
}

static void stop(void) {
    daemon_stop(&served);
}

/* Connects the clients of one test. */
static void connect_clients(void) {
    ck_assert_int_eq(dyn_client_connect(served.request_ipc, NULL, &fast, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_connect(served.request_ipc, NULL, &plain, &error), DYN_CLIENT_OK);
}

static void close_clients(void) {
    dyn_client_close(fast);
    dyn_client_close(plain);
}

static void open_channel(const char *model) {
    ck_assert_msg(dyn_client_open_fast_channel(fast, model, NAMED, named, 0, &error) == DYN_CLIENT_OK, "%s: %s",
                  error.field, error.message);
    ck_assert(dyn_client_has_fast_channel(fast, model));
}

/* Returns a counter of the daemon. */
static uint64_t counter(const char *name) {
    dyn_client_server_info *info;
    uint64_t value = UINT64_MAX;
    ck_assert_int_eq(dyn_client_get_server_info(plain, 0, &info, &error), DYN_CLIENT_OK);
    for (size_t i = 0; i < info->counter_count; i++) {
        value = strcmp(info->counters[i].name, name) == 0 ? info->counters[i].value : value;
    }
    dyn_client_server_info_free(info);
    ck_assert_msg(value != UINT64_MAX, "there is no counter %s", name);
    return value;
}

/* Waits until a counter has a value. */
static void wait_for_counter(const char *name, uint64_t value) {
    const struct timespec pause = {.tv_nsec = 5000000};
    uint64_t found = counter(name);
    for (double waited = 0; found != value && waited < NOTICE_TIME; waited += 5e-3) {
        nanosleep(&pause, NULL);
        found = counter(name);
    }
    ck_assert_msg(found == value, "%s is %llu, not %llu", name, (unsigned long long)found, (unsigned long long)value);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* States of a robot, and its sizes. */
typedef struct states {
    dyn_client_query query;
    double q[MOST * WIDEST], v[MOST * WIDEST], a[MOST * WIDEST];
    char frame[64];
} states;

static void fill_states(const char *model, random_source *random, states *s) {
    dyn_client_description *robot;
    ck_assert_int_eq(dyn_client_describe_model(plain, model, 0, &robot, &error), DYN_CLIENT_OK);
    ck_assert_uint_le(robot->model.nq, WIDEST);
    s->query = (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = model, .nq = robot->model.nq, .nv = robot->model.nv);
    snprintf(s->frame, sizeof s->frame, "%s", robot->links[robot->link_count - 1].name);
    for (size_t i = 0; i < MOST; i++) {
        for (size_t k = 0; k < s->query.nq; k++) {
            s->q[i * s->query.nq + k] = random_uniform(random, -1, 1);
        }
        if (s->query.nq > s->query.nv) {
            random_unit(random, 4, s->q + i * s->query.nq + 3);
        }
        for (size_t k = 0; k < s->query.nv; k++) {
            s->v[i * s->query.nv + k] = random_uniform(random, -1, 1);
            s->a[i * s->query.nv + k] = random_uniform(random, -1, 1);
        }
    }
    dyn_client_description_free(robot);
}

enum { CALLS = 7 };

static const char *const call_names[CALLS] = {
    "inverse dynamics", "forward dynamics", "mass matrix", "gravity", "bias forces", "poses", "jacobians"};

/* Makes a call. `out` receives the result, or its first half. */
static dyn_client_status make_call(dyn_client *client, int call, const states *s, double *out) {
    const dyn_client_query *query = &s->query;
    const char *const frames[] = {s->frame};
    double *second = out + MOST * WIDEST * WIDEST / 2;
    switch (call) {
    case 0:
        return dyn_client_inverse_dynamics(client, query, s->q, s->v, s->a, out, &error);
    case 1:
        return dyn_client_forward_dynamics(client, query, s->q, s->v, s->a, out, &error);
    case 2:
        return dyn_client_mass_matrix(client, query, s->q, out, &error);
    case 3:
        return dyn_client_gravity(client, query, s->q, out, &error);
    case 4:
        return dyn_client_bias_forces(client, query, s->q, s->v, out, &error);
    case 5:
        return dyn_client_poses(client, query, s->q, 1, frames, out, second, &error);
    default:
        return dyn_client_jacobians(client, query, s->q, 1, frames, DYN_CLIENT_REFERENCE_FRAME_LOCAL, out, second,
                                    &error);
    }
}

/* Checks that a call has the same result by both clients. */
static void compare_call(int call, const states *s) {
    static double by_channel[MOST * WIDEST * WIDEST], by_request[MOST * WIDEST * WIDEST];
    memset(by_channel, 0, sizeof by_channel);
    memset(by_request, 0, sizeof by_request);
    ck_assert_msg(make_call(fast, call, s, by_channel) == DYN_CLIENT_OK, "%s: %s", call_names[call], error.message);
    ck_assert_msg(make_call(plain, call, s, by_request) == DYN_CLIENT_OK, "%s: %s", call_names[call], error.message);
    ck_assert_msg(memcmp(by_channel, by_request, sizeof by_channel) == 0, "%s of %zu states of %s differ",
                  call_names[call], s->query.samples, s->query.model);
}

/* Checks that the named quantities have the same values by both clients. */
static void compare_quantities(const states *s) {
    const dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.quantity_count = NAMED, .quantities = named, .q = s->q, .v = s->v);
    dyn_client_evaluation *one, *other;
    ck_assert_msg(dyn_client_evaluate(fast, &s->query, &request, &one, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_msg(dyn_client_evaluate(plain, &s->query, &request, &other, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    ck_assert_uint_eq(one->samples, other->samples);
    ck_assert_uint_eq(one->result_count, other->result_count);
    for (size_t i = 0; i < one->result_count; i++) {
        ck_assert_str_eq(one->results[i].frame, other->results[i].frame);
        ck_assert_uint_eq(one->results[i].block_count, other->results[i].block_count);
        for (size_t k = 0; k < one->results[i].block_count; k++) {
            const dyn_client_block *a = &one->results[i].blocks[k], *b = &other->results[i].blocks[k];
            ck_assert_str_eq(a->name, b->name);
            ck_assert_str_eq(dyn_client_block_unit(a, 0), dyn_client_block_unit(b, 0));
            ck_assert_uint_eq(a->width, b->width);
            ck_assert_mem_eq(a->values, b->values, s->query.samples * a->width * sizeof(double));
        }
    }
    dyn_client_evaluation_free(one);
    dyn_client_evaluation_free(other);
}

static void compare_all(const char *model, uint64_t seed) {
    random_source random = random_seed("results_of_channels_are_those_of_requests", seed);
    states s = {0};
    fill_states(model, &random, &s);
    open_channel(model);
    uint64_t before = counter("fast_calls");
    for (size_t n = 1; n <= MOST; n++) {
        s.query.samples = n;
        for (int call = 0; call < CALLS; call++) {
            compare_call(call, &s);
        }
        compare_quantities(&s);
    }
    ck_assert_uint_eq(counter("fast_calls") - before, MOST * (CALLS + 1));
}

START_TEST(results_of_channels_are_those_of_requests) {
    compare_all("ur5", 1);
    compare_all("panda", 2);
    compare_all("two_link", 3);
}
END_TEST

START_TEST(results_for_a_floating_base_are_those_of_requests) {
    static char urdf[1 << 16];
    dyn_client_loaded_model *loaded;
    FILE *file = fopen(DYNAMICS_ROBOTS_DIR "/quadruped.urdf", "r");
    ck_assert_ptr_nonnull(file);
    urdf[fread(urdf, 1, sizeof urdf - 1, file)] = '\0';
    fclose(file);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = urdf, .name = "walker", .base = DYN_CLIENT_BASE_FLOATING);
    ck_assert_msg(dyn_client_load_model(plain, &request, &loaded, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_loaded_model_free(loaded);
    compare_all("walker", 4);
}
END_TEST

/* ---- errors and fallbacks ---------------------------------------------------------------------------------------- */

/* Checks that a call fails alike by both clients, and over the channel. */
static void compare_errors(int call, const states *s) {
    static double out[MOST * WIDEST * WIDEST];
    uint64_t before = counter("fast_calls");
    dyn_client_status by_channel = make_call(fast, call, s, out);
    dyn_client_error first = error;
    ck_assert_uint_eq(counter("fast_calls") - before, 1);
    ck_assert_int_ne(by_channel, DYN_CLIENT_OK);
    ck_assert_int_eq(make_call(plain, call, s, out), by_channel);
    ck_assert_str_eq(first.reason, error.reason);
    ck_assert_str_eq(first.field, error.field);
    ck_assert_str_eq(first.message, error.message);
    ck_assert_str_eq(first.joint, error.joint);
    ck_assert_int_eq(first.has_sample, error.has_sample);
    ck_assert_uint_eq(first.sample, error.sample);
}

START_TEST(errors_of_channels_are_those_of_requests) {
    random_source random = random_seed("errors_of_channels_are_those_of_requests", 5);
    states s = {0};
    fill_states("ur5", &random, &s);
    open_channel("ur5");
    s.query.samples = 3;
    snprintf(s.frame, sizeof s.frame, "no_such_frame");
    compare_errors(5, &s);
    compare_errors(6, &s);
    s.v[13] = NAN;
    compare_errors(0, &s);
    compare_errors(4, &s);
    s.q[8] = INFINITY;
    for (int call = 0; call < 5; call++) {
        compare_errors(call, &s);
    }
}
END_TEST

START_TEST(calls_that_no_channel_carries_are_requests) {
    static const double moon[3] = {0, 0, -1.62};
    static double q[(MOST + 1) * 6], by_channel[(MOST + 1) * 6], by_request[(MOST + 1) * 6];
    open_channel("ur5");
    const dyn_client_query cases[] = {
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1, .gravity = moon),
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = MOST + 1),
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1, .precision = DYN_CLIENT_PRECISION_SINGLE),
        DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 2),
    };
    uint64_t before = counter("fast_calls");
    wait_for_counter("fast_channels", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(dyn_client_gravity(fast, &cases[i], q, by_channel, &error) == DYN_CLIENT_OK, "%s", error.message);
        ck_assert_int_eq(dyn_client_gravity(plain, &cases[i], q, by_request, &error), DYN_CLIENT_OK);
        ck_assert_mem_eq(by_channel, by_request, cases[i].samples * cases[i].nv * sizeof(double));
    }
    ck_assert_uint_eq(counter("fast_calls"), before);
    dyn_client_close_fast_channel(fast, "ur5");
    ck_assert(!dyn_client_has_fast_channel(fast, "ur5"));
    const dyn_client_query one = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);
    ck_assert_int_eq(dyn_client_gravity(fast, &one, q, by_channel, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(counter("fast_calls"), before);
}
END_TEST

static void load_arm(double mass) {
    char urdf[512];
    snprintf(urdf, sizeof urdf,
             "<robot name='arm'><link name='base'/><link name='tip'><inertial><origin xyz='1 0 0'/><mass value='%g'/>"
             "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j' "
             "type='continuous'><parent link='base'/><child link='tip'/><axis xyz='0 1 0'/></joint></robot>",
             mass);
    dyn_client_loaded_model *loaded;
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = urdf, .name = "arm", .replace = true);
    ck_assert_msg(dyn_client_load_model(plain, &request, &loaded, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_loaded_model_free(loaded);
}

/* Returns the gravity force of the arm. */
static double arm_gravity(void) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "arm", .nq = 1, .nv = 1, .samples = 1);
    const double q = 0;
    double g;
    ck_assert_msg(dyn_client_gravity(fast, &query, &q, &g, &error) == DYN_CLIENT_OK, "%s", error.message);
    return g;
}

START_TEST(a_replaced_model_holds_from_the_next_call_on) {
    load_arm(1);
    open_channel("arm");
    ck_assert_double_eq_tol(fabs(arm_gravity()), 9.81, 1e-12);
    load_arm(2);
    ck_assert_double_eq_tol(fabs(arm_gravity()), 2 * 9.81, 1e-12);
    sleep(1);
    uint64_t before = counter("fast_calls");
    ck_assert_double_eq_tol(fabs(arm_gravity()), 2 * 9.81, 1e-12);
    ck_assert_msg(counter("fast_calls") == before + 1, "the channel is not opened again");
}
END_TEST

START_TEST(a_channel_is_opened_again_after_the_daemon_was_killed) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);
    const double q[6] = {0};
    double before[6], after[6];
    open_channel("ur5");
    ck_assert_int_eq(dyn_client_gravity(fast, &query, q, before, &error), DYN_CLIENT_OK);
    daemon_end(&served, SIGKILL);
    daemon_begin(&served);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(dyn_client_gravity(fast, &query, q, after, &error) == DYN_CLIENT_OK, "%s", error.message);
        ck_assert_mem_eq(after, before, sizeof before);
        sleep(1);
    }
    ck_assert_int_eq(dyn_client_gravity(fast, &query, q, after, &error), DYN_CLIENT_OK);
    ck_assert_uint_ge(counter("fast_calls"), 1);
}
END_TEST

START_TEST(what_cannot_be_opened_is_refused_with_a_cause) {
    dyn_client *remote;
    const dyn_client_quantity_request bad = {
        .quantity = DYN_CLIENT_QUANTITY_FRAME_POSE, .frame_count = 1, .frames = (const char *const[]){"nowhere"}};
    ck_assert_int_eq(dyn_client_open_fast_channel(fast, "ur6", 0, NULL, 0, &error), DYN_CLIENT_NOT_FOUND);
    ck_assert_str_eq(error.reason, "MODEL_NOT_FOUND");
    ck_assert_int_eq(dyn_client_open_fast_channel(fast, "ur5", 1, &bad, 0, &error), DYN_CLIENT_NOT_FOUND);
    ck_assert_str_eq(error.reason, "FRAME_NOT_FOUND");
    ck_assert_int_eq(dyn_client_connect(served.request_tcp, NULL, &remote, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_open_fast_channel(remote, "ur5", 0, NULL, 0, &error), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "ipc://"), "%s", error.message);
    dyn_client_close(remote);
    wait_for_counter("fast_channels", 0);
}
END_TEST

/* ---- bad clients ------------------------------------------------------------------------------------------------- */

static void end_child(pid_t process, int signal) {
    kill(process, signal);
    ck_assert_int_eq(waitpid(process, NULL, 0), process);
}

/* Checks that a good client gets its results, soon. */
static void expect_service(void) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1, .timeout = 5);
    const double q[6] = {0, -1, 1, 0.5, 0.25, 0.125};
    double by_channel[6], by_request[6];
    for (int i = 0; i < 10; i++) {
        ck_assert_msg(dyn_client_gravity(fast, &query, q, by_channel, &error) == DYN_CLIENT_OK, "%s", error.message);
        ck_assert_int_eq(dyn_client_gravity(plain, &query, q, by_request, &error), DYN_CLIENT_OK);
        ck_assert_mem_eq(by_channel, by_request, sizeof by_channel);
    }
    ck_assert(dyn_client_has_fast_channel(fast, "ur5"));
}

static void ask_once(raw_channel *channel) {
    raw_channel_ask(channel);
    raw_channel_is_answered(channel, 5);
}

/* Leaves a child of its own, which holds the connection and the memory. */
static void leave_child(raw_channel *channel) {
    ask_once(channel);
    if (fork() == 0) {
        sleep(60);
        _exit(0);
    }
}

START_TEST(a_channel_ends_with_its_process) {
    wait_for_counter("fast_channels", 0);
    pid_t one = raw_channel_child(served.request_ipc, ask_once);
    wait_for_counter("fast_channels", 1);
    end_child(one, SIGKILL);
    wait_for_counter("fast_channels", 0);
    pid_t other = raw_channel_child(served.request_ipc, leave_child);
    wait_for_counter("fast_channels", 1);
    end_child(other, SIGKILL);
    wait_for_counter("fast_channels", 0);
}
END_TEST

/* Asks again and again, and reads nothing. */
static void never_read(raw_channel *channel) {
    for (int i = 0; i < 20000; i++) {
        raw_channel_ask(channel);
    }
}

START_TEST(clients_that_stop_or_never_read_harm_nobody) {
    open_channel("ur5");
    pid_t stopped = raw_channel_child(served.request_ipc, raw_channel_ask);
    pid_t deaf = raw_channel_child(served.request_ipc, never_read);
    kill(stopped, SIGSTOP);
    expect_service();
    end_child(deaf, SIGKILL);
    end_child(stopped, SIGKILL);
    wait_for_counter("fast_channels", 1);
    expect_service();
}
END_TEST

/* Seconds for which each fuzzer writes, and the number of them. */
enum { FUZZERS = 4 };

static double fuzz_seconds(void) {
    const char *text = getenv("DYNAMICS_TEST_FUZZ_SECONDS");
    return text ? strtod(text, NULL) : 2;
}

/* Writes random bytes at random places of the memory, or a question with one damaged member. */
static void write_noise(raw_channel *channel, random_source *random) {
    unsigned char *bytes = (unsigned char *)channel->memory;
    size_t size = random_index(random, 2) ? sizeof *channel->memory : channel->size;
    int count = 1 + random_index(random, 64);
    if (random_index(random, 2)) {
        raw_channel_ask(channel);
        channel->memory->question.call = (uint32_t)(1 + random_index(random, 8));
        channel->memory->question.samples = (uint32_t)random_index(random, 66);
        channel->memory->question.inputs = (uint32_t)random_bits(random) & 0xff;
        channel->memory->question.reference_frame = (uint32_t)random_index(random, 5);
    }
    for (int i = 0; i < count; i++) {
        bytes[random_bits(random) % size] = (unsigned char)random_bits(random);
    }
    if (random_index(random, 4) == 0) {
        raw_channel_ask(channel);
    }
}

/* Writes into one channel after another until the time is over: the daemon ends those that are damaged. */
static void fuzz(const char *ipc, uint64_t seed) {
    random_source random = {.state = seed};
    time_t end = time(NULL) + (time_t)ceil(fuzz_seconds());
    while (time(NULL) < end) {
        raw_channel channel;
        if (raw_channel_open(ipc, "ur5", &channel)) {
            for (int i = 0; i < 2000 && !atomic_load(&channel.memory->is_closed); i++) {
                write_noise(&channel, &random);
            }
            raw_channel_close(&channel);
        }
    }
}

START_TEST(clients_that_scribble_harm_nobody) {
    random_source random = random_seed("clients_that_scribble_harm_nobody", 6);
    pid_t children[FUZZERS];
    open_channel("ur5");
    for (int i = 0; i < FUZZERS; i++) {
        uint64_t seed = random_bits(&random);
        children[i] = fork();
        ck_assert_int_ge(children[i], 0);
        if (children[i] == 0) {
            fuzz(served.request_ipc, seed);
            _exit(0);
        }
    }
    for (int left = FUZZERS; left > 0;) {
        expect_service();
        left -= waitpid(-1, NULL, WNOHANG) > 0;
    }
    wait_for_counter("fast_channels", 1);
    ck_assert_uint_ge(counter("fast_damaged"), 1);
    expect_service();
}
END_TEST

static void do_nothing(raw_channel *channel) {
    (void)channel;
}

START_TEST(a_thousand_killed_channels_leave_nothing) {
    enum { WARM_UP = 50, CHANNELS = 1000 };
    size_t descriptors = 0, bytes = 0;
    for (int i = 0; i < WARM_UP + CHANNELS; i++) {
        if (i == WARM_UP) {
            wait_for_counter("fast_channels", 0);
            descriptors = daemon_open_descriptors(&served);
            bytes = daemon_resident_bytes(&served);
        }
        end_child(raw_channel_child(served.request_ipc, i % 2 ? ask_once : do_nothing), SIGKILL);
    }
    wait_for_counter("fast_channels", 0);
    daemon_expect_descriptors(&served, descriptors + 4, 10);
    ck_assert_uint_le(daemon_resident_bytes(&served), bytes + DAEMON_MEMORY_SLACK(8));
}
END_TEST

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static void start_narrow(void) {
    start_with("[fast]\nchannels = 2\nchannel_bytes = 65536\n");
}

/* Checks the limits that GetServerInfo states. */
static void expect_limits(size_t channels, size_t of_one, uint64_t bytes) {
    dyn_client_server_info *info;
    ck_assert_int_eq(dyn_client_get_server_info(plain, 0, &info, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(info->limits.fast_channels, channels);
    ck_assert_uint_eq(info->limits.fast_peer_channels, of_one);
    ck_assert_uint_eq(info->limits.fast_channel_bytes, bytes);
    dyn_client_server_info_free(info);
}

START_TEST(limits_of_channels_are_stated) {
    expect_limits(2, 1, 65536);
}
END_TEST

START_TEST(channels_beyond_the_limit_are_refused) {
    raw_channel channels[3];
    ck_assert(raw_channel_open(served.request_ipc, "ur5", &channels[0]));
    ck_assert(raw_channel_open(served.request_ipc, "ur5", &channels[1]));
    ck_assert(!raw_channel_open(served.request_ipc, "ur5", &channels[2]));
    ck_assert_uint_eq(channels[2].code, DYN_CLIENT_RESOURCE_EXHAUSTED);
    ck_assert_int_eq(dyn_client_open_fast_channel(fast, "ur5", 0, NULL, 0, &error), DYN_CLIENT_RESOURCE_EXHAUSTED);
    ck_assert_msg(strstr(error.message, "fast.channels"), "%s", error.message);
    ck_assert_uint_eq(counter("fast_refused"), 2);
    raw_channel_close(&channels[0]);
    wait_for_counter("fast_channels", 1);
    ck_assert_int_eq(dyn_client_open_fast_channel(fast, "ur5", 0, NULL, 0, &error), DYN_CLIENT_OK);
    raw_channel_close(&channels[1]);
    dyn_client_close_fast_channel(fast, "ur5");
    wait_for_counter("fast_channels", 0);
}
END_TEST

START_TEST(a_channel_has_as_many_samples_as_fit) {
    static double q[MOST * 7], M[MOST * 49];
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "panda", .nq = 7, .nv = 7, .samples = 1);
    uint64_t before = counter("fast_calls");
    const dyn_client_quantity_request large = {.quantity = DYN_CLIENT_QUANTITY_CHRISTOFFEL_SYMBOLS};
    ck_assert_msg(dyn_client_open_fast_channel(fast, "panda", 1, &large, 0, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    ck_assert_int_eq(dyn_client_mass_matrix(fast, &query, q, M, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(counter("fast_calls"), before + 1);
    query.samples = MOST;
    ck_assert_int_eq(dyn_client_mass_matrix(fast, &query, q, M, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(counter("fast_calls"), before + 1);
}
END_TEST

static void start_closed(void) {
    start_with("[fast]\nchannels = 0\n");
}

START_TEST(a_daemon_without_channels_says_so) {
    ck_assert_int_eq(dyn_client_open_fast_channel(fast, "ur5", 0, NULL, 0, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "fast.channels"), "%s", error.message);
    expect_limits(0, 0, 4 << 20);
}
END_TEST

static void add_case(Suite *suite, const char *name, void (*begin)(void), const TTest *const *tests, size_t count) {
    TCase *all = tcase_create(name);
    tcase_add_unchecked_fixture(all, begin, stop);
    tcase_add_checked_fixture(all, connect_clients, close_clients);
    tcase_set_timeout(all, 250);
    for (size_t i = 0; i < count; i++) {
        tcase_add_test(all, tests[i]);
    }
    suite_add_tcase(suite, all);
}

int main(void) {
    const TTest *const usual[] = {
        results_of_channels_are_those_of_requests,
        results_for_a_floating_base_are_those_of_requests,
        errors_of_channels_are_those_of_requests,
        calls_that_no_channel_carries_are_requests,
        a_replaced_model_holds_from_the_next_call_on,
        what_cannot_be_opened_is_refused_with_a_cause,
        a_channel_ends_with_its_process,
        clients_that_stop_or_never_read_harm_nobody,
        clients_that_scribble_harm_nobody,
        a_thousand_killed_channels_leave_nothing,
        a_channel_is_opened_again_after_the_daemon_was_killed,
    };
    const TTest *const narrow[] = {limits_of_channels_are_stated, channels_beyond_the_limit_are_refused,
                                   a_channel_has_as_many_samples_as_fit};
    const TTest *const closed[] = {a_daemon_without_channels_says_so};
    Suite *suite = suite_create("fast_channel");
    add_case(suite, "usual", start, usual, sizeof usual / sizeof *usual);
    add_case(suite, "narrow", start_narrow, narrow, sizeof narrow / sizeof *narrow);
    add_case(suite, "closed", start_closed, closed, sizeof closed / sizeof *closed);
    return run_suite_unforked(suite);
}
