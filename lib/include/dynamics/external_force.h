/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrenches that the environment applies to links.
 */
#ifndef DYNAMICS_EXTERNAL_FORCE_H
#define DYNAMICS_EXTERNAL_FORCE_H

#include <stddef.h>

#include <dynamics/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Wrench that the environment applies to a frame of the robot, for each sample. The torque is about the origin of the
 * reference frame. `stride` is the distance in doubles from one sample's six values to the next one's: 6 for n rows, 0
 * for one row that holds for all samples. */
typedef struct dyn_external_force {
    int frame; /* index from dyn_model_find_frame; a force on a frame that is fixed to the world has no effect */
    dyn_reference_frame reference_frame; /* axes and origin that `wrench` is expressed in */
    const double *wrench;                /* (n; f): torque N m, then force N */
    size_t stride;
} dyn_external_force;

/* Several wrenches, which add up. One call accepts at least 64, and one more for each link; beyond that a function
 * returns DYN_RESOURCE_EXHAUSTED with the place "external_forces". */
typedef struct dyn_external_forces {
    size_t count;
    const dyn_external_force *force;
} dyn_external_forces;

#ifdef __cplusplus
}
#endif

#endif
