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

/* Computes the impulse that makes the contact stick: (W + c e_n e_n') d = -(v - b e_n + c p_n e_n). Returns false where
 * the matrix is singular to rounding. */
static bool find_sticking(const contact_row *c, const double v[3], double p[3]) {
    const double *L = c->L, *D = c->D;
    double y0 = c->required - v[0] - c->compliance * c->impulse[0], y1 = -v[1] - L[0] * y0,
           y2 = -v[2] - L[1] * y0 - L[2] * y1;
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

/* Computes the impulse of a contact from those of the others. Returns the largest change of a velocity. */
static double visit(const contact_problem *problem, contact_row *c) {
    double v[3], p[3];
    contact_velocity(c, problem->u, v);
    if (find_sticking(c, v, p) && p[0] >= 0 && p[1] * p[1] + p[2] * p[2] <= square(c->friction * p[0])) {
        return change_impulse(problem, c, p);
    }
    double W_n = c->block[0] + c->compliance, W_t = larger(c->block[4], c->block[8]);
    p[0] = W_n > 0 ? larger(c->impulse[0] - (v[0] + c->compliance * c->impulse[0] - c->required) / W_n, 0) : 0;
    p[1] = c->impulse[1], p[2] = c->impulse[2];
    double dn = p[0] - c->impulse[0];
    for (int k = 1; k < 3 && W_t > 0; k++) {
        p[k] -= (v[k] + c->block[3 * k] * dn) / W_t;
    }
    project(c->friction * p[0], p);
    return change_impulse(problem, c, p);
}

/* Returns the largest violation of the law at a contact. */
static double violation(const contact_row *c, const double *u) {
    double v[3];
    contact_velocity(c, u, v);
    double excess = v[0] + c->compliance * c->impulse[0] - c->required;
    double normal = c->impulse[0] > 0 ? fabs(excess) : larger(-excess, 0), tangential = 0;
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
        W[3 * i][3 * i] += c->compliance;
        contact_velocity(c, problem->u, v);
        x[3 * i] = c->required - v[0], x[3 * i + 1] = -v[1], x[3 * i + 2] = -v[2];
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
    if (problem->count > MOST_STICKING) {
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

/* Most contacts of the accurate method, fewest sweeps before it, and its iterations for each of these. */
enum { MOST_ACCURATE = 32, FEWEST_SWEEPS = 20, ITERATIONS_PER_SWEEP = 10 };

size_t contact_memory(size_t count) {
    size_t most = count < MOST_ACCURATE ? count : MOST_ACCURATE;
    return contact_cone_numbers(most) + 6 * most;
}

static double worst_violation(const contact_problem *problem) {
    double worst = 0;
    for (int i = 0; i < problem->count; i++) {
        worst = larger(violation(&problem->contacts[i], problem->u), worst);
    }
    return worst;
}

/* Changes the impulses of all contacts. */
static void change_all(const contact_problem *problem, const double *impulses) {
    for (int i = 0; i < problem->count; i++) {
        change_impulse(problem, &problem->contacts[i], impulses + 3 * i);
    }
}

/* Takes the impulses of the accurate method where these obey the law better than those of the sweeps. */
static void refine(const contact_problem *problem, contact_course *course) {
    double *before = problem->memory, *after = before + 3 * problem->count, *rest = after + 3 * problem->count;
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
        course.sweeps++;
    }
    course.residual = worst_violation(problem);
    if (change > converged && problem->most_sweeps >= FEWEST_SWEEPS && problem->count <= MOST_ACCURATE) {
        refine(problem, &course);
    }
    return course;
}
