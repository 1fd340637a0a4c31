/* SPDX-License-Identifier: BSD-2-Clause */
/* Inputs of the equation of motion in addition to q: velocities, accelerations and forces of a batch. */
#include "methods/motion.h"

const double *motion_rows(const double *values, size_t width, size_t first) {
    return values ? values + first * width : NULL;
}
