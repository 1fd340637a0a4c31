/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the connections of the daemon's clients, and closes one of them.
 */
#include "requests.h"

#include <stdlib.h>

#include "error.h"
#include "wire.h"

/* Public result, with the reply that owns its strings. */
typedef struct connections_result {
    dyn_client_connections connections;
    Dynamics__V1__ListConnectionsReply *reply;
    dyn_client_connection entries[];
} connections_result;

dyn_client_status dyn_client_list_connections(dyn_client *client, double timeout, dyn_client_connections **connections,
                                              dyn_client_error *error) {
    *connections = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    Dynamics__V1__ListConnectionsRequest question = DYNAMICS__V1__LIST_CONNECTIONS_REQUEST__INIT;
    Dynamics__V1__ListConnectionsReply *answer;
    dyn_client_status status = request_list_connections(client, &question, within(timeout), &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    connections_result *result = calloc(1, sizeof *result + answer->n_connections * sizeof *result->entries);
    if (!result) {
        dynamics__v1__list_connections_reply__free_unpacked(answer, NULL);
        return fail_memory(error);
    }
    result->reply = answer;
    for (size_t i = 0; i < answer->n_connections; i++) {
        const Dynamics__V1__Connection *from = answer->connections[i];
        result->entries[i] = (dyn_client_connection){
            .connection = from->connection,
            .peer = from->peer,
            .caller = from->caller,
            .role = (dyn_client_method_role)from->role,
            .kind = from->kind,
            .age = from->age,
            .idle = from->idle,
            .requests = from->requests,
            .under_way = from->under_way,
        };
    }
    result->connections = (dyn_client_connections){answer->n_connections, result->entries};
    *connections = &result->connections;
    return DYN_CLIENT_OK;
}

void dyn_client_connections_free(dyn_client_connections *connections) {
    connections_result *result = (connections_result *)connections;
    if (result) {
        dynamics__v1__list_connections_reply__free_unpacked(result->reply, NULL);
        free(result);
    }
}

dyn_client_status dyn_client_close_connection(dyn_client *client, uint64_t number, double timeout,
                                              dyn_client_error *error) {
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    if (number > UINT32_MAX) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "connection", "there is no connection above %u", UINT32_MAX);
    }
    Dynamics__V1__CloseConnectionRequest question = DYNAMICS__V1__CLOSE_CONNECTION_REQUEST__INIT;
    Dynamics__V1__CloseConnectionReply *answer;
    question.connection = (uint32_t)number;
    dyn_client_status status = request_close_connection(client, &question, within(timeout), &answer, error);
    if (status == DYN_CLIENT_OK) {
        dynamics__v1__close_connection_reply__free_unpacked(answer, NULL);
    }
    return status;
}
