/* SPDX-License-Identifier: BSD-2-Clause */
/* Inner quantities of a formulation of a model with constraints. */
#include <string.h>

#include <dynamics/constrained_dynamics.h>
#include <dynamics/constraint_space.h>
#include <dynamics/formulation.h>

#include "../model/error.h"
#include "../model/normal_form.h"

/* Arrays in the caller's memory, in the order of the blocks. */
typedef struct constraint_arrays {
    double *A, *b, *e, *M, *free_a, *R, *inertia, *P, *P_qdd, *rank, *lambda, *forces, *a;
} constraint_arrays;

/* Block and its array; extents are numbers of coordinates and of rows. */
typedef struct block_row {
    const char *name;
    size_t array;   /* offset in constraint_arrays */
    const char *of; /* extents, one letter each: m rows, n coordinates, 1 */
} block_row;

#define ARRAY(member) offsetof(constraint_arrays, member)

static const block_row rows[DYN_FORMULATION_CONSTRAINT_BLOCKS] = {
    {"constraint_A", ARRAY(A), "mn"},
    {"constraint_b", ARRAY(b), "m"},
    {"constraint_e", ARRAY(e), "m"},
    {"constraint_M", ARRAY(M), "nn"},
    {"constraint_a_0", ARRAY(free_a), "n"},
    {"constraint_A_Minv_At", ARRAY(R), "mm"},
    {"constraint_Lambda", ARRAY(inertia), "mm"},
    {"constraint_P", ARRAY(P), "nn"},
    {"constraint_P_qdd", ARRAY(P_qdd), "nn"},
    {"constraint_rank", ARRAY(rank), "1"},
    {"constraint_lambda", ARRAY(lambda), "m"},
    {"constraint_A_t_lambda", ARRAY(forces), "n"},
    {"constraint_a", ARRAY(a), "n"},
};

/* Returns the number of values of a block. */
static size_t count_values(const dyn_model *model, const block_row *row) {
    size_t count = 1;
    for (const char *c = row->of; *c; c++) {
        count *= *c == 'm' ? (size_t)model->constraint_rows : *c == 'n' ? (size_t)model->nv : 1;
    }
    return count;
}

size_t dyn_formulation_constraint_numbers(const dyn_model *model) {
    size_t count = 0;
    for (int i = 0; model->constraint_rows > 0 && i < DYN_FORMULATION_CONSTRAINT_BLOCKS; i++) {
        count += count_values(model, &rows[i]);
    }
    return count;
}

/* Lays out the arrays in the caller's memory, and describes them. */
static void lay_out(const dyn_model *model, double *memory, constraint_arrays *x,
                    dyn_formulation_block blocks[DYN_FORMULATION_CONSTRAINT_BLOCKS]) {
    for (int i = 0; i < DYN_FORMULATION_CONSTRAINT_BLOCKS; i++) {
        const block_row *row = &rows[i];
        blocks[i] = (dyn_formulation_block){
            .name = row->name, .traits = dyn_formulation_find_block("", row->name), .values = memory};
        for (const char *c = row->of; *c; c++) {
            blocks[i].extents[blocks[i].dimensions++] = *c == 'm' ? model->constraint_rows : *c == 'n' ? model->nv : 1;
        }
        memcpy((char *)x + row->array, &memory, sizeof memory);
        memory += count_values(model, row);
    }
}

/* Computes lambda = Lambda (b - A a_0) and A' lambda. */
static void find_multipliers(int m, int nv, const constraint_arrays *x) {
    memset(x->lambda, 0, (size_t)m * sizeof *x->lambda);
    memset(x->forces, 0, (size_t)nv * sizeof *x->forces);
    for (int r = 0; r < m; r++) {
        double lacking = x->b[r];
        for (int j = 0; j < nv; j++) {
            lacking -= x->A[r * nv + j] * x->free_a[j];
        }
        for (int i = 0; i < m; i++) {
            x->lambda[i] += x->inertia[i * m + r] * lacking;
        }
    }
    for (int r = 0; r < m; r++) {
        for (int j = 0; j < nv; j++) {
            x->forces[j] += x->A[r * nv + j] * x->lambda[r];
        }
    }
}

dyn_status dyn_formulation_constraint_blocks(dyn_formulation *formulation, const dyn_model *model,
                                             dyn_workspace *workspace, const double *gravity, const double *q,
                                             const double *v, const double *tau, double *memory,
                                             dyn_formulation_block blocks[DYN_FORMULATION_CONSTRAINT_BLOCKS],
                                             dyn_error *error) {
    constraint_arrays x;
    lay_out(model, memory, &x, blocks);
    dyn_status status = dyn_constraint_rows(model, workspace, 1, q, v, x.A, x.b, x.e, error);
    for (int r = 0; status == DYN_OK && r < model->constraint_rows; r++) {
        x.b[r] = -x.b[r];
    }
    if (status == DYN_OK) {
        status = dyn_formulation_mass_matrix(formulation, 1, q, x.M, error);
    }
    if (status == DYN_OK) {
        status = dyn_formulation_forward_dynamics(formulation, 1, gravity, q, v, tau, x.free_a, error);
    }
    if (status == DYN_OK) {
        const dyn_constraint_space space = {.inverse_inertia = x.R,
                                            .inertia = x.inertia,
                                            .force_projector = x.P,
                                            .acceleration_projector = x.P_qdd,
                                            .rank = x.rank};
        status = dyn_constraint_space_quantities(model, workspace, 1, q, &space, error);
    }
    if (status == DYN_OK) {
        find_multipliers(model->constraint_rows, model->nv, &x);
        status = dyn_constrain_accelerations(model, workspace, q, v, x.M, x.free_a, x.a, error);
    }
    return status;
}
