/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels of one robot as expressions.
 */
#ifndef DYNAMICS_COMPILE_SPECIALIZE_H
#define DYNAMICS_COMPILE_SPECIALIZE_H

#include <string>

#include "compiled_function.h"
#include "model/normal_form.h"

/* Most nodes of a function's graph, and most numbers that it computes: memory is proportional to both. */
struct size_limits {
    size_t nodes, results;
};

/* The algorithms that can be specialized, in the order in which they are written. Those of frames are written once for
 * each frame that is named, and those of bodies for each body at the end of a branch. */
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

/* Its name, and the other way round; false where there is no such algorithm, or none but for a body. */
const char *algorithm_name(algorithm a);
bool find_algorithm(const std::string &name, algorithm *a);

/* Length of an input array. */
int input_size(const dyn_model *model, input_array array);
const char *input_name(input_array array);

/* Runs the algorithm over expressions. `place` is a link of the model for algorithm::frame, a body for those of bodies,
 * and not read by others. Throws std::length_error where the function is larger than `limits`. Of the ways to compute
 * forward dynamics, the articulated-body algorithm and solving with the mass matrix, the one with fewer operations is
 * taken. */
compiled_function specialize(const dyn_model *model, algorithm a, int place, const size_limits &limits);

#endif
