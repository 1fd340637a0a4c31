/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The constraint force algorithm: the forces that the joints transmit without work are solved for first.
 *
 *     [ I   T ] [   a   ]   [ f_a - v x I v ]                        eq. 27
 *     [ T'  0 ] [ -beta ] = [    T' a_0     ]
 *     T' I^-1 T beta = T' a_0 - T' I^-1 (f_a - v x I v)              eq. 28
 *
 * T_i, a basis of the wrenches that do no work in joint i, acts on link i and, opposite, on the link before. In a
 * serial chain the matrix of eq. 28 therefore is block-tridiagonal, with
 *     A_ii = T_i' (I_i^-1 + I_i-1^-1) T_i      A_i,i+1 = -T_i' I_i^-1 T_i+1
 * Cyclic reduction solves it: each level eliminates every other joint that is left, independently of each other, so
 * that N processors need O(log N) steps. Then each link and joint by itself:
 *     a_i = I_i^-1 (f_a,i + T_i beta_i - T_i+1 beta_i+1 - v_i x I_i v_i)
 *     ddq_i = e_i' (a_i - a_i-1 - dh_i/dt dq_i)
 * The columns e_i are the wrenches of unit joint forces, e_i' h_i = 1: f_a,i = e_i tau_i - e_i+1 tau_i+1.
 *
 * Vectors are in the axes of the world, about its origin. Gravity is the acceleration -g of the base. Every link needs
 * an inertia that is not singular.
 *
 * Source: Featherstone and Orin 2000, section 3.5; Fijany, Sharf and D'Eleuterio 1995.
 */
#include "formulation.h"
#include "linear.h"
#include "matrix.h"
#include "world_links.h"

/* Joint i of the chain with link i, and its row of eq. 28 as cyclic reduction changes it. */
typedef struct constraint_joint {
    int rows;                /* number of constraints: 6 - nv */
    force T[6], e[6];        /* wrenches of constraints, and of unit joint forces */
    real I[36], factors[36]; /* inertia of link i and its factors */
    real A[36];              /* diagonal block */
    /* Blocks that couple the joint with its neighbours: rows x rows of theirs, with 6 numbers a row. */
    real left[36], right[36];
    real beta[6]; /* right-hand side, then the solution */
    motion free;  /* I^-1 (f_a - v x I v) of link i */
    motion a;
} constraint_joint;

typedef struct arrays {
    constraint_joint *joints;
    const world_link *links;
    real *tau, *beta, *T,
        *A; /* of the blocks: forces, all beta, wrenches T and diagonal blocks A, 6 x 6 for each joint */
    motion *a;
    force *f;
} arrays;

static arrays take(const mechanism *m, const real *v, scratch *s) {
    arrays x;
    size_t count = (size_t)m->count;
    x.joints = (constraint_joint *)scratch_take(s, count, sizeof(constraint_joint));
    x.tau = scratch_reals(s, (size_t)m->nv), x.beta = scratch_reals(s, 6 * count);
    x.T = scratch_reals(s, 36 * count), x.A = scratch_reals(s, 36 * count);
    x.a = (motion *)scratch_take(s, count, sizeof(motion));
    x.f = (force *)scratch_take(s, count, sizeof(force));
    x.links = KERNEL(world_links)(m, v, s);
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, NULL, s);
}

/* Returns the unit wrench along one axis. */
static force axis_force(spatial_axis axis) {
    motion m = axis_motion(axis);
    return force_set(m.w, m.v);
}

/* Sets e and T of joint i, whose frame has the placement X. In this frame they are the coordinate axes that the joint's
 * motion selects and those that it does not select; the wrenches of a helical joint do no work if n_z = -pitch f_z. */
static void set_bases(const mechanism *m, int i, placement X, constraint_joint *j) {
    const body *b = m->links[i].b;
    int selected[6] = {0, 0, 0, 0, 0, 0};
    j->rows = 0;
    for (int k = 0; k < b->nv; k++) {
        spatial_axis axis = motion_axes(b->motion)[k];
        selected[axis] = 1;
        j->e[k] = force_to_parent(X, axis_force(axis));
    }
    for (int axis = AXIS_WX; axis <= AXIS_VZ; axis++) {
        if (!selected[axis]) {
            force f = axis_force((spatial_axis)axis);
            if (b->motion == MOTION_HELICAL && axis == AXIS_VZ) {
                f.n.z = real_set(-b->pitch);
            }
            j->T[j->rows++] = force_to_parent(X, f);
        }
    }
}

/* Returns I^-1 f of link i. */
static motion accelerate(const constraint_joint *j, force f) {
    real x[6];
    matrix column = matrix_of(x, 6, 1);
    KERNEL(matrix_set_force)(column, f);
    KERNEL(solve_symmetric)(6, j->factors, x);
    return KERNEL(matrix_motion)(column);
}

/* Sets the inertia of link i, its factors, and the acceleration that the link would have without constraint forces. */
static void set_link(const mechanism *m, const arrays *x, int i, const real *tau) {
    const world_link *l = &x->links[i];
    constraint_joint *j = &x->joints[i];
    force f = force_scale(real_set(-1), l->p);
    for (int k = 0; k < l->nv; k++) {
        f = force_fma(tau[l->v_index + k], j->e[k], f);
    }
    for (int k = 0; i + 1 < m->count && k < x->links[i + 1].nv; k++) {
        f = force_fma(-tau[x->links[i + 1].v_index + k], x->joints[i + 1].e[k], f);
    }
    KERNEL(matrix_set_inertia)(matrix_of(j->I, 6, 6), articulated_from_rigid(l->I));
    for (int k = 0; k < 36; k++) {
        j->factors[k] = j->I[k];
    }
    KERNEL(factorize_symmetric)(6, j->factors);
    j->free = accelerate(j, f);
}

/* Sets the blocks of joint i in eq. 28, and its right-hand side T' (c + a_base) - T' (I^-1 f of link i less that of the
 * link before). */
static void set_equation(const mechanism *m, const arrays *x, int i) {
    constraint_joint *j = &x->joints[i], *before = j - 1, *next = j + 1;
    motion base = KERNEL(base_acceleration)(m);
    motion known = motion_add(x->links[i].c, i > 0 ? before->free : base);
    known = motion_fma(real_set(-1), j->free, known);
    for (int c = 0; c < j->rows; c++) {
        motion response = accelerate(j, j->T[c]);
        for (int r = 0; i + 1 < m->count && r < next->rows; r++) {
            j->right[6 * c + r] = -spatial_dot(response, next->T[r]);
            next->left[6 * r + c] = j->right[6 * c + r];
        }
        if (i > 0) {
            response = motion_add(response, accelerate(before, j->T[c]));
        }
        for (int r = 0; r < j->rows; r++) {
            j->A[r * j->rows + c] = spatial_dot(response, j->T[r]);
        }
        j->beta[c] = spatial_dot(known, j->T[c]);
    }
}

/* Computes Y = A^-1 B for the columns of a block of joint j, from the factors of A. B and Y have 6 numbers a row. */
static void solve_block(const constraint_joint *j, const real *B, int columns, real *Y) {
    real x[6];
    for (int c = 0; c < columns; c++) {
        for (int r = 0; r < j->rows; r++) {
            x[r] = B[6 * r + c];
        }
        KERNEL(solve_symmetric)(j->rows, j->A, x);
        for (int r = 0; r < j->rows; r++) {
            Y[6 * r + c] = x[r];
        }
    }
}

/* Returns an entry of another joint's block less the entry of C' Y, where C and Y are columns c and k of blocks of
 * joint j. */
static real reduced(const constraint_joint *j, const real *C, int c, const real *Y, int k, real entry) {
    for (int r = 0; r < j->rows; r++) {
        entry = entry - C[6 * r + c] * Y[6 * r + k];
    }
    return entry;
}

/* Eliminates joint j from the equation of a neighbour, which `block` couples with it: A -= B' A_j^-1 B, and the
 * right-hand side accordingly. */
static void reduce_neighbour(const constraint_joint *j, const real *block, constraint_joint *neighbour) {
    real Y[36];
    solve_block(j, block, neighbour->rows, Y);
    for (int r = 0; r < neighbour->rows; r++) {
        for (int c = 0; c < neighbour->rows; c++) {
            real *entry = &neighbour->A[r * neighbour->rows + c];
            *entry = reduced(j, block, r, Y, c, *entry);
        }
    }
    for (int r = 0; r < neighbour->rows; r++) {
        for (int k = 0; k < j->rows; k++) {
            neighbour->beta[r] = neighbour->beta[r] - Y[6 * k + r] * j->beta[k];
        }
    }
}

/* Couples the two neighbours of an eliminated joint: A_lr = -A_lj A_jj^-1 A_jr. */
static void couple_neighbours(const constraint_joint *j, constraint_joint *before, constraint_joint *next) {
    real Y[36];
    solve_block(j, j->right, next->rows, Y);
    for (int r = 0; r < before->rows; r++) {
        for (int c = 0; c < next->rows; c++) {
            before->right[6 * r + c] = reduced(j, j->left, r, Y, c, real_set(0));
            next->left[6 * c + r] = before->right[6 * r + c];
        }
    }
}

/* Subtracts the part of a neighbour, whose beta is known, from the right-hand side of joint j. */
static void substitute(constraint_joint *j, const real *block, const constraint_joint *neighbour) {
    for (int r = 0; r < j->rows; r++) {
        for (int c = 0; c < neighbour->rows; c++) {
            j->beta[r] = j->beta[r] - block[6 * r + c] * neighbour->beta[c];
        }
    }
}

/* Solves eq. 28 by cyclic reduction. At each level joints 0, step, 2 step .. are left, and those at odd multiples of
 * step are eliminated. */
static void reduce_cyclically(constraint_joint *joints, int count) {
    int step = 1;
    for (; step < count; step *= 2) {
        for (int i = step; i < count; i += 2 * step) {
            constraint_joint *j = &joints[i];
            KERNEL(factorize_symmetric)(j->rows, j->A);
            reduce_neighbour(j, j->left, &joints[i - step]);
            if (i + step < count) {
                reduce_neighbour(j, j->right, &joints[i + step]);
                couple_neighbours(j, &joints[i - step], &joints[i + step]);
            }
        }
    }
    if (count > 0) {
        KERNEL(factorize_symmetric)(joints[0].rows, joints[0].A);
        KERNEL(solve_symmetric)(joints[0].rows, joints[0].A, joints[0].beta);
    }
    for (step /= 2; step > 0; step /= 2) {
        for (int i = step; i < count; i += 2 * step) {
            constraint_joint *j = &joints[i];
            substitute(j, j->left, &joints[i - step]);
            if (i + step < count) {
                substitute(j, j->right, &joints[i + step]);
            }
            KERNEL(solve_symmetric)(j->rows, j->A, j->beta);
        }
    }
}

static void set_equations(const mechanism *m, const arrays *x, const real *tau) {
    for (int i = 0; i < m->count; i++) {
        set_bases(m, i, x->links[i].X, &x->joints[i]);
    }
    for (int i = 0; i < m->count; i++) {
        set_link(m, x, i, tau);
    }
    for (int i = 0; i < m->count; i++) {
        set_equation(m, x, i);
    }
}

/* Computes the accelerations of all links, and of the joints, from beta. */
static void accelerate_links(const mechanism *m, const arrays *x, real *a) {
    for (int i = 0; i < m->count; i++) {
        constraint_joint *j = &x->joints[i];
        force f = force_zero();
        for (int c = 0; c < j->rows; c++) {
            f = force_fma(j->beta[c], j->T[c], f);
        }
        for (int c = 0; i + 1 < m->count && c < j[1].rows; c++) {
            f = force_fma(-j[1].beta[c], j[1].T[c], f);
        }
        j->a = motion_add(j->free, accelerate(j, f));
        motion before = i > 0 ? j[-1].a : KERNEL(base_acceleration)(m);
        motion relative = motion_fma(real_set(-1), motion_add(before, x->links[i].c), j->a);
        for (int k = 0; k < x->links[i].nv; k++) {
            a[x->links[i].v_index + k] = spatial_dot(relative, j->e[k]);
        }
    }
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    arrays x = take(m, v, s);
    set_equations(m, &x, tau);
    reduce_cyclically(x.joints, m->count);
    accelerate_links(m, &x, a);
}

/* Stores T of all joints and A as matrices of six columns, of which each joint uses its first 6 - nv. */
static void store_blocks(const mechanism *m, const arrays *x) {
    real_clear(x->T, 36 * m->count), real_clear(x->A, 36 * m->count), real_clear(x->beta, 6 * m->count);
    for (int i = 0; i < m->count; i++) {
        const constraint_joint *j = &x->joints[i];
        matrix T = matrix_of(x->T + 36 * i, 6, 6);
        for (int c = 0; c < j->rows; c++) {
            KERNEL(matrix_set_force)(matrix_block(T, 0, c, 6, 1), j->T[c]);
            for (int r = 0; r < j->rows; r++) {
                x->A[36 * i + 6 * r + c] = j->A[r * j->rows + c];
            }
        }
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, v, s);
    int n = m->count;
    real_clear(x.tau, m->nv);
    KERNEL(world_newton_euler)(m, x.links, a, x.a, x.f, x.tau);
    set_equations(m, &x, x.tau);
    store_blocks(m, &x);
    reduce_cyclically(x.joints, n);
    for (int i = 0; i < n; i++) {
        x.f[i] = force_zero();
        for (int c = 0; c < x.joints[i].rows; c++) {
            x.beta[6 * i + c] = x.joints[i].beta[c];
            x.f[i] = force_fma(x.joints[i].beta[c], x.joints[i].T[c], x.f[i]);
        }
    }
    KERNEL(add_block)
    (blocks, "T", "wrenches without work in each joint, columns, world axes", block_of(n, 6, 6, 0), x.T);
    KERNEL(add_block)(blocks, "A", "diagonal blocks of T' I^-1 T, padded by zeros", block_of(n, 6, 6, 0), x.A);
    KERNEL(add_block)
    (blocks, "beta", "components of the constraint forces, padded by zeros", block_of(n, 6, 0, 0), x.beta);
    KERNEL(add_block)(blocks, "f_c", "constraint wrench (n; f) of each joint", block_of(n, 2, 3, 0), x.f);
}

const formulation KERNEL(constraint_force) = {
    {"constraint_force", "Featherstone and Orin 2000, equation 28; Fijany, Sharf and D'Eleuterio 1995",
     DYN_FORMULATION_NEED_SERIAL_CHAIN | DYN_FORMULATION_NEED_INDEPENDENT | DYN_FORMULATION_NEED_REGULAR_INERTIAS, 1000,
     false, true, false, true},
    reserve,
    NULL,
    forward,
    NULL,
    coefficients,
};
