/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrival of the next request of a fast channel: learns from past requests when it is worth to spin.
 *
 * A request that follows the last reply within the longest spin is part of a burst; any other one begins a tick. The
 * thread spins after a reply where bursts are usual, and around the tick that the period of the ticks predicts. The
 * time spun around a tick is at most SPUN_SHARE of the period, so that a periodic client that computes little costs
 * little; where its ticks scatter more, the thread sleeps until the request wakes it.
 */
#ifndef SERVER_TRANSPORT_ARRIVAL_H
#define SERVER_TRANSPORT_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

/* Habits of a client. Times in ns. All zero: nothing is known. */
typedef struct arrival {
    uint64_t last_tick; /* CLOCK_MONOTONIC; 0: none */
    double period, deviation;
    double bursts;   /* share of the requests that are part of a burst */
    double gap;      /* usual time from a reply to the next request of a burst */
    double lateness; /* usual delay of this thread when a timer wakes it */
} arrival;

/* Times of CLOCK_MONOTONIC in ns at which the thread spins: until `burst_end`, and from `wake` to `give_up`. 0: it does
 * not. */
typedef struct arrival_plan {
    uint64_t burst_end, wake, give_up;
} arrival_plan;

/* Notes a request that was sent at `sent`, after the last reply at `replied`. `longest` is the longest spin. */
void arrival_note(arrival *a, uint64_t replied, uint64_t sent, uint64_t longest);

/* Notes that a timer of a plan woke the thread `late` ns after its time. */
void arrival_note_wake(arrival *a, uint64_t late);

/* Plans the wait for the request after the reply at `replied`. `longest` 0: the thread never spins. */
arrival_plan arrival_expect(const arrival *a, uint64_t replied, uint64_t longest);

#endif
