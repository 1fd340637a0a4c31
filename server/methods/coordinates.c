/* SPDX-License-Identifier: BSD-2-Clause */
/* Coordinates: names and units of the coordinates, velocities and forces of a model. */
#include "methods/coordinates.h"

#include <dynamics/builder.h>
#include <stdio.h>

/* Units of a coordinate, of its velocity and of its force, by kind. */
static const struct {
    const char *q, *v, *tau;
} units[] = {
    [DYN_COORDINATE_KIND_LENGTH] = {"m", "m/s", "N"},
    [DYN_COORDINATE_KIND_ANGLE] = {"rad", "rad/s", "N m"},
    [DYN_COORDINATE_KIND_QUATERNION] = {"1", "1/s", "N m"},
};

joint_units joint_units_of(dyn_joint_type type) {
    const dyn_joint_traits *traits = dyn_joint_type_traits(type);
    joint_units u = {0};
    for (int k = 0; k < traits->nq; k++) {
        u.q[k] = units[traits->q_kinds[k]].q;
    }
    for (int k = 0; k < traits->nv; k++) {
        u.v[k] = units[traits->v_kinds[k]].v;
        u.tau[k] = units[traits->v_kinds[k]].tau;
    }
    return u;
}

/* Returns the name of one of the `width` coordinates of a joint: the joint's name, with "[index]" if it has several. */
static char *spell(call *c, const char *joint, int index, int width) {
    char name[DYN_MAX_NAME + 16];
    if (width == 1) {
        return call_string(c, joint);
    }
    snprintf(name, sizeof name, "%s[%d]", joint, index);
    return call_string(c, name);
}

char **coordinates_spell(call *c, const dyn_model *model, bool velocities) {
    char **names = call_allocate(c, (size_t)(velocities ? dyn_model_nv(model) : dyn_model_nq(model)), sizeof *names);
    for (int j = 0; names && j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        int first = velocities ? joint->v_index : joint->q_index, width = velocities ? joint->nv : joint->nq;
        for (int i = 0; i < width; i++) {
            names[first + i] = spell(c, joint->name, i, width);
        }
    }
    return call_has_ended(c) ? NULL : names;
}

/* Returns the joint that has the velocity `column` of the model, and sets `index` to the index of the velocity within
 * the joint. */
static const dyn_joint *find_joint(const dyn_model *model, int column, int *index) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        *index = column - joint->v_index;
        if (*index >= 0 && *index < joint->nv) {
            return joint;
        }
    }
    *index = 0;
    return dyn_model_joint(model, 0);
}

bool coordinates_name(batch *b, char ***joints, char ***force_units) {
    *joints = call_allocate(b->call, b->nv, sizeof **joints);
    *force_units = call_allocate(b->call, b->nv, sizeof **force_units);
    for (size_t i = 0; *joints && *force_units && i < b->nv; i++) {
        int index, column = b->order.is_identity ? (int)i : b->order.v[i];
        const dyn_joint *joint = find_joint(b->model, column, &index);
        (*joints)[i] = call_string(b->call, joint->name); /* the model of a request may end before its reply is sent */
        (*force_units)[i] = (char *)(uintptr_t)joint_units_of(joint->type).tau[index];
    }
    return !call_has_ended(b->call);
}
