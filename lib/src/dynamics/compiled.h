/*
 * Compiled algorithms in place of kernels.
 */
#ifndef DYNAMICS_DYNAMICS_COMPILED_H
#define DYNAMICS_DYNAMICS_COMPILED_H

#include <dynamics/compiled.h>

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

/* Computes a block by the compiled algorithm, from packed inputs to packed outputs, in the order of the kernel's
 * arguments; no output overlaps an input. Returns false, and does nothing, where the workspace has none for this model,
 * gravity (NULL: the model's own) and these forces. */
bool dyn_block_compiled(const dyn_workspace *workspace, const dyn_model *model, sample_block block,
                        compiled_algorithm algorithm, const double *gravity, const wrench_set *forces,
                        const void *const *in, void *const *out);

#endif
