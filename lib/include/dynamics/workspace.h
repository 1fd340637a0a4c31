/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workspace: the scratch memory in which the algorithms compute, so that they allocate nothing.
 */
#ifndef DYNAMICS_WORKSPACE_H
#define DYNAMICS_WORKSPACE_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/precision.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Scratch memory of one caller for one model. Threads cannot share it: each needs its own. Once it is created, no
 * algorithm allocates. Its size is linear in the number of bodies, except for at most 1 MiB of matrices and for the
 * mass matrix of a model with coupled mimic joints. */
typedef struct dyn_workspace dyn_workspace;

/* Creates a workspace for double precision; the model must outlive it. Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_workspace_create(const dyn_model *model, dyn_workspace **workspace, dyn_error *error);

/* Creates a workspace of one precision: every algorithm that uses the workspace computes in it (precision.h). The model
 * must outlive the workspace.
 * Errors: DYN_RESOURCE_EXHAUSTED; DYN_FAILED_PRECONDITION with the place "model", the joint and the value where a
 * constant of the model is beyond the range of single precision. */
DYN_API dyn_status dyn_workspace_create_in(const dyn_model *model, dyn_precision precision, dyn_workspace **workspace,
                                           dyn_error *error);

/* Returns the precision of a workspace. */
DYN_API dyn_precision dyn_workspace_precision(const dyn_workspace *workspace);

/* Frees a workspace; NULL is allowed. */
DYN_API void dyn_workspace_free(dyn_workspace *workspace);

/* Returns the number of bytes that a workspace occupies. */
DYN_API size_t dyn_workspace_size(const dyn_workspace *workspace);

/* Sets the time in s at which prescribed motions of constraints (constraint.h) are evaluated in the following calls.
 * Default: 0. Errors: DYN_INVALID_ARGUMENT with the place "time" for a time that is not finite. */
DYN_API dyn_status dyn_workspace_set_time(dyn_workspace *workspace, double time, dyn_error *error);

/* Returns the instruction set that the kernels use, such as "scalar"; dyn_lanes returns how many states they compute at
 * once. Thread-safe. */
DYN_API const char *dyn_instruction_set(void);

#ifdef __cplusplus
}
#endif

#endif
