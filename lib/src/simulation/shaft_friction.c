/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Friction and brakes of shafts in steps of a simulation. A shaft turns at the rate w = G v, and its torque f acts on
 * the coordinates as G' f. A semi-implicit step evaluates it at the new rate u, with the coefficient K of the old one
 * (joint_resistance.c does so for joints), where a_0 is the acceleration without the shafts:
 *
 *     f_i = -K_i u_i,    u = G (v + dt a_0) + dt D f,    D = G M^-1 G'
 *
 * The equations are those of a symmetric positive definite matrix, K^-1 + dt D, so that Gauss and Seidel's method
 * converges. Explicit methods have f_i = -K_i w_i, at each stage.
 *
 * Source: Golub and Van Loan 2013, "Matrix Computations", section 11.2.3 (Gauss-Seidel).
 */
#include "simulator.h"

#include <math.h>

#include "../dynamics/carve.h"
#include "../model/description.h"
#include "../model/machine_element.h"
#include "../model/normal_form.h"

enum { MOST_SWEEPS = 200 };

size_t simulated_shafts_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, simulated_shafts *s) {
    uintptr_t cursor = base;
    int elements = dyn_shaft_elements(model);
    if (elements == 0) {
        return 0;
    }
    size_t count = (size_t)elements;
    cursor += rate_rows_lay_out(model, model->nv, lanes, cursor, &s->rates);
    s->shafts = dyn_carve(&cursor, count * sizeof *s->shafts);
    s->torque = dyn_carve(&cursor, count * sizeof(double));
    s->speed = dyn_carve(&cursor, count * sizeof(double));
    s->coefficient = dyn_carve(&cursor, count * sizeof(double));
    s->D = dyn_carve(&cursor, count * count * sizeof(double));
    return cursor - base;
}

/* Finds the torques of the shafts of a lane. */
static void find_torques(const dyn_simulator *simulator, const double *v, const double *a, size_t l) {
    const simulated_shafts *s = &simulator->shafts;
    const dyn_passive_parts parts = {
        .damping = true, .friction = true, .friction_velocity = simulator->options.friction_velocity};
    int n = s->count;
    double dt = s->implicit_dt, change = 1, largest = 0;
    for (int i = 0; i < n; i++) {
        const simulated_shaft *one = &s->shafts[i];
        double w = rate_rows_speed(&one->rates, s->block, l, v);
        s->speed[i] = w + dt * rate_rows_speed(&one->rates, s->block, l, a);
        s->coefficient[i] = dyn_friction_coefficient(&one->law, &parts, w);
        s->torque[i] = 0;
        for (int k = 0; k < n; k++) {
            s->D[i * n + k] = dt * rate_rows_response(&s->rates, &one->rates, &s->shafts[k].rates, s->block, l);
        }
    }
    for (int sweep = 0; sweep < MOST_SWEEPS && change > 1e-14 * largest; sweep++) {
        change = largest = 0;
        for (int i = 0; i < n; i++) {
            double u = s->speed[i], K = s->coefficient[i];
            for (int k = 0; k < n; k++) {
                u += k == i ? 0 : s->D[i * n + k] * s->torque[k];
            }
            double found = -K * u / (1 + K * s->D[i * n + i]);
            change = fmax(change, fabs(found - s->torque[i])), largest = fmax(largest, fabs(found));
            s->torque[i] = found;
        }
    }
}

/* Adds the response to the torques of shafts to packed accelerations (step_constraint). `context` is the simulator. */
static void apply(void *context, double fraction, const void *q, const void *v, const void *diagonal, void *a) {
    dyn_simulator *simulator = context;
    simulated_shafts *s = &simulator->shafts;
    s->rates.rows.diagonal = diagonal;
    constraint_rows_respond(&s->rates.rows, simulator->model, s->workspace, s->block, q, NULL);
    for (size_t l = 0; l < s->block.lanes; l++) {
        find_torques(simulator, v, a, l);
        rate_rows_begin(&s->rates);
        for (int i = 0; i < s->count; i++) {
            rate_rows_push(&s->rates, &s->shafts[i].rates, s->torque[i]);
        }
        constraint_rows_apply(&s->rates.rows, s->block, l, simulator->model->nv, a);
    }
    if (s->next.apply) {
        s->next.apply(s->next.context, fraction, q, v, diagonal, a);
    }
}

/* Adds friction or a brake on a shaft, with the parts of its law that count. */
static void add_shaft(dyn_simulator *simulator, int element, double viscous, double dry) {
    simulated_shafts *s = &simulator->shafts;
    simulated_shaft *added = &s->shafts[s->count];
    if (!dyn_element_on_shaft(simulator->model, element, &added->rates, &added->law)) {
        return;
    }
    added->element = element;
    added->shaft = find_shaft(simulator->model->description, &simulator->model->description->machine_elements[element]);
    for (int i = 0; i < 2; i++) {
        added->law.viscous[i] *= viscous;
        added->law.coulomb[i] *= dry;
        added->law.excess[i] *= dry;
    }
    rate_rows_add(&s->rates, &added->rates);
    s->count++;
}

void simulator_add_shafts(dyn_simulator *simulator) {
    simulated_shafts *s = &simulator->shafts;
    const dyn_simulation_options *o = &simulator->options;
    const dyn_model *model = simulator->model;
    if (!s->workspace) {
        return;
    }
    rate_rows_clear(model, &s->rates);
    for (int i = 0; i < dyn_machine_elements(model); i++) {
        if (model->description->machine_elements[i].kind == DYN_MACHINE_ELEMENT_KIND_FRICTION) {
            add_shaft(simulator, i, !o->ignore_damping, !o->ignore_friction);
        }
    }
    for (size_t i = 0; i < o->brake_count; i++) {
        add_shaft(simulator, find_brake(model, o->brakes[i]), 1, 1);
    }
}

void simulator_choose_shafts(dyn_simulator *simulator) {
    simulated_shafts *s = &simulator->shafts;
    if (s->count > 0) {
        s->next = simulator->step.constraint;
        simulator->step.constraint = (step_constraint){.apply = apply, .context = simulator};
    }
}

void simulator_begin_shafts(dyn_simulator *simulator, sample_block block, double implicit_dt) {
    simulator->shafts.block = block;
    simulator->shafts.implicit_dt = implicit_dt;
}
