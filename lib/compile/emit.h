/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writer of straight-line C for specialized functions.
 */
#ifndef DYNAMICS_COMPILE_EMIT_H
#define DYNAMICS_COMPILE_EMIT_H

#include <ostream>
#include <string>
#include <vector>

#include "specialize.h"

/* Purpose of the generated C. */
enum class emit_target {
    alone, /* a file that needs only libm: one state per call */
    object /* a shared object for the library: several states in the lanes of a vector, sines by the library */
};

/* Options of the generated C. */
struct emit_options {
    emit_target target;
    bool is_float;      /* single precision; only for emit_target::alone */
    std::string prefix; /* prefix of the names of functions */
};

/* Text before the functions of a shared object: headers of the library, and object_prelude.h. */
extern const char object_prelude[];

/* Writes the text before the functions: the number type and the helpers that `functions`, their text, calls. */
void emit_prelude(std::ostream &out, const emit_options &options, const std::string &functions);

/* Writes the heading of a function, and its declaration without a semicolon. */
void emit_declaration(std::ostream &out, const dyn_model *model, const compiled_function &f,
                      const emit_options &options);

/* Writes the prototype for a header of C and C++, with plain types and a semicolon. */
void emit_prototype(std::ostream &out, const dyn_model *model, const compiled_function &f, const emit_options &options);

/* Writes the function. In an object it returns a sum that is not zero in lanes in which an input or a result is
 * infinite or NaN. Products that only sums use are fused with them where the processor has fused operations. */
void emit_function(std::ostream &out, const dyn_model *model, const compiled_function &f, const emit_options &options);

/* Returns true if an output contains the pivots, by which the function divides. */
bool is_pivots(const output_array &o);

/* Returns true if functions of an object load an input after they have computed the sines (object_prelude.h). */
bool is_late_input(input_array array);

#endif
