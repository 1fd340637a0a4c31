/* SPDX-License-Identifier: BSD-2-Clause */
#include "external_forces.h"

#include "../model/normal_form.h"

/* Returns the wrench in the axes of a link whose placement in the world is X, about the origin of the link. `frame` is
 * the frame of the force, on the link. */
static force to_link(const body_frame *frame, placement X, dyn_reference_frame axes, force f) {
    placement pose = placement_constant(frame->pose.rotation, frame->pose.position);
    if (axes == DYN_REFERENCE_FRAME_LOCAL) {
        return force_to_parent(pose, f);
    }
    force turned = force_set(mat3_apply_transposed(X.R, f.n), mat3_apply_transposed(X.R, f.f));
    vec3 point = axes == DYN_REFERENCE_FRAME_WORLD ? vec3_scale(real_set(-1), mat3_apply_transposed(X.R, X.r)) : pose.r;
    turned.n = vec3_add(turned.n, vec3_cross(point, turned.f));
    return turned;
}

force *KERNEL(external_forces)(const mechanism *m, const dyn_external_forces *forces, size_t sample, scratch *s) {
    placement *X = (placement *)scratch_take(s, (size_t)m->count, sizeof(placement));
    force *f = (force *)scratch_take(s, (size_t)m->count, sizeof(force));
    if (!f || !forces || forces->count == 0) {
        return NULL;
    }
    for (int i = 0; i < m->count; i++) {
        const mechanism_link *l = &m->links[i];
        X[i] = l->parent < 0 ? l->X : placement_compose(X[l->parent], l->X);
        f[i] = force_zero();
    }
    for (size_t k = 0; k < forces->count; k++) {
        const dyn_external_force *one = &forces->force[k];
        const body_frame *frame = one->frame < 0 ? NULL : &m->model->frames[one->frame];
        if (frame && frame->body >= 0) {
            const double *wrench = one->wrench + sample * one->stride;
            force given = force_set(vec3_constant(wrench), vec3_constant(wrench + 3));
            int i = mechanism_link_of(m->model, frame->body);
            f[i] = force_add(f[i], to_link(frame, X[i], one->reference_frame, given));
        }
    }
    return f;
}

real *KERNEL(generalized_forces)(const mechanism *m, const force *f, scratch *s) {
    force *sum = (force *)scratch_take(s, (size_t)m->count, sizeof(force));
    real *tau = scratch_reals(s, (size_t)m->nv);
    if (!tau) {
        return NULL;
    }
    real_clear(tau, m->nv);
    for (int i = 0; i < m->count; i++) {
        sum[i] = f[i];
    }
    for (int i = m->count - 1; i >= 0; i--) {
        const mechanism_link *l = &m->links[i];
        mechanism_add_force(m, i, sum[i], tau);
        if (l->parent >= 0) {
            sum[l->parent] = force_add(sum[l->parent], force_to_parent(l->X, sum[i]));
        }
    }
    return tau;
}
