/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares a tree of joints of all types with one coordinate, to which tests add machine elements, with random states
 * of it, and the results of all algorithms.
 */
#ifndef DYNAMICS_TESTS_BRANCHED_TREE_H
#define DYNAMICS_TESTS_BRANCHED_TREE_H

#include <dynamics/dynamics.h>

#include "support/algorithms.h"

/* Joint j connects the link tree_links[tree_parents[j]] with tree_links[j + 1]. The last three are a chain of hinges.
 * NV and NQ are those of the tree on a floating base. STATES exceeds the lanes of any instruction set. */
enum { JOINTS = 8, NV = 6 + JOINTS, NQ = 7 + JOINTS, STATES = 19 };
extern const char *const tree_links[JOINTS + 1];
extern const int tree_parents[JOINTS];

/* Builds the tree of joints j0, j1 .., in random places. */
dyn_builder *branched_tree(void);

/* Inputs of all algorithms. */
typedef struct states {
    double q[STATES * NQ], v[STATES * NV], a[STATES * NV], tau[STATES * NV], wrench[STATES * 6];
} states;

/* Draws states, and prints the seed with the name of the property. */
void draw_states(const char *property, states *x);

dyn_workspace *workspace_of(const dyn_model *model);

/* Computes n states by an algorithm, at the link l3. The caller frees the result. */
double *compute(const dyn_model *model, algorithm_id id, size_t n, const states *x);

/* Asserts that an algorithm has the same results for two models, for one state and for all. */
void compare_algorithm(const dyn_model *model, const dyn_model *twin, algorithm_id id, const states *x);

/* Asserts that all algorithms have the same results for a model with rotors and for its twin whose rotors are links,
 * except those with results of each link or joint, of which the twin has more, or of rotors, of which it has none. */
void compare_with_twin(const dyn_model *model, const dyn_model *twin, const states *x);

/* Computes the difference between the inverse dynamics of two robots with the same joints. The caller frees it. */
double *difference(const dyn_model *model, const dyn_model *other, const states *x);

/* Asserts that all formulations that have the model compute its inverse dynamics, and that the others refuse it. */
void compare_formulations(const dyn_model *model, const states *x);

#endif
