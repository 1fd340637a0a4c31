/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of NATS: the servers among the endpoints, and the secrets in files.
 */
#ifndef SERVER_NATS_SETTINGS_H
#define SERVER_NATS_SETTINGS_H

#include "config.h"

enum { NATS_SECRET_SIZE = 512 };

/* Texts that the settings point to. */
typedef struct nats_settings {
    char replica[32], user[NATS_SECRET_SIZE], token[NATS_SECRET_SIZE];
} nats_settings;

/* Fills the settings from the configuration, which must outlive them, and reads the files with secrets. The replica has
 * the name in the configuration, or the number `instance`. On failure writes a sentence to `error` and returns
 * false. */
bool nats_settings_read(const config *c, uint64_t instance, nats_settings *texts, transport_nats *result,
                        char error[CONFIG_ERROR_SIZE]);

#endif
