/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns a connection of libnats, and states its limits and errors. */
#include "nats_link.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Bytes that the limit of the server includes beside a message. */
enum { HEADER_BYTES = 256 };

void nats_link_retain(nats_link *link) {
    atomic_fetch_add(&link->references, 1);
}

void nats_link_release(nats_link *link) {
    if (atomic_fetch_sub(&link->references, 1) > 1) {
        return;
    }
    natsConnection_Destroy(link->connection);
    natsOptions_Destroy(link->options);
    free(link->base.url);
    free(link);
}

size_t nats_link_most_bytes(const nats_link *link) {
    int64_t most = natsConnection_GetMaxPayload(link->connection);
    return most > HEADER_BYTES ? (size_t)most - HEADER_BYTES : SIZE_MAX;
}

dyn_client_status nats_link_check_size(const nats_link *link, size_t size, dyn_client_error *error) {
    size_t most = nats_link_most_bytes(link);
    if (size > most) {
        return fail(error, DYN_CLIENT_RESOURCE_EXHAUSTED, NULL,
                    "the request has %zu bytes; %s carries %zu (max_payload of the NATS server): send fewer samples at "
                    "once",
                    size, link->base.url, most);
    }
    return DYN_CLIENT_OK;
}

dyn_client_status nats_link_fail_gone(const nats_link *link, dyn_client_error *error) {
    fail(error, DYN_CLIENT_UNREACHABLE, NULL,
         "the daemon %s behind %s is gone, with its simulations, streams and jobs: connect again", link->replica,
         link->base.url);
    if (error) {
        strcpy(error->reason, "DAEMON_GONE");
    }
    return DYN_CLIENT_UNREACHABLE;
}
