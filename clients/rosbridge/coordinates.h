/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coordinates by name.
 *
 * Messages of ROS name values, the daemon has rows of coordinates. A joint with one coordinate gives its name to it.
 * One with several (planar, cylindrical, spherical, floating ..) is named once for each of them in their order:
 * "root_joint[0]", "root_joint[1]" and so on for a floating base, as DescribeModelReply spells them. Where it has more
 * coordinates than velocities (a quaternion), the last names have a position alone: their velocity, acceleration and
 * effort are written as 0 and not read.
 */
#ifndef ROSBRIDGE_COORDINATES_H
#define ROSBRIDGE_COORDINATES_H

#include <stdbool.h>

#include <dynamics/v1/model.pb-c.h>
#include <jansson.h>

/* Where a named value lies in rows of q and of v (SIZE_MAX: it has none there). */
typedef struct coordinate {
    char *name;
    size_t q, v;
} coordinate;

/* Zeroed: not known yet. */
typedef struct coordinates {
    size_t count, nq, nv;
    bool has_parts; /* some joints have several */
    coordinate *list;
} coordinates;

enum { COORDINATES_ERROR_SIZE = 256 };

/* The coordinates of a model's joints, in the order of `joint_names`, or in the model's own where that is empty. False
 * when out of memory, or when there are none. */
bool coordinates_read(coordinates *to, const Dynamics__V1__DescribeModelReply *model, const json_t *joint_names);
void coordinates_free(coordinates *freed);

/* The coordinates of an array of names that must name each once, in any order; freed by the caller. NULL: `error`,
 * which begins with the `path` of the names. */
const coordinate **coordinates_arrange(const coordinates *of, const json_t *names, const char *path,
                                       char error[COORDINATES_ERROR_SIZE]);

#endif
