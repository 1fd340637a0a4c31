/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Axes of the blocks of quantities: the number, names and order of their entries.
 */
#ifndef SERVER_METHODS_QUANTITY_AXES_H
#define SERVER_METHODS_QUANTITY_AXES_H

#include "methods/quantities.h"

/* Returns the number of entries of an axis, for a quantity at the place `at`; 1 for AXIS_NONE. */
size_t quantity_axis_size(const batch *b, const quantity_place *at, quantity_axis kind);

/* Returns the library's index of each entry of an axis in the caller's order, or NULL if both orders are equal. */
const int *quantity_axis_order(const batch *b, const quantity_place *at, quantity_axis kind);

/* Creates the message of an axis. Returns NULL, and the call has ended, when out of memory. */
Dynamics__V1__Axis *quantity_axis_create(batch *b, const quantity_place *at, quantity_axis kind);

#endif
