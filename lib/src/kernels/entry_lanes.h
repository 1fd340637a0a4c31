/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads and stores of entries of a matrix, for the files of column_sources (CMakeLists.txt).
 *
 * An entry is a number of one sample if lanes hold columns, else the numbers of all samples. A `real` has ENTRIES.
 */
#ifndef DYNAMICS_KERNELS_ENTRY_LANES_H
#define DYNAMICS_KERNELS_ENTRY_LANES_H

#include <string.h>

#include "instance.h"

#if defined DYN_COLUMN_LANES

typedef number entry;
enum { ENTRIES = DYN_LANES };

/* Loads `count` entries into a `real`, and zeros into the other lanes. */
KERNEL_STEP real load_entries(const entry *from, int count) {
    real x = real_set(0);
    memcpy(&x, from, (size_t)count * sizeof *from);
    return x;
}

KERNEL_STEP void store_entries(real x, int count, entry *to) {
    memcpy(to, &x, (size_t)count * sizeof *to);
}

/* Returns x in all lanes. */
static inline real spread_entry(entry x) {
    return real_set((double)x);
}

#else

typedef real entry;
enum { ENTRIES = 1 };

KERNEL_STEP real load_entries(const entry *from, int count) {
    (void)count;
    return *from;
}

KERNEL_STEP void store_entries(real x, int count, entry *to) {
    (void)count;
    *to = x;
}

static inline real spread_entry(entry x) {
    return x;
}

#endif

/* Loads `count` columns of motions, of which each component has `each` entries (motion_columns.h). */
KERNEL_STEP motion load_columns(const entry *A, size_t each, int count) {
    return motion_set(
        vec3_set(load_entries(A, count), load_entries(A + each, count), load_entries(A + 2 * each, count)),
        vec3_set(load_entries(A + 3 * each, count), load_entries(A + 4 * each, count),
                 load_entries(A + 5 * each, count)));
}

#endif
