/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Description of a serial robot by a table of Denavit-Hartenberg parameters.
 */
#ifndef DYNAMICS_DENAVIT_HARTENBERG_H
#define DYNAMICS_DENAVIT_HARTENBERG_H

#include <stdbool.h>

#include <dynamics/builder.h>
#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Convention for the transform from frame i - 1 to frame i and for the position of frame i on link i. */
typedef enum dyn_dh_convention {
    /* Rz(theta) Tz(d) Tx(a) Rx(alpha), frame at the far end: Denavit and Hartenberg 1955, Paul 1981. */
    DYN_DH_CONVENTION_STANDARD,
    /* Rx(alpha) Tx(a) Rz(theta) Tz(d), on axis i: Craig 1986. Row i holds his alpha(i-1) and a(i-1). */
    DYN_DH_CONVENTION_MODIFIED,
} dyn_dh_convention;

/* Row of a table: joint i and link i. */
typedef struct dyn_dh_row {
    dyn_joint_type type; /* revolute, continuous or prismatic */
    double theta;        /* rad; a revolute or continuous joint adds its variable q to it */
    double d;            /* m; a prismatic joint adds its variable q to it */
    double a;            /* m */
    double alpha;        /* rad */
    dyn_inertia inertia; /* inertia of link i in frame i */
    bool has_limits;
    dyn_joint_limits limits;  /* bounds of q */
    double damping, friction; /* as in builder.h */
} dyn_dh_row;

/* Describes the serial chain of `count` rows in a new builder, which the caller frees. The base is "link0", massless;
 * row i = 1 .. count becomes "joint1" .. and "link1" .., whose frames are the frames of the convention. In the standard
 * convention a joint's axis is in frame i - 1: the joint carries a massless link "jointI:frame", to which
 * "jointI:fixed" attaches linkI.
 * Errors, with place "rows[k].NAME": DYN_INVALID_ARGUMENT for a number that is not finite or another joint type; for
 * the rest as in builder.h. */
DYN_API dyn_status dyn_dh_describe(const char *name, dyn_dh_convention convention, int count, const dyn_dh_row *rows,
                                   dyn_builder **builder, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
