/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares the kernels over other numbers than doubles, whose results are the tests' reference values. CMakeLists.txt
 * compiles the sources of lib/src/kernels once for each of these instances.
 *
 *     instance      real               use
 *     complex_step  double _Complex    derivatives: Im f(x + i h) / h is exact to rounding for h = 1e-100
 *     long_double   long double        64 bits of mantissa
 *     float128      __float128         113 bits of mantissa
 *
 * A packed array of an instance holds numbers of its type `real`, of one sample. kernels.h describes the functions of a
 * table. `pack` converts from doubles, `unpack` rounds to doubles and drops imaginary parts.
 */
#ifndef DYNAMICS_TESTS_ORACLE_H
#define DYNAMICS_TESTS_ORACLE_H

#include "kernels/kernels.h"

extern const kernel_table dyn_kernel_table_complex_step;
extern const kernel_table dyn_kernel_table_long_double;
extern const kernel_table dyn_kernel_table_float128;

#endif
