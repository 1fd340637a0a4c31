/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the operations of an algorithm as written, by running it over numbers that count their operations.
 */
#ifndef DYNAMICS_BENCH_COUNT_H
#define DYNAMICS_BENCH_COUNT_H

#include "classical/counted/counts.h"
#include "workload.h"

/* Returns the number of operations for one state. Ends the program where the operations of the algorithm cannot be
 * counted, or the build has no counting kernels. */
dyn_operation_counts count_operations(const workload *w, algorithm_id id);

#endif
