/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls to the daemon, made by threads of their own so that none stops the event loop: arguments are read, the daemon
 * asked and the answer encoded there.
 */
#ifndef ROSBRIDGE_CALLS_H
#define ROSBRIDGE_CALLS_H

#include <stdatomic.h>

#include "methods.h"
#include "peer.h"

typedef enum call_outcome { CALL_FAILED, CALL_SUCCEEDED, CALL_CANCELLED } call_outcome;

struct call;

struct daemon_link;

/* Work on a thread of the pool; a sentence about what went wrong goes to `reason`, of METHOD_ERROR_SIZE. */
typedef void (*call_task)(struct daemon_link *link, void *user, char *reason);

/* Takes the result of a question of the gateway's own, or NULL and the reason, on the event loop. */
typedef void (*question_end)(bridge *of, void *user, const ProtobufCMessage *result, const char *reason);

/* One call. Whoever starts it fills the first part; the call frees what it owns when it is over. */
typedef struct call {
    struct call *next;
    method method;
    json_t *arguments; /* owned; NULL: none */
    json_t *answer;    /* owned: the message that "values", "result" and, of actions, "status" are added to */
    bool is_action, wants_feedback;
    size_t size; /* bytes of the message that the arguments came in */
    encoding encoding;
    double deadline; /* monotonic */
    peer *peer;      /* shared; NULL: a question of the gateway's own */
    question_end on_result;
    call_task task;                     /* made in place of a question; NULL: none */
    void (*on_end)(struct call *ended); /* on the event loop, before the answer is sent; may be NULL */
    void *user;

    double next_cancel, cancel_pause;       /* when the daemon is to be asked again */
    _Atomic bool is_cancelled;              /* while it waits: it is not made */
    _Atomic uint64_t client_number, number; /* under which it is known to the daemon; 0: it is not made yet */
    _Atomic uint64_t progress;              /* number under which its progress is published; 0: not at all */
    call_outcome outcome;
    ProtobufCMessage *result; /* of a question */
    char reason[METHOD_ERROR_SIZE + 64];
    buffer_list messages;
} call;

typedef struct call_pool call_pool;

/* False when out of memory or threads. The daemon need not be there. */
bool call_pool_start(bridge *of);

/* Stops: calls under way are aborted, what waits is not made, and all are answered as failed. From then on calls are
 * refused. */
void call_pool_stop(bridge *of);

/* Starts a call; takes it and answers it in every case, too many of them with a refusal. */
void call_start(bridge *of, call *started);

/* Asks the daemon a question of the gateway's own; takes `arguments`. `on_result` is called in every case. */
void call_ask(bridge *of, const char *service, json_t *arguments, double timeout, question_end on_result, void *user);

/* Has a task done that may wait for the daemon. `on_end` is called in every case, with no result and the reason, which
 * is empty when all went well. */
void call_work(bridge *of, call_task task, question_end on_end, void *user);

/* Cancels a call: one that waits is not made, one that is being made is cancelled in the daemon. To be called again now
 * and then until the call is over, since the daemon may be asked to cancel it before it has the call itself. */
void call_cancel(bridge *of, call *cancelled);

/* Ends a call that was not started in vain: answers that it failed. */
void call_refuse(call *refused, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
