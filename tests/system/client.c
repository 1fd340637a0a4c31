/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the library libdynamicsclient against a real daemon: every call, errors with their fields, many threads on one
 * handle, and a daemon that ends and starts again.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/silent_peer.h"
#include "system/runner.h"

enum { WRONG_PEERS = 10 };

static daemon_fixture served;
static dyn_client *client;
static dyn_client_error error;

static void start_daemon(void) {
    daemon_start(NULL, &served);
    ck_assert_int_eq(dyn_client_connect(served.request_ipc, NULL, &client, &error), DYN_CLIENT_OK);
}

static void stop_daemon(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

static const dyn_client_query TWO_LINK = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);

/* ---- connection -------------------------------------------------------------------------------------------------- */

START_TEST(connect_reports_an_invalid_address) {
    dyn_client *none;
    ck_assert_int_eq(dyn_client_connect("nonsense", NULL, &none, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_ptr_null(none);
    ck_assert_str_eq(error.field, "url");
    ck_assert_ptr_nonnull(strstr(error.message, "ipc:///path"));
    ck_assert_int_eq(dyn_client_connect(NULL, NULL, &none, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_int_eq(dyn_client_connect(served.request_ipc, &(dyn_client_options)DYN_CLIENT_OPTIONS_INIT(.timeout = -1),
                                        &none, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "options.timeout");
    ck_assert_int_eq(dyn_client_connect(served.request_ipc,
                                        &(dyn_client_options)DYN_CLIENT_OPTIONS_INIT(.connect_timeout = NAN), &none,
                                        &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "options.connect_timeout");
}
END_TEST

START_TEST(connect_reports_that_nothing_listens) {
    dyn_client *none;
    ck_assert_int_eq(dyn_client_connect("ipc:///nonexistent/dynamicsd.sock", NULL, &none, &error),
                     DYN_CLIENT_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(error.message, "is dynamicsd running?"));
    ck_assert_int_eq(dyn_client_connect(served.request_ipc, NULL, NULL, NULL), DYN_CLIENT_INVALID_ARGUMENT);
}
END_TEST

START_TEST(connect_reports_a_peer_that_is_no_request_endpoint) {
    dyn_client *none;
    for (int i = 0; i < WRONG_PEERS; i++) { /* the address sanitizer finds leaks */
        ck_assert_int_eq(dyn_client_connect(served.events_tcp, NULL, &none, &error), DYN_CLIENT_UNREACHABLE);
        ck_assert_ptr_nonnull(strstr(error.message, "not dynamicsd's request endpoint"));
    }
}
END_TEST

START_TEST(a_forked_child_is_refused) {
    pid_t child = fork();
    if (child == 0) {
        dyn_client *none;
        _exit(dyn_client_connect(served.request_ipc, NULL, &none, NULL) == DYN_CLIENT_UNAVAILABLE ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(tcp_and_ipc_serve_alike) {
    dyn_client *other;
    ck_assert_int_eq(dyn_client_connect(served.request_tcp, NULL, &other, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_ping(other, 0, &error), DYN_CLIENT_OK);
    dyn_client_close(other);
}
END_TEST

/* ---- calls ------------------------------------------------------------------------------------------------------- */

START_TEST(health_and_server_info_are_reported) {
    dyn_client_health *health;
    dyn_client_server_info *info;
    ck_assert_int_eq(dyn_client_get_health(client, NULL, 0, &health, &error), DYN_CLIENT_OK);
    while (health->state == DYN_CLIENT_HEALTH_STATE_DEGRADED) { /* on a busy machine */
        dyn_client_health_free(health);
        ck_assert_int_eq(dyn_client_get_health(client, NULL, 0, &health, &error), DYN_CLIENT_OK);
    }
    ck_assert_int_eq(health->state, DYN_CLIENT_HEALTH_STATE_SERVING);
    ck_assert_uint_ge(health->component_count, 3);
    dyn_client_health_free(health);
    ck_assert_int_eq(dyn_client_get_health(client, "no such part", 0, &health, &error), DYN_CLIENT_NOT_FOUND);
    ck_assert_ptr_null(health);
    ck_assert_int_eq(dyn_client_get_server_info(client, 0, &info, &error), DYN_CLIENT_OK);
    ck_assert_str_eq(info->version, dyn_client_version());
    ck_assert_int_eq((pid_t)info->process_id, served.process);
    ck_assert_uint_gt(info->limits.samples, 0);
    ck_assert_uint_eq(info->limits.payloads, 1000);
    ck_assert_uint_eq(info->limits.task_frames, 8);
    ck_assert_uint_gt(info->lanes[DYN_CLIENT_PRECISION_SINGLE], 0);
    ck_assert_uint_gt(dyn_client_server_counter(info, "requests"), 0);
    ck_assert_uint_eq(dyn_client_server_counter(info, "no such counter"), 0);
    dyn_client_server_info_free(info);
}
END_TEST

START_TEST(server_info_lists_the_methods) {
    const struct {
        const char *name;
        dyn_client_method_role role;
        bool changes_state, is_slow;
    } expected[] = {
        {"get_health", DYN_CLIENT_METHOD_ROLE_READER, false, false},
        {"load_model", DYN_CLIENT_METHOD_ROLE_USER, true, true},
        {"inverse_dynamics", DYN_CLIENT_METHOD_ROLE_READER, false, false},
        {"step_simulation", DYN_CLIENT_METHOD_ROLE_USER, true, false},
    };
    enum { EXPECTED = sizeof expected / sizeof expected[0] };
    dyn_client_server_info *info;
    ck_assert_int_eq(dyn_client_get_server_info(client, 0, &info, &error), DYN_CLIENT_OK);
    ck_assert_uint_ge(info->method_count, 50);
    unsigned found = 0;
    for (size_t i = 0; i < info->method_count; i++) {
        const dyn_client_method_info *m = &info->methods[i];
        ck_assert_int_ge(m->role, DYN_CLIENT_METHOD_ROLE_READER);
        ck_assert_int_le(m->role, DYN_CLIENT_METHOD_ROLE_ADMINISTRATOR);
        for (size_t j = 0; j < EXPECTED; j++) {
            if (strcmp(m->name, expected[j].name) == 0) {
                ck_assert_int_eq(m->role, expected[j].role);
                ck_assert_int_eq(m->changes_state, expected[j].changes_state);
                ck_assert_int_eq(m->is_slow, expected[j].is_slow);
                found++;
            }
        }
    }
    ck_assert_uint_eq(found, EXPECTED);
    dyn_client_server_info_free(info);
}
END_TEST

START_TEST(a_daemon_of_an_earlier_revision_refuses) {
    dyn_client_server_info *info;
    dyn_client *other;
    ck_assert_int_eq(dyn_client_get_server_info(client, 0, &info, &error), DYN_CLIENT_OK);
    ck_assert_uint_ge(info->revision, 1);
    for (uint32_t later = 0; later <= 1; later++) {
        const dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.min_revision = info->revision + later);
        ck_assert_int_eq(dyn_client_connect(served.request_ipc, &options, &other, &error), DYN_CLIENT_OK);
        ck_assert_int_eq(dyn_client_ping(other, 0, &error), later ? DYN_CLIENT_UNIMPLEMENTED : DYN_CLIENT_OK);
        dyn_client_close(other);
    }
    ck_assert_str_eq(error.field, "min_revision");
    dyn_client_server_info_free(info);
}
END_TEST

static const char PENDULUM[] =
    "<robot name='pendulum'><link name='base'/><link name='rod'><inertial><origin xyz='0 0 -0.5'/>"
    "<mass value='2'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial>"
    "</link><joint name='pivot' type='continuous'><parent link='base'/><child link='rod'/>"
    "<axis xyz='0 1 0'/></joint></robot>";

START_TEST(models_come_and_go) {
    dyn_client_loaded_model *loaded;
    dyn_client_model_list *list;
    dyn_client_description *robot;
    dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = PENDULUM, .name = "clock", .gravity = (double[]){0, 0, -1.62});
    ck_assert_int_eq(dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_OK);
    ck_assert_str_eq(loaded->model.name, "clock");
    ck_assert_uint_eq(loaded->model.nv, 1);
    ck_assert(!loaded->already_loaded);
    char digest[128];
    snprintf(digest, sizeof digest, "%s", loaded->model.digest);
    dyn_client_loaded_model_free(loaded);

    ck_assert_int_eq(dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_OK);
    ck_assert(loaded->already_loaded);
    dyn_client_loaded_model_free(loaded);
    request.base = DYN_CLIENT_BASE_FLOATING;
    ck_assert_int_eq(dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_ALREADY_EXISTS);

    ck_assert_int_eq(dyn_client_list_models(client, 0, &list, &error), DYN_CLIENT_OK);
    bool listed = false;
    for (size_t i = 0; i < list->count; i++) {
        listed |= strcmp(list->models[i].digest, digest) == 0;
    }
    ck_assert(listed);
    dyn_client_model_list_free(list);

    ck_assert_int_eq(dyn_client_describe_model(client, digest, 0, &robot, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(robot->joint_count, 1);
    ck_assert_str_eq(dyn_client_joint_type_name(robot->joints[0].type), "continuous");
    ck_assert_str_eq(robot->joints[0].tau_units[0], "N m");
    ck_assert_double_eq(robot->gravity[2], -1.62);
    dyn_client_description_free(robot);

    ck_assert_int_eq(dyn_client_unload_model(client, "clock", 0, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_unload_model(client, "clock", 0, &error), DYN_CLIENT_NOT_FOUND);
}
END_TEST

START_TEST(a_bad_description_names_its_line) {
    dyn_client_loaded_model *loaded;
    dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = "<robot name='r'>\n<link name='a'/>\n<link name='a'/>\n</robot>");
    ck_assert_int_eq(dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "load_model.urdf:3");
    ck_assert_ptr_null(loaded);
}
END_TEST

/* Compares with Modern Robotics, equations 8.9 and 8.10, where masses and lengths are 1 and theta1 is measured from the
 * horizontal. */
START_TEST(two_link_arm_follows_its_closed_form) {
    double q[2] = {0.3, 1.1}, v[2] = {0.7, -0.4}, a[2] = {1.5, 2.5}, tau[2], back[2], mass[4], g[2], h[2];
    double c1 = cos(q[0]), c2 = cos(q[1]), s2 = sin(q[1]), c12 = cos(q[0] + q[1]), gravity = 9.81;
    double m[4] = {3 + 2 * c2, 1 + c2, 1 + c2, 1};
    double weight[2] = {2 * gravity * c1 + gravity * c12, gravity * c12};
    double coriolis[2] = {-s2 * (2 * v[0] * v[1] + v[1] * v[1]), s2 * v[0] * v[0]};
    ck_assert_int_eq(dyn_client_mass_matrix(client, &TWO_LINK, q, mass, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_gravity(client, &TWO_LINK, q, g, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_bias_forces(client, &TWO_LINK, q, v, h, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &TWO_LINK, q, v, a, tau, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_forward_dynamics(client, &TWO_LINK, q, v, tau, back, &error), DYN_CLIENT_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(g[i], weight[i], 1e-12);
        ck_assert_double_eq_tol(h[i], weight[i] + coriolis[i], 1e-12);
        ck_assert_double_eq_tol(tau[i], m[2 * i] * a[0] + m[2 * i + 1] * a[1] + coriolis[i] + weight[i], 1e-12);
        ck_assert_double_eq_tol(back[i], a[i], 1e-12);
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(mass[i], m[i], 1e-12);
    }
}
END_TEST

START_TEST(gravity_can_be_overridden) {
    dyn_client_query query = TWO_LINK;
    query.gravity = (double[]){0, 0, 0};
    double q[2] = {0.3, 1.1}, g[2];
    ck_assert_int_eq(dyn_client_gravity(client, &query, q, g, &error), DYN_CLIENT_OK);
    ck_assert_double_eq(g[0], 0);
    ck_assert_double_eq(g[1], 0);
}
END_TEST

START_TEST(several_frames_come_in_their_order) {
    const char *const frames[] = {"tool0", "base_link", "wrist_3_joint"};
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 2);
    double q[12] = {0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, position[18], quaternion[24];
    double linear[3 * 2 * 18], angular[3 * 2 * 18];
    ck_assert_int_eq(dyn_client_poses(client, &query, q, 3, frames, position, quaternion, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(
        dyn_client_jacobians(client, &query, q, 3, frames, DYN_CLIENT_REFERENCE_FRAME_WORLD, linear, angular, &error),
        DYN_CLIENT_OK);
    /* No joint moves the base. */
    for (int i = 6; i < 12; i++) {
        ck_assert_double_eq(position[i], 0);
    }
    for (int i = 36; i < 72; i++) {
        ck_assert_double_eq(linear[i], 0);
    }
    /* The first joint turns all other links about z. */
    ck_assert_double_eq_tol(angular[12], 1, 1e-12);
}
END_TEST

START_TEST(refusals_name_the_field) {
    dyn_client_query query = TWO_LINK;
    double q[2] = {0, NAN}, tau[4];
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, tau, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "inverse_dynamics.q[1]");
    q[1] = 0;
    query.model = "no such robot";
    ck_assert_int_eq(dyn_client_gravity(client, &query, q, tau, &error), DYN_CLIENT_NOT_FOUND);
    ck_assert_str_eq(error.field, "gravity.query.model");
    query = TWO_LINK;
    query.joint_count = 2;
    query.joint_names = (const char *const[]){"joint1", "elbow"};
    ck_assert_int_eq(dyn_client_gravity(client, &query, q, tau, &error), DYN_CLIENT_NOT_FOUND);
    ck_assert_str_eq(error.reason, "JOINT_NOT_FOUND");
    ck_assert_int_eq(strncmp(error.field, "gravity.query.joint_names[", 26), 0);
    query = TWO_LINK;
    query.nq = 3;
    ck_assert_int_ne(dyn_client_gravity(client, &query, (double[3]){0}, tau, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_poses(client, &TWO_LINK, q, 1, (const char *const[]){"nowhere"}, tau, tau, &error),
                     DYN_CLIENT_NOT_FOUND);
    ck_assert_str_eq(error.field, "evaluate.quantities[0].frames[0]");
}
END_TEST

START_TEST(wrong_lengths_are_reported_and_nothing_is_overrun) {
    /* The model has nv = 2. A caller that assumes nv = 1 gets an error, and nothing is written past its array. */
    dyn_client_query query = TWO_LINK;
    double q[2] = {0}, g[2] = {7, 7};
    query.nv = 1;
    ck_assert_int_eq(dyn_client_gravity(client, &query, q, g, &error), DYN_CLIENT_BAD_REPLY);
    ck_assert_double_eq(g[0], 7);
    ck_assert_double_eq(g[1], 7);
}
END_TEST

START_TEST(misuse_is_refused_without_a_request) {
    double x[2] = {0};
    dyn_client_query query = TWO_LINK;
    query.samples = 0;
    ck_assert_int_eq(dyn_client_gravity(client, &query, x, x, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "query.samples");
    query.samples = SIZE_MAX / 2;
    ck_assert_int_eq(dyn_client_gravity(client, &query, x, x, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_int_eq(dyn_client_gravity(client, &TWO_LINK, NULL, x, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_int_eq(dyn_client_gravity(client, &TWO_LINK, x, NULL, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_int_eq(dyn_client_gravity(NULL, &TWO_LINK, x, x, NULL), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_int_eq(dyn_client_ping(client, -1, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "timeout");
    query = TWO_LINK;
    query.external_force_count = 1;
    query.external_forces =
        &(dyn_client_external_force){.link = "link1", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .rows = 5};
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, x, NULL, NULL, x, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "query.external_forces[0]");
}
END_TEST

/* ---- carrier ----------------------------------------------------------------------------------------------------- */

START_TEST(no_answer_is_a_timeout) {
    silent_peer peer;
    dyn_client *waiting;
    silent_peer_start(&peer);
    ck_assert_int_eq(dyn_client_connect(peer.address, NULL, &waiting, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_ping(waiting, 0.2, &error), DYN_CLIENT_TIMEOUT);
    ck_assert_int_eq(dyn_client_ping(waiting, 0.05, &error), DYN_CLIENT_TIMEOUT);
    dyn_client_close(waiting);
    silent_peer_stop(&peer);
}
END_TEST

/* Checks that the client reconnects when the peer closes a connection before the handshake, as a daemon does that
 * recreates its endpoint. */
START_TEST(connection_that_is_closed_ungreeted_is_made_again) {
    silent_peer peer;
    dyn_client *made = NULL;
    silent_peer_start_after(&peer, 2);
    ck_assert_msg(dyn_client_connect(peer.address, NULL, &made, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_close(made);
    silent_peer_stop(&peer);
    silent_peer_start_after(&peer, 100);
    ck_assert_int_eq(dyn_client_connect(peer.address, NULL, &made, &error), DYN_CLIENT_UNREACHABLE);
    silent_peer_stop(&peer);
}
END_TEST

/* Checks that a client over ipc connects, and connects again, when the peer closes connections before it has read the
 * client's greeting. nng takes the failure to send the greeting for its own end, and would never dial again. */
START_TEST(connection_that_is_closed_at_once_is_made_again) {
    for (int i = 0; i < 3; i++) {
        silent_peer peer;
        dyn_client *made = NULL;
        silent_peer_start_ipc_after(&peer, 2);
        ck_assert_msg(dyn_client_connect(peer.address, NULL, &made, &error) == DYN_CLIENT_OK, "%s", error.message);
        ck_assert_int_eq(dyn_client_ping(made, 0.05, &error), DYN_CLIENT_TIMEOUT);
        silent_peer_drop(&peer, 3);
        ck_assert_msg(dyn_client_ping(made, 1, &error) == DYN_CLIENT_TIMEOUT, "%s", error.message);
        dyn_client_close(made);
        silent_peer_stop(&peer);
    }
}
END_TEST

enum { WAITING = 4 };

static void *wait_in_vain(void *waiting) {
    dyn_client_error reported;
    return (void *)(uintptr_t)dyn_client_ping(waiting, 60, &reported);
}

START_TEST(an_abort_ends_calls_that_wait) {
    silent_peer peer;
    dyn_client *waiting;
    pthread_t threads[WAITING];
    struct timespec began, ended;
    silent_peer_start(&peer);
    ck_assert_int_eq(dyn_client_connect(peer.address, NULL, &waiting, &error), DYN_CLIENT_OK);
    for (int i = 0; i < WAITING; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_in_vain, waiting), 0);
    }
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    clock_gettime(CLOCK_MONOTONIC, &began);
    dyn_client_abort(waiting);
    for (int i = 0; i < WAITING; i++) {
        void *status;
        pthread_join(threads[i], &status);
        ck_assert_uint_eq((uintptr_t)status, DYN_CLIENT_CANCELLED);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    ck_assert_int_lt(ended.tv_sec - began.tv_sec, 30);
    ck_assert_int_eq(dyn_client_ping(waiting, 60, &error), DYN_CLIENT_CANCELLED);
    ck_assert_str_eq(error.message, "the client was aborted");
    dyn_client_close(waiting);
    silent_peer_stop(&peer);
}
END_TEST

/* Call of another thread: it waits in vain for a silent peer, or computes for minutes. */
typedef struct other_call {
    dyn_client *client;
    bool is_long;
    _Atomic uint64_t thread;
    atomic_bool is_over;
    dyn_client_status status;
} other_call;

static void *make_other_call(void *argument) {
    enum { SAMPLES = 1000 };
    other_call *self = argument;
    static const double q[2 * SAMPLES];
    dyn_client_query query = TWO_LINK;
    query.samples = SAMPLES;
    query.timeout = 300;
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .steps = 60000, .only_last = true);
    dyn_client_rollout *found = NULL;
    self->thread = dyn_client_thread();
    self->status = self->is_long ? dyn_client_rollout_run(self->client, &query, &request, &found, NULL)
                                 : dyn_client_ping(self->client, 60, NULL);
    dyn_client_rollout_free(found);
    self->is_over = true;
    return NULL;
}

/* Cancels a call of another thread until it is over. */
static void check_cancellation(dyn_client *used, bool is_long) {
    other_call other = {.client = used, .is_long = is_long};
    pthread_t thread;
    struct timespec began, ended;
    ck_assert(!dyn_client_cancel(used, dyn_client_thread()));
    ck_assert_int_eq(pthread_create(&thread, NULL, make_other_call, &other), 0);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    clock_gettime(CLOCK_MONOTONIC, &began);
    while (!other.is_over) {
        ck_assert(!dyn_client_cancel(used, dyn_client_thread()));
        dyn_client_cancel(used, other.thread);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    pthread_join(thread, NULL);
    ck_assert_int_eq(other.status, DYN_CLIENT_CANCELLED);
    ck_assert_int_lt(ended.tv_sec - began.tv_sec, 20);
}

START_TEST(a_thread_cancels_the_call_of_another_one) {
    silent_peer peer;
    dyn_client *waiting;
    silent_peer_start(&peer);
    ck_assert_int_eq(dyn_client_connect(peer.address, NULL, &waiting, &error), DYN_CLIENT_OK);
    check_cancellation(waiting, false);
    ck_assert_int_eq(dyn_client_ping(waiting, 0.1, &error), DYN_CLIENT_TIMEOUT);
    dyn_client_close(waiting);
    silent_peer_stop(&peer);
    check_cancellation(client, true);
    ck_assert_int_eq(dyn_client_ping(client, 0, &error), DYN_CLIENT_OK);
    ck_assert(!dyn_client_cancel(NULL, 0));
}
END_TEST

START_TEST(a_reply_beyond_the_limit_is_refused) {
    dyn_client *narrow;
    dyn_client_query query = TWO_LINK;
    enum { MANY = 1000 };
    double *q = calloc(2 * MANY, sizeof *q), *g = calloc(2 * MANY, sizeof *g);
    query.samples = MANY;
    ck_assert_int_eq(dyn_client_connect(served.request_tcp,
                                        &(dyn_client_options)DYN_CLIENT_OPTIONS_INIT(.max_reply_bytes = 1024), &narrow,
                                        &error),
                     DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_gravity(narrow, &query, q, g, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(error.message, "max_reply_bytes (1024)"));
    ck_assert_int_eq(dyn_client_ping(narrow, 0, &error), DYN_CLIENT_OK);
    dyn_client_close(narrow);
    free(q);
    free(g);
}
END_TEST

enum { THREADS = 8, CALLS = 300 };

/* Requests batches of different sizes and compares a row of each with the answer to a single request. Stores the number
 * of wrong answers in its argument. */
static void *call_many(void *argument) {
    unsigned number = *(unsigned *)argument, wrong = 0;
    double q[32], g[32], single[2];
    dyn_client_query query = TWO_LINK, one = TWO_LINK;
    for (unsigned i = 0; i < CALLS; i++) {
        query.samples = 1 + (i + number) % 16;
        for (size_t k = 0; k < 2 * query.samples; k++) {
            q[k] = 0.01 * (double)(number * 1000 + i) + (double)k;
        }
        size_t row = i % query.samples;
        if (dyn_client_gravity(client, &query, q, g, NULL) != DYN_CLIENT_OK ||
            dyn_client_gravity(client, &one, q + 2 * row, single, NULL) != DYN_CLIENT_OK ||
            memcmp(single, g + 2 * row, sizeof single) != 0) {
            wrong++;
        }
    }
    *(unsigned *)argument = wrong;
    return NULL;
}

START_TEST(threads_share_a_client) {
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_many, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(numbers[i], 0);
    }
}
END_TEST

/* Kills the daemon and starts it again on the same addresses. */
static void replace_daemon(void) {
    daemon_signal(&served, SIGKILL);
    waitpid(served.process, NULL, 0);
    ck_assert_int_eq(dyn_client_ping(client, 0.3, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(error.message, "is dynamicsd running?"));
    served.process = fork();
    if (served.process == 0) {
        char notices[128];
        snprintf(notices, sizeof notices, "%s/notices", served.directory);
        setenv("NOTIFY_SOCKET", notices, 1);
        execl(DYNAMICSD_PROGRAM, "dynamicsd", "--config", served.configuration_file, (char *)NULL);
        _exit(127);
    }
}

START_TEST(a_client_outlives_the_daemon) {
    ck_assert_int_eq(dyn_client_ping(client, 0, &error), DYN_CLIENT_OK);
    replace_daemon();
    /* The call waits for the connection, so a daemon that starts within the connect timeout causes no error. */
    dyn_client_status status = DYN_CLIENT_UNREACHABLE;
    for (int i = 0; i < 10 && status == DYN_CLIENT_UNREACHABLE; i++) {
        status = dyn_client_ping(client, 0, &error);
    }
    ck_assert_msg(status == DYN_CLIENT_OK, "%s", error.message);
    daemon_wait_for_notice(&served, "READY=1", 20);
}
END_TEST

START_TEST(raw_calls_accept_and_return_messages) {
    /* Request { list_models {} }: field 34, length 0. */
    static const unsigned char request[] = {0x92, 0x02, 0x00};
    void *reply;
    size_t size;
    ck_assert_int_eq(dyn_client_call(client, request, sizeof request, 0, &reply, &size, &error), DYN_CLIENT_OK);
    ck_assert_uint_gt(size, sizeof request);
    ck_assert_ptr_nonnull(memmem(reply, size, "two_link", 8));
    dyn_client_free(reply);
    /* Bytes that do not form a message get an answer too. */
    ck_assert_int_eq(dyn_client_call(client, "\xff\xff\xff", 3, 0, &reply, &size, &error), DYN_CLIENT_OK);
    ck_assert_uint_gt(size, 0);
    dyn_client_free(reply);
}
END_TEST

START_TEST(the_example_prints_torques) {
    char command[512], line[256];
    snprintf(command, sizeof command, "%s %s ur5", EXAMPLE_PROGRAM, served.request_ipc);
    FILE *output = popen(command, "r");
    ck_assert_ptr_nonnull(fgets(line, sizeof line, output));
    ck_assert_ptr_nonnull(strstr(line, "shoulder_pan_joint"));
    ck_assert_ptr_nonnull(strstr(line, "N m"));
    while (fgets(line, sizeof line, output)) {
        continue;
    }
    ck_assert_int_eq(pclose(output), 0);
}
END_TEST

/* Checks the largest torques that the batch example prints for the arm of two unit links. The largest torques are those
 * of the arm stretched out level: 3 g L and 1 g L, with m = 1 kg and L = 1 m. One of 10,000 random states comes within
 * 1 % of them. */
START_TEST(the_batch_example_finds_the_largest_forces) {
    static const double levels[2] = {3 * 9.81, 9.81};
    char command[512], line[256], joint[64];
    snprintf(command, sizeof command, "%s %s two_link", BATCH_PROGRAM, served.request_ipc);
    FILE *output = popen(command, "r");
    for (int i = 0; i < 2; i++) {
        double largest;
        ck_assert_ptr_nonnull(fgets(line, sizeof line, output));
        ck_assert_int_eq(sscanf(line, "%63s %lf N m", joint, &largest), 2);
        ck_assert_msg(largest > 0.99 * levels[i] && largest <= levels[i], "%s", line);
    }
    ck_assert_ptr_null(fgets(line, sizeof line, output));
    ck_assert_int_eq(pclose(output), 0);
}
END_TEST

START_TEST(freeing_nothing_is_allowed) {
    dyn_client_abort(NULL);
    dyn_client_close(NULL);
    dyn_client_free(NULL);
    dyn_client_health_free(NULL);
    dyn_client_server_info_free(NULL);
    dyn_client_loaded_model_free(NULL);
    dyn_client_model_list_free(NULL);
    dyn_client_description_free(NULL);
    ck_assert_str_eq(dyn_client_status_name(DYN_CLIENT_TIMEOUT), "TIMEOUT");
    ck_assert_str_eq(dyn_client_status_name((dyn_client_status)99), "UNKNOWN");
    ck_assert_str_eq(dyn_client_joint_type_name((dyn_client_joint_type)99), "unknown");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("client");
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, connect_reports_an_invalid_address);
    tcase_add_test(all, connect_reports_that_nothing_listens);
    tcase_add_test(all, connect_reports_a_peer_that_is_no_request_endpoint);
    tcase_add_test(all, a_forked_child_is_refused);
    tcase_add_test(all, tcp_and_ipc_serve_alike);
    tcase_add_test(all, health_and_server_info_are_reported);
    tcase_add_test(all, server_info_lists_the_methods);
    tcase_add_test(all, a_daemon_of_an_earlier_revision_refuses);
    tcase_add_test(all, models_come_and_go);
    tcase_add_test(all, a_bad_description_names_its_line);
    tcase_add_test(all, two_link_arm_follows_its_closed_form);
    tcase_add_test(all, gravity_can_be_overridden);
    tcase_add_test(all, several_frames_come_in_their_order);
    tcase_add_test(all, refusals_name_the_field);
    tcase_add_test(all, wrong_lengths_are_reported_and_nothing_is_overrun);
    tcase_add_test(all, misuse_is_refused_without_a_request);
    tcase_add_test(all, no_answer_is_a_timeout);
    tcase_add_test(all, connection_that_is_closed_ungreeted_is_made_again);
    tcase_add_test(all, connection_that_is_closed_at_once_is_made_again);
    tcase_add_test(all, an_abort_ends_calls_that_wait);
    tcase_add_test(all, a_thread_cancels_the_call_of_another_one);
    tcase_add_test(all, a_reply_beyond_the_limit_is_refused);
    tcase_add_test(all, threads_share_a_client);
    tcase_add_test(all, a_client_outlives_the_daemon);
    tcase_add_test(all, raw_calls_accept_and_return_messages);
    tcase_add_test(all, the_example_prints_torques);
    tcase_add_test(all, the_batch_example_finds_the_largest_forces);
    tcase_add_test(all, freeing_nothing_is_allowed);
    return run_unforked("client", all);
}
