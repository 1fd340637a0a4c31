/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library's functions behind the quantities of Evaluate. One function may yield several quantities at once.
 */
#ifndef SERVER_METHODS_COMPUTATIONS_H
#define SERVER_METHODS_COMPUTATIONS_H

#include "methods/motion.h"

enum { COMPUTATION_OUTPUTS = 7 };

/* A block of samples, as a library function takes it: in the model's order. */
typedef struct states {
    const dyn_model *model;
    dyn_workspace *workspace;
    size_t count;
    const double *q, *v, *a, *tau; /* v, a, tau: NULL stands for zeros */
    const double *gravity;         /* NULL: the model's own */
    const dyn_external_forces *forces;
    int frame;
    dyn_reference_frame reference_frame;
    const dyn_task *task;              /* of all frames */
    int subtree;                       /* joint, or -1 */
    const double *dq, *dv, *da, *dtau; /* a direction; NULL stands for zeros */
} states;

typedef struct computation {
    /* Writes count rows of each output that is not NULL, as wide as the quantity is in the library. */
    dyn_status (*run)(const states *s, dyn_error *error, double *const output[COMPUTATION_OUTPUTS]);
    Dynamics__V1__Quantity outputs[COMPUTATION_OUTPUTS]; /* UNSPECIFIED ends them */
    int yields;                               /* of the outputs; the others come along and are not for the reply */
    bool needs_all;                           /* no output may be NULL */
    double linear, quadratic, cubic, quartic; /* ns for one sample, roughly: of nv, nv^2, nv^3, nv^4 */
} computation;

/* Each quantity is yielded by one of them. */
extern const computation computations[];
extern const size_t computation_count;

#endif
