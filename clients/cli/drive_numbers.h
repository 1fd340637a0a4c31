/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of motors and gears with their names and units, for all outputs.
 */
#ifndef CLI_DRIVE_NUMBERS_H
#define CLI_DRIVE_NUMBERS_H

#include <dynamics_client.h>

/* Number of a motor or a gear. */
typedef struct drive_number {
    const char *name, *unit;
    size_t offset; /* in dyn_client_machine_element */
} drive_number;

/* Returns the numbers of a kind, and sets their count: zero for rotors, friction and springs. */
const drive_number *drive_numbers_of(dyn_client_machine_element_kind kind, size_t *count);

/* Returns the value of a number of an element. */
double drive_number_value(const drive_number *number, const dyn_client_machine_element *element);

#endif
