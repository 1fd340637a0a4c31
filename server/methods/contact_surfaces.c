/* SPDX-License-Identifier: BSD-2-Clause */
/* Contact surfaces of a ModelDescription. */
#include "methods/contact_surfaces.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "methods/description_parts.h"
#include "methods/geometry.h"

bool contact_surfaces_blame(call *c, const dyn_error_site *site) {
    if (!site->argument || strcmp(site->argument, "contact_surfaces") != 0) {
        return false;
    }
    if (site->has_item) {
        call_blame(c, "description.contact_surfaces[%zu]%s%s", site->item, site->part ? "." : "",
                   site->part ? site->part : "");
    } else {
        call_blame(c, "description.contact_surfaces");
    }
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static double value_or(double value, double standard) {
    return value != 0 ? value : standard;
}

static dyn_soft_contact read_soft(const Dynamics__V1__SoftContact *from) {
    const dyn_soft_contact standard = DYN_SOFT_CONTACT_INIT();
    if (!from) {
        return (dyn_soft_contact){0};
    }
    return (dyn_soft_contact){.time_constant = value_or(from->time_constant, standard.time_constant),
                              .damping_ratio = value_or(from->damping_ratio, standard.damping_ratio),
                              .impedance = {value_or(from->least_impedance, standard.impedance[0]),
                                            value_or(from->impedance, standard.impedance[1])},
                              .width = value_or(from->width, standard.width),
                              .midpoint = value_or(from->midpoint, standard.midpoint),
                              .power = value_or(from->power, standard.power)};
}

static bool read_surface(call *c, size_t i, const Dynamics__V1__ContactSurface *from, dyn_contact_surface *to) {
    char path[PATH_SIZE], member[PATH_SIZE];
    snprintf(path, sizeof path, "description.contact_surfaces[%zu]", i);
    *to = (dyn_contact_surface){.name = from->name,
                                .link = from->link[0] != '\0' ? from->link : NULL,
                                .shape = (dyn_contact_shape)from->shape,
                                .radius = from->radius,
                                .length = from->length,
                                .friction = from->friction,
                                .restitution = from->restitution,
                                .stiffness = from->stiffness,
                                .dissipation = from->dissipation,
                                .soft = read_soft(from->soft),
                                .rows = from->columns > 0 ? (int)(from->n_heights / from->columns) : 0,
                                .columns = (int)(from->columns < INT_MAX ? from->columns : INT_MAX),
                                .heights = from->heights};
    if (from->columns > 0 && from->n_heights % from->columns != 0) {
        call_blame(c, "%s", path_join(member, path, "heights"));
        call_fail(c, REASON_WRONG_COUNT, "%zu heights do not fill rows of %u; state whole rows", from->n_heights,
                  from->columns);
        return false;
    }
    return geometry_read_placement(c, path_join(member, path, "pose"), from->pose, &to->pose) &&
           geometry_read_vector(c, path_join(member, path, "size"), from->size, to->size);
}

bool contact_surfaces_check_count(call *c, const char *field, size_t count) {
    const part_limit limit = {"contact surfaces", "limits.contact_surfaces", BOUND_CONTACT_SURFACES,
                              atomic_load(&c->service->limits->contact_surfaces)};
    return description_check_count(c, field, count, &limit);
}

bool contact_surfaces_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder) {
    if (!contact_surfaces_check_count(c, "description.contact_surfaces", from->n_contact_surfaces)) {
        return false;
    }
    for (size_t i = 0; i < from->n_contact_surfaces; i++) {
        dyn_contact_surface to;
        dyn_error error;
        if (!read_surface(c, i, from->contact_surfaces[i], &to)) {
            return false;
        }
        if (dyn_builder_add_contact_surface(builder, &to, &error) != DYN_OK) {
            contact_surfaces_blame(c, &error.site);
            return description_fail_element(c, &error);
        }
    }
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static Dynamics__V1__SoftContact *write_soft(call *c, const dyn_soft_contact *from) {
    Dynamics__V1__SoftContact *to = from->time_constant > 0 ? call_allocate(c, 1, sizeof *to) : NULL;
    if (to) {
        dynamics__v1__soft_contact__init(to);
        to->time_constant = from->time_constant;
        to->damping_ratio = from->damping_ratio;
        to->least_impedance = from->impedance[0];
        to->impedance = from->impedance[1];
        to->width = from->width;
        to->midpoint = from->midpoint;
        to->power = from->power;
    }
    return to;
}

static double *write_heights(call *c, const dyn_contact_surface *from, size_t *count) {
    size_t total = (size_t)from->rows * (size_t)from->columns;
    double *to = total > 0 ? call_allocate(c, total, sizeof *to) : NULL;
    *count = to ? total : 0;
    if (to) {
        memcpy(to, from->heights, total * sizeof *to);
    }
    return to;
}

static Dynamics__V1__ContactSurface *write_surface(call *c, const dyn_contact_surface *from) {
    Dynamics__V1__ContactSurface *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__contact_surface__init(to);
        to->name = call_string(c, from->name);
        to->link = call_string(c, from->link ? from->link : "");
        to->pose = geometry_write_placement(c, &from->pose);
        to->shape = (Dynamics__V1__ContactShape)from->shape;
        to->radius = from->radius;
        to->length = from->length;
        to->size = from->shape == DYN_CONTACT_SHAPE_BOX || from->shape == DYN_CONTACT_SHAPE_HEIGHT_FIELD
                       ? geometry_write_vector(c, from->size)
                       : NULL;
        to->friction = from->friction;
        to->restitution = from->restitution;
        to->stiffness = from->stiffness;
        to->dissipation = from->dissipation;
        to->soft = write_soft(c, &from->soft);
        to->columns = (uint32_t)from->columns;
        to->heights = write_heights(c, from, &to->n_heights);
    }
    return to;
}

/* Writes `total` contact surfaces, which `at` returns by their index in `source`. */
static Dynamics__V1__ContactSurface **write_all(call *c, int total, const dyn_contact_surface *(*at)(const void *, int),
                                                const void *source, size_t *count) {
    Dynamics__V1__ContactSurface **to =
        total ? call_allocate(c, (size_t)total, sizeof(Dynamics__V1__ContactSurface *)) : NULL;
    *count = 0;
    for (int i = 0; to && i < total && !call_has_ended(c); i++) {
        to[i] = write_surface(c, at(source, i));
        *count = (size_t)i + 1;
    }
    return call_has_ended(c) ? NULL : to;
}

static const dyn_contact_surface *of_builder(const void *builder, int i) {
    return dyn_builder_contact_surface(builder, i);
}

static const dyn_contact_surface *of_model(const void *model, int i) {
    return dyn_model_contact_surface(model, i);
}

Dynamics__V1__ContactSurface **contact_surfaces_write(call *c, const dyn_builder *from, size_t *count) {
    return write_all(c, dyn_builder_contact_surface_count(from), of_builder, from, count);
}

Dynamics__V1__ContactSurface **contact_surfaces_describe(call *c, const dyn_model *model, size_t *count) {
    return write_all(c, dyn_model_contact_surface_count(model), of_model, model, count);
}
