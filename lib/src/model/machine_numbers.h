/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of motors, gears and forces between links, in one table: their words in texts, their members in errors, and
 * their ranges.
 */
#ifndef DYNAMICS_MODEL_MACHINE_NUMBERS_H
#define DYNAMICS_MODEL_MACHINE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <dynamics/machine_element.h>

/* Range of a number. A fraction is positive and at most one; a share may be zero. */
typedef enum number_range { FINITE, NOT_NEGATIVE, POSITIVE, NOT_ZERO, FRACTION, SHARE, RANGES } number_range;

/* Returns whether a number is finite and in the range. */
bool number_is_in_range(double x, number_range range);

/* Returns the demand of the range, such as "state a positive number". */
const char *number_range_text(number_range range);

/* Number of an element: its word in texts, its member (that of a motor in a shaft, which the error of a motor alone
 * shortens), its name in messages, and its place in the description of the element. */
typedef struct machine_number {
    const char *word, *member, *name;
    size_t offset;
    number_range range;
} machine_number;

/* Returns the numbers of a kind, and sets their count: zero for a kind that is not in the table. */
const machine_number *machine_numbers_of(dyn_machine_element_kind kind, int *count);

/* Prints the words and values of an element that the table has for a kind. */
void print_machine_numbers(FILE *out, dyn_machine_element_kind kind, const dyn_machine_element_description *element);

/* Returns the place of a number in a description. */
double *machine_number_in(const machine_number *number, dyn_machine_element_description *element);

/* Returns the value of a number of a description. */
double machine_number_value(const machine_number *number, const dyn_machine_element_description *element);

#endif
