/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory layout of the values of a quantity: sizes, and the conversion from the library's layout to the caller's. */
#include "methods/quantity_layout.h"

#include <string.h>

#include "methods/quantity_axes.h"

size_t quantity_block_size(const batch *b, const quantity_place *at, const quantity_block *block) {
    size_t size = 1;
    for (size_t k = 0; k < QUANTITY_AXES; k++) {
        size *= quantity_axis_size(b, at, block->axes[k]);
    }
    return size;
}

size_t quantity_width(const batch *b, const quantity_place *at, const quantity_row *of) {
    size_t width = 0;
    for (size_t k = 0; k < QUANTITY_BLOCKS && of->blocks[k].name; k++) {
        width += quantity_block_size(b, at, &of->blocks[k]);
    }
    return width;
}

bool quantity_is_direct(const batch *b, const quantity_place *at, const quantity_row *of) {
    bool is_direct = !of->blocks[1].name;
    for (size_t k = 0; is_direct && k < QUANTITY_AXES; k++) {
        is_direct = !quantity_axis_order(b, at, of->blocks[0].axes[k]);
    }
    return is_direct;
}

static size_t ordered(const int *order, size_t i) {
    return order ? (size_t)order[i] : i;
}

/* Layout of one block in the library's row of a sample. Missing axes have one entry. */
typedef struct layout {
    size_t sizes[QUANTITY_AXES];
    const int *orders[QUANTITY_AXES]; /* library's index of each entry; NULL: the orders are equal */
    size_t first, stride; /* offset of the first entry of the first axis, and distance between its entries */
    size_t size;          /* number of values */
    bool is_whole;        /* the values are contiguous and in order */
} layout;

static layout find_layout(const batch *b, const quantity_place *at, const quantity_block *block) {
    layout l = {.size = 1, .is_whole = true};
    for (size_t k = 0; k < QUANTITY_AXES; k++) {
        l.sizes[k] = quantity_axis_size(b, at, block->axes[k]);
        l.orders[k] = quantity_axis_order(b, at, block->axes[k]);
        l.size *= l.sizes[k];
        l.is_whole = l.is_whole && !l.orders[k];
    }
    size_t entry = l.sizes[1] * l.sizes[2];
    l.stride = block->pitch ? block->pitch : entry;
    l.is_whole = l.is_whole && l.stride == entry;
    l.first = block->first * (block->pitch ? 1 : l.stride) + (block->is_second ? l.sizes[0] * l.stride : 0);
    return l;
}

/* Copies one row from the library's order to the caller's. Returns the end of the copy. */
static double *copy_row(const int *order, size_t size, const double *from, double *to) {
    for (size_t i = 0; i < size; i++) {
        *to++ = from[ordered(order, i)];
    }
    return to;
}

/* Copies one block of one sample from the library's order to the caller's. */
static void copy_block(const layout *l, const double *from, double *to) {
    for (size_t i = 0; i < l->sizes[0]; i++) {
        const double *entry = from + ordered(l->orders[0], i) * l->stride;
        if (l->sizes[2] == 1) {
            to = copy_row(l->orders[1], l->sizes[1], entry, to);
            continue;
        }
        for (size_t j = 0; j < l->sizes[1]; j++) {
            to = copy_row(l->orders[2], l->sizes[2], entry + ordered(l->orders[1], j) * l->sizes[2], to);
        }
    }
}

void quantity_copy(const batch *b, const quantity_place *at, const quantity_row *of, size_t first, size_t count,
                   const double *rows, double *const to[QUANTITY_BLOCKS]) {
    size_t width = quantity_width(b, at, of);
    for (size_t k = 0; k < QUANTITY_BLOCKS && of->blocks[k].name; k++) {
        const layout l = find_layout(b, at, &of->blocks[k]);
        const double *from = rows + l.first;
        double *next = to[k] + first * l.size;
        for (size_t i = 0; i < count; i++, from += width, next += l.size) {
            if (l.is_whole) {
                memcpy(next, from, l.size * sizeof *next);
            } else {
                copy_block(&l, from, next);
            }
        }
    }
}
