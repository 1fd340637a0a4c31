/* SPDX-License-Identifier: BSD-2-Clause */
#include "rows.h"

#include "../dynamics/carve.h"

size_t constraint_rows_lay_out(const dyn_model *model, int capacity, size_t lanes, bool has_bias, uintptr_t base,
                               constraint_rows *rows) {
    uintptr_t cursor = base;
    size_t m = (size_t)capacity, nv = (size_t)model->nv, packed = lanes * sizeof(double);
    rows->capacity = capacity;
    rows->groups = dyn_carve(&cursor, m * sizeof(row_group));
    rows->A = dyn_carve(&cursor, has_bias || model->has_coupling ? m * nv * packed : 0);
    rows->bias = dyn_carve(&cursor, has_bias ? m * packed : 0);
    rows->response = dyn_carve(&cursor, m * m * packed);
    rows->accelerations = dyn_carve(&cursor, nv * m * packed);
    rows->motion = dyn_carve(&cursor, m * sizeof(double));
    rows->lower = dyn_carve(&cursor, m * sizeof(double));
    rows->upper = dyn_carve(&cursor, m * sizeof(double));
    rows->lane_response = dyn_carve(&cursor, m * m * sizeof(double));
    cursor += constraint_solution_lay_out(capacity, cursor, &rows->solution);
    constraint_rows_clear(rows);
    return cursor - base;
}

void constraint_rows_clear(constraint_rows *rows) {
    rows->set = (row_set){.groups = rows->groups, .A = rows->A};
    rows->diagonal = NULL;
}

int constraint_rows_add(constraint_rows *rows, const row_group *group) {
    int first = rows->set.m;
    if (first + group->count > rows->capacity) {
        return -1;
    }
    rows->groups[rows->set.group_count++] = *group;
    rows->set.m += group->count;
    return first;
}

void constraint_rows_respond(constraint_rows *rows, const dyn_model *model, const dyn_workspace *workspace,
                             sample_block block, const double *q, const double *v) {
    const row_results results = {rows->response, rows->accelerations, false};
    if (v || model->has_coupling) {
        block.kernels->row_jacobian(model, workspace->memory, q, v, &rows->set, rows->A, rows->bias);
    }
    block.kernels->row_response(model, workspace->memory, q, rows->diagonal, &rows->set, workspace->pivots, &results);
}

const constraint_solution *constraint_rows_solve(constraint_rows *rows, sample_block block, size_t lane) {
    int m = rows->set.m;
    for (int i = 0; i < m * m; i++) {
        rows->lane_response[i] = rows->response[(size_t)i * block.lanes + lane];
    }
    const constraint_problem problem = {m, rows->lane_response, rows->motion, rows->lower, rows->upper};
    constraint_solve(&problem, &rows->solution);
    return &rows->solution;
}

void constraint_rows_apply(const constraint_rows *rows, sample_block block, size_t lane, int nv, double *x) {
    int m = rows->set.m;
    for (int i = 0; i < m; i++) {
        double multiplier = rows->solution.multipliers[i];
        for (int k = 0; k < nv && multiplier != 0; k++) {
            x[(size_t)k * block.lanes + lane] +=
                rows->accelerations[(size_t)(k * m + i) * block.lanes + lane] * multiplier;
        }
    }
}
