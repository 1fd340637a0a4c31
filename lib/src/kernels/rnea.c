/*
 * The recursive Newton-Euler algorithm: tau for the motion (q, v, a).
 *
 * Outward, from the world to the tips, in body coordinates; primes are quantities of the parent carried to the child,
 * v_J = S v and a_J = S a the joint's relative motion, and a the acceleration of the body's origin:
 *     w = w' + w_J                     w' = R' w_p
 *     alpha = alpha' + w' x w_J + alpha_J
 *     U = alpha~ + w~ w~
 *     a = R' (a_p + U_p r) + (2 w' + w_J) x v_J + a_J
 *     f = m a + U h                    n = h x a + vee(U J) - external wrench
 * with the first moment h = m c and the second moment J = integral of r r' dm = tr(I)/2 - I. No linear velocity is
 * needed. Inward:
 *     tau = S' (n; f)                  f_p += R f          n_p += R n + r x R f
 * Gravity is an acceleration of the world, a_0 = -g.
 *
 * Sources: Luh, Walker and Paul 1980; the tensor U: Balafoutis and Patel 1991, algorithm 5.7; trees of joints:
 * Featherstone 2008, chapter 5.
 */
#include "instance.h"

typedef struct rnea_body {
    vec3 w, alpha, a;
    mat3 U;
    force f;
} rnea_body;

size_t KERNEL(rnea_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(rnea_body);
}

/* U = alpha~ + w~ w~ */
static inline mat3 acceleration_tensor(vec3 w, vec3 alpha) {
    real xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
    real xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
    return mat3_from_columns(vec3_set(-(yy + zz), xy + alpha.z, xz - alpha.y),
                             vec3_set(xy - alpha.z, -(xx + zz), yz + alpha.x),
                             vec3_set(xz + alpha.y, yz - alpha.x, -(xx + yy)));
}

/* The wrench that the motion takes: f = m a + U h, n = h x a + vee(U J). */
static inline force inertial_wrench(const body *b, const rnea_body *k) {
    vec3 h = vec3_constant(b->first_moment);
    const double *I = b->inertia;
    double trace = 0.5 * (I[0] + I[3] + I[5]);
    vec3 Jx = vec3_set(real_set(trace - I[0]), real_set(-I[1]), real_set(-I[2]));
    vec3 Jy = vec3_set(Jx.y, real_set(trace - I[3]), real_set(-I[4]));
    vec3 Jz = vec3_set(Jx.z, Jy.z, real_set(trace - I[5]));
    mat3 U = k->U;
    vec3 Ux = vec3_set(U.xx, U.xy, U.xz), Uy = vec3_set(U.yx, U.yy, U.yz), Uz = vec3_set(U.zx, U.zy, U.zz);
    vec3 n = vec3_set(vec3_dot(Uz, Jy) - vec3_dot(Uy, Jz), vec3_dot(Ux, Jz) - vec3_dot(Uz, Jx),
                      vec3_dot(Uy, Jx) - vec3_dot(Ux, Jy));
    return force_set(vec3_add(vec3_cross(h, k->a), n), vec3_fma(real_set(b->mass), k->a, mat3_apply(U, h)));
}

/* One step outward. */
KERNEL_STEP void outward(const body *b, motion_type type, placement X, const rnea_body *parent, const real *v,
                         const real *a, rnea_body *k) {
    motion vJ = joint_motion(b, type, v), aJ = joint_motion(b, type, a);
    vec3 w = mat3_apply_transposed(X.R, parent->w);
    k->w = vec3_add(w, vJ.w);
    k->alpha = vec3_add(vec3_add(mat3_apply_transposed(X.R, parent->alpha), vec3_cross(w, vJ.w)), aJ.w);
    k->U = acceleration_tensor(k->w, k->alpha);
    k->a = mat3_apply_transposed(X.R, vec3_add(parent->a, mat3_apply(parent->U, X.r)));
    if (type != MOTION_REVOLUTE && type != MOTION_SPHERICAL) {
        k->a = vec3_add(k->a, vec3_add(vec3_cross(vec3_add(w, k->w), vJ.v), aJ.v));
    }
    k->f = inertial_wrench(b, k);
}

static void outward_pass(const dyn_model *model, const placement *X, const double gravity[3], const real *v,
                         const real *a, rnea_body *bodies) {
    rnea_body world;
    world.w = world.alpha = vec3_zero();
    world.a = vec3_sub(vec3_zero(), vec3_constant(gravity));
    world.U = acceleration_tensor(world.w, world.alpha);
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        const rnea_body *parent = b->parent < 0 ? &world : &bodies[b->parent];
        switch (b->motion) {
        case MOTION_REVOLUTE:
            outward(b, MOTION_REVOLUTE, X[i], parent, v + b->v_index, a + b->v_index, &bodies[i]);
            break;
        case MOTION_PRISMATIC:
            outward(b, MOTION_PRISMATIC, X[i], parent, v + b->v_index, a + b->v_index, &bodies[i]);
            break;
        default:
            outward(b, b->motion, X[i], parent, v + b->v_index, a + b->v_index, &bodies[i]);
        }
    }
}

static void inward_pass(const dyn_model *model, const placement *X, rnea_body *bodies, real *tau) {
    for (int i = 0; i < model->nv; i++) {
        tau[i] = real_set(0);
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        for (int k = 0; k < b->nv; k++) {
            tau[b->v_index + k] += b->ratio * joint_force(b, b->motion, k, bodies[i].f);
        }
        if (b->parent >= 0) {
            bodies[b->parent].f = force_add(bodies[b->parent].f, force_to_parent(X[i], bodies[i].f));
        }
    }
}

void KERNEL(rnea)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                  const void *a, const wrench_set *forces, void *tau) {
    placement *X = KERNEL(placements)(model, (const real *)q, &memory);
    rnea_body *bodies = (rnea_body *)memory;
    outward_pass(model, X, gravity, (const real *)v, (const real *)a, bodies);
    for (size_t j = 0; forces && j < forces->count; j++) {
        force f = KERNEL(body_wrench)(model, X, forces->frames[j], (const real *)forces->wrenches + 6 * j);
        rnea_body *k = &bodies[model->frames[forces->frames[j].frame].body];
        k->f = force_sub(k->f, f);
    }
    inward_pass(model, X, bodies, (real *)tau);
}
