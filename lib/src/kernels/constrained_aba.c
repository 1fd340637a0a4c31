/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constrained articulated bodies: a and lambda of
 *
 *     M a + h = tau + A' lambda        A a = c
 *
 * where a diagonal may be added to M, by the proximal iteration, in time linear in bodies and rows:
 *
 *     (M + A' A / mu) a_0 = tau - h + A' c / mu              lambda_0 = (c - A a_0) / mu
 *     (M + A' A / mu) d = tau - h - M a_k + A' (lambda_k + (c - A a_k) / mu)
 *     a_k+1 = a_k + d                                        lambda_k+1 = lambda_k + (c - A a_k+1) / mu
 *
 * It is Gauss' principle of least constraint with a penalty for the rows. A row acts on bodies: A_r a - c_r =
 * sum of w_i' a_i - k_r over the bodies i, where a_i is a spatial acceleration and the wrench w_i is in the axes of the
 * body. Therefore w_i w_i' / mu adds to the inertia of body i, and w_i w_j' / mu couples bodies i and j:
 *
 *     f_i = I_i a_i + sum over j of H_ij a_j + p_i
 *
 * The articulated-body algorithm eliminates one axis after the other, the last one first:
 *
 *     U_i = I_i S        U_j = H_ji S        D = S' U_i        u = D^-1 (tau - S' p_i)
 *     I_j -= U_j D^-1 U_j'        H_jk -= U_j D^-1 U_k'        p_j += U_j u
 *
 * for i and all j, k that are coupled with i,
 *
 * then a_i = X a_parent + c_i, with which I_i, H_ij and p_i go to the parent. A coupling of a body with its parent
 * becomes part of the parent's inertia. The sum tau - h - M a_k + A' lambda_k is zero up to rounding; with it, the
 * iteration removes the rounding errors of inertias beside a large penalty. Rows may depend on each other: the
 * iteration converges for all c in the range of A, and lambda is that of least norm.
 *
 * Sources: Sathya and Carpentier 2024, "Constrained articulated body dynamics algorithms" (proximal iteration, linear
 * cost), and 2026, "Constrained articulated body algorithms for closed-loop mechanisms" (couplings of loops);
 * Vereshchagin 1974 and Popov, Vereshchagin and Zenkevich 1978 (Gauss' principle by dynamic programming); Featherstone
 * 2008, table 7.1.
 */
#include "closure.h"
#include "spatial_matrix.h"

enum { AXES = 6 };

/* Factors of one axis. */
typedef struct held_axis {
    force W; /* U / D */
    real inverse_D, u;
} held_axis;

/* Wrenches of one row on the bodies of its constraint. */
typedef struct held_row {
    force w[CLOSURE_BODIES];
    real k; /* required sum of w' a */
} held_row;

/* Scratch memory. */
typedef struct held_tree {
    const dyn_model *model;
    const body_couplings *couplings;
    held_row *rows;
    motion *v, *c, *a, *d;
    force *p, *bias; /* with, and without the rows */
    articulated_inertia *I;
    held_axis *axes;   /* by coordinate */
    spatial_matrix *H; /* by coupling */
    force *W;          /* U_j / D by coupling and axis */
    placement *X;
} held_tree;

static size_t held_size(const dyn_model *model, const body_couplings *couplings, int m) {
    size_t bodies = (size_t)model->body_count, nv = (size_t)model->nv, count = (size_t)couplings->count;
    return (size_t)m * sizeof(held_row) +
           bodies * (4 * sizeof(motion) + 2 * sizeof(force) + sizeof(articulated_inertia)) + nv * sizeof(held_axis) +
           count * (sizeof(spatial_matrix) + AXES * sizeof(force));
}

size_t KERNEL(constrained_aba_memory)(const dyn_model *model, const body_couplings *couplings, int m) {
    return held_size(model, couplings, m) + 2 * KERNEL(placements_memory)(model);
}

static held_tree lay_out(const dyn_model *model, const held_rows *rows, void *memory) {
    size_t bodies = (size_t)model->body_count, nv = (size_t)model->nv;
    held_tree t;
    t.model = model, t.couplings = rows->couplings;
    t.rows = (held_row *)memory;
    t.v = (motion *)(t.rows + rows->m);
    t.c = t.v + bodies, t.a = t.c + bodies, t.d = t.a + bodies;
    t.p = (force *)(t.d + bodies);
    t.bias = t.p + bodies;
    t.I = (articulated_inertia *)(t.bias + bodies);
    t.axes = (held_axis *)(t.I + bodies);
    t.H = (spatial_matrix *)(t.axes + nv);
    t.W = (force *)(t.H + rows->couplings->count);
    t.X = (placement *)((char *)memory + held_size(model, rows->couplings, rows->m));
    return t;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static moving_side find_side(const held_tree *t, const closure *c, int side) {
    closure_side s = side_of_closure(t->model, c, side);
    moving_side found;
    found.body = s.body;
    found.of_body = frame_in_world(t->model, t->X, s.body, placement_identity());
    found.of_frame = s.body < 0 ? s.in_body : placement_compose(found.of_body, s.in_body);
    found.V = s.body < 0 ? motion_zero() : motion_to_parent(found.of_body, t->v[s.body]);
    return found;
}

/* Computes the rows of a closure between two frames. */
static void hold_frames(const held_tree *t, const closure *c, const double gravity[3], double gain, held_row *rows) {
    moving_side P = find_side(t, c, 0), S = find_side(t, c, 1);
    force W[AXES];
    real k[AXES];
    closure_rows(c, P, S, gravity, gain, W, k);
    for (int r = 0; r < c->count; r++) {
        held_row *row = &rows[r];
        row->w[0] = force_scale(real_set(-1), wrench_in_body(P.of_body, W[r]));
        row->w[1] = wrench_in_body(S.of_body, W[r]);
        row->w[2] = row->w[3] = force_zero();
        row->k = k[r];
    }
}

/* Computes the row of a linear equation between coordinates. The acceleration of a coordinate of body i is
 * S' (a_i - X a_parent) / S' S. */
static void hold_coordinates(const held_tree *t, const closure *c, const real *v, const double gravity[3], double gain,
                             held_row *row) {
    const int *bodies = t->couplings->bodies[c - t->model->closures];
    motion a_0 = motion_set(vec3_zero(), vec3_sub(vec3_zero(), vec3_constant(gravity)));
    row->k = real_set(0);
    for (int k = 0; k < CLOSURE_BODIES; k++) {
        row->w[k] = force_zero();
    }
    for (int k = 0; k < c->coordinate_count; k++) {
        const body *b = &t->model->bodies[bodies[2 * k]];
        motion S = joint_column(b, b->motion, 0);
        force along = force_set(S.w, S.v);
        force w = force_scale(real_set(c->coefficients[k]) / spatial_dot(S, along), along);
        row->w[2 * k] = w;
        row->w[2 * k + 1] = force_scale(real_set(-1), force_to_parent(t->X[bodies[2 * k]], w));
        row->k = real_fma(real_set(-gain * c->coefficients[k]), v[c->v_index[k]], row->k);
        if (b->parent < 0) {
            row->k = row->k - spatial_dot(a_0, row->w[2 * k + 1]);
        }
    }
}

/* Returns the address of the coupling of bodies i > j. */
static inline spatial_matrix *coupling_of(const held_tree *t, int i, int j) {
    int c = t->couplings->first[i];
    while (t->couplings->with[c] != j) {
        c++;
    }
    return &t->H[c];
}

/* Adds a b' to a coupling, which maps the motion that b belongs to. */
static inline void add_product(spatial_matrix *H, force a, force b) {
    const real x[SPATIAL_COLUMNS] = {b.n.x, b.n.y, b.n.z, b.f.x, b.f.y, b.f.z};
    for (int k = 0; k < SPATIAL_COLUMNS; k++) {
        H->column[k] = force_fma(x[k], a, H->column[k]);
    }
}

/* Adds a b' to H_ij, or b a' to H_ji. */
static inline void couple(const held_tree *t, int i, force a, int j, force b) {
    if (i > j) {
        add_product(coupling_of(t, i, j), a, b);
    } else {
        add_product(coupling_of(t, j, i), b, a);
    }
}

/* Adds the penalty of a row to the inertias, couplings and wrenches of its bodies. */
static void penalize(const held_tree *t, const int *bodies, double penalty, const held_row *row) {
    for (int e = 0; e < CLOSURE_BODIES; e++) {
        if (bodies[e] < 0) {
            continue;
        }
        force w = force_scale(real_set(penalty), row->w[e]);
        t->I[bodies[e]] = articulated_downdate(t->I[bodies[e]], force_scale(real_set(-1), w), row->w[e]);
        t->p[bodies[e]] = force_fma(real_set(0) - row->k, w, t->p[bodies[e]]);
        for (int f = 0; f < e; f++) {
            if (bodies[f] >= 0) {
                couple(t, bodies[e], w, bodies[f], row->w[f]);
            }
        }
    }
}

/* Adds the wrenches on the same body, so that each body occurs once. `bodies` receives the bodies. */
static void merge_bodies(const int *from, int count, held_row *rows, int *bodies) {
    for (int e = 0; e < CLOSURE_BODIES; e++) {
        bodies[e] = from[e];
        for (int f = 0; f < e && bodies[e] >= 0; f++) {
            if (bodies[f] == bodies[e]) {
                for (int r = 0; r < count; r++) {
                    rows[r].w[f] = force_add(rows[r].w[f], rows[r].w[e]);
                }
                bodies[e] = -1;
            }
        }
        for (int r = 0; r < count && bodies[e] < 0; r++) {
            rows[r].w[e] = force_zero();
        }
    }
}

/* Computes all rows and their penalties. */
static void hold_rows(const held_tree *t, const packed_inputs *in, const held_rows *rows) {
    const real *errors = (const real *)rows->errors;
    held_row *row = t->rows;
    for (int i = 0; i < t->model->constraint_count; i++) {
        const closure *c = &t->model->closures[i];
        int bodies[CLOSURE_BODIES];
        if (c->kind == CLOSURE_COUPLING) {
            hold_coordinates(t, c, (const real *)in->v, in->gravity, rows->gain, row);
        } else {
            hold_frames(t, c, in->gravity, rows->gain, row);
        }
        merge_bodies(t->couplings->bodies[i], c->count, row, bodies);
        for (int r = 0; r < c->count; r++, row++) {
            if (errors) {
                row->k = row->k - errors[row - t->rows];
            }
            penalize(t, bodies, rows->penalty, row);
        }
    }
}

/* ---- Elimination ------------------------------------------------------------------------------------------------- */

/* Computes velocities, velocity products, and the wrenches and inertias of the bodies alone. */
static void velocity_pass(const held_tree *t, const packed_inputs *in) {
    const real *v = (const real *)in->v;
    for (int i = 0; i < t->model->body_count; i++) {
        const body *b = &t->model->bodies[i];
        motion vJ = joint_motion(b, b->motion, v + b->v_index);
        t->v[i] = b->parent < 0 ? vJ : motion_add(motion_to_child(t->X[i], t->v[b->parent]), vJ);
        t->c[i] = motion_cross(t->v[i], vJ);
        rigid_inertia I = body_inertia(b);
        t->p[i] = force_cross(t->v[i], rigid_inertia_apply(I, t->v[i]));
        t->I[i] = articulated_from_rigid(I);
    }
    for (int c = 0; c < t->couplings->count; c++) {
        for (int k = 0; k < SPATIAL_COLUMNS; k++) {
            t->H[c].column[k] = force_zero();
        }
    }
}

/* Eliminates axis k of body i, whose inertia along the axis has `added` in addition. Returns D. */
static real eliminate(const held_tree *t, int i, int k, real tau, real added) {
    const body *b = &t->model->bodies[i];
    const int first = t->couplings->first[i], last = t->couplings->first[i + 1], *with = t->couplings->with;
    held_axis *axis = &t->axes[b->v_index + k];
    motion S = joint_column(b, b->motion, k);
    force U = articulated_apply(t->I[i], S);
    real D = joint_force(b, b->motion, k, U) + added;
    axis->inverse_D = real_set(1) / D;
    axis->W = force_scale(axis->inverse_D, U);
    axis->u = axis->inverse_D * (tau - joint_force(b, b->motion, k, t->p[i]));
    t->I[i] = articulated_downdate(t->I[i], U, axis->W);
    t->p[i] = force_fma(axis->u, U, t->p[i]);
    for (int c = first; c < last; c++) {
        force U_j = spatial_matrix_apply_transposed(&t->H[c], S), W_j = force_scale(axis->inverse_D, U_j);
        t->W[c * AXES + k] = W_j;
        t->p[with[c]] = force_fma(axis->u, U_j, t->p[with[c]]);
        t->I[with[c]] = articulated_downdate(t->I[with[c]], U_j, W_j);
        add_product(&t->H[c], force_scale(real_set(-1), U), W_j);
        for (int e = first; e < c; e++) {
            couple(t, with[c], force_scale(real_set(0) - D, W_j), with[e], t->W[e * AXES + k]);
        }
    }
    return D;
}

static inline spatial_matrix spatial_matrix_transpose(const spatial_matrix *B) {
    spatial_matrix T;
    for (int k = 0; k < SPATIAL_COLUMNS; k++) {
        real x[SPATIAL_COLUMNS];
        for (int j = 0; j < SPATIAL_COLUMNS; j++) {
            const force f = B->column[j];
            const real components[SPATIAL_COLUMNS] = {f.n.x, f.n.y, f.n.z, f.f.x, f.f.y, f.f.z};
            x[j] = components[k];
        }
        T.column[k] = force_set(vec3_set(x[0], x[1], x[2]), vec3_set(x[3], x[4], x[5]));
    }
    return T;
}

/* Adds B + B' to an inertia. */
static inline articulated_inertia add_symmetric(articulated_inertia I, const spatial_matrix *B) {
    spatial_matrix T = spatial_matrix_transpose(B);
    spatial_matrix_add(&T, B);
    const force *w = T.column;
    I.A = sym3_add(I.A, sym3_set(w[0].n.x, w[1].n.x, w[2].n.x, w[1].n.y, w[2].n.y, w[2].n.z));
    I.B = mat3_add(I.B, mat3_from_columns(w[3].n, w[4].n, w[5].n));
    I.C = sym3_add(I.C, sym3_set(w[3].f.x, w[4].f.x, w[5].f.x, w[4].f.y, w[5].f.y, w[5].f.z));
    return I;
}

/* Moves the inertia, the couplings and the wrench of body i to its parent. a_0 is the acceleration of the world. */
static void carry(const held_tree *t, int i, motion a_0) {
    const body *b = &t->model->bodies[i];
    const int *with = t->couplings->with;
    placement X = t->X[i];
    motion known = b->parent < 0 ? motion_add(t->c[i], motion_to_child(X, a_0)) : t->c[i];
    for (int c = t->couplings->first[i]; c < t->couplings->first[i + 1]; c++) {
        int j = with[c];
        t->p[j] = force_add(t->p[j], spatial_matrix_apply_transposed(&t->H[c], known));
        if (b->parent < 0) {
            continue;
        }
        spatial_matrix carried, turned;
        for (int k = 0; k < SPATIAL_COLUMNS; k++) {
            carried.column[k] = force_to_parent(X, t->H[c].column[k]);
        }
        if (j == b->parent) {
            t->I[j] = add_symmetric(t->I[j], &carried);
        } else if (j < b->parent) {
            spatial_matrix_add(coupling_of(t, b->parent, j), &carried);
        } else {
            turned = spatial_matrix_transpose(&carried);
            spatial_matrix_add(coupling_of(t, j, b->parent), &turned);
        }
    }
    if (b->parent >= 0) {
        force p = force_add(t->p[i], articulated_apply(t->I[i], t->c[i]));
        t->p[b->parent] = force_add(t->p[b->parent], force_to_parent(X, p));
        t->I[b->parent] = articulated_add(t->I[b->parent], articulated_to_parent(X, t->I[i]));
    }
}

/* Computes the accelerations of the bodies and of their joints from those of the world, a_0, and of the velocity
 * products, which are zero for an increment. */
static void accelerate(const held_tree *t, motion a_0, const motion *c, motion *a, real *joints) {
    for (int i = 0; i < t->model->body_count; i++) {
        const body *b = &t->model->bodies[i];
        motion x = motion_to_child(t->X[i], b->parent < 0 ? a_0 : a[b->parent]);
        if (c) {
            x = motion_add(x, c[i]);
        }
        for (int k = 0; k < b->nv; k++) {
            const held_axis *axis = &t->axes[b->v_index + k];
            real joint = axis->u - spatial_dot(x, axis->W);
            for (int e = t->couplings->first[i]; e < t->couplings->first[i + 1]; e++) {
                joint = joint - spatial_dot(a[t->couplings->with[e]], t->W[e * AXES + k]);
            }
            joints[b->v_index + k] = joint;
            x = motion_fma(joint, joint_column(b, b->motion, k), x);
        }
        a[i] = x;
    }
}

/* ---- Iterates ---------------------------------------------------------------------------------------------------- */

static inline real real_absolute(real x) {
    return real_where_positive(x, x, real_set(0) - x);
}

/* Computes what is missing in each row. */
static void find_missing(const held_tree *t, const held_motion *out) {
    real *missing = (real *)out->missing, *sizes = (real *)out->sizes;
    for (int i = 0, r = 0; i < t->model->constraint_count; i++) {
        const int *bodies = t->couplings->bodies[i];
        for (int last = r + t->model->closures[i].count; r < last; r++) {
            real sum = t->rows[r].k, size = real_absolute(sum);
            for (int e = 0; e < CLOSURE_BODIES; e++) {
                if (bodies[e] >= 0) {
                    real term = spatial_dot(t->a[bodies[e]], t->rows[r].w[e]);
                    sum = sum - term;
                    size = size + real_absolute(term);
                }
            }
            missing[r] = sum, sizes[r] = size;
        }
    }
}

/* Adds the penalty of what the increment leaves missing to the multipliers. The increment is small, so that this has
 * more correct digits than what is missing in the sum. */
static void add_multipliers(const held_tree *t, const held_rows *rows, real share, const held_motion *out) {
    const real *missing = (const real *)out->missing, scale = real_set(rows->penalty) * share;
    real *lambda = (real *)out->lambda;
    for (int i = 0, r = 0; i < t->model->constraint_count; i++) {
        const int *bodies = t->couplings->bodies[i];
        for (int last = r + t->model->closures[i].count; r < last; r++) {
            real left = missing[r];
            for (int e = 0; e < CLOSURE_BODIES; e++) {
                if (bodies[e] >= 0) {
                    left = left - spatial_dot(t->d[bodies[e]], t->rows[r].w[e]);
                }
            }
            lambda[r] = real_fma(scale, left, lambda[r]);
        }
    }
}

void KERNEL(constrained_aba)(const dyn_model *model, void *memory, const packed_inputs *in, const held_rows *rows,
                             void *pivots, const held_motion *out) {
    held_tree t = lay_out(model, rows, memory);
    const real *tau = (const real *)in->third, *missing = (const real *)out->missing;
    const real *diagonal = (const real *)rows->diagonal;
    real *D = (real *)pivots, *lambda = (real *)out->lambda;
    motion a_0 = motion_set(vec3_zero(), vec3_sub(vec3_zero(), vec3_constant(in->gravity)));
    void *at = t.X, *rest;
    KERNEL(placements)(model, (const real *)in->q, &at);
    rest = (char *)t.X + KERNEL(placements_memory)(model);
    velocity_pass(&t, in);
    if (in->forces && in->forces->count > 0) {
        KERNEL(subtract_wrenches)(model, rest, (const real *)in->q, in->forces, t.p);
    }
    for (int i = 0; i < model->body_count; i++) {
        t.bias[i] = t.p[i];
    }
    hold_rows(&t, in, rows);
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        for (int k = b->nv - 1; k >= 0; k--) {
            real added = diagonal ? diagonal[b->v_index + k] : real_set(0);
            D[b->v_index + k] = eliminate(&t, i, k, tau[b->v_index + k], added);
        }
        carry(&t, i, a_0);
    }
    accelerate(&t, a_0, t.c, t.a, (real *)out->a);
    find_missing(&t, out);
    for (int r = 0; r < rows->m; r++) {
        lambda[r] = real_set(rows->penalty) * missing[r];
    }
}

/* Computes the factors u of the increments that the wrenches p and the joint forces cause, less those that the diagonal
 * (NULL: zeros) needs for the accelerations a. */
static void propagate(const held_tree *t, const real *tau, const real *diagonal, const real *a) {
    for (int i = t->model->body_count - 1; i >= 0; i--) {
        const body *b = &t->model->bodies[i];
        for (int k = b->nv - 1; k >= 0; k--) {
            held_axis *axis = &t->axes[b->v_index + k];
            const int j = b->v_index + k;
            real own = diagonal ? real_fma(real_set(0) - diagonal[j], a[j], tau[j]) : tau[j];
            real along = own - joint_force(b, b->motion, k, t->p[i]);
            axis->u = axis->inverse_D * along;
            t->p[i] = force_fma(along, axis->W, t->p[i]);
            for (int c = t->couplings->first[i]; c < t->couplings->first[i + 1]; c++) {
                force *other = &t->p[t->couplings->with[c]];
                *other = force_fma(along, t->W[c * AXES + k], *other);
            }
        }
        if (b->parent >= 0) {
            t->p[b->parent] = force_add(t->p[b->parent], force_to_parent(t->X[i], t->p[i]));
        }
    }
}

/* Computes the wrenches that the motion and the multipliers leave over, with the penalty of what is missing. */
static void find_wrenches(const held_tree *t, const held_rows *rows, const held_motion *out) {
    const real *missing = (const real *)out->missing, *lambda = (const real *)out->lambda;
    for (int i = 0; i < t->model->body_count; i++) {
        t->p[i] = force_add(t->bias[i], rigid_inertia_apply(body_inertia(&t->model->bodies[i]), t->a[i]));
    }
    for (int i = 0, r = 0; i < t->model->constraint_count; i++) {
        const int *bodies = t->couplings->bodies[i];
        for (int last = r + t->model->closures[i].count; r < last; r++) {
            real minus = real_set(0) - real_fma(real_set(rows->penalty), missing[r], lambda[r]);
            for (int e = 0; e < CLOSURE_BODIES; e++) {
                if (bodies[e] >= 0) {
                    t->p[bodies[e]] = force_fma(minus, t->rows[r].w[e], t->p[bodies[e]]);
                }
            }
        }
    }
}

void KERNEL(constrained_aba_iterate)(const dyn_model *model, void *memory, const packed_inputs *in,
                                     const held_rows *rows, const void *share, const held_motion *out) {
    held_tree t = lay_out(model, rows, memory);
    const real own_share = ((const real *)share)[0];
    real *a = (real *)out->a, *steps = (real *)out->steps;
    find_wrenches(&t, rows, out);
    propagate(&t, (const real *)in->third, (const real *)rows->diagonal, a);
    accelerate(&t, motion_zero(), NULL, t.d, steps);
    add_multipliers(&t, rows, own_share, out);
    for (int i = 0; i < model->body_count; i++) {
        t.a[i] = motion_fma(own_share, t.d[i], t.a[i]);
    }
    for (int j = 0; j < model->nv; j++) {
        a[j] = real_fma(own_share, steps[j], a[j]);
    }
    find_missing(&t, out);
}
