/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets the defaults of the configuration. */
#include "config.h"

#include <dynamics/contact.h>
#include <dynamics/identification.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    c->message_bytes = 64UL << 20;
    c->reply_bytes = 256UL << 20;
    c->samples = 1000000;
    c->models = 256;
    c->links = DYN_MAX_LINKS;
    c->constraints = 64;
    c->machine_elements = 1000;
    c->contact_surfaces = DYN_MAX_CONTACT_SURFACES;
    c->estimates = DYN_IDENTIFICATION_ESTIMATES;
    c->connections = 1024;
    c->request_time = 30;
    c->idle_time = 600;
    c->reply_time = 0.5;
    c->message_time = 30;
    c->simulations = 1024;
    c->streams = 64;
    c->topics = 128;
    c->stream_points = 100000;
    c->recording_bytes = 1UL << 30;
    c->recordings_bytes = 4UL << 30;
    c->recordings = 4096;
    c->disk_reserve_bytes = 64UL << 20;
    c->jobs = 64;
    c->job_time = 3600;
    c->job_result_time = 600;
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
    c->access.unix_role = ACCESS_USER;
    c->access.tcp_role = ACCESS_NONE;
    c->access.nats_role = ACCESS_USER;
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
