/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table of the functions of one instance, generated from algorithms.inc.
 */
#include "instance.h"

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Returns the bytes of scratch memory that suffice for every algorithm of the list. */
static size_t memory_size(const dyn_model *model) {
    size_t size = 0;
#define FUNCTION(result, name, parameters)
#define ALGORITHM(result, name, scratch, parameters) size = larger(size, KERNEL(scratch)(model));
#include "algorithms.inc"
#undef ALGORITHM
#undef FUNCTION
    return size;
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
