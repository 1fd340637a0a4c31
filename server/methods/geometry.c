/* SPDX-License-Identifier: BSD-2-Clause */
/* Vectors, placements and inertias: converts the protocol's form to the library's and back. */
#include "methods/geometry.h"

#include <dynamics/dynamics.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const dyn_pose identity = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

const char *path_join(char path[PATH_SIZE], const char *parent, const char *member) {
    snprintf(path, PATH_SIZE, "%s.%s", parent, member);
    return path;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

bool geometry_parse_vector(const char *path, const Dynamics__V1__Vector3 *from, double to[3], refusal *why) {
    to[0] = from ? from->x : 0;
    to[1] = from ? from->y : 0;
    to[2] = from ? from->z : 0;
    if (isfinite(to[0]) && isfinite(to[1]) && isfinite(to[2])) {
        return true;
    }
    return refuse(why, REASON_NOT_FINITE, path, "the vector is (%g, %g, %g); pass finite numbers", to[0], to[1], to[2]);
}

bool geometry_parse_numbers(const char *path, size_t count, const double *from, size_t wanted, double *to,
                            refusal *why) {
    char member[PATH_SIZE];
    if (count != wanted) {
        return refuse(why, REASON_WRONG_COUNT, path, "there are %zu numbers; pass %zu", count, wanted);
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(from[i])) {
            snprintf(member, sizeof member, "%s[%zu]", path, i);
            return refuse(why, REASON_NOT_FINITE, member, "the number is %g; pass a finite one", from[i]);
        }
        to[i] = from[i];
    }
    return true;
}

bool geometry_parse_reference_frame(const char *path, Dynamics__V1__ReferenceFrame from, dyn_reference_frame *to,
                                    refusal *why) {
    switch (from) {
    case DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL:
        *to = DYN_REFERENCE_FRAME_LOCAL;
        return true;
    case DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD:
        *to = DYN_REFERENCE_FRAME_WORLD;
        return true;
    case DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL_WORLD_ALIGNED:
        *to = DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED;
        return true;
    default:
        return refuse(why, from ? REASON_UNKNOWN_VALUE : REASON_MISSING_VALUE, path,
                      "the reference frame is %d; pass LOCAL (1), WORLD (2) or LOCAL_WORLD_ALIGNED (3)", (int)from);
    }
}

/* Returns whether the columns of R are orthonormal, to 1e-9, and right-handed. */
static bool is_rotation(const double R[9]) {
    double determinant =
        R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
    bool holds = determinant > 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double product = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j];
            holds = holds && fabs(product - (i == j)) <= 1e-9;
        }
    }
    return holds;
}

static bool read_quaternion(const char *path, const Dynamics__V1__Quaternion *from, double R[9], refusal *why) {
    char member[PATH_SIZE];
    const double q[4] = {from->x, from->y, from->z, from->w};
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!isfinite(norm) || norm < 1e-6) {
        return refuse(why, REASON_INVALID_ROTATION, path_join(member, path, "orientation"),
                      "the quaternion (x y z w) is (%g, %g, %g, %g); pass one of norm one", q[0], q[1], q[2], q[3]);
    }
    dyn_quaternion_to_rotation(q, R);
    return true;
}

static bool read_matrix(const char *path, const Dynamics__V1__RotationMatrix *from, double R[9], refusal *why) {
    char member[PATH_SIZE];
    if (!geometry_parse_numbers(path_join(member, path, "rotation.values"), from->n_values, from->values, 9, R, why)) {
        return false;
    }
    if (!is_rotation(R)) {
        return refuse(why, REASON_INVALID_ROTATION, member,
                      "the matrix is no rotation: its columns must be orthonormal and right-handed to 1e-9");
    }
    return true;
}

static bool read_angles(const char *path, const Dynamics__V1__EulerAngles *from, double R[9], refusal *why) {
    char member[PATH_SIZE];
    double angles[3];
    dyn_error error;
    path_join(member, path, "euler_angles.angles");
    if (!geometry_parse_numbers(member, from->n_angles, from->angles, 3, angles, why)) {
        return false;
    }
    if (dyn_euler_to_rotation(from->axes[0] != '\0' ? from->axes : "xyz", angles, R, &error) != DYN_OK) {
        return refuse(why, REASON_UNKNOWN_VALUE, path_join(member, path, "euler_angles.axes"), "%s", error.message);
    }
    return true;
}

bool geometry_parse_placement(const char *path, const Dynamics__V1__Placement *from, dyn_pose *to, refusal *why) {
    char member[PATH_SIZE];
    *to = identity;
    if (!from) {
        return true;
    }
    if (!geometry_parse_vector(path_join(member, path, "position"), from->position, to->position, why)) {
        return false;
    }
    switch (from->attitude_case) {
    case DYNAMICS__V1__PLACEMENT__ATTITUDE_ORIENTATION:
        return read_quaternion(path, from->orientation, to->rotation, why);
    case DYNAMICS__V1__PLACEMENT__ATTITUDE_ROTATION:
        return read_matrix(path, from->rotation, to->rotation, why);
    case DYNAMICS__V1__PLACEMENT__ATTITUDE_EULER_ANGLES:
        return read_angles(path, from->euler_angles, to->rotation, why);
    default:
        return true;
    }
}

bool geometry_parse_inertia(const char *path, const Dynamics__V1__Inertia *from, dyn_inertia *to, refusal *why) {
    char member[PATH_SIZE];
    *to = (dyn_inertia){0};
    if (!from) {
        return true;
    }
    to->mass = from->mass;
    if (!isfinite(to->mass)) {
        return refuse(why, REASON_NOT_FINITE, path_join(member, path, "mass"),
                      "the mass is %g kg; pass a finite number", to->mass);
    }
    if (!geometry_parse_vector(path_join(member, path, "center_of_mass"), from->center_of_mass, to->center_of_mass,
                               why)) {
        return false;
    }
    path_join(member, path, "rotational");
    return from->n_rotational == 0 ||
           geometry_parse_numbers(member, from->n_rotational, from->rotational, 6, to->rotational, why);
}

/* Ends the call with a refusal unless `is_good`. Returns `is_good`. */
static bool end_unless(call *c, bool is_good, const refusal *why) {
    if (!is_good) {
        call_refuse(c, why);
    }
    return is_good;
}

bool geometry_read_vector(call *c, const char *path, const Dynamics__V1__Vector3 *from, double to[3]) {
    refusal why = {0};
    return end_unless(c, geometry_parse_vector(path, from, to, &why), &why);
}

bool geometry_read_numbers(call *c, const char *path, size_t count, const double *from, size_t wanted, double *to) {
    refusal why = {0};
    return end_unless(c, geometry_parse_numbers(path, count, from, wanted, to, &why), &why);
}

bool geometry_read_reference_frame(call *c, const char *path, Dynamics__V1__ReferenceFrame from,
                                   dyn_reference_frame *to) {
    refusal why = {0};
    return end_unless(c, geometry_parse_reference_frame(path, from, to, &why), &why);
}

bool geometry_read_placement(call *c, const char *path, const Dynamics__V1__Placement *from, dyn_pose *to) {
    refusal why = {0};
    return end_unless(c, geometry_parse_placement(path, from, to, &why), &why);
}

bool geometry_read_inertia(call *c, const char *path, const Dynamics__V1__Inertia *from, dyn_inertia *to) {
    refusal why = {0};
    return end_unless(c, geometry_parse_inertia(path, from, to, &why), &why);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

Dynamics__V1__Vector3 *geometry_write_vector(call *c, const double from[3]) {
    Dynamics__V1__Vector3 *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__vector3__init(to);
        to->x = from[0];
        to->y = from[1];
        to->z = from[2];
    }
    return to;
}

Dynamics__V1__Placement *geometry_write_oriented(call *c, const dyn_pose *from) {
    Dynamics__V1__Placement *to = call_allocate(c, 1, sizeof *to);
    Dynamics__V1__Quaternion *orientation = call_allocate(c, 1, sizeof *orientation);
    if (!to || !orientation) {
        return NULL;
    }
    double quaternion[4];
    dyn_rotation_to_quaternion(from->rotation, quaternion);
    dynamics__v1__quaternion__init(orientation);
    orientation->x = quaternion[0];
    orientation->y = quaternion[1];
    orientation->z = quaternion[2];
    orientation->w = quaternion[3];
    dynamics__v1__placement__init(to);
    to->position = geometry_write_vector(c, from->position);
    to->attitude_case = DYNAMICS__V1__PLACEMENT__ATTITUDE_ORIENTATION;
    to->orientation = orientation;
    return to;
}

/* Returns whether all values are zero. */
static bool are_zero(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (values[i] != 0) {
            return false;
        }
    }
    return true;
}

static double *write_numbers(call *c, const double *from, size_t count) {
    double *to = call_allocate(c, count, sizeof *to);
    if (to) {
        memcpy(to, from, count * sizeof *to);
    }
    return to;
}

static Dynamics__V1__RotationMatrix *write_matrix(call *c, const double R[9]) {
    Dynamics__V1__RotationMatrix *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__rotation_matrix__init(to);
        to->n_values = 9;
        to->values = write_numbers(c, R, 9);
    }
    return to;
}

Dynamics__V1__Placement *geometry_write_placement(call *c, const dyn_pose *from) {
    bool is_moved = !are_zero(from->position, 3), is_turned = false;
    for (int i = 0; i < 9; i++) {
        is_turned = is_turned || from->rotation[i] != identity.rotation[i];
    }
    Dynamics__V1__Placement *to = is_moved || is_turned ? call_allocate(c, 1, sizeof *to) : NULL;
    if (to) {
        dynamics__v1__placement__init(to);
        to->position = is_moved ? geometry_write_vector(c, from->position) : NULL;
        to->rotation = is_turned ? write_matrix(c, from->rotation) : NULL;
        to->attitude_case =
            is_turned ? DYNAMICS__V1__PLACEMENT__ATTITUDE_ROTATION : DYNAMICS__V1__PLACEMENT__ATTITUDE__NOT_SET;
    }
    return to;
}

Dynamics__V1__Inertia *geometry_write_inertia(call *c, const dyn_inertia *from) {
    bool has_center = !are_zero(from->center_of_mass, 3), is_extended = !are_zero(from->rotational, 6);
    Dynamics__V1__Inertia *to = from->mass != 0 || has_center || is_extended ? call_allocate(c, 1, sizeof *to) : NULL;
    if (to) {
        dynamics__v1__inertia__init(to);
        to->mass = from->mass;
        to->center_of_mass = has_center ? geometry_write_vector(c, from->center_of_mass) : NULL;
        to->n_rotational = is_extended ? 6 : 0;
        to->rotational = is_extended ? write_numbers(c, from->rotational, 6) : NULL;
    }
    return to;
}
