/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tree of links that the joints of a description form: root, cycles, depth-first order.
 */
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

void tree_clear(tree *found) {
    free(found->parent_link);
    free(found->child_link);
    free(found->parent_joint);
    free(found->order);
    memset(found, 0, sizeof *found);
}

/* Finds the number of a link that a joint names. */
static dyn_status find_link(const dyn_builder *builder, const dyn_joint_description *joint, const char *role,
                            const char *name, dyn_error *error, int *link) {
    *link = name_index_find(&builder->link_names, name);
    if (*link >= 0) {
        return DYN_OK;
    }
    return builder_fail(builder, error, DYN_INVALID_ARGUMENT, joint_element(builder, joint->name),
                        "its %s link \"%s\" does not exist; add the link or correct the name", role, name);
}

/* Connects every joint with its two links. */
static dyn_status connect_joints(const dyn_builder *builder, dyn_error *error, tree *found) {
    for (int i = 0; i < builder->link_count; i++) {
        found->parent_joint[i] = -1;
    }
    for (int j = 0; j < builder->joint_count; j++) {
        const dyn_joint_description *joint = &builder->joints[j];
        dyn_status status = find_link(builder, joint, "parent", joint->parent_link, error, &found->parent_link[j]);
        if (status == DYN_OK) {
            status = find_link(builder, joint, "child", joint->child_link, error, &found->child_link[j]);
        }
        if (status != DYN_OK) {
            return status;
        }
        int *carrier = &found->parent_joint[found->child_link[j]];
        if (*carrier >= 0) {
            return builder_fail(
                builder, error, DYN_INVALID_ARGUMENT, joint_element(builder, joint->name),
                "its child link \"%s\" is already carried by joint \"%s\"; a link has one parent (cut_loops closes "
                "the loop by a constraint instead)",
                joint->child_link, builder->joints[*carrier].name);
        }
        *carrier = j;
    }
    return DYN_OK;
}

/* Sets an error with the names of the cycle that leads to `link`, which cannot be reached from a root. */
static dyn_status fail_with_cycle(const dyn_builder *builder, const tree *found, int link, dyn_error *error) {
    for (int i = 0; i < builder->link_count; i++) {
        link = found->parent_link[found->parent_joint[link]];
    }
    char names[256];
    size_t used = (size_t)snprintf(names, sizeof names, "\"%s\"", builder->links[link].name);
    int next = link;
    do {
        next = found->parent_link[found->parent_joint[next]];
        if (used < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, " on \"%s\"", builder->links[next].name);
        }
    } while (next != link);
    const dyn_joint_description *joint = &builder->joints[found->parent_joint[link]];
    return builder_fail(builder, error, DYN_INVALID_ARGUMENT, joint_element(builder, joint->name),
                        "the links form a cycle: %s%s; a robot is a tree", names, used < sizeof names ? "" : " ...");
}

/* Finds the single link that no joint carries. */
static dyn_status find_root(const dyn_builder *builder, dyn_error *error, tree *found) {
    found->root = -1;
    for (int i = 0; i < builder->link_count; i++) {
        if (found->parent_joint[i] >= 0) {
            continue;
        }
        if (found->root >= 0) {
            const dyn_link_description *link = &builder->links[i];
            return builder_fail(
                builder, error, DYN_INVALID_ARGUMENT, link_element(builder, link->name),
                "there are two roots, \"%s\" and \"%s\", that no joint carries; connect them by a joint",
                builder->links[found->root].name, link->name);
        }
        found->root = i;
    }
    return found->root >= 0 ? DYN_OK : fail_with_cycle(builder, found, 0, error);
}

/* Lists, for each link, its first child joint and, for each joint, the next joint of the same parent. */
static void list_children(const dyn_builder *builder, const tree *found, int *first, int *next) {
    for (int i = 0; i < builder->link_count; i++) {
        first[i] = -1;
    }
    for (int j = builder->joint_count - 1; j >= 0; j--) {
        next[j] = first[found->parent_link[j]];
        first[found->parent_link[j]] = j;
    }
}

/* Lists the links that the root carries in depth-first order. Returns their number. */
static int order_links(tree *found, const int *first, const int *next) {
    int count = 0, link = found->root;
    while (link >= 0) {
        found->order[count++] = link;
        int joint = first[link];
        while (joint < 0 && link != found->root) {
            joint = next[found->parent_joint[link]];
            link = found->parent_link[found->parent_joint[link]];
        }
        link = joint >= 0 ? found->child_link[joint] : -1;
    }
    return count;
}

/* Returns a link that the root does not carry, given the `count` links that it does. */
static int find_unreached(const dyn_builder *builder, const tree *found, int count, int *reached) {
    memset(reached, 0, (size_t)builder->link_count * sizeof *reached);
    for (int i = 0; i < count; i++) {
        reached[found->order[i]] = 1;
    }
    int link = 0;
    while (reached[link]) {
        link++;
    }
    return link;
}

/* Lists all links in depth-first order. Links that the root does not carry are an error: they form a cycle. */
static dyn_status order_tree(const dyn_builder *builder, dyn_error *error, tree *found) {
    dyn_status status = DYN_OK;
    int *first = calloc((size_t)builder->link_count, sizeof *first);
    int *next = calloc((size_t)builder->joint_count + 1, sizeof *next);
    if (!first || !next) {
        status = dyn_error_memory(error);
        goto cleanup;
    }
    list_children(builder, found, first, next);
    int count = order_links(found, first, next);
    if (count < builder->link_count) {
        status = fail_with_cycle(builder, found, find_unreached(builder, found, count, first), error);
    }
cleanup:
    free(first);
    free(next);
    return status;
}

dyn_status tree_find(const dyn_builder *builder, dyn_error *error, tree *found) {
    memset(found, 0, sizeof *found);
    if (builder->link_count == 0) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, robot_element(builder), "it has no link; add one");
    }
    size_t links = (size_t)builder->link_count, joints = (size_t)builder->joint_count + 1;
    found->parent_link = calloc(joints, sizeof *found->parent_link);
    found->child_link = calloc(joints, sizeof *found->child_link);
    found->parent_joint = calloc(links, sizeof *found->parent_joint);
    found->order = calloc(links, sizeof *found->order);
    if (!found->parent_link || !found->child_link || !found->parent_joint || !found->order) {
        return dyn_error_memory(error);
    }
    dyn_status status = connect_joints(builder, error, found);
    if (status == DYN_OK) {
        status = find_root(builder, error, found);
    }
    return status == DYN_OK ? order_tree(builder, error, found) : status;
}
