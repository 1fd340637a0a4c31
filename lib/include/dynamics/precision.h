/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Double and single precision.
 *
 * An algorithm computes in the precision of the workspace that it is given. Arguments and results are doubles in both,
 * and the checks, payloads and models are the same. Single precision computes twice as many states at once
 * (of the scalar instruction set one, as double precision does).
 *
 * Error bound. A result in single precision is about as far off as it is anyway where the state and the robot are known
 * to a part of e = 2^-23 = 1.2e-7. Let y be an array that an algorithm returns for one sample, |.| the largest of its
 * numbers without their signs, and D the largest change of y that these changes can make together:
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
 * For the rate of a Jacobian J, |y| is at least |v| |J|, of which it is a difference. The constants come from
 * measurements on robots and on random trees, of which the largest took a third of them; property.single_precision
 * holds the library to them. Angles and volumes of ellipsoids, whose axes may turn where two lengths are alike, have no
 * such bound.
 *
 * Where single precision ends: a number is held if it rounds to a finite one, that is, up to 3.4028235677973362e38. An
 * argument beyond that is DYN_INVALID_ARGUMENT, with its place, joint and value, as is a result, with the sample; a
 * constant of the model beyond that, or a mass or a moment of inertia that is not zero but below 1.2e-38, is
 * DYN_FAILED_PRECONDITION when the workspace is created or loaded. A mass matrix with a large k may be singular in
 * single precision, and a task or ellipsoid degenerate, where it is not in double precision.
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

typedef enum dyn_precision {
    DYN_DOUBLE_PRECISION,
    DYN_SINGLE_PRECISION,
} dyn_precision;

/* Number of states that are computed at once. Thread-safe. */
DYN_API int dyn_lanes(dyn_precision precision);

#ifdef __cplusplus
}
#endif

#endif
