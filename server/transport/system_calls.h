/*
 * Three system calls as nng 1.5.2 calls them, with what it gets wrong put right. The daemon's definitions take the place
 * of the C library's for nng.
 *
 *   sendmsg  A peer that closes before it is greeted makes the greeting fail with EPIPE. nng takes that for the closing
 *            of its own listener, which then takes up no more connections (nng issue 1518). ECONNRESET, which means
 *            the same, makes it go on with the next.
 *   listen   nng asks for a queue of 128 connections; beyond, the system lets tcp clients wait for a second. It becomes
 *            as long as the system allows.
 *   accept   Connections beyond a bound are closed at once, so that descriptors are left for the daemon's other work:
 *            without any, nng leaves all clients waiting.
 */
#ifndef SERVER_TRANSPORT_SYSTEM_CALLS_H
#define SERVER_TRANSPORT_SYSTEM_CALLS_H

/* From now on a connection is accepted only if its descriptor is below that number. Any thread. */
void system_calls_bound_descriptors(int bound);

#endif
