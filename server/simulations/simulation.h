/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulation of one robot: its state, its input, and its progress over time.
 *
 * The simulation's mutex guards every member whose comment says nothing else. The stepping thread and requests hold it
 * in turns. All values are in the model's order.
 */
#ifndef SERVER_SIMULATIONS_SIMULATION_H
#define SERVER_SIMULATIONS_SIMULATION_H

#include <pthread.h>
#include <stdatomic.h>

#include "models/entry.h"
#include "simulations/contact_watch.h"
#include "simulations/pacer.h"
#include "simulations/schedule.h"
#include "simulations/stepper.h"

enum { SIMULATION_NAME_SIZE = 65, SIMULATION_OWNER_SIZE = 64 };

/* Time in ns for which a stepping thread yields to waiting requests. */
enum { SIMULATION_YIELD_TIME = 20000 };

typedef struct simulation simulation;

typedef enum simulation_condition { SIMULATION_RUNNING, SIMULATION_PAUSED, SIMULATION_DIVERGED } simulation_condition;

/* Events, numbered as in the protocol. */
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
    SIMULATION_TOUCHDOWN,
    SIMULATION_LIFT_OFF,
    SIMULATION_SLIP,
} simulation_event;

/* Largest number of states in one batch for watchers. */
enum { SIMULATION_BATCH = 64 };

typedef struct simulation_batch {
    size_t count;
    uint64_t step[SIMULATION_BATCH];
    double *q, *v, *tau; /* rows */
} simulation_batch;

/* Callbacks of a simulation. They run with the simulation's mutex held and must not block. */
typedef struct simulation_hooks {
    /* Returns whether anybody receives the states. */
    bool (*is_watched)(simulation *s);
    void (*on_states)(simulation *s, const simulation_batch *batch);
    void (*on_event)(simulation *s, simulation_event event, int joint, const char *message);
    /* Called after a step for each change of a contact: SIMULATION_TOUCHDOWN, SIMULATION_LIFT_OFF, SIMULATION_SLIP. */
    void (*on_contact)(simulation *s, simulation_event kind, const contact_event *event);
    /* Called after each step while s->recording is set. */
    void (*on_step)(simulation *s);
    /* Called after a change of the input, with or without external forces, while s->recording is set. */
    void (*on_input)(simulation *s, bool has_new_forces);
    /* Called after a change of the state other than by a step, while s->recording is set. */
    void (*on_jump)(simulation *s);
} simulation_hooks;

/* Source of a simulation's input before each step. */
typedef struct simulation_source {
    const char *name;
    bool is_awaited; /* the simulation waits while the source is empty, and does not step */
    /* Writes the simulation's input for its next step. Returns false when the source has none for that time. Called
     * with the simulation's mutex held. */
    bool (*drive)(void *context, simulation *s);
    void *context;
} simulation_source;

typedef struct simulation_options {
    dyn_simulation_options stepping;
    const dyn_compiled *compiled; /* compiled algorithms of the entry, for the steps; NULL: the library's kernels */
    const char *object;           /* digest of the object file of `compiled` */
    /* Digest of all that simulations which step together have in common: the model, these options other than the
     * disturbance, payloads and code. NULL: it steps alone. */
    const char *cohort;
    const double *deviation; /* standard deviations of the disturbance, nv; NULL: none */
    size_t payload_count;
    const dyn_payload *payloads; /* attached for its lifetime */
    stepper_forces forces;       /* forces that act from the start and after a reset */
    stepper_base base;           /* motion of the base from the start and after a reset */
    bool is_paced;
    double rate;         /* simulated seconds a second */
    double publish_rate; /* per simulated second */
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
    pacer_task task; /* must be the first member: the pacer's task is cast to the simulation */
    pthread_mutex_t mutex;
    atomic_uint waiting;     /* requests waiting for the mutex */
    bool has_yielded;        /* whether this tick has yielded to requests */
    pthread_mutex_t control; /* serializes changes of the pace; locked before the mutex */
    atomic_uint references;
    char name[SIMULATION_NAME_SIZE];
    model_entry *entry;
    const simulation_hooks *hooks;
    void *attachment; /* owned by the methods; freed with free_attachment */
    void (*free_attachment)(void *attachment);
    void *owner_context; /* context of the hooks */
    pacer *pacer;
    size_t nq, nv;

    /* Members that do not change. */
    bool is_paced, keep;
    double step_length, rate, publish_rate;
    uint64_t seed, publish_stride;
    double *initial_q, *initial_v;
    stepper_forces initial_forces;
    stepper_base initial_base;
    stepper_base base; /* of input */
    stepper *stepper;
    contact_watch *contact_watch;
    char computed_with[COMPUTED_WITH_SIZE];
    char cohort[DIGEST_SIZE]; /* "": it steps alone */

    /* Owner and lease. */
    uint64_t token; /* 0: no owner */
    char owner[SIMULATION_OWNER_SIZE];
    char belongs_to[SIMULATION_OWNER_SIZE]; /* caller that may claim it; "": an older release created it */
    double lease;                           /* s */
    uint64_t lease_end;                     /* ns */
    bool is_deleted;

    /* State and condition. */
    simulation_condition condition;
    uint64_t step;
    int64_t stamp_ns; /* time of the state, clock_wall */
    double *q, *v, *tau;
    stepper_input input;
    disturbance generator;
    _Atomic double time; /* step * step_length, for readers without the mutex */

    /* Pace. */
    schedule schedule;
    uint64_t last_overrun; /* ns */
    pace_statistics statistics;
    simulation_batch batch;

    void *recording;                 /* NULL: none */
    const simulation_source *source; /* NULL: none */
    bool is_starved;                 /* the source had no point for the last step */
};

/* Creates a paused simulation in its initial state, with one reference that the caller owns. Takes a reference to the
 * entry. Errors: those of the library for q, v and the options, with its places; DYN_RESOURCE_EXHAUSTED. */
dyn_status simulation_create(model_entry *entry, const char *name, const simulation_options *options, pacer *paced_by,
                             const simulation_hooks *hooks, void *context, dyn_error *error, simulation **result);

simulation *simulation_retain(simulation *s);
void simulation_release(simulation *s);

/* Locks the mutex for a request. The stepping thread yields to it. */
void simulation_lock(simulation *s);
void simulation_unlock(simulation *s);

/* Unlocks the mutex for waiting requests, and locks it again. */
void simulation_yield(simulation *s);

/* ---- without the mutex ------------------------------------------------------------------------------------------- */

/* Starts the stepping of a paced simulation. Returns false if the simulation is deleted or diverged, or memory is
 * exhausted. */
bool simulation_resume(simulation *s);

/* Pauses a paced simulation. The stepping has ended when the function returns. */
void simulation_pause(simulation *s);

/* Stops the simulation permanently. */
void simulation_end(simulation *s);

/* ---- with the mutex ---------------------------------------------------------------------------------------------- */

typedef enum simulation_progress {
    SIMULATION_STEPPED,
    SIMULATION_HAS_DIVERGED,
    SIMULATION_IS_STARVED
} simulation_progress;

/* Runs one step of a simulation that is not running. A step that diverges publishes an event and leaves q and v;
 * without input from a source that is awaited, no step is run. */
simulation_progress simulation_step(simulation *s);

/* The parts of a step, for ticks.h. simulation_prepare reads the input; it returns false while the simulation waits for
 * its source. Then simulation_advance computes the step, or simulation_complete continues after stepper_step_together.
 * simulation_gather adds every publish_stride-th state to the batch for watchers, and sends a batch that is full. */
bool simulation_prepare(simulation *s);
simulation_progress simulation_advance(simulation *s);
simulation_progress simulation_complete(simulation *s);
void simulation_gather(simulation *s);

/* Passes the batch of states to the hook `on_states`, unless it is empty, and empties it. */
void simulation_flush(simulation *s);

/* Replaces the parts of the input that are not NULL. */
void simulation_set_input(simulation *s, const stepper_input *input);

/* Sets the state; v NULL: at rest. The caller has checked the values. A diverged simulation is valid again
 * afterwards. */
void simulation_set_state(simulation *s, const double *q, const double *v);

/* Returns to step 0 and the initial state, input and random numbers. A diverged simulation is valid again
 * afterwards. */
void simulation_reset(simulation *s);

/* Attaches a source of input, which must outlive its attachment. */
void simulation_attach(simulation *s, const simulation_source *source);

/* Detaches the source if it is attached. */
void simulation_detach(simulation *s, const simulation_source *source);

/* Renews the lease after a request of the owner. */
void simulation_renew(simulation *s);

void simulation_publish_event(simulation *s, simulation_event event, int joint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
