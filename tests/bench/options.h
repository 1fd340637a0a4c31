/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of a run of the benchmark.
 */
#ifndef DYNAMICS_BENCH_OPTIONS_H
#define DYNAMICS_BENCH_OPTIONS_H

#include <stdbool.h>

#include "contest.h"
#include "measure.h"

typedef struct bench_options {
    measure_effort effort;  /* of kernels and throughput */
    int longest_peer_chain; /* bodies; longer chains are measured without peers, some of which take seconds */
    size_t round_trips;     /* of each kind */
    double idle_seconds;    /* before memory is measured */
    double live_seconds;    /* of each row of simulations and streams */
    const char *daemon;     /* program; NULL: dynamicsd beside this program */
    const char *robot;      /* title of the only robot whose kernels are measured; NULL: all */
    const char *algorithm;  /* name of the only algorithm that is measured; NULL: all */
} bench_options;

/* Returns whether the options select the kernels of a robot, or one of its algorithms. Without names that is every
 * robot and algorithm, except that chains have only RNEA, CRBA and ABA. */
bool is_robot_selected(const bench_options *options, const bench_robot *robot);
bool is_algorithm_selected(const bench_options *options, const bench_robot *robot, algorithm_id id);

/* Ends the program with a list of the names where an option's name is unknown. */
void check_names(const bench_options *options);

#endif
