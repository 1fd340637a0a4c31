/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels over other numbers than doubles, as oracles: the same sources, compiled for the tests alone.
 *
 *     instance      real               use
 *     complex_step  double _Complex    derivatives: Im f(x + i h) / h is exact to rounding for h = 1e-100
 *     long_double   long double        64 bits of mantissa
 *     float128      __float128         113 bits of mantissa
 *
 * Their packed arrays hold that type, one sample each; kernels.h says what the functions of a table do. `pack` reads
 * doubles, `unpack` rounds to them (the real part of a complex number).
 */
#ifndef DYNAMICS_TESTS_ORACLE_H
#define DYNAMICS_TESTS_ORACLE_H

#include "kernels/kernels.h"

extern const kernel_table dyn_kernel_table_complex_step;
extern const kernel_table dyn_kernel_table_long_double;
extern const kernel_table dyn_kernel_table_float128;

#endif
