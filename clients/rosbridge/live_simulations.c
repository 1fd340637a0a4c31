/*
 * The simulations of the daemon as topics.
 */
#include "live_simulations.h"

#include <dynamics/v1/model.pb-c.h>
#include <dynamics/v1/simulation.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "message_json.h"
#include "ros_time.h"
#include "simulation_command.h"

/* Seconds that the daemon has for an answer. */
static const double ASK_TIME = 5;

/* ---- coming and going -------------------------------------------------------------------------------------------- */

static topic *open_topic(live_simulation *of, const char *what, const char *type, bool is_latching, topic_reader read) {
    char name[TOPIC_NAME_SIZE];
    snprintf(name, sizeof name, "/dynamics/simulations/%s/%s", of->name, what);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '.' || *c == '-')
            *c = '_';
    return topic_open(of->of->bridge, name, type, is_latching, read, of);
}

static void release(live_simulation *of) {
    if (!of->is_gone || of->questions > 0)
        return;
    json_decref(of->joint_names);
    free(of->coordinates);
    free(of);
}

static void unwatch(live_simulation *of) {
    const char *const topics[2] = {of->state_topic, of->events_topic};
    if (of->is_watched && of->address != 0 && of->of->reader != NULL)
        event_reader_forget(of->of->reader, of->address, topics);
    of->is_watched = false;
    of->address = 0;
}

static void end(live_simulation *ended) {
    bridge *in = ended->of->bridge;
    unwatch(ended);
    topic *const own[] = {ended->states, ended->joint_states, ended->events, ended->command};
    for (int i = 0; i < 4; i++)
        if (own[i] != NULL)
            topic_close(in, own[i]);
    ended->is_gone = true;
    release(ended);
}

/* The coordinates of the joints in the order of the simulation's rows. */
static void on_description(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulation *of = user;
    const Dynamics__V1__DescribeModelReply *model = (const Dynamics__V1__DescribeModelReply *)result;
    (void)in, (void)reason;
    of->questions--;
    if (of->is_gone || model == NULL) {
        of->is_described = false;
        release(of);
        return;
    }
    bool has_order = json_array_size(of->joint_names) > 0;
    size_t count = has_order ? json_array_size(of->joint_names) : model->n_joints;
    of->coordinates = calloc(count + 1, sizeof *of->coordinates);
    of->nq = of->nv = of->coordinate_count = 0;
    for (size_t i = 0; i < count && of->coordinates != NULL; i++) {
        const char *wanted = has_order ? json_string_value(json_array_get(of->joint_names, i)) : model->joints[i]->name;
        for (size_t j = 0; j < model->n_joints; j++) {
            const Dynamics__V1__Joint *joint = model->joints[j];
            if (strcmp(joint->name, wanted) != 0)
                continue;
            coordinate *added = &of->coordinates[of->coordinate_count];
            if (joint->nq == 1 && joint->nv == 1) {
                snprintf(added->name, sizeof added->name, "%s", joint->name);
                added->q = (uint32_t)of->nq;
                added->v = (uint32_t)of->nv;
                of->coordinate_count++;
            }
            of->nq += joint->nq;
            of->nv += joint->nv;
        }
    }
}

static void begin(live_simulations *in, const Dynamics__V1__SimulationSummary *summary) {
    live_simulation *added = calloc(1, sizeof *added);
    if (added == NULL)
        return;
    added->of = in;
    added->generation = in->generation;
    snprintf(added->name, sizeof added->name, "%s", summary->name);
    snprintf(added->digest, sizeof added->digest, "%s", summary->digest);
    added->joint_names = json_array();
    for (size_t i = 0; i < summary->n_joint_names; i++)
        json_array_append_new(added->joint_names, json_string(summary->joint_names[i]));
    added->joint_states = open_topic(added, "joint_states", "sensor_msgs/msg/JointState", true, NULL);
    added->states = open_topic(added, "state", "dynamics_msgs/msg/SimulationStateEvent", false, NULL);
    added->events = open_topic(added, "events", "dynamics_msgs/msg/SimulationEvent", false, NULL);
    added->command = open_topic(added, "command", "sensor_msgs/msg/JointState", false, simulation_command);
    added->next = in->first;
    in->first = added;
}

static void on_list(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulations *of = user;
    const Dynamics__V1__ListSimulationsReply *list = (const Dynamics__V1__ListSimulationsReply *)result;
    (void)in, (void)reason;
    of->is_asking = false;
    if (list == NULL)
        return;
    of->generation++;
    for (size_t i = 0; i < list->n_simulations; i++) {
        live_simulation *known = of->first;
        while (known != NULL && (strcmp(known->name, list->simulations[i]->name) != 0 ||
                                 strcmp(known->digest, list->simulations[i]->digest) != 0))
            known = known->next;
        if (known != NULL)
            known->generation = of->generation;
        else
            begin(of, list->simulations[i]);
    }
    for (live_simulation **link = &of->first; *link != NULL;) {
        live_simulation *each = *link;
        if (each->generation == of->generation) {
            link = &each->next;
        } else {
            *link = each->next;
            end(each);
        }
    }
}

void live_simulations_ask(live_simulations *of) {
    if (of->is_asking)
        return;
    of->is_asking = true;
    call_ask(of->bridge, "/dynamics/list_simulations", NULL, ASK_TIME, on_list, of);
}

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* The address of the same kind as that of the daemon's events: a unix socket is reached by who is on its machine. */
static const char *choose(const live_simulations *in, size_t count, char *const *addresses) {
    const char *own = in->bridge->config->events;
    size_t scheme = strcspn(own, ":");
    for (size_t i = 0; i < count; i++)
        if (strncmp(addresses[i], own, scheme + 1) == 0)
            return addresses[i];
    return count > 0 ? addresses[0] : NULL;
}

static void on_watch(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulation *of = user;
    const Dynamics__V1__WatchSimulationReply *reply = (const Dynamics__V1__WatchSimulationReply *)result;
    of->questions--;
    if (of->is_gone || reply == NULL) {
        if (reply == NULL)
            bridge_log(in, "the simulation %s cannot be watched: %s", of->name, reason);
        of->is_watched = false;
        release(of);
        return;
    }
    const char *address = choose(of->of, reply->n_addresses, reply->addresses);
    snprintf(of->state_topic, sizeof of->state_topic, "%s", reply->state_topic);
    snprintf(of->events_topic, sizeof of->events_topic, "%s", reply->events_topic);
    const char *const topics[2] = {of->state_topic, of->events_topic};
    if (address != NULL)
        of->address = event_reader_watch(of->of->reader, address, topics);
}

static bool is_read(const live_simulation *of) {
    return (of->states != NULL && of->states->subscriptions != NULL) ||
           (of->joint_states != NULL && of->joint_states->subscriptions != NULL) ||
           (of->events != NULL && of->events->subscriptions != NULL);
}

void live_simulations_check(live_simulations *checked) {
    for (live_simulation *each = checked->first; each != NULL; each = each->next) {
        bool wanted = is_read(each) && checked->reader != NULL;
        bool is_driven = each->command != NULL && each->command->publishers != NULL;
        if ((wanted || is_driven) && !each->is_described) {
            each->is_described = true;
            each->questions++;
            call_ask(checked->bridge, "/dynamics/describe_model", json_pack("{ss}", "model", each->digest), ASK_TIME,
                     on_description, each);
        }
        if (wanted && !each->is_watched) {
            each->is_watched = true;
            each->questions++;
            call_ask(checked->bridge, "/dynamics/watch_simulation", json_pack("{ss}", "simulation", each->name),
                     ASK_TIME, on_watch, each);
        } else if (!wanted && each->is_watched && each->address != 0) {
            unwatch(each);
        }
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static live_simulation *find(const live_simulations *in, const char *name) {
    live_simulation *found = in->first;
    while (found != NULL && strcmp(found->name, name) != 0)
        found = found->next;
    return found;
}

/* The last state of an event as a JointState; its stamp is the simulated time. */
static json_t *joint_state(const live_simulation *of, const Dynamics__V1__SimulationStateEvent *event) {
    size_t states = event->n_time;
    if (states == 0 || of->nq == 0 || event->n_q != states * of->nq || event->n_v != states * of->nv)
        return NULL;
    const double *q = event->q + (states - 1) * of->nq, *v = event->v + (states - 1) * of->nv;
    const double *tau = event->n_tau == event->n_v ? event->tau + (states - 1) * of->nv : NULL;
    json_t *names = json_array(), *position = json_array(), *velocity = json_array(), *effort = json_array();
    for (size_t i = 0; i < of->coordinate_count; i++) {
        const coordinate *at = &of->coordinates[i];
        json_array_append_new(names, json_string(at->name));
        json_array_append_new(position, json_real(q[at->q]));
        json_array_append_new(velocity, json_real(v[at->v]));
        if (tau != NULL)
            json_array_append_new(effort, json_real(tau[at->v]));
    }
    return json_pack("{s{so ss} so so so so}", "header", "stamp", ros_time(event->time[states - 1]), "frame_id", "",
                     "name", names, "position", position, "velocity", velocity, "effort", effort);
}

static void publish(bridge *in, topic *to, json_t *message) {
    if (to != NULL && message != NULL)
        topic_publish(in, to, message);
    json_decref(message);
}

bool live_simulations_take(live_simulations *of, const Dynamics__V1__Event *event) {
    if (event->event_case == DYNAMICS__V1__EVENT__EVENT_SIMULATION_STATE) {
        const Dynamics__V1__SimulationStateEvent *state = event->simulation_state;
        live_simulation *known = find(of, state->simulation);
        if (known == NULL)
            return false;
        if (known->joint_states->subscriptions != NULL)
            publish(of->bridge, known->joint_states, joint_state(known, state));
        if (known->states->subscriptions != NULL)
            publish(of->bridge, known->states, message_to_tree(MESSAGE_ROS, &state->base));
        return true;
    }
    if (event->event_case != DYNAMICS__V1__EVENT__EVENT_SIMULATION_EVENT)
        return false;
    const Dynamics__V1__SimulationEvent *told = event->simulation_event;
    live_simulation *known = find(of, told->simulation);
    if (known == NULL)
        return false;
    publish(of->bridge, known->events, message_to_tree(MESSAGE_ROS, &told->base));
    live_simulations_ask(of);
    return true;
}

void live_simulations_stop(live_simulations *stopped) {
    while (stopped->first != NULL) {
        live_simulation *each = stopped->first;
        stopped->first = each->next;
        end(each);
    }
}
