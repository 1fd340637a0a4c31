/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests ticks: simulations of a cohort step together, each with the bits that it has alone, whatever happens to the
 * others.
 */
#include "simulations/ticks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "observe/clock.h"
#include "simulations/simulation.h"
#include "unit/server/support.h"

enum { NQ = 6, ROBOTS = 21, STEPS = 40 };

static bool is_watched(simulation *s) {
    return s->owner_context != NULL;
}

static void on_states(simulation *s, const simulation_batch *batch) {
    *(size_t *)s->owner_context += batch->count;
}

static void on_event(simulation *s, simulation_event event, int joint, const char *message) {
    (void)s, (void)event, (void)joint, (void)message;
}

static const simulation_hooks hooks = {.is_watched = is_watched, .on_states = on_states, .on_event = on_event};

/* Source without a point for any time. */
static bool drive_nothing(void *context, simulation *s) {
    (void)context, (void)s;
    return false;
}

static const simulation_source empty_source = {.name = "empty", .is_awaited = true, .drive = drive_nothing};

/* Creates a simulation with a start and a disturbance of its own, under control. */
static simulation *create(model_entry *entry, int number, const char *cohort, pacer *paced_by, void *context) {
    static const double gains[NQ] = {100, 100, 100, 10, 10, 10}, deviation[NQ] = {1, 1, 1, 1, 1, 1};
    double q[NQ];
    simulation *s;
    dyn_error error;
    for (int i = 0; i < NQ; i++) {
        q[i] = 0.3 * sin(number + i);
    }
    simulation_options options = {.stepping = DYN_SIMULATION_OPTIONS_INIT(),
                                  .cohort = cohort,
                                  .deviation = number % 3 == 0 ? deviation : NULL,
                                  .is_paced = true,
                                  .rate = 1,
                                  .publish_rate = 1000,
                                  .seed = (uint64_t)number,
                                  .lease = 60,
                                  .q = q};
    options.stepping.control = DYN_CONTROL_PD_GRAVITY;
    options.stepping.control_stiffness = options.stepping.control_damping = gains;
    ck_assert_msg(simulation_create(entry, "arm", &options, paced_by, &hooks, context, &error, &s) == DYN_OK, "%s",
                  error.message);
    s->condition = SIMULATION_RUNNING;
    schedule_begin(&s->schedule, clock_now() - 2 * NANOSECONDS, 0);
    return s;
}

static void run_ticks(simulation *const robots[], size_t count, unsigned ticks, pacer_memory *memory) {
    pacer_task *tasks[ROBOTS];
    uint64_t next[ROBOTS];
    for (size_t i = 0; i < count; i++) {
        tasks[i] = &robots[i]->task;
    }
    for (unsigned k = 0; k < ticks; k++) {
        ticks_run(tasks, count, memory, next);
    }
}

static void check_same_bits(const simulation *a, const simulation *b) {
    ck_assert_uint_eq(a->step, b->step);
    ck_assert_mem_eq(a->q, b->q, NQ * sizeof *a->q);
    ck_assert_mem_eq(a->v, b->v, NQ * sizeof *a->v);
    ck_assert_mem_eq(a->tau, b->tau, NQ * sizeof *a->tau);
    ck_assert_mem_eq(&a->generator, &b->generator, sizeof a->generator);
}

/* Robots that step together, the same ones alone, and what both share. */
typedef struct pairs {
    model_entry *entry;
    pacer *pacer; /* counts overruns; runs nothing */
    simulation *together[ROBOTS], *alone[ROBOTS];
    pacer_memory memory, none;
    size_t watched;
} pairs;

static void create_pairs(pairs *p) {
    *p = (pairs){.entry = load_robot("ur5", "ur5"), .pacer = pacer_create(&(pacer_options){.run = ticks_run})};
    for (int i = 0; i < ROBOTS; i++) {
        p->together[i] = create(p->entry, i, "cohort", p->pacer, i == 5 ? &p->watched : NULL);
        p->alone[i] = create(p->entry, i, NULL, p->pacer, NULL);
    }
}

static void free_pairs(pairs *p) {
    for (int i = 0; i < ROBOTS; i++) {
        simulation_release(p->together[i]);
        simulation_release(p->alone[i]);
    }
    model_entry_release(p->entry);
    pacer_free(p->pacer);
    free(p->memory.bytes);
    free(p->none.bytes);
}

/* Runs the ticks of both, and checks that one ran in lanes and the other did not. */
static void run_pairs(pairs *p, unsigned ticks) {
    run_ticks(p->together, ROBOTS, ticks, &p->memory);
    run_ticks(p->alone, ROBOTS, ticks, &p->none);
    ck_assert_uint_gt(p->memory.size, 0);
    ck_assert_uint_eq(p->none.size, 0);
}

START_TEST(simulations_that_step_together_have_the_bits_that_they_have_alone) {
    pairs p;
    create_pairs(&p);
    run_pairs(&p, STEPS);
    for (int i = 0; i < ROBOTS; i++) {
        ck_assert_uint_eq(p.together[i]->step, STEPS);
        ck_assert_double_ne(p.together[i]->v[1], 0);
        check_same_bits(p.together[i], p.alone[i]);
    }
    ck_assert_uint_eq(p.watched, STEPS);
    free_pairs(&p);
}
END_TEST

START_TEST(each_of_several_cohorts_and_those_without_one_take_all_their_steps) {
    static const char *const cohorts[] = {"first", "", "second", "first"};
    pairs p;
    create_pairs(&p);
    for (int i = 0; i < ROBOTS; i++) {
        memset(p.together[i]->cohort, 0, sizeof p.together[i]->cohort);
        memcpy(p.together[i]->cohort, cohorts[i % 4], strlen(cohorts[i % 4]));
    }
    run_pairs(&p, STEPS);
    for (int i = 0; i < ROBOTS; i++) {
        ck_assert_uint_eq(p.together[i]->step, STEPS);
        check_same_bits(p.together[i], p.alone[i]);
    }
    free_pairs(&p);
}
END_TEST

/* Makes one robot diverge, one wait for its source, one be paused, one carry a force, and one have an input that the
 * library refuses. */
static void disturb(simulation *robots[]) {
    robots[2]->v[3] = 1e7;
    simulation_attach(robots[4], &empty_source);
    robots[7]->condition = SIMULATION_PAUSED;
    robots[9]->input.forces->count = 1;
    robots[9]->input.forces->force[0].frame = 3;
    robots[9]->input.forces->force[0].wrench[5] = 20;
}

START_TEST(simulation_that_cannot_go_on_does_not_touch_the_others) {
    pairs p;
    create_pairs(&p);
    run_pairs(&p, STEPS / 2);
    disturb(p.together);
    disturb(p.alone);
    run_pairs(&p, STEPS / 2);
    for (int i = 0; i < ROBOTS; i++) {
        bool stands = i == 2 || i == 4 || i == 7;
        ck_assert_uint_eq(p.together[i]->step, stands ? STEPS / 2 : STEPS);
        ck_assert_int_eq(p.together[i]->condition, p.alone[i]->condition);
        check_same_bits(p.together[i], p.alone[i]);
    }
    ck_assert_int_eq(p.together[2]->condition, SIMULATION_DIVERGED);
    ck_assert(p.together[4]->is_starved);
    free_pairs(&p);
}
END_TEST

START_TEST(input_that_is_refused_makes_the_others_step_alone_with_the_same_bits) {
    pairs p;
    create_pairs(&p);
    p.together[3]->input.tau[1] = p.alone[3]->input.tau[1] = NAN;
    run_pairs(&p, STEPS / 2);
    for (int i = 0; i < ROBOTS; i++) {
        ck_assert_uint_eq(p.together[i]->step, i == 3 ? 0 : STEPS / 2);
        check_same_bits(p.together[i], p.alone[i]);
    }
    ck_assert_int_eq(p.together[3]->condition, SIMULATION_DIVERGED);
    free_pairs(&p);
}
END_TEST

START_TEST(ticks_of_one_length_are_due_at_the_same_times) {
    schedule a, b;
    schedule_init(&a, 0.001, 1);
    schedule_init(&b, 0.00025, 1);
    ck_assert_uint_eq(a.steps_a_tick, 1);
    ck_assert_uint_eq(b.steps_a_tick, 4);
    for (uint64_t now = NANOSECONDS; now < NANOSECONDS + 3000000; now += 123457) {
        schedule_begin(&a, now, 17);
        schedule_begin(&b, now + 99, 0);
        ck_assert_uint_gt(schedule_due(&a), now);
        ck_assert_uint_le(schedule_due(&a), now + 1000000);
        ck_assert_uint_eq(schedule_due(&a) % 1000000, 0);
        ck_assert_uint_eq(schedule_due(&b) % 1000000, 0);
        ck_assert_uint_eq(schedule_last_step(&a), 18);
        ck_assert_uint_eq(schedule_last_step(&b), 4);
        ck_assert_uint_eq(schedule_postpone(&a, 2700000), 2000000);
        ck_assert_uint_eq(schedule_due(&a) % 1000000, 0);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("ticks");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, simulations_that_step_together_have_the_bits_that_they_have_alone);
    tcase_add_test(tests, each_of_several_cohorts_and_those_without_one_take_all_their_steps);
    tcase_add_test(tests, simulation_that_cannot_go_on_does_not_touch_the_others);
    tcase_add_test(tests, input_that_is_refused_makes_the_others_step_alone_with_the_same_bits);
    tcase_add_test(tests, ticks_of_one_length_are_due_at_the_same_times);
    return run_tests(tests);
}
