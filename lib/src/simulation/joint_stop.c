/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rigid stops at the limits of joints.
 *
 * A joint i that is at or beyond a limit and moves outward receives an impulse p, which changes the velocities of the
 * whole robot by M^-1 e_i p: with w = M^-1 e_i and the restitution e,
 *     p = -(1 + e) v_i / w_i        v += w p        so that v_i becomes -e v_i
 * Each impulse dissipates the energy (1 - e^2) v_i^2 / (2 w_i) >= 0. Impulses may drive other joints into their stops:
 * the joints are visited again, up to eight times. q is reset to the limit, by at most |v| dt. w is a column of M^-1
 * where that is compiled, and otherwise comes from the articulated-body algorithm without gravity and velocity.
 *
 * Source: Featherstone 2008, section 11.7 (Newton's restitution); Moreau 1988.
 */
#include <math.h>

#include "../model/normal_form.h"
#include "simulator.h"

enum { MOST_SWEEPS = 8 };

/* Returns the position of a coordinate relative to its range: -1 at or below, 1 at or above, 0 within. */
static int side(const joint_range *range, double q) {
    return q >= range->upper ? 1 : q <= range->lower ? -1 : 0;
}

/* Returns whether a lane's joint moves into its stop. */
static bool runs_into(const dyn_simulator *s, sample_block block, const joint_range *range, size_t l) {
    double v = s->v[lane_index(block, range->v_index, l)];
    return side(range, s->q[lane_index(block, range->q_index, l)]) * v > 0;
}

/* Computes M^-1 in all lanes where it is compiled and compiled functions compute the step; else returns NULL. */
static const double *invert(dyn_simulator *s, const simulated_step *step) {
    const void *in[] = {s->q};
    void *out[] = {s->inverse, s->workspace->pivots};
    compiled_packed *minverse = NULL;
    if (s->inverse && s->step.compiled.aba && step->wrenches.count == 0) {
        minverse = dyn_compiled_packed(s->compiled, COMPILED_MINVERSE, step->block.kernels);
    }
    if (!minverse) {
        return NULL;
    }
    minverse(in, step->block.kernels->sines, out);
    return s->inverse;
}

/* Returns w = M^-1 e_i in all lanes. M^-1 is symmetric, so that its columns are rows. */
static const double *respond(dyn_simulator *s, sample_block block, const double *inverse, int i) {
    static const double none[3] = {0};
    if (inverse) {
        return inverse + lane_index(block, i * s->model->nv, 0);
    }
    for (size_t k = 0; k < (size_t)s->model->nv * block.lanes; k++) {
        s->impulse[k] = k / block.lanes == (size_t)i;
    }
    block.kernels->forward_dynamics(s->model, s->workspace->memory, none, s->q, s->workspace->zero, s->impulse, NULL,
                                    s->workspace->pivots, s->response);
    return s->response;
}

static void strike(dyn_simulator *s, const simulated_step *step, const joint_range *range, size_t l, const double *w) {
    sample_block block = step->block;
    int i = range->v_index;
    double v_i = s->v[lane_index(block, i, l)];
    double e = fabs(v_i) > s->options.rest_velocity ? s->options.restitution : 0;
    double p = -(1 + e) * v_i / w[lane_index(block, i, l)];
    for (int k = 0; k < s->model->nv; k++) {
        s->v[lane_index(block, k, l)] += w[lane_index(block, k, l)] * p;
    }
    s->v[lane_index(block, i, l)] = -e * v_i;
    if (l < block.count) {
        step->results[l].hit_joint = range->joint + 1;
        step->results[l].hit_velocity = v_i;
    }
}

/* Applies the stop of one joint in the running lanes. Returns whether the joint hit it in any of them. */
static bool visit(dyn_simulator *s, const simulated_step *step, const double *inverse, const joint_range *range) {
    sample_block block = step->block;
    const double *w = NULL;
    for (size_t l = 0; l < block.lanes; l++) {
        bool is_running = step->results[l < block.count ? l : block.count - 1].status == DYN_SAMPLE_STATUS_RUNNING;
        if (is_running && runs_into(s, block, range, l)) {
            w = w ? w : respond(s, block, inverse, range->v_index);
            strike(s, step, range, l, w);
        }
    }
    return w != NULL;
}

/* Returns whether the joint is at or beyond a limit in any lane. Resets q to the limit there. */
static bool clamp_at_stop(dyn_simulator *s, const simulated_step *step, const joint_range *range) {
    sample_block block = step->block;
    bool any = false;
    for (size_t l = 0; l < block.lanes; l++) {
        double *q = &s->q[lane_index(block, range->q_index, l)];
        bool is_at_limit = *q >= range->upper || *q <= range->lower;
        any |= is_at_limit;
        if (is_at_limit && step->results[l < block.count ? l : block.count - 1].status == DYN_SAMPLE_STATUS_RUNNING) {
            *q = *q >= range->upper ? range->upper : range->lower;
        }
    }
    return any;
}

void simulator_stop_joints(dyn_simulator *s, const simulated_step *step) {
    bool is_any_at_limit = false;
    for (int i = 0; i < s->joints.range_count; i++) {
        is_any_at_limit |= clamp_at_stop(s, step, &s->joints.ranges[i]);
    }
    bool has_struck = is_any_at_limit;
    const double *inverse = is_any_at_limit ? invert(s, step) : NULL;
    for (int sweep = 0; has_struck && sweep < MOST_SWEEPS; sweep++) {
        has_struck = false;
        for (int i = 0; i < s->joints.range_count; i++) {
            has_struck |= visit(s, step, inverse, &s->joints.ranges[i]);
        }
    }
}
