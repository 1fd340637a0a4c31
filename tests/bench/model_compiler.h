/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs dynamics-compile on a model and loads its output.
 */
#ifndef DYNAMICS_BENCH_MODEL_COMPILER_H
#define DYNAMICS_BENCH_MODEL_COMPILER_H

#include <dynamics/compiled.h>
#include <dynamics/model.h>

/* Compiles a model to the file output_name in the directory. `option` is --shared or --functions=LIST. Ends the program
 * where dynamics-compile fails. */
void compile_model(const dyn_model *model, const char *directory, const char *option, const char *output_name);

/* Compiles a model and loads the compiled algorithms, which the caller frees; `seconds` receives the time to compile
 * them. */
dyn_compiled *compiled_algorithms(const dyn_model *model, double *seconds);

#endif
