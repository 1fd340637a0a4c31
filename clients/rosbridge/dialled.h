/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection to a rosbridge server, to which the gateway offers its services and topics, so that the server's ROS nodes
 * can use them.
 */
#ifndef ROSBRIDGE_DIALLED_H
#define ROSBRIDGE_DIALLED_H

#include "peer.h"

/* Offers all services and topics over a connection that has just opened. */
void dialled_open(peer *opened);

#endif
