/* SPDX-License-Identifier: BSD-2-Clause */
#include "closures.h"

#include <math.h>
#include <string.h>

#include "../dynamics/body_couplings.h"
#include "../dynamics/carve.h"
#include "../model/constraint.h"
#include "../model/normal_form.h"
#include "closure_error.h"

size_t closures_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, closures *s) {
    uintptr_t cursor = base;
    size_t m = (size_t)model->constraint_rows, packed = lanes * sizeof(double);
    cursor += constraint_rows_lay_out(model, model->constraint_rows, lanes, true, cursor, &s->rows);
    cursor += constraint_rows_lay_out(model, constraint_force_rows(model), lanes, true, cursor, &s->forces);
    cursor += least_norm_lay_out(model->constraint_rows, cursor, &s->norm);
    s->swept = (row_multipliers){.response = s->rows.response,
                                 .missing = dyn_carve(&cursor, m * packed),
                                 .factors = dyn_carve(&cursor, m * m * packed),
                                 .shares = s->rows.accelerations,
                                 .lambda = dyn_carve(&cursor, m * packed),
                                 .regular = dyn_carve(&cursor, packed)};
    s->row = dyn_carve(&cursor, m * packed);
    s->residual = dyn_carve(&cursor, packed);
    s->required = dyn_carve(&cursor, m * packed);
    s->pose = dyn_carve(&cursor, 12 * packed);
    s->lane_q = dyn_carve(&cursor, (size_t)model->nq * sizeof(double));
    s->e = dyn_carve(&cursor, m * packed);
    s->c = dyn_carve(&cursor, m * packed);
    s->rates = dyn_carve(&cursor, m * sizeof(double));
    s->lambda = dyn_carve(&cursor, m * sizeof(double));
    return cursor - base;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

void closures_add_rows(const dyn_model *model, constraint_rows *rows) {
    for (int i = 0; i < model->constraint_count; i++) {
        const closure *c = &model->closures[i];
        row_group group = {c->count, 2, {{ROWS_OF_CLOSURE, i, .factor = 1}, {ROWS_OF_CLOSURE, i, .factor = -1}}};
        for (int k = 0; k < c->coordinate_count; k++) {
            group.term_count = c->coordinate_count;
            group.terms[k] = (row_term){ROW_OF_COORDINATE, c->v_index[k], .factor = c->coefficients[k]};
        }
        if (c->kind == CLOSURE_POLYNOMIAL) {
            group.terms[1] = (row_term){ROW_OF_POLYNOMIAL, i, .factor = -1};
        }
        constraint_rows_add(rows, &group);
    }
}

void closures_choose(const dyn_model *model, const dyn_workspace *workspace, closures *s) {
    s->model = model, s->workspace = workspace, s->time = workspace->time;
    constraint_rows_clear(&s->rows);
    closures_add_rows(model, &s->rows);
    constraint_rows_clear(&s->forces);
    for (int i = model->constraint_count; i < 2 * model->constraint_count; i++) {
        const row_group group = {
            model->closures[i].count, 2, {{ROWS_OF_CLOSURE, i, .factor = 1}, {ROWS_OF_CLOSURE, i, .factor = -1}}};
        if (group.count > 0) {
            constraint_rows_add(&s->forces, &group);
        }
    }
}

void closures_respond(closures *s, sample_block block, const void *q, const void *v, const void *diagonal) {
    s->rows.diagonal = diagonal;
    constraint_rows_respond(&s->rows, s->model, s->workspace, block, q, v);
    block.kernels->factorize_response(s->rows.set.m, s->rows.response, s->row, s->swept.factors, s->swept.regular);
    if (v) {
        closures_subtract_drive(s, block);
    }
}

void closures_subtract_drive(const closures *s, sample_block block) {
    for (int i = 0; i < s->model->constraint_count; i++) {
        const closure *c = &s->model->closures[i];
        size_t row = (size_t)s->model->constraints[i].first_row * block.lanes;
        double drive = closure_motion(c, s->time).acceleration;
        for (size_t l = 0; c->kind == CLOSURE_PRESCRIBED && l < block.lanes; l++) {
            s->rows.bias[row + l] -= drive;
        }
    }
}

void closures_rates(const closures *s, double *b) {
    for (int i = 0; i < s->model->constraint_count; i++) {
        const dyn_constraint *constraint = &s->model->constraints[i];
        double rate = closure_motion(&s->model->closures[i], s->time).rate;
        for (int r = 0; r < constraint->row_count; r++) {
            b[constraint->first_row + r] = rate;
        }
    }
}

/* ---- Forces of loop joints --------------------------------------------------------------------------------------- */

/* Returns the force of a loop joint along a direction in which S moves in P with the rate v, and its derivative. */
static double joint_force(const loop_forces *forces, const dyn_passive_parts *parts, double v, double *slope) {
    double force = forces->effort;
    *slope = 0;
    if (parts && parts->damping) {
        force -= forces->damping * v;
        *slope -= forces->damping;
    }
    if (parts && parts->friction) {
        const double steep = parts->friction_velocity, size = sqrt(v * v + steep * steep);
        force -= forces->friction * v / size;
        *slope -= forces->friction * steep * steep / (size * size * size);
    }
    return force;
}

/* Finds the forces of one lane at the packed v, and their derivatives by the rates of the joints in `slopes` (NULL: not
 * needed). */
static void find_forces(closures *s, sample_block block, size_t lane, const dyn_passive_parts *parts, const double *v,
                        double *slopes) {
    constraint_rows *rows = &s->forces;
    int nv = s->model->nv, row = 0;
    for (int i = s->model->constraint_count; i < 2 * s->model->constraint_count; i++) {
        for (int r = 0; r < s->model->closures[i].count; r++, row++) {
            double rate = v ? closures_rate(rows, block, lane, row, nv, v) : 0, slope;
            rows->solution.multipliers[row] = joint_force(&s->model->closures[i].forces, parts, rate, &slope);
            if (slopes) {
                slopes[row] = slope;
            }
        }
    }
}

void closures_exert(closures *s, sample_block block, const dyn_passive_parts *parts, const void *q, const void *v,
                    const void *diagonal, double *x) {
    if (s->forces.set.m == 0) {
        return;
    }
    s->forces.diagonal = diagonal;
    constraint_rows_respond(&s->forces, s->model, s->workspace, block, q, v);
    for (size_t l = 0; l < block.lanes; l++) {
        find_forces(s, block, l, parts, v, NULL);
        constraint_rows_apply(&s->forces, block, l, s->model->nv, x);
    }
}

const double *closures_find_joint_forces(closures *s, sample_block one, const dyn_passive_parts *parts, const double *q,
                                         const double *v, double *slopes) {
    constraint_rows *rows = &s->forces;
    if (rows->set.m > 0) {
        one.kernels->row_jacobian(s->model, s->workspace->memory, q, NULL, &rows->set, rows->A, NULL);
        find_forces(s, one, 0, parts, v, slopes);
    }
    return rows->A;
}

void closures_add_forces(closures *s, sample_block one, const dyn_passive_parts *parts, double factor, const double *q,
                         const double *v, double *tau) {
    const double *A = closures_find_joint_forces(s, one, parts, q, v, NULL);
    int nv = s->model->nv;
    for (int r = 0; r < s->forces.set.m; r++) {
        for (int i = 0; i < nv; i++) {
            tau[i] += factor * A[r * nv + i] * s->forces.solution.multipliers[r];
        }
    }
}

/* Loads A M^-1 A' of one lane from its lower triangle. Returns it. */
static const double *load_response(closures *s, sample_block block, size_t lane) {
    int m = s->rows.set.m;
    double *R = s->rows.lane_response;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++) {
            R[i * m + j] = R[j * m + i] = dyn_packed_number(s->rows.response, (size_t)(i * m + j), block, lane);
        }
    }
    return R;
}

/* ---- One sweep --------------------------------------------------------------------------------------------------- */

bool closures_have_sweep(const dyn_model *model) {
    return !model->has_coupling && model->link_bodies == model->body_count && model->body_count > 0 &&
           model->stage_count == 0 && constraint_force_rows(model) == 0;
}

/* Computes db/dt + 2 k b - k^2 e of all lanes, from the closure errors. Returns NULL where that is zero. */
static const double *find_required(closures *s, sample_block block, double k) {
    bool is_zero = k == 0;
    closures_rates(s, s->rates);
    for (int i = 0; i < s->model->constraint_count; i++) {
        const dyn_constraint *constraint = &s->model->constraints[i];
        double drive = closure_motion(&s->model->closures[i], s->time).acceleration;
        is_zero = is_zero && s->model->closures[i].kind != CLOSURE_PRESCRIBED;
        for (int r = constraint->first_row; r < constraint->first_row + constraint->row_count; r++) {
            for (size_t at = (size_t)r * block.lanes; at < (size_t)(r + 1) * block.lanes; at++) {
                s->required[at] = drive + 2 * k * s->rates[r] - (k != 0 ? k * k * s->e[at] : 0);
            }
        }
    }
    return is_zero ? NULL : s->required;
}

/* Computes the multipliers of least norm of one lane from its response and what is missing. */
static void solve_lane(closures *s, sample_block block, size_t lane) {
    for (int r = 0; r < s->rows.set.m; r++) {
        s->rows.motion[r] = dyn_packed_number(s->swept.missing, (size_t)r, block, lane);
    }
    least_norm_solve(s->rows.set.m, load_response(s, block, lane), s->rows.motion, &s->norm, s->lambda);
}

/* Replaces the multipliers by those of least norm in the lanes whose rows are not known to agree. */
static void solve_other_lanes(closures *s, sample_block block) {
    double *lambda = s->swept.lambda;
    for (size_t l = 0; l < block.lanes; l++) {
        if (closures_agree(s, block, l)) {
            continue;
        }
        solve_lane(s, block, l);
        for (int r = 0; r < s->rows.set.m; r++) {
            lambda[(size_t)r * block.lanes + l] = s->lambda[r];
        }
    }
}

void closures_sweep(closures *s, sample_block block, const packed_inputs *in, double k, const void *diagonal,
                    bool needs_response, void *pivots, double *u) {
    if (k != 0) {
        closures_find_errors(s, block, in->q);
    }
    const row_requirements required = {&s->rows.set, 2 * k, find_required(s, block, k), diagonal, needs_response};
    block.kernels->constrained_response(s->model, s->workspace->memory, in, &required, pivots, u, &s->swept);
    solve_other_lanes(s, block);
}

void closures_move(const closures *s, sample_block block, const double *gravity, double *u) {
    block.kernels->constrained_acceleration(s->model, s->workspace->memory, gravity, &s->rows.set, &s->swept,
                                            s->residual, u);
}

bool closures_agree(const closures *s, sample_block block, size_t lane) {
    return dyn_packed_number(s->swept.regular, 0, block, lane) > 0;
}

void closures_load_multipliers(closures *s, sample_block block, size_t lane) {
    if (dyn_packed_number(s->swept.regular, 0, block, lane) == 1) {
        solve_lane(s, block, lane);
        return;
    }
    for (int r = 0; r < s->rows.set.m; r++) {
        s->lambda[r] = dyn_packed_number(s->swept.lambda, (size_t)r, block, lane);
    }
}

void closures_find_rows(closures *s, sample_block block, const void *q, const void *v) {
    block.kernels->row_jacobian(s->model, s->workspace->memory, q, v, &s->rows.set, s->rows.A, s->rows.bias);
    closures_subtract_drive(s, block);
}

/* ---- Closure errors ---------------------------------------------------------------------------------------------- */

/* Loads the pose of a closure's frames in one lane. */
static dyn_pose lane_pose(const closures *s, sample_block block, size_t l) {
    dyn_pose pose;
    for (size_t k = 0; k < 3; k++) {
        pose.position[k] = dyn_packed_number(s->pose, k, block, l);
    }
    for (size_t k = 0; k < 9; k++) {
        pose.rotation[k] = dyn_packed_number(s->pose, 3 + k, block, l);
    }
    return pose;
}

void closures_find_errors(closures *s, sample_block block, const void *q) {
    const dyn_model *model = s->model;
    for (int i = 0, row = 0; i < model->constraint_count; row += model->closures[i].count, i++) {
        const closure *c = &model->closures[i];
        double own[6];
        if (c->coordinate_count == 0) {
            block.kernels->closure_pose(model, s->workspace->memory, q, i, s->pose, dyn_packed(s->pose, 3, block));
        }
        for (size_t l = 0; l < block.lanes; l++) {
            dyn_pose pose = lane_pose(s, block, l);
            for (size_t k = 0; k < (size_t)c->coordinate_count; k++) {
                s->lane_q[c->q_index[k]] = dyn_packed_number(q, (size_t)c->q_index[k], block, l);
            }
            closure_error(c, &pose, s->lane_q, s->time, own);
            for (int r = 0; r < c->count; r++) {
                s->e[(size_t)(row + r) * block.lanes + l] = own[r];
            }
        }
    }
}

/* ---- One lane ---------------------------------------------------------------------------------------------------- */

double closures_rate(const constraint_rows *rows, sample_block block, size_t lane, int row, int nv, const double *x) {
    double rate = 0;
    for (int i = 0; i < nv; i++) {
        rate += rows->A[(size_t)(row * nv + i) * block.lanes + lane] * x[(size_t)i * block.lanes + lane];
    }
    return rate;
}

/* Computes x += a b in all lanes. */
static inline void add_product(size_t lanes, const double *restrict a, const double *restrict b, double *restrict x) {
    for (size_t l = 0; l < lanes; l++) {
        x[l] += a[l] * b[l];
    }
}

/* Computes A_r x of all lanes into `sum`. */
static void find_rates(const closures *s, sample_block block, int row, const double *x, double *sum) {
    const size_t lanes = block.lanes, nv = (size_t)s->model->nv;
    memset(sum, 0, lanes * sizeof *sum);
    for (size_t i = 0; i < nv; i++) {
        add_product(lanes, s->rows.A + ((size_t)row * nv + i) * lanes, x + i * lanes, sum);
    }
}

void closures_require_acceleration(closures *s, sample_block block, double k, const void *v) {
    closures_rates(s, s->rates);
    for (int r = 0; r < s->rows.set.m; r++) {
        double *sum = s->row, *c = s->c + (size_t)r * block.lanes;
        if (k != 0) {
            find_rates(s, block, r, v, sum);
        }
        for (size_t l = 0; l < block.lanes; l++) {
            c[l] = -s->rows.bias[(size_t)r * block.lanes + l];
            if (k != 0) {
                c[l] -= 2 * k * (sum[l] - s->rates[r]) + k * k * s->e[(size_t)r * block.lanes + l];
            }
        }
    }
}

void closures_require_rates(closures *s, sample_block block) {
    closures_rates(s, s->rates);
    for (int r = 0; r < s->rows.set.m; r++) {
        for (size_t l = 0; l < block.lanes; l++) {
            s->c[(size_t)r * block.lanes + l] = s->rates[r];
        }
    }
}

void closures_solve(closures *s, sample_block block, const bool *lanes, double *x) {
    const size_t m = (size_t)s->rows.set.m, nv = (size_t)s->model->nv;
    double *missing = s->swept.missing, *lambda = s->swept.lambda;
    for (size_t r = 0; r < m; r++) {
        find_rates(s, block, (int)r, x, s->row);
        for (size_t l = 0; l < block.lanes; l++) {
            missing[r * block.lanes + l] = s->c[r * block.lanes + l] - s->row[l];
        }
    }
    block.kernels->solve_response((int)m, s->swept.factors, missing, s->swept.regular, lambda);
    solve_other_lanes(s, block);
    for (size_t at = 0; lanes && at < m * block.lanes; at++) {
        lambda[at] = lanes[at % block.lanes] ? lambda[at] : 0;
    }
    for (size_t i = 0; i < nv; i++) {
        for (size_t r = 0; r < m; r++) {
            add_product(block.lanes, s->rows.accelerations + (i * m + r) * block.lanes, lambda + r * block.lanes,
                        x + i * block.lanes);
        }
    }
}

double closures_residual(const closures *s, sample_block block, size_t lane, const double *x) {
    double most = 0;
    for (int r = 0; r < s->rows.set.m; r++) {
        most = fmax(most, fabs(closures_rate(&s->rows, block, lane, r, s->model->nv, x) -
                               s->c[(size_t)r * block.lanes + lane]));
    }
    return most;
}

int closures_examine(closures *s, sample_block block, size_t lane, double *condition) {
    const int m = s->rows.set.m;
    const double *R = load_response(s, block, lane);
    if (dyn_packed_number(s->swept.regular, 0, block, lane) == 2) {
        *condition = least_norm_condition_of_regular(m, R, &s->norm);
        return m;
    }
    const int rank = least_norm_factorize(m, R, &s->norm);
    *condition = least_norm_condition(m, rank, &s->norm);
    return rank;
}
