/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/configuration_space.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"
#include "joint_difference.h"
#include "rigid_motion.h"

/* ---- One joint --------------------------------------------------------------------------------------------------- */

static void normalize_quaternion(double q[4]) {
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
        q[i] /= norm;
    }
}

/* Computes the unit quaternion of R exp(w~) for the rotation R of q. */
static void turn(const double q[4], const double w[3], double out[4]) {
    double step[4];
    dyn_quaternion_exp(w, step);
    dyn_quaternion_multiply(q, step, out);
    normalize_quaternion(out);
}

/* Displaces the pose q = (r, R) by (v; w): (r + R V(w) v, R exp(w~)). */
static void displace(const double *q, const double v[3], const double w[3], double *out) {
    double x[3], R[4];
    memcpy(R, q + 3, sizeof R);
    normalize_quaternion(R);
    dyn_left_jacobian_apply(w, v, x);
    dyn_quaternion_rotate(R, x, x);
    for (int i = 0; i < 3; i++) {
        out[i] = q[i] + x[i];
    }
    turn(R, w, out + 3);
}

/* Displaces q = (x, y, angle) by v = (vx, vy, w) in the plane. */
static void displace_in_plane(const double *q, const double *v, double *out) {
    const double w[3] = {0, 0, v[2]}, x[3] = {v[0], v[1], 0};
    double y[3], c = cos(q[2]), s = sin(q[2]);
    dyn_left_jacobian_apply(w, x, y);
    const double moved[3] = {q[0] + c * y[0] - s * y[1], q[1] + s * y[0] + c * y[1], q[2] + v[2]};
    memcpy(out, moved, sizeof moved);
}

/* out = q (+) step_length v for one joint. */
static void joint_integrate(const dyn_joint *joint, const double *q, const double *v, double step_length, double *out) {
    double x[DYN_MAX_JOINT_NV];
    for (int k = 0; k < joint->nv; k++) {
        x[k] = step_length * v[k];
    }
    switch (joint->type) {
    case DYN_JOINT_TYPE_SPHERICAL:
        turn(q, x, out);
        break;
    case DYN_JOINT_TYPE_FLOATING:
        displace(q, x, x + 3, out);
        break;
    case DYN_JOINT_TYPE_PLANAR:
        displace_in_plane(q, x, out);
        break;
    default:
        for (int k = 0; k < joint->nq; k++) {
            out[k] = q[k] + x[k];
        }
    }
}

/* Computes w with exp(w~) = R_0' R_1, |w| <= pi. */
static void turn_between(const double *q_0, const double *q_1, double w[3]) {
    const double back[4] = {-q_0[0], -q_0[1], -q_0[2], q_0[3]};
    double step[4];
    dyn_quaternion_multiply(back, q_1, step);
    dyn_quaternion_log(step, w);
}

void dyn_joint_difference(const dyn_joint *joint, const double *q_0, const double *q_1, double *v) {
    double x[3], w[3] = {0};
    switch (joint->type) {
    case DYN_JOINT_TYPE_SPHERICAL:
        turn_between(q_0, q_1, v);
        break;
    case DYN_JOINT_TYPE_FLOATING:
        turn_between(q_0 + 3, q_1 + 3, w);
        for (int i = 0; i < 3; i++) {
            x[i] = q_1[i] - q_0[i];
        }
        dyn_quaternion_rotate_back(q_0 + 3, x, x);
        dyn_left_jacobian_solve(w, x, v);
        memcpy(v + 3, w, sizeof w);
        break;
    case DYN_JOINT_TYPE_PLANAR: {
        /* The plane's rotation is by its shortest angle, because V has no inverse at full turns. */
        double c = cos(q_0[2]), s = sin(q_0[2]), dx = q_1[0] - q_0[0], dy = q_1[1] - q_0[1];
        w[2] = remainder(q_1[2] - q_0[2], 2 * M_PI);
        x[0] = c * dx + s * dy, x[1] = c * dy - s * dx, x[2] = 0;
        dyn_left_jacobian_solve(w, x, x);
        v[0] = x[0], v[1] = x[1], v[2] = w[2];
        break;
    }
    default:
        for (int k = 0; k < joint->nv; k++) {
            v[k] = q_1[k] - q_0[k];
        }
    }
}

/* ---- All joints -------------------------------------------------------------------------------------------------- */

static void integrate_sample(const dyn_model *model, const double *q, const double *v, double step_length,
                             double *out) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        if (joint->nq > 0) {
            joint_integrate(joint, q + joint->q_index, v + joint->v_index, step_length, out + joint->q_index);
        }
    }
}

static void difference_sample(const dyn_model *model, const double *q_0, const double *q_1, double *v) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        if (joint->nq > 0) {
            dyn_joint_difference(joint, q_0 + joint->q_index, q_1 + joint->q_index, v + joint->v_index);
        }
    }
}

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

static dyn_status check_factor(const char *name, double factor, dyn_error *error) {
    return isfinite(factor)
               ? DYN_OK
               : dyn_error_set(error, DYN_INVALID_ARGUMENT, name, "%s is %g; pass a finite number", name, factor);
}

static dyn_status check_pair(const dyn_model *model, size_t n, const double *q_0, const double *q_1, dyn_error *error) {
    dyn_status status = dyn_check_configuration(model, "q_0", n, q_0, error);
    return status == DYN_OK ? dyn_check_configuration(model, "q_1", n, q_1, error) : status;
}

dyn_status dyn_integrate(const dyn_model *model, size_t n, const double *q, const double *v, double step_length,
                         double *q_next, dyn_error *error) {
    dyn_status status = dyn_check_configuration(model, "q", n, q, error);
    if (status == DYN_OK) {
        status = dyn_check_tangent(model, "v", n, v, error);
    }
    if (status == DYN_OK) {
        status = check_factor("step_length", step_length, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (size_t s = 0; s < n; s++) {
        integrate_sample(model, q + s * nq, v + s * nv, step_length, q_next + s * nq);
    }
    return DYN_OK;
}

dyn_status dyn_difference(const dyn_model *model, size_t n, const double *q_0, const double *q_1, double *v,
                          dyn_error *error) {
    dyn_status status = check_pair(model, n, q_0, q_1, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (size_t s = 0; s < n; s++) {
        difference_sample(model, q_0 + s * nq, q_1 + s * nq, v + s * nv);
    }
    return DYN_OK;
}

dyn_status dyn_interpolate(const dyn_model *model, size_t n, const double *q_0, const double *q_1, double s, double *q,
                           dyn_error *error) {
    dyn_status status = check_pair(model, n, q_0, q_1, error);
    if (status == DYN_OK) {
        status = check_factor("s", s, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq;
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < model->joint_count; j++) {
            const dyn_joint *joint = &model->joints[j];
            size_t at = i * nq + (size_t)joint->q_index;
            double v[DYN_MAX_JOINT_NV];
            if (joint->nq > 0) {
                dyn_joint_difference(joint, q_0 + at, q_1 + at, v);
                joint_integrate(joint, q_0 + at, v, s, q + at);
            }
        }
    }
    return DYN_OK;
}

dyn_status dyn_distance(const dyn_model *model, size_t n, const double *q_0, const double *q_1, double *distance,
                        dyn_error *error) {
    dyn_status status = check_pair(model, n, q_0, q_1, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (int j = 0; j < model->joint_count; j++) {
            const dyn_joint *joint = &model->joints[j];
            size_t at = i * nq + (size_t)joint->q_index;
            double v[DYN_MAX_JOINT_NV];
            dyn_joint_difference(joint, q_0 + at, q_1 + at, v);
            for (int k = 0; k < joint->nv; k++) {
                square += v[k] * v[k];
            }
        }
        distance[i] = sqrt(square);
    }
    return DYN_OK;
}

/* Scales the quaternion at q[i] to norm one with w >= 0. Errors: DYN_INVALID_ARGUMENT for a norm of zero or one that is
 * not finite. */
static dyn_status normalize_at(const dyn_model *model, const dyn_joint *joint, double *q, size_t i, dyn_error *error) {
    double *x = q + i, norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    if (!(norm > 0 && isfinite(norm))) {
        const dyn_error_site site = {.cause = DYN_CAUSE_NOT_UNIT,
                                     .argument = "q",
                                     .has_index = true,
                                     .index = i,
                                     .width = (size_t)model->nq,
                                     .has_sample = true,
                                     .sample = i / (size_t)model->nq,
                                     .has_joint = true,
                                     .joint = (int)(joint - model->joints)};
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                            "joint %s: the quaternion (x y z w) that begins here has norm %g and no direction",
                            joint->name, norm);
    }
    for (int k = 0; k < 4; k++) {
        x[k] /= norm;
    }
    for (int k = 0; x[3] < 0 && k < 3; k++) {
        x[k] = -x[k];
    }
    x[3] = fabs(x[3]);
    return DYN_OK;
}

dyn_status dyn_normalize(const dyn_model *model, size_t n, const double *q, double *out, dyn_error *error) {
    size_t nq = (size_t)model->nq;
    dyn_status status = DYN_OK;
    memmove(out, q, n * nq * sizeof *q);
    for (size_t s = 0; s < n; s++) {
        for (int j = 0; status == DYN_OK && j < model->joint_count; j++) {
            const dyn_joint *joint = &model->joints[j];
            int quaternion = dyn_joint_type_traits(joint->type)->quaternion;
            if (quaternion >= 0) {
                status = normalize_at(model, joint, out, s * nq + (size_t)(joint->q_index + quaternion), error);
            }
        }
    }
    return status == DYN_OK ? dyn_check_configuration(model, "q", n, out, error) : status;
}

/* Returns a number uniform in [0, 1) by SplitMix64 (Steele, Lea and Flood 2014). */
static double random_unit(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Draws a quaternion uniformly over the rotations (Shoemake 1992). */
static void random_quaternion(uint64_t *state, double q[4]) {
    double u = random_unit(state), a = 2 * M_PI * random_unit(state), b = 2 * M_PI * random_unit(state);
    q[0] = sqrt(1 - u) * sin(a), q[1] = sqrt(1 - u) * cos(a);
    q[2] = sqrt(u) * sin(b), q[3] = sqrt(u) * cos(b);
}

/* Computes the range from which coordinate k of a joint is drawn. */
static void random_range(const dyn_joint *joint, int k, double *lower, double *upper) {
    bool angle = dyn_joint_type_traits(joint->type)->q_kinds[k] == DYN_COORDINATE_KIND_ANGLE;
    *upper = angle ? M_PI : 1;
    *lower = -*upper;
    if (joint->has_limits && joint->nq == 1 && joint->limits.lower < joint->limits.upper) {
        *lower = joint->limits.lower, *upper = joint->limits.upper;
    }
}

void dyn_random_configuration(const dyn_model *model, uint64_t *state, double *q) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        int quaternion = dyn_joint_type_traits(joint->type)->quaternion;
        int numbers = quaternion >= 0 ? quaternion : joint->nq;
        for (int k = 0; k < numbers; k++) {
            double lower, upper;
            random_range(joint, k, &lower, &upper);
            q[joint->q_index + k] = lower + (upper - lower) * random_unit(state);
        }
        if (quaternion >= 0) {
            random_quaternion(state, q + joint->q_index + quaternion);
        }
    }
}
