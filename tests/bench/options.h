/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run of the benchmark is asked to do.
 */
#ifndef DYNAMICS_BENCH_OPTIONS_H
#define DYNAMICS_BENCH_OPTIONS_H

#include <stdbool.h>

#include "contest.h"
#include "measure.h"

typedef struct bench_options {
    measure_effort effort;  /* for kernels and throughput */
    int longest_peer_chain; /* bodies; longer chains are measured without peers, of which some need seconds */
    size_t round_trips;     /* of each kind */
    double idle_seconds;    /* before memory is looked at */
    double live_seconds;    /* for each row of simulations and streams */
    const char *daemon;     /* program; NULL: dynamicsd beside this program */
    const char *robot;      /* title of the only one whose kernels are measured; NULL: all */
    const char *algorithm;  /* name of the only one that is measured; NULL: all */
} bench_options;

/* Returns whether kernels are asked for on a robot, and one of them. Without names these are all, but on chains only
 * RNEA, CRBA and ABA. */
bool is_robot_asked(const bench_options *options, const bench_robot *robot);
bool is_algorithm_asked(const bench_options *options, const bench_robot *robot, algorithm_id id);

/* Ends the program with the names to choose from where a name is not one of them. */
void check_names(const bench_options *options);

#endif
