/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accurate solution of contacts, by the alternating direction method of multipliers.
 *
 *     W p + g + s = z        p in K        z in K*        p' z = 0        s = mu |z_t| e_n
 *
 * K is the product of the cones |p_t| <= mu p_n, and s the correction of De Saxce, with which the problem is that of
 * Coulomb; s = 0 at soft contacts, whose problem is convex. An iteration solves for p, projects y on K, and updates z:
 *
 *     (W + rho) p = z + rho y - g - s        y = P_K(p - z / rho)        z = z - rho (p - y)
 *
 * rho follows the ratio of the residuals |p - y| and rho |y - y'|, each relative to its terms.
 *
 * Source: De Saxce and Feng 1998, "The bipotential method"; Boyd et al. 2011, sections 3.1 and 3.4.1; Carpentier, Le
 * Lidec and Montaut 2024, "From compliant to rigid contact simulation: a unified and efficient approach".
 */
#include "contact_cone.h"

#include <math.h>
#include <string.h>

#include "../model/linear_system.h"

/* Number of iterations between two choices of rho. */
enum { PATIENCE = 10 };

/* Change of a velocity in an iteration at which the iterations end, m/s. */
static const double converged = 1e-12;

/* Vectors and matrices of a problem of n impulses; L is the Cholesky factor of W + rho. */
typedef struct cone_problem {
    int n;
    const contact_problem *contacts;
    double rho, *W, *L, *g, *p, *y, *z;
} cone_problem;

size_t contact_cone_numbers(size_t n) {
    return n * (2 * n + 4);
}

static double larger(double x, double y) {
    return x > y ? x : y;
}

static cone_problem lay_out(const contact_problem *contacts, double *memory) {
    int n = contact_impulses(contacts);
    double *W = memory, *L = W + n * n, *g = L + n * n;
    return (cone_problem){n, contacts, 0, W, L, g, g + n, g + 2 * n, g + 3 * n};
}

/* Returns the correction of De Saxce for the velocity v of a contact. */
static double correction(const contact_row *row, const double v[3]) {
    return row->friction > 0 && row->softness == 0 ? row->friction * hypot(v[1], v[2]) : 0;
}

/* Computes the velocities that belong to the impulses, `stride` apart, from the twists u. */
static void measure(const contact_problem *problem, const double *u, int stride, double *velocities) {
    int first = 3 * problem->count;
    for (int i = 0; i < problem->count; i++) {
        double v[3];
        contact_velocity(&problem->contacts[i], u, v);
        for (int k = 0; k < 3; k++) {
            velocities[(3 * i + k) * stride] = v[k];
        }
    }
    for (int i = 0; i < problem->bounded_count; i++) {
        velocities[(first + i) * stride] = u[problem->bounded[i].row];
    }
}

/* Returns the response of the twists to impulse number j. */
static const double *response(const contact_problem *problem, int j) {
    int first = 3 * problem->count;
    return j < first ? problem->contacts[j / 3].response + j % 3 * problem->rows : problem->bounded[j - first].response;
}

/* Computes v + c p - b from the velocities v in g, and the present impulses p. */
static void subtract_requirements(cone_problem *c) {
    const contact_problem *problem = c->contacts;
    for (int i = 0; i < 3 * problem->count; i++) {
        const contact_row *row = &problem->contacts[i / 3];
        int k = i % 3;
        c->W[i * (c->n + 1)] += row->compliance[k];
        c->p[i] = row->impulse[k];
        c->g[i] += row->compliance[k] * row->impulse[k] - row->required[k];
    }
    for (int i = 0; i < problem->bounded_count; i++) {
        c->p[3 * problem->count + i] = problem->bounded[i].impulse;
        c->g[3 * problem->count + i] -= problem->bounded[i].required;
    }
}

/* Computes W and g, and starts from the present impulses and velocities. */
static void assemble(cone_problem *c) {
    const contact_problem *problem = c->contacts;
    int n = c->n;
    double sum = 0;
    for (int j = 0; j < n; j++) {
        measure(problem, response(problem, j), n, c->W + j);
    }
    measure(problem, problem->u, 1, c->g);
    subtract_requirements(c);
    memcpy(c->z, c->g, (size_t)n * sizeof *c->z);
    for (int i = 0; i < problem->count; i++) {
        c->z[3 * i] += correction(&problem->contacts[i], c->g + 3 * i);
    }
    memcpy(c->y, c->p, (size_t)n * sizeof *c->y);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            c->g[i] -= c->W[i * n + j] * c->p[j];
        }
        sum += c->W[i * (n + 1)];
    }
    c->rho = 0.1 * sum / n;
}

/* Factorizes W + rho. Returns false where it is not positive definite. */
static bool factorize(cone_problem *c) {
    int n = c->n;
    memcpy(c->L, c->W, (size_t)n * (size_t)n * sizeof *c->L);
    for (int i = 0; i < n; i++) {
        c->L[i * (n + 1)] += c->rho;
    }
    return linear_factorize(n, n, c->L);
}

/* Computes p from y and z. */
static void solve_impulses(cone_problem *c) {
    int n = c->n, first = 3 * c->contacts->count;
    for (int i = 0; i < n; i++) {
        double s = i % 3 == 0 && i < first ? correction(&c->contacts->contacts[i / 3], c->z + i) : 0;
        c->p[i] = c->z[i] + c->rho * c->y[i] - c->g[i] - s;
    }
    linear_apply(n, n, c->L, 1, c->p);
}

/* Residuals of an iteration, and the sizes of their terms. */
typedef struct cone_residuals {
    double primal, dual, impulse, velocity;
} cone_residuals;

/* Computes number i of y and z from p, where the projection of p - z / rho is x. */
static void update_number(cone_problem *c, int i, double x, cone_residuals *r) {
    double gap = c->p[i] - x;
    r->primal = larger(fabs(gap), r->primal);
    r->dual = larger(c->rho * fabs(x - c->y[i]), r->dual);
    r->impulse = larger(fabs(c->p[i]), r->impulse);
    r->velocity = larger(fabs(c->z[i]), larger(fabs(c->g[i]), r->velocity));
    c->z[i] -= c->rho * gap;
    c->y[i] = x;
}

/* Computes y and z from p. */
static cone_residuals update(cone_problem *c) {
    const contact_problem *problem = c->contacts;
    cone_residuals r = {0, 0, 0, 0};
    int first = 3 * problem->count;
    for (int i = 0; i < first; i += 3) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = c->p[i + k] - c->z[i + k] / c->rho;
        }
        contact_project(problem->contacts[i / 3].friction, x);
        for (int k = 0; k < 3; k++) {
            update_number(c, i + k, x[k], &r);
        }
    }
    for (int i = first; i < c->n; i++) {
        const bounded_row *b = &problem->bounded[i - first];
        update_number(c, i, fmin(fmax(c->p[i] - c->z[i] / c->rho, b->lower), b->upper), &r);
    }
    return r;
}

/* Chooses rho by the residuals. Returns whether it changed. */
static bool balance(cone_problem *c, const cone_residuals *r) {
    double of_primal = r->primal / larger(r->impulse, 1e-300), of_dual = r->dual / larger(r->velocity, 1e-300);
    double factor = sqrt(larger(of_primal, 1e-16) / larger(of_dual, 1e-16));
    factor = factor > 10 ? 10 : factor < 0.1 ? 0.1 : factor;
    bool changes = factor > 2 || factor < 0.5;
    c->rho *= changes ? factor : 1;
    return changes;
}

int contact_cone_solve(const contact_problem *problem, int most_iterations, double *memory, double *impulses) {
    cone_problem c = lay_out(problem, memory);
    assemble(&c);
    bool is_regular = factorize(&c);
    int iterations = 0;
    for (bool is_done = false; iterations < most_iterations && is_regular && !is_done; iterations++) {
        solve_impulses(&c);
        cone_residuals r = update(&c);
        is_done = r.primal * c.rho <= converged && r.dual <= converged;
        if (!is_done && iterations % PATIENCE == PATIENCE - 1 && balance(&c, &r)) {
            is_regular = factorize(&c);
        }
    }
    memcpy(impulses, c.y, (size_t)c.n * sizeof *impulses);
    return iterations;
}
