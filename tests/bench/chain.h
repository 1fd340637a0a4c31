/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chains of revolute joints for the measurements of algorithms over n.
 */
#ifndef DYNAMICS_BENCH_CHAIN_H
#define DYNAMICS_BENCH_CHAIN_H

#include <dynamics/dynamics.h>

/* Ends the program with the error's message on stderr unless `status` is DYN_OK. */
void chain_require(dyn_status status, const dyn_error *error);

/* Creates a builder with links l0 to ln, where joint li moves link li relative to its predecessor. The caller frees
 * it. */
dyn_builder *chain_create(int n);

#endif
