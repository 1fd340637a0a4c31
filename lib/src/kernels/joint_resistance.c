/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passive joint forces: viscous damping b, Coulomb friction f, and a spring beyond each limit.
 *
 *     r_j = -(b_j + f_j / sqrt(v_j^2 + v_f^2)) v_j + s_j(q_j, v_j)
 *
 * The friction velocity v_f makes Coulomb friction f sign(v) smooth. A joint under a force f / sqrt(2) creeps at v_f.
 * The spring has the stiffness k and the damping d, and never pulls:
 *     depth p > 0 beyond the upper limit: s = -max(k p + d v, 0); beyond the lower one: s = max(k p - d v, 0)
 *
 * A semi-implicit step evaluates r at the new velocity with the coefficient K = b + f / sqrt(v^2 + v_f^2) of the old
 * one, which is stable for any b and f: K dt is added to the diagonal of M, and -K v to the forces.
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

static inline real positive_part(real x) {
    return real_where_positive(x, x, real_set(0));
}

/* Adds the forces of the springs beyond joint limits. */
static void add_springs(const joint_resistance *r, const real *q, const real *v, real *tau) {
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
    add_springs(r, q, v, tau);
}

int KERNEL(resist_implicitly)(const dyn_model *model, const joint_resistance *r, double dt, const real *q,
                              const real *v, real *tau, real *diagonal) {
    int has_diagonal = r->damping || r->friction;
    for (int j = 0; has_diagonal && j < model->nv; j++) {
        real K = resistance_at(r, j, v[j]);
        tau[j] = tau[j] - K * v[j];
        diagonal[j] = real_set(dt) * K;
    }
    add_springs(r, q, v, tau);
    return has_diagonal;
}
