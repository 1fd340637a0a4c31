/* SPDX-License-Identifier: BSD-2-Clause */
#include "contact_solve.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Change of a velocity in a sweep at which the sweeps end, m/s. */
static const double converged = 1e-10;

void contact_lever(contact_row *contact, int side, const double arm[3]) {
    double sign = side == 0 ? 1 : -1;
    for (int k = 0; k < 3; k++) {
        const double *a = contact->axes + 3 * k;
        double *row = contact->E[side][k];
        row[0] = sign * (arm[1] * a[2] - arm[2] * a[1]);
        row[1] = sign * (arm[2] * a[0] - arm[0] * a[2]);
        row[2] = sign * (arm[0] * a[1] - arm[1] * a[0]);
        row[3] = sign * a[0], row[4] = sign * a[1], row[5] = sign * a[2];
    }
}

void contact_velocity(const contact_row *contact, const double *u, double v[3]) {
    v[0] = v[1] = v[2] = 0;
    for (int side = 0; side < 2; side++) {
        if (contact->links[side] < 0) {
            continue;
        }
        const double *twist = u + 6 * contact->links[side];
        for (int k = 0; k < 3; k++) {
            const double *row = contact->E[side][k];
            v[k] += row[0] * twist[0] + row[1] * twist[1] + row[2] * twist[2] + row[3] * twist[3] + row[4] * twist[4] +
                    row[5] * twist[5];
        }
    }
}

void contact_add_wrench(const contact_row *contact, const double p[3], double *w) {
    for (int side = 0; side < 2; side++) {
        if (contact->links[side] < 0) {
            continue;
        }
        double *wrench = w + 6 * contact->links[side];
        for (int i = 0; i < 6; i++) {
            const double(*E)[6] = contact->E[side];
            wrench[i] += E[0][i] * p[0] + E[1][i] * p[1] + E[2][i] * p[2];
        }
    }
}

/* Factorizes W + c e_n e_n' = L D L'. */
static void factorize(contact_row *contact) {
    const double *W = contact->block;
    double *L = contact->L, *D = contact->D;
    D[0] = W[0] + contact->compliance;
    L[0] = W[3] / D[0], L[1] = W[6] / D[0];
    D[1] = W[4] - L[0] * W[3];
    double rest = W[7] - L[1] * W[3];
    L[2] = rest / D[1];
    D[2] = W[8] - L[1] * W[6] - L[2] * rest;
    contact->is_regular = D[0] > 0 && D[1] > 1e-12 * W[4] && D[2] > 1e-12 * W[8];
}

/* Adds to the response that of one side: y = E R, of whose symmetric R the six rows of the link are read. */
static void add_response(int rows, double E[3][6], const double *restrict R, double *restrict y) {
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < 3; k++) {
            double sum = y[k * rows + r];
            for (int i = 0; i < 6; i++) {
                sum += E[k][i] * R[i * rows + r];
            }
            y[k * rows + r] = sum;
        }
    }
}

void contact_respond(contact_row *contact, int rows, const double *R) {
    memset(contact->response, 0, 3 * (size_t)rows * sizeof *contact->response);
    for (int side = 0; side < 2; side++) {
        if (contact->links[side] >= 0) {
            add_response(rows, contact->E[side], R + (long)(6 * contact->links[side]) * rows, contact->response);
        }
    }
    for (int k = 0; k < 3; k++) {
        contact_velocity(contact, contact->response + k * rows, contact->block + 3 * k);
    }
    factorize(contact);
}

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
    for (int i = 0; i < problem->count; i++) {
        course.residual = larger(violation(&problem->contacts[i], problem->u), course.residual);
    }
    return course;
}
