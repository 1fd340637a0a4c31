/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares every quantity that the daemon computes between two models.
 */
#ifndef DYNAMICS_TESTS_WIRE_QUANTITIES_H
#define DYNAMICS_TESTS_WIRE_QUANTITIES_H

#include "system/wire_tree.h"

/* Evaluates every quantity that any tree has, at the tree's state, for a model of the daemon with the same coordinates,
 * with payloads, an external force on the tree's last link, and the frame quantities of that link. The caller frees the
 * result. */
dyn_client_evaluation *wire_evaluate(const wire_tree *tree, const char *model, size_t payload_count,
                                     const dyn_client_payload *payloads);

/* Evaluates as wire_evaluate does, without payloads and second derivatives, which models with custom joints lack. */
dyn_client_evaluation *wire_evaluate_first_order(const wire_tree *tree, const char *model);

/* Checks that every block of `found` equals that of `expected` to 1e-8, except blocks over bodies where the models have
 * different bodies. Returns the number of quantities that differ from those of `other`. `k` is the tree's number in
 * messages. */
size_t wire_compare(int k, const dyn_client_evaluation *found, const dyn_client_evaluation *expected,
                    const dyn_client_evaluation *other);

#endif
