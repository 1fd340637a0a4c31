/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts the parts that several replies about models have in common to the public form. Strings are borrowed.
 */
#ifndef CLIENT_MODEL_PARTS_H
#define CLIENT_MODEL_PARTS_H

#include <dynamics/v1/model.pb-c.h>

#include "dynamics_client.h"

/* Converts a model's summary. If `from` is NULL, the result has zeros and empty strings. */
dyn_client_model to_model(const Dynamics__V1__ModelSummary *from);

/* Copies a vector. NULL becomes zero. */
void to_vector3(const Dynamics__V1__Vector3 *from, double vector[3]);

/* Converts `count` entries of a report into the array `report`. */
void to_report(size_t count, Dynamics__V1__ReportEntry *const *from, dyn_client_report_entry *report);

#endif
