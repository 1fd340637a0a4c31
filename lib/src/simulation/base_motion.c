/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion of the base in a simulation. Euler's methods compute its forces f(q, v; base) with those of the joints, at the
 * start of a substep, and Runge-Kutta 4 at each of its stages (stage_forces.c). The motion is held over a step.
 */
#include "simulator.h"

#include <string.h>

#include <dynamics/base_motion.h>

#include "../classical/classical.h"
#include "../dynamics/carve.h"
#include "../model/normal_form.h"

enum { SPATIAL = 6 };

size_t simulated_base_lay_out(const dyn_model *model, bool may_move, size_t lanes, uintptr_t base, simulated_base *b) {
    uintptr_t cursor = base;
    size_t nq = may_move ? (size_t)model->nq : 0, nv = may_move ? (size_t)model->nv : 0;
    size_t separated = may_move ? nv + (size_t)dyn_lossy_gears(model) : 0;
    double **of_one[] = {&b->v, &b->f};
    double **packed[] = {&b->tau[0], &b->tau[1]};
    b->motion = dyn_carve(&cursor, 2 * SPATIAL * lanes * sizeof *b->motion);
    b->q = dyn_carve(&cursor, nq * sizeof *b->q);
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++) {
        *of_one[i] = dyn_carve(&cursor, separated * sizeof(double));
    }
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        *packed[i] = dyn_carve(&cursor, nv * lanes * sizeof(double));
    }
    return cursor - base;
}

void simulator_move_base(dyn_simulator *s, sample_block block, const dyn_base_motion *base) {
    simulated_base *b = &s->base;
    b->block = block;
    b->moves = base && base->twist;
    for (size_t l = 0; b->moves && l < block.lanes; l++) {
        size_t row = (block.first + (l < block.count ? l : block.count - 1)) * base->stride;
        memcpy(b->motion + 2 * SPATIAL * l, base->twist + row, SPATIAL * sizeof *b->motion);
        memcpy(b->motion + 2 * SPATIAL * l + SPATIAL, base->acceleration + row, SPATIAL * sizeof *b->motion);
    }
}

/* Copies `width` packed numbers of a lane. */
static void copy_lane(sample_block block, const double *packed, int width, size_t lane, double *to) {
    for (int k = 0; k < width; k++) {
        to[k] = packed[lane_index(block, k, lane)];
    }
}

void simulator_find_base_forces(dyn_simulator *s, const base_input *in, double sign, double *tau) {
    simulated_base *b = &s->base;
    for (size_t l = 0; l < b->block.lanes; l++) {
        const double *motion = b->motion + 2 * SPATIAL * l;
        const dyn_base_motion one = {motion, motion + SPATIAL, 0};
        const formulation_call call = {.model = in->model, .memory = in->memory, .base = &one};
        copy_lane(b->block, in->q, in->model->nq, l, b->q);
        copy_lane(b->block, in->v, in->model->nv, l, b->v);
        dyn_classical_instance_classical.base_forces(&call, b->q, b->v, b->f, NULL);
        for (int k = 0; k < in->model->nv; k++) {
            tau[lane_index(b->block, k, l)] += sign * b->f[k];
        }
    }
}

const double *simulator_add_base_forces(dyn_simulator *s, int end, const double *q, const double *v,
                                        const double *tau) {
    double *sum = s->base.tau[end];
    memcpy(sum, tau, (size_t)s->model->nv * s->base.block.lanes * sizeof *sum);
    const base_input in = {s->model, s->workspace->memory, q, v};
    simulator_find_base_forces(s, &in, -1, sum);
    return sum;
}
