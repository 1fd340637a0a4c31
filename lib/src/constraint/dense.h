/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics with constraints of one sample by dense matrices: the methods of the full system and of elimination.
 *
 *     M a - A' lambda = f        A a = c
 *
 * Both choose pivots in the whole matrix, so that rows of A may depend on each other. a is exact then. The multipliers
 * are not unique; the caller computes those of least norm from A' lambda = M a - f.
 */
#ifndef DYNAMICS_CONSTRAINT_DENSE_H
#define DYNAMICS_CONSTRAINT_DENSE_H

#include <stddef.h>
#include <stdint.h>

/* Problem: M is n x n, A is m x n, f has n and c has m numbers. */
typedef struct dense_problem {
    int n, m;
    const double *M, *A, *f, *c;
} dense_problem;

/* Scratch memory of both methods, and memory for M and f of a problem. */
typedef struct dense_scratch {
    double *M, *f;       /* n x n and n numbers, for the caller */
    double *K;           /* (n + m) x (n + m) */
    double *x, *scale;   /* n + m */
    double *reduced, *y; /* n x n and n */
    int *order;          /* n + m columns in the order of their pivots */
} dense_scratch;

/* Lays out the memory for problems of n velocities and m rows from `base` on; returns its size (carve.h). */
size_t dense_lay_out(int n, int m, uintptr_t base, dense_scratch *s);

/* Solves [M A'; A 0] [a; -lambda] = [f; c] (Featherstone and Orin 2000, equation 20). Returns the rank of A.
 * Cost O((n + m)^3). */
int dense_solve_full_system(const dense_problem *p, dense_scratch *s, double *a);

/* Solves by independent coordinates: A a = c yields a = a_p + Z z with A Z = 0, and Z' M Z z = Z' (f - M a_p)
 * (Featherstone and Orin 2000, equation 22; the pivots decide which coordinates are independent, footnote 3). Returns
 * the rank of A. Cost O(m^2 n + n^3). */
int dense_solve_by_elimination(const dense_problem *p, dense_scratch *s, double *a);

/* Computes M a - f, the forces A' lambda of the multipliers, into n numbers. Cost O(n^2). */
void dense_find_forces(const dense_problem *p, const double *a, double *forces);

/* Finds the accelerations of independent coordinates: a = g + G z satisfies A a = c for every z. The diagonal of M
 * scales the pivots. g receives n numbers and G n x (n - rank), row-major. f is not read. Returns the rank of A. Cost
 * O(m^2 n). */
int dense_embed(const dense_problem *p, dense_scratch *s, double *g, double *G);

#endif
