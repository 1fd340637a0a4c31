/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contents of a workspace; packing of samples into lanes and unpacking.
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
    const kernel_trio *kernels; /* kernels of the instruction set and precision */
    dyn_precision precision;
    const dyn_compiled *compiled; /* algorithms of this model that replace the kernels, or NULL */
    size_t size;                  /* bytes of the whole workspace */
    void *memory;                 /* scratch memory of the algorithms */
    void *zero;                   /* nv packed zeros */
    void *pivots;                 /* nv packed pivots */
    void *input[6];               /* packed inputs, the larger of nq and nv each; unused where rows need no packing */
    void *output;                 /* packed outputs of a block */
    size_t output_size;           /* size of the outputs in bytes */
    void *pose;                   /* 12 packed: position and rotation of a frame */
    void *wrenches;               /* packed external wrenches */
    wrench_frame *frames;         /* frames that the wrenches act on */
    size_t wrench_capacity;
    void *constraint_memory; /* scratch memory of the model's constraints (lib/src/constraint); NULL without any */
    size_t constraint_size;
    /* Couplings of the bodies by the constraints, and the scratch memory of constrained articulated bodies; NULL where
     * they do not apply. */
    body_couplings couplings;
    void *held_memory;
    void *distribution_memory; /* scratch memory of one sample with constraints; NULL without constraints */
    size_t distribution_size;
    double time;         /* s: instant of prescribed motions */
    dyn_model *loaded;   /* the model with payloads: a copy that shares all except its bodies; zero without payloads */
    body *loaded_bodies; /* body_count of them */
    /* Bodies with the inertias of the rotors alone, and with those of their coupling (rotor.h); none without rotors. */
    body *rotor_bodies, *coupling_bodies;
};

/* Block of samples first .. first + count - 1, at most as many as the lanes of the kernels that compute them;
 * `real_size` bytes hold a packed number of all lanes. */
typedef struct sample_block {
    size_t first, count, lanes, real_size, width;
    const kernel_table *kernels;
} sample_block;

/* Returns the block of sample s alone. */
static inline sample_block dyn_block_of_one(const dyn_workspace *workspace, size_t s) {
    const kernel_table *one = workspace->kernels->one;
    return (sample_block){s, 1, 1, one->number_size, 0, one};
}

/* Returns whether the caller's rows are packed arrays themselves: one lane of doubles. */
static inline bool dyn_block_is_row(sample_block block) {
    return block.real_size == sizeof(double);
}

/* Returns the address of packed number i of all lanes. */
static inline void *dyn_packed(const void *packed, size_t i, sample_block block) {
    return (char *)packed + i * block.real_size;
}

/* Returns packed number i of one lane. */
static inline double dyn_packed_number(const void *packed, size_t i, sample_block block, size_t lane) {
    size_t at = i * block.lanes + lane;
    return block.real_size == block.lanes * sizeof(double) ? ((const double *)packed)[at] : ((const float *)packed)[at];
}

/* Returns the block that starts at sample `first` of n: a wide one or one of half the lanes, or a single sample where
 * few are left or the outputs, `width` numbers a sample, would not fit. Compiled functions, which replace kernels,
 * exist for all lanes and for one. The functions that every call runs for a block are inline, so that the block stays
 * in registers. */
static inline sample_block dyn_block_at(const dyn_workspace *workspace, size_t n, size_t first, size_t width) {
    const kernel_trio *trio = workspace->kernels;
    size_t left = n - first, wide_size = (size_t)trio->wide->lanes * trio->wide->number_size;
    bool wide = left >= trio->half_from && width * wide_size <= workspace->output_size;
    bool half = left <= (size_t)trio->half->lanes && !workspace->compiled;
    const kernel_table *kernels = !wide ? trio->one : half ? trio->half : trio->wide;
    size_t lanes = (size_t)kernels->lanes;
    return (sample_block){first, left < lanes ? left : lanes, lanes, lanes * kernels->number_size, width, kernels};
}

/* Returns the first block of n samples: as many samples as there are lanes, fewer where fewer are left, or a single
 * one. Its count is 0 if n is 0. */
static inline sample_block dyn_block_first(const dyn_workspace *workspace, size_t n) {
    return dyn_block_at(workspace, n, 0, 0);
}

/* Returns the block after `block` of n samples. Its count is 0 after the last sample. */
static inline sample_block dyn_block_next(const dyn_workspace *workspace, size_t n, sample_block block) {
    size_t next = block.first + block.count;
    return next < n ? dyn_block_at(workspace, n, next, block.width) : (sample_block){.first = n};
}

/* Returns the first block where the outputs of a sample are `width` numbers in all. Large outputs, such as matrices of
 * a large robot, are computed one sample at a time, so that a workspace need not hold them for all lanes. */
static inline sample_block dyn_block_first_of_width(const dyn_workspace *workspace, size_t n, size_t width) {
    return dyn_block_at(workspace, n, 0, width);
}

/* Packs input number `slot` of a block: `width` numbers a sample. A lane without a sample repeats the last one. NULL
 * rows stand for zeros and need width nv. */
static inline const void *dyn_block_pack(const dyn_workspace *workspace, int slot, const double *rows, size_t width,
                                         sample_block block) {
    if (!rows) {
        return workspace->zero;
    }
    if (dyn_block_is_row(block)) {
        return rows + block.first * width;
    }
    block.kernels->pack(rows + block.first * width, width, width, block.count, workspace->input[slot]);
    return workspace->input[slot];
}

/* Loads input number `slot` of a block as dyn_block_pack does, and checks its numbers: *are_finite becomes false where
 * one is infinite or NaN, or becomes infinite in the precision of the kernels. */
static inline const void *dyn_block_load_checked(const dyn_workspace *workspace, int slot, const double *rows,
                                                 size_t width, sample_block block, bool *are_finite) {
    const double *from = rows + block.first * width;
    if (!rows) {
        return workspace->zero;
    }
    if (dyn_block_is_row(block)) {
        *are_finite = block.kernels->all_finite(from, width) && *are_finite;
        return from;
    }
    *are_finite = block.kernels->pack(from, width, width, block.count, workspace->input[slot]) && *are_finite;
    return workspace->input[slot];
}

/* Returns the address of one of several outputs of `width` numbers a sample, after those whose widths add up to
 * `offset`. One lane computes in the caller's rows. */
static inline void *dyn_block_output_at(const dyn_workspace *workspace, size_t offset, double *rows, size_t width,
                                        sample_block block) {
    return block.lanes == 1 ? rows + block.first * width : dyn_packed(workspace->output, offset, block);
}

/* Returns the address of the only output of a call, `width` numbers a sample. One lane computes in the caller's
 * rows. */
static inline void *dyn_block_output(const dyn_workspace *workspace, double *rows, size_t width, sample_block block) {
    return dyn_block_output_at(workspace, 0, rows, width, block);
}

/* Stores a block's output in the caller's rows, `width` numbers a sample. Returns whether all numbers are finite. */
static inline bool dyn_block_unpack(const void *output, size_t width, sample_block block, double *rows) {
    return block.kernels->unpack(output, width, block.count, rows + block.first * width);
}

/* Returns the address of one of several outputs, `offset` numbers after the first. Together they are at most 24 nv +
 * 48, or 20 joints, numbers a sample. */
static inline void *dyn_block_part(const dyn_workspace *workspace, size_t offset, sample_block block) {
    return dyn_packed(workspace->output, offset, block);
}

/* Packs the external wrenches of a block, without forces on frames that are fixed to the world. */
wrench_set dyn_block_pack_wrenches(const dyn_workspace *workspace, const dyn_external_forces *forces,
                                   sample_block block);

/* Loads the external wrenches of a block. `forces` may be NULL. */
static inline wrench_set dyn_block_wrenches(const dyn_workspace *workspace, const dyn_external_forces *forces,
                                            sample_block block) {
    if (!forces) {
        return (wrench_set){0, workspace->frames, workspace->wrenches};
    }
    return dyn_block_pack_wrenches(workspace, forces, block);
}

#endif
