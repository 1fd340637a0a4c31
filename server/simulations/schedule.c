/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes when the ticks of a simulation are due. */
#include "simulations/schedule.h"

#include <math.h>

/* Minimum time between two ticks, s. */
static const double SHORTEST_TICK = 1e-3;

/* Returns the time of a number of ticks, ns. */
static uint64_t ticks_time(const schedule *s, uint64_t ticks) {
    return (uint64_t)llround((double)(ticks * s->steps_a_tick) * s->step_time * 1e9);
}

void schedule_init(schedule *s, double step_length, double rate) {
    *s = (schedule){.step_time = step_length / rate};
    s->steps_a_tick = (uint64_t)fmax(1, round(SHORTEST_TICK / s->step_time));
}

/* Returns the part of a time that is not a whole number of ticks, ns. */
static uint64_t beyond_whole_ticks(const schedule *s, uint64_t time) {
    uint64_t length = ticks_time(s, 1);
    return length > 0 ? time % length : 0;
}

void schedule_begin(schedule *s, uint64_t now, uint64_t step) {
    s->anchor = now - beyond_whole_ticks(s, now);
    s->anchor_step = step;
    s->tick = 1;
}

uint64_t schedule_due(const schedule *s) {
    return s->anchor + ticks_time(s, s->tick);
}

uint64_t schedule_last_step(const schedule *s) {
    return s->anchor_step + s->tick * s->steps_a_tick;
}

uint64_t schedule_first_step(const schedule *s) {
    return s->anchor_step + (s->tick - 1) * s->steps_a_tick;
}

uint64_t schedule_postpone(schedule *s, uint64_t delay) {
    delay -= beyond_whole_ticks(s, delay);
    s->anchor += delay;
    return delay;
}
