/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gains of a controller: --kp and --kd.
 */
#ifndef CLI_GAINS_H
#define CLI_GAINS_H

#include "arguments.h"
#include "layout.h"

/* One gain for each coordinate of v, in the layout's order. */
typedef struct gains {
    size_t count;
    double *kp, *kd;
} gains;

/* Reads --kp and --kd: "100" for every joint, "100,80,.." for each coordinate of v, "elbow_joint=50" for those of one
 * joint and "root_joint[3]=50" for one of them. Entries with a name win over those without, wherever they stand:
 * "100,elbow_joint=50"; of two that name the same coordinate, the last one does. What is not named is 0. Tells what is
 * wrong. Freed by gains_free either way. */
exit_code gains_take(const arguments *given, const layout *robot, gains *taken);
void gains_free(gains *freed);

#endif
