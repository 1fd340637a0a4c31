/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivatives of passive forces. The laws of joints, shafts and springs are differentiated on paper. The friction
 * -(f_c + f_e / (1 + (v / v_s)^2)) s(v) with s = v / sqrt(v^2 + w^2) has the slope
 *
 *     2 f_e v / v_s^2 / (1 + (v / v_s)^2)^2 s(v) - (f_c + f_e / (1 + (v / v_s)^2)) w^2 / (v^2 + w^2)^(3/2)
 *
 * Elements that act on links are smooth functions of the poses of two links, and have differences of order six along q.
 * They are linear or piecewise quadratic in v, so that a central difference along v is exact beside the kinks.
 */
#include <dynamics/passive_force.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/configuration_space.h>
#include <dynamics/machine_element.h>

#include "../model/description.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "joint_properties.h"
#include "link_force.h"

/* Points of a difference quotient along q and along v, and their weights. */
enum { Q_POINTS = 6, V_POINTS = 2 };
static const double q_offsets[Q_POINTS] = {-3, -2, -1, 1, 2, 3};
static const double q_weights[Q_POINTS] = {-1.0 / 60, 9.0 / 60, -45.0 / 60, 45.0 / 60, -9.0 / 60, 1.0 / 60};
static const double v_offsets[V_POINTS] = {-1, 1};
static const double v_weights[V_POINTS] = {-0.5, 0.5};
static const double q_step = 1e-3, v_step = 1e-4;

/* One sample, and the matrices that are added to. */
typedef struct differential {
    const dyn_model *model;
    const dyn_passive_parts *parts;
    size_t nv;
    double factor;
    const double *q, *v;
    double *dq, *dv;                 /* nv x nv */
    double *point, *moved, *tangent; /* nq; nv each */
    double *column;                  /* nv */
} differential;

/* Returns the slope of v / sqrt(v^2 + w^2). */
static double slope_of_sign(double v, double w) {
    double square = v * v + w * w;
    return w * w / (square * sqrt(square));
}

/* Returns the derivative of dyn_friction_force by the rate; at rest, that of negative rates. */
static double friction_slope(const friction_law *law, const dyn_passive_parts *parts, double v) {
    int side = v > 0 ? 0 : 1;
    double w = law->transition_velocity > 0 ? law->transition_velocity : parts->friction_velocity;
    double x = v / law->stribeck_velocity, share = 1 / (1 + x * x);
    double dry = law->coulomb[side] + law->excess[side] * share;
    double falling = -2 * law->excess[side] * x * share * share / law->stribeck_velocity;
    double slope = falling * v / sqrt(v * v + w * w) + dry * slope_of_sign(v, w);
    return -(parts->damping ? law->viscous[side] : 0) - (parts->friction ? slope : 0);
}

/* Adds the derivatives of the damping and the friction of a joint. */
static void add_joint(const differential *d, const dyn_joint *joint) {
    const joint_losses losses = dyn_joint_losses(d->model, joint);
    double b = d->parts->damping ? losses.damping : 0, f = d->parts->friction ? losses.friction : 0;
    for (int k = losses.v_index; (b != 0 || f != 0) && k < losses.v_index + losses.nv; k++) {
        d->dv[(size_t)k * (d->nv + 1)] -= d->factor * (b + f * slope_of_sign(d->v[k], d->parts->friction_velocity));
    }
}

/* Adds the derivatives of the friction of a shaft: G' dr/dw G. */
static void add_shaft(const differential *d, int element) {
    const dyn_machine_element_description *e = &d->model->description->machine_elements[element];
    shaft_rates shaft;
    friction_law law;
    if (e->kind != DYN_MACHINE_ELEMENT_KIND_FRICTION || !dyn_element_on_shaft(d->model, element, &shaft, &law)) {
        return;
    }
    double slope = d->factor * friction_slope(&law, d->parts, dyn_shaft_speed(&shaft, d->v));
    for (int i = 0; i < shaft.count; i++) {
        for (int k = 0; k < shaft.count; k++) {
            d->dv[(size_t)shaft.coordinates[i] * d->nv + (size_t)shaft.coordinates[k]] +=
                shaft.rates[i] * slope * shaft.rates[k];
        }
    }
}

/* Adds the weight of a point of a difference along a coordinate, times the force of an element there. */
static void add_point(const differential *d, int element, const double *q, const double *v, double weight,
                      size_t coordinate, double *matrix) {
    memset(d->column, 0, d->nv * sizeof *d->column);
    dyn_add_link_force(d->model, element, d->parts, d->factor * weight, q, v, d->column);
    for (size_t i = 0; i < d->nv; i++) {
        matrix[i * d->nv + coordinate] += d->column[i];
    }
}

/* Adds the derivatives of an element that acts on links. */
static dyn_status add_link_element(const differential *d, int element, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (size_t k = 0; k < d->nv; k++) {
        memset(d->tangent, 0, d->nv * sizeof *d->tangent);
        d->tangent[k] = 1;
        for (int i = 0; status == DYN_OK && i < Q_POINTS; i++) {
            status = dyn_integrate(d->model, 1, d->q, d->tangent, q_offsets[i] * q_step, d->point, error);
            if (status == DYN_OK) {
                add_point(d, element, d->point, d->v, q_weights[i] / q_step, k, d->dq);
            }
        }
        for (int i = 0; i < V_POINTS; i++) {
            memcpy(d->moved, d->v, d->nv * sizeof *d->moved);
            d->moved[k] += v_offsets[i] * v_step;
            add_point(d, element, d->q, d->moved, v_weights[i] / v_step, k, d->dv);
        }
    }
    return status;
}

/* Adds the derivatives of a machine element. */
static dyn_status add_element(const differential *d, int element, dyn_error *error) {
    const dyn_machine_element_kind kind = d->model->description->machine_elements[element].kind;
    const bool acts_on_links = kind == DYN_MACHINE_ELEMENT_KIND_STRUT || kind == DYN_MACHINE_ELEMENT_KIND_CABLE ||
                               kind == DYN_MACHINE_ELEMENT_KIND_BUSHING || kind == DYN_MACHINE_ELEMENT_KIND_FLUID;
    friction_law law;
    spring_law spring;
    if (d->parts->damping || d->parts->friction) {
        add_shaft(d, element);
        if (dyn_element_friction(d->model, element, &law)) {
            d->dv[(size_t)law.v_index * (d->nv + 1)] += d->factor * friction_slope(&law, d->parts, d->v[law.v_index]);
        }
    }
    if (d->parts->springs && dyn_element_spring(d->model, element, &spring)) {
        d->dq[(size_t)spring.v_index * (d->nv + 1)] -= d->factor * spring.stiffness;
    }
    return acts_on_links && (d->parts->damping || d->parts->springs) ? add_link_element(d, element, error) : DYN_OK;
}

static dyn_status add_sample(const differential *d, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int j = 0; j < d->model->joint_count; j++) {
        add_joint(d, &d->model->joints[j]);
    }
    for (int e = 0; status == DYN_OK && e < dyn_model_machine_element_count(d->model); e++) {
        status = add_element(d, e, error);
    }
    return status;
}

dyn_status dyn_add_passive_force_derivatives(const dyn_model *model, size_t n, const dyn_passive_parts *parts,
                                             double factor, const double *q, const double *v, double *dr_dq,
                                             double *dr_dv, dyn_error *error) {
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    if (!(parts->friction_velocity > 0) || !isfinite(parts->friction_velocity)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "friction_velocity", "it is %g; state a positive number",
                             parts->friction_velocity);
    }
    double *memory = calloc(nq + 4 * nv + 1, sizeof *memory), *zeros = memory + nq + 3 * nv;
    if (!memory) {
        return dyn_error_memory(error);
    }
    dyn_status status = DYN_OK;
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        const differential d = {.model = model,
                                .parts = parts,
                                .nv = nv,
                                .factor = factor,
                                .q = q + s * nq,
                                .v = v ? v + s * nv : zeros,
                                .dq = dr_dq + s * nv * nv,
                                .dv = dr_dv + s * nv * nv,
                                .point = memory,
                                .moved = memory + nq,
                                .tangent = memory + nq + nv,
                                .column = memory + nq + 2 * nv};
        status = add_sample(&d, error);
    }
    free(memory);
    return status;
}
