/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests when the thread of a fast channel spins: around the ticks of a periodic client for a small share of the time,
 * after replies for a client that asks at once, and never where it does not pay.
 */
#include "transport/arrival.h"

#include "unit/server/support.h"

/* ns: a tick of a controller, and the longest spin. */
static const uint64_t TICK = 1000000, LONGEST = 50000;

enum { TICKS = 2000, LEARNT = 200 };

/* Outcome of many ticks. */
typedef struct outcome {
    double spun;   /* share of the time */
    double caught; /* share of the requests that found the thread spinning */
} outcome;

/* Returns how long the thread spins until the request at `arrival`, whose reply was at `replied`, and whether the
 * request finds it spinning. */
static uint64_t spun_for(const arrival_plan *plan, uint64_t replied, uint64_t sent, bool *is_caught) {
    uint64_t spun = 0;
    *is_caught = false;
    if (plan->burst_end > replied) {
        *is_caught = sent <= plan->burst_end;
        spun += (*is_caught ? sent : plan->burst_end) - replied;
    }
    if (!*is_caught && plan->wake > 0 && sent > plan->wake) {
        *is_caught = sent <= plan->give_up;
        spun += (*is_caught ? sent : plan->give_up) - plan->wake;
    }
    return spun;
}

/* Runs a client that asks each tick, at times that scatter by up to `jitter` ns, and `followers` times more at once. */
static outcome run_client(double jitter, int followers, random_source *random) {
    arrival a = {0};
    uint64_t replied = 1, spun = 0;
    int caught = 0, requests = 0;
    for (int i = 1; i <= TICKS; i++) {
        uint64_t sent = (uint64_t)i * TICK + (uint64_t)random_uniform(random, 0, jitter);
        for (int k = 0; k <= followers; k++) {
            bool is_caught;
            arrival_plan plan = arrival_expect(&a, replied, LONGEST);
            uint64_t time = spun_for(&plan, replied, sent, &is_caught);
            if (i > LEARNT) {
                spun += time;
                caught += is_caught;
                requests++;
            }
            arrival_note(&a, replied, sent, LONGEST);
            replied = sent + 2000;
            sent = replied + 3000;
        }
    }
    return (outcome){(double)spun / ((TICKS - LEARNT) * (double)TICK), (double)caught / requests};
}

START_TEST(a_periodic_client_finds_the_thread_spinning_at_little_cost) {
    random_source random = random_seed("a periodic client finds the thread spinning", 1);
    outcome found = run_client(2000, 0, &random);
    ck_assert_double_gt(found.caught, 0.95);
    ck_assert_double_lt(found.spun, 0.02);
}
END_TEST

START_TEST(a_client_that_asks_several_times_a_tick_finds_the_thread_spinning) {
    random_source random = random_seed("a client that asks several times a tick", 2);
    outcome found = run_client(2000, 2, &random);
    ck_assert_double_gt(found.caught, 0.9);
    ck_assert_double_lt(found.spun, 0.05);
}
END_TEST

START_TEST(a_client_without_a_period_costs_nothing) {
    random_source random = random_seed("a client without a period costs nothing", 3);
    outcome found = run_client(900000, 0, &random);
    ck_assert_double_lt(found.spun, 0.005);
}
END_TEST

START_TEST(a_client_that_asks_at_once_finds_the_thread_spinning) {
    arrival a = {0};
    uint64_t replied = 1;
    for (int i = 0; i < TICKS; i++) {
        uint64_t sent = replied + 1500;
        if (i > LEARNT) {
            ck_assert_uint_gt(arrival_expect(&a, replied, LONGEST).burst_end, sent);
        }
        arrival_note(&a, replied, sent, LONGEST);
        replied = sent + 1000;
    }
}
END_TEST

START_TEST(a_late_tick_does_not_spoil_the_period) {
    arrival a = {0};
    uint64_t replied = 1;
    for (int i = 1; i <= TICKS; i++) {
        uint64_t sent = (uint64_t)i * TICK + (i % 500 == 0 ? 400000 : 0);
        arrival_note(&a, replied, sent, LONGEST);
        replied = sent + 2000;
    }
    arrival_plan plan = arrival_expect(&a, replied, LONGEST);
    ck_assert_double_eq_tol(a.period, (double)TICK, 20000);
    ck_assert_uint_le(plan.give_up - plan.wake, LONGEST);
}
END_TEST

START_TEST(no_spin_is_planned_where_none_is_allowed) {
    arrival a = {0};
    uint64_t replied = 1;
    for (int i = 1; i <= TICKS; i++) {
        arrival_note(&a, replied, (uint64_t)i * TICK, 0);
        replied = (uint64_t)i * TICK + 2000;
        arrival_plan plan = arrival_expect(&a, replied, 0);
        ck_assert_uint_eq(plan.burst_end, 0);
        ck_assert_uint_eq(plan.wake, 0);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("arrival");
    tcase_add_test(tests, a_periodic_client_finds_the_thread_spinning_at_little_cost);
    tcase_add_test(tests, a_client_that_asks_several_times_a_tick_finds_the_thread_spinning);
    tcase_add_test(tests, a_client_without_a_period_costs_nothing);
    tcase_add_test(tests, a_client_that_asks_at_once_finds_the_thread_spinning);
    tcase_add_test(tests, a_late_tick_does_not_spoil_the_period);
    tcase_add_test(tests, no_spin_is_planned_where_none_is_allowed);
    return run_tests(tests);
}
