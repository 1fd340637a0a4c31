/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service /dynamics/check_health of the type std_srvs/srv/Trigger, for nodes that know only standard types. `success`
 * states that the daemon serves. `message` lists faulty components, or the reason why the daemon does not answer.
 */
#ifndef ROSBRIDGE_HEALTH_SERVICE_H
#define ROSBRIDGE_HEALTH_SERVICE_H

#include "encode.h"
#include "request.h"

#define HEALTH_SERVICE "/dynamics/check_health"
#define HEALTH_TYPE "std_srvs/srv/Trigger"

/* Answers a call after the daemon has answered. Adds values and result to `response` and takes ownership of it. */
void health_service_call(peer *from, const encoding *how, double timeout, json_t *response);

#endif
