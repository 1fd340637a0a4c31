/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Poses and velocities of two links follow from a walk from the root to each of them; the force of the element from
 * these; and r = J' (n; f) from a second walk, which projects the wrench on the axes of the joints that it passes. All
 * vectors are in the axes of the world, and wrenches about its origin.
 */
#include "../model/vector3.h"
#include "link_force.h"

#include <math.h>
#include <string.h>

#include "../model/description.h"
#include "../model/joint_displacement.h"
#include "../model/machine_element.h"
#include "../model/normal_form.h"
#include "../model/placement.h"

enum { MOST_AXES = 6 };

/* Frame in the world and its velocity: w, and that of its origin. */
typedef struct moving_frame {
    dyn_pose pose;
    double w[3], v[3];
} moving_frame;

/* State of a model, and what a walk adds at each joint: r = factor J' (n; f), unless tau is NULL. */
typedef struct walk {
    const dyn_model *model;
    const double *q, *v; /* v NULL: zeros */
    double n[3], f[3];
    double factor, *tau;
} walk;

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

/* y += s x */
static void add_scaled(double s, const double x[3], double y[3]) {
    for (int i = 0; i < 3; i++) {
        y[i] += s * x[i];
    }
}

static void difference(const double a[3], const double b[3], double c[3]) {
    for (int i = 0; i < 3; i++) {
        c[i] = a[i] - b[i];
    }
}

/* u = A' v */
static void rotation_apply_transposed(const double A[9], const double v[3], double u[3]) {
    for (int i = 0; i < 3; i++) {
        u[i] = A[i] * v[0] + A[3 + i] * v[1] + A[6 + i] * v[2];
    }
}

/* ---- Joints ------------------------------------------------------------------------------------------------------ */

/* Axis of a joint: angular velocity, and velocity of the origin of its child link, for a unit rate. */
typedef struct joint_axis {
    double w[3], v[3];
} joint_axis;

/* Fills three axes of rotation (where `turns`) or translation along the columns of R. */
static void fill_axes(const double R[9], bool turns, joint_axis axes[3]) {
    for (int k = 0; k < 3; k++) {
        double *to = turns ? axes[k].w : axes[k].v;
        to[0] = R[k], to[1] = R[3 + k], to[2] = R[6 + k];
    }
}

/* Computes the axes of a planar joint: two translations in the plane of the child link, and the turn. */
static void fill_planar(const dyn_joint *joint, const double R[9], joint_axis axes[3]) {
    double from_z[9], turned[9];
    joint_axis columns[3] = {0};
    rotation_from_z(joint->axis, from_z);
    rotation_multiply(R, from_z, turned);
    fill_axes(turned, false, columns);
    axes[0] = columns[0], axes[1] = columns[1];
    memcpy(axes[2].w, columns[2].v, sizeof axes[2].w);
}

/* Computes the axis of a custom joint at its own variable q: the sum of those of its motions, times f'. */
static void fill_custom(const dyn_joint *joint, double q, const dyn_pose *before, const dyn_pose *after,
                        joint_axis *axis) {
    dyn_pose at = *before;
    for (int k = 0; k < joint->motion_count; k++) {
        const dyn_joint_motion *m = &joint->motions[k];
        double f[4], along[3], arm[3], swing[3];
        dyn_joint_function_at(&m->function, q, f);
        rotation_apply(at.rotation, m->axis, along);
        if (m->kind == DYN_JOINT_MOTION_KIND_ROTATION) {
            difference(after->position, at.position, arm);
            vector3_cross(along, arm, swing);
            add_scaled(f[1], along, axis->w);
            add_scaled(f[1], swing, axis->v);
        } else {
            add_scaled(f[1], along, axis->v);
        }
        dyn_pose from = at, step = motion_displacement(m, f[0]);
        pose_compose(&from, &step, &at);
    }
}

/* Computes the axes of a joint with the own variables q, whose frame has the pose `before`, and whose child link has
 * the pose `after`. Returns their number. */
static int find_axes(const dyn_joint *joint, const double *q, const dyn_pose *before, const dyn_pose *after,
                     joint_axis axes[MOST_AXES]) {
    const double *R = after->rotation;
    memset(axes, 0, MOST_AXES * sizeof *axes);
    switch (joint->type) {
    case DYN_JOINT_TYPE_FIXED:
        return 0;
    case DYN_JOINT_TYPE_REVOLUTE:
    case DYN_JOINT_TYPE_CONTINUOUS:
        rotation_apply(R, joint->axis, axes[0].w);
        return 1;
    case DYN_JOINT_TYPE_PRISMATIC:
        rotation_apply(R, joint->axis, axes[0].v);
        return 1;
    case DYN_JOINT_TYPE_HELICAL:
        rotation_apply(R, joint->axis, axes[0].w);
        add_scaled(joint->pitch, axes[0].w, axes[0].v);
        return 1;
    case DYN_JOINT_TYPE_CYLINDRICAL:
        rotation_apply(R, joint->axis, axes[0].w);
        rotation_apply(R, joint->axis, axes[1].v);
        return 2;
    case DYN_JOINT_TYPE_UNIVERSAL:
        rotation_apply(before->rotation, joint->axis, axes[0].w);
        rotation_apply(R, joint->second_axis, axes[1].w);
        return 2;
    case DYN_JOINT_TYPE_PLANAR:
        fill_planar(joint, R, axes);
        return 3;
    case DYN_JOINT_TYPE_SPHERICAL:
        fill_axes(R, true, axes);
        return 3;
    case DYN_JOINT_TYPE_FLOATING:
        fill_axes(R, false, axes);
        fill_axes(R, true, axes + 3);
        return 6;
    case DYN_JOINT_TYPE_CUSTOM:
        fill_custom(joint, *q, before, after, &axes[0]);
        return 1;
    }
    return 0;
}

static moving_frame walk_to_link(const walk *x, int link);

/* Returns the child link of a joint, and adds the part of the joint to tau. */
static moving_frame pass_joint(const walk *x, const dyn_joint *joint) {
    moving_frame frame = walk_to_link(x, joint->parent_link), parent = frame;
    bool follows = joint->master >= 0;
    double ratio = follows ? joint->multiplier : 1, single = ratio * x->q[joint->q_index] + joint->offset;
    joint_axis axes[MOST_AXES];
    const double *own = follows ? &single : x->q + joint->q_index;
    dyn_pose before, moved = joint_displacement(joint, own);
    pose_compose(&parent.pose, &joint->origin, &before);
    pose_compose(&before, &moved, &frame.pose);
    double arm[3], swing[3];
    difference(frame.pose.position, parent.pose.position, arm);
    vector3_cross(parent.w, arm, swing);
    add_scaled(1, swing, frame.v);
    int count = find_axes(joint, own, &before, &frame.pose, axes);
    for (int k = 0; k < count; k++) {
        double rate = x->v ? ratio * x->v[joint->v_index + k] : 0, moment[3];
        add_scaled(rate, axes[k].w, frame.w);
        add_scaled(rate, axes[k].v, frame.v);
        if (x->tau) {
            vector3_cross(frame.pose.position, x->f, moment);
            difference(x->n, moment, moment);
            x->tau[joint->v_index + k] +=
                x->factor * ratio * (vector3_dot(axes[k].w, moment) + vector3_dot(axes[k].v, x->f));
        }
    }
    return frame;
}

/* Returns the frame of a link, the world's for -1, and adds the parts of all joints that carry it to tau. */
static moving_frame walk_to_link(const walk *x, int link) {
    moving_frame frame = {.pose = identity_pose};
    if (link < 0) {
        return frame;
    }
    const dyn_link *l = &x->model->links[link];
    moving_frame carrier = l->moving_joint < 0 ? frame : pass_joint(x, &x->model->joints[l->moving_joint]);
    frame = carrier;
    pose_compose(&carrier.pose, &l->pose, &frame.pose);
    double arm[3], swing[3];
    difference(frame.pose.position, carrier.pose.position, arm);
    vector3_cross(carrier.w, arm, swing);
    add_scaled(1, swing, frame.v);
    return frame;
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

/* Point of a link in the world. */
typedef struct moving_point {
    double p[3], v[3];
} moving_point;

static moving_point point_of(const moving_frame *frame, const double position[3]) {
    moving_point point;
    double arm[3], swing[3];
    rotation_apply(frame->pose.rotation, position, arm);
    vector3_cross(frame->w, arm, swing);
    for (int i = 0; i < 3; i++) {
        point.p[i] = frame->pose.position[i] + arm[i];
        point.v[i] = frame->v[i] + swing[i];
    }
    return point;
}

/* Wrench that an element exerts on its link, about the origin of the world; the other link has the opposite one. */
typedef struct link_wrench {
    double n[3], f[3];
} link_wrench;

/* Adds a force that acts at p. */
static void add_force(const double p[3], const double f[3], link_wrench *to) {
    double moment[3];
    vector3_cross(p, f, moment);
    add_scaled(1, f, to->f);
    add_scaled(1, moment, to->n);
}

static link_wrench strut_wrench(const dyn_machine_element_description *e, const dyn_passive_parts *parts,
                                const moving_frame frames[2]) {
    const dyn_strut *s = &e->strut;
    moving_point own = point_of(&frames[0], s->position), other = point_of(&frames[1], s->other_position);
    link_wrench wrench = {0};
    double along[3], velocity[3], force[3] = {0};
    difference(own.p, other.p, along);
    difference(own.v, other.v, velocity);
    double length = sqrt(vector3_dot(along, along));
    bool is_cable = e->kind == DYN_MACHINE_ELEMENT_KIND_CABLE;
    if (length == 0 || (is_cable && length <= s->rest)) {
        return wrench;
    }
    double tension = parts->springs ? s->stiffness * (length - s->rest) - s->push : 0;
    tension += parts->damping ? s->damping * vector3_dot(velocity, along) / length : 0;
    tension = is_cable ? fmax(0, tension) : tension;
    add_scaled(-tension / length, along, force);
    add_force(own.p, force, &wrench);
    return wrench;
}

/* Computes the rotation vector p of R. */
static void rotation_vector(const double R[9], double p[3]) {
    const double twice[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    double sine = sqrt(vector3_dot(twice, twice)) / 2, cosine = (R[0] + R[4] + R[8] - 1) / 2,
           angle = atan2(sine, cosine);
    double scale = sine > 1e-9 ? angle / (2 * sine) : 0.5;
    for (int i = 0; i < 3; i++) {
        p[i] = scale * twice[i];
    }
}

/* Computes t = J(p)^-T m with J^-1 = 1 - p~ / 2 + c p~ p~, for the angular velocity in the axes of the other frame. */
static void torque_of_moment(const double p[3], const double m[3], double t[3]) {
    double square = vector3_dot(p, p), angle = sqrt(square), first[3], second[3];
    double c = angle > 1e-4 ? (1 - angle / 2 / tan(angle / 2)) / square : 1.0 / 12;
    vector3_cross(p, m, first);
    vector3_cross(p, first, second);
    for (int i = 0; i < 3; i++) {
        t[i] = m[i] + first[i] / 2 + c * second[i];
    }
}

/* Position and orientation of the link's frame in the other frame of a bushing, and their rates. */
typedef struct bushing_state {
    double d[3], p[3], rate[3], w[3];
} bushing_state;

static bushing_state state_of_bushing(const dyn_bushing *b, const moving_frame frames[2], moving_point *own) {
    const double *R = frames[1].pose.rotation;
    moving_point other = point_of(&frames[1], b->other_position);
    bushing_state state;
    double apart[3], velocity[3], swing[3], w[3], transposed[9], relative[9];
    *own = point_of(&frames[0], b->position);
    difference(own->p, other.p, apart);
    difference(own->v, other.v, velocity);
    vector3_cross(frames[1].w, apart, swing);
    difference(velocity, swing, velocity);
    difference(frames[0].w, frames[1].w, w);
    rotation_apply_transposed(R, apart, state.d);
    rotation_apply_transposed(R, velocity, state.rate);
    rotation_apply_transposed(R, w, state.w);
    rotation_transpose(R, transposed);
    rotation_multiply(transposed, frames[0].pose.rotation, relative);
    rotation_vector(relative, state.p);
    return state;
}

static link_wrench bushing_wrench(const dyn_machine_element_description *e, const dyn_passive_parts *parts,
                                  const moving_frame frames[2]) {
    const dyn_bushing *b = &e->bushing;
    moving_point own;
    bushing_state state = state_of_bushing(b, frames, &own);
    link_wrench wrench = {0};
    double force[3], moment[3], torque[3], turned[3];
    for (int i = 0; i < 3; i++) {
        force[i] = parts->springs ? -b->stiffness[i] * state.d[i] : 0;
        force[i] -= parts->damping ? b->damping[i] * state.rate[i] : 0;
        moment[i] = parts->springs ? -b->rotational_stiffness[i] * state.p[i] : 0;
    }
    torque_of_moment(state.p, moment, torque);
    for (int i = 0; i < 3; i++) {
        torque[i] -= parts->damping ? b->rotational_damping[i] * state.w[i] : 0;
    }
    rotation_apply(frames[1].pose.rotation, force, turned);
    add_force(own.p, turned, &wrench);
    rotation_apply(frames[1].pose.rotation, torque, turned);
    add_scaled(1, turned, wrench.n);
    return wrench;
}

/* Computes -(c + c_2 |x|) x along each axis of R, for x in the axes of the world. */
static void drag_of(const double R[9], const double linear[3], const double quadratic[3], const double x[3],
                    double drag[3]) {
    double own[3];
    rotation_apply_transposed(R, x, own);
    for (int i = 0; i < 3; i++) {
        own[i] = -(linear[i] + quadratic[i] * fabs(own[i])) * own[i];
    }
    rotation_apply(R, own, drag);
}

static link_wrench fluid_wrench(const dyn_model *model, const dyn_fluid *fluid, const dyn_passive_parts *parts,
                                const moving_frame *frame) {
    moving_point center = point_of(frame, fluid->center);
    link_wrench wrench = {0};
    double force[3] = {0}, drag[3], torque[3], flow[3];
    if (parts->springs) {
        add_scaled(-fluid->density * fluid->volume, model->gravity, force);
    }
    if (parts->damping) {
        difference(center.v, fluid->current, flow);
        drag_of(frame->pose.rotation, fluid->drag, fluid->quadratic_drag, flow, drag);
        drag_of(frame->pose.rotation, fluid->rotational_drag, fluid->quadratic_rotational_drag, frame->w, torque);
        add_scaled(1, drag, force);
        add_scaled(1, torque, wrench.n);
    }
    add_force(center.p, force, &wrench);
    return wrench;
}

/* Finds the links of an element; -1: the world. */
static void find_links(const dyn_model *model, const dyn_machine_element_description *e, int links[2]) {
    links[0] = name_index_find(&model->link_names, e->link);
    links[1] = e->other_link ? name_index_find(&model->link_names, e->other_link) : -1;
}

int dyn_link_force_count(const dyn_model *model) {
    int count = 0;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        count += acts_on_links(model->description->machine_elements[i].kind);
    }
    return count;
}

void dyn_add_link_force(const dyn_model *model, int element, const dyn_passive_parts *parts, double factor,
                        const double *q, const double *v, double *tau) {
    const dyn_machine_element_description *e = &model->description->machine_elements[element];
    int links[2];
    if (!acts_on_links(e->kind)) {
        return;
    }
    walk there = {.model = model, .q = q, .v = v};
    find_links(model, e, links);
    const moving_frame frames[2] = {walk_to_link(&there, links[0]), walk_to_link(&there, links[1])};
    link_wrench wrench = e->kind == DYN_MACHINE_ELEMENT_KIND_FLUID     ? fluid_wrench(model, &e->fluid, parts, frames)
                         : e->kind == DYN_MACHINE_ELEMENT_KIND_BUSHING ? bushing_wrench(e, parts, frames)
                                                                       : strut_wrench(e, parts, frames);
    memcpy(there.n, wrench.n, sizeof there.n);
    memcpy(there.f, wrench.f, sizeof there.f);
    there.tau = tau;
    there.factor = factor;
    walk_to_link(&there, links[0]);
    if (e->kind != DYN_MACHINE_ELEMENT_KIND_FLUID) {
        there.factor = -factor;
        walk_to_link(&there, links[1]);
    }
}

/* Returns x' k x / 2. */
static double energy_of(const double k[3], const double x[3]) {
    return (k[0] * x[0] * x[0] + k[1] * x[1] * x[1] + k[2] * x[2] * x[2]) / 2;
}

double dyn_link_force_energy(const dyn_model *model, int element, const double *q) {
    const dyn_machine_element_description *e = &model->description->machine_elements[element];
    int links[2];
    if (!acts_on_links(e->kind)) {
        return 0;
    }
    const walk there = {.model = model, .q = q};
    find_links(model, e, links);
    const moving_frame frames[2] = {walk_to_link(&there, links[0]), walk_to_link(&there, links[1])};
    moving_point own;
    if (e->kind == DYN_MACHINE_ELEMENT_KIND_FLUID) {
        own = point_of(&frames[0], e->fluid.center);
        return e->fluid.density * e->fluid.volume * vector3_dot(model->gravity, own.p);
    }
    if (e->kind == DYN_MACHINE_ELEMENT_KIND_BUSHING) {
        bushing_state state = state_of_bushing(&e->bushing, frames, &own);
        return energy_of(e->bushing.stiffness, state.d) + energy_of(e->bushing.rotational_stiffness, state.p);
    }
    moving_point other = point_of(&frames[1], e->strut.other_position);
    double along[3];
    own = point_of(&frames[0], e->strut.position);
    difference(own.p, other.p, along);
    double stretch = sqrt(vector3_dot(along, along)) - e->strut.rest;
    stretch = e->kind == DYN_MACHINE_ELEMENT_KIND_CABLE ? fmax(0, stretch) : stretch;
    return e->strut.stiffness * stretch * stretch / 2 - e->strut.push * stretch;
}
