/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the bodies of a model, for libraries that add one body after the other.
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

/* Lists the bodies of a model, parents before children: one for each moving link, or, with `merge_fixed`, one for each
 * moving joint with all links that are fixed to it. `bodies` has space for one body a link. Returns the number of
 * bodies. */
int bodies_list(const dyn_model *model, bool merge_fixed, body *bodies);

#ifdef __cplusplus
}
#endif

#endif
