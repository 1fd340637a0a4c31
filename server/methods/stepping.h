/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts the protocol's Stepping to the library's options, and chooses the code that computes the steps.
 */
#ifndef SERVER_METHODS_STEPPING_H
#define SERVER_METHODS_STEPPING_H

#include <dynamics/simulation.h>

#include "methods/batch.h"
#include "methods/error_path.h"

/* Fills the options, and writes defaults into empty members of the message. `gravity` is that of the query; NULL: the
 * model's own. Gains are in the arena, in the model's order. On failure fills `why` and returns false. */
bool stepping_read(const robot *r, const double *gravity, Dynamics__V1__Stepping *m, arena *memory,
                   dyn_simulation_options *options, refusal *why);

/* Fills the options for a batch; `m` NULL: all defaults. Returns false, and the call has ended, on an error. */
bool stepping_read_batch(batch *b, const Dynamics__V1__Stepping *m, dyn_simulation_options *options);

/* Returns the number of evaluations of the dynamics in one step, including those of its substeps. */
double stepping_evaluations(const dyn_simulation_options *options);

/* Estimates the cost of the constraints of a model in one evaluation of its dynamics, ns. */
double stepping_constraint_cost(const dyn_model *model);

/* Code that computes steps, chosen once for a request or a simulation. */
typedef struct step_code {
    const dyn_compiled *compiled; /* NULL: the library's own kernels */
    char object[DIGEST_SIZE];     /* digest of the compiled code; empty: none */
    bool must_be_compiled;
} step_code;

/* Writes the field of the request that an error of the library is about: an option of "stepping", or a part of "query";
 * "" if it is about neither. Returns `path`. */
const char *stepping_error_path(const dyn_error *error, char path[ERROR_PATH_SIZE]);

/* Returns the code that a request selects by `wanted`, if the model has it now. */
step_code step_code_choose(model_entry *entry, Dynamics__V1__CompiledSteps wanted);

/* Size of the text of step_code_explain, in bytes. */
enum { STEP_CODE_REASON = COMPILATION_REASON_SIZE + 120 };

/* Writes a sentence that explains why the model has no compiled code for the steps. */
void step_code_explain(model_entry *entry, char reason[STEP_CODE_REASON]);

/* Returns the code that a message selects for a batch; `m` NULL: all defaults. */
step_code stepping_code(const batch *b, const Dynamics__V1__Stepping *m);

/* Creates a simulator with the code and the payloads of the batch, which the caller frees. Returns false, and the call
 * has ended, if an option is wrong, the required code is not available, or when out of memory. */
bool stepping_create(batch *b, const dyn_simulation_options *options, const step_code *code, dyn_simulator **simulator);

/* Returns the name of the code that computes the steps, in the call's memory. Returns NULL, and the call has ended,
 * when out of memory. */
char *stepping_computed_with(batch *b, const step_code *code, const dyn_simulator *simulator);

#endif
