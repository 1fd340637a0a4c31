/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of live_create: the parts of the daemon that simulations and streams use, and their configuration.
 */
#ifndef SERVER_METHODS_LIVE_OPTIONS_H
#define SERVER_METHODS_LIVE_OPTIONS_H

#include "methods/service.h"

typedef struct live_options {
    model_store *store;
    service_limits *limits;
    counters *counters;
    memory_budget *budget;
    health *health; /* health with the component "recordings"; NULL: none */
    logger *log;
    uint64_t instance;           /* instance number of the daemon */
    unsigned threads;            /* threads that step simulations */
    double spin;                 /* time before a tick for which they spin, s */
    const char *state_directory; /* "": none; copied */
    const char *compiled;        /* directory of compiled objects; NULL or "": none; copied */
} live_options;

#endif
