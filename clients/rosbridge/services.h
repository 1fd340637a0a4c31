/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles calls of services: methods of the daemon, rosapi, and services that other peers offer.
 */
#ifndef ROSBRIDGE_SERVICES_H
#define ROSBRIDGE_SERVICES_H

#include "calls.h"
#include "request.h"

/* Handles call_service, which is answered with a service_response in every case. */
void service_call(const request *from);

/* Returns true for names that peers cannot offer. */
bool service_is_reserved(const char *name);

/* Returns a call to the daemon for a peer and takes ownership of `answer`, which the call completes and sends. Returns
 * NULL when out of memory. */
call *service_new_call(const request *from, method called, const encoding *how, double timeout, json_t *answer);

/* Offers all methods, and the service for the daemon's health, to the dialled server. */
void services_offer(peer *dialled);

#endif
