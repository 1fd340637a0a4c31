/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles a description to the normal form: turns axes to +z, merges fixed joints, splits universal joints, couples
 * mimic joints, and makes a chain of bodies of a custom joint.
 */
#include "compile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "group_inertias.h"
#include "joint_function.h"
#include "machine_element.h"
#include "merge.h"
#include "placement.h"
#include "rotor.h"
#include "round_constants.h"
#include "turn_frames.h"

/* State of a compilation: numbers of the builder's links and joints in the model. */
typedef struct compilation {
    const dyn_builder *builder;
    const tree *links;
    const coupling *couplings;
    dyn_model *model;
    int *link_number;              /* number in the model of each of the builder's links */
    int *joint_number;             /* number in the model of each of the builder's joints; -1 for fixed ones */
    int *last_body;                /* body that carries the child link of each of the model's joints */
    dyn_pose *child;               /* child link of each of the model's joints in the frame of that body */
    int motion_count, piece_count; /* motions of custom joints, and pieces of their functions, so far */
} compilation;

/* Returns the motion of the last body of a joint; a universal joint has two bodies, which are both revolute. */
static motion_type joint_motion_type(dyn_joint_type type) {
    switch (type) {
    case DYN_JOINT_TYPE_PRISMATIC:
        return MOTION_PRISMATIC;
    case DYN_JOINT_TYPE_HELICAL:
        return MOTION_HELICAL;
    case DYN_JOINT_TYPE_CYLINDRICAL:
        return MOTION_CYLINDRICAL;
    case DYN_JOINT_TYPE_PLANAR:
        return MOTION_PLANAR;
    case DYN_JOINT_TYPE_SPHERICAL:
        return MOTION_SPHERICAL;
    case DYN_JOINT_TYPE_FLOATING:
        return MOTION_FLOATING;
    default:
        return MOTION_REVOLUTE;
    }
}

/* Computes the rotation that turns the axis of a joint to +z; the identity for a joint without an axis. */
static void align_axis(const double axis[3], double alignment[9]) {
    if (axis[0] == 0 && axis[1] == 0 && axis[2] == 0) {
        memcpy(alignment, identity_pose.rotation, sizeof identity_pose.rotation);
    } else {
        rotation_from_z(axis, alignment);
    }
}

/* Appends a body whose joint frame, before `alignment` turns it, has the pose `joint` in the parent body. Returns its
 * index. */
static int append_body(dyn_model *model, int parent, const dyn_pose *joint, const double alignment[9], motion_type type,
                       int public_joint) {
    static const struct { int nq, nv; } counts[] = {{1, 1}, {1, 1}, {1, 1}, {2, 2}, {3, 3}, {4, 3}, {7, 6}};
    body *added = &model->bodies[model->body_count];
    *added = (body){.parent = parent, .motion = type, .ratio = 1, .joint = public_joint};
    added->nq = counts[type].nq;
    added->nv = counts[type].nv;
    rotation_multiply(joint->rotation, alignment, added->rotation);
    memcpy(added->position, joint->position, sizeof added->position);
    return model->body_count++;
}

/* Appends the bodies of the motions of custom joint j, and the stages; `place` is the joint frame in the frame of the
 * body `parent`. The first body has the coordinate of the joint. */
static void append_stages(compilation *c, int j, int parent, const dyn_pose *place) {
    dyn_model *model = c->model;
    const dyn_joint *joint = &model->joints[j];
    dyn_pose at = *place;
    int last = parent;
    for (int k = 0; k < joint->motion_count; k++) {
        const dyn_joint_motion *m = &joint->motions[k];
        double alignment[9];
        align_axis(m->axis, alignment);
        bool turns = m->kind == DYN_JOINT_MOTION_KIND_ROTATION;
        last = append_body(model, last, &at, alignment, turns ? MOTION_REVOLUTE : MOTION_PRISMATIC, j);
        model->bodies[last].q_index = joint->q_index;
        model->bodies[last].v_index = joint->v_index;
        model->bodies[last].follows = k > 0;
        at = identity_pose;
        rotation_transpose(alignment, at.rotation);
        function_piece *pieces = &model->pieces[c->piece_count];
        int count = function_piece_count(&m->function);
        function_pieces(&m->function, pieces);
        c->piece_count += count;
        model->stages[model->stage_count++] = (stage){.body = last,
                                                      .q_index = joint->q_index,
                                                      .v_index = joint->v_index,
                                                      .ratio = 1,
                                                      .piece_count = count,
                                                      .pieces = pieces};
    }
    c->child[j] = at;
    c->last_body[j] = last;
    model->has_coupling = model->has_mimic = true;
}

/* Appends the one or two bodies of joint j; `place` is the joint frame in the frame of the body `parent`. */
static void append_joint_bodies(compilation *c, int j, int parent, const dyn_pose *place) {
    dyn_model *model = c->model;
    const dyn_joint *joint = &model->joints[j];
    double alignment[9];
    if (joint->type == DYN_JOINT_TYPE_CUSTOM) {
        append_stages(c, j, parent, place);
        return;
    }
    align_axis(joint->axis, alignment);
    int last = append_body(model, parent, place, alignment, joint_motion_type(joint->type), j);
    model->bodies[last].q_index = joint->q_index;
    model->bodies[last].v_index = joint->v_index;
    model->bodies[last].pitch = joint->pitch;
    c->child[j] = identity_pose;
    rotation_transpose(alignment, c->child[j].rotation);
    if (dyn_joint_type_traits(joint->type)->axes == 2) {
        dyn_pose second = c->child[j];
        align_axis(joint->second_axis, alignment);
        last = append_body(model, last, &second, alignment, MOTION_REVOLUTE, j);
        model->bodies[last].q_index = joint->q_index + 1;
        model->bodies[last].v_index = joint->v_index + 1;
        rotation_transpose(alignment, c->child[j].rotation);
    }
    c->last_body[j] = last;
}

/* Assigns the next coordinates to a joint that is its own master. */
static void append_coordinates(dyn_model *model, dyn_joint *joint) {
    const dyn_joint_traits *own = dyn_joint_type_traits(joint->type);
    joint->nq = own->nq;
    joint->nv = own->nv;
    joint->q_index = model->nq;
    joint->v_index = model->nv;
    model->nq += own->nq;
    model->nv += own->nv;
}

/* Stores that a link moves with `moving_joint` at `pose`, and its pose in the body `carrier`, where the frame that
 * `pose` refers to has the pose `carrier_frame`. -1 as a joint or body is the world. */
static void place_link(dyn_model *model, int link, int moving_joint, const dyn_pose *pose, int carrier,
                       const dyn_pose *carrier_frame) {
    model->links[link].moving_joint = moving_joint;
    model->links[link].pose = *pose;
    model->frames[link].body = carrier;
    pose_compose(carrier_frame, pose, &model->frames[link].pose);
}

/* Stores that the child link of moving joint j is at the joint's frame. */
static void place_child_link(compilation *c, int link, int j) {
    place_link(c->model, link, j, &identity_pose, c->last_body[j], &c->child[j]);
}

/* Appends the floating joint that carries the root link. */
static void append_root_joint(compilation *c, const char *name) {
    dyn_model *model = c->model;
    int j = model->joint_count++;
    model->joints[j] = (dyn_joint){.name = name,
                                   .type = DYN_JOINT_TYPE_FLOATING,
                                   .parent_link = -1,
                                   .child_link = 0,
                                   .origin = identity_pose,
                                   .master = -1,
                                   .multiplier = 1};
    append_coordinates(model, &model->joints[j]);
    append_joint_bodies(c, j, -1, &identity_pose);
    model->links[0].parent_joint = name;
    place_child_link(c, 0, j);
}

/* Copies the motions of a custom joint. */
static void copy_motions(compilation *c, const dyn_joint_description *from, dyn_joint *joint) {
    if (from->type == DYN_JOINT_TYPE_CUSTOM) {
        dyn_joint_motion *motions = &c->model->motions[c->motion_count];
        memcpy(motions, from->motions, (size_t)from->motion_count * sizeof *motions);
        joint->motions = motions;
        joint->motion_count = from->motion_count;
        c->motion_count += from->motion_count;
    }
}

/* Appends a moving joint of the builder, which carries `link`. */
static void append_moving_joint(compilation *c, int described, int parent, int link, const char *name) {
    dyn_model *model = c->model;
    const dyn_joint_description *from = &c->builder->joints[described];
    int j = model->joint_count++;
    dyn_joint *joint = &model->joints[j];
    *joint = (dyn_joint){.name = name,
                         .type = from->type,
                         .parent_link = parent,
                         .child_link = link,
                         .pitch = from->type == DYN_JOINT_TYPE_HELICAL ? from->pitch : 0,
                         .has_limits = from->has_limits,
                         .damping = from->damping,
                         .friction = from->friction,
                         .master = -1,
                         .multiplier = 1};
    copy_motions(c, from, joint);
    memcpy(joint->axis, from->axis, sizeof joint->axis);
    memcpy(joint->second_axis, from->second_axis, sizeof joint->second_axis);
    memcpy(joint->origin.position, from->position, sizeof joint->origin.position);
    memcpy(joint->origin.rotation, from->rotation, sizeof joint->origin.rotation);
    if (from->has_limits) {
        joint->limits = from->limits;
    }
    if (c->couplings[described].master < 0) {
        append_coordinates(model, joint);
    }
    c->joint_number[described] = j;
    dyn_pose place;
    pose_compose(&model->frames[parent].pose, &joint->origin, &place);
    append_joint_bodies(c, j, model->frames[parent].body, &place);
    place_child_link(c, link, j);
}

/* Merges the child link of a fixed joint into the body of its parent. */
static void merge_link(compilation *c, int described, int parent, int link) {
    dyn_model *model = c->model;
    const dyn_joint_description *joint = &c->builder->joints[described];
    dyn_pose origin, pose;
    memcpy(origin.position, joint->position, sizeof origin.position);
    memcpy(origin.rotation, joint->rotation, sizeof origin.rotation);
    pose_compose(&model->links[parent].pose, &origin, &pose);
    int moving = model->links[parent].moving_joint;
    place_link(model, link, moving, &pose, model->frames[parent].body,
               moving >= 0 ? &c->child[moving] : &identity_pose);
}

/* Appends the i-th link in depth-first order together with the joint that carries it. */
static dyn_status append_link(compilation *c, int i, bool floating, dyn_error *error) {
    dyn_model *model = c->model;
    int described = c->links->order[i], joint = c->links->parent_joint[described];
    dyn_link *link = &model->links[i];
    c->link_number[described] = i;
    link->name = name_index_add(&model->link_names, c->builder->links[described].name, i);
    link->inertia = c->builder->links[described].inertia;
    const char *joint_name = joint >= 0 ? c->builder->joints[joint].name : floating ? "root_joint" : NULL;
    if (joint_name) {
        link->parent_joint = name_index_add(&model->joint_names, joint_name, i);
    }
    if (!link->name || (joint_name && !link->parent_joint)) {
        return dyn_error_memory(error);
    }
    model->link_count = i + 1;
    if (joint < 0 && floating) {
        append_root_joint(c, link->parent_joint);
    } else if (joint < 0) {
        place_link(model, i, -1, &identity_pose, -1, &identity_pose);
    } else if (c->builder->joints[joint].type == DYN_JOINT_TYPE_FIXED) {
        merge_link(c, joint, c->link_number[c->links->parent_link[joint]], i);
    } else {
        append_moving_joint(c, joint, c->link_number[c->links->parent_link[joint]], i, link->parent_joint);
    }
    return DYN_OK;
}

/* Makes all stages of a coupled mimic joint share the coordinate of its master. */
static void couple_stages(dyn_model *model, int j, const coupling *coupled) {
    const dyn_joint *joint = &model->joints[j];
    for (int k = 0; k < model->stage_count; k++) {
        stage *s = &model->stages[k];
        body *b = &model->bodies[s->body];
        if (b->joint == j) {
            s->q_index = b->q_index = joint->q_index;
            s->v_index = b->v_index = joint->v_index;
            s->ratio = coupled->ratio;
            s->offset = coupled->offset;
            b->follows = true;
        }
    }
}

/* Makes every coupled mimic joint share the coordinate of its master. */
static void couple_joints(compilation *c) {
    dyn_model *model = c->model;
    for (int i = 0; i < c->builder->joint_count; i++) {
        const coupling *coupled = &c->couplings[i];
        if (coupled->master < 0) {
            continue;
        }
        int j = c->joint_number[i], master = c->joint_number[coupled->master];
        dyn_joint *joint = &model->joints[j];
        joint->master = master;
        joint->multiplier = coupled->ratio;
        joint->offset = coupled->offset;
        joint->q_index = model->joints[master].q_index;
        joint->v_index = model->joints[master].v_index;
        model->has_coupling = model->has_mimic = true;
        if (joint->type == DYN_JOINT_TYPE_CUSTOM) {
            couple_stages(model, j, coupled);
            continue;
        }
        body *follower = &model->bodies[c->last_body[j]];
        follower->ratio = coupled->ratio;
        follower->offset = coupled->offset;
        follower->q_index = joint->q_index;
        follower->v_index = joint->v_index;
        follower->follows = true;
    }
}

/* Adds the inertia of every link to the body that carries it, and those of the rotors. */
static void merge_inertias(dyn_model *model) {
    for (int i = 0; i < model->link_count; i++) {
        const body_frame *frame = &model->frames[i];
        if (frame->body >= 0) {
            body_merge(&model->bodies[frame->body], &model->links[i].inertia, &frame->pose);
        }
    }
    merge_rotors(model, model->bodies);
}

/* Checks for overflow: values that are finite one by one can overflow once they are merged. */
static dyn_status check_overflow(const dyn_builder *builder, const dyn_model *model, dyn_error *error) {
    for (int i = 0; i < model->link_count; i++) {
        const body_frame *frame = &model->frames[i];
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            sum += fabs(frame->pose.position[k]);
        }
        if (frame->body >= 0) {
            const body *b = &model->bodies[frame->body];
            for (int k = 0; k < 3; k++) {
                sum += fabs(b->position[k]) + fabs(b->first_moment[k]) + fabs(b->inertia[k]) + fabs(b->inertia[3 + k]);
            }
            sum += b->mass;
        }
        if (!isfinite(sum)) {
            return builder_fail(builder, error, DYN_INVALID_ARGUMENT, link_element(builder, model->links[i].name),
                                "its place or inertia is too large to compute with: merged with the links that it "
                                "moves with, a value overflows");
        }
    }
    return DYN_OK;
}

/* Counts the motions of custom joints, and the pieces of their functions. */
static void count_stages(const dyn_builder *builder, size_t *stages, size_t *pieces) {
    for (int j = 0; j < builder->joint_count; j++) {
        const dyn_joint_description *joint = &builder->joints[j];
        for (int k = 0; k < joint->motion_count; k++) {
            *stages += 1;
            *pieces += (size_t)function_piece_count(&joint->motions[k].function);
        }
    }
}

/* Allocates memory for everything that the model will hold. */
static dyn_status allocate(compilation *c, dyn_error *error) {
    dyn_model *model = c->model;
    size_t links = (size_t)c->builder->link_count, joints = (size_t)c->builder->joint_count + 1;
    size_t stages = 0, pieces = 0;
    count_stages(c->builder, &stages, &pieces);
    model->name = strdup(c->builder->name);
    /* A universal joint has two bodies, and a custom joint one for each motion. */
    model->bodies = calloc(2 * joints + (size_t)count_rotor_bodies(c->builder) + stages, sizeof *model->bodies);
    model->stages = calloc(stages + 1, sizeof *model->stages);
    model->pieces = calloc(pieces + 1, sizeof *model->pieces);
    model->motions = calloc(stages + 1, sizeof *model->motions);
    model->joints = calloc(joints, sizeof *model->joints);
    model->links = calloc(links, sizeof *model->links);
    model->frames = calloc(links, sizeof *model->frames);
    c->link_number = calloc(links, sizeof *c->link_number);
    c->joint_number = calloc(joints, sizeof *c->joint_number);
    c->last_body = calloc(joints, sizeof *c->last_body);
    c->child = calloc(joints, sizeof *c->child);
    bool complete = model->name && model->stages && model->pieces && model->motions && model->bodies && model->joints &&
                    model->links && model->frames && c->link_number && c->joint_number && c->last_body &&
                    c->child != NULL;
    return complete ? DYN_OK : dyn_error_memory(error);
}

dyn_status compile_model(const dyn_builder *builder, const tree *links, const coupling *couplings,
                         const dyn_build_options *options, dyn_error *error, dyn_model *model) {
    compilation c = {.builder = builder, .links = links, .couplings = couplings, .model = model};
    dyn_status status = allocate(&c, error);
    model->floating = options->base == DYN_BASE_FLOATING;
    memcpy(model->gravity, builder->gravity, sizeof model->gravity);
    for (int i = 0; i < builder->link_count && status == DYN_OK; i++) {
        status = append_link(&c, i, model->floating, error);
    }
    if (status == DYN_OK) {
        couple_joints(&c);
        status = append_rotors(builder, error, model);
    }
    if (status == DYN_OK) {
        status = turn_frames(model, error);
    }
    if (status == DYN_OK) {
        merge_inertias(model);
        group_inertias(model, model->bodies);
        round_constants(model->bodies, model->body_count);
        status = check_overflow(builder, model, error);
    }
    free(c.link_number);
    free(c.joint_number);
    free(c.last_body);
    free(c.child);
    return status;
}
