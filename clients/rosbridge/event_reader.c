/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects the carrier of the daemon's events by the address for requests. */
#include "event_reader.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "nats_events.h"
#include "nng_events.h"

/* One of `nng` and `nats` is not NULL. */
struct event_reader {
    const config *config;
    event_queue *queue;
    nng_events *nng;
    nats_events *nats;
};

event_reader *event_reader_start(bridge *of, event_handler handle, void *user) {
    event_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        return NULL;
    }
    reader->config = of->config;
    reader->queue = event_queue_create(of, handle, user);
    if (reader->queue && config_is_nats(of->config)) {
        reader->nats = nats_events_start(reader->queue, call_pool_link(of));
    } else if (reader->queue) {
        reader->nng = nng_events_start(reader->queue, of->config->events, of->config->request);
    }
    if (reader->nng || reader->nats) {
        return reader;
    }
    event_reader_stop(reader);
    return NULL;
}

/* Returns the address with the transport of the daemon's events, since a client that reaches them by a unix socket is
 * on the daemon's machine; otherwise the first address, or NULL if there is none. */
static const char *choose(const config *c, size_t count, char *const *addresses) {
    size_t scheme = strcspn(c->events, ":");
    for (size_t i = 0; i < count; i++) {
        if (strncmp(addresses[i], c->events, scheme + 1) == 0) {
            return addresses[i];
        }
    }
    return count > 0 ? addresses[0] : NULL;
}

int event_reader_watch(event_reader *reader, size_t address_count, char *const *addresses,
                       const char *const topics[2]) {
    if (reader->nats) {
        return nats_events_watch(reader->nats, topics);
    }
    const char *address = choose(reader->config, address_count, addresses);
    return address ? nng_events_watch(reader->nng, address, topics) : 0;
}

void event_reader_forget(event_reader *reader, int number, const char *const topics[2]) {
    if (reader->nats) {
        nats_events_forget(reader->nats, number);
    } else {
        nng_events_forget(reader->nng, number, topics);
    }
}

void event_reader_stop(event_reader *stopped) {
    if (stopped->nng) {
        nng_events_stop(stopped->nng);
    }
    if (stopped->nats) {
        nats_events_stop(stopped->nats);
    }
    if (stopped->queue) {
        event_queue_close(stopped->queue);
    }
    free(stopped);
}
