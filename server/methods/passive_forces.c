/* SPDX-License-Identifier: BSD-2-Clause */
/* Passive forces of inverse and forward dynamics. */
#include "methods/passive_forces.h"

#include <string.h>

#include <dynamics/geared_dynamics.h>

const char *const passive_names[PASSIVE_KINDS] = {"damping", "friction", "springs"};

dyn_passive_parts passive_forces_only(const dyn_passive_parts *parts, int kind) {
    return (dyn_passive_parts){.damping = kind == PASSIVE_DAMPING,
                               .friction = kind == PASSIVE_FRICTION,
                               .springs = kind == PASSIVE_SPRINGS,
                               .friction_velocity =
                                   parts->friction_velocity > 0 ? parts->friction_velocity : PASSIVE_FRICTION_VELOCITY};
}

bool passive_forces_include(const dyn_passive_parts *parts, int kind) {
    const bool are_there[PASSIVE_KINDS] = {parts->damping, parts->friction, parts->springs};
    return are_there[kind];
}

bool passive_forces_count(const dyn_passive_parts *parts) {
    return parts->damping || parts->friction || parts->springs;
}

dyn_status passive_forces_add(const dyn_model *model, size_t count, const dyn_passive_parts *parts, double factor,
                              const double *q, const double *v, double *tau, dyn_error *error) {
    return passive_forces_count(parts) ? dyn_add_passive_forces(model, count, parts, factor, q, v, tau, error) : DYN_OK;
}

dyn_status passive_forces_sum(const dyn_model *model, size_t count, const dyn_passive_parts *parts, const double *q,
                              const double *v, const double *tau, double *sum, dyn_error *error) {
    size_t bytes = count * (size_t)dyn_model_nv(model) * sizeof *sum;
    if (tau) {
        memcpy(sum, tau, bytes);
    } else {
        memset(sum, 0, bytes);
    }
    return passive_forces_add(model, count, parts, 1, q, v, sum, error);
}

size_t passive_forces_gear_numbers(const dyn_model *model, const dyn_passive_parts *parts, size_t count) {
    size_t memory = parts->gear_losses ? dyn_geared_memory(model, count) : 0;
    return memory > 0 ? memory + count * (size_t)dyn_model_nv(model) : 0;
}

Dynamics__V1__PassiveForces *passive_forces_write(call *c, const dyn_passive_parts *parts) {
    bool is_there = passive_forces_count(parts) || parts->gear_losses;
    Dynamics__V1__PassiveForces *to = is_there ? call_allocate(c, 1, sizeof *to) : NULL;
    if (to) {
        dynamics__v1__passive_forces__init(to);
        to->damping = parts->damping;
        to->friction = parts->friction;
        to->springs = parts->springs;
        to->friction_velocity = parts->friction_velocity;
        to->gear_losses = parts->gear_losses;
    }
    return to;
}
