/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source of a shared object that the library loads; lib/src/kernels/compiled_object.h says what is in it.
 */
#ifndef DYNAMICS_COMPILE_OBJECT_H
#define DYNAMICS_COMPILE_OBJECT_H

#include <ostream>
#include <string>
#include <vector>

#include "specialize.h"

/* Writes C that is compiled twice: with DYN_LANES the number of states of the wide functions, and with
 * DYN_LANES = 1 and DESCRIPTOR for the single ones and for what names them all. `canonical` is the model's canonical
 * description. */
void emit_object(std::ostream &out, const dyn_model *model, const std::vector<compiled_function> &functions,
                 const std::string &canonical);

/* Sanitizers reserve more address space than any bound allows: a program with one bounds its compilers alone. */
#if defined __has_feature
#define HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif
constexpr bool is_sanitized = HAS_SANITIZER;

/* How a source is compiled to a shared object. */
struct build_options {
    std::string compiler;        /* program; empty: clang, cc or gcc, the first that there is */
    std::string instruction_set; /* one that is_instruction_set knows */
    size_t memory_bytes;         /* most memory of this program and the compiler together; 0: any */
};

/* Returns whether there are options of compilers for it: avx512, avx2, sse2, neon, scalar. */
bool is_instruction_set(const std::string &name);

/* Compiles the source, in the directory of `path`, to the shared object `path`, which appears there whole or not at
 * all. Throws std::runtime_error with a sentence where that fails. */
void build_object(std::string source, const std::string &path, const build_options &options);

#endif
