/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulation_blocks.h"

#include <string.h>

#include "assertions.h"

const double *find_block(const dyn_formulation_block *blocks, int block_count, const char *name, size_t count) {
    for (int i = 0; i < block_count; i++) {
        size_t numbers_of_block = 1;
        for (int k = 0; k < blocks[i].dimensions; k++) {
            numbers_of_block *= (size_t)blocks[i].extents[k];
        }
        if (strcmp(blocks[i].name, name) == 0) {
            ck_assert_uint_eq(numbers_of_block, count);
            return blocks[i].values;
        }
    }
    ck_abort_msg("no block %s", name);
}

void evaluate_block(const char *formulation, const motion_of_model *x, const char *name, size_t count, double *out) {
    dyn_error error;
    dyn_formulation *f;
    const dyn_formulation_block *blocks;
    int block_count;
    require(dyn_formulation_create(x->model, formulation, &f, &error), &error);
    require(dyn_formulation_coefficients(f, x->gravity, x->q, x->v, x->a, &blocks, &block_count, &error), &error);
    memcpy(out, find_block(blocks, block_count, name, count), count * sizeof *out);
    dyn_formulation_free(f);
}
