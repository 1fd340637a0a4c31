/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinates.h"

#include <stdlib.h>
#include <string.h>

#include <dynamics/kinematics.h>

bool coordinates_create(coordinates *c, const dyn_model *model, base_convention base, const int *address) {
    int joints = dyn_model_joint_count(model), nv = dyn_model_nv(model);
    *c = (coordinates){.model = model,
                       .base = base,
                       .nv = nv,
                       .is_floating = dyn_model_is_floating(model),
                       .is_same_order = true,
                       .address = calloc((size_t)joints + 1, sizeof *c->address),
                       .vector = calloc((size_t)nv + 1, sizeof *c->vector),
                       .square = calloc((size_t)nv * (size_t)nv + 1, sizeof *c->square)};
    if (!c->address || !c->vector || !c->square) {
        return false;
    }
    for (int j = 0; j < joints; j++) {
        c->address[j] = address[j];
        c->is_same_order = c->is_same_order && address[j] == dyn_model_joint(model, j)->v_index;
    }
    return true;
}

void coordinates_free(coordinates *c) {
    free(c->address), free(c->vector), free(c->square);
}

void coordinates_turn(coordinates *c, const double *q) {
    if (c->is_floating) {
        dyn_quaternion_to_rotation(q + 3, c->rotation);
    }
}

/* Computes out = R x, or R' x where `transposed`. */
static void rotate(const double R[9], bool transposed, const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = transposed ? R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2]
                            : R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
    }
}

static void move(const coordinates *c, bool turned, bool to_body, const double *x, double *out) {
    if (turned) {
        rotate(c->rotation, to_body, x, out);
    } else {
        memcpy(out, x, 3 * sizeof *x);
    }
}

/* Returns the index of the linear part of the base's velocity in the library's velocity. */
static int linear_at(const coordinates *c) {
    return c->address[0] + (c->base.angular_first ? 3 : 0);
}

static int angular_at(const coordinates *c) {
    return c->address[0] + (c->base.angular_first ? 0 : 3);
}

void coordinates_to_peer(const coordinates *c, const double *x, double *out) {
    if (c->is_same_order) {
        memcpy(out, x, (size_t)c->nv * sizeof *x);
    } else {
        for (int j = 0; j < dyn_model_joint_count(c->model); j++) {
            const dyn_joint *joint = dyn_model_joint(c->model, j);
            memcpy(out + c->address[j], x + joint->v_index, (size_t)joint->nv * sizeof *x);
        }
    }
    if (c->is_floating) {
        move(c, c->base.linear_in_world, false, x, out + linear_at(c));
        move(c, c->base.angular_in_world, false, x + 3, out + angular_at(c));
    }
}

void coordinates_from_peer(const coordinates *c, const double *x, double *out) {
    if (c->is_same_order) {
        memcpy(out, x, (size_t)c->nv * sizeof *x);
    } else {
        for (int j = 0; j < dyn_model_joint_count(c->model); j++) {
            const dyn_joint *joint = dyn_model_joint(c->model, j);
            memcpy(out + joint->v_index, x + c->address[j], (size_t)joint->nv * sizeof *x);
        }
    }
    if (c->is_floating) {
        move(c, c->base.linear_in_world, true, x + linear_at(c), out);
        move(c, c->base.angular_in_world, true, x + angular_at(c), out + 3);
    }
}

/* Adds sign w x v to the linear part of the base's acceleration a where the library holds that part in world axes. (v;
 * w) is the base's velocity in this library's coordinates. */
static void shift(const coordinates *c, const double *v, double sign, double *a) {
    if (c->is_floating && c->base.linear_in_world) {
        a[0] += sign * (v[4] * v[2] - v[5] * v[1]);
        a[1] += sign * (v[5] * v[0] - v[3] * v[2]);
        a[2] += sign * (v[3] * v[1] - v[4] * v[0]);
    }
}

void coordinates_acceleration_to_peer(coordinates *c, const double *v, const double *a, double *out) {
    memcpy(c->vector, a, (size_t)c->nv * sizeof *a);
    shift(c, v, 1, c->vector);
    coordinates_to_peer(c, c->vector, out);
}

void coordinates_acceleration_from_peer(coordinates *c, const double *v, const double *a, double *out) {
    coordinates_from_peer(c, a, out);
    shift(c, v, -1, out);
}

void coordinates_rows_from_peer(const coordinates *c, const double *matrix, int rows, double *out) {
    for (size_t i = 0, nv = (size_t)c->nv; i < (size_t)rows; i++) {
        coordinates_from_peer(c, matrix + i * nv, out + i * nv);
    }
}

static void transpose(const double *matrix, size_t n, double *out) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            out[j * n + i] = matrix[i * n + j];
        }
    }
}

void coordinates_square_from_peer(coordinates *c, const double *matrix, double *out) {
    coordinates_rows_from_peer(c, matrix, c->nv, out);
    transpose(out, (size_t)c->nv, c->square);
    coordinates_rows_from_peer(c, c->square, c->nv, out);
}
