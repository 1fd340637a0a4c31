/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics with constraints by constrained articulated bodies (kernels/constrained_aba.c): iterates of one
 * block of samples until each sample has converged. Each lane ends by itself, so that its bits do not depend on the
 * others.
 */
#ifndef DYNAMICS_CONSTRAINT_ARTICULATED_H
#define DYNAMICS_CONSTRAINT_ARTICULATED_H

#include <stdbool.h>
#include <stdint.h>

#include "../dynamics/workspace.h"

/* Rows up to which the method of multipliers takes no longer than constrained articulated bodies in a batch, by
 * dynamics-bench --constraints. */
enum { MOST_ROWS_OF_MULTIPLIERS = 24 };

/* Scratch memory and results of a block. */
typedef struct articulated {
    double *a, *steps;                   /* nv, packed */
    double *lambda, *missing, *sizes;    /* m, packed */
    double *errors;                      /* m, packed: k^2 e */
    double *share;                       /* one packed number */
    double *last, *last_step;            /* of each lane: largest number that was missing */
    unsigned char *runs, *has_converged; /* of each lane */
} articulated;

/* Lays out the memory for up to `lanes` lanes from `base` on; returns its size (carve.h). */
size_t articulated_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, articulated *s);

/* Returns whether constrained articulated bodies apply to the model of a workspace. */
bool articulated_applies(const dyn_workspace *workspace);

/* Terms of the equations beside those of the tree. */
typedef struct articulated_terms {
    double stabilization; /* k */
    const double *errors; /* e, packed; NULL without stabilization */
    const void *diagonal; /* packed numbers that are added to the diagonal of M; NULL: zeros */
} articulated_terms;

/* Computes a and lambda of a block. has_converged is false for samples whose rows contradict or nearly depend on each
 * other; their numbers are not valid. Stores pivots as forward dynamics does. */
void articulated_solve(articulated *s, const dyn_model *model, const dyn_workspace *workspace, sample_block block,
                       const packed_inputs *in, const articulated_terms *terms, void *pivots);

#endif
