/* SPDX-License-Identifier: BSD-2-Clause */
/* External forces and motion of the base of a batch: reads them from the query, and returns those of a block of
 * samples. */
#include <math.h>
#include <stdio.h>

#include "methods/batch.h"
#include "methods/geometry.h"

/* Checks the count and the numbers of one part of a force: its "force" or its "torque". */
static bool check_block(batch *b, const char *path, const char *name, size_t count, const double *values) {
    size_t rows = b->force_rows;
    if (count != 0 && count != 3 && count != 3 * rows) {
        call_blame(b->call, "%s.%s", path, name);
        call_fail(b->call, REASON_WRONG_COUNT,
                  "%s has %zu values; pass 3 that hold for all samples or rows, %zu (3 for each), or none", name, count,
                  3 * rows);
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(values[k])) {
            call_blame(b->call, "%s.%s[%zu]", path, name, k);
            call_fail(b->call, REASON_NOT_FINITE, "%s[%zu] is %g; pass a finite number", name, k, values[k]);
            return false;
        }
    }
    return true;
}

/* Array of vectors: one for each row, one for all rows, or none. */
typedef struct vector_rows {
    size_t count; /* of numbers */
    const double *values;
} vector_rows;

/* Combines the angular and the linear vectors of `count` rows to rows of six numbers. */
static void join_rows(vector_rows angular, vector_rows linear, size_t count, double *rows) {
    for (size_t s = 0; s < count; s++) {
        for (size_t k = 0; k < 3; k++) {
            rows[6 * s + k] = angular.count ? angular.values[(angular.count > 3 ? 3 * s : 0) + k] : 0;
            rows[6 * s + 3 + k] = linear.count ? linear.values[(linear.count > 3 ? 3 * s : 0) + k] : 0;
        }
    }
}

/* Converts one external force to the library's form. Returns false when the call has ended. */
static bool read_force(batch *b, const char *path, const Dynamics__V1__ExternalForce *force,
                       dyn_external_force *result) {
    if (!check_block(b, path, "force", force->n_force, force->force) ||
        !check_block(b, path, "torque", force->n_torque, force->torque)) {
        return false;
    }
    call_blame(b->call, "%s.link", path);
    if (!batch_find_frame(b, REASON_LINK_NOT_FOUND, force->link, &result->frame)) {
        return false;
    }
    call_blame(b->call, "%s.reference_frame", path);
    if (!geometry_read_reference_frame(b->call, "", force->reference_frame, &result->reference_frame)) {
        return false;
    }
    bool has_rows = force->n_force > 3 || force->n_torque > 3;
    size_t count = has_rows ? b->force_rows : 1;
    double *wrench = call_allocate(b->call, 6 * count, sizeof(double));
    if (!wrench) {
        return false;
    }
    join_rows((vector_rows){force->n_torque, force->torque}, (vector_rows){force->n_force, force->force}, count,
              wrench);
    result->wrench = wrench;
    result->stride = has_rows ? 6 : 0;
    return true;
}

bool batch_read_forces(batch *b) {
    const Dynamics__V1__Query *query = b->query;
    size_t most = (size_t)dyn_model_link_count(b->model) + MOST_SPARE_FORCES;
    if (query->n_external_forces > most) {
        call_blame(b->call, "query.external_forces");
        call_fail(b->call, REASON_TOO_MANY_ENTRIES,
                  "there are %zu external forces; at most %zu are allowed for this model: add those on one link to one",
                  query->n_external_forces, most);
        call_set_limit(b->call, BOUND_EXTERNAL_FORCES, most, query->n_external_forces);
        return false;
    }
    /* Has room for one force more than the query has, for batch_add_force. */
    b->forces = call_allocate(b->call, query->n_external_forces + 1, sizeof *b->forces);
    for (size_t i = 0; b->forces && i < query->n_external_forces; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "query.external_forces[%zu]", i);
        if (!read_force(b, path, query->external_forces[i], &b->forces[b->force_count++])) {
            return false;
        }
    }
    return b->forces != NULL;
}

bool batch_add_force(batch *b, const char *path, const Dynamics__V1__ExternalForce *force) {
    return read_force(b, path, force, &b->forces[b->force_count++]);
}

size_t batch_forces_size(const batch *b) {
    return b->force_count * sizeof *b->forces;
}

const dyn_external_forces *batch_forces(const batch *b, size_t first, void *scratch, dyn_external_forces *forces) {
    if (b->force_count == 0) {
        return NULL;
    }
    dyn_external_force *block = scratch;
    for (size_t i = 0; i < b->force_count; i++) {
        block[i] = b->forces[i];
        block[i].wrench += first * b->forces[i].stride;
    }
    *forces = (dyn_external_forces){.count = b->force_count, .force = block};
    return forces;
}

bool batch_read_base(batch *b) {
    static const char path[] = "query.base_motion";
    const Dynamics__V1__BaseMotion *base = b->query->base_motion;
    if (!base) {
        return true;
    }
    const vector_rows w = {base->n_angular_velocity, base->angular_velocity},
                      v = {base->n_linear_velocity, base->linear_velocity},
                      dw = {base->n_angular_acceleration, base->angular_acceleration},
                      dv = {base->n_linear_acceleration, base->linear_acceleration};
    if (!check_block(b, path, "linear_velocity", v.count, v.values) ||
        !check_block(b, path, "angular_velocity", w.count, w.values) ||
        !check_block(b, path, "linear_acceleration", dv.count, dv.values) ||
        !check_block(b, path, "angular_acceleration", dw.count, dw.values)) {
        return false;
    }
    bool has_rows = w.count > 3 || v.count > 3 || dw.count > 3 || dv.count > 3;
    size_t count = has_rows ? b->force_rows : 1;
    double *twist = call_allocate(b->call, 6 * count, sizeof *twist);
    double *acceleration = call_allocate(b->call, 6 * count, sizeof *acceleration);
    if (!twist || !acceleration) {
        return false;
    }
    join_rows(w, v, count, twist);
    join_rows(dw, dv, count, acceleration);
    b->base = (dyn_base_motion){twist, acceleration, has_rows ? 6 : 0};
    return true;
}

const dyn_base_motion *batch_base(const batch *b, size_t first, dyn_base_motion *base) {
    if (!b->base.twist) {
        return NULL;
    }
    size_t skipped = first * b->base.stride;
    *base = (dyn_base_motion){b->base.twist + skipped, b->base.acceleration + skipped, b->base.stride};
    return base;
}
