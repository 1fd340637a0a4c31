/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defects of nng, put right from outside. nng calls these functions of the C library and of its own through the dynamic
 * linker; the daemon's definitions take their place. deploy/cmake/nng.cmake says which defects the version at hand has.
 *
 *   sendmsg          A peer that closes before it is greeted makes the greeting fail with EPIPE. nng takes that for the
 *                    closing of its own listener, which then takes up no more connections (nng issue 1518). ECONNRESET,
 *                    which means the same, makes it go on with the next. Before nng 1.6; 1.10.1 goes on by itself.
 *   listen           nng asks for a queue of 128 connections; beyond, the system lets tcp clients wait for a second. It
 *                    becomes as long as the system allows. All versions up to 1.10.1.
 *   accept           Connections beyond a bound are closed at once, so that descriptors are left for the daemon's other
 *                    work. Without any, nng 1.5.2 leaves all clients waiting; 1.10.1 serves them, but would use up
 *                    every descriptor. All versions.
 *   nng_stream_send, A connection that is closed between two parts of a message refuses the second part without ever
 *   nng_stream_recv  completing the operation. The thread that frees connections then waits for it for good: no
 *                    connection is freed any more, and closing the socket never ends. Such an operation is completed
 *                    with an error here. Before nng 1.9; 1.10.1 refuses it as well, but waits for nothing: it ends
 *                    the wait by itself (observed: 31 refused operations in one daemon, which stopped in time).
 *
 * Not repaired: a reply or an event that is handed to a connection in the very moment in which its client closes it is
 * not freed.
 */
#ifndef SERVER_TRANSPORT_NNG_REPAIRS_H
#define SERVER_TRANSPORT_NNG_REPAIRS_H

/* From now on a connection is accepted only if its descriptor is below that number. Any thread. */
void nng_repairs_bound_descriptors(int bound);

#endif
