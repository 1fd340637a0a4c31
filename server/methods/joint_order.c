/* SPDX-License-Identifier: BSD-2-Clause */
/* Order of joints: builds it from names, and converts rows between the caller's order and the model's. */
#include "methods/joint_order.h"

/* Appends the columns of one joint. Returns the new number of columns. */
static int append(int *columns, int count, int first, int width) {
    for (int i = 0; i < width; i++) {
        columns[count++] = first + i;
    }
    return count;
}

/* Fills the columns of q and v joint by joint, and checks that the names are complete. */
static joint_order_status fill(const dyn_model *model, bool *is_named, size_t count, char *const *names, int *q, int *v,
                               size_t *at) {
    int nq = 0, nv = 0;
    for (size_t i = 0; i < count; i++) {
        int j = dyn_model_find_joint(model, names[i]);
        *at = i;
        if (j < 0) {
            return JOINT_ORDER_UNKNOWN;
        }
        if (is_named[j]) {
            return JOINT_ORDER_REPEATED;
        }
        is_named[j] = true;
        const dyn_joint *joint = dyn_model_joint(model, j);
        nq = append(q, nq, joint->q_index, joint->nq);
        nv = append(v, nv, joint->v_index, joint->nv);
    }
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        *at = (size_t)j;
        if (!is_named[j] && dyn_model_joint(model, j)->nq > 0) {
            return JOINT_ORDER_MISSING;
        }
    }
    return JOINT_ORDER_OK;
}

joint_order_status joint_order_build(const dyn_model *model, arena *memory, size_t count, char *const *names,
                                     joint_order *order, size_t *at) {
    *order = (joint_order){.is_identity = true};
    *at = 0;
    if (count == 0) {
        return JOINT_ORDER_OK;
    }
    bool *is_named = arena_array(memory, (size_t)dyn_model_joint_count(model), sizeof *is_named);
    int *q = arena_array(memory, (size_t)dyn_model_nq(model), sizeof *q);
    int *v = arena_array(memory, (size_t)dyn_model_nv(model), sizeof *v);
    if (!is_named || !q || !v) {
        return JOINT_ORDER_NO_MEMORY;
    }
    joint_order_status status = fill(model, is_named, count, names, q, v, at);
    if (status == JOINT_ORDER_OK) {
        order->is_identity = false;
        order->q = q;
        order->v = v;
    }
    return status;
}

void joint_order_to_model(const int *columns, size_t width, size_t rows, const double *caller, double *model) {
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < width; c++) {
            model[r * width + (size_t)columns[c]] = caller[r * width + c];
        }
    }
}

void joint_order_to_caller(const int *columns, size_t width, size_t rows, const double *model, double *caller) {
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < width; c++) {
            caller[r * width + c] = model[r * width + (size_t)columns[c]];
        }
    }
}
