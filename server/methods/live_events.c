/* SPDX-License-Identifier: BSD-2-Clause */
/* Hooks of simulations and streams: publish events on their topics, and append entries to their recordings. */
#include <dynamics/contact.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/live.h"
#include "methods/live_messages.h"
#include "observe/clock.h"

/* ---- simulations ------------------------------------------------------------------------------------------------- */

static simulation_groups *groups_of(const simulation *s) {
    live *l = s->owner_context;
    return &l->groups;
}

/* Returns true also for a simulation that no group contains while there are groups. */
static bool is_watched(simulation *s) {
    return topics_have_subscribers(&session_of(s)->topics) || groups_exist(groups_of(s));
}

/* Publishes an event on the simulation's own topic and on those of its groups. */
static void publish_event(const simulation *s, Dynamics__V1__Event *event) {
    topics_send_event(&session_of(s)->topics, event);
    if (groups_exist(groups_of(s))) {
        groups_send_event(groups_of(s), s, event);
    }
}

static void on_states(simulation *s, const simulation_batch *batch) {
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__SimulationStateEvent states = DYNAMICS__V1__SIMULATION_STATE_EVENT__INIT;
    simulation_session *session = session_of(s);
    double time[SIMULATION_BATCH], *q = batch->q, *v = batch->v, *tau = batch->tau;
    for (size_t i = 0; i < batch->count; i++) {
        time[i] = (double)batch->step[i] * s->step_length;
    }
    if (!session->robot.order.is_identity) {
        q = session->rows;
        v = q + SIMULATION_BATCH * s->nq;
        tau = v + SIMULATION_BATCH * s->nv;
        robot_q_to_caller(&session->robot, batch->count, batch->q, q);
        robot_v_to_caller(&session->robot, batch->count, batch->v, v);
        robot_v_to_caller(&session->robot, batch->count, batch->tau, tau);
    }
    states.simulation = s->name;
    states.n_step = states.n_time = batch->count;
    states.step = (uint64_t *)batch->step;
    states.time = time;
    states.n_q = batch->count * s->nq;
    states.q = q;
    states.n_v = states.n_tau = batch->count * s->nv;
    states.v = v;
    states.tau = tau;
    states.lateness = (double)s->statistics.lateness / 1e9;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_SIMULATION_STATE;
    event.simulation_state = &states;
    topics_send_data(&session->topics, &event);
    if (groups_exist(groups_of(s))) {
        groups_add_states(groups_of(s), s, &session->topics, &states);
    }
}

static void on_event(simulation *s, simulation_event kind, int joint, const char *message) {
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__SimulationEvent published = DYNAMICS__V1__SIMULATION_EVENT__INIT;
    if (!is_watched(s)) {
        return;
    }
    published.simulation = s->name;
    published.kind = (Dynamics__V1__SimulationEvent__Kind)kind;
    published.step = s->step;
    published.time = (double)s->step * s->step_length;
    published.joint = joint >= 0 ? (char *)dyn_model_joint(s->entry->model, joint)->name : published.joint;
    published.message = (char *)message;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_SIMULATION_EVENT;
    event.simulation_event = &published;
    publish_event(s, &event);
}

/* Writes a vector of the world. */
static Dynamics__V1__Vector3 *write_vector(const double x[3], double factor, Dynamics__V1__Vector3 *to) {
    dynamics__v1__vector3__init(to);
    to->x = factor * x[0], to->y = factor * x[1], to->z = factor * x[2];
    return to;
}

static void on_contact(simulation *s, simulation_event kind, const contact_event *from) {
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__SimulationEvent published = DYNAMICS__V1__SIMULATION_EVENT__INIT;
    Dynamics__V1__Vector3 force, impulse;
    const char *name = dyn_model_contact_surface(s->entry->model, from->surface)->name;
    const double size =
        sqrt(from->force[0] * from->force[0] + from->force[1] * from->force[1] + from->force[2] * from->force[2]);
    const double length = s->step_length / stepper_options(s->stepper)->substeps; /* of the integration step */
    char message[320];
    if (!is_watched(s)) {
        return;
    }
    if (kind == SIMULATION_SLIP) {
        snprintf(message, sizeof message, "%.200s slips at %.4g m/s under %.4g N", name, from->slip, size);
    } else {
        snprintf(message, sizeof message, "%.200s %s with %.4g N", name,
                 kind == SIMULATION_TOUCHDOWN ? "touches" : "touched last", size);
    }
    published.simulation = s->name;
    published.kind = (Dynamics__V1__SimulationEvent__Kind)kind;
    published.step = from->step;
    published.time = (double)from->step * s->step_length;
    published.message = message;
    published.contact_surface = (char *)name;
    published.contact_force = write_vector(from->force, 1, &force);
    published.contact_impulse = kind == SIMULATION_TOUCHDOWN ? write_vector(from->force, length, &impulse) : NULL;
    published.contact_slip = from->slip;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_SIMULATION_EVENT;
    event.simulation_event = &published;
    publish_event(s, &event);
}

static void on_step(simulation *s) {
    Dynamics__V1__RecordingEntry entry = DYNAMICS__V1__RECORDING_ENTRY__INIT;
    Dynamics__V1__SimulationState state;
    message_state(s, session_of(s)->rows, &state);
    entry.entry_case = DYNAMICS__V1__RECORDING_ENTRY__ENTRY_STATE;
    entry.state = &state;
    recording_append(s->recording, &entry.base);
}

static void on_input(simulation *s, bool has_new_forces) {
    Dynamics__V1__RecordingEntry entry = DYNAMICS__V1__RECORDING_ENTRY__INIT;
    Dynamics__V1__SimulationInput input;
    message_forces forces;
    message_base base;
    message_input(s, session_of(s)->rows, has_new_forces ? &forces : NULL, &base, &input);
    entry.entry_case = DYNAMICS__V1__RECORDING_ENTRY__ENTRY_INPUT;
    entry.input = &input;
    recording_append(s->recording, &entry.base);
}

static void on_jump(simulation *s) {
    Dynamics__V1__RecordingEntry entry = DYNAMICS__V1__RECORDING_ENTRY__INIT;
    message_snapshot_parts parts;
    entry.entry_case = DYNAMICS__V1__RECORDING_ENTRY__ENTRY_JUMP;
    entry.jump = message_snapshot(s, &parts);
    if (entry.jump) {
        entry.jump->options = NULL;
        recording_append(s->recording, &entry.base);
    }
    message_snapshot_free(&parts);
}

const simulation_hooks live_simulation_hooks = {
    .is_watched = is_watched,
    .on_states = on_states,
    .on_event = on_event,
    .on_contact = on_contact,
    .on_step = on_step,
    .on_input = on_input,
    .on_jump = on_jump,
};

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static void on_torques(stream *s, const stream_points *p) {
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__StreamTorques torques = DYNAMICS__V1__STREAM_TORQUES__INIT;
    stream_session *session = stream_session_of(s);
    const double *tau = p->tau;
    if (!topics_have_subscribers(&session->topics)) {
        return;
    }
    if (!session->robot.order.is_identity) {
        if (p->n > session->row_count) {
            double *rows = realloc(session->rows, p->n * s->nv * sizeof *rows);
            if (!rows) {
                return;
            }
            session->rows = rows;
            session->row_count = p->n;
        }
        robot_v_to_caller(&session->robot, p->n, p->tau, session->rows);
        tau = session->rows;
    }
    torques.stream = s->name;
    torques.n_point_number = torques.n_time = p->n;
    torques.point_number = (uint64_t *)p->sequence;
    torques.time = (double *)p->t;
    torques.n_tau = p->n * s->nv;
    torques.tau = (double *)tau;
    torques.sent_stamp_ns = p->sent;
    torques.arrival_stamp_ns = clock_wall() - (int64_t)(clock_now() - s->last_arrival);
    torques.credit = stream_credit(s);
    torques.n_residuals = p->residuals ? p->n : 0;
    torques.residuals = (double *)p->residuals;
    event.event_case = DYNAMICS__V1__EVENT__EVENT_STREAM_TORQUES;
    event.stream_torques = &torques;
    topics_send_data(&session->topics, &event);
}

static void on_stream_event(stream *s, stream_event kind, const char *message) {
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    Dynamics__V1__StreamEvent published = DYNAMICS__V1__STREAM_EVENT__INIT;
    Dynamics__V1__StreamCounters counted;
    stream_session *session = stream_session_of(s);
    if (!topics_have_subscribers(&session->topics)) {
        return;
    }
    message_counters(s, &counted);
    published.stream = s->name;
    published.kind = (Dynamics__V1__StreamEvent__Kind)kind;
    published.message = (char *)message;
    published.counters = &counted;
    published.credit = stream_credit(s);
    event.event_case = DYNAMICS__V1__EVENT__EVENT_STREAM_EVENT;
    event.stream_event = &published;
    topics_send_event(&session->topics, &event);
}

static bool has_room(const stream *s, const stream_chunk *c) {
    size_t values = 1 + (c->q ? s->nq : 0) + (c->v ? s->nv : 0) + (c->a ? s->nv : 0) + (c->tau ? s->nv : 0);
    return !s->recording || recording_has_room(s->recording, message_points_bytes(c->n, c->n * values));
}

static bool on_record(stream *s, const stream_points *p, const char **problem) {
    Dynamics__V1__RecordingEntry entry = DYNAMICS__V1__RECORDING_ENTRY__INIT;
    Dynamics__V1__RecordedPoints points = DYNAMICS__V1__RECORDED_POINTS__INIT;
    size_t nq = s->nq, nv = s->nv;
    *problem = s->recording ? "the recording has no room" : stream_session_of(s)->recording_error.message;
    points.n_point_number = points.n_time = p->n;
    points.point_number = (uint64_t *)p->sequence;
    points.time = (double *)p->t;
    points.n_q = p->q ? p->n * nq : 0;
    points.q = (double *)p->q;
    points.n_v = p->v ? p->n * nv : 0;
    points.v = (double *)p->v;
    points.n_a = p->a ? p->n * nv : 0;
    points.a = (double *)p->a;
    points.n_tau = p->tau ? p->n * nv : 0;
    points.tau = (double *)p->tau;
    entry.entry_case = DYNAMICS__V1__RECORDING_ENTRY__ENTRY_POINTS;
    entry.points = &points;
    return s->recording && recording_append(s->recording, &entry.base);
}

const stream_hooks live_stream_hooks = {
    .on_torques = on_torques, .on_event = on_stream_event, .has_room = has_room, .on_record = on_record};
