/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The form of each quantity that Evaluate returns: its blocks, their shape, order and unit. Constant data.
 */
#ifndef SERVER_METHODS_QUANTITIES_H
#define SERVER_METHODS_QUANTITIES_H

#include <stdbool.h>

#include "dynamics/v1/envelope.pb-c.h"

enum { QUANTITY_BLOCKS = 8, QUANTITY_AXES = 3 };

/* Meaning of an axis of a block. */
typedef enum quantity_axis {
    AXIS_NONE,       /* the block has fewer axes */
    AXIS_JOINTS,     /* velocities, in the caller's order */
    AXIS_BODIES,     /* moving joints with what they carry, in the model's order */
    AXIS_PARAMETERS, /* inertial parameters of a body */
    AXIS_XYZ,
    AXIS_XYZW,
    AXIS_TASK,           /* rows of the task */
    AXIS_SEMIAXES,       /* of an ellipsoid in space */
    AXIS_JOINT_SEMIAXES, /* of one in the space of the joints */
    AXIS_MANIPULABILITY, /* its measures */
    AXIS_KINDS           /* how many there are */
} quantity_axis;

/* The name of an axis on the wire. */
extern const char *const quantity_axis_names[AXIS_KINDS];

typedef struct quantity_block {
    const char *name; /* NULL: no block */
    const char *unit;
    quantity_axis axes[QUANTITY_AXES];
    size_t first;   /* where it begins in the library's result, in entries of the first axis; with a pitch, in values */
    size_t pitch;   /* values between entries of the first axis; 0: as many as an entry has */
    bool is_second; /* it begins where as many values as it has end */
} quantity_block;

/* Subject of a quantity. */
typedef enum quantity_subject {
    OF_ROBOT,
    OF_FRAMES, /* a result for each frame of the request */
    OF_TASK    /* one for the task that they are together */
} quantity_subject;

typedef struct quantity_form {
    const char *expressed_in; /* NULL: of frames, in the request's reference frame */
    quantity_subject of;
    quantity_block blocks[QUANTITY_BLOCKS];
} quantity_form;

/* NULL for a number that is no quantity. */
const quantity_form *quantity_find(Dynamics__V1__Quantity quantity);

#endif
