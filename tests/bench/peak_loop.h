/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loops that only multiply and add, one for each instruction set that the kernels may use: the fastest that a core can
 * be. peak_loop.c is compiled once for each.
 */
#ifndef DYNAMICS_BENCH_PEAK_LOOP_H
#define DYNAMICS_BENCH_PEAK_LOOP_H

/* Does so many `operations`; what it returns only keeps the work alive. */
typedef double peak_loop(double *operations);

peak_loop peak_loop_scalar, peak_loop_sse2, peak_loop_avx2, peak_loop_avx512;

#endif
