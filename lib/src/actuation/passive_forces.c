/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/passive_force.h>

#include <math.h>

#include <dynamics/machine_element.h>

#include "../model/description.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "joint_properties.h"
#include "link_force.h"

/* Returns v / sqrt(v^2 + w^2), the smooth sign of v with the transition velocity w. */
static double smooth_sign(double v, double w) {
    return v / sqrt(v * v + w * w);
}

/* joint_resistance.c has the same law in lanes. */
double dyn_friction_force(const friction_law *law, const dyn_passive_parts *parts, double v) {
    int side = v > 0 ? 0 : 1;
    double w = law->transition_velocity > 0 ? law->transition_velocity : parts->friction_velocity;
    double x = v / law->stribeck_velocity;
    double dry = law->coulomb[side] + law->excess[side] / (1 + x * x);
    return -(parts->damping ? law->viscous[side] * v : 0) - (parts->friction ? dry * smooth_sign(v, w) : 0);
}

double dyn_friction_coefficient(const friction_law *law, const dyn_passive_parts *parts, double v) {
    int side = v > 0 ? 0 : 1;
    double w = law->transition_velocity > 0 ? law->transition_velocity : parts->friction_velocity;
    double x = v / law->stribeck_velocity;
    double dry = law->coulomb[side] + law->excess[side] / (1 + x * x);
    return (parts->damping ? law->viscous[side] : 0) + (parts->friction ? dry / sqrt(v * v + w * w) : 0);
}

double dyn_joint_loss_force(const joint_losses *losses, const dyn_passive_parts *parts, double v) {
    double b = parts->damping ? losses->damping : 0, f = parts->friction ? losses->friction : 0;
    return b != 0 || f != 0 ? -(b * v + f * smooth_sign(v, parts->friction_velocity)) : 0;
}

/* Samples, and the forces that are added to. */
typedef struct samples {
    size_t n;
    double factor;
    const double *q, *v;
    double *tau;
} samples;

/* Adds the damping and the friction of a joint. */
static void add_joint(const dyn_model *model, const dyn_joint *joint, const dyn_passive_parts *parts,
                      const samples *s) {
    joint_losses losses = dyn_joint_losses(model, joint);
    bool counts = (parts->damping && losses.damping != 0) || (parts->friction && losses.friction != 0);
    size_t nv = (size_t)model->nv;
    for (size_t i = 0; i < s->n && counts; i++) {
        for (int k = losses.v_index; k < losses.v_index + losses.nv; k++) {
            double v = s->v[i * nv + (size_t)k];
            s->tau[i * nv + (size_t)k] += s->factor * dyn_joint_loss_force(&losses, parts, v);
        }
    }
}

/* Adds the friction of a shaft: G' r(w). */
static void add_shaft(const dyn_model *model, int element, const dyn_passive_parts *parts, const samples *s) {
    const dyn_machine_element_description *e = &model->description->machine_elements[element];
    size_t nv = (size_t)model->nv;
    shaft_rates shaft;
    friction_law law;
    if (e->kind != DYN_MACHINE_ELEMENT_KIND_FRICTION || !dyn_element_on_shaft(model, element, &shaft, &law)) {
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        double force = dyn_friction_force(&law, parts, dyn_shaft_speed(&shaft, s->v + i * nv));
        for (int k = 0; k < shaft.count; k++) {
            s->tau[i * nv + (size_t)shaft.coordinates[k]] += s->factor * shaft.rates[k] * force;
        }
    }
}

/* Adds the damping, friction and spring force of a machine element. */
static void add_element(const dyn_model *model, int element, const dyn_passive_parts *parts, const samples *s) {
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    friction_law law;
    spring_law spring;
    if (parts->damping || parts->friction) {
        add_shaft(model, element, parts, s);
    }
    if ((parts->damping || parts->friction) && dyn_element_friction(model, element, &law)) {
        for (size_t i = 0; i < s->n; i++) {
            size_t k = i * nv + (size_t)law.v_index;
            s->tau[k] += s->factor * dyn_friction_force(&law, parts, s->v[k]);
        }
    }
    for (size_t i = 0; (parts->damping || parts->springs) && i < s->n; i++) {
        const double *v = s->v ? s->v + i * nv : NULL;
        dyn_add_link_force(model, element, parts, s->factor, s->q + i * nq, v, s->tau + i * nv);
    }
    if (parts->springs && dyn_element_spring(model, element, &spring)) {
        for (size_t i = 0; i < s->n; i++) {
            double stretch = s->q[i * nq + (size_t)spring.q_index] - spring.rest;
            s->tau[i * nv + (size_t)spring.v_index] -= s->factor * spring.stiffness * stretch;
        }
    }
}

dyn_status dyn_add_passive_forces(const dyn_model *model, size_t n, const dyn_passive_parts *parts, double factor,
                                  const double *q, const double *v, double *tau, dyn_error *error) {
    const samples s = {n, factor, q, v, tau};
    dyn_passive_parts moving = *parts;
    moving.damping = parts->damping && v;
    moving.friction = parts->friction && v;
    if (!(parts->friction_velocity > 0) || !isfinite(parts->friction_velocity)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "friction_velocity", "it is %g; state a positive number",
                             parts->friction_velocity);
    }
    for (int j = 0; j < model->joint_count; j++) {
        add_joint(model, &model->joints[j], &moving, &s);
    }
    for (int e = 0; e < dyn_model_machine_element_count(model); e++) {
        add_element(model, e, &moving, &s);
    }
    for (size_t k = 0; k < n * (size_t)model->nv; k++) {
        if (!isfinite(tau[k])) {
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, "tau", "tau[%zu] is %g with the passive forces", k,
                                 tau[k]);
        }
    }
    return DYN_OK;
}

void dyn_spring_energy(const dyn_model *model, size_t n, const double *q, double *energy) {
    for (size_t i = 0; i < n; i++) {
        energy[i] = 0;
    }
    for (int e = 0; e < dyn_model_machine_element_count(model); e++) {
        spring_law spring;
        bool is_spring = dyn_element_spring(model, e, &spring);
        for (size_t i = 0; is_spring && i < n; i++) {
            double stretch = q[i * (size_t)model->nq + (size_t)spring.q_index] - spring.rest;
            energy[i] += spring.stiffness * stretch * stretch / 2;
        }
        for (size_t i = 0; i < n; i++) {
            energy[i] += dyn_link_force_energy(model, e, q + i * (size_t)model->nq);
        }
    }
}
