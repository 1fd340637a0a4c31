/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recursive Newton-Euler algorithm: tau for the motion (q, v, a).
 *
 * The outward pass goes from the world to the tips, in body coordinates. It propagates the angular velocity w, the
 * acceleration a of the body's origin and the tensor U = alpha~ + w~ w~ (body_motion.h), and computes the inertial
 * wrench of each body:
 *     f = m a + U h                    n = h x a + vee(U J) - external wrench
 * with the first moment h = m c and the second moments J = integral of r r' dm. The inward pass projects the wrench on
 * the joint's axes and adds it to the parent's:
 *     tau = S' (n; f)                  f_p += R f          n_p += R n + r x R f
 * Gravity is an acceleration of the world, a_0 = -g.
 *
 * Joint forces follow from grouped inertial parameters (model/group_inertias.h). A serial body has m = h_z = J_zz = 0
 * there, so that these terms vanish. Wrenches that joints transmit need the bodies' own parameters.
 *
 * Rotors are computed with the joint that they drive (driven_joint.h). The parameters of the body that carries them
 * include their axial inertias.
 *
 * Sources: Luh, Walker and Paul 1980; the tensor U: Balafoutis and Patel 1991, algorithm 5.7; trees of joints:
 * Featherstone 2008, chapter 5.
 */
#include "driven_joint.h"
#include "inertial_wrench.h"
#include "../model/joint_placement.h"
#include "stages.h"

/* Configuration, velocity and acceleration of the joints. */
typedef struct joint_motions {
    const real *q, *v, *a;
} joint_motions;

/* Scratch memory of both passes. */
typedef struct rnea_tree {
    joint_turns turns;
    placement *X;         /* of bodies without a hinge */
    body_motion *motions; /* of bodies with children that are not serial */
    force *f;
    real *driving; /* forces of the rotors along each coordinate; apart from tau, which may be an input */
} rnea_tree;

/* Inertial parameters of the bodies that a pass reads. */
typedef struct parameters {
    bool grouped; /* for joint forces; otherwise the bodies' own */
    bool carried; /* with rotors at rest */
} parameters;

size_t KERNEL(rnea_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->nv * sizeof(real) +
           (size_t)model->body_count * (3 * sizeof(real) + sizeof(body_motion) + sizeof(force));
}

/* Computes the motion of body i, whose joint has any type. */
static body_motion carry_to_body(const dyn_model *model, const double gravity[3], joint_motions x, rnea_tree t, int i) {
    const body *b = &model->bodies[i];
    body_motion k;
    if (b->hinge) {
        hinge h = hinge_at(b, t.turns, i);
        return b->parent < 0 ? carry_from_world(h, gravity, x.v[b->v_index], x.a[b->v_index])
                             : carry_through_hinge(h, &t.motions[b->parent], x.v[b->v_index], x.a[b->v_index]);
    }
    body_motion world = world_motion(gravity);
    t.X[i] = joint_placement(b, x.q + b->q_index, t.turns.sine[i], t.turns.cosine[i]);
    carry_motion(b, b->motion, t.X[i], b->parent < 0 ? &world : &t.motions[b->parent], x.v + b->v_index,
                 x.a + b->v_index, &k);
    return k;
}

/* Returns J = tr(I) / 2 - I. */
static inline sym3 second_moments(sym3 I) {
    real half = real_set(0.5) * (I.xx + I.yy + I.zz);
    return sym3_set(half - I.xx, -I.xy, -I.xz, half - I.yy, -I.yz, half - I.zz);
}

/* Computes the inertial wrench of a body. `serial` is a constant that equals b->serial. */
KERNEL_STEP force wrench_of(const body *b, const body_motion *k, parameters used, bool serial) {
    const body_constants *c = constants_of(b);
    if (used.grouped) {
        return grouped_wrench(used.carried ? &c->carried : &c->grouped, k, serial);
    }
    sym3 J = used.carried ? second_moments(carried_inertia(b).I) : sym3_rounded(c->moments);
    return inertial_wrench(rounded_set(c->mass), vec3_rounded(c->first_moment), J, k);
}

/* Adds the moments of the rotors that drive the joint of a body, whose parent has the motion `parent`. */
KERNEL_STEP void add_rotor_moments(const body *b, joint_motions x, rnea_tree t, const body_motion *parent) {
    vec3 g = rotor_couple(b);
    real v = x.v[b->v_index], a = x.a[b->v_index], *tau = &t.driving[b->v_index];
    *tau = real_fma(reflected_inertia(b), a, *tau);
    if (b->parent >= 0) {
        force *f = &t.f[b->parent];
        f->n = vec3_fma(a, g, vec3_fma(v, vec3_cross(parent->w, g), f->n));
        *tau = *tau + vec3_dot(g, parent->alpha);
    }
}

/* Computes the inertial wrenches of all bodies, and the forces of the rotors. */
KERNEL_STEP void outward_pass(const dyn_model *model, const double gravity[3], joint_motions x, rnea_tree t,
                              parameters used) {
    const body *bodies = model->bodies;
    for (int i = 0, count = count_computed(model); i < count;) {
        body_motion k = carry_to_body(model, gravity, x, t, i);
        t.f[i] = wrench_of(&bodies[i], &k, used, false);
        if (used.carried && bodies[i].is_driven) {
            add_rotor_moments(&bodies[i], x, t, bodies[i].parent < 0 ? NULL : &t.motions[bodies[i].parent]);
        }
        for (;;) {
            if (bodies[i].has_other_children) {
                t.motions[i] = k;
            }
            if (++i == count || !bodies[i].serial) {
                break;
            }
            const body *b = &bodies[i];
            if (used.carried && b->is_driven) {
                add_rotor_moments(b, x, t, &k);
            }
            k = carry_through_hinge(hinge_at(b, t.turns, i), &k, x.v[b->v_index], x.a[b->v_index]);
            t.f[i] = wrench_of(b, &k, used, true);
        }
    }
}

/* Computes tau, and the wrench that each joint transmits in t.f. `coupled`: rotors and coupled mimic joints
 * add to the forces of other joints. */
KERNEL_STEP void inward_pass(const dyn_model *model, rnea_tree t, bool coupled, real *tau) {
    const body *bodies = model->bodies;
    for (int i = 0; coupled && i < model->nv; i++) {
        tau[i] = has_driven_joints(model) ? t.driving[i] : real_set(0);
    }
    for (int i = count_computed(model) - 1; i >= 0; i--) {
        force f = t.f[i];
        for (; bodies[i].serial; i--) {
            real *to = &tau[bodies[i].v_index];
            *to = coupled ? *to + f.n.z : f.n.z;
            f = t.f[i - 1] = hinge_force_to_parent(hinge_at(&bodies[i], t.turns, i), f, t.f[i - 1]);
        }
        const body *b = &bodies[i];
        for (int k = 0; k < b->nv; k++) {
            real *to = &tau[b->v_index + k], along = joint_force(b, b->motion, k, f);
            *to = coupled ? *to + rounded_set(constants_of(b)->ratio) * along : along;
        }
        if (b->parent >= 0) {
            force *p = &t.f[b->parent];
            *p = b->hinge ? hinge_force_to_parent(hinge_at(b, t.turns, i), f, *p)
                          : force_add(force_to_parent(t.X[i], f), *p);
        }
    }
}

/* Runs both passes. Returns, for every body, the wrench that its joint transmits. */
KERNEL_STEP const force *find_wrenches(const dyn_model *model, void *memory, const packed_inputs *in, bool grouped,
                                       real *tau) {
    const joint_motions x = {(const real *)in->q, (const real *)in->v, (const real *)in->third};
    rnea_tree t;
    t.f = (force *)memory;
    t.motions = (body_motion *)(t.f + model->body_count);
    t.driving = (real *)(t.motions + model->body_count);
    memory = t.driving + (has_driven_joints(model) ? model->nv : 0);
    t.turns = KERNEL(joint_turns)(model, x.q, &memory);
    t.X = (placement *)memory;
    for (int i = 0; has_driven_joints(model) && i < model->nv; i++) {
        t.driving[i] = real_set(0);
    }
    const parameters links = {grouped, false}, carriers = {grouped, true};
    if (has_driven_joints(model)) {
        outward_pass(model, in->gravity, x, t, carriers);
    } else {
        outward_pass(model, in->gravity, x, t, links);
    }
    if (in->forces && in->forces->count > 0) {
        KERNEL(subtract_wrenches)(model, memory, x.q, in->forces, t.f);
    }
    if (model->has_coupling) {
        inward_pass(model, t, true, tau);
    } else {
        inward_pass(model, t, false, tau);
    }
    return t.f;
}

void KERNEL(rnea)(const dyn_model *model, void *memory, const packed_inputs *in, void *tau) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_rnea)(model, memory, in, tau);
        return;
    }
    find_wrenches(model, memory, in, true, (real *)tau);
}

size_t KERNEL(joint_wrenches_memory)(const dyn_model *model) {
    return (size_t)model->nv * sizeof(real) + KERNEL(rnea_memory)(model);
}

/* Computes (n; f) of each joint, in the axes and about the origin of its child link. */
void KERNEL(joint_wrenches)(const dyn_model *model, void *memory, const packed_inputs *in, void *wrenches) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_joint_wrenches)(model, memory, in, wrenches);
        return;
    }
    real *tau = (real *)memory, *out = (real *)wrenches;
    const force *f = find_wrenches(model, tau + model->nv, in, false, tau);
    for (int j = 0; j < model->joint_count; j++, out += 6) {
        const body_frame *link = &model->frames[model->joints[j].child_link];
        mat3 R = mat3_constant(link->pose.rotation);
        vec3 n = mat3_apply_transposed(R, f[link->body].n), l = mat3_apply_transposed(R, f[link->body].f);
        out[0] = n.x, out[1] = n.y, out[2] = n.z;
        out[3] = l.x, out[4] = l.y, out[5] = l.z;
    }
}
