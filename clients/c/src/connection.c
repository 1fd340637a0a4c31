/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects the carrier of a connection by the scheme of its address. */
#include "connection.h"

#include <string.h>

#include "nats_connection.h"
#include "nng_connection.h"
#include "several_connections.h"

dyn_client_status connection_open(const char *url, double connect_timeout, size_t max_reply_bytes, connection **opened,
                                  dyn_client_error *error) {
    bool is_nats = strncmp(url, "nats://", strlen("nats://")) == 0 || strncmp(url, "tls://", strlen("tls://")) == 0;
    bool is_list = strpbrk(url, ", ") != NULL;
    const connection_carrier *carrier = is_list ? &several_connections : is_nats ? &nats_connections : &nng_connections;
    *opened = NULL;
    return carrier->open(url, connect_timeout, max_reply_bytes, opened, error);
}

void connection_abort(connection *aborted) {
    aborted->carrier->abort(aborted);
}

void connection_give_up(connection *used, const void *content) {
    used->carrier->give_up(used, content);
}

void connection_close(connection *closed) {
    if (closed) {
        closed->carrier->close(closed);
    }
}

const char *connection_url(const connection *used) {
    return used->url;
}

double connection_timeout(const connection *used) {
    return used->timeout;
}

size_t connection_most_bytes(const connection *used) {
    return used->carrier->most_bytes ? used->carrier->most_bytes(used) : 0;
}

bool connection_is_shared(const connection *used) {
    return used->carrier->most_bytes != NULL;
}

bool connection_has_one_way(const connection *used) {
    return used->carrier->open_one_way != NULL;
}

dyn_client_status connection_exchange(connection *used, const outgoing *request, double timeout, incoming *reply,
                                      dyn_client_error *error) {
    return used->carrier->exchange(used, request, timeout, reply, error);
}
