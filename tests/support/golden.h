/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reference values of real robots: another library's results, computed in extended precision. DYNAMICS_REFERENCE_DIR
 * has them in golden/ and robots/: a selection in tests/data, or the whole collection where it lies beside the project.
 */
#ifndef DYNAMICS_TESTS_GOLDEN_H
#define DYNAMICS_TESTS_GOLDEN_H

#include <stdbool.h>

#include <jansson.h>

#include <dynamics/dynamics.h>

/* One robot with its reference states, in the order of the model's coordinates. Mimic joints are independent. */
typedef struct golden {
    const char *name;
    dyn_model *model;
    size_t count; /* of states */
    size_t nq, nv;
    double *q, *v, *a, *tau; /* count rows each */
    json_t *root, *states;
    size_t *v_map; /* index in the model's v of each entry of the reference's */
} golden;

/* Returns the names of the files with reference values, sorted and ended by NULL, or NULL without a directory. The
 * caller frees them with golden_files_free. */
char **golden_files(void);
void golden_files_free(char **files);

/* Reads a file and loads its robot. Returns false, with a line of output, if the robot is missing. Aborts with a
 * message where they do not match. */
bool golden_open(const char *file, golden *g);
void golden_close(golden *g);

/* Loads the robot of a file alone, which the caller frees. Returns NULL, with a line of output, where it is missing. */
dyn_model *golden_robot(const char *file);

/* Copies a field of one state, `rows` rows of nv numbers, in the model's order. Returns false if the state lacks it. */
bool golden_rows(const golden *g, size_t state, const char *field, size_t rows, double *out);

/* Copies a field of nv x nv numbers of one state, rows and columns in the model's order. Returns false if the state
 * lacks it. */
bool golden_square(const golden *g, size_t state, const char *field, double *out);

/* Copies a configuration that is a field of one state, in the model's order. Returns false if the state lacks it. */
bool golden_configuration(const golden *g, size_t state, const char *field, double *out);

/* Returns a field of one state in the form of the file, NULL if the state lacks it. */
const json_t *golden_field(const golden *g, size_t state, const char *field);

/* Returns the model's joint that is number i of the reference's joints. */
int golden_joint(const golden *g, size_t i);

#endif
