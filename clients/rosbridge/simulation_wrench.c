/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues wrenches on the links of a simulation and sets them in the daemon, one at a time.
 */
#include "simulation_wrench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { MOST_WAITING = 64, TOKEN_SIZE = 24, LINK_SIZE = 256 };

typedef struct wrench {
    struct wrench *next;
    peer *from; /* shared */
    char token[TOKEN_SIZE], link[LINK_SIZE];
    double force[3], torque[3];
} wrench;

/* Returns the address of the pointer to the wrench on a link, or of the NULL at the end of the list. */
static wrench **find(wrench **list, const char *link) {
    while (*list && strcmp((*list)->link, link) != 0) {
        list = &(*list)->next;
    }
    return list;
}

static void drop(wrench **place) {
    wrench *dropped = *place;
    if (!dropped) {
        return;
    }
    *place = dropped->next;
    peer_release(dropped->from);
    free(dropped);
}

static bool is_zero(const wrench *of) {
    bool zero = true;
    for (int i = 0; i < 3; i++) {
        zero &= of->force[i] == 0 && of->torque[i] == 0;
    }
    return zero;
}

/* ---- asking the daemon ------------------------------------------------------------------------------------------- */

static json_t *force_of(const wrench *of) {
    const double *f = of->force, *t = of->torque;
    return json_pack("{ss ss s[fff] s[fff]}", "link", of->link, "reference_frame", "REFERENCE_FRAME_LOCAL", "force",
                     f[0], f[1], f[2], "torque", t[0], t[1], t[2]);
}

/* Reports an error to the publisher. The daemon's link and token are parts of header.frame_id. */
static void report_error(const wrench *of, const char *reason) {
    static const char *const fields[] = {"args.input.external_forces[0].link", "args.token"};
    const char *path = "";
    for (int i = 0; i < 2; i++) {
        if (strncmp(reason, fields[i], strlen(fields[i])) == 0) {
            path = "msg.header.frame_id";
            reason += strlen(fields[i]);
            break;
        }
    }
    if (!of->from->is_gone) {
        peer_status(of->from, STATUS_ERROR, NULL, "publish: the wrench on %s: %s%s", of->link, path, reason);
    }
}

static void request_next(live_simulation *of);

static void on_set(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulation *of = user;
    wrench *requested = of->requested;
    (void)in;
    of->requested = NULL;
    if (!result) {
        report_error(requested, reason);
    } else {
        drop(find(&of->acting, requested->link));
        if (!is_zero(requested)) {
            requested->next = of->acting;
            of->acting = requested;
            requested = NULL;
        }
    }
    drop(&requested);
    if (!of->object.is_gone) {
        request_next(of);
    }
    live_object_answered(&of->object);
}

/* Sets the oldest waiting wrench, together with those that act on other links. */
static void request_next(live_simulation *of) {
    wrench *requested = of->waiting;
    if (!requested) {
        return;
    }
    of->waiting = requested->next;
    requested->next = NULL;
    of->requested = requested;
    json_t *forces = json_pack("[o]", force_of(requested));
    for (const wrench *each = of->acting; each; each = each->next) {
        if (strcmp(each->link, requested->link) != 0) {
            json_array_append_new(forces, force_of(each));
        }
    }
    json_t *arguments = json_pack("{ss ss s{so}}", "simulation", of->object.name, "token", requested->token, "input",
                                  "external_forces", forces);
    of->object.questions++;
    call_send(of->object.bridge, "/dynamics/set_simulation_input", arguments, LIVE_REQUEST_TIME, on_set, of);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Splits TOKEN/LINK at the first slash, since names of links may have slashes. Returns false and writes `error` for
 * other text. */
static bool read_header(const json_t *message, wrench *to, char *error) {
    const char *text = json_string_value(json_object_get(json_object_get(message, "header"), "frame_id"));
    size_t digits = text ? strspn(text, "0123456789") : 0;
    if (digits == 0 || digits >= TOKEN_SIZE || text[digits] != '/' || text[digits + 1] == '\0' ||
        strlen(text + digits + 1) >= LINK_SIZE) {
        snprintf(error, TOPIC_ERROR_SIZE,
                 "msg.header.frame_id: send TOKEN/LINK, the token that CreateSimulation returned and a link or frame");
        return false;
    }
    snprintf(to->token, sizeof to->token, "%.*s", (int)digits, text);
    snprintf(to->link, sizeof to->link, "%s", text + digits + 1);
    return true;
}

static void read_vector(const json_t *vector, double *to) {
    static const char *const axes[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++) {
        to[i] = json_number_value(json_object_get(vector, axes[i]));
    }
}

bool simulation_wrench(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]) {
    live_simulation *of = to->user;
    const json_t *values = json_object_get(message, "wrench");
    wrench read = {0};
    if (!read_header(message, &read, error)) {
        return false;
    }
    read_vector(json_object_get(values, "force"), read.force);
    read_vector(json_object_get(values, "torque"), read.torque);
    drop(find(&of->waiting, read.link));
    size_t count = 0;
    for (const wrench *each = of->waiting; each; each = each->next) {
        count++;
    }
    wrench *added = count < MOST_WAITING ? malloc(sizeof *added) : NULL;
    if (!added) {
        snprintf(error, TOPIC_ERROR_SIZE, "wrenches on %zu links wait already; send it again soon", count);
        return false;
    }
    *added = read;
    added->from = peer_share(from);
    wrench **end = &of->waiting;
    while (*end) {
        end = &(*end)->next;
    }
    *end = added;
    if (!of->requested) {
        request_next(of);
    }
    return true;
}

void simulation_wrench_free(live_simulation *freed) {
    while (freed->waiting) {
        report_error(freed->waiting, "the simulation has ended (NOT_FOUND)");
        drop(&freed->waiting);
    }
    while (freed->acting) {
        drop(&freed->acting);
    }
}
