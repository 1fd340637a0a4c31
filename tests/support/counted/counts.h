/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels over numbers that count: C++, the same sources. Not for two threads.
 */
#ifndef DYNAMICS_TESTS_COUNTS_H
#define DYNAMICS_TESTS_COUNTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Operations since they were last set to zero; `sines` are pairs of sine and cosine. */
typedef struct operation_counts {
    unsigned long multiplications, additions, divisions, roots, sines;
} operation_counts;

extern operation_counts counts;

#ifdef __cplusplus
}
#endif

#endif
