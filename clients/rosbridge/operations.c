/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the members of each operation of the protocol and runs it.
 */
#include "operations.h"

#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "offers.h"
#include "ros_names.h"
#include "services.h"
#include "topics.h"

/* Returns the type of a topic, service or action as spelled by the peer, or "" if there is none. Refuses the message
 * and returns NULL if the type is not valid. */
static const char *stated_type(const request *from) {
    const char *type = request_text(from, "type");
    if (!type || ros_type_is_sound(type)) {
        return type;
    }
    request_refuse(from, "type: \"%.64s\" is no type of ROS, such as sensor_msgs/JointState", type);
    return NULL;
}

/* Reads a type and converts it to the spelling of ROS 2. Returns false if it was refused. */
static bool read_type(const request *from, const char *kind, char type[ROS_NAME_SIZE]) {
    const char *stated = stated_type(from);
    if (stated) {
        ros_type_normalize(stated, kind, type);
    }
    return stated != NULL;
}

/* Refuses the message if there is a reason, `wrong`. */
static void finish(const request *from, const char *name, const char *wrong) {
    if (wrong) {
        request_refuse(from, "%s: %s", name, wrong);
    }
}

/* ---- topics ------------------------------------------------------------------------------------------------------ */

static void advertise(const request *from) {
    char name[ROS_NAME_SIZE], type[ROS_NAME_SIZE];
    if (!request_name(from, "topic", name) || !read_type(from, "msg", type)) {
        return;
    }
    if (type[0] == '\0') {
        request_refuse(from, "type: a type such as sensor_msgs/JointState is needed");
        return;
    }
    bool is_latching = json_is_true(json_object_get(from->message, "latch"));
    finish(from, name, topic_advertise(from->peer, name, type, is_latching));
}

static void unadvertise(const request *from) {
    char name[ROS_NAME_SIZE];
    if (request_name(from, "topic", name)) {
        finish(from, name, topic_unadvertise(from->peer, name));
    }
}

static void publish(const request *from) {
    char name[ROS_NAME_SIZE], error[TOPIC_ERROR_SIZE];
    if (!request_name(from, "topic", name)) {
        return;
    }
    json_t *body = json_object_get(from->message, "msg");
    json_t *message = body ? json_incref(body) : json_object();
    if (!topic_receive(from->peer, name, message, error)) {
        request_refuse(from, "%s: %s", name, error);
    }
    json_decref(message);
}

static void subscribe(const request *from) {
    char name[ROS_NAME_SIZE];
    double throttle, queue_length;
    encoding how;
    const char *type = stated_type(from);
    if (!type || !request_name(from, "topic", name) || !request_number(from, "throttle_rate", 0, &throttle) ||
        !request_number(from, "queue_length", 0, &queue_length) || !request_encoding(from, &how)) {
        return;
    }
    subscribe_request *added = calloc(1, sizeof *added);
    if (!added) {
        request_refuse(from, "%s: out of memory", name);
        return;
    }
    added->id = json_incref(from->id);
    added->throttle = 1e-3 * throttle;
    added->queue_length = queue_length < 1e4 ? (size_t)queue_length : 10000;
    added->encoding = how;
    added->is_bare = request_is_bare(from, "topic");
    finish(from, name, topic_subscribe(from->peer, name, type, added));
}

static void unsubscribe(const request *from) {
    char name[ROS_NAME_SIZE];
    if (request_name(from, "topic", name)) {
        finish(from, name, topic_unsubscribe(from->peer, name, from->id));
    }
}

/* ---- services and actions of peers ------------------------------------------------------------------------------- */

static void add_offer(const request *from, const char *member, const char *kind, bool is_action) {
    char name[ROS_NAME_SIZE], type[ROS_NAME_SIZE];
    if (!request_name(from, member, name) || !read_type(from, kind, type)) {
        return;
    }
    if (service_is_reserved(name)) {
        request_refuse(from, "%s: names below /dynamics and /rosapi are taken", name);
    } else {
        finish(from, name, offer_add(from->peer, name, request_is_bare(from, member), type, is_action));
    }
}

static void withdraw(const request *from, const char *member, bool is_action) {
    char name[ROS_NAME_SIZE];
    if (request_name(from, member, name) && !offer_remove(from->peer, name, is_action)) {
        request_refuse(from, "%s: this connection does not offer it", name);
    }
}

static void advertise_service(const request *from) {
    add_offer(from, "service", "srv", false);
}

static void unadvertise_service(const request *from) {
    withdraw(from, "service", false);
}

static void advertise_action(const request *from) {
    add_offer(from, "action", "action", true);
}

static void unadvertise_action(const request *from) {
    withdraw(from, "action", true);
}

static void answer(const request *from, bool is_final) {
    const char *id = json_string_value(from->id);
    if (!id || !offer_answer(from->peer, id, from->message, is_final)) {
        request_refuse(from, "id: no call or goal of this id waits for an answer of this connection");
    }
}

static void final_answer(const request *from) {
    answer(from, true);
}

static void action_feedback(const request *from) {
    answer(from, false);
}

/* ---- the connection ---------------------------------------------------------------------------------------------- */

static void set_level(const request *from) {
    static const char *const words[] = {"none", "error", "warning", "info"};
    const char *level = request_text(from, "level");
    for (int i = 0; level && i < 4; i++) {
        if (strcmp(level, words[i]) == 0) {
            from->peer->level = (status_level)i;
            return;
        }
    }
    if (level) {
        request_refuse(from, "level: \"%.32s\" is none of none, error, warning and info", level);
    }
}

/* Logs a status message of the dialled server. One from a client is ignored. */
static void status(const request *from) {
    if (!from->peer->is_dialled) {
        return;
    }
    const char *text = json_string_value(json_object_get(from->message, "msg"));
    bridge_log(from->peer->bridge, "%s says: %.200s", from->peer->name, text ? text : "");
}

static void auth(const request *from) {
    request_refuse(from, "send the token as \"Authorization: Bearer TOKEN\" or as ?token=TOKEN in the address");
}

typedef struct operation {
    const char *name;
    void (*run)(const request *from);
} operation;

static const operation operations[] = {
    {"advertise", advertise},
    {"unadvertise", unadvertise},
    {"publish", publish},
    {"subscribe", subscribe},
    {"unsubscribe", unsubscribe},
    {"call_service", service_call},
    {"service_response", final_answer},
    {"advertise_service", advertise_service},
    {"unadvertise_service", unadvertise_service},
    {"advertise_action", advertise_action},
    {"unadvertise_action", unadvertise_action},
    {"send_action_goal", action_goal},
    {"cancel_action_goal", action_cancel},
    {"action_feedback", action_feedback},
    {"action_result", final_answer},
    {"set_level", set_level},
    {"status", status},
    {"auth", auth},
};

bool operation_run(const request *from) {
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (strcmp(operations[i].name, from->op) == 0) {
            operations[i].run(from);
            return true;
        }
    }
    return false;
}
