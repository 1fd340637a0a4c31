#include "workspace.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "../model/normal_form.h"

enum { ALIGNMENT = 64, SPARE_WRENCHES = 16 };

/* Matrices of more doubles than this, over all lanes, do not stay in the cache: the workspace has no room for them. */
static const size_t packed_matrices_bound = 1 << 17;

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Takes `bytes` from the block at *cursor, which stays aligned. */
static void *carve(uintptr_t *cursor, size_t bytes) {
    void *part = (void *)*cursor;
    *cursor += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return part;
}

/* Lays the parts of a workspace out from `base` and returns their total size. */
static size_t lay_out(const dyn_model *model, const instruction_set *set, uintptr_t base, dyn_workspace *w) {
    uintptr_t cursor = base;
    size_t lane_bytes = sizeof(double) * (size_t)set->wide->lanes;
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    bool packed = set->wide->lanes > 1;
    w->model = model;
    w->set = set;
    w->wrench_capacity = (size_t)model->link_count + SPARE_WRENCHES;
    w->memory = carve(&cursor, larger(set->wide->memory_size(model), set->single->memory_size(model)));
    w->zero = carve(&cursor, nv * lane_bytes);
    w->pivots = carve(&cursor, nv * lane_bytes);
    for (int i = 0; i < 6; i++) {
        w->input[i] = carve(&cursor, packed ? larger(nq, nv) * lane_bytes : 0);
    }
    size_t lanes = (size_t)set->wide->lanes, matrices = (4 * nv + 3) * nv * nv * lanes;
    size_t vectors = larger(24 * nv + 48, 20 * (size_t)model->joint_count);
    w->output_count = larger(vectors * lanes, packed ? smaller(matrices, packed_matrices_bound) : 0);
    w->output = carve(&cursor, w->output_count * sizeof(double));
    w->pose = carve(&cursor, 12 * lane_bytes);
    w->wrenches = carve(&cursor, w->wrench_capacity * 6 * lane_bytes);
    w->frames = carve(&cursor, w->wrench_capacity * sizeof(wrench_frame));
    w->loaded = carve(&cursor, sizeof(dyn_model));
    w->loaded_bodies = carve(&cursor, (size_t)model->body_count * sizeof(body));
    return cursor - base;
}

dyn_status dyn_workspace_create(const dyn_model *model, dyn_error *error, dyn_workspace **workspace) {
    const instruction_set *set = dyn_choose_instruction_set();
    dyn_workspace measured;
    size_t header = (sizeof(dyn_workspace) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t size = header + lay_out(model, set, 0, &measured);
    dyn_workspace *w = aligned_alloc(ALIGNMENT, size);
    if (!w) {
        return dyn_error_set(error, DYN_RESOURCE_EXHAUSTED, "workspace", "no memory for %zu bytes", size);
    }
    memset(w, 0, size);
    lay_out(model, set, (uintptr_t)w + header, w);
    w->size = size;
    *workspace = w;
    return DYN_OK;
}

void dyn_workspace_free(dyn_workspace *workspace) {
    free(workspace);
}

size_t dyn_workspace_size(const dyn_workspace *workspace) {
    return workspace->size;
}

/* The block that starts at sample `first` of n: a wide one, or a single sample where few are left or its outputs would
 * not fit. */
static sample_block block_at(const dyn_workspace *workspace, size_t n, size_t first, size_t width) {
    const instruction_set *set = workspace->set;
    size_t left = n - first;
    bool wide = left >= set->wide_from && width * (size_t)set->wide->lanes <= workspace->output_count;
    const kernel_table *kernels = wide ? set->wide : set->single;
    size_t lanes = (size_t)kernels->lanes;
    return (sample_block){first, left < lanes ? left : lanes, lanes, width, kernels};
}

sample_block dyn_block_first(const dyn_workspace *workspace, size_t n) {
    return block_at(workspace, n, 0, 0);
}

sample_block dyn_block_first_of_width(const dyn_workspace *workspace, size_t n, size_t width) {
    return block_at(workspace, n, 0, width);
}

sample_block dyn_block_next(const dyn_workspace *workspace, size_t n, sample_block block) {
    return block_at(workspace, n, block.first + block.count, block.width);
}

const void *dyn_block_pack(const dyn_workspace *workspace, int slot, const double *rows, size_t width,
                           sample_block block) {
    if (!rows) {
        return workspace->zero;
    }
    if (block.lanes == 1) {
        return rows + block.first * width;
    }
    block.kernels->pack(rows + block.first * width, width, width, block.count, workspace->input[slot]);
    return workspace->input[slot];
}

void *dyn_block_output(const dyn_workspace *workspace, double *rows, size_t width, sample_block block) {
    return dyn_block_output_at(workspace, 0, rows, width, block);
}

void *dyn_block_output_at(const dyn_workspace *workspace, size_t offset, double *rows, size_t width,
                          sample_block block) {
    return block.lanes == 1 ? rows + block.first * width : workspace->output + offset * block.lanes;
}

void dyn_block_unpack(const void *output, size_t width, sample_block block, double *rows) {
    block.kernels->unpack(output, width, block.count, rows + block.first * width);
}

void *dyn_block_part(const dyn_workspace *workspace, size_t offset, sample_block block) {
    return workspace->output + offset * block.lanes;
}

void dyn_block_store(const void *part, size_t width, sample_block block, double *rows) {
    if (rows) {
        block.kernels->unpack(part, width, block.count, rows + block.first * width);
    }
}

wrench_set dyn_block_wrenches(const dyn_workspace *workspace, const dyn_external_forces *forces, sample_block block) {
    size_t count = 0;
    for (size_t j = 0; forces && j < forces->count; j++) {
        const dyn_external_force *f = &forces->force[j];
        if (f->frame == DYN_WORLD_FRAME || workspace->model->frames[f->frame].body < 0) {
            continue;
        }
        workspace->frames[count] = (wrench_frame){f->frame, f->reference_frame};
        block.kernels->pack(f->wrench + block.first * f->stride, f->stride, 6, block.count,
                            workspace->wrenches + count * 6 * block.lanes);
        count++;
    }
    return (wrench_set){count, workspace->frames, workspace->wrenches};
}
