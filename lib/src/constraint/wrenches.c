/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrenches of constraints, in the frame of the predecessor P. The frame S of the successor has the position d and the
 * rotation R there. The wrenches of the rows are those of kernels/closure.h, where P is the identity.
 */
#include <dynamics/constraint_wrench.h>

#include <math.h>
#include <string.h>

#include "../dynamics/arguments.h"
#include "../dynamics/carve.h"
#include "../model/constraint.h"
#include "../model/error.h"
#include "closures.h"

/* Parts of the workspace's memory. */
typedef struct wrench_scratch {
    closures loops;
    double *tau; /* nv: joint forces of loop joints, not read */
} wrench_scratch;

static size_t lay_out(const dyn_model *model, size_t lanes, uintptr_t base, wrench_scratch *s) {
    uintptr_t cursor = base;
    cursor += closures_lay_out(model, lanes, cursor, &s->loops);
    s->tau = dyn_carve(&cursor, (size_t)model->nv * sizeof(double));
    return cursor - base;
}

/* Checks the arguments, and lays the scratch memory out in the workspace. */
static dyn_status open_wrenches(const dyn_model *model, const dyn_workspace *w, size_t n, const double *lambda,
                                wrench_scratch *s, dyn_error *error) {
    const size_t m = (size_t)model->constraint_rows;
    if (m == 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model", "the model has no constraint");
    }
    if (w->precision != DYN_PRECISION_DOUBLE) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "workspace",
                             "constraints are computed in double precision; use a workspace of that precision");
    }
    for (size_t i = 0; i < n * m; i++) {
        if (!isfinite(lambda[i])) {
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, "lambda", "sample %zu: lambda[%zu] is %g", i / m, i % m,
                                 lambda[i]);
        }
    }
    if (lay_out(model, (size_t)w->kernels->wide->lanes, (uintptr_t)w->constraint_memory, s) > w->constraint_size) {
        return dyn_error_memory(error);
    }
    closures_choose(model, w, &s->loops);
    return DYN_OK;
}

/* Adds the force f at the point r to a wrench. */
static void add_force(const double r[3], const double f[3], double wrench[6]) {
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        wrench[i] += r[j] * f[k] - r[k] * f[j];
        wrench[3 + i] += f[i];
    }
}

/* Adds the wrench of the directions of a loop joint that a set of axes names. */
static void add_directions(const closure *c, const double *R, const double *lambda, double wrench[6]) {
    for (int axis = 0; axis < 6; axis++) {
        if (c->axes >> axis & 1) {
            wrench[axis] += *lambda;
            wrench[2] -= axis == 5 ? c->pitch * *lambda : 0;
            lambda++;
        }
    }
    if (c->kind == CLOSURE_UNIVERSAL) { /* the couple z_P x z_S */
        wrench[0] -= R[5] * *lambda;
        wrench[1] += R[2] * *lambda;
    }
}

/* Computes the point at which a ball or a wheel touches the plane. */
static void touch(const closure *c, const dyn_pose *S, double r[3]) {
    const double *R = S->rotation;
    const double axis[3] = {R[2], R[5], R[8]}, along = c->kind == CLOSURE_WHEEL ? axis[2] : 0;
    const double n[3] = {-along * axis[0], -along * axis[1], 1 - along * axis[2]};
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++) {
        r[i] = S->position[i] - (length > 0 ? c->distance * n[i] / length : 0);
    }
}

/* Adds the wrench of the multipliers of a closure. */
static void add_rows(const closure *c, const dyn_pose *S, const double *lambda, double wrench[6]) {
    const double *d = S->position;
    double point[3];
    switch (c->kind) {
    case CLOSURE_JOINT:
    case CLOSURE_UNIVERSAL:
        add_directions(c, S->rotation, lambda, wrench);
        return;
    case CLOSURE_DISTANCE: {
        const double f = *lambda / c->distance, force[3] = {f * d[0], f * d[1], f * d[2]};
        add_force(d, force, wrench);
        return;
    }
    case CLOSURE_PLANE: {
        const double normal[3] = {0, 0, *lambda};
        add_force(d, normal, wrench);
        return;
    }
    case CLOSURE_BALL:
    case CLOSURE_WHEEL:
        touch(c, S, point);
        add_force(point, lambda, wrench);
        return;
    case CLOSURE_COUPLING:
    case CLOSURE_POLYNOMIAL:
    case CLOSURE_PRESCRIBED:
        return;
    }
}

/* Turns a vector from the axes of a closure to those of its predecessor in the description: x = P' C x, where P and C
 * are the rotations of both to the link. */
static void turn(const double *P, const double *C, double x[3]) {
    double link[3];
    for (int i = 0; i < 3; i++) {
        link[i] = C[3 * i] * x[0] + C[3 * i + 1] * x[1] + C[3 * i + 2] * x[2];
    }
    for (int i = 0; i < 3; i++) {
        x[i] = P[i] * link[0] + P[3 + i] * link[1] + P[6 + i] * link[2];
    }
}

/* Loads the pose of a closure's S in its P. */
static dyn_pose find_pose(const closures *s, sample_block one, const double *q, int constraint) {
    dyn_pose pose;
    one.kernels->closure_pose(s->model, s->workspace->memory, q, constraint, s->pose, s->pose + 3);
    memcpy(pose.position, s->pose, sizeof pose.position);
    memcpy(pose.rotation, s->pose + 3, sizeof pose.rotation);
    return pose;
}

/* Computes the wrenches of one sample. The forces of loop joints are s->forces.solution. */
static void compute_sample(const closures *s, sample_block one, const double *q, const double *lambda,
                           double *wrenches) {
    const dyn_model *model = s->model;
    const double *forces = s->forces.solution.multipliers;
    const int count = model->constraint_count;
    memset(wrenches, 0, 6 * (size_t)count * sizeof *wrenches);
    for (int i = 0; i < count; i++, wrenches += 6) {
        const closure *c = &model->closures[i], *allowed = &model->closures[count + i];
        const dyn_constraint_description *described = &model->description->constraints[i];
        if (ties_coordinates(described->kind)) {
            continue;
        }
        const dyn_pose S = find_pose(s, one, q, i);
        add_rows(c, &S, lambda + model->constraints[i].first_row, wrenches);
        if (allowed->count > 0) {
            add_directions(allowed, S.rotation, forces, wrenches);
            forces += allowed->count;
        }
        turn(described->predecessor.pose.rotation, c->poses[0].rotation, wrenches);
        turn(described->predecessor.pose.rotation, c->poses[0].rotation, wrenches + 3);
    }
}

dyn_status dyn_constraint_wrenches(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                   const double *v, const double *lambda, const dyn_passive_parts *passive,
                                   double *wrenches, dyn_error *error) {
    wrench_scratch s;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, m = (size_t)model->constraint_rows;
    const size_t row = 6 * (size_t)model->constraint_count;
    dyn_status status = dyn_check_state(model, workspace, n, NULL, q, v, error);
    if (status == DYN_OK) {
        status = open_wrenches(model, workspace, n, lambda, &s, error);
    }
    for (size_t i = 0; status == DYN_OK && i < n; i++) {
        const sample_block one = dyn_block_of_one(workspace, i);
        const double *packed_q = dyn_block_pack(workspace, 0, q, nq, one);
        memset(s.tau, 0, nv * sizeof *s.tau);
        closures_add_forces(&s.loops, one, passive, 1, packed_q, v ? v + i * nv : NULL, s.tau);
        compute_sample(&s.loops, one, packed_q, lambda + i * m, wrenches + i * row);
    }
    return status == DYN_OK ? dyn_check_result(workspace, "wrenches", n, row, wrenches, error) : status;
}
