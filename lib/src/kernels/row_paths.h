/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths of rows through the tree: the bodies that support a group of rows, from the bodies that its terms act on to the
 * root.
 */
#ifndef DYNAMICS_KERNELS_ROW_PATHS_H
#define DYNAMICS_KERNELS_ROW_PATHS_H

#include "instance.h"

/* Most rows of a group, and most forces of all its terms and rows: two terms of six rows, or eight of one row. */
enum { GROUP_ROWS = 6, GROUP_FORCES = 2 * GROUP_ROWS };

/* Computes the index of the body that each coordinate moves. */
static inline void find_moved_bodies(const dyn_model *model, int *moved_body) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        for (int k = b->v_index; k < b->v_index + b->nv; k++) {
            moved_body[k] = i;
        }
    }
}

/* Paths of the terms of a group to the root. The next body of a path is at[k], or -1 at its end. */
typedef struct row_paths {
    int count; /* terms */
    int at[ROW_TERMS];
} row_paths;

/* Returns the body that a term acts on, or -1 for the world. */
static inline int term_body(const dyn_model *model, const int *moved_body, const row_term *t) {
    if (t->source == ROW_OF_COORDINATE) {
        return moved_body[t->index];
    }
    if (t->source == ROW_OF_POLYNOMIAL) {
        return moved_body[model->closures[t->index].v_index[1]];
    }
    int link = t->source == ROWS_OF_CLOSURE ? model->closures[t->index].links[t->factor > 0] : t->index;
    return link < 0 ? -1 : model->frames[link].body;
}

static inline row_paths paths_of(const dyn_model *model, const int *moved_body, const row_group *group) {
    row_paths paths;
    paths.count = group->term_count;
    for (int k = 0; k < paths.count; k++) {
        paths.at[k] = term_body(model, moved_body, &group->terms[k]);
    }
    return paths;
}

/* Returns the outermost body on the paths, or -1 at their end. A body has a higher index than its parent. */
static inline int outermost(const row_paths *paths) {
    int i = -1;
    for (int k = 0; k < paths->count; k++) {
        i = paths->at[k] > i ? paths->at[k] : i;
    }
    return i;
}

/* Moves the paths on from body i, which is the outermost one. Paths that meet there continue as one. */
static inline void leave(const dyn_model *model, int i, row_paths *paths) {
    int next = model->bodies[i].parent;
    for (int k = 0; k < paths->count; k++) {
        if (paths->at[k] == i) {
            paths->at[k] = next;
            next = -1;
        }
    }
}

/* Returns the path that goes on alone, or a path at its end where none goes on; -1: several go on. */
static inline int lone_path(const row_paths *paths) {
    int lone = 0, count = 0;
    for (int k = 0; k < paths->count; k++) {
        lone = paths->at[k] >= 0 ? k : lone;
        count += paths->at[k] >= 0;
    }
    return count > 1 ? -1 : lone;
}

#endif
