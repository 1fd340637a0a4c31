/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contents of a shared object of the model compiler: the kernels of one robot, for one instruction set.
 *
 * A function computes what the kernel of its name does for the model's own gravity and without external forces. `in`
 * and `out` are in the order in which the kernel table (kernels.h) has them; "resisted_aba" takes behind tau what is
 * added to the diagonal of M (step.c). The functions of `wide` take `lanes` states at once, those of `single` one; a
 * state gets the same bits from both.
 *
 * Of each body at the end of a branch there are three functions, with the body's number behind their names: of the
 * body's own frame, in world axes and about the world's origin, "body_pose" computes position and rotation,
 * "body_jacobian" the Jacobian behind them, and "body_motion" twist, spatial acceleration and the Jacobian's rate
 * behind these, from q, v and a.
 *
 * `packed` goes from packed arrays to packed arrays, none of which overlaps another, and checks nothing; it is NULL
 * where neither simulations nor frames have a use for it. `rows` goes from n of the caller's rows to as many, and
 * returns how many it did: it stops at a block of states one of which has an input that is not finite, a quaternion
 * whose norm is not one, a result that is not finite, or a pivot that is not positive. In `out`, pivots are packed,
 * those of the last block; a result of nv numbers may be the same array as an input.
 */
#ifndef DYNAMICS_KERNELS_COMPILED_OBJECT_H
#define DYNAMICS_KERNELS_COMPILED_OBJECT_H

#include <stddef.h>

/* By so much may the norm of a quaternion in q differ from one. */
#define QUATERNION_TOLERANCE 1e-3

#define COMPILED_OBJECT_SYMBOL "dynamics_compiled_object"

/* Changes with every change of the structures below, or of what a function of a name computes. */
#define COMPILED_OBJECT_VERSION 7u

#define COMPILED_BODY_POSE "body_pose"
#define COMPILED_BODY_JACOBIAN "body_jacobian"
#define COMPILED_BODY_MOTION "body_motion"

/* Sines and cosines of `count` packed angles. */
typedef void compiled_sines(const void *angle, int count, void *sine, void *cosine);

typedef void compiled_packed(const void *const *in, compiled_sines *sines, void *const *out);

typedef struct compiled_function_entry {
    const char *name; /* NULL behind the last one */
    compiled_packed *packed;
    /* NULL of a function that the library takes from packed arrays alone. */
    size_t (*rows)(size_t n, const double *const *in, compiled_sines *sines, double *const *out, double *scratch);
    size_t scratch; /* doubles of scratch memory for `rows`, aligned as packed arrays are */
} compiled_function_entry;

typedef struct compiled_object {
    unsigned version;
    int lanes;
    const char *instruction_set;
    const char *model; /* canonical description of the robot */
    const compiled_function_entry *wide, *single;
} compiled_object;

#endif
