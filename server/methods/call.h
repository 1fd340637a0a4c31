/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call: one request while a method executes it, with its memory and its reply. A call belongs to one thread at a time.
 * A method either fills call->reply or calls call_fail.
 */
#ifndef SERVER_METHODS_CALL_H
#define SERVER_METHODS_CALL_H

#include <dynamics/status.h>
#include <time.h>

#include "dynamics/v1/envelope.pb-c.h"
#include "methods/arena.h"
#include "methods/bounds.h"
#include "methods/refusal.h"
#include "methods/reply_cache.h"
#include "methods/running.h"
#include "methods/service.h"
#include "methods/user_accounts.h"
#include "observe/audit.h"

/* Sizes of the field and the message of an error, in bytes. */
enum { CALL_FIELD_SIZE = 256, CALL_MESSAGE_SIZE = 1024 };

typedef struct method method;

/* One request while a method executes it. */
typedef struct call {
    const service_options *service;
    const service_endpoint *endpoints;
    size_t endpoint_count;
    transport_call *transport;
    access_caller caller; /* who sent the request: by its token, else by the connection */
    const method *method;
    const Dynamics__V1__Request *request;
    uint64_t deadline;     /* ns, CLOCK_MONOTONIC */
    const char *limit;     /* configuration key that bounds the time: "limits.request_time" */
    uint64_t begun;        /* time at which a worker began the call, ns, CLOCK_MONOTONIC; 0: none has */
    bool is_on_worker;     /* a worker runs the method, and not the thread that received the request */
    bool is_deferred;      /* must run again on a worker */
    model_entry *built;    /* built by the method's `prepare` for its `run`; released with the call */
    running_call *running; /* `own_running`, or that of a job */
    running_call own_running;
    reply_entry *stored; /* entry for the stored reply, if the request changes the state; or NULL */
    reply_waiter waiter; /* waits for the reply to an earlier copy of the request */
    const char *outcome; /* of a request that succeeded, for the audit: a constant; NULL: "done" */
    size_t samples;      /* samples of the request, for its metrics; 0: it has none */
    size_t reply_size;   /* bytes of the reply, for its metrics */
    uint64_t cpu_limit;  /* processor time of all threads for the call, ns; 0: any */
    uint64_t cpu_begin;  /* of the clock `cpu_clock` of the thread that computes the call, ns */
    clockid_t cpu_clock;
    _Atomic uint64_t helped_time; /* processor time of other threads, ns */
    atomic_bool is_spent;         /* the limit is exceeded */
    user_hold hold;               /* of a long request, in the account of its user */
    bound exceeded;               /* limit that the error names, for its metrics */
    bool is_turned_away;          /* refused before it began; its reply is not stored, so that a copy is tried again */
    arena decoded;                /* memory of the decoded request */
    arena memory;                 /* memory of the method: copies, results, messages of the reply */
    Dynamics__V1__Reply reply;
    Dynamics__V1__Status status;
    char overridden[ACCESS_NAME_SIZE]; /* user whose object an administrator commands or changes; "": none */
    char object[AUDIT_OBJECT_SIZE];    /* name of the object of the request, for the audit; "": that in the request */
    char field[CALL_FIELD_SIZE];
    char message[CALL_MESSAGE_SIZE];
    service *owner;
    struct call *next; /* next idle or queued call */
} call;

/* Method of the service. */
struct method {
    const char *name; /* as in field paths: "inverse_dynamics" */
    /* Long work before `run`, for which other requests that change the state do not wait; or NULL. */
    void (*prepare)(call *c);
    void (*run)(call *c);
    access_role role;    /* least role of a caller */
    bool is_slow;        /* always runs on a worker */
    bool changes_state;  /* a copy of the request receives the stored reply and is not executed */
    bool is_local;       /* changes an object with a mutex of its own; all other changes are serialized */
    bool works_in_drain; /* executed also while the daemon drains */
    bool can_be_job;     /* StartJob accepts it */
};

/* Sets the field of the following error, relative to the method's message: "q[13]" becomes "inverse_dynamics.q[13]". */
void call_blame(call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the call with an error, whose code follows from the reason. The message is a sentence with the value and the
 * remedy. */
void call_fail(call *c, error_reason reason, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds to the call's error the limit that is exceeded, its value, and the requested amount; 0: not known. */
void call_set_limit(call *c, bound b, uint64_t limit, uint64_t requested);

/* Adds to the call's error the index of the sample that it is about. */
void call_set_sample(call *c, uint64_t sample);

/* Adds to the call's error the name of the joint that it is about. Leaves it out when out of memory. */
void call_set_joint(call *c, const char *name);

/* Sets the name of the object that the request is about, for the audit, where the request itself may not state it. */
void call_set_object(call *c, const char *name);

/* Writes into the reply the key of the model that the result is about: the first 64 bits of its digest. */
void call_set_model(call *c, const model_entry *entry);

/* Writes into the reply the code that computes results of the model, if the request wants it. */
void call_set_code(call *c, model_entry *entry);

/* Ends the call with an error of the library. The field of the error must be set. */
void call_fail_library(call *c, const dyn_error *error);

/* Ends the call with an error of the library about a description. `element`, such as "link wrist", begins the message;
 * empty: none. */
void call_fail_description(call *c, const dyn_error *error, const char *element);

/* Ends the call with a refusal, whose field is relative to the method's message. An empty field leaves the field of the
 * call unchanged. */
void call_refuse(call *c, const refusal *why);

/* Returns whether the request came over NATS. */
static inline bool call_is_over_nats(const call *c) {
    return c->transport->identity.origin == TRANSPORT_ORIGIN_NATS;
}

/* Returns the share of the caller, of which one user may have `share`: UINT64_MAX for administrators, and for callers
 * over NATS that send no token, since all of them have one name. */
uint64_t call_share(const call *c, uint64_t share);

/* Ends the call with CODE_RESOURCE_EXHAUSTED because memory is short, and counts the shortage. */
void call_fail_memory(call *c);

/* Returns whether the call has ended with an error or is deferred. Then the method must return. */
bool call_has_ended(const call *c);

/* Defers the call to a worker if `cost` nanoseconds are too long for this thread. Returns true then: the method must
 * return at once and runs again. */
bool call_defer(call *c, double cost);

/* Ends the call and returns true if its deadline has passed. */
bool call_is_late(call *c);

/* Ends the call and returns true if another request has cancelled it. */
bool call_is_cancelled(call *c);

/* Checks a long computation, on any thread. Returns false if the call is late or cancelled, or has spent its processor
 * time; the computation must end then. Publishes the progress (0 to 1) if the request wants it. */
bool call_may_proceed(call *c, double fraction);

/* Checks a long computation on the thread that answers the call, and yields (call_yield). Returns false when the call
 * has ended, as call_fail_ended does. */
bool call_proceed(call *c, double fraction);

/* Ends the call because call_may_proceed has returned false: it is cancelled, has spent its processor time, or is
 * late. */
void call_fail_ended(call *c);

/* Lets the work of other users run on this thread of the pool, if it waits. The thread must hold no lock that another
 * request may need. Does nothing for methods during which other changes wait. */
void call_yield(const call *c);

/* Begins to measure the processor time of the calling thread, on which a call is computed from now on, if it is
 * limited (limits.request_cpu_time). */
void call_measure_time(call *c);

/* Adds the processor time between call_help_begin and call_help_end, of a thread other than that of the call, to the
 * call's. Any thread. */
uint64_t call_help_begin(const call *c);
void call_help_end(call *c, uint64_t begin);

/* Allocates `count` zeroed elements of `size` bytes in the call's memory. Returns NULL, and the call has ended, when
 * out of memory. */
void *call_allocate(call *c, size_t count, size_t size);

/* Copies a string to the call's memory. Returns NULL, and the call has ended, when out of memory. */
char *call_string(call *c, const char *text);

/* Returns whether the caller may change an object that belongs to `belongs_to` ("": to nobody): it is the same caller,
 * or an administrator. Otherwise ends the call. `object` names it, such as `model "arm"`. */
bool call_may_change(call *c, const char *object, const char *belongs_to);

/* Returns whether the caller may command without a key an object that belongs to `belongs_to`: it is the same user, or
 * an administrator, which the audit states. The names of addresses and of all clients over NATS identify no user. */
bool call_may_command(call *c, const char *belongs_to);

/* Returns a reference to the model of that name or digest, which the caller releases. Returns NULL, and the call has
 * ended, if there is none. */
model_entry *call_find_model(call *c, const char *name);

/* Returns the number of a role in the contract. */
Dynamics__V1__MethodRole call_wire_role(access_role role);

#endif
