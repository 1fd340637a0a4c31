/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passive joint forces: viscous damping b, Coulomb friction f, friction laws and springs of machine elements, and a
 * spring beyond each limit.
 *
 *     r_j = -(b_j + f_j / sqrt(v_j^2 + v_f^2)) v_j + s_j(q_j, v_j)
 *
 * The friction velocity v_f makes Coulomb friction f sign(v) smooth. A joint under a force f / sqrt(2) creeps at v_f.
 * The spring has the stiffness k and the damping d, and never pulls:
 *     depth p > 0 beyond the upper limit: s = -max(k p + d v, 0); beyond the lower one: s = max(k p - d v, 0)
 *
 * A law of a machine element adds -K v with, for the sign of v,
 *     K = b + (f_c + (f_s - f_c) / (1 + (v / v_s)^2)) / sqrt(v^2 + w^2)
 * and a spring with the rest position q_0 adds -k (q - q_0).
 *
 * A semi-implicit step evaluates r at the new velocity with the coefficient K = b + f / sqrt(v^2 + v_f^2) of the old
 * one, and with the K of each law, which is stable for any friction: K dt is added to the diagonal of M, and -K v to
 * the forces. Springs with a rest position act at the old configuration.
 */
#include "instance.h"

/* Returns K of one coordinate. */
static inline real resistance_at(const joint_resistance *r, int j, real v) {
    real K = real_set(r->damping ? r->damping[j] : 0);
    if (r->friction) {
        K = K +
            real_set(r->friction[j]) / real_sqrt(real_fma(v, v, real_set(r->friction_velocity * r->friction_velocity)));
    }
    return K;
}

/* Returns a for positive rates v, otherwise b. */
static inline real by_direction(real v, const double values[2]) {
    return real_where_positive(v, real_set(values[0]), real_set(values[1]));
}

/* Returns K of a friction law. */
static inline real law_at(const joint_resistance *r, const friction_law *law, real v) {
    double w = law->transition_velocity > 0 ? law->transition_velocity : r->friction_velocity;
    real x = real_set(1 / law->stribeck_velocity) * v;
    real dry = by_direction(v, law->coulomb) + by_direction(v, law->excess) / real_fma(x, x, real_set(1));
    return by_direction(v, law->viscous) + dry / real_sqrt(real_fma(v, v, real_set(w * w)));
}

static inline real positive_part(real x) {
    return real_where_positive(x, x, real_set(0));
}

/* Adds the forces of the springs with rest positions, and of those beyond joint limits. */
static void add_springs(const joint_resistance *r, const real *q, const real *v, real *tau) {
    for (int i = 0; i < r->rest_count; i++) {
        const spring_law *s = &r->rests[i];
        tau[s->v_index] = real_fma(real_set(-s->stiffness), q[s->q_index] - real_set(s->rest), tau[s->v_index]);
    }
    for (int i = 0; i < r->spring_count; i++) {
        real x = q[r->spring_q[i]], damping = real_set(r->spring_damping) * v[r->spring_v[i]];
        real above = x - real_set(r->spring_upper[i]), below = real_set(r->spring_lower[i]) - x;
        real push_down = positive_part(real_fma(real_set(r->spring_stiffness), above, damping));
        real push_up = positive_part(real_fma(real_set(r->spring_stiffness), below, -damping));
        real *t = &tau[r->spring_v[i]];
        *t = *t +
             (real_where_positive(below, push_up, real_set(0)) - real_where_positive(above, push_down, real_set(0)));
    }
}

void KERNEL(add_resistance)(const dyn_model *model, const joint_resistance *r, const real *q, const real *v,
                            real *tau) {
    for (int j = 0; (r->damping || r->friction) && j < model->nv; j++) {
        tau[j] = tau[j] - resistance_at(r, j, v[j]) * v[j];
    }
    for (int i = 0; i < r->law_count; i++) {
        int j = r->laws[i].v_index;
        tau[j] = tau[j] - law_at(r, &r->laws[i], v[j]) * v[j];
    }
    add_springs(r, q, v, tau);
}

int KERNEL(resist_implicitly)(const dyn_model *model, const joint_resistance *r, double dt, const real *q,
                              const real *v, real *tau, real *diagonal) {
    int has_diagonal = r->damping || r->friction || r->law_count > 0;
    for (int j = 0; has_diagonal && j < model->nv; j++) {
        real K = resistance_at(r, j, v[j]);
        tau[j] = tau[j] - K * v[j];
        diagonal[j] = real_set(dt) * K;
    }
    for (int i = 0; i < r->law_count; i++) {
        int j = r->laws[i].v_index;
        real K = law_at(r, &r->laws[i], v[j]);
        tau[j] = tau[j] - K * v[j];
        diagonal[j] = real_fma(real_set(dt), K, diagonal[j]);
    }
    add_springs(r, q, v, tau);
    return has_diagonal;
}
