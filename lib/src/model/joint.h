/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joints of the normal form: S_i is a selection of coordinate axes, so that S x, S' f and the columns of an inertia are
 * components and no products. Functions whose result depends on the motion type have it as an argument besides the
 * body. If a caller passes a constant, the compiler retains only its case.
 *
 * Source: Featherstone 2008, table 4.1.
 */
#ifndef DYNAMICS_MODEL_JOINT_H
#define DYNAMICS_MODEL_JOINT_H

#include "normal_form.h"
#include "../spatial/inertia.h"

/* Constants of a body, rounded to the precision of the instance. */
#if defined DYN_FLOAT
typedef rounded_body body_constants;
typedef rounded_grouping grouping_constants;

static inline const body_constants *constants_of(const body *b) {
    return &b->rounded;
}
#else
typedef body body_constants;
typedef mass_grouping grouping_constants;

static inline const body_constants *constants_of(const body *b) {
    return b;
}
#endif

/* Returns S x, the motion of the body relative to its parent for the joint's nv rates, or accelerations, x. */
static inline motion joint_motion(const body *b, motion_type type, const real *x) {
    motion m = motion_zero();
    switch (type) {
    case MOTION_REVOLUTE:
        m.w.z = rounded_set(constants_of(b)->ratio) * x[0];
        break;
    case MOTION_PRISMATIC:
        m.v.z = rounded_set(constants_of(b)->ratio) * x[0];
        break;
    case MOTION_HELICAL:
        m.w.z = rounded_set(constants_of(b)->ratio) * x[0];
        m.v.z = rounded_set(constants_of(b)->pitch) * m.w.z;
        break;
    case MOTION_CYLINDRICAL:
        m.w.z = x[0];
        m.v.z = x[1];
        break;
    case MOTION_PLANAR:
        m.v.x = x[0], m.v.y = x[1];
        m.w.z = x[2];
        break;
    case MOTION_SPHERICAL:
        m.w = vec3_set(x[0], x[1], x[2]);
        break;
    case MOTION_FLOATING:
        m.v = vec3_set(x[0], x[1], x[2]);
        m.w = vec3_set(x[3], x[4], x[5]);
        break;
    }
    return m;
}

/* Returns the component of a wrench along one axis. */
static inline real force_along(force f, spatial_axis axis) {
    switch (axis) {
    case AXIS_WX:
        return f.n.x;
    case AXIS_WY:
        return f.n.y;
    case AXIS_WZ:
        return f.n.z;
    case AXIS_VX:
        return f.f.x;
    case AXIS_VY:
        return f.f.y;
    default:
        return f.f.z;
    }
}

/* Returns the component of a motion along one axis. */
static inline real motion_along(motion m, spatial_axis axis) {
    switch (axis) {
    case AXIS_WX:
        return m.w.x;
    case AXIS_WY:
        return m.w.y;
    case AXIS_WZ:
        return m.w.z;
    case AXIS_VX:
        return m.v.x;
    case AXIS_VY:
        return m.v.y;
    default:
        return m.v.z;
    }
}

/* Returns S_k' f for coordinate k of the joint, without the ratio of a mimic joint. */
static inline real joint_force(const body *b, motion_type type, int k, force f) {
    real along = force_along(f, motion_axes(type)[k]);
    return type == MOTION_HELICAL ? along + rounded_set(constants_of(b)->pitch) * f.f.z : along;
}

/* Returns the unit motion along one axis. */
static inline motion axis_motion(spatial_axis axis) {
    motion m = motion_zero();
    real one = real_set(1);
    switch (axis) {
    case AXIS_WX:
        m.w.x = one;
        break;
    case AXIS_WY:
        m.w.y = one;
        break;
    case AXIS_WZ:
        m.w.z = one;
        break;
    case AXIS_VX:
        m.v.x = one;
        break;
    case AXIS_VY:
        m.v.y = one;
        break;
    case AXIS_VZ:
        m.v.z = one;
        break;
    }
    return m;
}

/* Returns S_k, the column of coordinate k of the joint, without the ratio of a mimic joint. */
static inline motion joint_column(const body *b, motion_type type, int k) {
    motion m = axis_motion(motion_axes(type)[k]);
    if (type == MOTION_HELICAL) {
        m.v.z = rounded_set(constants_of(b)->pitch);
    }
    return m;
}

/* Returns the inertia of a body without its subtree. */
static inline rigid_inertia body_inertia(const body *b) {
    const body_constants *c = constants_of(b);
    rigid_inertia I;
    I.m = rounded_set(c->mass);
    I.h = vec3_rounded(c->first_moment);
    I.I = sym3_rounded(c->inertia);
    return I;
}

#endif
