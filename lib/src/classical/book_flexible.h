/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serial chains of links that bend, by Book's recursive Lagrangian (book_flexible.c). Coordinates are those of the
 * joints, in the order of the mechanism, followed by those of the modes.
 */
#ifndef DYNAMICS_CLASSICAL_BOOK_FLEXIBLE_H
#define DYNAMICS_CLASSICAL_BOOK_FLEXIBLE_H

#include "mechanism.h"

/* Assumed mode of a link, in the axes of its body. Matrices are 4 x 4, row-major. */
typedef struct flexible_mode {
    double N[16]; /* [theta~, phi - theta x p; 0 0] at the next joint, whose origin is p in the straight link */
    double C[16]; /* integral of (phi; 0)(r; 1)' dm */
} flexible_mode;

/* Modes of one body. `first` is the position of their coordinates after those of the joints. */
typedef struct flexible_body {
    int count, first;
    const flexible_mode *modes;
    const double *P; /* count x count matrices 4 x 4: integral of (phi_f; 0)(phi_g; 0)' dm */
    const double *K; /* count x count: stiffness */
} flexible_body;

/* Modes of all bodies. `bodies` is NULL for a chain of rigid links. */
typedef struct flexible_bodies {
    int mode_count;
    const flexible_body *bodies;
} flexible_bodies;

/* Motion of all coordinates. Positions of the joints are those at which the mechanism is placed. */
typedef struct flexible_motion {
    const real *x, *v, *a;
} flexible_motion;

/* Reserves the memory of the functions below. */
void KERNEL(book_reserve)(const mechanism *m, const flexible_bodies *f, scratch *s);

/* Computes the force of each coordinate. */
void KERNEL(book_forces)(const mechanism *m, const flexible_bodies *f, scratch *s, flexible_motion at, real *forces);

/* Computes the inertia matrix, both triangles. */
void KERNEL(book_inertia_matrix)(const mechanism *m, const flexible_bodies *f, scratch *s, const real *x, real *M);

/* Computes the accelerations a for the forces. M receives the factors of linear.h. */
void KERNEL(book_accelerations)(const mechanism *m, const flexible_bodies *f, scratch *s, flexible_motion at,
                                const real *forces, real *M, real *a);

#endif
