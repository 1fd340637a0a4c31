/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rollouts: many steps forward in time of many samples at once, for sampling planners and model-predictive controllers.
 */
#ifndef DYNAMICS_ROLLOUT_H
#define DYNAMICS_ROLLOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/constrained_dynamics.h>
#include <dynamics/export.h>
#include <dynamics/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers that vary with the sample and the step: the row for sample s in step k starts at rows[s * sample_stride + k *
 * step_stride]. A stride of 0 repeats the same row; rows NULL means zeros. */
typedef struct dyn_signal {
    const double *rows;
    size_t sample_stride, step_stride;
} dyn_signal;

/* Wrench that the environment applies to a frame, as in external_force.h: rows of 6, torque first. */
typedef struct dyn_signal_force {
    /* Frame as in kinematics.h, and the frame that `wrench` is expressed in. */
    int frame;
    dyn_reference_frame reference_frame;
    dyn_signal wrench;
} dyn_signal_force;

/* Inputs of a rollout. */
typedef struct dyn_rollout {
    size_t struct_size;             /* set by DYN_ROLLOUT_INIT (sized.h) */
    size_t steps;                   /* number of steps of the simulator's step_length; at least 1 */
    size_t stride;                  /* results at the steps 0, stride, 2 stride, ...; 0: only at the end */
    const double *q, *v;            /* n x nq, n x nv: initial states; v NULL: at rest */
    dyn_signal tau;                 /* rows of nv */
    dyn_hold hold;                  /* course of tau between its rows; DYN_HOLD_LINEAR needs steps + 1 rows */
    dyn_signal q_ref, v_ref, a_ref; /* the controller's reference: rows of nq, nv, nv */
    const dyn_signal_force *forces; /* held over each step */
    size_t force_count;

    /* Called at intervals with the number of sample-steps since the last call. Returning false cancels the rollout. May
     * be NULL. */
    bool (*proceed)(void *context, size_t sample_steps);
    void *context;
    double start_time; /* s, of the initial states: prescribed motions of constraints begin there */
    /* Motion of the base, rows of 12: its twist and its acceleration as in dyn_base_motion, held over each step. Needs
     * the simulator's option base_may_move. */
    dyn_signal base;
} dyn_rollout;

#define DYN_ROLLOUT_INIT(...) DYN_SIZED(dyn_rollout, __VA_ARGS__)

/* Outcome of a sample. If it stopped before the end, its results repeat the last state. */
typedef struct dyn_rollout_result {
    dyn_sample_status status;
    int joint;               /* joint that caused the end of a sample that is not running */
    size_t steps;            /* number of steps before the sample stopped, or all steps */
    size_t hits;             /* steps in which a joint hit a rigid stop faster than the rest velocity */
    double energy_drift;     /* largest |E - E at the start| over the rows, J; zero without energies */
    int constraint;          /* constraint with the largest closure error after a step; 0 without constraints */
    double closure_error;    /* that error, m or rad; 0 without constraints */
    int contact_sweeps;      /* most sweeps over the contacts in a step; 0 without contacts */
    double contact_residual; /* largest violation of the contact laws after a step, m/s */
    /* Rank and condition in the last state, and the largest residual of a step, by the method of multipliers. Zeros and
     * a condition of 1 for a model without constraints. */
    dyn_constraint_result constraints;
} dyn_rollout_result;

/* Results of a rollout. Any pointer may be NULL. Rows are results at the stride, dyn_rollout_rows of them for each
 * sample. */
typedef struct dyn_rollout_output {
    size_t struct_size; /* set by DYN_ROLLOUT_OUTPUT_INIT (sized.h) */
    double *q, *v;      /* n x rows x nq, n x rows x nv */
    /* n x rows x nv: sum of the input and of the controller's forces at the start of the step, clamped to the effort
     * limits; in the row of the end, the forces at the end of the last step. */
    double *tau;
    double *kinetic, *potential; /* n x rows, J */
    dyn_rollout_result *results; /* n */
    /* Contact surfaces in the last integration step before the row, as in dyn_contact_state; n x rows x surfaces, and 3
     * forces for each. In the row of the start, and for a model without contacts: 0, infinite, 0. */
    double *contact_forces, *contact_gaps, *contact_slips;
    /* n x rows x surfaces x 3: of the point with the smallest gap at the start of that step, the normal of the plane or
     * height field, in the direction in which it pushes the link of the surface, and the place of the point in the
     * world, m. In the row of the start, and for a surface that meets no other: zeros. */
    double *contact_normals, *contact_points;
} dyn_rollout_output;

#define DYN_ROLLOUT_OUTPUT_INIT(...) DYN_SIZED(dyn_rollout_output, __VA_ARGS__)

/* Returns the number of rows: 1 for stride 0, else steps / stride + 1. Thread-safe. */
DYN_API size_t dyn_rollout_rows(const dyn_rollout *rollout);

/* Checks the arguments of a rollout of n samples. Cost O(n steps nv).
 * Errors: DYN_INVALID_ARGUMENT with the place "steps", "hold", "q[13]", "v[13]", "tau[13]", "q_ref[13]", "v_ref[13]",
 * "a_ref[13]" (indices from the first row of the array), "q_ref" (missing, or without a controller), "base_motion" or
 * "external_forces[2].force[1]";
 * DYN_NOT_FOUND for an unknown frame; DYN_RESOURCE_EXHAUSTED for too many forces. */
DYN_API dyn_status dyn_rollout_check(const dyn_simulator *simulator, size_t n, const dyn_rollout *rollout,
                                     dyn_error *error);

/* Integrates n samples forward. They stay in the lanes from the first step to the last. Cost and independence of
 * samples as for dyn_simulator_step; allocates nothing. A sample that diverges is no error: it stops by itself.
 * Errors: those of dyn_rollout_check, which it calls; DYN_CANCELLED where `proceed` returns false, and then the output
 * is undefined. */
DYN_API dyn_status dyn_rollout_run(dyn_simulator *simulator, size_t n, const dyn_rollout *rollout,
                                   const dyn_rollout_output *output, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
