/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares every block of every formulation with an independent computation, on random robots: with the kernels'
 * quantities of the links (link_reference.h), with recursions of dense 6 x 6 matrices, with differences, or with the
 * equation that defines it. A block of the list dyn_formulation_block_traits_at without a comparison fails the test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/link_reference.h"
#include "support/random_chain.h"
#include "support/random_tree.h"

enum { CASES = 24, MOST_NUMBERS = 144 * MOST_LINKS * MOST_LINKS };

/* Blocks of one formulation. */
typedef struct block_list {
    const dyn_formulation_block *blocks;
    int count;
} block_list;

/* Reference of a robot whose joints have one coordinate each, with what the comparisons derive from it. */
typedef struct robot {
    link_reference r;
    int n;                                          /* links, and coordinates */
    double X[MOST_LINKS][36], back[MOST_LINKS][36]; /* motions from the world to the link, and back */
    double h[MOST_LINKS][6], c[MOST_LINKS][6];      /* motion of the joint, and its rate times v */
    double IC[MOST_LINKS][36], IA[MOST_LINKS][36];  /* of composite and of articulated bodies */
    double D[MOST_LINKS], G[MOST_LINKS][6];         /* h' IA h, IA h / D */
    double bias[MOST_LINKS][6];                     /* p^A where the base accelerates upwards */
    double heavy_bias[MOST_LINKS][6];               /* p^A where links have weight */
    double dM[MOST_LINKS][MOST_LINKS * MOST_LINKS]; /* dM/dq_k by differences */
    block_list blocks;                              /* of the formulation under test */
} robot;

/* Writes the expected numbers of a block. */
typedef void (*expectation)(const robot *c, double *out);

/* ---- vectors and matrices ---------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void cross3(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2], out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Computes C = A B, with A' in place of A where it is transposed. A B is rows x columns. */
static void product(bool transposed, const double *A, const double *B, int rows, int inner, int columns, double *C) {
    for (int i = 0; i < rows * columns; i++) {
        C[i] = 0;
        for (int k = 0; k < inner; k++) {
            C[i] +=
                (transposed ? A[k * rows + i / columns] : A[i / columns * inner + k]) * B[k * columns + i % columns];
        }
    }
}

static void clear(double *out, int count) {
    memset(out, 0, (size_t)count * sizeof *out);
}

/* Copies a 6 x columns matrix into a block of a matrix with `width` columns. */
static void place(const double *block, int columns, int row, int column, int width, double *out) {
    for (int i = 0; i < 6 * columns; i++) {
        out[(row + i / columns) * width + column + i % columns] = block[i];
    }
}

/* Applies the matrix of the velocity field m to a pose: the rate of the pose of a link that moves with m. */
static void field(const double m[6], const double pose[16], double out[16]) {
    clear(out, 16);
    for (int j = 0; j < 4; j++) {
        const double x[3] = {pose[j], pose[4 + j], pose[8 + j]};
        double turned[3];
        cross3(m, x, turned);
        for (int i = 0; i < 3; i++) {
            out[4 * i + j] = turned[i] + (j == 3 ? m[3 + i] : 0);
        }
    }
}

/* Computes the second rate of a pose from the velocity and the acceleration. */
static void second_rate(const double V[6], const double A[6], const double pose[16], double out[16]) {
    double rate[16], turn[16];
    field(V, pose, rate);
    clear(turn, 16);
    for (int j = 0; j < 4; j++) {
        const double x[3] = {rate[j], rate[4 + j], rate[8 + j]};
        double turned[3];
        cross3(V, x, turned);
        for (int i = 0; i < 3; i++) {
            turn[4 * i + j] = turned[i];
        }
    }
    field(A, pose, out);
    for (int i = 0; i < 16; i++) {
        out[i] += turn[i];
    }
}

static void invert_pose(const double pose[16], double out[16]) {
    clear(out, 16);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[4 * i + j] = pose[4 * j + i], out[4 * i + 3] -= pose[4 * j + i] * pose[4 * j + 3];
        }
    }
    out[15] = 1;
}

/* Acceleration of a link with gravity as an upward acceleration of the base. */
static void raised(const robot *c, int i, double out[6]) {
    memcpy(out, c->r.A[i], 6 * sizeof *out);
    for (int k = 0; k < 3; k++) {
        out[3 + k] -= c->r.gravity[k];
    }
}

/* ---- reference --------------------------------------------------------------------------------------------------- */

/* Computes v x I v of link i, less its weight if it is heavy. */
static void velocity_product(const robot *c, int i, bool is_heavy, double out[6]) {
    double momentum[6], up[6] = {0, 0, 0, c->r.gravity[0], c->r.gravity[1], c->r.gravity[2]}, weight[6];
    product(false, c->r.I[i], c->r.V[i], 6, 6, 1, momentum);
    product(false, c->r.I[i], up, 6, 6, 1, weight);
    link_reference_cross_wrench(c->r.V[i], momentum, out);
    for (int k = 0; k < 6; k++) {
        out[k] -= is_heavy ? weight[k] : 0;
    }
}

/* Carries the articulated bias of link i to its parent. */
static void carry_bias(robot *c, int i, double bias[MOST_LINKS][6]) {
    double moved[6];
    product(false, c->IA[i], c->c[i], 6, 6, 1, moved);
    double u = c->r.tau[i] - dot(c->h[i], bias[i], 6) - dot(c->h[i], moved, 6);
    for (int k = 0; k < 6 && c->r.parent[i] >= 0; k++) {
        bias[c->r.parent[i]][k] += bias[i][k] + moved[k] + c->G[i][k] * u;
    }
}

/* Computes composite and articulated bodies by dense recursions in the axes of the world. */
static void compute_bodies(robot *c) {
    for (int i = 0; i < c->n; i++) {
        memcpy(c->IC[i], c->r.I[i], sizeof c->IC[i]), memcpy(c->IA[i], c->r.I[i], sizeof c->IA[i]);
        velocity_product(c, i, false, c->bias[i]), velocity_product(c, i, true, c->heavy_bias[i]);
    }
    for (int i = c->n - 1; i >= 0; i--) {
        double U[6];
        int p = c->r.parent[i];
        product(false, c->IA[i], c->h[i], 6, 6, 1, U);
        c->D[i] = dot(c->h[i], U, 6);
        for (int k = 0; k < 6; k++) {
            c->G[i][k] = U[k] / c->D[i];
        }
        for (int k = 0; k < 36 && p >= 0; k++) {
            c->IC[p][k] += c->IC[i][k];
            c->IA[p][k] += c->IA[i][k] - c->G[i][k / 6] * U[k % 6];
        }
        carry_bias(c, i, c->bias), carry_bias(c, i, c->heavy_bias);
    }
}

/* Computes dM/dq by central differences. */
static void differentiate_mass_matrix(robot *c, double *q) {
    const double step = 1e-5;
    dyn_error error;
    dyn_workspace *w;
    double before[MOST_LINKS * MOST_LINKS];
    require(dyn_workspace_create(c->r.motion.model, &w, &error), &error);
    for (int k = 0; k < c->n; k++) {
        double at = q[k];
        q[k] = at - step, require(dyn_crba(c->r.motion.model, w, 1, q, before, &error), &error);
        q[k] = at + step, require(dyn_crba(c->r.motion.model, w, 1, q, c->dM[k], &error), &error);
        q[k] = at;
        for (int e = 0; e < c->n * c->n; e++) {
            c->dM[k][e] = (c->dM[k][e] - before[e]) / (2 * step);
        }
    }
    dyn_workspace_free(w);
}

static void compute_robot(robot *c, double *q) {
    c->n = c->r.links;
    for (int i = 0; i < c->n; i++) {
        int p = c->r.parent[i];
        link_reference_transform(c->r.pose[i], c->X[i]), link_reference_inverse_transform(c->r.pose[i], c->back[i]);
        for (int k = 0; k < 6; k++) {
            c->h[i][k] = c->r.J[i][k * c->n + i];
            c->c[i][k] = c->r.A_0[i][k] - (p < 0 ? 0 : c->r.A_0[p][k]);
        }
    }
    compute_bodies(c);
    differentiate_mass_matrix(c, q);
}

/* ---- quantities of links, in the axes of the world or of the links ----------------------------------------------- */

static void motion_to_link(const robot *c, int i, const double *from, double *out) {
    product(false, c->X[i], from, 6, 6, 1, out);
}

static void wrench_to_link(const robot *c, int i, const double *from, double *out) {
    product(true, c->back[i], from, 6, 6, 1, out);
}

static void inertia_to_link(const robot *c, int i, const double *from, double *out) {
    double half[36];
    product(true, c->back[i], from, 6, 6, 6, half);
    product(false, half, c->back[i], 6, 6, 6, out);
}

/* Frames of the vector or inertia of a link. */
typedef enum block_frame { WORLD, MOTION_IN_LINK, WRENCH_IN_LINK, INERTIA_IN_LINK } block_frame;

/* Writes a motion, a wrench or an inertia of link i in the world. */
typedef void (*quantity)(const robot *c, int i, double *out);

static void velocity(const robot *c, int i, double *out) {
    memcpy(out, c->r.V[i], 6 * sizeof *out);
}

static void acceleration(const robot *c, int i, double *out) {
    memcpy(out, c->r.A[i], 6 * sizeof *out);
}

static void acceleration_at_rest(const robot *c, int i, double *out) {
    memcpy(out, c->r.A_0[i], 6 * sizeof *out);
}

static void bias_acceleration(const robot *c, int i, double *out) {
    memcpy(out, c->c[i], 6 * sizeof *out);
}

static void wrench(const robot *c, int i, double *out) {
    memcpy(out, c->r.f[i], 6 * sizeof *out);
}

static void weight(const robot *c, int i, double *out) {
    const double up[6] = {0, 0, 0, c->r.gravity[0], c->r.gravity[1], c->r.gravity[2]};
    product(false, c->r.I[i], up, 6, 6, 1, out);
}

static void gyroscopic_wrench(const robot *c, int i, double *out) {
    velocity_product(c, i, false, out);
}

static void wrench_without_acceleration(const robot *c, int i, double *out) {
    velocity_product(c, i, true, out);
}

static void articulated_bias(const robot *c, int i, double *out) {
    memcpy(out, c->bias[i], 6 * sizeof *out);
}

static void heavy_articulated_bias(const robot *c, int i, double *out) {
    memcpy(out, c->heavy_bias[i], 6 * sizeof *out);
}

/* The wrench z of the filter: p^A + I^A a, with the velocity products a, and -g at the base. */
static void filtered_wrench(const robot *c, int i, double *out) {
    double a[6];
    memcpy(a, c->c[i], sizeof a);
    for (int k = 0; k < 3; k++) {
        a[3 + k] -= c->r.parent[i] < 0 ? c->r.gravity[k] : 0;
    }
    product(false, c->IA[i], a, 6, 6, 1, out);
    for (int k = 0; k < 6; k++) {
        out[k] += c->bias[i][k];
    }
}

static void inertia(const robot *c, int i, double *out) {
    memcpy(out, c->r.I[i], 36 * sizeof *out);
}

static void composite_inertia(const robot *c, int i, double *out) {
    memcpy(out, c->IC[i], 36 * sizeof *out);
}

static void articulated_inertia(const robot *c, int i, double *out) {
    memcpy(out, c->IA[i], 36 * sizeof *out);
}

/* Turns a vector to the axes of link i. */
static void turn_to_link(const robot *c, int i, double x[3]) {
    const double *T = c->r.pose[i], from[3] = {x[0], x[1], x[2]};
    for (int k = 0; k < 3; k++) {
        x[k] = T[k] * from[0] + T[4 + k] * from[1] + T[8 + k] * from[2];
    }
}

static void origin_of(const robot *c, int i, double p[3]) {
    p[0] = c->r.pose[i][3], p[1] = c->r.pose[i][7], p[2] = c->r.pose[i][11];
}

static void center_of(const robot *c, int i, double r[3]) {
    const double *I = c->r.I[i], m = I[21]; /* the upper right block is m r~ */
    r[0] = I[6 * 2 + 4] / m, r[1] = I[6 * 0 + 5] / m, r[2] = I[6 * 1 + 3] / m;
}

/* Computes the acceleration of a point of a link with the velocity V and the acceleration A. */
static void point_acceleration(const double V[6], const double A[6], const double p[3], double out[3]) {
    double turned[3], moved[3], turned_twice[3];
    cross3(A, p, turned), cross3(V, p, moved);
    for (int k = 0; k < 3; k++) {
        moved[k] += V[3 + k];
    }
    cross3(V, moved, turned_twice);
    for (int k = 0; k < 3; k++) {
        out[k] = A[3 + k] + turned[k] + turned_twice[k];
    }
}

/* Computes the rotational inertia of link i about its centre of mass, in world axes, times x. */
static void central_inertia_times(const robot *c, int i, const double x[3], double out[3]) {
    const double *I = c->r.I[i], m = I[21];
    double r[3], turned[3], twice[3];
    center_of(c, i, r);
    cross3(r, x, turned), cross3(r, turned, twice); /* I_c = I_o + m r~ r~ */
    for (int k = 0; k < 3; k++) {
        out[k] = dot(I + 6 * k, x, 3) + m * twice[k];
    }
}

/* ---- vectors of the recursions of Newton and Euler, base axes ---------------------------------------------------- */

static void angular_velocity(const robot *c, int i, double *out) {
    memcpy(out, c->r.V[i], 3 * sizeof *out);
}

static void angular_acceleration(const robot *c, int i, double *out) {
    memcpy(out, c->r.A[i], 3 * sizeof *out);
}

static void origin_acceleration(const robot *c, int i, double *out) {
    double A[6], p[3];
    raised(c, i, A), origin_of(c, i, p), point_acceleration(c->r.V[i], A, p, out);
}

static void center_acceleration(const robot *c, int i, double *out) {
    double A[6], r[3];
    raised(c, i, A), center_of(c, i, r), point_acceleration(c->r.V[i], A, r, out);
}

static void moving_force(const robot *c, int i, double *out) {
    center_acceleration(c, i, out);
    for (int k = 0; k < 3; k++) {
        out[k] *= c->r.I[i][21];
    }
}

/* Computes I dw + w x I w about the centre of mass. */
static void moment_of(const robot *c, int i, const double w[3], const double dw[3], double out[3]) {
    double Iw[3], gyroscopic[3];
    central_inertia_times(c, i, w, Iw), central_inertia_times(c, i, dw, out), cross3(w, Iw, gyroscopic);
    for (int k = 0; k < 3; k++) {
        out[k] += gyroscopic[k];
    }
}

static void moving_moment(const robot *c, int i, double *out) {
    moment_of(c, i, c->r.V[i], c->r.A[i], out);
}

/* Writes moment and force of joint i about the origin of the link, in base axes. */
static void joint_moment_and_force(const robot *c, int i, double *out) {
    double p[3], lever[3];
    memcpy(out, c->r.f[i], 6 * sizeof *out);
    origin_of(c, i, p), cross3(p, out + 3, lever);
    for (int k = 0; k < 3; k++) {
        out[k] -= lever[k];
    }
}

static void joint_moment(const robot *c, int i, double *out) {
    double both[6];
    joint_moment_and_force(c, i, both), memcpy(out, both, 3 * sizeof *out);
}

static void joint_force(const robot *c, int i, double *out) {
    memcpy(out, c->r.f[i] + 3, 3 * sizeof *out);
}

/* ---- matrices of coordinates ------------------------------------------------------------------------------------- */

static void mass_matrix(const robot *c, double *out) {
    memcpy(out, c->r.M, (size_t)(c->n * c->n) * sizeof *out);
}

static void gravity_forces(const robot *c, double *out) {
    memcpy(out, c->r.tau_gravity, (size_t)c->n * sizeof *out);
}

static void velocity_forces(const robot *c, double *out) {
    memcpy(out, c->r.tau_velocity, (size_t)c->n * sizeof *out);
}

static void all_forces(const robot *c, double *out) {
    memcpy(out, c->r.tau, (size_t)c->n * sizeof *out);
}

static void accelerations(const robot *c, double *out) {
    memcpy(out, c->r.motion.a, (size_t)c->n * sizeof *out);
}

static void viscous_forces(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        double damping = dyn_model_joint(c->r.motion.model, i)->damping;
        ck_assert_double_gt(damping, 0);
        out[i] = damping * c->r.motion.v[i];
    }
}

static void mass_matrix_derivatives(const robot *c, double *out) {
    for (int e = 0; e < c->n * c->n * c->n; e++) {
        out[e] = c->dM[e % c->n][e / c->n];
    }
}

static void mass_matrix_rate(const robot *c, double *out) {
    for (int e = 0; e < c->n * c->n; e++) {
        out[e] = 0;
        for (int k = 0; k < c->n; k++) {
            out[e] += c->dM[k][e] * c->r.motion.v[k];
        }
    }
}

static double christoffel_symbol(const robot *c, int i, int j, int k) {
    return (c->dM[k][i * c->n + j] + c->dM[j][i * c->n + k] - c->dM[i][j * c->n + k]) / 2;
}

static void christoffel_symbols(const robot *c, double *out) {
    for (int e = 0; e < c->n * c->n * c->n; e++) {
        out[e] = christoffel_symbol(c, e / (c->n * c->n), e / c->n % c->n, e % c->n);
    }
}

static void coriolis_matrix(const robot *c, double *out) {
    for (int e = 0; e < c->n * c->n; e++) {
        out[e] = 0;
        for (int k = 0; k < c->n; k++) {
            out[e] += christoffel_symbol(c, e / c->n, e % c->n, k) * c->r.motion.v[k];
        }
    }
}

static void active_forces(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        out[i] = -c->r.tau_gravity[i];
    }
}

static void inertia_forces(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        out[i] = c->r.tau_gravity[i] - c->r.tau[i];
    }
}

/* ---- transforms and stacked matrices ----------------------------------------------------------------------------- */

static void poses(const robot *c, double *out) {
    memcpy(out, c->r.pose, 16 * (size_t)c->n * sizeof *out);
}

/* Writes the pose of link j in the frame of link i; i = -1: in the base. */
static void relative_pose(const robot *c, int i, int j, double out[16]) {
    double back[16];
    memcpy(out, c->r.pose[j], 16 * sizeof *out);
    if (i >= 0) {
        invert_pose(c->r.pose[i], back), product(false, back, c->r.pose[j], 4, 4, 4, out);
    }
}

static void poses_in_parents(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        relative_pose(c, c->r.parent[i], i, out + 16 * i);
    }
}

static void pose_rates(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        field(c->r.V[i], c->r.pose[i], out + 16 * i);
    }
}

static void second_pose_rates(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        second_rate(c->r.V[i], c->r.A[i], c->r.pose[i], out + 16 * i);
    }
}

static void pose_derivatives(const robot *c, double *out) {
    clear(out, 16 * c->n * c->n);
    for (int j = 0; j < c->n; j++) {
        for (int i = 0; i <= j; i++) {
            field(c->h[i], c->r.pose[j], out + 16 * (j * c->n + i));
        }
    }
}

/* Computes the pseudo-inertia of link i, the integral of (r, 1)(r, 1)' dm, in the frame of the link. */
static void pseudo_inertia(const robot *c, int i, double out[16]) {
    double I[36];
    inertia_to_link(c, i, c->r.I[i], I);
    double half = (I[0] + I[7] + I[14]) / 2;
    const double moment[4] = {I[6 * 2 + 4], I[6 * 0 + 5], I[6 * 1 + 3], I[21]};
    for (int k = 0; k < 16; k++) {
        int row = k / 4, column = k % 4;
        out[k] = row == 3      ? moment[column]
                 : column == 3 ? moment[row]
                               : (row == column ? half : 0) - I[6 * row + column];
    }
}

static void pseudo_inertias(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        pseudo_inertia(c, i, out + 16 * i);
    }
}

/* Adds T B T' of link j in the frame of link i. */
static void add_second_moment(const robot *c, int i, int j, double out[16]) {
    double T[16], B[16], half[16], transposed[16], sum[16];
    relative_pose(c, i, j, T), pseudo_inertia(c, j, B), product(false, T, B, 4, 4, 4, half);
    for (int k = 0; k < 16; k++) {
        transposed[k] = T[k % 4 * 4 + k / 4];
    }
    product(false, half, transposed, 4, 4, 4, sum);
    for (int k = 0; k < 16; k++) {
        out[k] += sum[k];
    }
}

static void second_moments_of_subtrees(const robot *c, double *out) {
    clear(out, 16 * c->n);
    for (int i = 0; i < c->n; i++) {
        for (int j = i; j < c->n; j++) {
            if (link_reference_carries(&c->r, i, j)) {
                add_second_moment(c, i, j, out + 16 * i);
            }
        }
    }
}

/* Writes the sums over subtrees of T J W''^T, with gravity as an acceleration of the base where it is raised. */
static void moments_of_accelerations(const robot *c, bool is_raised, double *out) {
    clear(out, 16 * c->n);
    for (int e = 0; e < c->n * c->n; e++) {
        int i = e / c->n, j = e % c->n;
        double T[16], J[16], TJ[16], ddW[16], A[6];
        raised(c, j, A);
        second_rate(c->r.V[j], is_raised ? A : c->r.A[j], c->r.pose[j], ddW);
        relative_pose(c, i, j, T), pseudo_inertia(c, j, J), product(false, T, J, 4, 4, 4, TJ);
        for (int k = 0; k < 16 && link_reference_carries(&c->r, i, j); k++) {
            out[16 * i + k] += dot(TJ + k / 4 * 4, ddW + k % 4 * 4, 4);
        }
    }
}

static void moments_without_gravity(const robot *c, double *out) {
    moments_of_accelerations(c, false, out);
}

static void moments_with_gravity(const robot *c, double *out) {
    moments_of_accelerations(c, true, out);
}

static void first_moments(const robot *c, double *out) {
    clear(out, 4 * c->n);
    for (int e = 0; e < c->n * c->n; e++) {
        int i = e / c->n, j = e % c->n;
        double T[16], J[16], TJ[16];
        relative_pose(c, i, j, T), pseudo_inertia(c, j, J), product(false, T, J, 4, 4, 4, TJ);
        for (int k = 0; k < 4 && link_reference_carries(&c->r, i, j); k++) {
            out[4 * i + k] += TJ[4 * k + 3];
        }
    }
}

/* Poses and their two rates, with gravity as an acceleration of the base. */
static void poses_with_rates(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        double A[6];
        raised(c, i, A);
        memcpy(out + 48 * i, c->r.pose[i], sizeof c->r.pose[i]);
        field(c->r.V[i], c->r.pose[i], out + 48 * i + 16);
        second_rate(c->r.V[i], A, c->r.pose[i], out + 48 * i + 32);
    }
}

/* Writes m, m c and xx xy xz yy yz zz of the composite bodies in the frames of their links. */
static void composite_parameters(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        double I[36];
        inertia_to_link(c, i, c->IC[i], I);
        const double parameters[10] = {I[21], I[16], I[5], I[9], I[0], I[1], I[2], I[7], I[8], I[14]};
        memcpy(out + 10 * i, parameters, sizeof parameters);
    }
}

/* Writes the Jacobians of all links, one after the other, in the world or in the frames of the links. */
static void jacobians(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        memcpy(out + 6 * c->n * i, c->r.J[i], 6 * (size_t)c->n * sizeof *out);
    }
}

static void link_jacobians(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        product(false, c->X[i], c->r.J[i], 6, 6, c->n, out + 6 * c->n * i);
    }
}

/* Writes the motions of the joints, each in the rows of its link and the column of its coordinate. */
static void joint_motions(const robot *c, double *out) {
    clear(out, 6 * c->n * c->n);
    for (int i = 0; i < c->n; i++) {
        place(c->h[i], 1, 6 * i, i, c->n, out);
    }
}

static void link_joint_motions(const robot *c, double *out) {
    clear(out, 6 * c->n * c->n);
    for (int i = 0; i < c->n; i++) {
        double h[6];
        motion_to_link(c, i, c->h[i], h), place(h, 1, 6 * i, i, c->n, out);
    }
}

static void transposed_joint_motions(const robot *c, double *out) {
    clear(out, 6 * c->n * c->n);
    for (int i = 0; i < c->n; i++) {
        motion_to_link(c, i, c->h[i], out + 6 * (i * c->n + i));
    }
}

/* Writes the screws S of equation 8.50, S_i = Ad(M_i) A_i with the poses M_i at q = 0. */
static void home_screws(const robot *c, double *out) {
    static const double zeros[MOST_LINKS] = {0};
    const motion_of_model home = {.model = c->r.motion.model, .q = zeros};
    double at_home[MOST_LINKS][16];
    evaluate_block("hollerbach", &home, "W", 16 * (size_t)c->n, at_home[0]);
    clear(out, 6 * c->n * c->n);
    for (int i = 0; i < c->n; i++) {
        double h[6], placed[6], back[36];
        motion_to_link(c, i, c->h[i], h), link_reference_inverse_transform(at_home[i], back);
        product(false, back, h, 6, 6, 1, placed), place(placed, 1, 6 * i, i, c->n, out);
    }
}

static void world_inertias(const robot *c, double *out) {
    clear(out, 36 * c->n * c->n);
    for (int i = 0; i < c->n; i++) {
        place(c->r.I[i], 6, 6 * i, 6 * i, 6 * c->n, out);
    }
}

static void link_inertias(const robot *c, double *out) {
    clear(out, 36 * c->n * c->n);
    for (int i = 0; i < c->n; i++) {
        double I[36];
        inertia_to_link(c, i, c->r.I[i], I), place(I, 6, 6 * i, 6 * i, 6 * c->n, out);
    }
}

/* Writes the maps of motions of each link j to those of link i, for all j that carry i, or for its parent alone. */
static void motion_maps(const robot *c, bool of_parents, double *out) {
    clear(out, 36 * c->n * c->n);
    for (int e = 0; e < c->n * c->n; e++) {
        int i = e / c->n, j = e % c->n;
        double map[36];
        product(false, c->X[i], c->back[j], 6, 6, 6, map);
        if (of_parents ? c->r.parent[i] == j : link_reference_carries(&c->r, j, i)) {
            place(map, 6, 6 * i, 6 * j, 6 * c->n, out);
        }
    }
}

static void maps_of_parents(const robot *c, double *out) {
    motion_maps(c, true, out);
}

static void maps_of_carriers(const robot *c, double *out) {
    motion_maps(c, false, out);
}

/* Writes the maps of wrenches of link j to link i that carries it: the transposes of those of motions. */
static void wrench_maps(const robot *c, double *out) {
    int width = 6 * c->n;
    double *maps = numbers((size_t)(width * width));
    motion_maps(c, false, maps);
    for (int e = 0; e < width * width; e++) {
        out[e] = maps[e % width * width + e / width];
    }
    free(maps);
}

/* Writes psi: the maps of wrenches through joints that yield, 1 - G h' in each. */
static void yielding_wrench_maps(const robot *c, double *out) {
    clear(out, 36 * c->n * c->n);
    for (int j = 0; j < c->n; j++) {
        double map[36] = {0};
        for (int k = 0; k < 6; k++) {
            map[7 * k] = 1;
        }
        for (int i = j, below = -1; i >= 0; below = i, i = c->r.parent[i]) {
            double half[36], in_links[36], loss[36], next[36];
            for (int k = 0; k < 36 && below >= 0; k++) {
                loss[k] = (k % 7 == 0) - c->G[below][k / 6] * c->h[below][k % 6];
            }
            if (below >= 0) {
                product(false, loss, map, 6, 6, 6, next), memcpy(map, next, sizeof map);
            }
            /* In the frames of the links: back_i' map X_j'. */
            product(true, c->back[i], map, 6, 6, 6, half);
            for (int k = 0; k < 36; k++) {
                in_links[k] = dot(half + k / 6 * 6, c->X[j] + k % 6 * 6, 6);
            }
            place(in_links, 6, 6 * i, 6 * j, 6 * c->n, out);
        }
    }
}

static void lie_brackets(const robot *c, double *out) {
    clear(out, 36 * c->n * c->n);
    for (int e = 0; e < 6 * c->n; e++) {
        int i = e / 6, k = e % 6;
        double m[6], unit[6] = {0}, column[6];
        motion_to_link(c, i, c->h[i], m);
        for (int l = 0; l < 6; l++) {
            m[l] *= c->r.motion.v[i];
        }
        unit[k] = 1;
        link_reference_cross(m, unit, column), place(column, 1, 6 * i, 6 * i + k, 6 * c->n, out);
    }
}

/* Writes the incidence matrix of the tree, or its inverse. */
static void incidences(const robot *c, double *out) {
    clear(out, 36 * c->n * c->n);
    for (int e = 0; e < 6 * c->n; e++) {
        out[e * 6 * c->n + e] = 1;
        if (c->r.parent[e / 6] >= 0) {
            out[e * 6 * c->n + 6 * c->r.parent[e / 6] + e % 6] = -1;
        }
    }
}

static void carriers(const robot *c, double *out) {
    clear(out, 36 * c->n * c->n);
    for (int e = 0; e < 6 * c->n * c->n; e++) {
        int row = e / c->n, j = e % c->n;
        out[row * 6 * c->n + 6 * j + row % 6] = link_reference_carries(&c->r, j, row / 6);
    }
}

/* ---- filter and smoother ----------------------------------------------------------------------------------------- */

static void gains(const robot *c, double *out) {
    clear(out, 6 * c->n * c->n);
    for (int i = 0; i < c->n; i++) {
        double G[6];
        wrench_to_link(c, i, c->G[i], G), place(G, 1, 6 * i, i, c->n, out);
    }
}

static void gains_at_parents(const robot *c, double *out) {
    clear(out, 6 * c->n * c->n);
    for (int i = 0; i < c->n; i++) {
        double G[6];
        if (c->r.parent[i] >= 0) {
            wrench_to_link(c, c->r.parent[i], c->G[i], G), place(G, 1, 6 * c->r.parent[i], i, c->n, out);
        }
    }
}

/* Writes I + H phi K: the force at joint i of the gain of joint k that it carries. */
static void factor(const robot *c, double *out) {
    for (int e = 0; e < c->n * c->n; e++) {
        int i = e / c->n, k = e % c->n;
        out[e] = link_reference_carries(&c->r, i, k) ? dot(c->h[i], c->G[k], 6) : 0;
    }
}

static void pivots(const robot *c, double *out) {
    clear(out, c->n * c->n);
    for (int i = 0; i < c->n; i++) {
        out[i * c->n + i] = c->D[i];
    }
}

static void innovations(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        double z[6];
        filtered_wrench(c, i, z);
        out[i] = c->r.tau[i] - dot(c->h[i], z, 6);
    }
}

static void scaled_innovations(const robot *c, double *out) {
    innovations(c, out);
    for (int i = 0; i < c->n; i++) {
        out[i] /= c->D[i];
    }
}

/* ---- generalized d'Alembert -------------------------------------------------------------------------------------- */

static void axes(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        memcpy(out + 3 * i, c->h[i], 3 * sizeof *out);
    }
}

static void origins(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        origin_of(c, i, out + 3 * i);
    }
}

static void centers(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        center_of(c, i, out + 3 * i);
    }
}

/* Adds w x (w x lever) to `centrifugal` and dw x lever to `coriolis`, of link i of the chain. */
static void add_terms(const robot *c, int i, const double to[3], double centrifugal[3], double coriolis[3]) {
    double p[3], lever[3], turned[3], twice[3], rate[3];
    origin_of(c, i, p);
    for (int k = 0; k < 3; k++) {
        lever[k] = to[k] - p[k];
    }
    cross3(c->r.V[i], lever, turned), cross3(c->r.V[i], turned, twice), cross3(c->r.A_0[i], lever, rate);
    for (int k = 0; k < 3; k++) {
        centrifugal[k] += twice[k], coriolis[k] += rate[k];
    }
}

static void acceleration_terms(const robot *c, double *out) {
    clear(out, 12 * c->n);
    for (int s = 0; s < c->n; s++) {
        double p[3], *terms = out + 12 * s;
        for (int k = 0; k < s; k++) {
            origin_of(c, k + 1, p), add_terms(c, k, p, terms, terms + 3);
        }
        center_of(c, s, p), add_terms(c, s, p, terms + 6, terms + 9);
    }
}

static void translational_terms(const robot *c, double *out) {
    double terms[12 * MOST_LINKS];
    acceleration_terms(c, terms), clear(out, 4 * c->n);
    for (int e = 0; e < c->n * c->n; e++) {
        int i = e / c->n, s = e % c->n;
        double r[3], p[3], lever[3], b[3];
        center_of(c, s, r), origin_of(c, i, p);
        for (int k = 0; k < 3; k++) {
            lever[k] = r[k] - p[k];
        }
        cross3(c->h[i], lever, b);
        for (int t = 0; t < 4 && s >= i; t++) {
            out[4 * i + t] += c->r.I[s][21] * dot(b, terms + 12 * s + 3 * t, 3);
        }
    }
}

static void translational_forces(const robot *c, double *out) {
    double terms[4 * MOST_LINKS];
    translational_terms(c, terms);
    for (int i = 0; i < c->n; i++) {
        out[i] = terms[4 * i] + terms[4 * i + 1] + terms[4 * i + 2] + terms[4 * i + 3];
    }
}

static void rotational_forces(const robot *c, double *out) {
    clear(out, c->n);
    for (int e = 0; e < c->n * c->n; e++) {
        int i = e / c->n, s = e % c->n;
        double moment[3];
        moment_of(c, s, c->r.V[s], c->r.A_0[s], moment);
        out[i] += s >= i ? dot(c->h[i], moment, 3) : 0;
    }
}

/* ---- natural coordinates ----------------------------------------------------------------------------------------- */

/* Writes columns of 3 x 4 matrices, poses or their rates, one after the other. */
static void write_slots(const double pose[16], double *out) {
    for (int k = 0; k < 12; k++) {
        out[k] = pose[k % 3 * 4 + k / 3];
    }
}

static void slots(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        write_slots(c->r.pose[i], out + 12 * i);
    }
}

static void slot_rates(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        double rate[16];
        field(c->r.V[i], c->r.pose[i], rate), write_slots(rate, out + 12 * i);
    }
}

static void slot_accelerations(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        double rate[16];
        second_rate(c->r.V[i], c->r.A_0[i], c->r.pose[i], rate), write_slots(rate, out + 12 * i);
    }
}

static void slot_weights(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        double J[16];
        pseudo_inertia(c, i, J);
        for (int k = 0; k < 12; k++) {
            out[12 * i + k] = J[4 * (k / 3) + 3] * c->r.gravity[k % 3];
        }
    }
}

static void slot_velocities(const robot *c, double *out) {
    clear(out, 12 * c->n * c->n);
    for (int e = 0; e < c->n * c->n; e++) {
        int i = e / c->n, k = e % c->n;
        double rate[16], column[12];
        field(c->h[k], c->r.pose[i], rate), write_slots(rate, column);
        for (int row = 0; row < 12 && link_reference_carries(&c->r, k, i); row++) {
            out[(12 * i + row) * c->n + k] = column[row];
        }
    }
}

static void no_errors(const robot *c, double *out) {
    clear(out, 11 * c->n);
}

/* ---- end effectors ----------------------------------------------------------------------------------------------- */

/* Writes E of link i: the wrenches that unit wrenches at the last link cause there, through joints that yield; i = -1:
 * at the base. */
static void end_wrenches(const robot *c, int i, double out[36]) {
    double next[36], loss[36];
    clear(out, 36);
    for (int k = 0; k < 6; k++) {
        out[7 * k] = 1;
    }
    for (int j = c->n - 1; j > i; j--) {
        for (int k = 0; k < 36; k++) {
            loss[k] = (k % 7 == 0) - c->G[j][k / 6] * c->h[j][k % 6];
        }
        product(false, loss, out, 6, 6, 6, next), memcpy(out, next, sizeof next);
    }
}

static void all_end_wrenches(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        end_wrenches(c, i, out + 36 * i);
    }
}

/* Writes the acceleration of the last link but for what that of the base contributes. */
static void end_acceleration(const robot *c, double *out) {
    double E[36], A[6], of_base[6];
    const double up[6] = {0, 0, 0, -c->r.gravity[0], -c->r.gravity[1], -c->r.gravity[2]};
    end_wrenches(c, -1, E), raised(c, c->n - 1, A), product(true, E, up, 6, 6, 1, of_base);
    for (int k = 0; k < 6; k++) {
        out[k] = A[k] - of_base[k];
    }
}

/* Writes L = J M^-1 J', by elimination of M. */
static void end_mobility(const robot *c, double *out) {
    const double *J = c->r.J[c->n - 1];
    double M[MOST_LINKS * MOST_LINKS], x[MOST_LINKS * 6];
    int n = c->n;
    memcpy(M, c->r.M, sizeof M);
    for (int e = 0; e < 6 * n; e++) {
        x[e] = J[e % 6 * n + e / 6];
    }
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) {
            double rate = i == k ? 0 : M[i * n + k] / M[k * n + k];
            for (int j = 0; j < n; j++) {
                M[i * n + j] -= rate * M[k * n + j];
            }
            for (int j = 0; j < 6; j++) {
                x[6 * i + j] -= rate * x[6 * k + j];
            }
        }
    }
    for (int e = 0; e < 6 * n; e++) {
        x[e] /= M[e / 6 * n + e / 6];
    }
    product(false, J, x, 6, n, 6, out);
}

static const double *other(const robot *c, const char *name, size_t count) {
    return find_block(c->blocks.blocks, c->blocks.count, name, count);
}

/* Writes the accelerations of a chain whose last link the wrench nu holds: M (a_held - a) = J' nu. */
static void held_accelerations(const robot *c, double *out) {
    const double *nu = other(c, "nu", 6), *J = c->r.J[c->n - 1];
    double M[MOST_LINKS * MOST_LINKS];
    int n = c->n;
    memcpy(M, c->r.M, sizeof M);
    product(true, J, nu, n, 6, 1, out);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) {
            double rate = i == k ? 0 : M[i * n + k] / M[k * n + k];
            for (int j = 0; j < n; j++) {
                M[i * n + j] -= rate * M[k * n + j];
            }
            out[i] -= rate * out[k];
        }
    }
    for (int i = 0; i < n; i++) {
        out[i] = out[i] / M[i * n + i] + c->r.motion.a[i];
    }
}

/* Writes the accelerations of the links of the chain that is held. */
static void held_link_accelerations(const robot *c, double *out) {
    const double *held = other(c, "a_held", (size_t)c->n);
    for (int i = 0; i < c->n; i++) {
        raised(c, i, out + 6 * i);
        for (int e = 0; e < 6 * c->n; e++) {
            out[6 * i + e / c->n] += c->r.J[i][e] * (held[e % c->n] - c->r.motion.a[e % c->n]);
        }
    }
}

/* Writes L nu = (-g) - A: the last link does not accelerate but for gravity. Compared instead of nu, which L maps. */
static void end_target(const robot *c, double *out) {
    raised(c, c->n - 1, out);
    for (int k = 0; k < 6; k++) {
        out[k] = -out[k] - (k < 3 ? 0 : c->r.gravity[k - 3]);
    }
}

/* Maps nu by L. */
static int map_holding_wrench(const robot *c, const double *nu, double *out) {
    double L[36];
    end_mobility(c, L), product(false, L, nu, 6, 6, 1, out);
    return 6;
}

/* ---- constraint forces ------------------------------------------------------------------------------------------- */

/* Writes the wrench of a unit force of joint i: along its axis, at the origin of its frame; S / S'S of a custom one. */
static void unit_wrench(const robot *c, int i, double out[6]) {
    double S[6];
    motion_to_link(c, i, c->h[i], S);
    double square = dot(S, S, 6);
    for (int k = 0; k < 6; k++) {
        S[k] /= square;
    }
    product(true, c->X[i], S, 6, 6, 1, out);
}

static void constraint_wrenches(const robot *c, double *out) {
    for (int i = 0; i < c->n; i++) {
        double e[6];
        unit_wrench(c, i, e);
        for (int k = 0; k < 6; k++) {
            out[6 * i + k] = c->r.f[i][k] - e[k] * c->r.tau[i];
        }
    }
}

/* Maps the components beta to the wrenches T beta. */
static int map_components(const robot *c, const double *beta, double *out) {
    const double *T = other(c, "T", 36 * (size_t)c->n);
    for (int i = 0; i < c->n; i++) {
        product(false, T + 36 * i, beta + 6 * i, 6, 6, 1, out + 6 * i);
    }
    return 6 * c->n;
}

/* Maps the bases T to T' h, and the volume that their columns span, which is 1 in the frames of the joints. */
static int map_bases(const robot *c, const double *T, double *out) {
    for (int i = 0; i < c->n; i++) {
        double in_link[36], gram[25];
        product(true, T + 36 * i, c->h[i], 6, 6, 1, out + 7 * i);
        product(true, c->back[i], T + 36 * i, 6, 6, 6, in_link);
        out[7 * i + 6] = 1;
        for (int k = 0; k < 25; k++) {
            gram[k] = 0;
            for (int row = 0; row < 6; row++) {
                gram[k] += in_link[6 * row + k / 5] * in_link[6 * row + k % 5];
            }
        }
        for (int k = 0; k < 5; k++) {
            out[7 * i + 6] *= gram[6 * k];
            for (int row = k + 1; row < 5; row++) {
                double rate = gram[5 * row + k] / gram[6 * k];
                for (int column = k; column < 5; column++) {
                    gram[5 * row + column] -= rate * gram[5 * k + column];
                }
            }
        }
    }
    return 7 * c->n;
}

static void orthonormal_bases(const robot *c, double *out) {
    clear(out, 7 * c->n);
    for (int i = 0; i < c->n; i++) {
        out[7 * i + 6] = 1;
    }
}

/* Solves I X = T for a positive definite 6 x 6 matrix I. */
static void solve_inertia(const double from[36], const double T[36], double X[36]) {
    double I[36];
    memcpy(I, from, sizeof I), memcpy(X, T, sizeof I);
    for (int k = 0; k < 6; k++) {
        for (int row = 0; row < 6; row++) {
            double rate = row == k ? 0 : I[6 * row + k] / I[7 * k];
            for (int column = 0; column < 6; column++) {
                I[6 * row + column] -= rate * I[6 * k + column], X[6 * row + column] -= rate * X[6 * k + column];
            }
        }
    }
    for (int k = 0; k < 36; k++) {
        X[k] /= I[k / 6 * 7];
    }
}

static void diagonal_blocks(const robot *c, double *out) {
    const double *all = other(c, "T", 36 * (size_t)c->n);
    for (int i = 0; i < c->n; i++) {
        const double *T = all + 36 * i;
        double X[36], before[36] = {0};
        solve_inertia(c->r.I[i], T, X);
        if (i > 0) {
            solve_inertia(c->r.I[i - 1], T, before);
        }
        for (int k = 0; k < 36; k++) {
            X[k] += before[k];
        }
        product(true, T, X, 6, 6, 6, out + 36 * i);
    }
}

/* ---- inverses and gradients -------------------------------------------------------------------------------------- */

static void identity(const robot *c, double *out) {
    for (int e = 0; e < c->n * c->n; e++) {
        out[e] = e % (c->n + 1) == 0;
    }
}

static int times_factor(const robot *c, const double *inverse, double *out) {
    double W[MOST_LINKS * MOST_LINKS];
    factor(c, W), product(false, W, inverse, c->n, c->n, c->n, out);
    return c->n * c->n;
}

static int times_mass_matrix(const robot *c, const double *inverse, double *out) {
    product(false, c->r.M, inverse, c->n, c->n, c->n, out);
    return c->n * c->n;
}

/* Maps the gradients of the constraints, of which there are 11 for each link, to those along the motions of the joints,
 * and to the least length of one. */
static int times_slot_velocities(const robot *c, const double *gradients, double *out) {
    double *R = numbers((size_t)(12 * c->n * c->n));
    int rows = 11 * c->n, width = 12 * c->n, count = rows * c->n;
    slot_velocities(c, R), product(false, gradients, R, rows, width, c->n, out);
    out[count] = 1;
    for (int row = 0; row < rows; row++) {
        const double *gradient = gradients + row * width;
        out[count] = dot(gradient, gradient, width) > 0.01 ? out[count] : 0;
    }
    free(R);
    return count + 1;
}

static void gradients_of_motions(const robot *c, double *out) {
    clear(out, 11 * c->n * c->n), out[11 * c->n * c->n] = 1;
}

/* Writes the poses of the links as described, times the constant poses of the frames of formulations in them, as they
 * are at q = 0. */
static void placed_poses(const robot *c, double *out) {
    static const double zeros[MOST_LINKS] = {0};
    const motion_of_model home = {.model = c->r.motion.model, .q = zeros};
    double at_home[16 * MOST_LINKS];
    dyn_error error;
    dyn_workspace *w;
    evaluate_block("hollerbach", &home, "W", 16 * (size_t)c->n, at_home);
    require(dyn_workspace_create(home.model, &w, &error), &error);
    for (int i = 0; i < c->n; i++) {
        const double *q[2] = {zeros, c->r.motion.q};
        double pose[2][16] = {{0}}, back[16], constant[16], p[3], R[9];
        for (int k = 0; k < 2; k++) {
            int frame = dyn_model_joint(home.model, i)->child_link;
            require(dyn_frame_pose(home.model, w, 1, q[k], frame, p, R, &error), &error);
            for (int e = 0; e < 12; e++) {
                pose[k][e] = e % 4 == 3 ? p[e / 4] : R[e / 4 * 3 + e % 4];
            }
            pose[k][15] = 1;
        }
        invert_pose(pose[0], back), product(false, back, at_home + 16 * i, 4, 4, 4, constant);
        product(false, pose[1], constant, 4, 4, 4, out + 16 * i);
    }
    dyn_workspace_free(w);
}

/* ---- table of comparisons ---------------------------------------------------------------------------------------- */

/* Comparison of one block: with a quantity of each link, `size` numbers in a frame, or with `whole`. `map` writes the
 * numbers to compare instead of those of the block, and returns how many there are. */
typedef struct comparison {
    const char *formulation, *block;
    expectation whole;
    quantity of_link;
    block_frame frame;
    int (*map)(const robot *c, const double *block, double *out);
    double tolerance; /* 0: 1e-9 */
    int size;         /* 0: 6; 3 for vectors, 36 for inertias */
    int least_links;  /* robots with fewer are not compared */
} comparison;

/* Tolerance of comparisons with differences. */
#define OF_DIFFERENCES 1e-6

static const comparison comparisons[] = {
    {"lagrange_euler", "A", .whole = poses},
    {"lagrange_euler", "U", .whole = pose_derivatives},
    {"lagrange_euler", "J", .whole = pseudo_inertias},
    {"lagrange_euler", "D", .whole = mass_matrix},
    {"lagrange_euler", "h_ikm", .whole = christoffel_symbols, .tolerance = OF_DIFFERENCES},
    {"lagrange_euler", "h", .whole = velocity_forces},
    {"lagrange_euler", "c", .whole = gravity_forces},
    {"newton_euler", "w", .of_link = angular_velocity, .frame = MOTION_IN_LINK, .size = 3},
    {"newton_euler", "dw", .of_link = angular_acceleration, .frame = MOTION_IN_LINK, .size = 3},
    {"newton_euler", "dv", .of_link = origin_acceleration, .frame = MOTION_IN_LINK, .size = 3},
    {"newton_euler", "a_c", .of_link = center_acceleration, .frame = MOTION_IN_LINK, .size = 3},
    {"newton_euler", "F", .of_link = moving_force, .frame = MOTION_IN_LINK, .size = 3},
    {"newton_euler", "N", .of_link = moving_moment, .frame = MOTION_IN_LINK, .size = 3},
    {"newton_euler", "f", .of_link = joint_force, .frame = MOTION_IN_LINK, .size = 3},
    {"newton_euler", "n", .of_link = joint_moment, .frame = MOTION_IN_LINK, .size = 3},
    {"newton_euler", "viscous", .whole = viscous_forces},
    {"newton_euler_base", "w", .of_link = angular_velocity, .size = 3},
    {"newton_euler_base", "dw", .of_link = angular_acceleration, .size = 3},
    {"newton_euler_base", "dv", .of_link = origin_acceleration, .size = 3},
    {"newton_euler_base", "F", .of_link = moving_force, .size = 3},
    {"newton_euler_base", "N", .of_link = moving_moment, .size = 3},
    {"newton_euler_base", "f", .of_link = joint_force, .size = 3},
    {"newton_euler_base", "n", .of_link = joint_moment, .size = 3},
    {"newton_euler_base", "viscous", .whole = viscous_forces},
    {"generalized_dalembert", "D", .whole = mass_matrix},
    {"generalized_dalembert", "h_tran", .whole = translational_forces},
    {"generalized_dalembert", "h_rot", .whole = rotational_forces},
    {"generalized_dalembert", "h_tran_terms", .whole = translational_terms},
    {"generalized_dalembert", "a_terms", .whole = acceleration_terms},
    {"generalized_dalembert", "c", .whole = gravity_forces},
    {"generalized_dalembert", "z", .whole = axes},
    {"generalized_dalembert", "p", .whole = origins},
    {"generalized_dalembert", "r", .whole = centers},
    {"christoffel", "M", .whole = mass_matrix},
    {"christoffel", "dM_dq", .whole = mass_matrix_derivatives, .tolerance = OF_DIFFERENCES},
    {"christoffel", "Gamma", .whole = christoffel_symbols, .tolerance = OF_DIFFERENCES},
    {"christoffel", "C", .whole = coriolis_matrix, .tolerance = OF_DIFFERENCES},
    {"christoffel", "dM_dt", .whole = mass_matrix_rate, .tolerance = OF_DIFFERENCES},
    {"christoffel", "dP_dq", .whole = gravity_forces},
    {"screws", "v", .of_link = velocity, .frame = MOTION_IN_LINK},
    {"screws", "c", .of_link = bias_acceleration, .frame = MOTION_IN_LINK},
    {"screws", "a", .of_link = acceleration, .frame = MOTION_IN_LINK},
    {"screws", "Z", .of_link = wrench_without_acceleration, .frame = WRENCH_IN_LINK},
    {"screws", "f", .of_link = wrench, .frame = WRENCH_IN_LINK},
    {"screws", "IA", .of_link = articulated_inertia, .frame = INERTIA_IN_LINK, .size = 36},
    {"screws", "ZA", .of_link = heavy_articulated_bias, .frame = WRENCH_IN_LINK},
    {"lie_group", "S", .whole = home_screws},
    {"lie_group", "A", .whole = link_joint_motions},
    {"lie_group", "G", .whole = link_inertias},
    {"lie_group", "W", .whole = maps_of_parents},
    {"lie_group", "L", .whole = maps_of_carriers},
    {"lie_group", "ad_Av", .whole = lie_brackets},
    {"lie_group", "LA", .whole = link_jacobians},
    {"lie_group", "V", .of_link = velocity, .frame = MOTION_IN_LINK},
    {"lie_group", "dV", .of_link = raised, .frame = MOTION_IN_LINK},
    {"lie_group", "F", .of_link = wrench, .frame = WRENCH_IN_LINK},
    {"lie_group", "M", .whole = mass_matrix},
    {"lie_group", "c", .whole = velocity_forces},
    {"lie_group", "g", .whole = gravity_forces},
    {"lie_group", "dM_dt", .whole = mass_matrix_rate, .tolerance = OF_DIFFERENCES},
    {"walker_orin", "M_1", .whole = mass_matrix},
    {"walker_orin", "M_2", .whole = mass_matrix},
    {"walker_orin", "M_3", .whole = mass_matrix},
    {"walker_orin", "I_C", .whole = composite_parameters},
    {"lilly_orin", "M_I", .whole = mass_matrix},
    {"lilly_orin", "M_II", .whole = mass_matrix},
    {"lilly_orin", "M_III", .whole = mass_matrix},
    {"lilly_orin", "M_IV", .whole = mass_matrix},
    {"lilly_orin", "J", .whole = link_jacobians},
    {"lilly_orin", "I_C", .whole = composite_parameters},
    {"kane", "S", .whole = jacobians},
    {"kane", "I", .of_link = inertia, .size = 36},
    {"kane", "a_0", .of_link = acceleration_at_rest},
    {"kane", "f_a", .of_link = weight},
    {"kane", "v_x_Iv", .of_link = gyroscopic_wrench},
    {"kane", "M", .whole = mass_matrix},
    {"kane", "F", .whole = active_forces},
    {"kane", "F_star", .whole = inertia_forces},
    {"newton_euler_factorization", "P", .whole = incidences},
    {"newton_euler_factorization", "P_inverse", .whole = carriers},
    {"newton_euler_factorization", "H", .whole = joint_motions},
    {"newton_euler_factorization", "I", .whole = world_inertias},
    {"newton_euler_factorization", "S", .whole = jacobians},
    {"newton_euler_factorization", "M", .whole = mass_matrix},
    {"newton_euler_factorization", "I_C", .of_link = composite_inertia, .size = 36},
    {"newton_euler_factorization", "I_A", .of_link = articulated_inertia, .size = 36},
    {"spatial_operator_algebra", "H", .whole = transposed_joint_motions},
    {"spatial_operator_algebra", "phi", .whole = wrench_maps},
    {"spatial_operator_algebra", "psi", .whole = yielding_wrench_maps},
    {"spatial_operator_algebra", "M_k", .of_link = inertia, .frame = INERTIA_IN_LINK, .size = 36},
    {"spatial_operator_algebra", "P", .of_link = articulated_inertia, .frame = INERTIA_IN_LINK, .size = 36},
    {"spatial_operator_algebra", "G", .whole = gains},
    {"spatial_operator_algebra", "K", .whole = gains_at_parents},
    {"spatial_operator_algebra", "W", .whole = factor},
    {"spatial_operator_algebra", "W_inverse", .whole = identity, .map = times_factor},
    {"spatial_operator_algebra", "D", .whole = pivots},
    {"spatial_operator_algebra", "M", .whole = mass_matrix},
    {"spatial_operator_algebra", "M_inverse", .whole = identity, .map = times_mass_matrix},
    {"spatial_operator_algebra", "V", .of_link = velocity, .frame = MOTION_IN_LINK},
    {"spatial_operator_algebra", "alpha", .of_link = raised, .frame = MOTION_IN_LINK},
    {"spatial_operator_algebra", "f", .of_link = wrench, .frame = WRENCH_IN_LINK},
    {"spatial_operator_algebra", "z", .of_link = filtered_wrench, .frame = WRENCH_IN_LINK},
    {"spatial_operator_algebra", "epsilon", .whole = innovations},
    {"spatial_operator_algebra", "nu", .whole = scaled_innovations},
    {"spatial_operator_algebra", "accelerations", .whole = accelerations},
    {"absolute_coordinates", "v", .of_link = velocity},
    {"absolute_coordinates", "a", .of_link = raised},
    {"absolute_coordinates", "f", .of_link = wrench},
    {"absolute_coordinates", "I_C", .of_link = composite_inertia, .size = 36},
    {"absolute_coordinates", "I_A", .of_link = articulated_inertia, .size = 36},
    {"absolute_coordinates", "p_A", .of_link = articulated_bias},
    {"vereshchagin", "I_A", .of_link = articulated_inertia, .size = 36},
    {"vereshchagin", "p_A", .of_link = articulated_bias},
    {"vereshchagin", "E", .whole = all_end_wrenches},
    {"vereshchagin", "L", .whole = end_mobility},
    {"vereshchagin", "U", .whole = end_acceleration},
    {"vereshchagin", "nu", .whole = end_target, .map = map_holding_wrench, .tolerance = 1e-6, .least_links = 7},
    {"vereshchagin", "a_held", .whole = held_accelerations, .tolerance = 1e-6},
    {"vereshchagin", "A_held", .whole = held_link_accelerations, .tolerance = 1e-6},
    {"constraint_force", "T", .whole = orthonormal_bases, .map = map_bases},
    {"constraint_force", "A", .whole = diagonal_blocks},
    {"constraint_force", "beta", .whole = constraint_wrenches, .map = map_components},
    {"constraint_force", "f_c", .whole = constraint_wrenches},
    {"hollerbach", "A", .whole = poses_in_parents},
    {"hollerbach", "W", .whole = placed_poses},
    {"hollerbach", "dW", .whole = pose_rates},
    {"hollerbach", "ddW", .whole = second_pose_rates},
    {"hollerbach", "D", .whole = moments_without_gravity},
    {"hollerbach", "c", .whole = first_moments},
    {"natural_coordinates", "q", .whole = slots},
    {"natural_coordinates", "dq", .whole = slot_rates},
    {"natural_coordinates", "J", .whole = pseudo_inertias},
    {"natural_coordinates", "Q", .whole = slot_weights},
    {"natural_coordinates", "R", .whole = slot_velocities},
    {"natural_coordinates", "dR_v", .whole = slot_accelerations},
    {"natural_coordinates", "M", .whole = mass_matrix},
    {"natural_coordinates", "Phi", .whole = no_errors},
    {"natural_coordinates", "Phi_q", .whole = gradients_of_motions, .map = times_slot_velocities},
    {"book_flexible", "T", .whole = poses_in_parents},
    {"book_flexible", "W", .whole = poses_with_rates},
    {"book_flexible", "B", .whole = pseudo_inertias},
    {"book_flexible", "F", .whole = second_moments_of_subtrees},
    {"book_flexible", "D", .whole = moments_with_gravity},
    {"book_flexible", "M", .whole = mass_matrix},
    {"book_flexible", "tau", .whole = all_forces},
};

enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

/* Blocks that other tests compare: those below, and those of models with constraints and of links that bend in the
 * files that are named. */
static const struct {
    const char *formulation, *block, *test;
} elsewhere[] = {
    {"", "J_f", NULL},
    {"", "tau_base", NULL},
    {"armstrong", "K", NULL},
    {"armstrong", "d", NULL},
    {"armstrong", "M", NULL},
    {"armstrong", "f", NULL},
    {"armstrong", "a", NULL},
    {"armstrong", "w", NULL},
    {"armstrong", "dw", NULL},
    {"", "constraint_A", "tests/property/closed_loops.c"},
    {"", "constraint_b", "tests/property/closed_loops.c"},
    {"", "constraint_e", "tests/property/closed_loops.c"},
    {"", "constraint_M", "tests/property/closed_loops.c"},
    {"", "constraint_a_0", "tests/property/closed_loops.c"},
    {"", "constraint_A_Minv_At", "tests/property/closed_loops.c"},
    {"", "constraint_Lambda", "tests/property/closed_loops.c"},
    {"", "constraint_P", "tests/property/closed_loops.c"},
    {"", "constraint_P_qdd", "tests/property/closed_loops.c"},
    {"", "constraint_rank", "tests/property/closed_loops.c"},
    {"", "constraint_lambda", "tests/property/closed_loops.c"},
    {"", "constraint_A_t_lambda", "tests/property/closed_loops.c"},
    {"", "constraint_a", "tests/property/closed_loops.c"},
    {"newton_euler_factorization", "K", "tests/property/formulation_quantities.c"},
    {"newton_euler_factorization", "b", "tests/property/formulation_quantities.c"},
    {"newton_euler_factorization", "order_CRBA", "tests/property/formulation_quantities.c"},
    {"newton_euler_factorization", "order_ABA", "tests/property/formulation_quantities.c"},
    {"book_flexible", "tau_modes", "tests/system/formulations.c"},
    {"book_flexible", "a_free", "tests/system/formulations.c"},
    {"book_flexible", "a", "tests/system/formulations.c"},
};

/* Writes the expected numbers of a comparison. */
static void expect(const robot *c, const comparison *row, double *out) {
    int size = row->size ? row->size : 6;
    for (int i = 0; !row->whole && i < c->n; i++) {
        double x[36] = {0}, *to = out + size * i;
        row->of_link(c, i, x);
        if (row->frame == WORLD) {
            memcpy(to, x, (size_t)size * sizeof *to);
        } else if (size == 3) {
            turn_to_link(c, i, x), memcpy(to, x, 3 * sizeof *to);
        } else {
            (row->frame == MOTION_IN_LINK   ? motion_to_link
             : row->frame == WRENCH_IN_LINK ? wrench_to_link
                                            : inertia_to_link)(c, i, x, to);
        }
    }
    if (row->whole) {
        row->whole(c, out);
    }
}

/* Compares one block of the formulation under test. */
static void compare(const robot *c, int k, const dyn_formulation_block *block, const comparison *row) {
    static double expected[MOST_NUMBERS], mapped[MOST_NUMBERS];
    char what[100];
    int count = 1;
    for (int i = 0; i < block->dimensions; i++) {
        count *= block->extents[i];
    }
    ck_assert_int_le(count, MOST_NUMBERS);
    snprintf(what, sizeof what, "%s of %s", row->block, row->formulation);
    expect(c, row, expected);
    const double *found = block->values;
    if (row->map) {
        count = row->map(c, block->values, mapped), found = mapped;
    }
    assert_norm_close(what, k, found, expected, (size_t)count, row->tolerance > 0 ? row->tolerance : 1e-9);
}

/* Returns the comparison of a block, or -1. */
static int find_comparison(const char *formulation, const char *block) {
    for (int i = 0; i < COMPARISONS; i++) {
        if (strcmp(comparisons[i].formulation, formulation) == 0 && strcmp(comparisons[i].block, block) == 0) {
            return i;
        }
    }
    return -1;
}

/* Returns whether a test compares a block of the list. */
static bool is_compared(const dyn_formulation_block_traits *traits) {
    bool found = find_comparison(traits->formulation, traits->name) >= 0;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        found = found || (strcmp(elsewhere[i].formulation, traits->formulation) == 0 &&
                          strcmp(elsewhere[i].block, traits->name) == 0);
    }
    return found;
}

/* Checks that the description of a block fits it. */
static void check_traits(const dyn_formulation_block *block) {
    ck_assert_msg(block->traits, "%s is not in the list of blocks", block->name);
    ck_assert_int_eq(block->traits->dimensions, block->dimensions);
    for (int i = 0; i < block->dimensions; i++) {
        ck_assert_msg(block->traits->axes[i], "dimension %d of %s has no name", i, block->name);
    }
}

/* Compares all blocks of a formulation that applies, and counts the comparisons. */
static void compare_all(robot *c, int k, const char *name, int compared[COMPARISONS]) {
    dyn_error error;
    dyn_formulation *f;
    if (dyn_formulation_create(c->r.motion.model, name, &f, &error) != DYN_OK) {
        return;
    }
    const motion_of_model *x = &c->r.motion;
    require(dyn_formulation_coefficients(f, NULL, x->q, x->v, x->a, &c->blocks.blocks, &c->blocks.count, &error),
            &error);
    for (int i = 0; i < c->blocks.count; i++) {
        const dyn_formulation_block *block = &c->blocks.blocks[i];
        int row = find_comparison(name, block->name);
        check_traits(block);
        ck_assert_msg(is_compared(block->traits), "no comparison of %s of %s", block->name, name);
        if (row >= 0 && c->n >= comparisons[row].least_links) {
            compare(c, k, block, &comparisons[row]);
            compared[row]++;
        }
    }
    dyn_formulation_free(f);
}

/* Creates a random robot: of revolute joints, with prismatic and with custom ones; a chain or a tree. */
static dyn_model *draw(random_source *random, int k) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_PRISMATIC, DYN_JOINT_TYPE_CUSTOM};
    const random_chain_options options = {
        .joints = 1 + k % MOST_LINKS, .types = types, .type_count = 1 + k / 2 % 3, .branches = k % 2};
    return random_chain(random, &options);
}

START_TEST(every_block_is_what_its_equation_says) {
    static robot c;
    int compared[COMPARISONS] = {0};
    random_source base = random_seed("blocks of formulations", 1830);
    for (int k = 0; k < CASES; k++) {
        double q[MOST_LINKS], v[MOST_LINKS], a[MOST_LINKS];
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = draw(&random, k);
        int n = dyn_model_nv(model);
        random_vector(&random, n, 2, q), random_vector(&random, n, 2, v), random_vector(&random, n, 3, a);
        const motion_of_model motion = {.model = model, .q = q, .v = v, .a = a};
        link_reference_compute(&motion, &c.r);
        compute_robot(&c, q);
        for (int i = 0; i < dyn_formulation_count(); i++) {
            compare_all(&c, k, dyn_formulation_traits_at(i)->name, compared);
        }
        dyn_model_free(model);
    }
    for (int i = 0; i < COMPARISONS; i++) {
        ck_assert_msg(compared[i] > 0, "%s of %s was never compared", comparisons[i].block, comparisons[i].formulation);
    }
}
END_TEST

/* ---- spherical joints -------------------------------------------------------------------------------------------- */

/* Checks the blocks of Armstrong's formulation: M a + f' is the force in each joint, and K a + d the angular
 * acceleration, of which M is symmetric. */
static void compare_armstrong(const link_reference *r, int k, const block_list *blocks) {
    robot c = {.n = r->links, .r = *r};
    size_t n = (size_t)r->links;
    const double *a = find_block(blocks->blocks, blocks->count, "a", 3 * n),
                 *M = find_block(blocks->blocks, blocks->count, "M", 9 * n),
                 *K = find_block(blocks->blocks, blocks->count, "K", 9 * n),
                 *d = find_block(blocks->blocks, blocks->count, "d", 3 * n),
                 *f = find_block(blocks->blocks, blocks->count, "f", 3 * n);
    for (int i = 0; i < c.n; i++) {
        double w[3], dw[3], rise[3], force[3], answer[3], turn[3], transposed[9];
        angular_velocity(&c, i, w), angular_acceleration(&c, i, dw), origin_acceleration(&c, i, rise);
        memcpy(force, r->f[i] + 3, sizeof force);
        turn_to_link(&c, i, w), turn_to_link(&c, i, dw), turn_to_link(&c, i, rise), turn_to_link(&c, i, force);
        for (int row = 0; row < 3; row++) {
            answer[row] = dot(M + 9 * i + 3 * row, rise, 3) + f[3 * i + row];
            turn[row] = dot(K + 9 * i + 3 * row, rise, 3) + d[3 * i + row];
        }
        for (int e = 0; e < 9; e++) {
            transposed[e] = M[9 * i + e % 3 * 3 + e / 3];
        }
        assert_norm_close("w of armstrong", k, find_block(blocks->blocks, blocks->count, "w", 3 * n) + 3 * i, w, 3,
                          1e-9);
        assert_norm_close("dw of armstrong", k, find_block(blocks->blocks, blocks->count, "dw", 3 * n) + 3 * i, dw, 3,
                          1e-9);
        assert_norm_close("a of armstrong", k, a + 3 * i, rise, 3, 1e-9);
        assert_norm_close("M a + f' of armstrong", k, answer, force, 3, 1e-9);
        assert_norm_close("K a + d of armstrong", k, turn, dw, 3, 1e-9);
        assert_norm_close("M' of armstrong", k, transposed, M + 9 * i, 9, 1e-9);
    }
}

START_TEST(blocks_of_spherical_joints_are_linear_answers) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_SPHERICAL};
    static link_reference r;
    random_source base = random_seed("blocks of armstrong", 1831);
    for (int k = 0; k < CASES; k++) {
        double q[4 * MOST_LINKS], v[3 * MOST_LINKS], a[3 * MOST_LINKS];
        random_source random = random_case(base, (uint64_t)k);
        const random_chain_options options = {
            .joints = 1 + k % MOST_LINKS, .types = types, .type_count = 1, .branches = k % 2};
        dyn_model *model = random_chain(&random, &options);
        const motion_of_model x = {.model = model, .q = q, .v = v, .a = a};
        dyn_error error;
        dyn_formulation *f;
        block_list blocks;
        random_configuration(&random, model, 1, q);
        random_vector(&random, 3 * options.joints, 2, v), random_vector(&random, 3 * options.joints, 3, a);
        link_reference_compute(&x, &r);
        require(dyn_formulation_create(model, "armstrong", &f, &error), &error);
        require(dyn_formulation_coefficients(f, NULL, q, v, a, &blocks.blocks, &blocks.count, &error), &error);
        for (int i = 0; i < blocks.count; i++) {
            check_traits(&blocks.blocks[i]);
        }
        compare_armstrong(&r, k, &blocks);
        dyn_formulation_free(f);
        dyn_model_free(model);
    }
}
END_TEST

/* ---- forces of the environment ----------------------------------------------------------------------------------- */

/* Reads one block of a formulation for joints that do not accelerate. */
static void read_block(dyn_formulation *f, const double *q, const double *v, const char *name, int n, double *out) {
    dyn_error error;
    block_list found;
    require(dyn_formulation_coefficients(f, NULL, q, v, NULL, &found.blocks, &found.count, &error), &error);
    memcpy(out, find_block(found.blocks, found.count, name, (size_t)n), (size_t)n * sizeof *out);
}

/* Checks J_f by the kernel of forces at frames. */
static void compare_external_forces(dyn_formulation *f, const dyn_model *model, int k, const double *q, double *F) {
    dyn_error error;
    dyn_workspace *w;
    double expected[MOST_LINKS], found[MOST_LINKS];
    int n = dyn_model_nv(model), frame = dyn_model_joint(model, n - 1)->child_link;
    const dyn_external_force force = {.frame = frame, .reference_frame = DYN_REFERENCE_FRAME_LOCAL, .wrench = F};
    const dyn_external_forces forces = {.force = &force, .count = 1};
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_frame_force(model, w, 1, q, frame, DYN_REFERENCE_FRAME_LOCAL, F, expected, &error), &error);
    require(dyn_formulation_apply_forces(f, &forces, &error), &error);
    read_block(f, q, NULL, "J_f", n, found);
    require(dyn_formulation_apply_forces(f, NULL, &error), &error);
    assert_norm_close("J_f", k, found, expected, (size_t)n, 1e-9);
    dyn_workspace_free(w);
}

/* Checks tau_base by the recursion of newton_euler, which begins with the motion of the base. */
static void compare_base_forces(dyn_formulation *f, const dyn_model *model, int k, const double *q, const double *v,
                                const dyn_base_motion *base) {
    dyn_error error;
    dyn_formulation *recursion;
    double at_rest[MOST_LINKS], moving[MOST_LINKS], found[MOST_LINKS];
    int n = dyn_model_nv(model);
    require(dyn_formulation_create(model, "newton_euler", &recursion, &error), &error);
    require(dyn_formulation_inverse_dynamics(recursion, 1, NULL, q, v, NULL, at_rest, &error), &error);
    dyn_formulation_move_base(recursion, base), dyn_formulation_move_base(f, base);
    require(dyn_formulation_inverse_dynamics(recursion, 1, NULL, q, v, NULL, moving, &error), &error);
    read_block(f, q, v, "tau_base", n, found);
    for (int i = 0; i < n; i++) {
        moving[i] -= at_rest[i];
    }
    assert_norm_close("tau_base", k, found, moving, (size_t)n, 1e-9);
    dyn_formulation_free(recursion);
}

START_TEST(forces_of_the_environment_and_of_the_base_are_those_of_others) {
    random_source base = random_seed("blocks J_f and tau_base", 1832);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = draw(&random, k);
        dyn_error error;
        dyn_formulation *f;
        double q[MOST_LINKS], v[MOST_LINKS], F[6], twist[6], rate[6];
        int n = dyn_model_nv(model);
        random_vector(&random, n, 2, q), random_vector(&random, n, 2, v), random_vector(&random, 6, 3, F);
        random_vector(&random, 6, 2, twist), random_vector(&random, 6, 3, rate);
        const dyn_base_motion moving = {.twist = twist, .acceleration = rate};
        require(dyn_formulation_create(model, "hollerbach", &f, &error), &error);
        compare_external_forces(f, model, k, q, F);
        compare_base_forces(f, model, k, q, v, &moving);
        dyn_formulation_free(f);
        dyn_model_free(model);
    }
}
END_TEST

/* ---- completeness ------------------------------------------------------------------------------------------------ */

START_TEST(every_block_of_the_list_has_a_comparison_and_a_description) {
    for (int i = 0; i < dyn_formulation_block_count(); i++) {
        const dyn_formulation_block_traits *traits = dyn_formulation_block_traits_at(i);
        ck_assert_msg(is_compared(traits), "no comparison of %s of %s", traits->name, traits->formulation);
        ck_assert_ptr_eq(dyn_formulation_find_block(traits->formulation, traits->name), traits);
        ck_assert_int_gt((int)strlen(traits->meaning), 0);
        ck_assert_int_gt((int)strlen(traits->unit), 0);
        ck_assert_msg(traits->dimensions >= 1 && traits->dimensions <= DYN_FORMULATION_EXTENTS, "%s", traits->name);
    }
    ck_assert_ptr_null(dyn_formulation_block_traits_at(-1));
    ck_assert_ptr_null(dyn_formulation_block_traits_at(dyn_formulation_block_count()));
    ck_assert_ptr_null(dyn_formulation_find_block("kane", "no block"));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("formulation_list");
    tcase_add_test(tests, every_block_is_what_its_equation_says);
    tcase_add_test(tests, blocks_of_spherical_joints_are_linear_answers);
    tcase_add_test(tests, forces_of_the_environment_and_of_the_base_are_those_of_others);
    tcase_add_test(tests, every_block_of_the_list_has_a_comparison_and_a_description);
    tcase_set_timeout(tests, 60);
    return run_properties("formulation_list", tests);
}
