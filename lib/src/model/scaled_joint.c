/* SPDX-License-Identifier: BSD-2-Clause */
#include "scaled_joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "placement.h"
#include "vector3.h"

void body_screw(const body *b, const double rotation[9], const double position[3], double S[6]) {
    const double z[3] = {rotation[2], rotation[5], rotation[8]};
    bool prismatic = b->motion == MOTION_PRISMATIC;
    double moment[3];
    vector3_cross(position, z, moment); /* -z x p */
    for (int i = 0; i < 3; i++) {
        S[i] = prismatic ? 0 : z[i];
        S[3 + i] = prismatic ? z[i] : moment[i] + b->pitch * z[i];
    }
}

bool continues_screw(const dyn_model *model, int i) {
    const body *b = &model->bodies[i], *before = b - 1;
    double mass = 0, along = 0, against = 0, S[6], own[6];
    if (i == 0 || i >= model->body_count || b->parent != i - 1 || b->nv != 1 || before->nv != 1 ||
        model->joints[b->joint].master < 0 || b->v_index != before->v_index || b->offset != 0) {
        return false;
    }
    body_screw(before, identity_pose.rotation, identity_pose.position, own);
    body_screw(b, b->rotation, b->position, S);
    for (int k = 0; k < 6; k++) {
        mass = fmax(mass, fmax(before->mass, fabs(before->inertia[k])));
        along = fmax(along, fabs(S[k] - own[k]));
        against = fmax(against, fabs(S[k] + own[k]));
    }
    return mass == 0 && fmin(along, against) <= 1e-9;
}

/* Returns 1 if body i, which continues the screw of the body before it, has the same axis, and -1 if it has the
 * opposite one. */
static double direction(const dyn_model *model, int i) {
    return model->bodies[i].rotation[8] > 0 ? 1 : -1;
}

static bool is_custom(const dyn_model *model, int i) {
    return model->joints[model->bodies[i].joint].type == DYN_JOINT_TYPE_CUSTOM;
}

static bool carries_other(const dyn_model *model, int i) {
    bool found = model->bodies[i].is_driven || model->bodies[i + 1].is_driven;
    for (int k = i + 2; k < model->body_count; k++) {
        found = found || model->bodies[k].parent == i;
    }
    return found;
}

/* Returns whether body i is joined with the body before it, whose ratio is `ratio` in the joined model. */
static bool is_joined(const dyn_model *model, int i, double ratio) {
    return i < model->link_bodies && continues_screw(model, i) && !is_custom(model, i) && !is_custom(model, i - 1) &&
           !carries_other(model, i - 1) && model->bodies[i].ratio + direction(model, i) * ratio != 0;
}

/* Places body b, whose parent has become part of it, as the one body of both joints, whose axes have that direction. */
static void join(const body *before, double along, body *b) {
    dyn_pose first, step, both;
    memcpy(first.rotation, before->rotation, sizeof first.rotation);
    memcpy(first.position, before->position, sizeof first.position);
    memcpy(step.rotation, b->rotation, sizeof step.rotation);
    memcpy(step.position, b->position, sizeof step.position);
    pose_compose(&first, &step, &both);
    memcpy(b->rotation, both.rotation, sizeof b->rotation);
    memcpy(b->position, both.position, sizeof b->position);
    b->parent = before->parent;
    b->ratio += along * before->ratio;
    b->offset += along * before->offset;
    b->follows = before->follows;
    b->joint = before->joint;
}

/* Copies the bodies, joined, and stores the new number of each; that of a body inside a joint is -1. */
static void join_bodies(const dyn_model *model, body *bodies, int *number, dyn_model *joined) {
    int count = 0;
    joined->has_coupling = false;
    for (int i = 0; i < model->body_count; i++) {
        body b = model->bodies[i];
        bool joins = count > 0 && is_joined(model, i, bodies[count - 1].ratio);
        b.parent = b.parent < 0 ? -1 : number[b.parent];
        if (joins) {
            join(&bodies[count - 1], direction(model, i), &b);
            number[i - 1] = -1;
            count--;
        }
        joined->has_coupling = joined->has_coupling || b.follows;
        joined->link_bodies -= joins;
        number[i] = count;
        bodies[count++] = b;
    }
    joined->bodies = bodies;
    joined->body_count = count;
}

dyn_status join_scaled_joints(const dyn_model *model, dyn_model **joined, dyn_error *error) {
    size_t bodies = (size_t)model->body_count, frames = (size_t)model->link_count, stages = (size_t)model->stage_count;
    bool found = false;
    *joined = NULL;
    for (int i = 1; model->has_coupling && i < model->body_count; i++) {
        found = found || continues_screw(model, i);
    }
    if (!found) {
        return DYN_OK;
    }
    dyn_model *copy = malloc(sizeof *copy + bodies * (sizeof *copy->bodies + sizeof(int)) +
                             frames * sizeof *copy->frames + stages * sizeof *copy->stages);
    if (!copy) {
        return dyn_error_memory(error);
    }
    *copy = *model;
    copy->bodies = (body *)(copy + 1);
    copy->frames = (body_frame *)(copy->bodies + bodies);
    copy->stages = (stage *)(copy->frames + frames);
    int *number = (int *)(copy->stages + stages);
    join_bodies(model, copy->bodies, number, copy);
    for (size_t k = 0; k < frames; k++) {
        copy->frames[k] = model->frames[k];
        copy->frames[k].body = model->frames[k].body < 0 ? -1 : number[model->frames[k].body];
    }
    for (size_t k = 0; k < stages; k++) {
        copy->stages[k] = model->stages[k];
        copy->stages[k].body = number[model->stages[k].body];
    }
    *joined = copy;
    return DYN_OK;
}
