/*
 * The input of a simulation.
 */
#include "simulation_command.h"

#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "json_list.h"
#include "live_object.h"

/* Seconds that the daemon has to take an input. */
static const double COMMAND_TIME = 5;

static void on_commanded(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    peer *from = user;
    (void)in;
    if (result == NULL && !from->is_gone)
        peer_status(from, STATUS_ERROR, NULL, "publish: the simulation's command: %s", reason);
    peer_release(from);
}

/* The values in the order of the simulation's rows. NULL: `error`. */
static json_t *arrange(const live_object *of, const json_t *message, const char *member, char *error) {
    const json_t *names = json_object_get(message, "name"), *values = json_object_get(message, member);
    size_t count = json_array_size(values);
    json_t *row = json_array();
    if (count != 0 && (count != of->nv || json_array_size(names) != of->nv)) {
        snprintf(error, TOPIC_ERROR_SIZE, "msg.%s: %zu values for %zu names, but %s has %zu joints", member, count,
                 json_array_size(names), of->name, of->nv);
        json_decref(row);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        json_array_append_new(row, json_null());
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        size_t place = live_object_place(of, name);
        if (place == SIZE_MAX || !json_is_null(json_array_get(row, place))) {
            snprintf(error, TOPIC_ERROR_SIZE, "msg.name[%zu]: \"%.64s\" is %s", i, name,
                     place == SIZE_MAX ? "no joint of the simulation" : "named twice");
            json_decref(row);
            return NULL;
        }
        json_array_set(row, place, json_array_get(values, i));
    }
    return row;
}

bool simulation_command(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]) {
    static const char *const members[] = {"position", "velocity", "effort"}, *const fields[] = {"q", "v", "tau"};
    live_object *of = to->user;
    if (!live_object_is_plain(of, error))
        return false;
    json_t *input = json_object();
    for (int i = 0; i < 3; i++) {
        json_t *row = arrange(of, message, members[i], error);
        if (row == NULL) {
            json_decref(input);
            return false;
        }
        json_object_set_new(input, fields[i], row);
    }
    json_t *token = json_object_get(json_object_get(message, "header"), "frame_id");
    json_t *arguments = json_pack("{ss sO so}", "simulation", of->name, "token", token, "input", input);
    call_ask(from->bridge, "/dynamics/set_simulation_input", arguments, COMMAND_TIME, on_commanded, peer_share(from));
    return true;
}
