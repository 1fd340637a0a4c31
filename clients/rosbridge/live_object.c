/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens, watches and closes the topics of a simulation or a stream.
 */
#include "live_object.h"

#include <dynamics/v1/model.pb-c.h>
#include <dynamics/v1/simulation.pb-c.h>
#include <dynamics/v1/stream.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "ros_time.h"

const double LIVE_REQUEST_TIME = 5;

enum { MOST_HELD = 32 };

/* Message that waits for the coordinates. */
typedef struct held_message {
    struct held_message *next;
    peer *from; /* shared */
    topic *to;
    json_t *message;
} held_message;

/* ---- coming and going -------------------------------------------------------------------------------------------- */

void live_object_init(live_object *made, bridge *in, event_reader *reader, const char *kind, const char *name,
                      const char *digest, size_t joint_count, char *const *joint_names) {
    made->bridge = in;
    made->reader = reader;
    made->kind = kind;
    snprintf(made->name, sizeof made->name, "%s", name);
    snprintf(made->digest, sizeof made->digest, "%s", digest);
    made->joint_names = json_array();
    for (size_t i = 0; i < joint_count; i++) {
        json_array_append_new(made->joint_names, json_string(joint_names[i]));
    }
}

static void name_topic(const char *kind, const char *object, const char *what, char name[TOPIC_NAME_SIZE]) {
    snprintf(name, TOPIC_NAME_SIZE, "/dynamics/%ss/%s/%s", kind, object, what);
    for (char *c = name; *c != '\0'; c++) {
        if (*c == '-') {
            *c = '_';
        }
    }
}

bool live_object_is_free(bridge *in, const char *kind, const char *name) {
    char events[TOPIC_NAME_SIZE]; /* topic of every object */
    name_topic(kind, name, "events", events);
    const topic *known = topic_find(in, events);
    return !known || !known->is_own;
}

void live_object_open(live_object *of, int place, const char *what, const char *type, bool is_latching,
                      topic_reader read) {
    char name[TOPIC_NAME_SIZE];
    name_topic(of->kind, of->name, what, name);
    live_object_open_as(of, place, name, type, is_latching, read);
}

void live_object_open_as(live_object *of, int place, const char *name, const char *type, bool is_latching,
                         topic_reader read) {
    of->topics[place] = topic_open(of->bridge, name, type, is_latching, read, of);
}

/* Removes the first held message from the list and returns it. The list must not be empty. */
static held_message pop_held(live_object *of) {
    held_message *first = of->held, popped = *first;
    of->held = first->next;
    free(first);
    return popped;
}

/* Reports to the publisher that a message could not be read. */
static void report_held(const held_message *of, const char *reason) {
    if (!of->from->is_gone) {
        peer_status(of->from, STATUS_ERROR, NULL, "publish: %s: %s", of->to->name, reason);
    }
}

static void free_held(const held_message *freed) {
    peer_release(freed->from);
    json_decref(freed->message);
}

/* Drops all held messages, since the coordinates cannot be determined. */
static void drop_held(live_object *of, const char *reason) {
    while (of->held) {
        held_message dropped = pop_held(of);
        report_held(&dropped, reason);
        free_held(&dropped);
    }
}

static void release(live_object *of) {
    if (!of->is_gone || of->questions > 0) {
        return;
    }
    if (of->on_free) {
        of->on_free(of);
    }
    json_decref(of->joint_names);
    coordinates_free(&of->coordinates);
    free(of);
}

static void unwatch(live_object *of) {
    const char *const topics[2] = {of->data_topic, of->events_topic};
    if (of->is_watched && of->subscription != 0 && of->reader) {
        event_reader_forget(of->reader, of->subscription, topics);
    }
    of->is_watched = false;
    of->subscription = 0;
}

void live_object_end(live_object *ended) {
    unwatch(ended);
    drop_held(ended, "it has ended (NOT_FOUND)");
    for (int i = 0; i < LIVE_TOPICS; i++) {
        if (ended->topics[i]) {
            topic_close(ended->bridge, ended->topics[i]);
        }
    }
    ended->is_gone = true;
    release(ended);
}

bool live_object_answered(live_object *of) {
    bool is_gone = of->is_gone;
    of->questions--;
    release(of);
    return is_gone;
}

live_object *live_object_find(live_object *first, const char *name) {
    while (first && strcmp(first->name, name) != 0) {
        first = first->next;
    }
    return first;
}

void live_object_sweep(live_object **first, uint64_t generation) {
    while (*first) {
        live_object *each = *first;
        if (each->generation == generation) {
            first = &each->next;
        } else {
            *first = each->next;
            live_object_end(each);
        }
    }
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

void live_object_learn(live_object *of, const Dynamics__V1__DescribeModelReply *model) {
    char error[TOPIC_ERROR_SIZE];
    if (!coordinates_read(&of->coordinates, model, of->joint_names)) {
        of->is_described = false; /* the next check requests the joints again */
        drop_held(of, "its joints cannot be told; send it again");
        return;
    }
    while (of->held) {
        held_message next = pop_held(of);
        error[0] = '\0';
        if (!next.to->read(next.from, next.to, next.message, error)) {
            report_held(&next, error);
        }
        free_held(&next);
    }
}

static void on_description(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_object *of = user;
    (void)in;
    of->is_described = result != NULL;
    if (live_object_answered(of)) {
        return;
    }
    if (result) {
        live_object_learn(of, (const Dynamics__V1__DescribeModelReply *)result);
    } else {
        drop_held(of, reason);
    }
}

bool live_object_hold(live_object *of, peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]) {
    held_message **end = &of->held;
    size_t count = 0;
    for (; *end; end = &(*end)->next) {
        count++;
    }
    held_message *added = count < MOST_HELD ? malloc(sizeof *added) : NULL;
    if (!added) {
        snprintf(error, TOPIC_ERROR_SIZE, "%zu messages wait already, the joints are asked for; send it again soon",
                 count);
        return false;
    }
    *added = (held_message){.from = peer_share(from), .to = to, .message = json_incref((json_t *)message)};
    *end = added;
    of->is_written = true;
    live_object_check(of);
    return true;
}

/* Returns the number at an index of a row as JSON: null for NaN and infinity, which JSON lacks, and zero for the index
 * SIZE_MAX. */
static json_t *value_at(const double *row, size_t place) {
    json_t *value = json_real(place != SIZE_MAX ? row[place] : 0);
    return value ? value : json_null();
}

json_t *live_object_joint_state(const live_object *of, double time, const double *q, const double *v,
                                const double *tau) {
    json_t *names = json_array(), *position = json_array(), *velocity = json_array(), *effort = json_array();
    for (size_t i = 0; i < of->coordinates.count; i++) {
        const coordinate *at = &of->coordinates.list[i];
        json_array_append_new(names, json_string(at->name));
        if (q) {
            json_array_append_new(position, value_at(q, at->q));
        }
        if (v) {
            json_array_append_new(velocity, value_at(v, at->v));
        }
        if (tau) {
            json_array_append_new(effort, value_at(tau, at->v));
        }
    }
    return json_pack("{s{so ss} so so so so}", "header", "stamp", ros_time(time), "frame_id", "", "name", names,
                     "position", position, "velocity", velocity, "effort", effort);
}

bool live_object_is_read(const live_object *of, int place) {
    return of->topics[place] && of->topics[place]->subscriptions != NULL;
}

bool live_object_is_due(const live_object *of, int place) {
    double now = monotonic_time();
    const subscription *each = of->topics[place] ? of->topics[place]->subscriptions : NULL;
    while (each && each->queue_length == 0 && now < each->next_time) {
        each = each->next;
    }
    return each != NULL;
}

void live_object_publish(const live_object *of, int place, json_t *message) {
    if (of->topics[place]) {
        topic_publish(of->bridge, of->topics[place], message);
    }
    json_decref(message);
}

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* Subscribes to the topics at one of the addresses. */
static void read_topics(live_object *of, size_t count, char *const *addresses, const char *data, const char *events) {
    snprintf(of->data_topic, sizeof of->data_topic, "%s", data);
    snprintf(of->events_topic, sizeof of->events_topic, "%s", events);
    const char *const topics[2] = {of->data_topic, of->events_topic};
    of->subscription = event_reader_watch(of->reader, count, addresses, topics);
}

static void on_watch(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_object *of = user;
    if (!result) {
        bridge_log(in, "the %s %s cannot be watched: %s", of->kind, of->name, reason);
        of->is_watched = false;
    }
    if (live_object_answered(of) || !result) {
        return;
    }
    if (result->descriptor == &dynamics__v1__watch_simulation_reply__descriptor) {
        const Dynamics__V1__WatchSimulationReply *reply = (const Dynamics__V1__WatchSimulationReply *)result;
        read_topics(of, reply->n_addresses, reply->addresses, reply->state_topic, reply->events_topic);
    } else {
        const Dynamics__V1__WatchStreamReply *reply = (const Dynamics__V1__WatchStreamReply *)result;
        read_topics(of, reply->n_addresses, reply->addresses, reply->torques_topic, reply->events_topic);
    }
}

void live_object_check(live_object *checked) {
    bool is_read = false, is_written = checked->is_written;
    for (int i = 0; i < LIVE_TOPICS; i++) {
        const topic *own = checked->topics[i];
        is_read |= own && !own->read && own->subscriptions && checked->reader != NULL;
        is_written |= own && own->read && own->publishers != NULL;
    }
    if ((is_read || is_written) && !checked->is_described) {
        checked->is_described = true;
        checked->questions++;
        call_send(checked->bridge, "/dynamics/describe_model", json_pack("{ss}", "model", checked->digest),
                  LIVE_REQUEST_TIME, on_description, checked);
    }
    if (is_read && !checked->is_watched) {
        char service[LIVE_NAME_SIZE];
        snprintf(service, sizeof service, "/dynamics/watch_%s", checked->kind);
        checked->is_watched = true;
        checked->questions++;
        call_send(checked->bridge, service, json_pack("{ss}", checked->kind, checked->name), LIVE_REQUEST_TIME,
                  on_watch, checked);
    } else if (!is_read && checked->is_watched && checked->subscription != 0) {
        unwatch(checked);
    }
}
