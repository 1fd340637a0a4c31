/* SPDX-License-Identifier: BSD-2-Clause */
#include "link_reference.h"

#include <string.h>

#include "assertions.h"

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

void link_reference_cross(const double V[6], const double m[6], double out[6]) {
    double part[3];
    cross(V, m, out), cross(V, m + 3, out + 3), cross(V + 3, m, part);
    for (int i = 0; i < 3; i++) {
        out[3 + i] += part[i];
    }
}

void link_reference_cross_wrench(const double V[6], const double f[6], double out[6]) {
    double part[3];
    cross(V, f, out), cross(V + 3, f + 3, part), cross(V, f + 3, out + 3);
    for (int i = 0; i < 3; i++) {
        out[i] += part[i];
    }
}

void link_reference_transform(const double pose[16], double X[36]) {
    /* [R' 0; -R' p~ R'] */
    for (int i = 0; i < 3; i++) {
        const double R[3] = {pose[i], pose[4 + i], pose[8 + i]}, p[3] = {pose[3], pose[7], pose[11]};
        double turned[3];
        cross(R, p, turned);
        for (int j = 0; j < 3; j++) {
            X[6 * i + j] = X[6 * (i + 3) + 3 + j] = R[j];
            X[6 * i + 3 + j] = 0;
            X[6 * (i + 3) + j] = -turned[j];
        }
    }
}

void link_reference_inverse_transform(const double pose[16], double X[36]) {
    /* [R 0; p~ R R] */
    for (int j = 0; j < 3; j++) {
        const double R[3] = {pose[j], pose[4 + j], pose[8 + j]}, p[3] = {pose[3], pose[7], pose[11]};
        double turned[3];
        cross(p, R, turned);
        for (int i = 0; i < 3; i++) {
            X[6 * i + j] = X[6 * (i + 3) + 3 + j] = R[i];
            X[6 * i + 3 + j] = 0;
            X[6 * (i + 3) + j] = turned[i];
        }
    }
}

bool link_reference_carries(const link_reference *r, int j, int i) {
    while (i > j) {
        i = r->parent[i];
    }
    return i == j;
}

/* Computes the motion and the inertia of link i. */
static void compute_link(const motion_of_model *x, dyn_workspace *w, int i, link_reference *r) {
    dyn_error error;
    const dyn_joint *joint = dyn_model_joint(x->model, i);
    int frame = joint->child_link;
    r->parent[i] = joint->parent_link < 0 ? -1 : dyn_model_link(x->model, joint->parent_link)->moving_joint;
    require(dyn_frame_jacobian(x->model, w, 1, x->q, frame, DYN_REFERENCE_FRAME_WORLD, r->J[i], &error), &error);
    require(dyn_frame_motion(x->model, w, 1, x->q, x->v, x->a, frame, DYN_REFERENCE_FRAME_WORLD, r->V[i], r->A[i], NULL,
                             &error),
            &error);
    require(dyn_frame_motion(x->model, w, 1, x->q, x->v, NULL, frame, DYN_REFERENCE_FRAME_WORLD, NULL, r->A_0[i], NULL,
                             &error),
            &error);
    require(dyn_body_inertia(x->model, w, 1, x->q, frame, DYN_REFERENCE_FRAME_WORLD, r->I[i], &error), &error);
}

/* Computes the wrenches of the joints: those that accelerate the links, less weights, from the tips to the base. */
static void compute_wrenches(link_reference *r) {
    memset(r->f, 0, sizeof r->f);
    for (int i = r->links - 1; i >= 0; i--) {
        double momentum[6] = {0}, rate[6];
        for (int k = 0; k < 6; k++) {
            for (int l = 0; l < 6; l++) {
                momentum[k] += r->I[i][6 * k + l] * r->V[i][l];
                r->f[i][k] += r->I[i][6 * k + l] * (r->A[i][l] - (l < 3 ? 0 : r->gravity[l - 3]));
            }
        }
        link_reference_cross_wrench(r->V[i], momentum, rate);
        for (int k = 0; k < 6; k++) {
            r->f[i][k] += rate[k];
            if (r->parent[i] >= 0) {
                r->f[r->parent[i]][k] += r->f[i][k];
            }
        }
    }
}

void link_reference_compute(const motion_of_model *motion, link_reference *r) {
    const motion_of_model x = *motion;
    dyn_error error;
    dyn_workspace *w;
    r->motion = x;
    r->links = dyn_model_joint_count(x.model), r->nv = dyn_model_nv(x.model);
    ck_assert_int_le(r->links, MOST_LINKS);
    dyn_model_gravity(x.model, r->gravity);
    require(dyn_workspace_create(x.model, &w, &error), &error);
    for (int i = 0; i < r->links; i++) {
        compute_link(&x, w, i, r);
    }
    compute_wrenches(r);
    require(dyn_rnea(x.model, w, 1, NULL, x.q, x.v, x.a, NULL, r->tau, &error), &error);
    require(dyn_rnea(x.model, w, 1, NULL, x.q, NULL, NULL, NULL, r->tau_gravity, &error), &error);
    require(dyn_rnea(x.model, w, 1, (const double[3]){0, 0, 0}, x.q, x.v, NULL, NULL, r->tau_velocity, &error), &error);
    require(dyn_crba(x.model, w, 1, x.q, r->M, &error), &error);
    dyn_workspace_free(w);
    evaluate_block("hollerbach", &x, "W", 16 * (size_t)r->links, r->pose[0]);
}
