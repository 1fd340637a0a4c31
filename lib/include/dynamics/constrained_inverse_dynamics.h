/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inverse dynamics of models with constraints (constraint.h) and passive joints:
 *
 *     M(q) a + h(q, v) = tau + J_ext' f + A(q)' lambda        tau_i = 0 at passive joints
 *
 * Joints are passive that the description states so (dyn_builder_set_passive), and floating ones. The forces at their
 * coordinates come from the constraints alone. Modern Robotics (section 8.7) writes tau = M a + h + A' lambda, so that
 * its lambda is -lambda here.
 */
#ifndef DYNAMICS_CONSTRAINED_INVERSE_DYNAMICS_H
#define DYNAMICS_CONSTRAINED_INVERSE_DYNAMICS_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/builder.h>
#include <dynamics/constrained_dynamics.h>
#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/passive_force.h>
#include <dynamics/sized.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a joint of a description passive: no motor drives it. Errors: DYN_NOT_FOUND with the place "joint". */
DYN_API dyn_status dyn_builder_set_passive(dyn_builder *builder, const char *joint, dyn_error *error);

/* Returns whether joint number `joint` of a description, or of a model, is passive. A joint that does not move is not;
 * the joint of a floating base of a model is. */
DYN_API bool dyn_builder_joint_is_passive(const dyn_builder *builder, int joint);
DYN_API bool dyn_model_joint_is_passive(const dyn_model *model, int joint);

/* Options of inverse dynamics with constraints; zero selects the defaults. */
typedef struct dyn_constrained_inverse_options {
    size_t struct_size;    /* set by DYN_CONSTRAINED_INVERSE_OPTIONS_INIT (sized.h) */
    const double *weights; /* nv positive numbers w in sum w_i tau_i^2; NULL: 1. Those of passive joints are not used */
    /* Passive forces (passive_force.h) that act besides the motors, those of the joints of closed loops included; NULL:
     * none. The efforts of these joints always act. */
    const dyn_passive_parts *passive;
    const double *added;         /* n x nv forces that add to M a + h, as those of a moving base do; NULL: none */
    const dyn_given_rows *given; /* rows beside those of the model (constrained_dynamics.h); NULL: none */
    /* m numbers u, not negative, in sum w_i tau_i^2 + sum u_r lambda_r^2, those of given rows last; NULL: zeros. Where
     * u_r holds a contact, it weighs its force against the forces of the motors. */
    const double *multiplier_weights;
    /* Largest violation of a constraint by the motion, up to 1: of A v - b as a share of the largest |b| + sum |A_i
     * v_i| of its rows, and of A a + dA/dt v - db/dt likewise, with the terms |A_i v_i| max |v| of dA/dt v. 0: any
     * motion is answered, by a compromise. */
    double tolerance;
} dyn_constrained_inverse_options;

#define DYN_CONSTRAINED_INVERSE_OPTIONS_INIT(...) DYN_SIZED(dyn_constrained_inverse_options, __VA_ARGS__)

/* Result of one sample. */
typedef struct dyn_constrained_inverse_result {
    int rank;        /* independent rows of A */
    int freedom;     /* independent ways to change tau without changing the motion */
    double residual; /* largest of |A a + dA/dt v - db/dt|: how far the motion leaves the constraints */
} dyn_constrained_inverse_result;

/* Computes the forces tau, n x nv, of the joints with a motor that produce a motion, and the multipliers lambda, n x m.
 * Where the constraints leave freedom, sum w_i tau_i^2 + sum u_r lambda_r^2 is least, and the multipliers have the
 * least norm among those with the same sum. v and a may be NULL: zero. `options` NULL: defaults. lambda and results (n
 * of them) may be NULL. Without constraints it is dyn_rnea, also at passive joints.
 *
 * Cost O(bodies + m^2 nv) for each sample. Allocates nothing. Thread-safe as long as each thread has its own workspace.
 * Errors as dyn_rnea; DYN_FAILED_PRECONDITION for a workspace in single precision, and for a motion that cannot be
 * produced: with a tolerance, where a constraint forbids it (the argument v or a, the name of the constraint, the
 * direction of the row and the violation), and where a passive joint would need a force that no constraint provides
 * (its name and the force; more than 1e-8 of the sizes of the terms); DYN_INVALID_ARGUMENT with the place
 * "options.weights" for a weight that is not positive, "options.multiplier_weights" for one that is negative,
 * "options.tolerance". tau must not be the array a. */
DYN_API dyn_status dyn_constrained_inverse_dynamics(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                                    const double *gravity, const double *q, const double *v,
                                                    const double *a, const dyn_external_forces *forces,
                                                    const dyn_constrained_inverse_options *options, double *tau,
                                                    double *lambda, dyn_constrained_inverse_result *results,
                                                    dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
