/*
 * The recursive Newton-Euler algorithm: tau for the motion (q, v, a).
 *
 * Outward, from the world to the tips, in body coordinates, with the angular velocity w, the acceleration a of the
 * body's origin and the tensor U = alpha~ + w~ w~:
 *     f = m a + U h                    n = h x a + vee(U J) - external wrench
 * with the first moment h = m c and the second moment J = integral of r r' dm = tr(I)/2 - I; how the motion is carried
 * is in body_motion.h. Inward:
 *     tau = S' (n; f)                  f_p += R f          n_p += R n + r x R f
 * Gravity is an acceleration of the world, a_0 = -g.
 *
 * Sources: Luh, Walker and Paul 1980; the tensor U: Balafoutis and Patel 1991, algorithm 5.7; trees of joints:
 * Featherstone 2008, chapter 5.
 */
#include "body_motion.h"

typedef struct rnea_body {
    body_motion motion;
    force f;
} rnea_body;

size_t KERNEL(rnea_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(rnea_body);
}

/* The wrench that the motion takes: f = m a + U h, n = h x a + vee(U J). */
static inline force inertial_wrench(const body *b, const body_motion *k) {
    vec3 h = vec3_constant(b->first_moment);
    const double *I = b->inertia;
    double trace = 0.5 * (I[0] + I[3] + I[5]);
    real Jxx = real_set(trace - I[0]), Jyy = real_set(trace - I[3]), Jzz = real_set(trace - I[5]);
    real Jxy = real_set(-I[1]), Jxz = real_set(-I[2]), Jyz = real_set(-I[4]);
    mat3 U = k->U;
    /* vee(U J), whose component x is U_z . J_y - U_y . J_z, and so on. */
    real x = real_fma(U.zx, Jxy, real_fma(U.zy, Jyy, real_fma(-U.yx, Jxz, -(U.yz * Jzz))));
    real y = real_fma(U.xy, Jyz, real_fma(U.xz, Jzz, real_fma(-U.zx, Jxx, -(U.zy * Jxy))));
    real z = real_fma(U.yz, Jxz, real_fma(U.yx, Jxx, real_fma(-U.xy, Jyy, -(U.xz * Jyz))));
    vec3 n = vec3_set(real_fma(U.zz - U.yy, Jyz, x), real_fma(U.xx - U.zz, Jxz, y), real_fma(U.yy - U.xx, Jxy, z));
    return force_set(vec3_cross_add(h, k->a, n), vec3_fma(real_set(b->mass), k->a, mat3_apply(U, h)));
}

/* One step outward. */
KERNEL_STEP void outward(const body *b, motion_type type, placement X, const body_motion *parent, const real *v,
                         const real *a, rnea_body *k) {
    carry_motion(b, type, X, parent, v, a, &k->motion);
    k->f = inertial_wrench(b, &k->motion);
}

static void outward_pass(const dyn_model *model, const placement *X, const double gravity[3], const real *v,
                         const real *a, rnea_body *bodies) {
    body_motion world = world_motion(gravity);
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        const body_motion *parent = b->parent < 0 ? &world : &bodies[b->parent].motion;
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

/* Both passes: tau, and for every body the wrench that its joint carries. */
static const rnea_body *find_wrenches(const dyn_model *model, void *memory, const double gravity[3], const real *q,
                                      const real *v, const real *a, const wrench_set *forces, real *tau) {
    placement *X = KERNEL(placements)(model, q, &memory);
    rnea_body *bodies = (rnea_body *)memory;
    outward_pass(model, X, gravity, v, a, bodies);
    for (size_t j = 0; forces && j < forces->count; j++) {
        force f = KERNEL(body_wrench)(model, X, forces->frames[j], (const real *)forces->wrenches + 6 * j);
        rnea_body *k = &bodies[model->frames[forces->frames[j].frame].body];
        k->f = force_sub(k->f, f);
    }
    inward_pass(model, X, bodies, tau);
    return bodies;
}

void KERNEL(rnea)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                  const void *a, const wrench_set *forces, void *tau) {
    find_wrenches(model, memory, gravity, (const real *)q, (const real *)v, (const real *)a, forces, (real *)tau);
}

size_t KERNEL(joint_wrenches_memory)(const dyn_model *model) {
    return (size_t)model->nv * sizeof(real) + KERNEL(rnea_memory)(model);
}

/* (n; f) of each joint, in the axes and about the origin of its child link. */
void KERNEL(joint_wrenches)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                            const void *a, const wrench_set *forces, void *wrenches) {
    real *tau = (real *)memory, *out = (real *)wrenches;
    const rnea_body *bodies =
        find_wrenches(model, tau + model->nv, gravity, (const real *)q, (const real *)v, (const real *)a, forces, tau);
    for (int j = 0; j < model->joint_count; j++, out += 6) {
        const body_frame *link = &model->frames[model->joints[j].child_link];
        mat3 R = mat3_constant(link->pose.rotation);
        vec3 n = mat3_apply_transposed(R, bodies[link->body].f.n), f = mat3_apply_transposed(R, bodies[link->body].f.f);
        out[0] = n.x, out[1] = n.y, out[2] = n.z;
        out[3] = f.x, out[4] = f.y, out[5] = f.z;
    }
}
