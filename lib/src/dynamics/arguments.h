/*
 * Checks of the arguments that the entry points share. Each names the place and the value.
 */
#ifndef DYNAMICS_DYNAMICS_ARGUMENTS_H
#define DYNAMICS_DYNAMICS_ARGUMENTS_H

#include <stddef.h>

#include <dynamics/external_force.h>
#include <dynamics/workspace.h>

#include "workspace.h"

/* The workspace is this model's. */
dyn_status dyn_check_workspace(const dyn_model *model, const dyn_workspace *workspace, dyn_error *error);

/* n x nq coordinates: there, finite in the precision of the workspace, and quaternions of norm one within 1e-3. */
dyn_status dyn_check_q(const dyn_workspace *workspace, size_t n, const double *q, dyn_error *error);

/* n x nv numbers called `name`: finite, likewise. NULL passes. */
dyn_status dyn_check_v(const dyn_workspace *workspace, const char *name, size_t n, const double *v, dyn_error *error);

/* The same where there is no workspace: n x nq coordinates, or n x nv numbers, called `name`; neither may be NULL. */
dyn_status dyn_check_configuration(const dyn_model *model, const char *name, size_t n, const double *q,
                                   dyn_error *error);
dyn_status dyn_check_tangent(const dyn_model *model, const char *name, size_t n, const double *v, dyn_error *error);

/* A gravity override: finite, in the precision. NULL passes. */
dyn_status dyn_check_gravity(dyn_precision precision, const double *gravity, dyn_error *error);

/* All of a state: the workspace, gravity, q and v. */
dyn_status dyn_check_state(const dyn_model *model, const dyn_workspace *workspace, size_t n, const double *gravity,
                           const double *q, const double *v, dyn_error *error);

/* External forces: known frames, not more than the workspace holds, finite. NULL passes. */
dyn_status dyn_check_forces(const dyn_workspace *workspace, size_t n, const dyn_external_forces *forces,
                            dyn_error *error);

/* Whether inputs are as they should be of a call without gravity and forces, in double precision, for a robot without
 * quaternions, told by as little as it takes: for a sample by itself, the checks above take about as long as two
 * bodies. NULL passes but for q. */
static inline bool dyn_is_plain(const dyn_model *model, const dyn_workspace *workspace, size_t n, const double *q,
                                const double *v, const double *third) {
    int (*all_finite)(const double *x, size_t count) = workspace->kernels->wide->all_finite;
    size_t width = (size_t)model->nv;
    return model == workspace->model && workspace->precision == DYN_DOUBLE_PRECISION && model->nq == model->nv && q &&
           all_finite(q, n * width) && (!v || all_finite(v, n * width)) && (!third || all_finite(third, n * width));
}

/* All of inverse or forward dynamics: a state, a or tau, which is called `name`, and forces. */
dyn_status dyn_check_dynamics(const dyn_model *model, const dyn_workspace *workspace, size_t n, const double *gravity,
                              const double *q, const double *v, const char *name, const double *third,
                              const dyn_external_forces *forces, dyn_error *error);

/* The inputs of inverse or forward dynamics; as above. */
typedef struct dynamics_inputs {
    const double *gravity, *q, *v;
    const char *name;
    const double *third;
    const dyn_external_forces *forces;
} dynamics_inputs;

/* Samples are checked slice after slice, each before it is computed, so that they stay in the cache until then. This is
 * the end of the slice that starts at sample `first` of n, between blocks of lanes. */
static inline size_t dyn_slice_end(const dyn_workspace *workspace, size_t n, size_t first) {
    enum { SLICE_NUMBERS = 2048 };
    size_t lanes = (size_t)workspace->kernels->wide->lanes, left = n - first;
    if (left <= lanes) {
        return n;
    }
    size_t width = (size_t)(workspace->model->nq + 2 * workspace->model->nv) + 1;
    size_t count = (SLICE_NUMBERS / width / lanes + (SLICE_NUMBERS / width < lanes)) * lanes;
    return count < left ? first + count : n;
}

/* The check of samples first .. end - 1 of n. An error names the first place of all samples, of which those before
 * `first` may have been replaced by finite results. */
dyn_status dyn_check_slice(const dyn_model *model, const dyn_workspace *workspace, size_t n, const dynamics_inputs *in,
                           size_t first, size_t end, dyn_error *error);

/* The same where inputs are plain, at once. */
static inline dyn_status dyn_check_next_slice(const dyn_model *model, const dyn_workspace *workspace, size_t n,
                                              const dynamics_inputs *in, size_t first, size_t end, dyn_error *error) {
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    const double *q = in->q ? in->q + first * nq : NULL, *v = in->v ? in->v + first * nv : NULL;
    const double *third = in->third ? in->third + first * nv : NULL;
    if (!in->gravity && !in->forces && dyn_is_plain(model, workspace, end - first, q, v, third)) {
        return DYN_OK;
    }
    return dyn_check_slice(model, workspace, n, in, first, end, error);
}

/* The robot has a centre of mass. */
dyn_status dyn_check_mass(const dyn_model *model, dyn_error *error);

/* A frame index of the model, or DYN_WORLD_FRAME. */
dyn_status dyn_check_frame(const dyn_model *model, int frame, dyn_error *error);

/* n x width results called `name`: finite, else the inputs were too large. */
dyn_status dyn_check_result(const dyn_workspace *workspace, const char *name, size_t n, size_t width,
                            const double *result, dyn_error *error);

/* The same of results that are computed in double precision in any workspace. */
dyn_status dyn_check_double_result(const dyn_workspace *workspace, const char *name, size_t n, size_t width,
                                   const double *result, dyn_error *error);

/* The error of a sample's result that is not. */
dyn_status dyn_refuse_result(const dyn_workspace *workspace, const char *name, size_t sample, dyn_error *error);

/* Every pivot of a block of forward dynamics is positive, else M is singular. */
dyn_status dyn_check_pivots(const dyn_workspace *workspace, sample_block block, dyn_error *error);

#endif
