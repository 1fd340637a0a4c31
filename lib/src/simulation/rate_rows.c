/* SPDX-License-Identifier: BSD-2-Clause */
#include "rate_rows.h"

#include <string.h>

#include "../dynamics/carve.h"
#include "../model/normal_form.h"
#include "lane_index.h"

size_t rate_rows_lay_out(const dyn_model *model, int coordinates, size_t lanes, uintptr_t base, rate_rows *r) {
    uintptr_t cursor = base;
    cursor += constraint_rows_lay_out(model, coordinates, lanes, false, cursor, &r->rows);
    r->row_of = dyn_carve(&cursor, (size_t)model->nv * sizeof *r->row_of);
    return cursor - base;
}

void rate_rows_clear(const dyn_model *model, rate_rows *r) {
    constraint_rows_clear(&r->rows);
    for (int k = 0; k < model->nv; k++) {
        r->row_of[k] = -1;
    }
}

void rate_rows_add(rate_rows *r, const shaft_rates *rates) {
    for (int k = 0; k < rates->count; k++) {
        int coordinate = rates->coordinates[k];
        const row_group group = {1, 1, {{ROW_OF_COORDINATE, coordinate, .factor = 1}}};
        if (r->row_of[coordinate] < 0) {
            r->row_of[coordinate] = constraint_rows_add(&r->rows, &group);
        }
    }
}

double rate_rows_speed(const shaft_rates *rates, sample_block block, size_t lane, const double *v) {
    double sum = 0;
    for (int k = 0; k < rates->count; k++) {
        sum += rates->rates[k] * v[lane_index(block, rates->coordinates[k], lane)];
    }
    return sum;
}

double rate_rows_response(const rate_rows *r, const shaft_rates *a, const shaft_rates *b, sample_block block,
                          size_t lane) {
    double sum = 0;
    int m = r->rows.set.m;
    for (int i = 0; i < a->count; i++) {
        for (int k = 0; k < b->count; k++) {
            int entry = r->row_of[a->coordinates[i]] * m + r->row_of[b->coordinates[k]];
            sum += a->rates[i] * b->rates[k] * r->rows.response[lane_index(block, entry, lane)];
        }
    }
    return sum;
}

void rate_rows_begin(rate_rows *r) {
    memset(r->rows.solution.multipliers, 0, (size_t)r->rows.set.m * sizeof *r->rows.solution.multipliers);
}

void rate_rows_push(rate_rows *r, const shaft_rates *rates, double force) {
    for (int k = 0; k < rates->count; k++) {
        r->rows.solution.multipliers[r->row_of[rates->coordinates[k]]] += rates->rates[k] * force;
    }
}
