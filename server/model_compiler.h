/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles models in the background, by dynamics-compile in a process of its own, and has their entries compute with
 * what comes out. Objects are kept in the state directory and found there at the next start.
 *
 * One model at a time is compiled. Until then, and where that fails, the library's own kernels serve; the entry says
 * why.
 */
#ifndef SERVER_MODEL_COMPILER_H
#define SERVER_MODEL_COMPILER_H

#include <stddef.h>
#include <uv.h>

#include "models/store.h"
#include "observe/log.h"

typedef enum compile_mode {
    COMPILE_OFF,
    COMPILE_ON,        /* every model, once it is loaded */
    COMPILE_FIRST_USE, /* every model that was computed with */
} compile_mode;

typedef struct model_compiler_options {
    uv_loop_t *loop;
    model_store *store;
    logger *log;
    compile_mode mode;
    const char *state_directory;
    const char *program;  /* "": dynamics-compile beside this program */
    const char *compiler; /* for it; "": its own choice */
    double time;          /* most seconds for one model */
    size_t memory_bytes;  /* most memory of dynamics-compile and the C compiler together */
    size_t cache_bytes;   /* most bytes of all files that are kept, and so of one object */
} model_compiler_options;

typedef struct model_compiler model_compiler;

/* NULL when out of memory. With COMPILE_OFF it does nothing. What the strings point to must outlive it. */
model_compiler *model_compiler_create(const model_compiler_options *options);

/* Ends the process that compiles, if any, and begins no other. */
void model_compiler_stop(model_compiler *compiler);

/* After the loop has closed all of its handles; NULL is allowed. */
void model_compiler_free(model_compiler *compiler);

#endif
