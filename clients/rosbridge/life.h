/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gateway's life.
 */
#ifndef ROSBRIDGE_LIFE_H
#define ROSBRIDGE_LIFE_H

#include "bridge.h"

/* Runs until a signal ends it. False: it could not start, and `error` says why. */
bool bridge_run(const config *c, char error[CONFIG_ERROR_SIZE]);

#endif
