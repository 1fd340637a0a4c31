/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages in transit: requests and points that have arrived in part, or completely but are not yet with a handler, and
 * replies that the system has not completely accepted yet. nng does not report them. Their bytes are charged to the
 * memory budget.
 *
 * nng reads each message with readv into one buffer of the message's size, and writes it with sendmsg. The daemon's own
 * definitions of these functions (nng_transit.c, nng_repairs.c) report to this file how many bytes nng requested and
 * received. So bytes that a peer announces count only once they have arrived. Complete messages below TRANSIT_LARGE
 * bytes do not count, and cost no lock: a connection has at most one of them at a time.
 *
 * The process has one table, because it has one set of the C library's functions. Every function may be called by any
 * thread; transit_open and transit_close must not run concurrently with another one.
 */
#ifndef SERVER_TRANSPORT_TRANSIT_H
#define SERVER_TRANSPORT_TRANSIT_H

#include <nng/nng.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "observe/memory_budget.h"
#include "transport/peers.h"

enum { TRANSIT_LARGE = 16 << 10 };

/* Reason for which a connection is to be closed. */
typedef enum transit_reason {
    TRANSIT_HALF,   /* a message did not arrive completely in time */
    TRANSIT_UNREAD, /* the client read nothing of a reply in time */
    TRANSIT_GREEDY, /* memory is short, and the connection's bytes times their age are the largest */
} transit_reason;

typedef struct transit_disconnection {
    uint32_t pipe;
    transit_reason reason;
    size_t held; /* bytes */
} transit_disconnection;

/* Prepares the table for descriptors below `descriptors`. Returns false when out of memory. */
bool transit_open(int descriptors, memory_budget *budget);
void transit_close(void);

/* Registers an admitted connection: charges its messages from now on to the budget and to its peer. `owner` must stay
 * valid until the connection is disconnected. */
void transit_connect(int descriptor, uint32_t pipe, peer_account *owner);

/* Sets the session of TLS of a registered connection. From now on the functions below count what the session reads and
 * writes, and no encrypted bytes. */
void transit_secure(int descriptor, uint32_t pipe, const void *session);

/* Returns the descriptor of the connection with that session, or -1 if it is unknown. */
int transit_session_descriptor(const void *session);

/* Returns whether a connection has a session. */
bool transit_is_secure(int descriptor);

/* Releases the bytes in transit of a connection that has ended. Returns true and stores the reason if this file closed
 * it. The connection may end before or after transit_cut_slow lists it: the caller reports the reason unless the sweep
 * has recorded that it closes the connection. */
bool transit_disconnect(int descriptor, uint32_t pipe, transit_disconnection *why);

/* Ends the transit of a message of `size` bytes that its handler receives. Returns the bytes of the budget that it
 * holds, which the caller must release. */
size_t transit_receive(int descriptor, uint32_t pipe, size_t size);

/* Starts the transit of a reply, before nng sends it. If it returns true, the reply's bytes are released once the
 * system has accepted them or the connection ends. If it returns false, because the connection is gone or memory is
 * exhausted, the caller must release them. */
bool transit_send(int descriptor, uint32_t pipe, const void *body, size_t size);

/* Ends the transit of a reply that nng returned. Releases its bytes. */
void transit_drop(int descriptor, uint32_t pipe, const void *body);

/* Returns whether nng may read `wanted` more bytes from a connection. On false, nng must treat it as closed by its
 * peer: it is being closed, or more bytes arrive than closing connections can release. */
bool transit_may_read(int descriptor, size_t wanted);

/* Records that nng requested `wanted` bytes from a connection and received `count`, or an error if that is negative. */
void transit_was_read(int descriptor, size_t wanted, ssize_t count);

/* Records that nng requested to send the bytes of `message` and the system accepted `count` of them, or none if that is
 * negative. */
void transit_was_sent(int descriptor, const struct msghdr *message, ssize_t count);

/* Lists connections to be closed, at most `capacity`: those whose messages take longer than `message_time` ns, and
 * while memory is short the slow ones, the one with the largest product of bytes and age first. Each is listed once. */
size_t transit_cut_slow(uint64_t now, uint64_t message_time, transit_disconnection *disconnections, size_t capacity);

/* Returns the descriptor of a connection, or -1 if it is unknown. */
int transit_descriptor(nng_pipe pipe);

#endif
