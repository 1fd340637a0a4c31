/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes derivatives by complex steps, Im f(x + i h) / h. Creates a random robot in a random state, and this state
 * for the kernels over complex numbers (oracle.h) with an imaginary step along one direction.
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

/* State as complex numbers, the external wrenches, and scratch memory for the kernels over complex numbers. */
typedef struct complex_state {
    complex_number *q, *v, *a;
    complex_number wrench[MAX_FORCES][6];
    wrench_frame frames[MAX_FORCES];
    wrench_set forces;
    void *memory; /* zeros, memory_size of the kernel table */
} complex_state;

/* Variable that gets the imaginary step. */
typedef enum variable { ALONG_Q, ALONG_V, ALONG_A } variable;

/* Creates case k: a robot of 1 + k mod `joints` joints of any type, with a floating base if k is odd and with coupled
 * mimic joints if k is a multiple of 3 and custom joints if k is 4 mod 5, in a random state with up to three wrenches
 * on links that move. */
void setting_create(random_source *random, int k, int joints, setting *s);
void setting_free(setting *s);

/* Allocates the complex state of a setting and copies its wrenches. complex_step computes q, v and a. */
complex_state complex_create(const setting *s);
void complex_free(complex_state *c);

/* Computes the complex state of a setting with an imaginary step along increment k of q, along v_k or along a_k. */
void complex_step(const setting *s, variable along, size_t k, complex_state *c);

/* Computes the derivatives out[i stride] = Im results[i] / h, i < count, from results for a state of complex_step. */
void complex_derivative(const complex_number *results, size_t count, size_t stride, double *out);

/* Allocates an array of `count` complex zeros, which the caller frees. Never returns NULL, even if count is 0. */
complex_number *complex_numbers(size_t count);

/* Allocates an array of `count` NaNs, all of which the function under test must overwrite. The caller frees it. */
double *unset_numbers(size_t count);

#endif
