/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of the protocol's Stepping to the library's options.
 */
#ifndef SERVER_METHODS_STEPPING_H
#define SERVER_METHODS_STEPPING_H

#include <dynamics/simulation.h>

#include "methods/batch.h"
#include "methods/error_path.h"

/* Fills the options, and writes defaults into empty members of the message. `gravity` is that of the query; NULL: the
 * model's own. Gains are in the arena, in the model's order. */
bool stepping_read(const robot *r, const double *gravity, Dynamics__V1__Stepping *m, arena *memory,
                   dyn_simulation_options *options, refusal *why);

/* Fills the options for a batch; NULL: all defaults. Returns false, and the call has ended, on an error. */
bool stepping_read_batch(batch *b, const Dynamics__V1__Stepping *m, dyn_simulation_options *options);

/* Returns the number of evaluations of the dynamics in a step. */
double stepping_evaluations(const dyn_simulation_options *options);

/* Code that computes steps, chosen once for a request or a simulation. */
typedef struct step_code {
    const dyn_compiled *compiled; /* NULL: the library's own kernels */
    char object[DIGEST_SIZE];     /* digest of the compiled code */
    bool must_be_compiled;
} step_code;

/* Writes the field of the request that an error of the library is about: an option, or a part of the query. Empty: it
 * is about neither. Returns `path`. */
const char *stepping_error_path(const dyn_error *error, char path[ERROR_PATH_SIZE]);

/* Returns the requested code, if the model has it now. */
step_code step_code_choose(model_entry *entry, Dynamics__V1__CompiledSteps wanted);

/* Writes in a sentence why compiled code is not available although it is required. */
enum { STEP_CODE_REASON = COMPILATION_REASON_SIZE + 120 };
void step_code_explain(model_entry *entry, char reason[STEP_CODE_REASON]);

/* Returns the code that a decoded message (NULL: all defaults) selects. */
step_code stepping_code(const batch *b, const Dynamics__V1__Stepping *m);

/* Creates a simulator with the call's payloads. Returns false, and the call has ended, if an option is wrong. */
bool stepping_create(batch *b, const dyn_simulation_options *options, const step_code *code, dyn_simulator **simulator);

/* Returns the name of the code that computes the steps, in the call's memory. */
char *stepping_computed_with(batch *b, const step_code *code, const dyn_simulator *simulator);

#endif
