/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/rollout.h>

#include <math.h>
#include <string.h>

#include "../dynamics/arguments.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/sized.h"
#include "signal_check.h"
#include "simulator.h"

/* Number of steps between two calls of `proceed`, and lanes of doubles of the widest instruction set. */
enum { STEPS_BETWEEN_QUESTIONS = 64, MOST_LANES = 8 };

size_t dyn_rollout_rows(const dyn_rollout *rollout) {
    return rollout->stride ? rollout->steps / rollout->stride + 1 : 1;
}

/* Returns whether tau is interpolated, so that it has one row more than there are steps. */
static bool is_linear(const dyn_rollout *rollout) {
    return rollout->hold == DYN_HOLD_LINEAR;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static dyn_status check_reference(const dyn_simulator *s, size_t n, const dyn_rollout *r, dyn_error *error) {
    const signal_shape q_shape = {"q_ref", (size_t)s->model->nq, true};
    const signal_shape v_shape = {"v_ref", (size_t)s->model->nv, false},
                       a_shape = {"a_ref", (size_t)s->model->nv, false};
    bool has_controller = s->options.control != DYN_CONTROL_NONE;
    if (has_controller != (r->q_ref.rows != NULL) && s->model->nq > 0) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "q_ref",
                             has_controller ? "the controller has no reference q_ref; pass one"
                                            : "there is a reference but no controller that follows it; choose one");
    }
    dyn_status status = signal_check(s, &q_shape, n, r->steps, &r->q_ref, error);
    if (status == DYN_OK && r->q_ref.rows) {
        status = signal_check_quaternions(s->model, n, r->steps, &r->q_ref, error);
    }
    if (status == DYN_OK) {
        status = signal_check(s, &v_shape, n, r->steps, &r->v_ref, error);
    }
    return status == DYN_OK ? signal_check(s, &a_shape, n, r->steps, &r->a_ref, error) : status;
}

/* Returns the motion of the base in a step, of all samples; without a twist where the base rests. */
static dyn_base_motion base_in_step(const dyn_rollout *r, size_t step) {
    const dyn_signal *signal = &r->base;
    if (!signal->rows) {
        return (dyn_base_motion){0};
    }
    const double *row = signal->rows + step * signal->step_stride;
    return (dyn_base_motion){row, row + 6, signal->sample_stride};
}

static dyn_status check_base(const dyn_simulator *s, size_t n, const dyn_rollout *r, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (size_t k = 0; r->base.rows && status == DYN_OK && k < (r->base.step_stride ? r->steps : 1); k++) {
        const dyn_base_motion base = base_in_step(r, k);
        status = simulator_check_base(s, n, &base, error);
    }
    return status;
}

static dyn_status check_rollout(const dyn_simulator *s, size_t n, const dyn_rollout *rollout, dyn_error *error) {
    const signal_shape tau_shape = {"tau", (size_t)s->model->nv, false};
    if (rollout->steps == 0) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "steps", "steps is 0; take at least 1");
    }
    dyn_status status = simulation_choice_check("hold", (int)rollout->hold, DYN_HOLD_LINEAR, error);
    if (status == DYN_OK) {
        status = dyn_check_state(s->model, s->workspace, n, NULL, rollout->q, rollout->v, error);
    }
    if (status == DYN_OK) {
        status = signal_check(s, &tau_shape, n, rollout->steps + is_linear(rollout), &rollout->tau, error);
    }
    if (status == DYN_OK) {
        status = check_reference(s, n, rollout, error);
    }
    if (status == DYN_OK) {
        status = check_base(s, n, rollout, error);
    }
    return status == DYN_OK ? signal_check_forces(s, n, rollout->steps, rollout->forces, rollout->force_count, error)
                            : status;
}

dyn_status dyn_rollout_check(const dyn_simulator *simulator, size_t n, const dyn_rollout *rollout, dyn_error *error) {
    dyn_rollout known = DYN_ROLLOUT_INIT();
    dyn_status status = dyn_sized_read("rollout", rollout, sizeof known, &known, error);
    return status == DYN_OK ? check_rollout(simulator, n, &known, error) : status;
}

/* ---- One block from its first step to its last ------------------------------------------------------------------- */

/* State of a block during a rollout. */
typedef struct rollout_block {
    dyn_simulator *s;
    const dyn_rollout *r;
    const dyn_rollout_output *out;
    sample_block block;
    size_t rows;
    double start_energy[MOST_LANES]; /* energy of each lane at the start */
} rollout_block;

/* Packs the rows of a signal for one step. */
static void pack_signal(const rollout_block *b, const dyn_signal *signal, size_t step, int width, double *packed) {
    size_t w = (size_t)width;
    if (signal->rows) {
        const double *rows = signal->rows + b->block.first * signal->sample_stride + step * signal->step_stride;
        b->block.kernels->pack(rows, signal->sample_stride, w, b->block.count, packed);
    } else {
        memset(packed, 0, w * b->block.lanes * sizeof(double));
    }
}

/* Packs the external wrenches of one step. */
static wrench_set pack_wrenches(const rollout_block *b, size_t step) {
    const dyn_workspace *w = b->s->workspace;
    size_t count = 0;
    for (size_t j = 0; j < b->r->force_count; j++) {
        const dyn_signal_force *f = &b->r->forces[j];
        if (f->frame == DYN_WORLD_FRAME || b->s->model->frames[f->frame].body < 0 || !f->wrench.rows) {
            continue;
        }
        w->frames[count] = (wrench_frame){f->frame, f->reference_frame};
        pack_signal(b, &f->wrench, step, 6, dyn_packed(w->wrenches, 6 * count, b->block));
        count++;
    }
    return (wrench_set){count, w->frames, w->wrenches};
}

/* Loads the inputs of a step and computes the controller's forces. */
static void load_inputs(const rollout_block *b, size_t step) {
    dyn_simulator *s = b->s;
    int nq = s->model->nq, nv = s->model->nv;
    bool has_end = is_linear(b->r);
    pack_signal(b, &b->r->tau, step, nv, s->tau);
    if (has_end) {
        pack_signal(b, &b->r->tau, step + 1, nv, s->tau_end);
    }
    if (s->options.control != DYN_CONTROL_NONE) {
        pack_signal(b, &b->r->q_ref, step, nq, s->q_ref);
        pack_signal(b, &b->r->v_ref, step, nv, s->v_ref);
        pack_signal(b, &b->r->a_ref, step, nv, s->a_ref);
    }
    simulator_actuate(s, b->block, has_end);
    const dyn_base_motion base = base_in_step(b->r, step);
    simulator_move_base(s, b->block, &base);
}

/* Stores `width` packed numbers of each sample of the block as row `row` of its results. */
static void store_row(const rollout_block *b, const double *packed, size_t width, size_t row, double *out) {
    double *scratch = b->s->workspace->output; /* at least 24 nv + 48 numbers a lane, more than nq */
    b->block.kernels->unpack(packed, width, b->block.count, scratch);
    for (size_t l = 0; out && l < b->block.count; l++) {
        memcpy(out + ((b->block.first + l) * b->rows + row) * width, scratch + l * width, width * sizeof(double));
    }
}

/* Computes the kinetic energy T of each lane, followed by the potential energy V of each, that of the springs of
 * machine elements included. */
static const double *lane_energies(const rollout_block *b) {
    dyn_simulator *s = b->s;
    const joint_resistance *r = &s->step.resistance;
    double *energies = s->workspace->pose; /* 12 numbers a lane */
    b->block.kernels->energy(s->model, s->workspace->memory, s->gravity, s->q, s->v, energies);
    for (int i = 0; i < r->rest_count; i++) {
        for (size_t l = 0; l < b->block.lanes; l++) {
            double stretch = s->q[lane_index(b->block, r->rests[i].q_index, l)] - r->rests[i].rest;
            energies[b->block.lanes + l] += r->rests[i].stiffness * stretch * stretch / 2;
        }
    }
    if (s->link_forces.count > 0 && !s->options.ignore_springs) {
        simulator_add_link_energies(s, b->block, energies + b->block.lanes);
    }
    return energies;
}

static bool wants_energies(const rollout_block *b) {
    return b->out->kinetic || b->out->potential;
}

static void note_start_energy(rollout_block *b) {
    const double *energies = lane_energies(b);
    for (size_t l = 0; l < b->block.count; l++) {
        b->start_energy[l] = energies[l] + energies[b->block.lanes + l];
    }
}

static void store_energies(rollout_block *b, size_t row) {
    const dyn_rollout_output *out = b->out;
    const double *energies = lane_energies(b);
    for (size_t l = 0; l < b->block.count; l++) {
        size_t at = (b->block.first + l) * b->rows + row;
        double T = energies[l], V = energies[b->block.lanes + l];
        if (out->kinetic) {
            out->kinetic[at] = T;
        }
        if (out->potential) {
            out->potential[at] = V;
        }
        if (out->results) {
            double *drift = &out->results[b->block.first + l].energy_drift;
            *drift = fmax(*drift, fabs(T + V - b->start_energy[l]));
        }
    }
}

/* Stores three numbers of a contact surface; zeros where `from` is NULL. */
static void store_vector(double *to, size_t at, const double *from) {
    for (size_t k = 0; to && k < 3; k++) {
        to[3 * at + k] = from ? from[k] : 0;
    }
}

/* Stores the contact surfaces of each sample. The row of the start precedes all steps. */
static void store_contacts(const rollout_block *b, size_t row, bool is_start) {
    const dyn_rollout_output *out = b->out;
    const contacts *c = &b->s->contacts.contacts;
    size_t surfaces = (size_t)dyn_model_contact_surface_count(b->s->model);
    bool has_state = !is_start && b->s->contacts.workspace;
    for (size_t i = 0; i < b->block.count * surfaces; i++) {
        size_t l = i / surfaces, surface = i % surfaces,
               at = ((b->block.first + l) * b->rows + row) * surfaces + surface;
        const contact_lane *lane = has_state ? &c->lanes[l] : NULL;
        store_vector(out->contact_forces, at, lane ? lane->force + 3 * surface : NULL);
        store_vector(out->contact_normals, at, lane ? lane->normal + 3 * surface : NULL);
        store_vector(out->contact_points, at, lane ? lane->point + 3 * surface : NULL);
        if (out->contact_gaps) {
            out->contact_gaps[at] = lane ? lane->gap[surface] : INFINITY;
        }
        if (out->contact_slips) {
            out->contact_slips[at] = lane ? lane->slip[surface] : 0;
        }
    }
}

static void store_results(rollout_block *b, size_t row, bool is_start, const double *tau) {
    const dyn_rollout_output *out = b->out;
    size_t nq = (size_t)b->s->model->nq, nv = (size_t)b->s->model->nv;
    if (out->q) {
        store_row(b, b->s->q, nq, row, out->q);
    }
    if (out->v) {
        store_row(b, b->s->v, nv, row, out->v);
    }
    if (out->tau) {
        store_row(b, tau, nv, row, out->tau);
    }
    if (wants_energies(b)) {
        store_energies(b, row);
    }
    store_contacts(b, row, is_start);
}

/* Updates the results of a block's samples after a step. */
static void note_step(const rollout_block *b, const dyn_sample_result *results) {
    for (size_t l = 0; b->out->results && l < b->block.count; l++) {
        dyn_rollout_result *r = &b->out->results[b->block.first + l];
        r->steps += results[l].status == DYN_SAMPLE_STATUS_RUNNING;
        r->hits += results[l].hit_joint && fabs(results[l].hit_velocity) > b->s->options.rest_velocity;
        r->status = results[l].status;
        r->joint = results[l].joint;
        double residual = simulator_take_residual(b->s, l);
        if (results[l].status == DYN_SAMPLE_STATUS_RUNNING) {
            r->constraints.residual = fmax(r->constraints.residual, residual);
        }
        r->contact_sweeps =
            results[l].contact_sweeps > r->contact_sweeps ? results[l].contact_sweeps : r->contact_sweeps;
        r->contact_residual = fmax(r->contact_residual, results[l].contact_residual);
        if (results[l].closure_error > r->closure_error) {
            r->closure_error = results[l].closure_error;
            r->constraint = results[l].constraint;
        }
    }
}

static bool may_proceed(const rollout_block *b, size_t done) {
    const dyn_rollout *r = b->r;
    size_t steps = done % STEPS_BETWEEN_QUESTIONS ? done % STEPS_BETWEEN_QUESTIONS : STEPS_BETWEEN_QUESTIONS;
    bool is_question = steps == STEPS_BETWEEN_QUESTIONS || done == r->steps;
    return !is_question || !r->proceed || r->proceed(r->context, steps * b->block.count);
}

/* Computes all steps of a block and stores its results. Returns false where `proceed` does. */
static bool roll_out(rollout_block *b) {
    dyn_simulator *s = b->s;
    size_t stride = b->r->stride, running = b->block.count;
    memset(s->results, 0, b->block.count * sizeof *s->results);
    if (b->out->results) {
        memset(b->out->results + b->block.first, 0, b->block.count * sizeof *b->out->results);
    }
    if (wants_energies(b)) {
        note_start_energy(b);
    }
    for (size_t k = 0; k < b->r->steps; k++) {
        load_inputs(b, k);
        if (stride && k % stride == 0) {
            store_results(b, k / stride, k == 0, s->tau);
        }
        if (running > 0) {
            double time = b->r->start_time + (double)k * s->options.step_length;
            simulated_step step = {b->block, pack_wrenches(b, k), is_linear(b->r), s->results, time};
            running = simulator_advance(s, &step);
            note_step(b, s->results);
        }
        if (!may_proceed(b, k + 1)) {
            return false;
        }
    }
    if (stride == 0 || b->r->steps % stride == 0) {
        store_results(b, b->rows - 1, false, is_linear(b->r) ? s->tau_end : s->tau);
    }
    for (size_t l = 0; b->out->results && l < b->block.count; l++) {
        simulator_examine_constraints(s, b->block, l, &b->out->results[b->block.first + l].constraints);
    }
    return true;
}

dyn_status dyn_rollout_run(dyn_simulator *simulator, size_t n, const dyn_rollout *rollout,
                           const dyn_rollout_output *output, dyn_error *error) {
    dyn_simulator *s = simulator;
    dyn_rollout known = DYN_ROLLOUT_INIT();
    dyn_rollout_output out = DYN_ROLLOUT_OUTPUT_INIT();
    dyn_status status = dyn_sized_read("rollout", rollout, sizeof known, &known, error);
    if (status == DYN_OK) {
        status = dyn_sized_read("output", output, sizeof out, &out, error);
    }
    if (status == DYN_OK) {
        status = check_rollout(s, n, &known, error);
    }
    rollout_block b = {.s = s, .r = &known, .out = &out, .rows = dyn_rollout_rows(&known)};
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    for (b.block = simulator_block(s, n, 0); status == DYN_OK && b.block.count > 0;
         b.block = simulator_block(s, n, b.block.first + b.block.count)) {
        simulator_begin(s, b.block);
        simulator_load_bristles(s, b.block, NULL);
        b.block.kernels->pack(known.q + b.block.first * nq, nq, nq, b.block.count, s->q);
        pack_signal(&b, &(dyn_signal){known.v, nv, 0}, 0, (int)nv, s->v);
        if (!roll_out(&b)) {
            status = dyn_error_set(error, DYN_CANCELLED, "", "the rollout was ended by its caller");
        }
    }
    return status;
}
