/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large results of a call: the memory that a block of each is computed in, the copy to the caller, and the check.
 */
#ifndef DYNAMICS_DYNAMICS_RESULTS_H
#define DYNAMICS_DYNAMICS_RESULTS_H

#include "workspace.h"

enum { MAX_RESULTS = 7 };

/* Result: n x width numbers for the caller, called `name` in errors. NULL rows are not computed. */
typedef struct result {
    const char *name;
    double *rows;
    size_t width;
} result;

/* Results of one call. */
typedef struct results {
    size_t count;
    result of[MAX_RESULTS];
} results;

/* Returns the number of numbers of all results of a sample. */
size_t dyn_results_width(const results *r);

/* Computes the addresses `out` at which the kernels compute a block of each result. */
void dyn_results_find(const dyn_workspace *workspace, const results *r, sample_block block, void *out[MAX_RESULTS]);

/* Stores a block of each result in the caller's rows, except for results whose rows are NULL. Checks the numbers while
 * they are in the cache: where one is not finite the inputs were too large, and the status is DYN_INVALID_ARGUMENT with
 * the first sample. */
dyn_status dyn_results_store(const dyn_workspace *workspace, void *const out[MAX_RESULTS], sample_block block,
                             const results *r, dyn_error *error);

/* Stores a block of the only result of a call, with the check of dyn_results_store. */
dyn_status dyn_result_store(const dyn_workspace *workspace, const void *out, sample_block block, result r,
                            dyn_error *error);

#endif
