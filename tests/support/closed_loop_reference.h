/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real robots with closed loops, and their accelerations at consistent states, from reference values outside the
 * repository. A file that does not fit ends the Check test.
 */
#ifndef DYNAMICS_TESTS_CLOSED_LOOP_REFERENCE_H
#define DYNAMICS_TESTS_CLOSED_LOOP_REFERENCE_H

#include <jansson.h>
#include <stdbool.h>

#include <dynamics/dynamics.h>

/* Names of the robots; NULL ends the list. */
extern const char *const closed_loop_robots[];

typedef struct closed_loop_reference {
    json_t *root;
    dyn_model *model;
    size_t state_count, nq, nv, m;
} closed_loop_reference;

/* State of a robot in the model's order: accelerations, and multipliers of least norm in the order of the rows. */
typedef struct closed_loop_state {
    double *q, *v, *tau, *a, *lambda;
    int rank;
} closed_loop_state;

/* Returns whether the directory has reference values. */
bool closed_loop_reference_exists(const char *directory);

/* Reads a robot with its constraints from a directory. */
void closed_loop_reference_open(const char *directory, const char *robot, closed_loop_reference *opened);
void closed_loop_reference_close(closed_loop_reference *closed);

/* Stores state s in the arrays of `to`. */
void closed_loop_reference_state(const closed_loop_reference *from, size_t s, closed_loop_state *to);

#endif
