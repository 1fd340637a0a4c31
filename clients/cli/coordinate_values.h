/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads values of coordinates from the command line: "1,0.5,.." for all, or "elbow_joint=0.5,.." for some.
 */
#ifndef CLI_COORDINATE_VALUES_H
#define CLI_COORDINATE_VALUES_H

#include "layout.h"
#include "numbers.h"

/* Returns true if a text names the coordinates that it sets. */
bool coordinate_values_are_named(const char *text);

/* Reads the values of q or v in the layout's order: a number for each coordinate, or "NAME=X,..", where NAME is a joint
 * with one coordinate or a coordinate such as "root_joint[0]". Coordinates that the text does not name retain their
 * number in `values`. On failure writes a sentence to `message` and returns false. */
bool coordinate_values_read(const layout *robot, bool is_q, const char *text, double *values, char *message,
                            size_t message_size);

#endif
