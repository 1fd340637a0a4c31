/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Principal pivoting for multipliers within bounds.
 *
 * The conditions of solve.h are those of the least value of lambda' R lambda / 2 + r' lambda within the bounds, which
 * is Gauss's principle of least constraint in terms of multipliers. Each multiplier starts at the admissible number
 * nearest to zero. The free set F starts empty; it consists of independent rows whose w is zero. One violated row i at
 * a time is driven until its w is zero, while those of F stay at zero:
 *     R_FF d = -R_Fi        lambda_i changes by t, lambda_F by t d, w_i by t c,  c = R_ii + R_iF d
 * Row i then joins F, or ends at a bound if its multiplier reaches one before. A row of F that reaches a bound on the
 * way leaves F there. The value does not increase in any step. A bound on the number of steps ends the search where
 * rounding errors make sets return. Equalities are driven first, the least dependent one before the others.
 *
 * F has the factors R_FF = L D L'. The next entry of D is c: a row for which c is not above rank_tolerance R_ii depends
 * on F and never joins it. Such a row moves along with F until its w is zero or a multiplier reaches a bound. It does
 * not move at all where no multiplier has a bound on the way: the rows then contradict each other, and the residual
 * reports it.
 *
 * Sources: Featherstone and Orin 2000, equations 21 and 22 (equalities; a numerical rank test); Cottle and
 * Dantzig 1968, "Complementary pivot theory of mathematical programming"; Baraff 1994, "Fast contact force computation
 * for nonpenetrating rigid bodies".
 */
#include "solve.h"

#include <math.h>
#include <stdbool.h>

#include "../dynamics/carve.h"

/* Least ratio of a row's pivot to its diagonal entry, and largest ratio of w to the sum of its terms that counts as
 * zero. */
static const double rank_tolerance = 1e-10, rounding_share = 1e-13;

size_t constraint_solution_lay_out(int m, uintptr_t base, constraint_solution *s) {
    uintptr_t cursor = base;
    size_t rows = (size_t)m;
    s->multipliers = dyn_carve(&cursor, rows * sizeof(double));
    s->motion = dyn_carve(&cursor, rows * sizeof(double));
    s->factors = dyn_carve(&cursor, rows * rows * sizeof(double));
    s->direction = dyn_carve(&cursor, rows * sizeof(double));
    s->free_rows = dyn_carve(&cursor, rows * sizeof(int));
    s->is_free = dyn_carve(&cursor, rows);
    s->is_stuck = dyn_carve(&cursor, rows);
    return cursor - base;
}

static bool is_equality(const constraint_problem *p, int i) {
    return isinf(p->lower[i]) && isinf(p->upper[i]);
}

/* ---- Factors of the free rows ------------------------------------------------------------------------------------ */

/* Computes the row of the factors that row i would have after the free ones. Returns its entry of D. */
static double extend(const constraint_problem *p, constraint_solution *s, int i) {
    int m = p->m, n = s->rank;
    double *row = s->factors + n * m, D = p->response[i * m + i];
    for (int k = 0; k < n; k++) {
        row[k] = p->response[i * m + s->free_rows[k]];
        for (int j = 0; j < k; j++) {
            row[k] -= s->factors[k * m + j] * row[j];
        }
    }
    for (int k = 0; k < n; k++) {
        double scaled = row[k] / s->factors[k * m + k];
        D -= scaled * row[k];
        row[k] = scaled;
    }
    row[n] = D;
    return D;
}

/* Adds row i, for which `extend` has computed the row of the factors, to the free rows. */
static void join(constraint_solution *s, int i) {
    s->free_rows[s->rank++] = i;
    s->is_free[i] = true;
}

/* Removes the free row at a position, and factorizes the rows after it again. */
static void remove_free(const constraint_problem *p, constraint_solution *s, int position) {
    int last = s->rank;
    s->is_free[s->free_rows[position]] = false;
    s->rank = position;
    for (int k = position + 1; k < last; k++) {
        int i = s->free_rows[k];
        extend(p, s, i);
        join(s, i);
    }
}

/* Computes the direction d of the free rows for the row that `extend` was called with. */
static void find_direction(int m, constraint_solution *s) {
    for (int k = s->rank - 1; k >= 0; k--) {
        s->direction[k] = -s->factors[s->rank * m + k];
        for (int j = k + 1; j < s->rank; j++) {
            s->direction[k] -= s->factors[j * m + k] * s->direction[j];
        }
    }
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Computes w of row i. Returns the largest size of w that rounding errors may account for. */
static double find_motion(const constraint_problem *p, constraint_solution *s, int i) {
    double w = p->motion[i], size = fabs(w);
    for (int j = 0; j < p->m; j++) {
        double term = p->response[i * p->m + j] * s->multipliers[j];
        w += term;
        size += fabs(term);
    }
    s->motion[i] = w;
    return rounding_share * size;
}

/* Returns by how much w of row i violates its condition (solve.h); at least 0. */
static double violation(const constraint_problem *p, const constraint_solution *s, int i) {
    double w = s->motion[i], most = 0;
    if (p->lower[i] == p->upper[i]) {
        return 0;
    }
    if (s->multipliers[i] < p->upper[i]) {
        most = fmax(most, -w);
    }
    if (s->multipliers[i] > p->lower[i]) {
        most = fmax(most, w);
    }
    return most;
}

/* Returns the row to drive next, or -1: the equality that depends least on the free rows, else the row with the largest
 * violation for its response. */
static int choose(const constraint_problem *p, constraint_solution *s) {
    int best = -1;
    bool is_best_equality = false;
    double most = 0;
    for (int i = 0; i < p->m; i++) {
        double rounding = find_motion(p, s, i), size = violation(p, s, i), own = p->response[i * p->m + i];
        bool is_equal = is_equality(p, i);
        if (s->is_free[i] || s->is_stuck[i] || !(size > rounding) || (is_best_equality && !is_equal)) {
            continue;
        }
        double merit = is_equal ? extend(p, s, i) / own : size * size / own;
        if (best < 0 || is_equal > is_best_equality || merit > most) {
            best = i, most = merit, is_best_equality = is_equal;
        }
    }
    return best;
}

/* Returns how far lambda_i can go at the given rate. Rounding errors that carried it past the bound leave no room. */
static double room(const constraint_problem *p, const constraint_solution *s, int i, double rate) {
    if (rate == 0) {
        return INFINITY;
    }
    return fmax(0, ((rate > 0 ? p->upper[i] : p->lower[i]) - s->multipliers[i]) / rate);
}

/* Sets the multiplier of row i to the bound that it reaches at the given rate. */
static void set_to_bound(const constraint_problem *p, constraint_solution *s, int i, double rate) {
    s->multipliers[i] = rate > 0 ? p->upper[i] : p->lower[i];
}

/* Returns how far row i and the free rows can move together at the given sign before a multiplier reaches a bound.
 * *blocking is the position of the free row whose multiplier does, or -1 for row i. */
static double common_room(const constraint_problem *p, const constraint_solution *s, int i, double sign,
                          int *blocking) {
    double most = room(p, s, i, sign);
    *blocking = -1;
    for (int k = 0; k < s->rank; k++) {
        double limit = room(p, s, s->free_rows[k], sign * s->direction[k]);
        if (limit < most) {
            most = limit, *blocking = k;
        }
    }
    return most;
}

/* Moves row i and the free rows together, until w_i is zero or a multiplier reaches a bound. Returns whether row i has
 * to be driven further, which is so where a free row has reached a bound. */
static bool advance(const constraint_problem *p, constraint_solution *s, int i) {
    double own = p->response[i * p->m + i], c = extend(p, s, i), w = s->motion[i], sign = w < 0 ? 1 : -1;
    bool is_dependent = !(c > rank_tolerance * own);
    /* A c below the rounding errors of R_ii has no correct digit. */
    double needed = fabs(w) / fmax(c, rounding_share * own);
    int blocking;
    find_direction(p->m, s);
    double most = common_room(p, s, i, sign, &blocking);
    if (is_dependent && isinf(most)) {
        s->is_stuck[i] = true;
        return false;
    }
    double t = fmin(needed, most);
    for (int k = 0; k < s->rank; k++) {
        s->multipliers[s->free_rows[k]] += sign * t * s->direction[k];
    }
    s->multipliers[i] += sign * t;
    if (needed <= most) {
        if (is_dependent) {
            s->is_stuck[i] = true;
        } else {
            join(s, i);
        }
        return false;
    }
    if (blocking < 0) {
        set_to_bound(p, s, i, sign);
        return false;
    }
    set_to_bound(p, s, s->free_rows[blocking], sign * s->direction[blocking]);
    remove_free(p, s, blocking);
    return true;
}

/* Computes the multipliers of the free rows from the factors, which removes the rounding errors of the steps. */
static void refine(const constraint_problem *p, constraint_solution *s) {
    int m = p->m, n = s->rank;
    double *x = s->direction;
    for (int k = 0; k < n; k++) {
        int i = s->free_rows[k];
        x[k] = -p->motion[i];
        for (int j = 0; j < m; j++) {
            x[k] -= s->is_free[j] ? 0 : p->response[i * m + j] * s->multipliers[j];
        }
        for (int j = 0; j < k; j++) {
            x[k] -= s->factors[k * m + j] * x[j];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        int i = s->free_rows[k];
        x[k] /= s->factors[k * m + k];
        for (int j = k + 1; j < n; j++) {
            x[k] -= s->factors[j * m + k] * x[j];
        }
        s->multipliers[i] = fmax(p->lower[i], fmin(p->upper[i], x[k]));
    }
}

void constraint_solve(const constraint_problem *p, constraint_solution *s) {
    int steps = 16;
    s->rank = 0;
    for (int i = 0; i < p->m; i++) {
        /* A row that does not apply must not change the result of the others. */
        steps += p->lower[i] < p->upper[i] ? 16 : 0;
        s->is_free[i] = s->is_stuck[i] = false;
        s->multipliers[i] = fmax(p->lower[i], fmin(p->upper[i], 0));
    }
    for (int i = choose(p, s); i >= 0 && steps > 0; i = choose(p, s)) {
        while (advance(p, s, i) && --steps > 0) {
            find_motion(p, s, i);
        }
        steps--;
    }
    refine(p, s);
    s->residual = 0;
    for (int i = 0; i < p->m; i++) {
        find_motion(p, s, i);
        s->residual = fmax(s->residual, violation(p, s, i));
    }
}
