/* SPDX-License-Identifier: BSD-2-Clause */
#include "contact_solve.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "contact_cone.h"

/* Change of a velocity in a sweep at which the sweeps end, m/s. */
static const double converged = 1e-10;

static double square(double x) {
    return x * x;
}

/* Returns the larger number; y where x is NaN. */
static double larger(double x, double y) {
    return x > y ? x : y;
}

/* Changes the impulse of a contact to p, and u by the response. Returns the largest change of its velocity. */
static double change_impulse(const contact_problem *problem, contact_row *c, const double p[3]) {
    double d[3], most = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = p[k] - c->impulse[k];
        c->impulse[k] = p[k];
    }
    const double *Y = c->response;
    int rows = problem->rows;
    for (int r = 0; r < rows; r++) {
        problem->u[r] += Y[r] * d[0] + Y[rows + r] * d[1] + Y[2 * rows + r] * d[2];
    }
    for (int k = 0; k < 3; k++) {
        most = larger(most, fabs(c->block[4 * k] * d[k]));
    }
    return most;
}

/* Computes v + c p - b. */
static void excess(const contact_row *c, const double v[3], double y[3]) {
    for (int k = 0; k < 3; k++) {
        y[k] = v[k] + c->compliance[k] * c->impulse[k] - c->required[k];
    }
}

/* Computes the impulse that makes the contact stick: (W + diag c) d = -(v - b + c p). Returns false where
 * the matrix is singular to rounding. */
static bool find_sticking(const contact_row *c, const double v[3], double p[3]) {
    const double *L = c->L, *D = c->D;
    double y[3];
    excess(c, v, y);
    double y0 = -y[0], y1 = -y[1] - L[0] * y0, y2 = -y[2] - L[1] * y0 - L[2] * y1;
    double x2 = y2 / D[2], x1 = y1 / D[1] - L[2] * x2, x0 = y0 / D[0] - L[0] * x1 - L[1] * x2;
    p[0] = c->impulse[0] + x0, p[1] = c->impulse[1] + x1, p[2] = c->impulse[2] + x2;
    return c->is_regular;
}

/* Projects the tangential impulse on the disc of radius `most`. */
static void project(double most, double p[3]) {
    double length = sqrt(p[1] * p[1] + p[2] * p[2]);
    double factor = length > most ? most / length : 1;
    p[1] *= factor, p[2] *= factor;
}

/* Returns a bound on the eigenvalues of W + diag c. */
static double largest_eigenvalue(const contact_row *c) {
    double most = 0;
    for (int k = 0; k < 3; k++) {
        const double *W = c->block + 3 * k;
        most = larger(most, fabs(W[0]) + fabs(W[1]) + fabs(W[2]) + c->compliance[k]);
    }
    return most;
}

/* Computes the impulse of a soft contact, whose velocity is v, by projected steps. */
static void descend(const contact_row *c, const double v[3], double p[3]) {
    enum { STEPS = 20 };
    double y[3], rate = 1 / largest_eigenvalue(c);
    excess(c, v, y);
    memcpy(p, c->impulse, sizeof c->impulse);
    for (int i = 0; i < STEPS; i++) {
        double d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = p[k] - rate * y[k];
        }
        contact_project(c->friction, d);
        for (int k = 0; k < 3; k++) {
            d[k] -= p[k];
            p[k] += d[k];
        }
        for (int k = 0; k < 3; k++) {
            const double *W = c->block + 3 * k;
            y[k] += W[0] * d[0] + W[1] * d[1] + W[2] * d[2] + c->compliance[k] * d[k];
        }
    }
}

/* Computes the impulse of a contact from those of the others. Returns the largest change of a velocity. */
static double visit(const contact_problem *problem, contact_row *c) {
    double v[3], p[3];
    contact_velocity(c, problem->u, v);
    if (find_sticking(c, v, p) && p[0] >= 0 && p[1] * p[1] + p[2] * p[2] <= square(c->friction * p[0])) {
        return change_impulse(problem, c, p);
    }
    if (c->softness > 0) {
        descend(c, v, p);
        return change_impulse(problem, c, p);
    }
    double W_n = c->block[0] + c->compliance[0], W_t = larger(c->block[4], c->block[8]);
    p[0] = W_n > 0 ? larger(c->impulse[0] - (v[0] + c->compliance[0] * c->impulse[0] - c->required[0]) / W_n, 0) : 0;
    p[1] = c->impulse[1], p[2] = c->impulse[2];
    double dn = p[0] - c->impulse[0];
    for (int k = 1; k < 3 && W_t > 0; k++) {
        p[k] -= (v[k] + c->block[3 * k] * dn) / W_t;
    }
    project(c->friction * p[0], p);
    return change_impulse(problem, c, p);
}

/* Changes the impulse of a bounded row to p, and u by the response. Returns the change of its velocity. */
static double change_bounded(const contact_problem *problem, bounded_row *b, double p) {
    double d = p - b->impulse;
    b->impulse = p;
    for (int r = 0; r < problem->rows; r++) {
        problem->u[r] += b->response[r] * d;
    }
    return fabs(b->response[b->row] * d);
}

/* Computes the impulse of a bounded row from those of the others. Returns the change of its velocity. */
static double visit_bounded(const contact_problem *problem, bounded_row *b) {
    double W = b->response[b->row], p = W > 0 ? b->impulse - (problem->u[b->row] - b->required) / W : b->impulse;
    return change_bounded(problem, b, fmin(fmax(p, b->lower), b->upper));
}

/* Returns the violation of the law of a bounded row. */
static double bounded_violation(const bounded_row *b, const double *u) {
    double rest = u[b->row] - b->required;
    double below = b->impulse < b->upper ? larger(-rest, 0) : 0, above = b->impulse > b->lower ? larger(rest, 0) : 0;
    return larger(below, above);
}

/* Returns the largest change of the velocity of a soft contact by a projected step. */
static double soft_violation(const contact_row *c, const double y[3]) {
    double most = 0, rate = 1 / largest_eigenvalue(c), x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = c->impulse[k] - rate * y[k];
    }
    contact_project(c->friction, x);
    for (int k = 0; k < 3; k++) {
        most = larger(most, fabs(x[k] - c->impulse[k]) / rate);
    }
    return most;
}

/* Returns the largest violation of the law at a contact. */
static double violation(const contact_row *c, const double *u) {
    double v[3], rest[3];
    contact_velocity(c, u, v);
    excess(c, v, rest);
    if (c->softness > 0) {
        return soft_violation(c, rest);
    }
    double normal = c->impulse[0] > 0 ? fabs(rest[0]) : larger(-rest[0], 0), tangential = 0;
    double most = c->friction * c->impulse[0], length = sqrt(square(c->impulse[1]) + square(c->impulse[2]));
    if (length < most * (1 - 1e-9)) {
        tangential = sqrt(square(v[1]) + square(v[2]));
    } else if (length > 0) {
        double x = c->impulse[1] / length, y = c->impulse[2] / length, along = v[1] * x + v[2] * y;
        tangential = larger(fabs(v[1] * y - v[2] * x), larger(along, 0));
    }
    return larger(normal, tangential);
}

/* ---- Sticking of all contacts ------------------------------------------------------------------------------------ */

/* Most contacts that are tried to stick together. */
enum { MOST_STICKING = 8, STICKING_ROWS = 3 * MOST_STICKING };

/* Computes the lower triangle of the matrix of all contacts, W with the compliances, and the impulses' right side. */
static void assemble(const contact_problem *problem, double W[][STICKING_ROWS], double *x) {
    for (int i = 0; i < problem->count; i++) {
        const contact_row *c = &problem->contacts[i];
        double v[3];
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < 3; k++) {
                contact_velocity(c, problem->contacts[j].response + k * problem->rows, v);
                W[3 * i][3 * j + k] = v[0], W[3 * i + 1][3 * j + k] = v[1], W[3 * i + 2][3 * j + k] = v[2];
            }
        }
        contact_velocity(c, problem->u, v);
        for (int k = 0; k < 3; k++) {
            W[3 * i + k][3 * i + k] += c->compliance[k];
            x[3 * i + k] = c->required[k] - v[k];
        }
    }
}

/* Solves W x = x for the lower triangle of a matrix of n rows, by L D L'. Returns false where a pivot is smaller than
 * 1e-10 of its diagonal entry. */
static bool solve_regular(int n, double W[][STICKING_ROWS], double *x) {
    for (int j = 0; j < n; j++) {
        double scaled[STICKING_ROWS], pivot = W[j][j];
        for (int k = 0; k < j; k++) {
            scaled[k] = W[j][k] * W[k][k];
            pivot -= W[j][k] * scaled[k];
            x[j] -= W[j][k] * x[k];
        }
        if (!(pivot > 1e-10 * W[j][j])) {
            return false;
        }
        W[j][j] = pivot;
        for (int i = j + 1; i < n; i++) {
            double sum = W[i][j];
            for (int k = 0; k < j; k++) {
                sum -= W[i][k] * scaled[k];
            }
            W[i][j] = sum / pivot;
        }
    }
    for (int j = n - 1; j >= 0; j--) {
        x[j] /= W[j][j];
        for (int i = j + 1; i < n; i++) {
            x[j] -= W[i][j] * x[i];
        }
    }
    return true;
}

/* Takes the impulses that make all contacts stick, where they are unique and in the cones of friction. Returns whether
 * they are. */
static bool stick_all(const contact_problem *problem) {
    double W[STICKING_ROWS][STICKING_ROWS], x[STICKING_ROWS];
    if (problem->count > MOST_STICKING || problem->bounded_count > 0) {
        return false;
    }
    assemble(problem, W, x);
    bool sticks = solve_regular(3 * problem->count, W, x);
    for (int i = 0; i < problem->count && sticks; i++) {
        const double *p = x + 3 * i;
        sticks = p[0] >= 0 && square(p[1]) + square(p[2]) <= square(problem->contacts[i].friction * p[0]);
    }
    for (int i = 0; i < problem->count && sticks; i++) {
        change_impulse(problem, &problem->contacts[i], x + 3 * i);
    }
    return sticks;
}

/* ---- Accurate method --------------------------------------------------------------------------------------------- */

/* Most impulses of the accurate method, fewest sweeps before it, and its iterations for each of these. */
enum { MOST_ACCURATE = 96, FEWEST_SWEEPS = 20, ITERATIONS_PER_SWEEP = 10 };

size_t contact_memory(size_t count, size_t bounded) {
    size_t n = 3 * count + bounded, most = n < MOST_ACCURATE ? n : MOST_ACCURATE;
    return contact_cone_numbers(most) + 2 * most;
}

static double worst_violation(const contact_problem *problem) {
    double worst = 0;
    for (int i = 0; i < problem->count; i++) {
        worst = larger(violation(&problem->contacts[i], problem->u), worst);
    }
    for (int i = 0; i < problem->bounded_count; i++) {
        worst = larger(bounded_violation(&problem->bounded[i], problem->u), worst);
    }
    return worst;
}

/* Changes the impulses of all contacts. */
static void change_all(const contact_problem *problem, const double *impulses) {
    for (int i = 0; i < problem->count; i++) {
        change_impulse(problem, &problem->contacts[i], impulses + 3 * i);
    }
    for (int i = 0; i < problem->bounded_count; i++) {
        change_bounded(problem, &problem->bounded[i], impulses[3 * problem->count + i]);
    }
}

/* Takes the impulses of the accurate method where these obey the law better than those of the sweeps. */
static void refine(const contact_problem *problem, contact_course *course) {
    int n = contact_impulses(problem);
    double *before = problem->memory, *after = before + n, *rest = after + n;
    for (int i = 0; i < problem->bounded_count; i++) {
        before[3 * problem->count + i] = problem->bounded[i].impulse;
    }
    for (int i = 0; i < problem->count; i++) {
        memcpy(before + 3 * i, problem->contacts[i].impulse, 3 * sizeof *before);
    }
    course->sweeps += contact_cone_solve(problem, ITERATIONS_PER_SWEEP * problem->most_sweeps, rest, after);
    change_all(problem, after);
    double residual = worst_violation(problem);
    if (residual < course->residual) {
        course->residual = residual;
    } else {
        change_all(problem, before);
    }
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

contact_course contact_solve(const contact_problem *problem) {
    bool is_solved = problem->most_sweeps > 0 && stick_all(problem);
    contact_course course = {is_solved, 0};
    double change = is_solved ? 0 : INFINITY;
    while (course.sweeps < problem->most_sweeps && change > converged) {
        change = 0;
        for (int i = 0; i < problem->count; i++) {
            change = larger(visit(problem, &problem->contacts[i]), change);
        }
        for (int i = 0; i < problem->bounded_count; i++) {
            change = larger(visit_bounded(problem, &problem->bounded[i]), change);
        }
        course.sweeps++;
    }
    course.residual = worst_violation(problem);
    if (change > converged && problem->most_sweeps >= FEWEST_SWEEPS && contact_impulses(problem) <= MOST_ACCURATE) {
        refine(problem, &course);
    }
    return course;
}
