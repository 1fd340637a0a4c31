/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One request on its way through a method: what was asked, memory, and the reply as it forms.
 *
 * A call belongs to one thread at a time. A method either fills call->reply or calls call_fail.
 */
#ifndef SERVER_METHODS_CALL_H
#define SERVER_METHODS_CALL_H

#include <dynamics/status.h>

#include "dynamics/v1/envelope.pb-c.h"
#include "methods/arena.h"
#include "methods/reason.h"
#include "methods/reply_cache.h"
#include "methods/running.h"
#include "methods/service.h"

enum { CALL_FIELD_SIZE = 256, CALL_MESSAGE_SIZE = 1024 };

typedef struct method method;

typedef struct call {
    const service_options *service;
    const service_endpoint *endpoints;
    size_t endpoint_count;
    transport_call *transport;
    const method *method;
    const Dynamics__V1__Request *request;
    uint64_t deadline;  /* ns, CLOCK_MONOTONIC */
    bool is_on_worker;  /* may take its time */
    bool is_deferred;   /* asks to be run again on a worker */
    model_entry *built; /* by the method's `prepare` for its `run`; released with the call */
    running_call running;
    reply_entry *stored; /* of a request that changes the state: where its reply is stored; or NULL */
    reply_waiter waiter; /* for the reply to an earlier copy of the request */
    bool is_turned_away; /* refused before it began, for want of a place: it is tried when it arrives again */
    arena decoded;       /* the request */
    arena memory;        /* of the method: copies, results, messages of the reply */
    Dynamics__V1__Reply reply;
    Dynamics__V1__Status status;
    char field[CALL_FIELD_SIZE];
    char message[CALL_MESSAGE_SIZE];
    service *owner;
    struct call *next; /* among the idle ones, or in line */
} call;

/* A method of the service. */
struct method {
    const char *name;         /* as in field paths: "inverse_dynamics" */
    void (*prepare)(call *c); /* of what changes state: long work before `run`, beside other changes; or NULL */
    void (*run)(call *c);
    Dynamics__V1__MethodRole role;
    bool is_slow;        /* always runs on a worker */
    bool changes_state;  /* a copy of the request is answered with the stored reply, and not executed */
    bool is_local;       /* changes what has a mutex of its own; all other changes are executed one at a time */
    bool works_in_drain; /* answered also while the daemon drains */
};

/* Names the field to blame in the error that follows, in the method's message: "q[13]" becomes
 * "inverse_dynamics.q[13]". */
void call_blame(call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the call with an error, whose code follows from the reason: a sentence with the value and what to do. */
void call_fail(call *c, error_reason reason, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds to the error that ended the call the bound that was met, and what the request asks for in its unit. */
void call_tell_limit(call *c, uint64_t limit, uint64_t requested);

/* Adds to the error that ended the call the sample that it is about, and the name of the joint. */
void call_tell_sample(call *c, uint64_t sample);
void call_tell_joint(call *c, const char *name);

/* Writes the model that the result is computed with into the reply. */
void call_tell_model(call *c, const model_entry *entry);

/* Ends the call with an error of the library; the field to blame must be set. */
void call_fail_library(call *c, const dyn_error *error);

/* Ends the call with a refusal, whose field is one of the method's message. */
struct refusal;
void call_refuse(call *c, const struct refusal *why);

/* Ends the call with CODE_RESOURCE_EXHAUSTED for want of memory. */
void call_fail_memory(call *c);

/* Returns whether the call has ended with an error or is deferred, so that the method has to return. */
bool call_has_ended(const call *c);

/* If `cost` nanoseconds are too long for this thread, asks for a worker and returns true; the method must then return
 * at once and will be run again. */
bool call_defer(call *c, double cost);

/* Ends the call and returns true when its deadline has passed. */
bool call_is_late(call *c);

/* Ends the call and returns true when another request has cancelled it. */
bool call_is_cancelled(call *c);

/* To be asked now and then by what takes long, by any thread: false when the call is late or cancelled, and what works
 * for it should end. Where the request wants it, tells how far it is (0 to 1). */
bool call_may_proceed(call *c, double fraction);

/* Same, for the thread that answers the call: false when the call has ended with that error. */
bool call_proceed(call *c, double fraction);

/* A zeroed message of the reply in the call's memory; NULL and the call ended when out of memory. */
void *call_allocate(call *c, size_t count, size_t size);

/* A copy of a string in the call's memory. */
char *call_string(call *c, const char *text);

/* A reference to the model of that name or digest; NULL and the call ended when there is none. */
model_entry *call_find_model(call *c, const char *name);

#endif
