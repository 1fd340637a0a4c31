/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of signals: each row of every sample is checked once.
 */
#include <math.h>

#include "../dynamics/arguments.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "simulator.h"
#include "signal_check.h"

/* Returns the joint that a column of q or v belongs to. */
static int owner(const dyn_model *model, bool of_q, size_t column) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        size_t first = (size_t)(of_q ? joint->q_index : joint->v_index), count = (size_t)(of_q ? joint->nq : joint->nv);
        if (column >= first && column < first + count) {
            return j;
        }
    }
    return 0;
}

static dyn_status check_row(const dyn_model *model, const signal_shape *shape, const dyn_signal *signal, size_t s,
                            size_t k, dyn_error *error) {
    size_t at = s * signal->sample_stride + k * signal->step_stride, width = shape->width;
    for (size_t i = 0; i < width; i++) {
        double x = signal->rows[at + i];
        if (!isfinite(x)) {
            const dyn_error_site site = {.cause = DYN_CAUSE_NOT_FINITE,
                                         .argument = shape->name,
                                         .has_index = true,
                                         .index = at + i,
                                         .width = signal->sample_stride,
                                         .has_sample = signal->sample_stride != 0,
                                         .sample = s,
                                         .has_joint = true,
                                         .joint = owner(model, shape->of_q, i)};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "joint %s: the value of step %zu is %g; pass a finite number",
                                model->joints[site.joint].name, k, x);
        }
    }
    return DYN_OK;
}

dyn_status signal_check(const dyn_simulator *simulator, const signal_shape *shape, size_t n, size_t steps,
                        const dyn_signal *signal, dyn_error *error) {
    size_t samples = signal->sample_stride ? n : 1, rows = signal->step_stride ? steps : 1;
    dyn_status status = DYN_OK;
    for (size_t s = 0; signal->rows && status == DYN_OK && s < samples; s++) {
        for (size_t k = 0; status == DYN_OK && k < rows; k++) {
            const double *row = signal->rows + s * signal->sample_stride + k * signal->step_stride;
            if (!simulator->workspace->kernels->wide->all_finite(row, shape->width)) {
                status = check_row(simulator->model, shape, signal, s, k, error);
            }
        }
    }
    return status;
}

/* Checks the norm of a quaternion of the reference. */
static dyn_status check_quaternion(const dyn_model *model, int joint, size_t at, const double *x, dyn_error *error) {
    static const double tolerance = 1e-3;
    double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    if (fabs(norm - 1) <= tolerance) {
        return DYN_OK;
    }
    const dyn_error_site site = {.cause = DYN_CAUSE_NOT_UNIT,
                                 .argument = "q_ref",
                                 .has_index = true,
                                 .index = at,
                                 .has_joint = true,
                                 .joint = joint};
    return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                        "joint %s: the quaternion (x y z w) that begins here has norm %g; make it 1",
                        model->joints[joint].name, norm);
}

dyn_status signal_check_quaternions(const dyn_model *model, size_t n, size_t steps, const dyn_signal *q_ref,
                                    dyn_error *error) {
    size_t samples = q_ref->sample_stride ? n : 1, rows = q_ref->step_stride ? steps : 1;
    dyn_status status = DYN_OK;
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        int quaternion = dyn_joint_type_traits(joint->type)->quaternion;
        for (size_t i = 0; quaternion >= 0 && status == DYN_OK && i < samples * rows; i++) {
            size_t row = i / rows * q_ref->sample_stride + i % rows * q_ref->step_stride;
            size_t at = row + (size_t)(joint->q_index + quaternion);
            status = check_quaternion(model, j, at, q_ref->rows + at, error);
        }
    }
    return status;
}

/* Checks the rows of one force. Errors use the names of the wire protocol. */
static dyn_status check_wrenches(size_t j, size_t n, size_t steps, const dyn_signal *wrench, dyn_error *error) {
    size_t samples = wrench->sample_stride ? n : 1, rows = wrench->step_stride ? steps : 1;
    for (size_t i = 0; i < samples * rows * 6; i++) {
        size_t row = i / 6;
        double x = wrench->rows[row / rows * wrench->sample_stride + row % rows * wrench->step_stride + i % 6];
        if (!isfinite(x)) {
            const dyn_error_site site = {.cause = DYN_CAUSE_NOT_FINITE,
                                         .argument = "external_forces",
                                         .has_item = true,
                                         .item = j,
                                         .part = i % 6 < 3 ? "torque" : "force",
                                         .has_index = true,
                                         .index = row * 3 + i % 3};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "the value is %g; pass a finite number", x);
        }
    }
    return DYN_OK;
}

dyn_status signal_check_forces(const dyn_simulator *simulator, size_t n, size_t steps, const dyn_signal_force *forces,
                               size_t count, dyn_error *error) {
    if (count > simulator->workspace->wrench_capacity) {
        return dyn_error_because(error, DYN_RESOURCE_EXHAUSTED, DYN_CAUSE_TOO_MANY, "external_forces",
                                 "%zu external forces; this model takes up to %zu in one call", count,
                                 simulator->workspace->wrench_capacity);
    }
    dyn_status status = DYN_OK;
    for (size_t j = 0; status == DYN_OK && j < count; j++) {
        status = dyn_check_frame(simulator->model, forces[j].frame, error);
        if (status == DYN_OK && forces[j].wrench.rows) {
            status = check_wrenches(j, n, steps, &forces[j].wrench, error);
        }
    }
    return status;
}
