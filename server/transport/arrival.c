/* SPDX-License-Identifier: BSD-2-Clause */
/* Learns the period of a fast channel's client, and plans when its thread spins. */
#include "transport/arrival.h"

#include <math.h>

/* Share of the period that is spun around a tick at most. */
static const double SPUN_SHARE = 0.02;

/* Weight of a new observation. */
static const double WEIGHT = 0.125;

/* Share of bursts from which on a spin after a reply is worth its time. */
static const double USUAL_BURSTS = 0.25;

/* Spin before and after a tick, as a multiple of the deviation; spin after a reply, as a multiple of the gap; and what
 * is added to both, ns. */
static const double DEVIATIONS = 2, GAPS = 4, MARGIN = 2000;

/* Longest delay of a timer that is made up for, and longest period that is learned, ns. */
static const double MOST_LATENESS = 50e3, LONGEST_PERIOD = 1e9;

static void learn(double *value, double observed) {
    *value += WEIGHT * (observed - *value);
}

static void note_tick(arrival *a, uint64_t sent) {
    double period = (double)(sent - a->last_tick);
    bool is_new = a->last_tick == 0 || period > LONGEST_PERIOD;
    a->last_tick = sent;
    if (is_new) {
        a->period = 0;
    } else if (a->period == 0) {
        a->period = period;
        a->deviation = period / 4;
    } else {
        /* One late tick, such as that of a client that had no processor, moves the estimates only so far. */
        double most = 4 * a->deviation + MARGIN, error = fmax(-most, fmin(most, period - a->period));
        learn(&a->deviation, fabs(error));
        a->period += WEIGHT * error;
    }
}

void arrival_note(arrival *a, uint64_t replied, uint64_t sent, uint64_t longest) {
    bool is_burst = sent <= replied + longest;
    learn(&a->bursts, is_burst);
    if (is_burst) {
        learn(&a->gap, sent > replied ? (double)(sent - replied) : 0);
    } else if (sent > a->last_tick) {
        note_tick(a, sent);
    }
}

void arrival_note_wake(arrival *a, uint64_t late) {
    learn(&a->lateness, fmin((double)late, MOST_LATENESS));
}

arrival_plan arrival_expect(const arrival *a, uint64_t replied, uint64_t longest) {
    arrival_plan plan = {0};
    if (longest > 0 && a->bursts >= USUAL_BURSTS) {
        plan.burst_end = replied + (uint64_t)fmin((double)longest, GAPS * a->gap + MARGIN);
    }
    double half = DEVIATIONS * a->deviation + MARGIN, most = fmin((double)longest, SPUN_SHARE * a->period / 2);
    double expected = (double)a->last_tick + a->period, lead = half + a->lateness;
    if (longest > 0 && a->period > 0 && half <= most && expected - lead > (double)replied) {
        plan.wake = (uint64_t)(expected - lead);
        plan.give_up = (uint64_t)(expected + half);
    }
    return plan;
}
