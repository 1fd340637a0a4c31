/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User of a tcp connection within this machine, which the system tells by its socket diagnosis (sock_diag(7)).
 */
#ifndef SERVER_TRANSPORT_LOOPBACK_USER_H
#define SERVER_TRANSPORT_LOOPBACK_USER_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the user who opened the other end of an accepted tcp connection. Returns false if the connection is not over a
 * loopback address, the other end is closed already, or the system gives no answer: a sandbox may forbid the question,
 * which needs AF_NETLINK. */
bool loopback_user(int descriptor, uint32_t *user);

#endif
