/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of links that the joints of a description make.
 */
#ifndef DYNAMICS_MODEL_TREE_H
#define DYNAMICS_MODEL_TREE_H

#include "description.h"

/* All numbers are those of the builder. */
typedef struct tree {
    int *parent_link;  /* of each joint */
    int *child_link;   /* of each joint */
    int *parent_joint; /* of each link; -1 for the root */
    int *order;        /* the links depth-first from the root, children in the order of their joints */
    int root;
} tree;

/* Finds the tree. Errors: no link, a missing link, a link with two parents, no root or several, a cycle; out of memory.
 * Cost O(links log links), without recursion. Free it with tree_clear, also after an error. */
dyn_status tree_find(const dyn_builder *builder, dyn_error *error, tree *found);

void tree_clear(tree *found);

#endif
