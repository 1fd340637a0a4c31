/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that asks for inverse dynamics of the two-link arm while daemons come and go. Each reply is compared with a
 * closed form.
 */
#ifndef DYNAMICS_TESTS_LOAD_H
#define DYNAMICS_TESTS_LOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"

/* Requests of a load, and states of each. */
enum { LOAD_REQUESTS = 300, LOAD_SAMPLES = 50 };

typedef struct load {
    const char *url;
    pthread_t thread;
    atomic_int answered;
    int failed;
    double longest; /* time of a request, s */
    char failure[256];
} load;

/* Returns the time of the monotonic clock, s. */
double load_now(void);

void load_pause(double seconds);

/* Connects to the daemons at an address. A failure ends the Check test. */
dyn_client *load_connect(const char *url);

/* Asks for the joint forces of n states, which follow from `number`, and compares them with the closed form. `spread`
 * may be NULL. */
dyn_client_status load_ask(dyn_client *client, size_t n, int number, dyn_client_spread *spread,
                           dyn_client_error *error);

/* Starts a thread that asks, and waits for its first answers. */
void load_start(const char *url, load *l);

/* Waits for the end of the load, and checks that every request was answered rightly. */
void load_end(load *l, const char *disturbance);

/* Rolls out the two-link arm from `samples` states, and cancels the call by its progress callback half a second after
 * it has done `part` of its work. Fails the test where the call ends otherwise, or does not end. */
void load_cancel_rollout(dyn_client *client, size_t samples, size_t steps, double part);

/* Returns the rollouts that all daemons together have ended because they were cancelled. */
uint64_t load_cancelled_rollouts(size_t count, const daemon_fixture *daemons);

#endif
