/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flexible links: replaces a fixed joint of a description by a beam with assumed modes.
 */
#include <dynamics/flexible_beam.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/machine_element.h>

#include "beam_shape.h"
#include "description.h"
#include "error.h"
#include "name_check.h"
#include "vector3.h"

enum {
    DEFAULT_MODES = 2,
    MAX_POINTS = 2 * DYN_FLEXIBLE_BEAM_MODES + 4,
    NAME_SIZE = DYN_MAX_NAME + 48 /* a longer name is refused with its beginning */
};

typedef struct element_text {
    char text[NAME_SIZE];
} element_text;

/* Beam that is being added. */
typedef struct added_beam {
    dyn_builder *builder;
    const dyn_flexible_beam *beam;
    dyn_joint_description fixed; /* the joint that the beam replaces */
    int modes, planes;           /* modes in a plane */
    beam_axes axes;
} added_beam;

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static named_element element_of(const dyn_builder *builder, const dyn_flexible_beam *beam) {
    return (named_element){
        {.kind = DYN_ELEMENT_KIND_MACHINE_ELEMENT, .index = builder->machine_element_count, .line = beam->line},
        beam->name};
}

static dyn_status check_numbers(const dyn_builder *builder, const dyn_flexible_beam *beam, dyn_error *error) {
    named_element at = element_of(builder, beam);
    const struct {
        const char *member;
        double value;
        bool may_be_zero;
    } numbers[] = {
        {"flexible_beam.mass_per_length", beam->mass_per_length, false},
        {"flexible_beam.rigidity", beam->rigidity[0], false},
        {"flexible_beam.normal_rigidity", beam->rigidity[1], true},
        {"flexible_beam.damping_ratio", beam->damping_ratio, true},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double x = numbers[i].value;
        if (!isfinite(x) || x < 0 || (x == 0 && !numbers[i].may_be_zero)) {
            return builder_fail_member(builder, at, numbers[i].member, error, "it is %g; state a positive number%s", x,
                                       numbers[i].may_be_zero ? ", or 0" : "");
        }
    }
    if (beam->modes < 0 || beam->modes > DYN_FLEXIBLE_BEAM_MODES) {
        return builder_fail_member(builder, at, "flexible_beam.modes", error,
                                   "there are %d modes in a plane; state 1 to %d, or 0 for %d", beam->modes,
                                   DYN_FLEXIBLE_BEAM_MODES, DEFAULT_MODES);
    }
    return DYN_OK;
}

/* Finds the fixed joint of a beam. */
static dyn_status find_joint(const dyn_builder *builder, const dyn_flexible_beam *beam, dyn_joint_description *fixed,
                             dyn_error *error) {
    int j = beam->joint ? name_index_find(&builder->joint_names, beam->joint) : -1;
    const char *name = beam->joint ? beam->joint : "";
    if (j < 0) {
        return builder_fail_member(builder, element_of(builder, beam), "joint", error, "there is no joint \"%s\"",
                                   name);
    }
    if (builder->joints[j].type != DYN_JOINT_TYPE_FIXED) {
        return builder_fail_member(builder, element_of(builder, beam), "joint", error,
                                   "joint \"%s\" is %s; a flexible beam takes the place of a fixed joint", name,
                                   joint_type_name(builder->joints[j].type));
    }
    *fixed = builder->joints[j];
    return DYN_OK;
}

/* Computes length and added of a beam. */
static dyn_status find_axes(added_beam *added, dyn_error *error) {
    const dyn_flexible_beam *beam = added->beam;
    named_element at = element_of(added->builder, beam);
    if (!beam_axes_between(beam->start, added->fixed.position, &added->axes)) {
        return builder_fail_member(added->builder, at, "flexible_beam.start", error,
                                   "the length from there to the origin of joint \"%s\" is %g m; state a place that "
                                   "is not that of the joint",
                                   beam->joint, added->axes.length);
    }
    double across[3];
    memcpy(across, beam->direction, sizeof across);
    bool has_direction = builder_normalize_axis(across);
    double lean = vector3_dot(across, added->axes.along);
    for (int i = 0; i < 3; i++) {
        across[i] -= lean * added->axes.along[i];
    }
    if (!has_direction || !(sqrt(vector3_dot(across, across)) > 1e-6)) {
        return builder_fail_member(added->builder, at, "flexible_beam.direction", error,
                                   "it is (%g, %g, %g), and no direction normal to the beam follows; state the one in "
                                   "which the beam bends",
                                   beam->direction[0], beam->direction[1], beam->direction[2]);
    }
    builder_normalize_axis(across);
    beam_axes_bend(across, &added->axes);
    return DYN_OK;
}

/* ---- Parts of the beam ------------------------------------------------------------------------------------------- */

/* Returns the name of part `kind` number i from 0 on of a point, or of the end (point -1). */
static element_text name_of(const added_beam *added, int point, const char *kind, int i) {
    element_text name;
    if (point >= 0) {
        snprintf(name.text, sizeof name.text, "%s:point%d:%s%d", added->beam->name, point + 1, kind, i + 1);
    } else {
        snprintf(name.text, sizeof name.text, "%s:%s%d", added->beam->name, kind, i + 1);
    }
    return name;
}

/* Adds a joint that moves a link of the same name by a multiple of the coordinate of a mode. Its frame is `offset` from
 * that of the parent link, whose name it replaces by that of the link. */
static dyn_status add_part(const added_beam *added, const dyn_joint_description *joint, const dyn_inertia *inertia,
                           element_text *parent, dyn_error *error) {
    const dyn_link_description link = {.name = joint->name, .inertia = *inertia, .line = added->beam->line};
    dyn_joint_description part = *joint;
    static const double upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(part.rotation, upright, sizeof part.rotation);
    part.parent_link = parent->text;
    part.child_link = joint->name;
    part.line = added->beam->line;
    dyn_status status = dyn_builder_add_link(added->builder, &link, error);
    status = status == DYN_OK ? dyn_builder_add_joint(added->builder, &part, error) : status;
    snprintf(parent->text, sizeof parent->text, "%s", joint->name);
    return status;
}

/* Adds the spring of a mode. */
static dyn_status add_spring(const added_beam *added, const char *joint, double stiffness, dyn_error *error) {
    const dyn_machine_element_description spring = {.name = joint,
                                                    .kind = DYN_MACHINE_ELEMENT_KIND_SPRING,
                                                    .joint = joint,
                                                    .spring = {.stiffness = stiffness},
                                                    .line = added->beam->line};
    return dyn_builder_add_machine_element(added->builder, &spring, error);
}

/* Adds the joint of mode i, which displaces the end, with its spring and damping. */
static dyn_status add_mode(const added_beam *added, int i, element_text *parent, dyn_error *error) {
    static const dyn_inertia nothing;
    int plane = i / added->modes;
    beam_shape shape = beam_shape_of(i % added->modes, added->axes.length);
    element_text name = name_of(added, -1, "mode", i);
    double stiffness = added->beam->rigidity[plane] * pow(shape.b, 4) * added->axes.length / 4;
    double mass = added->beam->mass_per_length * added->axes.length / 4;
    dyn_joint_description joint = {.name = name.text,
                                   .type = DYN_JOINT_TYPE_PRISMATIC,
                                   .damping = 2 * added->beam->damping_ratio * sqrt(stiffness * mass)};
    memcpy(joint.axis, added->axes.across[plane], sizeof joint.axis);
    memcpy(joint.position, i == 0 ? added->fixed.position : nothing.center_of_mass, sizeof joint.position);
    dyn_status status = add_part(added, &joint, &nothing, parent, error);
    return status == DYN_OK ? add_spring(added, name.text, stiffness, error) : status;
}

/* Adds a mimic joint that follows mode i by a factor. */
static dyn_status add_follower(const added_beam *added, int i, double factor, dyn_joint_description *joint,
                               const dyn_inertia *inertia, element_text *parent, dyn_error *error) {
    element_text mode = name_of(added, -1, "mode", i);
    joint->mimic_joint = mode.text;
    joint->mimic_multiplier = factor;
    return add_part(added, joint, inertia, parent, error);
}

/* Adds the joint that turns the end with mode i, about the normal of the plane. */
static dyn_status add_turn(const added_beam *added, int i, element_text *parent, dyn_error *error) {
    static const dyn_inertia nothing;
    beam_shape shape = beam_shape_of(i % added->modes, added->axes.length);
    element_text name = name_of(added, -1, "turn", i);
    dyn_joint_description joint = {.name = name.text, .type = DYN_JOINT_TYPE_CONTINUOUS};
    vector3_cross(added->axes.along, added->axes.across[i / added->modes], joint.axis);
    return add_follower(added, i, shape.b * shape.c, &joint, &nothing, parent, error);
}

/* Adds a point of the beam at the distance s from the clamped end. */
static dyn_status add_point(const added_beam *added, int point, double s, double mass, dyn_error *error) {
    dyn_status status = DYN_OK;
    element_text parent;
    int count = added->modes * added->planes;
    snprintf(parent.text, sizeof parent.text, "%s", added->fixed.parent_link);
    for (int i = 0; i < count && status == DYN_OK; i++) {
        beam_shape shape = beam_shape_of(i % added->modes, added->axes.length);
        const dyn_inertia inertia = {.mass = i == count - 1 ? mass : 0};
        element_text name = name_of(added, point, "mode", i);
        dyn_joint_description joint = {.name = name.text, .type = DYN_JOINT_TYPE_PRISMATIC};
        memcpy(joint.axis, added->axes.across[i / added->modes], sizeof joint.axis);
        for (int k = 0; k < 3 && i == 0; k++) {
            joint.position[k] = added->beam->start[k] + s * added->axes.along[k];
        }
        double slope, factor = beam_shape_at(&shape, s, &slope) / (2 * shape.sign);
        status = add_follower(added, i, factor, &joint, &inertia, &parent, error);
    }
    return status;
}

/* Returns the value of the Legendre polynomial of degree n at x, and its derivative. */
static double legendre(int n, double x, double *derivative) {
    double before = 1, value = x;
    for (int k = 2; k <= n; k++) {
        double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
        before = value;
        value = next;
    }
    *derivative = n * (x * value - before) / (x * x - 1);
    return value;
}

/* Adds the mass of the beam at the points of a Gauss rule on (0, L): x_k are the zeros of the Legendre polynomial, and
 * the weights 2 / ((1 - x^2) P'^2). */
static dyn_status add_points(const added_beam *added, dyn_error *error) {
    int count = 2 * added->modes + 4;
    dyn_status status = DYN_OK;
    for (int k = 0; k < count && status == DYN_OK; k++) {
        double x = -cos(acos(-1) * (k + 0.75) / (count + 0.5)), derivative;
        for (int i = 0; i < 10; i++) {
            double value = legendre(count, x, &derivative);
            x -= value / derivative;
        }
        legendre(count, x, &derivative);
        double weight = 1 / ((1 - x * x) * derivative * derivative);
        status = add_point(added, k, added->axes.length * (1 + x) / 2,
                           added->beam->mass_per_length * added->axes.length * weight, error);
    }
    return status;
}

/* Connects the fixed joint with the end of the beam. */
static dyn_status move_fixed_joint(const added_beam *added, const element_text *end, dyn_error *error) {
    int j = name_index_find(&added->builder->joint_names, added->fixed.name);
    dyn_joint_description *joint = &added->builder->joints[j];
    char *parent = strdup(end->text);
    if (!parent) {
        return dyn_error_memory(error);
    }
    free((char *)joint->parent_link);
    joint->parent_link = parent;
    memset(joint->position, 0, sizeof joint->position);
    return DYN_OK;
}

dyn_status dyn_builder_add_flexible_beam(dyn_builder *builder, const dyn_flexible_beam *beam, dyn_error *error) {
    added_beam added = {.builder = builder,
                        .beam = beam,
                        .modes = beam->modes > 0 ? beam->modes : DEFAULT_MODES,
                        .planes = beam->rigidity[1] > 0 ? 2 : 1};
    dyn_status status = builder_check_new_name(builder, &builder->machine_element_names, DYN_MAX_MACHINE_ELEMENTS,
                                               element_of(builder, beam), error);
    status = status == DYN_OK ? check_numbers(builder, beam, error) : status;
    status = status == DYN_OK ? find_joint(builder, beam, &added.fixed, error) : status;
    status = status == DYN_OK ? find_axes(&added, error) : status;
    if (status != DYN_OK) {
        return status;
    }
    element_text end, clamped;
    snprintf(clamped.text, sizeof clamped.text, "%s", added.fixed.parent_link);
    added.fixed.parent_link = clamped.text;
    end = clamped;
    for (int i = 0; i < added.modes * added.planes && status == DYN_OK; i++) {
        status = add_mode(&added, i, &end, error);
    }
    for (int i = 0; i < added.modes * added.planes && status == DYN_OK; i++) {
        status = add_turn(&added, i, &end, error);
    }
    status = status == DYN_OK ? add_points(&added, error) : status;
    return status == DYN_OK ? move_fixed_joint(&added, &end, error) : status;
}
