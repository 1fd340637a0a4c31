/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Block of the values of a quantity: its name, units and axes, and its place in the library's result.
 */
#ifndef SERVER_METHODS_QUANTITY_BLOCK_H
#define SERVER_METHODS_QUANTITY_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "dynamics/v1/evaluate.pb-c.h"

/* Largest number of axes of a block. */
enum { QUANTITY_AXES = 3 };

/* Axis of a block: one of the protocol's kinds. */
typedef Dynamics__V1__AxisKind quantity_axis;

#define AXIS_NONE DYNAMICS__V1__AXIS_KIND__AXIS_KIND_UNSPECIFIED

/* Block of a quantity. Constant data of the table of quantities. */
typedef struct quantity_block {
    const char *name; /* NULL: no block */
    /* One unit, or one for each combination of classes of its axes (quantity_axes.h); NULL-terminated. */
    const char *const *units;
    quantity_axis axes[QUANTITY_AXES]; /* terminated by AXIS_NONE */
    size_t first;   /* offset in the library's result, in entries of the first axis; with a pitch, in values */
    size_t pitch;   /* values from one entry of the first axis to the next; 0: entries are contiguous */
    bool is_second; /* follows a block of equal size in the library's result, at an offset of this block's size */
} quantity_block;

#endif
