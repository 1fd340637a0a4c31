/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the address of a NATS server, and keeps its secrets out of messages. */
#include "nats_address.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

static const char *const names[NATS_ADDRESS_PARTS] = {
    [NATS_CREDENTIALS] = "credentials", [NATS_NKEY] = "nkey", [NATS_NKEY_SEED] = "nkey_seed", [NATS_CA] = "ca",
    [NATS_CERTIFICATE] = "certificate", [NATS_KEY] = "key"};

/* Copies the address without the user between "//" and "@". Returns NULL when out of memory. */
static char *copy_without_user(const char *server) {
    char *copy = strdup(server);
    char *host = copy ? strstr(copy, "//") : NULL;
    char *at = host ? strrchr(host, '@') : NULL;
    if (at) {
        memmove(host + 2, at + 1, strlen(at + 1) + 1);
    }
    return copy;
}

/* Reads one "NAME=VALUE", in place. */
static dyn_client_status read_part(char *pair, nats_address *address, dyn_client_error *error) {
    char *equals = strchr(pair, '=');
    for (int i = 0; equals && i < NATS_ADDRESS_PARTS; i++) {
        bool is_named = strlen(names[i]) == (size_t)(equals - pair) && strncmp(names[i], pair, strlen(names[i])) == 0;
        if (is_named && equals[1] != '\0') {
            address->part[i] = equals + 1;
            return DYN_CLIENT_OK;
        }
    }
    return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "url",
                "\"%.40s\" after the NATS server %s is unknown or has no value: the names are credentials, nkey, "
                "nkey_seed, ca, certificate and key",
                pair, address->shown);
}

/* Checks that parts that belong together are there together. */
static dyn_client_status check_pair(const nats_address *address, nats_address_part one, nats_address_part other,
                                    dyn_client_error *error) {
    if (!address->part[one] == !address->part[other]) {
        return DYN_CLIENT_OK;
    }
    return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "url", "%s and %s after the NATS server %s belong together",
                names[one], names[other], address->shown);
}

dyn_client_status nats_address_read(const char *url, nats_address *address, dyn_client_error *error) {
    const char *question = strchr(url, '?');
    *address = (nats_address){.server = strndup(url, question ? (size_t)(question - url) : strlen(url)),
                              .text = strdup(question ? question + 1 : "")};
    address->shown = address->server ? copy_without_user(address->server) : NULL;
    if (!address->shown || !address->text) {
        return fail_memory(error);
    }
    char *rest = NULL;
    dyn_client_status status = DYN_CLIENT_OK;
    for (char *pair = strtok_r(address->text, "&", &rest); pair && status == DYN_CLIENT_OK;
         pair = strtok_r(NULL, "&", &rest)) {
        status = read_part(pair, address, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = check_pair(address, NATS_NKEY, NATS_NKEY_SEED, error);
    }
    return status == DYN_CLIENT_OK ? check_pair(address, NATS_CERTIFICATE, NATS_KEY, error) : status;
}

void nats_address_free(nats_address *address) {
    free(address->server);
    free(address->shown);
    free(address->text);
    *address = (nats_address){.server = NULL};
}
