/*
 * Gravity forces g(q): the recursive Newton-Euler algorithm at rest.
 *     a = R' a_p, a_0 = -g        f = m a        n = h x a
 *     tau = S' (n; f)             f_p += R f     n_p += R n + r x R f
 */
#include "instance.h"

typedef struct gravity_body {
    vec3 a;
    force f;
} gravity_body;

size_t KERNEL(gravity_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(gravity_body);
}

void KERNEL(gravity)(const dyn_model *model, void *memory, const double gravity[3], const void *q, void *g) {
    placement *X = KERNEL(placements)(model, (const real *)q, &memory);
    gravity_body *bodies = (gravity_body *)memory;
    real *tau = (real *)g;

    /* Outward: the acceleration against gravity in body axes. */
    vec3 a_0 = vec3_sub(vec3_zero(), vec3_constant(gravity));
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        const body_constants *c = constants_of(b);
        vec3 a = mat3_apply_transposed(X[i].R, b->parent < 0 ? a_0 : bodies[b->parent].a);
        bodies[i].a = a;
        bodies[i].f = force_set(vec3_cross(vec3_rounded(c->first_moment), a), vec3_scale(rounded_set(c->mass), a));
    }

    /* Inward: the forces that the joints carry. */
    for (int i = 0; i < model->nv; i++) {
        tau[i] = real_set(0);
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        for (int k = 0; k < b->nv; k++) {
            tau[b->v_index + k] += real_set(b->ratio) * joint_force(b, b->motion, k, bodies[i].f);
        }
        if (b->parent >= 0) {
            bodies[b->parent].f = force_add(bodies[b->parent].f, force_to_parent(X[i], bodies[i].f));
        }
    }
}
