/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads reference values of real robots: results of another library, computed in extended precision. The directory
 * DYNAMICS_REFERENCE_DIR has them in golden/ and the robots in robots/. It is a selection in tests/data, or the whole
 * collection if there is one beside the project.
 */
#ifndef DYNAMICS_TESTS_GOLDEN_H
#define DYNAMICS_TESTS_GOLDEN_H

#include <stdbool.h>

#include <jansson.h>

#include <dynamics/dynamics.h>

/* One robot with its reference states. q, v, a and tau are in the order of the model's coordinates. Mimic joints are
 * independent. */
typedef struct golden {
    const char *name;
    dyn_model *model;
    size_t count; /* of states */
    size_t nq, nv;
    double *q, *v, *a, *tau; /* count rows each */
    json_t *root, *states;
    size_t *v_map; /* for each entry of a v of the file: its index in v of the model */
} golden;

/* Returns the names of the files with reference values, sorted and ended by NULL. Returns NULL without a directory or
 * when out of memory. The caller frees the names with golden_files_free. */
char **golden_files(void);
void golden_files_free(char **files);

/* Reads a file of reference values and loads its robot. Prints a line and returns false if the robot's file is missing.
 * Aborts with a message if a file cannot be read, or if the robot lacks a joint of the reference. */
bool golden_open(const char *file, golden *g);
void golden_close(golden *g);

/* Loads only the robot of a file of reference values. Prints a line and returns NULL if the robot's file is missing.
 * The caller frees the robot. */
dyn_model *golden_robot(const char *file);

/* Copies a field of one state, `rows` rows of nv numbers, with columns in the model's order. Returns false if the state
 * lacks the field. Aborts if the field has another length. */
bool golden_rows(const golden *g, size_t state, const char *field, size_t rows, double *out);

/* Copies a field of nv x nv numbers of one state, rows and columns in the model's order. Returns false if the state
 * lacks the field. Aborts if the field has another length. */
bool golden_square(const golden *g, size_t state, const char *field, double *out);

/* Copies a field of one state that is a configuration, in the model's order. Returns false if the state lacks the
 * field. */
bool golden_configuration(const golden *g, size_t state, const char *field, double *out);

/* Returns a field of one state as in the file, or NULL if the state lacks it. The caller must not free it. */
const json_t *golden_field(const golden *g, size_t state, const char *field);

/* Returns the index in the model of joint i of the reference, negative if the model has no joint of that name. */
int golden_joint(const golden *g, size_t i);

#endif
