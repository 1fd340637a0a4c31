/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regressors of the energies, which are linear in the inertial parameters p = (m, h, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of
 * every moving link about the origin and in the axes of the link's frame: T = y_T' p, V = y_V' p.
 *
 * With the twist (w; v) of the link's frame in its own axes, R its orientation and r its origin in the world,
 *     T = m v^2 / 2 + h . (v x w) + w' I w / 2            V = -m g . r - h . R' g
 *
 * Source: Gautier and Khalil 1988, "On the identification of the inertial parameters of robots".
 */
#include "instance.h"
#include "stages.h"

enum { PARAMETERS = 10 };

typedef struct regressor_body {
    placement W;
    motion v;
} regressor_body;

size_t KERNEL(energy_regressor_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(regressor_body);
}

/* Computes the entries of one link for the kinetic energy, with u = v x w for h . (v x w) = h . u. */
static void kinetic_row(vec3 w, vec3 v, real *y) {
    real half = real_set(0.5);
    vec3 u = vec3_cross(v, w);
    y[0] = half * vec3_dot(v, v);
    y[1] = u.x, y[2] = u.y, y[3] = u.z;
    y[4] = half * w.x * w.x, y[5] = w.x * w.y, y[6] = half * w.y * w.y;
    y[7] = w.x * w.z, y[8] = w.y * w.z, y[9] = half * w.z * w.z;
}

/* Computes the entries of one link for the potential energy. `turned` is R' g. */
static void potential_row(vec3 r, vec3 g, vec3 turned, real *y) {
    y[0] = -vec3_dot(g, r);
    y[1] = -turned.x, y[2] = -turned.y, y[3] = -turned.z;
    for (int i = 4; i < PARAMETERS; i++) {
        y[i] = real_set(0);
    }
}

void KERNEL(energy_regressor)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                              const void *v, void *kinetic, void *potential) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_energy_regressor)(model, memory, gravity, q, v, kinetic, potential);
        return;
    }
    placement *X = KERNEL(placements)(model, (const real *)q, &memory);
    regressor_body *bodies = (regressor_body *)memory;
    vec3 g = vec3_constant(gravity);
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        motion vJ = joint_motion(b, b->motion, (const real *)v + b->v_index);
        bodies[i].W = b->parent < 0 ? X[i] : placement_compose(bodies[b->parent].W, X[i]);
        bodies[i].v = b->parent < 0 ? vJ : motion_add(motion_to_child(X[i], bodies[b->parent].v), vJ);
    }
    for (int j = 0; j < model->joint_count; j++) {
        const body_frame *link = &model->frames[model->joints[j].child_link];
        const regressor_body *k = &bodies[link->body];
        /* The origin of the link's frame is that of the body's. */
        mat3 R = mat3_constant(link->pose.rotation);
        vec3 turned = mat3_apply_transposed(R, mat3_apply_transposed(k->W.R, g));
        kinetic_row(mat3_apply_transposed(R, k->v.w), mat3_apply_transposed(R, k->v.v),
                    (real *)kinetic + PARAMETERS * j);
        potential_row(k->W.r, g, turned, (real *)potential + PARAMETERS * j);
    }
}
