/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Impact on the rows of the model and of a caller, one sample at a time.
 */
#ifndef DYNAMICS_CONSTRAINT_CONSTRAINT_SPACE_H
#define DYNAMICS_CONSTRAINT_CONSTRAINT_SPACE_H

#include <dynamics/constrained_dynamics.h>

/* Impact in which the rows of the model and of a caller strike with b = 0. */
typedef struct given_impact {
    const dyn_model *model;
    dyn_workspace *workspace;
    size_t n;
    const double *q;
    const dyn_given_rows *given;
    double restitution;
} given_impact;

/* Replaces the velocities v, n x nv, by those after the impact: v - (1 + e) M^-1 A' Lambda A v. Stores the impulses,
 * n x m, unless they are NULL. Allocates. */
dyn_status constraint_space_strike(const given_impact *impact, double *v, double *impulses, dyn_error *error);

#endif
