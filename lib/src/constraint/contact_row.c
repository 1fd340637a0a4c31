/* SPDX-License-Identifier: BSD-2-Clause */
#include "contact_row.h"

#include <math.h>
#include <string.h>

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

/* Factorizes W + diag c = L D L'. */
static void factorize(contact_row *contact) {
    const double *W = contact->block;
    double *L = contact->L, *D = contact->D;
    D[0] = W[0] + contact->compliance[0];
    L[0] = W[3] / D[0], L[1] = W[6] / D[0];
    D[1] = W[4] + contact->compliance[1] - L[0] * W[3];
    double rest = W[7] - L[1] * W[3];
    L[2] = rest / D[1];
    D[2] = W[8] + contact->compliance[2] - L[1] * W[6] - L[2] * rest;
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
    for (int k = 0; k < 3 && contact->softness > 0; k++) {
        contact->compliance[k] = contact->softness * contact->block[0];
    }
    factorize(contact);
}

void contact_project(double mu, double x[3]) {
    double t = hypot(x[1], x[2]);
    if (t <= mu * x[0]) {
        return;
    }
    if (mu * t <= -x[0]) {
        x[0] = x[1] = x[2] = 0;
        return;
    }
    x[0] = (x[0] + mu * t) / (1 + mu * mu);
    x[1] *= mu * x[0] / t, x[2] *= mu * x[0] / t;
}
