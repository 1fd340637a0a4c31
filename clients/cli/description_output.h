/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes models and their descriptions to standard output, as JSON and as tables.
 */
#ifndef CLI_DESCRIPTION_OUTPUT_H
#define CLI_DESCRIPTION_OUTPUT_H

#include <dynamics_client.h>

#include "json_writer.h"

/* Writes a model's summary as a JSON object. */
void write_model(json_writer *writer, const dyn_client_model *model);

/* Writes a report as a JSON array of objects. */
void write_report(json_writer *writer, size_t count, const dyn_client_report_entry *report);

/* Prints warnings, and notes about the robot as a whole, one a line. Prints all other notes too if `with_notes`;
 * otherwise a line counts them and names the command that shows them. */
void print_report(size_t count, const dyn_client_report_entry *report, bool with_notes, const char *model);

/* Writes a description as a JSON object on one line. */
void write_description(const dyn_client_description *robot);

/* Prints a description as tables. Returns false when out of memory. */
bool print_description(const dyn_client_description *robot);

/* Writes a joint as a JSON object. */
void write_joint(json_writer *writer, const dyn_client_joint *joint);

/* Writes a link as a JSON object. */
void write_link(json_writer *writer, const dyn_client_link *link);

/* Writes a frame as a JSON object. */
void write_frame(json_writer *writer, const dyn_client_frame *frame);

/* Writes a constraint as a JSON object. */
void write_constraint(json_writer *writer, const dyn_client_constraint *constraint);

/* Returns whether a constraint ties coordinates instead of links. */
bool is_of_coordinates(const dyn_client_constraint *constraint);

/* Returns the name of a kind of constraint, as the protocol spells it. */
const char *constraint_kind_name(dyn_client_constraint_kind kind);

/* Writes a machine element as a JSON object. */
void write_machine_element(json_writer *writer, const dyn_client_machine_element *element);

/* Returns the name of a kind of machine element, as the protocol spells it. */
const char *machine_element_kind_name(dyn_client_machine_element_kind kind);

/* Returns the name of a coupling of a rotor, as the protocol spells it. */
const char *rotor_coupling_name(dyn_client_rotor_coupling coupling);

/* Returns true if the joint's position has limits. */
bool has_range(const dyn_client_joint *joint);

/* Returns the unit of the joint's damping. */
const char *damping_unit(const dyn_client_joint *joint);

#endif
