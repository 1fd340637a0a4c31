/* SPDX-License-Identifier: BSD-2-Clause */
#include "mjcf_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/description.h>
#include <mujoco/mujoco.h>

#include "bodies.h"

static void write_numbers(FILE *out, const char *attribute, const double *x, int count) {
    fprintf(out, " %s=\"", attribute);
    for (int i = 0; i < count; i++) {
        fprintf(out, i > 0 ? " %.17g" : "%.17g", x[i]);
    }
    fputs("\"", out);
}

/* Writes position and x and y axes of a body in its parent. */
static void write_pose(FILE *out, const dyn_pose *pose) {
    const double *R = pose->rotation;
    const double axes[6] = {R[0], R[3], R[6], R[1], R[4], R[7]};
    write_numbers(out, "pos", pose->position, 3);
    write_numbers(out, "xyaxes", axes, 6);
}

static void write_inertia(FILE *out, const dyn_inertia *inertia) {
    const double *I = inertia->rotational;
    const double ordered[6] = {I[0], I[3], I[5], I[1], I[2], I[4]};
    fputs("<inertial", out);
    write_numbers(out, "pos", inertia->center_of_mass, 3);
    write_numbers(out, "mass", &inertia->mass, 1);
    write_numbers(out, "fullinertia", ordered, 6);
    fputs("/>", out);
}

/* Writes the joint of a body. Returns false for one that is neither revolute nor prismatic nor floating. */
static bool write_joint(FILE *out, const dyn_joint *joint) {
    if (joint->type == DYN_JOINT_TYPE_FLOATING) {
        fprintf(out, "<freejoint name=\"%s\"/>", joint->name);
        return true;
    }
    bool slides = joint->type == DYN_JOINT_TYPE_PRISMATIC;
    bool turns = joint->type == DYN_JOINT_TYPE_REVOLUTE || joint->type == DYN_JOINT_TYPE_CONTINUOUS;
    fprintf(out, "<joint name=\"%s\" type=\"%s\"", joint->name, slides ? "slide" : "hinge");
    write_numbers(out, "axis", joint->axis, 3);
    fputs("/>", out);
    return (slides || turns) && joint->master < 0;
}

/* Writes body number `index` of the list with its descendants. */
static bool write_body(FILE *out, const dyn_model *model, const body *list, int count, int index) {
    const body *b = &list[index];
    bool written = true;
    fprintf(out, "<body name=\"%s\"", dyn_model_link(model, b->link)->name);
    write_pose(out, &b->origin);
    fputs(">", out);
    if (b->inertia.mass > 0) {
        write_inertia(out, &b->inertia);
    }
    if (b->joint >= 0) {
        written = write_joint(out, dyn_model_joint(model, b->joint));
    }
    for (int child = index + 1; child < count; child++) {
        if (list[child].parent == index) {
            written = write_body(out, model, list, count, child) && written;
        }
    }
    fputs("</body>\n", out);
    return written;
}

static bool write_bodies(FILE *out, const dyn_model *model) {
    body *list = calloc((size_t)dyn_model_link_count(model), sizeof *list);
    bool written = list != NULL;
    int count = list ? bodies_list(model, false, list) : 0;
    fputs("<worldbody>\n", out);
    for (int i = 0; i < count; i++) {
        if (list[i].parent < 0) {
            written = write_body(out, model, list, count, i) && written;
        }
    }
    fputs("</worldbody>\n", out);
    free(list);
    return written;
}

/* ---- Equality constraints ---------------------------------------------------------------------------------------- */

/* Computes the pose of the predecessor's link in the successor's link where the frames of a constraint coincide:
 * x_S = S P^-1 x_P. The quaternion stands w first. */
static void relative_pose(const dyn_constraint_description *c, double pose[7]) {
    const double *S = c->successor.pose.rotation, *P = c->predecessor.pose.rotation;
    double R[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = S[3 * i] * P[3 * j] + S[3 * i + 1] * P[3 * j + 1] + S[3 * i + 2] * P[3 * j + 2];
        }
    }
    for (int i = 0; i < 3; i++) {
        const double *p = c->predecessor.pose.position;
        pose[i] = c->successor.pose.position[i] - R[3 * i] * p[0] - R[3 * i + 1] * p[1] - R[3 * i + 2] * p[2];
    }
    mju_mat2Quat(pose + 3, R);
}

/* Writes a linear equation c_0 q_0 + c_1 q_1 = b, or q_0 = p(q_1), as a cubic of the second coordinate. Returns false
 * where the polynomial has a higher degree than MuJoCo's, which is four. */
static bool write_polynomial(FILE *out, const dyn_constraint_description *c) {
    enum { TERMS = 5 };
    double p[DYN_MAX_POLYNOMIAL_TERMS] = {0};
    if (c->kind == DYN_CONSTRAINT_KIND_COUPLING) {
        p[0] = c->offset / c->coupled[0].coefficient;
        p[1] = -c->coupled[1].coefficient / c->coupled[0].coefficient;
    } else {
        memcpy(p, c->polynomial, (size_t)c->term_count * sizeof *p);
    }
    fprintf(out, "<joint joint1=\"%s\" joint2=\"%s\"", c->coupled[0].joint, c->coupled[1].joint);
    write_numbers(out, "polycoef", p, TERMS);
    fputs("/>\n", out);
    return c->term_count <= TERMS || c->kind == DYN_CONSTRAINT_KIND_COUPLING;
}

/* Writes a constraint. Returns false where MuJoCo has none of this kind. */
static bool write_equality(FILE *out, const dyn_constraint_description *c) {
    bool is_loop = c->kind == DYN_CONSTRAINT_KIND_LOOP_JOINT;
    if (c->kind == DYN_CONSTRAINT_KIND_COUPLING || c->kind == DYN_CONSTRAINT_KIND_POLYNOMIAL) {
        return c->coupled[1].joint && !c->coupled[2].joint && write_polynomial(out, c);
    }
    if (!is_loop || (c->type != DYN_JOINT_TYPE_FIXED && c->type != DYN_JOINT_TYPE_SPHERICAL) || !c->successor.link) {
        return false;
    }
    bool is_fixed = c->type == DYN_JOINT_TYPE_FIXED;
    fprintf(out, "<%s body1=\"%s\"", is_fixed ? "weld" : "connect", c->successor.link);
    if (c->predecessor.link) {
        fprintf(out, " body2=\"%s\"", c->predecessor.link);
    }
    if (is_fixed) {
        double pose[7];
        relative_pose(c, pose);
        write_numbers(out, "relpose", pose, 7);
    } else {
        write_numbers(out, "anchor", c->successor.pose.position, 3);
    }
    fputs("/>\n", out);
    return true;
}

static bool write_equalities(FILE *out, const dyn_model *model, char reason[MJCF_REASON_SIZE]) {
    dyn_builder *description;
    dyn_error error;
    if (dyn_model_describe(model, &description, &error) != DYN_OK) {
        snprintf(reason, MJCF_REASON_SIZE, "%.200s", error.message);
        return false;
    }
    bool written = true;
    fputs("<equality>\n", out);
    for (int i = 0; i < dyn_builder_constraint_count(description) && written; i++) {
        const dyn_constraint_description *c = dyn_builder_constraint(description, i);
        written = write_equality(out, c);
        if (!written) {
            snprintf(reason, MJCF_REASON_SIZE, "MuJoCo has no such constraint as %.150s", c->name);
        }
    }
    fputs("</equality>\n", out);
    dyn_builder_free(description);
    return written;
}

char *mjcf_write(const dyn_model *model, char reason[MJCF_REASON_SIZE]) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        snprintf(reason, MJCF_REASON_SIZE, "memory is exhausted");
        return NULL;
    }
    snprintf(reason, MJCF_REASON_SIZE, "a joint is neither revolute nor prismatic nor floating");
    fputs("<mujoco>\n<compiler angle=\"radian\" balanceinertia=\"false\" boundmass=\"0\" boundinertia=\"0\"/>\n"
          "<option jacobian=\"dense\" solver=\"Newton\" iterations=\"20\" tolerance=\"1e-12\"/>\n",
          out);
    bool written = write_bodies(out, model) && write_equalities(out, model, reason);
    fputs("</mujoco>\n", out);
    if (fclose(out) != 0 || !written) {
        free(text);
        return NULL;
    }
    return text;
}
