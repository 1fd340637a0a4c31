/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Straight-line C for specialized functions.
 */
#ifndef DYNAMICS_COMPILE_EMIT_H
#define DYNAMICS_COMPILE_EMIT_H

#include <ostream>
#include <string>
#include <vector>

#include "specialize.h"

/* Purpose of the generated C. */
enum class emit_target {
    alone, /* a file of its own that needs libm and nothing else: one state a call */
    object /* a shared object that the library loads: several states in the lanes of a vector, sines by the library */
};

struct emit_options {
    emit_target target;
    bool is_float;      /* single precision; of a file of its own */
    std::string prefix; /* of the functions' names */
};

/* Prelude of shared objects: headers of the library, and object_prelude.h. */
extern const char object_prelude[];

/* Writes the text before the functions, whose text is given: the number type, and the functions that they call. */
void emit_prelude(std::ostream &out, const emit_options &options, const std::string &functions);

/* The heading of a function, and its declaration without a semicolon. */
void emit_declaration(std::ostream &out, const dyn_model *model, const compiled_function &f,
                      const emit_options &options);

/* Writes the prototype for a header in C and C++: with plain types, and a semicolon. */
void emit_prototype(std::ostream &out, const dyn_model *model, const compiled_function &f, const emit_options &options);

/* The function; that of an object returns a sum that is not zero in lanes where an input or a result is infinite or
 * NaN. Products that only sums use are computed with them, by one fused operation where the processor has it. */
void emit_function(std::ostream &out, const dyn_model *model, const compiled_function &f, const emit_options &options);

/* Returns whether an output is the numbers that are divided by. */
bool is_pivots(const output_array &o);

/* Returns whether functions of an object take an input behind the sines (object_prelude.h). */
bool is_late_input(input_array array);

#endif
