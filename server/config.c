/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets the defaults of the configuration. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the roles of callers, and the certificates that they need. */
static void init_access(config *c) {
    c->tls.requires_certificate = true;
    c->access.certificate_role = ACCESS_NONE;
    c->access.unix_role = ACCESS_USER;
    c->access.tcp_role = ACCESS_NONE;
    c->access.nats_role = ACCESS_USER;
}

void config_init(config *c) {
    memset(c, 0, sizeof *c);
    c->request.count = 2;
    snprintf(c->request.address[0], TRANSPORT_ADDRESS_SIZE, "ipc:///run/dynamicsd/dynamicsd.sock");
    snprintf(c->request.address[1], TRANSPORT_ADDRESS_SIZE, "tcp://127.0.0.1:7400");
    c->events.count = 2;
    snprintf(c->events.address[0], TRANSPORT_ADDRESS_SIZE, "ipc:///run/dynamicsd/events.sock");
    snprintf(c->events.address[1], TRANSPORT_ADDRESS_SIZE, "tcp://127.0.0.1:7401");
    c->ipc_mode = 0660;
    c->directories.count = 2;
    snprintf(c->directories.path[0], PATH_MAX, "/etc/dynamicsd/robots");
    snprintf(c->directories.path[1], PATH_MAX, "/usr/share/dynamicsd/robots");
#define SET_DEFAULT(identifier, name, type, kind, initial, ...) c->name = initial;
    LIMITS(SET_DEFAULT)
#undef SET_DEFAULT
    c->reply_time = 0.5;
    c->fast_channels = 16;
    c->fast_channel_bytes = 4UL << 20;
    c->fast_spin = 50e-6;
    snprintf(c->state_directory, sizeof c->state_directory, "/var/lib/dynamicsd");
    c->save_interval = 60;
    c->lease_time = 60;
    c->contexts = 128;
    c->drain_time = 5;
    c->compile = COMPILE_OFF;
    c->compile_time = 120;
    c->compile_memory_bytes = 2UL << 30;
    c->compile_cache_bytes = 256UL << 20;
    c->level = LOG_LEVEL_INFO;
    c->format = LOG_FORMAT_AUTO;
    c->probe_interval = 0.1;
    c->probe_timeout = 0.15;
    c->worker_time = 5;
    c->slow_time = 0.1;
    init_access(c);
}

void config_free(config *c) {
    for (size_t i = 0; i < c->rule_count; i++) {
        free(c->rules[i].name);
        free(c->rules[i].file);
    }
    free(c->rules);
    c->rules = NULL;
    c->rule_count = 0;
}

transport_tls config_tls_files(const config *c) {
    return (transport_tls){
        .certificate_file = c->tls.certificate_file,
        .key_file = c->tls.key_file,
        .ca_file = c->tls.ca_file,
        .requires_certificate = c->tls.requires_certificate,
    };
}

model_sources config_model_sources(const config *c) {
    return (model_sources){
        .paths = c->directories.path,
        .path_count = c->directories.count,
        .strict = c->strict,
        .rules = c->rules,
        .rule_count = c->rule_count,
        .links = c->links,
        .constraints = c->constraints,
    };
}
