/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Algorithms that were compiled for one robot, by `dynamics-compile --shared`: the same results to rounding, in a part
 * of the time.
 *
 * Compiled are, as far as the object has them: dyn_rnea, dyn_bias, dyn_gravity, dyn_crba, dyn_aba, dyn_minverse,
 * dyn_rnea_derivatives and dyn_aba_derivatives; and dyn_frame_pose, dyn_frame_jacobian and dyn_frame_motion of frames
 * at the end of a branch, behind which nothing moves, such as hands and feet.
 *
 * A payload changes inertias, which are constants of the code, as gravity is; and external forces act on any link. So
 * calls with a payload, with another gravity than the model's, or with external forces are computed as without them,
 * and every other call is, too. A robot for another gravity is a model of its own (dyn_builder_set_gravity), which can
 * be compiled. Simulators take steps with them (dyn_simulator_use_compiled).
 */
#ifndef DYNAMICS_COMPILED_H
#define DYNAMICS_COMPILED_H

#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The compiled algorithms of one model. Immutable, and readable by any number of threads. */
typedef struct dyn_compiled dyn_compiled;

/* Loads a shared object and checks it: it was made for an equal model and for the instruction set in use, and at
 * random states each of its functions agrees with the library's own to 1e-11 of the result's norm (1e-8 where M is
 * solved with), and gives one state alone and among others the same bits. What is loaded is code: `path` must be
 * trusted. The model must outlive the result.
 * Errors: DYN_NOT_FOUND for a file that cannot be loaded; DYN_FAILED_PRECONDITION for another model, instruction set or
 * version, or for other results; DYN_RESOURCE_EXHAUSTED. Cost: some hundred calls of each function. */
DYN_API dyn_status dyn_compiled_load(const char *path, const dyn_model *model, dyn_error *error,
                                     dyn_compiled **compiled);

/* Unloads it; NULL is allowed. No workspace may use it any more. */
DYN_API void dyn_compiled_free(dyn_compiled *compiled);

/* Number of functions that it has but for those of frames, and the name of function i, such as "rnea". */
DYN_API size_t dyn_compiled_count(const dyn_compiled *compiled);
DYN_API const char *dyn_compiled_name(const dyn_compiled *compiled, size_t i);

/* Has a workspace of the same model compute with it from now on; NULL: no longer. It must outlive the workspace, or
 * that use. A compiled model computes in double precision: a workspace for single precision goes on without it.
 * Errors: DYN_INVALID_ARGUMENT for a workspace of another model. */
DYN_API dyn_status dyn_workspace_use_compiled(dyn_workspace *workspace, const dyn_compiled *compiled, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
