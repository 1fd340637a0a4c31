/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages on their way: requests and points that have arrived in part, or whole and not yet with a handler, and
 * replies that the system has not taken whole yet. nng hides both. They are charged to the memory budget.
 *
 * nng reads each message with readv into one buffer of the message's size, and writes it with sendmsg. The daemon's own
 * definitions of these functions (nng_transit.c, nng_repairs.c) tell this file how many bytes nng asked for and how
 * many it got. So bytes that a peer announces count once they have arrived. Whole messages below TRANSIT_LARGE bytes do
 * not count, and cost no lock: a connection has at most one of them at a time.
 *
 * The table is one for the process, as the functions of the C library are. Every function may be called by any thread;
 * transit_open and transit_close must not run beside another one.
 */
#ifndef SERVER_TRANSPORT_TRANSIT_H
#define SERVER_TRANSPORT_TRANSIT_H

#include <nng/nng.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "observe/memory_budget.h"
#include "transport/peers.h"

enum { TRANSIT_LARGE = 16 << 10 };

/* Why a connection is to be closed. */
typedef enum transit_reason {
    TRANSIT_HALF,   /* its message did not arrive whole within the time */
    TRANSIT_UNREAD, /* it took nothing of its reply for the time */
    TRANSIT_GREEDY, /* memory is short, and it holds the most for longest */
} transit_reason;

typedef struct transit_sentence {
    uint32_t pipe;
    transit_reason reason;
    size_t held; /* bytes */
} transit_sentence;

/* Prepares the table for descriptors below `descriptors`. False when out of memory. */
bool transit_open(int descriptors, memory_budget *budget);
void transit_close(void);

/* A connection was admitted: its messages are charged from now on, to the budget and to its peer. `owner` stays valid
 * until the connection is disconnected. */
void transit_connect(int descriptor, uint32_t pipe, peer_account *owner);

/* Releases what a connection that ended had on its way. Returns true and stores the reason if this file closed it. The
 * connection may end before or after transit_judge names it: the caller tells the reason unless the sweep has entered
 * that it closes the connection. */
bool transit_disconnect(int descriptor, uint32_t pipe, transit_sentence *why);

/* A message of `size` bytes is with its handler. Returns the bytes of the budget that it holds, which the caller must
 * release. */
size_t transit_receive(int descriptor, uint32_t pipe, size_t size);

/* A reply is about to be handed to nng. True: its bytes are released once the system has taken them, or the connection
 * ends. False: the connection is gone, and the caller has to release them. */
bool transit_send(int descriptor, uint32_t pipe, const void *body, size_t size);

/* nng has given that reply back. Releases its bytes. */
void transit_give_up(int descriptor, uint32_t pipe, const void *body);

/* Returns whether nng may read `wanted` bytes more of a connection. False: to nng its peer has closed it, because it
 * is being closed, or because more bytes arrive than connections can be closed for. */
bool transit_may_read(int descriptor, size_t wanted);

/* nng asked for `wanted` bytes of a connection and got `count`, or an error. */
void transit_was_read(int descriptor, size_t wanted, ssize_t count);

/* nng asked to send these bytes, and the system took `count`, or none. */
void transit_was_sent(int descriptor, const struct msghdr *message, ssize_t count);

/* Finds connections to be closed, at most `capacity`: those that take longer than `message_time` ns, and while memory
 * is short the slow ones, the greediest first. Each is named once. */
size_t transit_judge(uint64_t now, uint64_t message_time, transit_sentence *sentences, size_t capacity);

/* The descriptor of a connection; -1 where it cannot be found out. */
int transit_descriptor(nng_pipe pipe);

#endif
