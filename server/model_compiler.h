/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles models in the background, one at a time, by dynamics-compile in a process of its own. Objects are stored in
 * the state directory and found there at the next start. Until a model is compiled, and after a failure, the library's
 * own kernels compute it; the model's entry holds the reason of a failure.
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
    COMPILE_FIRST_USE, /* every model, once it is used */
} compile_mode;

typedef struct model_compiler_options {
    uv_loop_t *loop;
    model_store *store;
    logger *log;
    compile_mode mode;
    const char *state_directory;
    const char *program;  /* "": dynamics-compile in the directory of this program */
    const char *compiler; /* C compiler that dynamics-compile runs; "": its default */
    const char *sandbox;  /* socket of the sandbox that compiles; "": dynamics-compile compiles itself */
    double time;          /* time limit of one model, s */
    size_t memory_bytes;  /* memory limit of dynamics-compile and the C compiler together */
    size_t cache_bytes;   /* largest number of bytes of all stored files together, and so of one object */
} model_compiler_options;

typedef struct model_compiler model_compiler;

/* Creates a model compiler. Returns NULL when out of memory. With COMPILE_OFF, or if the program or the state directory
 * cannot be used (which is logged), it compiles nothing. The strings of the options must outlive it. */
model_compiler *model_compiler_create(const model_compiler_options *options);

/* Kills the compiling process, if any. No other process is started afterwards. */
void model_compiler_stop(model_compiler *compiler);

/* Frees the compiler, after the loop has closed all of its handles. NULL is ignored. */
void model_compiler_free(model_compiler *compiler);

#endif
