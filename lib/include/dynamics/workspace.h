/*
 * Scratch memory for the algorithms.
 */
#ifndef DYNAMICS_WORKSPACE_H
#define DYNAMICS_WORKSPACE_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One caller's scratch memory for one model. It is not shared: two threads need two. Once it is created, no algorithm
 * allocates. Its size is linear in the number of bodies, but for at most 1 MiB of matrices, and for the mass matrix of
 * a model with coupled mimic joints. */
typedef struct dyn_workspace dyn_workspace;

/* Creates a workspace; the model must outlive it. Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_workspace_create(const dyn_model *model, dyn_error *error, dyn_workspace **workspace);

/* Frees a workspace; NULL is allowed. */
DYN_API void dyn_workspace_free(dyn_workspace *workspace);

/* Bytes that it holds. */
DYN_API size_t dyn_workspace_size(const dyn_workspace *workspace);

/* Instruction set that the kernels were chosen for, such as "scalar", and the number of states they compute at once.
 * Thread-safe. */
DYN_API const char *dyn_instruction_set(void);
DYN_API int dyn_lanes(void);

#ifdef __cplusplus
}
#endif

#endif
