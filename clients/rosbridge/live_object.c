/*
 * Simulations and streams as owners of topics.
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

const double LIVE_ASK_TIME = 5;

/* ---- coming and going -------------------------------------------------------------------------------------------- */

void live_object_init(live_object *made, bridge *in, event_reader *reader, const char *kind, const char *name,
                      const char *digest, size_t joint_count, char *const *joint_names) {
    made->bridge = in;
    made->reader = reader;
    made->kind = kind;
    snprintf(made->name, sizeof made->name, "%s", name);
    snprintf(made->digest, sizeof made->digest, "%s", digest);
    made->joint_names = json_array();
    for (size_t i = 0; i < joint_count; i++)
        json_array_append_new(made->joint_names, json_string(joint_names[i]));
}

void live_object_open(live_object *of, int place, const char *what, const char *type, bool is_latching,
                      topic_reader read) {
    char name[TOPIC_NAME_SIZE];
    snprintf(name, sizeof name, "/dynamics/%ss/%s/%s", of->kind, of->name, what);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '.' || *c == '-')
            *c = '_';
    of->topics[place] = topic_open(of->bridge, name, type, is_latching, read, of);
}

static void release(live_object *of) {
    if (!of->is_gone || of->questions > 0)
        return;
    if (of->on_free != NULL)
        of->on_free(of);
    json_decref(of->joint_names);
    free(of->coordinates);
    free(of);
}

static void unwatch(live_object *of) {
    const char *const topics[2] = {of->data_topic, of->events_topic};
    if (of->is_watched && of->address != 0 && of->reader != NULL)
        event_reader_forget(of->reader, of->address, topics);
    of->is_watched = false;
    of->address = 0;
}

void live_object_end(live_object *ended) {
    unwatch(ended);
    for (int i = 0; i < LIVE_TOPICS; i++)
        if (ended->topics[i] != NULL)
            topic_close(ended->bridge, ended->topics[i]);
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
    while (first != NULL && strcmp(first->name, name) != 0)
        first = first->next;
    return first;
}

void live_object_sweep(live_object **first, uint64_t generation) {
    while (*first != NULL) {
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

/* Appends the coordinates of a joint. */
static void add_joint(live_object *of, const Dynamics__V1__Joint *joint) {
    if (joint->nq == 1 && joint->nv == 1) {
        coordinate *added = &of->coordinates[of->coordinate_count++];
        snprintf(added->name, sizeof added->name, "%s", joint->name);
        added->q = (uint32_t)of->nq;
        added->v = (uint32_t)of->nv;
    }
    of->nq += joint->nq;
    of->nv += joint->nv;
}

/* The coordinates of the joints in the order of the rows. */
static void on_description(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_object *of = user;
    const Dynamics__V1__DescribeModelReply *model = (const Dynamics__V1__DescribeModelReply *)result;
    (void)in, (void)reason;
    of->is_described = model != NULL;
    if (live_object_answered(of) || model == NULL)
        return;
    bool has_order = json_array_size(of->joint_names) > 0;
    size_t count = has_order ? json_array_size(of->joint_names) : model->n_joints;
    of->coordinates = calloc(count + 1, sizeof *of->coordinates);
    of->nq = of->nv = of->coordinate_count = 0;
    for (size_t i = 0; i < count && of->coordinates != NULL; i++) {
        const char *wanted = has_order ? json_string_value(json_array_get(of->joint_names, i)) : model->joints[i]->name;
        for (size_t j = 0; j < model->n_joints; j++)
            if (strcmp(model->joints[j]->name, wanted) == 0)
                add_joint(of, model->joints[j]);
    }
}

size_t live_object_place(const live_object *of, const char *joint) {
    for (size_t i = 0; i < of->coordinate_count; i++)
        if (strcmp(of->coordinates[i].name, joint) == 0)
            return of->coordinates[i].v;
    return SIZE_MAX;
}

bool live_object_is_plain(live_object *of, char error[TOPIC_ERROR_SIZE]) {
    if (of->nq > 0 && of->nq == of->nv && of->coordinate_count == of->nv)
        return true;
    of->is_written = true;
    snprintf(error, TOPIC_ERROR_SIZE,
             of->nq == 0 ? "the joints are still being asked for; send it again soon"
                         : "some joints have several coordinates; call the service");
    return false;
}

json_t *live_object_joint_state(const live_object *of, double time, const double *q, const double *v,
                                const double *tau) {
    json_t *names = json_array(), *position = json_array(), *velocity = json_array(), *effort = json_array();
    for (size_t i = 0; i < of->coordinate_count; i++) {
        const coordinate *at = &of->coordinates[i];
        json_array_append_new(names, json_string(at->name));
        if (q != NULL)
            json_array_append_new(position, json_real(q[at->q]));
        if (v != NULL)
            json_array_append_new(velocity, json_real(v[at->v]));
        if (tau != NULL)
            json_array_append_new(effort, json_real(tau[at->v]));
    }
    return json_pack("{s{so ss} so so so so}", "header", "stamp", ros_time(time), "frame_id", "", "name", names,
                     "position", position, "velocity", velocity, "effort", effort);
}

bool live_object_is_read(const live_object *of, int place) {
    return of->topics[place] != NULL && of->topics[place]->subscriptions != NULL;
}

void live_object_publish(const live_object *of, int place, json_t *message) {
    if (of->topics[place] != NULL && message != NULL)
        topic_publish(of->bridge, of->topics[place], message);
    json_decref(message);
}

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* The address of the same kind as that of the daemon's events: a unix socket is reached by who is on its machine. */
static const char *choose(const bridge *in, size_t count, char *const *addresses) {
    const char *own = in->config->events;
    size_t scheme = strcspn(own, ":");
    for (size_t i = 0; i < count; i++)
        if (strncmp(addresses[i], own, scheme + 1) == 0)
            return addresses[i];
    return count > 0 ? addresses[0] : NULL;
}

/* Reads the topics at one of the addresses. */
static void read_topics(live_object *of, size_t count, char *const *addresses, const char *data, const char *events) {
    const char *address = choose(of->bridge, count, addresses);
    snprintf(of->data_topic, sizeof of->data_topic, "%s", data);
    snprintf(of->events_topic, sizeof of->events_topic, "%s", events);
    const char *const topics[2] = {of->data_topic, of->events_topic};
    if (address != NULL)
        of->address = event_reader_watch(of->reader, address, topics);
}

static void on_watch(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_object *of = user;
    if (result == NULL) {
        bridge_log(in, "the %s %s cannot be watched: %s", of->kind, of->name, reason);
        of->is_watched = false;
    }
    if (live_object_answered(of) || result == NULL)
        return;
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
        is_read |= own != NULL && own->read == NULL && own->subscriptions != NULL && checked->reader != NULL;
        is_written |= own != NULL && own->read != NULL && own->publishers != NULL;
    }
    if ((is_read || is_written) && !checked->is_described) {
        checked->is_described = true;
        checked->questions++;
        call_ask(checked->bridge, "/dynamics/describe_model", json_pack("{ss}", "model", checked->digest),
                 LIVE_ASK_TIME, on_description, checked);
    }
    if (is_read && !checked->is_watched) {
        char service[LIVE_NAME_SIZE];
        snprintf(service, sizeof service, "/dynamics/watch_%s", checked->kind);
        checked->is_watched = true;
        checked->questions++;
        call_ask(checked->bridge, service, json_pack("{ss}", checked->kind, checked->name), LIVE_ASK_TIME, on_watch,
                 checked);
    } else if (!is_read && checked->is_watched && checked->address != 0) {
        unwatch(checked);
    }
}
