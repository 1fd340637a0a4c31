/* SPDX-License-Identifier: BSD-2-Clause */
/* Subscribes to topics of the daemon and passes their messages on as bytes. */
#include "subscribe.h"

#include <stdlib.h>

#include "call.h"
#include "endpoint.h"
#include "error.h"

struct dyn_client_subscription {
    one_way *socket;
    incoming message; /* the last one */
};

dyn_client_subscription *subscription_of(one_way *socket) {
    dyn_client_subscription *made = calloc(1, sizeof *made);
    if (made) {
        made->socket = socket;
    }
    return made;
}

dyn_client_status dyn_client_subscribe(dyn_client *client, size_t address_count, const char *const *addresses,
                                       size_t topic_count, const char *const *topics, double timeout,
                                       dyn_client_subscription **subscription, dyn_client_error *error) {
    *subscription = NULL;
    if (!client || topic_count == 0) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, client ? "topics" : "client", "%s",
                    client ? "pass at least one topic" : "client is NULL");
    }
    one_way *socket;
    char *const *dialled = (char *const *)addresses, *const *wanted = (char *const *)topics;
    double dial_timeout = timeout > 0 ? timeout : client_connect_timeout(client);
    dyn_client_status status = address_count > 0
                                   ? one_way_open(client_connection(client), address_count, dialled, topic_count,
                                                  wanted, dial_timeout, &socket, error)
                                   : endpoint_open(client, "events", topic_count, wanted, timeout, &socket, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    *subscription = subscription_of(socket);
    if (!*subscription) {
        one_way_close(socket);
        return fail_memory(error);
    }
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_subscription_next(dyn_client_subscription *subscription, double timeout,
                                               const char **topic, const void **event, size_t *size,
                                               dyn_client_error *error) {
    incoming *message = &subscription->message;
    incoming_free(message);
    dyn_client_status status = one_way_receive(subscription->socket, timeout, message, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    topic_message parts;
    if (!one_way_split(message, &parts)) {
        return fail(error, DYN_CLIENT_BAD_REPLY, NULL, "a published message has no topic");
    }
    *topic = parts.topic;
    *event = parts.event;
    *size = parts.size;
    return DYN_CLIENT_OK;
}

void dyn_client_subscription_close(dyn_client_subscription *subscription) {
    if (!subscription) {
        return;
    }
    incoming_free(&subscription->message);
    one_way_close(subscription->socket);
    free(subscription);
}
