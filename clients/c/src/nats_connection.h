/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections for requests over NATS: a queue group of daemons answers.
 *
 * A request that any daemon can answer is published for the queue group. Every other one, such as those about
 * simulations, streams and jobs, goes to the one daemon that answered when the connection was opened. A cancellation
 * goes to all daemons.
 */
#ifndef CLIENT_NATS_CONNECTION_H
#define CLIENT_NATS_CONNECTION_H

#include "carrier.h"

extern const connection_carrier nats_connections;

#endif
