/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares the entries of the torque regressor of one link (regressor.c), which regressor_rows.c computes.
 */
#ifndef DYNAMICS_KERNELS_REGRESSOR_ROWS_H
#define DYNAMICS_KERNELS_REGRESSOR_ROWS_H

#include "body_motion.h"

/* Parameters of a link. */
enum { PARAMETERS = 10 };

/* Placement of a link in the frame of the tree, and its motion in its own axes. */
typedef struct regressor_link {
    placement W;
    body_motion motion;
} regressor_link;

/* Columns of the joints at or above a link, in the frame of the tree (motion_columns.h). */
typedef struct regressor_path {
    const void *columns;
    size_t each; /* a component of the columns, padded to whole vectors */
    int count;
    const int *coordinates; /* of each column */
    bool shared;            /* joints share coordinates, so that entries are sums */
} regressor_path;

/* Stores the entries of a link, or adds them where joints share coordinates. `link` is a regressor_link, of one sample
 * if lanes hold columns. Y is the first column of the link in a matrix of `width` columns. */
void KERNEL(regressor_rows)(const regressor_path *path, const void *link, size_t width, void *Y);

#endif
