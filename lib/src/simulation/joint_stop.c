/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rigid stops at the limits of joints, as constraint rows.
 *
 * A joint i at or beyond a limit has one row, its coordinate. The multiplier is an impulse p_i, which is positive at
 * the lower limit and negative at the upper one. With the restitution e_i of a joint that moves outward faster than the
 * rest velocity, and 0 for the others, the velocity v becomes v' with
 *     v' = v + M^-1 A' p        p_i >= 0        v'_i + e_i v_i >= 0        p_i (v'_i + e_i v_i) = 0
 * at lower limits, and the opposite signs at upper ones. q is reset to the limit, by at most |v| dt.
 *
 * Where no joint rebounds, one solution for all joints at limits is exact. Else only the joints that move outward have
 * impulses; these may drive other joints into their stops, which are the next round. The last round is without rebound.
 * A round changes the energy by the sum of (1 - e_i) p_i v_i / 2 <= 0 where only joints that move outward have
 * impulses, and by -p' A M^-1 A' p / 2 where none rebounds, so that no round adds energy.
 *
 * M^-1 A' consists of columns of M^-1 where that is compiled, and else comes from the kernel of the response of rows.
 *
 * The rows of the model's constraints precede those of the joints: an impulse at a stop passes through the loops, which
 * remain closed, A v' = 0. The multipliers of these rows have no bounds.
 *
 * All lanes share the rows where these have room for every joint that is at a limit in any lane; else each lane has
 * rows of its own. The result of a lane is the same in both cases, because rows that do not apply to it change nothing.
 * Where more joints of one lane are at limits than the rows have room for, they take turns until the speed into the
 * stops is a small share of what it was, or MOST_TURNS turns are over. Impulses of earlier turns remain, so that a
 * joint may then move away from its limit in spite of an impulse.
 *
 * Source: Moreau 1988 (Newton's restitution); Glocker 2001, "Set-valued force laws" (impacts in several
 * constraints).
 */
#include <math.h>

#include "../dynamics/carve.h"
#include "../model/normal_form.h"
#include "simulator.h"

enum { MOST_ROWS = 64, MOST_ROUNDS = 8, MOST_TURNS = 32 };

/* Share of the speed into the stops that turns may leave. */
static const double turns_end = 1e-9;

/* Lanes from `first` to `end` - 1. */
typedef struct lane_interval {
    size_t first, end;
} lane_interval;

/* Returns the position of a coordinate relative to its range: -1 at or below, 1 at or above, 0 within. */
static int side(const joint_range *range, double q) {
    return q >= range->upper ? 1 : q <= range->lower ? -1 : 0;
}

static int lane_side(const dyn_simulator *s, sample_block block, const joint_range *range, size_t l) {
    return side(range, s->q[lane_index(block, range->q_index, l)]);
}

/* Returns the speed at which a lane's joint moves into its stop; not above zero where it does not. */
static double outward_speed(const dyn_simulator *s, sample_block block, const joint_range *range, size_t l) {
    return lane_side(s, block, range, l) * s->v[lane_index(block, range->v_index, l)];
}

static bool moves_outward(const dyn_simulator *s, sample_block block, const joint_range *range, size_t l) {
    return outward_speed(s, block, range, l) > 0;
}

/* Returns whether the joint is at or beyond a limit in any lane. Resets q to the limit there. */
static bool clamp_at_stop(dyn_simulator *s, const simulated_step *step, const joint_range *range) {
    sample_block block = step->block;
    bool any = false;
    for (size_t l = 0; l < block.lanes; l++) {
        double *q = &s->q[lane_index(block, range->q_index, l)];
        bool is_at_limit = *q >= range->upper || *q <= range->lower;
        any |= is_at_limit;
        if (is_at_limit && simulator_lane_runs(step, l)) {
            *q = *q >= range->upper ? range->upper : range->lower;
        }
    }
    return any;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Returns whether the joint is at or beyond a limit in any of the lanes that run. */
static bool is_at_stop(const dyn_simulator *s, const simulated_step *step, lane_interval lanes,
                       const joint_range *range) {
    for (size_t l = lanes.first; l < lanes.end; l++) {
        if (simulator_lane_runs(step, l) && lane_side(s, step->block, range, l) != 0) {
            return true;
        }
    }
    return false;
}

/* Collects one row for each range from `first` on at whose limit a joint is in one of the lanes. Returns the first
 * range for which there is no room, or the number of ranges. */
static int collect(dyn_simulator *s, const simulated_step *step, lane_interval lanes, int first) {
    constraint_rows_clear(&s->stops.rows);
    closures_add_rows(s->model, &s->stops.rows);
    s->stops.first = s->stops.rows.set.m;
    for (int i = first; i < s->joints.range_count; i++) {
        const joint_range *range = &s->joints.ranges[i];
        if (is_at_stop(s, step, lanes, range)) {
            const row_term term = {.source = ROW_OF_COORDINATE, .index = range->v_index, .factor = 1};
            int row = constraint_rows_add(&s->stops.rows, &(row_group){1, 1, {term}});
            if (row < 0) {
                return i;
            }
            s->stops.ranges[row - s->stops.first] = i;
        }
    }
    return s->joints.range_count;
}

/* Returns the range of a joint's row. */
static const joint_range *range_of_row(const dyn_simulator *s, int row) {
    return &s->joints.ranges[s->stops.ranges[row - s->stops.first]];
}

/* Computes M^-1 in all lanes where all rows are those of joints, it is compiled, and compiled functions compute the
 * step; else returns NULL. */
static const double *invert(dyn_simulator *s, const simulated_step *step) {
    const void *in[] = {s->q};
    void *out[] = {s->inverse, s->workspace->pivots};
    compiled_packed *minverse = NULL;
    if (s->inverse && s->stops.first == 0 && s->step.compiled.aba && step->wrenches.count == 0) {
        minverse = dyn_compiled_packed(s->compiled, COMPILED_MINVERSE, step->block.kernels);
    }
    if (!minverse) {
        return NULL;
    }
    minverse(in, step->block.kernels->sines, out);
    return s->inverse;
}

/* Copies number `from` of the packed M^-1, in all lanes, to `to`. */
static void copy_packed(sample_block block, const double *inverse, int from, double *to) {
    for (size_t l = 0; l < block.lanes; l++) {
        to[l] = inverse[lane_index(block, from, l)];
    }
}

/* Computes A M^-1 A' and M^-1 A' of the rows in all lanes. */
static void respond(dyn_simulator *s, const simulated_step *step) {
    constraint_rows *rows = &s->stops.rows;
    sample_block block = step->block;
    const double *inverse = invert(s, step);
    if (!inverse) {
        constraint_rows_respond(rows, s->model, s->workspace, block, s->q, s->stops.first > 0 ? s->v : NULL);
        return;
    }
    int m = rows->set.m, nv = s->model->nv;
    for (int r = 0; r < m; r++) {
        int row = rows->groups[r].terms[0].index * nv;
        for (int k = 0; k < nv; k++) {
            copy_packed(block, inverse, row + k, &rows->accelerations[lane_index(block, k * m + r, 0)]);
        }
        for (int c = 0; c < m; c++) {
            copy_packed(block, inverse, row + rows->groups[c].terms[0].index,
                        &rows->response[lane_index(block, r * m + c, 0)]);
        }
    }
}

/* ---- Impacts of one lane ----------------------------------------------------------------------------------------- */

/* Returns the restitution of a joint that moves outward at v. */
static double restitution(const dyn_simulator *s, double v) {
    return fabs(v) > s->options.rest_velocity ? s->options.restitution : 0;
}

/* Motion of the joints of a lane that have rows: whether one moves into its stop, and whether one of these rebounds. */
typedef struct lane_impact {
    bool is_any_outward, rebounds;
} lane_impact;

static lane_impact find_impact(const dyn_simulator *s, sample_block block, size_t l) {
    lane_impact impact = {false, false};
    for (int r = s->stops.first; r < s->stops.rows.set.m; r++) {
        const joint_range *range = range_of_row(s, r);
        if (moves_outward(s, block, range, l)) {
            impact.is_any_outward = true;
            impact.rebounds |= restitution(s, s->v[lane_index(block, range->v_index, l)]) > 0;
        }
    }
    return impact;
}

/* Removes the bounds on the multipliers of the first `count` rows, which are those of the model's constraints. */
static void free_closures(constraint_rows *rows, int count) {
    for (int r = 0; r < count; r++) {
        rows->lower[r] = -INFINITY, rows->upper[r] = INFINITY;
    }
}

/* States the problem of a lane in one round: the bounds of the impulses, and the motion (1 + e) v of a joint or A v - b
 * of a constraint. */
static void state_problem(dyn_simulator *s, sample_block block, size_t l, bool rebounds) {
    constraint_rows *rows = &s->stops.rows;
    free_closures(rows, s->stops.first);
    if (s->stops.first > 0) {
        closures_rates(&s->loops.closures, rows->motion);
    }
    for (int r = 0; r < s->stops.first; r++) {
        rows->motion[r] = closures_rate(rows, block, l, r, s->model->nv, s->v) - rows->motion[r];
    }
    for (int r = s->stops.first; r < rows->set.m; r++) {
        const joint_range *range = range_of_row(s, r);
        double v = s->v[lane_index(block, range->v_index, l)];
        bool is_outward = moves_outward(s, block, range, l);
        int at = is_outward || !rebounds ? lane_side(s, block, range, l) : 0;
        rows->lower[r] = at > 0 ? -INFINITY : 0;
        rows->upper[r] = at < 0 ? INFINITY : 0;
        rows->motion[r] = rebounds && is_outward ? (1 + restitution(s, v)) * v : v;
    }
}

/* Stores the joint of a lane that hits its stop faster than any other in this step so far, and its velocity. */
static void note_hit(const dyn_simulator *s, const simulated_step *step, const joint_range *range, size_t l) {
    dyn_sample_result *result = &step->results[l];
    double speed = outward_speed(s, step->block, range, l);
    if (speed > (result->hit_joint ? fabs(result->hit_velocity) : 0)) {
        result->hit_joint = range->joint + 1;
        result->hit_velocity = s->v[lane_index(step->block, range->v_index, l)];
    }
}

static void note_hits(const dyn_simulator *s, const simulated_step *step, size_t l) {
    for (int r = s->stops.first; r < s->stops.rows.set.m && l < step->block.count; r++) {
        note_hit(s, step, range_of_row(s, r), l);
    }
}

/* Changes the velocities of a lane by the impulses. A joint on which an impulse acts gets exactly the required
 * velocity. */
static void strike(dyn_simulator *s, sample_block block, size_t l, bool rebounds) {
    const constraint_rows *rows = &s->stops.rows;
    for (int r = s->stops.first; r < rows->set.m; r++) {
        double *v = &s->v[lane_index(block, range_of_row(s, r)->v_index, l)];
        rows->motion[r] = rebounds ? -restitution(s, *v) * *v : 0;
    }
    constraint_rows_apply(rows, block, l, s->model->nv, s->v);
    for (int r = s->stops.first; r < rows->set.m; r++) {
        double *v = &s->v[lane_index(block, range_of_row(s, r)->v_index, l)];
        bool is_solved = rows->solution.is_free[r] && rows->solution.multipliers[r] != 0;
        *v = is_solved ? rows->motion[r] : *v;
    }
}

/* Stops the joints of a lane that have rows, in rounds until none of them moves into its stop. */
static void stop_lane(dyn_simulator *s, const simulated_step *step, size_t l) {
    for (int round = 1; round <= MOST_ROUNDS; round++) {
        lane_impact impact = find_impact(s, step->block, l);
        bool rebounds = impact.rebounds && round < MOST_ROUNDS;
        if (!impact.is_any_outward) {
            return;
        }
        note_hits(s, step, l);
        state_problem(s, step->block, l, rebounds);
        constraint_rows_solve(&s->stops.rows, step->block, l);
        strike(s, step->block, l, rebounds);
        if (!rebounds) {
            return;
        }
    }
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

/* Returns the largest speed at which a joint of a lane moves into its stop, or 0. */
static double fastest_outward(const dyn_simulator *s, sample_block block, size_t l) {
    double most = 0;
    for (int i = 0; i < s->joints.range_count; i++) {
        most = fmax(most, outward_speed(s, block, &s->joints.ranges[i], l));
    }
    return most;
}

static bool is_any_outward(const dyn_simulator *s, const simulated_step *step, lane_interval lanes) {
    for (size_t l = lanes.first; l < lanes.end; l++) {
        if (simulator_lane_runs(step, l) && find_impact(s, step->block, l).is_any_outward) {
            return true;
        }
    }
    return false;
}

/* Stops the joints that have rows, in each of the lanes. */
static void stop_lanes(dyn_simulator *s, const simulated_step *step, lane_interval lanes) {
    if (!is_any_outward(s, step, lanes)) {
        return;
    }
    respond(s, step);
    for (size_t l = lanes.first; l < lanes.end; l++) {
        if (simulator_lane_runs(step, l)) {
            stop_lane(s, step, l);
        }
    }
}

/* Stops the joints of one lane, group after group where the rows have no room for all of them. */
static void stop_lane_in_turns(dyn_simulator *s, const simulated_step *step, size_t l) {
    const lane_interval lane = {l, l + 1};
    const int count = s->joints.range_count;
    double most = turns_end * fastest_outward(s, step->block, l);
    bool goes_on = simulator_lane_runs(step, l);
    for (int turn = 0; turn < MOST_TURNS && goes_on; turn++) {
        int next = collect(s, step, lane, 0);
        bool has_more = next < count;
        stop_lanes(s, step, lane);
        while (next < count) {
            next = collect(s, step, lane, next);
            stop_lanes(s, step, lane);
        }
        goes_on = has_more && fastest_outward(s, step->block, l) > most;
    }
}

bool simulator_clamp_joints(dyn_simulator *s, const simulated_step *step) {
    bool is_any_at_limit = false;
    for (int i = 0; i < s->joints.range_count; i++) {
        is_any_at_limit |= clamp_at_stop(s, step, &s->joints.ranges[i]);
    }
    return is_any_at_limit;
}

void simulator_stop_joints(dyn_simulator *s, const simulated_step *step) {
    const lane_interval all = {0, step->block.lanes};
    if (collect(s, step, all, 0) == s->joints.range_count) {
        stop_lanes(s, step, all);
        return;
    }
    for (size_t l = all.first; l < all.end; l++) {
        stop_lane_in_turns(s, step, l);
    }
}

void simulator_note_stops(const dyn_simulator *s, const simulated_step *step) {
    for (size_t l = 0; l < step->block.count; l++) {
        for (int i = 0; i < s->joints.range_count && simulator_lane_runs(step, l); i++) {
            note_hit(s, step, &s->joints.ranges[i], l);
        }
    }
}

/* ---- Positions of closed loops ----------------------------------------------------------------------------------- */

void simulator_respond_at_stops(dyn_simulator *s, const simulated_step *step) {
    collect(s, step, (lane_interval){0, step->block.lanes}, 0);
    respond(s, step);
}

bool simulator_increment_at_stops(dyn_simulator *s, sample_block block, size_t l, double *dq) {
    constraint_rows *rows = &s->stops.rows;
    const double *e = s->loops.closures.e;
    bool is_any_at_limit = false, holds = s->loops.holds[l];
    free_closures(rows, s->stops.first);
    for (int r = 0; r < s->stops.first; r++) {
        rows->motion[r] = e[lane_index(block, r, l)];
    }
    for (int r = s->stops.first; r < rows->set.m; r++) {
        int at = lane_side(s, block, range_of_row(s, r), l);
        rows->lower[r] = at > 0 || (holds && at < 0) ? -INFINITY : 0;
        rows->upper[r] = at < 0 || (holds && at > 0) ? INFINITY : 0;
        rows->motion[r] = 0;
        is_any_at_limit |= at != 0;
    }
    if (!is_any_at_limit) {
        return false;
    }
    constraint_rows_solve(rows, block, l);
    constraint_rows_apply(rows, block, l, s->model->nv, dq);
    for (int r = s->stops.first; r < rows->set.m; r++) {
        double *own = &dq[lane_index(block, range_of_row(s, r)->v_index, l)];
        *own = rows->solution.is_free[r] ? 0 : *own;
    }
    return true;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

size_t joint_stops_lay_out(const dyn_model *model, int most, size_t lanes, uintptr_t base, joint_stops *stops) {
    int capacity = most < MOST_ROWS ? most : MOST_ROWS;
    uintptr_t cursor = base;
    stops->ranges = dyn_carve(&cursor, (size_t)capacity * sizeof(int));
    int closure_rows = capacity > 0 ? model->constraint_rows : 0;
    cursor += constraint_rows_lay_out(model, closure_rows + capacity, lanes, closure_rows > 0, cursor, &stops->rows);
    return cursor - base;
}
