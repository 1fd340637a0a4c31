/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes of an identified model: sentences that state how its parameters came about.
 */
#ifndef SERVER_METHODS_IDENTIFICATION_NOTES_H
#define SERVER_METHODS_IDENTIFICATION_NOTES_H

#include <dynamics/identification.h>

#include "methods/batch.h"

/* Adds notes to the description of the reply, whose other members must be set: the source of the record, the estimator,
 * what was sought, rank and condition, the elements that the motion does not determine, and the residuals. Where the
 * notes of the source and these are too many, the oldest ones go. Ends the call when out of memory. */
void identification_notes_add(const batch *b, const dyn_identification_options *options,
                              Dynamics__V1__IdentifyReply *reply);

#endif
