/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors, placements and inertias: conversion of the protocol's form to the library's, and back.
 *
 * Reading checks the values; `path` is the path of the field in the request, without the method: "payloads[2].pose". A
 * parse function fills a refusal and returns false on an error. A read function ends the call instead. A write function
 * returns NULL when the call has ended with an error.
 */
#ifndef SERVER_METHODS_GEOMETRY_H
#define SERVER_METHODS_GEOMETRY_H

#include <dynamics/kinematics.h>
#include <dynamics/model.h>

#include "methods/call.h"

enum { PATH_SIZE = 160 };

/* Writes "parent.member" for a path. */
const char *path_join(char path[PATH_SIZE], const char *parent, const char *member);

/* Parses three finite numbers. An absent vector is zero. */
bool geometry_parse_vector(const char *path, const Dynamics__V1__Vector3 *from, double to[3], refusal *why);
bool geometry_read_vector(call *c, const char *path, const Dynamics__V1__Vector3 *from, double to[3]);

/* Parses `wanted` finite numbers. Refuses another count. */
bool geometry_parse_numbers(const char *path, size_t count, const double *from, size_t wanted, double *to,
                            refusal *why);
bool geometry_read_numbers(call *c, const char *path, size_t count, const double *from, size_t wanted, double *to);

/* Parses a reference frame. An unspecified one is an error. */
bool geometry_parse_reference_frame(const char *path, Dynamics__V1__ReferenceFrame from, dyn_reference_frame *to,
                                    refusal *why);
bool geometry_read_reference_frame(call *c, const char *path, Dynamics__V1__ReferenceFrame from,
                                   dyn_reference_frame *to);

/* Parses a placement. An absent one is the identity. */
bool geometry_parse_placement(const char *path, const Dynamics__V1__Placement *from, dyn_pose *to, refusal *why);
bool geometry_read_placement(call *c, const char *path, const Dynamics__V1__Placement *from, dyn_pose *to);

/* Parses an inertia of finite numbers. An absent inertia is zero. The caller checks whether a body can have it. */
bool geometry_parse_inertia(const char *path, const Dynamics__V1__Inertia *from, dyn_inertia *to, refusal *why);
bool geometry_read_inertia(call *c, const char *path, const Dynamics__V1__Inertia *from, dyn_inertia *to);

/* Writes a vector. */
Dynamics__V1__Vector3 *geometry_write_vector(call *c, const double from[3]);

/* Writes a placement with a quaternion. */
Dynamics__V1__Placement *geometry_write_oriented(call *c, const dyn_pose *from);

/* Writes a placement with a rotation matrix of the same bits. Returns NULL for the identity. */
Dynamics__V1__Placement *geometry_write_placement(call *c, const dyn_pose *from);

/* Writes an inertia. Returns NULL for zero. */
Dynamics__V1__Inertia *geometry_write_inertia(call *c, const dyn_inertia *from);

#endif
