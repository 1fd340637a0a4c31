/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of common parts of replies about models from the protocol's form to the public one. Strings are borrowed.
 */
#ifndef CLIENT_MODEL_PARTS_H
#define CLIENT_MODEL_PARTS_H

#include <dynamics/v1/model.pb-c.h>

#include "dynamics_client.h"

/* Converts a model's summary. If `from` is NULL, the result has zeros and empty strings. */
dyn_client_model to_model(const Dynamics__V1__ModelSummary *from);
void to_vector3(const Dynamics__V1__Vector3 *from, double vector[3]);

void to_report(size_t count, Dynamics__V1__ReportEntry *const *from, dyn_client_report_entry *report);

#endif
