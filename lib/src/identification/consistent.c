/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The unknowns x are relative to the prior: a link's pseudo-inertia is P = L Q L' with P0 = L L', and x holds the
 * entries of Q with those off the diagonal times sqrt 2. Then d(P, P0) = tr Q - log det Q - 4, its Hessian at the prior
 * is the unit matrix, and the start is Q = 1. A positive term is its prior times x, with x - log x - 1; another term is
 * its size times x, with x^2 / 2.
 */
#include "consistent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/inertia.h>

#include "../model/error.h"
#include "triangle.h"

enum { LINK = 10, MOST_ITERATIONS = 1000 };

/* Squares of Newton's decrement: after the first one, one more step leaves only rounding; after the second one, the
 * weight of the prior is divided by REDUCTION if it is still above the one that is wanted. */
static const double NEGLIGIBLE = 1e-8, NEAR = 0.25, REDUCTION = 4, REACH = 0.7;

/* Row and column of the entry of Q that each unknown of a link stands for. */
static const int entries[LINK][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/* State of the method. */
typedef struct solver {
    const consistent_problem *problem;
    size_t rows, n; /* rows of M, unknowns */
    double weight;  /* of the distance now */
    double *maps;   /* links x 10 x 10: parameters from unknowns */
    double *M, *MM; /* R y = M x, and M' M */
    double *residual, *x, *trial, *gradient, *step, *hessian, *scratch;
} solver;

/* ---- One link ---------------------------------------------------------------------------------------------------- */

/* Inverts a symmetric matrix by elimination. Returns false if it is not positive definite. */
static bool invert(const double Q[16], double inverse[16], double *log_determinant) {
    double A[16];
    memcpy(A, Q, sizeof A);
    *log_determinant = 0;
    for (int i = 0; i < 16; i++) {
        inverse[i] = i % 5 == 0;
    }
    for (int k = 0; k < 4; k++) {
        double pivot = A[5 * k];
        if (!(pivot > 0)) {
            return false;
        }
        *log_determinant += log(pivot);
        for (int c = 0; c < 4; c++) {
            A[4 * k + c] /= pivot, inverse[4 * k + c] /= pivot;
        }
        for (int r = 0; r < 4; r++) {
            double factor = A[4 * r + k];
            for (int c = 0; c < 4 && r != k; c++) {
                A[4 * r + c] -= factor * A[4 * k + c], inverse[4 * r + c] -= factor * inverse[4 * k + c];
            }
        }
    }
    return true;
}

static void expand(const double x[LINK], double Q[16]) {
    for (int k = 0; k < LINK; k++) {
        int i = entries[k][0], j = entries[k][1];
        Q[4 * i + j] = Q[4 * j + i] = i == j ? x[k] : x[k] / sqrt(2);
    }
}

/* Stores the gradient and adds the Hessian of -log det Q, from the inverse of Q. `H` has rows of `width` numbers. */
static void differentiate(const double V[16], double weight, double gradient[LINK], size_t width, double *H) {
    for (int k = 0; k < LINK; k++) {
        int i = entries[k][0], j = entries[k][1];
        double own = i == j ? 0.5 : 1 / sqrt(2);
        gradient[k] = (i == j) - 2 * own * V[4 * i + j];
        for (int l = 0; l < LINK; l++) {
            int m = entries[l][0], n = entries[l][1];
            double other = m == n ? 0.5 : 1 / sqrt(2);
            double trace = 2 * (V[4 * j + m] * V[4 * n + i] + V[4 * j + n] * V[4 * m + i]);
            H[(size_t)k * width + (size_t)l] += weight * own * other * trace;
        }
    }
}

void pseudo_to_parameters(const double P[16], double p[LINK]) {
    double trace = P[0] + P[5] + P[10];
    const double values[LINK] = {P[15], P[3],         P[7],  P[11], trace - P[0],
                                 -P[1], trace - P[5], -P[2], -P[6], trace - P[10]};
    memcpy(p, values, sizeof values);
}

void parameters_to_pseudo(const double p[LINK], double P[16]) {
    double half = (p[4] + p[6] + p[9]) / 2;
    const double values[16] = {half - p[4], -p[5], -p[7],       p[1], -p[5], half - p[6], -p[8], p[2],
                               -p[7],       -p[8], half - p[9], p[3], p[1],  p[2],        p[3],  p[0]};
    memcpy(P, values, sizeof values);
}

/* Computes the lower factor of a pseudo-inertia. Returns false if it is not positive definite, or only by rounding. */
static bool factorize(const double P[16], double L[16]) {
    memset(L, 0, 16 * sizeof *L);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j <= i; j++) {
            double rest = P[4 * i + j];
            for (int k = 0; k < j; k++) {
                rest -= L[4 * i + k] * L[4 * j + k];
            }
            if (i == j && !(rest > 1e-12 * fabs(P[5 * i]))) {
                return false;
            }
            L[4 * i + j] = i == j ? sqrt(rest) : rest / L[5 * j];
        }
    }
    return true;
}

bool consistent_prior(double least_mass, double p[LINK]) {
    double P[16], L[16];
    /* The mass comes first in the order of elimination, so that the test is of moments about the centre of mass. */
    parameters_to_pseudo(p, P);
    double turned[16];
    for (int i = 0; i < 16; i++) {
        turned[i] = P[4 * (3 - i / 4) + 3 - i % 4];
    }
    if (factorize(turned, L) && factorize(P, L)) {
        return true;
    }
    static const int diagonal[3] = {0, 3, 5};
    double radius = 0.03, mass = fmax(p[0], least_mass);
    dyn_inertia ball = {.mass = mass};
    for (int i = 0; i < 3; i++) {
        ball.center_of_mass[i] = p[0] > 0 ? p[1 + i] / p[0] : 0;
        ball.rotational[diagonal[i]] = mass * radius * radius;
    }
    dyn_inertia_to_parameters(&ball, p);
    return false;
}

/* Stores the map from unknowns to parameters of one link. */
static bool map_link(const double prior[LINK], double map[LINK * LINK]) {
    double P[16], L[16], p[LINK];
    parameters_to_pseudo(prior, P);
    if (!factorize(P, L)) {
        return false;
    }
    for (int k = 0; k < LINK; k++) {
        int i = entries[k][0], j = entries[k][1];
        for (int e = 0; e < 16; e++) {
            double one = L[4 * (e / 4) + i] * L[4 * (e % 4) + j], other = L[4 * (e / 4) + j] * L[4 * (e % 4) + i];
            P[e] = i == j ? one : (one + other) / sqrt(2);
        }
        pseudo_to_parameters(P, p);
        for (int row = 0; row < LINK; row++) {
            map[LINK * row + k] = p[row];
        }
    }
    return true;
}

/* ---- All links and terms ----------------------------------------------------------------------------------------- */

/* Computes M = R T, where y = T x. */
static void find_columns(solver *s, double *T) {
    const consistent_problem *p = s->problem;
    size_t inner = p->base_count + p->term_count, width = LINK * p->links;
    memset(T, 0, (inner * s->n + 1) * sizeof *T);
    for (size_t i = 0; i < p->base_count; i++) {
        for (size_t c = 0; c < width; c++) {
            const double *map = s->maps + c / LINK * LINK * LINK;
            for (size_t k = 0; k < LINK; k++) {
                T[i * s->n + c / LINK * LINK + k] += p->B[i * width + c] * map[c % LINK * LINK + k];
            }
        }
    }
    for (size_t t = 0; t < p->term_count; t++) {
        T[(p->base_count + t) * s->n + width + t] = p->scales[t];
    }
    for (size_t i = 0; i < inner; i++) {
        for (size_t k = i; k < inner; k++) {
            double factor = p->triangle[i * (inner + 1) + k];
            for (size_t c = 0; c < s->n; c++) {
                s->M[i * s->n + c] += factor * T[k * s->n + c];
            }
        }
    }
    for (size_t i = 0; i < inner; i++) {
        const double *row = s->M + i * s->n;
        for (size_t a = 0; a < s->n; a++) {
            for (size_t c = 0; c <= a; c++) {
                s->MM[a * s->n + c] += row[a] * row[c];
            }
        }
    }
}

/* Computes the value at x, the residual, and, with `derive`, gradient and Hessian. The value is infinite where x is of
 * no body. */
static double evaluate(solver *s, const double *x, bool derive) {
    const consistent_problem *p = s->problem;
    double value = 0, distance = 0, Q[16], V[16], log_determinant;
    for (size_t i = 0; i < s->rows; i++) {
        s->residual[i] = -p->triangle[i * (s->rows + 1) + s->rows];
        for (size_t c = 0; c < s->n; c++) {
            s->residual[i] += s->M[i * s->n + c] * x[c];
        }
        value += s->residual[i] * s->residual[i] / 2;
    }
    if (derive) {
        memcpy(s->hessian, s->MM, s->n * s->n * sizeof *s->hessian);
    }
    for (size_t k = 0; k < p->links; k++) {
        size_t at = LINK * k;
        expand(x + at, Q);
        if (!invert(Q, V, &log_determinant)) {
            return INFINITY;
        }
        distance += Q[0] + Q[5] + Q[10] + Q[15] - 4 - log_determinant;
        if (derive) {
            differentiate(V, s->weight, s->gradient + at, s->n, s->hessian + at * s->n + at);
        }
    }
    for (size_t t = 0; t < p->term_count; t++) {
        size_t at = LINK * p->links + t;
        double u = x[at];
        if (p->is_positive[t] && !(u > 0)) {
            return INFINITY;
        }
        distance += p->is_positive[t] ? u - 1 - log(u) : u * u / 2;
        if (derive) {
            s->gradient[at] = p->is_positive[t] ? 1 - 1 / u : u;
            s->hessian[at * s->n + at] += s->weight * (p->is_positive[t] ? 1 / (u * u) : 1);
        }
    }
    return value + s->weight * distance;
}

/* Adds the gradient of the squares to that of the distance. */
static void add_squares(solver *s) {
    for (size_t c = 0; c < s->n; c++) {
        s->gradient[c] *= s->weight;
    }
    for (size_t i = 0; i < s->rows; i++) {
        for (size_t c = 0; c < s->n; c++) {
            s->gradient[c] += s->M[i * s->n + c] * s->residual[i];
        }
    }
}

/* Returns the value at a point along Newton's step. */
static double look_ahead(solver *s, double length) {
    for (size_t c = 0; c < s->n; c++) {
        s->trial[c] = s->x[c] - length * s->step[c];
    }
    return evaluate(s, s->trial, false);
}

/* Moves x along Newton's step. A step of 1 / (1 + decrement) always stays inside and decreases the value, since the
 * distance is self-concordant. Longer ones are tried first, but none that goes more than REACH of the way to the
 * boundary, where further steps would be short. */
static void move(solver *s, double value, double decrease) {
    double decrement = sqrt(decrease / s->weight), safe = 1 / (1 + decrement), length = 1;
    bool is_accepted = decrement < 0.25;
    while (!is_accepted && length > safe) {
        is_accepted =
            isfinite(look_ahead(s, length / REACH)) && look_ahead(s, length) <= value - 1e-4 * length * decrease;
        length = is_accepted ? length : 0.7 * length;
    }
    if (isfinite(look_ahead(s, fmax(length, safe)))) {
        memcpy(s->x, s->trial, s->n * sizeof *s->x);
    }
}

/* Computes Newton's step at x, and its decrease. Where rounding hides that the Hessian is positive definite, its
 * diagonal is enlarged until it is, which shortens the step. Returns the value at x; NaN if that does not help. */
static double find_step(solver *s, double *decrease) {
    double value = NAN;
    bool is_solved = false;
    for (double shift = 0; shift < 1e-6 && !is_solved; shift = shift > 0 ? 100 * shift : 1e-15) {
        value = evaluate(s, s->x, true);
        add_squares(s);
        memcpy(s->step, s->gradient, s->n * sizeof *s->step);
        for (size_t c = 0; c < s->n; c++) {
            s->hessian[c * s->n + c] *= 1 + shift;
        }
        is_solved = solve_definite(s->n, s->hessian, s->step, s->scratch);
    }
    *decrease = 0;
    for (size_t c = 0; c < s->n; c++) {
        *decrease += s->gradient[c] * s->step[c];
    }
    return is_solved ? value : NAN;
}

/* Minimizes with a great weight first and reduces it step by step, so that x stays well inside. Ends early, at a
 * possible body, where rounding hides the direction to the minimum. */
static void minimize(solver *s, consistent_result *result) {
    double least = s->problem->weight;
    s->weight = least;
    for (size_t c = 0; c < s->n; c++) {
        s->weight = fmax(s->weight, s->MM[c * s->n + c]);
    }
    result->is_converged = false;
    for (result->iterations = 0; result->iterations < MOST_ITERATIONS && !result->is_converged; result->iterations++) {
        double decrease, value = find_step(s, &decrease);
        if (!isfinite(value)) {
            break;
        }
        move(s, value, fmax(decrease, 0));
        if (!(decrease > NEAR * s->weight) && s->weight > least) {
            s->weight = fmax(s->weight / REDUCTION, least);
        } else {
            result->is_converged = !(decrease > NEGLIGIBLE * s->weight);
        }
    }
}

static void store(const solver *s, consistent_result *result) {
    const consistent_problem *p = s->problem;
    for (size_t k = 0; k < LINK * p->links; k++) {
        result->parameters[k] = 0;
        for (size_t c = 0; c < LINK; c++) {
            result->parameters[k] += s->maps[k * LINK + c] * s->x[k / LINK * LINK + c];
        }
    }
    for (size_t t = 0; t < p->term_count; t++) {
        result->terms[t] = p->scales[t] * s->x[LINK * p->links + t];
    }
}

/* Allocates the arrays of the solver, and T of find_columns, in one piece, which is returned; NULL: out of memory. */
static double *lay_out(solver *s, double **T) {
    size_t links = s->problem->links, square = s->n * s->n, map = LINK * LINK * links;
    size_t sizes[] = {map, s->rows * s->n, square, s->rows, s->n, s->n, s->n, s->n, square, s->n, s->rows * s->n};
    double **parts[] = {&s->maps, &s->M,        &s->MM,      &s->residual, &s->x, &s->trial,
                        &s->step, &s->gradient, &s->hessian, &s->scratch,  T};
    size_t total = 0, count = sizeof sizes / sizeof sizes[0];
    for (size_t i = 0; i < count; i++) {
        total += sizes[i] + 1;
    }
    double *memory = calloc(total, sizeof *memory), *next = memory;
    for (size_t i = 0; memory && i < count; i++) {
        *parts[i] = next;
        next += sizes[i] + 1;
    }
    return memory;
}

/* Starts at the prior. */
static dyn_status start(solver *s, dyn_error *error) {
    const consistent_problem *p = s->problem;
    for (size_t k = 0; k < p->links; k++) {
        if (!map_link(p->prior + LINK * k, s->maps + LINK * LINK * k)) {
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, "prior", "the prior of joint %zu is of no body", k);
        }
        for (size_t c = 0; c < 4; c++) {
            s->x[LINK * k + c] = 1;
        }
    }
    for (size_t t = 0; t < p->term_count; t++) {
        s->x[LINK * p->links + t] = p->is_positive[t] ? 1 : 0;
    }
    return DYN_OK;
}

dyn_status consistent_solve(const consistent_problem *p, consistent_result *result, dyn_error *error) {
    solver s = {.problem = p, .rows = p->base_count + p->term_count, .n = LINK * p->links + p->term_count};
    double *T, *memory = lay_out(&s, &T);
    if (!memory) {
        return dyn_error_memory(error);
    }
    dyn_status status = start(&s, error);
    if (status == DYN_OK) {
        find_columns(&s, T);
        minimize(&s, result);
        store(&s, result);
    }
    free(memory);
    return status;
}
