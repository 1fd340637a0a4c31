/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of the functions that a shared object of dynamics-compile contains, which replace kernels.
 */
#ifndef DYNAMICS_DYNAMICS_COMPILED_H
#define DYNAMICS_DYNAMICS_COMPILED_H

#include <stdbool.h>
#include <string.h>

#include <dynamics/compiled.h>

#include "../kernels/compiled_object.h"
#include "workspace.h"

/* Algorithms that a shared object may contain, other than those of frames. */
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
    const char *name;   /* name of the function in shared objects and in errors */
    const char *result; /* name of the first result in errors */
    bool are_matrices;  /* results are nv x nv; otherwise nv */
    bool has_pivots;    /* the algorithm solves with M */
} compiled_description;

extern const compiled_description dyn_compiled_descriptions[COMPILED_ALGORITHMS];

/* Returns the number of numbers of one sample in a result of the algorithm. */
static inline size_t dyn_compiled_result_width(const dyn_model *model, compiled_algorithm a) {
    return (size_t)model->nv * (size_t)(dyn_compiled_descriptions[a].are_matrices ? model->nv : 1);
}

/* Algorithms for a body at the end of a branch. */
typedef enum compiled_body_algorithm {
    COMPILED_POSE,
    COMPILED_JACOBIAN,
    COMPILED_MOTION,
    COMPILED_BODY_ALGORITHMS,
} compiled_body_algorithm;

/* Compiled functions of one body. */
typedef struct compiled_body {
    compiled_packed *wide[COMPILED_BODY_ALGORITHMS], *single[COMPILED_BODY_ALGORITHMS]; /* NULL: not compiled */
} compiled_body;

/* Loaded shared object. */
struct dyn_compiled {
    void *handle;
    const dyn_model *model;
    compiled_function_entry wide[COMPILED_ALGORITHMS], single[COMPILED_ALGORITHMS]; /* name NULL: not compiled */
    compiled_body *bodies;                                                          /* one for each body of the model */
};

/* Returns the compiled function of an algorithm over packed arrays with as many lanes as the kernels have, all or one;
 * NULL where it is not compiled. */
compiled_packed *dyn_compiled_packed(const dyn_compiled *compiled, compiled_algorithm a, const kernel_table *kernels);

/* Returns the compiled function for the body that carries a frame, with as many lanes as the kernels have; NULL where
 * it is not compiled, where the workspace uses no compiled functions or is one of another model, and for a frame that
 * is fixed to the world. */
compiled_packed *dyn_compiled_of_frame(const dyn_model *model, const dyn_workspace *workspace, int frame,
                                       compiled_body_algorithm a, const kernel_table *kernels);

/* Returns the compiled functions for steps with as many lanes as the kernels have. All are NULL where one of forward
 * dynamics (aba, resisted_aba) is not compiled. */
compiled_step dyn_compiled_step(const dyn_compiled *compiled, const kernel_table *kernels);

/* Largest numbers of inputs and of results of a compiled algorithm. Pivots do not count as a result. */
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

/* Returns whether a compiled function of the workspace can compute a call of the algorithm: one for this model, with
 * the model's own gravity (`gravity` is NULL or equal to it), without external forces (`forces` is NULL or empty), and
 * with a q that is not NULL. */
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

/* Computes n samples as dyn_compiled_run does: by the wide function as far as that pays, and by the single one. */
bool dyn_compiled_run_samples(compiled_task *task, const dyn_workspace *workspace, size_t n);

/* Computes n samples by compiled functions, which check inputs and results as the entry points do. Returns false, and
 * sets is_refused and `done` of the task, where a check fails. */
static inline bool dyn_compiled_run(compiled_task *task, const dyn_workspace *workspace, size_t n) {
    if (n != 1) {
        return dyn_compiled_run_samples(task, workspace, n);
    }
    const compiled_function_entry *single = &workspace->compiled->single[task->algorithm];
    task->out[dyn_compiled_results(task->algorithm)] = workspace->pivots;
    task->is_refused = single->rows(1, task->in, workspace->kernels->one->sines, task->out, workspace->output) < 1;
    return !task->is_refused;
}

/* Computes n samples if dyn_compiled_serves the call. Returns false if it does not, or if a check fails. */
static inline bool dyn_compiled_compute(compiled_task *task, const dyn_model *model, const dyn_workspace *workspace,
                                        size_t n, const double *gravity, const dyn_external_forces *forces) {
    return dyn_compiled_serves(task->algorithm, model, workspace, gravity, task->in[0], forces) &&
           dyn_compiled_run(task, workspace, n);
}

/* Returns the error of a task that dyn_compiled_run refused although its inputs are valid: of a pivot that is not
 * positive, or of a result that is not finite. Returns DYN_OK for a task that was not refused. */
dyn_status dyn_compiled_refusal(const compiled_task *task, const dyn_workspace *workspace, dyn_error *error);

#endif
