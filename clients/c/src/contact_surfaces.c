/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts contact surfaces.
 */
#include "contact_surfaces.h"

#include "model_parts.h"
#include "poses.h"

static Dynamics__V1__SoftContact *from_soft(pool *memory, const dyn_client_soft_contact *from) {
    Dynamics__V1__SoftContact *made = from->time_constant != 0 ? pool_allocate(memory, 1, sizeof *made) : NULL;
    if (made) {
        dynamics__v1__soft_contact__init(made);
        made->time_constant = from->time_constant;
        made->damping_ratio = from->damping_ratio;
        made->least_impedance = from->least_impedance;
        made->impedance = from->impedance;
        made->width = from->width;
        made->midpoint = from->midpoint;
        made->power = from->power;
    }
    return made;
}

Dynamics__V1__ContactSurface *from_contact_surface(pool *memory, const dyn_client_contact_surface *from) {
    Dynamics__V1__ContactSurface *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__contact_surface__init(made);
        made->name = (char *)(from->name ? from->name : "");
        made->link = (char *)(from->link ? from->link : "");
        made->pose = from_pose(memory, &from->pose);
        made->shape = (Dynamics__V1__ContactShape)from->shape;
        made->radius = from->radius;
        made->length = from->length;
        made->size = from_nonzero(memory, from->size);
        made->friction = from->friction;
        made->restitution = from->restitution;
        made->stiffness = from->stiffness;
        made->dissipation = from->dissipation;
        made->soft = from_soft(memory, &from->soft);
        made->columns = from->columns < UINT32_MAX ? (uint32_t)from->columns : UINT32_MAX;
        made->heights = (double *)from->heights;
        made->n_heights = from->heights ? from->height_count : 0;
    }
    return made;
}

static dyn_client_soft_contact to_soft(const Dynamics__V1__SoftContact *from) {
    return from ? (dyn_client_soft_contact){.time_constant = from->time_constant,
                                            .damping_ratio = from->damping_ratio,
                                            .least_impedance = from->least_impedance,
                                            .impedance = from->impedance,
                                            .width = from->width,
                                            .midpoint = from->midpoint,
                                            .power = from->power}
                : (dyn_client_soft_contact){0};
}

const dyn_client_contact_surface *to_contact_surfaces(pool *memory, size_t count,
                                                      Dynamics__V1__ContactSurface *const *from) {
    dyn_client_contact_surface *made = pool_allocate(memory, count, sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        made[i] = (dyn_client_contact_surface){.name = from[i]->name,
                                               .link = from[i]->link,
                                               .pose = to_pose(from[i]->pose),
                                               .shape = (dyn_client_contact_shape)from[i]->shape,
                                               .radius = from[i]->radius,
                                               .length = from[i]->length,
                                               .friction = from[i]->friction,
                                               .restitution = from[i]->restitution,
                                               .stiffness = from[i]->stiffness,
                                               .dissipation = from[i]->dissipation,
                                               .soft = to_soft(from[i]->soft),
                                               .columns = from[i]->columns,
                                               .height_count = from[i]->n_heights,
                                               .heights = from[i]->heights};
        to_vector3(from[i]->size, made[i].size);
    }
    return memory->is_exhausted ? NULL : made;
}
