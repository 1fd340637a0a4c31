/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The joints of a model that a call names, asked from the daemon by the call's thread.
 */
#ifndef ROSBRIDGE_MODEL_JOINTS_H
#define ROSBRIDGE_MODEL_JOINTS_H

#include "coordinates.h"
#include "daemon_link.h"

/* The coordinates of the model "query.model" of the arguments, within `timeout` s. False: `error`, of
 * METHOD_ERROR_SIZE. */
bool model_joints_ask(daemon_link *link, const json_t *arguments, double timeout, coordinates *joints, char *error);

#endif
