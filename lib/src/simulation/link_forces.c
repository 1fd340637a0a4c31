/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forces on links in steps of a simulation. Euler's methods compute them at the start of a substep, and hold them in
 * it: with the semi-implicit method, which moves q by the new velocity, energy then does not drift. Runge-Kutta 4
 * computes them at each of its stages (stage_forces.c).
 */
#include "simulator.h"

#include <string.h>

#include "../actuation/link_force.h"
#include "../dynamics/carve.h"
#include "../model/normal_form.h"

size_t simulated_link_forces_lay_out(const dyn_model *model, size_t lanes, uintptr_t base,
                                     simulated_link_forces *forces) {
    uintptr_t cursor = base;
    bool any = dyn_link_force_count(model) > 0;
    size_t nq = any ? (size_t)model->nq : 0, nv = any ? (size_t)model->nv : 0;
    forces->q = dyn_carve(&cursor, nq * sizeof(double));
    forces->v = dyn_carve(&cursor, nv * sizeof(double));
    forces->r = dyn_carve(&cursor, nv * sizeof(double));
    for (int end = 0; end < 2; end++) {
        forces->tau[end] = dyn_carve(&cursor, nv * lanes * sizeof(double));
    }
    return cursor - base;
}

void simulator_choose_link_forces(dyn_simulator *s) {
    bool count = !s->options.ignore_damping || !s->options.ignore_springs;
    s->link_forces.count = count ? dyn_link_force_count(s->model) : 0;
}

/* Copies `width` packed numbers of a lane. */
static void copy_lane(sample_block block, const double *packed, int width, size_t lane, double *to) {
    for (int k = 0; k < width; k++) {
        to[k] = packed[lane_index(block, k, lane)];
    }
}

void simulator_find_link_forces(dyn_simulator *s, sample_block block, const double *q, const double *v, double *tau) {
    const simulated_link_forces *f = &s->link_forces;
    const dyn_passive_parts parts = {.damping = !s->options.ignore_damping, .springs = !s->options.ignore_springs};
    int nv = s->model->nv;
    for (size_t l = 0; l < block.lanes; l++) {
        copy_lane(block, q, s->model->nq, l, f->q);
        copy_lane(block, v, nv, l, f->v);
        memset(f->r, 0, (size_t)nv * sizeof *f->r);
        for (int i = 0; i < dyn_machine_elements(s->model); i++) {
            dyn_add_link_force(s->model, i, &parts, 1, f->q, f->v, f->r);
        }
        for (int k = 0; k < nv; k++) {
            tau[lane_index(block, k, l)] += f->r[k];
        }
    }
}

const double *simulator_add_link_forces(dyn_simulator *s, sample_block block, int end, const double *q, const double *v,
                                        const double *tau) {
    double *sum = s->link_forces.tau[end];
    memcpy(sum, tau, (size_t)s->model->nv * block.lanes * sizeof *sum);
    simulator_find_link_forces(s, block, q, v, sum);
    return sum;
}

void simulator_add_link_energies(dyn_simulator *s, sample_block block, double *energies) {
    for (size_t l = 0; l < block.lanes; l++) {
        copy_lane(block, s->q, s->model->nq, l, s->link_forces.q);
        for (int i = 0; i < dyn_machine_elements(s->model); i++) {
            energies[l] += dyn_link_force_energy(s->model, i, s->link_forces.q);
        }
    }
}
