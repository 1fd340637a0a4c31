/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dynamics-compile, run on a model.
 */
#ifndef DYNAMICS_BENCH_MODEL_COMPILER_H
#define DYNAMICS_BENCH_MODEL_COMPILER_H

#include <dynamics/compiled.h>
#include <dynamics/model.h>

/* Writes output_name in the directory, as --shared or --functions=LIST asks. Ends the program where that fails. */
void compile_model(const dyn_model *model, const char *directory, const char *option, const char *output_name);

/* The model's compiled algorithms, and how many seconds compiling took. */
dyn_compiled *compiled_algorithms(const dyn_model *model, double *seconds);

#endif
