/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls methods of the daemon: sends a Request over the client's connection, receives the Reply and checks that it
 * holds the result of the requested method.
 */
#ifndef CLIENT_CALL_H
#define CLIENT_CALL_H

#include <dynamics/v1/envelope.pb-c.h>

#include "connection.h"
#include "dynamics_client.h"
#include "under_way.h"

/* The successful reply of a call: the serialized result message, which lives until call_reply_free. */
typedef struct call_reply {
    incoming message;
    const uint8_t *result;
    size_t result_size;
} call_reply;

/* Model and code that a reply was computed with. */
typedef struct call_origin {
    bool is_code_wanted; /* asks for the code, which earlier daemons do not state */
    uint64_t model_key;  /* first 64 bits of the digest of the model; 0: the reply is about no model */
    char code[DYN_CLIENT_CODE_SIZE];
} call_origin;

/* Timeout, progress callback and job of a call. */
typedef struct call_terms {
    double timeout;               /* s; 0: the client's timeout */
    dyn_client_progress progress; /* NULL: none */
    void *context;                /* argument of the callback */
    dyn_client_job_ticket *job;   /* ticket of the caller's job; NULL: the caller has none */
    const char *job_field;        /* field of the ticket in errors */
    call_origin *origin;          /* receives the origin of the reply; NULL: not wanted */
} call_terms;

/* Returns terms with a timeout in seconds, without a progress callback and without a job. */
static inline call_terms within(double timeout) {
    return (call_terms){.timeout = timeout};
}

/* Copies the caller's terms. NULL selects the defaults. Errors: INVALID_ARGUMENT. */
dyn_client_status call_read_terms(const dyn_client_terms *given, call_terms *terms, dyn_client_error *error);

/* Sends `request`, whose method is set, and waits for its reply. Sets the request's timeout, and its id and client
 * unless call_number has set them. Runs the request as a job if the terms name one, or if the client uses jobs and the
 * daemon can compute the method as a job. On success `answer` holds the result of the method; the caller frees it with
 * call_reply_free. The caller must have checked `client` and the content of the request. */
dyn_client_status call(dyn_client *client, Dynamics__V1__Request *request, call_terms terms, call_reply *answer,
                       dyn_client_error *error);

/* Sends a request as call() does and unpacks its result to a message of type `descriptor`. `result` is the address of
 * the pointer that receives the message. The caller frees the message with protobuf_c_message_free_unpacked(message,
 * NULL). */
dyn_client_status call_unpacked(dyn_client *client, Dynamics__V1__Request *request, call_terms terms,
                                const ProtobufCMessageDescriptor *descriptor, void *result, dyn_client_error *error);

/* Sets the method of a request and its message, which the request borrows. */
void call_set_method(Dynamics__V1__Request *request, Dynamics__V1__Request__MethodCase method, ProtobufCMessage *body);

/* Sends `body`, the message of `method`, and unpacks the result to a message whose type follows from the method.
 * `result` is the address of the pointer that receives the message. The caller frees the message with
 * protobuf_c_message_free_unpacked(message, NULL). */
dyn_client_status call_method(dyn_client *client, Dynamics__V1__Request__MethodCase method, ProtobufCMessage *body,
                              call_terms terms, void *result, dyn_client_error *error);

/* Draws an unpredictable number other than 0. Returns false when the system has no random numbers. */
bool call_draw(uint64_t *number);

/* Sets the request's id to the client's next number, and the number of the client. A request that has these numbers
 * before call() can be cancelled by them while it is in progress. */
void call_number(dyn_client *client, Dynamics__V1__Request *request);

/* Cancels the request with these numbers in the daemon. Ends its exchange where the daemon does not answer, or has not
 * ended the request some time after the first call of this function for it. Until the request is sent, and between two
 * operations of its exchange, the call may have no effect: the caller repeats it until the request has ended.
 * Thread-safe. Waits at most 0.3 s. */
void call_cancel(dyn_client *client, request_numbers numbers);

/* Makes dyn_client_cancel find a call that waits between its requests, with numbers that no request has, until
 * call_end_wait. */
void call_begin_wait(dyn_client *client, under_way_request *wait);
void call_end_wait(dyn_client *client, under_way_request *wait);
bool call_is_cancelled(dyn_client *client, const under_way_request *wait);

void call_reply_free(call_reply *answer);

/* Returns the connection of the client. */
connection *client_connection(const dyn_client *client);

/* Returns the fast channels of the client; whether its calls run as jobs; its token, "" for none; and its lowest
 * accepted revision of the contract. */
struct fast_list *client_fast_channels(dyn_client *client);
bool client_uses_jobs(const dyn_client *client);
const char *client_token(const dyn_client *client);
uint32_t client_min_revision(const dyn_client *client);

/* Returns the number of bytes up to which several daemons answer the client's requests at once, or 0 where one daemon
 * answers, or requests run as jobs. */
size_t client_piece_bytes(const dyn_client *client);

/* Returns the bytes that a reply may have. */
size_t client_max_reply_bytes(const dyn_client *client);

/* Returns the timeout of calls that state none, s. */
double client_timeout(const dyn_client *client);

/* Returns the client's connect timeout, s. */
double client_connect_timeout(const dyn_client *client);

/* Returns OK if a received status is not an error; NULL is none. Otherwise fills `error` from it and returns its
 * code. */
dyn_client_status call_check_status(const Dynamics__V1__Status *received, dyn_client_error *error);

/* Fills `error` from a serialized status and returns its code; from `code` alone where there are no bytes. */
dyn_client_status call_read_status(const uint8_t *bytes, size_t size, int code, dyn_client_error *error);

/* Fills an error about a reply that the client cannot use, and returns BAD_REPLY. `what` is a sentence that names the
 * defect. */
dyn_client_status fail_bad_reply(dyn_client_error *error, const char *what);

#endif
