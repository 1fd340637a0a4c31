/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects the carrier of messages without a reply. */
#include "one_way.h"

#include <string.h>

#include "nng_one_way.h"

dyn_client_status one_way_open(connection *via, size_t address_count, char *const *addresses, size_t topic_count,
                               char *const *topics, double timeout, one_way **opened, dyn_client_error *error) {
    *opened = NULL;
    if (connection_has_one_way(via)) {
        return via->carrier->open_one_way(via, topic_count, topics, timeout, opened, error);
    }
    return nng_one_way_open(address_count, addresses, connection_url(via), topic_count, topics, timeout, opened, error);
}

void one_way_close(one_way *closed) {
    if (closed) {
        closed->carrier->close(closed);
    }
}

dyn_client_status one_way_receive(one_way *used, double timeout, incoming *message, dyn_client_error *error) {
    return used->carrier->receive(used, timeout, message, error);
}

bool one_way_split(const incoming *message, topic_message *parts) {
    const uint8_t *end = message->size > 0 ? memchr(message->bytes, '\0', message->size) : NULL;
    if (!end) {
        return false;
    }
    size_t length = (size_t)(end - message->bytes);
    *parts = (topic_message){(const char *)message->bytes, end + 1, message->size - length - 1};
    return true;
}

void one_way_end(one_way *ended) {
    ended->carrier->end(ended);
}

void one_way_unsubscribe(one_way *used, const char *topic) {
    used->carrier->unsubscribe(used, topic);
}

dyn_client_status one_way_send(one_way *used, const outgoing *message, double timeout, dyn_client_error *error) {
    return used->carrier->send(used, message, timeout, error);
}
