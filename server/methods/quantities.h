/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table of quantities: one row for each number of the protocol's enumeration Quantity. A row states the shape, the
 * units and the frame of the values, the inputs that they depend on, and the function of the library that computes
 * them. The table is constant, and the names of quantities are those of the enumeration.
 */
#ifndef SERVER_METHODS_QUANTITIES_H
#define SERVER_METHODS_QUANTITIES_H

#include "methods/contact_stepper.h"
#include "methods/motion.h"
#include "methods/quantity_block.h"
#include "methods/task_rows.h"

/* Largest numbers of blocks of a quantity, and of outputs of a computation. */
enum { QUANTITY_BLOCKS = 8, COMPUTATION_OUTPUTS = 7 };

/* Subject of a quantity. */
typedef enum quantity_subject {
    OF_ROBOT,
    OF_SUBTREE, /* the robot, or the subtree of one of its joints */
    OF_FRAMES,  /* a result for each frame of the request */
    OF_TASK     /* one result for the task of all frames */
} quantity_subject;

/* Flags of the inputs that a quantity depends on, in addition to q and its place. */
typedef enum quantity_input {
    USES_V = 1 << 0,
    USES_A = 1 << 1,
    USES_TAU = 1 << 2,
    USES_DQ = 1 << 3,
    USES_DV = 1 << 4,
    USES_DA = 1 << 5,
    USES_DTAU = 1 << 6,
    USES_GRAVITY = 1 << 7,
    USES_FORCES = 1 << 8,   /* external forces */
    USES_PAYLOADS = 1 << 9, /* payloads and all other inertias */
    USES_PASSIVE_FORCES = 1 << 10,
    USES_CONSTRAINTS = 1 << 11,
    USES_BASE = 1 << 12,   /* the motion of the base */
    USES_MOTION = 1 << 13, /* the tolerance and the weights of a motion of a model with constraints */
} quantity_input;

/* Place of a quantity: its frame, subtree or task. Members that its subject does not need are zero, `subtree` is -1. */
typedef struct quantity_place {
    int frame;
    dyn_reference_frame reference_frame;
    int subtree; /* joint at the root of the subtree; -1: the whole robot */
    const task_rows *task;
    double restitution; /* of an impact */
} quantity_place;

/* Block of samples in the model's order, for a library function. */
typedef struct states {
    const dyn_model *model;
    dyn_workspace *workspace;
    size_t first, count;
    const double *q, *v, *a, *tau; /* NULL: zeros */
    const double *gravity;         /* NULL: the model's own */
    const dyn_external_forces *forces;
    const dyn_passive_parts *passive;
    const dyn_given_rows *given; /* rows of the request; NULL: none */
    const dyn_base_motion *base; /* NULL: the base rests */
    double *base_forces;         /* forces that its motion causes, count rows of nv; NULL: the base rests */
    double *added_scratch;       /* added_scratch_size(model, count) numbers, where the state adds forces: those of the
                                  * base, passive forces or losses of gears; NULL: it adds none */
    double *gear_losses; /* scratch memory for losses of gears, count rows of nv and what they need; NULL: they do not
                            count */
    const contact_stepper *contacts; /* NULL: no quantity is of contacts */
    /* Tolerance and weights of motions with constraints, and where their results go, count of them; NULL: nowhere. */
    const dyn_constrained_inverse_options *motion;
    dyn_constrained_inverse_result *agreement;
    const double *dq, *dv, *da, *dtau; /* NULL: zeros */
    quantity_place at;
} states;

/* Function of the library. It may compute several quantities at once. */
typedef struct computation {
    /* Writes count rows of each output that is not NULL, as wide as the quantity is in the library. */
    dyn_status (*run)(const states *s, dyn_error *error, double *const output[COMPUTATION_OUTPUTS]);
    int yields; /* number of outputs that have rows in the table */
    /* Sizes, as quantities, of further outputs that are not for the reply; terminated by UNSPECIFIED. */
    Dynamics__V1__Quantity along[COMPUTATION_OUTPUTS];
    bool needs_all;                           /* the function needs memory for every output: none may be NULL */
    bool is_of_tree;                          /* the result is that of the tree, which constraints do not change */
    bool is_of_constraints;                   /* the model or the request must have constraints */
    bool differentiates_rows;                 /* rows of a request have no derivatives */
    bool is_of_contacts;                      /* the model must have contact surfaces */
    bool has_contact_step;                    /* contacts act in the step of the request */
    bool is_impact;                           /* it has a restitution */
    bool has_goal;                            /* its task has desired accelerations and priorities */
    double linear, quadratic, cubic, quartic; /* ns for one sample, roughly: of nv, nv^2, nv^3, nv^4 */
    double constrained; /* ns for one sample, added for a model with m > 0 rows of constraints: of nv (nv + m + 25)^2 */
} computation;

/* Row of the table of quantities. */
typedef struct quantity_row {
    quantity_subject of;
    const char *expressed_in; /* fixed frame of the values, as text; NULL: the request's reference frame */
    unsigned inputs;          /* flags quantity_input */
    quantity_block blocks[QUANTITY_BLOCKS];
    const computation *by;
    int output; /* index of the output of the computation */
} quantity_row;

/* Adds `sign` times the losses of gears to `forces`, count x nv, where they count: those in the motion a, or, with
 * options of the constraints, those under the forces tau. */
dyn_status quantities_add_gear_losses(const states *s, const dyn_constraint_options *options, double sign,
                                      double *forces, dyn_error *error);

/* Returns the row of a quantity, or NULL for a number that is no quantity. */
const quantity_row *quantity_find(Dynamics__V1__Quantity number);

/* Returns the quantity that is an output of a computation. */
const quantity_row *quantity_of_output(const computation *by, int output);

/* Returns the numbers of scratch memory for derivatives of `count` samples with forces that the state adds. */
size_t added_scratch_size(const dyn_model *model, size_t count);

#endif
