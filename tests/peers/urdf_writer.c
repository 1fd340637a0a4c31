/* SPDX-License-Identifier: BSD-2-Clause */
#include "urdf_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/contact.h>

/* Computes roll, pitch and yaw of a rotation matrix. Roll is computed after yaw is undone, so that the angles are exact
 * to rounding at every pitch. */
static void roll_pitch_yaw(const double R[9], double rpy[3]) {
    double yaw = atan2(R[3], R[0]), c = cos(yaw), s = sin(yaw);
    rpy[0] = atan2(s * R[2] - c * R[5], c * R[4] - s * R[1]);
    rpy[1] = atan2(-R[6], c * R[0] + s * R[3]);
    rpy[2] = yaw;
}

static void write_pose(FILE *out, const dyn_pose *pose) {
    double rpy[3];
    roll_pitch_yaw(pose->rotation, rpy);
    fprintf(out, "<origin xyz=\"%.17g %.17g %.17g\" rpy=\"%.17g %.17g %.17g\"/>", pose->position[0], pose->position[1],
            pose->position[2], rpy[0], rpy[1], rpy[2]);
}

/* Writes the geometry of a contact surface. A sphere of 1 m stands for a plane: URDF has none. */
static void write_surface(FILE *out, const dyn_contact_surface *s) {
    fputs("<collision>", out);
    write_pose(out, &s->pose);
    if (s->shape == DYN_CONTACT_SHAPE_BOX) {
        fprintf(out, "<geometry><box size=\"%.17g %.17g %.17g\"/></geometry>", s->size[0], s->size[1], s->size[2]);
    } else {
        fprintf(out, "<geometry><sphere radius=\"%.17g\"/></geometry>",
                s->shape == DYN_CONTACT_SHAPE_SPHERE ? s->radius : 1);
    }
    fputs("</collision>", out);
}

/* Writes the contact surfaces of a link. Returns false for a shape that is neither a sphere, a box nor a plane. */
static bool write_surfaces(FILE *out, const dyn_model *model, const char *link) {
    bool written = true;
    for (int i = 0; i < dyn_model_contact_surface_count(model); i++) {
        const dyn_contact_surface *s = dyn_model_contact_surface(model, i);
        if (strcmp(s->link ? s->link : "world", link) == 0) {
            written = written && (s->shape == DYN_CONTACT_SHAPE_SPHERE || s->shape == DYN_CONTACT_SHAPE_BOX ||
                                  s->shape == DYN_CONTACT_SHAPE_PLANE);
            write_surface(out, s);
        }
    }
    return written;
}

static bool write_link(FILE *out, const dyn_model *model, const dyn_link *link) {
    const dyn_inertia *body = &link->inertia;
    const double *c = body->center_of_mass, *I = body->rotational;
    fprintf(out, "<link name=\"%s\">", link->name);
    if (body->mass > 0 && link->moving_joint >= 0) {
        fprintf(out,
                "<inertial><origin xyz=\"%.17g %.17g %.17g\"/><mass value=\"%.17g\"/><inertia ixx=\"%.17g\" "
                "ixy=\"%.17g\" ixz=\"%.17g\" iyy=\"%.17g\" iyz=\"%.17g\" izz=\"%.17g\"/></inertial>",
                c[0], c[1], c[2], body->mass, I[0], I[1], I[2], I[3], I[4], I[5]);
    }
    bool written = write_surfaces(out, model, link->name);
    fputs("</link>\n", out);
    return written;
}

static void write_joint(FILE *out, const char *name, const char *type, const char *parent, const char *child,
                        const dyn_pose *origin, const double axis[3]) {
    fprintf(out, "<joint name=\"%s\" type=\"%s\"><parent link=\"%s\"/><child link=\"%s\"/>", name, type, parent, child);
    write_pose(out, origin);
    if (axis) {
        fprintf(out, "<axis xyz=\"%.17g %.17g %.17g\"/>", axis[0], axis[1], axis[2]);
    }
    fputs("</joint>\n", out);
}

/* Returns URDF's name of a joint type, or NULL where URDF has none. Revolute joints become continuous, because URDF
 * requires limits of revolute ones. */
static const char *type_word(dyn_joint_type type) {
    switch (type) {
    case DYN_JOINT_TYPE_REVOLUTE:
    case DYN_JOINT_TYPE_CONTINUOUS:
        return "continuous";
    case DYN_JOINT_TYPE_PRISMATIC:
        return "prismatic";
    case DYN_JOINT_TYPE_FLOATING:
        return "floating";
    default:
        return NULL;
    }
}

static bool write_moving_joints(FILE *out, const dyn_model *model) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        const char *type = type_word(joint->type);
        if (!type || joint->master >= 0) {
            return false;
        }
        const char *parent = joint->parent_link < 0 ? "world" : dyn_model_link(model, joint->parent_link)->name;
        write_joint(out, joint->name, type, parent, dyn_model_link(model, joint->child_link)->name, &joint->origin,
                    joint->type == DYN_JOINT_TYPE_FLOATING ? NULL : joint->axis);
    }
    return true;
}

/* Writes fixed joints; each fixed link is attached to the child link of the joint that it moves with. */
static void write_fixed_joints(FILE *out, const dyn_model *model) {
    for (int i = 0; i < dyn_model_link_count(model); i++) {
        const dyn_link *link = dyn_model_link(model, i);
        int moving = link->moving_joint;
        int carrier = moving < 0 ? 0 : dyn_model_joint(model, moving)->child_link;
        if (carrier != i) {
            char name[300];
            snprintf(name, sizeof name, "fixed:%s", link->name);
            write_joint(out, name, "fixed", dyn_model_link(model, carrier)->name, link->name, &link->pose, NULL);
        }
    }
}

char *urdf_write(const dyn_model *model, const char *extension) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fputs("<?xml version=\"1.0\"?>\n<robot name=\"robot\">\n", out);
    bool written = true;
    if (dyn_model_is_floating(model)) {
        fputs("<link name=\"world\">", out);
        written = write_surfaces(out, model, "world");
        fputs("</link>\n", out);
    }
    for (int i = 0; i < dyn_model_link_count(model); i++) {
        written = write_link(out, model, dyn_model_link(model, i)) && written;
    }
    written = write_moving_joints(out, model) && written;
    write_fixed_joints(out, model);
    fprintf(out, "%s</robot>\n", extension);
    if (fclose(out) != 0 || !written) {
        free(text);
        return NULL;
    }
    return text;
}
