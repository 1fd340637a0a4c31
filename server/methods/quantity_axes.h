/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Axes of the blocks of quantities: how many entries they have, what the entries are called, and in which order the
 * library has them.
 */
#ifndef SERVER_METHODS_QUANTITY_AXES_H
#define SERVER_METHODS_QUANTITY_AXES_H

#include "methods/quantities.h"

/* Number of entries. */
size_t quantity_axis_size(const batch *b, const quantity_place *at, quantity_axis kind);

/* The library's index of each entry; NULL where both count alike. */
const int *quantity_axis_order(const batch *b, const quantity_place *at, quantity_axis kind);

/* Creates the message of an axis. Returns NULL, and the call has ended, when out of memory. */
Dynamics__V1__Axis *quantity_axis_create(batch *b, const quantity_place *at, quantity_axis kind);

#endif
