/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joint-torque regressor: tau = Y(q, v, a) p, for the parameters p = (m, h, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of every
 * moving link with the links that are fixed to it, about the origin and in the axes of the link's frame.
 *
 * A link with the angular velocity w, the acceleration a of its origin and U = alpha~ + w~ w~ has the inertial wrench
 *     f = m a + U h                    n = h x a + I alpha + w x I w
 * which is linear in its parameters. Each of the ten columns is transformed to the root as a force, and its component
 * along S_j is the entry of joint j.
 *
 * Source: Atkeson, An and Hollerbach 1986, "Estimation of inertial parameters of manipulator loads and links".
 */
#include "body_motion.h"
#include "stages.h"

enum { PARAMETERS = 10, AXES = 3 };

size_t KERNEL(regressor_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(body_motion);
}

/* Returns the motion in link axes. The origin of the link's frame is that of the body's. */
static body_motion turn_motion(mat3 R, const body_motion *k) {
    body_motion turned;
    turned.w = mat3_apply_transposed(R, k->w);
    turned.alpha = mat3_apply_transposed(R, k->alpha);
    turned.a = mat3_apply_transposed(R, k->a);
    turned.U = acceleration_tensor(turned.w, turned.alpha);
    return turned;
}

/* Returns I alpha + w x I w for the inertia I whose only entries are ones at (i, j) and (j, i). */
static vec3 unit_inertia_moment(const body_motion *k, int i, int j) {
    const real w[AXES] = {k->w.x, k->w.y, k->w.z}, alpha[AXES] = {k->alpha.x, k->alpha.y, k->alpha.z};
    real Iw[AXES] = {real_set(0), real_set(0), real_set(0)}, Ia[AXES] = {real_set(0), real_set(0), real_set(0)};
    Iw[i] = w[j], Ia[i] = alpha[j];
    Iw[j] = w[i], Ia[j] = alpha[i];
    return vec3_add(vec3_set(Ia[0], Ia[1], Ia[2]), vec3_cross(k->w, vec3_set(Iw[0], Iw[1], Iw[2])));
}

/* Computes the ten inertial wrenches of a link, one for each parameter. */
static void parameter_wrenches(const body_motion *k, force wrenches[PARAMETERS]) {
    static const int rows[6] = {0, 0, 1, 0, 1, 2}, columns[6] = {0, 1, 1, 2, 2, 2};
    vec3 zero = vec3_zero();
    real o = real_set(0), one = real_set(1);
    wrenches[0] = force_set(zero, k->a);
    wrenches[1] = force_set(vec3_cross(vec3_set(one, o, o), k->a), mat3_column_x(k->U));
    wrenches[2] = force_set(vec3_cross(vec3_set(o, one, o), k->a), mat3_column_y(k->U));
    wrenches[3] = force_set(vec3_cross(vec3_set(o, o, one), k->a), mat3_column_z(k->U));
    for (int p = 0; p < 6; p++) {
        wrenches[4 + p] = force_set(unit_inertia_moment(k, rows[p], columns[p]), zero);
    }
}

/* Adds the wrench f of body i to one column of Y: to the entries of all joints between the body and the root. `width`
 * is the number of columns. */
static void carry_column(const dyn_model *model, const placement *X, int i, force f, size_t width, real *column) {
    for (int j = i; j >= 0; j = model->bodies[j].parent) {
        const body *b = &model->bodies[j];
        for (int k = 0; k < b->nv; k++) {
            column[(size_t)(b->v_index + k) * width] += real_set(b->ratio) * joint_force(b, b->motion, k, f);
        }
        f = force_to_parent(X[j], f);
    }
}

void KERNEL(regressor)(const dyn_model *model, void *memory, const packed_inputs *in, void *regressor) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_regressor)(model, memory, in, regressor);
        return;
    }
    const real *v = (const real *)in->v, *a = (const real *)in->third;
    placement *X = KERNEL(placements)(model, (const real *)in->q, &memory);
    body_motion *bodies = (body_motion *)memory, world = world_motion(in->gravity);
    real *Y = (real *)regressor;
    size_t width = PARAMETERS * (size_t)model->joint_count;
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        const body_motion *parent = b->parent < 0 ? &world : &bodies[b->parent];
        carry_motion(b, b->motion, X[i], parent, v + b->v_index, a + b->v_index, &bodies[i]);
    }
    for (size_t i = 0; i < (size_t)model->nv * width; i++) {
        Y[i] = real_set(0);
    }
    for (int j = 0; j < model->joint_count; j++) {
        const body_frame *link = &model->frames[model->joints[j].child_link];
        mat3 R = mat3_constant(link->pose.rotation);
        body_motion k = turn_motion(R, &bodies[link->body]);
        force wrenches[PARAMETERS];
        parameter_wrenches(&k, wrenches);
        for (int p = 0; p < PARAMETERS; p++) {
            force f = force_set(mat3_apply(R, wrenches[p].n), mat3_apply(R, wrenches[p].f));
            carry_column(model, X, link->body, f, width, Y + PARAMETERS * j + p);
        }
    }
}
