/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Algorithms that `dynamics-compile --shared` has compiled for one robot. Their results equal those of the library to
 * rounding, in a fraction of the time.
 *
 * A shared object may contain dyn_rnea, dyn_bias, dyn_gravity, dyn_crba, dyn_aba, dyn_minverse, dyn_rnea_derivatives
 * and dyn_aba_derivatives; and dyn_frame_pose, dyn_frame_jacobian and dyn_frame_motion of frames at the end of a
 * branch, after which nothing moves, such as hands and feet.
 *
 * Inertias and gravity are constants of the compiled code, and external forces may act on any link. So calls with a
 * payload, with another gravity than the model's, or with external forces run the library's own code, as do calls of
 * all other functions. For another gravity, compile a model that has it (dyn_builder_set_gravity). Simulators can use
 * compiled algorithms for their steps (dyn_simulator_use_compiled).
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

/* Compiled algorithms of one model. They are immutable: any number of threads may read them. */
typedef struct dyn_compiled dyn_compiled;

/* Loads a shared object and checks it. It must be compiled for an equal model and for the instruction set in use. At
 * random states each of its functions must agree with the library's own to 1e-11 of the result's norm (1e-8 where M is
 * solved with), and must return the same bits for a state alone and among others. Loading runs code: `path` must be
 * trusted. The model must outlive the result. Cost: some hundred calls of each function.
 * Errors: DYN_NOT_FOUND for a file that cannot be loaded; DYN_FAILED_PRECONDITION for another model, instruction set or
 * version, or for other results; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_compiled_load(const dyn_model *model, const char *path, dyn_compiled **compiled,
                                     dyn_error *error);

/* Unloads a shared object; NULL is allowed. No workspace may use it any more. */
DYN_API void dyn_compiled_free(dyn_compiled *compiled);

/* Returns the number of compiled functions in an object, without those of frames. */
DYN_API size_t dyn_compiled_count(const dyn_compiled *compiled);

/* Returns the name of function i, such as "rnea", or NULL if i is not less than dyn_compiled_count(compiled). The
 * string is static. */
DYN_API const char *dyn_compiled_name(const dyn_compiled *compiled, size_t i);

/* Makes a workspace of the same model compute with `compiled` from now on; NULL ends that use. `compiled` must outlive
 * the workspace or its use there. Compiled algorithms compute in double precision: a workspace for single precision
 * ignores them.
 * Errors: DYN_INVALID_ARGUMENT for a workspace of another model. */
DYN_API dyn_status dyn_workspace_use_compiled(dyn_workspace *workspace, const dyn_compiled *compiled, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
