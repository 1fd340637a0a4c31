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

/* The first block of n samples, and the one behind `block`: as many samples as there are lanes, or a single one where
 * few are left. A block of count 0 ends the samples. */
sample_block dyn_block_first(const dyn_workspace *workspace, size_t n);
sample_block dyn_block_next(const dyn_workspace *workspace, size_t n, sample_block block);

/* The first block where the outputs of a sample are `width` doubles in all: many, as matrices of a large robot are, are
 * computed one sample at a time, so that a workspace need not hold them for all lanes. */
sample_block dyn_block_first_of_width(const dyn_workspace *workspace, size_t n, size_t width);

/* Input number `slot` of a block, packed: `width` numbers a sample. A lane without a sample repeats the last one. NULL
 * rows stand for zeros and need width nv. */
const void *dyn_block_pack(const dyn_workspace *workspace, int slot, const double *rows, size_t width,
                           sample_block block);

/* Where a block's output of `width` numbers a sample is to be computed, */
void *dyn_block_output(const dyn_workspace *workspace, double *rows, size_t width, sample_block block);

/* the same for one of several outputs, behind those whose widths add up to `offset`, */
void *dyn_block_output_at(const dyn_workspace *workspace, size_t offset, double *rows, size_t width,
                          sample_block block);

/* and its way from there to the caller's rows. */
void dyn_block_unpack(const void *output, size_t width, sample_block block, double *rows);

/* Where one of several outputs is computed that together are at most 24 nv + 48, or 20 joints, numbers a sample,
 * `offset` numbers behind the first; and its way to the caller's rows, who may not want it (NULL). */
void *dyn_block_part(const dyn_workspace *workspace, size_t offset, sample_block block);
void dyn_block_store(const void *part, size_t width, sample_block block, double *rows);

/* The external wrenches of a block; forces on what is fixed to the world are left out. `forces` may be NULL. */
wrench_set dyn_block_wrenches(const dyn_workspace *workspace, const dyn_external_forces *forces, sample_block block);

#endif
