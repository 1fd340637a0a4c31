/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of fast channels: compute calls whose arrays come from shared memory by the methods that answer requests, so
 * that results and errors are those of a request. A session belongs to one thread.
 */
#ifndef SERVER_METHODS_FAST_SESSION_H
#define SERVER_METHODS_FAST_SESSION_H

#include "methods/service.h"
#include "transport/fast_handler.h"

/* Returns the handler of fast channels. The service must outlive all of them. */
fast_handler fast_session_handler(service *s);

#endif
