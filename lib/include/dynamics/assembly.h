/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assembly of models with constraints (constraint.h): configurations that close the loops, from given ones.
 */
#ifndef DYNAMICS_ASSEMBLY_H
#define DYNAMICS_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/constraint.h>
#include <dynamics/export.h>
#include <dynamics/sized.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of assembly; zero selects the defaults. */
typedef struct dyn_assembly_options {
    size_t struct_size;  /* set by DYN_ASSEMBLY_OPTIONS_INIT (sized.h) */
    const bool *held;    /* nv flags: true for velocities whose coordinates must not change; NULL: all may change */
    double tolerance;    /* largest closure error of a closed loop, m and rad; 0: 1e-10 */
    int iteration_limit; /* largest number of steps of all searches together, up to 10000; 0: 500 */
    bool single_search;  /* true: the result is where the search from the guess ends, also with open loops */
} dyn_assembly_options;

#define DYN_ASSEMBLY_OPTIONS_INIT(...) DYN_SIZED(dyn_assembly_options, __VA_ARGS__)

/* Result of the assembly of one sample. */
typedef struct dyn_assembly_result {
    bool is_closed; /* `error` is at most the tolerance */
    int iterations; /* number of steps of all searches */
    int restarts;   /* number of searches after the first one; 0: the result is reached from the guess itself */
    int constraint; /* constraint with the largest closure error */
    double error;   /* closure error of that constraint, m or rad */
} dyn_assembly_result;

/* Finds configurations that close the loops from the n guesses q, and stores them in `closed`, n x nq, which may be q.
 * The search is damped Gauss-Newton: each step is the shortest motion that removes the closure errors to first order,
 * at most 0.5 rad or m a coordinate, and is halved until the errors become smaller. Angular errors are rotation
 * vectors, so that a guess may be turned by any angle. A search ends where a step no longer decreases the errors, as in
 * a local minimum, and after 100 steps. Another search then begins at the guess plus a disturbance, which is the same
 * in each call and grows from one search to the next, up to half a turn of each joint and the largest linear closure
 * error of the guess along each sliding one. Limits of joints are not considered.
 *
 * Where no search closes the loops within the iteration limit, because they cannot be closed at all or with the
 * coordinates that `held` fixes, is_closed is false, and `closed` has the smallest errors that were found. The rows of
 * rolling that restrict velocities alone have no part. `options` NULL: defaults. `results` (n of them) may be NULL.
 * Cost O(m^2 nv + m^3) an iteration, for m = dyn_model_constraint_rows. Allocates its scratch memory. Thread-safe as
 * long as each thread has its own workspace. Errors: those of dyn_constraint_rows; DYN_INVALID_ARGUMENT for options out
 * of range; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_assemble(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                const dyn_assembly_options *options, double *closed, dyn_assembly_result *results,
                                dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
