/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closures of the loops of a model: their rows, closure errors and multipliers in one block of samples.
 *
 *     closures_choose               chooses the rows
 *     closures_respond              computes A, dA/dt v, A M^-1 A' and M^-1 A' in all lanes
 *     closures_find_errors          computes the closure errors e of all lanes
 *     closures_require_acceleration, closures_require_rates, ... closures->c ...
 *                                   state the required A x of all lanes
 *     closures_solve                adds M^-1 A' lambda to x in all lanes
 *
 * x is an acceleration, a velocity or an increment of q: each responds to the rows in the same way.
 */
#ifndef DYNAMICS_CONSTRAINT_CLOSURES_H
#define DYNAMICS_CONSTRAINT_CLOSURES_H

#include <stdbool.h>

#include <dynamics/passive_force.h>

#include "../dynamics/workspace.h"
#include "least_norm.h"
#include "rows.h"

typedef struct closures {
    const dyn_model *model;
    const dyn_workspace *workspace; /* kernels run in its memory */
    double time;                    /* s: instant of prescribed motions */
    constraint_rows rows;
    constraint_rows forces; /* rows of the directions in which loop joints exert forces */
    least_norm norm;
    row_multipliers swept; /* with the factors of A M^-1 A' */
    double *row;           /* m, packed: scratch memory of the factorization */
    double *residual;      /* 1, packed: of the accelerations that closures_move computes */
    double *required;      /* m, packed: db/dt + 2 k b - k^2 e */
    double *pose;          /* 12, packed */
    double *lane_q;        /* nq */
    double *e;             /* m, packed: closure errors */
    double *c;             /* m, packed: required A x */
    double *rates;         /* m: b */
    double *lambda;        /* m: multipliers of one lane */
} closures;

/* Lays out the memory for the closures of a model in up to `lanes` lanes from `base` on; returns its size (carve.h). */
size_t closures_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, closures *s);

/* Chooses the rows of all constraints of the model, at the time of the workspace. `model` may have payloads that that
 * of the workspace has not. */
void closures_choose(const dyn_model *model, const dyn_workspace *workspace, closures *s);

/* Adds the rows of all constraints of a model, in their order. */
void closures_add_rows(const dyn_model *model, constraint_rows *rows);

/* Computes the rows and their response at the packed state (q, v). `diagonal` (packed nv numbers; NULL: zeros) is added
 * to the diagonal of M. The bias is dA/dt v - db/dt. */
void closures_respond(closures *s, sample_block block, const void *q, const void *v, const void *diagonal);

/* Finds the forces of the joints of closed loops in all lanes: their efforts, and the damping and friction that `parts`
 * (NULL: none) count. Adds M^-1 A_f' f to the packed accelerations x, where A_f are the rows of their directions. The
 * forces of the last lane remain in forces.solution. Does nothing for a model without such forces. */
void closures_exert(closures *s, sample_block block, const dyn_passive_parts *parts, const void *q, const void *v,
                    const void *diagonal, double *x);

/* Finds A_f of one sample, one row for each direction in which a joint of a closed loop exerts a force, and the forces
 * in forces.solution. `slopes` (NULL: not needed) receives their derivatives by the rates A_f v. v NULL: zero. Returns
 * A_f, which lives until the next call. */
const double *closures_find_joint_forces(closures *s, sample_block one, const dyn_passive_parts *parts, const double *q,
                                         const double *v, double *slopes);

/* Adds factor A_f' f of one sample to the joint forces tau, nv numbers; v NULL: zero. */
void closures_add_forces(closures *s, sample_block one, const dyn_passive_parts *parts, double factor, const double *q,
                         const double *v, double *tau);

/* Computes the closure errors of all lanes at the packed q. */
void closures_find_errors(closures *s, sample_block block, const void *q);

/* Subtracts db/dt of prescribed motions from the bias in rows->bias. */
void closures_subtract_drive(const closures *s, sample_block block);

/* Computes the rates b of all rows into `b`, m of them: zero, except for prescribed motions. */
void closures_rates(const closures *s, double *b);

/* Computes c = db/dt - dA/dt v - 2 k (A v - b) - k^2 e of all lanes, for accelerations. e is not read where k is
 * zero. */
void closures_require_acceleration(closures *s, sample_block block, double k, const void *v);

/* Computes c = b of all lanes, for velocities. */
void closures_require_rates(closures *s, sample_block block);

/* Adds M^-1 A' lambda to the packed nv numbers x, so that A x = c, in the lanes that `lanes` (NULL: all) states. The
 * multipliers are any that do so. Lanes whose rows contradict each other, or whose rank is not clear, have those of
 * least norm. */
void closures_solve(closures *s, sample_block block, const bool *lanes, double *x);

/* Returns whether closures_sweep serves a model: one without coupled mimic joints, rotors and forces of loop joints. */
bool closures_have_sweep(const dyn_model *model);

/* Computes the multipliers of accelerations that satisfy the constraints, with the stabilization k, in all lanes, and
 * the pivots. `diagonal` as in closures_respond. `u` receives nv packed numbers for closures_move. Writes
 * rows.response, unless it is not needed: closures_examine must not follow then. */
void closures_sweep(closures *s, sample_block block, const packed_inputs *in, double k, const void *diagonal,
                    bool needs_response, void *pivots, double *u);

/* Replaces u by the accelerations, and writes the residual. No kernel may have run since closures_sweep. */
void closures_move(const closures *s, sample_block block, const double *gravity, double *u);

/* Returns whether the rows of one lane are known to agree with each other, up to rounding, after closures_solve or
 * closures_sweep. */
bool closures_agree(const closures *s, sample_block block, size_t lane);

/* Computes the multipliers of least norm of one lane after closures_solve or closures_sweep into lambda. */
void closures_load_multipliers(closures *s, sample_block block, size_t lane);

/* Computes A and its bias at the packed state (q, v), without the response. */
void closures_find_rows(closures *s, sample_block block, const void *q, const void *v);

/* Returns the largest of |A x - c| in one lane. */
double closures_residual(const closures *s, sample_block block, size_t lane, const double *x);

/* Computes the condition of A M^-1 A' in one lane (least_norm_condition) after closures_respond or closures_sweep.
 * Returns the number of independent rows. */
int closures_examine(closures *s, sample_block block, size_t lane, double *condition);

/* Returns A_r x in one lane. */
double closures_rate(const constraint_rows *rows, sample_block block, size_t lane, int row, int nv, const double *x);

#endif
