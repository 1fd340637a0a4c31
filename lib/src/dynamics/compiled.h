/*
 * Compiled algorithms in place of kernels.
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

struct dyn_compiled {
    void *handle;
    const dyn_model *model;
    compiled_function_entry wide[COMPILED_ALGORITHMS], single[COMPILED_ALGORITHMS]; /* name NULL: not compiled */
};

/* The functions for steps by these kernels, of all lanes or of one; none where one of forward dynamics is missing. */
compiled_step dyn_compiled_step(const dyn_compiled *compiled, const kernel_table *kernels);

/* What a compiled algorithm is to compute, from the caller's rows to the caller's rows, in the order of the kernel's
 * arguments without pivots. */
typedef struct compiled_task {
    compiled_algorithm algorithm;
    const double *in[3];
    double *out[3];
    bool is_refused; /* set by dyn_compiled_compute: sample `done` cannot be computed */
    size_t done;
} compiled_task;

/* The part of dyn_compiled_compute behind its conditions. */
bool dyn_compiled_run(compiled_task *task, const dyn_workspace *workspace, size_t n);

/* Computes n samples, with all checks of inputs and results that the entry points do. Returns false where the workspace
 * has no such algorithm for this model, gravity (NULL: the model's own) and these forces (may be NULL), or where a
 * check found something. */
static inline bool dyn_compiled_compute(compiled_task *task, const dyn_model *model, const dyn_workspace *workspace,
                                        size_t n, const double *gravity, const dyn_external_forces *forces) {
    const dyn_compiled *c = workspace->compiled;
    if (!c || model != workspace->model || !c->single[task->algorithm].name || !task->in[0]) {
        return false;
    }
    if ((forces && forces->count > 0) || (gravity && memcmp(gravity, model->gravity, sizeof model->gravity) != 0)) {
        return false;
    }
    return dyn_compiled_run(task, workspace, n);
}

/* What it found, of inputs that are as they should be: a pivot or a result. DYN_OK where it did not compute. */
dyn_status dyn_compiled_refusal(const compiled_task *task, const dyn_workspace *workspace, dyn_error *error);

#endif
