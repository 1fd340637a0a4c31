/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks identities between quantities one by one, on random trees of every joint type and on the robots with reference
 * values that exist.
 */
#ifndef DYNAMICS_TESTS_IDENTITIES_H
#define DYNAMICS_TESTS_IDENTITIES_H

#include <check.h>

#include <dynamics/dynamics.h>

#include "random.h"

/* Time between a state and its neighbours, in seconds. */
#define IDENTITY_STEP 1e-6

/* A robot in a state, with memory for results. */
typedef struct identity_case {
    dyn_model *model;
    dyn_workspace *w;
    size_t nq, nv;
    double *q, *v, *a;
    random_source *random;     /* for further draws of a check */
    double *forward, *back;    /* q after a motion at v for +- IDENTITY_STEP */
    double *x, *y, *M, *N, *C; /* 12 (nv + 1) numbers, 12 (nv + 1), nv x nv, nv x nv, nv x nv */
} identity_case;

/* Identity with its name and the function that checks it for one case. */
typedef struct identity {
    const char *name;
    void (*check)(identity_case *c, int k);
    int cases; /* number of random trees */
} identity;

/* Returns the tests of a file, which run_properties runs: every identity on random trees of 1 to 60 joints, fixed and
 * floating, a third of them with coupled mimic joints and a fifth with custom joints, and on the reference robots. The
 * array must outlive them. */
TCase *identity_tests(const identity *identities, int count);

/* Computes y = A x for a matrix of `rows` rows. */
void multiply(const double *A, const double *x, size_t rows, size_t columns, double *y);

double dot(const double *x, const double *y, size_t count);

/* Computes x = (x - y) / (2 step): the central difference of a quantity computed at `step` later (x) and earlier
 * (y). */
void difference(double *x, const double *y, size_t count, double step);

#endif
