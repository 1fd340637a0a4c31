/* SPDX-License-Identifier: BSD-2-Clause */
#include "complex_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assertions.h"

static const double step = 1e-100;

complex_number *complex_numbers(size_t count) {
    complex_number *x = calloc(count + 1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

double *unset_numbers(size_t count) {
    double *x = numbers(count);
    for (size_t i = 0; i < count; i++) {
        x[i] = NAN;
    }
    return x;
}

/* Adds up to MAX_FORCES wrenches on random links that move, each in a random reference frame. */
static void add_forces(random_source *random, setting *s) {
    for (int j = 0; j < MAX_FORCES; j++) {
        int frame = random_index(random, dyn_model_link_count(s->model));
        if (dyn_model_link(s->model, frame)->moving_joint < 0) {
            continue;
        }
        size_t i = s->forces.count++;
        random_vector(random, 6, 20, s->wrench[i]);
        s->force[i] = (dyn_external_force){frame, (dyn_reference_frame)random_index(random, 3), s->wrench[i], 0};
    }
}

void setting_create(random_source *random, int k, int joints, setting *s) {
    random_tree_options options = {.joints = 1 + k % joints,
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .mimic = DYN_MIMIC_POLICY_COUPLED,
                                   .with_mimic = k % 3 == 0,
                                   .with_custom = k % 5 == 4,
                                   .with_fixed = true};
    *s = (setting){.model = random_tree(random, &options), .forces = {0, s->force}};
    dyn_error error;
    require(dyn_workspace_create(s->model, &s->workspace, &error), &error);
    s->nq = (size_t)dyn_model_nq(s->model), s->nv = (size_t)dyn_model_nv(s->model);
    s->q = numbers(s->nq), s->v = numbers(s->nv), s->a = numbers(s->nv);
    random_configuration(random, s->model, 3, s->q);
    random_vector(random, (int)s->nv, 2, s->v);
    random_vector(random, (int)s->nv, 5, s->a);
    random_vector(random, 3, 10, s->gravity);
    add_forces(random, s);
}

void setting_free(setting *s) {
    free(s->q), free(s->v), free(s->a);
    dyn_workspace_free(s->workspace);
    dyn_model_free(s->model);
}

complex_state complex_create(const setting *s) {
    complex_state c = {.q = complex_numbers(s->nq),
                       .v = complex_numbers(s->nv),
                       .a = complex_numbers(s->nv),
                       .memory = calloc(dyn_kernel_table_complex_step.memory_size(s->model) + 1, 1)};
    ck_assert_ptr_nonnull(c.memory);
    for (size_t j = 0; j < s->forces.count; j++) {
        c.frames[j] = (wrench_frame){s->force[j].frame, s->force[j].reference_frame};
        for (int i = 0; i < 6; i++) {
            c.wrench[j][i] = s->wrench[j][i];
        }
    }
    return c;
}

void complex_free(complex_state *c) {
    free(c->q), free(c->v), free(c->a), free(c->memory);
}

/* Computes the rate of the quaternion x, y, z, w that rotates with w in its own axes: q (w; 0) / 2. */
static void quaternion_rate(const double q[4], const double w[3], double rate[4]) {
    rate[0] = (q[3] * w[0] + q[1] * w[2] - q[2] * w[1]) / 2;
    rate[1] = (q[3] * w[1] + q[2] * w[0] - q[0] * w[2]) / 2;
    rate[2] = (q[3] * w[2] + q[0] * w[1] - q[1] * w[0]) / 2;
    rate[3] = -(q[0] * w[0] + q[1] * w[1] + q[2] * w[2]) / 2;
}

/* Computes dq/dt of a joint with the velocity v. */
static void joint_rate(const dyn_joint *joint, const double *q, const double *v, double *rate) {
    double R[9], c, s;
    switch (joint->type) {
    case DYN_JOINT_TYPE_FLOATING:
        dyn_quaternion_to_rotation(q + 3, R);
        for (int i = 0; i < 3; i++) {
            rate[i] = R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2];
        }
        quaternion_rate(q + 3, v + 3, rate + 3);
        break;
    case DYN_JOINT_TYPE_SPHERICAL:
        quaternion_rate(q, v, rate);
        break;
    case DYN_JOINT_TYPE_PLANAR:
        c = cos(q[2]), s = sin(q[2]);
        rate[0] = c * v[0] - s * v[1], rate[1] = s * v[0] + c * v[1], rate[2] = v[2];
        break;
    default:
        memcpy(rate, v, (size_t)joint->nv * sizeof *rate);
    }
}

static complex_number complex_of(double real, double imaginary) {
    complex_number z = real;
    __imag__ z = imaginary;
    return z;
}

void complex_step(const setting *s, variable along, size_t k, complex_state *c) {
    double *direction = numbers(s->nv), *rate = numbers(s->nq);
    direction[k] = along == ALONG_Q;
    for (int j = 0; j < dyn_model_joint_count(s->model); j++) {
        const dyn_joint *joint = dyn_model_joint(s->model, j);
        if (joint->nq) {
            joint_rate(joint, s->q + joint->q_index, direction + joint->v_index, rate + joint->q_index);
        }
    }
    for (size_t i = 0; i < s->nq; i++) {
        c->q[i] = complex_of(s->q[i], step * rate[i]);
    }
    for (size_t i = 0; i < s->nv; i++) {
        c->v[i] = complex_of(s->v[i], along == ALONG_V && i == k ? step : 0);
        c->a[i] = complex_of(s->a[i], along == ALONG_A && i == k ? step : 0);
    }
    c->forces = (wrench_set){s->forces.count, c->frames, c->wrench};
    free(direction), free(rate);
}

void complex_derivative(const complex_number *results, size_t count, size_t stride, double *out) {
    for (size_t i = 0; i < count; i++) {
        out[i * stride] = __imag__ results[i] / step;
    }
}
