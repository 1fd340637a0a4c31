/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a recorded motion from a CSV file: times, positions and torques, and rates if it has both.
 */
#ifndef CLI_MOTION_FILE_H
#define CLI_MOTION_FILE_H

#include <stdbool.h>

#include "diagnostics.h"
#include "layout.h"

/* Recorded motion of `count` rows, in the order of the layout. v and a are NULL unless the file has columns of both,
 * and tau and `load` unless it has theirs. */
typedef struct motion_file {
    size_t count;
    double *time, *q, *v, *a, *tau, *load;
    double *memory; /* owns the arrays */
} motion_file;

/* Reads a file, or standard input for "-". Its header names columns time, q.JOINT, and perhaps v.JOINT, a.JOINT, load
 * and tau.JOINT, which may be absent unless `needs_tau`. Reports errors with file and line. The caller frees the motion
 * with motion_file_free, also after an error. */
exit_code motion_file_read(const char *path, const layout *robot, bool needs_tau, motion_file *motion);
void motion_file_free(motion_file *freed);

#endif
