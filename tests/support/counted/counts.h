/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels over numbers that count: the same sources, compiled as C++. They may not run on two threads.
 */
#ifndef DYNAMICS_TESTS_COUNTS_H
#define DYNAMICS_TESTS_COUNTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Operations since the counters were last reset; `sines` are pairs of sine and cosine. */
typedef struct operation_counts {
    unsigned long multiplications, additions, divisions, roots, sines;
} operation_counts;

extern operation_counts counts;

#ifdef __cplusplus
}
#endif

#endif
