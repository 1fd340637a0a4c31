/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of a simulator: a block of samples, one in each lane, goes step by step without leaving the lanes.
 *
 *     simulator_load(s, block, q, v)          states into the lanes, or simulator_begin and s->q, s->v
 *     ... s->tau, s->tau_end, s->q_r, s->v_r, s->a_r: packed inputs of a step ...
 *     simulator_advance(s, block, ...)        one step
 *     block.kernels->unpack(s->q, ...)        and back
 */
#ifndef DYNAMICS_SIMULATION_SIMULATOR_H
#define DYNAMICS_SIMULATION_SIMULATOR_H

#include <dynamics/simulation.h>

#include "../actuation/joint_properties.h"
#include "../dynamics/compiled.h"
#include "../dynamics/workspace.h"

/* Coordinates of the largest robot whose M^-1 a simulator has room for: it is compiled of small ones alone. */
enum { MOST_INVERSE = 64 };

struct dyn_simulator {
    const dyn_model *model;
    dyn_simulation_options options;
    double gravity[3];
    dyn_workspace *workspace;
    joint_properties joints;
    step_parameters step; /* one of the substeps */
    control_parameters control;
    const dyn_compiled *compiled;       /* what was asked to compute the steps, or NULL */
    compiled_step wide_step, lone_step; /* what does, in all lanes and in one; none where it cannot */
    double *stiffness, *damping;        /* nv: gains */

    /* Packed, of one block: the state and the next one, inputs, what acts in a substep, an impulse and its effect. */
    double *q, *v, *q_next, *v_next;
    double *tau, *tau_end, *q_r, *v_r, *a_r;
    double *tau_from, *tau_to;
    double *impulse, *response;
    double *inverse;            /* M^-1, nv x nv, where it is compiled; NULL: nv is larger than MOST_INVERSE */
    dyn_sample_result *results; /* of the lanes, where the caller has none */
};

/* Inputs of a block's step beside the packed ones. */
typedef struct simulated_step {
    sample_block block;
    wrench_set wrenches;
    bool is_linear;             /* tau goes to tau_end */
    dyn_sample_result *results; /* block.count of them */
} simulated_step;

/* Where a packed number of a lane is. */
static inline size_t lane_index(sample_block block, int coordinate, size_t lane) {
    return (size_t)coordinate * block.lanes + lane;
}

/* The block that starts at sample `first` of n. Compiled functions are for all lanes or for one: from FEW_SAMPLES on
 * all of them are quicker. */
static inline sample_block simulator_block(const dyn_simulator *s, size_t n, size_t first) {
    enum { FEW_SAMPLES = 3 };
    sample_block block = dyn_block_at(s->workspace, n, first, 0);
    const kernel_trio *trio = s->workspace->kernels;
    if (s->wide_step.aba && block.count > 0) {
        const kernel_table *kernels = n - first >= FEW_SAMPLES ? trio->wide : trio->one;
        size_t left = n - first, lanes = (size_t)kernels->lanes;
        block = (sample_block){first, left < lanes ? left : lanes, lanes, lanes * kernels->number_size, 0, kernels};
    }
    return block;
}

/* Before the first step of a block. */
void simulator_begin(dyn_simulator *s, sample_block block);

/* Begins a block and loads the state of its samples into the lanes. */
void simulator_load(dyn_simulator *s, sample_block block, const double *q, const double *v);

/* Adds the controller's forces to the packed tau and cuts it (and tau_end) to the effort limits. */
void simulator_actuate(dyn_simulator *s, sample_block block, bool is_linear);

/* One step of the packed state. Returns how many samples run on. */
size_t simulator_advance(dyn_simulator *s, const simulated_step *step);

/* Reverses the velocity of joints that are at a limit of theirs and run into it, and keeps them within. */
void simulator_stop_joints(dyn_simulator *s, const simulated_step *step);

/* Checks options against a model. */
dyn_status simulation_options_check(const dyn_model *model, const dyn_simulation_options *options, dyn_error *error);

#endif
