/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of quantities: one row for each number of the Quantity of the wire. A row states the shape, the units and
 * the frame of the values, the inputs that they depend on, and the function of the library that computes them. The name
 * of a quantity is that of the wire. Constant data.
 */
#ifndef SERVER_METHODS_QUANTITIES_H
#define SERVER_METHODS_QUANTITIES_H

#include "methods/motion.h"
#include "methods/task_rows.h"

enum { QUANTITY_BLOCKS = 8, QUANTITY_AXES = 3, COMPUTATION_OUTPUTS = 7 };

/* An axis of a block is one of the wire's kinds. */
typedef Dynamics__V1__AxisKind quantity_axis;

#define AXIS_NONE DYNAMICS__V1__AXIS_KIND__AXIS_KIND_UNSPECIFIED

typedef struct quantity_block {
    const char *name; /* NULL: no block */
    const char *const
        *units; /* one, or one for each combination of classes of its axes (quantity_axes.h); NULL ends them */
    quantity_axis axes[QUANTITY_AXES]; /* AXIS_NONE ends them */
    size_t first;   /* where it begins in the library's result, in entries of the first axis; with a pitch, in values */
    size_t pitch;   /* values between entries of the first axis; 0: as many as an entry has */
    bool is_second; /* it begins where as many values as it has end */
} quantity_block;

/* Subject of a quantity. */
typedef enum quantity_subject {
    OF_ROBOT,
    OF_SUBTREE, /* of the robot, or of what one of its joints carries */
    OF_FRAMES,  /* a result for each frame of the request */
    OF_TASK     /* one for the task that they are together */
} quantity_subject;

/* Inputs that a quantity depends on, beside q and its place, as flags. */
typedef enum quantity_input {
    USES_V = 1 << 0,
    USES_A = 1 << 1,
    USES_TAU = 1 << 2,
    USES_DQ = 1 << 3,
    USES_DV = 1 << 4,
    USES_DA = 1 << 5,
    USES_DTAU = 1 << 6,
    USES_GRAVITY = 1 << 7,
    USES_FORCES = 1 << 8,   /* external ones */
    USES_PAYLOADS = 1 << 9, /* and all other inertias */
} quantity_input;

/* The part of a question that is not a state: which frame, subtree or task a quantity is of. Members that its subject
 * does not need are zero. */
typedef struct quantity_place {
    int frame;
    dyn_reference_frame reference_frame;
    int subtree; /* joint, or -1 */
    const task_rows *task;
} quantity_place;

/* A block of samples, as a library function takes it: in the model's order. */
typedef struct states {
    const dyn_model *model;
    dyn_workspace *workspace;
    size_t count;
    const double *q, *v, *a, *tau; /* v, a, tau: NULL stands for zeros */
    const double *gravity;         /* NULL: the model's own */
    const dyn_external_forces *forces;
    const double *dq, *dv, *da, *dtau; /* a direction; NULL stands for zeros */
    quantity_place at;
} states;

/* A function of the library. It may yield several quantities at once. */
typedef struct computation {
    /* Writes count rows of each output that is not NULL, as wide as the quantity is in the library. */
    dyn_status (*run)(const states *s, dyn_error *error, double *const output[COMPUTATION_OUTPUTS]);
    int yields; /* outputs that rows of the table name */
    /* Outputs behind those, which are not for the reply, are as large as these quantities; UNSPECIFIED ends them. */
    Dynamics__V1__Quantity along[COMPUTATION_OUTPUTS];
    bool needs_all;                           /* no output may be NULL */
    double linear, quadratic, cubic, quartic; /* ns for one sample, roughly: of nv, nv^2, nv^3, nv^4 */
} computation;

/* A row of the table. */
typedef struct quantity_row {
    quantity_subject of;
    const char *expressed_in; /* NULL: in the request's reference frame */
    unsigned inputs;          /* flags quantity_input */
    quantity_block blocks[QUANTITY_BLOCKS];
    const computation *by;
    int output; /* of the computation */
} quantity_row;

/* NULL for a number that is no quantity. */
const quantity_row *quantity_find(Dynamics__V1__Quantity number);

/* The quantity that is an output of a computation. */
const quantity_row *quantity_of_output(const computation *by, int output);

#endif
