/*
 * The inside of a workspace, and the way of samples into lanes and back.
 */
#ifndef DYNAMICS_DYNAMICS_WORKSPACE_H
#define DYNAMICS_DYNAMICS_WORKSPACE_H

#include <dynamics/external_force.h>
#include <dynamics/compiled.h>
#include <dynamics/workspace.h>

#include "../model/normal_form.h"
#include "instruction_set.h"

struct dyn_workspace {
    const dyn_model *model;
    const instruction_set *set;
    const dyn_compiled *compiled; /* algorithms of this model in place of the kernels, or NULL */
    size_t size;                  /* bytes of everything */
    void *memory;                 /* of the algorithms */
    double *zero;                 /* nv packed zeros */
    double *pivots;               /* nv packed */
    double *input[6];             /* packed inputs, the larger of nq and nv; unused with one lane */
    double *output;               /* packed outputs of a block */
    size_t output_count;          /* and how many doubles they may be */
    double *pose;                 /* 12 packed: position and rotation of a frame */
    double *wrenches;             /* packed external wrenches */
    wrench_frame *frames;         /* and where they act */
    size_t wrench_capacity;
    dyn_model *loaded;   /* the model with payloads: a copy that shares all but its bodies; zero without payloads */
    body *loaded_bodies; /* body_count of them */
};

/* Samples first .. first + count - 1, at most as many as the lanes of the kernels that compute them. */
typedef struct sample_block {
    size_t first, count, lanes, width;
    const kernel_table *kernels;
} sample_block;

/* The block that starts at sample `first` of n: a wide one, or a single sample where few are left or its outputs,
 * `width` doubles a sample, would not fit. What every call does for each block is inline, so that blocks stay in
 * registers. */
static inline sample_block dyn_block_at(const dyn_workspace *workspace, size_t n, size_t first, size_t width) {
    const instruction_set *set = workspace->set;
    size_t left = n - first;
    bool wide = left >= set->wide_from && width * (size_t)set->wide->lanes <= workspace->output_count;
    const kernel_table *kernels = wide ? set->wide : set->single;
    size_t lanes = (size_t)kernels->lanes;
    return (sample_block){first, left < lanes ? left : lanes, lanes, width, kernels};
}

/* The first block of n samples, and the one behind `block`: as many samples as there are lanes, or a single one where
 * few are left. A block of count 0 ends the samples. */
static inline sample_block dyn_block_first(const dyn_workspace *workspace, size_t n) {
    return dyn_block_at(workspace, n, 0, 0);
}

static inline sample_block dyn_block_next(const dyn_workspace *workspace, size_t n, sample_block block) {
    return dyn_block_at(workspace, n, block.first + block.count, block.width);
}

/* The first block where the outputs of a sample are `width` doubles in all: many, as matrices of a large robot are, are
 * computed one sample at a time, so that a workspace need not hold them for all lanes. */
static inline sample_block dyn_block_first_of_width(const dyn_workspace *workspace, size_t n, size_t width) {
    return dyn_block_at(workspace, n, 0, width);
}

/* Input number `slot` of a block, packed: `width` numbers a sample. A lane without a sample repeats the last one. NULL
 * rows stand for zeros and need width nv. */
static inline const void *dyn_block_pack(const dyn_workspace *workspace, int slot, const double *rows, size_t width,
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

/* Where one of several outputs of `width` numbers a sample is to be computed, behind those whose widths add up to
 * `offset`, */
static inline void *dyn_block_output_at(const dyn_workspace *workspace, size_t offset, double *rows, size_t width,
                                        sample_block block) {
    return block.lanes == 1 ? rows + block.first * width : workspace->output + offset * block.lanes;
}

/* the same for the only one, */
static inline void *dyn_block_output(const dyn_workspace *workspace, double *rows, size_t width, sample_block block) {
    return dyn_block_output_at(workspace, 0, rows, width, block);
}

/* and its way from there to the caller's rows. */
static inline void dyn_block_unpack(const void *output, size_t width, sample_block block, double *rows) {
    block.kernels->unpack(output, width, block.count, rows + block.first * width);
}

/* Where one of several outputs is computed that together are at most 24 nv + 48, or 20 joints, numbers a sample,
 * `offset` numbers behind the first; and its way to the caller's rows, who may not want it (NULL). */
static inline void *dyn_block_part(const dyn_workspace *workspace, size_t offset, sample_block block) {
    return workspace->output + offset * block.lanes;
}

static inline void dyn_block_store(const void *part, size_t width, sample_block block, double *rows) {
    if (rows) {
        dyn_block_unpack(part, width, block, rows);
    }
}

/* External wrenches of a block; forces on what is fixed to the world are left out. */
wrench_set dyn_block_pack_wrenches(const dyn_workspace *workspace, const dyn_external_forces *forces,
                                   const sample_block *block);

/* The same where `forces` may be NULL. */
static inline wrench_set dyn_block_wrenches(const dyn_workspace *workspace, const dyn_external_forces *forces,
                                            sample_block block) {
    if (!forces) {
        return (wrench_set){0, workspace->frames, workspace->wrenches};
    }
    return dyn_block_pack_wrenches(workspace, forces, &block);
}

#endif
