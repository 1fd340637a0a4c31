/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that cancel another one. Where several daemons answer, each of them receives such a request, since any may
 * compute the other one.
 */
#ifndef CLIENT_CANCELLATION_H
#define CLIENT_CANCELLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the method of this number in Request cancels another request. */
bool cancellation_is(unsigned method);

/* Returns whether a reply says that the daemon has found the other request. */
bool cancellation_is_found(const uint8_t *reply, size_t size);

#endif
