/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A directory for files that dynamics-compile and other programs write.
 */
#ifndef DYNAMICS_TESTS_COMPILE_WORKSHOP_H
#define DYNAMICS_TESTS_COMPILE_WORKSHOP_H

#include <dynamics/dynamics.h>

enum { PATH_SIZE = 300, COMMAND_SIZE = 1200 };

/* Test fixtures: create the directory before the first test, and remove it after the last one. */
void create_directory(void);
void remove_directory(void);

/* Writes the path of a file in the directory; "" stands for the directory itself. */
void place_of(const char *name, char path[PATH_SIZE]);

/* Runs a command and returns its exit code. */
int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Compiles a model of any joint types from its description and loads the object. The object is compiled once for each
 * `name`, which all tests share. */
dyn_compiled *load_compiled(const dyn_model *model, const char *name);

#endif
