/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics of a model with closures, by the multipliers of their rows:
 *
 *     M a + h = tau + A' lambda        A a = c        (A M^-1 A') lambda = c - A a_0        a = a_0 + M^-1 A' lambda
 *
 * One inward sweep eliminates the coordinates and propagates the wrenches F of the rows towards the root
 * (row_response.c). The acceleration of the rows without multipliers is a sum over the same bodies, because a wrench
 * multiplied by the acceleration a_i = X a_p + c_i + S (u - W' (X a_p + c_i)) of its body leaves another wrench to be
 * multiplied by the acceleration of the parent:
 *
 *     s = S' F        F becomes F - W s        A a_0 += s' u + F' c_i, and F' a_0 at the root
 *     A M^-1 A' += s' D^-1 s
 *
 * The multipliers follow from the factors L D L' of the response, all lanes at once. They change u by D^-1 s lambda, so
 * that a single outward sweep remains.
 *
 * A row that depends on the rows before has a pivot of zero up to rounding, and zeros in the place of its column of L.
 * Its multiplier is then zero, which leaves a as it is. A lane with a pivot in between, or with a dependent row that
 * contradicts the others, is left to the caller.
 *
 * Sources: Vereshchagin 1974; Popov, Vereshchagin and Zenkevich 1978; Featherstone and Orin 2000, equation 21; Sathya
 * and Carpentier 2024 (one sweep for several rows).
 */
#include "closure_sides.h"
#include "rooted_response.h"
#include "row_paths.h"

/* Pivots of independent rows are above these shares of their own diagonal entry, and of the largest one; those of
 * dependent rows are below one of the other shares. Rows of rounding errors are small beside the others. */
static const double independent_share = 1e-6, independent_size = 1e-10, dependent_share = 1e-11, dependent_size = 1e-13;

/* Largest contradiction of a dependent row that rounding errors account for, as a share of the sum over all rows. */
static const double agreement = 1e-10;

/* Scratch memory of both calls. */
typedef struct response_sweep {
    int is_rooted; /* false, as it is true in that of rooted_response */
    aba_tree tree;
    int *moved_body;         /* by each coordinate */
    int *common;             /* coordinates that support two groups */
    unsigned char *supports; /* body_count x groups: the body supports the group */
    real *inverse_D;         /* of each coordinate */
    real *row;               /* m: row of L D */
} response_sweep;

/* Rows of one group, and their wrenches on the bodies where the paths of its terms have arrived. */
typedef struct row_wrenches {
    int group, count, first_row;
    row_paths paths;
    force forces[GROUP_FORCES], *F[ROW_TERMS];   /* F[k]: those of term k */
    int coordinate_count, coordinate[ROW_TERMS]; /* on which the row exerts a force itself */
    real along[ROW_TERMS];                       /* that force */
    real rate[GROUP_ROWS];                       /* A a_0 so far, less what A a has to be */
} row_wrenches;

static size_t sweep_size(const dyn_model *model) {
    size_t m = (size_t)model->constraint_rows, bodies = (size_t)model->body_count, nv = (size_t)model->nv;
    size_t indices = 2 * nv * sizeof(int) + bodies * (size_t)model->constraint_count;
    return (sizeof(response_sweep) + indices) / 64 * 64 + 64 + (m + nv) * sizeof(real) + bodies * sizeof(motion);
}

size_t KERNEL(constrained_response_memory)(const dyn_model *model) {
    size_t rooted = KERNEL(rooted_response_memory)(model), swept = sweep_size(model) + KERNEL(aba_memory)(model);
    return rooted > swept ? rooted : swept;
}

/* Lays out the memory, and computes the sines of the joints. *memory becomes that of subtract_wrenches. */
static response_sweep *lay_out_sweep(const dyn_model *model, const real *q, void **memory) {
    response_sweep *s = (response_sweep *)*memory;
    char *rest = (char *)*memory + sweep_size(model);
    motion *velocities = (motion *)rest - model->body_count;
    s->inverse_D = (real *)velocities - model->nv;
    s->row = s->inverse_D - model->constraint_rows;
    s->moved_body = (int *)(s + 1);
    s->common = s->moved_body + model->nv;
    s->supports = (unsigned char *)(s->common + model->nv);
    *memory = rest;
    s->is_rooted = 0;
    s->tree = lay_out_passes(model, q, memory);
    s->tree.velocities = velocities;
    return s;
}

/* ---- Wrenches of the rows ---------------------------------------------------------------------------------------- */

/* Finds the wrenches of a closure between two frames. */
static void begin_frames(const dyn_model *model, const aba_tree *t, const closure *c, const double gravity[3],
                         double gain, row_wrenches *g) {
    moving_side P = find_side(model, t, c, 0), S = find_side(model, t, c, 1);
    force W[GROUP_ROWS];
    real k[GROUP_ROWS];
    closure_rows(c, P, S, gravity, gain, W, k);
    for (int r = 0; r < c->count; r++) {
        g->F[0][r] = S.body < 0 ? force_zero() : wrench_in_body(S.of_body, W[r]);
        g->F[1][r] = P.body < 0 ? force_zero() : force_scale(real_set(-1), wrench_in_body(P.of_body, W[r]));
        g->rate[r] = real_set(0) - k[r];
    }
}

/* Finds the forces of the row of a coupling or of a prescribed motion along its coordinates. */
static void begin_coordinates(const closure *c, const real *q, const real *v, double gain, row_wrenches *g) {
    g->rate[0] = real_set(0);
    for (int k = 0; k < c->coordinate_count; k++) {
        real rate = v[c->v_index[k]], along = real_set(c->coefficients[k]);
        if (c->kind == CLOSURE_POLYNOMIAL && k == 1) {
            real x = q[c->q_index[1]];
            along = real_set(0) - polynomial_slope(c, x);
            g->rate[0] = g->rate[0] - polynomial_curvature(c, x) * rate * rate;
        }
        g->coordinate[k] = c->v_index[k];
        g->along[k] = along;
        g->F[k][0] = force_zero();
        g->rate[0] = real_fma(real_set(gain) * along, rate, g->rate[0]);
    }
}

/* Finds the rows of a group, which belongs to one closure. */
static void begin_group(const dyn_model *model, const response_sweep *s, const packed_inputs *in,
                        const row_requirements *required, row_wrenches *g) {
    const closure *c = &model->closures[g->group];
    const real *constants = (const real *)required->required;
    g->count = c->count;
    g->paths = paths_of(model, s->moved_body, &required->rows->groups[g->group]);
    g->coordinate_count = c->coordinate_count;
    for (int k = 0; k < g->paths.count; k++) {
        g->F[k] = g->forces + k * g->count;
    }
    if (c->coordinate_count > 0) {
        begin_coordinates(c, (const real *)in->q, (const real *)in->v, required->gain, g);
    } else {
        begin_frames(model, &s->tree, c, in->gravity, required->gain, g);
    }
    for (int r = 0; constants && r < g->count; r++) {
        g->rate[r] = g->rate[r] - constants[g->first_row + r];
    }
}

/* ---- Inward sweep of the rows ------------------------------------------------------------------------------------ */

/* Returns the force that the row of a group exerts along coordinate j itself. */
static inline real force_along_coordinate(const row_wrenches *g, int j) {
    real sum = real_set(0);
    for (int k = 0; k < g->coordinate_count; k++) {
        sum = g->coordinate[k] == j ? sum + g->along[k] : sum;
    }
    return sum;
}

/* Propagates the wrenches past a hinge, and to its parent. */
static void pass_hinge(const dyn_model *model, const response_sweep *s, int i, const real *u, row_wrenches *g, force *F,
                       real *shares) {
    const body *b = &model->bodies[i];
    const aba_tree *t = &s->tree;
    const hinge h = hinge_at(b, t->turns, i);
    const force W = t->p[i];
    const motion c = t->c[i];
    const real own = force_along_coordinate(g, b->v_index), rate = u[b->v_index], inverse_D = s->inverse_D[b->v_index];
    const force none = force_zero();
    for (int r = 0; r < g->count; r++) {
        force x = F[r];
        real along = x.n.z + own;
        shares[r] = along * inverse_D;
        x.n.x = real_fma(-along, W.n.x, x.n.x), x.n.y = real_fma(-along, W.n.y, x.n.y);
        x.n.z = x.n.z - along;
        x.f = vec3_fma(-along, W.f, x.f);
        real turned = real_fma(x.n.x, c.w.x, real_fma(x.n.y, c.w.y, real_fma(x.f.x, c.v.x, x.f.y * c.v.y)));
        g->rate[r] = g->rate[r] + real_fma(along, rate, turned);
        F[r] = hinge_force_to_parent(h, x, none);
    }
}

/* Propagates the wrenches past axis k of body i. */
static void pass_axis(const body *b, const response_sweep *s, int i, int k, real u, row_wrenches *g, force *F,
                      real *shares) {
    force W = *W_at(&s->tree, i, b->v_index, k);
    const real own = force_along_coordinate(g, b->v_index + k), inverse_D = s->inverse_D[b->v_index + k];
    if (b->motion == MOTION_REVOLUTE && !s->tree.is_resisted) {
        W.n.z = real_set(1);
    }
    for (int r = 0; r < g->count; r++) {
        real along = joint_force(b, b->motion, k, F[r]) + own;
        shares[r] = along * inverse_D;
        F[r] = force_fma(-along, W, F[r]);
        g->rate[r] = real_fma(along, u, g->rate[r]);
    }
}

/* Propagates the wrenches past all axes of body i, and to its parent, and stores D^-1 s of its coordinates. */
static void pass_body(const dyn_model *model, const response_sweep *s, const row_set *rows, int i, const real *u,
                      row_wrenches *g, force *F, real *shares) {
    const body *b = &model->bodies[i];
    const aba_tree *t = &s->tree;
    real *own = shares + b->v_index * rows->m + g->first_row;
    s->supports[(size_t)i * rows->group_count + (size_t)g->group] = 1;
    if (is_hinge(b, t)) {
        pass_hinge(model, s, i, u, g, F, own);
        return;
    }
    for (int k = b->nv - 1; k >= 0; k--) {
        pass_axis(b, s, i, k, u[b->v_index + k], g, F, own + k * rows->m);
    }
    for (int r = 0; r < g->count; r++) {
        g->rate[r] = g->rate[r] + spatial_dot(t->c[i], F[r]);
        F[r] = force_to_parent(t->X[i], F[r]);
    }
}

/* Propagates the wrenches of a group to the root, where the world accelerates upwards. */
static void sweep_group(const dyn_model *model, const response_sweep *s, const row_set *rows, const double gravity[3],
                        const real *u, row_wrenches *g, real *shares) {
    const vec3 upwards = vec3_sub(vec3_zero(), vec3_constant(gravity));
    for (int i = outermost(&g->paths); i >= 0; i = outermost(&g->paths)) {
        int leader = 0;
        while (g->paths.at[leader] != i) {
            leader++;
        }
        force *F = g->F[leader];
        for (int k = leader + 1; k < g->paths.count; k++) {
            for (int r = 0; r < g->count && g->paths.at[k] == i; r++) {
                F[r] = force_add(F[r], g->F[k][r]);
            }
        }
        pass_body(model, s, rows, i, u, g, F, shares);
        for (int r = 0; r < g->count && model->bodies[i].parent < 0; r++) {
            g->rate[r] = vec3_dot_add(F[r].f, upwards, g->rate[r]);
        }
        leave(model, i, &g->paths);
    }
}

/* ---- Response ---------------------------------------------------------------------------------------------------- */

/* Lists the coordinates that support two groups. Returns their number. */
static int list_common(const dyn_model *model, const response_sweep *s, size_t groups, int e, int f) {
    int count = 0;
    for (int i = 0; i < model->body_count; i++) {
        const unsigned char *supports = s->supports + (size_t)i * groups;
        for (int k = 0; supports[e] && supports[f] && k < model->bodies[i].nv; k++) {
            s->common[count++] = model->bodies[i].v_index + k;
        }
    }
    return count;
}

/* Computes `columns` entries of a row of the response: sum of (D^-1 s)_r D (D^-1 s)_c over the listed coordinates. */
KERNEL_STEP void sum_entries(const int *list, int count, int m, int columns, const real *D, const real *shares_r,
                             const real *shares_c, real *entries) {
    real sum[GROUP_ROWS];
    for (int c = 0; c < columns; c++) {
        sum[c] = real_set(0);
    }
    for (int k = 0; k < count; k++) {
        int j = list[k];
        real along = D[j] * shares_r[j * m];
        for (int c = 0; c < columns; c++) {
            sum[c] = real_fma(along, shares_c[j * m + c], sum[c]);
        }
    }
    for (int c = 0; c < columns; c++) {
        entries[c] = sum[c];
    }
}

/* Computes the entries of one row of the response with the rows of a group, of which there are `columns`. A constant
 * number of columns keeps the sums in registers. */
static void find_entries(const int *list, int count, int m, int columns, const real *D, const real *shares_r,
                         const real *shares_c, real *entries) {
    switch (columns) {
    case 1:
        sum_entries(list, count, m, 1, D, shares_r, shares_c, entries);
        break;
    case 2:
        sum_entries(list, count, m, 2, D, shares_r, shares_c, entries);
        break;
    case 3:
        sum_entries(list, count, m, 3, D, shares_r, shares_c, entries);
        break;
    case 4:
        sum_entries(list, count, m, 4, D, shares_r, shares_c, entries);
        break;
    case 5:
        sum_entries(list, count, m, 5, D, shares_r, shares_c, entries);
        break;
    default:
        sum_entries(list, count, m, GROUP_ROWS, D, shares_r, shares_c, entries);
        break;
    }
}

/* Computes the rows of the response of group e, up to the diagonal. */
static void find_response(const dyn_model *model, const response_sweep *s, const row_set *rows, int e, int row_e,
                          const real *D, const row_multipliers *out) {
    const real *shares = (const real *)out->shares;
    real *response = (real *)out->response;
    int m = rows->m, row_f = 0;
    for (int f = 0; f <= e; row_f += rows->groups[f].count, f++) {
        int common = list_common(model, s, rows->group_count, e, f);
        for (int r = row_e; r < row_e + rows->groups[e].count; r++) {
            int columns = f < e ? rows->groups[f].count : r - row_e + 1;
            find_entries(s->common, common, m, columns, D, shares + r, shares + row_f, response + r * m + row_f);
        }
    }
}

/* ---- Multipliers ------------------------------------------------------------------------------------------------- */

/* Computes row i of L, and of L D into `row`. Returns the pivot. */
KERNEL_STEP real factorize_row(int i, const real *R, const real *L, real *row, real *L_i, int m) {
    real pivot = R[i];
    for (int j = 0; j < i; j++) {
        const real *L_j = L + j * m;
        real entry = R[j];
        for (int k = 0; k < j; k++) {
            entry = real_fma(-row[k], L_j[k], entry);
        }
        row[j] = entry;
        L_i[j] = entry * L_j[j];
        pivot = real_fma(-entry, L_i[j], pivot);
    }
    return pivot;
}

/* Returns the smaller of two numbers. */
static inline real real_smaller(real a, real b) {
    return real_where_positive(a - b, b, a);
}

void KERNEL(factorize_response)(int m, const void *response, void *row, void *factors, void *regular) {
    const real *R = (const real *)response, zero = real_set(0), one = real_set(1);
    real *L = (real *)factors, largest = zero, all = real_set(2);
    for (int i = 0; i < m; i++) {
        largest = real_larger(R[i * m + i], largest);
    }
    for (int i = 0; i < m; i++) {
        const real own = R[i * m + i], pivot = factorize_row(i, R + i * m, L, (real *)row, L + i * m, m);
        real most = real_larger(real_set(dependent_share) * own, real_set(dependent_size) * largest);
        real least = real_larger(real_set(independent_share) * own, real_set(independent_size) * largest);
        real dependent = real_where_positive(real_size(pivot) - most, zero, one);
        L[i * m + i] = real_where_positive(pivot - least, one, zero) / real_where_positive(pivot - least, pivot, one);
        all = real_smaller(all, real_where_positive(pivot - least, real_set(2), dependent));
    }
    *(real *)regular = all;
}

/* Solves L z = b. Returns `regular`, or 0 where a dependent row contradicts the others. */
static real solve_forwards(int m, const real *L, const real *b, real regular, real *z) {
    real sum = real_set(0);
    for (int i = 0; i < m; i++) {
        sum = sum + real_size(b[i]);
    }
    for (int i = 0; i < m; i++) {
        real rest = b[i];
        for (int j = 0; j < i; j++) {
            rest = real_fma(-L[i * m + j], z[j], rest);
        }
        z[i] = rest;
        real contradicts = real_where_positive(real_size(rest) - real_set(agreement) * sum, real_set(0), real_set(2));
        regular = real_smaller(regular, real_where_positive(L[i * m + i], real_set(2), contradicts));
    }
    return regular;
}

/* Replaces the solution of L z = b by that of L D L' lambda = b. */
static void solve_backwards(int m, const real *L, real *lambda) {
    for (int i = m - 1; i >= 0; i--) {
        real x = lambda[i] * L[i * m + i];
        for (int j = i + 1; j < m; j++) {
            x = real_fma(-L[j * m + i], lambda[j], x);
        }
        lambda[i] = x;
    }
}

void KERNEL(solve_response)(int m, const void *factors, const void *b, void *regular, void *lambda) {
    *(real *)regular =
        solve_forwards(m, (const real *)factors, (const real *)b, *(const real *)regular, (real *)lambda);
    solve_backwards(m, (const real *)factors, (real *)lambda);
}

void KERNEL(response_residual)(const row_multipliers *out, int m, void *residual) {
    const real *R = (const real *)out->response, *missing = (const real *)out->missing;
    const real *lambda = (const real *)out->lambda;
    real most = real_set(0);
    for (int i = 0; i < m; i++) {
        real rest = real_set(0) - missing[i];
        for (int j = 0; j < m; j++) {
            rest = real_fma(R[j < i ? i * m + j : j * m + i], lambda[j], rest);
        }
        most = real_larger(real_size(rest), most);
    }
    *(real *)residual = most;
}

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

/* Runs the passes of the articulated-body algorithm up to u. */
static void eliminate(const dyn_model *model, void *memory, const packed_inputs *in, const real *diagonal,
                      response_sweep *s, real *pivots, real *u) {
    aba_tree t = s->tree;
    t.has_rotors = 0;
    velocity_pass(model, (const real *)in->q, (const real *)in->v, &t);
    if (in->forces && in->forces->count > 0) {
        KERNEL(subtract_wrenches)(model, memory, (const real *)in->q, in->forces, t.p);
    }
    if (diagonal) {
        inertia_pass(model, (const real *)in->third, diagonal, &t, pivots, u);
    } else {
        inertia_pass(model, (const real *)in->third, NULL, &t, pivots, u);
    }
    for (int j = 0; j < model->nv; j++) {
        s->inverse_D[j] = real_set(1) / pivots[j];
    }
}

void KERNEL(constrained_response)(const dyn_model *model, void *memory, const packed_inputs *in,
                                  const row_requirements *required, void *pivots, void *u, const row_multipliers *out) {
    const row_set *rows = required->rows;
    const int held = required->diagonal ? -1 : lone_held_body(model);
    if (held >= 0) {
        KERNEL(rooted_response)(model, memory, in, required, held, pivots, u, out);
        return;
    }
    response_sweep *s = lay_out_sweep(model, (const real *)in->q, &memory);
    real *missing = (real *)out->missing, *lambda = (real *)out->lambda;
    row_wrenches g;
    s->tree.is_resisted = required->diagonal != NULL;
    eliminate(model, memory, in, (const real *)required->diagonal, s, (real *)pivots, (real *)u);
    find_moved_bodies(model, s->moved_body);
    for (size_t k = 0; k < (size_t)model->body_count * rows->group_count; k++) {
        s->supports[k] = 0;
    }
    g.first_row = 0;
    for (g.group = 0; g.group < (int)rows->group_count; g.group++) {
        begin_group(model, s, in, required, &g);
        sweep_group(model, s, rows, in->gravity, (const real *)u, &g, (real *)out->shares);
        find_response(model, s, rows, g.group, g.first_row, (const real *)pivots, out);
        for (int r = 0; r < g.count; r++) {
            missing[g.first_row + r] = real_set(0) - g.rate[r];
        }
        g.first_row += g.count;
    }
    KERNEL(factorize_response)(rows->m, out->response, s->row, out->factors, out->regular);
    KERNEL(solve_response)(rows->m, out->factors, missing, out->regular, lambda);
}

void KERNEL(constrained_acceleration)(const dyn_model *model, void *memory, const double gravity[3],
                                      const row_set *rows, const row_multipliers *multipliers, void *residual,
                                      void *u) {
    const response_sweep *s = (const response_sweep *)memory;
    const real *shares = (const real *)multipliers->shares, *lambda = (const real *)multipliers->lambda;
    real *a = (real *)u;
    if (s->is_rooted) {
        KERNEL(rooted_acceleration)(model, memory, gravity, rows->m, multipliers, residual, u);
        return;
    }
    KERNEL(response_residual)(multipliers, rows->m, residual);
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        const unsigned char *supports = s->supports + (size_t)i * rows->group_count;
        for (size_t f = 0, row = 0; f < rows->group_count; row += (size_t)rows->groups[f].count, f++) {
            for (int j = b->v_index; supports[f] && j < b->v_index + b->nv; j++) {
                for (size_t r = row; r < row + (size_t)rows->groups[f].count; r++) {
                    a[j] = real_fma(shares[j * rows->m + (int)r], lambda[r], a[j]);
                }
            }
        }
    }
    aba_tree t = s->tree;
    t.has_rotors = 0;
    acceleration_pass(model, gravity, &t, a);
}
