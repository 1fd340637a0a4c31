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

typedef struct results {
    size_t count;
    result of[MAX_RESULTS];
} results;

/* Returns the number of numbers of all results of a sample. */
size_t dyn_results_width(const results *r);

/* Returns the addresses at which a block of each result is computed. */
void dyn_results_find(const dyn_workspace *workspace, const results *r, sample_block block, void *out[MAX_RESULTS]);

/* Stores a block of each result in the caller's rows. Checks the numbers while they are in the cache: all must be
 * finite, else the inputs were too large. */
dyn_status dyn_results_store(const dyn_workspace *workspace, void *const out[MAX_RESULTS], sample_block block,
                             const results *r, dyn_error *error);

/* Stores the result of a call with one result. */
dyn_status dyn_result_store(const dyn_workspace *workspace, const void *out, sample_block block, result r,
                            dyn_error *error);

#endif
