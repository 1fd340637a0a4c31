/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedule of a simulation that follows the clock: the times at which its ticks are due, each of one or more steps.
 *
 * Tick i is due at anchor + i times its length. Anchors are multiples of the length of a tick, so that simulations with
 * ticks of one length are due at the same times and can step together. Times are those of clock_now, ns.
 */
#ifndef SERVER_SIMULATIONS_SCHEDULE_H
#define SERVER_SIMULATIONS_SCHEDULE_H

#include <stdint.h>

typedef struct schedule {
    double step_time; /* time of a step on the clock, s */
    uint64_t steps_a_tick;
    uint64_t anchor; /* time at which step `anchor_step` ended or should have ended */
    uint64_t anchor_step;
    uint64_t tick; /* the next one, counted from the anchor */
} schedule;

/* Initializes the schedule of a simulation with steps of `step_length` s and `rate` simulated seconds a second. */
void schedule_init(schedule *s, double step_length, double rate);

/* Begins anew after step `step`: the next tick is due within the length of a tick from `now` on. */
void schedule_begin(schedule *s, uint64_t now, uint64_t step);

/* Returns the time at which the next tick is due. */
uint64_t schedule_due(const schedule *s);

/* Returns the step after which the next tick is complete, and the one after which it begins. */
uint64_t schedule_last_step(const schedule *s);
uint64_t schedule_first_step(const schedule *s);

/* Postpones all ticks by at most `delay` ns, in whole ticks. Returns the time by which it has postponed them. */
uint64_t schedule_postpone(schedule *s, uint64_t delay);

#endif
