/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints results of the command evaluate on standard output as tables, JSON or CSV.
 */
#ifndef CLI_QUANTITY_OUTPUT_H
#define CLI_QUANTITY_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics_client.h>

#include "csv_writer.h"

/* Prints the quantities of one state as tables. The heading of each block names the quantity, and frame, block, unit
 * and axes where they exist. A list whose units differ shows them beside its numbers. Returns false when out of
 * memory. */
bool print_quantities(const dyn_client_evaluation *from, size_t state);

/* Writes the quantities of one state as a JSON object on one line. */
void write_quantities(const dyn_client_evaluation *from, size_t state);

/* Writes the names of all numbers of a state as cells of CSV, such as "frame_twist.tool0.linear.x". */
void write_quantity_headings(const dyn_client_evaluation *from, csv_writer *to);

/* Writes all numbers of one state as cells of CSV, in the order of write_quantity_headings. */
void write_quantity_cells(const dyn_client_evaluation *from, csv_writer *to, size_t state);

#endif
