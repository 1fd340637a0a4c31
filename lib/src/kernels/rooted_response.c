/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics of a floating robot one of whose bodies is tied to the world, such as a foot on the ground, by the
 * multipliers of the rows, with that body as the root of the articulated bodies.
 *
 * No joint connects the root of a floating robot with the world, so that any body may be the root. Between the root of
 * the model and the body that is held, each joint is passed against its direction: with -q'', -tau and -c in the place
 * of q'', tau and c, the parent is the child of its joint,
 *
 *     a_p = a_i - c - S q''        U = I S        D = S' U        W = U D^-1        u = D^-1 (-tau - S' p)
 *     I_a = I - U W'               p_a = p + U u - I_a c          -q'' = u - W' (a_i - c)
 *
 * with I and p of the parent's side in the frame of body i. The body that is held then carries all others: I and p are
 * those of the whole robot there, and its rows w are wrenches on it,
 *
 *     I a = w lambda - p        w' a = k        (w' I^-1 w) lambda = k + w' I^-1 p
 *
 * so that A M^-1 A' = w' I^-1 w, without propagating a row, and without eliminating the six coordinates of the floating
 * joint. Factors I = L D L' yield both. A weld has six independent rows, the axes of the frame of its predecessor: k
 * alone is the acceleration of the body there, and lambda the wrench I a + p in that frame, without any factors.
 *
 * Sources: Featherstone 2008, section 9.3 (floating bases), table 7.1; Featherstone 2010, "Exploiting sparsity in
 * operational-space dynamics" (inverse inertia at a body of a floating robot).
 */
#include "rooted_response.h"
#include "closure_sides.h"

enum { SIDES = 6 };

/* Scratch memory of both calls. */
typedef struct rooted_sweep {
    int is_rooted; /* true (constrained_response.c) */
    int is_rigid;  /* a weld alone holds the body */
    int last;      /* index in `path` of the body that is held */
    aba_tree tree;
    int *path;              /* bodies from the root to the one that is held */
    unsigned char *is_kept; /* of each body: it is on the path */
    real *L;                /* 6 x 6: unit lower factor of I; (n; f) in this order */
    real *inverse_D, *z;    /* 6; L^-1 p, 6 */
    real *Y;                /* m x 6: L^-1 w of each row */
    real *row;              /* m: row of L D of the response */
    motion a;               /* of a body that is held by a weld */
    real residual;          /* of its rows */
} rooted_sweep;

static size_t own_size(const dyn_model *model) {
    size_t m = (size_t)model->constraint_rows, bodies = (size_t)model->body_count;
    size_t small = sizeof(rooted_sweep) + bodies * (sizeof(int) + 1);
    return small / 64 * 64 + 64 + (SIDES * SIDES + 2 * SIDES + (SIDES + 1) * m) * sizeof(real) +
           bodies * sizeof(motion);
}

size_t KERNEL(rooted_response_memory)(const dyn_model *model) {
    return own_size(model) + KERNEL(aba_memory)(model);
}

/* Lays out the memory, finds the path to the body that is held, and computes the sines of the joints. *memory becomes
 * that of subtract_wrenches. */
static rooted_sweep *lay_out(const dyn_model *model, const real *q, int held, void **memory) {
    rooted_sweep *s = (rooted_sweep *)*memory;
    int bodies = model->body_count, m = model->constraint_rows;
    void *rest = (char *)*memory + own_size(model);
    motion *velocities = (motion *)rest - bodies;
    s->is_rooted = 1;
    s->row = (real *)velocities - m;
    s->Y = s->row - SIDES * m;
    s->z = s->Y - SIDES, s->inverse_D = s->z - SIDES;
    s->L = s->inverse_D - SIDES * SIDES;
    s->path = (int *)(s + 1);
    s->is_kept = (unsigned char *)(s->path + bodies);
    s->last = -1;
    for (int i = 0; i < bodies; i++) {
        s->is_kept[i] = 0;
    }
    for (int i = held; i >= 0; i = model->bodies[i].parent) {
        s->is_kept[i] = 1, s->last++;
    }
    for (int k = s->last, i = held; k >= 0; i = model->bodies[i].parent) {
        s->path[k--] = i;
    }
    *memory = rest;
    s->tree = lay_out_passes(model, q, memory);
    s->tree.velocities = velocities;
    s->tree.is_kept = s->is_kept;
    return s;
}

/* ---- Towards the body that is held ------------------------------------------------------------------------------- */

/* Replaces the velocity product of a joint by its negative. */
static inline void turn_back(const body *b, motion *c) {
    const real minus = real_set(-1);
    c->w.x = minus * c->w.x, c->w.y = minus * c->w.y;
    c->v.x = minus * c->v.x, c->v.y = minus * c->v.y;
    if (!b->hinge) {
        c->w.z = minus * c->w.z, c->v.z = minus * c->v.z;
    }
}

/* Eliminates the joints of the path, the one of the root first, and that between the root and the world never. I and p
 * become those of the robot at the body that is held. */
static void eliminate_path(const dyn_model *model, const rooted_sweep *s, const real *tau, real *pivots, real *u,
                           articulated_inertia *I, force *p) {
    const aba_tree *t = &s->tree;
    const int root = s->path[0];
    const real *base = tau + model->bodies[root].v_index;
    const force driven = force_set(vec3_set(base[3], base[4], base[5]), vec3_set(base[0], base[1], base[2]));
    *I = t->I[root], *p = force_sub(t->p[root], driven);
    for (int k = 1; k <= s->last; k++) {
        const int i = s->path[k];
        const body *b = &model->bodies[i];
        const force own = t->p[i];
        real backwards[6];
        const joint_elimination x = {backwards, NULL, pivots + b->v_index, u + b->v_index};
        for (int c = 0; c < b->nv; c++) {
            backwards[c] = real_set(0) - tau[b->v_index + c];
        }
        if (b->hinge) {
            *I = carry_back_through_hinge(hinge_at(b, t->turns, i), *I, p);
        } else {
            *I = articulated_to_child(t->X[i], *I);
            *p = wrench_in_body(t->X[i], *p);
        }
        turn_back(b, &t->c[i]);
        eliminate_joint(b, t, i, x, I, p);
        *I = articulated_add(*I, t->I[i]);
        *p = force_add(*p, own);
    }
}

/* Stores the diagonal of the robot's inertia as pivots of the floating joint: a robot without mass has none. */
static void store_pivots(articulated_inertia I, real *pivots) {
    pivots[0] = I.C.xx, pivots[1] = I.C.yy, pivots[2] = I.C.zz;
    pivots[3] = I.A.xx, pivots[4] = I.A.yy, pivots[5] = I.A.zz;
}

/* Computes the factors L and D of an inertia, and L^-1 p. Stores D in `pivots` too. */
static void factorize_inertia(const rooted_sweep *s, articulated_inertia I, force p, real *pivots) {
    real a[SIDES][SIDES] = {{I.A.xx},
                            {I.A.xy, I.A.yy},
                            {I.A.xz, I.A.yz, I.A.zz},
                            {I.B.xx, I.B.yx, I.B.zx, I.C.xx},
                            {I.B.xy, I.B.yy, I.B.zy, I.C.xy, I.C.yy},
                            {I.B.xz, I.B.yz, I.B.zz, I.C.xz, I.C.yz, I.C.zz}};
    real z[SIDES] = {p.n.x, p.n.y, p.n.z, p.f.x, p.f.y, p.f.z};
    for (int j = 0; j < SIDES; j++) {
        pivots[j] = a[j][j];
        s->inverse_D[j] = real_set(1) / a[j][j];
        s->z[j] = z[j];
        for (int i = j + 1; i < SIDES; i++) {
            real l = a[i][j] * s->inverse_D[j];
            for (int k = j + 1; k <= i; k++) {
                a[i][k] = real_fma(-l, a[k][j], a[i][k]);
            }
            z[i] = real_fma(-l, z[j], z[i]);
            s->L[i * SIDES + j] = l;
        }
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Computes L^-1 w of a wrench into y. */
static void reduce_wrench(const rooted_sweep *s, force w, real *y) {
    const real x[SIDES] = {w.n.x, w.n.y, w.n.z, w.f.x, w.f.y, w.f.z};
    for (int i = 0; i < SIDES; i++) {
        y[i] = x[i];
        for (int j = 0; j < i; j++) {
            y[i] = real_fma(-s->L[i * SIDES + j], y[j], y[i]);
        }
    }
}

/* Returns y' D^-1 x. */
static inline real weighted_product(const real *inverse_D, const real *y, const real *x) {
    real sum = real_set(0);
    for (int i = 0; i < SIDES; i++) {
        sum = real_fma(y[i] * inverse_D[i], x[i], sum);
    }
    return sum;
}

/* Computes L^-1 w of the rows of all closures, and what they miss without multipliers. */
static void find_rows(const dyn_model *model, const rooted_sweep *s, const double gravity[3],
                      const row_requirements *required, real *missing) {
    const real *constants = (const real *)required->required;
    for (int i = 0, row = 0; i < model->constraint_count; i++) {
        const closure *c = &model->closures[i];
        const moving_side P = find_side(model, &s->tree, c, 0), S = find_side(model, &s->tree, c, 1);
        force W[6];
        real k[6];
        closure_rows(c, P, S, gravity, required->gain, W, k);
        for (int r = 0; r < c->count; r++, row++) {
            force w = S.body < 0 ? force_scale(real_set(-1), wrench_in_body(P.of_body, W[r]))
                                 : wrench_in_body(S.of_body, W[r]);
            real *y = s->Y + row * SIDES, needed = constants ? k[r] + constants[row] : k[r];
            reduce_wrench(s, w, y);
            missing[row] = needed + weighted_product(s->inverse_D, y, s->z);
        }
    }
}

/* Returns true if a weld is the only closure. */
static int is_rigid(const dyn_model *model) {
    return model->constraint_count == 1 && model->closures[0].kind == CLOSURE_JOINT && model->closures[0].axes == 077;
}

/* Finds the acceleration of a body that is held by a weld, and the multipliers. I and p are those of the robot. */
static void hold(const dyn_model *model, rooted_sweep *s, const double gravity[3], const row_requirements *required,
                 articulated_inertia I, force p, const row_multipliers *out) {
    const real *constants = (const real *)required->required;
    const moving_side P = find_side(model, &s->tree, model->closures, 0);
    const moving_side S = find_side(model, &s->tree, model->closures, 1);
    const real sign = real_set(S.body < 0 ? -1 : 1);
    const placement X = S.body < 0 ? P.of_body : S.of_body;
    real *lambda = (real *)out->lambda, k[6];
    force W[6];
    closure_rows(model->closures, P, S, gravity, required->gain, W, k);
    for (int r = 0; r < 6; r++) {
        k[r] = sign * (constants ? k[r] + constants[r] : k[r]);
    }
    const motion needed = motion_set(vec3_set(k[0], k[1], k[2]), vec3_set(k[3], k[4], k[5]));
    s->a = motion_to_child(X, motion_to_parent(P.of_frame, needed));
    const force f = force_add(articulated_apply(I, s->a), p);
    const force held = force_scale(sign, wrench_in_body(P.of_frame, force_to_parent(X, f)));
    const motion rest = motion_fma(real_set(-1), needed, motion_to_child(P.of_frame, motion_to_parent(X, s->a)));
    const real rests[6] = {rest.w.x, rest.w.y, rest.w.z, rest.v.x, rest.v.y, rest.v.z};
    s->residual = real_set(0);
    for (int r = 0; r < 6; r++) {
        s->residual = real_larger(real_size(rests[r]), s->residual);
    }
    lambda[0] = held.n.x, lambda[1] = held.n.y, lambda[2] = held.n.z;
    lambda[3] = held.f.x, lambda[4] = held.f.y, lambda[5] = held.f.z;
    *(real *)out->regular = real_set(2);
}

/* Computes the response of the rows, and what they miss. */
static void respond(const dyn_model *model, const rooted_sweep *s, const double gravity[3],
                    const row_requirements *required, const row_multipliers *out) {
    const int m = required->rows->m;
    real *response = (real *)out->response;
    find_rows(model, s, gravity, required, (real *)out->missing);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++) {
            response[i * m + j] = weighted_product(s->inverse_D, s->Y + i * SIDES, s->Y + j * SIDES);
        }
    }
}

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

void KERNEL(rooted_response)(const dyn_model *model, void *memory, const packed_inputs *in,
                             const row_requirements *required, int held, void *pivots, void *u,
                             const row_multipliers *out) {
    const real *tau = (const real *)in->third;
    rooted_sweep *s = lay_out(model, (const real *)in->q, held, &memory);
    articulated_inertia I;
    force p;
    aba_tree t = s->tree;
    t.has_rotors = 0, t.is_resisted = 0;
    velocity_pass(model, (const real *)in->q, (const real *)in->v, &t);
    if (in->forces && in->forces->count > 0) {
        KERNEL(subtract_wrenches)(model, memory, (const real *)in->q, in->forces, t.p);
    }
    inertia_pass(model, tau, NULL, &t, (real *)pivots, (real *)u);
    real *of_root = (real *)pivots + model->bodies[s->path[0]].v_index;
    eliminate_path(model, s, tau, (real *)pivots, (real *)u, &I, &p);
    s->is_rigid = is_rigid(model);
    if (!s->is_rigid || required->needs_response) {
        factorize_inertia(s, I, p, of_root);
        respond(model, s, in->gravity, required, out);
    }
    if (s->is_rigid) {
        store_pivots(I, of_root);
        hold(model, s, in->gravity, required, I, p, out);
    } else {
        KERNEL(factorize_response)(required->rows->m, out->response, s->row, out->factors, out->regular);
        KERNEL(solve_response)(required->rows->m, out->factors, out->missing, out->regular, out->lambda);
    }
}

/* Returns the acceleration of the body that is held: I a = w lambda - p. */
static motion accelerate_held(const rooted_sweep *s, int m, const real *lambda) {
    real a[SIDES];
    for (int i = 0; i < SIDES; i++) {
        a[i] = real_set(0) - s->z[i];
        for (int r = 0; r < m; r++) {
            a[i] = real_fma(lambda[r], s->Y[r * SIDES + i], a[i]);
        }
        a[i] = a[i] * s->inverse_D[i];
    }
    for (int i = SIDES - 1; i >= 0; i--) {
        for (int j = i + 1; j < SIDES; j++) {
            a[i] = real_fma(-s->L[j * SIDES + i], a[j], a[i]);
        }
    }
    return motion_set(vec3_set(a[0], a[1], a[2]), vec3_set(a[3], a[4], a[5]));
}

/* Replaces u of a joint of the path by its acceleration. Returns that of its parent, from that of its body. */
static motion accelerate_parent(const body *b, const aba_tree *t, int i, motion x, real *u) {
    if (b->motion == MOTION_REVOLUTE) {
        x = accelerate_revolute(&t->c[i], &t->p[i], x, u);
    } else {
        x = motion_add(x, t->c[i]);
        for (int k = 0; k < b->nv; k++) {
            u[k] = u[k] - spatial_dot(x, *W_at(t, i, b->v_index, k));
            x = motion_fma(u[k], joint_column(b, b->motion, k), x);
        }
    }
    for (int k = 0; k < b->nv; k++) {
        u[k] = real_set(0) - u[k];
    }
    return b->hinge ? hinge_motion_to_parent(hinge_at(b, t->turns, i), x) : motion_to_parent(t->X[i], x);
}

void KERNEL(rooted_acceleration)(const dyn_model *model, void *memory, const double gravity[3], int m,
                                 const row_multipliers *multipliers, void *residual, void *u) {
    const rooted_sweep *s = (const rooted_sweep *)memory;
    aba_tree t = s->tree;
    t.has_rotors = 0, t.is_resisted = 0;
    const int root = s->path[0];
    const vec3 upwards = vec3_sub(vec3_zero(), vec3_constant(gravity));
    real *a = (real *)u, *base = a + model->bodies[root].v_index;
    motion x = s->a;
    if (s->is_rigid) {
        *(real *)residual = s->residual;
    } else {
        KERNEL(response_residual)(multipliers, m, residual);
        x = accelerate_held(s, m, (const real *)multipliers->lambda);
    }
    for (int k = s->last; k > 0; k--) {
        const int i = s->path[k];
        t.forked[i] = x;
        x = accelerate_parent(&model->bodies[i], &t, i, x, a + model->bodies[i].v_index);
    }
    t.forked[root] = x;
    x.v = vec3_sub(x.v, mat3_apply_transposed(t.X[root].R, upwards));
    base[0] = x.v.x, base[1] = x.v.y, base[2] = x.v.z;
    base[3] = x.w.x, base[4] = x.w.y, base[5] = x.w.z;
    acceleration_pass(model, gravity, &t, a);
}
