/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interface of the algorithms, which compute one sample in each lane.
 *
 * Each instance (an instruction set, a number of lanes and a precision) has one table of functions. Arrays of reals
 * hold one number for each of the instance's lanes: element i of a packed array is numbers[i * lanes .. i * lanes +
 * lanes - 1], doubles or floats. `memory` is the scratch block of a workspace, of at least memory_size(model) bytes,
 * aligned to 64.
 */
#ifndef DYNAMICS_KERNELS_KERNELS_H
#define DYNAMICS_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/constraint.h>
#include <dynamics/model.h>
#include <dynamics/task.h>

#include "step_parameters.h"

/* Frame of one external wrench, and the axes in which it is expressed. */
typedef struct wrench_frame {
    int frame; /* link index, not the world */
    dyn_reference_frame reference_frame;
} wrench_frame;

/* External wrenches of a call: `count` wrenches of 6 packed numbers (n; f). */
typedef struct wrench_set {
    size_t count;
    const wrench_frame *frames;
    const void *wrenches;
} wrench_set;

/* Inputs of inverse and forward dynamics: a state, the acceleration or the joint forces, and external wrenches. */
typedef struct packed_inputs {
    const double *gravity; /* 3 doubles, not packed */
    const void *q, *v;
    const void *third;        /* a, or tau for forward dynamics */
    const wrench_set *forces; /* NULL: none */
} packed_inputs;

/* Increments of the inputs, nv numbers each. */
typedef struct packed_increments {
    const void *dq, *dv, *dthird;
} packed_increments;

/* Inputs of a step. */
typedef struct step_input {
    const void *q, *v;
    const void *tau_begin, *tau_end; /* tau is linear over the step; tau_end NULL: constant */
    const wrench_set *forces;        /* NULL: none */
} step_input;

/* Reference of a controller. */
typedef struct packed_reference {
    const void *q, *v, *a;
} packed_reference;

/* First derivatives, nv x nv each, along q, v and the third input. */
typedef struct derivative_matrices {
    void *dq, *dv, *da;
} derivative_matrices;

/* Second derivatives, nv x nv x nv each: along q and q, v and v, q and v; and dM/dq, or along tau and q. */
typedef struct derivative_cubes {
    void *dqdq, *dvdv, *dqdv, *dMdq;
} derivative_cubes;

/* Twist of a frame (6), its rate (6) and the rate of its Jacobian (6 x nv). */
typedef struct frame_rates {
    void *twist, *rate, *dJ;
} frame_rates;

/* Derivatives of a vector of six, angular part first, and of its rate, and the matrix that velocities are multiplied
 * by: a frame's twist and its Jacobian, or the centroidal momentum and its matrix. 6 x nv each. */
typedef struct spatial_derivatives {
    void *dq;                /* of the vector */
    void *rate_dq, *rate_dv; /* of its rate */
    void *matrix;
} spatial_derivatives;

/* Most terms of a group of rows: a loop has a predecessor and a successor, a linear coupling its coordinates. Groups of
 * more than two terms have one row. */
enum { ROW_TERMS = DYN_MAX_COUPLED_COORDINATES };

/* Sources of rows: rows of a frame's Jacobian, one coordinate, one side of a closure, or dp/dq of the polynomial of a
 * closure at its second coordinate. */
typedef enum row_source { ROWS_OF_FRAME, ROW_OF_COORDINATE, ROWS_OF_CLOSURE, ROW_OF_POLYNOMIAL } row_source;

/* Term of a group of rows: `factor` times the rows of its source. The two terms of a closure have the factor 1 for its
 * successor and -1 for its predecessor. */
typedef struct row_term {
    row_source source;
    int index; /* link index of the frame, -1: the world; index of the coordinate in v; index of the closure */
    dyn_reference_frame reference_frame; /* of the frame's Jacobian */
    unsigned rows;                       /* selected rows of the frame's Jacobian, as in dyn_task_frame */
    double factor;
} row_term;

/* Rows that act on the same bodies: the sum of their terms, each of `count` rows, at most six. */
typedef struct row_group {
    int count, term_count;
    row_term terms[ROW_TERMS];
} row_group;

/* Rows of a matrix A, m x nv, group after group. */
typedef struct row_set {
    int m;
    size_t group_count;
    const row_group *groups;
    const void *A; /* from row_jacobian; row_response reads it only where mimic joints are coupled */
} row_set;

/* Destinations of the response of m rows. */
typedef struct row_results {
    void *response;        /* A M^-1 A', m x m */
    void *accelerations;   /* M^-1 A', nv x m; scratch memory if is_response_only is true */
    bool is_response_only; /* the caller does not need M^-1 A' */
} row_results;

/* Requirements of the rows of all closures of a model: A a = c, with c = required - dA/dt v - gain A v. */
typedef struct row_requirements {
    const row_set *rows;
    double gain;          /* 2 k of the stabilization, 1/s */
    const void *required; /* m packed numbers; NULL: zeros */
    const void *diagonal; /* nv packed numbers that are added to the diagonal of M; NULL: zeros */
    bool needs_response;  /* false: response and missing may stay unwritten where lambda is known without them */
} row_requirements;

/* Accelerations that rows require, and the multipliers that cause them. All are packed. */
typedef struct row_multipliers {
    void *response; /* A M^-1 A', m x m: its lower triangle */
    void *missing;  /* m: c - A a_0, where a_0 is the acceleration without multipliers */
    void *factors;  /* m x m: scratch memory */
    void *shares;   /* nv x m: scratch memory, which constrained_acceleration reads */
    void *lambda;   /* m */
    void *regular;  /* one number: 2 for independent rows, 1 for consistent dependent ones, 0: lambda is not valid */
} row_multipliers;

/* Most bodies that the rows of one constraint act on: those of the two sides of a loop joint, or the two bodies that
 * each of two coordinates moves relative to each other. Constrained articulated bodies leave out couplings of more. */
enum { CLOSURE_BODIES = 4 };

/* Couplings of the bodies of a model. Rows that tie two bodies couple their inertias. Eliminating a body couples its
 * parent and all bodies that it is coupled with (dynamics/body_couplings.h). */
typedef struct body_couplings {
    int count;                     /* of couplings */
    int *first;                    /* body_count + 1: couplings first[i] .. first[i + 1] - 1 are those of body i */
    int *with;                     /* count: the other body, which precedes i */
    int (*bodies)[CLOSURE_BODIES]; /* of each constraint; -1: none */
} body_couplings;

/* Problem that all samples of a block share. */
typedef struct held_rows {
    const body_couplings *couplings;
    int m;
    double penalty;       /* 1/mu of the proximal iteration */
    double gain;          /* 2 k of the stabilization, 1/s */
    const void *errors;   /* k^2 e, m packed numbers; NULL: zeros */
    const void *diagonal; /* nv packed numbers that are added to the diagonal of M; NULL: zeros */
} held_rows;

/* Solution, packed: accelerations (nv) and their last increments (nv), multipliers (m), c - A a (m), and the sizes of
 * the terms of A a and c (m). */
typedef struct held_motion {
    void *a, *steps, *lambda, *missing, *sizes;
} held_motion;

/* Result arrays of a task of m rows. NULL members are not computed. */
typedef struct task_results {
    void *inverse_inertia, *inertia; /* m x m */
    void *bias, *gravity;            /* m */
    void *inverse;                   /* nv x m */
    void *projector;                 /* nv x nv */
} task_results;

/* Functions of one instance, generated from algorithms.inc. */
typedef struct kernel_table {
    int lanes;
    size_t number_size; /* sizeof(double) or sizeof(float) */

    /* Returns the bytes of scratch memory that suffice for every algorithm of this instance. */
    size_t (*memory_size)(const dyn_model *model);

#define FUNCTION(result, name, parameters) result(*name) parameters;
#define ALGORITHM(result, name, scratch, parameters) result(*name) parameters;
#include "algorithms.inc"
#undef ALGORITHM
#undef FUNCTION
} kernel_table;

/* Tables of the instances. All but the scalar ones exist only where DYN_HAVE_AVX512, DYN_HAVE_AVX2, DYN_HAVE_SSE2 or
 * DYN_HAVE_NEON is defined. */
extern const kernel_table dyn_kernel_table_scalar, dyn_kernel_table_scalar_float;
extern const kernel_table dyn_kernel_table_sse2, dyn_kernel_table_sse2_float;
extern const kernel_table dyn_kernel_table_sse2_one, dyn_kernel_table_sse2_one_float;
extern const kernel_table dyn_kernel_table_avx2, dyn_kernel_table_avx2_float;
extern const kernel_table dyn_kernel_table_avx2_one, dyn_kernel_table_avx2_one_float;
extern const kernel_table dyn_kernel_table_avx512, dyn_kernel_table_avx512_float;
extern const kernel_table dyn_kernel_table_avx512_one, dyn_kernel_table_avx512_one_float;
extern const kernel_table dyn_kernel_table_neon, dyn_kernel_table_neon_float;
extern const kernel_table dyn_kernel_table_neon_one, dyn_kernel_table_neon_one_float;

#endif
