/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the connections of the clients, and closes one of them. */
#include "transport/carrier.h"

size_t transport_list_connections(transport *t, transport_connection *connections, size_t capacity) {
    return pipe_table_list(&t->pipes, connections, capacity);
}

bool transport_close_connection(transport *t, uint32_t id, char peer[TRANSPORT_PEER_SIZE]) {
    if (!pipe_table_condemn(&t->pipes, id, peer)) {
        return false;
    }
    carrier_close_pipe(id);
    return true;
}
