/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of messages about a model that several methods and events send: summary and load report.
 */
#ifndef SERVER_METHODS_SUMMARY_H
#define SERVER_METHODS_SUMMARY_H

#include "dynamics/v1/model.pb-c.h"
#include "methods/call.h"

/* Fills a summary. Its strings belong to the entry, so the summary is valid as long as the entry is. */
void summary_fill(const model_entry *entry, Dynamics__V1__ModelSummary *summary);

/* Creates a summary in the call's memory that outlives the entry. Returns NULL, and the call has ended, when out of
 * memory. */
Dynamics__V1__ModelSummary *summary_create(call *c, const model_entry *entry);

/* Creates the message about a loaded model: its summary and its load report. `was_present`: the store had it before.
 * Returns NULL, and the call has ended, when out of memory. */
Dynamics__V1__LoadedModel *summary_loaded(call *c, const model_entry *entry, bool was_present);

/* Creates the load report of a model in the call's memory. Returns NULL, and the call has ended, when out of memory. */
Dynamics__V1__ReportEntry **summary_report(call *c, const model_entry *entry, size_t *count);

#endif
