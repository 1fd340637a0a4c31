/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts velocity coordinates between this library and another one. The coordinates differ in their order, and in the
 * axes of a floating base's velocity. The map is a permutation and a rotation, so it also holds for forces and rows of
 * Jacobians.
 */
#ifndef DYNAMICS_TESTS_COORDINATES_H
#define DYNAMICS_TESTS_COORDINATES_H

#include <stdbool.h>

#include <dynamics/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Convention of the other library for the velocity of a floating base. This library has the linear part first, and both
 * parts in body axes. */
typedef struct base_convention {
    bool angular_first, linear_in_world, angular_in_world;
} base_convention;

typedef struct coordinates {
    const dyn_model *model;
    base_convention base;
    int nv;
    int *address;                    /* of our joint j in the library's velocity */
    bool is_floating, is_same_order; /* the library's numbers in our order, but perhaps in other axes */
    double rotation[9];              /* of the floating base, to the world */
    double *vector, *square;         /* scratch: nv, nv x nv */
} coordinates;

/* Initializes the map; address[j] is the index of our joint j in the library's velocity. Returns false where memory is
 * exhausted; coordinates_free is needed in either case. */
bool coordinates_create(coordinates *c, const dyn_model *model, base_convention base, const int *address);
void coordinates_free(coordinates *c);

/* Loads the rotation of a floating base from our configuration q. Conversions use it, so it must be called before
 * them. */
void coordinates_turn(coordinates *c, const double *q);

/* Converts a velocity or force of ours to the library's. The arrays may not overlap. */
void coordinates_to_peer(const coordinates *c, const double *x, double *out);

/* Converts a velocity or force of the library to ours. The arrays may not overlap. */
void coordinates_from_peer(const coordinates *c, const double *x, double *out);

/* Converts an acceleration of ours at our velocity v to the library's. Accelerations are rates of the coordinates: of a
 * floating base dw/dt and dv/dt in body axes, or in world axes, where dv/dt has the additional term w x v. */
void coordinates_acceleration_to_peer(coordinates *c, const double *v, const double *a, double *out);

/* Converts an acceleration of the library at our velocity v to ours. */
void coordinates_acceleration_from_peer(coordinates *c, const double *v, const double *a, double *out);

/* Converts rows of a matrix over the library's velocities to rows over ours. */
void coordinates_rows_from_peer(const coordinates *c, const double *matrix, int rows, double *out);

/* Converts rows and columns of an nv x nv matrix over the library's velocities to ours. */
void coordinates_square_from_peer(coordinates *c, const double *matrix, double *out);

#ifdef __cplusplus
}
#endif

#endif
