/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tree of links that the joints of a description form.
 */
#ifndef DYNAMICS_MODEL_TREE_H
#define DYNAMICS_MODEL_TREE_H

#include "description.h"

/* Tree. All numbers of links and joints are those of the builder. */
typedef struct tree {
    int *parent_link;  /* parent link of each joint */
    int *child_link;   /* child link of each joint */
    int *parent_joint; /* parent joint of each link; -1 for the root */
    int *order;        /* links depth-first from the root, children in the order of their joints */
    int root;
} tree;

/* Finds the tree of links that the joints of a description form. Cost O(links log links), without recursion. The caller
 * frees it with tree_clear, also after an error.
 * Errors: no link, a missing link, a link with two parents, no root or several, a cycle; out of memory. */
dyn_status tree_find(const dyn_builder *builder, dyn_error *error, tree *found);

/* Frees a tree. */
void tree_clear(tree *found);

#endif
