/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Poses and mass properties of rigid bodies, in plain doubles.
 */
#include "placement.h"

#include <math.h>
#include <string.h>

const dyn_pose identity_pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

void rotation_multiply(const double A[9], const double B[9], double C[9]) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

void rotation_transpose(const double A[9], double T[9]) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            T[3 * j + i] = A[3 * i + j];
        }
    }
}

void rotation_apply(const double A[9], const double v[3], double u[3]) {
    for (int i = 0; i < 3; i++) {
        u[i] = A[3 * i] * v[0] + A[3 * i + 1] * v[1] + A[3 * i + 2] * v[2];
    }
}

/* Expands a symmetric matrix to its full form. */
static void symmetric_full(const double A[6], double F[9]) {
    const double full[9] = {A[0], A[1], A[2], A[1], A[3], A[4], A[2], A[4], A[5]};
    memcpy(F, full, sizeof full);
}

void rotate_symmetric(const double R[9], const double A[6], double B[6]) {
    double F[9], RF[9], T[9], RFT[9];
    symmetric_full(A, F);
    rotation_multiply(R, F, RF);
    rotation_transpose(R, T);
    rotation_multiply(RF, T, RFT);
    const double upper[6] = {RFT[0], RFT[1], RFT[2], RFT[4], RFT[5], RFT[8]};
    memcpy(B, upper, sizeof upper);
}

bool is_rotation(const double R[9]) {
    const double tolerance = 1e-9;
    double T[9], P[9];
    rotation_transpose(R, T);
    rotation_multiply(R, T, P);
    for (int i = 0; i < 9; i++) {
        if (!(fabs(P[i] - identity_pose.rotation[i]) <= tolerance)) {
            return false;
        }
    }
    return R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
               R[2] * (R[3] * R[7] - R[4] * R[6]) >
           0;
}

void rotation_from_z(const double axis[3], double R[9]) {
    double x = axis[0], y = axis[1], z = axis[2];
    double s = x * x + y * y; /* squared sine of the angle between z and the axis */
    if (z < 0 && s == 0) {
        const double half_turn[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1};
        memcpy(R, half_turn, sizeof half_turn);
        return;
    }
    double k = z < 0 ? (1 - z) / s : 1 / (1 + z); /* equal expressions, each accurate on its side */
    const double turn[9] = {1 - x * x * k, -x * y * k, x, -x * y * k, 1 - y * y * k, y, -x, -y, z};
    for (int i = 0; i < 9; i++) {
        R[i] = turn[i] + 0.0; /* no negative zeros */
    }
}

void pose_compose(const dyn_pose *a, const dyn_pose *b, dyn_pose *ab) {
    rotation_multiply(a->rotation, b->rotation, ab->rotation);
    rotation_apply(a->rotation, b->position, ab->position);
    for (int i = 0; i < 3; i++) {
        ab->position[i] += a->position[i];
    }
}

mass_properties mass_properties_move(const dyn_pose *place, const mass_properties *body) {
    mass_properties moved = {.mass = body->mass};
    const double *p = place->position;
    double m = body->mass, h[3];
    rotation_apply(place->rotation, body->first_moment, h);
    rotate_symmetric(place->rotation, body->inertia, moved.inertia);

    /* Parallel axes: I + m (p.p 1 - p p') + 2 p.h 1 - p h' - h p'. */
    double diagonal = m * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) + 2 * (p[0] * h[0] + p[1] * h[1] + p[2] * h[2]);
    for (int i = 0, k = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, k++) {
            moved.inertia[k] += (i == j ? diagonal : 0) - m * p[i] * p[j] - p[i] * h[j] - h[i] * p[j];
        }
        moved.first_moment[i] = h[i] + m * p[i];
    }
    return moved;
}

mass_properties link_mass_properties(const dyn_inertia *link, const dyn_pose *place) {
    mass_properties at_center = {.mass = link->mass};
    memcpy(at_center.inertia, link->rotational, sizeof at_center.inertia);
    dyn_pose center = identity_pose, center_place;
    memcpy(center.position, link->center_of_mass, sizeof center.position);
    pose_compose(place, &center, &center_place);
    return mass_properties_move(&center_place, &at_center);
}

void mass_properties_add(mass_properties *a, const mass_properties *b) {
    a->mass += b->mass;
    for (int i = 0; i < 3; i++) {
        a->first_moment[i] += b->first_moment[i];
    }
    for (int i = 0; i < 6; i++) {
        a->inertia[i] += b->inertia[i];
    }
}

/* Applies the Jacobi rotation in the plane p, q that makes A[p][q] zero; r is the third index. */
static void jacobi_rotation(double A[3][3], int p, int q) {
    if (A[p][q] == 0) {
        return;
    }
    int r = 3 - p - q;
    double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
    double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
    double c = 1 / hypot(t, 1), s = t * c;
    double apq = A[p][q], arp = A[r][p], arq = A[r][q];
    A[p][p] -= t * apq;
    A[q][q] += t * apq;
    A[p][q] = A[q][p] = 0;
    A[r][p] = A[p][r] = c * arp - s * arq;
    A[r][q] = A[q][r] = s * arp + c * arq;
}

static void sort_pair(double *a, double *b) {
    if (*a > *b) {
        double larger = *a;
        *a = *b;
        *b = larger;
    }
}

void symmetric_eigenvalues(const double A[6], double eigenvalues[3]) {
    double scale = 0;
    for (int i = 0; i < 6; i++) {
        scale = fmax(scale, fabs(A[i]));
    }
    if (scale == 0) {
        eigenvalues[0] = eigenvalues[1] = eigenvalues[2] = 0;
        return;
    }
    double D[3][3] = {{A[0] / scale, A[1] / scale, A[2] / scale},
                      {A[1] / scale, A[3] / scale, A[4] / scale},
                      {A[2] / scale, A[4] / scale, A[5] / scale}};
    for (int sweep = 0; sweep < 10; sweep++) {
        jacobi_rotation(D, 0, 1);
        jacobi_rotation(D, 0, 2);
        jacobi_rotation(D, 1, 2);
    }
    for (int i = 0; i < 3; i++) {
        eigenvalues[i] = D[i][i] * scale;
    }
    sort_pair(&eigenvalues[0], &eigenvalues[1]);
    sort_pair(&eigenvalues[1], &eigenvalues[2]);
    sort_pair(&eigenvalues[0], &eigenvalues[1]);
}
