/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Status codes and error descriptions of libdynamics.
 *
 * Every function that can fail returns a dyn_status and takes a dyn_error that the caller owns and may pass as NULL.
 * The library never prints, exits or aborts on what it is given.
 */
#ifndef DYNAMICS_STATUS_H
#define DYNAMICS_STATUS_H

#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dyn_status {
    DYN_OK = 0,
    DYN_INVALID_ARGUMENT,    /* a value, a count or a description is wrong */
    DYN_NOT_FOUND,           /* no joint, link or frame of that name */
    DYN_FAILED_PRECONDITION, /* the model cannot serve the call: a singular mass matrix, for one */
    DYN_RESOURCE_EXHAUSTED,  /* out of memory, or beyond a stated bound */
    DYN_CANCELLED,           /* ended by its caller */
} dyn_status;

enum { DYN_PLACE_SIZE = 192, DYN_MESSAGE_SIZE = 512 };

/* Description of an error. `place` names the argument or the element, such as "q[13]", "link wrist" or "urdf:42";
 * `message` is a sentence with the offending value. Both are printable (text.h); a name too long is cut. */
typedef struct dyn_error {
    dyn_status status;
    char place[DYN_PLACE_SIZE];
    char message[DYN_MESSAGE_SIZE];
} dyn_error;

/* The status in words, such as "invalid argument"; never NULL. Thread-safe. */
DYN_API const char *dyn_status_name(dyn_status status);

#ifdef __cplusplus
}
#endif

#endif
