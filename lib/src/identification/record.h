/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recorded motion, checked, filtered and differentiated.
 */
#ifndef DYNAMICS_IDENTIFICATION_RECORD_H
#define DYNAMICS_IDENTIFICATION_RECORD_H

#include <dynamics/identification.h>

/* Motion: n rows, q of nq numbers, v, a and tau of nv. */
typedef struct record {
    size_t n, nq, nv;
    double *q, *v, *a, *tau;
    bool has_rates; /* v and a are of the motion, not derived */
    const dyn_recorded_motion *motion;
    double cutoff, torque_cutoff; /* of the filters, Hz; 0: none */
    double *known;                /* n x nv: torques of known loads; NULL: none */
    bool *is_sought;              /* nv: the gain of the coordinate is to be estimated; tau is not multiplied by it */
    bool *is_saturated; /* n x nv: the torque is at the effort limit of its joint or of its drive, before the filter */
    double *unfiltered; /* n x nv: tau before the filter */
    double *described;  /* n x nv: torques of the model as described, without known loads */
} record;

/* Copies a motion after checking it, filters it, multiplies tau by the gains, and derives v and a if the motion has
 * none. The caller frees the record with record_free, after an error too.
 * Errors: those of dyn_identify about the motion and the cut-off frequencies. */
dyn_status record_create(const dyn_model *model, const dyn_recorded_motion *motion,
                         const dyn_identification_options *options, record *r, dyn_error *error);

/* Marks the torques of joints of one coordinate: of those whose gains are sought from nv gains, or of all others if
 * `gains` is NULL. A torque is saturated if it reaches the effort limit of its joint, or if it has an extreme value of
 * the record that at least four rows share, and more than four times as many as the next value, while the torque of the
 * model as described varies: a drive that cuts off its current. Returns whether a mark has changed. */
bool record_mark_saturation(const dyn_model *model, const double *gains, record *r);

void record_free(record *r);

#endif
