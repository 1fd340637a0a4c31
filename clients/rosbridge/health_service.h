/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /dynamics/check_health of the type std_srvs/srv/Trigger, for nodes that know standard types alone: `success` tells
 * whether the daemon serves, `message` what is wrong with its components, or why it does not answer.
 */
#ifndef ROSBRIDGE_HEALTH_SERVICE_H
#define ROSBRIDGE_HEALTH_SERVICE_H

#include "encode.h"
#include "request.h"

#define HEALTH_SERVICE "/dynamics/check_health"
#define HEALTH_TYPE "std_srvs/srv/Trigger"

/* Answers a call, once the daemon has answered; takes `response`, to which values and result are added. */
void health_service_call(peer *from, const encoding *how, double timeout, json_t *response);

#endif
