/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closed loops in a simulation.
 *
 *     accelerations    A a = db/dt - dA/dt v - 2 k (A v - b) - k^2 e    wherever a step computes accelerations
 *     positions        A dq = -e,  q <- q (+) dq                        after a step, until e is zero to rounding
 *     velocities       A dv = b - A v,  v <- v + dv                     after the positions
 *
 * e are the closure errors, and b the rates of prescribed motions. Integration errors accumulate in e where only
 * accelerations are constrained. The term with k (Baumgarte) makes them decay as exp(-k t) where it is well below 1 /
 * dt: a semi-implicit Euler step is stable for k dt < 0.828, an explicit one for k dt < 2, Runge-Kutta 4 for k dt <
 * 2.78. The increments dq and dv are the shortest in the metric of M, M^-1 A' lambda, so that dv is the impulse that
 * the loop's joints exert. The kinetic energy never increases by dv where b is zero. Joints at rigid stops do not move
 * in dq; where the loops cannot be closed then, they may move inward.
 *
 * Where a step needs no more than these accelerations, one sweep computes them with those of the tree, or constrained
 * articulated bodies do where there are many rows. The result of a lane does not depend on the other lanes.
 *
 * Source: Baumgarte 1972; Ascher, Chin, Petzold and Reich 1995, "Stabilization of constrained mechanical systems with
 * DAEs and invariant manifolds" (projection).
 */
#include <math.h>
#include <string.h>

#include "../dynamics/carve.h"
#include "../model/normal_form.h"
#include "simulator.h"

enum { MOST_ITERATIONS = 8 };

/* Closure error of a closed loop, m or rad: some rounding errors of a robot of 100 m. Largest increment of a coordinate
 * in an iteration, rad or m. */
static const double closed = 1e-12, longest_increment = 0.5;

/* ---- Accelerations ----------------------------------------------------------------------------------------------- */

/* Makes packed accelerations satisfy the constraints (step_constraint). `context` is the simulator. */
static void constrain(void *context, double fraction, const void *q, const void *v, const void *diagonal, void *a) {
    dyn_simulator *s = context;
    closures *c = &s->loops.closures;
    const sample_block block = s->loops.block;
    const double k = s->options.constraint_stabilization;
    c->time = s->time + fraction * s->step.dt;
    const dyn_passive_parts parts = {.damping = !s->options.ignore_damping,
                                     .friction = !s->options.ignore_friction,
                                     .friction_velocity = s->options.friction_velocity};
    closures_exert(c, block, &parts, q, v, diagonal, a);
    closures_respond(c, block, q, v, diagonal);
    if (k != 0) {
        closures_find_errors(c, block, q);
    }
    closures_require_acceleration(c, block, k, v);
    closures_solve(c, block, NULL, a);
    for (size_t l = 0; l < block.lanes; l++) {
        s->loops.residual[l] = fmax(s->loops.residual[l], closures_residual(c, block, l, a));
    }
}

/* Stores the accelerations and residuals of the lanes in which constrained articulated bodies have converged. Returns
 * whether they have in all lanes. */
static bool store_articulated(dyn_simulator *s, double *a) {
    const articulated *bodies = &s->loops.bodies;
    const sample_block block = s->loops.block;
    bool are_all = true;
    for (size_t l = 0; l < block.lanes; l++) {
        for (int i = 0; bodies->has_converged[l] && i < s->model->nv; i++) {
            a[lane_index(block, i, l)] = bodies->a[lane_index(block, i, l)];
        }
        for (int r = 0; bodies->has_converged[l] && r < s->model->constraint_rows; r++) {
            s->loops.residual[l] = fmax(s->loops.residual[l], fabs(bodies->missing[lane_index(block, r, l)]));
        }
        are_all = are_all && bodies->has_converged[l];
    }
    return are_all;
}

/* Computes packed accelerations that satisfy the constraints (step_constraint), without those of the tree before.
 * `context` is the simulator. */
static void accelerate(void *context, double fraction, const packed_inputs *in, const void *diagonal, void *pivots,
                       void *a) {
    dyn_simulator *s = context;
    simulated_loops *loops = &s->loops;
    closures *c = &loops->closures;
    const double k = s->options.constraint_stabilization;
    c->time = s->time + fraction * s->step.dt;
    if (loops->by_bodies) {
        if (k != 0) {
            closures_find_errors(c, loops->block, in->q);
        }
        const articulated_terms terms = {k, k != 0 ? c->e : NULL, diagonal};
        articulated_solve(&loops->bodies, s->model, loops->workspace, loops->block, in, &terms, pivots);
        if (store_articulated(s, a)) {
            return;
        }
    }
    closures_sweep(c, loops->block, in, k, diagonal, false, pivots, a);
    closures_move(c, loops->block, in->gravity, a);
    for (size_t l = 0; l < loops->block.lanes; l++) {
        if (!loops->by_bodies || !loops->bodies.has_converged[l]) {
            loops->residual[l] = fmax(loops->residual[l], c->residual[l]);
        }
    }
    if (loops->by_bodies) {
        store_articulated(s, a);
    }
}

double simulator_take_residual(dyn_simulator *s, size_t l) {
    double residual = s->loops.workspace ? s->loops.residual[l] : 0;
    if (s->loops.workspace) {
        s->loops.residual[l] = 0;
    }
    return residual;
}

void simulator_examine_constraints(dyn_simulator *s, sample_block block, size_t l, dyn_constraint_result *result) {
    closures *c = &s->loops.closures;
    result->rank = 0, result->condition = 1;
    if (s->loops.workspace) {
        closures_respond(c, block, s->q, s->v, NULL);
        result->rank = closures_examine(c, block, l, &result->condition);
    }
}

/* ---- Closure errors ---------------------------------------------------------------------------------------------- */

/* Returns the row with the largest closure error of a lane. A row whose error is NaN precedes all others. */
static int worst_row(const closures *c, sample_block block, size_t l) {
    int worst = 0;
    for (int r = 1; r < c->rows.set.m; r++) {
        if (!(fabs(c->e[lane_index(block, r, l)]) <= fabs(c->e[lane_index(block, worst, l)]))) {
            worst = r;
        }
    }
    return worst;
}

static double largest_error(const closures *c, sample_block block, size_t l) {
    return fabs(c->e[lane_index(block, worst_row(c, block, l), l)]);
}

/* Returns the constraint that a row belongs to. */
static int constraint_of_row(const dyn_model *model, int row) {
    int i = 0;
    while (row >= model->constraints[i].first_row + model->constraints[i].row_count) {
        i++;
    }
    return i;
}

void simulator_report_closure(dyn_simulator *s, const simulated_step *step) {
    closures *c = &s->loops.closures;
    closures_find_errors(c, step->block, s->q);
    for (size_t l = 0; l < step->block.count; l++) {
        step->results[l].closure_error = largest_error(c, step->block, l);
        step->results[l].constraint = constraint_of_row(s->model, worst_row(c, step->block, l));
    }
}

/* ---- Positions --------------------------------------------------------------------------------------------------- */

/* Scales the increment of a lane down where a coordinate would move too far. */
static void limit_increment(const dyn_simulator *s, sample_block block, size_t l, double *dq) {
    double most = 0;
    for (int i = 0; i < s->model->nv; i++) {
        most = fmax(most, fabs(dq[lane_index(block, i, l)]));
    }
    for (int i = 0; most > longest_increment && i < s->model->nv; i++) {
        dq[lane_index(block, i, l)] *= longest_increment / most;
    }
}

/* Computes the increments of the open lanes. dq is zero before. */
static void find_increments(dyn_simulator *s, const simulated_step *step, bool has_stops, double *dq) {
    simulated_loops *loops = &s->loops;
    closures *c = &loops->closures;
    const sample_block block = step->block;
    for (size_t at = 0; at < (size_t)c->rows.set.m * block.lanes; at++) {
        c->c[at] = -c->e[at];
    }
    for (size_t l = 0; l < block.lanes; l++) {
        loops->is_free[l] = loops->is_open[l] && !(has_stops && simulator_increment_at_stops(s, block, l, dq));
    }
    closures_solve(c, block, loops->is_free, dq);
    for (size_t l = 0; l < block.lanes; l++) {
        limit_increment(s, block, l, dq);
    }
}

/* Moves the open lanes whose errors decrease to q_next. The others are not moved again, unless they hold joints, which
 * ends. Returns whether a lane is still open. The closure errors are those at q_next, and become those at q. */
static bool move_lanes(dyn_simulator *s, sample_block block) {
    simulated_loops *loops = &s->loops;
    bool any = false;
    for (size_t l = 0; l < block.lanes; l++) {
        double error = largest_error(&loops->closures, block, l);
        bool decreases = loops->is_open[l] && error < loops->error[l];
        for (int i = 0; decreases && i < s->model->nq; i++) {
            s->q[lane_index(block, i, l)] = s->q_next[lane_index(block, i, l)];
        }
        loops->is_open[l] = loops->is_open[l] && (decreases ? error > closed : loops->holds[l]);
        loops->holds[l] = decreases && loops->holds[l];
        loops->error[l] = decreases ? error : loops->error[l];
        any |= loops->is_open[l];
    }
    if (any) {
        closures_find_errors(&loops->closures, block, s->q);
    }
    return any;
}

void simulator_close_positions(dyn_simulator *s, const simulated_step *step, bool has_stops) {
    simulated_loops *loops = &s->loops;
    closures *c = &loops->closures;
    const sample_block block = step->block;
    const dyn_workspace *w = loops->workspace;
    double *dq = s->v_next; /* not in use between two steps, as q_next */
    bool any = false;
    closures_find_errors(c, block, s->q);
    for (size_t l = 0; l < block.lanes; l++) {
        loops->error[l] = largest_error(c, block, l);
        loops->is_open[l] = simulator_lane_runs(step, l) && loops->error[l] > closed;
        loops->holds[l] = has_stops;
        any |= loops->is_open[l];
    }
    for (int i = 0; i < MOST_ITERATIONS && any; i++) {
        memset(dq, 0, (size_t)s->model->nv * block.lanes * sizeof *dq);
        closures_respond(c, block, s->q, s->v, NULL);
        if (has_stops) {
            simulator_respond_at_stops(s, step);
        }
        find_increments(s, step, has_stops, dq);
        block.kernels->integrate(s->model, w->memory, s->q, dq, 1, s->q_next);
        closures_find_errors(c, block, s->q_next);
        any = move_lanes(s, block);
    }
}

/* ---- Velocities -------------------------------------------------------------------------------------------------- */

void simulator_close_velocities(dyn_simulator *s, const simulated_step *step) {
    closures *c = &s->loops.closures;
    closures_respond(c, step->block, s->q, s->v, NULL);
    closures_require_rates(c, step->block);
    for (size_t l = 0; l < step->block.lanes; l++) {
        s->loops.is_free[l] = simulator_lane_runs(step, l);
    }
    closures_solve(c, step->block, s->loops.is_free, s->v);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

size_t simulated_loops_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, simulated_loops *loops) {
    uintptr_t cursor = base;
    if (model->constraint_rows > 0) {
        cursor += closures_lay_out(model, lanes, cursor, &loops->closures);
        loops->residual = dyn_carve(&cursor, lanes * sizeof *loops->residual);
        loops->error = dyn_carve(&cursor, lanes * sizeof *loops->error);
        loops->is_open = dyn_carve(&cursor, lanes * sizeof *loops->is_open);
        loops->holds = dyn_carve(&cursor, lanes * sizeof *loops->holds);
        loops->is_free = dyn_carve(&cursor, lanes * sizeof *loops->is_free);
        cursor += articulated_lay_out(model, lanes, cursor, &loops->bodies);
    }
    return cursor - base;
}

void simulator_choose_loops(dyn_simulator *s) {
    if (s->loops.workspace) {
        closures_choose(s->model, s->loops.workspace, &s->loops.closures);
        memset(s->loops.residual, 0, (size_t)s->loops.workspace->kernels->wide->lanes * sizeof *s->loops.residual);
        s->loops.by_bodies =
            s->model->constraint_rows > MOST_ROWS_OF_MULTIPLIERS && articulated_applies(s->loops.workspace);
        s->step.constraint = (step_constraint){constrain, s, closures_have_sweep(s->model) ? accelerate : NULL};
    }
}
