/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the topics of the daemon, requests its health, and publishes its events.
 */
#include "daemon_topics.h"

#include <dynamics/v1/server.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "calls.h"
#include "message_json.h"
#include "ros_time.h"
#include "rosout.h"
#include "topics.h"

/* Levels of DiagnosticStatus. */
enum { LEVEL_OK = 0, LEVEL_WARN = 1, LEVEL_ERROR = 2, LEVEL_STALE = 3 };

struct daemon_topics {
    bridge *bridge;
    event_reader *reader;
    topic *diagnostics;
    event_topics events;
    double next_request;
    bool is_requesting;
    bool has_health; /* last_level was logged */
    int last_level;  /* LEVEL_ERROR also if the daemon does not answer */
};

void event_topics_publish(void *user, const char *name, const Dynamics__V1__Event *event) {
    event_topics *of = user;
    (void)name;
    if (event->event_case == DYNAMICS__V1__EVENT__EVENT_MODEL) {
        json_t *message = message_to_tree(MESSAGE_ROS, &event->model->base);
        topic_publish(of->bridge, of->models, message);
        json_decref(message);
    } else if (event->event_case == DYNAMICS__V1__EVENT__EVENT_PROGRESS) {
        actions_progress(of->bridge, event->progress);
    } else if (!live_simulations_publish(&of->simulations, event)) {
        live_streams_publish(&of->streams, event);
    }
}

static int level_of(Dynamics__V1__HealthState state) {
    switch (state) {
    case DYNAMICS__V1__HEALTH_STATE__HEALTH_STATE_SERVING:
        return LEVEL_OK;
    case DYNAMICS__V1__HEALTH_STATE__HEALTH_STATE_DEGRADED:
        return LEVEL_WARN;
    case DYNAMICS__V1__HEALTH_STATE__HEALTH_STATE_NOT_SERVING:
        return LEVEL_ERROR;
    default:
        return LEVEL_STALE;
    }
}

static void add_status(json_t *list, int level, const char *name, const char *message) {
    json_array_append_new(list, json_pack("{si ss+ ss ss s[]}", "level", level, "name", "dynamicsd: ", name, "message",
                                          message[0] != '\0' ? message : "serving", "hardware_id", "", "values"));
}

/* Logs a change of the health as a whole. `health` is NULL if the daemon does not answer, for the stated reason. */
static void log_health(daemon_topics *of, const Dynamics__V1__GetHealthReply *health, const char *reason) {
    int level = health ? level_of(health->state) : LEVEL_ERROR;
    if (of->has_health && level == of->last_level) {
        return;
    }
    rosout_publish(of->bridge,
                   level == LEVEL_OK     ? ROSOUT_INFO
                   : level == LEVEL_WARN ? ROSOUT_WARN
                                         : ROSOUT_ERROR,
                   "dynamicsd: %s",
                   !health               ? reason
                   : level == LEVEL_OK   ? "serving"
                   : level == LEVEL_WARN ? "degraded; /diagnostics states why"
                                         : "not serving; /diagnostics states why");
    of->has_health = true;
    of->last_level = level;
}

static void on_health(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    daemon_topics *of = user;
    const Dynamics__V1__GetHealthReply *health = (const Dynamics__V1__GetHealthReply *)result;
    json_t *list = json_array();
    of->is_requesting = false;
    log_health(of, health, reason);
    if (!health) {
        add_status(list, LEVEL_ERROR, "connection", reason);
    }
    for (size_t i = 0; health && i < health->n_components; i++) {
        add_status(list, level_of(health->components[i]->state), health->components[i]->name,
                   health->components[i]->message);
    }
    json_t *message =
        json_pack("{s{so ss} so}", "header", "stamp", ros_time_now(false), "frame_id", "", "status", list);
    topic_publish(in, of->diagnostics, message);
    json_decref(message);
}

daemon_topics *daemon_topics_start(bridge *of, char *error) {
    daemon_topics *started = calloc(1, sizeof *started);
    if (!started) {
        snprintf(error, CONFIG_ERROR_SIZE, "out of memory");
        return NULL;
    }
    started->bridge = started->events.bridge = of;
    started->events.simulations.bridge = started->events.streams.bridge = of;
    started->diagnostics = topic_open(of, "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", true, NULL, NULL);
    started->events.models = topic_open(of, "/dynamics/models", "dynamics_msgs/msg/ModelEvent", false, NULL, NULL);
    started->reader = event_reader_start(of, event_topics_publish, &started->events);
    started->events.simulations.reader = started->events.streams.reader = started->reader;
    if (rosout_open(of) && started->reader && started->diagnostics && started->events.models) {
        return started;
    }
    if (started->reader) {
        snprintf(error, CONFIG_ERROR_SIZE, "out of memory for the topics of the daemon");
    } else {
        snprintf(error, CONFIG_ERROR_SIZE,
                 "events = %.200s: pass an address ipc:///path, tcp://host:port or tls+tcp://host:port",
                 of->config->events);
    }
    daemon_topics_stop(started);
    return NULL;
}

void daemon_topics_check(daemon_topics *checked, double now) {
    live_simulations_check(&checked->events.simulations);
    live_streams_check(&checked->events.streams);
    if (now < checked->next_request) {
        return;
    }
    checked->next_request = now + checked->bridge->config->health_interval;
    live_simulations_request(&checked->events.simulations);
    live_streams_request(&checked->events.streams);
    if (checked->is_requesting) {
        return;
    }
    checked->is_requesting = true;
    call_send(checked->bridge, "/dynamics/get_health", NULL, checked->bridge->config->health_interval, on_health,
              checked);
}

void daemon_topics_stop(daemon_topics *stopped) {
    live_simulations_stop(&stopped->events.simulations);
    live_streams_stop(&stopped->events.streams);
    if (stopped->reader) {
        event_reader_stop(stopped->reader);
    }
    free(stopped);
}
