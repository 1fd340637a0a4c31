/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts, runs and stops the gateway.
 */
#ifndef ROSBRIDGE_LIFE_H
#define ROSBRIDGE_LIFE_H

#include "bridge.h"

/* Runs the gateway until SIGTERM or SIGINT. Returns false and writes `error` if it cannot start. */
bool bridge_run(const config *c, char error[CONFIG_ERROR_SIZE]);

#endif
