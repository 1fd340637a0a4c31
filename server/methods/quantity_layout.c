/* SPDX-License-Identifier: BSD-2-Clause */
/* How the values of a quantity lie in memory. */
#include "methods/quantity_layout.h"

#include <string.h>

enum { PARAMETERS = 10 };

size_t quantity_axis_size(const batch *b, const quantity_place *at, quantity_axis axis) {
    switch (axis) {
    case AXIS_JOINTS:
    case AXIS_JOINT_SEMIAXES:
        return b->nv;
    case AXIS_BODIES:
        return (size_t)dyn_model_joint_count(b->model);
    case AXIS_PARAMETERS:
        return PARAMETERS;
    case AXIS_XYZ:
    case AXIS_SEMIAXES:
        return 3;
    case AXIS_XYZW:
        return 4;
    case AXIS_TASK:
        return (size_t)dyn_task_row_count(&at->task->task);
    case AXIS_MANIPULABILITY:
        return 2;
    default:
        return 1;
    }
}

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

bool quantity_is_direct(const batch *b, const quantity_row *of) {
    return b->order.is_identity && !of->blocks[1].name;
}

/* The library's index of each entry of an axis; NULL where both count alike. */
static const int *axis_order(const batch *b, quantity_axis axis) {
    return axis == AXIS_JOINTS && !b->order.is_identity ? b->order.v : NULL;
}

static size_t ordered(const int *order, size_t i) {
    return order ? (size_t)order[i] : i;
}

/* Place of one block in the library's row of a sample. Axes that the block has not are one entry wide. */
typedef struct layout {
    size_t sizes[QUANTITY_AXES];
    const int *orders[QUANTITY_AXES]; /* NULL: the library's */
    size_t first, stride;             /* of the entries of the first axis */
    size_t size;                      /* number of values */
    bool is_whole;                    /* the values lie together and in order */
} layout;

static layout find_layout(const batch *b, const quantity_place *at, const quantity_block *block) {
    layout l = {.size = 1, .is_whole = true};
    for (size_t k = 0; k < QUANTITY_AXES; k++) {
        l.sizes[k] = quantity_axis_size(b, at, block->axes[k]);
        l.orders[k] = axis_order(b, block->axes[k]);
        l.size *= l.sizes[k];
        l.is_whole = l.is_whole && !l.orders[k];
    }
    size_t entry = l.sizes[1] * l.sizes[2];
    l.stride = block->pitch ? block->pitch : entry;
    l.is_whole = l.is_whole && l.stride == entry;
    l.first = block->first * (block->pitch ? 1 : l.stride) + (block->is_second ? l.sizes[0] * l.stride : 0);
    return l;
}

/* Copies one row in the order of its axis. */
static double *copy_row(const int *order, size_t size, const double *from, double *to) {
    for (size_t i = 0; i < size; i++) {
        *to++ = from[ordered(order, i)];
    }
    return to;
}

/* Copies one block of one sample. */
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
