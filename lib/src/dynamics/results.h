/*
 * Several results of one call: where a block of each is computed, its way to the caller, and the check at the end.
 */
#ifndef DYNAMICS_DYNAMICS_RESULTS_H
#define DYNAMICS_DYNAMICS_RESULTS_H

#include "workspace.h"

enum { MAX_RESULTS = 7 };

/* n x width numbers for the caller, called `name` in errors. */
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

/* The way from there to the caller. */
void dyn_results_store(void *const out[MAX_RESULTS], sample_block block, const results *r);

/* All are finite, else the inputs were too large. */
dyn_status dyn_results_check(const dyn_workspace *workspace, size_t n, const results *r, dyn_error *error);

#endif
