/* SPDX-License-Identifier: BSD-2-Clause */
/* Inputs of the equation of motion beside q. */
#include "methods/motion.h"

void motion_take_gravity(motion *m, const Dynamics__V1__Vector3 *gravity) {
    if (gravity) {
        m->gravity_values[0] = gravity->x;
        m->gravity_values[1] = gravity->y;
        m->gravity_values[2] = gravity->z;
    }
    m->gravity = gravity ? m->gravity_values : NULL;
}

const double *motion_rows(const double *values, size_t width, size_t first) {
    return values ? values + first * width : NULL;
}

/* Checks one of the two blocks of a force. */
static bool check_block(batch *b, size_t i, const char *name, size_t count) {
    if (count == 0 || count == 3 || count == 3 * b->n) {
        return true;
    }
    call_blame(b->call, "external_forces[%zu].%s", i, name);
    call_fail(b->call, REASON_WRONG_COUNT,
              "%s has %zu values; give 3 that hold for all samples, %zu (3 for each), or none", name, count, 3 * b->n);
    return false;
}

/* Interleaves force and torque rows to wrenches (n; f). */
static void fill_wrenches(const Dynamics__V1__ExternalForce *force, size_t count, double *wrench) {
    size_t force_stride = force->n_force > 3 ? 3 : 0, torque_stride = force->n_torque > 3 ? 3 : 0;
    for (size_t s = 0; s < count; s++) {
        for (size_t k = 0; k < 3; k++) {
            wrench[6 * s + k] = force->n_torque ? force->torque[s * torque_stride + k] : 0;
            wrench[6 * s + 3 + k] = force->n_force ? force->force[s * force_stride + k] : 0;
        }
    }
}

/* Converts one external force of the wire to the library's. */
static bool take_force(batch *b, size_t i, const Dynamics__V1__ExternalForce *force, dyn_external_force *result) {
    if (!check_block(b, i, "force", force->n_force) || !check_block(b, i, "torque", force->n_torque)) {
        return false;
    }
    call_blame(b->call, "external_forces[%zu].link", i);
    if (!batch_find_frame(b, REASON_LINK_NOT_FOUND, force->link, &result->frame)) {
        return false;
    }
    call_blame(b->call, "external_forces[%zu].frame", i);
    if (!batch_reference_frame(b, force->frame, &result->reference_frame)) {
        return false;
    }
    bool has_rows = force->n_force > 3 || force->n_torque > 3;
    size_t count = has_rows ? b->n : 1;
    double *wrench = call_allocate(b->call, 6 * count, sizeof(double));
    if (!wrench) {
        return false;
    }
    fill_wrenches(force, count, wrench);
    result->wrench = wrench;
    result->stride = has_rows ? 6 : 0;
    return true;
}

bool motion_take_forces(batch *b, motion *m, size_t count, Dynamics__V1__ExternalForce *const *forces) {
    m->force_count = count;
    if (count == 0) {
        return true;
    }
    m->forces = call_allocate(b->call, count, sizeof *m->forces);
    for (size_t i = 0; m->forces && i < count; i++) {
        if (!take_force(b, i, forces[i], &m->forces[i])) {
            return false;
        }
    }
    return m->forces != NULL;
}

size_t motion_forces_size(const motion *m) {
    return m->force_count * sizeof *m->forces;
}

const dyn_external_forces *motion_block_forces(const motion *m, size_t first, void *scratch,
                                               dyn_external_forces *forces) {
    if (m->force_count == 0) {
        return NULL;
    }
    dyn_external_force *block = scratch;
    for (size_t i = 0; i < m->force_count; i++) {
        block[i] = m->forces[i];
        block[i].wrench += first * m->forces[i].stride;
    }
    *forces = (dyn_external_forces){.count = m->force_count, .force = block};
    return forces;
}
