/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links with several parents: keeps a spanning tree of the joints and converts the others to loop joints.
 */
#include <dynamics/closed_loops.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "description.h"
#include "error.h"
#include "load_report.h"

/* Graph of links and joints. Unknown links are -1. */
typedef struct graph {
    int *parent, *child; /* links of each joint */
    int *first;          /* first joint that each link carries, or -1 */
    int *next;           /* next joint of the same parent link, or -1 */
    int *queue;          /* links in the order in which the search reaches them */
    bool *is_reached;    /* links */
    bool *is_cut;        /* joints */
} graph;

static void graph_clear(graph *g) {
    free(g->parent);
    free(g->child);
    free(g->first);
    free(g->next);
    free(g->queue);
    free(g->is_reached);
    free(g->is_cut);
}

static bool graph_create(const dyn_builder *builder, graph *g) {
    size_t links = (size_t)builder->link_count + 1, joints = (size_t)builder->joint_count + 1;
    *g = (graph){.parent = calloc(joints, sizeof *g->parent),
                 .child = calloc(joints, sizeof *g->child),
                 .first = calloc(links, sizeof *g->first),
                 .next = calloc(joints, sizeof *g->next),
                 .queue = calloc(links, sizeof *g->queue),
                 .is_reached = calloc(links, sizeof *g->is_reached),
                 .is_cut = calloc(joints, sizeof *g->is_cut)};
    if (!g->parent || !g->child || !g->first || !g->next || !g->queue || !g->is_reached || !g->is_cut) {
        return false;
    }
    for (int i = 0; i < builder->link_count; i++) {
        g->first[i] = -1;
    }
    for (int j = builder->joint_count - 1; j >= 0; j--) {
        const dyn_joint_description *joint = &builder->joints[j];
        g->parent[j] = name_index_find(&builder->link_names, joint->parent_link);
        g->child[j] = name_index_find(&builder->link_names, joint->child_link);
        if (g->parent[j] >= 0 && g->child[j] >= 0) {
            g->next[j] = g->first[g->parent[j]];
            g->first[g->parent[j]] = j;
            g->is_reached[g->child[j]] = true; /* for now: some joint carries it */
        }
    }
    return true;
}

/* Searches the graph in breadth from the links that no joint carries, and marks the joints that close loops. Returns
 * their number. */
static int find_cuts(const dyn_builder *builder, graph *g) {
    int count = 0, cuts = 0;
    for (int i = 0; i < builder->link_count; i++) {
        if (!g->is_reached[i]) {
            g->queue[count++] = i;
        }
        g->is_reached[i] = false;
    }
    for (int k = 0; k < count; k++) {
        for (int j = g->first[g->queue[k]]; j >= 0; j = g->next[j]) {
            if (g->is_reached[g->child[j]]) {
                g->is_cut[j] = true;
                cuts++;
            } else {
                g->is_reached[g->child[j]] = true;
                g->queue[count++] = g->child[j];
            }
        }
    }
    return cuts;
}

static dyn_status convert_joint(dyn_builder *builder, int j, dyn_report *report, dyn_error *error) {
    const dyn_joint_description *joint = &builder->joints[j];
    named_element at = joint_element(builder, joint->name);
    if (joint->mimic_joint) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, at,
                            "it closes a loop and mimics joint %s; add a coupling of the two instead",
                            joint->mimic_joint);
    }
    if (joint->type == DYN_JOINT_TYPE_FLOATING) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, at,
                            "it closes a loop and is floating, which holds nothing; remove it");
    }
    if (joint->type == DYN_JOINT_TYPE_CUSTOM) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, at,
                            "it closes a loop and is custom, which no constraint is; let another joint close it");
    }
    dyn_constraint_description loop = {.name = joint->name,
                                       .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                       .predecessor = {.link = joint->parent_link},
                                       .successor = {.link = joint->child_link},
                                       .type = joint->type,
                                       .pitch = joint->pitch,
                                       .line = joint->line};
    memcpy(loop.predecessor.pose.position, joint->position, sizeof joint->position);
    memcpy(loop.predecessor.pose.rotation, joint->rotation, sizeof joint->rotation);
    loop.successor.pose.rotation[0] = loop.successor.pose.rotation[4] = loop.successor.pose.rotation[8] = 1;
    memcpy(loop.axis, joint->axis, sizeof joint->axis);
    memcpy(loop.second_axis, joint->second_axis, sizeof joint->second_axis);
    bool is_lossy = joint->damping != 0 || joint->friction != 0;
    report_add_element(report, is_lossy ? DYN_SEVERITY_WARNING : DYN_SEVERITY_NOTE, at,
                       "another joint carries its child link %s: it is cut from the tree and closes a loop as a "
                       "constraint%s",
                       joint->child_link, is_lossy ? "; its damping and friction are ignored" : "");
    return dyn_builder_add_constraint(builder, &loop, error);
}

/* Removes the joints that are cut from the builder. */
static dyn_status remove_cuts(dyn_builder *builder, const bool *is_cut, dyn_error *error) {
    name_index names = {0};
    int count = 0;
    for (int j = 0; j < builder->joint_count; j++) {
        dyn_joint_description *joint = &builder->joints[j];
        joint->row = is_cut[j] ? 0 : joint->row;
        joint->name = is_cut[j] ? NULL : name_index_add(&names, joint->name, count++);
        if (!is_cut[j] && !joint->name) {
            name_index_clear(&names);
            return dyn_error_memory(error);
        }
    }
    count = 0;
    for (int j = 0; j < builder->joint_count; j++) {
        if (is_cut[j]) {
            free((char *)builder->joints[j].parent_link);
            free((char *)builder->joints[j].child_link);
            free((char *)builder->joints[j].mimic_joint);
            free((dyn_joint_motion *)builder->joints[j].motions);
        } else {
            builder->joints[count++] = builder->joints[j];
        }
    }
    builder->joint_count = count;
    name_index_clear(&builder->joint_names);
    builder->joint_names = names;
    return DYN_OK;
}

dyn_status dyn_builder_cut_loops(dyn_builder *builder, dyn_report *report, dyn_error *error) {
    graph g;
    dyn_status status = graph_create(builder, &g) ? DYN_OK : dyn_error_memory(error);
    if (status == DYN_OK && find_cuts(builder, &g) > 0) {
        for (int j = 0; j < builder->joint_count && status == DYN_OK; j++) {
            status = g.is_cut[j] ? convert_joint(builder, j, report, error) : DYN_OK;
        }
        status = status == DYN_OK ? remove_cuts(builder, g.is_cut, error) : status;
    }
    graph_clear(&g);
    return status;
}
