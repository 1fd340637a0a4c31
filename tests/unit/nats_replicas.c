/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests how a client distributes its requests over the daemons of a queue group.
 */
#include <check.h>
#include <stdio.h>

#include "clients/c/src/nats_replicas.h"
#include "robots.h"
#include "support/random.h"

/* Daemons; requests under way at once; requests of a run. */
enum { DAEMONS = 3, UNDER_WAY = 8, REQUESTS = 1000 };

/* Request under way. */
typedef struct request {
    char chosen[NATS_REPLICA_SIZE];
    int daemon; /* that has it */
} request;

/* Client of several daemons, each of which works on its requests in their order. */
typedef struct client {
    nats_replicas replicas;
    random_source random;
    bool is_gone[DAEMONS];
    request under_way[UNDER_WAY];
    int at[DAEMONS];                /* requests under way at each daemon */
    int chosen[DAEMONS], by_chance; /* requests so far */
} client;

static void name_of(int daemon, char name[NATS_REPLICA_SIZE]) {
    snprintf(name, NATS_REPLICA_SIZE, "daemon%d", daemon);
}

static int daemon_of(const char *name) {
    int daemon = -1;
    ck_assert_int_eq(sscanf(name, "daemon%d", &daemon), 1);
    return daemon;
}

/* Returns the daemon that the NATS server chooses. */
static int draw(client *c) {
    int daemon;
    do {
        daemon = (int)random_uniform(&c->random, 0, DAEMONS);
    } while (c->is_gone[daemon]);
    return daemon;
}

static void begin(client *c, request *r) {
    bool is_chosen = nats_replicas_begin(&c->replicas, r->chosen);
    r->daemon = is_chosen ? daemon_of(r->chosen) : draw(c);
    c->by_chance += !is_chosen;
    c->chosen[r->daemon] += is_chosen;
    if (c->is_gone[r->daemon]) {
        r->daemon = draw(c); /* nobody is subscribed: the client asks the group */
    }
    c->at[r->daemon]++;
}

static void end(client *c, const request *r) {
    char name[NATS_REPLICA_SIZE];
    name_of(r->daemon, name);
    nats_replicas_end(&c->replicas, r->chosen, name);
    c->at[r->daemon]--;
}

/* Runs requests, of which one at random ends at a time. Returns how often a daemon had none while another one had
 * several. */
static int run(client *c) {
    int starved = 0;
    for (int i = 0; i < UNDER_WAY; i++) {
        begin(c, &c->under_way[i]);
    }
    for (int i = 0; i < REQUESTS; i++) {
        request *r = &c->under_way[(int)random_uniform(&c->random, 0, UNDER_WAY)];
        end(c, r);
        begin(c, r);
        for (int k = 0; k < DAEMONS; k++) {
            starved += !c->is_gone[k] && c->at[k] == 0;
        }
    }
    for (int i = 0; i < UNDER_WAY; i++) {
        end(c, &c->under_way[i]);
    }
    return starved;
}

static client make_client(const char *test, uint64_t seed) {
    client c = {.random = random_seed(test, seed)};
    nats_replicas_init(&c.replicas);
    return c;
}

START_TEST(requests_under_way_are_shared_evenly) {
    client c = make_client("requests under way are shared evenly", 1);
    run(&c); /* finds the daemons */
    c.by_chance = 0;
    ck_assert_int_lt(run(&c), REQUESTS / 20);
    ck_assert_int_gt(c.by_chance, REQUESTS / 10);
    ck_assert_int_lt(c.by_chance, REQUESTS / 6);
    nats_replicas_destroy(&c.replicas);
}
END_TEST

START_TEST(the_queue_group_chooses_for_single_requests_and_for_single_daemons) {
    client c = make_client("the queue group chooses", 2);
    char chosen[NATS_REPLICA_SIZE];
    for (int i = 0; i < REQUESTS; i++) {
        bool is_chosen = nats_replicas_begin(&c.replicas, chosen);
        ck_assert(!is_chosen);
        nats_replicas_end(&c.replicas, chosen, i % 2 ? "daemon0" : "daemon1");
    }
    nats_replicas_destroy(&c.replicas);
    c = make_client("the queue group chooses", 3);
    c.is_gone[0] = c.is_gone[2] = true;
    run(&c);
    ck_assert_int_eq(c.by_chance, REQUESTS + UNDER_WAY);
    nats_replicas_destroy(&c.replicas);
}
END_TEST

START_TEST(a_daemon_that_is_gone_is_forgotten_and_found_again) {
    client c = make_client("a daemon that is gone is forgotten", 4);
    run(&c);
    c.is_gone[1] = true;
    c.chosen[1] = 0;
    run(&c);
    ck_assert_int_le(c.chosen[1], UNDER_WAY);
    c.is_gone[1] = false;
    run(&c);
    c.chosen[1] = 0;
    run(&c);
    ck_assert_int_gt(c.chosen[1], REQUESTS / 5);
    nats_replicas_destroy(&c.replicas);
}
END_TEST

START_TEST(daemons_beyond_the_known_ones_are_reached_by_the_queue_group) {
    nats_replicas replicas;
    char chosen[NATS_REPLICA_SIZE], name[NATS_REPLICA_SIZE];
    nats_replicas_init(&replicas);
    for (int i = 0; i < 2 * NATS_REPLICAS; i++) {
        name_of(i, name);
        nats_replicas_begin(&replicas, chosen);
        nats_replicas_end(&replicas, chosen, name);
    }
    nats_replicas_begin(&replicas, chosen);
    for (int i = 0; i < REQUESTS; i++) {
        name_of(NATS_REPLICAS + i % NATS_REPLICAS, name);
        bool is_chosen = nats_replicas_begin(&replicas, chosen);
        ck_assert(!is_chosen);
        nats_replicas_end(&replicas, chosen, name);
    }
    nats_replicas_end(&replicas, "", NULL);
    nats_replicas_destroy(&replicas);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("nats_replicas");
    tcase_add_test(tests, requests_under_way_are_shared_evenly);
    tcase_add_test(tests, the_queue_group_chooses_for_single_requests_and_for_single_daemons);
    tcase_add_test(tests, a_daemon_that_is_gone_is_forgotten_and_found_again);
    tcase_add_test(tests, daemons_beyond_the_known_ones_are_reached_by_the_queue_group);
    return run_tests(tests);
}
