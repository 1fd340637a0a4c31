/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Orthonormal basis of vectors that may depend on each other, with their coefficients.
 *
 * Each step chooses the vector with the largest remainder, adds its direction to the basis, and removes it from the
 * other vectors: v_i = sum over k of coefficients[k][i] basis_k, up to a remainder of vectors that are not chosen.
 * Vector pivots[k] has coefficients for the first k + 1 directions only.
 *
 * Source: Golub and Van Loan 2013, sections 5.2.8 (modified Gram-Schmidt) and 5.4.2 (column pivoting); each direction
 * is made orthogonal twice (Giraud and others 2005).
 */
#ifndef DYNAMICS_CONSTRAINT_ORTHOGONAL_H
#define DYNAMICS_CONSTRAINT_ORTHOGONAL_H

typedef struct orthogonal {
    int length, count;    /* of the vectors */
    double *vectors;      /* count x length; replaced by remainders */
    double *norms;        /* count: norms of the whole vectors, which decide on the rank */
    double *basis;        /* rank x length */
    double *coefficients; /* rank x count */
    int *pivots;          /* rank */
    unsigned char *done;  /* count: chosen, or dependent on the basis */
} orthogonal;

/* Computes the basis. Returns the rank, which is at most length and count. A vector whose remainder is below 1e-9 of
 * its norm, or of the largest norm, depends on the others. Cost O(rank count length). */
int orthogonal_find(orthogonal *o);

/* Removes from a vector of `length` numbers its part in the span of `rank` directions of a basis. */
void orthogonal_remove(int length, int rank, const double *basis, double *vector);

/* Returns the scalar product of two vectors. */
double orthogonal_product(int length, const double *a, const double *b);

#endif
