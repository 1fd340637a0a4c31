/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps a simulation, and applies changes of its state, its input and its pace. */
#include "simulations/simulation.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "observe/clock.h"

enum { MESSAGE_SIZE = 256 };

/* ---- life -------------------------------------------------------------------------------------------------------- */

static double *copy(size_t count, const double *values) {
    double *result = calloc(count ? count : 1, sizeof *result);
    if (result && values) {
        memcpy(result, values, count * sizeof *result);
    }
    return result;
}

static bool allocate(simulation *s, const simulation_options *options) {
    size_t nq = s->nq, nv = s->nv;
    s->initial_q = copy(nq, options->q);
    s->initial_v = copy(nv, options->v);
    s->q = copy(nq, options->q);
    s->v = copy(nv, options->v);
    s->tau = copy(nv, NULL);
    s->input = (stepper_input){.tau = copy(nv, NULL),
                               .q_ref = copy(nq, options->q),
                               .v_ref = copy(nv, NULL),
                               .a_ref = copy(nv, NULL),
                               .forces = calloc(1, sizeof *s->input.forces),
                               .base = &s->base};
    s->batch.q = copy(SIMULATION_BATCH * nq, NULL);
    s->batch.v = copy(SIMULATION_BATCH * nv, NULL);
    s->batch.tau = copy(SIMULATION_BATCH * nv, NULL);
    return s->initial_q && s->initial_v && s->q && s->v && s->tau && s->input.tau && s->input.q_ref && s->input.v_ref &&
           s->input.a_ref && s->input.forces && s->batch.q && s->batch.v && s->batch.tau;
}

dyn_status simulation_create(model_entry *entry, const char *name, const simulation_options *options, pacer *paced_by,
                             const simulation_hooks *hooks, void *context, dyn_error *error, simulation **result) {
    simulation *s = calloc(1, sizeof *s);
    *error = (dyn_error){.status = DYN_RESOURCE_EXHAUSTED, .site.cause = DYN_CAUSE_MEMORY, .message = "out of memory"};
    if (!s) {
        return DYN_RESOURCE_EXHAUSTED;
    }
    atomic_init(&s->references, 1);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_mutex_init(&s->control, NULL);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->entry = model_entry_retain(entry);
    s->hooks = hooks;
    s->owner_context = context;
    s->pacer = paced_by;
    s->nq = (size_t)dyn_model_nq(entry->model);
    s->nv = (size_t)dyn_model_nv(entry->model);
    s->is_paced = options->is_paced;
    s->keep = options->keep;
    s->step_length = options->stepping.step_length;
    s->rate = options->rate;
    s->publish_rate = options->publish_rate;
    s->seed = options->seed;
    s->lease = options->lease;
    s->publish_stride = (uint64_t)fmax(1, round(1 / (options->publish_rate * s->step_length)));
    schedule_init(&s->schedule, s->step_length, s->rate);
    s->condition = SIMULATION_PAUSED;
    s->stamp_ns = clock_wall();
    disturbance_seed(&s->generator, s->seed);
    simulation_renew(s);
    dyn_status status = allocate(s, options) ? DYN_OK : DYN_RESOURCE_EXHAUSTED;
    if (status == DYN_OK) {
        const stepper_setup setup = {.options = &options->stepping,
                                     .compiled = options->compiled,
                                     .deviation = options->deviation,
                                     .payload_count = options->payload_count,
                                     .payloads = options->payloads};
        *s->input.forces = s->initial_forces = options->forces;
        s->base = s->initial_base = options->base;
        status = stepper_create(entry->model, &setup, error, &s->stepper);
    }
    if (status == DYN_OK) {
        s->contact_watch = contact_watch_create(entry->model, s->step_length);
        status = s->contact_watch ? DYN_OK : DYN_RESOURCE_EXHAUSTED;
    }
    if (status != DYN_OK) {
        simulation_release(s);
        return status;
    }
    computed_with(stepper_is_compiled(s->stepper) ? options->object : "", s->computed_with);
    if (options->cohort && stepper_is_joinable(s->stepper)) {
        snprintf(s->cohort, sizeof s->cohort, "%s", options->cohort);
    }
    *result = s;
    return DYN_OK;
}

simulation *simulation_retain(simulation *s) {
    atomic_fetch_add(&s->references, 1);
    return s;
}

void simulation_release(simulation *s) {
    if (!s || atomic_fetch_sub(&s->references, 1) != 1) {
        return;
    }
    double *arrays[] = {s->initial_q,   s->initial_v,   s->q,           s->v,       s->tau,     s->input.tau,
                        s->input.q_ref, s->input.v_ref, s->input.a_ref, s->batch.q, s->batch.v, s->batch.tau};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(s->input.forces);
    if (s->attachment) {
        s->free_attachment(s->attachment);
    }
    stepper_free(s->stepper);
    contact_watch_free(s->contact_watch);
    model_entry_release(s->entry);
    pthread_mutex_destroy(&s->mutex);
    pthread_mutex_destroy(&s->control);
    free(s);
}

void simulation_lock(simulation *s) {
    atomic_fetch_add(&s->waiting, 1);
    pthread_mutex_lock(&s->mutex);
    atomic_fetch_sub(&s->waiting, 1);
}

void simulation_unlock(simulation *s) {
    pthread_mutex_unlock(&s->mutex);
}

/* Sleeps after the unlock, since no other thread would get a mutex that is locked again at once. */
void simulation_yield(simulation *s) {
    static const struct timespec moment = {.tv_nsec = SIMULATION_YIELD_TIME};
    pthread_mutex_unlock(&s->mutex);
    if (atomic_load(&s->waiting) > 0) {
        nanosleep(&moment, NULL);
    }
    pthread_mutex_lock(&s->mutex);
}

void simulation_publish_event(simulation *s, simulation_event event, int joint, const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    s->hooks->on_event(s, event, joint, message);
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

static void publish_limits(simulation *s) {
    for (int j = stepper_limit(s->stepper, s->q); j >= 0; j = stepper_limit(s->stepper, s->q)) {
        const dyn_joint *joint = dyn_model_joint(s->entry->model, j);
        double value = s->q[joint->q_index];
        bool is_upper = value - joint->limits.lower > joint->limits.upper - value;
        simulation_publish_event(s, SIMULATION_LIMIT, j, "%.80s is at %.6g, its %s limit is %.6g", joint->name, value,
                                 is_upper ? "upper" : "lower", is_upper ? joint->limits.upper : joint->limits.lower);
    }
}

static void publish_contacts(simulation *s) {
    static const simulation_event kinds[] = {[CONTACT_TOUCHDOWN] = SIMULATION_TOUCHDOWN,
                                             [CONTACT_LIFT_OFF] = SIMULATION_LIFT_OFF,
                                             [CONTACT_SLIP] = SIMULATION_SLIP};
    const stepper_contacts contacts = stepper_contacts_of(s->stepper);
    contact_event event;
    if (contacts.count == 0) {
        return;
    }
    contact_watch_note(s->contact_watch, s->step, &contacts);
    while (contact_watch_next(s->contact_watch, &event)) {
        s->hooks->on_contact(s, kinds[event.change], &event);
    }
}

/* Reads the input from the simulation's source. Returns false while it waits for the source. */
static bool read_source(simulation *s) {
    bool is_starved = !s->source->drive(s->source->context, s);
    if (is_starved != s->is_starved) {
        s->is_starved = is_starved;
        simulation_publish_event(s, is_starved ? SIMULATION_STREAM_EMPTY : SIMULATION_STREAM_RESUMED, -1,
                                 "stream %s %s", s->source->name,
                                 is_starved ? "has no point for this time" : "has points again");
    }
    return !is_starved || !s->source->is_awaited;
}

bool simulation_prepare(simulation *s) {
    s->input.time = (double)s->step * s->step_length;
    return !s->source || read_source(s);
}

static simulation_progress diverge(simulation *s, const dyn_error *error) {
    s->condition = SIMULATION_DIVERGED;
    simulation_publish_event(s, SIMULATION_DIVERGENCE, -1, "in step %llu: %.180s", (unsigned long long)s->step + 1,
                             error->message);
    return SIMULATION_HAS_DIVERGED;
}

simulation_progress simulation_complete(simulation *s) {
    dyn_error error;
    if (stepper_failure(s->stepper, &error)) {
        return diverge(s, &error);
    }
    s->step++;
    atomic_store_explicit(&s->time, (double)s->step * s->step_length, memory_order_relaxed);
    publish_limits(s);
    publish_contacts(s);
    if (s->recording) {
        s->hooks->on_step(s);
    }
    return SIMULATION_STEPPED;
}

simulation_progress simulation_advance(simulation *s) {
    dyn_error error;
    bool is_good = stepper_step(s->stepper, &s->input, &s->generator, s->q, s->v, s->tau, &error);
    return is_good ? simulation_complete(s) : diverge(s, &error);
}

void simulation_gather(simulation *s) {
    simulation_batch *b = &s->batch;
    if (s->step % s->publish_stride != 0) {
        return;
    }
    memcpy(b->q + b->count * s->nq, s->q, s->nq * sizeof *s->q);
    memcpy(b->v + b->count * s->nv, s->v, s->nv * sizeof *s->v);
    memcpy(b->tau + b->count * s->nv, s->tau, s->nv * sizeof *s->tau);
    b->step[b->count++] = s->step;
    if (b->count == SIMULATION_BATCH) {
        simulation_flush(s);
    }
}

void simulation_flush(simulation *s) {
    if (s->batch.count > 0) {
        s->hooks->on_states(s, &s->batch);
        s->batch.count = 0;
    }
}

simulation_progress simulation_step(simulation *s) {
    uint64_t start = clock_now();
    simulation_progress progress = simulation_prepare(s) ? simulation_advance(s) : SIMULATION_IS_STARVED;
    if (progress == SIMULATION_STEPPED && s->hooks->is_watched(s)) {
        simulation_gather(s);
    }
    s->stamp_ns = clock_wall();
    s->statistics.cost += clock_now() - start;
    s->statistics.steps += progress == SIMULATION_STEPPED;
    return progress;
}

/* ---- pace -------------------------------------------------------------------------------------------------------- */

bool simulation_resume(simulation *s) {
    pthread_mutex_lock(&s->control);
    simulation_lock(s);
    bool is_running = s->condition == SIMULATION_RUNNING,
         may_run = s->condition != SIMULATION_DIVERGED && !s->is_deleted;
    if (may_run && !is_running) {
        s->condition = SIMULATION_RUNNING;
        schedule_begin(&s->schedule, clock_now(), s->step);
        simulation_publish_event(s, SIMULATION_RESUME, -1, "runs from step %llu on", (unsigned long long)s->step);
    }
    uint64_t due = schedule_due(&s->schedule);
    simulation_unlock(s);
    bool is_good = may_run && (is_running || pacer_add(s->pacer, &s->task, due));
    if (may_run && !is_good) {
        simulation_lock(s);
        s->condition = SIMULATION_PAUSED;
        simulation_unlock(s);
    }
    pthread_mutex_unlock(&s->control);
    return is_good;
}

static void stop_running(simulation *s) {
    pacer_remove(s->pacer, &s->task);
    simulation_lock(s);
    if (s->condition == SIMULATION_RUNNING) {
        s->condition = SIMULATION_PAUSED;
        simulation_publish_event(s, SIMULATION_PAUSE, -1, "stands after step %llu", (unsigned long long)s->step);
    }
    simulation_unlock(s);
}

void simulation_pause(simulation *s) {
    pthread_mutex_lock(&s->control);
    stop_running(s);
    pthread_mutex_unlock(&s->control);
}

void simulation_end(simulation *s) {
    pthread_mutex_lock(&s->control);
    simulation_lock(s);
    s->is_deleted = true;
    simulation_unlock(s);
    stop_running(s);
    pthread_mutex_unlock(&s->control);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static void replace(double *to, const double *from, size_t count) {
    if (from) {
        memcpy(to, from, count * sizeof *to);
    }
}

void simulation_set_input(simulation *s, const stepper_input *input) {
    replace(s->input.tau, input->tau, s->nv);
    replace(s->input.q_ref, input->q_ref, s->nq);
    replace(s->input.v_ref, input->v_ref, s->nv);
    replace(s->input.a_ref, input->a_ref, s->nv);
    if (input->forces) {
        *s->input.forces = *input->forces;
    }
    if (input->base) {
        s->base = *input->base;
    }
    if (s->recording) {
        s->hooks->on_input(s, input->forces != NULL);
    }
}

/* Completes a change of the state other than by a step: clears the forces, ends a divergence, and informs the
 * recording. */
static void note_jump(simulation *s) {
    memset(s->tau, 0, s->nv * sizeof *s->tau);
    stepper_release_bristles(s->stepper);
    contact_watch_clear(s->contact_watch);
    s->stamp_ns = clock_wall();
    if (s->condition == SIMULATION_DIVERGED) {
        s->condition = SIMULATION_PAUSED;
    }
    if (s->recording) {
        s->hooks->on_jump(s);
    }
}

void simulation_set_state(simulation *s, const double *q, const double *v) {
    replace(s->q, q, s->nq);
    memset(s->v, 0, s->nv * sizeof *s->v);
    replace(s->v, v, s->nv);
    note_jump(s);
    simulation_publish_event(s, SIMULATION_STATE_SET, -1, "state set after step %llu", (unsigned long long)s->step);
}

void simulation_reset(simulation *s) {
    uint64_t step = s->step;
    simulation_flush(s);
    replace(s->q, s->initial_q, s->nq);
    replace(s->v, s->initial_v, s->nv);
    memset(s->input.tau, 0, s->nv * sizeof *s->input.tau);
    replace(s->input.q_ref, s->initial_q, s->nq);
    memset(s->input.v_ref, 0, s->nv * sizeof *s->input.v_ref);
    memset(s->input.a_ref, 0, s->nv * sizeof *s->input.a_ref);
    *s->input.forces = s->initial_forces;
    bool is_set = s->base.is_set; /* remains, so that a snapshot states that the base rests again */
    s->base = s->initial_base;
    s->base.is_set = is_set;
    disturbance_seed(&s->generator, s->seed);
    s->step = 0;
    atomic_store(&s->time, 0);
    schedule_begin(&s->schedule, clock_now(), s->step);
    note_jump(s);
    simulation_publish_event(s, SIMULATION_RESET, -1, "back to the start from step %llu", (unsigned long long)step);
}

void simulation_attach(simulation *s, const simulation_source *source) {
    s->source = source;
    s->is_starved = false;
}

void simulation_detach(simulation *s, const simulation_source *source) {
    if (s->source == source) {
        simulation_attach(s, NULL);
    }
}

void simulation_renew(simulation *s) {
    s->lease_end = clock_now() + clock_duration(s->lease);
}
