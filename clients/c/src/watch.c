/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches simulations, streams and models: receives the events that the daemon publishes about them.
 */
#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dynamics/v1/event.pb-c.h>

#include "requests.h"
#include "endpoint.h"
#include "error.h"
#include "monotonic.h"
#include "model_parts.h"
#include "sized.h"

static const double DEFAULT_WAIT = 10;

/* Time to wait for the confirming event after each request for it, s. */
static const double CONFIRMATION_WAIT = 0.02;

/* READY_QUESTIONS: most requests for the number of watchers, which shows that the daemon knows the subscription.
 * READY_PAUSE: pause between two of these requests, in ns. */
enum { READY_QUESTIONS = 200, READY_PAUSE = 2000000 };

typedef struct watched_topic {
    char name[128];
    uint64_t sequence; /* of the last message; 0: none */
    uint64_t lost;     /* messages lost since the last update */
} watched_topic;

struct dyn_client_watch {
    one_way *socket;
    watched_topic data, events;
    uint64_t instance;          /* of the daemon that sent the last message; 0: none yet */
    dyn_client_model model;     /* model of the last update, if that is an event of a model */
    Dynamics__V1__Event *event; /* owns the strings and arrays of the last update */
    size_t next;                /* index of the next simulation of a message with the states of several */
};

dyn_client_watch *watch_of(one_way *socket, const char *data_topic, const char *event_topic) {
    dyn_client_watch *made = calloc(1, sizeof *made);
    if (made) {
        made->socket = socket;
        snprintf(made->data.name, sizeof made->data.name, "%s", data_topic);
        snprintf(made->events.name, sizeof made->events.name, "%s", event_topic);
    }
    return made;
}

static dyn_client_status open_watch(dyn_client *client, size_t count, char *const *addresses, const char *data_topic,
                                    const char *event_topic, dyn_client_watch **watch, dyn_client_error *error) {
    dyn_client_watch *self = watch_of(NULL, data_topic, event_topic);
    if (!self) {
        return fail_memory(error);
    }
    char *topics[] = {self->data.name, self->events.name};
    dyn_client_status status = one_way_open(client_connection(client), count, addresses, 2, topics,
                                            client_connect_timeout(client), &self->socket, error);
    if (status != DYN_CLIENT_OK) {
        free(self);
        return status;
    }
    *watch = self;
    return DYN_CLIENT_OK;
}

/* Waits until the daemon counts more watchers than `before`, so that no later event is missed. Over NATS the server has
 * the subscription already, and counts nobody. `count` requests their number. If other watchers leave meanwhile, the
 * count may not rise; the wait then ends after READY_QUESTIONS requests. */
static void wait_until_ready(dyn_client *client, const char *name, size_t before,
                             bool (*count)(dyn_client *client, const char *name, size_t *watchers)) {
    static const struct timespec pause = {.tv_nsec = READY_PAUSE};
    size_t watchers = before;
    if (connection_has_one_way(client_connection(client))) {
        return;
    }
    for (int i = 0; i < READY_QUESTIONS && count(client, name, &watchers) && watchers <= before; i++) {
        nanosleep(&pause, NULL);
    }
}

static bool count_simulation(dyn_client *client, const char *name, size_t *watchers) {
    dyn_client_simulation *simulation;
    if (dyn_client_get_simulation(client, name, 0, 0, &simulation, NULL) != DYN_CLIENT_OK) {
        return false;
    }
    *watchers = simulation->watchers;
    dyn_client_simulation_free(simulation);
    return true;
}

static bool count_group(dyn_client *client, const char *names, size_t *watchers) {
    Dynamics__V1__WatchSimulationRequest question = DYNAMICS__V1__WATCH_SIMULATION_REQUEST__INIT;
    Dynamics__V1__WatchSimulationReply *reply;
    question.simulation = (char *)names;
    if (request_watch_simulation(client, &question, within(0), &reply, NULL) != DYN_CLIENT_OK) {
        return false;
    }
    *watchers = reply->watchers;
    dynamics__v1__watch_simulation_reply__free_unpacked(reply, NULL);
    return true;
}

static bool count_stream(dyn_client *client, const char *name, size_t *watchers) {
    dyn_client_stream_list *list;
    if (dyn_client_get_stream(client, name, 0, &list, NULL) != DYN_CLIENT_OK) {
        return false;
    }
    *watchers = list->streams[0].watchers;
    dyn_client_stream_list_free(list);
    return true;
}

dyn_client_status dyn_client_watch_simulation(dyn_client *client, const char *name, double timeout,
                                              dyn_client_watch **watch, dyn_client_error *error) {
    Dynamics__V1__WatchSimulationRequest question = DYNAMICS__V1__WATCH_SIMULATION_REQUEST__INIT;
    Dynamics__V1__WatchSimulationReply *reply;
    *watch = NULL;
    if (!client || !name) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "watch_simulation.simulation", "client or name is NULL");
    }
    question.simulation = (char *)name;
    dyn_client_status status = request_watch_simulation(client, &question, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    const size_t length = strlen(name);
    const bool is_group = length > 0 && name[length - 1] == '*';
    size_t before = is_group ? reply->watchers : reply->simulation ? reply->simulation->watchers : 0;
    status =
        open_watch(client, reply->n_addresses, reply->addresses, reply->state_topic, reply->events_topic, watch, error);
    dynamics__v1__watch_simulation_reply__free_unpacked(reply, NULL);
    if (status == DYN_CLIENT_OK) {
        wait_until_ready(client, name, before, is_group ? count_group : count_simulation);
    }
    return status;
}

dyn_client_status dyn_client_watch_stream(dyn_client *client, const char *name, double timeout,
                                          dyn_client_watch **watch, dyn_client_error *error) {
    Dynamics__V1__WatchStreamRequest question = DYNAMICS__V1__WATCH_STREAM_REQUEST__INIT;
    Dynamics__V1__WatchStreamReply *reply;
    *watch = NULL;
    if (!client || !name) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "watch_stream.stream", "client or name is NULL");
    }
    question.stream = (char *)name;
    dyn_client_status status = request_watch_stream(client, &question, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    size_t before = reply->stream ? reply->stream->watchers : 0;
    status = open_watch(client, reply->n_addresses, reply->addresses, reply->torques_topic, reply->events_topic, watch,
                        error);
    dynamics__v1__watch_stream_reply__free_unpacked(reply, NULL);
    if (status == DYN_CLIENT_OK) {
        wait_until_ready(client, name, before, count_stream);
    }
    return status;
}

/* Requests the health of the daemon with the progress number `number`. The daemon publishes an event with this number
 * before it replies. */
static dyn_client_status request_for_event(dyn_client *client, uint64_t number, double timeout,
                                           dyn_client_error *error) {
    Dynamics__V1__GetHealthRequest health = DYNAMICS__V1__GET_HEALTH_REQUEST__INIT;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    call_reply answer;
    request.progress = number;
    call_set_method(&request, DYNAMICS__V1__REQUEST__METHOD_GET_HEALTH, &health.base);
    dyn_client_status status = call(client, &request, within(timeout), &answer, error);
    if (status == DYN_CLIENT_OK) {
        call_reply_free(&answer);
    }
    return status;
}

/* Requests progress events of `number`, whose topic is `topic`, until one arrives, which shows that the daemon knows
 * the subscriptions of the socket: nng connects a subscriber some time before its publisher sends to it. Drops earlier
 * events of other topics, and ends the subscription to `topic`. */
static dyn_client_status confirm(dyn_client *client, one_way *socket, const char *topic, uint64_t number,
                                 double timeout, dyn_client_error *error) {
    const size_t length = strlen(topic);
    double end = monotonic_now() + timeout;
    bool is_confirmed = false;
    for (double left = timeout; left > 0 && !is_confirmed; left = end - monotonic_now()) {
        incoming message;
        dyn_client_status status = request_for_event(client, number, left, error);
        if (status != DYN_CLIENT_OK) {
            return status;
        }
        while (!is_confirmed && one_way_receive(socket, CONFIRMATION_WAIT, &message, NULL) == DYN_CLIENT_OK) {
            is_confirmed = message.size > length && memcmp(message.bytes, topic, length + 1) == 0;
            incoming_free(&message);
        }
    }
    one_way_unsubscribe(socket, topic);
    return is_confirmed
               ? DYN_CLIENT_OK
               : fail(error, DYN_CLIENT_TIMEOUT, NULL, "the daemon did not confirm the subscription in %g s", timeout);
}

dyn_client_status dyn_client_watch_models(dyn_client *client, double timeout, dyn_client_watch **watch,
                                          dyn_client_error *error) {
    *watch = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    dyn_client_watch *self = watch_of(NULL, "", "models");
    if (!self) {
        return fail_memory(error);
    }
    uint64_t number;
    char confirmation[64];
    char *topics[] = {self->events.name, confirmation};
    dyn_client_status status = DYN_CLIENT_OK;
    if (!call_draw(&number)) {
        status = fail(error, DYN_CLIENT_UNKNOWN, NULL, "the system gives no random number");
    }
    if (status == DYN_CLIENT_OK) {
        snprintf(confirmation, sizeof confirmation, "progress/%" PRIu64, number);
        status = endpoint_open(client, "events", 2, topics, timeout, &self->socket, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = confirm(client, self->socket, confirmation, number, timeout > 0 ? timeout : DEFAULT_WAIT, error);
    }
    if (status == DYN_CLIENT_OK) {
        *watch = self;
    } else {
        dyn_client_watch_close(self);
    }
    return status;
}

/* Returns the name of an event: its enumerator without prefix, in lower case ("KIND_LIMIT" becomes "limit"). Returns
 * "unknown" for a number that this library does not know. */
static const char *event_name(const ProtobufCEnumDescriptor *descriptor, int value) {
    static const char *const simulation[] = {
        "unspecified",  "limit",          "reset",     "state_set", "paused",  "resumed",
        "diverged",     "overrun",        "deleted",   "expired",   "claimed", "recording_ended",
        "stream_empty", "stream_resumed", "touchdown", "lift_off",  "slip"};
    static const char *const stream[] = {"unspecified", "credit",        "lost",      "late",
                                         "refused",     "beyond_credit", "empty",     "closed",
                                         "expired",     "duplicate",     "reordered", "recording_ended"};
    static const char *const model[] = {"unspecified", "loaded", "unloaded", "replaced"};
    static const struct {
        const ProtobufCEnumDescriptor *descriptor;
        const char *const *names;
        size_t count;
    } events[] = {
        {&dynamics__v1__simulation_event__kind__descriptor, simulation, sizeof simulation / sizeof *simulation},
        {&dynamics__v1__stream_event__kind__descriptor, stream, sizeof stream / sizeof *stream},
        {&dynamics__v1__model_event__change__descriptor, model, sizeof model / sizeof *model},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (events[i].descriptor == descriptor && value >= 0 && (size_t)value < events[i].count) {
            return events[i].names[value];
        }
    }
    return "unknown";
}

static void read_states(const Dynamics__V1__SimulationStateEvent *from, dyn_client_update *to) {
    to->kind = DYN_CLIENT_UPDATE_KIND_STATES;
    to->simulation = from->simulation;
    to->count = from->n_step;
    to->nq = from->n_step > 0 ? from->n_q / from->n_step : 0;
    to->nv = from->n_step > 0 ? from->n_v / from->n_step : 0;
    to->step = from->step;
    to->time = from->time;
    to->q = from->q;
    to->v = from->v;
    to->tau = from->tau;
    to->lateness = from->lateness;
}

static void read_simulation_event(const Dynamics__V1__SimulationEvent *from, dyn_client_update *to) {
    to->kind = DYN_CLIENT_UPDATE_KIND_SIMULATION_EVENT;
    to->simulation = from->simulation;
    to->text = event_name(&dynamics__v1__simulation_event__kind__descriptor, (int)from->kind);
    to->message = from->message;
    to->joint = from->joint;
    to->contact_surface = from->contact_surface;
    to_vector3(from->contact_force, to->contact_force);
    to_vector3(from->contact_impulse, to->contact_impulse);
    to->contact_slip = from->contact_slip;
    to->count = 1;
    to->step = &from->step;
    to->time = &from->time;
}

static void read_torques(const Dynamics__V1__StreamTorques *from, dyn_client_update *to) {
    to->kind = DYN_CLIENT_UPDATE_KIND_TORQUES;
    to->count = from->n_point_number;
    to->nv = from->n_point_number > 0 ? from->n_tau / from->n_point_number : 0;
    to->step = from->point_number;
    to->time = from->time;
    to->tau = from->tau;
    to->residuals = from->n_residuals == from->n_point_number ? from->residuals : NULL;
    to->sent_stamp_ns = from->sent_stamp_ns;
    to->arrival_stamp_ns = from->arrival_stamp_ns;
    to->credit = from->credit;
}

static void read_model_event(const Dynamics__V1__ModelEvent *from, dyn_client_model *model, dyn_client_update *to) {
    to->kind = DYN_CLIENT_UPDATE_KIND_MODEL_EVENT;
    to->text = event_name(&dynamics__v1__model_event__change__descriptor, (int)from->change);
    *model = to_model(from->model);
    to->model = model;
}

static void read_stream_event(const Dynamics__V1__StreamEvent *from, dyn_client_update *to) {
    to->kind = DYN_CLIENT_UPDATE_KIND_STREAM_EVENT;
    to->text = event_name(&dynamics__v1__stream_event__kind__descriptor, (int)from->kind);
    to->message = from->message;
    to->credit = from->credit;
}

/* Returns the states of a simulation in an event, in that of a group those of simulation `index`; otherwise NULL. */
static const Dynamics__V1__SimulationStateEvent *states_of(const Dynamics__V1__Event *event, size_t index) {
    if (event->event_case == DYNAMICS__V1__EVENT__EVENT_SIMULATION_STATE) {
        return event->simulation_state;
    }
    return event->event_case == DYNAMICS__V1__EVENT__EVENT_GROUP_STATE ? event->group_state->simulations[index] : NULL;
}

/* Returns the number of updates in an event. */
static size_t update_count(const Dynamics__V1__Event *event) {
    return event->event_case == DYNAMICS__V1__EVENT__EVENT_GROUP_STATE ? event->group_state->n_simulations : 1;
}

/* Returns true if the arrays of an event have the lengths that the counts of the update require. `states` are those of
 * the event, or NULL. */
static bool is_consistent(const dyn_client_update *u, const Dynamics__V1__Event *event,
                          const Dynamics__V1__SimulationStateEvent *states) {
    if (states) {
        return states->n_time == u->count && states->n_q == u->count * u->nq && states->n_v == u->count * u->nv &&
               states->n_tau == u->count * u->nv;
    }
    if (event->event_case == DYNAMICS__V1__EVENT__EVENT_STREAM_TORQUES) {
        const Dynamics__V1__StreamTorques *t = event->stream_torques;
        return t->n_time == u->count && t->n_tau == u->count * u->nv;
    }
    return true;
}

/* Returns true for the kinds of events that this library reads. A newer daemon may publish others. */
static bool is_known(const Dynamics__V1__Event *event) {
    switch (event->event_case) {
    case DYNAMICS__V1__EVENT__EVENT_SIMULATION_STATE:
    case DYNAMICS__V1__EVENT__EVENT_SIMULATION_EVENT:
    case DYNAMICS__V1__EVENT__EVENT_STREAM_TORQUES:
    case DYNAMICS__V1__EVENT__EVENT_STREAM_EVENT:
    case DYNAMICS__V1__EVENT__EVENT_MODEL:
        return true;
    case DYNAMICS__V1__EVENT__EVENT_GROUP_STATE:
        return event->group_state->n_simulations > 0;
    default:
        return false;
    }
}

/* Fills an update from an event of a known kind; `states` are those of the event, or NULL. */
static void read_event(const Dynamics__V1__Event *event, const Dynamics__V1__SimulationStateEvent *states,
                       dyn_client_model *model, dyn_client_update *update) {
    *update = (dyn_client_update){.sequence = event->sequence,
                                  .stamp_ns = event->stamp_ns,
                                  .instance = event->instance,
                                  .text = "",
                                  .message = "",
                                  .joint = "",
                                  .contact_surface = "",
                                  .simulation = ""};
    if (states) {
        read_states(states, update);
        return;
    }
    switch (event->event_case) {
    case DYNAMICS__V1__EVENT__EVENT_SIMULATION_EVENT:
        read_simulation_event(event->simulation_event, update);
        break;
    case DYNAMICS__V1__EVENT__EVENT_STREAM_TORQUES:
        read_torques(event->stream_torques, update);
        break;
    case DYNAMICS__V1__EVENT__EVENT_STREAM_EVENT:
        read_stream_event(event->stream_event, update);
        break;
    case DYNAMICS__V1__EVENT__EVENT_MODEL:
        read_model_event(event->model, model, update);
        break;
    default:
        break;
    }
}

/* Waits for a message and unpacks it into watch->event. `topic` receives the topic of the message. */
static dyn_client_status receive_event(dyn_client_watch *watch, double timeout, watched_topic **topic,
                                       dyn_client_error *error) {
    incoming message;
    dyn_client_status status = one_way_receive(watch->socket, timeout, &message, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (watch->event) {
        dynamics__v1__event__free_unpacked(watch->event, NULL);
    }
    topic_message parts;
    bool has_topic = one_way_split(&message, &parts);
    *topic = has_topic && strcmp(parts.topic, watch->data.name) == 0 ? &watch->data : &watch->events;
    watch->event = has_topic ? dynamics__v1__event__unpack(NULL, parts.size, parts.event) : NULL;
    incoming_free(&message);
    return watch->event ? DYN_CLIENT_OK : fail_bad_reply(error, "a published message cannot be read");
}

/* Counts the messages of the topic that were lost before watch->event. A daemon that was restarted numbers its messages
 * from 1 again. */
static void count_lost(dyn_client_watch *watch, watched_topic *topic) {
    const Dynamics__V1__Event *event = watch->event;
    if (event->instance != watch->instance) {
        watch->data.sequence = watch->events.sequence = 0;
    }
    watch->instance = event->instance;
    topic->lost +=
        topic->sequence > 0 && event->sequence > topic->sequence + 1 ? event->sequence - topic->sequence - 1 : 0;
    topic->sequence = event->sequence;
}

/* Waits at most `wait` seconds for an event of a known kind. `topic` receives its topic. */
static dyn_client_status await_event(dyn_client_watch *watch, double wait, watched_topic **topic,
                                     dyn_client_error *error) {
    dyn_client_status status = DYN_CLIENT_OK;
    double end = monotonic_now() + wait;
    for (bool is_found = false; status == DYN_CLIENT_OK && !is_found;) {
        status = receive_event(watch, end - monotonic_now(), topic, error);
        if (status == DYN_CLIENT_OK) {
            count_lost(watch, *topic);
            is_found = is_known(watch->event);
            watch->next = is_found ? 0 : update_count(watch->event);
        }
        if (status == DYN_CLIENT_OK && !is_found && monotonic_now() > end) {
            status = fail(error, DYN_CLIENT_TIMEOUT, NULL, "no event of a known kind was published within %g s", wait);
        }
    }
    return status;
}

dyn_client_status dyn_client_watch_next(dyn_client_watch *watch, double timeout, dyn_client_update *update,
                                        dyn_client_error *error) {
    dyn_client_update made;
    if (!watch) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "watch", "watch is NULL");
    }
    watched_topic *topic = &watch->data;
    dyn_client_status status = sized_check("update", update, error);
    if (status == DYN_CLIENT_OK && !(watch->event && watch->next < update_count(watch->event))) {
        status = await_event(watch, timeout > 0 ? timeout : DEFAULT_WAIT, &topic, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    const Dynamics__V1__SimulationStateEvent *states = states_of(watch->event, watch->next++);
    read_event(watch->event, states, &watch->model, &made);
    if (!is_consistent(&made, watch->event, states)) {
        return fail_bad_reply(error, "the arrays of a published message have different lengths");
    }
    made.remaining = update_count(watch->event) - watch->next;
    made.lost = topic->lost;
    topic->lost = 0;
    sized_write(&made, sizeof made, update);
    return DYN_CLIENT_OK;
}

void dyn_client_watch_close(dyn_client_watch *watch) {
    if (!watch) {
        return;
    }
    one_way_close(watch->socket);
    if (watch->event) {
        dynamics__v1__event__free_unpacked(watch->event, NULL);
    }
    free(watch);
}
