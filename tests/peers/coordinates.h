/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Velocity coordinates of another library beside this library's: their order, and the axes of a floating base's
 * velocity. The map between them is a permutation and a rotation, so it is the same for velocities, forces and rows of
 * Jacobians.
 */
#ifndef DYNAMICS_TESTS_COORDINATES_H
#define DYNAMICS_TESTS_COORDINATES_H

#include <stdbool.h>

#include <dynamics/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Convention of the library's floating base. This library's is linear first, both parts in body axes. */
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

/* Initializes the map for the addresses of our joints. Returns false where memory is exhausted. */
bool coordinates_create(coordinates *c, const dyn_model *model, base_convention base, const int *address);
void coordinates_free(coordinates *c);

/* Loads the base's rotation from our configuration; called before the functions below. */
void coordinates_turn(coordinates *c, const double *q);

/* Converts a velocity or force of ours to the library's, and back. The arrays may not be the same. */
void coordinates_to_peer(const coordinates *c, const double *x, double *out);
void coordinates_from_peer(const coordinates *c, const double *x, double *out);

/* Converts accelerations, at our velocity v: rates of the coordinates, hence dw/dt and dv/dt in body axes, or in world
 * axes, where dv/dt has the additional term w x v. */
void coordinates_acceleration_to_peer(coordinates *c, const double *v, const double *a, double *out);
void coordinates_acceleration_from_peer(coordinates *c, const double *v, const double *a, double *out);

/* Converts rows of a matrix over the library's velocities to rows over ours, and both sides of a square one. */
void coordinates_rows_from_peer(const coordinates *c, const double *matrix, int rows, double *out);
void coordinates_square_from_peer(coordinates *c, const double *matrix, double *out);

#ifdef __cplusplus
}
#endif

#endif
