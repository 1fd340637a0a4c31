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
 * Where more joints have limits than the rows have room for, they take turns until none moves outward. Impulses of
 * earlier turns remain, so that a joint may then move away from its limit in spite of an impulse.
 *
 * Source: Moreau 1988 (Newton's restitution); Glocker 2001, "Set-valued force laws" (impacts in several
 * constraints).
 */
#include <math.h>

#include "../dynamics/carve.h"
#include "../model/normal_form.h"
#include "simulator.h"

enum { MOST_ROUNDS = 8, MOST_TURNS = 32 };

/* Returns the position of a coordinate relative to its range: -1 at or below, 1 at or above, 0 within. */
static int side(const joint_range *range, double q) {
    return q >= range->upper ? 1 : q <= range->lower ? -1 : 0;
}

static int lane_side(const dyn_simulator *s, sample_block block, const joint_range *range, size_t l) {
    return side(range, s->q[lane_index(block, range->q_index, l)]);
}

/* Returns whether a lane's joint moves into its stop. */
static bool moves_outward(const dyn_simulator *s, sample_block block, const joint_range *range, size_t l) {
    return lane_side(s, block, range, l) * s->v[lane_index(block, range->v_index, l)] > 0;
}

/* Returns the result of a lane's sample. A lane without a sample repeats the last one. */
static dyn_sample_result *lane_result(const simulated_step *step, size_t l) {
    return &step->results[l < step->block.count ? l : step->block.count - 1];
}

static bool is_running(const simulated_step *step, size_t l) {
    return lane_result(step, l)->status == DYN_SAMPLE_STATUS_RUNNING;
}

/* Returns whether the joint is at or beyond a limit in any lane. Resets q to the limit there. */
static bool clamp_at_stop(dyn_simulator *s, const simulated_step *step, const joint_range *range) {
    sample_block block = step->block;
    bool any = false;
    for (size_t l = 0; l < block.lanes; l++) {
        double *q = &s->q[lane_index(block, range->q_index, l)];
        bool is_at_limit = *q >= range->upper || *q <= range->lower;
        any |= is_at_limit;
        if (is_at_limit && is_running(step, l)) {
            *q = *q >= range->upper ? range->upper : range->lower;
        }
    }
    return any;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Makes the rows of those ranges from `first` on at whose limits a running lane is. Examines as many ranges as there is
 * room for rows, so that the ranges that take turns do not depend on other samples. Returns the index of the range
 * behind the last one; *is_any_outward reports whether a joint of them moves outward. */
static int collect(dyn_simulator *s, const simulated_step *step, int first, bool *is_any_outward) {
    sample_block block = step->block;
    int left = s->joints.range_count - first, room = s->stops.rows.capacity, end = first + (left < room ? left : room);
    constraint_rows_clear(&s->stops.rows);
    for (int i = first; i < end; i++) {
        const joint_range *range = &s->joints.ranges[i];
        bool is_at_limit = false;
        for (size_t l = 0; l < block.lanes; l++) {
            if (is_running(step, l) && lane_side(s, block, range, l) != 0) {
                is_at_limit = true;
                *is_any_outward |= moves_outward(s, block, range, l);
            }
        }
        if (is_at_limit) {
            const row_term term = {.source = ROW_OF_COORDINATE, .index = range->v_index, .factor = 1};
            s->stops.ranges[constraint_rows_add(&s->stops.rows, &(row_group){1, 1, {term}})] = i;
        }
    }
    return end;
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

/* Copies the packed number `from` of M^-1. */
static void copy_packed(sample_block block, const double *inverse, int from, double *to) {
    for (size_t l = 0; l < block.lanes; l++) {
        to[l] = inverse[lane_index(block, from, l)];
    }
}

/* Computes the response of the rows in all lanes. */
static void respond(dyn_simulator *s, const simulated_step *step) {
    constraint_rows *rows = &s->stops.rows;
    sample_block block = step->block;
    const double *inverse = invert(s, step);
    if (!inverse) {
        constraint_rows_respond(rows, s->model, s->workspace, block, s->q, NULL);
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

/* Motion of a lane's joints at limits. */
typedef struct lane_impact {
    bool is_any_outward, rebounds;
} lane_impact;

static lane_impact find_impact(const dyn_simulator *s, sample_block block, size_t l) {
    lane_impact impact = {false, false};
    for (int r = 0; r < s->stops.rows.set.m; r++) {
        const joint_range *range = &s->joints.ranges[s->stops.ranges[r]];
        if (moves_outward(s, block, range, l)) {
            impact.is_any_outward = true;
            impact.rebounds |= restitution(s, s->v[lane_index(block, range->v_index, l)]) > 0;
        }
    }
    return impact;
}

/* States the problem of a round: bounds of the impulses, and (1 + e) v. */
static void state_problem(dyn_simulator *s, sample_block block, size_t l, bool rebounds) {
    constraint_rows *rows = &s->stops.rows;
    for (int r = 0; r < rows->set.m; r++) {
        const joint_range *range = &s->joints.ranges[s->stops.ranges[r]];
        double v = s->v[lane_index(block, range->v_index, l)];
        bool is_outward = moves_outward(s, block, range, l);
        int at = is_outward || !rebounds ? lane_side(s, block, range, l) : 0;
        rows->lower[r] = at > 0 ? -INFINITY : 0;
        rows->upper[r] = at < 0 ? INFINITY : 0;
        rows->motion[r] = rebounds && is_outward ? (1 + restitution(s, v)) * v : v;
    }
}

/* Reports the joints that move outward as hits. */
static void note_hits(const dyn_simulator *s, const simulated_step *step, size_t l) {
    for (int r = 0; r < s->stops.rows.set.m && l < step->block.count; r++) {
        const joint_range *range = &s->joints.ranges[s->stops.ranges[r]];
        if (moves_outward(s, step->block, range, l)) {
            step->results[l].hit_joint = range->joint + 1;
            step->results[l].hit_velocity = s->v[lane_index(step->block, range->v_index, l)];
        }
    }
}

/* Changes the velocities by the impulses. A joint on which an impulse acts gets exactly the required velocity. */
static void strike(dyn_simulator *s, sample_block block, size_t l, bool rebounds) {
    const constraint_rows *rows = &s->stops.rows;
    for (int r = 0; r < rows->set.m; r++) {
        double *v = &s->v[lane_index(block, s->joints.ranges[s->stops.ranges[r]].v_index, l)];
        rows->motion[r] = rebounds ? -restitution(s, *v) * *v : 0;
    }
    constraint_rows_apply(rows, block, l, s->model->nv, s->v);
    for (int r = 0; r < rows->set.m; r++) {
        double *v = &s->v[lane_index(block, s->joints.ranges[s->stops.ranges[r]].v_index, l)];
        bool is_solved = rows->solution.is_free[r] && rows->solution.multipliers[r] != 0;
        *v = is_solved ? rows->motion[r] : *v;
    }
}

/* Holds the joints of a lane at their stops. */
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

/* Holds the joints whose limits start at range `first`. Returns the range to go on with; *is_any_outward becomes true
 * where one of them moved outward. */
static int stop_some(dyn_simulator *s, const simulated_step *step, int first, bool *is_any_outward) {
    bool is_outward = false;
    int next = collect(s, step, first, &is_outward);
    if (is_outward) {
        respond(s, step);
        for (size_t l = 0; l < step->block.lanes; l++) {
            if (is_running(step, l)) {
                stop_lane(s, step, l);
            }
        }
    }
    *is_any_outward |= is_outward;
    return next;
}

void simulator_stop_joints(dyn_simulator *s, const simulated_step *step) {
    int count = s->joints.range_count;
    bool goes_on = false;
    for (int i = 0; i < count; i++) {
        goes_on |= clamp_at_stop(s, step, &s->joints.ranges[i]);
    }
    for (int turn = 0; goes_on && turn < MOST_TURNS; turn++) {
        bool is_any_outward = false;
        int next = stop_some(s, step, 0, &is_any_outward);
        bool has_more = next < count;
        while (next < count) {
            next = stop_some(s, step, next, &is_any_outward);
        }
        goes_on = has_more && is_any_outward;
    }
}

size_t joint_stops_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, joint_stops *stops) {
    enum { MOST_ROWS = 64 };
    int joints = model->joint_count;
    uintptr_t cursor = base;
    stops->ranges = dyn_carve(&cursor, MOST_ROWS * sizeof(int));
    cursor +=
        constraint_rows_lay_out(model, joints < MOST_ROWS ? joints : MOST_ROWS, lanes, false, cursor, &stops->rows);
    return cursor - base;
}
