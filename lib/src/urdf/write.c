/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * URDF writer: converts a description to a document. Numbers are exact and independent of the locale.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/description.h>
#include <dynamics/urdf.h>

#include "../model/description.h"
#include "../model/error.h"
#include "../model/placement.h"
#include "../model/plain_text.h"
#include "rpy.h"

/* Writes a name as the value of an attribute. */
static void write_name(FILE *out, const char *attribute, const char *name) {
    fprintf(out, " %s=\"", attribute);
    for (; *name != '\0'; name++) {
        switch (*name) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*name, out);
        }
    }
    fputc('"', out);
}

/* Writes the shortest of 15 to 17 digits that reads as the same number. */
static void write_number(FILE *out, double value) {
    char text[40];
    int digits = 15;
    do {
        snprintf(text, sizeof text, "%.*g", digits, value + 0.0);
    } while (digits++ < 17 && strtod(text, NULL) != value);
    fputs(text, out);
}

static void write_numbers(FILE *out, const char *attribute, const double *values, int count) {
    fprintf(out, " %s=\"", attribute);
    for (int i = 0; i < count; i++) {
        if (i > 0) {
            fputc(' ', out);
        }
        write_number(out, values[i]);
    }
    fputc('"', out);
}

/* Writes an <origin>, unless it is the identity. */
static void write_origin(FILE *out, const double position[3], const double rotation[9]) {
    static const double zero[3];
    bool moved = memcmp(position, zero, sizeof zero) != 0;
    bool turned = memcmp(rotation, identity_pose.rotation, sizeof identity_pose.rotation) != 0;
    if (!moved && !turned) {
        return;
    }
    fputs("    <origin", out);
    write_numbers(out, "xyz", position, 3);
    if (turned) {
        double rpy[3];
        rpy_from_rotation(rotation, rpy);
        write_numbers(out, "rpy", rpy, 3);
    }
    fputs("/>\n", out);
}

static bool is_zero(const dyn_inertia *inertia) {
    bool zero = inertia->mass == 0;
    for (int i = 0; i < 6; i++) {
        zero = zero && inertia->rotational[i] == 0 && inertia->center_of_mass[i % 3] == 0;
    }
    return zero;
}

static void write_link(FILE *out, const dyn_link_description *link) {
    static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    const dyn_inertia *inertia = &link->inertia;
    fputs("  <link", out);
    write_name(out, "name", link->name);
    if (is_zero(inertia)) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n    <inertial>\n  ", out);
    fputs("    <origin", out);
    write_numbers(out, "xyz", inertia->center_of_mass, 3);
    fputs("/>\n      <mass", out);
    write_numbers(out, "value", &inertia->mass, 1);
    fputs("/>\n      <inertia", out);
    for (int i = 0; i < 6; i++) {
        write_numbers(out, names[i], &inertia->rotational[i], 1);
    }
    fputs("/>\n    </inertial>\n  </link>\n", out);
}

/* Writes a <limit>, with a range only where the type has one. */
static void write_limits(FILE *out, const dyn_joint_description *joint) {
    const dyn_joint_limits *limits = &joint->limits;
    if (!joint->has_limits) {
        return;
    }
    fputs("    <limit", out);
    if (dyn_joint_type_traits(joint->type)->has_range) {
        write_numbers(out, "lower", &limits->lower, 1);
        write_numbers(out, "upper", &limits->upper, 1);
    }
    write_numbers(out, "velocity", &limits->velocity, 1);
    write_numbers(out, "effort", &limits->effort, 1);
    fputs("/>\n", out);
}

static void write_joint(FILE *out, const dyn_joint_description *joint) {
    fputs("  <joint", out);
    write_name(out, "name", joint->name);
    write_name(out, "type", joint_type_name(joint->type));
    fputs(">\n    <parent", out);
    write_name(out, "link", joint->parent_link);
    fputs("/>\n    <child", out);
    write_name(out, "link", joint->child_link);
    fputs("/>\n", out);
    write_origin(out, joint->position, joint->rotation);
    if (dyn_joint_type_traits(joint->type)->axes > 0) {
        fputs("    <axis", out);
        write_numbers(out, "xyz", joint->axis, 3);
        fputs("/>\n", out);
    }
    write_limits(out, joint);
    if (joint->damping != 0 || joint->friction != 0) {
        fputs("    <dynamics", out);
        write_numbers(out, "damping", &joint->damping, 1);
        write_numbers(out, "friction", &joint->friction, 1);
        fputs("/>\n", out);
    }
    if (joint->mimic_joint) {
        fputs("    <mimic", out);
        write_name(out, "joint", joint->mimic_joint);
        write_numbers(out, "multiplier", &joint->mimic_multiplier, 1);
        write_numbers(out, "offset", &joint->mimic_offset, 1);
        fputs("/>\n", out);
    }
    fputs("  </joint>\n", out);
}

/* Refuses joints that URDF cannot express. */
static dyn_status check_types(const dyn_builder *builder, dyn_error *error) {
    for (int j = 0; j < builder->joint_count; j++) {
        const dyn_joint_description *joint = &builder->joints[j];
        if (builder_is_passive(builder, j)) {
            return builder_fail(builder, error, DYN_FAILED_PRECONDITION, joint_element(builder, joint->name),
                                "it is passive, which URDF cannot state; write the description as text instead");
        }
        if (!dyn_joint_type_traits(joint->type)->in_urdf) {
            return builder_fail(builder, error, DYN_FAILED_PRECONDITION, joint_element(builder, joint->name),
                                "it is %s, and URDF has no such joint; it knows fixed, revolute, continuous, "
                                "prismatic, planar and floating ones",
                                joint_type_name(joint->type));
        }
    }
    return DYN_OK;
}

static void write_robot(FILE *out, const void *what) {
    const dyn_builder *builder = what;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<robot", out);
    write_name(out, "name", builder->name);
    fputs(">\n", out);
    for (int i = 0; i < builder->note_count; i++) {
        fputs("  <note", out);
        write_name(out, "text", builder->notes[i]);
        fputs("/>\n", out);
    }
    for (int i = 0; i < builder->link_count; i++) {
        write_link(out, &builder->links[i]);
    }
    for (int j = 0; j < builder->joint_count; j++) {
        write_joint(out, &builder->joints[j]);
    }
    fputs("</robot>\n", out);
}

dyn_status dyn_urdf_write(const dyn_builder *builder, char **text, size_t *length, dyn_error *error) {
    *text = NULL;
    *length = 0;
    if (builder->constraint_count > 0) {
        char place[DYN_PLACE_SIZE];
        snprintf(place, sizeof place, "constraint %s", builder->constraints[0].name);
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, place,
                             "URDF has no constraints; write the description as text instead");
    }
    if (builder->machine_element_count > 0) {
        char place[DYN_PLACE_SIZE];
        snprintf(place, sizeof place, "machine element %s", builder->machine_elements[0].name);
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, place,
                             "URDF cannot state the machine element \"%s\"; write the description as text instead",
                             builder->machine_elements[0].name);
    }
    if (builder->contact_surface_count > 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "contact_surfaces",
                             "URDF cannot state the contact surface \"%s\"; write the description as text instead",
                             builder->contact_surfaces[0].name);
    }
    dyn_status status = check_types(builder, error);
    return status == DYN_OK ? plain_text_write(write_robot, builder, error, text, length) : status;
}

dyn_status dyn_urdf_write_model(const dyn_model *model, char **text, size_t *length, dyn_error *error) {
    *text = NULL;
    *length = 0;
    dyn_builder *builder;
    dyn_status status = dyn_model_describe(model, &builder, error);
    if (status == DYN_OK) {
        status = dyn_urdf_write(builder, text, length, error);
        dyn_builder_free(builder);
    }
    return status;
}
