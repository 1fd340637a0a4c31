/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients and several daemons at one NATS server: replicas that die, stop, drain and come back, and a NATS server that
 * restarts. Each reply is compared with a closed form.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/sp_request.h"

enum { REPLICAS = 3, SAMPLES = 50, REQUESTS = 300 };

static const double TOLERANCE = 1e-9;

static nats_server server;
static daemon_fixture replicas[REPLICAS];

static void start(void) {
    nats_server_start(&server);
    for (int i = 0; i < REPLICAS; i++) {
        daemon_start(&(daemon_options){.nats = server.url}, &replicas[i]);
    }
}

/* Stops the replicas that run. */
static void stop(void) {
    for (int i = 0; i < REPLICAS; i++) {
        if (replicas[i].process > 0) {
            daemon_stop(&replicas[i]);
        }
    }
    nats_server_stop(&server);
}

static dyn_client *connect_client(void) {
    dyn_client *client;
    dyn_client_error error;
    ck_assert_msg(dyn_client_connect(server.url, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    return client;
}

/* Asks for the joint forces of SAMPLES states of the two-link arm, and compares them with the closed form. Returns
 * whether there was an answer. */
static bool ask_once(dyn_client *client, int number, dyn_client_error *error) {
    double q[2 * SAMPLES], v[2 * SAMPLES], a[2 * SAMPLES], tau[2 * SAMPLES];
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = SAMPLES);
    for (int k = 0; k < 2 * SAMPLES; k++) {
        double t = 0.37 * number + 0.11 * k;
        q[k] = sin(t);
        v[k] = cos(1.3 * t);
        a[k] = sin(0.7 * t);
    }
    if (dyn_client_inverse_dynamics(client, &query, q, v, a, tau, error) != DYN_CLIENT_OK) {
        return false;
    }
    for (int k = 0; k < 2 * SAMPLES; k += 2) {
        double right[2];
        sp_two_link_torques(&q[k], &v[k], &a[k], right);
        ck_assert_double_eq_tol(tau[k], right[0], TOLERANCE);
        ck_assert_double_eq_tol(tau[k + 1], right[1], TOLERANCE);
    }
    return true;
}

/* A client that asks while replicas come and go. */
typedef struct load {
    pthread_t thread;
    atomic_int answered;
    int failed;
    double longest;
    char failure[256];
} load;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void pause_for(double seconds) {
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)}, NULL);
}

static void *ask(void *argument) {
    load *l = argument;
    dyn_client *client = connect_client();
    dyn_client_error error;
    for (int i = 0; i < REQUESTS; i++) {
        double start = now();
        bool is_answered = ask_once(client, i, &error);
        l->longest = fmax(l->longest, now() - start);
        if (!is_answered) {
            l->failed++;
            snprintf(l->failure, sizeof l->failure, "%.255s", error.message);
        }
        atomic_fetch_add(&l->answered, is_answered);
        pause_for(0.002);
    }
    dyn_client_close(client);
    return NULL;
}

static void load_start(load *l) {
    memset(l, 0, sizeof *l);
    ck_assert_int_eq(pthread_create(&l->thread, NULL, ask, l), 0);
    double end = now() + 10;
    while (atomic_load(&l->answered) < 20) {
        ck_assert_double_le(now(), end);
        pause_for(0.005);
    }
}

/* Waits for the end of the load, and checks that every request was answered rightly. */
static void load_end(load *l, const char *disturbance) {
    pthread_join(l->thread, NULL);
    printf("%-32s %d answers, %d failures, longest %.3f s %s\n", disturbance, atomic_load(&l->answered), l->failed,
           l->longest, l->failure);
    ck_assert_msg(l->failed == 0, "%s", l->failure);
    ck_assert_int_eq(atomic_load(&l->answered), REQUESTS);
}

START_TEST(a_killed_replica_costs_no_answer) {
    load l;
    load_start(&l);
    ck_assert_int_eq(daemon_end(&replicas[0], SIGKILL), 128 + SIGKILL);
    load_end(&l, "kill -9 of one of three");
    daemon_begin(&replicas[0]);
}
END_TEST

START_TEST(a_drained_replica_finishes_its_requests) {
    load l;
    load_start(&l);
    daemon_restart(&replicas[1]);
    daemon_restart(&replicas[2]);
    load_end(&l, "two restarts of three");
}
END_TEST

START_TEST(a_stopped_replica_is_passed_by_within_the_timeout) {
    load l;
    load_start(&l);
    daemon_signal(&replicas[0], SIGSTOP);
    pause_for(1);
    daemon_signal(&replicas[0], SIGCONT);
    load_end(&l, "SIGSTOP of one of three for 1 s");
}
END_TEST

START_TEST(a_restart_of_the_nats_server_costs_no_wrong_answer) {
    load l;
    load_start(&l);
    nats_server_restart(&server);
    load_end(&l, "restart of the NATS server");
}
END_TEST

START_TEST(a_simulation_is_lost_with_its_replica_and_the_error_says_so) {
    dyn_client *client = connect_client();
    dyn_client_error error;
    dyn_client_server_info *info;
    ck_assert_int_eq(dyn_client_get_server_info(client, 0, &info, &error), DYN_CLIENT_OK);
    dyn_client_server_info_free(info);
    for (int i = 0; i < REPLICAS; i++) {
        ck_assert_int_eq(daemon_end(&replicas[i], SIGKILL), 128 + SIGKILL);
        daemon_begin(&replicas[i]);
    }
    ck_assert_int_eq(dyn_client_get_server_info(client, 0, &info, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "is gone, with its simulations") != NULL, "%s", error.message);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);
    double q[2] = {0.1, 0.2}, g[2];
    ck_assert_msg(dyn_client_gravity(client, &query, q, g, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_close(client);
}
END_TEST

START_TEST(no_daemon_and_no_server_are_told_apart) {
    dyn_client *client;
    dyn_client_error error;
    nats_server alone;
    const dyn_client_options brief = DYN_CLIENT_OPTIONS_INIT(.connect_timeout = 0.5);
    nats_server_start(&alone);
    ck_assert_int_eq(dyn_client_connect(alone.url, &brief, &client, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "no dynamicsd answers") != NULL, "%s", error.message);
    nats_server_stop(&alone);
    ck_assert_int_eq(dyn_client_connect(alone.url, &brief, &client, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "no NATS server") != NULL, "%s", error.message);
}
END_TEST

START_TEST(a_request_beyond_the_payload_is_refused_with_both_sizes) {
    enum { MANY = 2200000 };
    dyn_client *client = connect_client();
    dyn_client_error error;
    double *q = calloc(2 * MANY, sizeof *q), *g = calloc(2 * MANY, sizeof *g);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = MANY);
    ck_assert_int_eq(dyn_client_gravity(client, &query, q, g, &error), DYN_CLIENT_RESOURCE_EXHAUSTED);
    ck_assert_msg(strstr(error.message, "max_payload") != NULL, "%s", error.message);
    ck_assert(ask_once(client, 1, &error));
    dyn_client_close(client);
    free(q);
    free(g);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("nats");
    TCase *all = tcase_create("nats");
    suite_add_tcase(suite, all);
    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, start, stop);
    tcase_add_test(all, a_killed_replica_costs_no_answer);
    tcase_add_test(all, a_drained_replica_finishes_its_requests);
    tcase_add_test(all, a_stopped_replica_is_passed_by_within_the_timeout);
    tcase_add_test(all, a_restart_of_the_nats_server_costs_no_wrong_answer);
    tcase_add_test(all, a_simulation_is_lost_with_its_replica_and_the_error_says_so);
    tcase_add_test(all, no_daemon_and_no_server_are_told_apart);
    tcase_add_test(all, a_request_beyond_the_payload_is_refused_with_both_sizes);
    setvbuf(stdout, NULL, _IOLBF, 0);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
