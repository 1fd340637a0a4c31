/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Audit: a line of the log for each action that changes what clients share, and for each denied one, with the peer.
 *
 * Equal actions of one peer within a minute are one episode: the first is logged at once, and a second line has the
 * number of the others. Every function may be called from any thread. Nothing is allocated.
 */
#ifndef SERVER_OBSERVE_AUDIT_H
#define SERVER_OBSERVE_AUDIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/log.h"

enum { AUDIT_EPISODES = 128, AUDIT_OBJECT_SIZE = 132, AUDIT_PEER_SIZE = 64, AUDIT_CALLER_SIZE = 64 };

/* Action of a peer. */
typedef struct audit_action {
    const char *method;     /* constant, such as "load_model" */
    const char *object;     /* name of the model, simulation, stream or recording; "": none */
    const char *peer;       /* "uid 1000 pid 4711", "127.0.0.1:40112" */
    const char *caller;     /* "uid:1000", "token:planner"; NULL: not known */
    const char *belongs_to; /* user whose object an administrator changes; NULL or "": none */
    const char *outcome;    /* constant: "done", "loaded", "replaced", "refused", "denied" ... */
    const char *code;       /* constant: code of the reply, such as "OK" */
    uint64_t request;       /* number that the client chose for the request; 0: it chose none */
    bool is_denied;         /* logged as a warning */
} audit_action;

/* Actions that are equal. */
typedef struct audit_episode {
    uint64_t key;   /* hash of the action; 0: unused */
    uint64_t start; /* ns */
    uint64_t more;  /* actions after the first */
    audit_action action;
    char object[AUDIT_OBJECT_SIZE], peer[AUDIT_PEER_SIZE], caller[AUDIT_CALLER_SIZE], belongs_to[AUDIT_CALLER_SIZE];
} audit_episode;

typedef struct audit {
    logger *log;
    pthread_mutex_t mutex;
    audit_episode episodes[AUDIT_EPISODES];
} audit;

void audit_init(audit *a, logger *log);

/* Logs the episodes that have not ended. */
void audit_free(audit *a);

/* Logs an action, or counts it if its episode has begun. Does nothing while the log has no information lines. */
void audit_record(audit *a, const audit_action *action);

/* Logs the episodes that began more than a minute ago, and ends them. */
void audit_sweep(audit *a);

#endif
