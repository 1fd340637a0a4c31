/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long requests and jobs that wait for a thread or run on one. Another request of the same client can cancel them, and
 * their progress is published. Any thread may call the functions of the list.
 */
#ifndef SERVER_METHODS_RUNNING_H
#define SERVER_METHODS_RUNNING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/transport.h"

/* Identity of a request: peer, client, and the number that the client chose. */
typedef struct running_name {
    transport_identity peer;
    uint64_t client, id;
} running_name;

/* Request under way. */
typedef struct running_call {
    running_name name;
    uint64_t progress; /* number under which its progress is published; 0: not at all */
    atomic_bool is_cancelled;
    _Atomic double fraction;      /* part of the work that is done, 0 to 1 */
    _Atomic uint64_t last_report; /* ns; of the last report of its progress */
    _Atomic uint64_t reports;     /* reports so far */
    bool is_listed;
    struct running_call *next, *previous;
} running_call;

typedef struct running_calls {
    pthread_mutex_t mutex; /* guards the list */
    running_call *first;
} running_calls;

void running_calls_init(running_calls *calls);
void running_calls_free(running_calls *calls);

/* Sets the name and the progress number of a request that has not begun. */
void running_call_init(running_call *r, const running_name *name, uint64_t progress);

/* Adds a request, whose name and progress are set, to the list; it must not move until it is removed. Returns false,
 * and does not add it, when another peer or client publishes progress under its number. */
bool running_calls_add(running_calls *calls, running_call *r);

/* Removes a request from the list, if it is listed. */
void running_calls_remove(running_calls *calls, running_call *r);

/* Cancels all requests of this name. Returns false if there is none. */
bool running_calls_cancel(running_calls *calls, const running_name *name);

#endif
