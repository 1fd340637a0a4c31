/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Status codes and error descriptions of libdynamics.
 *
 * Every function that can fail returns a dyn_status and fills in a dyn_error, which the caller owns and may pass as
 * NULL. The library never prints, exits or aborts because of its input.
 */
#ifndef DYNAMICS_STATUS_H
#define DYNAMICS_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Outcome of a call. The numbers are those of gRPC and of the protocol (dynamics/v1/status.proto). Numbers that are not
 * listed are reserved. */
typedef enum dyn_status {
    DYN_OK = 0,
    DYN_CANCELLED = 1,           /* ended by its caller */
    DYN_INVALID_ARGUMENT = 3,    /* a value, a count or a description is wrong */
    DYN_NOT_FOUND = 5,           /* no joint, link, frame or file of that name */
    DYN_RESOURCE_EXHAUSTED = 8,  /* out of memory, or beyond a stated bound */
    DYN_FAILED_PRECONDITION = 9, /* the model cannot serve the call: a singular mass matrix, for one */
} dyn_status;

/* Sizes of the texts in dyn_error, in bytes, with the terminating zero. */
enum { DYN_PLACE_SIZE = 192, DYN_MESSAGE_SIZE = 512 };

/* Causes of errors, for programs. */
typedef enum dyn_cause {
    DYN_CAUSE_OTHER = 0,            /* the status and the message say everything */
    DYN_CAUSE_MISSING,              /* an argument is NULL or empty */
    DYN_CAUSE_NOT_FINITE,           /* a number is infinite or not a number */
    DYN_CAUSE_PRECISION,            /* a number is outside the range of single precision */
    DYN_CAUSE_NOT_UNIT,             /* a quaternion is not of norm one */
    DYN_CAUSE_INERTIA,              /* no rigid body has this inertia */
    DYN_CAUSE_OVERFLOW,             /* a result is outside the range of the precision */
    DYN_CAUSE_FRAME,                /* there is no such frame or link */
    DYN_CAUSE_JOINT,                /* there is no such joint */
    DYN_CAUSE_NAME,                 /* a name is not allowed */
    DYN_CAUSE_SINGULAR_MASS_MATRIX, /* no inertia resists a joint, or a negative one does */
    DYN_CAUSE_SINGULAR_TASK,        /* rows of a task depend on each other */
    DYN_CAUSE_NO_MASS,              /* the links have no mass */
    DYN_CAUSE_MEMORY,               /* out of memory */
    DYN_CAUSE_TOO_MANY,             /* a count or a size is above a bound */
} dyn_cause;

/* Kinds of elements of a robot's description. */
typedef enum dyn_element_kind {
    DYN_ELEMENT_KIND_NONE = 0,
    DYN_ELEMENT_KIND_ROBOT,
    DYN_ELEMENT_KIND_LINK,
    DYN_ELEMENT_KIND_JOINT,
    DYN_ELEMENT_KIND_CONSTRAINT,
    DYN_ELEMENT_KIND_MACHINE_ELEMENT
} dyn_element_kind;

/* Element of a robot's description. */
typedef struct dyn_element {
    dyn_element_kind kind;
    int index; /* number of the link, joint or constraint, in the order in which they were added; -1: none */
    int line;  /* line of the element in a file; 0: none */
    int row;   /* row of the table, or joint of the chain, from 1 on, that the element is made of; 0: none */
} dyn_element;

/* Values that an error is about. `argument` is the name of a parameter, static text, or NULL. With `has_item` the
 * argument is a list, the error is about its element `item`, and `part` (static text) is a member of that element. With
 * `has_index`, `index` counts the numbers of the argument or its part as they are passed, of which each sample has
 * `width` (0: the numbers apply to all samples); with `has_sample`, `sample` counts the samples of the call, and with
 * `has_joint`, `joint` the joints of the model. `element` is set for errors about a description. */
typedef struct dyn_error_site {
    dyn_cause cause;
    const char *argument, *part;
    bool has_item, has_index, has_sample, has_joint;
    size_t item, index, width, sample;
    int joint;
    dyn_element element;
} dyn_error_site;

/* Description of an error. `place` names the argument or the element, such as "q[13]", "link wrist" or "urdf:42";
 * `message` is a sentence with the offending value. Both are printable (text.h); a name too long is cut. The message
 * contains neither samples nor indices: these are in `site`, so that callers who split their work can renumber them. */
typedef struct dyn_error {
    dyn_status status;
    dyn_error_site site;
    char place[DYN_PLACE_SIZE];
    char message[DYN_MESSAGE_SIZE];
} dyn_error;

/* Returns the status in words, such as "invalid argument"; never NULL. Thread-safe. */
DYN_API const char *dyn_status_name(dyn_status status);

#ifdef __cplusplus
}
#endif

#endif
