/* SPDX-License-Identifier: BSD-2-Clause */
#include "base_motion.h"

#include <dynamics/frame_motion.h>
#include <dynamics/kinematics.h>
#include <string.h>

#include "../classical/array_check.h"
#include "../classical/classical.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"

dyn_status dyn_check_base_motion(size_t n, const dyn_base_motion *base, dyn_error *error) {
    if (!base || !base->twist || !base->acceleration) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "base_motion",
                             "the base has no twist or no acceleration; pass six numbers each");
    }
    for (size_t s = 0; s < (base->stride ? n : 1); s++) {
        if (!dyn_are_finite(base->twist + s * base->stride, 6) ||
            !dyn_are_finite(base->acceleration + s * base->stride, 6)) {
            const dyn_error_site site = {
                .cause = DYN_CAUSE_NOT_FINITE, .argument = "base_motion", .has_sample = base->stride != 0, .sample = s};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "a number is not finite; pass finite numbers");
        }
    }
    return DYN_OK;
}

/* Returns the motion of the base in sample s alone. */
static dyn_base_motion motion_of(const dyn_base_motion *base, size_t s) {
    return (dyn_base_motion){base->twist + s * base->stride, base->acceleration + s * base->stride, 0};
}

/* Checks the arguments of the functions that compute forces. */
static dyn_status check_call(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                             const double *v, const dyn_base_motion *base, dyn_error *error) {
    const dynamics_inputs in = {NULL, q, v, "a", NULL, NULL};
    dyn_status status = dyn_check_inputs(model, workspace, n, &in, error);
    if (status == DYN_OK) {
        status = dyn_check_base_motion(n, base, error);
    }
    return status;
}

dyn_status dyn_base_forces(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, const double *v,
                           const dyn_base_motion *base, double *forces, double *wrenches, dyn_error *error) {
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, width = 6 * (size_t)model->joint_count;
    dyn_status status = check_call(model, workspace, n, q, v, base, error);
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        const dyn_base_motion one = motion_of(base, s);
        const formulation_call call = {.model = model, .memory = workspace->memory, .base = &one};
        dyn_classical_instance_classical.base_forces(&call, q + s * nq, v ? v + s * nv : NULL, forces + s * nv,
                                                     wrenches ? wrenches + s * width : NULL);
    }
    if (status == DYN_OK) {
        status = dyn_check_double_result(workspace, "base_forces", n, nv, forces, error);
    }
    return status == DYN_OK && wrenches ? dyn_check_double_result(workspace, "wrenches", n, width, wrenches, error)
                                        : status;
}

dyn_status dyn_base_force_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                      const double *v, const dyn_base_motion *base, double *dq, double *dv,
                                      dyn_error *error) {
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    dyn_status status = check_call(model, workspace, n, q, v, base, error);
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        const dyn_base_motion one = motion_of(base, s);
        const formulation_call call = {.model = model, .memory = workspace->memory, .base = &one};
        dyn_classical_instance_classical.base_force_derivatives(&call, q + s * nq, v ? v + s * nv : NULL,
                                                                dq + s * nv * nv, dv + s * nv * nv);
    }
    if (status == DYN_OK) {
        status = dyn_check_double_result(workspace, "dq", n, nv * nv, dq, error);
    }
    return status == DYN_OK ? dyn_check_double_result(workspace, "dv", n, nv * nv, dv, error) : status;
}

/* Subtracts A B from C, square matrices of nv rows. */
static void subtract_product(size_t nv, const double *A, const double *B, double *C) {
    for (size_t i = 0; i < nv; i++) {
        for (size_t k = 0; k < nv; k++) {
            for (size_t j = 0; j < nv; j++) {
                C[i * nv + j] -= A[i * nv + k] * B[k * nv + j];
            }
        }
    }
}

void dyn_base_acceleration_derivatives(const dyn_model *model, size_t n, const double *da_dtau, const double *df_dq,
                                       const double *df_dv, double *da_dq, double *da_dv) {
    const size_t nv = (size_t)model->nv, size = nv * nv;
    for (size_t s = 0; s < n; s++) {
        subtract_product(nv, da_dtau + s * size, df_dq + s * size, da_dq + s * size);
        subtract_product(nv, da_dtau + s * size, df_dv + s * size, da_dv + s * size);
    }
}

void dyn_base_forces_along(const dyn_model *model, size_t n, const double *df_dq, const double *df_dv, const double *dq,
                           const double *dv, double *df) {
    const size_t nv = (size_t)model->nv;
    for (size_t row = 0; row < n * nv; row++) {
        double sum = 0;
        for (size_t k = 0; k < nv; k++) {
            size_t at = row / nv * nv + k;
            sum += df_dq[row * nv + k] * (dq ? dq[at] : 0) + df_dv[row * nv + k] * (dv ? dv[at] : 0);
        }
        df[row] = sum;
    }
}

/* Adds s a x b to out. */
static void add_cross(double s, const double a[3], const double b[3], double out[3]) {
    const double cross[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    for (int i = 0; i < 3; i++) {
        out[i] += s * cross[i];
    }
}

/* Adds the motion of the base to the twist and the spatial acceleration of a frame, about the origin of the world:
 * V + v and A + a + V x v. */
static void add_base(const dyn_base_motion *base, double v[6], double a[6]) {
    const double *V = base->twist, *A = base->acceleration;
    for (int i = 0; i < 6; i++) {
        a[i] += A[i];
    }
    add_cross(-1, V, V + 3, a + 3);
    add_cross(1, V, v, a);
    add_cross(1, V, v + 3, a + 3);
    add_cross(1, V + 3, v, a + 3);
    for (int i = 0; i < 6; i++) {
        v[i] += V[i];
    }
}

/* Replaces both vectors of a motion by R' x. */
static void turn_back(const double R[9], double x[6]) {
    double from[6];
    memcpy(from, x, sizeof from);
    for (int i = 0; i < 6; i++) {
        const double *y = from + i / 3 * 3;
        x[i] = R[i % 3] * y[0] + R[3 + i % 3] * y[1] + R[6 + i % 3] * y[2];
    }
}

/* Refers a twist and a spatial acceleration about the origin of the world to a frame at this pose. */
static void refer(const double position[3], const double rotation[9], dyn_reference_frame reference_frame, double v[6],
                  double a[6]) {
    if (reference_frame == DYN_REFERENCE_FRAME_WORLD) {
        return;
    }
    add_cross(1, v, position, v + 3);
    add_cross(1, a, position, a + 3);
    if (reference_frame == DYN_REFERENCE_FRAME_LOCAL) {
        turn_back(rotation, v);
        turn_back(rotation, a);
    } else {
        add_cross(1, v, v + 3, a + 3);
    }
}

dyn_status dyn_frame_motion_on_base(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                    const double *v, const double *a, int frame, dyn_reference_frame reference_frame,
                                    const dyn_base_motion *base, double *twist, double *rate, dyn_error *error) {
    dyn_status status = dyn_check_base_motion(n, base, error);
    if (status == DYN_OK) {
        status =
            dyn_frame_motion(model, workspace, n, q, v, a, frame, DYN_REFERENCE_FRAME_WORLD, twist, rate, NULL, error);
    }
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        const dyn_base_motion one = motion_of(base, s);
        double position[3], rotation[9];
        add_base(&one, twist + 6 * s, rate + 6 * s);
        status = dyn_frame_pose(model, workspace, 1, q + s * (size_t)model->nq, frame, position, rotation, error);
        if (status == DYN_OK) {
            refer(position, rotation, reference_frame, twist + 6 * s, rate + 6 * s);
        }
    }
    return status;
}

void dyn_carry_point(size_t n, const dyn_base_motion *base, const double *position, double *velocity,
                     double *acceleration) {
    for (size_t s = 0; s < n; s++) {
        const dyn_base_motion one = motion_of(base, s);
        const double *V = one.twist, *A = one.acceleration, *p = position + 3 * s;
        double turning[3] = {0, 0, 0};
        add_cross(1, V, p, turning);
        for (int i = 0; acceleration && i < 3; i++) {
            acceleration[3 * s + (size_t)i] += A[3 + i];
        }
        if (acceleration) {
            add_cross(1, A, p, acceleration + 3 * s);
            add_cross(1, V, turning, acceleration + 3 * s);
        }
        if (acceleration && velocity) {
            add_cross(2, V, velocity + 3 * s, acceleration + 3 * s);
        }
        for (int i = 0; velocity && i < 3; i++) {
            velocity[3 * s + (size_t)i] += V[3 + i] + turning[i];
        }
    }
}
