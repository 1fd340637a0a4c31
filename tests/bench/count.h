/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations of an algorithm as written, counted by running it over numbers that count.
 */
#ifndef DYNAMICS_BENCH_COUNT_H
#define DYNAMICS_BENCH_COUNT_H

#include "classical/counted/counts.h"
#include "workload.h"

/* Returns the operations of one state. Ends the program where the algorithm, or the build, cannot count. */
dyn_operation_counts count_operations(const workload *w, algorithm_id id);

#endif
