/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constraints of the last link, of the query of a batch.
 */
#ifndef SERVER_METHODS_TIP_CONSTRAINTS_H
#define SERVER_METHODS_TIP_CONSTRAINTS_H

#include <dynamics/formulation.h>

#include "methods/batch.h"

/* Reads the constraints of the query, as many as it has, into memory of the call. Returns false when the call has
 * ended. */
bool tip_constraints_read(batch *b, const dyn_frame_constraint **constraints);

/* Applies the constraints of the query to a formulation, in the state (q, v) of the batch; v may be NULL: zero. */
dyn_status tip_constraints_apply(const batch *b, const batch_worker *w, const dyn_frame_constraint *constraints,
                                 const double *q, const double *v, dyn_formulation *to, dyn_error *error);

#endif
