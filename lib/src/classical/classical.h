/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of formulations as other rooms see it, one instance for each type of number. Instance `classical` computes
 * with doubles; `counted` counts the operations of its thread, and exists where DYN_HAVE_COUNTED is defined.
 *
 * Arrays that are void are numbers of the instance, `number_size` bytes each. Callers check their arguments.
 */
#ifndef DYNAMICS_CLASSICAL_CLASSICAL_H
#define DYNAMICS_CLASSICAL_CLASSICAL_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/base_motion.h>
#include <dynamics/formulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of the formulation, model, gravity, memory and forces of a call. `memory` has memory_size(row, model) bytes,
 * aligned to 16. */
typedef struct formulation_call {
    int row;
    const dyn_model *model;
    const double *gravity;
    void *memory;
    const dyn_external_forces *forces; /* on the links; NULL: none */
    const dyn_base_motion *base;       /* NULL, or without a twist: the base rests */
    size_t sample;                     /* row of the forces and of the base */
    int tip_count;                     /* constraints of the last link */
    const dyn_tip_constraint *tip;
    const struct constraint_lanes *lanes; /* of constraint_force; NULL: those of the instance */
    const dyn_spread *spread;             /* threads of the caller; NULL: none */
} formulation_call;

/* Frame on a body, and the frame that results are expressed in. */
typedef struct articulated_frame {
    int link; /* index of the link whose frame it is, on a body that moves */
    dyn_reference_frame reference_frame;
    bool has_clusters; /* bodies share coordinates, other than rotors that one joint drives */
} articulated_frame;

/* Functions of one instance. `row` is the number of a formulation in the table, from 0 on. */
typedef struct classical_instance {
    int number_size;
    int count; /* number of formulations */
    const dyn_formulation_traits *(*traits)(int row);
    bool (*has_tip_constraints)(int row); /* the forward dynamics consider them */
    bool (*spreads)(int row);             /* the forward dynamics have independent parts */
    size_t (*memory_size)(int row, const dyn_model *model);
    void (*inverse)(const formulation_call *call, const void *q, const void *v, const void *a, void *tau);
    void (*forward)(const formulation_call *call, const void *q, const void *v, const void *tau, void *a);
    void (*mass_matrix)(const formulation_call *call, const void *q, void *M);
    /* Returns the number of blocks, at most DYN_FORMULATION_MAX_BLOCKS, whose values are in the memory of the call. */
    int (*coefficients)(const formulation_call *call, const void *q, const void *v, const void *a,
                        dyn_formulation_block *blocks);
    /* Computes the joint forces that the motion call->base, row 0, causes, and unless `wrenches` is NULL, the wrenches
     * of the joints (dyn_base_forces). call->memory has base_memory_size(model) bytes. */
    size_t (*base_memory_size)(const dyn_model *model);
    void (*base_forces)(const formulation_call *call, const void *q, const void *v, void *tau, void *wrenches);
    void (*base_force_derivatives)(const formulation_call *call, const void *q, const void *v, void *dq, void *dv);
    /* Computes I_A and p_A of a body (dyn_articulated_inertia). call->memory has articulated_memory_size(model)
     * bytes. */
    size_t (*articulated_memory_size)(const dyn_model *model);
    void (*articulated_inertia)(const formulation_call *call, const void *q, const void *v, const void *tau,
                                const articulated_frame *of, void *inertia, void *bias);
    /* Computes, in the axes of the world and about its origin, the motion subspaces, 6 numbers for each coordinate, and
     * the inertias m, m c and I (xx xy xz yy yz zz), 10 numbers for each body. call->memory has tree_memory_size(model)
     * bytes. For a model whose bodies share no coordinate. */
    size_t (*tree_memory_size)(const dyn_model *model);
    void (*place_tree)(const formulation_call *call, const void *q, void *subspaces, void *inertias);
} classical_instance;

extern const classical_instance dyn_classical_instance_classical;
extern const classical_instance dyn_classical_instance_counted;

/* Checks that a formulation applies to a model.
 * Errors: DYN_FAILED_PRECONDITION with the joint that it cannot treat and the reason, or for a model that is too
 * large. */
dyn_status dyn_check_formulation(const dyn_formulation_traits *traits, const dyn_model *model, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
