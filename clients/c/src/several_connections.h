/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections to several daemons at once: a list of addresses, separated by commas.
 *
 * A request that any daemon can answer goes to one daemon after the other in turn. When a daemon is lost, or has not
 * answered in half of the time, another one receives the request. Every other request, such as those about simulations,
 * streams, jobs and changes of models, goes to the first daemon of the list that was there when the connection was
 * opened. A cancellation goes to all daemons. Daemons that are not there are dialed again, at most once a second.
 */
#ifndef CLIENT_SEVERAL_CONNECTIONS_H
#define CLIENT_SEVERAL_CONNECTIONS_H

#include "carrier.h"

extern const connection_carrier several_connections;

#endif
