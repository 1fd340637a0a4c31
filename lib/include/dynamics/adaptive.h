/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One accurate motion: a Runge-Kutta method of order 8 with error control, which finds the times at which joints run
 * into their limits. The numbers to hold other integrators against.
 */
#ifndef DYNAMICS_ADAPTIVE_H
#define DYNAMICS_ADAPTIVE_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dyn_adaptive_motion {
    size_t n;                  /* rows; at least 1 */
    const double *t;           /* n times, strictly increasing, s */
    const double *q, *v;       /* the state at t[0]: nq, and nv or NULL (at rest) */
    const double *tau;         /* n x nv, from each time to the next; NULL: zeros */
    bool is_linear;            /* tau goes in lines through its rows; else each is held */
    double relative, absolute; /* tolerances of a step's error; 0: 1e-10 and 1e-12 */
    size_t most_steps;         /* between two rows; 0: 100000 */
    size_t most_events;        /* 0: 1000 */

    /* Called every now and then; false ends the motion. NULL is allowed. */
    bool (*proceed)(void *context);
    void *context;
} dyn_adaptive_motion;

/* How the motion ended. */
typedef enum dyn_adaptive_end {
    DYN_ADAPTIVE_DONE,
    DYN_ADAPTIVE_RESTS,    /* a joint came to rest on its limit, slower than the rest velocity after its rebound */
    DYN_ADAPTIVE_DIVERGED, /* a velocity passed the bound, or no step was short enough */
    DYN_ADAPTIVE_TOO_LONG, /* more steps or events than allowed */
} dyn_adaptive_end;

/* A joint that ran into a rigid stop, and when. */
typedef struct dyn_adaptive_event {
    double t;
    int joint;
    double velocity; /* before */
} dyn_adaptive_event;

typedef struct dyn_adaptive_result {
    dyn_adaptive_end end;
    double t;  /* up to which the motion is known; rows after it keep the state there */
    int joint; /* that came to rest, where one did */
    size_t steps, rejected, evaluations;
    size_t events; /* in all */
} dyn_adaptive_result;

/* Integrates M a + h = tau + r from t[0] to t[n - 1] and gives the states at all times: q is n x nq, v n x nv,
 * quaternions of norm one. `events` receives the first `capacity` ones, and may be NULL. Gravity, damping, friction,
 * stops, effort limits and the velocity bound are the simulator's, its integrator, dt and substeps are not used; it
 * must have no controller. Quaternions are integrated as p' = p (w, 0) / 2 and brought back to norm one after each
 * step. A rigid stop is located to rounding of t and passed with the impulse of joint_stop; without restitution the
 * motion ends there.
 * Errors: DYN_INVALID_ARGUMENT with "t[3]", "q[2]", "v[2]", "tau[7]", "relative" ... or a joint that starts outside its
 * limits; DYN_FAILED_PRECONDITION for a controller; DYN_RESOURCE_EXHAUSTED; DYN_CANCELLED by `proceed`. Allocates.
 * Source: Fehlberg 1968, RK7(8); Hairer, Norsett and Wanner 1993, sections II.4 and II.6; ARKODE (Hindmarsh et al.
 * 2005). */
DYN_API dyn_status dyn_adaptive_run(dyn_simulator *simulator, const dyn_adaptive_motion *motion, dyn_error *error,
                                    double *q, double *v, dyn_adaptive_event *events, size_t capacity,
                                    dyn_adaptive_result *result);

#ifdef __cplusplus
}
#endif

#endif
