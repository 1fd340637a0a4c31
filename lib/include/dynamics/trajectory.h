/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trajectories, stated as rows over time: the forces that a motion needs, the motion that forces cause, rates computed
 * from positions, and the limits that a motion exceeds.
 */
#ifndef DYNAMICS_TRAJECTORY_H
#define DYNAMICS_TRAJECTORY_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Wrenches that an end-effector frame applies to its surroundings (n; f), rows of 6, one for each row of the
 * trajectory, in the reference frame. This is F_tip of Modern Robotics; an external force of external_force.h has the
 * opposite sign. */
typedef struct dyn_tip {
    int frame;
    dyn_reference_frame reference_frame;
    const double *wrench;
} dyn_tip;

/* Computes tau = M a + h + J' F_tip for each of n rows of a motion; `tip` may be NULL. q is n x nq; v, a (NULL: zero)
 * and tau are n x nv. Cost O(bodies) per row. Allocates nothing.
 * Errors as in dyn_rnea.
 * Source: Modern Robotics (Lynch and Park 2017), section 8.11. */
DYN_API dyn_status dyn_inverse_dynamics_trajectory(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                                   const double *gravity, const double *q, const double *v,
                                                   const double *a, const dyn_tip *tip, double *tau, dyn_error *error);

/* Computes the motion from q[0] and v[0] under n rows of tau (n x nv) and tip wrenches: row i of q (n x nq) and v (n x
 * nv) is the state at i step_length, and row i of the forces acts from then to the next one; the last row of the forces
 * has no effect. The caller stores the initial state in the first rows of q and v. step_length, the number of substeps
 * (intRes), the integrator and all other options are those of the simulator, which must have no controller; Modern
 * Robotics uses explicit Euler, no friction and no stops. Rows after a sample has stopped (`result`, may be NULL)
 * repeat its last state.
 * Errors as in dyn_simulator_step, with indices from the first row; DYN_INVALID_ARGUMENT where friction with bristles
 * counts.
 * Source: Modern Robotics (Lynch and Park 2017), section 8.11. */
DYN_API dyn_status dyn_forward_dynamics_trajectory(dyn_simulator *simulator, size_t n, const double *tau,
                                                   const dyn_tip *tip, double *q, double *v, dyn_sample_result *result,
                                                   dyn_error *error);

/* Methods that compute velocities and accelerations from positions. */
typedef enum dyn_rates {
    /* Cubic spline through all rows, whose third derivative is continuous at the second and the last but one
     * (not-a-knot); error O(h^3) in v and O(h^2) in a. */
    DYN_RATES_SPLINE,
    /* Cubic spline with v = 0 at both ends. */
    DYN_RATES_SPLINE_AT_REST,
    /* Parabola through each row and its neighbours: error O(h^2) in v, O(h) in a, O(h^2) where rows are equally spaced.
     */
    DYN_RATES_CENTRAL,
    /* Quartic through each row and two on either side: error O(h^4) in v, O(h^3) in a, O(h^4) where rows are equally
     * spaced. */
    DYN_RATES_FIVE_POINT,
    /* Quintic spline through all rows, whose derivatives up to the fourth are continuous, with the rates of the quintic
     * through the nearest six rows at its ends; error O(h^5) in v and O(h^4) in a. */
    DYN_RATES_QUINTIC,
    /* Quintic spline with v = 0 and a = 0 at both ends. */
    DYN_RATES_QUINTIC_AT_REST,
} dyn_rates;

/* Computes v and a (n x nv each) from positions q (n x nq) at the times `time` (n, strictly increasing, s). Spherical,
 * planar and floating joints are differentiated along the increments q_j (-) q_i from each row i, five rows at a time
 * where the method is a cubic spline, seven where it is a quintic one. One row yields zeros. With few rows the
 * polynomials have the highest degree that the rows allow.
 * Cost O(n nv). Thread-safe. Quintic splines allocate 32 n bytes, the others nothing.
 * Errors: DYN_INVALID_ARGUMENT with "q[13]" or "time[4]", the index of a time that is not after the one before, or that
 * ends the shortest interval where rates exceed the range of a double, with the sample; DYN_RESOURCE_EXHAUSTED out of
 * memory.
 * Source: de Boor 1978, chapter IV; Biagiotti and Melchiorri 2008, chapter 4; Fornberg 1988 for the weights; Modern
 * Robotics (2017), exercise 8.14. */
DYN_API dyn_status dyn_derive_rates(const dyn_model *model, size_t n, const double *time, const double *q,
                                    dyn_rates method, double *v, double *a, dyn_error *error);

/* Kinds of limits that a description states. */
typedef enum dyn_limit_kind {
    DYN_LIMIT_KIND_LOWER,
    DYN_LIMIT_KIND_UPPER,
    DYN_LIMIT_KIND_VELOCITY,
    DYN_LIMIT_KIND_EFFORT,
} dyn_limit_kind;

/* Limit that a motion exceeds. */
typedef struct dyn_limit_excess {
    int joint;
    dyn_limit_kind kind;
    double limit;              /* as stated in the description; a bound of |v| and |tau| for the last two kinds */
    double value;              /* in row `worst`: position, velocity or force, with its sign */
    size_t worst, first, last; /* rows: the one furthest beyond the limit, the first and the last one beyond */
    size_t rows;               /* number of rows beyond the limit */
} dyn_limit_excess;

/* Finds the limits of joints with one coordinate that n rows exceed: q (n x nq), v and tau (n x nv). Each may be NULL
 * and is then not checked. `excesses` has room for 4 entries for each joint; they are in the order of the joints.
 * Coupled mimic joints are checked too, except for their effort. Returns the number of entries. Cost O(n joints).
 * Thread-safe. */
DYN_API size_t dyn_limit_excesses(const dyn_model *model, size_t n, const double *q, const double *v, const double *tau,
                                  dyn_limit_excess *excesses);

#ifdef __cplusplus
}
#endif

#endif
