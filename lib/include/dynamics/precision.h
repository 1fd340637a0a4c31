/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Double and single precision.
 *
 * An algorithm computes in the precision of its workspace. Arguments and results are doubles in both, and the checks,
 * payloads and models are the same. Single precision computes twice as many states at once (one in the scalar
 * instruction set, as double precision does).
 *
 * Error bound. The error of a result in single precision is about as large as the error from knowing the state and the
 * robot only to a part of e = 2^-23 = 1.2e-7. Let y be an array that an algorithm returns for one sample, |.| the
 * largest of its absolute values, and D the largest change of y that these changes can cause together:
 *     each coordinate of q by e max(1, |q|), v, a, tau and wrenches by e of their |.|, gravity likewise;
 *     masses, moments and products of inertia by e of themselves, axes and frames turned by e, lengths by e of the
 *     longest one.
 * Then
 *     |y_single - y_double| <= F (D + e k |y|)
 *     F = 30   for the Coriolis matrix and the Christoffel symbols
 *     F = 15   for the centroidal momentum matrix and its rate
 *     F = 5    for all others
 *     k = |M| |M^-1| (the largest sums of a row) where M is solved with: forward dynamics, M^-1, factors and solutions,
 *              task inertia and the derivatives of these; else k = 1
 * For the rate of a Jacobian J, |y| is at least |v| |J|, since the rate is a difference of terms of that size. The
 * constants come from measurements on robots and on random trees, whose largest error was a third of the bound;
 * property.single_precision checks them. Angles and volumes of ellipsoids, whose axes may turn where two lengths are
 * alike, have no such bound.
 *
 * Range: a number is in the range of single precision if it rounds to a finite one, that is, up to
 * 3.4028235677973362e38. An argument or a result beyond that is DYN_INVALID_ARGUMENT, an argument with its place, joint
 * and value, a result with the sample. A constant of the model beyond that, or a mass or a moment of inertia that is
 * not zero but below 1.2e-38, is DYN_FAILED_PRECONDITION when the workspace is created or loaded. A mass matrix with a
 * large k may be singular in single precision, and a task or ellipsoid degenerate, where it is not in double precision.
 *
 * Simulators, rollouts and accurate motions compute in double precision, as compiled models do. So does dyn_mass_solve
 * in any workspace: its b and x may be beyond single precision.
 */
#ifndef DYNAMICS_PRECISION_H
#define DYNAMICS_PRECISION_H

#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Precision of a workspace. */
typedef enum dyn_precision {
    DYN_PRECISION_DOUBLE,
    DYN_PRECISION_SINGLE,
} dyn_precision;

/* Returns the number of states that the kernels of a precision compute at once. Thread-safe. */
DYN_API int dyn_lanes(dyn_precision precision);

#ifdef __cplusplus
}
#endif

#endif
