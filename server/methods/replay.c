/* SPDX-License-Identifier: BSD-2-Clause */
/* ReplaySimulation: computes a recorded run again. */
#include <dynamics/text.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/live_messages.h"
#include "methods/methods.h"
#include "methods/simulation_plan.h"

/* State of a replay. */
typedef struct replay {
    call *call;
    const Dynamics__V1__ReplaySimulationRequest *request;
    Dynamics__V1__ReplaySimulationReply *reply;
    recording_reader reader;
    simulation *simulation;
    arena entries; /* memory of the current entry */
    double *rows;
    uint64_t read;       /* number of entries that were read */
    size_t room, stored; /* number of states for which the reply has memory, and of those in it */
} replay;

/* Ends the call with a refusal of what the file contains. The message names the entry and its field, since the request
 * has no such field. */
static void fail_recording(const replay *p, const refusal *why) {
    refusal about = *why;
    char entry[32] = "the header";
    if (p->read > 0) {
        snprintf(entry, sizeof entry, "entry %llu", (unsigned long long)p->read);
    }
    if (why->field[0] != '\0') {
        snprintf(about.message, sizeof about.message, "in %s, %s: %.300s", entry, why->field, why->message);
    }
    about.field[0] = '\0';
    call_blame(p->call, "recording");
    call_refuse(p->call, &about);
}

static bool has_same_bits(size_t count, const double *a, size_t other_count, const double *b) {
    return count == other_count && memcmp(a, b, count * sizeof *a) == 0;
}

static bool is_equal(const Dynamics__V1__SimulationState *a, const Dynamics__V1__SimulationState *b) {
    return a->step == b->step && has_same_bits(a->n_q, a->q, b->n_q, b->q) &&
           has_same_bits(a->n_v, a->v, b->n_v, b->v) && has_same_bits(a->n_tau, a->tau, b->n_tau, b->tau);
}

/* Adds a state to the reply if the request asks for its step. */
static void store_state(replay *p, const Dynamics__V1__SimulationState *state) {
    uint64_t stride = p->request->stride ? p->request->stride : 1;
    Dynamics__V1__ReplaySimulationReply *reply = p->reply;
    if (p->stored >= p->room || state->step < p->request->first || (state->step - p->request->first) % stride != 0) {
        return;
    }
    memcpy(reply->q + reply->n_q, state->q, state->n_q * sizeof *state->q);
    memcpy(reply->v + reply->n_v, state->v, state->n_v * sizeof *state->v);
    memcpy(reply->tau + reply->n_tau, state->tau, state->n_tau * sizeof *state->tau);
    reply->step[reply->n_step++] = state->step;
    reply->n_q += state->n_q;
    reply->n_v += state->n_v;
    reply->n_tau += state->n_tau;
    p->stored++;
}

/* Refuses a recorded state whose numbers of values are not those of the model. Returns false, and fills `why`, then. */
static bool check_rows(const replay *p, const Dynamics__V1__SimulationState *state, refusal *why) {
    const simulation *s = p->simulation;
    const struct {
        const char *name;
        size_t count, wanted;
    } rows[] = {{"q", state->n_q, s->nq}, {"v", state->n_v, s->nv}, {"tau", state->n_tau, s->nv}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].count != rows[i].wanted) {
            return refuse(why, REASON_DAMAGED_FILE, "", "the file is damaged: in entry %llu %s has %zu values, not %zu",
                          (unsigned long long)p->read, rows[i].name, rows[i].count, rows[i].wanted);
        }
    }
    return true;
}

/* Computes the next step and compares its state, bit by bit, with the recorded one. Returns false, and fills `why`, if
 * the recorded state does not fit the model. */
static bool compare_step(replay *p, const Dynamics__V1__SimulationState *recorded, refusal *why) {
    Dynamics__V1__SimulationState state;
    simulation *s = p->simulation;
    if (!check_rows(p, recorded, why)) {
        return false;
    }
    p->reply->steps++;
    if (s->condition != SIMULATION_DIVERGED) {
        simulation_step(s);
    }
    message_state(s, p->rows, &state);
    if (is_equal(&state, recorded)) {
        p->reply->equal_steps++;
    } else if (p->reply->first_difference == 0) {
        p->reply->first_difference = recorded->step;
    }
    store_state(p, &state);
    return true;
}

/* Applies one entry of the recording. Returns false at the end, and, with `why` filled, for an entry that is damaged or
 * does not fit. */
static bool apply(replay *p, const Dynamics__V1__RecordingEntry *entry, refusal *why) {
    switch (entry->entry_case) {
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_STATE:
        return compare_step(p, entry->state, why);
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_INPUT:
        return plan_input(p->simulation, "input", entry->input, why);
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_JUMP:
        return plan_jump(p->simulation, entry->jump, why);
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_END:
        p->reply->is_truncated = false;
        return false;
    default:
        return refuse(why, REASON_DAMAGED_FILE, "", "entry %llu is of no kind that this daemon knows",
                      (unsigned long long)p->read);
    }
}

/* Ends the call if the recording has a field that only a later daemon knows, and that may change its meaning. */
static void check_release(const replay *p) {
    if (p->reader.unknown[0] != '\0') {
        call_blame(p->call, "recording");
        call_fail(p->call, REASON_UNKNOWN_FIELD, "\"%s\": %s; replay it with that one", p->request->recording,
                  p->reader.unknown);
    }
}

static void run(replay *p) {
    refusal why = {0};
    bool goes_on = true;
    p->reply->is_truncated = true;
    while (goes_on) {
        arena_reset(&p->entries, SIZE_MAX);
        Dynamics__V1__RecordingEntry *entry = (Dynamics__V1__RecordingEntry *)recording_reader_next(
            &p->reader, &dynamics__v1__recording_entry__descriptor, &p->entries.allocator);
        if (!entry) {
            check_release(p);
            return;
        }
        /* Check the deadline at each entry, since one may run for long: the file states the number of substeps. */
        if (!call_proceed(p->call, (double)p->reader.at / (double)p->reader.size)) {
            return;
        }
        p->read++;
        goes_on = apply(p, entry, &why);
    }
    if (why.reason != REASON_NONE) {
        fail_recording(p, &why);
    }
}

/* Allocates memory for the requested states, but not for more than the file can contain. Ends the call if the reply
 * would be too large. */
static void reserve(replay *p) {
    call *c = p->call;
    simulation *s = p->simulation;
    const Dynamics__V1__ReplaySimulationRequest *r = p->request;
    size_t row = (s->nq + 2 * s->nv) * sizeof(double);
    uint64_t most = p->reader.size / row / (r->stride ? r->stride : 1) + 1;
    size_t count = r->with_states ? (size_t)(r->count > 0 && r->count < most ? r->count : most) : 0;
    uint64_t limit = atomic_load(&c->service->limits->reply_bytes);
    if ((double)count * (double)(row + 10) > (double)limit) {
        call_blame(c, "count");
        call_fail(
            c, REASON_REPLY_TOO_LARGE,
            "the reply with %zu states could have %.0f bytes; the limit is %llu (limits.reply_bytes): ask for them "
            "in parts, or pass a stride",
            count, (double)count * (double)(row + 10), (unsigned long long)limit);
        call_set_limit(c, BOUND_REPLY_BYTES, limit, (uint64_t)((double)count * (double)(row + 10)));
        return;
    }
    p->room = count;
    p->rows = call_allocate(c, s->nq + 2 * s->nv, sizeof *p->rows);
    p->reply->step = call_allocate(c, count, sizeof *p->reply->step);
    p->reply->q = call_allocate(c, count * s->nq, sizeof(double));
    p->reply->v = call_allocate(c, count * s->nv, sizeof(double));
    p->reply->tau = call_allocate(c, count * s->nv, sizeof(double));
}

/* Reads the header of the file, creates the simulation and reserves memory for its states; or ends the call. */
static void begin(replay *p) {
    call *c = p->call;
    refusal why = {0};
    Dynamics__V1__RecordingHeader *header = (Dynamics__V1__RecordingHeader *)recording_reader_next(
        &p->reader, &dynamics__v1__recording_header__descriptor, &c->memory.allocator);
    check_release(p);
    if (call_has_ended(c)) {
        return;
    }
    if (!header || strcmp(header->format, "dynamics.v1.simulation") != 0 || !header->start) {
        call_blame(c, "recording");
        call_fail(c, REASON_DAMAGED_FILE, "\"%s\" is no recording of a simulation", p->request->recording);
        return;
    }
    model_entry *entry = plan_restored_model(c->service->live, header->start, header->description, &why);
    p->simulation = entry ? plan_restored(c->service->live, header->start, entry, &why) : NULL;
    model_entry_release(entry);
    if (!p->simulation) {
        fail_recording(p, &why);
        return;
    }
    call_set_model(c, p->simulation->entry);
    p->reply->model = call_string(c, p->simulation->entry->name);
    p->reply->digest = call_string(c, p->simulation->entry->digest);
    p->reply->step_length = p->simulation->step_length;
    char recorded_with[COMPUTED_WITH_SIZE];
    /* Makes the text printable, since a file may have any characters. */
    dyn_text_print(header->start->computed_with, recorded_with, sizeof recorded_with);
    p->reply->recorded_with = call_string(c, recorded_with);
    p->reply->computed_with = call_string(c, p->simulation->computed_with);
    p->reply->n_joint_names = header->start->options->query->n_joint_names;
    p->reply->joint_names = header->start->options->query->joint_names;
    reserve(p);
}

static bool open_file(replay *p) {
    call *c = p->call;
    char path[PATH_MAX];
    refusal why = {0};
    if (!live_recording_path(c->service->live, p->request->recording, path, &why)) {
        call_refuse(c, &why);
        return false;
    }
    if (!recording_reader_open(&p->reader, path)) {
        recording_store_refuse_file(path, errno, &why);
        call_refuse(c, &why);
        return false;
    }
    return true;
}

/* Refuses a choice of states if the request asks for none. Returns false, and the call has ended, then. */
static bool check_choice_of_states(const replay *p) {
    const Dynamics__V1__ReplaySimulationRequest *r = p->request;
    const char *field = r->first > 0 ? "first" : r->stride > 0 ? "stride" : r->count > 0 ? "count" : NULL;
    if (r->with_states || !field) {
        return true;
    }
    call_blame(p->call, "%s", field);
    call_fail(p->call, REASON_UNUSED_FIELD, "%s chooses among states, and none are returned; set with_states", field);
    return false;
}

void method_replay_simulation(call *c) {
    replay p = {.call = c, .request = c->request->replay_simulation};
    p.reply = create_replay_simulation_reply(c);
    if (!p.reply || !check_choice_of_states(&p) || !open_file(&p)) {
        return;
    }
    arena_init(&p.entries);
    begin(&p);
    if (!call_has_ended(c)) {
        run(&p);
    }
    recording_reader_close(&p.reader);
    simulation_release(p.simulation);
    arena_free(&p.entries);
}
