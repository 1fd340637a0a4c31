/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues commands of a simulation and sets them in the daemon, one at a time.
 */
#include "simulation_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { MOST_WAITING = 1024, PARTS = 3 };

/* Names of the parts in a message, and in the daemon's input. */
static const char *const members[PARTS] = {"position", "velocity", "effort"};
static const char *const fields[PARTS] = {"q_ref", "v_ref", "tau"};

typedef struct command {
    struct command *next;
    peer *from;        /* shared */
    json_t *arguments; /* arguments of SetSimulationInput */
} command;

/* ---- asking the daemon ------------------------------------------------------------------------------------------- */

static void drop_first(live_simulation *of) {
    command *dropped = of->commands;
    of->commands = dropped->next;
    peer_release(dropped->from);
    json_decref(dropped->arguments);
    free(dropped);
}

/* Returns the name of the coordinate at an index in the row of a part, or "". */
static const char *name_at(const coordinates *of, int part, size_t place) {
    for (size_t i = 0; i < of->count; i++) {
        if ((part == 0 ? of->list[i].q : of->list[i].v) == place) {
            return of->list[i].name;
        }
    }
    return "";
}

/* Reports an error to the publisher. The daemon's "args.input.q_ref[2]" becomes msg.position of a joint. */
static void report_error(const live_simulation *of, const command *refused, const char *reason) {
    char path[TOPIC_ERROR_SIZE] = "", field[32];
    if (strncmp(reason, "args.token", 10) == 0) {
        reason += 10;
        snprintf(path, sizeof path, "msg.header.frame_id");
    }
    for (int i = 0; i < PARTS && path[0] == '\0'; i++) {
        size_t place, length = (size_t)snprintf(field, sizeof field, "args.input.%s", fields[i]);
        int index = 0;
        if (strncmp(reason, field, length) != 0 || strchr(":![", reason[length])) {
            continue;
        }
        reason += length;
        snprintf(path, sizeof path, "msg.%s", members[i]);
        if (sscanf(reason, "[%zu]%n", &place, &index) == 1) {
            snprintf(path, sizeof path, "msg.%s of %.200s", members[i], name_at(&of->object.coordinates, i, place));
        }
        reason += index;
    }
    if (!refused->from->is_gone) {
        peer_status(refused->from, STATUS_ERROR, NULL, "publish: the command of %s: %s%s", of->object.name, path,
                    reason);
    }
}

static void on_commanded(bridge *in, void *user, const ProtobufCMessage *result, const char *reason);

static void request_next(live_simulation *of) {
    if (!of->commands) {
        return;
    }
    of->object.questions++;
    call_send(of->object.bridge, "/dynamics/set_simulation_input", json_incref(of->commands->arguments),
              LIVE_REQUEST_TIME, on_commanded, of);
}

static void on_commanded(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulation *of = user;
    (void)in;
    if (!result) {
        report_error(of, of->commands, reason);
    }
    drop_first(of);
    if (!of->object.is_gone) {
        request_next(of);
    }
    live_object_answered(&of->object);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Reads the values of one part in the order of the simulation's rows. On failure returns NULL and writes `error`. */
static json_t *read_row(const coordinates *of, const coordinate *const *places, const json_t *message, int part,
                        char *error) {
    const json_t *values = json_object_get(message, members[part]);
    size_t value_count = json_array_size(values), width = part == 0 ? of->nq : of->nv;
    size_t named = json_array_size(json_object_get(message, "name"));
    if (value_count != 0 && value_count != named) {
        snprintf(error, TOPIC_ERROR_SIZE, "msg.%s: %zu values; send one for each of %zu names, or none", members[part],
                 value_count, named);
        return NULL;
    }
    json_t *row = json_array();
    for (size_t i = 0; i < width && value_count > 0; i++) {
        json_array_append_new(row, json_null());
    }
    for (size_t i = 0; i < value_count; i++) {
        size_t place = !places[i] ? SIZE_MAX : part == 0 ? places[i]->q : places[i]->v;
        if (place != SIZE_MAX) {
            json_array_set(row, place, json_array_get(values, i));
        }
    }
    return row;
}

/* Returns the arguments of SetSimulationInput for a message. On failure returns NULL; `error` is written unless memory
 * is exhausted. */
static json_t *read_message(const live_object *of, const json_t *message, char *error) {
    const coordinate **places =
        coordinates_arrange(&of->coordinates, json_object_get(message, "name"), true, "msg.name", error);
    json_t *input = places ? json_object() : NULL;
    for (int part = 0; part < PARTS && input; part++) {
        json_t *row = read_row(&of->coordinates, places, message, part, error);
        if (!row || json_object_set_new(input, fields[part], row) != 0) {
            json_decref(input);
            input = NULL;
        }
    }
    free(places);
    if (!input) {
        return NULL;
    }
    json_t *token = json_object_get(json_object_get(message, "header"), "frame_id");
    return json_pack("{ss sO so}", "simulation", of->name, "token", token, "input", input);
}

bool simulation_command(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]) {
    live_simulation *of = to->user;
    command **end = &of->commands;
    size_t count = 0;
    if (of->object.coordinates.count == 0) {
        return live_object_hold(&of->object, from, to, message, error);
    }
    for (; *end; end = &(*end)->next) {
        count++;
    }
    if (count >= MOST_WAITING) {
        snprintf(error, TOPIC_ERROR_SIZE, "%zu commands wait already; send it again soon", count);
        return false;
    }
    snprintf(error, TOPIC_ERROR_SIZE, "out of memory");
    json_t *arguments = read_message(&of->object, message, error);
    command *added = arguments ? malloc(sizeof *added) : NULL;
    if (!added) {
        json_decref(arguments);
        return false;
    }
    *added = (command){.from = peer_share(from), .arguments = arguments};
    *end = added;
    if (count == 0) {
        request_next(of);
    }
    return true;
}

void simulation_command_free(live_simulation *freed) {
    while (freed->commands) {
        report_error(freed, freed->commands, "the simulation has ended (NOT_FOUND)");
        drop_first(freed);
    }
}
