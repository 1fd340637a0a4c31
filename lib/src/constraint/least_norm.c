/* SPDX-License-Identifier: BSD-2-Clause */
#include "least_norm.h"

#include <math.h>
#include <string.h>

#include "../dynamics/carve.h"
#include "../model/linear_system.h"

/* Least pivot of an independent row, as a share of its own diagonal entry, and of the largest one. */
static const double own_share = 1e-10, largest_share = 1e-13;

/* Most steps towards an eigenvalue. */
enum { MOST_STEPS = 60 };

size_t least_norm_lay_out(int m, uintptr_t base, least_norm *s) {
    uintptr_t cursor = base;
    size_t rows = (size_t)m * sizeof(double);
    s->L = dyn_carve(&cursor, (size_t)m * rows);
    s->pivots = dyn_carve(&cursor, rows);
    s->product = dyn_carve(&cursor, (size_t)m * rows);
    s->x = dyn_carve(&cursor, rows);
    return cursor - base;
}

/* Returns the row with the largest share of its diagonal entry left, or -1 where all rows that remain depend on the
 * pivots chosen so far. */
static int next_pivot(int m, const double *R, const least_norm *s, double floor) {
    int best = -1;
    double most = own_share;
    for (int i = 0; i < m; i++) {
        double own = R[i * m + i], share = s->pivots[i] > floor ? s->pivots[i] / own : 0;
        if (share > most) {
            best = i, most = share;
        }
    }
    return best;
}

/* Computes L by Cholesky factorization with pivots on the diagonal. Returns the number of its columns. */
static int factorize(int m, const double *R, least_norm *s) {
    double largest = 0;
    for (int i = 0; i < m; i++) {
        s->pivots[i] = R[i * m + i];
        largest = fmax(largest, s->pivots[i]);
    }
    for (int k = 0; k < m; k++) {
        int p = next_pivot(m, R, s, largest_share * largest);
        if (p < 0) {
            return k;
        }
        double root = sqrt(s->pivots[p]);
        for (int i = 0; i < m; i++) {
            double entry = R[i * m + p];
            for (int j = 0; j < k; j++) {
                entry -= s->L[i * m + j] * s->L[p * m + j];
            }
            s->L[i * m + k] = entry / root;
            s->pivots[i] -= s->L[i * m + k] * s->L[i * m + k];
        }
        s->pivots[p] = 0;
    }
    return m;
}

/* Factorizes L'L = C C' with a lower triangular C. */
static void factorize_product(int m, int k, least_norm *s) {
    for (int r = 0; r < k; r++) {
        for (int c = 0; c <= r; c++) {
            double entry = 0;
            for (int i = 0; i < m; i++) {
                entry += s->L[i * m + r] * s->L[i * m + c];
            }
            s->product[r * m + c] = entry;
        }
    }
    linear_factorize(k, m, s->product);
}

int least_norm_factorize(int m, const double *R, least_norm *s) {
    int k = factorize(m, R, s);
    factorize_product(m, k, s);
    return k;
}

void least_norm_apply(int m, int k, const double *b, least_norm *s, double *lambda) {
    for (int c = 0; c < k; c++) {
        s->x[c] = 0;
        for (int i = 0; i < m; i++) {
            s->x[c] += s->L[i * m + c] * b[i];
        }
    }
    linear_apply(k, m, s->product, 1, s->x);
    linear_apply(k, m, s->product, 1, s->x);
    for (int i = 0; i < m; i++) {
        lambda[i] = 0;
        for (int c = 0; c < k; c++) {
            lambda[i] += s->L[i * m + c] * s->x[c];
        }
    }
}

/* ---- Condition --------------------------------------------------------------------------------------------------- */

/* Symmetric tridiagonal matrix of k rows: its diagonal, and the entries below. */
typedef struct tridiagonal {
    int k;
    double *diagonal, *below;
} tridiagonal;

/* Computes the reflection of column c of A that leaves one entry below the diagonal. The vector v of the reflection
 * replaces the rest of row c. Returns v'v / 2. */
static double reflect(const tridiagonal *t, int c, double *A) {
    double *v = A + c * t->k, sum = 0;
    for (int i = c + 1; i < t->k; i++) {
        sum += v[i] * v[i];
    }
    t->below[c] = v[c + 1] > 0 ? -sqrt(sum) : sqrt(sum);
    double h = sum - v[c + 1] * t->below[c];
    v[c + 1] -= t->below[c];
    return h;
}

/* Computes the tridiagonal matrix with the eigenvalues of A, symmetric, k x k, which is overwritten. */
static void tridiagonalize(const tridiagonal *t, double *A) {
    int k = t->k;
    for (int c = 0; c + 1 < k; c++) {
        double *v = A + c * k, *p = t->diagonal, h = reflect(t, c, A), share = 0;
        for (int i = c + 1; i < k && h > 0; i++) {
            p[i] = 0;
            for (int j = c + 1; j < k; j++) {
                p[i] += A[i * k + j] * v[j];
            }
            p[i] /= h;
            share += v[i] * p[i] / (2 * h);
        }
        for (int i = c + 1; i < k && h > 0; i++) {
            p[i] -= share * v[i];
        }
        for (int i = c + 1; i < k && h > 0; i++) {
            for (int j = c + 1; j < k; j++) {
                A[i * k + j] -= v[i] * p[j] + p[i] * v[j];
            }
        }
        t->diagonal[c] = A[c * k + c];
    }
    t->diagonal[k - 1] = A[k * k - 1];
}

/* Returns the step of Laguerre's method from x towards the nearest eigenvalue, for an x below all of them (side 1) or
 * above (-1), where all pivots d have the sign of `side`; 0 where x has reached it. G and H are sum 1 / (x - l) and sum
 * 1 / (x - l)^2 over the eigenvalues l, from the pivots and their derivatives. */
static double laguerre_step(const tridiagonal *t, double x, double side) {
    double d = 1, rate = 0, curve = 0, G = 0, H = 0;
    for (int i = 0; i < t->k; i++) {
        const double coupling = i > 0 ? t->below[i - 1] * t->below[i - 1] / d : 0, q = coupling / d;
        curve = q * (curve - 2 * rate * rate / d);
        rate = q * rate - 1;
        d = t->diagonal[i] - x - coupling;
        if (!(side * d > 0)) {
            return 0;
        }
        const double share = rate / d;
        G += share;
        H += share * share - curve / d;
    }
    return t->k / (fabs(G) + sqrt(fmax(0, (t->k - 1) * (t->k * H - G * G))));
}

/* Returns the smallest eigenvalue (side 1) from x below, or the largest (-1) from x above, to 1e-6. The steps converge
 * monotonically, and cubically at last. */
static double find_eigenvalue(const tridiagonal *t, double x, double side) {
    double step = INFINITY;
    for (int i = 0; i < MOST_STEPS && step > 1e-6 * fabs(x); i++) {
        step = laguerre_step(t, x, side);
        x += side * step;
    }
    return x;
}

/* Returns the condition of s->product, symmetric and positive definite, k x k, which is overwritten. */
static double find_condition(int k, least_norm *s) {
    const tridiagonal t = {k, s->pivots, s->x};
    double sum = 0;
    for (int r = 0; r < k; r++) {
        sum += s->product[r * k + r];
    }
    if (k == 0) {
        return 1;
    }
    tridiagonalize(&t, s->product);
    const double most = find_eigenvalue(&t, 1.001 * sum, -1), least = find_eigenvalue(&t, 0, 1);
    return most / fmax(least, 1e-16 * most);
}

double least_norm_condition(int m, int k, least_norm *s) {
    for (int r = 0; r < k; r++) {
        for (int c = 0; c < k; c++) {
            double entry = 0;
            for (int i = 0; i < m; i++) {
                entry += s->L[i * m + r] * s->L[i * m + c];
            }
            s->product[r * k + c] = entry;
        }
    }
    return find_condition(k, s);
}

double least_norm_condition_of_regular(int m, const double *R, least_norm *s) {
    memcpy(s->product, R, (size_t)m * (size_t)m * sizeof *R);
    return find_condition(m, s);
}

/* ---- Solution ---------------------------------------------------------------------------------------------------- */

int least_norm_solve(int m, const double *R, const double *b, least_norm *s, double *lambda) {
    int k = least_norm_factorize(m, R, s);
    least_norm_apply(m, k, b, s, lambda);
    return k;
}

void least_norm_of_forces(int m, int n, const double *A, const double *force, double *R, least_norm *s,
                          double *lambda) {
    for (int r = 0; r < m; r++) {
        for (int k = 0; k <= r; k++) {
            double sum = 0;
            for (int i = 0; i < n; i++) {
                sum += A[r * n + i] * A[k * n + i];
            }
            R[r * m + k] = R[k * m + r] = sum;
        }
        lambda[r] = 0;
        for (int i = 0; i < n; i++) {
            lambda[r] += A[r * n + i] * force[i];
        }
    }
    least_norm_solve(m, R, lambda, s, lambda);
}
