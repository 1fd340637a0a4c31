/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LuGre friction in steps of a simulation. With the deflection z of the bristles and the friction g at the rate v
 *
 *     dz/dt = v - s_0 |v| z / g(v)
 *     r = -s_0 z - s_1 dz/dt - b v = -(s_0 - s_1 s_0 |v| / g(v)) z - (s_1 + b) v
 *
 * A substep holds the term in z, and leaves that in v to joint_resistance.c, which the semi-implicit method evaluates
 * at the new velocity. Then z moves by the exact solution for a constant v, that after the substep,
 *
 *     z += (v / c - z) (1 - exp(-c dt)),    c = s_0 |v| / g(v)
 *
 * so that |z| never exceeds the largest g / s_0. Spring and rate alternate as in the symplectic Euler method, which is
 * stable for dt < 2 sqrt(m / s_0).
 *
 * Bristles of a shaft hold at its rate w in the place of v, and shaft_friction.c evaluates the term in it.
 *
 * Source: Canudas de Wit, Olsson, Astrom and Lischinsky 1995, equations 1 to 3.
 */
#include "simulator.h"

#include <math.h>
#include <string.h>

#include <dynamics/machine_element.h>

#include "../dynamics/carve.h"

size_t simulated_bristles_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, simulated_bristles *bristles) {
    uintptr_t cursor = base;
    size_t count = (size_t)dyn_model_bristle_count(model), nv = count > 0 ? (size_t)dyn_model_nv(model) : 0;
    bristles->z = dyn_carve(&cursor, count * lanes * sizeof(double));
    for (int end = 0; end < 2; end++) {
        bristles->tau[end] = dyn_carve(&cursor, nv * lanes * sizeof(double));
    }
    return cursor - base;
}

/* Returns the law of bristles at a joint, or on a shaft. */
static friction_law *find_law(dyn_simulator *s, const bristle_law *b) {
    simulated_shaft *shaft = s->shafts.shafts;
    if (b->law_index >= 0) {
        return &s->joints.laws[b->law_index];
    }
    while (shaft->element != b->element) {
        shaft++;
    }
    return &shaft->law;
}

void simulator_choose_bristles(dyn_simulator *s) {
    s->bristles.count = s->options.ignore_friction ? 0 : s->joints.bristle_count;
    for (int i = 0; i < s->bristles.count; i++) {
        const bristle_law *b = &s->joints.bristles[i];
        friction_law *law = find_law(s, b);
        for (int k = 0; k < 2; k++) {
            law->viscous[k] += b->damping;
            law->coulomb[k] = law->excess[k] = 0;
        }
    }
}

void simulator_load_bristles(dyn_simulator *s, sample_block block, const double *rows) {
    size_t count = (size_t)s->bristles.count;
    if (rows) {
        block.kernels->pack(rows + block.first * count, count, count, block.count, s->bristles.z);
    } else {
        memset(s->bristles.z, 0, count * block.lanes * sizeof *s->bristles.z);
    }
}

void simulator_store_bristles(const dyn_simulator *s, sample_block block, double *rows) {
    size_t count = (size_t)s->bristles.count;
    block.kernels->unpack(s->bristles.z, count, block.count, rows + block.first * count);
}

/* Returns c = s_0 |v| / g(v). */
static double decay_rate(const bristle_law *b, double v) {
    int side = v > 0 ? 0 : 1;
    double x = v / b->law.stribeck_velocity;
    return b->stiffness * fabs(v) / (b->law.coulomb[side] + b->law.excess[side] / (1 + x * x));
}

double simulator_bristle_force(const dyn_simulator *s, sample_block block, int i, size_t lane, const double *v) {
    const bristle_law *b = &s->joints.bristles[i];
    double rate = decay_rate(b, rate_rows_speed(&b->at, block, lane, v));
    return -(b->stiffness - b->damping * rate) * s->bristles.z[lane_index(block, i, lane)];
}

const double *simulator_add_bristles(dyn_simulator *s, sample_block block, int end, const double *tau) {
    double *sum = s->bristles.tau[end];
    memcpy(sum, tau, (size_t)s->model->nv * block.lanes * sizeof *sum);
    for (int i = 0; i < s->bristles.count; i++) {
        const bristle_law *b = &s->joints.bristles[i];
        for (size_t l = 0; l < block.lanes; l++) {
            double force = simulator_bristle_force(s, block, i, l, s->v);
            for (int k = 0; k < b->at.count; k++) {
                sum[lane_index(block, b->at.coordinates[k], l)] += b->at.rates[k] * force;
            }
        }
    }
    return sum;
}

void simulator_move_bristles(dyn_simulator *s, sample_block block) {
    for (int i = 0; i < s->bristles.count; i++) {
        const bristle_law *b = &s->joints.bristles[i];
        for (size_t l = 0; l < block.lanes; l++) {
            double v = rate_rows_speed(&b->at, block, l, s->v), *z = &s->bristles.z[lane_index(block, i, l)];
            double c = decay_rate(b, v), share = -expm1(-c * s->step.dt);
            *z += c > 0 ? (v / c - *z) * share : v * s->step.dt;
        }
    }
}
