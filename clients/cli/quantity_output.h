/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of results of evaluate, as tables and as JSON.
 */
#ifndef CLI_QUANTITY_OUTPUT_H
#define CLI_QUANTITY_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics_client.h>

/* Writes the quantities of one state under headings that name frame, block and unit. Returns false when out of memory.
 */
bool print_quantities(const dyn_client_evaluation *from, size_t state);

/* Writes the quantities of one state as a JSON object on one line. */
void write_quantities(const dyn_client_evaluation *from, size_t state);

#endif
