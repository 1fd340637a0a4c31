/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accurate integration of one motion: a Runge-Kutta method of order 8 with error control, which locates the times at
 * which joints reach their limits. Its results serve as the reference for other integrators.
 */
#ifndef DYNAMICS_ADAPTIVE_H
#define DYNAMICS_ADAPTIVE_H

#include <stddef.h>

#include <dynamics/constrained_dynamics.h>
#include <dynamics/export.h>
#include <dynamics/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Inputs of an accurate integration. */
typedef struct dyn_adaptive_motion {
    size_t struct_size;        /* set by DYN_ADAPTIVE_MOTION_INIT (sized.h) */
    size_t n;                  /* number of rows; at least 1 */
    const double *time;        /* n times, strictly increasing, s */
    const double *q, *v;       /* state at time[0]: nq, and nv or NULL (at rest) */
    const double *tau;         /* n x nv, row i from time[i] to time[i + 1]; NULL: zeros */
    dyn_hold hold;             /* course of tau between its rows */
    double relative, absolute; /* tolerances of a step's error; 0 means 1e-10 and 1e-12 */
    size_t most_steps;         /* limit on the steps between two rows; 0 means 100000 */
    size_t most_events;        /* limit on the impacts on stops in a motion; 0 means 1000 */

    /* Called at intervals. Returning false cancels the integration. May be NULL. */
    bool (*proceed)(void *context);
    void *context;
    const dyn_base_motion *base; /* row i from time[i] to time[i + 1]; NULL: the base rests */
} dyn_adaptive_motion;

#define DYN_ADAPTIVE_MOTION_INIT(...) DYN_SIZED(dyn_adaptive_motion, __VA_ARGS__)

/* Reason for which the integration ended. */
typedef enum dyn_adaptive_end {
    DYN_ADAPTIVE_END_DONE,
    DYN_ADAPTIVE_END_RESTS,    /* a joint came to rest on its limit: it rebounds more slowly than the rest velocity */
    DYN_ADAPTIVE_END_DIVERGED, /* a velocity exceeded the bound, or no step was short enough */
    DYN_ADAPTIVE_END_TOO_LONG, /* more steps or events than allowed */
} dyn_adaptive_end;

/* Impact of a joint on its rigid stop. */
typedef struct dyn_adaptive_event {
    double time; /* s */
    int joint;
    double velocity; /* before the impact */
} dyn_adaptive_event;

/* Outcome of an accurate integration. */
typedef struct dyn_adaptive_result {
    dyn_adaptive_end end;
    double time; /* s, up to which the motion is known; later rows repeat the state there */
    int joint;   /* joint that came to rest, with DYN_ADAPTIVE_END_RESTS */
    /* Steps of the integrator that succeeded, steps that were repeated because their error exceeded the tolerance, and
     * evaluations of forward dynamics. */
    size_t steps, rejected, evaluations;
    size_t events;                     /* number of all impacts, including those that `events` had no room for */
    int constraint;                    /* constraint with the largest closure error in a row; 0 without constraints */
    double closure_error;              /* that error, m or rad; 0 without constraints */
    dyn_constraint_result constraints; /* as in dyn_rollout_result */
} dyn_adaptive_result;

/* Integrates M a + h = tau + r from time[0] to time[n - 1] and stores the states at all times: q is n x nq, v is n x
 * nv, quaternions have norm one. `events` receives the first `capacity` events and may be NULL. Gravity, damping,
 * friction, stops, effort limits and the velocity bound are those of the simulator. Its integrator, step_length and
 * substeps are not used, and it must have no controller. A base that moves needs its option base_may_move. Integrates
 * quaternions as p' = p (w, 0) / 2 and normalizes them after each step, where loops are closed by the projection of
 * simulation.h. Locates the impact on a rigid stop to the rounding of the time and applies the impulse of joint_stop;
 * without restitution the motion ends there. Allocates.
 * Errors: DYN_INVALID_ARGUMENT with "time[3]", "q[2]", "v[2]", "tau[7]", "relative" and so on, or for a joint that
 * starts outside its limits; DYN_FAILED_PRECONDITION for a controller or a model without a moving joint;
 * DYN_RESOURCE_EXHAUSTED; DYN_CANCELLED where `proceed` returns false.
 * Source: Fehlberg 1968, RK7(8); Hairer, Norsett and Wanner 1993, sections II.4 and II.6; ARKODE (Hindmarsh et al.
 * 2005). */
DYN_API dyn_status dyn_adaptive_run(dyn_simulator *simulator, const dyn_adaptive_motion *motion, double *q, double *v,
                                    dyn_adaptive_event *events, size_t capacity, dyn_adaptive_result *result,
                                    dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
