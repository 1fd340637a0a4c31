/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generates source text of a model: runs dynamics-compile, with limits on its time and memory, and collects its output.
 * One process runs at a time.
 */
#ifndef SERVER_MODELS_GENERATOR_H
#define SERVER_MODELS_GENERATOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include <dynamics/model.h>

enum { GENERATOR_REASON_SIZE = 400 };

/* Program and limits of a generation. */
typedef struct generator_options {
    char program[PATH_MAX]; /* path of dynamics-compile */
    const char *sandbox;    /* socket of the sandbox that generates; "": the program itself */
    double time;            /* processor time, s */
    size_t memory_bytes;    /* address space */
} generator_options;

/* Option of dynamics-compile that names a sandbox, with the path of the socket. */
enum { SANDBOX_WORD_SIZE = PATH_MAX + 16 };

/* Writes the option for a sandbox; "": the word is empty. */
void generator_write_sandbox(const char *sandbox, char word[SANDBOX_WORD_SIZE]);

/* Outcome of a generation. */
typedef enum generator_outcome {
    GENERATOR_DONE,
    GENERATOR_BUSY,      /* another generation runs */
    GENERATOR_STOPPED,   /* `proceed` returned false */
    GENERATOR_TOO_LARGE, /* the text exceeds the limit */
    GENERATOR_REFUSED,   /* the program refused the words */
    GENERATOR_MISSING,   /* the program cannot be started */
    GENERATOR_FAILED,    /* the program could not generate the text */
} generator_outcome;

/* Finds dynamics-compile: `configured`, or if that is empty, the file in the directory of this program. Returns false
 * if the path is too long or /proc is not mounted. */
bool generator_find_program(const char *configured, char path[PATH_MAX]);

/* Runs the program with the words, which NULL terminates, for the model. `proceed` is called about 100 times a second;
 * if it returns false, the process is killed. On success *text is a string that the caller frees, of at most `most`
 * bytes. `reason` states the cause of GENERATOR_REFUSED, GENERATOR_MISSING and GENERATOR_FAILED. Any thread. */
generator_outcome generator_run(const generator_options *options, const dyn_model *model, const char *const *words,
                                size_t most, bool (*proceed)(void *context), void *context, char **text,
                                char reason[GENERATOR_REASON_SIZE]);

#endif
