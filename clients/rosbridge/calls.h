/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls to the daemon. A pool of threads reads the arguments, sends the request and encodes the answer, so that no call
 * blocks the event loop.
 */
#ifndef ROSBRIDGE_CALLS_H
#define ROSBRIDGE_CALLS_H

#include <stdatomic.h>

#include "methods.h"
#include "peer.h"

typedef enum call_outcome { CALL_FAILED, CALL_SUCCEEDED, CALL_CANCELLED } call_outcome;

struct call;

struct daemon_link;

/* Function that a thread of the pool runs. On failure it writes a sentence to `reason`, of METHOD_ERROR_SIZE. */
typedef void (*call_task)(struct daemon_link *link, void *user, char *reason);

/* Callback on the event loop for one of the gateway's own requests, with the result, or NULL and the reason. */
typedef void (*question_end)(bridge *of, void *user, const ProtobufCMessage *result, const char *reason);

/* Call to the daemon. The caller fills in the first part; the call frees what it owns when it ends. */
typedef struct call {
    struct call *next;
    method method;
    json_t *arguments; /* owned; NULL: none */
    json_t *answer;    /* owned: the message that receives "values", "result" and, for actions, "status" */
    bool is_action, wants_feedback;
    size_t size; /* bytes of the message that held the arguments */
    encoding encoding;
    double deadline; /* monotonic */
    peer *peer;      /* shared; NULL: the gateway's own request */
    question_end on_result;
    call_task task;                     /* runs instead of a request; NULL: none */
    void (*on_end)(struct call *ended); /* on the event loop, before the answer is sent; may be NULL */
    void *user;

    double next_cancel, cancel_pause;       /* time and pause of the next cancellation */
    _Atomic bool is_cancelled;              /* a waiting call that is cancelled is not made */
    _Atomic uint64_t client_number, number; /* identify the request in the daemon; 0: it is not sent yet */
    _Atomic uint64_t progress;              /* number under which its progress is published; 0: not published */
    call_outcome outcome;
    ProtobufCMessage *result; /* result of the gateway's own request */
    char reason[METHOD_ERROR_SIZE + 64];
    buffer_list messages;
} call;

typedef struct call_pool call_pool;

/* Starts the threads, of which two suffice. Returns false when out of memory or threads. The daemon need not run
 * yet. */
bool call_pool_start(bridge *of);

/* Returns the connection to the daemon, which lives until the event loop has run once after call_pool_stop. */
struct daemon_link *call_pool_link(bridge *of);

/* Stops the pool: aborts running calls, drops waiting ones and answers all as failed. Later calls are refused. */
void call_pool_stop(bridge *of);

/* Starts a call and takes ownership of it. Every call is answered; one beyond the limits is refused. */
void call_start(bridge *of, call *started);

/* Sends one of the gateway's own requests and takes ownership of `arguments`. `on_result` is called in every case. */
void call_send(bridge *of, const char *service, json_t *arguments, double timeout, question_end on_result, void *user);

/* Runs a task that may wait for the daemon. `on_end` is called in every case, with no result and the reason, which is
 * empty on success. */
void call_work(bridge *of, call_task task, question_end on_end, void *user);

/* Cancels a call. A waiting call is dropped, a running one is cancelled in the daemon. Call it repeatedly until the
 * call has ended, since a cancellation may reach the daemon before the request. */
void call_cancel(bridge *of, call *cancelled);

/* Answers a call that was not started with an error, and frees it. */
void call_refuse(call *refused, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
