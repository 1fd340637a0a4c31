/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the gains of a controller: --kp and --kd.
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
 * joint and "root_joint[3]=50" for one of them. Entries with a name override those without, in any order:
 * "100,elbow_joint=50"; of two entries for the same coordinate, the last one counts. The default is 0. Reports errors.
 * The caller frees the gains with gains_free, also after an error. */
exit_code gains_read(const arguments *args, const layout *robot, gains *result);
void gains_free(gains *freed);

#endif
