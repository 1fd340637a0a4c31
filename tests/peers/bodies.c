/* SPDX-License-Identifier: BSD-2-Clause */
#include "bodies.h"

#include <string.h>

#include <dynamics/inertia.h>

/* Returns the pose in A of the frame C, where b is the pose of B in A and c that of C in B. */
static dyn_pose compose(const dyn_pose *b, const dyn_pose *c) {
    dyn_pose a = *b;
    memset(a.rotation, 0, sizeof a.rotation);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            a.position[i] += b->rotation[3 * i + k] * c->position[k];
            for (int j = 0; j < 3; j++) {
                a.rotation[3 * i + j] += b->rotation[3 * i + k] * c->rotation[3 * k + j];
            }
        }
    }
    return a;
}

/* Returns the moving joint whose child is the link, or -1. */
static int joint_of(const dyn_model *model, int link) {
    int joint = dyn_model_link(model, link)->moving_joint;
    return joint >= 0 && dyn_model_joint(model, joint)->child_link == link ? joint : -1;
}

/* Returns the index of the body among the first `count` that has a link's frame, or -1. */
static int find_body(const body *bodies, int count, int link) {
    while (--count >= 0 && bodies[count].link != link) {
    }
    return count;
}

/* Sets parent and origin of the body b, which is attached to the link `parent` (-1: the world) at `place`. Where that
 * link has no body, the parent is the body that the link is fixed to. */
static void hang(const dyn_model *model, const body *bodies, int count, int parent, const dyn_pose *place, body *b) {
    b->parent = parent < 0 ? -1 : find_body(bodies, count, parent);
    b->origin = *place;
    if (parent >= 0 && b->parent < 0) {
        const dyn_link *link = dyn_model_link(model, parent);
        b->origin = compose(&link->pose, place);
        b->parent = link->moving_joint < 0
                        ? -1
                        : find_body(bodies, count, dyn_model_joint(model, link->moving_joint)->child_link);
    }
}

/* Adds the inertia of each link on fixed joints to the body that carries the link. */
static void merge_inertias(const dyn_model *model, body *bodies, int count) {
    for (int i = 0; i < dyn_model_link_count(model); i++) {
        const dyn_link *link = dyn_model_link(model, i);
        if (link->moving_joint >= 0 && joint_of(model, i) < 0) {
            body *carrier = &bodies[find_body(bodies, count, dyn_model_joint(model, link->moving_joint)->child_link)];
            dyn_inertia moved;
            dyn_inertia_transform(&link->inertia, &link->pose, &moved);
            dyn_inertia_add(&carrier->inertia, &moved, &carrier->inertia);
        }
    }
}

int bodies_list(const dyn_model *model, bool merge_fixed, body *bodies) {
    int count = 0;
    for (int i = 0; i < dyn_model_link_count(model); i++) {
        const dyn_link *link = dyn_model_link(model, i);
        body b = {.link = i, .joint = joint_of(model, i), .inertia = link->inertia};
        if (b.joint >= 0) {
            const dyn_joint *joint = dyn_model_joint(model, b.joint);
            hang(model, bodies, count, joint->parent_link, &joint->origin, &b);
            bodies[count++] = b;
        } else if (link->moving_joint >= 0 && !merge_fixed) {
            hang(model, bodies, count, dyn_model_joint(model, link->moving_joint)->child_link, &link->pose, &b);
            bodies[count++] = b;
        }
    }
    if (merge_fixed) {
        merge_inertias(model, bodies, count);
    }
    return count;
}
