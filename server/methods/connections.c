/* SPDX-License-Identifier: BSD-2-Clause */
/* Methods of connections: list them, and close one. */
#include <stdio.h>
#include <stdlib.h>

#include "methods/events.h"
#include "methods/methods.h"
#include "observe/clock.h"

/* Connections that may be opened between counting and listing them. */
enum { SPARE_CONNECTIONS = 64 };

/* Returns a constant, which the reply refers to. */
static char *kind_name(transport_kind kind) {
    static const char *const names[] = {
        [TRANSPORT_REQUEST] = "request", [TRANSPORT_EVENTS] = "events", [TRANSPORT_INGEST] = "ingest"};
    return (char *)(uintptr_t)names[kind];
}

static void describe(call *c, const transport_connection *from, Dynamics__V1__Connection *to) {
    const uint64_t now = clock_now();
    dynamics__v1__connection__init(to);
    to->connection = from->id;
    to->peer = call_string(c, from->peer);
    to->caller = call_string(c, from->caller.name);
    to->role = call_wire_role(from->caller.role);
    to->kind = kind_name(from->kind);
    to->age = (double)(now - from->opened) / 1e9;
    to->idle = (double)(now - from->last_request) / 1e9;
    to->requests = from->requests;
    to->under_way = from->under_way;
}

static int compare_ids(const void *a, const void *b) {
    const transport_connection *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

void method_list_connections(call *c) {
    Dynamics__V1__ListConnectionsReply *reply = create_list_connections_reply(c);
    transport *t = c->service->events ? c->service->events->transport : NULL;
    if (!reply || !t) {
        return;
    }
    size_t capacity = transport_list_connections(t, NULL, 0) + SPARE_CONNECTIONS;
    transport_connection *found = call_allocate(c, capacity, sizeof *found);
    Dynamics__V1__Connection *entries = call_allocate(c, capacity, sizeof *entries);
    reply->connections = call_allocate(c, capacity, sizeof *reply->connections);
    if (!found || !entries || !reply->connections) {
        return;
    }
    size_t count = transport_list_connections(t, found, capacity);
    count = count < capacity ? count : capacity;
    qsort(found, count, sizeof *found, compare_ids);
    for (size_t i = 0; i < count && !call_has_ended(c); i++) {
        describe(c, &found[i], &entries[i]);
        reply->connections[reply->n_connections++] = &entries[i];
    }
}

void method_close_connection(call *c) {
    uint32_t id = c->request->close_connection->connection;
    transport *t = c->service->events ? c->service->events->transport : NULL;
    char peer[TRANSPORT_PEER_SIZE];
    Dynamics__V1__CloseConnectionReply *reply = create_close_connection_reply(c);
    if (!reply) {
        return;
    }
    snprintf(peer, sizeof peer, "connection %u", id);
    call_set_object(c, peer);
    if (!t || !transport_close_connection(t, id, peer)) {
        call_blame(c, "connection");
        call_fail(c, REASON_CONNECTION_NOT_FOUND, "there is no connection %u; ListConnections tells which there are",
                  id);
        return;
    }
    call_set_object(c, peer);
    reply->peer = call_string(c, peer);
}
