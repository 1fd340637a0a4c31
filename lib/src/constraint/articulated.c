/* SPDX-License-Identifier: BSD-2-Clause */
#include "articulated.h"

#include <math.h>
#include <string.h>

#include "../dynamics/body_couplings.h"
#include "../dynamics/carve.h"

enum { MOST_ITERATES = 24 };

/* 1/mu over the mean mass of a body with rows. A larger one saves iterates and loses digits of the inertias. */
static const double stiffness = 1e4;

/* Bounds of the residual over the sizes of the terms of the rows: the end of the iteration, and the most that rounding
 * leaves where the residual decreases no more. */
static const double finished = 1e-13, rounding = 1e-11;

/* Largest error of an acceleration, as a share of the largest one, with which the iteration ends. */
static const double least_error = 1e-13;

size_t articulated_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, articulated *s) {
    uintptr_t cursor = base;
    size_t rows = (size_t)model->constraint_rows * lanes * sizeof(double);
    s->a = dyn_carve(&cursor, (size_t)model->nv * lanes * sizeof(double));
    s->steps = dyn_carve(&cursor, (size_t)model->nv * lanes * sizeof(double));
    s->lambda = dyn_carve(&cursor, rows);
    s->missing = dyn_carve(&cursor, rows);
    s->sizes = dyn_carve(&cursor, rows);
    s->errors = dyn_carve(&cursor, rows);
    s->share = dyn_carve(&cursor, lanes * sizeof(double));
    s->last = dyn_carve(&cursor, lanes * sizeof(double));
    s->last_step = dyn_carve(&cursor, lanes * sizeof(double));
    s->runs = dyn_carve(&cursor, lanes);
    s->has_converged = dyn_carve(&cursor, lanes);
    return cursor - base;
}

bool articulated_applies(const dyn_workspace *workspace) {
    return workspace->held_memory != NULL;
}

/* Returns 1/mu of a model: the stiffness times the mean mass of the bodies that its rows act on. */
static double penalty_of(const dyn_model *model, const body_couplings *couplings) {
    double mass = 0;
    int count = 0;
    for (int c = 0; c < model->constraint_count; c++) {
        for (int e = 0; e < CLOSURE_BODIES; e++) {
            int i = couplings->bodies[c][e];
            mass += i >= 0 ? model->bodies[i].mass : 0;
            count += i >= 0 && model->bodies[i].mass > 0;
        }
    }
    return count > 0 ? stiffness * mass / count : stiffness;
}

/* Returns the largest of m packed numbers in one lane. */
static double largest(const double *x, int m, sample_block block, size_t l) {
    double most = 0;
    for (int r = 0; r < m; r++) {
        most = fmax(most, fabs(x[(size_t)r * block.lanes + l]));
    }
    return most;
}

/* Decides whether a lane goes on after `done` iterates. An increment is the error of the iterate before. It decreases
 * by about the same factor each time. */
static void check_lane(articulated *s, const dyn_model *model, sample_block block, size_t l, int done) {
    int m = model->constraint_rows, nv = model->nv;
    double missing = largest(s->missing, m, block, l), size = largest(s->sizes, m, block, l);
    double scale = fmax(size, largest(s->a, nv, block, l)), step = done > 0 ? largest(s->steps, nv, block, l) : scale;
    bool is_finished = missing <= finished * size && step * step <= least_error * scale * s->last_step[l];
    bool approaches = done <= 1 || missing < s->last[l] / 2 || step < s->last_step[l] / 2;
    s->has_converged[l] = missing <= rounding * size && step <= 1e-7 * scale;
    s->runs[l] = approaches && (done == 0 || !is_finished) && done < MOST_ITERATES;
    s->last[l] = missing, s->last_step[l] = step;
}

/* Decides which lanes go on after `done` iterates. Returns whether one does. */
static bool check_convergence(articulated *s, const dyn_model *model, sample_block block, int done) {
    bool any = false;
    for (size_t l = 0; l < block.lanes; l++) {
        if (!s->runs[l]) {
            continue;
        }
        check_lane(s, model, block, l, done);
        s->share[l] = s->runs[l];
        any |= s->runs[l] && l < block.count;
    }
    return any;
}

void articulated_solve(articulated *s, const dyn_model *model, const dyn_workspace *workspace, sample_block block,
                       const packed_inputs *in, const articulated_terms *terms, void *pivots) {
    const int m = model->constraint_rows;
    const double k = terms->stabilization;
    const held_rows rows = {
        &workspace->couplings, m, penalty_of(model, &workspace->couplings), 2 * k, terms->errors ? s->errors : NULL,
        terms->diagonal};
    const held_motion out = {s->a, s->steps, s->lambda, s->missing, s->sizes};
    for (size_t i = 0; terms->errors && i < (size_t)m * block.lanes; i++) {
        s->errors[i] = k * k * terms->errors[i];
    }
    block.kernels->constrained_aba(model, workspace->held_memory, in, &rows, pivots, &out);
    memset(s->runs, 1, block.lanes);
    for (int i = 0; check_convergence(s, model, block, i); i++) {
        block.kernels->constrained_aba_iterate(model, workspace->held_memory, in, &rows, s->share, &out);
    }
}
