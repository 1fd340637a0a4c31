/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows A a = c that a query states beside the constraints of its model. */
#include "methods/given_rows.h"

#include <dynamics/constraint.h>
#include <math.h>
#include <string.h>

/* Checks the numbers of a field of the rows. Returns false when the call has ended. */
static bool check_numbers(batch *b, const char *field, size_t count, const double *values, size_t one) {
    if (count != one && count != b->n * one) {
        batch_blame(b, "query.rows.%s", field);
        call_fail(b->call, REASON_WRONG_COUNT, "%s has %zu values; pass %zu for all samples, or %zu for each", field,
                  count, one, one);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            batch_blame(b, "query.rows.%s[%zu]", field, i);
            call_fail(b->call, REASON_NOT_FINITE, "%s[%zu] is %g; pass a finite number", field, i, values[i]);
            return false;
        }
    }
    return true;
}

bool given_rows_read(batch *b) {
    const Dynamics__V1__GivenRows *r = b->query->rows;
    if (!r) {
        return true;
    }
    int most = DYN_MAX_CONSTRAINT_ROWS - dyn_model_constraint_rows(b->model);
    if (r->count == 0 || r->count > (uint32_t)most) {
        batch_blame(b, "query.rows.count");
        call_fail(b->call, REASON_WRONG_COUNT, "there are %u rows; pass 1 to %d", r->count, most);
        return false;
    }
    size_t k = r->count, repeats = r->n_matrix > k * b->nv ? b->n : 1;
    if (!check_numbers(b, "matrix", r->n_matrix, r->matrix, k * b->nv) ||
        (r->n_acceleration > 0 && !check_numbers(b, "acceleration", r->n_acceleration, r->acceleration, k))) {
        return false;
    }
    if (r->n_acceleration > 0 && r->n_acceleration != repeats * k) {
        batch_blame(b, "query.rows.acceleration");
        call_fail(b->call, REASON_WRONG_COUNT, "acceleration has %zu values; pass %zu, as many repeats as matrix has",
                  r->n_acceleration, repeats * k);
        return false;
    }
    double *A = call_allocate(b->call, r->n_matrix, sizeof *A);
    if (A && b->order.is_identity) {
        memcpy(A, r->matrix, r->n_matrix * sizeof *A);
    } else if (A) {
        joint_order_to_model(b->order.v, b->nv, repeats * k, r->matrix, A);
    }
    b->given = (dyn_given_rows){(int)k, repeats > 1, A, r->n_acceleration > 0 ? r->acceleration : NULL};
    return A != NULL;
}

const dyn_given_rows *given_rows_from(const batch *b, size_t first, dyn_given_rows *rows) {
    *rows = b->given;
    size_t skipped = rows->is_per_sample ? first * (size_t)rows->count : 0;
    if (rows->count == 0) {
        return NULL;
    }
    rows->A += skipped * b->nv;
    rows->acceleration = rows->acceleration ? rows->acceleration + skipped : NULL;
    return rows;
}

size_t given_rows_total(const batch *b) {
    return (size_t)dyn_model_constraint_rows(b->model) + (size_t)b->given.count;
}
