/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loops that only multiply and add, one for each instruction set of the kernels: the highest rate of a core.
 * peak_loop.c is compiled once for each.
 */
#ifndef DYNAMICS_BENCH_PEAK_LOOP_H
#define DYNAMICS_BENCH_PEAK_LOOP_H

/* Loop of multiplications and additions; `operations` receives their number. The result has no meaning: it only
 * prevents the compiler from removing the loop. */
typedef double peak_loop(double *operations);

peak_loop peak_loop_scalar, peak_loop_sse2, peak_loop_avx2, peak_loop_avx512;

#endif
