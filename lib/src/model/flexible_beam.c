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

enum {
    DEFAULT_MODES = 2,
    MAX_POINTS = 2 * DYN_FLEXIBLE_BEAM_MODES + 4,
    NAME_SIZE = DYN_MAX_NAME + 48 /* a longer name is refused with its beginning */
};

typedef struct element_text {
    char text[NAME_SIZE];
} element_text;

/* Beam that is being added. */
typedef struct beam_axes {
    dyn_builder *builder;
    const dyn_flexible_beam *beam;
    dyn_joint_description fixed; /* the joint that the beam replaces */
    int modes, planes;           /* modes in a plane */
    double length, along[3], across[2][3];
} beam_axes;

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3]) {
    for (int i = 0; i < 3; i++) {
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    }
}

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

/* Computes length and axes of a beam. */
static dyn_status find_axes(beam_axes *axes, dyn_error *error) {
    const dyn_flexible_beam *beam = axes->beam;
    named_element at = element_of(axes->builder, beam);
    for (int i = 0; i < 3; i++) {
        axes->along[i] = axes->fixed.position[i] - beam->start[i];
    }
    axes->length = sqrt(dot(axes->along, axes->along));
    if (!(axes->length > 0) || !isfinite(axes->length)) {
        return builder_fail_member(axes->builder, at, "flexible_beam.start", error,
                                   "the length from there to the origin of joint \"%s\" is %g m; state a place that "
                                   "is not that of the joint",
                                   beam->joint, axes->length);
    }
    double *across = axes->across[0];
    for (int i = 0; i < 3; i++) {
        axes->along[i] /= axes->length;
        across[i] = beam->direction[i];
    }
    bool has_direction = builder_normalize_axis(across);
    double lean = dot(across, axes->along);
    for (int i = 0; i < 3; i++) {
        across[i] -= lean * axes->along[i];
    }
    if (!has_direction || !(sqrt(dot(across, across)) > 1e-6)) {
        return builder_fail_member(axes->builder, at, "flexible_beam.direction", error,
                                   "it is (%g, %g, %g), and no direction normal to the beam follows; state the one in "
                                   "which the beam bends",
                                   beam->direction[0], beam->direction[1], beam->direction[2]);
    }
    builder_normalize_axis(across);
    cross(axes->along, across, axes->across[1]);
    return DYN_OK;
}

/* ---- Parts of the beam ------------------------------------------------------------------------------------------- */

/* Returns the name of part `kind` number i from 0 on of a point, or of the end (point -1). */
static element_text name_of(const beam_axes *axes, int point, const char *kind, int i) {
    element_text name;
    if (point >= 0) {
        snprintf(name.text, sizeof name.text, "%s:point%d:%s%d", axes->beam->name, point + 1, kind, i + 1);
    } else {
        snprintf(name.text, sizeof name.text, "%s:%s%d", axes->beam->name, kind, i + 1);
    }
    return name;
}

/* Adds a joint that moves a link of the same name by a multiple of the coordinate of a mode. Its frame is `offset` from
 * that of the parent link, whose name it replaces by that of the link. */
static dyn_status add_part(const beam_axes *axes, const dyn_joint_description *joint, const dyn_inertia *inertia,
                           element_text *parent, dyn_error *error) {
    const dyn_link_description link = {.name = joint->name, .inertia = *inertia, .line = axes->beam->line};
    dyn_joint_description added = *joint;
    static const double upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(added.rotation, upright, sizeof added.rotation);
    added.parent_link = parent->text;
    added.child_link = joint->name;
    added.line = axes->beam->line;
    dyn_status status = dyn_builder_add_link(axes->builder, &link, error);
    status = status == DYN_OK ? dyn_builder_add_joint(axes->builder, &added, error) : status;
    snprintf(parent->text, sizeof parent->text, "%s", joint->name);
    return status;
}

/* Adds the spring of a mode. */
static dyn_status add_spring(const beam_axes *axes, const char *joint, double stiffness, dyn_error *error) {
    const dyn_machine_element_description spring = {.name = joint,
                                                    .kind = DYN_MACHINE_ELEMENT_KIND_SPRING,
                                                    .joint = joint,
                                                    .spring = {.stiffness = stiffness},
                                                    .line = axes->beam->line};
    return dyn_builder_add_machine_element(axes->builder, &spring, error);
}

/* Adds the joint of mode i, which displaces the end, with its spring and damping. */
static dyn_status add_mode(const beam_axes *axes, int i, element_text *parent, dyn_error *error) {
    static const dyn_inertia nothing;
    int plane = i / axes->modes;
    beam_shape shape = beam_shape_of(i % axes->modes, axes->length);
    element_text name = name_of(axes, -1, "mode", i);
    double stiffness = axes->beam->rigidity[plane] * pow(shape.b, 4) * axes->length / 4;
    double mass = axes->beam->mass_per_length * axes->length / 4;
    dyn_joint_description joint = {.name = name.text,
                                   .type = DYN_JOINT_TYPE_PRISMATIC,
                                   .damping = 2 * axes->beam->damping_ratio * sqrt(stiffness * mass)};
    memcpy(joint.axis, axes->across[plane], sizeof joint.axis);
    memcpy(joint.position, i == 0 ? axes->fixed.position : nothing.center_of_mass, sizeof joint.position);
    dyn_status status = add_part(axes, &joint, &nothing, parent, error);
    return status == DYN_OK ? add_spring(axes, name.text, stiffness, error) : status;
}

/* Adds a mimic joint that follows mode i by a factor. */
static dyn_status add_follower(const beam_axes *axes, int i, double factor, dyn_joint_description *joint,
                               const dyn_inertia *inertia, element_text *parent, dyn_error *error) {
    element_text mode = name_of(axes, -1, "mode", i);
    joint->mimic_joint = mode.text;
    joint->mimic_multiplier = factor;
    return add_part(axes, joint, inertia, parent, error);
}

/* Adds the joint that turns the end with mode i, about the normal of the plane. */
static dyn_status add_turn(const beam_axes *axes, int i, element_text *parent, dyn_error *error) {
    static const dyn_inertia nothing;
    beam_shape shape = beam_shape_of(i % axes->modes, axes->length);
    element_text name = name_of(axes, -1, "turn", i);
    dyn_joint_description joint = {.name = name.text, .type = DYN_JOINT_TYPE_CONTINUOUS};
    cross(axes->along, axes->across[i / axes->modes], joint.axis);
    return add_follower(axes, i, shape.b * shape.c, &joint, &nothing, parent, error);
}

/* Adds a point of the beam at the distance s from the clamped end. */
static dyn_status add_point(const beam_axes *axes, int point, double s, double mass, dyn_error *error) {
    dyn_status status = DYN_OK;
    element_text parent;
    int count = axes->modes * axes->planes;
    snprintf(parent.text, sizeof parent.text, "%s", axes->fixed.parent_link);
    for (int i = 0; i < count && status == DYN_OK; i++) {
        beam_shape shape = beam_shape_of(i % axes->modes, axes->length);
        const dyn_inertia inertia = {.mass = i == count - 1 ? mass : 0};
        element_text name = name_of(axes, point, "mode", i);
        dyn_joint_description joint = {.name = name.text, .type = DYN_JOINT_TYPE_PRISMATIC};
        memcpy(joint.axis, axes->across[i / axes->modes], sizeof joint.axis);
        for (int k = 0; k < 3 && i == 0; k++) {
            joint.position[k] = axes->beam->start[k] + s * axes->along[k];
        }
        status = add_follower(axes, i, beam_shape_at(&shape, s) / (2 * shape.sign), &joint, &inertia, &parent, error);
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
static dyn_status add_points(const beam_axes *axes, dyn_error *error) {
    int count = 2 * axes->modes + 4;
    dyn_status status = DYN_OK;
    for (int k = 0; k < count && status == DYN_OK; k++) {
        double x = -cos(acos(-1) * (k + 0.75) / (count + 0.5)), derivative;
        for (int i = 0; i < 10; i++) {
            double value = legendre(count, x, &derivative);
            x -= value / derivative;
        }
        legendre(count, x, &derivative);
        double weight = 1 / ((1 - x * x) * derivative * derivative);
        status =
            add_point(axes, k, axes->length * (1 + x) / 2, axes->beam->mass_per_length * axes->length * weight, error);
    }
    return status;
}

/* Connects the fixed joint with the end of the beam. */
static dyn_status move_fixed_joint(const beam_axes *axes, const element_text *end, dyn_error *error) {
    int j = name_index_find(&axes->builder->joint_names, axes->fixed.name);
    dyn_joint_description *joint = &axes->builder->joints[j];
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
    beam_axes axes = {.builder = builder,
                      .beam = beam,
                      .modes = beam->modes > 0 ? beam->modes : DEFAULT_MODES,
                      .planes = beam->rigidity[1] > 0 ? 2 : 1};
    dyn_status status = builder_check_new_name(builder, &builder->machine_element_names, DYN_MAX_MACHINE_ELEMENTS,
                                               element_of(builder, beam), error);
    status = status == DYN_OK ? check_numbers(builder, beam, error) : status;
    status = status == DYN_OK ? find_joint(builder, beam, &axes.fixed, error) : status;
    status = status == DYN_OK ? find_axes(&axes, error) : status;
    if (status != DYN_OK) {
        return status;
    }
    element_text end, clamped;
    snprintf(clamped.text, sizeof clamped.text, "%s", axes.fixed.parent_link);
    axes.fixed.parent_link = clamped.text;
    end = clamped;
    for (int i = 0; i < axes.modes * axes.planes && status == DYN_OK; i++) {
        status = add_mode(&axes, i, &end, error);
    }
    for (int i = 0; i < axes.modes * axes.planes && status == DYN_OK; i++) {
        status = add_turn(&axes, i, &end, error);
    }
    status = status == DYN_OK ? add_points(&axes, error) : status;
    return status == DYN_OK ? move_fixed_joint(&axes, &end, error) : status;
}
