/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Articulated inertia and bias of one body, by the inward step of the articulated-body algorithm, in the axes and about
 * the origin of the world (articulated_joint.h). Each body starts with its rigid inertia I and
 *     p = v x* I v - external wrench - weight
 * A joint that a rotor drives has the couple g and the reflected inertia d of aba.c: U = I_A h + g, D = h' I_A h + d,
 * and p of its parent gains v_parent x* g dq.
 *
 * Where bodies share coordinates otherwise, clusters of them are eliminated together (articulated_cluster.h).
 *
 * Source: Featherstone 2008, table 7.1; Jain and Rodriguez 1990 for geared motors.
 */
#include "articulated_inertia.h"

#include "articulated_cluster.h"
#include "articulated_joint.h"
#include "world_links.h"

/* Arrays of one value for each body. */
typedef struct articulated_bodies {
    const world_link *links;
    articulated_inertia *I;
    force *p;
} articulated_bodies;

/* Sets the inertia and the bias of body i without its subtree. */
static void start_body(const mechanism *m, articulated_bodies t, int i) {
    const world_link *l = &t.links[i];
    rigid_inertia own = body_inertia(m->links[i].b);
    if (m->link_count < m->count) {
        own.I = sym3_rounded(constants_of(m->links[i].b)->carried_inertia);
    }
    rigid_inertia I = rigid_inertia_to_parent(l->X, own);
    t.I[i] = articulated_from_rigid(I);
    t.p[i] = force_sub(force_cross(l->v, rigid_inertia_apply(I, l->v)),
                       rigid_inertia_apply(I, motion_set(vec3_zero(), m->gravity)));
    if (m->external) {
        t.p[i] = force_sub(t.p[i], KERNEL(world_external)(m, l, i));
    }
}

/* Returns the couple g of the rotors that drive the joint of body i, in the world. */
static vec3 rotor_couple(const mechanism *m, articulated_bodies t, int i) {
    vec3 g = vec3_rounded(constants_of(m->links[i].b)->rotor_couple);
    return t.links[i].parent < 0 ? g : mat3_apply(t.links[t.links[i].parent].X.R, g);
}

/* Adds what the parent of body i feels of it to the parent. */
static void cross_joint(const mechanism *m, articulated_bodies t, int i, const real *v, const real *tau) {
    const world_link *l = &t.links[i];
    articulated_joint j;
    real x[6];
    KERNEL(articulate_joint)(l->nv, l->h, t.I[i], &j);
    force p = force_add(t.p[i], articulated_apply(t.I[i], l->c));
    for (int k = 0; k < l->nv; k++) {
        x[k] = tau[l->v_index + k] - spatial_dot(l->h[k], p);
    }
    if (m->link_count < m->count && m->links[i].b->is_driven) {
        vec3 g = rotor_couple(m, t, i);
        real D = j.D[0] + rounded_set(constants_of(m->links[i].b)->reflected_inertia);
        j.U[0].n = vec3_add(j.U[0].n, g);
        j.G[0] = force_scale(real_set(1) / D, j.U[0]);
        t.p[l->parent].n = vec3_fma(v[l->v_index], vec3_cross(t.links[l->parent].v.w, g), t.p[l->parent].n);
    }
    t.I[l->parent] = articulated_add(t.I[l->parent], KERNEL(inertia_across)(&j, t.I[i]));
    t.p[l->parent] = force_add(t.p[l->parent], KERNEL(add_gain)(&j, x, p));
}

/* Returns a wrench of the world in the axes and about the origin of a frame with the placement X. */
static force to_frame(placement X, force f) {
    return force_set(mat3_apply_transposed(X.R, vec3_sub(f.n, vec3_cross(X.r, f.f))), mat3_apply_transposed(X.R, f.f));
}

static void store(force f, size_t stride, real *out) {
    const real entries[6] = {f.n.x, f.n.y, f.n.z, f.f.x, f.f.y, f.f.z};
    for (size_t row = 0; row < 6; row++) {
        out[row * stride] = entries[row];
    }
}

/* Stores the inertia I and the bias p of body i in the reference frame. The classical acceleration of a frame that is
 * aligned with the world exceeds the spatial one by w x v. */
static void refer(const mechanism *m, const articulated_frame *of, const world_link *l, articulated_inertia I, force p,
                  real *inertia, real *bias) {
    placement X = placement_identity();
    if (of->reference_frame != DYN_REFERENCE_FRAME_WORLD) {
        const dyn_pose *pose = &m->model->frames[of->link].pose;
        X = placement_compose(l->X, placement_constant(pose->rotation, pose->position));
    }
    if (of->reference_frame == DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED) {
        X.R = placement_identity().R;
        vec3 velocity = vec3_add(l->v.v, vec3_cross(l->v.w, X.r));
        p = force_sub(p, articulated_apply(I, motion_set(vec3_zero(), vec3_cross(l->v.w, velocity))));
    }
    for (int k = 0; k < 6; k++) {
        motion unit = motion_to_parent(X, axis_motion((spatial_axis)k));
        store(to_frame(X, articulated_apply(I, unit)), 6, inertia + k);
    }
    store(to_frame(X, p), 1, bias);
}

/* Eliminates the subtree of body `root` joint by joint, from the leaves on. */
static void cross_subtree(const mechanism *m, articulated_bodies t, int root, const real *v, const real *tau) {
    for (int i = root; i < m->link_count; i++) {
        start_body(m, t, i);
    }
    for (int i = m->link_count - 1; i > root; i--) {
        if (mechanism_carries(m, root, i)) {
            cross_joint(m, t, i, v, tau);
        }
    }
}

void KERNEL(articulate_body)(const mechanism *m, const real *v, const real *tau, const articulated_frame *of,
                             scratch *s, real *inertia, real *bias) {
    articulated_bodies t;
    t.links = KERNEL(world_links)(m, v, s);
    t.I = (articulated_inertia *)scratch_take(s, (size_t)m->count, sizeof(articulated_inertia));
    t.p = (force *)scratch_take(s, (size_t)m->count, sizeof(force));
    int root = t.links ? mechanism_link_of(m->model, m->model->frames[of->link].body) : 0;
    if (!t.links || of->has_clusters) {
        KERNEL(articulate_cluster)(m, t.links, root, tau, s, t.I + root, t.p + root);
    } else {
        cross_subtree(m, t, root, v, tau);
    }
    if (t.links) {
        refer(m, of, &t.links[root], t.I[root], t.p[root], inertia, bias);
    }
}
