/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address of a NATS server with the user's secrets:
 *
 *     nats://[USER:PASSWORD@|TOKEN@]HOST:PORT[?NAME=VALUE[&NAME=VALUE]...]
 *
 * The names are credentials (file with a JWT and a seed), nkey and nkey_seed (public NKey, and the file of its seed),
 * ca (file of certificates of authorities), certificate and key (files).
 */
#ifndef CLIENT_NATS_ADDRESS_H
#define CLIENT_NATS_ADDRESS_H

#include <dynamics_client.h>

typedef enum nats_address_part {
    NATS_CREDENTIALS,
    NATS_NKEY,
    NATS_NKEY_SEED,
    NATS_CA,
    NATS_CERTIFICATE,
    NATS_KEY,
    NATS_ADDRESS_PARTS
} nats_address_part;

typedef struct nats_address {
    char *server;                         /* address for libnats, with the user */
    char *shown;                          /* address for messages, without secrets */
    const char *part[NATS_ADDRESS_PARTS]; /* NULL: not stated */
    char *text;                           /* holds the parts */
} nats_address;

/* Reads an address, which the caller frees also on failure. Errors: INVALID_ARGUMENT with the field "url",
 * OUT_OF_MEMORY. */
dyn_client_status nats_address_read(const char *url, nats_address *address, dyn_client_error *error);

void nats_address_free(nats_address *address);

#endif
