/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/trajectory.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <dynamics/inverse_dynamics.h>

#include "../dynamics/arguments.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "simulator.h"

/* ---- Forces from motion, and motion from forces ------------------------------------------------------------------ */

/* Number of rows whose wrenches are negated at once. */
enum { TIP_ROWS = 64 };

/* Returns the reaction of the surroundings on the tip, for rows first .. first + count - 1, with its wrenches in
 * `wrench`. */
static dyn_external_force react(const dyn_tip *tip, size_t first, size_t count, double *wrench) {
    for (size_t i = 0; i < 6 * count; i++) {
        wrench[i] = -tip->wrench[6 * first + i];
    }
    return (dyn_external_force){tip->frame, tip->reference_frame, wrench, 6};
}

/* Checks the tip: a known frame and n finite wrenches. NULL passes. */
static dyn_status check_tip(const dyn_workspace *workspace, size_t n, const dyn_tip *tip, dyn_error *error) {
    if (!tip) {
        return DYN_OK;
    }
    const dyn_external_force force = {tip->frame, tip->reference_frame, tip->wrench, 6};
    return dyn_check_forces(workspace, n, &(dyn_external_forces){1, &force}, error);
}

dyn_status dyn_inverse_dynamics_trajectory(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                           const double *gravity, const double *q, const double *v, const double *a,
                                           const dyn_tip *tip, double *tau, dyn_error *error) {
    if (!tip) {
        return dyn_rnea(model, workspace, n, gravity, q, v, a, NULL, tau, error);
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    const dynamics_inputs in = {gravity, q, v, "a", a, NULL};
    dyn_status status = dyn_check_inputs(model, workspace, n, &in, error);
    if (status == DYN_OK) {
        status = check_tip(workspace, n, tip, error);
    }
    for (size_t first = 0; status == DYN_OK && first < n; first += TIP_ROWS) {
        double wrench[6 * TIP_ROWS];
        size_t count = n - first < TIP_ROWS ? n - first : TIP_ROWS;
        dyn_external_force force = react(tip, first, count, wrench);
        status = dyn_rnea(model, workspace, count, gravity, q + first * nq, v ? v + first * nv : NULL,
                          a ? a + first * nv : NULL, &(dyn_external_forces){1, &force}, tau + first * nv, error);
    }
    return status;
}

dyn_status dyn_forward_dynamics_trajectory(dyn_simulator *simulator, size_t n, const double *tau, const dyn_tip *tip,
                                           double *q, double *v, dyn_sample_result *result, dyn_error *error) {
    const dyn_simulator *s = simulator;
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    dyn_sample_result own = {0};
    dyn_sample_result *r = result ? result : &own;
    dyn_status status = dyn_check_v(s->workspace, "tau", n, tau, error);
    *r = own;
    if (status == DYN_OK) {
        status = check_tip(s->workspace, n, tip, error);
    }
    for (size_t i = 0; status == DYN_OK && i + 1 < n; i++) {
        double wrench[6];
        dyn_external_force force = tip ? react(tip, i, 1, wrench) : (dyn_external_force){0};
        const dyn_external_forces forces = {1, &force};
        const dyn_step_input input =
            DYN_STEP_INPUT_INIT(.tau = tau ? tau + i * nv : NULL, .forces = tip ? &forces : NULL);
        memcpy(q + (i + 1) * nq, q + i * nq, nq * sizeof *q);
        memcpy(v + (i + 1) * nv, v + i * nv, nv * sizeof *v);
        status = dyn_simulator_step(simulator, 1, &input, q + (i + 1) * nq, v + (i + 1) * nv, NULL, r, error);
    }
    return status;
}

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

/* Rows of one number: x = ratio * rows[i * stride] + offset. */
typedef struct number_rows {
    const double *rows;
    size_t stride;
    double ratio, offset;
} number_rows;

/* Returns by how much a number exceeds a limit; positive if it does. */
static double beyond(dyn_limit_kind kind, double limit, double x) {
    return kind == DYN_LIMIT_KIND_LOWER ? limit - x : kind == DYN_LIMIT_KIND_UPPER ? x - limit : fabs(x) - limit;
}

/* Counts the rows beyond the limit and finds the first, the last and the worst of them. Returns whether there is
 * one. */
static bool look(size_t n, const number_rows *numbers, dyn_limit_excess *e) {
    double worst = 0;
    e->rows = 0;
    for (size_t i = 0; i < n; i++) {
        double x = numbers->ratio * numbers->rows[i * numbers->stride] + numbers->offset;
        double by = beyond(e->kind, e->limit, x);
        if (by > 0) {
            e->first = e->rows ? e->first : i;
            e->last = i;
            e->rows++;
            if (by > worst) {
                worst = by;
                e->worst = i;
                e->value = x;
            }
        }
    }
    return e->rows > 0;
}

size_t dyn_limit_excesses(const dyn_model *model, size_t n, const double *q, const double *v, const double *tau,
                          dyn_limit_excess *excesses) {
    size_t count = 0, nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        bool follows = joint->master >= 0, has_one = follows || joint->nv == 1;
        double ratio = follows ? joint->multiplier : 1, offset = follows ? joint->offset : 0;
        const dyn_joint_limits *l = &joint->limits;
        bool has_range = l->lower < l->upper;
        const number_rows positions = {q ? q + joint->q_index : NULL, nq, ratio, offset};
        const number_rows velocities = {v ? v + joint->v_index : NULL, nv, ratio, 0};
        const number_rows forces = {tau && !follows ? tau + joint->v_index : NULL, nv, 1, 0};
        const struct {
            bool is_stated;
            double limit;
            const number_rows *numbers;
        } kinds[] = {{has_range, l->lower, &positions},
                     {has_range, l->upper, &positions},
                     {l->velocity > 0, l->velocity, &velocities},
                     {l->effort > 0, l->effort, &forces}};
        for (int k = 0; has_one && joint->has_limits && k < 4; k++) {
            dyn_limit_excess *e = &excesses[count];
            *e = (dyn_limit_excess){.joint = j, .kind = (dyn_limit_kind)k, .limit = kinds[k].limit};
            count += kinds[k].is_stated && kinds[k].numbers->rows && look(n, kinds[k].numbers, e);
        }
    }
    return count;
}
