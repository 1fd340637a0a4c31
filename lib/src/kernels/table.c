/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table of the functions of one instance, generated from algorithms.inc.
 */
#include "stages.h"

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Returns the bytes of scratch memory that suffice for every algorithm of the list, for a model without stages. */
static size_t plain_size(const dyn_model *model) {
    size_t size = 0;
#define FUNCTION(result, name, parameters)
#define ALGORITHM(result, name, scratch, parameters) size = larger(size, KERNEL(scratch)(model));
#include "algorithms.inc"
#undef ALGORITHM
#undef FUNCTION
    return size;
}

static size_t memory_size(const dyn_model *model) {
    return model->stage_count > 0 ? KERNEL(stage_memory)(model, plain_size) : plain_size(model);
}

const kernel_table KERNEL(kernel_table) = {
    DYN_LANES,
    sizeof(real) / DYN_LANES,
    memory_size,
#define FUNCTION(result, name, parameters) KERNEL(name),
#define ALGORITHM(result, name, scratch, parameters) KERNEL(name),
#include "algorithms.inc"
#undef ALGORITHM
#undef FUNCTION
};
