/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contact surfaces of a description: checks of each by itself and against the links, and storage.
 */
#include "contact_surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "name_check.h"
#include "normal_form.h"
#include "placement.h"
#include "plain_text.h"

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* Returns the place of a member of surface i in errors. */
static dyn_error_site site_of(int i, const char *member) {
    return (dyn_error_site){.argument = "contact_surfaces", .has_item = true, .item = (size_t)i, .part = member};
}

/* Number of a surface, its member and its range. */
typedef struct surface_number {
    const char *member;
    double value, least, most;
    bool is_least_allowed;
} surface_number;

static dyn_status check_number(int i, const char *name, const surface_number *n, dyn_error *error) {
    const dyn_error_site site = site_of(i, n->member);
    bool is_large_enough = n->is_least_allowed ? n->value >= n->least : n->value > n->least;
    if (isfinite(n->value) && is_large_enough && n->value <= n->most) {
        return DYN_OK;
    }
    const char *wanted = n->most < 1           ? "a number from 0.0001 to 0.9999"
                         : n->most == 1        ? "a number from 0 to 1"
                         : n->least == 1       ? "a number of 1 or more"
                         : n->is_least_allowed ? "zero or a positive number"
                                               : "a positive number";
    return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "contact surface \"%s\": the %s is %g; state %s", name,
                        n->member, n->value, wanted);
}

const char *const contact_shapes[CONTACT_SHAPE_COUNT] = {"point",    "sphere", "box",         "capsule",
                                                         "cylinder", "plane",  "height_field"};

const char *contact_shape_name(dyn_contact_shape shape) {
    return contact_shapes[shape - DYN_CONTACT_SHAPE_POINT];
}

/* Checks the parameters of a soft surface. */
static dyn_status check_soft(int i, const dyn_contact_surface *s, dyn_error *error) {
    const dyn_soft_contact *soft = &s->soft;
    const surface_number numbers[] = {
        {"soft.time_constant", soft->time_constant, 0, HUGE_VAL, false},
        {"soft.damping_ratio", soft->damping_ratio, 0, HUGE_VAL, false},
        {"soft.least_impedance", soft->impedance[0], 0.0001, 0.9999, true},
        {"soft.impedance", soft->impedance[1], 0.0001, 0.9999, true},
        {"soft.width", soft->width, 0, HUGE_VAL, false},
        {"soft.midpoint", soft->midpoint, 0.0001, 0.9999, true},
        {"soft.power", soft->power, 1, HUGE_VAL, true},
    };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        dyn_status status = check_number(i, s->name, &numbers[k], error);
        if (status != DYN_OK) {
            return status;
        }
    }
    if (s->stiffness > 0 || s->restitution > 0) {
        const char *member = s->stiffness > 0 ? "stiffness" : "restitution";
        const dyn_error_site site = site_of(i, member);
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                            "contact surface \"%s\": it is soft and has a %s; state one of the two", s->name, member);
    }
    return DYN_OK;
}

static dyn_status check_numbers(int i, const dyn_contact_surface *s, dyn_error *error) {
    const surface_number numbers[] = {
        {"friction", s->friction, 0, HUGE_VAL, true},   {"restitution", s->restitution, 0, 1, true},
        {"stiffness", s->stiffness, 0, HUGE_VAL, true}, {"dissipation", s->dissipation, 0, HUGE_VAL, true},
        {"radius", s->radius, 0, HUGE_VAL, false},      {"length", s->length, 0, HUGE_VAL, false},
        {"size", s->size[0], 0, HUGE_VAL, false},       {"size", s->size[1], 0, HUGE_VAL, false},
        {"size", s->size[2], 0, HUGE_VAL, false},
    };
    bool is_long = s->shape == DYN_CONTACT_SHAPE_CAPSULE || s->shape == DYN_CONTACT_SHAPE_CYLINDER;
    bool is_round = is_long || s->shape == DYN_CONTACT_SHAPE_SPHERE, is_box = s->shape == DYN_CONTACT_SHAPE_BOX;
    bool has_edges = is_box || s->shape == DYN_CONTACT_SHAPE_HEIGHT_FIELD;
    const bool is_used[] = {true, true, true, true, is_round, is_long, has_edges, has_edges, is_box};
    dyn_status status = DYN_OK;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers && status == DYN_OK; k++) {
        status = is_used[k] ? check_number(i, s->name, &numbers[k], error) : DYN_OK;
    }
    if (status == DYN_OK && s->stiffness == 0 && s->dissipation != 0) {
        const dyn_error_site site = site_of(i, "dissipation");
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                            "contact surface \"%s\": the dissipation is %g and the stiffness is zero; state the "
                            "stiffness too",
                            s->name, s->dissipation);
    }
    return status == DYN_OK && s->soft.time_constant != 0 ? check_soft(i, s, error) : status;
}

/* Checks the grid of a height field. */
static dyn_status check_heights(int i, const dyn_contact_surface *s, dyn_error *error) {
    const dyn_error_site columns = site_of(i, "columns"), heights = site_of(i, "heights");
    if (s->columns < 2) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &columns,
                            "contact surface \"%s\": its heights have %d columns; state 2 or more", s->name,
                            s->columns);
    }
    if (s->rows < 2 || !s->heights || s->rows > DYN_MAX_HEIGHTS / s->columns) {
        return dyn_error_at(
            error, DYN_INVALID_ARGUMENT, &heights,
            "contact surface \"%s\": its heights are %d rows of %d; state 2 rows or more, and at most %d "
            "heights",
            s->name, s->rows, s->columns, DYN_MAX_HEIGHTS);
    }
    for (int k = 0; k < s->rows * s->columns; k++) {
        if (!isfinite(s->heights[k])) {
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &heights,
                                "contact surface \"%s\": its height %d is %g; state finite numbers", s->name, k,
                                s->heights[k]);
        }
    }
    return DYN_OK;
}

static dyn_status check_frame(int i, const dyn_contact_surface *s, dyn_error *error) {
    dyn_error bad;
    const dyn_error_site link = site_of(i, "link"), pose = site_of(i, "pose");
    if (s->link && name_check(s->link, &bad, "link", "link") != DYN_OK) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &link, "contact surface \"%s\": its link: %s", s->name,
                            bad.message);
    }
    if (!builder_all_finite(s->pose.position, 3)) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &pose,
                            "contact surface \"%s\": its position is (%g, %g, %g); state finite numbers", s->name,
                            s->pose.position[0], s->pose.position[1], s->pose.position[2]);
    }
    if (!is_rotation(s->pose.rotation)) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &pose,
                            "contact surface \"%s\": its rotation is none: its columns must be orthonormal and "
                            "right-handed to 1e-9",
                            s->name);
    }
    return DYN_OK;
}

static dyn_status check_name(const dyn_builder *builder, const char *name, dyn_error *error) {
    dyn_error bad;
    int i = builder->contact_surface_count;
    const dyn_error_site site = site_of(i, "name");
    dyn_status status = name_check(name, &bad, "name", "contact surface");
    if (status != DYN_OK) {
        return dyn_error_at(error, status, &site, "%s", bad.message);
    }
    if (name_index_find(&builder->contact_surface_names, name) >= 0) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                            "there are two contact surfaces \"%s\"; rename one of them", name);
    }
    if (i >= DYN_MAX_CONTACT_SURFACES) {
        const dyn_error_site all = {.cause = DYN_CAUSE_TOO_MANY, .argument = "contact_surfaces"};
        return dyn_error_at(error, DYN_RESOURCE_EXHAUSTED, &all,
                            "there are more than %d contact surfaces; leave some out", DYN_MAX_CONTACT_SURFACES);
    }
    return DYN_OK;
}

/* Checks a surface by itself. Sets `*kept` to it, with zeros in the members that its shape does not name. */
static dyn_status check(const dyn_builder *builder, const dyn_contact_surface *s, dyn_error *error,
                        dyn_contact_surface *kept) {
    int i = builder->contact_surface_count;
    dyn_status status = check_name(builder, s->name, error);
    if (status == DYN_OK && ((int)s->shape < DYN_CONTACT_SHAPE_POINT || s->shape > DYN_CONTACT_SHAPE_HEIGHT_FIELD)) {
        const dyn_error_site site = site_of(i, "shape");
        status = dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                              "contact surface \"%s\": its shape is %d; state one from POINT (1) to HEIGHT_FIELD (7)",
                              s->name, (int)s->shape);
    }
    if (status == DYN_OK) {
        status = check_frame(i, s, error);
    }
    if (status == DYN_OK) {
        status = check_numbers(i, s, error);
    }
    bool is_field = s->shape == DYN_CONTACT_SHAPE_HEIGHT_FIELD;
    if (status == DYN_OK && is_field) {
        status = check_heights(i, s, error);
    }
    *kept = *s;
    kept->rows = is_field ? s->rows : 0, kept->columns = is_field ? s->columns : 0;
    kept->heights = is_field ? s->heights : NULL;
    bool is_long = s->shape == DYN_CONTACT_SHAPE_CAPSULE || s->shape == DYN_CONTACT_SHAPE_CYLINDER;
    kept->radius = is_long || s->shape == DYN_CONTACT_SHAPE_SPHERE ? s->radius : 0;
    kept->length = is_long ? s->length : 0;
    kept->soft = s->soft.time_constant != 0 ? s->soft : (dyn_soft_contact){0};
    for (int k = 0; k < 3; k++) {
        kept->size[k] = s->shape == DYN_CONTACT_SHAPE_BOX || (is_field && k < 2) ? s->size[k] : 0;
    }
    return status;
}

bool contact_surface_is_ground(const dyn_contact_surface *surface) {
    return surface->shape == DYN_CONTACT_SHAPE_PLANE || surface->shape == DYN_CONTACT_SHAPE_HEIGHT_FIELD;
}

bool contact_surfaces_touch(const dyn_builder *builder, int i, int k) {
    const dyn_contact_surface *a = &builder->contact_surfaces[i], *b = &builder->contact_surfaces[k];
    bool is_same_link = (!a->link && !b->link) || (a->link && b->link && strcmp(a->link, b->link) == 0);
    return !contact_surface_is_ground(a) && contact_surface_is_ground(b) && !is_same_link;
}

int count_contact_pairs(const dyn_builder *builder) {
    int count = 0;
    for (int i = 0; i < builder->contact_surface_count; i++) {
        for (int k = 0; k < builder->contact_surface_count; k++) {
            count += contact_surfaces_touch(builder, i, k);
        }
    }
    return count;
}

dyn_status check_contact_surfaces(const dyn_builder *builder, dyn_error *error) {
    for (int i = 0; i < builder->contact_surface_count; i++) {
        const dyn_contact_surface *s = &builder->contact_surfaces[i];
        if (s->link && name_index_find(&builder->link_names, s->link) < 0) {
            const dyn_error_site site = site_of(i, "link");
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "contact surface \"%s\": there is no link \"%s\"; add it or correct the name", s->name,
                                s->link);
        }
    }
    int pairs = count_contact_pairs(builder);
    if (pairs > DYN_MAX_CONTACT_PAIRS) {
        const dyn_error_site all = {.argument = "contact_surfaces"};
        return dyn_error_at(error, DYN_RESOURCE_EXHAUSTED, &all,
                            "the contact surfaces form %d pairs with planes; a model has at most %d", pairs,
                            DYN_MAX_CONTACT_PAIRS);
    }
    return DYN_OK;
}

void print_contact_numbers(FILE *out, const dyn_contact_surface *s) {
    print_numbers(out, "radius", &s->radius, 1);
    print_numbers(out, "length", &s->length, 1);
    print_numbers(out, "size", s->size, 3);
    print_numbers(out, "friction", &s->friction, 1);
    print_numbers(out, "restitution", &s->restitution, 1);
    print_numbers(out, "stiffness", &s->stiffness, 1);
    print_numbers(out, "dissipation", &s->dissipation, 1);
    if (s->soft.time_constant > 0) {
        const dyn_soft_contact *soft = &s->soft;
        const double values[] = {soft->time_constant, soft->damping_ratio, soft->impedance[0], soft->impedance[1],
                                 soft->width,         soft->midpoint,      soft->power};
        print_numbers(out, "soft", values, 7);
    }
    if (s->shape == DYN_CONTACT_SHAPE_HEIGHT_FIELD) {
        fprintf(out, " rows %d columns %d", s->rows, s->columns);
        print_numbers(out, "heights", s->heights, s->rows * s->columns);
    }
}

/* ---- Storage ----------------------------------------------------------------------------------------------------- */

static dyn_status append(dyn_builder *builder, const dyn_contact_surface *surface, dyn_error *error) {
    if (!builder_grow((void **)&builder->contact_surfaces, builder->contact_surface_count,
                      &builder->contact_surface_capacity, sizeof *builder->contact_surfaces)) {
        return dyn_error_memory(error);
    }
    dyn_contact_surface added = *surface;
    size_t size = (size_t)surface->rows * (size_t)surface->columns * sizeof *surface->heights;
    double *heights = size > 0 ? malloc(size) : NULL;
    added.link = surface->link ? strdup(surface->link) : NULL;
    if (heights) {
        memcpy(heights, surface->heights, size);
    }
    added.heights = heights;
    added.name = (added.link || !surface->link) && (heights || size == 0)
                     ? name_index_add(&builder->contact_surface_names, surface->name, builder->contact_surface_count)
                     : NULL;
    if (!added.name) {
        free((char *)added.link);
        free(heights);
        return dyn_error_memory(error);
    }
    builder->contact_surfaces[builder->contact_surface_count++] = added;
    return DYN_OK;
}

dyn_status dyn_builder_add_contact_surface(dyn_builder *builder, const dyn_contact_surface *surface, dyn_error *error) {
    dyn_contact_surface kept;
    dyn_status status = check(builder, surface, error, &kept);
    return status == DYN_OK ? append(builder, &kept, error) : status;
}

void builder_clear_contact_surfaces(dyn_builder *builder) {
    for (int i = 0; i < builder->contact_surface_count; i++) {
        free((char *)builder->contact_surfaces[i].link);
        free((double *)builder->contact_surfaces[i].heights);
    }
    name_index_clear(&builder->contact_surface_names);
    free(builder->contact_surfaces);
}

dyn_status builder_copy_contact_surfaces(const dyn_builder *from, dyn_error *error, dyn_builder *to) {
    dyn_status status = DYN_OK;
    for (int i = 0; i < from->contact_surface_count && status == DYN_OK; i++) {
        const dyn_contact_surface *surface = &from->contact_surfaces[i];
        bool stays = !surface->link || name_index_find(&to->link_names, surface->link) >= 0;
        status = stays ? append(to, surface, error) : DYN_OK;
    }
    return status;
}

int dyn_builder_contact_surface_count(const dyn_builder *builder) {
    return builder->contact_surface_count;
}

const dyn_contact_surface *dyn_builder_contact_surface(const dyn_builder *builder, int surface) {
    return surface >= 0 && surface < builder->contact_surface_count ? &builder->contact_surfaces[surface] : NULL;
}

int dyn_model_contact_surface_count(const dyn_model *model) {
    return dyn_builder_contact_surface_count(model->description);
}

const dyn_contact_surface *dyn_model_contact_surface(const dyn_model *model, int surface) {
    return dyn_builder_contact_surface(model->description, surface);
}
