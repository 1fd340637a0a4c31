/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the coordinates of a model by name.
 *
 * Messages of ROS name values; the daemon has rows of coordinates. The coordinate of a joint with one coordinate has
 * the name of the joint. A joint with several (planar, cylindrical, spherical, floating ..) has one name for each, in
 * order: "root_joint[0]", "root_joint[1]" and so on for a floating base, as DescribeModelReply spells them. If a joint
 * has more coordinates than velocities (a quaternion), the last names have only a position: their velocity,
 * acceleration and effort are written as 0 and are ignored when read.
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
    bool has_parts; /* some joints have several coordinates */
    coordinate *list;
} coordinates;

enum { COORDINATES_ERROR_SIZE = 256 };

/* Replaces the content of `to` by the coordinates of a model's joints, in the order of `joint_names`, or in the model's
 * own order if that is empty. Names that the model lacks are skipped. Returns false when out of memory, or if there are
 * no coordinates. */
bool coordinates_read(coordinates *to, const Dynamics__V1__DescribeModelReply *model, const json_t *joint_names);
void coordinates_free(coordinates *freed);

/* Finds the coordinate of a name, which is usually the one at `index`. Returns NULL if there is none. */
const coordinate *coordinates_find(const coordinates *of, const char *name, size_t index);

/* Returns an array with the coordinate of each name, which the caller frees. The names must contain each coordinate of
 * the model once, in any order. Other names are errors or, with `ignores_extra`, have NULL in the array. On failure
 * returns NULL, and `error` begins with `path`, the path of the names. */
const coordinate **coordinates_arrange(const coordinates *of, const json_t *names, bool ignores_extra, const char *path,
                                       char error[COORDINATES_ERROR_SIZE]);

#endif
