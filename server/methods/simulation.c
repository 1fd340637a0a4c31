/* SPDX-License-Identifier: BSD-2-Clause */
/* Methods of simulations: create, claim, step, change, query, watch and record them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "methods/live.h"
#include "methods/live_messages.h"
#include "methods/methods.h"
#include "methods/recorded_model.h"
#include "methods/simulation_plan.h"
#include "methods/stepping.h"
#include "methods/text.h"
#include "observe/clock.h"

/* Time of computation between two checks of the deadline, ns. */
static const uint64_t CHECK_INTERVAL = NANOSECONDS / 1000;

/* Assumed cost of a step of a simulation that has not been measured, ns: of the step itself, and of each coordinate in
 * each evaluation of the dynamics. */
static const double STEP_COST = 3e3, EVALUATION_COST = 300;

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* Returns a reference to the simulation of that name, and names its model in the reply. Returns NULL, and the call has
 * ended, if there is none. */
static simulation *find(call *c, const char *name) {
    live *l = c->service->live;
    simulation *s = name_table_find(&l->simulations, name);
    char quoted[TEXT_QUOTE_SIZE], hint[TEXT_HINT_SIZE];
    void **all;
    size_t count;
    if (s) {
        call_set_model(c, s->entry);
        return s;
    }
    text_guess guess = text_guess_start(name);
    call_blame(c, "simulation");
    if (!name_table_list(&l->simulations, &all, &count)) {
        call_fail_memory(c);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        text_guess_consider(&guess, ((simulation *)all[i])->name);
    }
    call_fail(c, name[0] ? REASON_SIMULATION_NOT_FOUND : REASON_MISSING_VALUE, "there is no simulation %s; %s",
              text_quote(name, quoted), text_guess_hint(&guess, "ListSimulations lists them", hint));
    name_table_release_list(&l->simulations, all, count);
    return NULL;
}

/* Returns true, and renews the lease, if the token commands the simulation. Otherwise ends the call and returns false.
 * The simulation is locked. */
static bool check_token(call *c, simulation *s, uint64_t token) {
    uint64_t now = clock_now();
    if (s->token != 0 && token == s->token) {
        simulation_renew(s);
        return true;
    }
    call_blame(c, "token");
    if (s->token == 0) {
        call_fail(c, REASON_NOT_OWNED, "simulation \"%s\" has no owner; claim it first (ClaimSimulation)", s->name);
    } else {
        call_fail(
            c, REASON_WRONG_TOKEN,
            "simulation \"%s\" is commanded by %s, whose lease goes on for %.1f s; pass its token (the request has %s)",
            s->name, s->owner, s->lease_end > now ? (double)(s->lease_end - now) / 1e9 : 0.0,
            token ? "another one" : "none");
    }
    return false;
}

/* Returns a reference to a simulation that the token commands, locked. Otherwise returns NULL, and the call has
 * ended. */
static simulation *command(call *c, const char *name, uint64_t token) {
    simulation *s = find(c, name);
    if (!s) {
        return NULL;
    }
    simulation_lock(s);
    if (check_token(c, s, token)) {
        return s;
    }
    simulation_unlock(s);
    simulation_release(s);
    return NULL;
}

static void let_go(simulation *s) {
    simulation_unlock(s);
    simulation_release(s);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void change_owner(call *c, simulation *s) {
    s->token = live_token();
    snprintf(s->owner, sizeof s->owner, "%s", c->transport->peer);
    snprintf(s->belongs_to, sizeof s->belongs_to, "%s", c->caller.name);
    simulation_renew(s);
}

static void reply_created(call *c, simulation *s, uint64_t record) {
    Dynamics__V1__CreateSimulationReply *reply = create_create_simulation_reply(c);
    simulation_lock(s);
    Dynamics__V1__SimulationSummary *summary = message_summary(c, s);
    Dynamics__V1__SimulationState *state = message_state_copy(c, s);
    uint64_t token = s->token;
    simulation_unlock(s);
    if (reply && summary && state) {
        reply->simulation = summary;
        reply->state = state;
        reply->token = token;
        reply->durable = state_journal_sync(&c->service->live->journal, record);
    }
}

void method_create_simulation(call *c) {
    const Dynamics__V1__CreateSimulationRequest *r = c->request->create_simulation;
    live *l = c->service->live;
    refusal why = {0};
    model_entry *entry =
        query_find_model(c, r->query, QUERY_ALL | QUERY_CONSTRAINTS | QUERY_ADDED_CONSTRAINTS | QUERY_BASE_MOTION);
    if (!entry) {
        return;
    }
    simulation *s = plan_simulation(l, r, entry, &why);
    model_entry_release(entry);
    if (!s) {
        call_refuse(c, &why);
        return;
    }
    call_set_object(c, s->name);
    change_owner(c, s);
    bool runs = s->is_paced && !r->is_paused;
    uint64_t record;
    if (!live_add_simulation(l, s, call_share(c, atomic_load(&l->options.limits->user_simulations)), runs, &record,
                             &why)) {
        call_refuse(c, &why);
    } else if (runs && !simulation_resume(s)) {
        call_fail_memory(c);
    } else {
        reply_created(c, s, record);
    }
    if (call_has_ended(c)) {
        live_end_simulation(l, s, SIMULATION_DELETED, "it could not be created");
    }
    simulation_release(s);
}

void method_delete_simulation(call *c) {
    const Dynamics__V1__DeleteSimulationRequest *r = c->request->delete_simulation;
    Dynamics__V1__DeleteSimulationReply *reply = create_delete_simulation_reply(c);
    simulation *s = reply ? command(c, r->simulation, r->token) : NULL;
    if (!s) {
        return;
    }
    reply->simulation = message_summary(c, s);
    simulation_unlock(s);
    if (reply->simulation) {
        live *l = c->service->live;
        uint64_t record = live_end_simulation(l, s, SIMULATION_DELETED, "deleted by its owner");
        reply->durable = state_journal_sync(&l->journal, record);
    }
    simulation_release(s);
}

/* Returns whether the caller may claim the simulation, which is locked; otherwise ends the call. */
static bool may_claim(call *c, const simulation *s, bool take_over) {
    char object[SIMULATION_NAME_SIZE + sizeof "simulation \"\""];
    call_blame(c, "simulation");
    if (s->token != 0 && !take_over) {
        call_fail(c, REASON_OWNED, "simulation \"%s\" is commanded by %s; it can be claimed when the lease has run out",
                  s->name, s->owner);
        return false;
    }
    snprintf(object, sizeof object, "simulation \"%s\"", s->name);
    bool is_free = s->belongs_to[0] == '\0' && !take_over;
    return is_free || call_may_change(c, object, s->belongs_to);
}

void method_claim_simulation(call *c) {
    const Dynamics__V1__ClaimSimulationRequest *r = c->request->claim_simulation;
    Dynamics__V1__ClaimSimulationReply *reply = create_claim_simulation_reply(c);
    if (!(r->lease == 0 || (r->lease >= 0.1 && r->lease <= 86400))) {
        call_blame(c, "lease");
        call_fail(c, REASON_INVALID_VALUE, "lease is %g; pass 0.1 to 86400, or 0 for what it has", r->lease);
        return;
    }
    live *l = c->service->live;
    uint64_t record = 0;
    simulation *s = reply ? find(c, r->simulation) : NULL;
    if (!s) {
        return;
    }
    pthread_mutex_lock(&l->journal.changes);
    simulation_lock(s);
    if (may_claim(c, s, r->take_over)) {
        s->lease = r->lease > 0 ? r->lease : s->lease;
        session_of(s)->request->lease = s->lease;
        change_owner(c, s);
        record = state_journal_owned(&l->journal, s);
        simulation_publish_event(s, SIMULATION_CLAIMED, -1, "commanded by %s from now on", s->owner);
        reply->token = s->token;
        reply->state = message_state_copy(c, s);
    }
    simulation_unlock(s);
    pthread_mutex_unlock(&l->journal.changes);
    simulation_release(s);
    if (!call_has_ended(c)) {
        reply->durable = state_journal_sync(&l->journal, record);
    }
}

/* ---- stepping ---------------------------------------------------------------------------------------------------- */

/* Returns whether a request may step the simulation: it is paused and has not diverged. Otherwise ends the call. The
 * simulation is locked. */
static bool check_steppable(call *c, const simulation *s) {
    call_blame(c, "simulation");
    if (s->condition == SIMULATION_RUNNING) {
        call_fail(c, REASON_RUNNING, "simulation \"%s\" runs with the clock; pause it first (PauseSimulation)",
                  s->name);
    } else if (s->condition == SIMULATION_DIVERGED) {
        call_fail(c, REASON_DIVERGED,
                  "simulation \"%s\" has diverged; reset it or set its state (ResetSimulation, SetSimulationState)",
                  s->name);
    }
    return !call_has_ended(c);
}

/* Returns the reason for which the running steps must end, or UNSPECIFIED if they may continue. */
static Dynamics__V1__StepsEnd check_time(call *c, double fraction) {
    if (call_may_proceed(c, fraction)) {
        return DYNAMICS__V1__STEPS_END__STEPS_END_UNSPECIFIED;
    }
    return atomic_load(&c->running->is_cancelled) ? DYNAMICS__V1__STEPS_END__STEPS_END_CANCELLED
                                                  : DYNAMICS__V1__STEPS_END__STEPS_END_DEADLINE;
}

static Dynamics__V1__StepsEnd end_of(simulation_progress progress) {
    switch (progress) {
    case SIMULATION_STEPPED:
        return DYNAMICS__V1__STEPS_END__STEPS_END_STEPS;
    case SIMULATION_HAS_DIVERGED:
        return DYNAMICS__V1__STEPS_END__STEPS_END_DIVERGED;
    case SIMULATION_IS_STARVED:
        return DYNAMICS__V1__STEPS_END__STEPS_END_INPUT_EMPTY;
    }
    return DYNAMICS__V1__STEPS_END__STEPS_END_UNSPECIFIED;
}

/* Runs at least one step, and more until they have taken CHECK_INTERVAL or `most` steps are done. Adds the completed
 * steps to `done`. Returns the outcome of the last one. */
static simulation_progress do_slice(simulation *s, uint64_t most, uint64_t *done) {
    const uint64_t end = s->statistics.cost + CHECK_INTERVAL;
    simulation_progress progress;
    uint64_t count = 0;
    do {
        progress = simulation_step(s);
        count += progress == SIMULATION_STEPPED;
    } while (progress == SIMULATION_STEPPED && count < most && s->statistics.cost < end);
    *done += count;
    return progress;
}

/* Runs the steps and counts them in the reply. Unlocks the simulation between slices, so that other threads can use it.
 * Ends the call if the simulation was deleted meanwhile. */
static void do_steps(call *c, simulation *s, uint64_t steps, Dynamics__V1__StepSimulationReply *reply) {
    simulation_progress progress = SIMULATION_STEPPED;
    uint64_t done = 0;
    while (done < steps && progress == SIMULATION_STEPPED && !reply->ended_by) {
        reply->ended_by = check_time(c, (double)done / (double)steps);
        if (!reply->ended_by) {
            progress = do_slice(s, steps - done, &done);
        }
        simulation_flush(s);
        if (done < steps && !reply->ended_by) {
            simulation_yield(s);
            simulation_unlock(s);
            call_yield(c);
            simulation_lock(s);
        }
        if (s->is_deleted) {
            call_fail(c, REASON_DELETED_MEANWHILE, "simulation \"%s\" was deleted meanwhile", s->name);
            return;
        }
    }
    if (atomic_load(&c->is_spent)) {
        call_fail_ended(c);
    }
    reply->steps_done = done;
    reply->ended_by = reply->ended_by ? reply->ended_by : end_of(progress);
}

/* Executes a step request; the simulation is locked. */
static void step(call *c, simulation *s, const Dynamics__V1__StepSimulationRequest *r,
                 Dynamics__V1__StepSimulationReply *reply) {
    refusal why = {0};
    if (!check_steppable(c, s)) {
        return;
    }
    if (r->input && !plan_input(s, "input", r->input, &why)) {
        call_refuse(c, &why);
        return;
    }
    do_steps(c, s, r->steps ? r->steps : 1, reply);
}

/* Returns the estimated cost of `steps` steps, ns. */
static double cost_of(const simulation *s, uint64_t steps) {
    const pace_statistics *k = &s->statistics;
    double evaluation = EVALUATION_COST * (double)s->nv + stepping_constraint_cost(s->entry->model);
    double assumed = STEP_COST + evaluation * stepping_evaluations(stepper_options(s->stepper));
    return (double)steps * (k->steps > 0 ? (double)k->cost / (double)k->steps : assumed);
}

void method_step_simulation(call *c) {
    const Dynamics__V1__StepSimulationRequest *r = c->request->step_simulation;
    Dynamics__V1__StepSimulationReply *reply = create_step_simulation_reply(c);
    simulation *s = reply ? command(c, r->simulation, r->token) : NULL;
    if (!s) {
        return;
    }
    if (!call_defer(c, cost_of(s, r->steps ? r->steps : 1))) {
        step(c, s, r, reply);
    }
    if (!call_has_ended(c)) {
        reply->state = message_state_copy(c, s);
        reply->condition = message_condition(s->condition);
    }
    let_go(s);
}

void method_set_simulation_input(call *c) {
    static const Dynamics__V1__SimulationInput nothing = DYNAMICS__V1__SIMULATION_INPUT__INIT;
    const Dynamics__V1__SetSimulationInputRequest *r = c->request->set_simulation_input;
    Dynamics__V1__SetSimulationInputReply *reply = create_set_simulation_input_reply(c);
    refusal why = {0};
    simulation *s = reply ? command(c, r->simulation, r->token) : NULL;
    if (!s) {
        return;
    }
    if (!plan_input(s, "input", r->input ? r->input : &nothing, &why)) {
        call_refuse(c, &why);
    } else {
        reply->step = s->step + 1;
    }
    let_go(s);
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

/* Writes the external forces that act on the simulation into the reply. */
static void show_forces(call *c, const simulation *s, Dynamics__V1__GetSimulationStateReply *reply) {
    message_forces *forces = s->input.forces->count > 0 ? call_allocate(c, 1, sizeof *forces) : NULL;
    if (!forces) {
        return;
    }
    message_external_forces(s, forces);
    reply->external_forces = forces->list;
    reply->n_external_forces = s->input.forces->count;
    for (size_t i = 0; i < reply->n_external_forces; i++) {
        forces->list[i]->link = call_string(c, forces->list[i]->link);
    }
}

/* Writes the motion of the base into the reply. */
static void show_base(call *c, const simulation *s, Dynamics__V1__GetSimulationStateReply *reply) {
    message_base *base = s->base.is_set ? call_allocate(c, 1, sizeof *base) : NULL;
    reply->base_motion = base ? message_base_motion(s, base) : NULL;
}

void method_get_simulation_state(call *c) {
    const Dynamics__V1__GetSimulationStateRequest *r = c->request->get_simulation_state;
    Dynamics__V1__GetSimulationStateReply *reply = create_get_simulation_state_reply(c);
    simulation *s = reply ? find(c, r->simulation) : NULL;
    if (!s) {
        return;
    }
    simulation_lock(s);
    if (r->token == 0 || check_token(c, s, r->token)) {
        reply->state = message_state_copy(c, s);
        reply->simulation = message_summary(c, s);
        show_forces(c, s, reply);
        show_base(c, s, reply);
    }
    let_go(s);
}

/* Sets q, and v or zero if the request has none. Reads both before it changes the simulation. On failure fills `why`
 * and returns false. */
static bool set_state(simulation *s, const Dynamics__V1__SetSimulationStateRequest *r, call *c, refusal *why) {
    const robot *r_order = &session_of(s)->robot;
    double *q = call_allocate(c, s->nq + s->nv, sizeof *q);
    if (!q) {
        return refuse_memory(why);
    }
    if (!robot_read_q(r_order, "q", r->n_q, r->q, q, why) ||
        (r->n_v > 0 && !robot_read_v(r_order, "v", r->n_v, r->v, q + s->nq, why))) {
        return false;
    }
    simulation_set_state(s, q, q + s->nq);
    return true;
}

void method_set_simulation_state(call *c) {
    const Dynamics__V1__SetSimulationStateRequest *r = c->request->set_simulation_state;
    Dynamics__V1__SetSimulationStateReply *reply = create_set_simulation_state_reply(c);
    refusal why = {0};
    simulation *s = reply ? command(c, r->simulation, r->token) : NULL;
    if (!s) {
        return;
    }
    if (!set_state(s, r, c, &why)) {
        call_refuse(c, &why);
    } else {
        reply->state = message_state_copy(c, s);
    }
    let_go(s);
}

/* Returns a reference to a simulation that the clock paces and that the token commands; not locked. Returns NULL, and
 * the call has ended, on failure. */
static simulation *command_clock(call *c, const char *name, uint64_t token) {
    simulation *s = command(c, name, token);
    if (!s) {
        return NULL;
    }
    simulation_unlock(s);
    if (s->is_paced) {
        return s;
    }
    call_blame(c, "simulation");
    call_fail(c, REASON_LOCKSTEP, "simulation \"%s\" is in lockstep: its time passes by StepSimulation only", s->name);
    simulation_release(s);
    return NULL;
}

/* Copies the state of a simulation to the call's memory, and releases the simulation. Returns NULL when out of
 * memory. */
static Dynamics__V1__SimulationState *copy_state(call *c, simulation *s) {
    simulation_lock(s);
    Dynamics__V1__SimulationState *state = message_state_copy(c, s);
    let_go(s);
    return state;
}

void method_pause_simulation(call *c) {
    const Dynamics__V1__PauseSimulationRequest *r = c->request->pause_simulation;
    Dynamics__V1__PauseSimulationReply *reply = create_pause_simulation_reply(c);
    simulation *s = reply ? command_clock(c, r->simulation, r->token) : NULL;
    if (s) {
        simulation_pause(s);
        reply->state = copy_state(c, s);
    }
}

void method_resume_simulation(call *c) {
    const Dynamics__V1__ResumeSimulationRequest *r = c->request->resume_simulation;
    Dynamics__V1__ResumeSimulationReply *reply = create_resume_simulation_reply(c);
    simulation *s = reply ? command_clock(c, r->simulation, r->token) : NULL;
    if (!s) {
        return;
    }
    if (!simulation_resume(s)) {
        simulation_lock(s);
        check_steppable(c, s);
        let_go(s);
        if (!call_has_ended(c)) {
            call_fail_memory(c);
        }
        return;
    }
    reply->state = copy_state(c, s);
}

void method_reset_simulation(call *c) {
    const Dynamics__V1__ResetSimulationRequest *r = c->request->reset_simulation;
    Dynamics__V1__ResetSimulationReply *reply = create_reset_simulation_reply(c);
    simulation *s = reply ? command(c, r->simulation, r->token) : NULL;
    if (s) {
        simulation_reset(s);
        reply->state = message_state_copy(c, s);
        let_go(s);
    }
}

/* ---- asking and watching ----------------------------------------------------------------------------------------- */

void method_list_simulations(call *c) {
    name_table *table = &c->service->live->simulations;
    Dynamics__V1__ListSimulationsReply *reply = create_list_simulations_reply(c);
    void **all;
    size_t count;
    if (!reply || !name_table_list(table, &all, &count)) {
        call_fail_memory(c);
        return;
    }
    reply->simulations = call_allocate(c, count, sizeof *reply->simulations);
    for (size_t i = 0; reply->simulations && i < count && !call_has_ended(c); i++) {
        simulation_lock(all[i]);
        reply->simulations[i] = message_summary(c, all[i]);
        simulation_unlock(all[i]);
        reply->n_simulations = i + 1;
    }
    name_table_release_list(table, all, count);
}

/* Opens the endpoint of topics, which `mutex` guards, and describes it in the reply. Returns false, and ends the call,
 * if that fails. */
static bool watch(call *c, watched_topics *topics, pthread_mutex_t *mutex, Dynamics__V1__WatchSimulationReply *reply) {
    refusal why = {0};
    if (!live_watch(c->service->live, topics, mutex, &c->memory, &reply->addresses, &reply->n_addresses, &why)) {
        call_refuse(c, &why);
        return false;
    }
    reply->state_topic = call_string(c, topics->data);
    reply->events_topic = call_string(c, topics->events);
    reply->linger = TOPIC_LINGER;
    pthread_mutex_lock(mutex);
    topics_expect(topics, c->transport);
    reply->watchers = topics->endpoint ? transport_topic_subscribers(topics->endpoint) : 0;
    pthread_mutex_unlock(mutex);
    return true;
}

static void watch_group(call *c, const char *names, Dynamics__V1__WatchSimulationReply *reply) {
    simulation_groups *groups = &c->service->live->groups;
    char beginning[SIMULATION_NAME_SIZE];
    refusal why = {0};
    if (!live_group(names, "simulation", beginning, &why)) {
        call_refuse(c, &why);
        return;
    }
    simulation_group *group = groups_hold(groups, beginning);
    if (!group) {
        call_fail_memory(c);
        return;
    }
    watch(c, &group->topics, &groups->mutex, reply);
    groups_release(groups, group);
}

void method_watch_simulation(call *c) {
    const char *name = c->request->watch_simulation->simulation;
    Dynamics__V1__WatchSimulationReply *reply = create_watch_simulation_reply(c);
    const size_t length = strlen(name);
    if (reply && length > 0 && name[length - 1] == '*') {
        watch_group(c, name, reply);
        return;
    }
    simulation *s = reply ? find(c, name) : NULL;
    if (s && watch(c, &session_of(s)->topics, &s->mutex, reply)) {
        simulation_lock(s);
        reply->simulation = message_summary(c, s);
        simulation_unlock(s);
    }
    simulation_release(s);
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

/* Context of write_header: the simulation, and the description of its model; NULL: none. */
typedef struct recording_start {
    simulation *simulation;
    Dynamics__V1__ModelDescription *description;
} recording_start;

/* Appends the header to a new recording, and sets it as the simulation's recording in one step. Returns false if the
 * simulation has another recording or was deleted, or there is no room. */
static bool write_header(recording *r, void *context) {
    const recording_start *start = context;
    simulation *s = start->simulation;
    Dynamics__V1__RecordingHeader header = DYNAMICS__V1__RECORDING_HEADER__INIT;
    static char format[] = "dynamics.v1.simulation", version[] = DYNAMICSD_VERSION;
    message_snapshot_parts parts;
    simulation_lock(s);
    header.format = format;
    header.daemon = version;
    header.stamp_ns = clock_wall();
    header.start = message_snapshot(s, &parts);
    header.description = start->description;
    header.belongs_to = s->belongs_to;
    /* Leaves out the token, which commands the simulation: others may read the file. */
    parts.snapshot.token = 0;
    bool is_good = !s->recording && !s->is_deleted && header.start && recording_append(r, &header.base);
    if (is_good) {
        s->recording = r;
        session_of(s)->recording_error = (refusal){0};
    }
    simulation_unlock(s);
    message_snapshot_free(&parts);
    return is_good;
}

static void start_recording(call *c, simulation *s, const char *name, Dynamics__V1__RecordSimulationReply *reply) {
    live *l = c->service->live;
    char *path = call_allocate(c, PATH_MAX, 1); /* before the recording: a call without memory must not leave one */
    recorded_model model;
    refusal why = {0};
    if (!path) {
        return;
    }
    char user[SIMULATION_OWNER_SIZE];
    simulation_lock(s);
    bool is_under_way = s->recording != NULL;
    snprintf(user, sizeof user, "%s", s->belongs_to);
    simulation_unlock(s);
    if (is_under_way) {
        call_blame(c, "recording");
        call_fail(c, REASON_RECORDING, "a recording of this simulation is under way; end it first (StopRecording)");
        return;
    }
    recorded_model_describe(&model, &l->options, s->entry->model,
                            atomic_load(&c->service->limits->recording_bytes) / 2);
    recording_start start = {.simulation = s, .description = model.description};
    const recording_beginning beginning = {
        .place = &s->recording,
        .mutex = &s->mutex,
        .user = user,
        .is_free = call_share(c, 0) > 0,
        .write_header = write_header,
        .context = &start,
    };
    if (live_begin_recording(l, name, &beginning, path, &why)) {
        reply->file = path;
    } else {
        call_refuse(c, &why);
    }
    recorded_model_free(&model);
}

void method_record_simulation(call *c) {
    const Dynamics__V1__RecordSimulationRequest *r = c->request->record_simulation;
    Dynamics__V1__RecordSimulationReply *reply = create_record_simulation_reply(c);
    simulation *s = reply ? command(c, r->simulation, r->token) : NULL;
    if (!s) {
        return;
    }
    simulation_unlock(s);
    start_recording(c, s, r->recording, reply);
    simulation_release(s);
}

/* Ends the call with the error that ended the last recording, or because no recording is under way. */
static void refuse_end(call *c, simulation *s) {
    simulation_lock(s);
    refusal why = session_of(s)->recording_error;
    simulation_unlock(s);
    if (why.reason == REASON_NONE) {
        refuse(&why, REASON_NOT_RECORDING, "",
               "no recording of simulation \"%s\" is under way; begin one first (RecordSimulation)", s->name);
    }
    call_blame(c, "simulation");
    call_refuse(c, &why);
}

static void end_recording(call *c, simulation *s, Dynamics__V1__StopRecordingReply *reply) {
    ended_recording ended;
    if (!live_end_recording(c->service->live, &s->recording, &s->mutex, &ended)) {
        refuse_end(c, s);
        return;
    }
    simulation_lock(s);
    session_of(s)->recording_error = ended.error;
    simulation_unlock(s);
    if (ended.error.reason != REASON_NONE) {
        refuse_end(c, s);
        return;
    }
    reply->file = call_string(c, ended.file);
    reply->entries = ended.entries;
    reply->bytes = ended.bytes;
}

void method_stop_recording(call *c) {
    const Dynamics__V1__StopRecordingRequest *r = c->request->stop_recording;
    Dynamics__V1__StopRecordingReply *reply = create_stop_recording_reply(c);
    simulation *s = reply ? command(c, r->simulation, r->token) : NULL;
    if (!s) {
        return;
    }
    simulation_unlock(s);
    end_recording(c, s, reply);
    simulation_release(s);
}
