/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Order of joints of a caller, relative to the model's own. Column c of the caller's q is column q[c] of the model's;
 * column c of v, a, tau and of matrices is column v[c]. A built order is immutable.
 */
#ifndef SERVER_METHODS_JOINT_ORDER_H
#define SERVER_METHODS_JOINT_ORDER_H

#include <dynamics/model.h>
#include <stdbool.h>
#include <stddef.h>

#include "methods/arena.h"

/* Order of a caller: the model's column of each of the caller's columns. */
typedef struct joint_order {
    bool is_identity; /* the model's own order; then q and v are NULL */
    const int *q;     /* nq model columns */
    const int *v;     /* nv model columns */
} joint_order;

/* Result of joint_order_build. */
typedef enum joint_order_status {
    JOINT_ORDER_OK,
    JOINT_ORDER_NO_MEMORY,
    JOINT_ORDER_UNKNOWN,  /* names[at] is no moving joint */
    JOINT_ORDER_REPEATED, /* names[at] came before */
    JOINT_ORDER_MISSING,  /* joint number `at` of the model has coordinates, but no name */
} joint_order_status;

/* Builds the order of `count` names; 0 selects the model's own. A coupled mimic joint, which has no coordinates, may be
 * included or left out. The arrays of the order are in the arena. `at` locates an error. */
joint_order_status joint_order_build(const dyn_model *model, arena *memory, size_t count, char *const *names,
                                     joint_order *order, size_t *at);

/* Copies rows of `width` values from the caller's order to the model's; the arrays must not overlap. `columns` is
 * order->q or order->v. */
void joint_order_to_model(const int *columns, size_t width, size_t rows, const double *caller, double *model);

/* Copies rows of `width` values from the model's order to the caller's; the arrays must not overlap. `columns` is
 * order->q or order->v. */
void joint_order_to_caller(const int *columns, size_t width, size_t rows, const double *model, double *caller);

#endif
