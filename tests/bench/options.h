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

/* Returns whether the options select the kernels of a robot. Without a robot's title they select all robots. */
bool is_robot_selected(const bench_options *options, const bench_robot *robot);

/* Returns whether the options select an algorithm on a robot. Without an algorithm's name they select all algorithms,
 * on chains only RNEA, CRBA and ABA. */
bool is_algorithm_selected(const bench_options *options, const bench_robot *robot, algorithm_id id);

/* Ends the program with exit code 2 where the robot or algorithm of the options does not exist, and lists the names
 * that exist. */
void check_names(const bench_options *options);

#endif
