/* SPDX-License-Identifier: BSD-2-Clause */
#include "linear_fit.h"

#include <math.h>
#include <string.h>

#include "triangle.h"

/* Singular value, relative to the largest one, below which a direction is not determined; and component in such
 * directions above which an unknown is not. */
static const double NEGLIGIBLE = 1e-9, SHARE = 1e-6;

size_t linear_fit_scratch(size_t count) {
    size_t size = count + 1;
    return 5 * size * size + 8 * size;
}

/* Arrays in the scratch memory, and sizes. */
typedef struct fit {
    const linear_problem *problem;
    size_t n, rank;
    double *columns, *V, *S, *scale, *rest, *solved;
    /* Errors of the directions, in units of their singular values, and of the residual; factors NU = U S, NV = V and NS
     * = S of I - correction W' W; memory. */
    double *W, *NU, *NV, *NS, *error, *work;
    double correction;
} fit;

/* Returns entry (row, column) of the triangle. */
static double entry(const fit *f, size_t row, size_t column) {
    return f->problem->triangle[row * (f->n + 1) + column];
}

/* Computes the scales, and rest = b - A prior, one more number than unknowns. */
static void prepare(fit *f) {
    for (size_t c = 0; c < f->n; c++) {
        double square = 0;
        for (size_t r = 0; r <= c; r++) {
            square += entry(f, r, c) * entry(f, r, c);
        }
        f->scale[c] = sqrt(square);
    }
    for (size_t r = 0; r <= f->n; r++) {
        f->rest[r] = entry(f, r, f->n);
        for (size_t c = r; c < f->n; c++) {
            f->rest[r] -= entry(f, r, c) * f->problem->prior[c];
        }
    }
}

/* Computes the singular values of A, with columns of length one, and the rank. */
static void decompose(fit *f) {
    memset(f->columns, 0, f->n * f->n * sizeof *f->columns);
    for (size_t c = 0; c < f->n; c++) {
        for (size_t r = 0; r <= c && f->scale[c] > 0; r++) {
            f->columns[c * f->n + r] = entry(f, r, c) / f->scale[c];
        }
    }
    singular_values(f->n, f->columns, f->V, f->S);
    for (f->rank = 0; f->rank < f->n && f->S[f->rank] > NEGLIGIBLE * f->S[0]; f->rank++) {
    }
}

/* Computes the scaled difference from the prior: the sum over directions i of V_i / S_i U_i' rest. */
static void solve(fit *f) {
    memset(f->solved, 0, f->n * sizeof *f->solved);
    for (size_t i = 0; i < f->rank; i++) {
        double along = 0, square = f->S[i] * f->S[i];
        for (size_t r = 0; r < f->n; r++) {
            along += f->columns[i * f->n + r] * f->rest[r];
        }
        for (size_t c = 0; c < f->n; c++) {
            f->solved[c] += f->V[i * f->n + c] * along / square;
        }
    }
}

/* Returns the sum of the squares of the residuals. */
static double sum_squares(const fit *f) {
    double sum = 0;
    for (size_t r = 0; r <= f->n; r++) {
        double residual = f->rest[r];
        for (size_t c = r; c < f->n; c++) {
            residual -= f->scale[c] > 0 ? entry(f, r, c) * f->solved[c] / f->scale[c] : 0;
        }
        sum += residual * residual;
    }
    return sum;
}

/* ---- Errors of A ------------------------------------------------------------------------------------------------- */

/* Stores E z, for z of as many numbers as E has columns. */
static void apply_errors(const fit *f, const double *z, double *result) {
    size_t size = f->n + 1;
    for (size_t r = 0; r < size; r++) {
        result[r] = 0;
        for (size_t c = r; c < size; c++) {
            result[r] += f->problem->errors[r * size + c] * z[c];
        }
    }
}

/* Computes W, and the errors of the residual at the solution of ordinary least squares. */
static void map_errors(fit *f) {
    size_t size = f->n + 1;
    for (size_t i = 0; i < f->rank; i++) {
        for (size_t c = 0; c < f->n; c++) {
            f->work[c] = f->scale[c] > 0 ? f->V[i * f->n + c] / (f->scale[c] * f->S[i]) : 0;
        }
        f->work[f->n] = 0;
        apply_errors(f, f->work, f->W + i * size);
    }
    for (size_t c = 0; c < f->n; c++) {
        f->work[c] = -f->problem->prior[c] - (f->scale[c] > 0 ? f->solved[c] / f->scale[c] : 0);
    }
    f->work[f->n] = 1;
    apply_errors(f, f->work, f->error);
}

/* Returns the factor of E' E: 1, or the least root, from the squared length of the residual. In the directions and the
 * residual (A b)' (A b) is diagonal. */
static double find_correction(fit *f, double square) {
    size_t size = f->n + 1;
    if (!(square > 0)) {
        return 0;
    }
    memset(f->NU, 0, size * size * sizeof *f->NU);
    memcpy(f->NU, f->W, f->rank * size * sizeof *f->NU);
    for (size_t r = 0; r < size; r++) {
        f->NU[f->rank * size + r] = f->error[r] / sqrt(square);
    }
    singular_values(size, f->NU, f->NV, f->NS);
    double greatest = f->NS[0] * f->NS[0];
    return greatest > 1 ? 1 / greatest : 1;
}

/* Computes the factors of I - correction W' W. */
static void decompose_corrected(fit *f) {
    size_t size = f->n + 1;
    for (size_t i = 0; i < f->rank; i++) {
        for (size_t k = 0; k < f->rank; k++) {
            double product = 0;
            for (size_t r = 0; r < size; r++) {
                product += f->W[i * size + r] * f->W[k * size + r];
            }
            f->NU[i * f->rank + k] = (i == k) - f->correction * product;
        }
    }
    singular_values(f->rank, f->NU, f->NV, f->NS);
}

/* Replaces y, of the directions, by (I - correction W' W)^-1 y. `result` has as many numbers. */
static void solve_corrected(const fit *f, double *y, double *result) {
    memset(result, 0, f->rank * sizeof *result);
    for (size_t k = 0; k < f->rank && f->NS[k] > NEGLIGIBLE * f->NS[0]; k++) {
        double along = 0;
        for (size_t i = 0; i < f->rank; i++) {
            along += f->NU[k * f->rank + i] * y[i];
        }
        for (size_t i = 0; i < f->rank; i++) {
            result[i] += f->NV[k * f->rank + i] * along / (f->NS[k] * f->NS[k]);
        }
    }
    memcpy(y, result, f->rank * sizeof *y);
}

/* Adds to the solution of ordinary least squares what errors of A change in it. */
static void correct(fit *f, double square) {
    size_t size = f->n + 1;
    map_errors(f);
    f->correction = find_correction(f, square);
    decompose_corrected(f);
    double *y = f->work, *memory = f->work + size;
    for (size_t i = 0; i < f->rank; i++) {
        y[i] = 0;
        for (size_t r = 0; r < size; r++) {
            y[i] -= f->correction * f->W[i * size + r] * f->error[r];
        }
    }
    solve_corrected(f, y, memory);
    for (size_t i = 0; i < f->rank; i++) {
        for (size_t c = 0; c < f->n; c++) {
            f->solved[c] += f->V[i * f->n + c] * y[i] / f->S[i];
        }
    }
}

/* Returns the deviation of unknown number c by the scores: the length of scores H^-1 e_c, with H the matrix of the
 * equations for x (Fuller 1987, section 2.2). */
static double score_deviation(const fit *f, size_t c) {
    size_t size = f->n + 1;
    double *y = f->work, *memory = f->work + size, sum = 0;
    for (size_t i = 0; i < f->rank; i++) {
        y[i] = f->V[i * f->n + c] / f->S[i];
    }
    solve_corrected(f, y, memory);
    memset(memory, 0, size * sizeof *memory);
    for (size_t i = 0; i < f->rank; i++) {
        for (size_t other = 0; other < f->n; other++) {
            memory[other] += f->scale[other] > 0 ? f->V[i * f->n + other] * y[i] / (f->S[i] * f->scale[other]) : 0;
        }
    }
    for (size_t r = 0; r < f->n; r++) {
        double score = 0;
        for (size_t other = r; other < f->n; other++) {
            score += f->problem->scores[r * size + other] * memory[other];
        }
        sum += score * score;
    }
    return sqrt(sum) / f->scale[c];
}

/* ---- Result ------------------------------------------------------------------------------------------------------ */

/* Returns the unknown that has the greatest product with number c in directions that are not determined; -1: none. */
static int find_partner(const fit *f, size_t c) {
    double greatest = SHARE;
    int partner = -1;
    for (size_t other = 0; other < f->n; other++) {
        double product = 0;
        for (size_t i = f->rank; i < f->n; i++) {
            product += f->V[i * f->n + c] * f->V[i * f->n + other];
        }
        if (other != c && fabs(product) > greatest) {
            greatest = fabs(product), partner = (int)other;
        }
    }
    return partner;
}

/* Stores unknown number c, from the variance of the noise. */
static void store(const fit *f, size_t c, double variance, linear_solution *solution) {
    double share = 0, spread = 0;
    for (size_t i = 0; i < f->n; i++) {
        double component = f->V[i * f->n + c];
        if (i < f->rank) {
            spread += component * component / (f->S[i] * f->S[i]);
        } else {
            share += component * component;
        }
    }
    solution->is_determined[c] = f->scale[c] > 0 && sqrt(share) < SHARE;
    solution->deviations[c] = solution->is_determined[c] ? sqrt(variance * spread) / f->scale[c] : 0;
    if (f->problem->scores && solution->is_determined[c]) {
        solution->deviations[c] = score_deviation(f, c);
    }
    if (solution->partner) {
        solution->partner[c] = solution->is_determined[c] || f->scale[c] == 0 ? -1 : find_partner(f, c);
    }
    solution->x[c] = f->problem->prior[c] + (f->scale[c] > 0 ? f->solved[c] / f->scale[c] : 0);
}

void linear_fit(const linear_problem *problem, double *scratch, linear_solution *solution) {
    size_t size = problem->count + 1;
    fit f = {.problem = problem, .n = problem->count};
    f.columns = scratch, f.V = f.columns + size * size, f.S = f.V + size * size;
    f.scale = f.S + size, f.rest = f.scale + size, f.solved = f.rest + size;
    f.W = f.solved + size, f.NU = f.W + size * size, f.NV = f.NU + size * size, f.NS = f.NV + size * size;
    f.error = f.NS + size, f.work = f.error + size;
    prepare(&f);
    decompose(&f);
    solve(&f);
    if (problem->errors && f.rank > 0) {
        correct(&f, sum_squares(&f));
    }
    size_t freedom = problem->equations > f.rank ? problem->equations - f.rank : 1;
    double variance = sum_squares(&f) / (double)freedom;
    for (size_t c = 0; c < f.n; c++) {
        store(&f, c, variance, solution);
    }
    solution->rank = f.rank;
    solution->correction = f.correction;
    solution->condition = f.rank > 0 ? f.S[0] / f.S[f.rank - 1] : 0;
}
