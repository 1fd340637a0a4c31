/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coordinates by name.
 *
 * Messages of ROS name values; the daemon has rows of coordinates. A joint with one coordinate gives the coordinate its
 * name. A joint with several (planar, cylindrical, spherical, floating ..) has one name for each, in order:
 * "root_joint[0]", "root_joint[1]" and so on for a floating base, as DescribeModelReply spells them. If it has more
 * coordinates than velocities (a quaternion), the last names have only a position: their velocity, acceleration and
 * effort are written as 0 and are ignored when read.
 */
#ifndef ROSBRIDGE_COORDINATES_H
#define ROSBRIDGE_COORDINATES_H

#include <stdbool.h>

#include <dynamics/v1/model.pb-c.h>
#include <jansson.h>

/* Index of a named value in rows of q and of v (SIZE_MAX: none). */
typedef struct coordinate {
    char *name;
    size_t q, v;
} coordinate;

/* Coordinates of a model. All zeros mean that they are not known yet. */
typedef struct coordinates {
    size_t count, nq, nv;
    bool has_parts; /* some joints have several */
    coordinate *list;
} coordinates;

enum { COORDINATES_ERROR_SIZE = 256 };

/* Reads the coordinates of a model's joints in the order of `joint_names`, or in the model's own order if that is
 * empty. Returns false when out of memory, or if there are none. */
bool coordinates_read(coordinates *to, const Dynamics__V1__DescribeModelReply *model, const json_t *joint_names);
void coordinates_free(coordinates *freed);

/* Finds the coordinate of a name, which is usually the one at `index`. Returns NULL if there is none. */
const coordinate *coordinates_find(const coordinates *of, const char *name, size_t index);

/* Returns the coordinates of an array of names, which must contain each name once, in any order. The caller frees them.
 * Other names are errors; if `ignores_extra`, they have no coordinate (NULL). On failure returns NULL, and `error`
 * begins with `path`, the path of the names. */
const coordinate **coordinates_arrange(const coordinates *of, const json_t *names, bool ignores_extra, const char *path,
                                       char error[COORDINATES_ERROR_SIZE]);

#endif
