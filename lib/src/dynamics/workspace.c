/* SPDX-License-Identifier: BSD-2-Clause */
#include "workspace.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../classical/classical.h"
#include "../model/constraint.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/rotor.h"
#include "body_couplings.h"
#include "carve.h"
#include "precision.h"

enum { SPARE_WRENCHES = 64 };

/* Largest size of packed matrices in bytes, over all lanes, that the workspace has room for. Larger ones do not stay in
 * the cache. */
static const size_t packed_matrices_bound = 1 << 20;

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Returns an upper bound, in bytes, of the memory that the constraints of a model need: packed rows, responses and
 * poses of a block, and the square matrices of one sample, which the methods of the full system, of elimination and of
 * embedding factorize. */
static size_t constraint_size(const dyn_model *model, const kernel_trio *kernels) {
    size_t m = (size_t)(model->constraint_rows + constraint_force_rows(model)), n = (size_t)model->nv, sum = m + n;
    size_t alignment = 128 * CARVE_ALIGNMENT, bodies = (size_t)model->body_count;
    size_t packed = 2 * m * n + 2 * m * m + 12 * sum + 36, single = 12 * sum * sum + 96 * sum + 64 * bodies;
    bool is_single = kernels->wide->number_size != sizeof(double);
    return m == 0 || is_single ? 0 : (packed * (size_t)kernels->wide->lanes + single) * sizeof(double) + alignment;
}

/* Returns an upper bound, in bytes, of the memory for inverse dynamics with constraints, or for the quantities of the
 * space of constraints, of one sample: matrices of the rows and the coordinates, and square matrices of either. */
static size_t distribution_size(const dyn_model *model, const kernel_trio *kernels) {
    size_t m = (size_t)model->constraint_rows, n = (size_t)model->nv;
    bool is_single = kernels->wide->number_size != sizeof(double);
    size_t matrices = 5 * m * n + 7 * m * m + n * n;
    return m == 0 || is_single ? 0 : (matrices + 16 * (m + n)) * sizeof(double) + 32 * CARVE_ALIGNMENT;
}

/* Lays out the memory of constrained articulated bodies for w->couplings.count couplings, none where that is negative.
 * Advances the cursor. */
static void lay_out_couplings(const dyn_model *model, const kernel_trio *kernels, uintptr_t *cursor, dyn_workspace *w) {
    body_couplings *c = &w->couplings;
    w->held_memory = NULL;
    if (c->count < 0) {
        return;
    }
    size_t bodies = (size_t)model->body_count;
    c->first = dyn_carve(cursor, (bodies + 1) * sizeof *c->first);
    c->with = dyn_carve(cursor, (size_t)c->count * sizeof *c->with);
    c->bodies = dyn_carve(cursor, (size_t)model->constraint_count * sizeof *c->bodies);
    w->held_memory = dyn_carve(cursor, kernels->wide->constrained_aba_memory(model, c, model->constraint_rows));
}

/* Returns the bytes that the algorithms need which the room of the formulations computes. */
static size_t classical_memory_size(const dyn_model *model) {
    const classical_instance *classical = &dyn_classical_instance_classical;
    return larger(classical->tree_memory_size(model),
                  larger(classical->base_memory_size(model), classical->articulated_memory_size(model)));
}

/* Lays the parts of a workspace out from `base` and returns their total size. */
static size_t lay_out(const dyn_model *model, const kernel_trio *kernels, uintptr_t base, dyn_workspace *w) {
    uintptr_t cursor = base;
    size_t real_size = kernels->wide->number_size * (size_t)kernels->wide->lanes;
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    bool packed = real_size != sizeof(double);
    w->model = model;
    w->kernels = kernels;
    w->wrench_capacity = (size_t)model->link_count + SPARE_WRENCHES;
    size_t memory = larger(larger(kernels->wide->memory_size(model), kernels->half->memory_size(model)),
                           kernels->one->memory_size(model));
    w->memory = dyn_carve(&cursor, larger(memory, classical_memory_size(model)));
    w->zero = dyn_carve(&cursor, nv * real_size);
    w->pivots = dyn_carve(&cursor, nv * real_size);
    for (int i = 0; i < 6; i++) {
        w->input[i] = dyn_carve(&cursor, packed ? larger(nq, nv) * real_size : 0);
    }
    size_t matrices = (4 * nv + 3) * nv * nv * real_size;
    size_t vectors = larger(24 * nv + 48, 20 * (size_t)model->joint_count);
    w->output_size = larger(vectors * real_size, packed ? smaller(matrices, packed_matrices_bound) : 0);
    w->output = dyn_carve(&cursor, w->output_size);
    w->pose = dyn_carve(&cursor, 12 * real_size);
    w->wrenches = dyn_carve(&cursor, w->wrench_capacity * 6 * real_size);
    w->frames = dyn_carve(&cursor, w->wrench_capacity * sizeof(wrench_frame));
    w->constraint_size = constraint_size(model, kernels);
    w->constraint_memory = dyn_carve(&cursor, w->constraint_size);
    lay_out_couplings(model, kernels, &cursor, w);
    w->distribution_size = distribution_size(model, kernels);
    w->distribution_memory = dyn_carve(&cursor, w->distribution_size);
    w->loaded = dyn_carve(&cursor, sizeof(dyn_model));
    w->loaded_bodies = dyn_carve(&cursor, (size_t)model->body_count * sizeof(body));
    size_t rotor_bodies = model->rotor_count > 0 ? (size_t)model->body_count : 0;
    w->rotor_bodies = dyn_carve(&cursor, rotor_bodies * sizeof(body));
    w->coupling_bodies = dyn_carve(&cursor, rotor_bodies * sizeof(body));
    return cursor - base;
}

dyn_status dyn_workspace_create(const dyn_model *model, dyn_workspace **workspace, dyn_error *error) {
    return dyn_workspace_create_in(model, DYN_PRECISION_DOUBLE, workspace, error);
}

dyn_status dyn_workspace_create_in(const dyn_model *model, dyn_precision precision, dyn_workspace **workspace,
                                   dyn_error *error) {
    const instruction_set *set = dyn_choose_instruction_set();
    const kernel_trio *kernels = &set->kernels[precision];
    dyn_workspace measured;
    dyn_status status = dyn_check_constants(precision, model, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t header = dyn_carve_size(sizeof(dyn_workspace));
    measured.couplings.count = precision == DYN_PRECISION_DOUBLE ? dyn_count_couplings(model) : -1;
    size_t size = header + lay_out(model, kernels, 0, &measured);
    dyn_workspace *w = aligned_alloc(CARVE_ALIGNMENT, size);
    if (!w) {
        return dyn_error_because(error, DYN_RESOURCE_EXHAUSTED, DYN_CAUSE_MEMORY, "workspace",
                                 "no memory for %zu bytes", size);
    }
    memset(w, 0, size);
    w->couplings.count = measured.couplings.count;
    lay_out(model, kernels, (uintptr_t)w + header, w);
    w->size = size;
    w->set = set;
    w->precision = precision;
    if (model->rotor_count > 0) {
        rotors_alone(model, w->rotor_bodies);
        rotor_coupling_alone(model, w->coupling_bodies);
    }
    if (w->held_memory && !dyn_find_couplings(model, &w->couplings)) {
        free(w);
        return dyn_error_memory(error);
    }
    *workspace = w;
    return DYN_OK;
}

void dyn_workspace_free(dyn_workspace *workspace) {
    free(workspace);
}

dyn_precision dyn_workspace_precision(const dyn_workspace *workspace) {
    return workspace->precision;
}

size_t dyn_workspace_size(const dyn_workspace *workspace) {
    return workspace->size;
}

dyn_status dyn_workspace_set_time(dyn_workspace *workspace, double time, dyn_error *error) {
    if (!isfinite(time)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "time", "the time is %g s; pass a finite number", time);
    }
    workspace->time = time;
    return DYN_OK;
}

wrench_set dyn_block_pack_wrenches(const dyn_workspace *workspace, const dyn_external_forces *forces,
                                   sample_block block) {
    size_t count = 0;
    for (size_t j = 0; j < forces->count; j++) {
        const dyn_external_force *f = &forces->force[j];
        if (f->frame == DYN_WORLD_FRAME || workspace->model->frames[f->frame].body < 0) {
            continue;
        }
        workspace->frames[count] = (wrench_frame){f->frame, f->reference_frame};
        block.kernels->pack(f->wrench + block.first * f->stride, f->stride, 6, block.count,
                            dyn_packed(workspace->wrenches, 6 * count, block));
        count++;
    }
    return (wrench_set){count, workspace->frames, workspace->wrenches};
}
