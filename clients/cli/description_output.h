/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of models and their descriptions, as JSON and as tables.
 */
#ifndef CLI_DESCRIPTION_OUTPUT_H
#define CLI_DESCRIPTION_OUTPUT_H

#include <dynamics_client.h>

#include "json_writer.h"

/* Write a model's summary, and a report, as JSON values. */
void write_model(json_writer *writer, const dyn_client_model *model);
void write_report(json_writer *writer, size_t count, const dyn_client_report_entry *report);

/* Writes warnings, one a line. Writes notes too if `with_notes`; otherwise a line counts them and names the command
 * that shows them. */
void print_report(size_t count, const dyn_client_report_entry *report, bool with_notes, const char *model);

void write_description(const dyn_client_description *robot);

/* Writes tables of a description. Returns false when out of memory. */
bool print_description(const dyn_client_description *robot);

/* Write an element of a description as a JSON value. */
void write_joint(json_writer *writer, const dyn_client_joint *joint);
void write_link(json_writer *writer, const dyn_client_link *link);
void write_frame(json_writer *writer, const dyn_client_frame *frame);
void write_constraint(json_writer *writer, const dyn_client_constraint *constraint);

/* Returns the name of a kind of constraint, as the protocol spells it. */
const char *constraint_kind_name(dyn_client_constraint_kind kind);

/* Returns true if the joint's position has limits. */
bool has_range(const dyn_client_joint *joint);

/* Returns the unit of the joint's damping. */
const char *damping_unit(const dyn_client_joint *joint);

#endif
