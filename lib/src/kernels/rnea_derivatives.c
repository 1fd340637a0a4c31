/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First derivatives of the recursive Newton-Euler algorithm, tau(q, v, a), and the mass matrix.
 *
 * In the frame and with the columns of columns.h. For the subtree of joint i, let I be the inertia, f the inertial
 * wrench, and 2 B the matrix of coriolis_map.h.
 *
 * For j at or above i                                      For j above i
 *
 *     d tau_i / d q_j = S_i' (2 B Psi_dot_j + I Psi_ddot_j)    d tau_j / d q_i = S_j' (2 B Psi_dot_i + I Psi_ddot_i
 *                                                                                      + S_i x* f)
 *     d tau_i / d v_j = S_i' (2 B S_j + I rate_j)              d tau_j / d v_i = S_j' (2 B S_i + I rate_i)
 *     M_ij            = S_i' I S_j                             M_ji            = M_ij
 *
 * Rotors are computed with the joint c that they drive (driven_joint.h), whose parent has the angular velocity w. With
 * g in the axes of the frame, and j above c,
 *
 *     d tau_c / d q_j += g . Psi_ddot_j + (w x g) . Psi_dot_j     M_cj += g . S_j     M_cc += d
 *     d tau_c / d v_j += g . rate_j + (w x g) . S_j               d tau_j / d v_c += (w x g) . S_j
 *
 * since alpha of the parent changes by S_j x alpha + Psi_ddot_j - w x Psi_dot_j, and g by S_j x g, if q_j changes. From
 * the parent on to the root, 2 B m += (m_w x g v; 0) and f += (g a + w x g v; 0).
 *
 * The columns of the root are axes of the frame, so that products with them are components. Entries of joints on
 * different branches are zero. A coupled mimic joint adds its rows and columns to those of its master. External
 * wrenches are constant in their reference frames (derivative_wrenches.c).
 *
 * If lanes hold samples, both passes are in this file. If lanes hold columns of one sample, derivatives_by_columns.c
 * computes the same numbers in another order. M and d tau / d v do not depend on the acceleration. Forward dynamics
 * computes the acceleration from them, and then propagates it in a pass of its own.
 *
 * Source: Singh, Russell and Wensing 2022, "Efficient analytical derivatives of rigid-body dynamics using spatial
 * vector algebra", algorithm 1; with B reduced to twelve numbers.
 */
#include "rnea_derivatives.h"
#include "stages.h"

#include "derivative_layout.h"

size_t KERNEL(rnea_derivatives_memory)(const dyn_model *model) {
    return derivative_layout_size(model);
}

#if TERM_LANES == 1

#include "derivative_entries.h"
#include "derivative_frames.h"

/* ---- outward ----------------------------------------------------------------------------------------------------- */

static inline placement_row row_of(real x, real y, real z, real r) {
    placement_row row;
    row.x = x, row.y = y, row.z = z, row.r = r;
    return row;
}

/* Returns the placement of a body that the hinge h connects to a body with the placement W. */
static inline placement place_on_hinge(hinge h, placement W) {
    placement_row x = row_on_hinge(h, row_of(W.R.xx, W.R.xy, W.R.xz, W.r.x));
    placement_row y = row_on_hinge(h, row_of(W.R.yx, W.R.yy, W.R.yz, W.r.y));
    placement_row z = row_on_hinge(h, row_of(W.R.zx, W.R.zy, W.R.zz, W.r.z));
    placement X;
    X.R = mat3_from_columns(vec3_set(x.x, y.x, z.x), vec3_set(x.y, y.y, z.y), vec3_set(x.z, y.z, z.z));
    X.r = vec3_set(x.r, y.r, z.r);
    return X;
}

/* Placement and motion of a body. */
typedef struct moving_frame {
    placement W;
    motion v, a;
} moving_frame;

/* Returns the placement and motion of the world: at rest, with the acceleration a_0. */
static inline moving_frame world_frame(vec3 a_0) {
    moving_frame k;
    k.W = placement_identity();
    k.v = motion_zero();
    k.a = motion_set(vec3_zero(), a_0);
    return k;
}

/* Loads the placement and motion of body i from its terms. */
KERNEL_STEP moving_frame load_frame(const derivative_tree *t, derivative_parts parts, int i) {
    const body_terms *terms = bodies_at(t, i);
    moving_frame k;
    k.W = terms->W, k.v = terms->v;
    k.a = parts & POSITION_PART ? terms->a : motion_zero();
    return k;
}

/* Stores the placement and motion of body i in its terms. */
KERNEL_STEP void store_frame(const derivative_tree *t, derivative_parts parts, int i, const moving_frame *k) {
    body_terms *terms = bodies_at(t, i);
    if (parts & VELOCITY_PART) {
        terms->W = k->W, terms->v = k->v;
    }
    if (parts & POSITION_PART) {
        terms->a = k->a;
    }
}

/* Computes the body's own terms. */
KERNEL_STEP void store_own_terms(const derivative_tree *t, derivative_parts parts, int i, bool serial,
                                 const moving_frame *k) {
    inertial_terms *own = &bodies_at(t, i)->own;
    const body *b = &t->model->bodies[i];
    inertial_terms x = *own;
    if (parts & VELOCITY_PART) {
        find_own_inertia(b->parent < 0 ? moments_of(t, b, false) : place_moments(k->W, moments_of(t, b, serial)), k->v,
                         &x);
        own->I = x.I, own->B = x.B;
    }
    if (parts & POSITION_PART) {
        find_own_force(k->v, k->a, &x);
        own->f = x.f;
    }
}

/* Computes column l of body i except for its products. */
KERNEL_STEP void store_column_terms(const derivative_tree *t, derivative_parts parts, int i, int l, motion S,
                                    motion Psi_dot, const moving_frame *parent) {
    column_terms *column = columns_at(t, t->first_column[i] + l);
    if (parts & VELOCITY_PART) {
        column->S = S, column->Psi_dot = Psi_dot;
        column->rate = motion_add(Psi_dot, Psi_dot);
    }
    if (parts & POSITION_PART) {
        column->Psi_ddot = column_acceleration(parent->v, parent->a, S, Psi_dot);
    }
}

/* Computes the motion and the columns of body i from the motion of its parent. `on_hinge`: it is connected to another
 * body by a hinge. */
KERNEL_STEP moving_frame carry_body(const derivative_state *s, derivative_parts parts, bool on_hinge, const real *a,
                                    int i, moving_frame parent) {
    const derivative_tree *t = &s->tree;
    const body *b = &t->model->bodies[i];
    moving_frame k = parent;
    motion vJ = motion_zero();
    if ((parts & VELOCITY_PART) && on_hinge) {
        k.W = place_on_hinge(hinge_at(b, s->turns, i), k.W);
    } else if ((parts & VELOCITY_PART) && b->parent >= 0) {
        k.W = placement_compose(k.W, placement_at_joint(s, b, i));
    }
    for (int l = 0; l < (on_hinge ? 1 : b->nv); l++) {
        const column_terms *column = columns_at(t, t->first_column[i] + l);
        motion S, Psi_dot;
        if (parts & VELOCITY_PART) {
            vec3 z = mat3_column_z(k.W.R);
            S = on_hinge ? motion_set(z, vec3_cross(k.W.r, z)) : placed_column(b, k.W, l);
            Psi_dot = motion_cross(parent.v, S);
        } else {
            S = column->S, Psi_dot = column->Psi_dot;
        }
        store_column_terms(t, parts, i, l, S, Psi_dot, &parent);
        real rate = s->v[b->v_index + l];
        k.v = motion_fma(rate, S, k.v);
        vJ = on_hinge ? vJ : motion_fma(rate, S, vJ);
        if (parts & POSITION_PART) {
            k.a = motion_fma(a[b->v_index + l], S, motion_fma(rate, Psi_dot, k.a));
        }
    }
    if ((parts & VELOCITY_PART) && !on_hinge && b->nv > 1) {
        add_rates_of_joint(t, i, turning_of(s, vJ));
    }
    return k;
}

/* Places g of the rotors of body i's joint in the axes of the frame. */
KERNEL_STEP void store_rotor_terms(const derivative_tree *t, int i, const moving_frame *parent) {
    const body *b = &t->model->bodies[i];
    rotor_terms *r = rotors_at(t, t->first_column[i]);
    r->g = b->parent < 0 ? vec3_zero() : mat3_apply(parent->W.R, rotor_couple(b));
    r->turning = vec3_cross(parent->v.w, r->g);
}

/* Outward pass: computes motion, columns and the terms of the bodies. */
KERNEL_STEP void carry_outward(const derivative_state *s, derivative_parts parts, const real *a) {
    const derivative_tree *t = &s->tree;
    root_motion *roots = (root_motion *)t->roots;
    moving_frame k = world_frame(vec3_zero());
    for (int i = 0; i < t->count; i++) {
        const body *b = &t->model->bodies[i];
        if (b->parent < 0) {
            roots[i].a_0 = parts & VELOCITY_PART ? root_gravity(s, i) : roots[i].a_0;
            k = world_frame(roots[i].a_0);
        } else if (b->parent != i - 1) {
            k = load_frame(t, parts, b->parent);
        }
        if ((parts & VELOCITY_PART) && drives_rotors(t, i)) {
            store_rotor_terms(t, i, &k);
        }
        k = b->hinge && b->parent >= 0 ? carry_body(s, parts, true, a, i, k) : carry_body(s, parts, false, a, i, k);
        if (b->parent < 0) {
            roots[i].v = turning_of(s, k.v);
        }
        if (forks_at(t, i) || s->needs_frames) {
            store_frame(t, parts, i, &k);
        }
        if (b->serial) {
            store_own_terms(t, parts, i, true, &k);
        } else {
            store_own_terms(t, parts, i, false, &k);
        }
    }
}

/* ---- inward ------------------------------------------------------------------------------------------------------ */

static inline inertial_terms inertial_terms_add(derivative_parts parts, const inertial_terms *x,
                                                const inertial_terms *y) {
    inertial_terms sum = *x;
    if (parts & VELOCITY_PART) {
        sum.I = rigid_inertia_add(x->I, y->I);
        sum.B = coriolis_map_add(x->B, y->B);
    }
    if (parts & POSITION_PART) {
        sum.f = force_add(x->f, y->f);
    }
    return sum;
}

/* Adds the moments of the rotors of body i's joint to the sums of its subtree, which become its parent's. */
KERNEL_STEP void add_rotors(const derivative_state *s, derivative_parts summed, const real *a, int i,
                            inertial_terms *sum) {
    const rotor_terms *r = rotors_at(&s->tree, s->tree.first_column[i]);
    const int j = s->tree.model->bodies[i].v_index;
    if (summed & VELOCITY_PART) {
        sum->B = coriolis_map_add(sum->B, coriolis_map_of_rotors(vec3_scale(s->v[j], r->g)));
    }
    if (summed & POSITION_PART) {
        sum->f.n = vec3_add(sum->f.n, moment_of_rotors(r->g, r->turning, s->v[j], a[j]));
    }
}

/* Adds the reflected inertia of the rotors of body i's joint to its entry of M. */
KERNEL_STEP void add_reflected_inertia(const derivative_tree *t, int i, const matrices *d) {
    const body *b = &t->model->bodies[i];
    entry *to = &d->da[(size_t)b->v_index * (d->nv + 1)];
    *to = *to + reflected_inertia(b);
}

/* Computes the products of the columns of body i, in the tree with root r, and stores their entries. */
KERNEL_STEP void store_columns(const derivative_tree *t, derivative_parts parts, int r, int i,
                               const inertial_terms *sum, const matrices *d) {
    const int *first = t->first_column;
    column_terms *columns = (column_terms *)t->columns;
    for (int y = first[i]; y < first[i + 1]; y++) {
        column_products products = columns[y].products;
        products.dv = products.dq = force_zero();
        if (i == r) {
            multiply_column(sum, parts, true, &columns[y], &products);
            store_root(t, parts, r, y, true, &products, d);
        } else {
            multiply_column(sum, parts, false, &columns[y], &products);
            store_own_columns(t, parts, y, first[i], first[i + 1] - 1, &products, d);
        }
        if (parts == VELOCITY_PART) {
            columns[y].products.IS = products.IS, columns[y].products.BS = products.BS;
        }
        if (i != r) {
            if (drives_rotors(t, i)) {
                add_rotor_products(rotors_at(t, y), parts, &products);
            }
            store_columns_above(t, parts, first[r + 1], y, first[i], &products, d);
            store_root(t, parts, r, y, false, &products, d);
        }
        if (!d->shared && t->branches) {
            store_column_zeros(t, parts, first[r], y, first[i], d);
        }
    }
}

/* Inward pass: accumulates the sums over subtrees and stores the entries. POSITION_PART alone accumulates I and B
 * again, since they are not stored. */
KERNEL_STEP void add_up(const derivative_state *s, derivative_parts parts, const real *a, const matrices *d) {
    const derivative_tree *t = &s->tree;
    const body *bodies = t->model->bodies;
    derivative_parts summed = parts == VELOCITY_PART ? parts : BOTH_PARTS;
    inertial_terms sum = no_terms();
    for (int i = 0; i < t->count; i++) {
        if (forks_at(t, i)) {
            s->pending[i] = sum;
        }
    }
    for (int i = t->count - 1, last = t->model->link_bodies; i >= 0; i--) {
        const inertial_terms *own = &bodies_at(t, i)->own;
        if (forks_at(t, i)) {
            sum = inertial_terms_add(summed, own, &s->pending[i]);
        } else if (i + 1 < t->count && bodies[i + 1].parent == i) {
            sum = inertial_terms_add(summed, own, &sum);
        } else {
            sum = *own;
        }
        /* Links of a tree follow its root, but rotors follow all links. */
        last = last > i ? root_of(bodies, i) : last;
        store_columns(t, parts, i < t->model->link_bodies ? last : root_of(bodies, i), i, &sum, d);
        if (drives_rotors(t, i) && (parts & VELOCITY_PART)) {
            add_reflected_inertia(t, i, d);
        }
        if (drives_rotors(t, i)) {
            add_rotors(s, summed, a, i, &sum);
        }
        int parent = bodies[i].parent;
        if (parent >= 0 && forks_at(t, parent)) {
            s->pending[parent] = inertial_terms_add(summed, &s->pending[parent], &sum);
        }
    }
}

/* ---- both passes ------------------------------------------------------------------------------------------------- */

KERNEL_STEP int find_derivatives(const derivative_state *s, derivative_parts parts, bool shared, const real *a,
                                 const wrench_set *forces, const derivative_matrices *to) {
    matrices d = matrices_of(&s->tree, shared, to);
    carry_outward(s, parts, a);
    if ((parts & POSITION_PART) && has_wrenches(forces)) {
        KERNEL(subtract_local_wrenches)(s, forces);
    }
    add_up(s, parts, a, &d);
    if ((parts & POSITION_PART) && has_wrenches(forces)) {
        KERNEL(add_world_wrenches)(s, forces, (real *)to->dq);
    }
    return 0;
}

#else

static int find_derivatives(const derivative_state *s, derivative_parts parts, bool shared, const real *a,
                            const wrench_set *forces, const derivative_matrices *to) {
    (void)shared;
    return KERNEL(derivatives_by_columns)(s, parts, a, forces, to);
}

#endif

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

static void clear(int nv, real *A) {
    for (int i = 0; i < nv * nv; i++) {
        A[i] = real_set(0);
    }
}

static void clear_shared(const derivative_tree *t, derivative_parts parts, const derivative_matrices *d) {
    if (t->shares && (parts & VELOCITY_PART)) {
        clear(t->model->nv, (real *)d->dv), clear(t->model->nv, (real *)d->da);
    }
    if (t->shares && (parts & POSITION_PART)) {
        clear(t->model->nv, (real *)d->dq);
    }
}

/* Returns true if the matrices are stored as unpack does and finite. */
KERNEL_STEP int find_parts(const derivative_state *s, derivative_parts parts, const real *a, const wrench_set *forces,
                           const derivative_matrices *d) {
    clear_shared(&s->tree, parts, d);
    return s->tree.shares ? find_derivatives(s, parts, true, a, forces, d)
                          : find_derivatives(s, parts, false, a, forces, d);
}

derivative_state KERNEL(rnea_velocity_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in,
                                                   const derivative_matrices *d) {
    derivative_state s = lay_out(model, memory, in);
    find_parts(&s, VELOCITY_PART, NULL, NULL, d);
    return s;
}

void KERNEL(rnea_symbols)(const dyn_model *model, void *memory, const packed_inputs *in, const derivative_matrices *d) {
    derivative_state s = lay_out(model, memory, in);
    s.of_symbols = true;
    find_parts(&s, VELOCITY_PART, NULL, NULL, d);
}

void KERNEL(rnea_derivatives_bias)(const derivative_state *s, const wrench_set *forces, const derivative_matrices *d,
                                   real *h) {
    const derivative_tree *t = &s->tree;
    const real *dv = (const real *)d->dv;
    int nv = t->model->nv;
    for (int i = 0; i < nv; i++) {
        real sum = real_set(0);
        for (int j = 0; j < nv; j++) {
            sum = real_fma(dv[i * nv + j], s->v[j], sum);
        }
        h[i] = real_set(0.5) * sum;
    }
    vec3 a_0 = vec3_zero();
    for (int i = 0; i < t->count; i++) {
        const body *b = &t->model->bodies[i];
        a_0 = b->parent < 0 ? ((const root_motion *)t->roots)[i].a_0 : a_0;
        for (int k = 0; k < b->nv; k++) {
            const int y = t->first_column[i] + k;
            h[b->v_index + k] += vec3_dot(load_force(&columns_at(t, y)->products.IS, term_lane(y)).f, a_0);
        }
    }
    if (has_wrenches(forces)) {
        KERNEL(subtract_wrench_forces)(s, forces, h);
    }
}

void KERNEL(rnea_position_derivatives)(const derivative_state *s, const void *a, const wrench_set *forces,
                                       const derivative_matrices *d) {
    find_parts(s, POSITION_PART, (const real *)a, forces, d);
}

/* Computes both parts in one pass. */
int KERNEL(rnea_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in,
                             const derivative_matrices *dtau) {
    if (SERVES_STAGES && model->stage_count > 0) {
        return KERNEL(staged_rnea_derivatives)(model, memory, in, dtau);
    }
    derivative_state s = lay_out(model, memory, in);
    return find_parts(&s, BOTH_PARTS, (const real *)in->third, in->forces, dtau);
}
