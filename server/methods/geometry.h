/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors, placements and inertias: converts the protocol's form to the library's and back.
 *
 * A parse function checks the values; on an error it fills a refusal and returns false. A read function parses, and
 * ends the call on an error. `path` is the path of the field in the request, without the method: "payloads[2].pose". A
 * write function returns NULL when the call has ended with an error.
 */
#ifndef SERVER_METHODS_GEOMETRY_H
#define SERVER_METHODS_GEOMETRY_H

#include <dynamics/kinematics.h>
#include <dynamics/model.h>

#include "methods/call.h"

/* Size of a path of a field, in bytes. */
enum { PATH_SIZE = 160 };

/* Writes the path "parent.member", cut off at PATH_SIZE. Returns `path`. */
const char *path_join(char path[PATH_SIZE], const char *parent, const char *member);

/* Parses three finite numbers. An absent vector is zero. */
bool geometry_parse_vector(const char *path, const Dynamics__V1__Vector3 *from, double to[3], refusal *why);

/* Parses a vector (geometry_parse_vector), and ends the call on an error. */
bool geometry_read_vector(call *c, const char *path, const Dynamics__V1__Vector3 *from, double to[3]);

/* Parses an array of exactly `wanted` finite numbers. */
bool geometry_parse_numbers(const char *path, size_t count, const double *from, size_t wanted, double *to,
                            refusal *why);

/* Parses an array of numbers (geometry_parse_numbers), and ends the call on an error. */
bool geometry_read_numbers(call *c, const char *path, size_t count, const double *from, size_t wanted, double *to);

/* Parses a reference frame. An unspecified frame is an error. */
bool geometry_parse_reference_frame(const char *path, Dynamics__V1__ReferenceFrame from, dyn_reference_frame *to,
                                    refusal *why);

/* Parses a reference frame (geometry_parse_reference_frame), and ends the call on an error. */
bool geometry_read_reference_frame(call *c, const char *path, Dynamics__V1__ReferenceFrame from,
                                   dyn_reference_frame *to);

/* Parses a placement. An absent placement is the identity, as are absent parts. */
bool geometry_parse_placement(const char *path, const Dynamics__V1__Placement *from, dyn_pose *to, refusal *why);

/* Parses a placement (geometry_parse_placement), and ends the call on an error. */
bool geometry_read_placement(call *c, const char *path, const Dynamics__V1__Placement *from, dyn_pose *to);

/* Parses an inertia of finite numbers. An absent inertia is zero. The caller checks whether a body can have it. */
bool geometry_parse_inertia(const char *path, const Dynamics__V1__Inertia *from, dyn_inertia *to, refusal *why);

/* Parses an inertia (geometry_parse_inertia), and ends the call on an error. */
bool geometry_read_inertia(call *c, const char *path, const Dynamics__V1__Inertia *from, dyn_inertia *to);

/* Writes a vector. */
Dynamics__V1__Vector3 *geometry_write_vector(call *c, const double from[3]);

/* Writes a placement with a quaternion as its orientation. */
Dynamics__V1__Placement *geometry_write_oriented(call *c, const dyn_pose *from);

/* Writes a placement with the rotation matrix, bit by bit. Returns NULL also for the identity. */
Dynamics__V1__Placement *geometry_write_placement(call *c, const dyn_pose *from);

/* Writes an inertia. Returns NULL also for an inertia of zeros. */
Dynamics__V1__Inertia *geometry_write_inertia(call *c, const dyn_inertia *from);

#endif
