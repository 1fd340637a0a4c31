/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines the parameters of a step forward in time and of a controller, which are equal for all samples.
 */
#ifndef DYNAMICS_KERNELS_STEP_PARAMETERS_H
#define DYNAMICS_KERNELS_STEP_PARAMETERS_H

#include "../model/passive_force.h"
#include "compiled_object.h"

/* Integration scheme of a step. */
typedef enum step_scheme { STEP_EXPLICIT_EULER, STEP_SEMI_IMPLICIT_EULER, STEP_RUNGE_KUTTA_4 } step_scheme;

/* Functions over packed arrays of the lanes of the instance, compiled for the model and its gravity. The kernel
 * computes a result itself if the compiled function is NULL or if external forces act. */
typedef struct compiled_step {
    compiled_packed *rnea, *gravity, *aba, *resisted_aba;
    compiled_sines *sines; /* of the instance */
} compiled_step;

/* Parameters of the passive joint forces (joint_resistance.c). Spring i acts on the coordinates spring_q[i] of q and
 * spring_v[i] of v, beyond spring_lower[i] and spring_upper[i]. */
typedef struct joint_resistance {
    const double *damping;    /* nv; NULL: zeros */
    const double *friction;   /* nv; NULL: zeros */
    double friction_velocity; /* velocity at which Coulomb friction has 1 / sqrt(2) of its full force */
    int law_count;
    const friction_law *laws; /* add to `damping` and `friction` */
    int rest_count;           /* number of springs with a rest position */
    const spring_law *rests;
    int spring_count; /* number of springs beyond joint limits */
    const int *spring_q, *spring_v;
    const double *spring_lower, *spring_upper;
    double spring_stiffness, spring_damping;
} joint_resistance;

struct packed_inputs;

/* Functions outside the kernels that make accelerations satisfy the constraints of the model. `apply` adds M^-1 A'
 * lambda to the packed `a` at the state (q, v), where `diagonal` (NULL: zeros) is added to the diagonal of M. The state
 * is that at the fraction `s` of the step. `accelerate` (NULL: there is none) computes `a` in less time, without that
 * of the tree before, and the pivots as forward_dynamics does. They do not use the scratch memory of the kernel that
 * calls them. */
typedef struct step_constraint {
    void (*apply)(void *context, double s, const void *q, const void *v, const void *diagonal, void *a); /* or NULL */
    void *context;
    void (*accelerate)(void *context, double s, const struct packed_inputs *in, const void *diagonal, void *pivots,
                       void *a);
} step_constraint;

typedef struct step_parameters {
    step_scheme scheme;
    double dt;
    const double *gravity; /* 3 */
    joint_resistance resistance;
    compiled_step compiled;
    step_constraint constraint;
} step_parameters;

/* Control law of a joint-space controller. */
typedef enum control_law { CONTROL_PD, CONTROL_PD_GRAVITY, CONTROL_COMPUTED_TORQUE } control_law;

typedef struct control_parameters {
    control_law law;
    const double *stiffness, *damping; /* nv each */
    const double *gravity;             /* 3 */
    compiled_step compiled;
} control_parameters;

#endif
