/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivatives by complex steps, Im f(x + i h) / h: a random robot in a random state, and the same state for the kernels
 * over complex numbers, with an imaginary step along one direction.
 */
#ifndef DYNAMICS_TESTS_COMPLEX_STEP_H
#define DYNAMICS_TESTS_COMPLEX_STEP_H

#include <dynamics/dynamics.h>

#include "oracle/oracle.h"
#include "random_tree.h"

typedef double _Complex complex_number;

enum { MAX_FORCES = 3 };

/* A random robot and its state. */
typedef struct setting {
    dyn_model *model;
    dyn_workspace *workspace;
    size_t nq, nv;
    double *q, *v, *a;
    double gravity[3];
    double wrench[MAX_FORCES][6];
    dyn_external_force force[MAX_FORCES];
    dyn_external_forces forces;
} setting;

/* State as complex numbers. */
typedef struct complex_state {
    complex_number *q, *v, *a;
    complex_number wrench[MAX_FORCES][6];
    wrench_frame frames[MAX_FORCES];
    wrench_set forces;
    void *memory; /* of the oracle's kernels */
} complex_state;

/* Variable along which a step goes. */
typedef enum variable { ALONG_Q, ALONG_V, ALONG_A } variable;

/* Creates case k: 1 to `joints` joints of every type, fixed or floating, every third with coupled mimic joints, and up
 * to three wrenches on links that move. */
void setting_create(random_source *random, int k, int joints, setting *s);
void setting_free(setting *s);

complex_state complex_create(const setting *s);
void complex_free(complex_state *c);

/* Computes the state with a step along increment k of q, along v_k or along a_k. */
void complex_step(const setting *s, variable along, size_t k, complex_state *c);

/* Computes the derivatives from `count` results of such a state, out[0], out[stride], ... */
void complex_derivative(const complex_number *results, size_t count, size_t stride, double *out);

/* Returns `count` complex zeros, at least one; the caller frees them. */
complex_number *complex_numbers(size_t count);

/* Returns `count` times NaN, which no result may keep; the caller frees them. */
double *unset_numbers(size_t count);

#endif
