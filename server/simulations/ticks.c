/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the ticks of simulations that are due, those of a cohort together. */
#include "simulations/ticks.h"

#include <stdlib.h>
#include <string.h>

#include "observe/clock.h"
#include "simulations/simulation.h"

/* A tick that takes longer continues after other waiting tasks, ns. */
#define SLICE (NANOSECONDS / 1000)

/* Delay in ns from which a simulation's schedule is postponed, and ns without an overrun that end an episode. */
#define MOST_BEHIND (NANOSECONDS / 10)
#define EPISODE NANOSECONDS

/* Tick of one simulation, whose mutex is locked. */
typedef struct turn {
    simulation *s;
    uint64_t *next;      /* receives the time at which the simulation is due again */
    uint64_t first_step; /* step before the tick */
    bool is_watched;
    simulation_progress progress; /* of the last step */
} turn;

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Returns whether the tick is not complete. */
static bool has_work(const turn *t) {
    return t->progress == SIMULATION_STEPPED && t->s->step < schedule_last_step(&t->s->schedule);
}

static void note(turn *t, simulation_progress progress) {
    t->progress = progress;
    if (progress == SIMULATION_STEPPED) {
        t->s->statistics.steps++;
        if (t->is_watched) {
            simulation_gather(t->s);
        }
    }
}

/* Returns memory for a step of n simulations together, or NULL when out of memory. */
static void *reserve(pacer_memory *memory, const simulation *s, size_t n) {
    size_t size = stepper_memory(s->stepper, n);
    if (size > memory->size) {
        void *grown = realloc(memory->bytes, size);
        if (!grown) {
            return NULL;
        }
        *memory = (pacer_memory){grown, size};
    }
    return memory->bytes;
}

/* Steps simulations whose input is prepared: together if they are several, otherwise alone. */
static void step_prepared(turn *const turns[], size_t n, pacer_memory *memory) {
    stepper_turn rows[PACER_GROUP];
    void *bytes = n > 1 ? reserve(memory, turns[0]->s, n) : NULL;
    for (size_t i = 0; i < n; i++) {
        simulation *s = turns[i]->s;
        rows[i] = (stepper_turn){s->stepper, &s->input, &s->generator, s->q, s->v, s->tau};
    }
    bool are_done = bytes && stepper_step_together(n, rows, bytes);
    for (size_t i = 0; i < n; i++) {
        note(turns[i], are_done ? simulation_complete(turns[i]->s) : simulation_advance(turns[i]->s));
    }
}

/* Runs one step of each tick that is not complete. Returns whether there was one. */
static bool step_all(turn turns[], size_t n, pacer_memory *memory) {
    turn *together[PACER_GROUP];
    size_t count = 0;
    bool has_stepped = false;
    for (size_t i = 0; i < n; i++) {
        turn *t = &turns[i];
        if (!has_work(t)) {
            continue;
        }
        has_stepped = true;
        if (!simulation_prepare(t->s)) {
            t->progress = SIMULATION_IS_STARVED;
        } else if (n > 1 && stepper_input_is_joinable(&t->s->input)) {
            together[count++] = t;
        } else {
            note(t, simulation_advance(t->s));
        }
    }
    step_prepared(together, count, memory);
    return has_stepped;
}

/* ---- ticks ------------------------------------------------------------------------------------------------------- */

/* Locks a simulation and begins its tick, or continues it. */
static void begin(turn *t, uint64_t now) {
    simulation *s = t->s;
    pthread_mutex_lock(&s->mutex);
    t->progress = s->condition == SIMULATION_RUNNING ? SIMULATION_STEPPED : SIMULATION_HAS_DIVERGED;
    t->first_step = s->step;
    t->is_watched = s->hooks->is_watched(s);
    if (t->progress == SIMULATION_STEPPED && s->step == schedule_first_step(&s->schedule)) {
        uint64_t due = schedule_due(&s->schedule);
        s->statistics.ticks++;
        s->statistics.lateness = now > due ? now - due : 0;
        if (s->statistics.lateness > s->statistics.longest_lateness) {
            s->statistics.longest_lateness = s->statistics.lateness;
        }
    }
}

/* Counts a tick that ended after the next one was due, and publishes the first one of an episode. A delay above
 * MOST_BEHIND postpones the schedule. */
static void note_overrun(simulation *s, uint64_t now, uint64_t next) {
    s->statistics.overruns++;
    pacer_count_overrun(s->pacer);
    if (s->last_overrun == 0 || now > s->last_overrun + EPISODE) {
        simulation_publish_event(s, SIMULATION_OVERRUN, -1, "%.3f ms behind the clock; overrun number %llu",
                                 (double)(now - next) / 1e6, (unsigned long long)s->statistics.overruns);
    }
    s->last_overrun = now;
    if (now - next > MOST_BEHIND) {
        s->statistics.slipped += schedule_postpone(&s->schedule, now - next);
    }
}

/* Returns the time at which the next tick or the rest of this one is due, or PACER_END after a divergence. */
static uint64_t next_time(const turn *t, uint64_t now) {
    simulation *s = t->s;
    if (t->progress == SIMULATION_HAS_DIVERGED) {
        return PACER_END;
    }
    if (t->progress == SIMULATION_IS_STARVED) {
        schedule_begin(&s->schedule, now, s->step);
        return schedule_due(&s->schedule);
    }
    if (has_work(t)) {
        return now;
    }
    s->schedule.tick++;
    uint64_t next = schedule_due(&s->schedule);
    if (now > next) {
        note_overrun(s, now, next);
        return now;
    }
    return next;
}

/* Ends a tick, or leaves the rest of it for later, and unlocks the simulation. `cost`: time of its steps, ns. */
static void end(turn *t, uint64_t now, int64_t stamp, uint64_t cost) {
    simulation *s = t->s;
    if (s->step > t->first_step) {
        s->statistics.cost += cost;
        s->stamp_ns = stamp;
    }
    simulation_flush(s);
    *t->next = next_time(t, now);
    pthread_mutex_unlock(&s->mutex);
}

/* Runs the ticks of one cohort, or as many of their steps as fit into the slice. */
static void run_cohort(turn turns[], size_t n, pacer_memory *memory) {
    uint64_t start = clock_now();
    for (size_t i = 0; i < n; i++) {
        begin(&turns[i], start);
    }
    bool are_short = turns[0].s->schedule.steps_a_tick == 1;
    while (step_all(turns, n, memory) && (are_short || clock_now() - start <= SLICE)) {
    }
    uint64_t now = clock_now();
    int64_t stamp = clock_wall();
    for (size_t i = 0; i < n; i++) {
        end(&turns[i], now, stamp, (now - start) / n);
    }
}

/* ---- cohorts ----------------------------------------------------------------------------------------------------- */

/* Returns whether a simulation yields to requests that wait for its mutex: once in a tick. */
static bool yields(simulation *s) {
    s->has_yielded = atomic_load(&s->waiting) > 0 && !s->has_yielded;
    return s->has_yielded;
}

static int compare_addresses(const void *first, const void *second) {
    const simulation *a = ((const turn *)first)->s, *b = ((const turn *)second)->s;
    return (a > b) - (a < b);
}

static bool are_together(const simulation *a, const simulation *b) {
    return a->cohort[0] != '\0' && memcmp(a->cohort, b->cohort, sizeof a->cohort) == 0;
}

/* Moves the first turn, and those of its cohort, from `turns` to `cohort`, in the order of their addresses: that is the
 * order of tasks which are due at one time. Returns their number; the others keep their order. */
static size_t extract_cohort(turn turns[], size_t *n, turn cohort[]) {
    size_t count = 0, left = 0;
    bool are_sorted = true;
    for (size_t i = 0; i < *n; i++) {
        if (i > 0 && !are_together(cohort[0].s, turns[i].s)) {
            turns[left++] = turns[i];
            continue;
        }
        are_sorted = are_sorted && (count == 0 || cohort[count - 1].s < turns[i].s);
        cohort[count++] = turns[i];
    }
    if (!are_sorted) {
        qsort(cohort, count, sizeof *cohort, compare_addresses);
    }
    *n = left;
    return count;
}

void ticks_run(pacer_task *const tasks[], size_t count, pacer_memory *memory, uint64_t next[]) {
    turn turns[PACER_GROUP], cohort[PACER_GROUP];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        simulation *s = (simulation *)tasks[i];
        if (yields(s)) {
            next[i] = clock_now() + SIMULATION_YIELD_TIME;
        } else {
            turns[n++] = (turn){.s = s, .next = &next[i]};
        }
    }
    while (n > 0) {
        const size_t together = extract_cohort(turns, &n, cohort);
        run_cohort(cohort, together, memory);
    }
}
