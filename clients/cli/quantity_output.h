/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of results of evaluate, as tables and as JSON.
 */
#ifndef CLI_QUANTITY_OUTPUT_H
#define CLI_QUANTITY_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics_client.h>

#include "csv_writer.h"

/* Writes the quantities of one state under headings that name frame, block and unit. Returns false when out of memory.
 */
bool print_quantities(const dyn_client_evaluation *from, size_t state);

/* Writes the quantities of one state as a JSON object on one line. */
void write_quantities(const dyn_client_evaluation *from, size_t state);

/* Write the names of all numbers of a state, such as "frame_twist.tool0.linear.x", and these numbers, as CSV. */
void write_quantity_headings(const dyn_client_evaluation *from, csv_writer *to);
void write_quantity_cells(const dyn_client_evaluation *from, csv_writer *to, size_t state);

#endif
