/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled algorithms that replace kernels.
 */
#ifndef DYNAMICS_DYNAMICS_COMPILED_H
#define DYNAMICS_DYNAMICS_COMPILED_H

#include <stdbool.h>
#include <string.h>

#include <dynamics/compiled.h>

#include "../kernels/compiled_object.h"
#include "workspace.h"

typedef enum compiled_algorithm {
    COMPILED_RNEA,
    COMPILED_BIAS,
    COMPILED_GRAVITY,
    COMPILED_CRBA,
    COMPILED_ABA,
    COMPILED_RESISTED_ABA,
    COMPILED_MINVERSE,
    COMPILED_RNEA_DERIVATIVES,
    COMPILED_ABA_DERIVATIVES,
    COMPILED_ALGORITHMS,
} compiled_algorithm;

/* Names and shapes of a compiled algorithm. */
typedef struct compiled_description {
    const char *name;   /* in objects, requests and errors */
    const char *result; /* name of the first result in errors */
    bool are_matrices;  /* results are nv x nv; otherwise nv */
    bool has_pivots;    /* the algorithm solves with M */
} compiled_description;

extern const compiled_description dyn_compiled_descriptions[COMPILED_ALGORITHMS];

/* Returns the number of numbers of one sample in a result of the algorithm. */
static inline size_t dyn_compiled_result_width(const dyn_model *model, compiled_algorithm a) {
    return (size_t)model->nv * (size_t)(dyn_compiled_descriptions[a].are_matrices ? model->nv : 1);
}

/* Compiled functions of a body at the end of a branch, in the order of compiled_object.h. */
typedef enum compiled_body_algorithm {
    COMPILED_POSE,
    COMPILED_JACOBIAN,
    COMPILED_MOTION,
    COMPILED_BODY_ALGORITHMS,
} compiled_body_algorithm;

typedef struct compiled_body {
    compiled_packed *wide[COMPILED_BODY_ALGORITHMS], *single[COMPILED_BODY_ALGORITHMS]; /* NULL: not compiled */
} compiled_body;

struct dyn_compiled {
    void *handle;
    const dyn_model *model;
    compiled_function_entry wide[COMPILED_ALGORITHMS], single[COMPILED_ALGORITHMS]; /* name NULL: not compiled */
    compiled_body *bodies;                                                          /* one for each of the model */
};

/* Returns the function over packed arrays for these kernels, of all lanes or of one; NULL where it is not compiled. */
compiled_packed *dyn_compiled_packed(const dyn_compiled *compiled, compiled_algorithm a, const kernel_table *kernels);

/* Returns the compiled function for the body that carries a frame of this model, for these kernels, or NULL. */
compiled_packed *dyn_compiled_of_frame(const dyn_model *model, const dyn_workspace *workspace, int frame,
                                       compiled_body_algorithm a, const kernel_table *kernels);

/* Returns the functions for steps by these kernels, of all lanes or of one; none where one of forward dynamics is
 * missing. */
compiled_step dyn_compiled_step(const dyn_compiled *compiled, const kernel_table *kernels);

/* Most arrays of a compiled algorithm: inputs, and results without pivots. */
enum { COMPILED_INPUTS = 3, COMPILED_RESULTS = 3 };

/* Call of a compiled algorithm, from the caller's rows to the caller's rows, in the order of the kernel's arguments;
 * `out` has room for pivots after the results. */
typedef struct compiled_task {
    compiled_algorithm algorithm;
    const double *in[COMPILED_INPUTS];
    double *out[COMPILED_RESULTS + 1];
    bool is_refused; /* set by dyn_compiled_run: sample `done` cannot be computed */
    size_t done;
} compiled_task;

/* Returns whether the workspace has such an algorithm for this model, gravity (NULL: the model's own) and forces (NULL:
 * none), and q is not NULL. */
static inline bool dyn_compiled_serves(compiled_algorithm algorithm, const dyn_model *model,
                                       const dyn_workspace *workspace, const double *gravity, const double *q,
                                       const dyn_external_forces *forces) {
    const dyn_compiled *c = workspace->compiled;
    return c && model == workspace->model && c->single[algorithm].name && q && !(forces && forces->count > 0) &&
           !(gravity && memcmp(gravity, model->gravity, sizeof model->gravity) != 0);
}

/* Returns the number of results of an algorithm, without pivots. */
static inline size_t dyn_compiled_results(compiled_algorithm algorithm) {
    return algorithm == COMPILED_RNEA_DERIVATIVES || algorithm == COMPILED_ABA_DERIVATIVES ? COMPILED_RESULTS : 1;
}

/* Computes n samples, for dyn_compiled_run. */
bool dyn_compiled_run_samples(compiled_task *task, const dyn_workspace *workspace, size_t n);

/* Computes n samples, with all checks of inputs and results that the entry points do. Returns false where a check
 * fails. */
static inline bool dyn_compiled_run(compiled_task *task, const dyn_workspace *workspace, size_t n) {
    if (n != 1) {
        return dyn_compiled_run_samples(task, workspace, n);
    }
    const compiled_function_entry *single = &workspace->compiled->single[task->algorithm];
    task->out[dyn_compiled_results(task->algorithm)] = workspace->pivots;
    task->is_refused = single->rows(1, task->in, workspace->kernels->one->sines, task->out, workspace->output) < 1;
    return !task->is_refused;
}

/* Computes n samples if the workspace has the algorithm. Returns false where it does not, or where a check fails. */
static inline bool dyn_compiled_compute(compiled_task *task, const dyn_model *model, const dyn_workspace *workspace,
                                        size_t n, const double *gravity, const dyn_external_forces *forces) {
    return dyn_compiled_serves(task->algorithm, model, workspace, gravity, task->in[0], forces) &&
           dyn_compiled_run(task, workspace, n);
}

/* Returns the error of a call with valid inputs: a pivot or a result. DYN_OK if it did not compute. */
dyn_status dyn_compiled_refusal(const compiled_task *task, const dyn_workspace *workspace, dyn_error *error);

#endif
