/* SPDX-License-Identifier: BSD-2-Clause */
/* External forces and motion of the base of a batch: reads them from the query, and returns those of a block of
 * samples. */
#include <math.h>
#include <stdio.h>

#include "methods/batch.h"
#include "methods/geometry.h"

/* Vectors of three numbers in a field: one for each row, one for all rows, or none. */
typedef struct vectors {
    const char *name; /* of the field */
    size_t count;     /* of numbers */
    const double *values;
} vectors;

/* Checks the number of the vectors: `rows` of them, one, none, or, where steps is not 0, one for each of the `steps` of
 * each row. Checks that all numbers are finite. Returns false when the call has ended. */
static bool check_vectors(batch *b, const char *path, const vectors *part, size_t steps) {
    const size_t rows = b->force_rows, count = part->count;
    bool is_count_right = count == 0 || count == 3 || count == 3 * rows || (steps > 0 && count == 3 * rows * steps);
    if (!is_count_right && steps > 0) {
        call_blame(b->call, "%s.%s", path, part->name);
        call_fail(b->call, REASON_WRONG_COUNT,
                  "%s has %zu values; pass 3 that hold always, %zu (3 for each sample), %zu (3 for each step of each "
                  "sample), or none",
                  part->name, count, 3 * rows, 3 * rows * steps);
    } else if (!is_count_right) {
        call_blame(b->call, "%s.%s", path, part->name);
        call_fail(b->call, REASON_WRONG_COUNT,
                  "%s has %zu values; pass 3 that hold for all samples or rows, %zu (3 for each), or none", part->name,
                  count, 3 * rows);
    }
    for (size_t k = 0; is_count_right && k < count; k++) {
        if (!isfinite(part->values[k])) {
            call_blame(b->call, "%s.%s[%zu]", path, part->name, k);
            call_fail(b->call, REASON_NOT_FINITE, "%s[%zu] is %g; pass a finite number", part->name, k,
                      part->values[k]);
            return false;
        }
    }
    return is_count_right;
}

/* Combines the angular and the linear vectors of `count` rows to rows of six numbers. */
static void join_rows(const vectors *angular, const vectors *linear, size_t count, double *rows) {
    for (size_t s = 0; s < count; s++) {
        for (size_t k = 0; k < 3; k++) {
            rows[6 * s + k] = angular->count ? angular->values[(angular->count > 3 ? 3 * s : 0) + k] : 0;
            rows[6 * s + 3 + k] = linear->count ? linear->values[(linear->count > 3 ? 3 * s : 0) + k] : 0;
        }
    }
}

/* Converts one external force to the library's form. Returns false when the call has ended. */
static bool read_force(batch *b, const char *path, const Dynamics__V1__ExternalForce *force,
                       dyn_external_force *result) {
    const vectors linear = {"force", force->n_force, force->force};
    const vectors angular = {"torque", force->n_torque, force->torque};
    if (!check_vectors(b, path, &linear, 0) || !check_vectors(b, path, &angular, 0)) {
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
    join_rows(&angular, &linear, count, wrench);
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

/* Part of the motion of a base, and the first of its three columns in a row of 12. */
typedef struct base_part {
    vectors vectors;
    size_t column;
} base_part;

/* Returns the number of steps for which the motion of the base may have rows of its own; 1: it has none. */
static size_t base_steps(const batch *b) {
    return b->base_steps > 0 ? b->base_steps : 1;
}

/* Fills three columns of rows of 12: `samples` rows, or one, each repeated for all steps that have rows. A part that
 * the request does not state stays zero. */
static void fill_part(const base_part *part, size_t samples, size_t steps, size_t rows, double *motion) {
    const size_t count = part->vectors.count;
    for (size_t s = 0; count > 0 && s < rows; s++) {
        size_t row = count == 3 ? 0 : count == 3 * samples * steps ? s : s / (rows / samples);
        for (size_t k = 0; k < 3; k++) {
            motion[12 * s + part->column + k] = part->vectors.values[3 * row + k];
        }
    }
}

bool batch_read_base(batch *b) {
    static const char path[] = "query.base_motion";
    const Dynamics__V1__BaseMotion *base = b->query->base_motion;
    if (!base) {
        return true;
    }
    const base_part parts[] = {
        {{"linear_velocity", base->n_linear_velocity, base->linear_velocity}, 3},
        {{"angular_velocity", base->n_angular_velocity, base->angular_velocity}, 0},
        {{"linear_acceleration", base->n_linear_acceleration, base->linear_acceleration}, 9},
        {{"angular_acceleration", base->n_angular_acceleration, base->angular_acceleration}, 6},
    };
    const size_t samples = b->force_rows, steps = base_steps(b), count = sizeof parts / sizeof *parts;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        if (!check_vectors(b, path, &parts[i].vectors, b->base_steps)) {
            return false;
        }
        most = parts[i].vectors.count > most ? parts[i].vectors.count : most;
    }
    const size_t rows = most <= 3 ? 1 : most / 3;
    double *motion = call_allocate(b->call, 12 * rows, sizeof *motion);
    if (!motion) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        fill_part(&parts[i], samples, steps, rows, motion);
    }
    b->base_step_stride = rows == samples * steps && steps > 1 ? 12 : 0;
    b->base = (dyn_base_motion){motion, motion + 6, rows == 1 ? 0 : b->base_step_stride ? 12 * steps : 12};
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
