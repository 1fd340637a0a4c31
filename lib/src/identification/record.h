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
    double *known;      /* n x nv: torques of known loads; NULL: none */
    bool *is_sought;    /* nv: the gain of the coordinate is to be estimated; tau is not multiplied by it */
    bool *is_saturated; /* n x nv: the torque is at the effort limit of its joint, before the filter */
} record;

/* Copies a motion after checking it, filters it, multiplies tau by the gains, and derives v and a if the motion has
 * none. The caller frees the record with record_free, after an error too.
 * Errors: those of dyn_identify about the motion and the cut-off frequencies. */
dyn_status record_create(const dyn_model *model, const dyn_recorded_motion *motion,
                         const dyn_identification_options *options, record *r, dyn_error *error);

void record_free(record *r);

#endif
