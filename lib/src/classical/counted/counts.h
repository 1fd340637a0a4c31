/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that the numbers of counted_real.h count, separately in each thread.
 */
#ifndef DYNAMICS_CLASSICAL_COUNTED_COUNTS_H
#define DYNAMICS_CLASSICAL_COUNTED_COUNTS_H

#include <dynamics/formulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Operations since the caller last cleared them. */
extern __thread dyn_operation_counts dyn_counts;

#ifdef __cplusplus
}
#endif

#endif
