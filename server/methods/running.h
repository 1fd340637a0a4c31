/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long requests and jobs that wait for a thread or run on one. Another request of the same client can cancel them, and
 * their progress is published. Any thread may call running_calls_add, running_calls_remove and running_calls_cancel.
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

/* Request or job that waits for a thread or runs on one. */
typedef struct running_call {
    running_name name;
    uint64_t progress; /* number under which the progress is published; 0: it is not published */
    atomic_bool is_cancelled;
    _Atomic double fraction;      /* part of the work that is done, 0 to 1 */
    _Atomic uint64_t last_report; /* time of the last progress event, ns, CLOCK_MONOTONIC; 0: none */
    _Atomic uint64_t reports;     /* number of progress events so far */
    bool is_listed;
    struct running_call *next, *previous;
} running_call;

/* List of the requests and jobs that wait or run. */
typedef struct running_calls {
    pthread_mutex_t mutex; /* guards the list */
    running_call *first;
} running_calls;

/* Initializes an empty list. */
void running_calls_init(running_calls *calls);

/* Frees a list, which must be empty. */
void running_calls_free(running_calls *calls);

/* Initializes a request that has not begun with its name and its progress number; 0: its progress is not published. */
void running_call_init(running_call *r, const running_name *name, uint64_t progress);

/* Adds an initialized request to the list. It must not move until it is removed. Returns false, and does not add it, if
 * a request of another peer or client in the list has its progress number. */
bool running_calls_add(running_calls *calls, running_call *r);

/* Removes a request from the list, if it is listed. */
void running_calls_remove(running_calls *calls, running_call *r);

/* Cancels all listed requests of this name. Returns false if there is none. */
bool running_calls_cancel(running_calls *calls, const running_name *name);

/* Cancels all listed requests. Any thread. */
void running_calls_cancel_all(running_calls *calls);

#endif
