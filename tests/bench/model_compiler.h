/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs dynamics-compile on a model.
 */
#ifndef DYNAMICS_BENCH_MODEL_COMPILER_H
#define DYNAMICS_BENCH_MODEL_COMPILER_H

#include <dynamics/compiled.h>
#include <dynamics/model.h>

/* Writes output_name in the directory, with the option --shared or --functions=LIST. Ends the program where that
 * fails. */
void compile_model(const dyn_model *model, const char *directory, const char *option, const char *output_name);

/* Loads the model's compiled algorithms; `seconds` receives the time to compile them. */
dyn_compiled *compiled_algorithms(const dyn_model *model, double *seconds);

#endif
