/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of services: methods of the daemon, rosapi, and what other peers offer.
 */
#ifndef ROSBRIDGE_SERVICES_H
#define ROSBRIDGE_SERVICES_H

#include "calls.h"
#include "request.h"

/* call_service: is answered with a service_response in every case. */
void service_call(const request *from);

/* Names that peers cannot offer. */
bool service_is_reserved(const char *name);

/* A call to the daemon for a peer, answered with `answer`, which it takes. NULL when out of memory. */
call *service_new_call(const request *from, method called, const encoding *how, double timeout, json_t *answer);

/* Offers all methods to a server that was dialled. */
void services_offer(peer *dialled);

#endif
