/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motions of a custom joint: a joint with one coordinate q whose motion subspace depends on q.
 *
 * The child link is placed in the joint frame by elementary motions, which are applied one after the other. Each is a
 * rotation about an axis, or a translation along one, by a given function f_k of the coordinate:
 *
 *     X_J(q) = E_1(f_1(q)) E_2(f_2(q)) ... E_m(f_m(q))
 *     v_J = S(q) v        S = sum over k of f_k'(q) s_k        a_J = S a + c_J        c_J = dS/dt v
 *
 * where s_k is the screw of motion k, moved by the motions after it. The axis of a motion is that of the frame which
 * the motions before it have moved. So three translations followed by three rotations are the spatial transform of the
 * CustomJoint of OpenSim. At q = 0 the child link's frame need not coincide with the joint frame.
 *
 * Functions:
 *
 *     polynomial       f(q) = c_0 + c_1 q + c_2 q^2 + ...
 *     cubic spline     through the values at the knots, with continuous second derivatives that vanish at both ends
 *     quintic spline   through the values, slopes and curvatures at the knots: a polynomial of degree 5 between two
 *
 * Beyond its knots a spline continues with the value, slope and curvature of the last one: f + f' x + f'' x^2 / 2.
 * Second derivatives are continuous everywhere. The third derivative, on which derivatives of the dynamics depend, is
 * that of the piece to the right of a knot where the coordinate exceeds it, otherwise that to the left.
 *
 * Source: Seth, Sherman, Eastman and Delp 2010, "Minimal formulation of joint motion for biomechanisms"; natural
 * splines: de Boor 1978, chapter 4.
 */
#ifndef DYNAMICS_CUSTOM_JOINT_H
#define DYNAMICS_CUSTOM_JOINT_H

#include <dynamics/export.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds on a custom joint. */
enum { DYN_MAX_JOINT_MOTIONS = 12, DYN_MAX_KNOTS = 64, DYN_MAX_FUNCTION_TERMS = 8 };

/* Kinds of functions. */
typedef enum dyn_function_kind {
    DYN_FUNCTION_KIND_POLYNOMIAL,
    DYN_FUNCTION_KIND_CUBIC_SPLINE,
    DYN_FUNCTION_KIND_QUINTIC_SPLINE,
} dyn_function_kind;

/* Function of a coordinate, in rad or m. */
typedef struct dyn_joint_function {
    dyn_function_kind kind;
    int count; /* coefficients, 1 to DYN_MAX_FUNCTION_TERMS, or knots, 2 to DYN_MAX_KNOTS */
    double coefficients[DYN_MAX_FUNCTION_TERMS];             /* c_k of a polynomial */
    double knots[DYN_MAX_KNOTS], values[DYN_MAX_KNOTS];      /* of a spline; knots rise */
    double slopes[DYN_MAX_KNOTS], curvatures[DYN_MAX_KNOTS]; /* of a quintic spline */
} dyn_joint_function;

/* Kinds of elementary motions. */
typedef enum dyn_joint_motion_kind {
    DYN_JOINT_MOTION_KIND_ROTATION,
    DYN_JOINT_MOTION_KIND_TRANSLATION,
} dyn_joint_motion_kind;

/* Elementary motion: by f(q) about or along an axis, of any length but zero. */
typedef struct dyn_joint_motion {
    dyn_joint_motion_kind kind;
    double axis[3];
    dyn_joint_function function;
} dyn_joint_motion;

/* Checks a function: its kind and count are in range, its numbers are finite, its knots rise, and its derivatives do
 * not overflow. Errors: DYN_INVALID_ARGUMENT, which names the number and its place. Thread-safe. */
DYN_API dyn_status dyn_joint_function_check(const dyn_joint_function *function, dyn_error *error);

/* Computes f(x), f'(x), f''(x) and f'''(x) of a function that dyn_joint_function_check accepts. Cost O(count), of a
 * cubic spline with a tridiagonal system. Thread-safe. */
DYN_API void dyn_joint_function_at(const dyn_joint_function *function, double x, double derivatives[4]);

#ifdef __cplusplus
}
#endif

#endif
