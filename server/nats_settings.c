/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects the settings of NATS. */
#include "nats_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files/regular_file.h"

/* Reads the first line of a file with a secret. */
static bool read_secret(const char *path, char secret[NATS_SECRET_SIZE], char error[CONFIG_ERROR_SIZE]) {
    FILE *file = regular_file_stream(path, 0);
    if (!file) {
        snprintf(error, CONFIG_ERROR_SIZE, "%.300s: %s", path, regular_file_error(errno));
        return false;
    }
    bool has_line = fgets(secret, NATS_SECRET_SIZE, file) != NULL;
    fclose(file);
    secret[has_line ? strcspn(secret, "\r\n") : 0] = '\0';
    if (!has_line || secret[0] == '\0') {
        snprintf(error, CONFIG_ERROR_SIZE, "%.300s: the first line is empty; it must hold the secret for NATS", path);
        return false;
    }
    return true;
}

/* Reads "user:password", and points the result at both. */
static bool read_user(const char *path, nats_settings *texts, transport_nats *result, char error[CONFIG_ERROR_SIZE]) {
    if (!read_secret(path, texts->user, error)) {
        return false;
    }
    char *colon = strchr(texts->user, ':');
    if (!colon) {
        snprintf(error, CONFIG_ERROR_SIZE, "%.300s: the first line must be USER:PASSWORD for NATS", path);
        return false;
    }
    *colon = '\0';
    result->user = texts->user;
    result->password = colon + 1;
    return true;
}

/* Collects the addresses of NATS servers among the endpoints for requests. */
static bool collect_servers(const config *c, transport_nats *result, char error[CONFIG_ERROR_SIZE]) {
    for (size_t i = 0; i < c->request.count; i++) {
        const char *address = c->request.address[i];
        if (transport_is_nats(address) && result->server_count == TRANSPORT_NATS_SERVERS) {
            snprintf(error, CONFIG_ERROR_SIZE, "%.200s: name at most %d NATS servers", address, TRANSPORT_NATS_SERVERS);
            return false;
        }
        if (transport_is_nats(address)) {
            result->servers[result->server_count++] = address;
        }
    }
    return true;
}

bool nats_settings_read(const config *c, uint64_t instance, nats_settings *texts, transport_nats *result,
                        char error[CONFIG_ERROR_SIZE]) {
    const config_nats *n = &c->nats;
    snprintf(texts->replica, sizeof texts->replica, "%016" PRIx64, instance);
    *result = (transport_nats){
        .replica = n->replica[0] != '\0' ? n->replica : texts->replica,
        .user = "",
        .password = "",
        .token = "",
        .nkey = n->nkey,
        .nkey_seed_file = n->nkey_seed_file,
        .credentials_file = n->credentials_file,
        .ca_file = n->ca_file,
        .certificate_file = n->certificate_file,
        .key_file = n->key_file,
    };
    if (!collect_servers(c, result, error)) {
        return false;
    }
    if (n->user_file[0] != '\0' && !read_user(n->user_file, texts, result, error)) {
        return false;
    }
    if (n->token_file[0] != '\0' && !read_secret(n->token_file, texts->token, error)) {
        return false;
    }
    result->token = texts->token;
    return true;
}
