/*
 * Compiled algorithms in place of kernels.
 */
#ifndef DYNAMICS_DYNAMICS_COMPILED_H
#define DYNAMICS_DYNAMICS_COMPILED_H

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
    COMPILED_MINVERSE,
    COMPILED_RNEA_DERIVATIVES,
    COMPILED_ABA_DERIVATIVES,
    COMPILED_ALGORITHMS,
} compiled_algorithm;

typedef void compiled_call(const void *const *in, compiled_sines *sines, void *const *out);

struct dyn_compiled {
    void *handle;
    const dyn_model *model;
    compiled_call *wide[COMPILED_ALGORITHMS], *single[COMPILED_ALGORITHMS]; /* NULL: not compiled */
};

/* Computes a block by the compiled algorithm, from packed inputs to packed outputs, in the order of the kernel's
 * arguments; no output overlaps an input. Returns false, and does nothing, where the workspace has none for this model,
 * gravity (NULL: the model's own) and these forces (may be NULL). */
static inline bool dyn_block_compiled(const dyn_workspace *workspace, const dyn_model *model, sample_block block,
                                      compiled_algorithm algorithm, const double *gravity, const wrench_set *forces,
                                      const void *const *in, void *const *out) {
    const dyn_compiled *c = workspace->compiled;
    if (!c || model != workspace->model || (forces && forces->count > 0)) {
        return false;
    }
    if (gravity && memcmp(gravity, model->gravity, sizeof model->gravity) != 0) {
        return false;
    }
    compiled_call *call = block.lanes == 1 ? c->single[algorithm] : c->wide[algorithm];
    if (call) {
        call(in, block.kernels->sines, out);
    }
    return call != NULL;
}

#endif
