/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other direction: a rosbridge server that was dialled is offered our services and topics, so that its ROS nodes
 * can use them.
 */
#ifndef ROSBRIDGE_DIALLED_H
#define ROSBRIDGE_DIALLED_H

#include "peer.h"

/* The connection is open: offers everything. */
void dialled_open(peer *opened);

#endif
