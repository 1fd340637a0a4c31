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

/* Adds x times row r of R to y. */
static void add_row(int rows, double x, const double *R, int r, double *restrict y) {
    const double *row = R + (long)r * rows;
    for (int i = 0; i < rows; i++) {
        y[i] += x * row[i];
    }
}

void contact_respond(contact_row *contact, int rows, const double *R) {
    memset(contact->response, 0, 3 * (size_t)rows * sizeof *contact->response);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 6 && contact->links[side] >= 0; i++) {
            for (int k = 0; k < 3; k++) {
                add_row(rows, contact->E[side][k][i], R, 6 * contact->links[side] + i, contact->response + k * rows);
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        contact_velocity(contact, contact->response + k * rows, contact->block + 3 * k);
    }
}

static double square(double x) {
    return x * x;
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
        most = fmax(most, fabs(c->block[4 * k] * d[k]));
    }
    return most;
}

/* Computes the impulse that makes the contact stick: (W + c e_n e_n') d = -(v - b e_n + c p_n e_n). Returns false where
 * the matrix is singular to rounding. */
static bool find_sticking(const contact_row *c, const double v[3], double p[3]) {
    const double *W = c->block;
    double a = W[0] + c->compliance, l1 = W[3] / a, l2 = W[6] / a;
    double d1 = W[4] - l1 * W[3], m21 = W[7] - l2 * W[3], l21 = m21 / d1, d2 = W[8] - l2 * W[6] - l21 * m21;
    if (!(a > 0) || !(d1 > 1e-12 * W[4]) || !(d2 > 1e-12 * W[8])) {
        return false;
    }
    double y0 = c->required - v[0] - c->compliance * c->impulse[0], y1 = -v[1] - l1 * y0,
           y2 = -v[2] - l2 * y0 - l21 * y1;
    double x2 = y2 / d2, x1 = y1 / d1 - l21 * x2, x0 = y0 / a - l1 * x1 - l2 * x2;
    p[0] = c->impulse[0] + x0, p[1] = c->impulse[1] + x1, p[2] = c->impulse[2] + x2;
    return true;
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
    double W_n = c->block[0] + c->compliance, W_t = fmax(c->block[4], c->block[8]);
    p[0] = W_n > 0 ? fmax(0, c->impulse[0] - (v[0] + c->compliance * c->impulse[0] - c->required) / W_n) : 0;
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
    double normal = c->impulse[0] > 0 ? fabs(excess) : fmax(0, -excess), tangential = 0;
    double most = c->friction * c->impulse[0], length = hypot(c->impulse[1], c->impulse[2]);
    if (length < most * (1 - 1e-9)) {
        tangential = hypot(v[1], v[2]);
    } else if (length > 0) {
        double x = c->impulse[1] / length, y = c->impulse[2] / length, along = v[1] * x + v[2] * y;
        tangential = fmax(fabs(v[1] * y - v[2] * x), fmax(0, along));
    }
    return fmax(normal, tangential);
}

contact_course contact_solve(const contact_problem *problem) {
    contact_course course = {0, 0};
    double change = INFINITY;
    while (course.sweeps < problem->most_sweeps && change > converged) {
        change = 0;
        for (int i = 0; i < problem->count; i++) {
            change = fmax(change, visit(problem, &problem->contacts[i]));
        }
        course.sweeps++;
    }
    for (int i = 0; i < problem->count; i++) {
        course.residual = fmax(course.residual, violation(&problem->contacts[i], problem->u));
    }
    return course;
}
