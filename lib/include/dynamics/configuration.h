/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configurations q that every model has: zero and home.
 */
#ifndef DYNAMICS_CONFIGURATION_H
#define DYNAMICS_CONFIGURATION_H

#include <dynamics/export.h>
#include <dynamics/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stores the zero configuration: every coordinate zero, quaternions identity. q has nq values. Thread-safe. */
DYN_API void dyn_zero_configuration(const dyn_model *model, double *q);

/* Stores the home configuration: zero, or the middle of the range where zero lies outside a joint's limits. q has nq
 * values. Thread-safe. */
DYN_API void dyn_home_configuration(const dyn_model *model, double *q);

#ifdef __cplusplus
}
#endif

#endif
