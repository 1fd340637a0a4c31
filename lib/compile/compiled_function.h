/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Function that computes one algorithm for one robot, as a graph of expressions.
 */
#ifndef DYNAMICS_COMPILE_COMPILED_FUNCTION_H
#define DYNAMICS_COMPILE_COMPILED_FUNCTION_H

#include <string>
#include <vector>

#include "graph.h"

/* Arrays that a function reads. The value is the array number of input nodes. */
enum input_array { INPUT_Q, INPUT_V, INPUT_A, INPUT_TAU, INPUT_DIAGONAL, INPUT_ARRAYS };

/* Array that a function writes. */
struct output_array {
    std::string name, meaning;
    std::vector<expression> values;
};

/* Numbers of operations of a function. A fused multiplication and addition counts as one of each. `sines` counts pairs
 * of sine and cosine. */
struct operations {
    size_t multiplications, additions, divisions, sines;
};

/* Specialized algorithm, as a graph with inputs and outputs. */
struct compiled_function {
    std::string name, meaning;
    expression_graph graph;
    std::vector<input_array> inputs;
    std::vector<output_array> outputs;
    bool is_packed = false; /* the library calls it with packed arrays only */
};

/* Returns, for each node, whether an output depends on it. */
std::vector<bool> live_nodes(const compiled_function &f);

/* Counts the operations that the outputs depend on. */
operations count_operations(const compiled_function &f);

#endif
