/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Elements of a URDF document that are constraints.
 *
 * Sources: Chignoli and others 2024, "URDF+: An Enhanced URDF for Robots with Kinematic Loops" (<loop>, <coupling>);
 * the documentation of Drake's parser (drake:ball_constraint, drake:distance_constraint); that of Isaac Sim
 * (<loop_joint>, which Drake had before).
 */
#include "constraint_elements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "../model/placement.h"
#include "../model/tree.h"

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

/* Begins a constraint whose name is r->name. Its links are required elements; a missing pose is the identity. */
static void begin_constraint(reader *r, dyn_constraint_kind kind) {
    r->parent[0] = r->child[0] = '\0';
    r->constraint = (dyn_constraint_description){.name = r->name, .kind = kind, .line = reader_line(r)};
    r->constraint.predecessor.pose = r->constraint.successor.pose = identity_pose;
}

static void read_loop_type(reader *r, const char **attributes) {
    char type[DYN_MAX_NAME + 1];
    attribute_name(r, "loop", attributes, "type", type);
    const char *name = strcmp(type, "ball") == 0 ? "spherical" : type;
    for (int i = 0; i < DYN_JOINT_TYPE_COUNT; i++) {
        if (strcmp(name, dyn_joint_type_traits((dyn_joint_type)i)->name) == 0) {
            r->constraint.type = (dyn_joint_type)i;
            return;
        }
    }
    reader_fail(r, DYN_INVALID_ARGUMENT,
                "the type \"%.60s\" is unknown; use fixed, revolute, continuous, prismatic, cylindrical, spherical or "
                "planar",
                type);
}

void open_loop(reader *r, const char **attributes) {
    begin_subject(r, "constraint", attributes);
    begin_constraint(r, DYN_CONSTRAINT_KIND_LOOP_JOINT);
    r->constraint.axis[0] = 1;
    read_loop_type(r, attributes);
}

void open_predecessor(reader *r, const char **attributes) {
    attribute_name(r, "predecessor", attributes, "link", r->parent);
}

void open_successor(reader *r, const char **attributes) {
    attribute_name(r, "successor", attributes, "link", r->child);
}

void open_predecessor_origin(reader *r, const char **attributes) {
    dyn_pose *pose = &r->constraint.predecessor.pose;
    attribute_origin(r, attributes, pose->position, pose->rotation);
}

void open_successor_origin(reader *r, const char **attributes) {
    dyn_pose *pose = &r->constraint.successor.pose;
    attribute_origin(r, attributes, pose->position, pose->rotation);
}

void open_loop_axis(reader *r, const char **attributes) {
    attribute_required(r, "axis", attributes, "xyz", 3, r->constraint.axis);
}

void open_first_link(reader *r, const char **attributes) {
    attribute_name(r, "link1", attributes, "link", r->parent);
    open_predecessor_origin(r, attributes);
}

void open_second_link(reader *r, const char **attributes) {
    attribute_name(r, "link2", attributes, "link", r->child);
    open_successor_origin(r, attributes);
}

/* Checks that a constraint has an element for each side; these have the tags `first` and `second`. */
static bool has_sides(reader *r, const char *first, const char *second) {
    const char *missing = r->parent[0] == '\0' ? first : r->child[0] == '\0' ? second : NULL;
    if (missing) {
        reader_fail(r, DYN_INVALID_ARGUMENT, "it has no <%s>; add it", missing);
    }
    return !missing;
}

/* Adds the constraint, whose sides have the given tags, to the builder. */
static void add_constraint(reader *r, const char *first, const char *second) {
    if (!has_sides(r, first, second)) {
        return;
    }
    r->constraint.predecessor.link = r->parent;
    r->constraint.successor.link = r->child;
    dyn_status status = dyn_builder_add_constraint(r->builder, &r->constraint, r->error);
    if (status != DYN_OK) {
        reader_stop(r, status);
    }
    strcpy(r->subject, "robot");
}

static void report_missing_axis(reader *r, element axis) {
    if (dyn_joint_type_traits(r->constraint.type)->axes > 0 && !has_seen(r, axis)) {
        reader_report(r, DYN_SEVERITY_NOTE, "it has no <axis>: the axis is 1 0 0");
    }
}

void close_loop(reader *r) {
    report_missing_axis(r, ELEMENT_LOOP_AXIS);
    add_constraint(r, "predecessor", "successor");
}

void close_loop_joint(reader *r) {
    report_missing_axis(r, ELEMENT_LOOP_JOINT_AXIS);
    add_constraint(r, "link1", "link2");
}

/* ---- Drake ------------------------------------------------------------------------------------------------------- */

/* Begins a constraint of Drake, whose name is optional. */
static void open_constraint_of_drake(reader *r, const char **attributes, dyn_constraint_kind kind, const char *title) {
    if (attribute_text(attributes, "name")) {
        begin_subject(r, "constraint", attributes);
    } else {
        snprintf(r->name, sizeof r->name, "%s_%d", title, ++r->unnamed_constraints);
        snprintf(r->subject, sizeof r->subject, "constraint %s", r->name);
        r->seen = 0;
    }
    begin_constraint(r, kind);
}

void open_ball(reader *r, const char **attributes) {
    open_constraint_of_drake(r, attributes, DYN_CONSTRAINT_KIND_LOOP_JOINT, "ball_constraint");
    r->constraint.type = DYN_JOINT_TYPE_SPHERICAL;
}

void open_distance(reader *r, const char **attributes) {
    open_constraint_of_drake(r, attributes, DYN_CONSTRAINT_KIND_DISTANCE, "distance_constraint");
}

void open_body_a(reader *r, const char **attributes) {
    attribute_name(r, element_name(r->open[r->depth - 1]), attributes, "name", r->parent);
}

void open_body_b(reader *r, const char **attributes) {
    attribute_name(r, element_name(r->open[r->depth - 1]), attributes, "name", r->child);
}

void open_point_a(reader *r, const char **attributes) {
    const char *tag = element_name(r->open[r->depth - 1]);
    attribute_required(r, tag, attributes, "value", 3, r->constraint.predecessor.pose.position);
}

void open_point_b(reader *r, const char **attributes) {
    const char *tag = element_name(r->open[r->depth - 1]);
    attribute_required(r, tag, attributes, "value", 3, r->constraint.successor.pose.position);
}

void open_length(reader *r, const char **attributes) {
    const char *tag = element_name(r->open[r->depth - 1]);
    attribute_required(r, tag, attributes, "value", 1, &r->constraint.distance);
}

void open_spring(reader *r, const char **attributes) {
    (void)attributes;
    reader_report(r, DYN_SEVERITY_WARNING, "<%s> is ignored: the distance is rigid",
                  element_name(r->open[r->depth - 1]));
}

void close_ball(reader *r) {
    add_constraint(r, "drake:ball_constraint_body_A", "drake:ball_constraint_body_B");
}

void close_distance(reader *r) {
    if (!has_seen(r, ELEMENT_DISTANCE_VALUE)) {
        reader_fail(r, DYN_INVALID_ARGUMENT, "it has no <drake:distance_constraint_distance>; add it");
        return;
    }
    add_constraint(r, "drake:distance_constraint_body_A", "drake:distance_constraint_body_B");
}

/* ---- Couplings --------------------------------------------------------------------------------------------------- */

void open_coupling(reader *r, const char **attributes) {
    begin_subject(r, "constraint", attributes);
    begin_constraint(r, DYN_CONSTRAINT_KIND_COUPLING);
    const char *type = attribute_text(attributes, "type");
    if (type && strcmp(type, "rolling") != 0) {
        reader_fail(r, DYN_INVALID_ARGUMENT, "the type \"%.60s\" is unknown; use rolling, or state no type", type);
    }
}

void open_ratio(reader *r, const char **attributes) {
    attribute_required(r, "ratio", attributes, "value", 1, &r->ratio);
    if (r->status == DYN_OK && r->ratio == 0) {
        reader_fail(r, DYN_INVALID_ARGUMENT, "<ratio> has value=\"0\"; write a number that is not zero");
    }
}

void close_coupling(reader *r) {
    coupling_list *list = &r->couplings;
    if (!has_sides(r, "predecessor", "successor")) {
        return;
    }
    if (!has_seen(r, ELEMENT_RATIO)) {
        reader_fail(r, DYN_INVALID_ARGUMENT, "it has no <ratio>; add it");
        return;
    }
    bool has_room = builder_grow((void **)&list->couplings, list->count, &list->capacity, sizeof *list->couplings);
    if (has_room) {
        list->couplings[list->count++] =
            (pending_coupling){strdup(r->name), strdup(r->parent), strdup(r->child), r->ratio, r->constraint.line};
    }
    const pending_coupling *last = has_room ? &list->couplings[list->count - 1] : NULL;
    if (!last || !last->name || !last->predecessor || !last->successor) {
        reader_stop(r, dyn_error_memory(r->error));
    }
    strcpy(r->subject, "robot");
}

void couplings_clear(coupling_list *list) {
    for (int i = 0; i < list->count; i++) {
        free(list->couplings[i].name);
        free(list->couplings[i].predecessor);
        free(list->couplings[i].successor);
    }
    free(list->couplings);
    *list = (coupling_list){0};
}

/* Returns the number of joints between a link and the root. */
static int depth_of(const tree *links, int link) {
    int depth = 0;
    for (; link != links->root; link = links->parent_link[links->parent_joint[link]]) {
        depth++;
    }
    return depth;
}

/* Moves from a link to its parent. Stores in *joint a joint that moves, and counts it. */
static void climb(const reader *r, const tree *links, int *link, int *joint, int *count) {
    int carrier = links->parent_joint[*link];
    if (r->builder->joints[carrier].type != DYN_JOINT_TYPE_FIXED) {
        *joint = carrier;
        (*count)++;
    }
    *link = links->parent_link[carrier];
}

static named_element coupling_element(const pending_coupling *c) {
    return (named_element){{.kind = DYN_ELEMENT_KIND_CONSTRAINT, .index = -1, .line = c->line}, c->name};
}

/* Adds the coupling ratio q_predecessor - q_successor = 0 of the joints that move the two links relative to the last
 * link that carries both. */
static dyn_status add_coupling(const reader *r, const tree *links, const pending_coupling *c) {
    const char *const names[2] = {c->predecessor, c->successor};
    int link[2], joint[2] = {-1, -1}, count[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        link[side] = name_index_find(&r->builder->link_names, names[side]);
        if (link[side] < 0) {
            return builder_fail(r->builder, r->error, DYN_INVALID_ARGUMENT, coupling_element(c),
                                "there is no link %s; correct the name", names[side]);
        }
    }
    int depth[2] = {depth_of(links, link[0]), depth_of(links, link[1])};
    while (link[0] != link[1]) {
        int side = depth[0] >= depth[1] ? 0 : 1;
        climb(r, links, &link[side], &joint[side], &count[side]);
        depth[side]--;
    }
    for (int side = 0; side < 2; side++) {
        if (count[side] != 1) {
            return builder_fail(r->builder, r->error, DYN_INVALID_ARGUMENT, coupling_element(c),
                                "%d moving joints are between the link %s and the last link that carries both sides; "
                                "a coupling needs one joint on each side",
                                count[side], names[side]);
        }
    }
    const dyn_joint_description *joints = r->builder->joints;
    const dyn_constraint_description coupling = {
        .name = c->name,
        .kind = DYN_CONSTRAINT_KIND_COUPLING,
        .coupled = {{joints[joint[0]].name, c->ratio}, {joints[joint[1]].name, -1}},
        .line = c->line};
    return dyn_builder_add_constraint(r->builder, &coupling, r->error);
}

/* Adds all couplings of the document. */
static dyn_status add_couplings(const reader *r) {
    tree links;
    dyn_status status = tree_find(r->builder, r->error, &links);
    for (int i = 0; i < r->couplings.count && status == DYN_OK; i++) {
        status = add_coupling(r, &links, &r->couplings.couplings[i]);
    }
    tree_clear(&links);
    return status;
}

void complete_constraints(reader *r) {
    static const char world[] = "world";
    dyn_status status = r->status == DYN_OK && r->couplings.count > 0 ? add_couplings(r) : r->status;
    if (status != DYN_OK) {
        r->status = status;
        return;
    }
    bool has_world = name_index_find(&r->builder->link_names, world) >= 0;
    for (int i = 0; i < r->builder->constraint_count && !has_world; i++) {
        dyn_constraint_description *c = &r->builder->constraints[i];
        const char **const links[] = {&c->predecessor.link, &c->successor.link};
        for (int side = 0; side < 2; side++) {
            if (*links[side] && strcmp(*links[side], world) == 0) {
                free((char *)*links[side]);
                *links[side] = NULL;
            }
        }
    }
}
