/* SPDX-License-Identifier: BSD-2-Clause */
/* External forces of a batch: reads them from the query, and lists them for a block of samples. */
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

/* Combines the rows of force and torque to `count` wrenches of six numbers, torque first. */
static void fill_wrenches(const Dynamics__V1__ExternalForce *force, size_t count, double *wrench) {
    size_t force_stride = force->n_force > 3 ? 3 : 0, torque_stride = force->n_torque > 3 ? 3 : 0;
    for (size_t s = 0; s < count; s++) {
        for (size_t k = 0; k < 3; k++) {
            wrench[6 * s + k] = force->n_torque ? force->torque[s * torque_stride + k] : 0;
            wrench[6 * s + 3 + k] = force->n_force ? force->force[s * force_stride + k] : 0;
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
    fill_wrenches(force, count, wrench);
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
