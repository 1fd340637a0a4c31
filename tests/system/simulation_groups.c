/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks groups of simulations that are watched together: their states arrive in one message a tick, each with the bits
 * of its own topic, while members come and go, and readers are slow.
 */
#include <check.h>
#include <dynamics_client.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "system/daemon_fixture.h"
#include "system/runner.h"

enum { MOST_STATES = 64, MOST_NQ = 6 };

/* Simulations of a tick. The thread sanitizer makes the daemon about ten times slower. */
#ifdef __SANITIZE_THREAD__
enum { MEMBERS_OF_TICK = 30, IS_SLOW = true };
#else
enum { MEMBERS_OF_TICK = 150, IS_SLOW = false };
#endif

static daemon_fixture fixture;
static dyn_client *client;
static dyn_client_error error;

static void ok(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s %s: %s", dyn_client_status_name(status), error.field, error.message);
}

static void start_with(const char *configuration) {
    daemon_start(&(daemon_options){.configuration = configuration}, &fixture);
    ok(dyn_client_connect(fixture.request_ipc, NULL, &client, &error));
}

static void start(void) {
    start_with(NULL);
}

static void stop(void) {
    dyn_client_close(client);
    daemon_stop(&fixture);
}

static void pause_for(double duration) {
    struct timespec time = {.tv_sec = (time_t)duration, .tv_nsec = (long)(fmod(duration, 1) * 1e9)};
    nanosleep(&time, NULL);
}

/* Creates a simulation with the clock, or in lockstep if `step` is 0, that publishes each step. Returns its token. */
static uint64_t create(const char *name, const char *model, double step) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = model);
    const dyn_client_stepping stepping = DYN_CLIENT_STEPPING_INIT(.step_length = step);
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = name, .query = &query, .stepping = &stepping,
                                           .pace = step > 0 ? DYN_CLIENT_PACE_CLOCK : DYN_CLIENT_PACE_LOCKSTEP,
                                           .publish_rate = step > 0 ? 1 / step : 1000);
    dyn_client_simulation *created;
    uint64_t token;
    ok(dyn_client_create_simulation(client, &options, &token, &created, &error));
    dyn_client_simulation_free(created);
    return token;
}

static dyn_client_watch *watch(const char *names) {
    dyn_client_watch *opened;
    ok(dyn_client_watch_simulation(client, names, 0, &opened, &error));
    return opened;
}

/* Waits for the next update of states, and adds the number of lost messages to `lost`. */
static void next_states(dyn_client_watch *of, dyn_client_update *update, uint64_t *lost) {
    do {
        *update = (dyn_client_update)DYN_CLIENT_UPDATE_INIT();
        ok(dyn_client_watch_next(of, 10, update, &error));
        *lost += update->lost;
    } while (update->kind != DYN_CLIENT_UPDATE_KIND_STATES);
}

/* Waits for an event of that name, and checks that it is one of that simulation. */
static void await_event(dyn_client_watch *of, const char *text, const char *simulation) {
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    do {
        ok(dyn_client_watch_next(of, 10, &update, &error));
    } while (update.kind != DYN_CLIENT_UPDATE_KIND_SIMULATION_EVENT || strcmp(update.text, text) != 0);
    ck_assert_str_eq(update.simulation, simulation);
}

/* State of a simulation. */
typedef struct state {
    uint64_t step;
    double time, values[3 * MOST_NQ];
} state;

/* Copies row `i` of an update. */
static state read_state(const dyn_client_update *update, size_t i) {
    state s = {.step = update->step[i], .time = update->time[i]};
    ck_assert_uint_le(update->nq, MOST_NQ);
    memcpy(s.values, update->q + i * update->nq, update->nq * sizeof *s.values);
    memcpy(s.values + MOST_NQ, update->v + i * update->nv, update->nv * sizeof *s.values);
    memcpy(s.values + 2 * MOST_NQ, update->tau + i * update->nv, update->nv * sizeof *s.values);
    return s;
}

/* Reads MOST_STATES states of one simulation from a watch, from step `first` on. */
static void read_states(dyn_client_watch *of, const char *name, uint64_t first, state *states) {
    dyn_client_update update;
    uint64_t lost = 0;
    for (size_t count = 0; count < MOST_STATES;) {
        next_states(of, &update, &lost);
        for (size_t i = 0; i < update.count && count < MOST_STATES; i++) {
            if (strcmp(update.simulation, name) == 0 && update.step[i] >= first) {
                states[count++] = read_state(&update, i);
            }
        }
    }
}

/* Returns the number of steps that both lists contain, and checks that their states are equal. */
static size_t count_equal(const state *a, const state *b) {
    size_t equal = 0;
    for (size_t i = 0, j = 0; i < MOST_STATES && j < MOST_STATES;) {
        if (a[i].step == b[j].step) {
            ck_assert_mem_eq(&a[i++], &b[j++], sizeof *a);
            equal++;
        } else if (a[i].step < b[j].step) {
            i++;
        } else {
            j++;
        }
    }
    return equal;
}

START_TEST(members_have_the_bits_of_their_own_topics) {
    static state own[MOST_STATES], together[MOST_STATES];
    char name[16];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "arm-%d", i);
        create(name, i % 4 == 0 ? "two_link" : "ur5", 0.004);
    }
    dyn_client_watch *group = watch("arm-*");
    for (int i = 0; i < 2; i++) {
        const char *member = i == 0 ? "arm-4" : "arm-7";
        dyn_client_watch *alone = watch(member);
        read_states(alone, member, 0, own);
        read_states(group, member, own[0].step, together);
        ck_assert_uint_gt(count_equal(own, together), MOST_STATES / 4);
        dyn_client_watch_close(alone);
    }
    dyn_client_watch_close(group);
}
END_TEST

START_TEST(states_of_a_tick_leave_in_one_message) {
    enum { MEMBERS = MEMBERS_OF_TICK, MESSAGES = 200 };
    char name[16];
    uint64_t lost = 0;
    size_t whole = 0, states = 0;
    dyn_client_update update;
    create("other", "ur5", 0.01);
    for (int i = 0; i < MEMBERS; i++) {
        snprintf(name, sizeof name, "arm-%d", i);
        create(name, "ur5", 0.01);
    }
    dyn_client_watch *group = watch("arm-*");
    for (size_t messages = 0, members = 0; messages < MESSAGES;) {
        next_states(group, &update, &lost);
        ck_assert_int_eq(strncmp(update.simulation, "arm-", 4), 0);
        ck_assert_uint_eq(update.nq, 6);
        members++;
        states++;
        if (update.remaining == 0) {
            messages++;
            whole += members == MEMBERS;
            members = 0;
        }
    }
    /* On a busy machine one of the threads is late in most ticks, which splits their messages. */
    ck_assert_msg(whole > 0, "none of %d messages has all simulations", MESSAGES);
    ck_assert_msg(states >= MESSAGES * MEMBERS / 4, "%d messages have %zu states", MESSAGES, states);
    dyn_client_watch_close(group);
}
END_TEST

START_TEST(lockstep_states_are_those_of_the_replies) {
    dyn_client_simulation *reply;
    dyn_client_update update;
    uint64_t lost = 0;
    const uint64_t first = create("arm-a", "ur5", 0), second = create("arm-b", "two_link", 0);
    dyn_client_watch *group = watch("*");
    for (int i = 0; i < 20; i++) {
        const bool is_first = i % 3 == 0;
        ok(dyn_client_step_simulation(client, is_first ? "arm-a" : "arm-b", is_first ? first : second, 1, NULL, 0,
                                      &reply, &error));
        next_states(group, &update, &lost);
        ck_assert_str_eq(update.simulation, is_first ? "arm-a" : "arm-b");
        ck_assert_uint_eq(update.remaining, 0);
        ck_assert_uint_eq(update.count, 1);
        ck_assert_uint_eq(update.step[0], reply->step);
        ck_assert_mem_eq(update.q, reply->q, reply->nq * sizeof *reply->q);
        ck_assert_mem_eq(update.v, reply->v, reply->nv * sizeof *reply->v);
        ck_assert_mem_eq(update.tau, reply->tau, reply->nv * sizeof *reply->tau);
        dyn_client_simulation_free(reply);
    }
    ck_assert_uint_eq(lost, 0);
    dyn_client_watch_close(group);
}
END_TEST

START_TEST(members_come_and_go) {
    dyn_client_update update;
    uint64_t lost = 0;
    dyn_client_watch *group = watch("arm-*");
    ck_assert_int_eq(dyn_client_watch_next(group, 0.1, &(dyn_client_update)DYN_CLIENT_UPDATE_INIT(), &error),
                     DYN_CLIENT_TIMEOUT);
    create("other", "two_link", 0.01);
    const uint64_t one = create("arm-1", "two_link", 0.01);
    next_states(group, &update, &lost);
    ck_assert_str_eq(update.simulation, "arm-1");
    create("arm-2", "ur5", 0.01);
    do {
        next_states(group, &update, &lost);
    } while (strcmp(update.simulation, "arm-2") != 0);
    ok(dyn_client_delete_simulation(client, "arm-1", one, 0, NULL, &error));
    await_event(group, "deleted", "arm-1");
    for (int i = 0; i < 50; i++) {
        next_states(group, &update, &lost);
        ck_assert_str_eq(update.simulation, "arm-2");
    }
    create("arm-1", "two_link", 0.01);
    do {
        next_states(group, &update, &lost);
    } while (strcmp(update.simulation, "arm-1") != 0);
    ck_assert_uint_lt(update.step[0], 100);
    ck_assert_uint_eq(lost, 0);
    dyn_client_watch_close(group);
}
END_TEST

START_TEST(slow_reader_loses_messages_and_is_told) {
    enum { MEMBERS = 60 };
    char name[16];
    dyn_client_update update;
    uint64_t lost = 0, last;
    for (int i = 0; i < MEMBERS; i++) {
        snprintf(name, sizeof name, "arm-%d", i);
        create(name, "ur5", 0.002);
    }
    dyn_client_watch *slow = watch("arm-*"), *quick = watch("arm-*");
    next_states(slow, &update, &lost);
    ck_assert_uint_eq(lost, 0);
    last = update.sequence;
    /* The slow one keeps at most 1024 messages, the daemon and the system some more. */
    for (uint64_t seen = 0; seen < last + 3500;) {
        next_states(quick, &update, &lost);
        seen = update.sequence;
    }
    lost = 0;
    for (uint64_t before = last; lost == 0;) {
        next_states(slow, &update, &lost);
        ck_assert_uint_eq(update.sequence - before, update.lost + (update.sequence != before));
        before = update.sequence;
        ck_assert_uint_lt(before, last + 3500);
    }
    dyn_client_watch_close(slow);
    dyn_client_watch_close(quick);
}
END_TEST

START_TEST(long_messages_are_split) {
    /* States of a UR5 have about 190 bytes in a message. */
    enum { MEMBERS = 500, MOST = 65536 / 170, LEAST = 65536 / 210 };
    char name[16];
    dyn_client_update update;
    uint64_t lost = 0;
    size_t most = 0;
    start_with("[limits]\nreply_bytes = 65536\n");
    for (int i = 0; i < MEMBERS; i++) {
        snprintf(name, sizeof name, "arm-%d", i);
        create(name, "ur5", 0.02);
    }
    dyn_client_watch *group = watch("*");
    for (size_t messages = 0, members = 0; messages < 200;) {
        next_states(group, &update, &lost);
        members++;
        if (update.remaining == 0) {
            messages++;
            most = members > most ? members : most;
            members = 0;
        }
    }
    ck_assert_msg(most >= LEAST && most <= MOST, "the longest message has the states of %zu simulations", most);
    dyn_client_watch_close(group);
    stop();
}
END_TEST

START_TEST(bad_names_are_refused_and_endpoints_are_limited) {
    static const char *const bad[] = {"a b*", "**", "a/*", "*a"},
                             long_name[] = "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg*";
    dyn_client_watch *first, *second;
    start_with("[limits]\ntopics = 1\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const dyn_client_status status = dyn_client_watch_simulation(client, bad[i], 0, &second, &error);
        ck_assert_msg(status == DYN_CLIENT_INVALID_ARGUMENT || status == DYN_CLIENT_NOT_FOUND, "%s", bad[i]);
        ck_assert_str_eq(error.field, "watch_simulation.simulation");
    }
    ck_assert_int_eq(dyn_client_watch_simulation(client, long_name, 0, &second, &error), DYN_CLIENT_RESOURCE_EXHAUSTED);
    ck_assert_str_eq(error.field, "watch_simulation.simulation");
    first = watch("a*");
    ck_assert_int_eq(dyn_client_watch_simulation(client, "b*", 0, &second, &error), DYN_CLIENT_RESOURCE_EXHAUSTED);
    second = watch("a*");
    dyn_client_watch_close(first);
    dyn_client_watch_close(second);
    stop();
}
END_TEST

START_TEST(closed_endpoint_makes_room_for_another) {
    dyn_client_watch *second = NULL;
    start_with("[limits]\ntopics = 1\n");
    create("arm", "two_link", 0.01);
    dyn_client_watch_close(watch("a*"));
    dyn_client_status status = DYN_CLIENT_RESOURCE_EXHAUSTED;
    for (int i = 0; i < 400 && status == DYN_CLIENT_RESOURCE_EXHAUSTED; i++) {
        pause_for(0.1);
        status = dyn_client_watch_simulation(client, "ar*", 0, &second, &error);
    }
    ok(status);
    dyn_client_update update;
    next_states(second, &update, &(uint64_t){0});
    ck_assert_str_eq(update.simulation, "arm");
    dyn_client_watch_close(second);
    stop();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("simulation_groups");
    TCase *tests = tcase_create("simulation groups"), *alone = tcase_create("own configuration");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_set_timeout(alone, 120);
    tcase_add_test(tests, members_have_the_bits_of_their_own_topics);
    tcase_add_test(tests, states_of_a_tick_leave_in_one_message);
    tcase_add_test(tests, lockstep_states_are_those_of_the_replies);
    tcase_add_test(tests, members_come_and_go);
    tcase_add_test(tests, slow_reader_loses_messages_and_is_told);
    if (!IS_SLOW) { /* the 500 simulations that fill a message keep a slow daemon from answering */
        tcase_add_test(alone, long_messages_are_split);
    }
    tcase_add_test(alone, bad_names_are_refused_and_endpoints_are_limited);
    tcase_add_test(alone, closed_endpoint_makes_room_for_another);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, alone);
    return run_suite(suite);
}
