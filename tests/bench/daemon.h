/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the daemon under measurement: dynamicsd with the sample robots, in a directory of its own.
 */
#ifndef DYNAMICS_BENCH_DAEMON_H
#define DYNAMICS_BENCH_DAEMON_H

#include <sched.h>

#include "child.h"

typedef struct bench_daemon {
    child process;
    char directory[64];
    char ipc[96], tcp[96]; /* addresses of requests */
} bench_daemon;

/* NATS server that requests also come from (NULL: none), number of workers (0: the daemon's own choice), time before a
 * tick from which on the threads of simulations spin (s), and the processors that all threads of the daemon may use
 * (NULL: those of this program). */
typedef struct daemon_place {
    const char *nats;
    int workers;
    double spin;
    const cpu_set_t *processors;
} daemon_place;

/* Starts the daemon as daemon_start does, at a place. */
void daemon_start_at(const char *program, const daemon_place *place, bench_daemon *d);

/* Starts the daemon and waits until it answers. `program` is its path; NULL stands for dynamicsd beside this program.
 * Ends the benchmark where the daemon does not start. */
void daemon_start(const char *program, bench_daemon *d);
void daemon_stop(bench_daemon *d);

#endif
