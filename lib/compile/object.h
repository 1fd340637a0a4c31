/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source of a shared object that the library loads. lib/src/kernels/compiled_object.h describes its contents.
 */
#ifndef DYNAMICS_COMPILE_OBJECT_H
#define DYNAMICS_COMPILE_OBJECT_H

#include <ostream>
#include <string>
#include <vector>

#include "specialize.h"

/* Writes C that is compiled twice: with DYN_LANES set to the number of states of the wide functions, and with DYN_LANES
 * = 1 and DESCRIPTOR for the single ones and the descriptor of both. `canonical` is the canonical description of the
 * model. */
void emit_object(std::ostream &out, const dyn_model *model, const std::vector<compiled_function> &functions,
                 const std::string &canonical);

/* Sanitizers reserve more address space than any limit allows: a program with one limits its compilers only. */
#if defined __has_feature
#define HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif
constexpr bool is_sanitized = HAS_SANITIZER;

/* Options of the compilation of a shared object. */
struct build_options {
    std::string compiler;        /* program; empty: the first of clang, cc and gcc that is installed */
    std::string instruction_set; /* name that is_instruction_set accepts */
    size_t memory_bytes;         /* largest memory of this program and the compiler together; 0: no limit */
};

/* Returns true if `name` is that of an instruction set: avx512, avx2, sse2, neon or scalar. */
bool is_instruction_set(const std::string &name);

/* Compiles the source, in a temporary directory beside `path`, to the shared object `path`, which appears as a whole or
 * not at all. Throws std::runtime_error with a sentence if that fails. */
void build_object(std::string source, const std::string &path, const build_options &options);

#endif
