/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workarounds for defects of nng. nng calls these functions of the C library and of its own through the dynamic linker;
 * the daemon's definitions override them. deploy/cmake/nng.cmake lists the defects of each version.
 *
 *   sendmsg          A peer that closes before it is greeted makes the greeting fail with EPIPE. nng mistakes that for
 *                    the closing of its own listener, which then adds no more connections (nng issue 1518). With
 *                    ECONNRESET, which has the same meaning, it continues with the next connection. Before nng 1.6;
 *                    1.10.1 continues by itself.
 *   listen           nng asks for a queue of 128 connections; beyond that, the system delays tcp clients for a
 *                    second. The daemon makes the queue as long as the system allows. All versions up to 1.10.1.
 *   accept           Connections beyond a bound are closed at once, so that descriptors are left for the daemon's other
 *                    work. Without any, nng 1.5.2 leaves all clients waiting; 1.10.1 serves them, but would use up
 *                    every descriptor. All versions.
 *   nng_stream_send, A connection that is closed between two parts of a message refuses the second part and never
 *   nng_stream_recv  completes the operation. The thread that frees connections then waits for it forever: no
 *                    connection is freed any more, and closing the socket never ends. The daemon completes such an
 *                    operation with an error. Before nng 1.9; 1.10.1 refuses it as well, but ends the wait by itself
 *                    (observed: 31 refused operations in one daemon, which stopped in time).
 *
 * Not repaired: nng does not free a reply or an event that is sent to a connection at the moment when its client closes
 * it.
 */
#ifndef SERVER_TRANSPORT_NNG_REPAIRS_H
#define SERVER_TRANSPORT_NNG_REPAIRS_H

/* Sets the bound below which the descriptor of a new connection must be; others are closed. Any thread. */
void nng_repairs_bound_descriptors(int bound);

#endif
