/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of a client that are under way, by the thread whose call sent them, so that another thread can cancel them.
 */
#ifndef CLIENT_UNDER_WAY_H
#define CLIENT_UNDER_WAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "connection.h"

/* Numbers that identify a request to the daemon. */
typedef struct request_numbers {
    uint64_t client, id;
} request_numbers;

/* Request under way. It must not move until it is removed. */
typedef struct under_way_request {
    request_numbers numbers;
    const void *content; /* outgoing.content of its exchange; NULL: it is only a wait between requests */
    uint64_t thread;     /* whose call sent it */
    double cancelled;    /* time of the first cancellation, s; 0: none */
    struct under_way_request *next, **from;
} under_way_request;

typedef struct under_way {
    pthread_mutex_t mutex; /* guards the list and its requests */
    under_way_request *first;
} under_way;

/* Returns the number of the calling thread, or of the one that it works for. */
uint64_t under_way_thread(void);

/* Makes the calling thread work for another one: its requests are those of that thread. */
void under_way_work_for(uint64_t thread);

/* Adds a request of the calling thread. All calls below are thread-safe. */
void under_way_add(under_way *list, under_way_request *added, request_numbers numbers, const void *content);
void under_way_remove(under_way *list, under_way_request *removed);

/* Returns whether a request is cancelled. */
bool under_way_is_cancelled(under_way *list, const under_way_request *asked);

/* Stores the numbers of the requests of a thread, at most `most`. Returns their count. */
size_t under_way_of(under_way *list, uint64_t thread, size_t most, request_numbers *found);

/* Notes that a request is cancelled, and ends its exchange without an answer when `patience` seconds have passed since
 * the first such note. Does nothing if the request is not under way any more. */
void under_way_cancel(under_way *list, connection *used, request_numbers numbers, double patience);

#endif
