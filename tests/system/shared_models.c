/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models that several daemons at one NATS server share: loaded, replaced and unloaded at one of them, and used at the
 * others. The robot is a bar on a hinge, whose torque under gravity at the angle 90 degrees is mass times 9.81 times
 * 0.5 m; so each result tells which version computed it.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/load.h"
#include "system/runner.h"

enum { REPLICAS = 3, DIGEST_TEXT = 7 + 64 + 1 };

static nats_server server;
static daemon_fixture replicas[REPLICAS];
static dyn_client *clients[REPLICAS]; /* each at one replica, without NATS */

static void connect_all(void) {
    dyn_client_error error;
    for (int i = 0; i < REPLICAS; i++) {
        ck_assert_msg(dyn_client_connect(replicas[i].request_ipc, NULL, &clients[i], &error) == DYN_CLIENT_OK, "%s",
                      error.message);
    }
}

static void start_replicas(void) {
    for (int i = 0; i < REPLICAS; i++) {
        daemon_start(&(daemon_options){.nats = server.url}, &replicas[i]);
    }
    connect_all();
}

static void start(void) {
    nats_server_start(&server);
    start_replicas();
}

static void start_without_jetstream(void) {
    nats_server_start_with(&server, "");
    start_replicas();
}

static void stop(void) {
    for (int i = 0; i < REPLICAS; i++) {
        dyn_client_close(clients[i]);
        daemon_stop(&replicas[i]);
    }
    nats_server_stop(&server);
}

/* Loads the bar with a mass under a name. `digest` (may be NULL) receives its digest. */
static dyn_client_status load_bar(dyn_client *client, const char *name, int mass, bool replace,
                                  char digest[DIGEST_TEXT], dyn_client_error *error) {
    dyn_client_loaded_model *loaded;
    char text[1024];
    snprintf(text, sizeof text,
             "<robot name='bar'><link name='base'/><link name='bar'><inertial><origin xyz='0 0 0.5'/>"
             "<mass value='%d'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>"
             "<joint name='hinge' type='continuous'><parent link='base'/><child link='bar'/><axis xyz='1 0 0'/>"
             "</joint></robot>",
             mass);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.name = name, .urdf = text, .replace = replace);
    dyn_client_status status = dyn_client_load_model(client, &request, &loaded, error);
    if (status == DYN_CLIENT_OK && digest) {
        snprintf(digest, DIGEST_TEXT, "%s", loaded->model.digest);
    }
    if (status == DYN_CLIENT_OK) {
        dyn_client_loaded_model_free(loaded);
    }
    return status;
}

static void must_load(int replica, const char *name, int mass, bool replace, char digest[DIGEST_TEXT]) {
    dyn_client_error error;
    ck_assert_msg(load_bar(clients[replica], name, mass, replace, digest, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
}

/* Asks a replica for the torque of a bar under gravity, and returns the mass that follows from it. */
static dyn_client_status ask_mass(dyn_client *client, const char *model, const char *expected_digest, int *mass,
                                  dyn_client_error *error) {
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = model, .nq = 1, .nv = 1, .samples = 1, .expected_digest = expected_digest);
    double q = acos(-1) / 2, torque = 0;
    dyn_client_status status = dyn_client_gravity(client, &query, &q, &torque, error);
    double found = fabs(torque) / (0.5 * 9.81);
    *mass = (int)lround(found);
    if (status == DYN_CLIENT_OK) {
        ck_assert_double_eq_tol(found, *mass, 1e-9);
    }
    return status;
}

static void check_mass(int replica, const char *model, int mass) {
    dyn_client_error error;
    int found;
    ck_assert_msg(ask_mass(clients[replica], model, NULL, &found, &error) == DYN_CLIENT_OK, "replica %d: %s", replica,
                  error.message);
    ck_assert_int_eq(found, mass);
}

/* Asks a replica for the mass until it has the version that another replica has loaded; at most a second. */
static void wait_for_mass(int replica, const char *model, int mass) {
    dyn_client_error error;
    int found = 0;
    double begin = load_now();
    while (ask_mass(clients[replica], model, NULL, &found, &error) != DYN_CLIENT_OK || found != mass) {
        ck_assert_msg(load_now() < begin + 1, "replica %d has the mass %d after a second", replica, found);
        load_pause(0.002);
    }
}

static void check_absent(int replica, const char *model) {
    dyn_client_error error;
    int found;
    ck_assert_int_eq(ask_mass(clients[replica], model, NULL, &found, &error), DYN_CLIENT_NOT_FOUND);
    ck_assert_str_eq(error.reason, "MODEL_NOT_FOUND");
}

/* Returns whether a replica lists a model, by its own table alone. */
static bool lists(int replica, const char *name, const char *digest) {
    dyn_client_model_list *list;
    dyn_client_error error;
    bool is_there = false;
    ck_assert_int_eq(dyn_client_list_models(clients[replica], 0, &list, &error), DYN_CLIENT_OK);
    for (size_t i = 0; i < list->count; i++) {
        is_there = is_there ||
                   (strcmp(list->models[i].name, name) == 0 && (!digest || !strcmp(list->models[i].digest, digest)));
    }
    dyn_client_model_list_free(list);
    return is_there;
}

/* Waits until a replica lists a model, or lists it no more; at most a second. Returns the time, s. */
static double wait_for(int replica, const char *name, const char *digest, bool is_there) {
    double begin = load_now();
    while (lists(replica, name, digest) != is_there) {
        ck_assert_msg(load_now() < begin + 1, "replica %d %s %s after a second", replica,
                      is_there ? "lacks" : "still has", name);
        load_pause(0.002);
    }
    return load_now() - begin;
}

static void unload(int replica, const char *name) {
    dyn_client_error error;
    ck_assert_msg(dyn_client_unload_model(clients[replica], name, 0, &error) == DYN_CLIENT_OK, "%s", error.message);
}

START_TEST(a_model_loaded_at_one_replica_is_served_by_another_within_a_second) {
    char digest[DIGEST_TEXT];
    must_load(0, "bar", 2, false, digest);
    double begin = load_now();
    check_mass(1, "bar", 2);
    printf("served by another replica after %.1f ms", 1e3 * (load_now() - begin));
    check_mass(2, digest, 2);
    printf(", listed by it after %.1f ms\n", 1e3 * wait_for(1, "bar", digest, true));
    wait_for(2, "bar", digest, true);
}
END_TEST

START_TEST(a_name_has_versions_and_a_request_may_pin_one) {
    char first[DIGEST_TEXT], second[DIGEST_TEXT];
    dyn_client_error error;
    int mass;
    must_load(0, "versioned", 2, false, first);
    wait_for(1, "versioned", first, true);
    must_load(2, "versioned", 3, true, second);
    ck_assert_msg(ask_mass(clients[1], "versioned", second, &mass, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_int_eq(mass, 3);
    for (int i = 0; i < REPLICAS; i++) {
        wait_for(i, "versioned", second, true);
        check_mass(i, first, 2);
        check_mass(i, second, 3);
        check_mass(i, "versioned", 3);
        ck_assert_int_eq(ask_mass(clients[i], "versioned", first, &mass, &error), DYN_CLIENT_ABORTED);
        ck_assert_str_eq(error.reason, "MODEL_CHANGED");
    }
    ck_assert_int_eq(dyn_client_unload_model(clients[0], first, 0, &error), DYN_CLIENT_ABORTED);
    ck_assert_msg(strstr(error.message, "earlier version") != NULL, "%s", error.message);
}
END_TEST

START_TEST(a_model_that_is_unloaded_is_gone_everywhere) {
    char first[DIGEST_TEXT], second[DIGEST_TEXT];
    must_load(0, "gone", 4, false, first);
    must_load(1, "gone", 5, true, second);
    must_load(1, "other", 5, false, NULL);
    for (int i = 0; i < REPLICAS; i++) {
        check_mass(i, first, 4);
        check_mass(i, "other", 5);
    }
    unload(2, "gone");
    for (int i = 0; i < REPLICAS; i++) {
        wait_for(i, "gone", NULL, false);
        check_absent(i, "gone");
        check_absent(i, first);
        check_mass(i, second, 5); /* the other name has it */
    }
    unload(0, "other");
    for (int i = 0; i < REPLICAS; i++) {
        wait_for(i, "other", NULL, false);
        check_absent(i, second);
    }
    must_load(1, "gone", 6, false, NULL);
    check_mass(0, "gone", 6);
}
END_TEST

START_TEST(a_name_is_taken_at_all_replicas) {
    dyn_client_error error;
    must_load(0, "taken", 2, false, NULL);
    ck_assert_int_eq(load_bar(clients[1], "taken", 3, false, NULL, &error), DYN_CLIENT_ALREADY_EXISTS);
    ck_assert_str_eq(error.reason, "NAME_TAKEN");
    must_load(1, "taken", 2, false, NULL);
    check_mass(2, "taken", 2);
}
END_TEST

/* A client that loads a bar of its own mass while others do. */
typedef struct rival {
    pthread_t thread;
    int replica;
    dyn_client_status status;
} rival;

static void *load_as_rival(void *argument) {
    rival *r = argument;
    dyn_client_error error;
    r->status = load_bar(clients[r->replica], "contested", 10 + r->replica, false, NULL, &error);
    return NULL;
}

START_TEST(one_of_several_clients_that_load_a_name_at_once_wins) {
    rival rivals[REPLICAS];
    int winner = -1, winners = 0;
    for (int i = 0; i < REPLICAS; i++) {
        rivals[i] = (rival){.replica = i};
        ck_assert_int_eq(pthread_create(&rivals[i].thread, NULL, load_as_rival, &rivals[i]), 0);
    }
    for (int i = 0; i < REPLICAS; i++) {
        pthread_join(rivals[i].thread, NULL);
        winner = rivals[i].status == DYN_CLIENT_OK ? i : winner;
        winners += rivals[i].status == DYN_CLIENT_OK;
        ck_assert(rivals[i].status == DYN_CLIENT_OK || rivals[i].status == DYN_CLIENT_ALREADY_EXISTS ||
                  rivals[i].status == DYN_CLIENT_ABORTED);
    }
    ck_assert_int_eq(winners, 1);
    for (int i = 0; i < REPLICAS; i++) {
        check_mass(i, "contested", 10 + winner);
    }
}
END_TEST

START_TEST(a_replica_that_starts_late_knows_all_changes) {
    char digest[DIGEST_TEXT];
    must_load(0, "stays", 2, false, NULL);
    must_load(0, "changes", 2, false, NULL);
    must_load(0, "goes", 2, false, NULL);
    wait_for(2, "goes", NULL, true);
    dyn_client_close(clients[2]);
    ck_assert_int_eq(daemon_end(&replicas[2], SIGKILL), 128 + SIGKILL);
    must_load(1, "changes", 3, true, NULL);
    must_load(1, "comes", 4, false, digest);
    unload(1, "goes");
    daemon_begin(&replicas[2]);
    dyn_client_error error;
    ck_assert_int_eq(dyn_client_connect(replicas[2].request_ipc, NULL, &clients[2], &error), DYN_CLIENT_OK);
    ck_assert(lists(2, "comes", digest));
    ck_assert(!lists(2, "goes", NULL));
    check_mass(2, "stays", 2);
    check_mass(2, "changes", 3);
    check_mass(2, "comes", 4);
}
END_TEST

START_TEST(models_and_changes_outlive_a_restart_of_the_nats_server) {
    dyn_client_error error;
    int mass;
    must_load(0, "lasting", 2, false, NULL);
    wait_for(1, "lasting", NULL, true);
    nats_server_restart(&server);
    check_mass(1, "lasting", 2);
    double end = load_now() + 10;
    while (load_bar(clients[0], "lasting", 3, true, NULL, &error) != DYN_CLIENT_OK ||
           ask_mass(clients[2], "lasting", NULL, &mass, &error) != DYN_CLIENT_OK || mass != 3) {
        ck_assert_msg(load_now() < end, "%s", error.message);
        load_pause(0.05);
    }
    wait_for_mass(1, "lasting", 3);
}
END_TEST

START_TEST(without_jetstream_a_change_over_nats_says_what_to_turn_on) {
    dyn_client *client = load_connect(server.url);
    dyn_client_error error;
    ck_assert_int_eq(load_bar(client, "bar", 2, false, NULL, &error), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_str_eq(error.reason, "NOT_CONFIGURED");
    ck_assert_msg(strstr(error.message, "jetstream { store_dir") != NULL, "%s", error.message);
    ck_assert(load_ask(client, LOAD_SAMPLES, 1, NULL, &error) == DYN_CLIENT_OK);
    must_load(0, "bar", 2, false, NULL);
    check_mass(0, "bar", 2);
    check_absent(1, "bar");
    char *log = daemon_log(&replicas[0]);
    ck_assert_msg(strstr(log, "jetstream { store_dir") != NULL, "%s", log);
    free(log);
    dyn_client_close(client);
}
END_TEST

START_TEST(replicas_with_different_models_of_one_name_answer_no_batch) {
    dyn_client *client = load_connect(server.url);
    dyn_client_error error;
    enum { TRIES = 50, SAMPLES = 4096 };
    double q[SAMPLES], g[SAMPLES];
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "changing", .nq = 1, .nv = 1, .samples = SAMPLES);
    for (int i = 0; i < REPLICAS; i++) {
        must_load(i, "changing", 1 + (i == 1), false, NULL);
    }
    for (int k = 0; k < SAMPLES; k++) {
        q[k] = 0.3;
    }
    /* A batch may miss a replica that is slow to answer: then all of it has the torques of one model. */
    dyn_client_status status = DYN_CLIENT_OK;
    for (int i = 0; i < TRIES && status == DYN_CLIENT_OK; i++) {
        status = dyn_client_gravity(client, &query, q, g, &error);
        for (int k = 1; status == DYN_CLIENT_OK && k < SAMPLES; k++) {
            ck_assert_double_eq(g[k], g[0]);
        }
    }
    ck_assert_int_eq(status, DYN_CLIENT_ABORTED);
    ck_assert_str_eq(error.reason, "MODEL_CHANGED");
    ck_assert_msg(strstr(error.message, "different models") != NULL, "%s", error.message);
    dyn_client_close(client);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("shared_models");
    TCase *all = tcase_create("shared models"), *alone = tcase_create("without JetStream");
    suite_add_tcase(suite, all);
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, start, stop);
    tcase_add_test(all, a_model_loaded_at_one_replica_is_served_by_another_within_a_second);
    tcase_add_test(all, a_name_has_versions_and_a_request_may_pin_one);
    tcase_add_test(all, a_model_that_is_unloaded_is_gone_everywhere);
    tcase_add_test(all, a_name_is_taken_at_all_replicas);
    tcase_add_test(all, one_of_several_clients_that_load_a_name_at_once_wins);
    tcase_add_test(all, a_replica_that_starts_late_knows_all_changes);
    tcase_add_test(all, models_and_changes_outlive_a_restart_of_the_nats_server);
    suite_add_tcase(suite, alone);
    tcase_set_timeout(alone, 60);
    tcase_add_checked_fixture(alone, start_without_jetstream, stop);
    tcase_add_test(alone, without_jetstream_a_change_over_nats_says_what_to_turn_on);
    tcase_add_test(alone, replicas_with_different_models_of_one_name_answer_no_batch);
    return run_suite(suite);
}
