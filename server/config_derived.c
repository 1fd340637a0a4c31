/* SPDX-License-Identifier: BSD-2-Clause */
/* Derives the endpoints for streams and the limits of memory. */
#include "config_derived.h"

#include <stdio.h>
#include <string.h>

#include "config_keys.h"

/* Bytes beside requests and replies. */
enum { MEMORY_MARGIN = 4 << 20 };

bool config_derive_ingest(config *c, char error[CONFIG_ERROR_SIZE]) {
    if (c->has_ingest) {
        return true;
    }
    memset(&c->ingest, 0, sizeof c->ingest);
    config_set_origin(c, &c->ingest, SETTING_DERIVED);
    for (size_t i = 0; i < c->request.count; i++) {
        static const char suffix[] = ".ingest";
        const char *address = c->request.address[i], *colon = strrchr(address, ':');
        if (transport_is_nats(address)) {
            continue;
        }
        char *derived = c->ingest.address[c->ingest.count++];
        if (strncmp(address, "ipc://", 6) != 0 && colon) {
            snprintf(derived, TRANSPORT_ADDRESS_SIZE, "%.*s:0", (int)(colon - address), address);
            continue;
        }
        snprintf(derived, TRANSPORT_ADDRESS_SIZE, "%.240s%s", address, suffix);
        size_t length = strlen(address + strlen("ipc://")) + strlen(suffix);
        if (length > TRANSPORT_PATH_LENGTH) {
            snprintf(error, CONFIG_ERROR_SIZE,
                     "%s%s: the path of the socket for streams has %zu bytes, more than %d; choose a shorter path for "
                     "requests, or set the endpoint for streams (endpoints.ingest, or --ingest)",
                     address, suffix, length, TRANSPORT_PATH_LENGTH);
            return false;
        }
    }
    return true;
}

unsigned long config_memory_needed(const config *c) {
    return CONFIG_REQUEST_COPIES * c->message_bytes + CONFIG_REPLY_COPIES * c->reply_bytes + MEMORY_MARGIN;
}

bool config_fit_memory(config *c, size_t available) {
    if (c->memory_bytes > 0) {
        return false;
    }
    c->memory_bytes = available / 2;
    config_set_origin(c, &c->memory_bytes, SETTING_DERIVED);
    if (config_memory_needed(c) <= c->memory_bytes) {
        return false;
    }
    double room =
        c->memory_bytes > 2 * (unsigned long)MEMORY_MARGIN ? (double)c->memory_bytes - MEMORY_MARGIN : MEMORY_MARGIN;
    double factor = room / (double)(config_memory_needed(c) - MEMORY_MARGIN);
    c->message_bytes = (unsigned long)((double)c->message_bytes * factor);
    c->reply_bytes = (unsigned long)((double)c->reply_bytes * factor);
    config_set_origin(c, &c->message_bytes, SETTING_DERIVED);
    config_set_origin(c, &c->reply_bytes, SETTING_DERIVED);
    return true;
}

/* Sets a share that is 0 to half of the whole, at least 1 unless the whole is 0. */
static void derive_share(config *c, unsigned long *share, unsigned long whole) {
    if (*share == 0) {
        *share = whole > 1 ? whole / 2 : whole;
        config_set_origin(c, share, SETTING_DERIVED);
    }
}

void config_derive_shares(config *c) {
    bool has_memory = c->user_memory_bytes > 0;
#define DERIVE(share, whole) derive_share(c, &c->share, c->whole);
    USER_SHARES(DERIVE)
#undef DERIVE
    derive_share(c, &c->fast_peer_channels, c->fast_channels);
    if (!has_memory && c->user_memory_bytes < config_memory_needed(c)) {
        c->user_memory_bytes = config_memory_needed(c);
    }
}
