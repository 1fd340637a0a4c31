/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models and their descriptions, as JSON and for people.
 */
#ifndef CLI_DESCRIPTION_OUTPUT_H
#define CLI_DESCRIPTION_OUTPUT_H

#include <dynamics_client.h>

#include "json_writer.h"

/* A model's summary, and a report, as JSON values. */
void write_model(json_writer *writer, const dyn_client_model *model);
void write_report(json_writer *writer, size_t count, const dyn_client_report_entry *report);

/* Warnings, a line each; notes too when `with_notes`, else a line that counts them and names the command to see them.
 */
void print_report(size_t count, const dyn_client_report_entry *report, bool with_notes, const char *model);

void write_description(const dyn_client_description *robot);

/* False when out of memory. */
bool print_description(const dyn_client_description *robot);

#endif
