/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assembly of models with constraints (constraint.h): configurations that close the loops, near given ones.
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
    const bool *held;    /* nv: velocities whose coordinates stay as they are; NULL: none */
    double tolerance;    /* largest closure error of a closed loop, m and rad; 0: 1e-10 */
    int iteration_limit; /* 0: 100 */
} dyn_assembly_options;

#define DYN_ASSEMBLY_OPTIONS_INIT(...) DYN_SIZED(dyn_assembly_options, __VA_ARGS__)

/* Result of one sample. */
typedef struct dyn_assembly_result {
    bool is_closed;
    int iterations;
    int constraint; /* constraint with the largest closure error */
    double error;   /* that error, m or rad */
} dyn_assembly_result;

/* Finds configurations near the n guesses q that close the loops, n x nq in `closed`, which may be q. The search is
 * damped Gauss-Newton: each step is the shortest motion that removes the closure errors to first order, at most 0.5 rad
 * or m a coordinate, and is halved until the errors become smaller. Limits of joints are not considered. Where the
 * search ends without closing the loops, because they cannot be closed from the guess or with what is held, is_closed
 * is false and `closed` has the smallest errors that were found. Cost O(m^2 nv + m^3) an iteration. Allocates its
 * scratch memory. Thread-safe as long as each thread has its own workspace.
 * Errors: as dyn_constraint_rows; DYN_INVALID_ARGUMENT for options out of range. */
DYN_API dyn_status dyn_assemble(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                const dyn_assembly_options *options, double *closed, dyn_assembly_result *results,
                                dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
