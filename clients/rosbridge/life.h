/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Life cycle of the gateway.
 */
#ifndef ROSBRIDGE_LIFE_H
#define ROSBRIDGE_LIFE_H

#include "bridge.h"

/* Runs until a signal ends it. Returns false and `error` if it cannot start. */
bool bridge_run(const config *c, char error[CONFIG_ERROR_SIZE]);

#endif
