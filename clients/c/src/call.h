/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls: send a Request and receive its Reply, which is an error or the result of the right method.
 */
#ifndef CLIENT_CALL_H
#define CLIENT_CALL_H

#include <dynamics/v1/envelope.pb-c.h>

#include "connection.h"
#include "dynamics_client.h"

/* The successful reply of a call: the serialized result message, which lives until call_reply_free. */
typedef struct call_reply {
    incoming message;
    const uint8_t *result;
    size_t result_size;
} call_reply;

/* Patience of a call, and the callback that watches it. */
typedef struct call_terms {
    double timeout;               /* s; 0: the client's own */
    dyn_client_progress progress; /* NULL: none */
    void *context;                /* of the callback */
    dyn_client_job_ticket *job;   /* job of the call; NULL: none, or one of the library's */
    const char *job_field;        /* place of the ticket in errors */
} call_terms;

/* Returns the terms of a call that nobody watches. */
static inline call_terms within(double timeout) {
    return (call_terms){.timeout = timeout};
}

/* Reads the caller's terms; NULL: the defaults. */
dyn_client_status call_read_terms(const dyn_client_terms *given, call_terms *terms, dyn_client_error *error);

/* Sends `request`, whose method is set. Sets its id and client (unless call_number did) and its timeout. On success
 * `answer` holds the result of that method, and the caller frees it. The caller has checked `client` and the request's
 * content. */
dyn_client_status call(dyn_client *client, Dynamics__V1__Request *request, call_terms terms, call_reply *answer,
                       dyn_client_error *error);

/* Calls a method and unpacks the result. The caller frees it with protobuf_c_message_free_unpacked(result, NULL). */
dyn_client_status call_unpacked(dyn_client *client, Dynamics__V1__Request *request, call_terms terms,
                                const ProtobufCMessageDescriptor *descriptor, void *result, dyn_client_error *error);

/* Sets the method's message of a request. */
void call_set_method(Dynamics__V1__Request *request, Dynamics__V1__Request__MethodCase method, ProtobufCMessage *body);

/* Calls a method with its message and unpacks the result, whose type follows from the method. The caller frees it with
 * protobuf_c_message_free_unpacked(result, NULL). */
dyn_client_status call_method(dyn_client *client, Dynamics__V1__Request__MethodCase method, ProtobufCMessage *body,
                              call_terms terms, void *result, dyn_client_error *error);

/* Draws an unpredictable number other than 0. Returns false when the system has no random numbers. */
bool call_draw(uint64_t *number);

/* Sets the request's id and client before it is called, so that it can be cancelled. */
void call_number(dyn_client *client, Dynamics__V1__Request *request);

void call_reply_free(call_reply *answer);

/* Return the address that the client is connected to, and its connect timeout, s. */
const char *client_url(const dyn_client *client);
double client_connect_timeout(const dyn_client *client);

/* Fills an error about a reply that does not match its request. */
dyn_client_status fail_bad_reply(dyn_client_error *error, const char *what);

#endif
