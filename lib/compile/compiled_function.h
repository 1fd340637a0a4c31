/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One algorithm for one robot as expressions.
 */
#ifndef DYNAMICS_COMPILE_COMPILED_FUNCTION_H
#define DYNAMICS_COMPILE_COMPILED_FUNCTION_H

#include <string>
#include <vector>

#include "graph.h"

/* Arrays that a function reads; the number of an input node's array. */
enum input_array { INPUT_Q, INPUT_V, INPUT_A, INPUT_TAU, INPUT_DIAGONAL, INPUT_ARRAYS };

/* An array that a function writes. */
struct output_array {
    std::string name, meaning;
    std::vector<expression> values;
};

/* Operations that a function does. A fused multiplication and addition is one of each; sines are pairs. */
struct operations {
    size_t multiplications, additions, divisions, sines;
};

/* One algorithm, specialized. The graph holds what it computes, and nothing else is read of it. */
struct compiled_function {
    std::string name, meaning;
    expression_graph graph;
    std::vector<input_array> inputs;
    std::vector<output_array> outputs;
    bool is_packed = false; /* the library takes it from packed arrays to packed arrays alone */
};

/* Marks the nodes that the outputs need. */
std::vector<bool> live_nodes(const compiled_function &f);

operations count_operations(const compiled_function &f);

#endif
