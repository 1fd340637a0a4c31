/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/tip_constraints.h"

#include <math.h>
#include <stdio.h>

#include "methods/geometry.h"

static bool is_zero(const double direction[6]) {
    for (int i = 0; i < 6; i++) {
        if (direction[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Checks what the library does not: a direction, and a finite acceleration. */
static bool check_row(batch *b, const char *path, const dyn_frame_constraint *row) {
    char member[PATH_SIZE];
    if (is_zero(row->direction)) {
        call_blame(b->call, "%s", path_join(member, path, "linear"));
        call_fail(b->call, REASON_INVALID_VALUE, "linear and angular are zero; pass the direction that is constrained");
        return false;
    }
    if (!isfinite(row->acceleration)) {
        call_blame(b->call, "%s", path_join(member, path, "acceleration"));
        call_fail(b->call, REASON_NOT_FINITE, "the acceleration is %g; pass a finite number", row->acceleration);
        return false;
    }
    return true;
}

static bool read_row(batch *b, const char *path, const Dynamics__V1__TipConstraint *from, dyn_frame_constraint *to) {
    char member[PATH_SIZE];
    call_blame(b->call, "%s", path_join(member, path, "frame"));
    if (!batch_find_frame(b, REASON_FRAME_NOT_FOUND, from->frame, &to->frame)) {
        return false;
    }
    if (!dyn_model_is_tip_frame(b->model, to->frame)) {
        call_fail(b->call, REASON_INVALID_VALUE, "frame \"%s\" is not on the last link; pass one that is", from->frame);
        return false;
    }
    to->acceleration = from->acceleration;
    return geometry_read_reference_frame(b->call, path_join(member, path, "reference_frame"), from->reference_frame,
                                         &to->reference_frame) &&
           geometry_read_vector(b->call, path_join(member, path, "linear"), from->linear, to->direction + 3) &&
           geometry_read_vector(b->call, path_join(member, path, "angular"), from->angular, to->direction) &&
           check_row(b, path, to);
}

bool tip_constraints_read(batch *b, const dyn_frame_constraint **constraints) {
    size_t count = b->query->n_tip_constraints;
    *constraints = NULL;
    if (count == 0) {
        return true;
    }
    if (count > DYN_FORMULATION_MAX_TIP_CONSTRAINTS) {
        call_blame(b->call, "query.tip_constraints");
        call_fail(b->call, REASON_WRONG_COUNT, "there are %zu tip constraints; pass at most %d", count,
                  DYN_FORMULATION_MAX_TIP_CONSTRAINTS);
        return false;
    }
    dyn_frame_constraint *rows = call_allocate(b->call, count, sizeof *rows);
    for (size_t i = 0; rows && i < count; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "query.tip_constraints[%zu]", i);
        if (!read_row(b, path, b->query->tip_constraints[i], &rows[i])) {
            return false;
        }
    }
    *constraints = rows;
    return rows != NULL;
}

dyn_status tip_constraints_apply(const batch *b, const batch_worker *w, const dyn_frame_constraint *constraints,
                                 const double *q, const double *v, dyn_formulation *to, dyn_error *error) {
    dyn_tip_constraint rows[DYN_FORMULATION_MAX_TIP_CONSTRAINTS];
    size_t count = b->query->n_tip_constraints;
    dyn_status status = DYN_OK;
    for (size_t i = 0; i < count && status == DYN_OK; i++) {
        status = dyn_tip_constraint_at(w->model, w->workspace, q, v, &constraints[i], &rows[i], error);
    }
    return status == DYN_OK && count > 0 ? dyn_formulation_constrain_tip(to, (int)count, rows, error) : status;
}
