/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Provides a directory for files that dynamics-compile and other programs write, and runs programs there.
 */
#ifndef DYNAMICS_TESTS_COMPILE_WORKSHOP_H
#define DYNAMICS_TESTS_COMPILE_WORKSHOP_H

#include <dynamics/dynamics.h>

enum { PATH_SIZE = 300, COMMAND_SIZE = 1200 };

/* Test fixture: creates the directory before the first test. */
void create_directory(void);

/* Test fixture: removes the directory with its files after the last test. */
void remove_directory(void);

/* Writes the path of a file in the directory; "" stands for the directory itself. */
void place_of(const char *name, char path[PATH_SIZE]);

/* Runs a shell command and returns its exit code, or -1 where a signal ended it. */
int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Compiles a model of any joint types from its description and loads the object. The object NAME.so is compiled once
 * and shared by all tests. The caller frees the result. */
dyn_compiled *load_compiled(const dyn_model *model, const char *name);

#endif
