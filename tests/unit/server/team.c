/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests teams, which split the phases of one computation over the threads of a pool.
 */
#include "methods/team.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/random_chain.h"
#include "support/random_tree.h"
#include "unit/server/support.h"
#include "worker_pool.h"

enum { MEMBERS = 3, MOST_PARTS = 500, PHASES = 3000 };

/* Record of a phase: how often each part was computed. */
typedef struct ledger {
    atomic_int computed[MOST_PARTS];
} ledger;

static void write_ledger(void *argument, size_t first, size_t end) {
    ledger *l = argument;
    for (size_t i = first; i < end; i++) {
        atomic_fetch_add(&l->computed[i], 1);
    }
}

/* Runs many short phases, and checks that each part was computed once when a phase ends. */
static void check_phases(service_submit submit, void *pool) {
    random_source random = random_seed("phases of a team", 41);
    team *t = team_create(submit, pool, MEMBERS);
    ck_assert_ptr_nonnull(t);
    for (int k = 0; k < PHASES; k++) {
        ledger l;
        size_t count = (size_t)random_index(&random, MOST_PARTS);
        memset(&l, 0, sizeof l);
        team_spread(t)->run(team_spread(t)->context, count, write_ledger, &l);
        for (size_t i = 0; i < MOST_PARTS; i++) {
            ck_assert_int_eq(atomic_load(&l.computed[i]), i < count);
        }
    }
    team_end(t);
}

START_TEST(every_part_of_every_phase_is_computed_once) {
    worker_pool *pool = worker_pool_create(MEMBERS, 16, 0);
    check_phases(worker_pool_submit, pool);
    worker_pool_free(pool);
}
END_TEST

static bool refuse(void *pool, void (*run)(void *task), void *task) {
    (void)pool, (void)run, (void)task;
    return false;
}

START_TEST(full_pool_leaves_the_phases_to_the_caller) {
    check_phases(refuse, NULL);
}
END_TEST

START_TEST(team_without_phases_ends) {
    worker_pool *pool = worker_pool_create(MEMBERS, 16, 0);
    team_end(team_create(worker_pool_submit, pool, MEMBERS));
    team_end(NULL);
    worker_pool_free(pool);
}
END_TEST

/* Checks that constraint_force gives the same bits alone and with a team, in a chain of so many joints that four levels
 * are split. */
START_TEST(levels_of_a_chain_have_the_same_bits_with_a_team) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE};
    enum { JOINTS = 1000 };
    random_source random = random_seed("chain of a team", 42);
    random_chain_options options = {.joints = JOINTS, .types = types, .type_count = 1};
    dyn_model *model = random_chain(&random, &options);
    worker_pool *pool = worker_pool_create(MEMBERS, 16, 0);
    dyn_formulation *f = NULL;
    dyn_error error;
    double q[JOINTS], alone[JOINTS], with_team[JOINTS];
    ck_assert_int_eq(dyn_formulation_create(model, "constraint_force", &f, &error), DYN_OK);
    ck_assert(dyn_formulation_spreads(f));
    for (int round = 0; round < 10; round++) {
        team *t = team_create(worker_pool_submit, pool, MEMBERS);
        random_vector(&random, JOINTS, 3, q);
        dyn_formulation_spread(f, NULL);
        ck_assert_int_eq(dyn_formulation_forward_dynamics(f, 1, NULL, q, q, NULL, alone, &error), DYN_OK);
        dyn_formulation_spread(f, team_spread(t));
        ck_assert_int_eq(dyn_formulation_forward_dynamics(f, 1, NULL, q, q, NULL, with_team, &error), DYN_OK);
        ck_assert_int_eq(memcmp(alone, with_team, sizeof alone), 0);
        team_end(t);
    }
    dyn_formulation_free(f);
    worker_pool_free(pool);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("team");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_part_of_every_phase_is_computed_once);
    tcase_add_test(tests, full_pool_leaves_the_phases_to_the_caller);
    tcase_add_test(tests, team_without_phases_ends);
    tcase_add_test(tests, levels_of_a_chain_have_the_same_bits_with_a_team);
    return run_tests(tests);
}
