/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kinetic and potential energy:
 *     T = sum of v_i' I_i v_i / 2        V = -sum of g' (m r + R h)
 * with the twist v_i in the body's frame. V is zero with all mass at the world's origin.
 *
 * The rotors that drive a joint (driven_joint.h) add v (g . w_p + d v / 2) to T, with the joint's rate v and the
 * angular velocity w_p of the parent.
 *
 * Source: Featherstone 2008, section 2.13.
 */
#include "driven_joint.h"
#include "stages.h"

typedef struct energy_body {
    placement W;
    motion v;
} energy_body;

/* Returns the kinetic energy that the spin of its rotors adds to a driven joint with the rate v. */
static real rotor_energy(const body *b, const energy_body *bodies, real v) {
    real momentum = real_set(0.5) * reflected_inertia(b) * v;
    return v * (b->parent < 0 ? momentum : vec3_dot_add(rotor_couple(b), bodies[b->parent].v.w, momentum));
}

size_t KERNEL(energy_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(energy_body);
}

void KERNEL(energy)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                    void *energies) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_energy)(model, memory, gravity, q, v, energies);
        return;
    }
    placement *X = KERNEL(placements)(model, (const real *)q, &memory);
    energy_body *bodies = (energy_body *)memory;
    real T = real_set(0), V = real_set(0);
    vec3 g = vec3_constant(gravity);
    for (int i = 0; i < count_computed(model); i++) {
        const body *b = &model->bodies[i];
        energy_body *k = &bodies[i];
        rigid_inertia I = computed_inertia(model, b);
        motion vJ = joint_motion(b, b->motion, (const real *)v + b->v_index);
        k->W = b->parent < 0 ? X[i] : placement_compose(bodies[b->parent].W, X[i]);
        k->v = b->parent < 0 ? vJ : motion_add(motion_to_child(X[i], bodies[b->parent].v), vJ);
        T = real_fma(real_set(0.5), spatial_dot(k->v, rigid_inertia_apply(I, k->v)), T);
        if (has_driven_joints(model) && b->is_driven) {
            T = T + rotor_energy(b, bodies, ((const real *)v)[b->v_index]);
        }
        V = V - vec3_dot(g, vec3_fma(I.m, k->W.r, mat3_apply(k->W.R, I.h)));
    }
    ((real *)energies)[0] = T;
    ((real *)energies)[1] = V;
}
