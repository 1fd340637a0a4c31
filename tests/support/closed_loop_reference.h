/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads robots with closed loops and the reference values of their accelerations at consistent states. The files are
 * outside of the repository. A file that is missing or does not match fails the Check test.
 */
#ifndef DYNAMICS_TESTS_CLOSED_LOOP_REFERENCE_H
#define DYNAMICS_TESTS_CLOSED_LOOP_REFERENCE_H

#include <jansson.h>
#include <stdbool.h>

#include <dynamics/dynamics.h>

/* Names of the robots; NULL ends the list. */
extern const char *const closed_loop_robots[];

/* Robot with its reference file. `m` is the number of rows of its constraints. */
typedef struct closed_loop_reference {
    json_t *root;
    char *urdf, *loops; /* texts of the robot's URDF file and of the YAML file beside it */
    dyn_model *model;
    size_t state_count, nq, nv, m;
} closed_loop_reference;

/* State of a robot: q, v, tau and accelerations in the model's order, multipliers of least norm in the order of the
 * constraint rows, and the rank of the constraints. The caller allocates the arrays. */
typedef struct closed_loop_state {
    double *q, *v, *tau, *a, *lambda;
    int rank;
} closed_loop_state;

/* Returns true if the directory has reference values, which a file README.txt shows. */
bool closed_loop_reference_exists(const char *directory);

/* Reads DIRECTORY/golden/ROBOT.json, and the robot that it names with its constraints. */
void closed_loop_reference_open(const char *directory, const char *robot, closed_loop_reference *opened);

/* Frees the file's contents and the model. */
void closed_loop_reference_close(closed_loop_reference *closed);

/* Copies state s to the arrays and the rank of `to`. */
void closed_loop_reference_state(const closed_loop_reference *from, size_t s, closed_loop_state *to);

#endif
