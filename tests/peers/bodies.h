/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A model as a list of bodies, for libraries that are given one body after the other.
 */
#ifndef DYNAMICS_TESTS_BODIES_H
#define DYNAMICS_TESTS_BODIES_H

#include <stdbool.h>

#include <dynamics/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct body {
    int link;        /* whose frame is the body's */
    int joint;       /* that carries it, or -1 where it is welded to its parent */
    int parent;      /* an earlier body, or -1 for the world */
    dyn_pose origin; /* of the joint, or of the welded body, in the parent's frame */
    dyn_inertia inertia;
} body;

/* The bodies of a model, parents before children: one for each link that moves, or, with `merge_fixed`, one for each
 * moving joint with all that is fixed to it. `bodies` has room for a body a link; returns how many there are. */
int bodies_list(const dyn_model *model, bool merge_fixed, body *bodies);

#ifdef __cplusplus
}
#endif

#endif
