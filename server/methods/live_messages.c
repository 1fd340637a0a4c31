/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages about simulations and streams: fills the protocol's messages from their state. */
#include "methods/live_messages.h"

#include <stdlib.h>
#include <string.h>

#include "observe/clock.h"

void message_state(const simulation *s, double *rows, Dynamics__V1__SimulationState *state) {
    const robot *r = &session_of(s)->robot;
    dynamics__v1__simulation_state__init(state);
    state->step = s->step;
    state->time = (double)s->step * s->step_length;
    state->stamp_ns = s->stamp_ns;
    state->n_q = s->nq;
    state->q = rows;
    state->n_v = state->n_tau = s->nv;
    state->v = rows + s->nq;
    state->tau = rows + s->nq + s->nv;
    int constraint = stepper_closure(s->stepper, (double)s->step * s->step_length, s->q, &state->closure_error);
    if (constraint >= 0) {
        state->constraint = (char *)dyn_model_constraint(s->entry->model, constraint)->name;
    }
    stepper_contacts contacts = stepper_contacts_of(s->stepper);
    state->n_contact_forces = 3 * contacts.count;
    state->n_contact_gaps = state->n_contact_slips = contacts.count;
    state->contact_forces = contacts.forces;
    state->contact_gaps = contacts.gaps;
    state->contact_slips = contacts.slips;
    state->contact_residual = contacts.residual;
    robot_q_to_caller(r, 1, s->q, state->q);
    robot_v_to_caller(r, 1, s->v, state->v);
    robot_v_to_caller(r, 1, s->tau, state->tau);
}

void message_external_forces(const simulation *s, message_forces *forces) {
    const stepper_forces *acting = s->input.forces;
    static const Dynamics__V1__ReferenceFrame wire[] = {
        [DYN_REFERENCE_FRAME_LOCAL] = DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL,
        [DYN_REFERENCE_FRAME_WORLD] = DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD,
        [DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED] = DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
    };
    static char world[] = "world";
    for (size_t i = 0; i < acting->count; i++) {
        Dynamics__V1__ExternalForce *force = forces->list[i] = &forces->force[i];
        int frame = acting->force[i].frame;
        dynamics__v1__external_force__init(force);
        force->link = frame == DYN_WORLD_FRAME ? world : (char *)dyn_model_link(s->entry->model, frame)->name;
        force->reference_frame = wire[acting->force[i].reference_frame];
        memcpy(forces->values[i], acting->force[i].wrench, sizeof forces->values[i]);
        force->n_torque = force->n_force = 3;
        force->torque = forces->values[i];
        force->force = forces->values[i] + 3;
    }
}

Dynamics__V1__BaseMotion *message_base_motion(const simulation *s, message_base *base) {
    if (!s->base.is_set) {
        return NULL;
    }
    Dynamics__V1__BaseMotion *m = &base->motion;
    dynamics__v1__base_motion__init(m);
    memcpy(base->twist, s->base.twist, sizeof base->twist);
    memcpy(base->acceleration, s->base.acceleration, sizeof base->acceleration);
    m->n_angular_velocity = m->n_linear_velocity = m->n_angular_acceleration = m->n_linear_acceleration = 3;
    m->angular_velocity = base->twist, m->linear_velocity = base->twist + 3;
    m->angular_acceleration = base->acceleration, m->linear_acceleration = base->acceleration + 3;
    return m;
}

void message_input(const simulation *s, double *rows, message_forces *forces, message_base *base,
                   Dynamics__V1__SimulationInput *input) {
    const robot *r = &session_of(s)->robot;
    dynamics__v1__simulation_input__init(input);
    input->n_q_ref = s->nq;
    input->n_tau = input->n_v_ref = input->n_a_ref = s->nv;
    input->q_ref = rows;
    input->tau = rows + s->nq;
    input->v_ref = input->tau + s->nv;
    input->a_ref = input->v_ref + s->nv;
    robot_q_to_caller(r, 1, s->input.q_ref, input->q_ref);
    robot_v_to_caller(r, 1, s->input.tau, input->tau);
    robot_v_to_caller(r, 1, s->input.v_ref, input->v_ref);
    robot_v_to_caller(r, 1, s->input.a_ref, input->a_ref);
    input->base_motion = message_base_motion(s, base);
    if (forces) {
        message_external_forces(s, forces);
        input->n_external_forces = s->input.forces->count;
        input->external_forces = forces->list;
        input->clear_external_forces = true;
    }
}

Dynamics__V1__SimulationCondition message_condition(simulation_condition condition) {
    switch (condition) {
    case SIMULATION_RUNNING:
        return DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_RUNNING;
    case SIMULATION_PAUSED:
        return DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_PAUSED;
    case SIMULATION_DIVERGED:
        return DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_DIVERGED;
    }
    return DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_UNSPECIFIED;
}

Dynamics__V1__SimulationSnapshot *message_snapshot(const simulation *s, message_snapshot_parts *p) {
    size_t state_values = s->nq + 2 * s->nv, input_values = s->nq + 3 * s->nv;
    dynamics__v1__simulation_snapshot__init(&p->snapshot);
    p->rows = malloc((state_values + input_values) * sizeof *p->rows);
    if (!p->rows) {
        return NULL;
    }
    message_state(s, p->rows, &p->state);
    message_input(s, p->rows + state_values, &p->forces, &p->base, &p->input);
    memcpy(p->generator, s->generator.words, sizeof p->generator);
    p->snapshot.options = session_of(s)->request;
    p->snapshot.digest = s->entry->digest;
    p->snapshot.state = &p->state;
    p->snapshot.input = &p->input;
    p->snapshot.n_generator = 4;
    p->snapshot.generator = p->generator;
    p->snapshot.condition = message_condition(s->condition);
    p->snapshot.token = s->token;
    p->snapshot.owner = (char *)s->owner;
    p->snapshot.belongs_to = (char *)s->belongs_to;
    p->snapshot.computed_with = (char *)s->computed_with;
    p->snapshot.bristles = stepper_bristles(s->stepper, &p->snapshot.n_bristles);
    return &p->snapshot;
}

void message_snapshot_free(message_snapshot_parts *parts) {
    free(parts->rows);
}

Dynamics__V1__SimulationState *message_state_copy(call *c, const simulation *s) {
    Dynamics__V1__SimulationState *state = call_allocate(c, 1, sizeof *state);
    size_t own = s->nq + 2 * s->nv, surfaces = stepper_contacts_of(s->stepper).count;
    double *rows = call_allocate(c, own + 5 * surfaces, sizeof *rows);
    if (!state || !rows) {
        return NULL;
    }
    message_state(s, rows, state);
    if (surfaces > 0) {
        memcpy(rows + own, state->contact_forces, 5 * surfaces * sizeof *rows);
        state->contact_forces = rows + own;
        state->contact_gaps = rows + own + 3 * surfaces;
        state->contact_slips = rows + own + 4 * surfaces;
    }
    return state;
}

static Dynamics__V1__PaceStatistics *statistics(call *c, const pace_statistics *from) {
    Dynamics__V1__PaceStatistics *to = call_allocate(c, 1, sizeof *to);
    if (!to) {
        return NULL;
    }
    dynamics__v1__pace_statistics__init(to);
    to->overruns = from->overruns;
    to->slipped = (double)from->slipped / 1e9;
    to->lateness = (double)from->lateness / 1e9;
    to->longest_lateness = (double)from->longest_lateness / 1e9;
    to->ticks = from->ticks;
    to->step_cost = from->steps > 0 ? (double)from->cost / 1e9 / (double)from->steps : 0;
    return to;
}

/* Copies the names of the joints, in the caller's order, to the call's memory. Names none if the order is the model's
 * own. */
static void copy_names(call *c, const robot *r, size_t *count, char ***names) {
    *names = r->name_count > 0 ? call_allocate(c, r->name_count, sizeof **names) : NULL;
    for (size_t i = 0; *names && i < r->name_count; i++) {
        (*names)[(*count)++] = call_string(c, r->names[i]);
    }
}

Dynamics__V1__SimulationSummary *message_summary(call *c, const simulation *s) {
    Dynamics__V1__SimulationSummary *to = call_allocate(c, 1, sizeof *to);
    uint64_t now = clock_now();
    if (!to) {
        return NULL;
    }
    dynamics__v1__simulation_summary__init(to);
    to->name = call_string(c, s->name);
    to->model = call_string(c, s->entry->name);
    to->digest = call_string(c, s->entry->digest);
    to->condition = message_condition(s->condition);
    to->pace = s->is_paced ? DYNAMICS__V1__PACE__PACE_CLOCK : DYNAMICS__V1__PACE__PACE_LOCKSTEP;
    to->rate = s->rate;
    to->step_length = s->step_length;
    to->step = s->step;
    to->time = (double)s->step * s->step_length;
    copy_names(c, &session_of(s)->robot, &to->n_joint_names, &to->joint_names);
    to->computed_with = call_string(c, s->computed_with);
    to->owner = call_string(c, s->owner);
    to->lease_remaining = s->token != 0 && s->lease_end > now ? (double)(s->lease_end - now) / 1e9 : 0;
    transport_topic *endpoint = session_of(s)->topics.endpoint;
    to->watchers = endpoint ? transport_topic_subscribers(endpoint) : 0;
    to->statistics = statistics(c, &s->statistics);
    to->recording = call_string(c, s->recording ? recording_name(s->recording) : "");
    to->recording_error = call_string(c, session_of(s)->recording_error.message);
    to->created_ns = session_of(s)->topics.created;
    if (s->source) {
        to->streams = call_allocate(c, 1, sizeof *to->streams);
        to->n_streams = to->streams ? 1 : 0;
        if (to->streams) {
            to->streams[0] = call_string(c, s->source->name);
        }
    }
    return call_has_ended(c) ? NULL : to;
}

size_t message_points_bytes(size_t points, size_t values) {
    enum { NUMBER_BYTES = 10, HEAD_BYTES = 128 };
    return points * NUMBER_BYTES + values * sizeof(double) + HEAD_BYTES;
}

void message_counters(const stream *s, Dynamics__V1__StreamCounters *to) {
    const stream_counters *from = &s->counters;
    dynamics__v1__stream_counters__init(to);
    to->accepted = from->accepted;
    to->lost = s->order.lost;
    to->late = from->late;
    to->duplicates = from->duplicates;
    to->reordered = from->reordered;
    to->refused = from->refused;
    to->beyond_credit = from->beyond_credit;
    to->chunks = from->chunks;
    to->consumed = from->consumed;
    to->empty = from->empty;
}

static Dynamics__V1__StreamKind wire_kind(stream_kind kind) {
    switch (kind) {
    case STREAM_FEEDFORWARD:
        return DYNAMICS__V1__STREAM_KIND__STREAM_KIND_FEEDFORWARD;
    case STREAM_SIMULATION_INPUT:
        return DYNAMICS__V1__STREAM_KIND__STREAM_KIND_SIMULATION_INPUT;
    case STREAM_RECORD:
        return DYNAMICS__V1__STREAM_KIND__STREAM_KIND_RECORD;
    }
    return DYNAMICS__V1__STREAM_KIND__STREAM_KIND_UNSPECIFIED;
}

Dynamics__V1__StreamSummary *message_stream_summary(call *c, const stream *s) {
    Dynamics__V1__StreamSummary *to = call_allocate(c, 1, sizeof *to);
    Dynamics__V1__StreamCounters *counted = call_allocate(c, 1, sizeof *counted);
    uint64_t now = clock_now();
    if (!to || !counted) {
        return NULL;
    }
    dynamics__v1__stream_summary__init(to);
    message_counters(s, counted);
    to->name = call_string(c, s->name);
    to->kind = wire_kind(s->options.kind);
    to->model = call_string(c, s->entry->name);
    to->simulation = call_string(c, s->target ? s->target->name : "");
    to->counters = counted;
    to->last_point_number = s->order.last;
    to->credit = stream_credit(s);
    to->lag = s->lag;
    to->greatest_lag = s->greatest_lag;
    to->waiting = stream_waiting(s);
    to->idle = now > s->last_arrival ? (double)(now - s->last_arrival) / 1e9 : 0;
    to->owner = call_string(c, s->owner);
    transport_topic *endpoint = stream_session_of(s)->topics.endpoint;
    to->watchers = endpoint ? transport_topic_subscribers(endpoint) : 0;
    to->recording = call_string(c, s->recording ? recording_name(s->recording) : "");
    to->recording_error = call_string(c, stream_session_of(s)->recording_error.message);
    copy_names(c, &stream_session_of(s)->robot, &to->n_joint_names, &to->joint_names);
    to->nq = (uint32_t)s->nq;
    to->nv = (uint32_t)s->nv;
    to->digest = call_string(c, s->entry->digest);
    to->created_ns = stream_session_of(s)->topics.created;
    return call_has_ended(c) ? NULL : to;
}
