/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Specialization of the kernels for one robot, as expressions.
 */
#ifndef DYNAMICS_COMPILE_SPECIALIZE_H
#define DYNAMICS_COMPILE_SPECIALIZE_H

#include <string>

#include "compiled_function.h"
#include "model/normal_form.h"

/* Largest number of nodes of a graph, and of results of a function. Memory is proportional to both. */
struct size_limits {
    size_t nodes, results;
};

/* Algorithms that can be specialized, in the order in which they are written. Those of frames are written once for each
 * requested frame, and those of bodies once for each body at the end of a branch. */
enum class algorithm {
    rnea,
    bias,
    gravity,
    crba,
    aba,
    resisted_aba,
    minverse,
    frame,
    rnea_derivatives,
    aba_derivatives,
    body_pose,
    body_jacobian,
    body_motion
};

/* Returns the name of an algorithm. */
const char *algorithm_name(algorithm a);

/* Finds the algorithm of a name. Returns false if there is none, or if it belongs to a body. */
bool find_algorithm(const std::string &name, algorithm *a);

/* Returns the length of an input array: nq for q, nv for the others. */
int input_size(const dyn_model *model, input_array array);

/* Returns the name of an input array. */
const char *input_name(input_array array);

/* Runs the algorithm over expressions. `place` is a link of the model for algorithm::frame, a body for the algorithms
 * of bodies, and ignored for others. Throws std::length_error if the function exceeds `limits`. Forward dynamics is
 * computed by the articulated-body algorithm or by solving with the mass matrix, whichever costs fewer operations. */
compiled_function specialize(const dyn_model *model, algorithm a, int place, const size_limits &limits);

#endif
