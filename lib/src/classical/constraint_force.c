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
 * that N processors need O(log N) steps (constraint_levels.h). Then each link and joint by itself:
 *     a_i = I_i^-1 (f_a,i + T_i beta_i - T_i+1 beta_i+1 - v_i x I_i v_i)
 *     ddq_i = e_i' (a_i - a_i-1 - dh_i/dt dq_i)
 * The columns e_i are the wrenches of unit joint forces, e_i' h_i = 1: f_a,i = e_i tau_i - e_i+1 tau_i+1.
 *
 * Vectors are in the axes of the world, about its origin. Gravity is the acceleration -g of the base. Every link needs
 * an inertia that is not singular.
 *
 * Source: Featherstone and Orin 2000, section 3.5; Fijany, Sharf and D'Eleuterio 1995.
 */
#include "constraint_levels.h"
#include "formulation.h"
#include "matrix.h"
#include "world_links.h"

/* Joint of the chain: wrenches of its constraints, 6 - nv of them, and of its unit forces. */
typedef struct constraint_joint {
    force T[6], e[6];
} constraint_joint;

/* Arrays of a call. Those of the blocks are all beta, the wrenches T and the diagonal blocks A, 6 x 6 each. */
typedef struct arrays {
    constraint_joint *joints;
    const world_link *links;
    const constraint_lanes *by;
    constraint_chain chain;
    real *tau, *beta, *T, *A;
    motion *a;
    force *f;
} arrays;

/* Returns the largest number of constraints of a joint. */
static int count_rows(const mechanism *m) {
    int least = 6;
    for (int i = 0; i < m->model->body_count; i++) {
        int nv = m->model->bodies[i].nv;
        least = nv < least ? nv : least;
    }
    return 6 - least;
}

static arrays take(const mechanism *m, const real *v, scratch *s) {
    arrays x;
    size_t count = (size_t)m->count;
    x.by = m->lanes ? m->lanes : &KERNEL(constraint_lanes);
    x.joints = (constraint_joint *)scratch_take(s, count, sizeof(constraint_joint));
    x.chain = constraint_chain_take(m->count, count_rows(m), x.by->lanes, s);
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

/* Sets e and T of a custom joint with the column S in the frame X: e = S / S'S, and T are the last five rows of the
 * reflection that turns S to the first axis, 1 - 2 u u' / u'u with u = S + sign(S_1) |S| (1, 0, 0, 0, 0, 0). */
static void set_custom_bases(motion S, placement X, constraint_joint *j) {
    real one = real_set(1), u[6] = {S.w.x, S.w.y, S.w.z, S.v.x, S.v.y, S.v.z};
    real square = spatial_dot(S, force_set(S.w, S.v)), length = real_sqrt(square);
    u[0] = u[0] + real_where_positive(u[0], length, -length);
    real half = square + length * real_where_positive(S.w.x, S.w.x, -S.w.x);
    force reflected = force_set(vec3_set(u[0], u[1], u[2]), vec3_set(u[3], u[4], u[5]));
    j->e[0] = force_to_parent(X, force_scale(one / square, force_set(S.w, S.v)));
    for (int axis = 1; axis < 6; axis++) {
        force row = force_fma(-u[axis] / half, reflected, axis_force((spatial_axis)axis));
        j->T[axis - 1] = force_to_parent(X, row);
    }
}

/* Sets e and T of joint i, whose frame has the placement X. In this frame they are the coordinate axes that the joint's
 * motion selects, e divided by its ratio, and those that it does not select; the wrenches of a helical joint do no work
 * if n_z = -pitch f_z. */
static void set_bases(const body *b, placement X, constraint_joint *j) {
    int selected[6] = {0, 0, 0, 0, 0, 0}, rows = 0;
    for (int k = 0; k < b->nv; k++) {
        spatial_axis axis = motion_axes(b->motion)[k];
        selected[axis] = 1;
        j->e[k] = force_to_parent(X, axis_force(axis));
        j->e[k] = b->ratio != 1 ? force_scale(real_set(1 / b->ratio), j->e[k]) : j->e[k];
    }
    for (int axis = AXIS_WX; axis <= AXIS_VZ; axis++) {
        if (!selected[axis]) {
            force f = axis_force((spatial_axis)axis);
            if (b->motion == MOTION_HELICAL && axis == AXIS_VZ) {
                f.n.z = real_set(-b->pitch);
            }
            j->T[rows++] = force_to_parent(X, f);
        }
    }
}

/* Returns the wrench on link i without constraint forces: of the joints' forces, less v x I v. */
static force free_wrench(const mechanism *m, const arrays *x, int i, const real *tau) {
    const world_link *l = &x->links[i];
    force f = force_scale(real_set(-1), l->p);
    for (int k = 0; k < l->nv; k++) {
        f = force_fma(tau[l->v_index + k], x->joints[i].e[k], f);
    }
    for (int k = 0; i + 1 < m->count && k < x->links[i + 1].nv; k++) {
        f = force_fma(-tau[x->links[i + 1].v_index + k], x->joints[i + 1].e[k], f);
    }
    return f;
}

/* Stores count numbers of link i from place `at` on. */
static void store_numbers(const arrays *x, int i, int at, int count, const real *numbers) {
    for (int k = 0; k < count; k++) {
        *lane_at(x->chain.links, x->by->lanes, link_numbers(x->chain.rows), i, at + k) = numbers[k];
    }
}

/* Stores the numbers of link i. The acceleration of the base is part of c of the first joint. */
static void store_link(const mechanism *m, const arrays *x, int i, const real *tau) {
    const world_link *l = &x->links[i];
    const rigid_inertia I = l->I;
    const force f = free_wrench(m, x, i, tau);
    const motion c = i > 0 ? l->c : motion_add(l->c, KERNEL(base_acceleration)(m));
    const real numbers[LINK_T] = {I.m,   I.h.x, I.h.y, I.h.z, I.I.xx, I.I.xy, I.I.xz, I.I.yy, I.I.yz, I.I.zz, f.n.x,
                                  f.n.y, f.n.z, f.f.x, f.f.y, f.f.z,  c.w.x,  c.w.y,  c.w.z,  c.v.x,  c.v.y,  c.v.z};
    store_numbers(x, i, 0, LINK_T, numbers);
    for (int r = 0; r < x->chain.rows; r++) {
        int exists = r < 6 - l->nv;
        const force T = exists ? x->joints[i].T[r] : force_zero();
        const real column[6] = {T.n.x, T.n.y, T.n.z, T.f.x, T.f.y, T.f.z}, one = real_set(!exists);
        store_numbers(x, i, LINK_T + 6 * r, 6, column);
        store_numbers(x, i, LINK_T + 6 * x->chain.rows + r, 1, &one);
    }
}

/* Stores the numbers of the joints that fill the last block: unit inertias without constraints. */
static void store_padding(const arrays *x) {
    int rows = x->chain.rows, lanes = x->by->lanes;
    for (int i = x->chain.count; i < x->chain.levels[0].blocks * lanes; i++) {
        for (int k = 0; k < link_numbers(rows); k++) {
            int is_one = k == LINK_MASS || k == LINK_INERTIA || k == LINK_INERTIA + 3 || k == LINK_INERTIA + 5 ||
                         k >= LINK_T + 6 * rows;
            *lane_at(x->chain.links, lanes, link_numbers(rows), i, k) = real_set(is_one);
        }
    }
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

/* Runs `part` over parts 0 .. count - 1, on several threads where the caller has them. */
static void run_parts(const mechanism *m, int count, void (*part)(void *argument, size_t first, size_t end),
                      void *argument) {
    if (m->spread && count > 1) {
        m->spread->run(m->spread->context, (size_t)count, part, argument);
    } else {
        part(argument, 0, (size_t)count);
    }
}

/* Input of store_links. */
typedef struct link_storage {
    const mechanism *m;
    const arrays *x;
    const real *tau;
} link_storage;

/* Joints of a part of store_links. */
enum { STORED_JOINTS = 8 };

static int last_joint(const mechanism *m, size_t end) {
    int last = (int)end * STORED_JOINTS;
    return last < m->count ? last : m->count;
}

static void set_bases_of_part(void *argument, size_t first, size_t end) {
    const link_storage *to = (const link_storage *)argument;
    for (int i = (int)first * STORED_JOINTS; i < last_joint(to->m, end); i++) {
        const mechanism_link *l = &to->m->links[i];
        if (l->is_custom) {
            set_custom_bases(l->S, to->x->links[i].X, &to->x->joints[i]);
            continue;
        }
        set_bases(l->b, to->x->links[i].X, &to->x->joints[i]);
    }
}

static void store_part(void *argument, size_t first, size_t end) {
    const link_storage *to = (const link_storage *)argument;
    for (int i = (int)first * STORED_JOINTS; i < last_joint(to->m, end); i++) {
        store_link(to->m, to->x, i, to->tau);
    }
}

static void store_links(const mechanism *m, const arrays *x, const real *tau) {
    link_storage to = {m, x, tau};
    int parts = (m->count + STORED_JOINTS - 1) / STORED_JOINTS;
    run_parts(m, parts, set_bases_of_part, &to);
    run_parts(m, parts, store_part, &to);
    store_padding(x);
}

/* Phase of a chain at one level. */
typedef struct phase {
    void (*run)(const constraint_chain *chain, int level, int first, int end);
    const constraint_chain *chain;
    int level;
} phase;

static void run_blocks(void *argument, size_t first, size_t end) {
    const phase *p = (const phase *)argument;
    p->run(p->chain, p->level, (int)first, (int)end);
}

/* Runs the phases from set_links to the solution of the last level. */
static void reduce(const mechanism *m, const arrays *x) {
    const constraint_chain *chain = &x->chain;
    phase links = {x->by->set_links, chain, 0};
    run_parts(m, chain->levels[0].blocks, run_blocks, &links);
    for (int l = 0; l + 1 < chain->level_count; l++) {
        phase level = {x->by->eliminate, chain, l};
        run_parts(m, chain->levels[l + 1].blocks, run_blocks, &level);
    }
    if (chain->count > 0) {
        x->by->solve_last(chain, chain->level_count - 1, 0, 1);
    }
}

static void substitute(const mechanism *m, const arrays *x) {
    const constraint_chain *chain = &x->chain;
    for (int l = chain->level_count - 2; l >= 0; l--) {
        phase level = {x->by->substitute, chain, l};
        run_parts(m, chain->levels[l + 1].blocks, run_blocks, &level);
    }
}

/* Returns the acceleration of link i. */
static motion link_acceleration(const arrays *x, int i) {
    real a[6];
    for (int k = 0; k < 6; k++) {
        a[k] = *lane_at(x->chain.a, x->by->lanes, 6, i, k);
    }
    return motion_set(vec3_set(a[0], a[1], a[2]), vec3_set(a[3], a[4], a[5]));
}

/* Computes the accelerations of all links from beta, and from them those of the joints. */
static void accelerate(const mechanism *m, const arrays *x, real *a) {
    phase links = {x->by->accelerate, &x->chain, 0};
    motion before = KERNEL(base_acceleration)(m);
    run_parts(m, x->chain.levels[0].blocks, run_blocks, &links);
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &x->links[i];
        motion after = link_acceleration(x, i);
        motion relative = motion_fma(real_set(-1), motion_add(before, l->c), after);
        for (int k = 0; k < l->nv; k++) {
            a[l->v_index + k] = spatial_dot(relative, x->joints[i].e[k]);
        }
        before = after;
    }
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    arrays x = take(m, v, s);
    store_links(m, &x, tau);
    reduce(m, &x);
    substitute(m, &x);
    accelerate(m, &x, a);
}

/* ---- inner quantities -------------------------------------------------------------------------------------------- */

/* Returns entry (r, c), r >= c, of the diagonal block A of joint i: its own part and that of the link before. */
static real diagonal_entry(const arrays *x, int i, int r, int c) {
    int rows = x->chain.rows, numbers = equation_numbers(rows), k = r * (r + 1) / 2 + c;
    lane_number *equations = x->chain.levels[0].equations;
    real A = *lane_at(equations, x->by->lanes, numbers, i, k);
    return i > 0 ? A + *lane_at(equations, x->by->lanes, numbers, i - 1, rows * (rows + 1) / 2 + rows + k) : A;
}

/* Stores T of all joints and A as matrices of six columns, of which each joint uses its first 6 - nv, beta, and the
 * wrenches of the constraints. */
static void store_blocks(const mechanism *m, const arrays *x) {
    int rows = x->chain.rows;
    real_clear(x->T, 36 * m->count), real_clear(x->A, 36 * m->count), real_clear(x->beta, 6 * m->count);
    for (int i = 0; i < m->count; i++) {
        const constraint_joint *j = &x->joints[i];
        matrix T = matrix_of(x->T + 36 * i, 6, 6), A = matrix_of(x->A + 36 * i, 6, 6);
        x->f[i] = force_zero();
        for (int c = 0; c < 6 - x->links[i].nv; c++) {
            real beta = *lane_at(x->chain.levels[0].beta, x->by->lanes, rows, i, c);
            x->beta[6 * i + c] = beta;
            x->f[i] = force_fma(beta, j->T[c], x->f[i]);
            KERNEL(matrix_set_force)(matrix_block(T, 0, c, 6, 1), j->T[c]);
            for (int r = c; r < 6 - x->links[i].nv; r++) {
                *matrix_at(A, r, c) = *matrix_at(A, c, r) = diagonal_entry(x, i, r, c);
            }
        }
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, v, s);
    int n = m->count;
    real_clear(x.tau, m->nv);
    KERNEL(world_newton_euler)(m, x.links, a, x.a, x.f, x.tau);
    store_links(m, &x, x.tau);
    reduce(m, &x);
    substitute(m, &x);
    store_blocks(m, &x);
    KERNEL(add_block)
    (blocks, "T", block_of(n, 6, 6, 0), x.T);
    KERNEL(add_block)(blocks, "A", block_of(n, 6, 6, 0), x.A);
    KERNEL(add_block)
    (blocks, "beta", block_of(n, 6, 0, 0), x.beta);
    KERNEL(add_block)(blocks, "f_c", block_of(n, 2, 3, 0), x.f);
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
