/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mimic joints: the joint that each one ultimately follows, and the coupling.
 */
#ifndef DYNAMICS_MODEL_MIMIC_H
#define DYNAMICS_MODEL_MIMIC_H

#include "description.h"

/* Coupling of a mimic joint: q = ratio * q_master + offset. */
typedef struct coupling {
    int master; /* joint of the builder that is its own master, or -1 if the joint follows none */
    double ratio, offset;
} coupling;

/* Finds the coupling of each of the builder's joints and composes chains of mimic joints; couplings has room for all of
 * them. Cost O(joints log joints).
 * Errors: a master that does not exist, a joint without exactly one coordinate, a cycle. */
dyn_status mimic_resolve(const dyn_builder *builder, dyn_mimic_policy policy, dyn_report *report, dyn_error *error,
                         coupling *couplings);

#endif
