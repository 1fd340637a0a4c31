/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulation: one robot, its state and input, and its way through time.
 *
 * All that has no other word is guarded by the simulation's mutex: the thread that steps it, and requests that ask or
 * change, hold it in turns. Everything is in the model's order.
 */
#ifndef SERVER_SIMULATIONS_SIMULATION_H
#define SERVER_SIMULATIONS_SIMULATION_H

#include <pthread.h>
#include <stdatomic.h>

#include "models/entry.h"
#include "simulations/pacer.h"
#include "simulations/stepper.h"

enum { SIMULATION_NAME_SIZE = 65, SIMULATION_OWNER_SIZE = 64 };

typedef struct simulation simulation;
typedef struct stream stream;

typedef enum simulation_condition { SIMULATION_RUNNING, SIMULATION_PAUSED, SIMULATION_DIVERGED } simulation_condition;

/* In the order of the wire. */
typedef enum simulation_event {
    SIMULATION_LIMIT = 1,
    SIMULATION_RESET,
    SIMULATION_STATE_SET,
    SIMULATION_PAUSE,
    SIMULATION_RESUME,
    SIMULATION_DIVERGENCE,
    SIMULATION_OVERRUN,
    SIMULATION_DELETED,
    SIMULATION_EXPIRED,
    SIMULATION_CLAIMED,
    SIMULATION_RECORDING_ENDED,
    SIMULATION_STREAM_EMPTY,
    SIMULATION_STREAM_RESUMED,
} simulation_event;

/* States that fall into one tick. */
enum { SIMULATION_BATCH = 64 };

typedef struct simulation_batch {
    size_t count;
    uint64_t step[SIMULATION_BATCH];
    double *q, *v, *tau; /* rows */
} simulation_batch;

/* Callbacks of a simulation. Called with the simulation's mutex held; must not block. */
typedef struct simulation_hooks {
    bool (*is_watched)(simulation *s);
    void (*on_states)(simulation *s, const simulation_batch *batch);
    void (*on_event)(simulation *s, simulation_event event, int joint, const char *message);
    /* For recordings, while s->recording is set: a step was done, the input changed (and the external forces with it,
     * or not), the state jumped. */
    void (*on_step)(simulation *s);
    void (*on_input)(simulation *s, bool has_new_forces);
    void (*on_jump)(simulation *s);
} simulation_hooks;

typedef struct simulation_options {
    dyn_simulation_options stepping;
    const dyn_compiled *compiled; /* of the entry: what computes the steps where it can; NULL: the library's kernels */
    const char *object;           /* digest of its file */
    const double *deviation;      /* of the disturbance, nv; NULL: none */
    size_t payload_count;
    const dyn_payload *payloads; /* that it carries all its life */
    stepper_forces forces;       /* that act from the start and after a reset */
    bool is_paced;
    double rate;         /* simulated seconds a second */
    double publish_rate; /* a simulated second */
    uint64_t seed;
    double lease; /* s */
    bool keep;
    const double *q, *v; /* initial */
} simulation_options;

typedef struct pace_statistics {
    uint64_t overruns, ticks, steps;
    uint64_t slipped; /* ns */
    uint64_t lateness, longest_lateness;
    uint64_t cost; /* ns computed in `steps` steps */
} pace_statistics;

struct simulation {
    pacer_task task; /* first: the pacer's task is the simulation */
    pthread_mutex_t mutex;
    atomic_uint waiting;     /* requests that wait for the mutex */
    bool has_given_way;      /* to them, in this tick */
    pthread_mutex_t control; /* one change of the pace at a time; taken before the mutex */
    atomic_uint references;
    char name[SIMULATION_NAME_SIZE];
    model_entry *entry;
    const simulation_hooks *hooks;
    void *attachment; /* of the methods; freed with free_attachment */
    void (*free_attachment)(void *attachment);
    void *owner_context; /* of the hooks */
    pacer *pacer;
    size_t nq, nv;

    /* Constant. */
    bool is_paced, keep;
    double step_length, rate, publish_rate;
    uint64_t seed, publish_stride;
    double *initial_q, *initial_v;
    stepper_forces initial_forces;
    stepper *stepper;
    char computed_with[COMPUTED_WITH_SIZE];

    /* Command. */
    uint64_t token; /* 0: no owner */
    char owner[SIMULATION_OWNER_SIZE];
    double lease;       /* s */
    uint64_t lease_end; /* ns */
    bool is_deleted;

    /* State. */
    simulation_condition condition;
    uint64_t step;
    int64_t stamp_ns; /* of the state, clock_wall */
    double *q, *v, *tau;
    stepper_input input;
    disturbance generator;
    _Atomic double time; /* step * step_length, for whoever has no mutex */

    /* Pace. */
    uint64_t anchor; /* ns at which step `anchor_step` ended, or should have */
    uint64_t anchor_step;
    uint64_t steps_a_tick; /* and ns between two ticks are this many steps / rate */
    uint64_t tick;         /* since the anchor */
    uint64_t behind_since; /* ns; 0: it keeps up */
    uint64_t last_overrun; /* ns */
    pace_statistics statistics;
    simulation_batch batch;

    void *recording; /* NULL: none */
    stream *source;  /* the stream that feeds it; NULL: none */
    bool is_starved;
};

/* Creates a simulation at rest in its initial state, with one reference that the caller owns. Takes a reference to the
 * entry. Errors: those of the library about q, v and the options, with places as there; DYN_RESOURCE_EXHAUSTED. */
dyn_status simulation_create(model_entry *entry, const char *name, const simulation_options *options, pacer *paced_by,
                             const simulation_hooks *hooks, void *context, dyn_error *error, simulation **result);

simulation *simulation_retain(simulation *s);
void simulation_release(simulation *s);

/* Takes the mutex, for a request: whoever steps the simulation gives way to it. */
void simulation_lock(simulation *s);
void simulation_unlock(simulation *s);

/* Gives the mutex to those who wait for it, and takes it again. */
void simulation_give_way(simulation *s);

/* ---- without the mutex ------------------------------------------------------------------------------------------- */

/* Lets a paced simulation run, and stops it; the state when it returns is the one in which it stands. Resuming a
 * simulation that is deleted or diverged, or has no memory for it, returns false. */
bool simulation_resume(simulation *s);
void simulation_pause(simulation *s);

/* Stops it for good. */
void simulation_end(simulation *s);

/* ---- with the mutex ---------------------------------------------------------------------------------------------- */

typedef enum simulation_progress {
    SIMULATION_STEPPED,
    SIMULATION_HAS_DIVERGED,
    SIMULATION_IS_STARVED
} simulation_progress;

/* One step, of a simulation that is not running. */
simulation_progress simulation_step(simulation *s);

/* Sends what was gathered for watchers. */
void simulation_flush(simulation *s);

/* Replaces the parts of the input that are not NULL. */
void simulation_set_input(simulation *s, const stepper_input *input);

/* Another state; v NULL: at rest. The caller has checked the values. It is well again, if it had diverged. */
void simulation_set_state(simulation *s, const double *q, const double *v);

/* Back to the start. */
void simulation_reset(simulation *s);

/* The owner was heard of. */
void simulation_renew(simulation *s);

void simulation_tell(simulation *s, simulation_event event, int joint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
