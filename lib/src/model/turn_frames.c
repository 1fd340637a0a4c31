/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns the frames of bodies about their joints' axes.
 *
 * A rotation Rz(a) Rx(tilt) Rz(turn) leads from the frame of a body to that of a revolute joint on it. The frame of the
 * body absorbs a unless an earlier joint has already turned it; the joint's angle absorbs the turn.
 *
 * Source: the notation of Denavit and Hartenberg 1955, in the form of Craig 1986. Only the angles are used, because
 * origins at the common normals of axes are far away where the axes are nearly parallel.
 */
#include "turn_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "placement.h"

/* Least number of columns behind a body of the trunk (columns_behind), and behind the bodies from which the trunk is
 * found. Where many columns depend on a body, it is cheaper to compute in the root's axes than to propagate each column
 * to the parent. The trunk consists of each body, other than a root, with at least least_first_columns columns behind
 * it, of the ancestors of these bodies, and of their children with at least least_trunk_columns, and so on. A model
 * with coupled mimic joints has no trunk. */
static const int least_trunk_columns = 12, least_first_columns = 24;

/* Returns whether a turn of the body's frame about z changes only the placement of its joint. */
static bool may_turn(const body *b) {
    return b->motion == MOTION_REVOLUTE || b->motion == MOTION_PRISMATIC || b->motion == MOTION_HELICAL ||
           b->motion == MOTION_CYLINDRICAL;
}

/* Computes the turn about z after which a vector has no x: T' (x, y, z) = (0, y', z). */
static void turn_into_yz(double x, double y, double T[9]) {
    double h = hypot(x, y), c = 1, s = 0;
    if (h > 0) {
        c = fabs(y) / h;
        s = y < 0 ? x / h : -x / h;
    }
    const double turn[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    memcpy(T, turn, sizeof turn);
}

/* Computes the turn of each body's frame from the first revolute joint on it. */
static void find_turns(const dyn_model *model, dyn_pose *turns) {
    for (int i = 0; i < model->body_count; i++) {
        turns[i] = identity_pose;
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        if (b->motion == MOTION_REVOLUTE && b->parent >= 0 && may_turn(&model->bodies[b->parent])) {
            turn_into_yz(b->rotation[2], b->rotation[5], turns[b->parent].rotation);
        }
    }
}

/* Transforms the pose `place` from the frame of the body (or the world) to the turned frame. */
static dyn_pose seen_from_turned(const dyn_pose *turns, int carrier, const dyn_pose *place) {
    dyn_pose back = identity_pose, turned;
    if (carrier >= 0) {
        rotation_transpose(turns[carrier].rotation, back.rotation);
    }
    pose_compose(&back, place, &turned);
    return turned;
}

static void apply_turns(dyn_model *model, const dyn_pose *turns) {
    for (int i = 0; i < model->body_count; i++) {
        body *b = &model->bodies[i];
        dyn_pose place;
        memcpy(place.rotation, b->rotation, sizeof place.rotation);
        memcpy(place.position, b->position, sizeof place.position);
        place = seen_from_turned(turns, b->parent, &place);
        rotation_multiply(place.rotation, turns[i].rotation, b->rotation);
        memcpy(b->position, place.position, sizeof b->position);
    }
    for (int i = 0; i < model->link_count; i++) {
        body_frame *frame = &model->frames[i];
        frame->pose = seen_from_turned(turns, frame->body, &frame->pose);
    }
}

/* Marks the body as a hinge if R is Rx(tilt) Rz(turn) to rounding. */
static void find_hinge(body *b) {
    const double *R = b->rotation, tolerance = 3e-15;
    double h = hypot(R[5], R[8]), g = hypot(R[0], R[1]), c = R[8] / h, s = -R[5] / h, x = R[0] / g, y = -R[1] / g;
    const double product[9] = {x, -y, 0, c * y, c * x, -s, s * y, s * x, c};
    bool same = b->motion == MOTION_REVOLUTE && b->ratio == 1 && b->offset == 0;
    for (int k = 0; k < 9; k++) {
        same = same && fabs(product[k] - R[k]) <= tolerance;
    }
    if (same) {
        b->hinge = true;
        b->tilt[0] = c;
        b->tilt[1] = s;
        b->turn = atan2(y, x);
    }
}

/* Finds the chains, the forks, the trunk and its children, and the columns behind each body. */
static void find_branches(dyn_model *model) {
    for (int i = 0; i < model->body_count; i++) {
        body *b = &model->bodies[i];
        b->chain = b->parent >= 0 && b->parent == i - 1 ? model->bodies[i - 1].chain : i;
        b->columns_behind = 0;
        b->trunk = false;
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        body *b = &model->bodies[i];
        b->trunk = b->trunk || (b->columns_behind >= least_first_columns && b->parent >= 0 && !model->has_coupling);
        if (b->parent >= 0) {
            /* A rotor has no coordinates of its own. */
            model->bodies[b->parent].columns_behind += i < model->link_bodies ? b->columns_behind + b->nv : 0;
            model->bodies[b->parent].trunk = model->bodies[b->parent].trunk || b->trunk;
        }
        if (b->parent >= 0 && b->parent != i - 1) {
            model->bodies[b->parent].forks = true;
            model->bodies[b->parent].forks_links |= i < model->link_bodies;
        }
    }
    for (int i = 0; i < model->body_count; i++) {
        body *b = &model->bodies[i];
        b->is_trunk_child = b->parent >= 0 && model->bodies[b->parent].trunk;
        b->trunk = b->trunk || (b->is_trunk_child && b->columns_behind >= least_trunk_columns);
    }
}

dyn_status turn_frames(dyn_model *model, dyn_error *error) {
    dyn_pose *turns = calloc((size_t)model->body_count + 1, sizeof *turns);
    if (!turns) {
        return dyn_error_memory(error);
    }
    find_branches(model);
    find_turns(model, turns);
    apply_turns(model, turns);
    for (int i = 0; i < model->body_count; i++) {
        body *b = &model->bodies[i];
        find_hinge(b);
        b->on_hinges = b->hinge && !model->has_mimic && (b->parent < 0 || model->bodies[b->parent].on_hinges);
        b->serial = b->hinge && b->parent >= 0 && b->parent == i - 1;
        if (b->parent >= 0 && !b->serial && (i < model->link_bodies || model->has_mimic)) {
            model->bodies[b->parent].has_other_children = true;
        }
    }
    free(turns);
    return DYN_OK;
}
