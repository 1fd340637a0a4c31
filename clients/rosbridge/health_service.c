/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers the service for the daemon's health.
 */
#include "health_service.h"

#include <dynamics/v1/server.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "json_text.h"

#define HEALTH_METHOD "/dynamics/get_health"

/* Call that waits for the daemon. */
typedef struct question {
    peer *from; /* shared */
    encoding how;
    json_t *response;
} question;

/* Writes the health as one line, such as "degraded; listener ipc:///...: does not answer". */
static void describe(const Dynamics__V1__GetHealthReply *health, char *text, size_t size) {
    static const char *const states[] = {"unknown", "serving", "degraded", "not serving"};
    size_t state = (size_t)health->state < 4 ? (size_t)health->state : 0;
    snprintf(text, size, "%s", states[state]);
    for (size_t i = 0; i < health->n_components; i++) {
        const Dynamics__V1__ComponentHealth *each = health->components[i];
        size_t length = strlen(text);
        if (each->message[0] != '\0') {
            snprintf(text + length, size - length, "; %s: %s", each->name, each->message);
        }
    }
}

static void on_health(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    question *requested = user;
    const Dynamics__V1__GetHealthReply *health = (const Dynamics__V1__GetHealthReply *)result;
    char text[1024];
    bool serves = health && health->state == DYNAMICS__V1__HEALTH_STATE__HEALTH_STATE_SERVING;
    snprintf(text, sizeof text, "%s", reason);
    if (health) {
        describe(health, text, sizeof text);
    }
    (void)in;
    json_t *values = json_pack("{sb so}", "success", (int)serves, "message", json_text(text));
    json_object_set_new(requested->response, "values", values);
    json_object_set_new(requested->response, "result", json_true());
    requested->from->calls--;
    peer_send_as(requested->from, requested->response, &requested->how);
    peer_release(requested->from);
    free(requested);
}

void health_service_call(peer *from, const encoding *how, double timeout, json_t *response) {
    question *requested = malloc(sizeof *requested);
    if (!requested) {
        json_decref(response);
        peer_send(from, NULL);
        return;
    }
    *requested = (question){.from = peer_share(from), .how = *how, .response = response};
    from->calls++;
    from->bridge->metrics.counters[COUNTER_CALLS]++;
    call_send(from->bridge, HEALTH_METHOD, NULL, timeout, on_health, requested);
}
