/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts screw axes and home matrices of a serial robot to a description, and a model back to them.
 */
#include <dynamics/screws.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dynamics/inertia.h>

#include "derivation.h"
#include "error.h"
#include "joint_displacement.h"
#include "placement.h"
#include "scaled_joint.h"
#include "vector3.h"

static dyn_status fail_at(const char *list, int k, dyn_error *error, const char *message) {
    const dyn_error_site site = {.argument = list, .has_item = true, .item = (size_t)k};
    return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%s", message);
}

/* ---- From screws ------------------------------------------------------------------------------------------------- */

static dyn_status read_displacement(int k, const double M[16], dyn_error *error, dyn_pose *pose) {
    bool finite = true;
    for (int i = 0; i < 3; i++) {
        memcpy(pose->rotation + 3 * i, M + 4 * i, 3 * sizeof *M);
        pose->position[i] = M[4 * i + 3];
        finite = finite && isfinite(pose->position[i]);
    }
    if (!finite || !is_rotation(pose->rotation) || M[12] != 0 || M[13] != 0 || M[14] != 0 || M[15] != 1) {
        return fail_at("Mlist", k, error,
                       "the matrix is no rigid displacement: it holds a rotation, orthonormal to 1e-9, beside a finite "
                       "position, and its last row is 0 0 0 1");
    }
    return DYN_OK;
}

/* Returns whether G is symmetric, with the blocks m 1 and m c~, to 1e-9 of its largest entry. */
static bool is_spatial_inertia(const double G[36]) {
    double scale = 0, off = 0;
    for (int i = 0; i < 36; i++) {
        if (!isfinite(G[i])) {
            return false;
        }
        scale = fmax(scale, fabs(G[i]));
        off = fmax(off, fabs(G[i] - G[6 * (i % 6) + i / 6]));
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            off = fmax(off, fabs(G[6 * i + 3 + j] + G[6 * j + 3 + i]));
            off = fmax(off, fabs(G[6 * (3 + i) + 3 + j] - (i == j ? G[21] : 0)));
        }
    }
    return off <= 1e-9 * scale;
}

static dyn_status read_inertia(int k, const double G[36], dyn_error *error, dyn_inertia *inertia) {
    if (!is_spatial_inertia(G)) {
        return fail_at("Glist", k, error,
                       "the matrix is no spatial inertia: it is symmetric, angular part first, with the blocks m 1 for "
                       "the mass and m c~ for the centre of mass");
    }
    const double p[10] = {G[21], G[16], G[5], G[9], G[0], G[1], G[7], G[2], G[8], G[14]};
    if (p[0] == 0) {
        *inertia = (dyn_inertia){.rotational = {G[0], G[1], G[2], G[7], G[8], G[14]}};
        return DYN_OK;
    }
    dyn_error bad;
    return dyn_inertia_from_parameters(p, inertia, &bad) == DYN_OK ? DYN_OK : fail_at("Glist", k, error, bad.message);
}

/* Largest difference of a screw's length from 1 that counts as rounding. */
static const double UNIT_TOLERANCE = 1e-6;

/* Computes a joint from its screw: type, pitch, axis in {0}, and the point of the axis that is nearest to `origin`.
 * `length` is |w|, or |v| where w is zero; it is exactly 1 where it differs from 1 by rounding only. */
static dyn_status read_screw(int k, const double S[6], const double origin[3], dyn_error *error,
                             dyn_joint_description *joint, double point[3], double *length) {
    const double *w = S, *v = S + 3;
    double turn = sqrt(vector3_dot(w, w)), shift = sqrt(vector3_dot(v, v));
    bool prismatic = turn == 0;
    *length = prismatic ? shift : turn;
    if (!(*length > 0) || !isfinite(turn) || !isfinite(shift)) {
        return fail_at("Slist", k, error,
                       "this is no screw: w, or v where w is zero, must have a length other than zero, and all "
                       "numbers must be finite");
    }
    memcpy(point, origin, 3 * sizeof *point);
    memcpy(joint->axis, prismatic ? v : w, sizeof joint->axis);
    joint->type = DYN_JOINT_TYPE_PRISMATIC;
    if (!prismatic) {
        double foot[3], to_origin[3], pitch = vector3_dot(w, v) / (turn * turn);
        bool screw = fabs(pitch) > 1e-12 * fmax(1, shift / turn);
        vector3_cross(w, v, foot); /* |w|^2 times the point of the axis that is nearest to {0} */
        for (int i = 0; i < 3; i++) {
            foot[i] /= turn * turn;
            to_origin[i] = origin[i] - foot[i];
        }
        for (int i = 0; i < 3; i++) {
            point[i] = foot[i] + vector3_dot(w, to_origin) * w[i] / (turn * turn);
        }
        joint->pitch = screw ? pitch : 0;
        joint->type = screw ? DYN_JOINT_TYPE_HELICAL : DYN_JOINT_TYPE_CONTINUOUS;
    }
    *length = fabs(*length - 1) <= UNIT_TOLERANCE ? 1 : *length;
    return DYN_OK;
}

/* Adds a joint that advances by `length` times its coordinate. Unless the length is 1, a massless link "jointI:unit"
 * and a mimic joint "jointI:rest" about the same axis, which adds length - 1 times the coordinate, follow the joint. */
static dyn_status add_scaled_joint(dyn_builder *builder, const dyn_joint_description *joint, double length,
                                   const dyn_pose *offset, dyn_error *error) {
    if (length == 1) {
        return add_joint_with_offset(builder, joint, offset, error);
    }
    char unit[48], rest[48];
    snprintf(unit, sizeof unit, "%s:unit", joint->name);
    snprintf(rest, sizeof rest, "%s:rest", joint->name);
    const dyn_link_description massless = {.name = unit, .row = joint->row};
    dyn_joint_description first = *joint, second = *joint;
    first.child_link = second.parent_link = unit;
    second.name = rest;
    second.mimic_joint = joint->name;
    second.mimic_multiplier = length - 1;
    memcpy(second.position, identity_pose.position, sizeof second.position);
    memcpy(second.rotation, identity_pose.rotation, sizeof second.rotation);
    dyn_status status = dyn_builder_add_link(builder, &massless, error);
    status = status == DYN_OK ? dyn_builder_add_joint(builder, &first, error) : status;
    return status == DYN_OK ? add_joint_with_offset(builder, &second, offset, error) : status;
}

/* Adds joint i = k + 1 between links i - 1 and i, whose frames have the poses `before` and `at` in {0} at home. The
 * joint frame has the axes of {i}. */
static dyn_status add_screw(dyn_builder *builder, int k, const double S[6], const dyn_pose *before, const dyn_pose *at,
                            const dyn_inertia *inertia, dyn_error *error) {
    char name[32], parent[32], child[32];
    snprintf(name, sizeof name, "joint%d", k + 1);
    snprintf(parent, sizeof parent, "link%d", k);
    snprintf(child, sizeof child, "link%d", k + 1);
    const dyn_link_description link = {.name = child, .inertia = *inertia, .row = k + 1};
    dyn_joint_description joint = {.name = name, .parent_link = parent, .child_link = child, .row = k + 1};
    dyn_pose frame = *at, offset = identity_pose, back, in_parent;
    double axis[3], turned[9], gap[3], length;
    dyn_status status = read_screw(k, S, at->position, error, &joint, frame.position, &length);
    if (status == DYN_OK) {
        status = dyn_builder_add_link(builder, &link, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    rotation_transpose(at->rotation, turned);
    rotation_apply(turned, joint.axis, axis);
    memcpy(joint.axis, axis, sizeof axis);
    for (int i = 0; i < 3; i++) {
        gap[i] = at->position[i] - frame.position[i];
    }
    rotation_apply(turned, gap, offset.position);
    pose_invert(before, &back);
    pose_compose(&back, &frame, &in_parent);
    memcpy(joint.position, in_parent.position, sizeof joint.position);
    memcpy(joint.rotation, in_parent.rotation, sizeof joint.rotation);
    return add_scaled_joint(builder, &joint, length, &offset, error);
}

/* Adds the base, all links and joints, and the end effector. */
static dyn_status add_chain(dyn_builder *builder, int n, const double *Mlist, const double *Glist, const double *Slist,
                            dyn_error *error) {
    const dyn_link_description base = {.name = "link0"}, tip = {.name = "end_effector"};
    dyn_pose before = identity_pose, step, at;
    dyn_status status = dyn_builder_add_link(builder, &base, error);
    for (int k = 0; status == DYN_OK && k < n; k++) {
        double S[6];
        dyn_inertia inertia;
        for (int i = 0; i < 6; i++) {
            S[i] = Slist[i * n + k];
        }
        status = read_displacement(k, Mlist + 16 * k, error, &step);
        if (status == DYN_OK) {
            status = read_inertia(k, Glist + 36 * k, error, &inertia);
        }
        if (status == DYN_OK) {
            pose_compose(&before, &step, &at);
            status = add_screw(builder, k, S, &before, &at, &inertia, error);
            before = at;
        }
    }
    if (status == DYN_OK) {
        status = read_displacement(n, Mlist + 16 * n, error, &step);
    }
    if (status == DYN_OK) {
        status = dyn_builder_add_link(builder, &tip, error);
    }
    char last[32];
    snprintf(last, sizeof last, "link%d", n);
    return status == DYN_OK ? add_fixed_joint(builder, tip.name, last, tip.name, &step, error) : status;
}

dyn_status dyn_screws_describe(const char *name, int n, const double *Mlist, const double *Glist, const double *Slist,
                               dyn_builder **builder, dyn_error *error) {
    *builder = NULL;
    dyn_builder *described;
    dyn_status status = dyn_builder_create(name, &described, error);
    if (status != DYN_OK) {
        return status;
    }
    status = add_chain(described, n, Mlist, Glist, Slist, error);
    if (status != DYN_OK) {
        dyn_builder_free(described);
        return status;
    }
    *builder = described;
    return DYN_OK;
}

/* ---- To screws --------------------------------------------------------------------------------------------------- */

/* Refuses a model with a constraint, a machine element or a contact surface, which screws cannot state. */
static dyn_status check_elements(const dyn_builder *builder, dyn_error *error) {
    const char *name = NULL;
    dyn_element_kind kind = DYN_ELEMENT_KIND_NONE;
    if (builder->constraint_count > 0) {
        name = builder->constraints[0].name, kind = DYN_ELEMENT_KIND_CONSTRAINT;
    } else if (builder->machine_element_count > 0) {
        name = builder->machine_elements[0].name, kind = DYN_ELEMENT_KIND_MACHINE_ELEMENT;
    } else if (builder->contact_surface_count > 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "contact_surfaces",
                             "screws cannot state the contact surface \"%s\"; export the description instead",
                             builder->contact_surfaces[0].name);
    }
    return !name ? DYN_OK
                 : builder_fail(builder, error, DYN_FAILED_PRECONDITION, (named_element){{.kind = kind}, name},
                                "screws cannot state the %s \"%s\"; export the description instead",
                                element_kind_name(kind), name);
}

/* Refuses a model that is no serial chain of joints with one coordinate on a fixed base. */
static dyn_status check_chain(const dyn_model *model, int tip, dyn_error *error) {
    for (int i = 0; i < model->body_count; i++) {
        const dyn_joint *joint = &model->joints[model->bodies[i].joint];
        const char *what = joint->nv > 1             ? "has more than one coordinate"
                           : joint->motion_count > 0 ? "is custom, and its screw depends on its coordinate"
                           : joint->master >= 0 && !continues_screw(model, i) ? "is coupled to another joint"
                           : model->bodies[i].parent != i - 1                 ? "begins a branch"
                           : dyn_model_joint_is_passive(model, model->bodies[i].joint)
                               ? "is passive, which screws cannot state"
                               : NULL;
        if (what) {
            return builder_fail(model->description, error, DYN_FAILED_PRECONDITION,
                                joint_element(model->description, joint->name),
                                "it %s; screws describe a serial chain, on a fixed base, of joints with one coordinate "
                                "each",
                                what);
        }
    }
    bool known = tip >= 0 && tip < model->link_count && model->frames[tip].body == model->body_count - 1;
    const dyn_error_site site = {.argument = "tip"};
    return known ? DYN_OK
                 : dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "frame %d does not move with the last joint of robot %s", tip, model->name);
}

static void write_displacement(const dyn_pose *pose, double M[16]) {
    for (int i = 0; i < 3; i++) {
        memcpy(M + 4 * i, pose->rotation + 3 * i, 3 * sizeof *M);
        M[4 * i + 3] = pose->position[i];
        M[12 + i] = 0;
    }
    M[15] = 1;
}

/* Returns frame {i} in the frame of the body: at its centre of mass, in the axes of the child link. */
static dyn_pose mass_frame(const dyn_model *model, const body *b) {
    dyn_pose frame = model->frames[model->joints[b->joint].child_link].pose;
    for (int i = 0; i < 3 && b->mass > 0; i++) {
        frame.position[i] = b->first_moment[i] / b->mass;
    }
    return frame;
}

/* Writes the body's spatial inertia in a frame, given the pose of that frame in the body's. */
static void write_inertia(const body *b, const dyn_pose *frame, double G[36]) {
    mass_properties own = {.mass = b->mass};
    memcpy(own.first_moment, b->first_moment, sizeof own.first_moment);
    memcpy(own.inertia, b->inertia, sizeof own.inertia);
    dyn_pose back;
    pose_invert(frame, &back);
    mass_properties at = mass_properties_move(&back, &own);
    const double *I = at.inertia;
    memset(G, 0, 36 * sizeof *G);
    G[0] = I[0], G[7] = I[3], G[14] = I[5];
    G[1] = G[6] = I[1];
    G[2] = G[12] = I[2];
    G[8] = G[13] = I[4];
    G[21] = G[28] = G[35] = at.mass;
}

/* Writes the pose of `frame` of the body at `place` in the frame at *before, which it becomes. */
static void write_home(const dyn_pose *place, const dyn_pose *frame, dyn_pose *before, double M[16]) {
    dyn_pose at, back, step;
    pose_compose(place, frame, &at);
    pose_invert(before, &back);
    pose_compose(&back, &at, &step);
    write_displacement(&step, M);
    *before = at;
}

dyn_status dyn_model_screws(const dyn_model *model, int tip, double *Mlist, double *Glist, double *Slist,
                            dyn_error *error) {
    dyn_status status = check_elements(model->description, error);
    if (status == DYN_OK) {
        status = check_chain(model, tip, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    int n = model->nv, k = 0;                               /* k: coordinate of the body */
    dyn_pose place = identity_pose, before = identity_pose; /* poses in {0} of the body and of {k} */
    memset(Slist, 0, (size_t)(6 * n) * sizeof *Slist);
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        dyn_pose step, moved;
        double S[6];
        memcpy(step.rotation, b->rotation, sizeof step.rotation);
        memcpy(step.position, b->position, sizeof step.position);
        pose_compose(&place, &step, &moved);
        place = moved;
        body_screw(b, place.rotation, place.position, S);
        for (int j = 0; j < 6; j++) {
            Slist[j * n + k] += b->ratio * S[j];
        }
        if (!continues_screw(model, i + 1)) {
            dyn_pose frame = mass_frame(model, b);
            write_inertia(b, &frame, Glist + 36 * k);
            write_home(&place, &frame, &before, Mlist + 16 * k++);
        }
    }
    write_home(&place, &model->frames[tip].pose, &before, Mlist + 16 * n);
    return DYN_OK;
}
