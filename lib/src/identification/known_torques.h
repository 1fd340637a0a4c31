/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Torques of known loads of a record: its external forces and payloads.
 */
#ifndef DYNAMICS_IDENTIFICATION_KNOWN_TORQUES_H
#define DYNAMICS_IDENTIFICATION_KNOWN_TORQUES_H

#include "record.h"

/* Stores the torques that the loads of a motion need beside those of the model, n x nv, in r->known; none: NULL.
 * Errors: DYN_INVALID_ARGUMENT with "load[4]" for a share that is not finite; those of dyn_workspace_load and
 * dyn_rnea. */
dyn_status known_torques(const dyn_model *model, const dyn_recorded_motion *motion, const double *gravity, record *r,
                         dyn_error *error);

#endif
