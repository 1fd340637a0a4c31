/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of messages that several methods and events send about a model.
 */
#ifndef SERVER_METHODS_SUMMARY_H
#define SERVER_METHODS_SUMMARY_H

#include "dynamics/v1/model.pb-c.h"
#include "methods/call.h"

/* Fills a summary whose strings are the entry's own: it is valid as long as the entry is. */
void summary_fill(const model_entry *entry, Dynamics__V1__ModelSummary *summary);

/* Creates a summary in the call's memory that outlives the entry. Returns NULL when out of memory. */
Dynamics__V1__ModelSummary *summary_create(call *c, const model_entry *entry);

/* Creates the message about a loaded model. Returns NULL when out of memory. */
Dynamics__V1__LoadedModel *summary_loaded(call *c, const model_entry *entry, bool was_present);

/* Creates the load report in the call's memory. Returns NULL when out of memory. */
Dynamics__V1__ReportEntry **summary_report(call *c, const model_entry *entry, size_t *count);

#endif
