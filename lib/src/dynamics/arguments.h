/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of arguments that the entry points share. Each error names the place and the value.
 */
#ifndef DYNAMICS_DYNAMICS_ARGUMENTS_H
#define DYNAMICS_DYNAMICS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/external_force.h>
#include <dynamics/workspace.h>

#include "workspace.h"

/* Checks that the workspace belongs to this model. */
dyn_status dyn_check_workspace(const dyn_model *model, const dyn_workspace *workspace, dyn_error *error);

/* Checks n x nq coordinates: not NULL, finite in the precision of the workspace, quaternions of norm one within 1e-3.
 */
dyn_status dyn_check_q(const dyn_workspace *workspace, size_t n, const double *q, dyn_error *error);

/* Checks that n x nv numbers called `name` are finite in the precision of the workspace. NULL passes. */
dyn_status dyn_check_v(const dyn_workspace *workspace, const char *name, size_t n, const double *v, dyn_error *error);

/* Checks n x nq coordinates called `name` in double precision: not NULL, finite, quaternions of norm one within
 * 1e-3. */
dyn_status dyn_check_configuration(const dyn_model *model, const char *name, size_t n, const double *q,
                                   dyn_error *error);

/* Checks that n x nv numbers called `name` are not NULL and finite in double precision. */
dyn_status dyn_check_tangent(const dyn_model *model, const char *name, size_t n, const double *v, dyn_error *error);

/* Checks that a gravity override is finite in the precision. NULL passes. */
dyn_status dyn_check_gravity(dyn_precision precision, const double *gravity, dyn_error *error);

/* Checks all of a state: the workspace, gravity, q and v. */
dyn_status dyn_check_state(const dyn_model *model, const dyn_workspace *workspace, size_t n, const double *gravity,
                           const double *q, const double *v, dyn_error *error);

/* Checks external forces: known frames, not more than the workspace holds, finite. NULL passes. */
dyn_status dyn_check_forces(const dyn_workspace *workspace, size_t n, const dyn_external_forces *forces,
                            dyn_error *error);

/* Returns whether all quaternions have norm one within 1e-3; false if one of their numbers is not finite. */
bool dyn_has_unit_quaternions(const dyn_model *model, size_t n, const double *q);

/* Returns whether a call whose only input is q is valid, at the lowest cost: for a single sample, the checks above take
 * about as long as two bodies. False means that those checks must decide. */
static inline bool dyn_is_plain_q(const dyn_model *model, const dyn_workspace *workspace, size_t n, const double *q) {
    return model == workspace->model && workspace->precision == DYN_PRECISION_DOUBLE && q &&
           (model->nq == model->nv || dyn_has_unit_quaternions(model, n, q)) &&
           workspace->kernels->wide->all_finite(q, n * (size_t)model->nq);
}

/* Inputs of inverse or forward dynamics: a state, a or tau, which is called `name`, and forces. */
typedef struct dynamics_inputs {
    const double *gravity, *q, *v;
    const char *name;
    const double *third;
    const dyn_external_forces *forces;
} dynamics_inputs;

/* Checks the workspace and all inputs of a call of n samples. */
dyn_status dyn_check_inputs(const dyn_model *model, const dyn_workspace *workspace, size_t n, const dynamics_inputs *in,
                            dyn_error *error);

/* Returns whether the call is valid apart from numbers of q, v or the third input. */
static inline bool dyn_is_right_call(const dyn_model *model, const dyn_workspace *workspace, size_t n,
                                     const dynamics_inputs *in) {
    dyn_error ignored;
    return (model == workspace->model || model == workspace->loaded) && in->q &&
           (!in->gravity || dyn_check_gravity(workspace->precision, in->gravity, &ignored) == DYN_OK) &&
           (!in->forces || dyn_check_forces(workspace, n, in->forces, &ignored) == DYN_OK);
}

/* Packs the inputs of a block, which the caller has checked. `wrenches` are the packed external forces, or NULL. */
static inline packed_inputs dyn_pack_inputs(const dyn_model *model, const dyn_workspace *workspace,
                                            const dynamics_inputs *in, sample_block block, const wrench_set *wrenches) {
    const size_t nv = (size_t)model->nv;
    return (packed_inputs){
        in->gravity ? in->gravity : model->gravity, dyn_block_pack(workspace, 0, in->q, (size_t)model->nq, block),
        dyn_block_pack(workspace, 1, in->v, nv, block), dyn_block_pack(workspace, 2, in->third, nv, block), wrenches};
}

/* Packs the inputs of a block except for the wrenches, and checks them while they are loaded, so that samples are read
 * once. On an invalid number, the error names the first place of all n samples. Results may by then have overwritten
 * the inputs before the block. */
static inline dyn_status dyn_load_inputs(const dyn_model *model, const dyn_workspace *workspace, size_t n,
                                         const dynamics_inputs *in, sample_block block, packed_inputs *packed,
                                         dyn_error *error) {
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    bool are_valid = true;
    packed->gravity = in->gravity ? in->gravity : model->gravity;
    packed->q = dyn_block_load_checked(workspace, 0, in->q, nq, block, &are_valid);
    packed->v = dyn_block_load_checked(workspace, 1, in->v, nv, block, &are_valid);
    packed->third = dyn_block_load_checked(workspace, 2, in->third, nv, block, &are_valid);
    are_valid = are_valid && (nq == nv || dyn_has_unit_quaternions(model, block.count, in->q + block.first * nq));
    return are_valid ? DYN_OK : dyn_check_inputs(model, workspace, n, in, error);
}

/* Checks that the moving links have a mass, and so a centre of mass. */
dyn_status dyn_check_mass(const dyn_model *model, dyn_error *error);

/* Checks a frame index: the number of a link of the model, or DYN_WORLD_FRAME. */
dyn_status dyn_check_frame(const dyn_model *model, int frame, dyn_error *error);

/* Checks that n x width results called `name` are finite; else the inputs were too large. */
dyn_status dyn_check_result(const dyn_workspace *workspace, const char *name, size_t n, size_t width,
                            const double *result, dyn_error *error);

/* Checks that n x width results called `name` are finite, which were computed in double precision in a workspace of any
 * precision. */
dyn_status dyn_check_double_result(const dyn_workspace *workspace, const char *name, size_t n, size_t width,
                                   const double *result, dyn_error *error);

/* Sets the error for a sample's result that is not finite. */
dyn_status dyn_refuse_result(const dyn_workspace *workspace, const char *name, size_t sample, dyn_error *error);

/* Checks that every pivot of a block of forward dynamics is positive; else M is singular or indefinite. Also refuses a
 * model with a joint that no inertia resists in any configuration, even where rounding makes its pivot positive. */
dyn_status dyn_check_pivots(const dyn_model *model, const dyn_workspace *workspace, sample_block block,
                            dyn_error *error);

#endif
