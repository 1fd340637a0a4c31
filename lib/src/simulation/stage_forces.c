/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forces at the stages of Runge-Kutta 4. A stage computes the acceleration under the forces of the joints; those of a
 * base that moves and those on links then add M^-1 f at the stage's own (q, v), so that the method keeps its order.
 */
#include "simulator.h"

#include <string.h>

#include "../dynamics/carve.h"
#include "../model/normal_form.h"

size_t simulated_stages_lay_out(const dyn_model *model, bool exist, size_t lanes, uintptr_t base, simulated_stages *s) {
    uintptr_t cursor = base;
    size_t numbers = exist ? (size_t)model->nv * lanes : 0;
    s->forces = dyn_carve(&cursor, numbers * sizeof(double));
    s->rest = dyn_carve(&cursor, numbers * sizeof(double));
    s->response = dyn_carve(&cursor, numbers * sizeof(double));
    return cursor - base;
}

/* Adds the response to the forces to packed accelerations (step_constraint). `context` is the simulator. */
static void apply(void *context, double fraction, const void *q, const void *v, const void *diagonal, void *a) {
    static const double no_gravity[3] = {0, 0, 0};
    dyn_simulator *s = context;
    simulated_stages *stages = &s->stages;
    const size_t count = (size_t)s->model->nv * stages->block.lanes;
    double *sum = a;
    memset(stages->forces, 0, count * sizeof *stages->forces);
    if (s->base.moves) {
        const base_input of_base = {s->model, stages->workspace->memory, q, v};
        simulator_find_base_forces(s, &of_base, -1, stages->forces);
    }
    if (s->link_forces.count > 0) {
        simulator_find_link_forces(s, stages->block, q, v, stages->forces);
    }
    if (s->base.moves || s->link_forces.count > 0) {
        const wrench_set none = {0, NULL, NULL};
        const packed_inputs in = {no_gravity, q, stages->rest, stages->forces, &none};
        stages->block.kernels->forward_dynamics(s->model, stages->workspace->memory, &in, stages->workspace->pivots,
                                                stages->response);
        for (size_t i = 0; i < count; i++) {
            sum[i] += stages->response[i];
        }
    }
    if (stages->next.apply) {
        stages->next.apply(stages->next.context, fraction, q, v, diagonal, a);
    }
}

void simulator_choose_stages(dyn_simulator *s) {
    if (s->stages.workspace) {
        s->stages.next = s->step.constraint;
        s->step.constraint = (step_constraint){.apply = apply, .context = s};
    }
}
