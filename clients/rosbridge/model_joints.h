/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joints of the model that a call names. The call's thread requests them from the daemon.
 */
#ifndef ROSBRIDGE_MODEL_JOINTS_H
#define ROSBRIDGE_MODEL_JOINTS_H

#include "coordinates.h"
#include "daemon_link.h"

/* Requests the coordinates of the model "query.model" of the arguments, within `timeout` s. Returns false on failure
 * and writes `error`, of METHOD_ERROR_SIZE. */
bool model_joints_request(daemon_link *link, const json_t *arguments, double timeout, coordinates *joints, char *error);

#endif
