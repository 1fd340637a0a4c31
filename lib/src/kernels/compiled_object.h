/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contents of a shared object of the model compiler: the kernels of one robot, for one instruction set.
 *
 * A function computes the result of the kernel of its name for the model's own gravity and without external forces.
 * `in` and `out` have the order of the kernel table (kernels.h). "resisted_aba" has one more input after tau, which is
 * added to the diagonal of M (step.c). The functions of `wide` compute `lanes` states at once, those of `single` one
 * state. Both compute the same bits for a state.
 *
 * Each body at the end of a branch has three functions, whose names end with the number of the body. They refer to the
 * body's own frame, in world axes and about the world's origin. "body_pose" computes position and rotation.
 * "body_jacobian" appends the Jacobian. "body_motion" also appends twist, spatial acceleration and the rate of the
 * Jacobian, from q, v and a.
 *
 * `packed` reads and writes packed arrays, none of which overlaps another, and checks nothing. It is NULL where neither
 * simulations nor frames use it. `rows` reads and writes n rows of the caller and returns the number of rows that it
 * has computed. It stops before a block of states in which an input is not finite, the norm of a quaternion is not one,
 * a result is not finite, or a pivot is not positive. Pivots in `out` are packed, and are those of the last block. A
 * result of nv numbers may be the same array as an input.
 */
#ifndef DYNAMICS_KERNELS_COMPILED_OBJECT_H
#define DYNAMICS_KERNELS_COMPILED_OBJECT_H

#include <stddef.h>

/* Largest difference between one and the norm of a quaternion in q. */
#define QUATERNION_TOLERANCE 1e-3

#define COMPILED_OBJECT_SYMBOL "dynamics_compiled_object"

/* Version of the format. It changes with the structures below and with the meaning of a function. */
#define COMPILED_OBJECT_VERSION 7u

#define COMPILED_BODY_POSE "body_pose"
#define COMPILED_BODY_JACOBIAN "body_jacobian"
#define COMPILED_BODY_MOTION "body_motion"

/* Computes sines and cosines of `count` packed angles. */
typedef void compiled_sines(const void *angle, int count, void *sine, void *cosine);

typedef void compiled_packed(const void *const *in, compiled_sines *sines, void *const *out);

typedef struct compiled_function_entry {
    const char *name; /* NULL after the last one */
    compiled_packed *packed;
    /* NULL if the library calls the function with packed arrays only. */
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
