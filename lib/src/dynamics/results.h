/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large results of a call, one or several: where a block of each is computed, its way to the caller, and the check.
 */
#ifndef DYNAMICS_DYNAMICS_RESULTS_H
#define DYNAMICS_DYNAMICS_RESULTS_H

#include "workspace.h"

enum { MAX_RESULTS = 7 };

/* n x width numbers for the caller, called `name` in errors; NULL rows are not wanted. */
typedef struct result {
    const char *name;
    double *rows;
    size_t width;
} result;

typedef struct results {
    size_t count;
    result of[MAX_RESULTS];
} results;

/* Numbers of all results of a sample. */
size_t dyn_results_width(const results *r);

/* Where a block of each is computed. */
void dyn_results_find(const dyn_workspace *workspace, const results *r, sample_block block, void *out[MAX_RESULTS]);

/* The way from there to the caller, where they are checked while they are still in the cache: all are finite, else the
 * inputs were too large. */
dyn_status dyn_results_store(const dyn_workspace *workspace, void *const out[MAX_RESULTS], sample_block block,
                             const results *r, dyn_error *error);

/* Stores the result of a call with one result. */
dyn_status dyn_result_store(const dyn_workspace *workspace, const void *out, sample_block block, result r,
                            dyn_error *error);

#endif
